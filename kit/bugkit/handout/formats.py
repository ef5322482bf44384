"""The rosters that are understood: exports of course systems, recognised by their headers.

A column is found by its name; case and outer spaces do not matter, nor do order and further
columns. The id is taken from the first column in the format's list that the file has, for every
row alike: so it is the header that decides, and no student's id depends on another's.

- Canvas, gradebook: ID, which every row has.
- Moodle, participants, grades, or offline grading worksheet: ID number, Username, Email address,
  Identifier.
- Gradescope, roster or grades: Email, which every row has, and which its graders are told.
- Brightspace: OrgDefinedId, Username; without the # before them.
- GitHub Classroom: identifier.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

Row = Mapping[str, str]
"""Column, as `same` gives it -> cell."""


@dataclass(frozen=True, slots=True)
class Format:
    """How to read the export of one system."""

    name: str
    needs: tuple[tuple[str, ...], ...]
    """Of each group of columns, at least one."""
    ids: tuple[str, ...]
    """Where the id is, the best first."""
    names: tuple[tuple[str, ...], ...]
    """Where the name is, in one column or in several that are joined; the best first."""
    points_row: bool = False
    """Whether a row of points possible and a test student may stand among the students."""
    roles: bool = False
    """Whether there are people other than students."""
    hash_before: bool = False
    """Whether a # stands before each id."""

    def fits(self, columns: Mapping[str, int]) -> bool:
        """Whether a header has what this format needs."""
        return all(any(same(name) in columns for name in group) for group in self.needs)

    def id_column(self, columns: Mapping[str, int]) -> str:
        """Name of the column that holds the id."""
        return next(name for name in self.ids if same(name) in columns)

    def id_in(self, cell: str) -> str:
        """The id that this cell of it means."""
        return cell.removeprefix("#").strip() if self.hash_before else cell

    def name_in(self, row: Row) -> str:
        """The student's name, or nothing."""
        for parts in self.names:
            cells = [row.get(same(part), "") for part in parts]
            if any(cells):
                return " ".join(filter(None, cells))
        return ""

    def skips(self, row: Row) -> bool:
        """Whether the row is no student's."""
        if not any(row.values()):
            return True
        if self.points_row:
            names = [row.get(same(name), "") for name in ("Student", "LastName", "FirstName")]
            student, last, first = names
            # Above the students, cells such as "Manual Posting" stand under the assignments.
            nobody = not any(names) and not row.get("id")
            points = "points possible" in same(student or last)
            return nobody or points or student == "Student, Test" or (last, first) == TEST_STUDENT
        return self.roles and row.get("role", "") != "" and same(row["role"]) != "student"

    @property
    def told(self) -> str:
        """What its header must hold, for a message."""
        groups = [" or ".join(group) for group in self.needs]
        return f"{self.name}: " + ", and ".join(groups)


TEST_STUDENT = ("Student", "Test")

FORMATS = (
    Format(
        "Canvas",
        needs=(("Student", "LastName"), ("ID",), ("Section",)),
        ids=("ID",),
        names=(("Student",), ("FirstName", "LastName")),
        points_row=True,
    ),
    Format(
        "GitHub Classroom",
        needs=(("identifier",), ("github_username",)),
        ids=("identifier",),
        names=(("name",),),
    ),
    Format(
        "Gradescope",
        needs=(("SID",), ("Email",)),
        ids=("Email",),
        names=(("First Name", "Last Name"), ("Name",)),
        roles=True,
    ),
    Format(
        "Brightspace",
        needs=(("OrgDefinedId", "Username"), ("OrgDefinedId", "End-of-Line Indicator")),
        ids=("OrgDefinedId", "Username"),
        names=(("First Name", "Last Name"),),
        hash_before=True,
    ),
    Format(
        "Moodle",
        needs=(
            ("First name", "Full name", "Identifier"),
            ("Surname", "Last name", "Full name", "Grade"),
            ("ID number", "Username", "Email address", "Identifier"),
        ),
        ids=("ID number", "Username", "Email address", "Identifier"),
        names=(("Full name",), ("First name", "Surname", "Last name")),  # one of the last two
    ),
)


def same(name: str) -> str:
    """The name of a column without what does not matter."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


KNOWN = frozenset(
    same(name)
    for form in FORMATS
    for name in (*form.ids, *(name for group in form.needs for name in group))
)
"""All columns that are asked for."""


def recognised(columns: Mapping[str, int]) -> Format | None:
    """The format with this header."""
    return next((form for form in FORMATS if form.fits(columns)), None)
