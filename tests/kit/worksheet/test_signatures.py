"""The table of shapes: no row is empty or cut off."""

from dataclasses import replace

import pytest

from bugkit.catalogue import load_catalogue
from bugkit.files import read_text
from bugkit.worksheet.edition import Edition, public
from bugkit.worksheet.excerpt import excerpt_of, lines_of, pieces, touched
from bugkit.worksheet.model import Line, Listing, Signature
from bugkit.worksheet.signatures import MAX_ROWS, MIN_ROWS, signatures
from bugkit.worksheet.words import paragraph, plain

CATALOGUE = load_catalogue()


def rows(source: str, lines: range | None = None, *needed: str) -> tuple[Signature, ...]:
    """Rows for a file of which all, or these lines, are shown."""
    text = lines_of(source)
    shown = range(1, len(text) + 1) if lines is None else lines
    edition = edition_of(source, *needed)
    return signatures(edition, Listing("any.py", tuple(Line(n, text[n - 1]) for n in shown), True))


def edition_of(source: str, *needed: str) -> Edition:
    """Of a program that is this file; the hunt needs these functions."""
    found = tuple(piece for piece in pieces(source) if piece.name in needed)
    edition = public(CATALOGUE["scores_not_scaled"])
    return replace(edition, file="any.py", files={"any.py": source}, needed=found)


def row(source: str) -> Signature:
    (only,) = rows(source)
    return only


def test_no_sheet_of_the_catalogue_has_an_empty_cell() -> None:
    for slug, bug in CATALOGUE.items():
        broken = read_text(bug.module)
        excerpt, listing = excerpt_of(bug.file, broken, touched(broken, read_text(bug.original)))
        found = signatures(public(bug), excerpt, *([listing] if listing else []))
        assert 1 <= len(found) <= MAX_ROWS, slug
        for each in found:
            what = plain(each.what)
            assert each.takes, slug
            assert each.gives, slug
            assert "[" not in what, slug
            assert what.endswith("."), slug
            assert each.gives.count("[") == each.gives.count("]"), slug


def test_shapes_in_the_head_are_read_with_all_that_follows() -> None:
    source = (
        "def loss(params, x):  # [B, T], [B] -> one number, tree like params\n"
        '    """The loss.\n\n    More of it.\n    """\n'
    )
    assert row(source) == Signature(
        "loss", "[B, T], [B]", "one number, tree like params", paragraph("The loss."), True
    )


def test_shapes_in_the_docstring_are_taken_out_of_it() -> None:
    source = 'def f(x):\n    """Turn every token, [B, T] -> [B, T].\n\n    Also nothing."""\n'
    assert row(source) == Signature("f", "[B, T]", "[B, T]", paragraph("Turn every token."), True)


def test_a_head_of_several_lines_is_read_to_its_end() -> None:
    source = "def f(\n    x, y\n):  # [..., N], [N] -> twice [B, K], [V]\n    return x\n"
    assert row(source) == Signature("f", "[..., N], [N]", "twice [B, K], [V]", (), True)


def test_a_function_of_one_line_is_read_too() -> None:
    source = "def f(x): return x  # [T] -> [T]\n"
    assert (row(source).takes, row(source).gives) == ("[T]", "[T]")


def test_arguments_are_named_where_only_the_result_has_a_shape() -> None:
    source = "def future(T: int, S: int) -> np.ndarray:  # -> [T, S]\n    return T\n"
    assert (row(source).takes, row(source).gives, row(source).shaped) == ("T, S", "[T, S]", True)


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        ("np.ndarray", "array"),
        ("np.ndarray | None", "array | nothing"),
        ("None", "nothing"),
        ("float", "number"),
        ("int", "number"),
        ("str", "text"),
        ("Any", "value"),
        ("list[float]", "numbers"),
        ("dict[str, Any]", "tree"),
        ("dict[str, np.ndarray]", "tree"),
        ("list[dict[str, Any]]", "list[tree]"),
        ("tuple[dict[str, Any], list[float]]", "tree, numbers"),
        ("tuple[dict[str, Any], GPTConfig]", "tree, GPTConfig"),
        ("Iterator[tuple[str, tuple[int, ...]]]", "text, numbers, one after another"),
        ("Callable[[int], float]", "function"),
    ],
)
def test_without_shapes_the_kind_of_the_result_is_told_in_words(
    annotation: str, words: str
) -> None:
    found = row(f"def f(a) -> {annotation}:\n    return a\n")
    assert (found.takes, found.gives, found.shaped) == ("a", words, False)


def test_arguments_that_are_not_named_are_dots() -> None:
    assert row("def f(a, b, /, c):\n    return a\n").takes == "a, b, c"
    assert row("def f(a, b, c, d):\n    return a\n").takes == "a, b, c, ..."
    assert row("def f(a, *, b):\n    return a\n").takes == "a, b"
    assert row("def f():\n    return 1\n").takes == ""


def test_what_the_docstring_says_stays_as_it_is_if_no_shape_is_in_it() -> None:
    source = 'def f(x):  # [T] -> [T]\n    """Turn 1, 2, ..."""\n'
    assert plain(row(source).what) == "Turn 1, 2, ..."
    assert row("def f(x):\n    return x\n").what == ()


def test_only_functions_that_are_shown_have_a_row() -> None:
    source = "def f(x):\n    return x\n\n\ndef g(x):\n    return x\n"
    assert [each.name for each in rows(source, range(5, 7))] == ["g"]
    parted = Listing("any.py", (Line(1, ""), Line(5, "def g(x):"), Line(6, "    return x")), False)
    assert [each.name for each in signatures(edition_of(source), parted)] == ["g"]


def test_backward_passes_have_rows_only_where_there_is_nothing_else() -> None:
    backward = "def f_backward(d):  # [T] -> [T]\n    return d\n"
    assert [each.name for each in rows(backward)] == ["f_backward"]
    both = backward + "\n\ndef f(x):  # [T] -> [T]\n    return x\n"
    assert [each.name for each in rows(both)] == ["f"]


def test_functions_with_shapes_come_before_all_others_and_no_more_than_fit() -> None:
    others = "".join(f"def g{i}(x):\n    return x\n" for i in range(MIN_ROWS))
    one = others + "def f(x): return x  # [T] -> [T]\n"
    assert [each.name for each in rows(one)] == ["g0", "g1", "f"]
    assert [each.name for each in rows(one, None, "g2")] == ["g0", "g2", "f"]
    many = "".join(f"def f{i}(x): return x  # [T] -> [T]\n" for i in range(MAX_ROWS + 1))
    assert [each.name for each in rows(many)] == [f"f{i}" for i in range(MAX_ROWS)]
    assert [each.name for each in rows(others + many)] == [f"f{i}" for i in range(MAX_ROWS)]


def test_a_copy_that_says_less_is_described_as_the_original_is() -> None:
    original = 'def f(x, y):  # [T], [T] -> [T]\n    """The sum, by `g`."""\n'
    edition = replace(
        edition_of("def total(a, b):\n    return a + b\n"),
        originals={"total": original},
        wording=lambda text: text.replace("`g`", "`h`"),
    )
    shown = Listing("any.py", (Line(1, "def total(a, b):"),), True)
    (found,) = signatures(edition, shown)
    assert found == Signature("total", "[T], [T]", "[T]", paragraph("The sum, by `h`."), True)
