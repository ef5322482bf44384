"""What can be told of an expression without running it: is it an array, may it wait its turn."""

import ast
from collections.abc import Callable, Iterable, Sequence

from .marks import binding_of, known_of
from .scopes import Binding

Returns = Callable[[Binding], "tuple[bool, ...]"]
"""Of a function: one entry if it returns one value, more for a tuple; whether each is an array."""

MAKERS = frozenset(
    f"np.{name}"
    for name in (
        "abs arange argsort asarray ascontiguousarray broadcast_to clip concatenate copy cos cumsum"
        " einsum empty empty_like exp expand_dims full full_like log logical_not matmul max maximum"
        " mean min minimum moveaxis multiply negative ones ones_like outer repeat reshape sin split"
        " sqrt square stack subtract sum swapaxes take_along_axis tanh tensordot tile transpose tril"
        " triu var where zeros zeros_like add divide array argmax all any std"
    ).split()
)
"""Functions of NumPy that return arrays (or scalars, which have the same methods)."""

METHODS = frozenset(
    "all any argmax astype copy cumsum max mean min ravel repeat reshape squeeze std sum swapaxes"
    " transpose var".split()
)
"""Methods of arrays that return arrays and change nothing."""

CALM = MAKERS | {"np.issubdtype", "np.size", "np.ndim", "np.array_equal", "np.finfo"}
CALM_BUILTINS = frozenset("abs bool float int isinstance len max min range round slice tuple".split())
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
            for node in ast.walk(statement):
                self._collect(node, values)
        self.captured = set[Binding]().union(*map(_free, body))
        for _ in range(3):
            for binding, found in values.items():
                if all(v if isinstance(v, bool) else self.is_array(v) for v in found):
                    self.arrays.add(binding)
        for binding, found in values.items():
            if all(not isinstance(v, bool) and is_number(v) for v in found):
                self.numbers.add(binding)

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

    def calm(self, *nodes: ast.AST) -> bool:
        """Whether nothing is changed by evaluating it and nothing else can change it meanwhile,
        so that it may be evaluated earlier, later, or twice."""
        return all(self._calm(node) for root in nodes for node in ast.walk(root))

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
    for node in ast.walk(root):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            inside = list(ast.walk(node))
            bound = {binding_of(n) for n in inside if isinstance(n, ast.arg | ast.FunctionDef)}
            bound |= {
                binding_of(n)
                for n in inside
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
            found |= bindings_in(inside[1:]) - {b for b in bound if b is not None}
    return found


def atomic(node: ast.AST) -> bool:
    """A name or a number: it is the same before and after anything else is evaluated."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Name | ast.Constant)


def is_number(node: ast.AST) -> bool:
    """A number written out."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return is_number(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def is_extent(node: ast.AST) -> bool:
    """The length of an axis: `x.shape[0]`, a whole number of Python."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "shape"
        and is_number(node.slice)
    )


def kinds_returned(function: ast.FunctionDef | None) -> tuple[bool, ...]:
    """Of what a function says that it returns, what is an array."""
    note = function.returns if function else None
    if note is None:
        return ()
    if isinstance(note, ast.Subscript) and isinstance(note.slice, ast.Tuple):
        if isinstance(note.value, ast.Name) and note.value.id == "tuple":
            return tuple(known_of(part) == "np.ndarray" for part in note.slice.elts)
    return (known_of(note) == "np.ndarray",)


def bindings_in(nodes: Iterable[ast.AST]) -> set[Binding]:
    """Every binding whose name stands somewhere in there."""
    return {b for node in nodes for n in ast.walk(node) if (b := binding_of(n)) is not None}


def first_evaluated(statement: ast.expr, wanted: ast.expr, facts: Facts) -> bool:
    """Whether nothing that could matter is evaluated in an expression before a part of it."""
    path = _path_to(statement, wanted)
    if path is None:
        return False
    for node, child in zip(path, path[1:], strict=False):
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp):
            return False
        if isinstance(node, ast.GeneratorExp | ast.IfExp | ast.BoolOp | ast.JoinedStr | ast.Dict):
            return False
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            return False
        for sibling in ast.iter_child_nodes(node):
            if sibling is child:
                break
            if isinstance(sibling, ast.expr) and not _steady(sibling, facts):
                return False
            if isinstance(sibling, ast.keyword) and not _steady(sibling.value, facts):
                return False
    return True


def _steady(node: ast.AST, facts: Facts) -> bool:
    """Whether it may be evaluated after something unknown: names and numbers, a library's names."""
    if isinstance(node, ast.Attribute):
        return bool(known_of(node)) or (node.attr in METHODS and isinstance(node.value, ast.Name))
    if isinstance(node, ast.Starred):
        return False
    return atomic(node)


def _path_to(node: ast.AST, wanted: ast.AST) -> list[ast.AST] | None:
    if node is wanted:
        return [node]
    for child in ast.iter_child_nodes(node):
        path = _path_to(child, wanted)
        if path is not None:
            return [node, *path]
    return None

