"""Markdown: no text may end its cell or item early, or become a sign of Markdown itself."""

import re
from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bugkit.matrix import Cell, Detector, Matrix, Outcome
from bugkit.report.markdown import as_markdown
from bugkit.report.symbols import SYMBOLS
from bugkit.subject import Kind, Subject

GITHUB = MarkdownIt("commonmark").enable(["table", "strikethrough"])
"""What GitHub adds to CommonMark and a report could run into."""

CONTROL = re.compile("[^\n\x20-\x7e\xa0-\U0010ffff]")
"""Characters that a text file for people should not hold."""

SIGNS = [*"|`*_~[]()<>&;#!\\-+=:\"'@$ \n\tab1", "~~", "&lt;", "&#60;", "<b>", "](", "1. "]
"""What means something in Markdown, and a little of what does not."""

COLUMNS = ["subject", "kind", "status"]

HEADINGS = ["Kill matrix", "Detectors", "What failed"]


def shown(inline: Token | None) -> str:
    """What a reader sees of a piece of text."""
    assert inline is not None and inline.children is not None
    return "".join(" " if t.type == "softbreak" else t.content for t in inline.children)


def texts(tokens: list[Token], opening: str) -> list[str]:
    """What is seen of every piece that opens so: the text comes right behind, in a list item
    behind its paragraph."""
    step = 2 if opening == "list_item_open" else 1
    return [shown(tokens[i + step]) for i, t in enumerate(tokens) if t.type == opening]


def tables(tokens: list[Token]) -> list[list[list[str]]]:
    """Table -> row -> what is seen of each cell."""
    found: list[list[list[str]]] = []
    for i, token in enumerate(tokens):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("th_open", "td_open"):
            found[-1][-1].append(shown(tokens[i + 1]))
    return found


def kinds(tokens: list[Token]) -> set[str]:
    return {t.type for token in tokens for t in [token, *(token.children or [])]}


def one_line(text: str) -> str:
    return " ".join(text.split())


def saying(message: str) -> Matrix:
    subject = Subject("gpt.py", Kind.FILE, "gpt.py", Path("gpt.py"))
    detector = Detector("test_a", "A", "", "softmax", 1, False, "A1", "test_a", "")
    return Matrix((subject,), (detector,), {("gpt.py", "test_a"): Cell(Outcome.FAILED, message)})


# What must not happen


def test_no_message_leaves_its_item(told: tuple[str, Matrix]) -> None:
    text, matrix = told
    tokens = GITHUB.parse(as_markdown(matrix))
    promise, _, *said = texts(tokens, "list_item_open")
    if not CONTROL.search(one_line(text)):
        assert promise == f"Broken promise: silly: error in test_cache: {one_line(text)}"
        assert said == [
            f"silly B3 error: {one_line(text)}",
            f"gpt.py A2 failed: {one_line(text)}",
            f"gpt.py B2 error: {one_line(text)}",
        ]
    assert texts(tokens, "heading_open") == HEADINGS
    assert kinds(tokens).isdisjoint(
        {"html_inline", "html_block", "link_open", "image", "em_open", "strong_open", "s_open"}
        | {"fence", "code_block", "hr", "blockquote_open", "ordered_list_open"}
    )


@given(st.lists(st.sampled_from(SIGNS), max_size=30).map("".join))
def test_any_message_is_read_as_it_was_said(message: str) -> None:
    said = texts(GITHUB.parse(as_markdown(saying(message))), "list_item_open")[-1]
    assert said == f"gpt.py A1 failed: {one_line(message)}".rstrip()


def test_no_name_of_a_file_leaves_its_cell(named: tuple[str, Matrix]) -> None:
    name, matrix = named
    tokens = GITHUB.parse(as_markdown(matrix))
    first, _ = tables(tokens)
    assert [len(row) for row in first] == [len(COLUMNS) + len(matrix.detectors)] * 3
    assert first[2][1:3] == ["file", "killed"]
    if not CONTROL.search(name):
        assert first[2][0] == one_line(name)
        assert texts(tokens, "list_item_open")[-1].startswith(f"{one_line(name)} A1 failed: ")
    assert texts(tokens, "heading_open") == HEADINGS
    assert "html_inline" not in kinds(tokens)


def test_no_name_brings_in_a_control_character(named: tuple[str, Matrix]) -> None:
    assert not CONTROL.search(as_markdown(named[1]))


def test_no_file_brings_in_a_control_character(odd_words: Matrix) -> None:
    assert not CONTROL.search(as_markdown(odd_words))


def test_no_broken_promise_leaves_its_item(matrix: Matrix) -> None:
    tokens = GITHUB.parse(as_markdown(matrix))
    promises = [
        text.partition(": ")[2]
        for text in texts(tokens, "list_item_open")
        if text.startswith("Broken promise")
    ]
    assert promises == [
        "looks_accused: is innocent, yet accused by test_scale",
        "other_promise: test_scale fails as well; test_weights_are_shares does not fail",
        "no_promise: promises no killer; if these are right, write under [expect]: "
        'killed_by = [ "test_rows_sum_to_one", ]',
        "only_recorded: promises test_of_nothing, but there is no such detector",
        "never_judged: timeout in test_rows_sum_to_one: not finished within 5 s",
    ]


# What is there


def test_the_matrix_made_by_hand_reads_as_it_should(
    matrix: Matrix, golden: Callable[[str, str], None]
) -> None:
    golden("matrix.md", as_markdown(matrix))


def test_the_first_table_is_the_matrix(any_matrix: Matrix) -> None:
    first, _ = tables(GITHUB.parse(as_markdown(any_matrix)))
    assert first == [
        [*COLUMNS, *(d.key for d in any_matrix.detectors)],
        *(
            [
                s.id,
                s.kind,
                any_matrix.status(s),
                *(SYMBOLS[c.outcome] for _, c in any_matrix.row(s)),
            ]
            for s in any_matrix.subjects
        ),
    ]


def test_the_second_table_explains_every_key(any_matrix: Matrix) -> None:
    _, second = tables(GITHUB.parse(as_markdown(any_matrix)))
    assert second == [
        ["key", "detector", "property"],
        *(
            [d.key, d.id, f"{d.label} (backstop)" if d.backstop else d.label]
            for d in any_matrix.detectors
        ),
    ]


def test_every_cell_that_did_not_pass_has_an_item(any_matrix: Matrix) -> None:
    items = texts(GITHUB.parse(as_markdown(any_matrix)), "list_item_open")
    wanted = [
        f"{s.id} {d.key} "
        for s in any_matrix.subjects
        for d, cell in any_matrix.row(s)
        if cell.outcome not in (Outcome.PASSED, Outcome.NOT_OFFERED)
    ]
    found = items[len(items) - len(wanted) :]
    assert all(item.startswith(start) for item, start in zip(found, wanted, strict=True))


def test_rendering_twice_gives_the_same_text(catalogue_matrix: Matrix) -> None:
    assert as_markdown(catalogue_matrix) == as_markdown(catalogue_matrix)
