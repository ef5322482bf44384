"""Each rewrite does what its examples say, computes the same, and leaves alone what it must."""

import ast
import math
import textwrap
from collections.abc import Sequence

import numpy as np
import pytest

from bugkit.disguise.chance import Dice
from bugkit.disguise.expressions import PLAIN
from bugkit.disguise.facts import Facts, kinds_returned
from bugkit.disguise.marks import changed, nodes
from bugkit.disguise.modules import write_unit
from bugkit.disguise.rewrites import BLOCK_REWRITES, REWRITES, BlockRewrite, Context, Rewrite
from bugkit.disguise.scopes import Binding
from bugkit.disguise.source import Unit, read_source

HEAD = """\
import math

import numpy as np


def helper(x: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    return x + y * count


def f(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, n: int, m: int, flag: bool, things: list
):
"""
SHAPES = ((3, 3), (2, 3, 3), (2, 4, 3, 3), (4, 2), (6, 6), (6,))
EVERY: Sequence[Rewrite | BlockRewrite] = [*REWRITES, *BLOCK_REWRITES]
EXAMPLES = [(r, before, after) for r in EVERY for before, after in r.examples]
NEVER = [(r, code) for r in EVERY for code in r.never]


def _unit(code: str) -> tuple[Unit, Context]:
    source = read_source("example.py", HEAD + textwrap.indent(code, "    ") + "\n")
    functions = {b: unit.function for unit in source.units for b in unit.names if unit.function}

    def signature(binding: Binding) -> tuple[str, ...]:
        function = functions.get(binding)
        return tuple(p.arg for p in function.args.args) if function else ()

    facts = Facts(source.units[1].body, lambda b: kinds_returned(functions.get(b)))
    return source.units[1], Context(facts, Dice(b""), signature)


def _once(rewrite: Rewrite | BlockRewrite, code: str, seed: int) -> str | None:
    """The code with the rewrite in the first place where it applies, or None."""
    unit, context = _unit(code)
    context.dice = Dice(b"%d" % seed)
    function = unit.function
    assert function is not None
    body: list[ast.stmt] | None = None
    if isinstance(rewrite, BlockRewrite):
        for i, statement in enumerate(function.body):
            if isinstance(statement, rewrite.kinds):
                found = rewrite.apply(list(function.body), i, context)
                if found is not None:
                    body = [*function.body[:i], *found[1], *function.body[i + found[0] :]]
                    break
    else:
        for node in nodes(function):
            if isinstance(node, rewrite.kinds):
                other = rewrite.apply(node, context)
                if other is not None:
                    body = [_with(s, node, other) for s in function.body]
                    break
    if body is None:
        return None
    return _text(Unit((changed(function, body=body),), unit.names, unit.locals))


def _with(tree: ast.stmt, node: ast.AST, other: ast.AST) -> ast.stmt:
    def swapped(child: ast.AST) -> ast.AST:
        if child is node:
            return other
        for name, value in list(ast.iter_fields(child)):
            if isinstance(value, list):
                new = [swapped(v) if isinstance(v, ast.AST) else v for v in value]
                child = changed(child, **{name: new})
            elif isinstance(value, ast.AST):
                child = changed(child, **{name: swapped(value)})
        return child

    new = swapped(tree)
    assert isinstance(new, ast.stmt)
    return new


def _text(unit: Unit) -> str:
    lines = write_unit("example", unit, PLAIN).lines
    start = next(i for i, line in enumerate(lines) if line.endswith("):"))
    return textwrap.dedent("\n".join(lines[start + 1 :]))


def _plain(code: str) -> str:
    return _text(_unit(code)[0])


@pytest.mark.parametrize(
    ("rewrite", "before", "after"), EXAMPLES, ids=lambda v: getattr(v, "name", "")
)
def test_an_example_that_does_not_come_out_as_it_says(
    rewrite: Rewrite | BlockRewrite, before: str, after: str
) -> None:
    results = {_once(rewrite, before, seed) for seed in range(60)}
    assert _plain(after) in results, results
    assert _plain(before) not in results


@pytest.mark.parametrize(
    ("rewrite", "before", "after"), EXAMPLES, ids=lambda v: getattr(v, "name", "")
)
def test_an_example_that_computes_something_else(
    rewrite: Rewrite | BlockRewrite, before: str, after: str
) -> None:
    results = {r for seed in range(20) if (r := _once(rewrite, before, seed)) is not None}
    assert results
    tried = 0
    for shape in SHAPES:
        expected = _run(before, shape)
        if expected is None:
            continue
        tried += 1
        for result in sorted({*results, after}):
            found = _run(result, shape)
            if found is not None or "refuse" not in rewrite.why:
                _same(found, expected)
    assert tried, "no shape fits the example"


def _run(code: str, shape: tuple[int, ...]) -> object:
    """What the code returns, or the names that it leaves; None if it cannot be run."""
    rng = np.random.default_rng(7)
    a, b, c = (rng.normal(size=shape) for _ in range(3))
    names = {"math": math, "np": np, "g": lambda *xs: xs[0], "float": float}
    names["helper"] = lambda x, y, count: x + y * count
    whole = "a, b, c" if "return" not in code else ""
    text = f"def f(a, b, c, n, m, flag, things):\n{textwrap.indent(code, '    ')}\n"
    text += f"    return {whole}\n" if whole else ""
    exec(compile(text, "<example>", "exec"), names)
    size = int(np.prod(shape))
    n, m = (1, 1) if "split" in code or "..., :n" in code else (shape[0], size // shape[0])
    try:
        things = {"t": 1} if "**things" in code or "| {" in code else [1.0, 2.0]
        return names["f"](a, b, c, n, m, a > 0 if "where" in code else True, things)  # type: ignore[operator]
    except (ValueError, TypeError, IndexError):
        return None


def _same(one: object, other: object) -> None:
    if isinstance(other, tuple | list):
        assert isinstance(one, tuple | list)
        for x, y in zip(one, other, strict=True):
            _same(x, y)
    elif isinstance(other, np.ndarray | float):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-12, atol=1e-13)
        assert np.asarray(one).dtype == np.asarray(other).dtype
    elif isinstance(other, range) or hasattr(other, "__next__"):
        assert list(one) == list(other)  # type: ignore[call-overload]
    else:
        assert one == other


@pytest.mark.parametrize(("rewrite", "code"), NEVER, ids=lambda v: getattr(v, "name", ""))
def test_what_only_looks_alike_is_not_rewritten(rewrite: Rewrite | BlockRewrite, code: str) -> None:
    assert {_once(rewrite, code, seed) for seed in range(20)} == {None}


@pytest.mark.parametrize("rewrite", EVERY, ids=lambda r: r.name)
def test_no_rewrite_lacks_a_reason_an_example_or_a_limit(rewrite: Rewrite | BlockRewrite) -> None:
    assert rewrite.why.endswith(".")
    assert rewrite.examples
    assert rewrite.never
    assert 0 < rewrite.odds < 100
