"""An HTML page as a parser sees it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "img", "wbr", "br"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    inside: tuple["Element", ...]
    text: str = ""


@dataclass
class Parser(HTMLParser):
    """Every element in the order of the page, each with the text in it."""

    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {k: v or "" for k, v in attrs}, tuple(self.open))
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data


def parsed(page: str) -> list[Element]:
    parser = Parser()
    parser.feed(page)
    parser.close()
    assert not parser.open
    return parser.elements


def with_class(elements: Iterable[Element], name: str) -> list[Element]:
    return [e for e in elements if name in e.attributes.get("class", "").split()]


def seen(elements: Iterable[Element]) -> str:
    """All text of the page, and what stands in its attributes."""
    body = next(e for e in elements if e.tag == "body")
    return body.text + "\n".join(v for e in elements for v in e.attributes.values())
