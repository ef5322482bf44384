"""Texts in the words of a copy: no name is left that the copy does not have, no prose changes."""

import re
import symtable
import textwrap
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bugkit.catalogue import Bug, load_catalogue
from bugkit.disguise import Disguised, Level, Place, disguise
from bugkit.handout.renaming import all_names, modules_of
from bugkit.handout.wording import Wording, wording_of
from bugkit.package import modest, package
from bugkit.worksheet.words import prose

NAMES = {
    "attention.project": "heads.asks",
    "attention.project.q": "queries",
    "attention.project.start": "first",
    "attention.project.gone": "",
    "attention.project.weights": "shares",
    "attention.project.turn.angle": "phi",
    "attention.scores": "heads.raw",
    "attention.scores.q": "wanted",
    "attention.scores_backward": "slopes.raw_back",
    "attention.scores_backward.dout": "inflow",
    "attention.scores_backward.maps": "attention_maps",
    "attention.merge.x": "stream",
    "attention.merge.C": "width",
    "attention.merge.w2": "matrix",
    "attention.merge.B": "rows",
    "attention.split.B": "lines",
    "dropout.dropout": "noise.thin",
    "mlp.mlp": "wide.mlp",
    "mlp.gelu": "wide.bend",
    "head.head": "output.logits",
    "head.head.p": "tree",
    "head.scores": "output.likes",
}
MODULES = {"attention.py": "heads.py", "mlp.py": "wide.py", "head.py": "output.py"}
WORDING = Wording(NAMES, MODULES, "attention", ["project", "scores_backward"], {"w2"})

CODE = st.text(st.sampled_from("qxCaB .,()[]{}=@*^:'\"#\\-1_\n") | st.characters(), max_size=12)
SPANS = st.sampled_from(["project", "q", "attention.py", "project.q", "start=3", "gone", "'q' + q"])
TEXTS = st.lists(CODE | SPANS | st.sampled_from(["`", "\n\n", "`q`"]), max_size=12).map("".join)


# What must not happen.


@pytest.mark.parametrize(
    "code",
    [
        "import this",
        "import project",
        "np.arange(2000) ** 2 % 11",
        "maps[0][0, 0]",
        "np.abs(a - b).max(axis=(0, 2))",
        "w_qkv[:, : 2 * C]",
        "p['project'] + 'q'",
        "rng.project",
        "cfg.start.q",
        "dropout=0.0",
        "start=0",
        "np.split(start=0)",
        "rng.project(start=0)",
        "x + 1",
        "w2",
        "C",
        "B",
        ">= 1 - p",
        "unknown.py",
        "1e9",
        "gone + 1",
    ],
)
def test_what_is_no_name_of_the_copy_stays(code: str) -> None:
    assert WORDING(f"See `{code}`, q.") == f"See `{code}`, q."


@given(TEXTS)
def test_neither_prose_nor_anything_but_a_name_changes(text: str) -> None:
    whole = {old: new.replace("slopes", "heads") for old, new in NAMES.items() if new}
    wording = Wording(whole, MODULES, WORDING.home, WORDING.focus, WORDING.fixed)
    before, after = prose(text), prose(wording(text))
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert [span.code for span in old] == [span.code for span in new]
        for one, other in zip(old, new, strict=True):
            if one.code:
                assert _without_names(one.text) == _without_names(other.text)
            else:
                assert one.text == other.text


@given(TEXTS)
def test_a_text_of_other_names_never_changes(text: str) -> None:
    names = {"attention.zebra": "heads.lion", "attention.zebra.mane": "hair"}
    assert Wording(names, {"zebra.py": "lion.py"}, "attention", ["zebra"])(text) == text


def _without_names(code: str) -> str:
    return re.sub(r"[^\W\d]\w*", "", code)


# Every fourth entry: the others are alike, and each costs a quarter of a second.
ENTRIES = list(load_catalogue().values())[::4]


