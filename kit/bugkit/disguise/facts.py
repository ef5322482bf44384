"""What can be told of an expression without running it: is it an array, may it wait its turn."""

import ast
import copy
from collections.abc import Callable, Iterable, Sequence

from .evaluation import atomic, is_number
from .library import CALM, CALM_BUILTINS, MAKERS, METHODS
from .marks import binding_of, known_of, nodes
from .scopes import Binding

Returns = Callable[[Binding], "tuple[bool, ...]"]
"""Of a function: one entry if it returns one value, more for a tuple; whether each is an array."""

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)


class Facts:
    """Of one definition."""

    def __init__(self, body: Sequence[ast.stmt], returns: Returns) -> None:
        self.returns = returns
        self.arrays: set[Binding] = set()
        self.numbers: set[Binding] = set()
        self.reads: dict[Binding, int] = {}
        self.writes: dict[Binding, int] = {}
        values: dict[Binding, list[ast.expr | bool]] = {}
        for statement in body:
            for node in nodes(statement):
                self._collect(node, values)
        self.captured = set[Binding]().union(*map(_free, body))
        for _ in range(3):
            for binding, found in values.items():
                if all(v if isinstance(v, bool) else self.is_array(v) for v in found):
                    self.arrays.add(binding)
        for binding, found in values.items():
            if all(not isinstance(v, bool) and is_number(v) for v in found):
                self.numbers.add(binding)

    def copy(self) -> "Facts":
        """For one disguise, which adds names of its own."""
        new = copy.copy(self)
        new.arrays = set(self.arrays)
        return new

    def _collect(self, node: ast.AST, values: dict[Binding, list[ast.expr | bool]]) -> None:
        if isinstance(node, ast.arg):
            binding = binding_of(node)
            if binding is not None:
                note = node.annotation
                array = note is not None and known_of(note) == "np.ndarray"
                values.setdefault(binding, []).append(array)
        elif isinstance(node, ast.Name):
            binding = binding_of(node)
            if binding is not None:
                counts = self.reads if isinstance(node.ctx, ast.Load) else self.writes
                counts[binding] = counts.get(binding, 0) + 1
                if isinstance(node.ctx, ast.Store) and not node.__dict__.get("assigned"):
                    values.setdefault(binding, [])
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._assigned(target, node.value, values)
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            if isinstance(node, ast.AnnAssign) or isinstance(node.target, ast.Name):
                self._assigned(node.target, None, values, augmented=isinstance(node, ast.AugAssign))
        elif isinstance(node, ast.For | ast.comprehension):
            self._assigned(node.target, None, values)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._assigned(node.optional_vars, None, values)
        elif isinstance(node, ast.NamedExpr):
            self._assigned(node.target, None, values)

    def _assigned(
        self,
        target: ast.expr,
        value: ast.expr | None,
        values: dict[Binding, list[ast.expr | bool]],
        augmented: bool = False,
    ) -> None:
        if isinstance(target, ast.Name):
            binding = binding_of(target)
            if binding is not None and not augmented:
                values.setdefault(binding, []).append(False if value is None else value)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = self._parts(value, len(target.elts))
            for element, part in zip(target.elts, parts, strict=True):
                inner = element.value if isinstance(element, ast.Starred) else element
                binding = binding_of(inner) if isinstance(inner, ast.Name) else None
                if binding is not None:
                    values.setdefault(binding, []).append(part)
                elif not isinstance(inner, ast.Name):
                    self._assigned(inner, None, values)

    def _parts(self, value: ast.expr | None, count: int) -> Sequence[ast.expr | bool]:
        if isinstance(value, ast.Tuple) and len(value.elts) == count:
            return value.elts
        if isinstance(value, ast.Call):
            if known_of(value.func) == "np.split":
                return [True] * count
            binding = binding_of(value.func)
            if binding is not None and len(found := self.returns(binding)) == count:
                return found
        return [False] * count

    def is_array(self, node: ast.AST) -> bool:
        """An array, or a scalar of NumPy; not what may be a list or a number of Python."""
        match node:
            case ast.Name():
                return binding_of(node) in self.arrays
            case ast.Call(func=function):
                if known_of(function) in MAKERS:
                    return True
                if isinstance(function, ast.Attribute) and function.attr in METHODS:
                    return self.is_array(function.value)
                binding = binding_of(function)
                return binding is not None and self.returns(binding) == (True,)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, ARITHMETIC):
                return self.is_array(left) or self.is_array(right)
            case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=operand):
                return self.is_array(operand)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                kinds = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
                return isinstance(op, kinds) and (self.is_array(left) or self.is_array(right))
            case ast.IfExp(body=body, orelse=other):
                return self.is_array(body) and self.is_array(other)
            case ast.Subscript(value=value):
                return self.is_array(value)
            case ast.Attribute(value=value, attr="T"):
                return self.is_array(value)
        return False

    def calm(self, *roots: ast.AST) -> bool:
        """Whether nothing is changed by evaluating it and nothing else can change it meanwhile,
        so that it may be evaluated earlier, later, or twice."""
        return all(self._calm(node) for root in roots for node in nodes(root))

    def _calm(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await | ast.NamedExpr):
            return False
        if not isinstance(node, ast.Call):
            return True
        known = known_of(node.func)
        if known in CALM or known.startswith("math."):
            return all(k.arg != "out" for k in node.keywords)
        if isinstance(node.func, ast.Name) and binding_of(node.func) is None:
            return node.func.id in CALM_BUILTINS
        method = isinstance(node.func, ast.Attribute) and node.func.attr in METHODS
        return method and isinstance(node.func, ast.Attribute) and self.is_array(node.func.value)

    def exchangeable(self, one: ast.AST, other: ast.AST) -> bool:
        """Whether two expressions may be evaluated in either order."""
        return atomic(one) or atomic(other) or self.calm(one, other)


def _free(root: ast.AST) -> set[Binding]:
    """What functions inside of others take from around them: it may be read at any call."""
    found: set[Binding] = set()
    for node in nodes(root):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            inside = list(nodes(node))
            bound = {binding_of(n) for n in inside if isinstance(n, ast.arg | ast.FunctionDef)}
            bound |= {
                binding_of(n)
                for n in inside
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
            found |= {b for n in inside if (b := binding_of(n)) is not None and b not in bound}
    return found


def kinds_returned(function: ast.FunctionDef | None) -> tuple[bool, ...]:
    """Of what a function says that it returns, what is an array."""
    note = function.returns if function else None
    if note is None:
        return ()
    match note:
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=parts)):
            return tuple(known_of(part) == "np.ndarray" for part in parts)
    return (known_of(note) == "np.ndarray",)


def bindings_in(roots: Iterable[ast.AST]) -> set[Binding]:
    """Every binding whose name stands somewhere in there."""
    return {b for root in roots for n in nodes(root) if (b := binding_of(n)) is not None}
