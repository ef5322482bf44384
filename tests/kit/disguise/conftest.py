"""What the tests of disguises share."""

from collections.abc import Callable, Mapping

import pytest

from bugkit.catalogue import Bug, load_catalogue
from bugkit.places import CORRECT

pytest.importorskip("libcst", reason="needs the extra handout")


@pytest.fixture(scope="session")
def correct() -> Mapping[str, str]:
    """The files of the public GPT."""
    return {path.name: path.read_text(encoding="utf-8") for path in CORRECT.glob("*.py")}


@pytest.fixture(scope="session")
def catalogue() -> Mapping[str, Bug]:
    """Every bug and innocent."""
    return load_catalogue()


@pytest.fixture(scope="session")
def broken(
    correct: Mapping[str, str], catalogue: Mapping[str, Bug]
) -> Callable[[str], dict[str, str]]:
    """Gives the files of a whole GPT with the bug of this slug."""

    def broken(slug: str) -> dict[str, str]:
        bug = catalogue[slug]
        return {**correct, bug.file: bug.module.read_text(encoding="utf-8")}

    return broken
