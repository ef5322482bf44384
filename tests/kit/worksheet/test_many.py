"""Many documents at once."""

import functools
from pathlib import Path

import pytest

from bugkit.problems import MissingTool, Problem
from bugkit.worksheet.many import ALONE, Job, render_all

FEW, MANY = ALONE, ALONE + 1


def refuse(number: int) -> bytes:
    raise (Problem(f"number {number} is wrong") if number % 2 else MissingTool("no tool", "extra"))


def jobs(folder: Path, count: int) -> list[Job]:
    """Files that hold their number. Functions of a library, since another process runs them."""
    return [
        Job(folder / f"{i}.txt", functools.partial(str.encode, str(i)), ()) for i in range(count)
    ]


@pytest.mark.parametrize(("count", "workers"), [(0, 2), (FEW, 2), (MANY, 1), (MANY, 2)])
def test_no_file_is_missing_or_exchanged_and_all_are_counted(
    count: int, workers: int, tmp_path: Path
) -> None:
    seen: list[tuple[int, int]] = []
    render_all(jobs(tmp_path, count), workers, lambda done, total: seen.append((done, total)))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        f"{i}.txt": str(i) for i in range(count)
    }
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert {total for _, total in seen} <= {count}
    assert not count or seen[-1] == (count, count)


@pytest.mark.parametrize("count", [FEW, MANY])
def test_one_that_cannot_be_written_stops_no_other(count: int, tmp_path: Path) -> None:
    planned = jobs(tmp_path, count)
    for i in (3, count - 1):
        planned[i] = Job(tmp_path / "absent" / "x.txt", planned[i].render, ())
    with pytest.raises(Problem, match=r"absent.*x\.txt: cannot be written.*\(and 1 more\)"):
        render_all(planned, 2)
    assert len(list(tmp_path.iterdir())) == count - 2


def test_the_first_problem_is_told_whatever_its_kind(tmp_path: Path) -> None:
    planned = [Job(tmp_path / f"{i}", refuse, (i,)) for i in (1, 2)]
    with pytest.raises(Problem, match=r"^number 1 is wrong \(and 1 more\)$"):
        render_all(planned, 2)
    with pytest.raises(Problem, match=r"^no tool; install it with"):
        render_all(planned[1:], 2)
    assert not list(tmp_path.iterdir())
