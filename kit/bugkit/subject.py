"""Implementations under test: the correct GPT, a mutant, or somebody's file or folder."""

import hashlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import shlex
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType

from .adapters.recognise import adapted
from .catalogue import Bug, load_bug, slug_of
from .files import read_text
from .places import CORRECT, MUTANTS, shown
from .problems import Problem, nearest, said

ADAPTER = "adapter.py"
"""A file that says itself which names stand for which: it is not read as anything else."""

HANDED_OUT = "gpt/__init__.py"
"""The program in a folder that was handed out."""


class Kind(StrEnum):
    """What sort of subject it is."""

    CORRECT = "correct"
    MUTANT = "mutant"
    INNOCENT = "innocent"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that can be loaded and offers the names of the contract."""

    id: str
    """The slug, or the path as it was given."""
    kind: Kind
    title: str
    path: Path
    """The file or package folder to load; for a mutant, the folder laid over `correct`."""
    bug: Bug | None = None

    @property
    def component(self) -> str | None:
        """The part of the transformer that the bug is in."""
        return self.bug.component if self.bug else None

    @property
    def level(self) -> int | None:
        """The bug's level."""
        return self.bug.level if self.bug else None

    def digest(self) -> str | None:
        """Names the sources by content; None if what they import is not known."""
        if self.kind is Kind.FILE:
            return None
        if self == BLANK_SUBJECT:
            return self.id
        sources = {path.name: path.read_bytes() for path in CORRECT.glob("*.py")}
        if self.bug:
            sources[self.bug.file] = self.bug.module.read_bytes()
        summary = hashlib.sha256()
        for name, source in sorted(sources.items()):
            summary.update(f"{name} {len(source)}\n".encode() + source)
        return summary.hexdigest()


CORRECT_SUBJECT = Subject("correct", Kind.CORRECT, "The correct GPT", CORRECT)
BLANK_SUBJECT = Subject("blank", Kind.CORRECT, "An empty module", CORRECT)
"""Offers nothing. A detector that does not notice is not looking at the subject."""


def subject_of(bug: Bug) -> Subject:
    """The mutant that carries the bug. Raises Problem if it was never built."""
    if not bug.module.is_file():
        raise Problem(f"{shown(bug.module)}: is missing; run: {_build(bug)}")
    if bug.module.read_bytes() == bug.original.read_bytes():
        raise Problem(
            f"{shown(bug.module)}: does not differ from the correct module; run: {_build(bug)}"
        )
    from .freshness import is_current  # brings the cache along, which loading a file never needs

    if not is_current(bug):
        raise Problem(
            f"{shown(bug.module)}: is not what bug.toml makes of the correct module; "
            f"run: {_build(bug)}"
        )
    return Subject(
        bug.slug, Kind.INNOCENT if bug.innocent else Kind.MUTANT, bug.title, bug.folder, bug
    )


def _build(bug: Bug) -> str:
    return f"bugkit build {bug.slug}{place_option(bug.folder)}"


def place_option(folder: Path) -> str:
    """What to add to a command so that it finds the bug in this folder."""
    place = folder.resolve().parent
    return "" if place == MUTANTS else f" --catalogue {shlex.quote(shown(place))}"


def find_subject(name: str, catalogue: Mapping[str, Bug]) -> Subject:
    """The subject that a user means: a slug, a .py file, or a folder."""
    if slug_of(name) in catalogue:
        return subject_of(catalogue[slug_of(name)])
    if name == CORRECT_SUBJECT.id:
        return CORRECT_SUBJECT
    path = Path(name)
    if not os.path.exists(path):  # noqa: PTH110  Path.exists raises for a name that is too long
        if path.suffix == ".py" or len(path.parts) > 1:
            raise Problem(f"{name}: no such file or folder")
        raise Problem(f"no bug, file or folder is called {name}{nearest(slug_of(name), catalogue)}")
    if (path / "bug.toml").is_file():
        return subject_of(load_bug(path.resolve()))
    file = _entry(path)
    read_text(file)
    # A package is called as its folder; a handout, which holds one, as its own.
    package = path.resolve() if path.is_dir() else file.parent
    title = package.name if file.name == "__init__.py" else file.name
    return Subject(name, Kind.FILE, title, file)


