"""Expressions on one line, as the formatter of the project writes them."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..problems import Problem
from .marks import binding_of, in_parentheses, literal_of
from .scopes import Binding
from .spelling import (
    AND,
    ATOM,
    AWAIT,
    BINARY,
    COMPARE,
    COMPARISON,
    LAMBDA,
    NAMED,
    NOT,
    OR,
    SIGN,
    TERNARY,
    TUPLE,
    UNARY,
    UNION,
    hugs,
    quoted,
    simple,
)


@dataclass(frozen=True, slots=True)
class Naming:
    """What everything is called."""

    of: Mapping[Binding, str]
    arguments: Mapping[Binding, Mapping[str, str]] = field(default_factory=dict)
    """For a function, its parameters by their old names."""


PLAIN = Naming({})
"""Everything as it is."""


class Expressions:
    """Writes expressions; keeps which names and which lines of the original it met."""

    def __init__(self, names: Naming) -> None:
        self.names = names
        self.used: set[Binding] = set()
        self.seen: set[int] = set()
        self._quote = '"'

    def name(self, node: ast.AST, otherwise: str) -> str:
        """What a name is called now."""
        self.seen.add(node.__dict__.get("lineno", 0))
        binding = binding_of(node)
        if binding is None:
            return otherwise
        self.used.add(binding)
        return self.names.of.get(binding, binding.name)

    def flat(self, node: ast.expr, least: int = NAMED) -> str:
        """On one line; in parentheses if it binds less than `least`."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            kind = type(node).__name__
            raise Problem(f"line {getattr(node, 'lineno', 0)}: a disguise cannot write {kind}")
        text: str
        binds: int
        text, binds = method(node)
        return f"({text})" if binds < least else text

    def listed(self, nodes: Sequence[ast.expr]) -> str:
        return ", ".join([self.flat(node) for node in nodes])

    def _name(self, node: ast.Name) -> tuple[str, int]:
        return self.name(node, node.id), ATOM

    def _constant(self, node: ast.Constant) -> tuple[str, int]:
        self.seen.add(node.lineno)
        if isinstance(node.value, str):
            return quoted(node.value, self._quote), ATOM
        if node.value is ...:
            return "...", ATOM
        return literal_of(node) or repr(node.value).replace("'", '"'), ATOM

    def _joinedstr(self, node: ast.JoinedStr) -> tuple[str, int]:
        return self.text_of(node.values), ATOM

    def text_of(self, parts: Sequence[ast.expr]) -> str:
        """The parts of a formatted text as one literal."""
        quote, self._quote = self._quote, "'"
        inside = "".join([self._part(part) for part in parts])
        self._quote = quote
        formatted = any(isinstance(part, ast.FormattedValue) for part in parts)
        if not formatted:
            whole = "".join(str(p.value) for p in parts if isinstance(p, ast.Constant))
            return quoted(whole, quote)
        return f"f{quote}{inside}{quote}"

    def _part(self, part: ast.expr) -> str:
        if isinstance(part, ast.Constant):
            self.seen.add(part.lineno)
            body = quoted(str(part.value), '"', force=True)[1:-1]
            return body.replace("{", "{{").replace("}", "}}")
        if not isinstance(part, ast.FormattedValue):
            raise Problem("a disguise cannot write this formatted text")
        conversion = f"!{chr(part.conversion)}" if part.conversion >= 0 else ""
        spec = ""
        if isinstance(part.format_spec, ast.JoinedStr):
            spec = ":" + "".join([self._part(p) for p in part.format_spec.values])
        inner = self.flat(part.value, TERNARY)
        return "{" + (" " if inner.startswith("{") else "") + inner + conversion + spec + "}"

    def _attribute(self, node: ast.Attribute) -> tuple[str, int]:
        value = self.flat(node.value, ATOM)
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, int):
            value = f"({value})"
        return f"{value}.{node.attr}", ATOM

    def _call(self, node: ast.Call) -> tuple[str, int]:
        return f"{self.flat(node.func, ATOM)}({', '.join(self.arguments(node))})", ATOM

    def arguments(self, node: ast.Call) -> list[str]:
        """What stands between the parentheses of a call."""
        if len(node.args) == 1 and not node.keywords and isinstance(node.args[0], ast.GeneratorExp):
            return [self.flat(node.args[0])[1:-1]]
        places = [self.flat(argument) for argument in node.args]
        return places + [self.keyword(node, k) + self.flat(k.value) for k in node.keywords]

    def keyword(self, node: ast.Call, argument: ast.keyword) -> str:
        """The name of an argument, which may be that of a parameter that has a new one."""
        if argument.arg is None:
            return "**"
        function = binding_of(node.func)
        names = self.names.arguments.get(function, {}) if function else {}
        return f"{names.get(argument.arg, argument.arg)}="

    def _subscript(self, node: ast.Subscript) -> tuple[str, int]:
        index = node.slice
        if isinstance(index, ast.Tuple) and index.elts:
            starred = any(isinstance(e, ast.Starred) for e in index.elts)
            inside = self.listed(index.elts) + ("," if len(index.elts) == 1 and not starred else "")
        else:
            inside = self.flat(index)
        return f"{self.flat(node.value, ATOM)}[{inside}]", ATOM

    def _slice(self, node: ast.Slice) -> tuple[str, int]:
        parts = [part for part in (node.lower, node.upper, node.step) if part is not None]
        space = "" if all(map(simple, parts)) else " "
        lower = self.flat(node.lower) + space if node.lower else ""
        upper = space + self.flat(node.upper) if node.upper else ""
        step = ""
        if node.step:
            step = (space if node.upper else "") + ":" + space + self.flat(node.step)
        return f"{lower}:{upper}{step}", ATOM

    def _starred(self, node: ast.Starred) -> tuple[str, int]:
        return f"*{self.flat(node.value, UNION)}", ATOM

    def _binop(self, node: ast.BinOp) -> tuple[str, int]:
        sign, binds = BINARY[type(node.op)]
        if isinstance(node.op, ast.Pow):
            left, right = self.flat(node.left, AWAIT), self.flat(node.right, SIGN)
            close = hugs(node.left) and hugs(node.right)
            return f"{left}**{right}" if close else f"{left} ** {right}", binds
        return f"{self.flat(node.left, binds)} {sign} {self.flat(node.right, binds + 1)}", binds

    def _unaryop(self, node: ast.UnaryOp) -> tuple[str, int]:
        sign, binds = UNARY[type(node.op)]
        return sign + self.flat(node.operand, binds), binds

    def _boolop(self, node: ast.BoolOp) -> tuple[str, int]:
        sign, binds = (" and ", AND) if isinstance(node.op, ast.And) else (" or ", OR)
        # The linter wants `(a and b) or c`.
        least = NOT if isinstance(node.op, ast.Or) else binds + 1
        return sign.join([self.flat(value, least) for value in node.values]), binds

    def _compare(self, node: ast.Compare) -> tuple[str, int]:
        text = self.flat(node.left, UNION)
        for sign, right in zip(node.ops, node.comparators, strict=True):
            text += f" {COMPARE[type(sign)]} {self.flat(right, UNION)}"
        return text, COMPARISON

    def _ifexp(self, node: ast.IfExp) -> tuple[str, int]:
        body, test = self.flat(node.body, OR), self.flat(node.test, OR)
        return f"{body} if {test} else {self.flat(node.orelse, TERNARY)}", TERNARY

    def _namedexpr(self, node: ast.NamedExpr) -> tuple[str, int]:
        return f"{self.flat(node.target)} := {self.flat(node.value, LAMBDA)}", TUPLE

    def _lambda(self, node: ast.Lambda) -> tuple[str, int]:
        parameters = self.parameters(node.args)
        head = f"lambda {', '.join(parameters)}" if parameters else "lambda"
        return f"{head}: {self.flat(node.body, LAMBDA)}", LAMBDA

    def _tuple(self, node: ast.Tuple) -> tuple[str, int]:
        if not node.elts:
            return "()", ATOM
        text = self.listed(node.elts) + ("," if len(node.elts) == 1 else "")
        return (f"({text})", ATOM) if in_parentheses(node) else (text, TUPLE)

    def _list(self, node: ast.List) -> tuple[str, int]:
        return f"[{self.listed(node.elts)}]", ATOM

    def _set(self, node: ast.Set) -> tuple[str, int]:
        return f"{{{self.listed(node.elts)}}}", ATOM

    def _dict(self, node: ast.Dict) -> tuple[str, int]:
        return f"{{{', '.join(self.entries(node))}}}", ATOM

    def entries(self, node: ast.Dict) -> list[str]:
        """The entries of a dictionary."""
        return [
            f"**{self.flat(value, UNION)}"
            if key is None
            else f"{self.flat(key)}: {self.flat(value)}"
            for key, value in zip(node.keys, node.values, strict=True)
        ]

    def clauses(self, generators: Sequence[ast.comprehension]) -> list[str]:
        """The `for` and `if` of a comprehension."""
        parts = []
        for clause in generators:
            target = self.flat(clause.target, TUPLE)
            parts.append(f"for {target} in {self.flat(clause.iter, OR)}")
            parts += [f"if {self.flat(test, OR)}" for test in clause.ifs]
        return parts

    def _listcomp(self, node: ast.ListComp) -> tuple[str, int]:
        return f"[{' '.join([self.flat(node.elt), *self.clauses(node.generators)])}]", ATOM

    def _setcomp(self, node: ast.SetComp) -> tuple[str, int]:
        return f"{{{' '.join([self.flat(node.elt), *self.clauses(node.generators)])}}}", ATOM

    def _generatorexp(self, node: ast.GeneratorExp) -> tuple[str, int]:
        return f"({' '.join([self.flat(node.elt), *self.clauses(node.generators)])})", ATOM

    def _dictcomp(self, node: ast.DictComp) -> tuple[str, int]:
        head = f"{self.flat(node.key)}: {self.flat(node.value)}"
        return f"{{{' '.join([head, *self.clauses(node.generators)])}}}", ATOM

    def _yield(self, node: ast.Yield) -> tuple[str, int]:
        return f"yield {self.flat(node.value, TUPLE)}" if node.value else "yield", TUPLE

    def _yieldfrom(self, node: ast.YieldFrom) -> tuple[str, int]:
        return f"yield from {self.flat(node.value)}", TUPLE

    def parameters(self, node: ast.arguments) -> list[str]:
        """What stands between the parentheses of a definition."""
        places = [*node.posonlyargs, *node.args]
        defaults = [None] * (len(places) - len(node.defaults)) + list(node.defaults)
        parts = [self._parameter(p, d) for p, d in zip(places, defaults, strict=True)]
        if node.posonlyargs:
            parts.insert(len(node.posonlyargs), "/")
        if node.vararg:
            parts.append("*" + self._parameter(node.vararg, None))
        elif node.kwonlyargs:
            parts.append("*")
        named = zip(node.kwonlyargs, node.kw_defaults, strict=True)
        parts += [self._parameter(p, d) for p, d in named]
        if node.kwarg:
            parts.append("**" + self._parameter(node.kwarg, None))
        return parts

    def _parameter(self, node: ast.arg, default: ast.expr | None) -> str:
        text = self.name(node, node.arg)
        equals = "="
        if node.annotation:
            text += f": {self.flat(node.annotation)}"
            equals = " = "
        return text if default is None else f"{text}{equals}{self.flat(default)}"
