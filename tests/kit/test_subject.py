"""Subjects: what was named is what is loaded, and what cannot be found is told."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from bugkit.build import build
from bugkit.catalogue import Bug, load_bug, load_catalogue
from bugkit.places import CORRECT, MUTANTS
from bugkit.problems import Problem
from bugkit.subject import CORRECT_SUBJECT, Kind, Subject, find_subject, load, subject_of

MakeBug = Callable[..., Path]

CATALOGUE = load_catalogue()

X = np.arange(6.0).reshape(2, 3)
GAIN, BIAS = np.ones(3), np.zeros(3)


@pytest.fixture(autouse=True)
def own_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a subject brings into this process goes with the test; the folder is its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    # As for a user: an old compilation must be there to be a danger.
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    modules, finders = dict(sys.modules), list(sys.meta_path)
    yield
    for name in set(sys.modules) - set(modules):
        file = getattr(sys.modules[name], "__file__", None) or ""
        if name.startswith("bugkit_subject_") or Path(file).is_relative_to(tmp_path):
            del sys.modules[name]
    sys.modules.update(modules)
    assert sys.meta_path == finders


@pytest.fixture
def built(make_bug: MakeBug) -> Bug:
    """A private bug, built: layer_norm takes its mean over time."""
    bug = load_bug(make_bug("means"))
    (result,) = build([bug], check=False)
    assert not result.faults
    return bug


def write(path: str, text: str = "") -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def layer_norm(module: ModuleType) -> np.ndarray:
    result: np.ndarray = module.layer_norm(X, GAIN, BIAS)
    return result


def files_of(module: ModuleType) -> dict[str, Path]:
    """Module name inside the subject -> the file that it was read from."""
    prefix = f"{module.__name__}."
    return {
        name.removeprefix(prefix): Path(part.__file__ or "")
        for name, part in sys.modules.items()
        if name.startswith(prefix)
    }


# What must not happen.


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_bug", "no bug, file or folder is called no_such_bug"),
        ("no-causal-msk", "called no-causal-msk; did you mean no_causal_mask"),
        ("gpt.py", "gpt.py: no such file or folder"),
        ("my/gpt", "my/gpt: no such file or folder"),
        ("Correct", "no bug, file or folder is called Correct"),
        ("", "holds no .py file"),
        ("null\0byte", "no bug, file or folder is called null"),
        ("n" * 300, "n"),
    ],
    ids=["slug", "near", "file", "folder", "capitals", "empty", "null byte", "long"],
)
def test_a_name_of_nothing_is_told(name: str, message: str) -> None:
    with pytest.raises(Problem) as caught:
        find_subject(name, CATALOGUE)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["notes.txt", "gpt.pyc", "gpt", "gpt.ipynb"])
def test_a_file_that_is_not_python_is_told(name: str) -> None:
    write(name)
    with pytest.raises(Problem, match=f"{name}: not a Python file; give a .py file or a folder"):
        find_subject(name, {})


def test_a_folder_without_python_is_told() -> None:
    write("my/notes.txt")
    with pytest.raises(Problem, match=r"my: holds no \.py file, and no adapter\.py or __init__"):
        find_subject("my", {})


def test_a_folder_with_several_files_is_not_guessed_at() -> None:
    write("my/model.py")
    write("my/train.py")
    with pytest.raises(Problem, match=r"my: holds 2 \.py files, .* name the file to check"):
        find_subject("my", {})


def test_a_file_that_is_not_text_is_told() -> None:
    Path("gpt.py").write_bytes(b"x = '\xff'")
    with pytest.raises(Problem, match=r"gpt\.py: not UTF-8 text \(line 1, byte 5\)"):
        find_subject("gpt.py", {})


def test_a_mutant_that_was_never_built_is_told(make_bug: MakeBug) -> None:
    bug = load_bug(make_bug("means"))
    with pytest.raises(Problem, match=r"norm\.py: is missing; run: bugkit build means"):
        subject_of(bug)
    with pytest.raises(Problem, match=r"norm\.py: is missing; run: bugkit build means"):
        find_subject("means", {"means": bug})


def test_a_mutant_that_does_not_differ_is_told(built: Bug) -> None:
    built.module.write_bytes(built.original.read_bytes())
    with pytest.raises(Problem, match=r"norm\.py: does not differ .* run: bugkit build means"):
        subject_of(built)


def test_a_folder_of_a_bug_with_a_mistake_is_told(make_bug: MakeBug) -> None:
    folder = make_bug("means", {"level": 9})
    with pytest.raises(Problem, match=r"bug\.toml: level: must be a whole number"):
        find_subject(str(folder), {})


def test_a_rebuilt_mutant_is_never_served_from_an_old_compilation(built: Bug) -> None:
    # A .pyc is told apart by size and second: both are the same here.
    subject = subject_of(built)
    old = built.module.read_text(encoding="utf-8")
    new = old.replace("axis=-2", "axis=+0")
    assert len(new) == len(old)
    instant = (1_700_000_000, 1_700_000_000)
    results = []
    for text in (old, new, old):
        built.module.write_text(text, encoding="utf-8")
        os.utime(built.module, instant)
        module = load(subject)
        results.append(module.layer_norm(X[None], GAIN, BIAS))
    np.testing.assert_array_equal(results[0], results[2])
    assert not np.allclose(results[0], results[1])
    assert not (built.folder / "__pycache__").exists()


def test_a_file_is_not_served_from_an_old_compilation() -> None:
    results = []
    for number in (1, 2):
        path = write("gpt.py", f"def gelu(x):\n    return {number}\n")
        os.utime(path, (1_700_000_000, 1_700_000_000))
        results.append(load(find_subject("gpt.py", {})).gelu(0))
    assert results == [1, 2]


def test_a_script_part_is_not_run() -> None:
    write(
        "gpt.py", "def gelu(x):\n    return x\nif __name__ == '__main__':\n    raise SystemExit\n"
    )
    assert load(find_subject("gpt.py", {})).gelu(3) == 3


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("import no_such_module", ModuleNotFoundError),
        ("def gelu(:", SyntaxError),
        ("1 / 0", ZeroDivisionError),
        ("raise SystemExit(3)", SystemExit),
        ("from . import other", ImportError),
    ],
)
def test_what_the_code_raises_comes_through(text: str, error: type[BaseException]) -> None:
    write("gpt.py", text)
    with pytest.raises(error):
        load(find_subject("gpt.py", {}))


def test_a_faulty_mutant_leaves_no_finder_behind(built: Bug) -> None:
    subject = subject_of(built)
    built.module.write_text("1 / 0\n", encoding="utf-8")
    before = list(sys.meta_path)
    with pytest.raises(ZeroDivisionError):
        load(subject)
    assert sys.meta_path == before


def test_a_mutant_that_is_not_what_its_edits_make_is_refused(built: Bug) -> None:
    source = built.module.read_text(encoding="utf-8")
    built.module.write_text(source + "\n# edited by hand\n", encoding="utf-8")
    with pytest.raises(Problem, match=r"is not what bug\.toml makes .* bugkit build means --catal"):
        subject_of(built)


def test_the_subjects_do_not_share_modules(built: Bug) -> None:
    mutant, correct = load(subject_of(built)), load(CORRECT_SUBJECT)
    again = load(subject_of(built))
    assert mutant.layer_norm is not correct.layer_norm
    assert mutant.layer_norm is not again.layer_norm
    assert mutant.softmax is not correct.softmax


# Finding.


@pytest.mark.parametrize("name", ["no_causal_mask", "no-causal-mask", "no-causal_mask"])
def test_a_slug_may_be_written_with_hyphens(name: str) -> None:
    subject = find_subject(name, CATALOGUE)
    assert subject == subject_of(CATALOGUE["no_causal_mask"])
    assert (subject.id, subject.kind) == ("no_causal_mask", Kind.MUTANT)
    assert (subject.component, subject.level) == ("mask", 1)
    assert subject.title == CATALOGUE["no_causal_mask"].title


def test_an_innocent_is_a_kind_of_its_own() -> None:
    assert find_subject("mask_added", CATALOGUE).kind is Kind.INNOCENT


def test_correct_is_the_correct_gpt() -> None:
    subject = find_subject("correct", CATALOGUE)
    assert subject is CORRECT_SUBJECT
    assert (subject.kind, subject.component, subject.level) == (Kind.CORRECT, None, None)


def test_a_bug_comes_before_a_file_or_folder_of_its_name(built: Bug) -> None:
    write("means/gpt.py")
    assert find_subject("means", {"means": built}).kind is Kind.MUTANT
    assert find_subject("./means/gpt.py", {}).kind is Kind.FILE


def test_a_file_is_named_as_it_was_given() -> None:
    path = write("my/gpt.py")
    given = str(Path("my", "gpt.py"))
    assert find_subject(given, CATALOGUE) == Subject(given, Kind.FILE, "gpt.py", path.resolve())
    assert find_subject(str(path.resolve()), {}).path == path.resolve()


def test_an_adapter_comes_first() -> None:
    for name in ("adapter.py", "__init__.py", "model.py"):
        write(f"my/{name}")
    assert find_subject("my", {}).path.name == "adapter.py"


def test_a_package_comes_before_its_modules() -> None:
    for name in ("__init__.py", "model.py", "train.py"):
        write(f"my/{name}")
    subject = find_subject("my", {})
    assert (subject.path.name, subject.title) == ("__init__.py", "my")


def test_a_folder_that_was_handed_out_is_checked_under_its_own_name() -> None:
    for name in ("gpt/__init__.py", "gpt/model.py", "test_visible.py", "test_regression.py"):
        write(f"1234/{name}")
    subject = find_subject("1234", {})
    assert subject.path == Path("1234/gpt/__init__.py").resolve()
    assert subject.title == "1234"
    assert find_subject("1234/gpt", {}).title == "gpt"


def test_a_folder_with_one_file_means_that_file() -> None:
    write("my/gpt.py")
    write("my/notes.txt")
    subject = find_subject("my", {})
    assert (subject.id, subject.title, subject.path) == (
        "my",
        "gpt.py",
        Path("my/gpt.py").resolve(),
    )


def test_the_folder_that_one_is_in_has_a_title_too(monkeypatch: pytest.MonkeyPatch) -> None:
    write("my/__init__.py")
    monkeypatch.chdir("my")
    assert find_subject(".", {}).title == "my"


def test_the_folder_of_a_bug_means_the_bug(built: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_subject(str(built.folder), {}) == subject_of(built)
    monkeypatch.chdir(built.folder)
    assert find_subject(".", {}) == subject_of(built)


# Loading.


def test_the_correct_gpt_is_loaded_from_its_folder() -> None:
    module = load(CORRECT_SUBJECT)
    assert {path.parent for path in files_of(module).values()} == {CORRECT}
    np.testing.assert_allclose(layer_norm(module).mean(axis=-1), 0, atol=1e-12)


def test_a_mutant_takes_the_changed_module_and_the_rest_from_correct(built: Bug) -> None:
    module = load(subject_of(built))
    files = files_of(module)
    assert files.pop("norm") == built.module
    assert {path.parent for path in files.values()} == {CORRECT}
    assert set(files) >= {"attention", "block", "model", "softmax"}
    # Those who use the changed module use the changed one.
    for name in ("block", "head"):
        user = sys.modules[f"{module.__name__}.{name}"]
        assert user.layer_norm is module.layer_norm
    mean = X - X.mean(axis=-2, keepdims=True)
    np.testing.assert_allclose(
        layer_norm(module), mean / np.sqrt(X.var(axis=-1, keepdims=True) + 1e-5)
    )


@pytest.mark.parametrize("bug", CATALOGUE.values(), ids=CATALOGUE)
def test_every_mutant_of_the_catalogue_runs_its_own_module(bug: Bug) -> None:
    module = load(subject_of(bug))
    files = files_of(module)
    assert files[bug.module.stem] == MUTANTS / bug.slug / bug.file
    assert set(files) == {path.stem for path in CORRECT.glob("*.py")} - {"__init__"}


def test_a_private_mutant_may_change_what_the_package_offers(make_bug: MakeBug) -> None:
    changes = {
        "file": "__init__.py",
        "inside": None,
        "edit.0.find": "from .norm import layer_norm",
        "edit.0.replace": "from .softmax import softmax as layer_norm",
    }
    bug = load_bug(make_bug("renamed", changes))
    bug.module.write_text(
        bug.original.read_text(encoding="utf-8").replace(
            "from .norm import layer_norm", "from .softmax import softmax as layer_norm"
        ),
        encoding="utf-8",
    )
    module = load(subject_of(bug))
    assert module.layer_norm is module.softmax


def test_a_file_may_import_what_lies_beside_it() -> None:
    write("my/gpt.py", "from parts_of_mine import gelu\nimport parts_of_mine\n")
    write("my/parts_of_mine.py", "def gelu(x):\n    return x + 1\n")
    module = load(find_subject("my/gpt.py", {}))
    assert module.gelu(1) == 2
    assert module.parts_of_mine.__file__ == str(Path("my/parts_of_mine.py").resolve())


def test_a_file_may_hold_dataclasses_and_look_itself_up() -> None:
    # Both need the module to be in sys.modules while it runs.
    text = (
        "from __future__ import annotations\n"
        "import dataclasses, sys\n"
        "@dataclasses.dataclass(frozen=True)\n"
        "class GPTConfig:\n"
        "    d_model: int = 8\n"
        "gelu = sys.modules[__name__].GPTConfig\n"
    )
    write("gpt.py", text)
    assert load(find_subject("gpt.py", {})).gelu().d_model == 8


def test_a_package_may_import_its_parts_in_either_way() -> None:
    write("my_gpt/__init__.py", "from .parts import gelu\nfrom my_gpt.parts import softmax\n")
    write("my_gpt/parts.py", "from .more import gelu\nsoftmax = gelu\n")
    write("my_gpt/more/__init__.py", "def gelu(x):\n    return x + 1\n")
    module = load(find_subject("my_gpt", {}))
    assert module.gelu(1) == 2
    assert module.softmax is module.gelu
    assert module.__file__ == str(Path("my_gpt/__init__.py").resolve())


def test_a_package_is_loaded_even_if_its_name_is_taken() -> None:
    write("json/__init__.py", "from .parts import gelu\n")
    write("json/parts.py", "def gelu(x):\n    return x + 1\n")
    module = load(find_subject("json", {}))
    assert module.gelu(1) == 2
    import json

    assert json.loads("[1]") == [1]


def test_an_adapter_may_import_the_model_beside_it() -> None:
    write("my/model_of_mine.py", "class Model:\n    def act(self, x):\n        return x + 1\n")
    write("my/adapter.py", "from model_of_mine import Model\ndef gelu(x): return Model().act(x)\n")
    assert load(find_subject("my", {})).gelu(1) == 2


# Digests.


def test_a_digest_names_the_sources(built: Bug) -> None:
    subject = subject_of(built)
    before = subject.digest()
    assert before == subject.digest()
    assert before != CORRECT_SUBJECT.digest()
    built.module.write_text("x = 1\n", encoding="utf-8")
    assert before != subject.digest()


def test_what_a_file_imports_is_not_known_so_it_has_no_digest() -> None:
    write("gpt.py")
    assert find_subject("gpt.py", {}).digest() is None


def test_no_two_subjects_share_a_digest() -> None:
    digests = [CORRECT_SUBJECT.digest(), *(subject_of(b).digest() for b in CATALOGUE.values())]
    assert len(set(digests)) == len(digests)
