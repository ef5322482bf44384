"""Intermediate names: given to a part of an expression, or taken away again."""

import ast

from ..evaluation import first_evaluated
from ..facts import bindings_in
from ..marks import at, binding_of, changed, comments_of, known_of, nodes, trailing_of
from ..scopes import Role
from .base import Context, Replacement, assign, block_rewrite, read
from .order import returned

HINTS = {
    "np.exp": ("powers", "raised", "exps"),
    "np.sum": ("total", "added", "sums"),
    "np.max": ("peak", "largest", "top"),
    "np.mean": ("average", "centre"),
    "np.sqrt": ("root", "square_root"),
    "np.swapaxes": ("turned", "flipped", "t_last"),
    "np.where": ("visible", "filled", "masked_in"),
    "np.tanh": ("squashed", "bent"),
    "np.arange": ("counted", "indices"),
    "np.concatenate": ("joined", "together"),
    "np.ones": ("ones", "ones_like_it"),
    "np.cos": ("cosine", "across"),
    "np.sin": ("sine", "along"),
    "np.zeros": ("zeros", "nothing_yet"),
    "math.sqrt": ("root", "divisor", "scale"),
}
GENERAL = (
    "inner_part", "left_part", "partial", "piece_of_it", "interim", "halfway_value", "inside",
    "core", "tmp", "intermediate", "first_part", "base_value", "ready", "raw_value", "mixed_in",
)  # fmt: skip


def _hints(node: ast.expr, context: Context) -> list[str]:
    if isinstance(node, ast.Call):
        known = known_of(node.func)
        if known in HINTS:
            return context.dice.shuffled(HINTS[known])
    if isinstance(node, ast.BinOp):
        names: dict[type[ast.operator], tuple[str, ...]] = {
            ast.MatMult: ("product", "dot", "multiplied"),
            ast.Mult: ("scaled_part", "product", "times"),
            ast.Add: ("sum_of_both", "both", "added"),
            ast.Sub: ("difference", "gap", "less"),
            ast.Div: ("quotient", "ratio_of", "divided"),
        }
        if type(node.op) in names:
            return context.dice.shuffled(names[type(node.op)])
    return context.dice.shuffled(GENERAL)


def candidates(value: ast.expr) -> list[ast.expr]:
    """Parts of a value that may be computed on a line of their own just before it."""
    found: list[ast.expr] = []
    stack: list[ast.AST] = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Lambda | ast.JoinedStr | ast.GeneratorExp | ast.ListComp):
            continue
        if isinstance(node, ast.DictComp | ast.SetComp):
            continue
        stack.extend(ast.iter_child_nodes(node))
        if node is value or not isinstance(node, ast.Call | ast.BinOp | ast.IfExp):
            continue
        if first_evaluated(value, node):
            found.append(node)
    return found


def hoisted(statement: ast.stmt, part: ast.expr, context: Context) -> list[ast.stmt]:
    """The part under a name, then the statement with the name."""
    hints = _hints(part, context)
    binding = context.name(*hints, array=context.facts.is_array(part))
    value = statement.__dict__["value"]
    new = changed(statement, value=replaced(value, part, read(binding, part)))
    return [assign(binding, part, part), new]


def replaced(node: ast.expr, part: ast.expr, by: ast.expr) -> ast.expr:
    """The expression with another part in one place."""
    if node is part:
        return by
    fields: dict[str, object] = {}
    for name in node._fields:
        value = node.__dict__.get(name)
        if isinstance(value, list):
            new = [_inside(v, part, by) for v in value]
            if any(a is not b for a, b in zip(new, value, strict=True)):
                fields[name] = new
        elif isinstance(value, ast.AST):
            other = _inside(value, part, by)
            if other is not value:
                fields[name] = other
    return changed(node, **fields) if fields else node


def _inside(node: object, part: ast.expr, by: ast.expr) -> object:
    if isinstance(node, ast.keyword):
        value = replaced(node.value, part, by)
        return node if value is node.value else changed(node, value=value)
    return replaced(node, part, by) if isinstance(node, ast.expr) else node


@block_rewrite(
    ast.Return,
    ast.Assign,
    examples=[
        ("return (a - b) * c", "difference = a - b\nreturn difference * c"),
        ("n = g(a + b, c)\nreturn n", "both = a + b\nn = g(both, c)\nreturn n"),
    ],
    never=["return a - b", "return g(a) if flag else b", "return (lambda: a + b)", "return a, b"],
    odds=30,
)
def name_introduced(block: list[ast.stmt], i: int, context: Context) -> Replacement:
    """A part of a value gets a name of its own."""
    node = block[i]
    if not isinstance(node, ast.Return | ast.Assign) or node.value is None:
        return None
    if isinstance(node, ast.Assign) and not all(_plain(target) for target in node.targets):
        return None
    parts = candidates(node.value)
    if not parts:
        return None
    return 1, hoisted(node, context.dice.choose(parts), context)


