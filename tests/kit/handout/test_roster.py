"""Rosters: no student is lost, doubled or taken for another; whatever is wrong names the line."""

import csv
import io
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bugkit.handout.formats import FORMATS
from bugkit.handout.roster import Roster, Student, read_roster
from bugkit.problems import Problem

ROSTERS = Path(__file__).with_name("rosters")

EXPECTED = {
    "canvas.csv": (
        "Canvas",
        "ID",
        [
            ("81001", "Åström, Zoë", 4),
            ("81002", 'O’Neill, Seán "Sonny"', 5),  # noqa: RUF001
            ("81003", "נחמיאס, יעל", 6),
            ("81004", "山本, 葵", 9),
        ],
    ),
    "canvas-apart.csv": (
        "Canvas",
        "ID",
        [("00811", "Wanjirũ Ngũgĩ", 3), ("00812", "Jörg Müller-Lüdenscheidt", 5)],
    ),
    "moodle.csv": (
        "Moodle",
        "ID number",
        [
            ("0012", "Nguyễn Thị Ánh", 2),
            ("0013", "Ødegård Åse", 3),
            ("0014", "مريم الحداد", 4),
        ],
    ),
    "moodle-worksheet.csv": (
        "Moodle",
        "Identifier",
        [("Participant 430012", "", 2), ("Participant 430013", "", 3)],
    ),
    "gradescope.csv": (
        "Gradescope",
        "Email",
        [("oksana@uni.example", "Оксана Шевченко", 2), ("iyabo@uni.example", "Ìyábọ̀ Adéwálé", 4)],
    ),
    "brightspace.csv": (
        "Brightspace",
        "OrgDefinedId",
        [("00301", "Joëlle d'Upré", 2), ("00302", "Kwabena Mensah", 3)],
    ),
    "classroom.csv": (
        "GitHub Classroom",
        "identifier",
        [("kim-01", "김하늘", 2), ("kim-02", "Łukasz Żak", 3), ("Kim-02", "अनन्या शर्मा", 4)],
    ),
    "list.txt": ("text", "", [("0042", "", 2), ("CON", "", 4), ("../etc", "", 5), ("Zoë", "", 6)]),
}


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The roster to write, in the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "roster.csv"


def problem_of(path: Path, data: str | bytes, group_by: str | None = None) -> str:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    with pytest.raises(Problem) as caught:
        read_roster(path, group_by)
    return str(caught.value)


def seen(roster: Roster) -> tuple[str, str, list[tuple[str, str, int]]]:
    students = [(student.id, student.name, student.line) for student in roster.students]
    return roster.format, roster.id_column, students


# What must not happen.


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_not_taken_for_names(write: Path, codec: str) -> None:
    told = problem_of(write, (ROSTERS / "gradescope.csv").read_text("utf-8").encode(codec))
    # Some such texts are UTF-8 as well, with zeros between.
    assert told.startswith("roster.csv: ") and "not UTF-8 text" in told
    ascii_only = problem_of(write, "a1\na2\n".encode(codec))
    assert "UTF-16" in ascii_only and "save it as UTF-8" in ascii_only


def test_another_encoding_is_not_guessed(write: Path) -> None:
    assert "not UTF-8 text (line 1, byte 2)" in problem_of(write, "Zoë\n".encode("latin-1"))


def test_ids_that_occur_twice_are_told_with_all_their_lines(write: Path) -> None:
    told = problem_of(write, "b\na\n\nb\na\nc\nb\n")
    assert told == ("roster.csv: an id must occur once: 'b' on lines 1, 4, 7; 'a' on lines 2, 5")


def test_one_accent_typed_in_two_ways_is_no_second_student(write: Path) -> None:
    assert "on lines 1, 2" in problem_of(write, "Zo\u00eb\nZoe\u0308\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("\n  \n", 1),
        ("# nobody\n", 1),
        ("\nSID,Email\n", 2),
        ("SID,Email,Role\n1,a@x.example,Instructor\n", 1),
        ('Student,ID,Section\n    Points Possible,,\n"Student, Test",9,A\n', 1),
    ],
)
def test_nobody_is_a_problem(write: Path, text: str, line: int) -> None:
    told = problem_of(write, text)
    assert told.startswith(f"roster.csv: line {line}: ")
    assert "no student follows" in told or "is empty" in told


def test_unknown_columns_are_told_beside_what_is_expected(write: Path) -> None:
    told = problem_of(write, "\nVorname;Nachname;E-Mail\nAda;Lovelace;a@x.example\n")
    assert told.startswith(
        "roster.csv: line 2: no known roster: it has the columns 'Vorname', 'Nachname', 'E-Mail'."
    )
    for form in FORMATS:
        assert form.told in told
    assert "Canvas: Student or LastName, and ID, and Section" in told
    assert "one id a line" in told


def test_the_head_of_a_single_column_is_no_student(write: Path) -> None:
    told = problem_of(write, "# ids\nEmail address\na@x.example\n")
    assert told.startswith("roster.csv: line 2: 'Email address' looks like the head of a column")


def test_a_line_of_a_list_that_looks_like_a_row_is_no_id(write: Path) -> None:
    told = problem_of(write, "0042\n0043\nLovelace, Ada\n")
    assert "line 1: no known roster" in told and "line 3 would be no id" in told


def test_an_unknown_column_to_group_by_is_told_with_those_there_are(write: Path) -> None:
    told = problem_of(write, "\nSID,Email,Section\n1,a@x.example,A\n", group_by="Sektion")
    assert told == (
        "roster.csv: line 2: has no column 'Sektion' to group by; did you mean Section?; "
        "it has 'SID', 'Email', 'Section'"
    )
    told = problem_of(write, "# ids\n0042\n", group_by="Section")
    assert told.startswith("roster.csv: line 2: a list of ids has no column 'Section'")


