"""Runs, checks and repairs the program of this notebook. Nothing in here is under suspicion."""

import difflib
import importlib
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True  # or a file that is written twice in a second may be read once


class Hunt:
    """One program: as received, in the folder gpt_CODE, and as repaired, in fixed_CODE."""

    def __init__(self, code, file, tests):
        self.folder, self.fixed, self.file = f"gpt_{code}", f"fixed_{code}", file
        self.checks = load(f"check_{code}")
        self.tests = [getattr(self.checks, name) for name in tests]
        self.received = load(self.folder)
        self.repaired = None

    def show(self, first=1, last=None):
        """Print these lines of the program as received."""
        lines = Path(self.folder, self.file).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines[first - 1 : last], first):
            print(f"{number:4}  {line}".rstrip())

    def check(self):
        """Say which properties hold on the program as received."""
        self._check(self.received)

    def check_repaired(self):
        """Say which properties hold on the repaired program. Raises AssertionError if not all."""
        assert self.repaired is not None, "there is no repaired program: see what the fix said"
        assert self._check(self.repaired), "the repaired program does not have the property"

    def check_others(self, checks, tests):
        """The same for further properties, without a word about those that hold."""
        for name in tests:
            said = failure(getattr(checks, name), checks.Plain(self.repaired))
            assert not said, f"{label(getattr(checks, name))}: {said}"

    def repair(self, fix):
        """Apply the fix to a fresh copy of the program, and show what it changes."""
        self.repaired = None
        before = Path(self.folder, self.file).read_text(encoding="utf-8")
        try:
            after = edited(before, fix)
            compile(after, self.file, "exec")
        except (SyntaxError, TypeError, ValueError) as error:
            print(f"The fix cannot be applied: {error}")
            return
        shutil.rmtree(self.fixed, ignore_errors=True)
        shutil.copytree(self.folder, self.fixed)
        Path(self.fixed, self.file).write_text(after, encoding="utf-8")
        lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
        print("\n".join(list(lines)[2:]) or "The fix changes nothing.")
        try:
            self.repaired = load(self.fixed)
        except Exception as error:
            print(f"The repaired program cannot be imported: {type(error).__name__}: {error}")

    def judge(self, test):
        """Raises AssertionError unless the test tells the two programs apart."""
        assert failure(test, self.checks.Plain(self.received)), (
            "your test passes on the program as received, so it does not see the bug"
        )
        assert self.repaired is not None, "there is no repaired program: see what the fix said"
        said = failure(test, self.checks.Plain(self.repaired))
        assert not said, f"your test fails on the repaired program: {said}"
        print("Your test fails on the program as received and passes on the repaired one.")

    def judge_alone(self, test):
        """Raises AssertionError unless the test passes, and looks at what the program gives."""
        said = failure(test, self.checks.Plain(self.received))
        assert not said, f"your test fails on the program as received: {said}"
        assert failure(test, Disturbed(self.checks.Plain(self.received))), (
            "your test also passes where every result is spoilt, so it would see no bug"
        )
        print("Your test passes, and fails where every result is spoilt.")

    def _check(self, package):
        held = True
        for test in self.tests:
            said = failure(test, self.checks.Plain(package))
            held = held and not said
            print(f"FAILED: {label(test)}.\n  {said}" if said else f"passed: {label(test)}.")
        return held


class Disturbed:
    """A program whose every result is spoilt: each number is off, in every call by another amount
    about as large as the numbers are."""

    def __init__(self, gpt):
        self.gpt = gpt
        self.noise = np.random.default_rng(0)

    def __getattr__(self, name):
        function = getattr(self.gpt, name)
        return lambda *args, **kwargs: disturbed(function(*args, **kwargs), self.noise)


def disturbed(tree, noise):
    """The same tree of results with other numbers in it."""
    if isinstance(tree, dict):
        return {key: disturbed(value, noise) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return type(tree)(disturbed(value, noise) for value in tree)
    if isinstance(tree, str):
        return tree[::-1] + "?"
    if isinstance(tree, np.ndarray | np.generic | int | float) and not isinstance(tree, bool):
        x = np.asarray(tree)
        if x.dtype.kind in "iu":
            return x + noise.integers(1, 3, x.shape).astype(x.dtype)
        size = np.abs(x[np.isfinite(x)]).max(initial=0.0) or 1.0
        return (x + noise.normal(0.0, size, x.shape)).astype(x.dtype)
    return tree


def failure(test, gpt):
    """What the test says if it fails, or an empty text."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            test(gpt)
        except (KeyboardInterrupt, SystemExit):
            raise
        except AssertionError as error:
            return str(error) or "an assertion does not hold"
        except BaseException as error:  # those of pytest are no ordinary exceptions
            name = type(error).__name__
            return str(error) if name == "Failed" else f"{name}: {error}"
    return ""


def label(test):
    """The property that a test is about."""
    return (test.__doc__ or test.__name__).strip().splitlines()[0].rstrip(".")


def load(name):
    """The package or file of this name, as it is now."""
    for known in [n for n in sys.modules if n == name or n.startswith(f"{name}.")]:
        del sys.modules[known]
    importlib.invalidate_caches()
    return importlib.import_module(name)


def edited(source, fix):
    """The source with the lines that `fix` names changed: number -> text, texts, or None."""
    lines = source.splitlines()
    for number, new in fix.items():
        if not isinstance(number, int) or not 1 <= number <= len(lines):
            raise ValueError(f"{number!r} is no line of the file; it has lines 1 to {len(lines)}")
        if new is not None and not isinstance(new, str | list | tuple):
            raise TypeError(f"line {number}: give the new text in quotes, or None to delete it")
        parts = [] if new is None else [new] if isinstance(new, str) else new
        lines[number - 1] = None if not parts else "\n".join(parts)
    return "\n".join(line for line in lines if line is not None) + "\n"


def write(folder, files):
    """Write these files: name -> source."""
    Path(folder).mkdir(exist_ok=True)
    for name, source in files.items():
        Path(folder, name).write_text(source, encoding="utf-8")
