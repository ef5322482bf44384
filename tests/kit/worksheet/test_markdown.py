"""Sheets and keys as Markdown, read by an independent parser."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bugkit.catalogue import Bug, Source, Teach
from bugkit.matrix import Matrix
from bugkit.worksheet import markdown
from bugkit.worksheet.answers import key_of
from bugkit.worksheet.codes import code_of
from bugkit.worksheet.content import Header, one_line, sheet_of
from bugkit.worksheet.edition import public
from bugkit.worksheet.key import Key, KeySet
from bugkit.worksheet.markdown_text import code, escape, fence, inline
from bugkit.worksheet.model import (
    Hints,
    Layout,
    Sheet,
    SheetSet,
)
from bugkit.worksheet.words import Span, paragraph

from .conftest import HEADER, HOSTILE

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])

OUR_HTML = {f"<details><summary>Hint {n}</summary>" for n in range(1, 5)} | {"</details>"}


def sheet_text(sheet: Sheet, hints: Hints = Hints.STRIP) -> str:
    return markdown.sheets(SheetSet("Hunts", (sheet,)), Layout(hints=hints))


def key_text(key: Key) -> str:
    return markdown.keys(KeySet("Keys", (key,)), Layout())


def parsed(text: str) -> list[Token]:
    """All tokens, those inside paragraphs too."""
    return [t for token in PARSER.parse(text) for t in (token, *(token.children or ()))]


def said(tokens: Iterable[Token]) -> str:
    return "".join(t.content for t in tokens if t.type in ("text", "text_special", "code_inline"))


def test_no_file_of_a_student_holds_a_text_of_its_key(
    catalogue: dict[str, Bug], sheet: Callable[[str], Sheet], secrets: Callable[[str], set[str]]
) -> None:
    for slug in list(catalogue)[1::3]:  # of the texts themselves, test_content looks at all
        text = sheet_text(sheet(slug))
        shown = said(parsed(text)) + text
        assert not [secret for secret in secrets(slug) if secret in shown], slug


@pytest.mark.parametrize("name", HOSTILE)
def test_what_came_from_outside_is_text_and_nothing_else(
    name: str, catalogue: dict[str, Bug], matrix: Matrix
) -> None:
    text = HOSTILE[name]
    bug = catalogue["scores_not_scaled"]
    teach = Teach(text, text, (text,) * 4, text, text)
    bug = replace(bug, teach=teach, title=text, sources=(Source("https://a.b/", text),))
    header = Header(text, text)
    for hints in Hints:
        check_texts(sheet_text(sheet_of(public(bug), matrix, header, hints), hints), text)
    check_texts(key_text(key_of(public(bug), matrix, catalogue, header)), text)


def check_texts(document: str, text: str) -> None:
    tokens = parsed(document)
    html = {t.content.strip() for t in tokens if t.type in ("html_block", "html_inline")}
    assert html <= OUR_HTML
    links = {t.attrs["href"] for t in tokens if t.type == "link_open"}
    assert links <= {"https://a.b/"}
    images = {str(t.attrs["src"]) for t in tokens if t.type == "image"}
    assert images <= {markdown.FIGURE.format(code=code_of("scores_not_scaled"))}
    assert one_line(text) in said(tokens)


def test_every_document_is_sound(
    catalogue: dict[str, Bug], sheet: Callable[[str], Sheet], key: Callable[[str], Key]
) -> None:
    for slug in list(catalogue)[::2]:
        challenge = sheet(slug)
        tokens = parsed(sheet_text(challenge))
        headings = [
            said(after.children or ())
            for before, after in pairwise(tokens)
            if before.type == "heading_open" and before.tag == "h2"
        ]
        assert [h for h in headings if h in BOXES] == BOXES, slug
        blocks = [t.content for t in tokens if t.type == "fence"]
        numbered = [re.fullmatch(r" *\d+(?:  (.*))?", line) for line in blocks[0].splitlines()]
        listed = [match[1] for match in numbered if match]
        shown = [line.text for line in challenge.excerpt.lines]
        assert [line for line in listed if line] == [line for line in shown if line]
        assert len(blocks) == 1 + (challenge.listing is not None)
        answers = parsed(key_text(key(slug)))
        assert said(answers).startswith(f"Answer key {challenge.code}: {catalogue[slug].title}")


BOXES = [
    "What this part should do",
    "Symptom",
    "Program",
    "Predict",
    "Observe",
    "Hypotheses",
    "Log",
    "Diagnosis",
    "Fix",
    "Regression test",
    "Explain",
]


def test_a_set_has_a_contents_page_whose_links_lead_somewhere(
    sheet: Callable[[str], Sheet],
) -> None:
    slugs = ["scores_not_scaled", "eps_inside_the_root"]
    sheets = tuple(replace(sheet(s), number=i, of=2) for i, s in enumerate(slugs, 1))
    text = markdown.sheets(SheetSet("Hunts", sheets), Layout())
    links = re.findall(r"\]\(#(\S+)\)", text)
    headings = [
        re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-")
        for h in re.findall(r"^# (.*)$", text, re.M)
    ]
    assert links == headings[1:]
    assert len(links) == 2


def test_hints_stand_where_they_were_asked_for(catalogue: dict[str, Bug], matrix: Matrix) -> None:
    bug = catalogue["scores_not_scaled"]
    texts = {
        hints: sheet_text(sheet_of(public(bug), matrix, HEADER, hints), hints) for hints in Hints
    }
    assert "Hint" not in texts[Hints.NONE].replace("Hints used", "")
    assert texts[Hints.INLINE].index("Hint 1") < texts[Hints.INLINE].index("## Predict")
    assert texts[Hints.STRIP].index("Hint 1") > texts[Hints.STRIP].index("Hints used")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_any_text_survives(text: str) -> None:
    kept = " ".join(text.split())
    assert said(parsed(inline((Span(text),)))) == kept
    assert said(parsed(f"| a | b |\n| --- | --- |\n| {escape(text)} | x |\n")).endswith(f"{kept}x")
    if kept:
        spans = [t for t in parsed(f"x {code(text)}") if t.type == "code_inline"]
        assert [" ".join(t.content.split()) for t in spans] == [kept.replace("|", "\\|")]
    block = [t for t in parsed(fence(text)) if t.type == "fence"]
    assert [t.content.rstrip("\n") for t in block] == [text.rstrip("\n")]


def test_a_bar_in_code_does_not_end_a_cell() -> None:
    row = f"| a | b |\n| --- | --- |\n| {inline(paragraph('take `a | b` here'))} | x |\n"
    assert "a | b" in said(parsed(row))
