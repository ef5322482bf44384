"""Prose: nothing that was written is lost, and code is told from words."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bugkit.worksheet.words import Span, paragraph, plain, prose

quick = settings(derandomize=True, database=None, deadline=None, max_examples=300)

TEXTS = st.text() | st.text(alphabet="`ab \n\t\r\u2028")


def letters(text: str) -> str:
    """What is neither blank nor a backtick."""
    return "".join(text.split()).replace("`", "")


@quick
@given(TEXTS)
def test_no_character_is_lost_but_blanks_and_backticks(text: str) -> None:
    assert letters(plain(prose(text))) == letters(text)
    assert letters(plain(paragraph(text))) == letters(text)


@quick
@given(TEXTS)
def test_no_span_and_no_paragraph_is_empty_and_none_breaks_a_line(text: str) -> None:
    for words in prose(text):
        assert words
        for span in words:
            assert span.text
            assert len(span.text.splitlines()) == 1


@quick
@given(TEXTS)
def test_no_backtick_is_left_in_code(text: str) -> None:
    assert not any("`" in span.text for words in prose(text) for span in words if span.code)


def test_code_stands_apart() -> None:
    assert paragraph("Read `f(x)` in\n  `a.py`.") == (
        Span("Read "),
        Span("f(x)", code=True),
        Span(" in "),
        Span("a.py", code=True),
        Span("."),
    )


def test_a_lone_backtick_stands_for_itself() -> None:
    assert paragraph("a ` b") == (Span("a ` b"),)


def test_code_does_not_reach_over_an_empty_line() -> None:
    assert prose("a `b\n \nc` d") == ((Span("a `b"),), (Span("c` d"),))


def test_nothing_makes_no_paragraph() -> None:
    assert prose("") == ()
    assert prose(" \n\n ") == ()
    assert paragraph(" ") == ()
    assert plain(()) == ""


def test_paragraphs_are_lines_of_plain_text() -> None:
    assert plain(prose("One\ntwo.\n\n\nThree `four`.\n")) == "One two.\nThree four."
