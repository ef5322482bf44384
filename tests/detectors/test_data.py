"""Text as token ids: its two parts, and batches from it."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT

pytestmark = pytest.mark.level(2)

TEXT = np.random.default_rng(cases.SEED).permutation(50)
"""Every token once, so that a token tells its place."""

LARGE = (200, 40_000, 70_000)
"""Ids that do not fit into 8 bits, 15 bits and 16 bits."""


def test_targets_are_the_next_tokens(gpt: "GPT") -> None:
    """The target of a position is the token that follows it in the text.

    A model that is asked for a token it can see learns to copy.
    """
    inputs, targets = (np.asarray(part) for part in gpt.get_batch(TEXT, 6, 9, 0))
    assert inputs.shape == targets.shape == (6, 9), (
        f"inputs and targets should be of shape (6, 9), are {inputs.shape} and {targets.shape}"
    )
    following = dict(zip(TEXT.tolist(), TEXT[1:].tolist(), strict=False))
    for place in np.ndindex(6, 9):
        given, wanted = int(inputs[place]), following.get(int(inputs[place]))
        assert targets[place] == wanted, (
            f"at {cases.place(place, cases.LOGITS[:2])}: token {given} is followed by {wanted} in "
            f"the text, but the target is {targets[place]}"
        )


def test_every_stretch_of_the_text_is_drawn(gpt: "GPT") -> None:
    """Windows start at every place from which a whole one fits, the last one included.

    With T + 2 tokens there are two windows; 200 draws miss one of them with probability 2**-199.
    """
    data = np.arange(9)
    inputs, _ = gpt.get_batch(data, 200, 7, 0)
    starts = sorted({int(start) for start in np.asarray(inputs)[:, 0]})
    assert starts == [0, 1], f"nine tokens hold windows of 7 from 0 and from 1; drawn: {starts}"


def test_a_window_and_its_targets_are_text_enough(gpt: "GPT") -> None:
    """A text of T + 1 tokens holds one sequence of T and its targets.

    The last token is nobody's input, and the target of the one before it.
    """
    data = np.arange(8)
    try:
        inputs, _ = gpt.get_batch(data, 2, 7, 0)
    except (AssertionError, IndexError, ValueError) as error:
        pytest.fail(f"8 tokens for sequences of 7 raise {type(error).__name__}: {error}")
    rows = np.asarray(inputs).tolist()
    assert rows == [data[:-1].tolist()] * 2, f"sequences of 7 from the tokens 0 to 7 are {rows}"


def test_rows_of_a_batch_are_drawn_apart(gpt: "GPT") -> None:
    """The rows of a batch come from different places, and another seed draws other places.

    Rows that repeat each other teach no more than one of them.
    """
    data = np.arange(1000)
    first, again = (np.asarray(gpt.get_batch(data, 8, 5, seed)[0])[:, 0] for seed in (0, 1))
    assert len(set(first.tolist())) > 1, "all rows of a batch begin at the same place"
    assert first.tolist() != again.tolist(), "seeds 0 and 1 draw the same places"


def test_large_token_ids_survive(gpt: "GPT") -> None:
    """A batch holds the ids of the text, also those of a large vocabulary.

    Rare words have the largest ids: a type that is too small changes them first.
    """
    inputs, targets = gpt.get_batch(np.array(LARGE * 3), 4, 5, 0)
    found = set(np.asarray(inputs).ravel().tolist()) | set(np.asarray(targets).ravel().tolist())
    assert found <= set(LARGE), f"the text holds {LARGE} only; the batch holds {sorted(found)}"


def test_validation_text_is_not_trained_on(gpt: "GPT") -> None:
    """The two parts share no token of the text, and together are all of it.

    A model is judged by what it has not seen.
    """
    data = np.arange(100)
    train, validation = (np.asarray(part) for part in gpt.split_data(data, validation=0.2))
    both = sorted(set(train.tolist()) & set(validation.tolist()))
    assert not both, f"{len(both)} of 100 tokens are in both parts, such as that at {both[0]}"
    missing = sorted(set(range(100)) - set(train.tolist()) - set(validation.tolist()))
    assert not missing, f"{len(missing)} of 100 tokens are in no part, such as that at {missing[0]}"