def test_a_student_without_an_id_is_not_passed_over(write: Path) -> None:
    told = problem_of(
        write, "First name,Surname,ID number,Email address\nA,B,1,a@x.example\nC,D,,c@x.example\n"
    )
    assert told == (
        "roster.csv: line 3: nothing under 'ID number' for C D; fill it in, or take the column "
        "away to use Username or Email address or Identifier"
    )
    assert "line 2: nothing under 'ID' for Ada; fill it in" in problem_of(
        write, "Student,ID,Section\nAda,,A\n"
    )


def test_a_comma_without_quotes_does_not_shift_the_columns(write: Path) -> None:
    told = problem_of(write, "Student,ID,Section\nAda,1,A\nLovelace, Ada,1,A\n")
    assert told.startswith("roster.csv: line 3: has 4 cells and the header 3; put quotes around")


def test_a_quote_that_stays_open_does_not_swallow_the_students_below(write: Path) -> None:
    told = problem_of(write, 'Student,ID,Section\nAda,1,A\n"Grace,2,A\nEmmy,3,A\n')
    assert told.startswith("roster.csv: line 3: this row cannot be read")


def test_a_greek_question_mark_separates_no_cells(write: Path) -> None:
    write.write_text("Student;ID;Section\na\u037eb;1;A\n", encoding="utf-8")
    assert [student.id for student in read_roster(write).students] == ["1"]


def test_a_missing_file_is_a_problem(write: Path) -> None:
    with pytest.raises(Problem, match=r"roster\.csv: cannot be read"):
        read_roster(write)


def test_a_group_is_not_taken_for_the_student_of_that_name() -> None:
    alone, member = Student("7", "", None, 1), Student("8", "", "7", 2)
    assert alone.unit != member.unit
    # Nor for one whose id is made to look like a group.
    assert Student("group 7", "", None, 1).unit != member.unit


# What is read.


def test_every_golden_roster_is_expected() -> None:
    assert {path.name for path in ROSTERS.iterdir()} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_golden_roster_is_read(name: str) -> None:
    assert seen(read_roster(ROSTERS / name)) == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("newline", ["\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_byte_order_mark_line_ends_and_delimiter_do_not_matter(
    write: Path, name: str, newline: str, delimiter: str
) -> None:
    text = (ROSTERS / name).read_text("utf-8")
    if name != "list.txt":
        with io.StringIO(newline="") as out:
            writer = csv.writer(out, delimiter=delimiter, lineterminator=newline)
            writer.writerows(csv.reader(io.StringIO(text)))
            text = out.getvalue()
    else:
        text = text.replace("\n", newline)
    write.write_bytes(text.encode("utf-8-sig"))
    assert seen(read_roster(write)) == EXPECTED[name]


def test_neither_case_nor_order_nor_further_columns_matter(write: Path) -> None:
    write.write_text(" role ,EMAIL,sid,x\nStudent,a@x.example,1,\n", encoding="utf-8")
    assert seen(read_roster(write)) == ("Gradescope", "Email", [("a@x.example", "", 2)])


def test_without_its_first_column_the_id_is_in_the_next(write: Path) -> None:
    write.write_text("First name,Surname,Email address\nA,B,a@x.example\n", encoding="utf-8")
    assert seen(read_roster(write)) == ("Moodle", "Email address", [("a@x.example", "A B", 2)])


def test_lines_are_counted_over_cells_of_several_lines(write: Path) -> None:
    write.write_text('Student,ID,Section\n"A\nB",1,A\n\nC,2,A\n', encoding="utf-8")
    assert [student.line for student in read_roster(write).students] == [2, 5]


def test_groups_come_from_any_column_and_who_has_none_works_alone() -> None:
    grouped = read_roster(ROSTERS / "moodle.csv", group_by="groups")
    assert [student.group for student in grouped.students] == ["Owls, Larks", "Larks", None]
    classroom = read_roster(ROSTERS / "classroom.csv", group_by="group_name")
    assert [student.group for student in classroom.students] == ["red", "red", "blue"]
    assert classroom.students[0].unit == classroom.students[1].unit
    assert {student.group for student in read_roster(ROSTERS / "classroom.csv").students} == {None}


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


def clean(cell: str) -> str:
    return unicodedata.normalize("NFC", cell).strip()


@given(
    rows=st.lists(
        st.tuples(CELLS.filter(clean), CELLS, CELLS),
        min_size=1,
        max_size=6,
        unique_by=lambda row: clean(row[0]),
    ),
    delimiter=st.sampled_from(",;\t"),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_comes_back_as_id_name_and_group(
    write: Path, rows: list[tuple[str, str, str]], delimiter: str, quoting: int
) -> None:
    with write.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter, quoting=quoting)  # type: ignore[arg-type]
        writer.writerows([("identifier", "github_username", "name", "group_name")])
        writer.writerows((student, "", name, group) for student, name, group in rows)
    roster = read_roster(write, "group_name")
    assert [(one.id, one.name, one.group) for one in roster.students] == [
        (clean(student), clean(name), clean(group) or None) for student, name, group in rows
    ]


@given(st.text(st.characters(exclude_categories=["Cs"])) | st.binary())
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_file_holds_there_are_students_or_one_problem(
    write: Path, data: str | bytes
) -> None:
    write.write_bytes(data if isinstance(data, bytes) else data.encode())
    try:
        roster = read_roster(write)
    except Problem as problem:
        assert str(problem).startswith("roster.csv: ")
    else:
        ids = [student.id for student in roster.students]
        assert ids and len(set(ids)) == len(ids) and all(ids)
