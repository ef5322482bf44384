"""bug.toml: every mistake is one message with file and key; the real catalogue keeps its word."""

import difflib
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bugkit.catalogue import COMPONENTS, HINTS, Bug, load_bug, load_catalogue, slug_of
from bugkit.edits import mutate
from bugkit.places import MUTANTS, shown
from bugkit.problems import Problem
from bugkit.worksheet.worked import WORKED

MakeBug = Callable[..., Path]

CATALOGUE = load_catalogue()

every_bug = pytest.mark.parametrize("bug", CATALOGUE.values(), ids=CATALOGUE)


# What must not happen: a mistake that is taken, or told without its place.


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    # Missing keys.
    "no title": ({"title": None}, "title: is missing"),
    "no component": ({"component": None}, "component: is missing"),
    "no level": ({"level": None}, "level: is missing"),
    "no difficulty": ({"difficulty": None}, "difficulty: is missing"),
    "no file": ({"file": None}, "file: is missing"),
    "no edit": ({"edit": None}, "edit: is missing"),
    "no teach": ({"teach": None}, "teach: is missing"),
    "no find": ({"edit.0.find": None}, "[edit 1] find: is missing"),
    "no replace": ({"edit.0.replace": None}, "[edit 1] replace: is missing"),
    "no symptom": ({"teach.symptom": None}, "[teach] symptom: is missing"),
    "no predict": ({"teach.predict": None}, "[teach] predict: is missing"),
    "no hints": ({"teach.hints": None}, "[teach] hints: is missing"),
    "no explanation": ({"teach.explanation": None}, "[teach] explanation: is missing"),
    "no misconception": ({"teach.misconception": None}, "[teach] misconception: is missing"),
    "no url": ({"source.0.url": None}, "[source 1] url: is missing"),
    "no says": ({"source.0.says": None}, "[source 1] says: is missing"),
    # Misspelt keys.
    "misspelt title": ({"titel": "A"}, "titel: unknown key; did you mean title?"),
    "misspelt inside": ({"insides": "A"}, "insides: unknown key; did you mean inside?"),
    "misspelt edit": ({"edits": []}, "edits: unknown key; did you mean edit"),
    "misspelt before": (
        {"edit.0.befor": "x"},
        "[edit 1] befor: unknown key; did you mean before?",
    ),
    "misspelt hints": ({"teach.hint": "x"}, "[teach] hint: unknown key; did you mean hints?"),
    "misspelt says": ({"source.0.say": "x"}, "[source 1] say: unknown key; did you mean says?"),
    "misspelt killed_by": (
        {"expect.killedby": []},
        "[expect] killedby: unknown key; did you mean killed_by?",
    ),
    "unlike any key": ({"zzz": 1}, "zzz: unknown key"),
    # Wrong types.
    "title a number": ({"title": 1}, "title: must be a text in quotes, got 1"),
    "title a list": ({"title": ["A"]}, "title: must be a text in quotes, got ['A']"),
    "file a table": ({"file": {}}, "file: must be a text in quotes, got {}"),
    "inside a bool": ({"inside": False}, "inside: must be a text in quotes, got False"),
    "teach a text": ({"teach": "x"}, "teach: must be a table: write [teach]"),
    "expect a list": ({"expect": []}, "expect: must be a table: write [expect]"),
    "edit a table": ({"edit": {"find": "x"}}, "edit: must be a list of tables: write [[edit]]"),
    "edit texts": ({"edit": ["x"]}, "edit: must be a list of tables: write [[edit]]"),
    "source a text": ({"source": "x"}, "source: must be a list of tables: write [[source]]"),
    "find a list": ({"edit.0.find": []}, "[edit 1] find: must be a text in quotes, got []"),
    "after a number": ({"edit.0.after": 1}, "[edit 1] after: must be a text in quotes, got 1"),
    "symptom a number": ({"teach.symptom": 1}, "[teach] symptom: must be a text in quotes, got 1"),
    "hints a text": ({"teach.hints": "x"}, "[teach] hints: must be a list of texts, got 'x'"),
    "a hint a number": (
        {"teach.hints": ["a", "b", "c", 4]},
        "[teach] hints: must be a list of texts, got ['a', 'b', 'c', 4]",
    ),
    "killed_by a text": (
        {"expect.killed_by": "test_x"},
        "[expect] killed_by: must be a list of texts, got 'test_x'",
    ),
    "url a number": ({"source.0.url": 1}, "[source 1] url: must be a text in quotes, got 1"),
    # Empty texts and lists.
    "title empty": ({"title": ""}, "title: is empty"),
    "title of spaces": ({"title": " \n\t"}, "title: is empty"),
    "file empty": ({"file": ""}, "file: is empty"),
    "find empty": ({"edit.0.find": ""}, "[edit 1] find: is empty"),
    "before empty": ({"edit.0.before": ""}, "[edit 1] before: is empty"),
    "symptom empty": ({"teach.symptom": "\n"}, "[teach] symptom: is empty"),
    "says empty": ({"source.0.says": ""}, "[source 1] says: is empty"),
    "a hint empty": ({"teach.hints": ["a", "b", "c", ""]}, "[teach] hints: "),
    "a hint of spaces": ({"teach.hints": ["a", "b", "c", " \n"]}, "[teach] hints: "),
    "a killer empty": ({"expect.killed_by": ["a", " "]}, "[expect] killed_by: "),
    "edit empty": ({"edit": []}, "edit: at least one [[edit]] is needed"),
    "source empty": ({"source": []}, "source: at least one [[source]] is needed"),
    "no source": ({"source": None}, "source: at least one [[source]] is needed"),
    # Wrong values.
    "component unknown": (
        {"component": "atention"},
        "component: must be one of embedding, positions, ",
    ),
    "component near": ({"component": "atention"}, "got 'atention'; did you mean attention?"),
    "level 0": ({"level": 0}, "level: must be a whole number from 1 to 5, got 0"),
    "level 6": ({"level": 6}, "level: must be a whole number from 1 to 5, got 6"),
    "level true": ({"level": True}, "level: must be a whole number from 1 to 5, got True"),
    "level text": ({"level": "1"}, "level: must be a whole number from 1 to 5, got '1'"),
    "level 1.0": ({"level": 1.0}, "level: must be a whole number from 1 to 5, got 1.0"),
    "difficulty 0": ({"difficulty": 0}, "difficulty: must be a whole number from 1 to 5, got 0"),
    "difficulty 6": ({"difficulty": 6}, "difficulty: must be a whole number from 1 to 5, got 6"),
    "difficulty false": ({"difficulty": False}, "difficulty: must be a whole number"),
    "verdict unknown": (
        {"verdict": "inocent"},
        "verdict: must be one of bug, innocent; got 'inocent'; did you mean innocent?",
    ),
    "verdict a bool": ({"verdict": True}, "verdict: must be a text in quotes, got True"),
    "three hints": ({"teach.hints": ["a"] * 3}, f"[teach] hints: must be {HINTS} texts, got 3"),
    "five hints": ({"teach.hints": ["a"] * 5}, f"[teach] hints: must be {HINTS} texts, got 5"),
    "http url": (
        {"source.0.url": "http://example.org"},
        "[source 1] url: must begin with https://, got 'http://example.org'",
    ),
    "a killed innocent": ({"verdict": "innocent"}, "[expect] killed_by: an innocent is killed by"),
    # Files that are no module of the correct GPT.
    "file unknown": (
        {"file": "atention.py"},
        "file: no such module of the correct GPT: atention.py; did you mean attention.py",
    ),
    "file in a folder": ({"file": "../correct/norm.py"}, "file: no such module"),
    "file below": ({"file": "./norm.py"}, "file: no such module"),
    "file elsewhere": ({"file": "../pyproject.toml"}, "file: no such module"),
    "file absolute": ({"file": os.__file__}, "file: no such module"),
    "file without suffix": ({"file": "norm"}, "file: no such module"),
    "file in capitals": ({"file": "Norm.py"}, "file: no such module"),
    "file a folder": ({"file": ".."}, "file: no such module"),
    "file with a null byte": ({"file": "norm\0.py"}, "file: no such module"),
    "file with a long name": ({"file": "n" * 300 + ".py"}, "file: no such module"),
}


