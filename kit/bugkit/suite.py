"""Collects the detectors: one real pytest session, whose items become columns."""

import ast
import contextlib
import hashlib
import importlib.util
import io
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from .matrix import Detector
from .places import DETECTORS, PACKAGE, shown
from .problems import Problem

ARGUMENTS = (
    "--import-mode=importlib",
    "-c",
    str(DETECTORS / "pytest.ini"),
    "--assert=plain",
    *(
        f"-pno:{plugin}"
        for plugin in (
            "cacheprovider",
            "terminal",
            "capture",
            "logging",
            "faulthandler",
            "unraisableexception",
            "threadexception",
            "warnings",
            "doctest",
            "junitxml",
            "setuponly",
            "setupplan",
        )
    ),
    "-pbugkit.plugin",
)
"""Plain pytest without what costs time in every cell: reports are written by us, once."""


class Suite:
    """The collected detectors, with the items that run them: most fundamental first."""

    def __init__(self, items: Sequence[pytest.Item], deselected: Sequence[pytest.Item]) -> None:
        digests = _Digests()
        self.items = tuple(items)
        self.names = frozenset(item.name for item in [*items, *deselected])
        if len(self.names) != len(items) + len(deselected):
            names = sorted(item.name for item in [*items, *deselected])
            twice = next(a for a, b in itertools.pairwise(names) if a == b)
            raise Problem(f"two detectors are called {twice}; rename one of them")
        keys = _keys([*items, *deselected])
        self.detectors = tuple(_detector(item, keys[item.name], digests) for item in self.items)
        every = "".join(detector.digest for detector in self.detectors)
        self.digest = hashlib.sha256(every.encode()).hexdigest()
        """Names the detectors and their order by content."""


def with_suite(select: str, use: Callable[[Suite], None]) -> None:
    """Collect the detectors that `select` names (pytest's -k syntax) and call `use` with them,
    inside the running pytest session."""
    if not __debug__:
        raise Problem("without assertions no test can fail: unset PYTHONOPTIMIZE, start without -O")
    session = _Session(use)
    arguments = [*ARGUMENTS, str(DETECTORS)]
    if select:
        arguments += ["-k", select]
    said = io.StringIO()
    with _quiet_environment(), contextlib.redirect_stderr(said):
        code = pytest.main(arguments, plugins=[session])
    if session.raised is not None:
        raise session.raised
    if session.faults:
        raise Problem("the detectors cannot be collected:\n" + "\n".join(session.faults))
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        raise Problem(
            f"no detector matches {select!r}; name keys or words of tests, such as 'F1 or softmax'"
        )
    if code != pytest.ExitCode.OK:
        what = said.getvalue().strip().removeprefix("ERROR: ").strip()
        raise Problem(what or f"pytest stopped with code {code}")


def property_ids(select: str) -> tuple[str, ...]:
    """Ids of the property detectors that `select` names, most fundamental first.

    They are collected as for a run, and nothing is run."""
    ids: list[str] = []

    def use(suite: Suite) -> None:
        ids.extend(detector.id for detector in suite.detectors if not detector.backstop)

    with_suite(select, use)
    if not ids:
        raise Problem(
            f"{select!r} names backstops alone, which only compare with recorded numbers; "
            "name a property as well"
        )
    return tuple(ids)


