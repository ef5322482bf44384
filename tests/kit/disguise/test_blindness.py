"""Names, order and texts say nothing about the bug: they are drawn as if it were not there."""

import ast
from collections.abc import Callable, Mapping

import pytest

from bugkit.catalogue import Bug
from bugkit.disguise import Disguised, Level, disguise
from bugkit.files import read_text
from bugkit.worksheet.excerpt import touched

BUGS = (
    "dropout_not_scaled",
    "gelu_exact_for_tanh",
    "mlp_residual_missing",
    "softmax_over_queries",
    "temperature_zero_divides",
    "top_p_keeps_one_more",
)
"""They need what the correct GPT needs. A bug that does not may move whole modules."""

Place = tuple[str, str]


def definitions(disguised: Disguised) -> dict[Place, tuple[str, str]]:
    """(file, name) -> docstring, and the whole text; in the order in which they stand."""
    return {
        (file, node.name): (ast.get_docstring(node) or "", ast.get_source_segment(text, node) or "")
        for file, text in disguised.files.items()
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


@pytest.mark.parametrize("level", [Level.LIGHT, Level.FULL])
@pytest.mark.parametrize("slug", BUGS)
def test_nothing_but_the_faulty_definitions_depends_on_the_bug(
    slug: str,
    level: Level,
    correct: Mapping[str, str],
    broken: Callable[[str], dict[str, str]],
    catalogue: Mapping[str, Bug],
) -> None:
    bug, seed = catalogue[slug], f"blind {slug}".encode()
    with_bug = disguise(broken(slug), level, seed)
    mutant, right = definitions(with_bug), definitions(disguise(correct, level, seed))
    assert list(mutant) == list(right)  # names, files and order
    assert [said for said, _ in mutant.values()] == [said for said, _ in right.values()]
    changed = touched(read_text(bug.module), read_text(bug.original))
    module = bug.file.removesuffix(".py")
    names = with_bug.names
    faulty = {names.get(f"{module}.{p.name}", f"{module}.{p.name}") for p in changed if p.name}
    differ = {
        f"{file.removesuffix('.py')}.{name}"
        for file, name in mutant
        if mutant[file, name] != right[file, name]
    }
    assert differ <= faulty
    assert differ