@pytest.mark.parametrize(("changes", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_file_and_key(
    make_bug: MakeBug, changes: dict[str, Any], message: str
) -> None:
    folder = make_bug("means_over_time", changes)
    with pytest.raises(Problem) as caught:
        load_bug(folder)
    assert str(caught.value).startswith(f"{shown(folder / 'bug.toml')}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_number_of_a_table_is_the_one_with_the_mistake(make_bug: MakeBug) -> None:
    good = {"url": "https://example.org", "says": "Seen."}
    folder = make_bug("means", {"source": [good, good, good | {"url": "example.org"}]})
    with pytest.raises(Problem, match=r"\[source 3\] url: must begin with https://"):
        load_bug(folder)


@pytest.mark.parametrize(
    "text",
    ["title = ", "title = 'a'\ntitle = 'b'", "= 1", "[teach", "a = nul", "\0", "a = 2020-13-45"],
    ids=["no value", "twice", "no key", "no bracket", "no quotes", "null byte", "no date"],
)
def test_invalid_toml_is_told_with_its_line(make_bug: MakeBug, text: str) -> None:
    folder = make_bug("means")
    (folder / "bug.toml").write_text(text, encoding="utf-8")
    with pytest.raises(Problem, match=r"not valid TOML: .*\(at (line \d|end of)") as caught:
        load_bug(folder)
    assert "\n" not in str(caught.value)


def test_a_number_too_long_for_python_is_invalid_toml(make_bug: MakeBug) -> None:
    folder = make_bug("means")
    (folder / "bug.toml").write_text(f"level = {'1' * 5000}", encoding="utf-8")
    with pytest.raises(Problem, match=r"bug\.toml: not valid TOML"):
        load_bug(folder)


def test_text_that_is_not_utf_8_is_told_with_its_byte(make_bug: MakeBug) -> None:
    folder = make_bug("means")
    (folder / "bug.toml").write_bytes("title = 'größe'".encode("latin-1"))
    with pytest.raises(Problem, match=r"bug\.toml: not UTF-8 text \(line 1, byte 11\)"):
        load_bug(folder)


def test_a_folder_in_the_place_of_the_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "means" / "bug.toml").mkdir(parents=True)
    with pytest.raises(Problem, match=r"bug\.toml: cannot be read: "):
        load_catalogue([tmp_path])


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file"
)
def test_a_file_that_may_not_be_read_is_told(make_bug: MakeBug) -> None:
    folder = make_bug("means")
    (folder / "bug.toml").chmod(0)
    with pytest.raises(Problem, match=r"bug\.toml: cannot be read: Permission denied"):
        load_bug(folder)


@pytest.mark.parametrize("name", ["Means", "means-over-time", "2_means", "means over time", "m.b"])
def test_a_folder_name_that_is_no_slug_is_told(make_bug: MakeBug, name: str) -> None:
    folder = make_bug(name)
    with pytest.raises(Problem, match=rf"the folder name must be lower_case_words, got '{name}'"):
        load_bug(folder)


def test_a_catalogue_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="bugs: no such catalogue folder"):
        load_catalogue([tmp_path / "bugs"])


