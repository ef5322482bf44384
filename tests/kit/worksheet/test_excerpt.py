"""Excerpts and differences: no definition is split, none that the hunt needs is left out."""

import ast
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bugkit.catalogue import load_catalogue
from bugkit.files import read_text
from bugkit.worksheet.excerpt import (
    changed_lines,
    difference,
    excerpt_of,
    lines_of,
    pieces,
    touched,
)
from bugkit.worksheet.model import MAX_EXCERPT, MAX_LISTING, DiffLine, Listing

CATALOGUE = load_catalogue()

quick = settings(derandomize=True, database=None, deadline=None, max_examples=60)


# Modules of any layout: constants, comments and definitions of any length and kind.

HEADS = ("def {}(x):", "async def {}(x):", "class {}:", "@staticmethod\ndef {}(x):")


@st.composite
def modules(draw: st.DrawFn) -> list[list[str]]:
    """Blocks of lines, each a definition or a run of constants, with what parts them."""
    blocks = []
    for i in range(draw(st.integers(1, 6))):
        above = draw(st.sampled_from([[], [f"# About {i}."], ["# Of nothing.", ""]]))
        if draw(st.integers(0, 3)) == 0:
            lines = [f"constant_{i}_{n} = 0" for n in range(draw(st.integers(1, 3)))]
        else:
            name = f"f{i}{draw(st.sampled_from(['', '_backward']))}"
            head = draw(st.sampled_from(HEADS)).format(name).split("\n")
            size = draw(st.integers(1, 8) | st.integers(20, 100))
            lines = [*head, *(f"    a{n} = 0" for n in range(size))]
        blocks.append([*above, *lines, *[""] * draw(st.integers(0, 2))])
    return blocks


@st.composite
def repairs(draw: st.DrawFn) -> tuple[str, str]:
    """A broken and a correct module that differ in one or two blocks."""
    broken = draw(modules())
    correct = [list(block) for block in broken]
    for i in draw(st.sets(st.integers(0, len(broken) - 1), min_size=1, max_size=2)):
        block = correct[i]
        last = max(n for n, line in enumerate(block) if line)
        line = block[last]
        kind = draw(st.sampled_from(["other", "more", "less"]))
        if kind == "other":
            block[last] = line.replace("= 0", "= 1")
        elif kind == "more":
            block.insert(last + 1, line.replace("= 0", f"= {i} + 1"))
        elif "    " in block[last - 1]:  # a body must not be empty
            del block[last]
        else:
            block[last] = line.replace("= 0", "= 2")
    return source(broken), source(correct)


def source(blocks: list[list[str]]) -> str:
    return "\n".join(line for block in blocks for line in block) + "\n"


def shown(*listings: Listing | None) -> set[int]:
    """Numbers of the lines that are printed with their text."""
    return {line.number for each in listings if each for line in each.lines if line.text}


