"""The secret: never over another file, never read by others, never used when it is damaged."""

import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bugkit import exits
from bugkit.cli import cli
from bugkit.handout.secret import HEADER, SIZE, Secret, fingerprint, new_secret, read_secret, store
from bugkit.problems import Problem

POSIX = pytest.mark.skipif(os.name != "posix", reason="permission bits are POSIX")

SECRET = Secret(bytes(range(SIZE)))
DIGITS = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
MARK = "8SSC-A0PS"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the secret, in the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "secret.txt"


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["secret", "new", *arguments], catch_exceptions=False)


# What must not happen.


def test_a_file_that_exists_is_not_written_over(path: Path) -> None:
    path.write_text("old", encoding="utf-8")
    with pytest.raises(Problem, match=r"secret\.txt: exists already, and a secret is never"):
        store(SECRET, path)
    assert path.read_text(encoding="utf-8") == "old"


@POSIX
def test_a_link_is_not_followed_even_one_that_leads_nowhere(path: Path) -> None:
    path.symlink_to("elsewhere.txt")
    with pytest.raises(Problem, match="exists already"):
        store(SECRET, path)
    assert not path.exists()


def test_a_missing_folder_is_a_problem(path: Path) -> None:
    with pytest.raises(Problem, match="cannot be written"):
        store(SECRET, path / "secret.txt")


def test_half_a_secret_does_not_stay(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Problem, match=r"secret\.txt: cannot be written: No space left on device"):
        store(SECRET, path)
    assert not path.exists()


@POSIX
@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_nobody_else_may_read_a_new_secret(path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        store(SECRET, path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@POSIX
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o602])
def test_a_secret_that_others_may_read_or_change_is_a_problem(path: Path, mode: int) -> None:
    store(SECRET, path)
    path.chmod(mode)
    with pytest.raises(Problem) as caught:
        read_secret(path)
    assert f"secret.txt: others may read or change this secret (mode {mode:o})" in str(caught.value)
    assert "chmod 600 secret.txt" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not a secret of bugkit"),
        (f"{HEADER}\n", "not a secret of bugkit"),
        (f"{DIGITS}\n", "not a secret of bugkit"),
        (f"{DIGITS}\n{MARK}\n{MARK}\n", "not a secret of bugkit"),
        (f"\n{DIGITS[1:]}\n{MARK}\n", "line 2: needs 64 hexadecimal digits, got 63 characters"),
        (f"{DIGITS[1:]}g\n{MARK}\n", "line 1: needs 64 hexadecimal digits, got 64 characters, not"),
        (f"{DIGITS[1:]}7\n{MARK}\n", "line 2: the fingerprint is not that of line 1"),
        (f"{DIGITS}\n{MARK[:-1]}\n", "line 2: the fingerprint is not that of line 1"),
    ],
)
def test_a_damaged_secret_is_a_problem_that_does_not_show_it(
    path: Path, text: str, told: str
) -> None:
    write(path, text)
    with pytest.raises(Problem) as caught:
        read_secret(path)
    assert str(caught.value).startswith("secret.txt: ") and told in str(caught.value)
    assert DIGITS[1:] not in str(caught.value)


def test_no_message_shows_a_secret() -> None:
    assert repr(SECRET) == str(SECRET) == "Secret()"


# What it is.


def test_a_new_secret_comes_back_and_says_what_it_is(path: Path) -> None:
    secret = new_secret()
    store(secret, path)
    assert len(secret.value) == SIZE
    assert read_secret(path) == secret
    header, digits, mark = path.read_text(encoding="ascii").splitlines()
    assert "Secret of a bugkit course" in header and "keep it private" in header
    assert (digits, mark) == (secret.value.hex(), fingerprint(secret))


def test_two_secrets_differ() -> None:
    assert new_secret() != new_secret()


def test_a_secret_may_be_typed_again_from_paper(path: Path) -> None:
    typed = MARK.lower().replace("0", "o").replace("1", "l")
    write(path, f"\ufeff\r\n  {DIGITS.upper()} \r\n\r\n# typed by hand\r\n{typed}")
    assert read_secret(path) == SECRET


def test_the_fingerprint_is_the_same_everywhere_and_another_for_another_secret() -> None:
    assert fingerprint(SECRET) == MARK
    assert fingerprint(Secret(bytes(SIZE))) != MARK


# The command.


def test_the_command_writes_a_secret_and_does_not_print_it(path: Path) -> None:
    done = run("--out", "secret.txt")
    assert done.exit_code == 0
    secret = read_secret(path)
    assert f"secret.txt: written; its fingerprint is {fingerprint(secret)}\n" in done.output
    assert secret.value.hex() not in done.output


def test_the_command_needs_a_file_and_writes_over_none(path: Path) -> None:
    assert "Missing option '--out'" in run().output
    path.touch()
    done = run("--out", str(path))
    assert done.exit_code == exits.WRONG_USE
    assert done.stderr.startswith("bugkit: secret.txt: exists already")
