"""Forms as students fill them in: what they wrote comes out the same, and what they got wrong is
one message with file, place and cure."""

import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bugkit.handout.answers import (
    HINTS,
    LONGEST,
    VERDICTS,
    Answers,
    Diagnosis,
    Hypothesis,
    read_answers,
)
from bugkit.handout.form import form_of
from bugkit.handout.secret import SIZE, Secret
from bugkit.handout.texts import ANSWERS, Words, answers_form
from bugkit.problems import Problem
from bugkit.worksheet.model import CONFIDENCES, HYPOTHESES

FORM = form_of(Secret(bytes(SIZE)), "week-3", "ada")
BLANK = answers_form(Words(FORM, "week-3", 2, 2, "test_rows_sum_to_one"))

Read = Callable[[str], Answers]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads a form with this text."""

    def read(text: str) -> Answers:
        path = tmp_path / ANSWERS
        path.write_text(text, encoding="utf-8", newline="")
        return read_answers(path)

    return read


def changed(old: str, new: str) -> str:
    """The form with one thing filled in, which stands there."""
    assert BLANK.count(old) == 1
    return BLANK.replace(old, new, 1)


# What must not happen.

PLACE = "[[hypothesis]]  # 1\nplace = ''"
SLIPS = {
    "a word without quotes": ("verdict = ''", "verdict = bug", "texts go between ' and '"),
    "a percent sign": ("before = -1", "before = 75%", "numbers stand alone"),
    "a number in quotes": ("before = -1", "before = '75'", "0, 25, 50, 75 or 100, without quotes"),
    "a confidence between": ("before = -1", "before = 80", "0, 25, 50, 75 or 100"),
    "a confidence that is true": ("after = -1", "after = true", "0, 25, 50, 75 or 100"),
    "a fraction": ("after = -1", "after = 0.75", "0, 25, 50, 75 or 100"),
    "too many hints": ("used = -1", "used = 5", "from 0 to 4"),
    "no hunt": ("hunt = 2", "hunt = 0", "number of the hunt"),
    "no quotes": ("places = []", "places = [block.py:12]", "['block.py:12'] or"),
    "no comma": ("places = []", "places = ['a.py:1' 'b.py:2']", "['block.py:12'] or"),
    "no comma at a line's end": ("places = []", "places = [\n'a.py:1'\n'b.py:2']", "'block.py:13'"),
    "no brackets": ("places = []", "places = 'block.py:12'", "must be a list, such as"),
    "places without brackets": ("places = []", "places = 'a.py:1', 'b.py:2'", "'block.py:12']"),
    "no line": ("places = []", "places = ['norm.py']", "no line number; write 'norm.py:12'"),
    "a number alone": ("places = []", "places = [12]", "12 names no file"),
    "a number alone as a text": ("places = []", "places = ['12']", "'12' names no file"),
    "a range alone": ("places = []", "places = ['12-14']", "'12-14' names no file"),
    "line 0": ("places = []", "places = ['a.py:0']", "the first line of a file is 1"),
    "a range backwards": ("places = []", "places = ['a.py:14-12']", "write 'a.py:12-14'"),
    "a range too long": (
        "places = []",
        f"places = ['a.py:1-{LONGEST + 1}']",
        "longer than 50 lines",
    ),
    "a range to the end of the world": ("places = []", "places = ['a.py:1-999999999']", "longer"),
    "no .py file": ("places = []", "places = ['README.md:3']", "name of a .py file"),
    "a module": ("places = []", "places = ['block:3']", "name of a .py file"),
    "an escape": ("places = []", 'places = ["gpt\\block.py:3"]', "name of a .py file"),
    "no colon": ("places = []", "places = ['block.py 12']", "not one file and its lines"),
    "two lines in one place": (
        "places = []",
        "places = ['a.py:1, 2']",
        "not one file and its lines",
    ),
    "a place with spaces without end": (
        "places = []",
        f"places = ['a{' ' * 10**6}b']",
        "not one file and its lines",
    ),
    "an empty place": ("places = []", "places = ['']", "not one file and its lines"),
    "a truth value": ("places = []", "places = [true]", "not one file and its lines"),
    "a column": ("places = []", "places = ['a.py:1:2']", "not one file and its lines"),
    "a long place": (
        "places = []",
        f"places = ['a.py:{'1' * 5000}']",
        "not one file and its lines",
    ),
    "a place that is a list": (
        "places = []",
        "places = [['a.py', 1]]",
        "not one file and its lines",
    ),
    "an apostrophe": (PLACE, PLACE.replace("''", "'it's'"), "between ''' and '''"),
    "a backslash": (PLACE, PLACE.replace("''", '"gpt\\model.py"'), "put ' in the place"),
    "typographic quotes": (PLACE, PLACE.replace("''", "\u2018head\u2019"), "straight quotes"),
    "a line break": (PLACE, PLACE.replace("''", "'head\n'"), "between ''' and '''"),
    "an open text": ("prediction = '''\n\n'''", "prediction = '''\nOne.\n", "look there and above"),
    "an open text at the end": ("plausible = '''\n\n'''", "plausible = '''\nOne.\n", "above"),
    "a mark inside": ("observed = '''\n", "observed = '''\nso ''' it was", "look there and above"),
    "nothing behind =": ("hunt = 2", "hunt =", "numbers stand alone"),
    "a digit too many": ("hunt = 2", f"hunt = {'9' * 5000}", "too long"),
    "brackets without end": ("places = []", f"places = {'[' * 5000}", "brackets"),
    "a verdict of its own": ("verdict = ''", "verdict = 'a bug'", "did you mean bug"),
    "a text that is a number": ("verdict = ''", "verdict = 3", "text in quotes"),
    "another name": ("verdict =", "veredict =", "did you mean verdict?"),
    "another table": ("[fix]", "[fixed]", "did you mean fix?"),
    "a table that is a list": ("[fix]", "[[fix]]", "write [fix]"),
    "a list that is a table": ("verdict = ''", "verdict = ''\nhunt = 2", "move it to the top"),
    "a key too low": ("[fix]", "[fix]\nmissed = ''", "move it below [regression]"),
    "a key too high": ("hunt = 2", "hunt = 2\nplace = ''", "move it below its [[hypothesis]]"),
    "a wrong form": ("form = '", "form = '0", "needs 8"),
    "the same name twice": (
        "hunt = 2",
        "hunt = 2\nhunt = 2",
        "line 15: not valid TOML: Cannot overwrite",
    ),
    "the same table twice": ("[fix]", "[fix]\n[fix]", "keep one of the two"),
    "a number that cannot be shown": ("places = []", f"places = [0x{'f' * 5000}]", "too long"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_no_slip_is_taken_for_an_answer(slip: str, read: Read) -> None:
    old, new, cure = SLIPS[slip]
    with pytest.raises(Problem) as caught:
        read(changed(old, new))
    message = str(caught.value)
    assert ANSWERS in message
    assert cure in message
    assert "\n" not in message
    assert len(message) < 300


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("verdict = ''", "verdict = bug", r"line \d+"),
        ("verdict = ''", "verdict = 1", r"\[diagnosis\] verdict"),
        ("after = -1", "after = 1", r"\[explain\] confidence_after"),
        ("before = -1", "before = 1", "confidence_before"),
        ("[[hypothesis]]  # 2\nplace = ''", "[[hypothesis]]\nplace = 1", r"\[hypothesis 2\] place"),
    ],
)
def test_no_message_leaves_the_place_open(old: str, new: str, place: str, read: Read) -> None:
    text = changed(old, new)
    with pytest.raises(Problem, match=rf"{re.escape(ANSWERS)}: {place}: ") as caught:
        read(text)
    if number := re.search(r": line (\d+):", str(caught.value)):
        assert text.splitlines()[int(number[1]) - 1] == new


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="cannot be read"):
        read_answers(tmp_path / ANSWERS)


# What must come out.


def test_the_untouched_form_answers_nothing(read: Read) -> None:
    answers = read(BLANK)
    assert answers == Answers(FORM, 2)
    assert answers.blank


def test_an_empty_file_answers_nothing(read: Read) -> None:
    assert read("") == Answers()


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_code_and_quotes_stand_in_long_texts_as_they_are(ends: str, read: Read) -> None:
    wrote = 'I ran\n    print("it\'s", \'C:\\new\')\nand got """1e-3""".'
    text = changed("observed = '''\n\n'''", f"observed = '''\n{wrote}\n'''").replace("\n", ends)
    assert read(text).observed == wrote


@pytest.mark.parametrize(
    "folder", ["", "gpt/", "gpt\\", "./gpt/", "/home/ada/gpt/", "C:\\hunt\\gpt\\"]
)
def test_a_file_is_known_by_its_name_alone(folder: str, read: Read) -> None:
    text = changed("places = []", f"places = ['{folder}model.py:7']")
    assert read(text).diagnosis.places == (("model.py", 7),)


@pytest.mark.parametrize(
    "place", ["a.py:12-14", "a.py: 12 - 14", " a.py :12-14 ", "a.py:12\u201314"]
)
def test_a_range_is_each_of_its_lines(place: str, read: Read) -> None:
    found = read(changed("places = []", f"places = ['b.py:3', '{place}']")).diagnosis.places
    assert found == (("b.py", 3), ("a.py", 12), ("a.py", 13), ("a.py", 14))


def test_a_range_may_be_as_long_as_it_says(read: Read) -> None:
    found = read(changed("places = []", f"places = ['a.py:1-{LONGEST}']")).diagnosis.places
    assert len(found) == LONGEST


def test_a_line_that_is_named_twice_counts_once(read: Read) -> None:
    text = changed("places = []", "places = ['gpt/a.py:13', 'a.py:12-13']")
    assert read(text).diagnosis.places == (("a.py", 13), ("a.py", 12))


def test_a_byte_order_mark_in_front_is_no_slip(read: Read) -> None:
    assert read("\ufeff" + BLANK) == Answers(FORM, 2)


def test_a_lone_later_hypothesis_counts(read: Read) -> None:
    text = changed("[[hypothesis]]  # 2\nplace = ''", "[[hypothesis]]\nplace = 'softmax'")
    assert read(text).hypotheses == (Hypothesis("softmax", "", ""),)


def test_a_form_id_is_read_as_a_person_copies_it(read: Read) -> None:
    copied = FORM.replace("-", " ").lower()
    assert read(changed(f"form = '{FORM}'", f"form = ' {copied} '")).form == FORM


# Whatever is filled in.

TEXTS = st.one_of(
    st.text(string.printable), st.text(st.characters(exclude_categories=["Cs"])), st.just("")
).map(str.strip)
PLACES = st.tuples(st.from_regex(r"[a-z_]{1,9}\.py", fullmatch=True), st.integers(1, 999_999_999))


def maybe(numbers: tuple[int, ...] | range) -> st.SearchStrategy[int | None]:
    return st.sampled_from([None, *numbers])


ALL = st.builds(
    Answers,
    form=st.just(FORM),
    hunt=st.integers(1, 99),
    prediction=TEXTS,
    confidence_before=maybe(CONFIDENCES),
    observed=TEXTS,
    hypotheses=st.lists(
        st.builds(Hypothesis, TEXTS, TEXTS, TEXTS), min_size=HYPOTHESES, max_size=HYPOTHESES
    ).map(tuple),
    log=TEXTS,
    diagnosis=st.builds(
        Diagnosis,
        st.sampled_from(["", *VERDICTS]),
        st.lists(PLACES, max_size=4, unique=True).map(tuple),
        TEXTS,
        TEXTS,
    ),
    fix=TEXTS,
    regression=TEXTS,
    explain=TEXTS,
    confidence_after=maybe(CONFIDENCES),
    hints_used=maybe(HINTS),
)


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(ALL)
def test_whatever_is_filled_in_comes_out_the_same(read: Read, answers: Answers) -> None:
    written = [h for h in answers.hypotheses if h != Hypothesis("", "", "")]
    found = read(filled_in(answers))
    assert found.hypotheses == tuple(written)
    for name in Answers.__slots__:
        assert name == "hypotheses" or getattr(found, name) == getattr(answers, name)


def filled_in(answers: Answers) -> str:
    """The form with these answers, in its order."""
    values = iter([answers.form, answers.hunt, *in_order(answers)])
    empty = re.compile(r"^(\w+ = )('''\n\n'''|'.*'|-?\d+|\[\])$", re.M)
    text = empty.sub(lambda match: match[1] + toml(next(values)), BLANK)
    assert next(values, "no more") == "no more"
    return text


def in_order(answers: Answers) -> Iterator[object]:
    yield from (answers.prediction, answers.confidence_before, answers.observed)
    for one in answers.hypotheses:
        yield from (one.place, one.mechanism, one.disproof)
    yield answers.log
    found = answers.diagnosis
    yield from (found.verdict, found.places, found.cause, found.violates)
    yield from (answers.fix, answers.regression, answers.explain)
    yield from (answers.confidence_after, answers.hints_used)


def toml(value: object) -> str:
    """The value as TOML; a text as the form asks for it, and escaped where that cannot hold it."""
    if value is None:
        return "-1"
    if isinstance(value, tuple):
        return str([f"{file}:{line}" for file, line in value])
    if not isinstance(value, str):
        return str(value)
    if "'''" not in value and all(c in "\n\t" or c.isprintable() for c in value):
        return f"'''\n{value}\n'''"
    return '"' + "".join(f"\\U{ord(c):08x}" for c in value) + '"'