def definitions(text: str) -> Iterator[set[int]]:
    """The lines of each definition, decorators too."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            yield set(range(first, (node.end_lineno or 0) + 1))


def printed(listing: Listing) -> list[str]:
    return [line.text for line in listing.lines]


# What must not happen.


@quick
@given(repairs())
def test_no_definition_is_split(pair: tuple[str, str]) -> None:
    broken, correct = pair
    for listing in excerpt_of("any.py", broken, touched(broken, correct)):
        for lines in definitions(broken) if listing else ():
            assert lines <= shown(listing) or not lines & shown(listing)


@quick
@given(repairs())
def test_no_changed_definition_is_left_out(pair: tuple[str, str]) -> None:
    broken, correct = pair
    seen = shown(*excerpt_of("any.py", broken, touched(broken, correct)))
    before = {lines_of(broken)[min(lines) - 1]: lines for lines in definitions(broken)}
    for lines in definitions(correct):
        now = [lines_of(correct)[n - 1] for n in sorted(lines)]
        then = sorted(before[now[0]]) if now[0] in before else []
        # A decorated definition begins like another decorated one: ask by the second line as well.
        if now[0].startswith("@") or not then:
            continue
        if [lines_of(broken)[n - 1] for n in then] != now:
            assert set(then) <= seen


@quick
@given(repairs())
def test_a_page_is_never_too_long_unless_what_is_needed_is(pair: tuple[str, str]) -> None:
    broken, correct = pair
    excerpt, listing = excerpt_of("any.py", broken, touched(broken, correct))
    assert len(excerpt.lines) <= MAX_EXCERPT
    if listing is None:
        return
    needed = [p for p in touched(broken, correct) if p.first not in shown(excerpt)]
    assert needed
    assert len(listing.lines) <= max(MAX_LISTING, sum(p.size + 1 for p in needed) - 1)
    assert not shown(listing) & shown(excerpt)


@quick
@given(repairs())
def test_every_line_is_that_of_the_file_or_parts_two_pieces(pair: tuple[str, str]) -> None:
    broken, correct = pair
    for listing in excerpt_of("any.py", broken, touched(broken, correct)):
        if listing is None:
            continue
        numbers = [line.number for line in listing.lines]
        assert numbers == sorted(set(numbers))
        text = lines_of(broken)
        assert all(line.text in ("", text[line.number - 1]) for line in listing.lines)
        assert not listing.lines or (listing.lines[0].text and listing.lines[-1].text)


@quick
@given(repairs())
def test_the_repair_repairs(pair: tuple[str, str]) -> None:
    broken, correct = pair
    old = lines_of(broken)
    everything = difference(broken, correct, context=len(old) + 1)
    if broken == correct:
        assert everything == ()
        return
    assert [line.text for line in everything if line.sign != "+"] == old
    assert [line.text for line in everything if line.sign != "-"] == lines_of(correct)
    kept = [line for line in everything if line.sign != "+"]
    assert all(old[line.number - 1] == line.text for line in kept)
    assert all(1 <= line.number <= len(old) for line in everything)


@quick
@given(modules())
def test_pieces_hold_every_line_once(blocks: list[list[str]]) -> None:
    text = source(blocks)
    covered = [n for piece in pieces(text) for n in range(piece.first, piece.last + 1)]
    assert covered == sorted(set(covered))
    assert {n for n, line in enumerate(lines_of(text), 1) if line} <= set(covered)


def test_every_sheet_of_the_catalogue_shows_the_place_of_its_bug() -> None:
    for slug, bug in CATALOGUE.items():
        broken, correct = read_text(bug.module), read_text(bug.original)
        excerpt, listing = excerpt_of(bug.file, broken, touched(broken, correct))
        assert len(excerpt.lines) <= MAX_EXCERPT, slug
        assert listing is None or len(listing.lines) <= MAX_LISTING, slug
        found = [piece for piece in touched(broken, correct) if piece.name]
        assert {edit.inside for edit in bug.edits} - {""} <= {p.name for p in found}, slug
        assert {p.first for p in found} <= shown(excerpt, listing), slug
        assert changed_lines(broken, correct), slug


def test_no_changed_definition_stands_alone_where_another_fits() -> None:
    """Or the choice would give the place away."""
    for slug, bug in CATALOGUE.items():
        broken = read_text(bug.module)
        excerpt, _ = excerpt_of(bug.file, broken, touched(broken, read_text(bug.original)))
        room = MAX_EXCERPT - len(excerpt.lines) - 1
        left_out = [p for p in pieces(broken) if p.name and p.first not in shown(excerpt)]
        assert all(piece.size > room for piece in left_out), slug


# What comes out.

FORWARD = "def f(x):\n    a = 1\n    return a\n"


def test_a_statement_that_the_bug_took_from_the_end_is_looked_up_in_its_definition() -> None:
    long = "\n".join(["def g(x):", *["    a = 1"] * (MAX_EXCERPT - 2)])
    broken = f"{long}\n\n\ndef f(x):\n    a = 1\n\n\ndef h(x):\n    return 2\n"
    correct = broken.replace("    a = 1\n\n\ndef h", "    a = 1\n    return a\n\n\ndef h")
    assert [p.name for p in touched(broken, correct)] == ["f"]
    excerpt, listing = excerpt_of("any.py", broken, touched(broken, correct))
    assert "def f(x):" in printed(excerpt)
    assert "def g(x):" not in printed(excerpt)
    assert listing is None


def test_a_constant_is_a_place_of_its_own() -> None:
    broken = "LIMIT = 1\n\n\n" + FORWARD
    excerpt, listing = excerpt_of(
        "any.py", broken, touched(broken, broken.replace("= 1\n\n", "= 2\n\n", 1))
    )
    assert printed(excerpt)[0] == "LIMIT = 1"
    assert excerpt.whole
    assert listing is None


def test_an_import_that_the_repair_adds_is_not_what_the_sheet_must_show() -> None:
    broken = '"""About."""\n\n\n' + FORWARD
    correct = '"""About."""\n\nimport math\n\n\n' + FORWARD.replace("1", "math.pi")
    assert [p.name for p in touched(broken, correct) if p.name] == ["f"]


def test_forward_comes_before_backward_where_not_all_fits() -> None:
    def long(name: str) -> str:
        return "\n".join([f"def {name}(x):", *["    a = 1"] * 29])

    broken = f"{long('f_backward')}\n\n\n{long('f')}\n"
    correct = broken.replace("a = 1\n\n", "a = 2\n\n").replace("a = 1\n", "a = 2\n")
    excerpt, listing = excerpt_of("any.py", broken, touched(broken, correct))
    assert printed(excerpt)[0] == "def f(x):"
    assert listing is not None
    assert printed(listing)[0] == "def f_backward(x):"
    assert (excerpt.whole, listing.whole) == (False, False)


def test_a_definition_that_fits_no_page_is_shown_all_the_same() -> None:
    broken = "\n".join(["def f(x):", *["    a = 1"] * (MAX_LISTING + 20)]) + "\n"
    excerpt, listing = excerpt_of("any.py", broken, touched(broken, broken.replace("1", "2")))
    assert excerpt.lines == ()
    assert listing is not None
    assert len(listing.lines) == MAX_LISTING + 21


def test_a_comment_goes_with_what_it_stands_on() -> None:
    text = "a = 1\n\n# About f.\ndef f():\n    pass\n# About b.\nb = 2\n"
    assert [(p.name, p.first, p.last) for p in pieces(text)] == [
        ("", 1, 1),
        ("f", 3, 5),
        ("", 6, 7),
    ]


def test_definitions_without_an_empty_line_between_them_get_none() -> None:
    broken = "def f(): return 1\ndef g(): return 2\n"
    excerpt, _ = excerpt_of("any.py", broken, touched(broken, broken.replace("1", "3")))
    assert [(line.number, line.text) for line in excerpt.lines] == [
        (1, "def f(): return 1"),
        (2, "def g(): return 2"),
    ]


@pytest.mark.parametrize("sign", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_a_character_that_ends_no_line_of_python_ends_none_here(sign: str) -> None:
    text = f'TEXT = "a{sign}b"\n\n\n' + FORWARD
    assert [(p.name, p.first, p.last) for p in pieces(text)] == [("", 1, 1), ("f", 4, 6)]


def test_line_ends_of_windows_are_line_ends() -> None:
    assert pieces(FORWARD.replace("\n", "\r\n")) == pieces(FORWARD)
    assert lines_of("a\r\nb\rc\n") == ["a", "b", "c"]
    assert lines_of("") == []


def test_an_added_line_has_the_number_of_the_place_where_it_belongs() -> None:
    broken, correct = "a = 1\nb = 2\n", "a = 1\nc = 3\nb = 2\nd = 4\n"
    assert difference(broken, correct, context=0) == (
        DiffLine("+", 2, "c = 3"),
        DiffLine("+", 2, "d = 4"),
    )
    assert difference("a = 1\n", "a = 2\n") == (
        DiffLine("-", 1, "a = 1"),
        DiffLine("+", 1, "a = 2"),
    )
    assert difference(broken, broken) == ()