def _plain(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple):
        return all(map(_plain, target.elts))
    return isinstance(target, ast.Name)


@block_rewrite(
    ast.Assign,
    examples=[("left = a - b\nreturn left * c", "return (a - b) * c")],
    never=[
        "left = a - b\nreturn left * left",
        "left = g(a)\nreturn g(b) * left",
        "left = a - b\nm = 1\nreturn left * m",
        "left = a - b\nreturn [left for x in things]",
    ],
    odds=25,
)
def name_folded(block: list[ast.stmt], i: int, context: Context) -> Replacement:
    """A name that is used once, on the next line, is left out."""
    match block[i : i + 2]:
        case [
            ast.Assign(targets=[ast.Name() as target], value=value) as first,
            (ast.Return() | ast.Assign()) as second,
        ]:
            pass
        case _:
            return None
    binding = binding_of(target)
    if binding is None or binding.pinned or binding.role is not Role.LOCAL or second.value is None:
        return None
    facts = context.facts
    if facts.reads.get(binding) != 1 or facts.writes.get(binding) != 1:
        return None
    if comments_of(second) or trailing_of(first) or trailing_of(second):
        return None
    uses = [n for n in nodes(second.value) if binding_of(n) is binding]
    if len(uses) != 1 or second.value is uses[0] or not isinstance(uses[0], ast.expr):
        return None
    if isinstance(second, ast.Assign) and not all(_plain(t) for t in second.targets):
        return None
    if binding in bindings_in(block[i + 2 :]):
        return None
    if not (first_evaluated(second.value, uses[0]) or _patient(value, second, uses[0])):
        return None
    return 2, [changed(second, value=replaced(second.value, uses[0], value))]


def _patient(value: ast.expr, second: ast.stmt, use: ast.AST) -> bool:
    """Whether the value is just a name or a number; the use must still be evaluated once."""
    del second, use
    return isinstance(value, ast.Constant)


@block_rewrite(
    ast.Assign,
    examples=[("n, m = g(a), g(b)\nreturn n", "n = g(a)\nm = g(b)\nreturn n")],
    never=["n, m = m, n\nreturn n", "n, m = things\nreturn n", "n, m = a, g(n)\nreturn n"],
    odds=45,
)
def apart(block: list[ast.stmt], i: int, context: Context) -> Replacement:
    """Two assignments in one line as two."""
    match block[i]:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            pass
        case _:
            return None
    if len(targets) != len(values) or not all(isinstance(t, ast.Name) for t in targets):
        return None
    if any(isinstance(v, ast.Starred) for v in values):
        return None
    if bindings_in(targets) & context.facts.captured or returned(targets[-1], block[i + 1 :]):
        return None
    for k in range(1, len(values)):
        if bindings_in(targets[:k]) & bindings_in(values[k:]):
            return None
    return 1, [
        at(ast.Assign([target], value), value)
        for target, value in zip(targets, values, strict=True)
    ]


@block_rewrite(
    ast.Assign,
    examples=[("n = g(a)\nm = g(b)\nreturn n", "n, m = g(a), g(b)\nreturn n")],
    never=["n = g(a)\nm = g(n)\nreturn m", "n = 1\nn = 2\nreturn n", "n = m = 1\nreturn n"],
    odds=20,
)
def side_by_side(block: list[ast.stmt], i: int, context: Context) -> Replacement:
    """Two short assignments in one line."""
    match block[i : i + 2]:
        case [
            ast.Assign(targets=[ast.Name() as one], value=first),
            ast.Assign(targets=[ast.Name() as other], value=second) as later,
        ]:
            pass
        case _:
            return None
    if comments_of(later) or trailing_of(later) or trailing_of(block[i]):
        return None
    if bindings_in([one, other]) & context.facts.captured:
        return None
    if bindings_in([one]) & bindings_in([second, other]) or _long(first) or _long(second):
        return None
    left = at(ast.Tuple([one, other], ast.Store()), one)
    right = at(ast.Tuple([first, second], ast.Load()), first)
    return 2, [at(ast.Assign([left], right), block[i])]


def _long(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.Lambda | ast.IfExp | ast.ListComp | ast.DictComp):
        return True
    return sum(1 for _ in nodes(node)) > 24