@pytest.mark.parametrize("bug", ENTRIES, ids=lambda bug: bug.slug)
def test_no_name_or_file_is_left_that_the_copy_does_not_have(bug: Bug) -> None:
    pytest.importorskip("libcst", reason="needs the extra handout")
    files = modest(package(bug))
    copy = disguise(files, Level.FULL, b"wording")
    old, new = _tops(files), _tops(copy.files)
    now = modules_of(copy, files)[bug.file]
    wording = wording_of(copy, files, bug.file, now, [edit.inside for edit in bug.edits])
    teach = bug.teach
    texts = [teach.symptom, teach.predict, *teach.hints, teach.explanation, teach.misconception]
    for text in texts:
        for code in re.findall(r"`([^`]+)`", wording(text)):
            assert set(re.findall(r"\w+\.py", code)) <= set(copy.files)
            words = set(re.findall(r"(?<![.\w])[^\W\d]\w*(?!\w|\.py|=[^= ])", code))
            assert not words & (old - new)


def _tops(files: Mapping[str, str]) -> set[str]:
    """What the modules define."""
    return {
        symbol.get_name()
        for file, source in files.items()
        for symbol in symtable.symtable(source, file, "exec").get_symbols()
        if symbol.is_assigned() or symbol.is_namespace()
    }


# What must happen.


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("`project`", "`asks`"),
        ("the line with `q` in it", "the line with `queries` in it"),
        ("`q @ k^T`", "`queries @ k^T`"),
        ("`attention.project(q, start=3)`", "`heads.asks(queries, first=3)`"),
        ("`project(1, start=3)[q:]`", "`asks(1, first=3)[queries:]`"),
        ("`project(f(start=1), start = 3)`", "`asks(f(start=1), first = 3)`"),
        ("`start = 3`", "`first = 3`"),
        ("`start == 3`", "`first == 3`"),
        ("`cfg.rope + q.size`", "`cfg.rope + queries.size`"),
        ("`def turn`, `angle`", "`def turn`, `phi`"),
        ("`dropout`", "`thin`"),
        ("`f'{q}' + q`", "`f'{q}' + queries`"),
        ("`q[(`", "`queries[(`"),
        ("`q + 'q`", "`queries + 'q`"),
        ("`project(q,\n  start=1)`", "`asks(queries,\n  first=1)`"),
        ("`q\n  + q`", "`queries\n  + queries`"),
        ("a ` alone\n\nand `q`", "a ` alone\n\nand `queries`"),
        ("`mlp` and `gelu`", "`mlp` and `bend`"),
    ],
)
def test_a_span_says_what_the_copy_says(text: str, said: str) -> None:
    assert WORDING(text) == said


def test_a_variable_that_is_no_more_becomes_a_word() -> None:
    assert WORDING("Print `gone` here.") == "Print gone here."


def test_the_variables_of_a_function_that_the_text_names_come_first() -> None:
    both = Wording(NAMES, MODULES, "attention", ["project", "scores"])
    assert both("`q`") == "`queries`"
    assert both("`scores`: `q`") == "`raw`: `wanted`"
    assert WORDING("`scores`: `q`") == "`raw`: `queries`"


def test_a_backward_pass_counts_if_it_is_named_or_alone() -> None:
    assert WORDING("`dout`") == "`inflow`"  # Nobody else has one.
    assert WORDING("`maps == 0`") == "`maps == 0`"
    assert WORDING("`scores_backward`: `maps == 0`") == "`raw_back`: `attention_maps == 0`"
    alone = Wording(NAMES, MODULES, "attention", ["scores_backward"])
    assert alone("`maps == 0`") == "`attention_maps == 0`"


def test_a_name_of_two_modules_is_that_of_the_bug() -> None:
    assert WORDING("`scores`") == "`raw`"
    assert Wording(NAMES, MODULES, "head", ["head"])("`scores`") == "`likes`"


