"""Prose with `code` in it, split once so that no renderer has to read marks."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a paragraph."""

    text: str
    code: bool = False
    """Whether it is a name or an expression, to be set in a fixed width."""


Paragraph = tuple[Span, ...]
Prose = tuple[Paragraph, ...]

_CODE = re.compile(r"`([^`\n]+)`")


def prose(text: str) -> Prose:
    """Paragraphs (parted by empty lines) of spans; line breaks inside a paragraph are spaces."""
    parts = re.split(r"\n\s*\n", text.strip())
    return tuple(paragraph(part) for part in parts if part.strip())


def paragraph(text: str) -> Paragraph:
    """The spans of one paragraph. A lone backtick stands for itself."""
    text = " ".join(text.split())
    spans: list[Span] = []
    end = 0
    for match in _CODE.finditer(text):
        if match.start() > end:
            spans.append(Span(text[end : match.start()]))
        spans.append(Span(match[1], code=True))
        end = match.end()
    if end < len(text):
        spans.append(Span(text[end:]))
    return tuple(spans)


def plain(words: Prose | Paragraph) -> str:
    """The text without marks; paragraphs end in a line break."""
    if words and isinstance(words[0], Span):
        return "".join(span.text for span in words if isinstance(span, Span))
    return "\n".join(plain(p) for p in words if not isinstance(p, Span))
