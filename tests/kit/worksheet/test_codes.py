"""Codes of sheets: no two bugs share one, and a copied one is understood."""

from dataclasses import replace

import pytest

from bugkit.catalogue import load_catalogue
from bugkit.worksheet.codes import ALPHABET, LENGTH, code_of, shared, with_code

CATALOGUE = load_catalogue()


def test_no_two_bugs_of_the_catalogue_share_a_code() -> None:
    assert shared(CATALOGUE.values()) is None
    assert len({code_of(slug) for slug in CATALOGUE}) == len(CATALOGUE)


def test_two_bugs_with_one_code_are_found() -> None:
    first, other = list(CATALOGUE.values())[:2]
    twin = replace(first, title="Another of the same name")
    assert shared([first, other, twin]) == (first, twin)


def test_every_code_leads_back_to_its_bug() -> None:
    for slug, bug in CATALOGUE.items():
        code = code_of(slug)
        assert len(code) == LENGTH
        assert set(code) <= set(ALPHABET)
        misread = code.lower().replace("0", "o").replace("1", "l")
        assert with_code(misread, CATALOGUE) is bug


@pytest.mark.parametrize("copied", ["AMER8G", "amer8g", " AMER8G\n", "AME-R8G", "A M E R 8 G"])
def test_a_code_is_understood_however_it_was_copied(copied: str) -> None:
    assert with_code(copied, CATALOGUE) is CATALOGUE["no_causal_mask"]


def test_codes_stay_as_they_are() -> None:
    """Or the sheets of last year could not be matched with their keys."""
    assert code_of("no_causal_mask") == "AMER8G"
    assert code_of("softmax_over_queries") == "T8TF9V"


@pytest.mark.parametrize("text", ["", "AMER8", "AMER8GG", "no_causal_mask", "ÄMER8G", "------"])
def test_what_is_no_code_leads_nowhere(text: str) -> None:
    assert with_code(text, CATALOGUE) is None


def test_a_code_tells_nothing_of_the_name() -> None:
    """No letter follows from one of the name: names that differ in one character share little."""
    pairs = [(code_of(f"bug_{i}"), code_of(f"bug_{i + 1}")) for i in range(200)]
    alike = sum(a == b for one, other in pairs for a, b in zip(one, other, strict=True))
    assert alike < 200 * LENGTH / len(ALPHABET) * 2
