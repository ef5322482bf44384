"""A real browser, for the tests of pages: Debian's chromium, or any that CHROMIUM names."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WHY = "HTML pages are tested in a browser with: pip install bugkit[browser]"
playwright = pytest.importorskip("playwright.sync_api", reason=WHY)
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason=WHY)

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Browsers to look for, unless CHROMIUM names one."""

FLAGS = (
    "--no-sandbox",  # containers have none
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

PATIENCE = 10_000.0
"""Milliseconds to wait for what never comes; a page that works takes a few."""

TELEPHONE = {"width": 360, "height": 740}


@contextmanager
def started_browser() -> Iterator["Browser"]:
    """A browser for as long as it is needed. The engine forks, and a process should be alone for
    that: run it before."""
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no Chromium found; CHROMIUM=/path/to/one names it")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=program, args=list(FLAGS))
        yield found
        found.close()


def violations(page: "Page") -> list[str]:
    """What shuts somebody out of the page, as axe-core sees it."""
    response = axe.Axe().run(page).response
    return [
        f"{fault['id']}: {node['target']}: {node.get('failureSummary')}"
        for fault in response["violations"]
        for node in fault["nodes"]
    ]
