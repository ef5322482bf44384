"""The pytest plugin: `--gpt SUBJECT`, the `gpt` fixture, and the detectors' marks.

Installing bugkit makes it available to every pytest run, so anybody's tests can use the
fixture; it costs nothing until they do.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .contract import Offer

SUBJECT = pytest.StashKey["Offer"]()
"""The subject under test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register --gpt."""
    parser.getgroup("bugkit").addoption(
        "--gpt",
        metavar="SUBJECT",
        default="correct",
        help="what the `gpt` fixture gives: a bug of the catalogue, a .py file or a folder "
        "(default: the correct GPT)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks, and load an explicitly named subject before any test starts."""
    config.addinivalue_line("markers", "backstop: compares with recorded numbers only")
    config.addinivalue_line("markers", "level(n): needs the names of that level of the contract")
    if config.getoption("--gpt") != "correct":
        _load(config)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what is tested, if it was named."""
    name = config.getoption("--gpt")
    return None if name == "correct" else f"gpt: {name}"


@pytest.fixture
def gpt(request: pytest.FixtureRequest) -> "Iterator[Offer]":
    """The GPT under test, seen through the contract.

    Overflow and NaN are what detectors look for: NumPy's warnings about them, which some
    settings turn into errors, must not decide a verdict.
    """
    import numpy as np

    stash = request.config.stash
    if SUBJECT not in stash:
        _load(request.config)
    with np.errstate(all="ignore"):
        yield stash[SUBJECT]


def _load(config: pytest.Config) -> None:
    from .catalogue import load_catalogue
    from .contract import Offer
    from .problems import Problem
    from .subject import find_subject, import_fault, load

    name = str(config.getoption("--gpt"))
    try:
        subject = find_subject(name, load_catalogue())
    except Problem as problem:
        raise pytest.UsageError(f"--gpt {name}: {problem}") from None
    try:
        module = load(subject)
    except (Exception, SystemExit) as error:
        raise pytest.UsageError(f"--gpt {name}: {import_fault(subject, error)}") from None
    config.stash[SUBJECT] = Offer(module)
