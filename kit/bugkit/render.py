"""The one Jinja2 environment."""

import re
from functools import cache
from typing import TYPE_CHECKING

from .places import TEMPLATES

if TYPE_CHECKING:
    import jinja2


@cache
def _environment() -> "jinja2.Environment":
    import jinja2  # most commands print nothing that needs it

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=jinja2.select_autoescape(("html", "xml")),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template: str, **values: object) -> str:
    """The template of this name, filled in."""
    return _environment().get_template(template).render(**values)


_FORBIDDEN = re.compile("[^\n\r\t\x20-\x7e\xa0-\ud7ff\ue000-\U0010ffff]")


def printable(page: str) -> str:
    """The HTML page, with a mark for each character that a page cannot hold, whatever a file
    says."""
    return _FORBIDDEN.sub("\ufffd", page)