def _entry(path: Path) -> Path:
    """The file that defines the names."""
    if path.is_file():
        if path.suffix != ".py":
            raise Problem(f"{path}: not a Python file; give a .py file or a folder")
        return path.resolve()
    for name in (ADAPTER, "__init__.py", HANDED_OUT):
        if (path / name).is_file():
            return (path / name).resolve()
    files = sorted(path.glob("*.py"))
    if len(files) != 1:
        found = f"{len(files)} .py files" if files else "no .py file"
        raise Problem(
            f"{path}: holds {found}, and no adapter.py or __init__.py; name the file to check"
        )
    return files[0].resolve()


def load(subject: Subject) -> ModuleType:
    """Run the subject's code and return its module, or one in its place with the contract's names
    if it is a class of a known shape. Whatever that code raises comes through."""
    if subject == BLANK_SUBJECT:
        return ModuleType(subject.id)
    name = f"bugkit_subject_{hashlib.sha256(subject.id.encode()).hexdigest()[:12]}"
    if subject.kind is not Kind.FILE:
        return _load_overlay(name, subject.bug)
    if subject.path.name == "__init__.py":
        return adapted(_load_package(subject.path.parent))
    # As if it had been started as a script: files beside it can be imported.
    sys.path.insert(0, str(subject.path.parent))
    module = _execute(name, subject.path)
    return module if subject.path.name == ADAPTER else adapted(module)


def _load_overlay(package: str, bug: Bug | None) -> ModuleType:
    """The correct GPT as a package of this name, with the one module that the bug changes."""
    for name in [n for n in sys.modules if n == package or n.startswith(f"{package}.")]:
        del sys.modules[name]
    finder = _OverlayFinder(package, bug)
    sys.meta_path.insert(0, finder)
    try:
        return _execute(package, finder.file("__init__"), [str(CORRECT)])
    finally:
        sys.meta_path.remove(finder)


def _load_package(folder: Path) -> ModuleType:
    # Under its own name, since its modules may import each other by it.
    if folder.name in sys.modules:
        return _execute(f"bugkit_subject_{folder.name}", folder / "__init__.py", [str(folder)])
    sys.path.insert(0, str(folder.parent))
    return importlib.import_module(folder.name)


def _execute(name: str, path: Path, search: list[str] | None = None) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        name, path, loader=_FreshLoader(name, str(path)), submodule_search_locations=search
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class _OverlayFinder(importlib.abc.MetaPathFinder):
    def __init__(self, package: str, bug: Bug | None) -> None:
        self.prefix = f"{package}."
        self.bug = bug

    def find_spec(
        self, fullname: str, _path: object = None, _target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith(self.prefix):
            return None
        file = self.file(fullname.removeprefix(self.prefix))
        loader = _FreshLoader(fullname, str(file))
        return importlib.util.spec_from_file_location(fullname, file, loader=loader)

    def file(self, module: str) -> Path:
        """Where the module is. What else lies in the bug's folder is no part of the mutant."""
        if self.bug and self.bug.file == f"{module}.py":
            return self.bug.module
        file = CORRECT / f"{module}.py"
        if not file.is_file():
            raise ModuleNotFoundError(f"the correct GPT has no module {module}")
        return file


class _FreshLoader(importlib.machinery.SourceFileLoader):
    """Compiles the source itself: a .pyc is told apart by second and size alone, and a rebuilt
    mutant may agree in both."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return _compiled(path, self.get_data(path))


@cache
def _compiled(path: str, source: bytes) -> CodeType:
    code: CodeType = compile(source, path, "exec", dont_inherit=True)
    return code


def import_fault(subject: Subject, error: BaseException) -> str:
    """Why the subject cannot be imported, in one sentence without a traceback."""
    if isinstance(error, Problem):
        return str(error)
    if isinstance(error, SyntaxError):
        # Not always in the subject itself: it may stand in what it imports.
        where = shown(Path(error.filename)) if error.filename else shown(subject.path)
        line = f"line {error.lineno} of " if error.lineno else ""
        return f"syntax error in {line}{where}: {error.msg}"
    if isinstance(error, SystemExit):
        return (
            f"calls sys.exit({error.code!r}) when imported; "
            'put what should run only as a script under `if __name__ == "__main__":`'
        )
    if isinstance(error, ModuleNotFoundError) and error.name:
        return (
            f"imports {error.name!r}: no package of that name is installed here, "
            "and no such file lies beside it"
        )
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [f for f in frames if Path(f.filename).is_relative_to(subject.path.parent)]
    line = f"line {theirs[-1].lineno} of {Path(theirs[-1].filename).name}: " if theirs else ""
    return f"cannot be imported: {line}{said(error)}"
