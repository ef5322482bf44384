"""A disguise hides nothing that counts: the code is the same but for what the level may change."""

import ast
import builtins
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping

import pytest

from bugkit.contract import NAMES
from bugkit.disguise import Disguised, Level, Place, disguise
from bugkit.places import CORRECT, PACKAGE
from bugkit.problems import Problem

SEEDS = [b"seed %d" % i for i in range(4)]
LEVELS = [Level.LIGHT, Level.FULL]


def _functions(files: Mapping[str, str]) -> Iterator[tuple[str, ast.stmt]]:
    for name, text in files.items():
        for node in ast.parse(text).body:
            if name != "__init__.py" and not isinstance(
                node, ast.Import | ast.ImportFrom | ast.Expr
            ):
                yield name, node


def _shape(node: ast.stmt) -> tuple[str, list[str]]:
    """The code without its names and texts, and the names in their order."""
    names: list[str] = []

    def taken(name: str) -> str:
        if name in NAMES or hasattr(builtins, name):
            return name
        names.append(name)
        return ""

    tree = ast.parse(ast.unparse(node))
    for child in ast.walk(tree):
        match child:
            case ast.Name():
                child.id = taken(child.id)
            case ast.arg():
                child.arg = taken(child.arg)
            case ast.FunctionDef():
                child.name = taken(child.name)
                child.body = [s for s in child.body if not _is_text(s)]
            case ast.ClassDef():
                child.body = [s for s in child.body if not _is_text(s)]
            case ast.ExceptHandler(name=str() as name):
                child.name = taken(name)
            case ast.keyword():
                child.arg = None
    return ast.dump(tree), names


def _renamed_only(old: tuple[str, list[str]], new: tuple[str, list[str]]) -> bool:
    """Whether the code is the same and no two names became one."""
    (shape, names), (other_shape, others) = old, new
    if shape != other_shape:
        return False
    back: dict[str, str] = {}
    return all(back.setdefault(o, n) == n for n, o in zip(names, others, strict=True))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@pytest.mark.parametrize("seed", SEEDS)
def test_light_changes_no_more_than_names_texts_and_order(
    correct: Mapping[str, str], seed: bytes
) -> None:
    new = disguise(correct, Level.LIGHT, seed)
    assert sorted(new.files) == sorted(correct)
    for file in correct:
        old = [_shape(node) for name, node in _functions(correct) if name == file]
        others = [_shape(node) for name, node in _functions(new.files) if name == file]
        assert len(old) == len(others)
        for shape in old:
            assert any(_renamed_only(shape, other) for other in others), shape


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_name_of_the_contract_gets_lost(
    correct: Mapping[str, str], seed: bytes, level: Level
) -> None:
    new = disguise(correct, level, seed)
    defined = {
        node.name: node
        for _, node in _functions(new.files)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    for _, node in _functions(correct):
        if isinstance(node, ast.FunctionDef) and node.name in NAMES:
            other = defined[node.name]
            assert isinstance(other, ast.FunctionDef)
            assert [a.arg for a in other.args.args] == [a.arg for a in node.args.args]
            assert len(other.args.defaults) == len(node.args.defaults)
    imported = {
        alias.name
        for node in ast.parse(new.files["__init__.py"]).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(NAMES) <= imported


@pytest.mark.parametrize("seed", SEEDS)
def test_no_keyword_names_a_parameter_that_is_gone(correct: Mapping[str, str], seed: bytes) -> None:
    new = disguise(correct, Level.FULL, seed)
    parameters = {
        node.name: {a.arg for a in [*node.args.args, *node.args.kwonlyargs]}
        for _, node in _functions(new.files)
        if isinstance(node, ast.FunctionDef)
    }
    checked = 0
    for _, node in _functions(new.files):
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                for keyword in call.keywords:
                    if keyword.arg is not None and call.func.id in parameters:
                        assert keyword.arg in parameters[call.func.id], ast.unparse(call)
                        checked += 1
    assert checked


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_line_is_longer_than_the_formatter_allows(
    correct: Mapping[str, str], seed: bytes, level: Level
) -> None:
    new = disguise(correct, level, seed)
    for file, text in new.files.items():
        assert max(map(len, text.splitlines())) <= 100, file
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert not any(line != line.rstrip() for line in text.splitlines())


def test_none_changes_nothing(correct: Mapping[str, str]) -> None:
    same = disguise(correct, Level.NONE, b"seed")
    assert same.files == correct
    assert same.where("norm.py", 7) == (Place("norm.py", 7),)


@pytest.fixture(scope="module")
def full(broken: Callable[[str], dict[str, str]]) -> Disguised:
    return disguise(broken("layer_norm_backward_gain_twice"), Level.FULL, b"a student")


def test_no_line_of_code_gets_lost(
    broken: Callable[[str], dict[str, str]], full: Disguised
) -> None:
    for file, text in broken("layer_norm_backward_gain_twice").items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Return | ast.Assign | ast.For) and file != "__init__.py":
                places = full.where(file, node.lineno)
                assert places, (file, node.lineno)
                assert all(p.line <= full.files[p.file].count("\n") for p in places)


def test_the_line_of_the_bug_is_not_lost(
    broken: Callable[[str], dict[str, str]], full: Disguised
) -> None:
    lines = broken("layer_norm_backward_gain_twice")["norm.py"].splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if "- g * standardised" in line]
    found = [full.files[p.file].splitlines()[p.line - 1] for p in full.where("norm.py", number)]
    assert found
    assert any("*" in line and "-" in line for line in found), found


