"""The contract: a subject cannot change what its caller holds, and lacks what it lacks."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

from bugkit import correct
from bugkit.contract import GPT, NAMES, NAMES_BY_LEVEL, NotOffered, Offer, raised_by_subject


def offer(**names: Any) -> Offer:
    module = ModuleType("subject")
    module.__dict__.update(names)
    return Offer(module)


# What must not happen.


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_name_skips_the_test_that_asks_for_it(name: str) -> None:
    with pytest.raises(pytest.skip.Exception, match=f"^{name} is not offered$"):
        getattr(offer(), name)


def test_a_name_that_is_none_is_missing() -> None:
    with pytest.raises(pytest.skip.Exception, match="gelu is not offered"):
        _ = offer(gelu=None).gelu


@pytest.mark.parametrize("name", ["attention", "np", "__all__", "Softmax", "softmax_", "block"])
def test_a_name_outside_the_contract_does_not_exist(name: str) -> None:
    # Even where the module has it: else a detector would work for one subject only.
    subject = offer(**{name: 1})
    assert not hasattr(subject, name)
    with pytest.raises(AttributeError, match=f"the contract has no name {name}"):
        getattr(subject, name)


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_name_cannot_be_passed_over(name: str) -> None:
    # hasattr() would hide an AttributeError, and getattr() with a default would swallow it.
    with pytest.raises(pytest.skip.Exception):
        getattr(offer(), name, "a default")


def spoil(tree: Any, **more: Any) -> None:
    """Changes every array and container that it can reach."""
    for item in (tree, more):
        if isinstance(item, dict):
            for value in item.values():
                spoil(value)
            item["new"] = 1
        elif isinstance(item, list):
            for value in item:
                spoil(value)
            item.append(1)
        elif isinstance(item, tuple):
            for value in item:
                spoil(value)
        elif isinstance(item, np.ndarray):
            item[...] = -1


def test_a_subject_cannot_change_what_its_caller_holds() -> None:
    def arguments() -> dict[str, Any]:
        x = np.arange(6.0).reshape(2, 3)
        return {"blocks": [{"w": x, "pair": (x, x)}, [x]], "view": x[:, ::2], "empty": x[:0]}

    mine, same = arguments(), arguments()
    offer(gelu=spoil).gelu(mine, axis=mine)
    np.testing.assert_equal(mine, same)


def test_a_configuration_of_any_sort_is_passed_as_it_is() -> None:
    @dataclass(frozen=True)
    class Config:
        d_model: int = 8

    class Tuple(NamedTuple):
        d_model: int = 8
        n_heads: int = 2

    for kind in (Config, Tuple):
        subject = offer(GPTConfig=kind, init_params=lambda cfg: cfg)
        cfg = subject.GPTConfig(d_model=9)
        assert subject.init_params(cfg) == cfg
        assert type(subject.init_params(cfg)) is kind


# What is passed.


def test_arrays_arrive_as_equal_copies() -> None:
    got: list[Any] = []
    subject = offer(softmax=lambda *args, **kwargs: got.append((args, kwargs)))
    x = np.arange(4.0, dtype=np.float32)
    subject.softmax(x, [x, (x, "text", None)], axis={"x": x})
    ((first, (second, third)), keywords) = got[0]
    for copy in (first, second, third[0], keywords["axis"]["x"]):
        assert copy is not x
        assert copy.dtype == x.dtype
        np.testing.assert_array_equal(copy, x)
    assert third[1:] == ("text", None)
    assert isinstance(third, tuple)


@pytest.mark.parametrize("value", [1, 2.5, "text", None, True, np.float32(1.5), np.int64(3)])
def test_numbers_and_texts_arrive_as_they_are(value: object) -> None:
    result = offer(gelu=lambda x: x).gelu(value)
    assert result == value
    assert type(result) is type(value)


def test_what_a_function_returns_or_raises_comes_through() -> None:
    def fail(x: float) -> None:
        raise ZeroDivisionError(f"of {x}")

    result = object()
    assert offer(gelu=lambda _: result).gelu(1) is result
    with pytest.raises(ZeroDivisionError, match="of 1"):
        offer(gelu=fail).gelu(1)


def test_an_argument_that_the_subject_does_not_know_is_not_offered() -> None:
    def gelu(x: float) -> float:
        return x

    with pytest.raises(pytest.skip.Exception, match=r"^axis is not offered$") as missing:
        offer(gelu=gelu).gelu(1, axis=2)
    assert not raised_by_subject(missing.value)


def test_an_argument_that_the_subject_itself_gets_wrong_is_an_error() -> None:
    def gelu(x: float) -> float:
        return float(np.sqrt(x, axes_of_mine=1))  # type: ignore[call-overload]

    def wrong(x: float) -> float:
        def inner(y: float) -> float:
            return y

        return inner(x, z=1)  # type: ignore[call-arg]

    for function in (gelu, wrong):
        with pytest.raises(TypeError) as caught:
            offer(gelu=function).gelu(1.0)
        assert raised_by_subject(caught.value)
    with pytest.raises(TypeError, match="missing"):
        offer(gelu=wrong).gelu()


def test_what_an_adapter_cannot_pass_on_is_not_offered() -> None:
    def gelu(_: float) -> float:
        raise NotOffered("temperature=0.7")

    with pytest.raises(pytest.skip.Exception, match=r"^temperature=0\.7 is not offered$"):
        offer(gelu=gelu).gelu(1)


def test_a_class_is_called_like_a_function() -> None:
    assert offer(GPTConfig=correct.GPTConfig).GPTConfig(d_model=8).d_model == 8


def test_what_the_subject_raises_is_told_from_what_the_test_raises() -> None:
    def fail(_: float) -> None:
        raise AssertionError

    with pytest.raises(AssertionError) as of_the_subject:
        offer(gelu=fail).gelu(1)
    assert raised_by_subject(of_the_subject.value)
    with pytest.raises(AssertionError) as of_the_test:
        assert offer(gelu=lambda x: x).gelu(1) == 2
    assert not raised_by_subject(of_the_test.value)
    with pytest.raises(pytest.skip.Exception) as missing:
        offer().gelu(1)
    assert not raised_by_subject(missing.value)


def test_a_function_may_stand_for_the_configuration() -> None:
    assert offer(GPTConfig=lambda **sizes: sizes).GPTConfig(d_model=4) == {"d_model": 4}


# The names.


def test_the_correct_gpt_offers_every_name() -> None:
    subject = Offer(correct)
    for name in NAMES:
        assert callable(getattr(subject, name))
    assert set(NAMES) <= set(correct.__all__)


def test_the_names_are_those_that_detectors_are_told_of() -> None:
    assert set(NAMES) == set(GPT.__annotations__)
    assert len(set(NAMES)) == sum(map(len, NAMES_BY_LEVEL.values()))
    assert list(NAMES_BY_LEVEL) == sorted(NAMES_BY_LEVEL)
