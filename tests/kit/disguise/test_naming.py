"""New names are words, free, and the same wherever the same is meant."""

import builtins
import keyword
from collections.abc import Mapping

import pytest

from bugkit.contract import NAMES
from bugkit.disguise import Level, disguise
from bugkit.disguise.naming import renamed_in, words
from bugkit.tells import MARKERS

PREPARED = [
    (kind, old, new)
    for kind in ("functions", "names", "modules")
    for old, options in words()[kind].items()
    for new in options
]


def test_no_prepared_name_is_a_builtin_or_no_name_at_all() -> None:
    for kind, old, new in PREPARED:
        assert new.isidentifier(), new
        assert not keyword.iskeyword(new)
        assert kind == "modules" or not hasattr(builtins, new), (old, new)
        assert new not in ("l", "O", "I"), old
        assert kind != "functions" or new == old or new not in NAMES, new


def test_no_prepared_name_gives_anything_away() -> None:
    assert not [new for _, _, new in PREPARED if any(word in new.lower() for word in MARKERS)]


def test_no_small_name_becomes_a_large_one() -> None:
    # The linter takes what is in capitals for a constant.
    assert not [new for _, old, new in PREPARED if new.isupper() and not old.isupper()]


@pytest.mark.parametrize("seed", [b"1", b"2"])
def test_a_backward_pass_is_named_after_its_forward_pass(
    correct: Mapping[str, str], seed: bytes
) -> None:
    names = disguise(correct, Level.FULL, seed).names
    scheme = names["softmax.softmax_backward"].split(".")[1].replace("softmax", "{}")
    for module, function in (("linear", "linear"), ("mlp", "mlp"), ("block", "block")):
        forward = names.get(f"{module}.{function}", f".{function}").split(".")[1]
        backward = names.get(f"{module}.{function}_backward", f".{function}_backward").split(".")[1]
        assert backward == scheme.format(forward)


def test_texts_speak_of_new_names_only_in_backticks() -> None:
    new = {"mask": "drop", "normal": "gauss"}
    assert renamed_in("The mask: `mask`, `normal(*shape)`.", new) == (
        "The mask: `drop`, `gauss(*shape)`."
    )