def test_a_catalogue_that_is_a_file_is_told(make_bug: MakeBug) -> None:
    with pytest.raises(Problem, match=r"bug\.toml: no such catalogue folder"):
        load_catalogue([make_bug("means") / "bug.toml"])


def test_a_catalogue_without_a_bug_is_told(tmp_path: Path) -> None:
    (tmp_path / "means").mkdir()
    (tmp_path / "means" / "norm.py").touch()
    with pytest.raises(Problem, match="no bug in this catalogue"):
        load_catalogue([tmp_path])


def test_a_bugs_own_folder_is_no_catalogue(make_bug: MakeBug) -> None:
    with pytest.raises(Problem, match="no bug in this catalogue"):
        load_catalogue([make_bug("means")])


def test_two_bugs_of_one_slug_are_told_with_both_folders(make_bug: MakeBug, tmp_path: Path) -> None:
    first = make_bug("means")
    second = tmp_path / "others" / "means"
    shutil.copytree(first, second)
    with pytest.raises(Problem, match="two bugs have the slug means") as caught:
        load_catalogue([first.parent, second.parent])
    assert shown(first) in str(caught.value)
    assert shown(second) in str(caught.value)


VALUES = st.recursive(
    st.none()  # takes the key away
    | st.booleans()
    | st.integers(-2, 7)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["norm.py", "..", "bug", "innocent", "softmax", "https://x", "$X", "\n"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["find", "replace", "hints", "url", "x"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


def places(table: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in a tree of dictionaries and lists."""
    items = table.items() if isinstance(table, dict) else enumerate(table)
    found = []
    for key, value in items:
        found.append((*path, key))
        if isinstance(value, dict | list):
            found += places(value, (*path, key))
    return found


@settings(
    derandomize=True,
    database=None,
    deadline=None,
    # Every example writes the same file anew.
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_nothing_but_a_problem_comes_of_any_table(
    data: st.DataObject,
    bug_table: Callable[[], dict[str, Any]],
    write_bug: Callable[[str, dict[str, Any]], Path],
) -> None:
    table = bug_table()
    table["verdict"] = data.draw(st.sampled_from(["bug", "innocent"]))
    for _ in range(data.draw(st.integers(1, 3))):
        *outer, last = data.draw(st.sampled_from(places(table) or [("title",)]))
        place: Any = table
        for key in outer:
            place = place[key]
        value = data.draw(VALUES.map(without_none))
        if value is None:
            del place[last]
        else:
            place[last] = value
    folder = write_bug("means", table)
    try:
        bug = load_bug(folder)
    except Problem as problem:
        assert str(problem).startswith(f"{shown(folder / 'bug.toml')}: ")
    else:
        assert bug.edits
        assert bug.level in range(1, 6)


def without_none(value: Any) -> Any:
    """TOML has no null: it may only be the whole value, to take a key away."""
    if isinstance(value, dict):
        return {k: without_none(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [without_none(v) for v in value if v is not None]
    return value


# What is read.


def test_a_bug_is_read_with_all_its_values(make_bug: MakeBug) -> None:
    folder = make_bug("means_over_time", {"edit.0.after": "x", "edit.0.inside": "other"})
    bug = load_bug(folder)
    assert (bug.slug, bug.folder, bug.title) == ("means_over_time", folder, "Means over time")
    assert (bug.component, bug.level, bug.difficulty, bug.file) == ("norm", 1, 2, "norm.py")
    assert (bug.verdict, bug.innocent) == ("bug", False)
    (edit,) = bug.edits
    assert edit.find == "np.mean($X, axis=-1, keepdims=True)"
    assert edit.replace == "np.mean($X, axis=-2, keepdims=True)"
    assert (edit.inside, edit.after, edit.before) == ("other", "x", "")
    assert bug.killed_by == ("test_of_features", "test_of_one_token")
    assert bug.teach.symptom == "A longer text gets other numbers."
    assert bug.teach.predict == "Which numbers stay?"
    assert bug.teach.hints == ("A question?", "A stage.", "What never changes.", "A region.")
    assert bug.teach.explanation == "Tokens are mixed."
    assert bug.teach.misconception == "Every axis is alike."
    assert [(s.url, s.says) for s in bug.sources] == [
        ("https://example.org/1", "Seen in a course.")
    ]
    assert bug.module == folder / "norm.py"
    assert bug.original.name == "norm.py"
    assert "def layer_norm" in bug.original.read_text(encoding="utf-8")


def test_inside_holds_for_every_edit_that_has_none_of_its_own(make_bug: MakeBug) -> None:
    edits = [{"find": "a", "replace": ""}, {"find": "b", "replace": "", "inside": ""}]
    bug = load_bug(make_bug("means", {"edit": edits}))
    assert [edit.inside for edit in bug.edits] == ["standardise", ""]


def test_without_inside_an_edit_is_one_of_the_module(make_bug: MakeBug) -> None:
    assert load_bug(make_bug("means", {"inside": None})).edits[0].inside == ""


def test_an_innocent_needs_neither_source_nor_promise(make_bug: MakeBug) -> None:
    bug = load_bug(make_bug("means", {"verdict": "innocent", "source": None, "expect": None}))
    assert bug.innocent
    assert (bug.sources, bug.killed_by) == ((), ())


def test_line_ends_around_a_text_are_taken_off_and_indents_are_kept(make_bug: MakeBug) -> None:
    replace = "\n    a = 1\n\n    b = 2\n"
    bug = load_bug(make_bug("means", {"edit.0.replace": replace, "teach.symptom": "\nOne\nTwo\n"}))
    assert bug.edits[0].replace == "    a = 1\n\n    b = 2"
    assert bug.teach.symptom == "One\nTwo"


def test_any_language_can_be_written(make_bug: MakeBug) -> None:
    assert load_bug(make_bug("means", {"title": "Größe 数 😀"})).title == "Größe 数 😀"


def test_a_byte_order_mark_and_the_line_ends_of_windows_are_accepted(make_bug: MakeBug) -> None:
    folder = make_bug("means", {"teach.symptom": "One\nTwo"})
    before = load_bug(folder)
    text = (folder / "bug.toml").read_bytes()
    (folder / "bug.toml").write_bytes(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    assert load_bug(folder) == before


def test_hyphens_and_underscores_are_alike() -> None:
    assert slug_of("no-causal_mask") == slug_of("no_causal-mask") == "no_causal_mask"


def test_the_order_is_by_level_component_and_slug(make_bug: MakeBug) -> None:
    make_bug("b_norm")
    make_bug("a_norm")
    make_bug("z_first", {"component": COMPONENTS[0]})
    make_bug("a_later", {"component": COMPONENTS[0], "level": 2})
    folder = make_bug("a_last", {"component": COMPONENTS[-1], "difficulty": 1}).parent
    assert list(load_catalogue([folder])) == ["z_first", "a_norm", "b_norm", "a_last", "a_later"]


def test_several_catalogues_are_one(make_bug: MakeBug) -> None:
    folder = make_bug("means_of_my_own").parent
    assert set(load_catalogue([MUTANTS, folder])) == {"means_of_my_own", *CATALOGUE}


def test_a_folder_without_bug_toml_is_passed_over(make_bug: MakeBug) -> None:
    folder = make_bug("means").parent
    (folder / "drafts").mkdir()
    (folder / "README.md").touch()
    assert list(load_catalogue([folder])) == ["means"]


# The real catalogue, as its own table.


FIRST_BUGS = (
    "no_causal_mask",
    "mask_filled_with_zero",
    "post_norm",
    "scaled_by_sqrt_d_model",
    "layer_norm_over_sequence",
    "unstable_softmax",
    "untied_head",
)
"""The bugs that the kit was first asked for."""

ENOUGH_TO_TELL = 8
"""Characters of code that a hint may not share with the change: shorter ones are in any line."""

WIDTH = 100
"""Columns of a prose line: as in the code, so that a terminal of usual width shows it whole."""


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def added_lines(bug: Bug) -> list[str]:
    before = bug.original.read_text(encoding="utf-8").splitlines()
    after = bug.module.read_text(encoding="utf-8").splitlines()
    return [line[2:].strip() for line in difflib.ndiff(before, after) if line.startswith("+ ")]


@pytest.mark.parametrize("slug", FIRST_BUGS)
def test_the_first_bugs_are_in_the_catalogue(slug: str) -> None:
    assert not CATALOGUE[slug].innocent


def test_the_catalogue_is_large_enough_to_teach_a_course() -> None:
    counts = Counter(bug.verdict for bug in CATALOGUE.values())
    assert counts["bug"] >= 27
    assert counts["innocent"] >= 8


def test_no_two_bugs_share_title_symptom_or_change() -> None:
    bugs = CATALOGUE.values()
    for values in (
        Counter(bug.title for bug in bugs),
        Counter(bug.teach.symptom for bug in bugs),
        Counter(bug.module.read_text(encoding="utf-8") for bug in bugs),
    ):
        assert max(values.values()) == 1, values.most_common(1)


@every_bug
def test_the_generated_module_is_what_the_edits_make(bug: Bug) -> None:
    assert bug.module.read_bytes() == mutate(bug).encode()


@every_bug
def test_the_folder_holds_the_declaration_the_module_and_nothing_stray(bug: Bug) -> None:
    optional = {"__pycache__", WORKED}
    assert {path.name for path in bug.folder.iterdir()} - optional == {
        "bug.toml",
        "evidence.json",
        bug.file,
    }


@every_bug
def test_the_symptom_does_not_say_what_is_wrong(bug: Bug) -> None:
    symptom = words(bug.teach.symptom)
    assert words(bug.title) not in symptom
    assert words(bug.slug.replace("_", " ")) not in symptom
    # Nor where: neither the function nor its file.
    for name in {edit.inside for edit in bug.edits} - {""} | {bug.file}:
        assert not re.search(rf"\b{re.escape(name)}\b", bug.teach.symptom), name


@every_bug
def test_neither_symptom_nor_hints_hold_the_change(bug: Bug) -> None:
    changed = {line.strip() for edit in bug.edits for line in edit.replace.splitlines()}
    for line in changed | set(added_lines(bug)):
        for text in (bug.teach.symptom, bug.teach.predict, *bug.teach.hints):
            assert len(line) < ENOUGH_TO_TELL or line not in text, line


@every_bug
def test_the_hints_go_from_a_question_to_a_place(bug: Bug) -> None:
    first, *_, last = bug.teach.hints
    assert bug.file in last
    assert bug.file not in first
    assert len(set(bug.teach.hints)) == HINTS


@every_bug
def test_the_prose_is_wrapped_and_says_something(bug: Bug) -> None:
    teach = bug.teach
    for text in (teach.symptom, teach.predict, teach.explanation, teach.misconception):
        assert text == text.strip()
        assert max(map(len, text.splitlines())) <= WIDTH
        assert all(line == line.rstrip() for line in text.splitlines())
    # These flow into lists and tables: a paragraph is one line.
    for text in (bug.title, *teach.hints, *(source.says for source in bug.sources)):
        assert text == " ".join(text.split())
    assert not bug.title.endswith(".")


@every_bug
def test_every_source_is_named_once_and_says_something(bug: Bug) -> None:
    urls = [source.url for source in bug.sources]
    assert len(set(urls)) == len(urls)
    assert all(re.fullmatch(r"https://[\w.-]+\.[a-z]+/\S*", url) for url in urls)


@every_bug
def test_a_bug_promises_its_killers_and_an_innocent_none(bug: Bug) -> None:
    assert bool(bug.killed_by) != bug.innocent
    assert len(set(bug.killed_by)) == len(bug.killed_by)
    assert all(re.fullmatch(r"test_[a-z0-9_]+", name) for name in bug.killed_by)
