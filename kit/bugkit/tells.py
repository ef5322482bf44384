"""What would give a mutant away without any thought about transformers.

A student may run a formatter or a linter, or look for the odd word: none of it may help.
"""

import ast
import difflib
import io
import subprocess
import sys
import tokenize
from types import CodeType

from .places import CORRECT
from .problems import MissingTool, Problem

MAX_CHANGED_LINES = 18
"""Lines taken out or put in. The largest change of the catalogue needs them all: it moves both
norms of a block, forward and backward."""

MARKERS = ("bug", "mutant", "wrong", "broken", "fixme", "todo", "xxx", "hack")
"""Words that no changed line may hold."""

RUFF = ("--isolated", "--line-length", "100", "--target-version", "py311")
"""The formatter's settings; the same as in pyproject.toml, which an installed kit lacks."""

LINT = "A,ARG,B,C4,E,F,I,PIE,PTH,RET,RUF,SIM,UP,W"
"""The linter's rules: those of pyproject.toml, less the naming rules it makes exceptions from."""


def find_tells(original: str, mutant: str, file: str) -> list[str]:
    """Every tell of the mutant as a sentence; empty if it has none."""
    if same_code(original, mutant):
        return ["the edits change nothing: both sources compile to the same code"]
    return [
        *_formatter(mutant, file),
        *_linter(original, mutant, file),
        *_unused(original, mutant, file),
        *_comments(original, mutant),
        *_changed_lines(original, mutant),
    ]


def same_code(one: str, other: str) -> bool:
    """Whether two sources compile to the same code, line numbers and docstrings aside."""
    return _bytecode(one) == _bytecode(other)


def _bytecode(source: str) -> list[object]:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            node.body[0] = ast.copy_location(ast.Pass(), node.body[0])
    return _instructions(compile(tree, "<module>", "exec", optimize=0, dont_inherit=True))


def _instructions(code: CodeType) -> list[object]:
    constants = [_instructions(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return [code.co_code, code.co_exceptiontable, names, counts, constants]


def _formatter(mutant: str, file: str) -> list[str]:
    formatted = _ruff(["format", *RUFF, "--stdin-filename", file, "-"], mutant)
    if formatted == mutant:
        return []
    diff = difflib.unified_diff(mutant.splitlines(), formatted.splitlines(), n=0, lineterm="")
    lines = [line for line in diff if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return ["the formatter would change it: " + " ".join(lines)]


def _linter(original: str, mutant: str, file: str) -> list[str]:
    before, after = (_findings(source, file) for source in (original, mutant))
    for finding in before:
        if finding in after:
            after.remove(finding)
    return [f"the linter finds {finding}" for finding in after]


def _findings(source: str, file: str) -> list[str]:
    command = ["check", *RUFF, "--select", LINT, "--output-format", "concise", "--quiet"]
    lines = _ruff([*command, "--stdin-filename", file, "-"], source).splitlines()
    return [line.split(": ", 1)[1] for line in lines if ": " in line]


def _ruff(arguments: list[str], source: str) -> str:
    try:
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *arguments],
            input=source,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
    except OSError as error:
        raise Problem(f"ruff cannot be run: {error}") from None
    if "No module named ruff" in done.stderr:
        raise MissingTool("looking for tells needs ruff", "author")
    if done.returncode not in (0, 1):
        raise Problem(f"ruff failed: {done.stderr.strip()}")
    return done.stdout


def _unused(original: str, mutant: str, file: str) -> list[str]:
    """Names that are still bound but no longer read, which a linter may not see."""
    _, read_before = _names(original)
    bound, read = _names(mutant)
    unused = (bound & read_before) - read - _imported_elsewhere(file)
    return [f"the name {name} is no longer used" for name in sorted(unused)]


def _imported_elsewhere(file: str) -> set[str]:
    """What the other modules of the correct GPT import from this one."""
    module = file.removesuffix(".py")
    names = set()
    for path in CORRECT.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == module and node.level == 1:
                names |= {alias.name for alias in node.names}
    return names


def _names(source: str) -> tuple[set[str], set[str]]:
    bound: set[str] = set()
    read: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).split(".")[0])
    return bound, read


def _comments(original: str, mutant: str) -> list[str]:
    known = _comment_texts(original)
    return [f"new comment {text!r}" for text in _comment_texts(mutant) if text not in known]


def _comment_texts(source: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def _changed_lines(original: str, mutant: str) -> list[str]:
    diff = difflib.ndiff(original.splitlines(), mutant.splitlines())
    changed = [line for line in diff if line[:2] in ("- ", "+ ")]
    tells = []
    if len(changed) > MAX_CHANGED_LINES:
        tells.append(f"{len(changed)} changed lines are more than {MAX_CHANGED_LINES}")
    for line in changed:
        if line.startswith("+ "):
            words = [word for word in MARKERS if word in line.lower()]
            tells += [f"the word {word!r} in: {line[2:].strip()}" for word in words]
    return tells
