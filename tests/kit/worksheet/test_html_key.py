"""Keys as HTML, read by an independent parser."""

from collections.abc import Callable
from dataclasses import replace

from bugkit.worksheet import html
from bugkit.worksheet.key import Key, KeySet, Received, Reference
from bugkit.worksheet.model import (
    DiffLine,
    Layout,
)
from bugkit.worksheet.words import paragraph, plain

from .page import parsed, seen, with_class

SLUGS = ("scores_not_scaled", "gradients_never_cleared", "no_causal_mask")
INNOCENT = "queries_scaled_before_scores"


def key_page(*keys: Key) -> str:
    return html.keys(KeySet("Answer keys", keys), Layout())


def test_an_address_that_is_none_is_no_link(key: Callable[[str], Key]) -> None:
    sources = tuple(
        Reference(url, paragraph("Seen."))
        for url in ("javascript:alert(1)", "data:text/html,x", "https://example.org/1")
    )
    elements = parsed(key_page(replace(key(SLUGS[0]), sources=sources)))
    assert [e.attributes["href"] for e in elements if e.tag == "a"] == ["https://example.org/1"]
    assert "javascript:alert(1)" in seen(elements)


def test_a_key_says_everything_that_it_knows(key: Callable[[str], Key]) -> None:
    for slug in (*SLUGS, INNOCENT):
        one = key(slug)
        elements = parsed(key_page(one))
        text = seen(elements)
        for fact in (one.title, one.slug, one.code, one.component):
            assert fact in text
        for words in (one.explanation, one.misconception, one.predict):
            assert plain(words) in text
        for line in (*one.accepted, *one.wrong, *one.prompts, *(v.label for v in one.caught_by)):
            assert plain(line) in text
        missed = with_class(elements, "missed")[0].text.replace(";", "").split()
        assert missed == [v.key for v in one.missed_by]
        assert f"Total of {2 * len(one.rubric)}" in text
        assert [e.attributes["href"] for e in elements if e.tag == "a"] == [
            source.url for source in one.sources
        ]


def test_the_signs_of_a_difference_are_text(key: Callable[[str], Key]) -> None:
    fix = (
        DiffLine(" ", 1, "a = 1"), DiffLine("-", 2, "b = 2"), DiffLine("+", 2, "b = 3"),
        DiffLine(" ", 9, ""),
    )  # fmt: skip
    elements = parsed(key_page(replace(key(SLUGS[0]), fix=fix)))
    assert [e.text for e in with_class(elements, "line")] == [
        "1   a = 1\n", "2 - b = 2\n", "2 + b = 3\n", "9   \n",
    ]  # fmt: skip
    assert len(with_class(elements, "gap")) == 1


def test_every_key_and_every_page_of_it_warns(key: Callable[[str], Key]) -> None:
    page = key_page(*map(key, SLUGS))
    assert len(with_class(parsed(page), "warning")) == len(SLUGS) + 1
    assert '@page { @top-center { content: "Answer key \\2d  not for students"; } }' in page


def test_a_key_of_no_copy_speaks_of_none(key: Callable[[str], Key]) -> None:
    for slug in (SLUGS[0], INNOCENT):
        text = seen(parsed(key_page(key(slug))))
        assert "In the student's program" not in text
        assert "words of the catalogue" not in text


def test_nothing_of_an_innocent_is_called_a_bug_or_to_be_repaired(
    key: Callable[[str], Key],
) -> None:
    received = (Received("heads.py", (DiffLine("-", 3, "a = 1"),)),)
    innocent, bug = (
        seen(parsed(key_page(replace(key(slug), received=received))))
        for slug in (INNOCENT, SLUGS[0])
    )
    for words in ("the lines to repair", "with the bug"):
        assert words in bug
        assert words not in innocent
    assert "minus: the lines that look wrong" in innocent


def test_a_key_of_a_copy_shows_every_file_and_the_new_names(key: Callable[[str], Key]) -> None:
    received = tuple(
        Received(file, (DiffLine("-", 3, f"a = {file!r}"),)) for file in ("x.py", "y.py")
    )
    names = (("future", ("later",)), ("q", ("asks", "ask")))
    one = replace(key(SLUGS[0]), received=received, names=names)
    elements = parsed(key_page(one))
    assert [e.text for e in with_class(elements, "file")] == ["x.py", "y.py"]
    assert "a = 'y.py'" in seen(elements)
    (line,) = with_class(elements, "names")
    assert line.text == "In the student's program: future is later, q is asks or ask."
