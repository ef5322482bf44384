"""Definitions move, and the package can still be imported."""

import ast
from collections.abc import Mapping

import pytest

from bugkit.disguise.chance import Dice
from bugkit.disguise.moves import module_names, move, ordered, plan
from bugkit.disguise.package import read_package


@pytest.mark.parametrize("seed", range(20))
def test_no_definition_is_lost_and_no_module_needs_itself(
    correct: Mapping[str, str], seed: int
) -> None:
    package = read_package(correct)
    chart = plan(package)
    before = dict(chart.place)
    move(chart, Dice(b"%d" % seed))
    assert chart.place.keys() == before.keys()
    assert chart.place != before
    assert chart.sound()
    assert len(set(chart.place.values())) > 15


def test_a_circle_is_refused(correct: Mapping[str, str]) -> None:
    package = read_package(correct)
    chart = plan(package)
    softmax = chart.within("softmax")
    assert not chart.attempt(softmax, "model")
    assert chart.within("softmax") == softmax
    assert chart.attempt(softmax, "norm")


def test_no_two_modules_get_one_name() -> None:
    modules = ["attention", "attention_backward", "softmax", "gelu", "gelu_backward", "linear"]
    for seed in range(20):
        names = module_names(modules, Dice(b"%d" % seed))
        assert len(set(names.values())) == len(modules)
        assert "__init__" not in names.values()


def test_constants_are_not_put_below_what_needs_them(correct: Mapping[str, str]) -> None:
    package = read_package(correct)
    for seed in range(10):
        units = ordered(list(package.sources["config"].units), Dice(b"%d" % seed))
        kinds = [type(unit.body[0]) for unit in units]
        assert kinds[:3] == [ast.Assign] * 3
        assert ast.Assign not in kinds[3:]
        attention = list(package.sources["attention"].units)
        assert set(ordered(attention, Dice(b"%d" % seed))) == set(attention)
