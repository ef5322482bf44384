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

SLIPS = {
    "a word without quotes": ("verdict = ''", "verdict = bug", "texts go between ' and '"),
    "a percent sign": ("before = -1", "before = 75%", "numbers stand alone"),
    "a number in quotes": ("before = -1", "before = '75'", "0, 25, 50, 75 or 100, without quotes"),
    "a confidence between": ("before = -1", "before = 80", "0, 25, 50, 75 or 100"),
    "a confidence that is true": ("after = -1", "after = true", "0, 25, 50, 75 or 100"),
    "a fraction": ("after = -1", "after = 0.75", "0, 25, 50, 75 or 100"),
    "too many hints": ("used = -1", "used = 5", "from 0 to 4"),
    "no hunt": ("hunt = 2", "hunt = 0", "number of the hunt"),
    "a range": ("lines = []", "lines = [12-14]", "[12] or [12, 13]"),
    "no comma": ("lines = []", "lines = [12 13]", "[12] or [12, 13]"),
    "no brackets": ("lines = []", "lines = 12", "[12] or [12, 13]"),
    "two numbers without brackets": ("lines = []", "lines = 12, 13", "line numbers"),
    "line 0": ("lines = []", "lines = [0]", "from 1"),
    "a line that is a text": ("lines = []", "lines = ['12']", "from 1"),
    "an apostrophe": ("file = ''", "file = 'it's'", "between ''' and '''"),
    "a backslash": ("file = ''", 'file = "gpt\\model.py"', "put ' in the place"),
    "typographic quotes": ("file = ''", "file = \u2018model.py\u2019", "straight quotes"),
    "a line break": ("file = ''", "file = 'model.py\n'", "between ''' and '''"),
    "an open text": ("prediction = '''\n\n'''", "prediction = '''\nOne.\n", "look there and above"),
    "an open text at the end": ("plausible = '''\n\n'''", "plausible = '''\nOne.\n", "above"),
    "a mark inside": ("observed = '''\n", "observed = '''\nso ''' it was", "look there and above"),
    "nothing behind =": ("hunt = 2", "hunt =", "numbers stand alone"),
    "a digit too many": ("hunt = 2", f"hunt = {'9' * 5000}", "too long"),
    "brackets without end": ("lines = []", f"lines = {'[' * 5000}", "brackets"),
    "a verdict of its own": ("verdict = ''", "verdict = 'a bug'", "did you mean bug"),
    "a text that is a number": ("file = ''", "file = 3", "text in quotes"),
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
        "line 14: not valid TOML: Cannot overwrite",
    ),
    "the same table twice": ("[fix]", "[fix]\n[fix]", "keep one of the two"),
    "a number that cannot be shown": ("lines = []", f"lines = [0x{'f' * 5000}]", "too long"),
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


@pytest.mark.parametrize("file", ["model.py", "gpt/model.py", "gpt\\model.py", "./gpt/model.py"])
def test_a_file_is_known_by_its_name_alone(file: str, read: Read) -> None:
    assert read(changed("file = ''", f"file = '{file}'")).diagnosis.file == "model.py"


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
NAMES = st.from_regex(r"[a-z_]{1,9}\.py", fullmatch=True) | st.just("")


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
        NAMES,
        st.lists(st.integers(1, 2**40), max_size=4).map(tuple),
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
    yield from (found.verdict, found.file, found.lines, found.cause, found.violates)
    yield from (answers.fix, answers.regression, answers.explain)
    yield from (answers.confidence_after, answers.hints_used)


def toml(value: object) -> str:
    """The value as TOML; a text as the form asks for it, and escaped where that cannot hold it."""
    if value is None:
        return "-1"
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    if not isinstance(value, str):
        return str(value)
    if "'''" not in value and all(c in "\n\t" or c.isprintable() for c in value):
        return f"'''\n{value}\n'''"
    return '"' + "".join(f"\\U{ord(c):08x}" for c in value) + '"'