def test_another_function_lends_a_variable_if_no_other_has_it() -> None:
    assert WORDING("`x`") == "`stream`"
    assert WORDING("`x + 1`") == "`x + 1`"


def test_a_file_is_that_of_its_functions_in_the_text() -> None:
    assert WORDING("`attention.py`") == "`heads.py`"
    assert WORDING("`scores_backward` in `attention.py`") == "`raw_back` in `slopes.py`"
    assert (
        WORDING("`attention.py`: `scores` and `scores_backward`; `head.py`")
        == "`heads.py` and `slopes.py`: `raw` and `raw_back`; `output.py`"
    )


def test_neither_an_argument_nor_a_variable_tells_of_a_file() -> None:
    modules = MODULES | {"dropout.py": "noise.py"}
    names = NAMES | {"dropout.dropout": "elsewhere.thin", "attention.project.gelu": "bend"}
    wording = Wording(names | {"mlp.gelu": "curves.curve"}, modules, "attention", ["project"])
    assert wording("`dropout=0.1`: `dropout.py`") == "`dropout=0.1`: `noise.py`"
    assert wording("`dropout(1)`: `dropout.py`") == "`thin(1)`: `elsewhere.py`"
    assert wording("`gelu`, `mlp.py`") == "`bend`, `wide.py`"


OLD = {
    "heads.py": """
        def ask(x):
            def turn(angle):
                return angle * x
            total = turn(x)
            return total
        def ask_backward(dout):
            one = dout
            two = one
            three = two
            four = three
            return four
        """,
    "sizes.py": """
        class Sizes:
            width: int = 4
        names = {"w_o": 0}
        """,
}
NEW = {
    "layer.py": """
        def query(values):
            def rotate(angle):
                return angle * values
            return rotate(values)
        """,
    "slopes.py": """
        def query_grad(inflow):
            return inflow
        """,
    "sizes.py": OLD["sizes.py"],
}


def _tiny() -> tuple[Disguised, dict[str, str]]:
    old, new = ({f: textwrap.dedent(s) for f, s in files.items()} for files in (OLD, NEW))
    went = {
        Place("heads.py", line): (Place("layer.py" if line < 7 else "slopes.py", 2),)
        for line in range(2, 13)
    }
    names = {
        "heads.ask": "layer.query",
        "heads.ask.x": "values",
        "heads.ask.turn": "rotate",
        "heads.ask_backward": "slopes.query_grad",
        "heads.ask_backward.dout": "inflow",
    }
    return Disguised(new, went, names), old


def test_the_file_of_a_module_is_that_of_its_forward_pass() -> None:
    assert modules_of(*_tiny()) == {"heads.py": "layer.py", "sizes.py": "sizes.py"}


def test_all_names_tell_what_stayed_and_what_is_gone() -> None:
    names = all_names(*_tiny())
    assert names["heads.ask"] == "layer.query"
    assert names["heads.ask.x"] == "values"
    assert names["heads.ask.turn.angle"] == "angle"
    assert names["heads.ask.total"] == ""
    assert names["heads.ask_backward.three"] == ""
    assert names["sizes.names"] == "sizes.names"
    assert names["sizes.Sizes.width"] == "width"


def test_the_caller_names_the_file_of_the_bug() -> None:
    disguised, files = _tiny()
    wording = wording_of(disguised, files, "heads.py", "slopes.py", ["ask_backward"])
    assert wording("`heads.py`: `dout`") == "`slopes.py`: `inflow`"
    assert wording("`ask` in `heads.py`") == "`query` in `layer.py`"
    assert wording.fixed == {"w_o", "width"}


def test_a_package_as_it_is_keeps_its_words() -> None:
    bug = ENTRIES[0]
    files = modest(package(bug))
    plain = disguise(files, Level.NONE, b"")
    wording = wording_of(plain, files, bug.file, bug.file, [edit.inside for edit in bug.edits])
    for hint in bug.teach.hints:
        assert wording(hint) == hint
