"""Code that is read and written again is what the formatter makes of it."""

import textwrap
from collections.abc import Mapping

import pytest

from bugkit.disguise.expressions import PLAIN
from bugkit.disguise.layout import Unfit
from bugkit.disguise.modules import write_unit
from bugkit.disguise.source import read_source

KEPT = {
    "signs": "x = -(a + b) * c**2 - a ** (b + 1) // (c % d)\n",
    "comparisons": "x = not a < b <= c and (d is not None or e not in f)\n",
    "or of and": "x = (a and b) or c\n",
    "choice": 'x = a if b else (c if d else e, "two")\n',
    "slices": "x = a[..., : b * 2] + a[1:, ::-1] + a[:, None, -c:] + a[b : b + 1, 0]\n",
    "calls": "x = f(*a, b, key=1, **c)(d)[0].e(lambda g, h=1: g + h)\n",
    "texts": 'x = f"{a!r}: {b:.3f} of {\', \'.join(c)} {{}}" + \'say "no"\' + "\\n"\n',
    "numbers": "x = 1e-5 + 10_000.0 + 0x1F + 2j\n",
    "collections": "x = [{**a, 'b': 1}, {1, 2}, (3,), (), [*c]]\n".replace("'", '"'),
    "comprehensions": "x = {a: [b for b in c if b] for a in sorted(d for d in e)}\n",
    "yields": "x = yield a\nyield from b\n",
    "assignments": "x = y = 1\nx += 2\nz: int = 3\ndel x\n(a, b), *c = d\n",
    "branches": "if a:\n    pass\nelif b:\n    return 1\nelse:\n    raise A(b) from None\n",
    "loops": "for a, b in c:\n    if a:\n        continue\n    break\nelse:\n    x = 1\n"
    "while True:\n    x -= 1\n",
    "with": "with a.b() as c, d:\n    x = 1\n",
    "try": "try:\n    x = 1\nexcept (A, B) as error:\n    raise\nfinally:\n    x = 2\n",
    "comments": "# Above.\nx = 1  # beside\n\n# After a blank line.\nx = 2\n",
    "inner": "x = 1\n\ndef g(a, /, b=2, *, c: int = 3, **d):\n    return a\n\nreturn g\n",
    "call over lines": """\
x = causal_self_attention_of_everything(
    normed_and_more, parameters, configuration, masks_of_weights, past_tokens
)
""",
    "arguments over lines": """\
x = causal_self_attention(
    some_argument_that_is_rather_long_0,
    some_argument_that_is_rather_long_1,
    some_argument_that_is_rather_long_2,
)
""",
    "list over lines": """\
x = [
    "a text that is rather long, 0",
    "a text that is rather long, 1",
    "a text that is rather long, 2",
    "a text that is rather long, 3",
]
""",
    "product over a line": """\
the_result = (
    first_of_many_names * second_of_many_names * third_of_many_names * fourth_of_many_names
)
""",
    "product over lines": """\
x = (
    first_of_the_many_names
    * second_of_the_many_names
    * third_of_the_many_names
    * fourth_of_the_many_names
)
""",
    "one operator and a call": """\
x = first_of_the_many_names + second_of_the_many_names(
    third_of_the_many_names, fourth_of_the_many_names
)
""",
    "long text": """\
raise ValueError(
    f"the first part of a message that is {too} long for a line, and so it goes "
    f"incomprehensibly on, with {more} of it"
)
""",
    "long comprehension": """\
x = [
    function_with_a_long_name(element, another, third)
    for element, another, third in sequence_with_a_long_name
    if element
]
""",
}


def _again(code: str) -> str:
    body = textwrap.indent(code, "    ")
    source = read_source("code.py", f"def f():\n{body}")
    (unit,) = source.units
    lines = write_unit("code", unit, PLAIN).lines
    return textwrap.dedent("\n".join(lines[1:])) + "\n"


@pytest.mark.parametrize("code", KEPT.values(), ids=KEPT)
def test_code_as_the_formatter_leaves_it_is_not_changed(code: str) -> None:
    assert _again(code) == code


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Says 'no'.", '"""Says \'no\'."""'),
        ('Says "no"', '"""Says "no" """'),
        ('Quotes """ in it.', '"""Quotes \'\'\' in it."""'),
        ("A \\alpha.", 'r"""A \\alpha."""'),
    ],
)
def test_a_docstring_does_not_end_too_soon(text: str, written: str) -> None:
    assert _again(f"{text!r}\nx = 1\n") == f"{written}\nx = 1\n"


def test_a_paragraph_with_a_line_too_long_is_set_anew_and_nothing_else_is() -> None:
    text = """\
The first line says it.

A line of the second paragraph that a longer name has made too long for it, incomprehensibilities
now and then so that its
rest is a part of it.
- a list is not"""
    lines = _again(f'"""{text}\n"""\n# {"word " * 25}\n# more\n# - a list\nx = 1\n').split("\n")
    assert lines[:7] == [
        '"""The first line says it.',
        "",
        "A line of the second paragraph that a longer name has made too long for it,",
        "incomprehensibilities now and then so that its rest is a part of it.",
        "- a list is not",
        '"""',
        "# word" + " word" * 18,
    ]
    assert lines[7:] == ["# word word word word word word more", "# - a list", "x = 1", ""]


def test_a_break_that_is_not_certain_is_refused() -> None:
    chain = ".".join(f"method_with_a_long_name_{i}(argument)" for i in range(5))
    with pytest.raises(Unfit):
        _again(f"x = value.{chain}\n")


def test_the_public_gpt_is_not_changed_but_for_commas_that_force_a_break(
    correct: Mapping[str, str],
) -> None:
    whole = 0
    for file, text in correct.items():
        if file == "__init__.py":
            continue
        for unit in read_source(file, text).units:
            written = "\n".join(write_unit(file, unit, PLAIN).lines)
            whole += written in text
    units = sum(len(read_source(f, t).units) for f, t in correct.items() if f != "__init__.py")
    assert whole >= units - 8


def test_no_line_forgets_where_it_comes_from(correct: Mapping[str, str]) -> None:
    text = correct["norm.py"]
    lines = text.splitlines()
    for unit in read_source("norm.py", text).units:
        written = write_unit("norm", unit, PLAIN)
        for line, origin in zip(written.lines, written.origins, strict=True):
            if line.strip().startswith(("return", "mean", "spread", "grads")):
                assert line in {lines[n - 1] for n in origin}
