"""Signs, how tightly they bind, and where the formatter puts spaces and quotes."""

import ast

BINARY: dict[type[ast.operator], tuple[str, int]] = {
    ast.BitOr: ("|", 8),
    ast.BitXor: ("^", 9),
    ast.BitAnd: ("&", 10),
    ast.LShift: ("<<", 11),
    ast.RShift: (">>", 11),
    ast.Add: ("+", 12),
    ast.Sub: ("-", 12),
    ast.Mult: ("*", 13),
    ast.Div: ("/", 13),
    ast.FloorDiv: ("//", 13),
    ast.Mod: ("%", 13),
    ast.MatMult: ("@", 13),
    ast.Pow: ("**", 15),
}
UNARY: dict[type[ast.unaryop], tuple[str, int]] = {
    ast.Not: ("not ", 6),
    ast.USub: ("-", 14),
    ast.UAdd: ("+", 14),
    ast.Invert: ("~", 14),
}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
TUPLE, NAMED, LAMBDA, TERNARY, OR, AND, NOT, COMPARISON, UNION = range(9)
SUM, PRODUCT, SIGN, POWER, AWAIT, ATOM = 12, 13, 14, 15, 16, 17


def quoted(value: str, quote: str = '"', force: bool = False) -> str:
    """A text as a literal, in the quotes that need fewer escapes."""
    other = "'" if quote == '"' else '"'
    if not force and quote in value and value.count(quote) > value.count(other):
        quote = other
    body = "".join(_escaped(c) for c in value).replace(quote, "\\" + quote)
    return f"{quote}{body}{quote}"


_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if character.isprintable() else ascii(character)[1:-1]


def simple(node: ast.expr) -> bool:
    """What the formatter calls simple in a slice: no spaces around its colon."""
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return simple(node.operand)
    return isinstance(node, ast.Name | ast.Constant)


def hugs(node: ast.expr) -> bool:
    """What the formatter calls simple around `**`: no spaces."""
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return hugs(node.operand)
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name | ast.Attribute) and hugs(node.value)
    return isinstance(node, ast.Name) or (
        isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex)
    )
