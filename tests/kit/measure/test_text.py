"""The training text: nothing in it may be predicted but the spelling."""

import hashlib
import math
from collections import Counter
from itertools import pairwise

from bugkit.measure.text import CHOICES, ENTROPY, SENTENCES, draws, sentence, training_text


def test_no_sentence_foretells_the_next() -> None:
    drawn = list(draws(30 * CHOICES))
    pairs = Counter(pairwise(drawn))
    # 2,700 pairs that are drawn from 8,100: a pattern would repeat some of them often.
    assert max(pairs.values()) <= 6


def test_every_sentence_has_its_share() -> None:
    counts = Counter(draws(100 * CHOICES))
    assert set(counts) == set(range(CHOICES))
    assert max(counts.values()) < 2 * min(counts.values())


def test_nobody_acts_on_themselves_and_every_sentence_is_another() -> None:
    sentences = [sentence(number) for number in range(CHOICES)]
    assert len(set(sentences)) == CHOICES
    for words in map(str.split, sentences):
        assert words[1] != words[4].rstrip(".")


def test_the_text_is_the_same_everywhere() -> None:
    text = training_text()
    assert text.startswith("the hen hears the pig.\n")
    assert text.count("\n") == SENTENCES
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert digest.startswith("c14b7f3a48c09aac")


def test_the_entropy_is_that_of_the_draws() -> None:
    characters = len(training_text()) / SENTENCES
    assert math.isclose(ENTROPY * characters, math.log(90))