@contextlib.contextmanager
def _quiet_environment() -> Iterator[None]:
    """Neither the user's pytest options nor other plugins may change a verdict."""
    overrides = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": ""}
    saved = {name: os.environ.get(name) for name in overrides}
    os.environ.update(overrides)
    try:
        yield
    finally:
        for name, value in saved.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class _Session:
    """Our seat in the pytest session."""

    def __init__(self, use: Callable[[Suite], None]) -> None:
        self.use = use
        self.deselected: list[pytest.Item] = []
        self.faults: list[str] = []
        self.raised: BaseException | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Let a selection name columns by their keys."""
        for name, key in _keys(items).items():
            for item in items:
                if item.name == name:
                    item.extra_keyword_matches.add(key)

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self.deselected += items

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.faults.append(report.longreprtext)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if not self.faults and session.items:
            try:
                self.use(Suite(session.items, self.deselected))
            except BaseException as error:
                # Pytest would turn it into an exit code; it is raised again outside.
                self.raised = error
        return True


def _detector(item: pytest.Item, key: str, digests: "_Digests") -> Detector:
    function = getattr(item, "function", None)
    label, _, story = (getattr(function, "__doc__", None) or item.name).strip().partition("\n")
    level = item.get_closest_marker("level")
    return Detector(
        id=item.name,
        label=label.rstrip("."),
        story="\n".join(line.strip() for line in story.strip().splitlines()),
        family=_family(item),
        level=level.args[0] if level else 1,
        backstop=item.get_closest_marker("backstop") is not None,
        key=key,
        node=f"{item.path}::{item.name}",
        digest=digests.of(item.path, getattr(item, "originalname", item.name)),
    )


def _family(item: pytest.Item) -> str:
    return item.path.stem.removeprefix("test_")


def _families() -> tuple[str, ...]:
    """The families, most fundamental first: FAMILIES in the suite's __init__.py."""
    path = DETECTORS / "__init__.py"
    spec = importlib.util.spec_from_file_location("bugkit_detector_families", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    families: tuple[str, ...] = module.FAMILIES
    return families


def _keys(items: Sequence[pytest.Item]) -> dict[str, str]:
    """Item name -> short key: a letter for the family, one more character within it.

    Keys are given to all detectors, so that a selection does not rename columns.
    """
    members: dict[str, list[str]] = {family: [] for family in _families()}
    for item in items:
        members.setdefault(_family(item), []).append(item.name)
    # A fixed order, whatever was selected: that of the names in the file.
    position = {item.name: item.location[1] or 0 for item in items}
    keys: dict[str, str] = {}
    for index, names in enumerate(members.values()):
        letter = chr(ord("A") + index) if index < 26 else f"Z{index - 25}"
        ordered = sorted(names, key=position.__getitem__)
        keys |= {name: letter + _NUMERALS[i] for i, name in enumerate(ordered)}
    return keys


_NUMERALS = "123456789abcdefghijklmnopqrstuvwxyz"


class _Digests:
    """Names each detector's source by content: the function, what its file shares among
    functions, the suite's helpers, and the kit that runs it."""

    def __init__(self) -> None:
        helpers = [p for p in sorted(DETECTORS.rglob("*")) if p.is_file() and _is_helper(p)]
        kit = sorted(PACKAGE.glob("*.py"))
        shared = hashlib.sha256()
        for path in [*helpers, *kit]:
            shared.update(f"{path.name}\n".encode() + path.read_bytes())
        self.shared = shared.hexdigest()
        self.files: dict[Path, dict[str, str]] = {}

    def of(self, path: Path, name: str) -> str:
        if path not in self.files:
            source = path.read_text(encoding="utf-8")
            tests, rest = {}, []
            for node in ast.parse(source).body:
                text = ast.unparse(node)
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("test_"):
                    raise Problem(
                        f"{shown(path)}, line {node.lineno}: takes something from another file of "
                        f"detectors; put what several share into a file of its own"
                    )
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                    tests[node.name] = text
                else:
                    rest.append(text)
            common = "\n".join([self.shared, *rest])
            self.files[path] = {
                test: hashlib.sha256(f"{common}\n{text}".encode()).hexdigest()
                for test, text in tests.items()
            }
        if name not in self.files[path]:
            raise Problem(f"{shown(path)}: {name} is no function at the top of its file")
        return self.files[path][name]


def _is_helper(path: Path) -> bool:
    parts = path.relative_to(DETECTORS).parts
    return not path.name.startswith("test_") and not any(p.startswith((".", "__py")) for p in parts)