def test_the_new_names_are_not_kept_secret(full: Disguised) -> None:
    new = full.names["norm.standardise"]
    module, name = new.split(".")
    assert f"def {name}(" in full.files[f"{module}.py"]


def test_two_students_do_not_get_the_same(correct: Mapping[str, str]) -> None:
    one, other = (disguise(correct, Level.FULL, seed) for seed in (b"one", b"other"))
    lines = [
        {line.strip() for text in d.files.values() for line in text.splitlines()}
        for d in (one, other)
    ]
    assert len(lines[0] & lines[1]) < 0.45 * min(map(len, lines))


def test_the_hash_seed_of_python_plays_no_part() -> None:
    program = (
        "import hashlib, pathlib, sys; from bugkit.disguise import Level, disguise;"
        "files = {p.name: p.read_text() for p in pathlib.Path(sys.argv[1]).glob('*.py')};"
        "new = disguise(files, Level.FULL, b'seed').files;"
        "print(hashlib.sha256(repr(sorted(new.items())).encode()).hexdigest())"
    )
    digests = set()
    for hash_seed in ("1", "2"):
        path = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": path}
        done = subprocess.run(
            [sys.executable, "-c", program, str(CORRECT)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(done.stdout)
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import numpy as np\nfor i in range(3):\n    pass\n", "odd.py: line 2: For at the top"),
        ("def f(:\n", "odd.py: line 1"),
        ("from .norm import nothing\n\n\ndef f():\n    return nothing\n", "imports nothing from"),
        ("def f():\n    return unheard_of\n", "line 2: nobody says what unheard_of is"),
        ("from . import norm\n", "odd.py: line 1: import from a module by name"),
        ("async def f():\n    return 1\n", "AsyncFunctionDef"),
    ],
)
def test_what_cannot_be_handled_is_not_guessed_at(
    correct: Mapping[str, str], text: str, message: str
) -> None:
    with pytest.raises(Problem, match=message):
        disguise({**correct, "odd.py": text}, Level.FULL, b"seed")


def test_a_package_without_a_front_is_none(correct: Mapping[str, str]) -> None:
    files = {name: text for name, text in correct.items() if name != "__init__.py"}
    with pytest.raises(Problem, match="needs an __init__"):
        disguise(files, Level.LIGHT, b"seed")
