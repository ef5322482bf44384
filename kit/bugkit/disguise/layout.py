"""Where lines break: what the formatter of the project does with what is longer than a line.

Written here because a student's folder must not depend on the formatter's version. The forms that
it breaks in more than one way are refused (Unfit); the caller then says the same in shorter
statements or with shorter names.
"""

import ast
from collections.abc import Sequence

from .expressions import Expressions
from .spelling import BINARY, NAMED, UNION

WIDTH = 100
INDENT = "    "


class Unfit(Exception):
    """A statement is too long, and no break is certain."""


class Lines:
    """Lines of code as they grow, each with the lines of the original that went into it."""

    def __init__(self, expressions: Expressions) -> None:
        self.write = expressions
        self.lines: list[str] = []
        self.origins: list[frozenset[int]] = []

    def put(self, text: str) -> None:
        """One line. What was met since the last one is where it comes from."""
        seen = self.write.seen
        self.lines.append(text)
        self.origins.append(frozenset(seen) - {0})
        seen.clear()

    def expression(
        self, indent: str, head: str, node: ast.expr, tail: str, least: int = NAMED
    ) -> None:
        """`head`, the expression, `tail`: on one line, or broken."""
        text = self.write.flat(node, least)
        if len(indent) + len(head) + len(text) + len(tail) <= WIDTH:
            self.put(indent + head + text + tail)
            return
        self.write.seen.clear()
        if not self._broken(indent, head, node, tail):
            raise Unfit(text)

    def _broken(self, indent: str, head: str, node: ast.expr, tail: str) -> bool:
        match node:
            case ast.Call():
                return self._call(indent, head, node, tail)
            case ast.Tuple(elts=elements) if elements:
                self.each(indent, head + "(", elements, ")" + tail)
            case ast.List(elts=elements) if elements:
                self.each(indent, head + "[", elements, "]" + tail)
            case ast.Set(elts=elements) if elements:
                self.each(indent, head + "{", elements, "}" + tail)
            case ast.Dict(values=values) if values:
                self._dict(indent, head, node, tail)
            case ast.ListComp(elt=element, generators=generators):
                self._comprehension(indent, head + "[", "", element, generators, "]" + tail)
            case ast.SetComp(elt=element, generators=generators):
                self._comprehension(indent, head + "{", "", element, generators, "}" + tail)
            case ast.GeneratorExp(elt=element, generators=generators):
                self._comprehension(indent, head + "(", "", element, generators, ")" + tail)
            case ast.DictComp(key=key, value=value, generators=generators):
                key_text = self.write.flat(key) + ": "
                self._comprehension(indent, head + "{", key_text, value, generators, "}" + tail)
            case ast.BinOp() | ast.BoolOp():
                return self._operation(indent, head, node, tail)
            case _:
                return False
        return True

    def _call(self, indent: str, head: str, node: ast.Call, tail: str) -> bool:
        inner = node.func
        while isinstance(inner, ast.Attribute | ast.Call | ast.Subscript):
            if not isinstance(inner, ast.Attribute):
                return False  # a chain of calls may break at any of them
            inner = inner.value
        if not (node.args or node.keywords) or not isinstance(inner, ast.Name):
            return False
        self._open(indent, head + self.write.flat(node.func) + "(")
        parts = self.write.arguments(node)
        deeper = indent + INDENT
        one = ", ".join(parts)
        if len(deeper) + len(one) <= WIDTH:
            self.put(deeper + one)
        elif len(parts) == 1 and isinstance(node.args[0], ast.JoinedStr | ast.Constant):
            self.write.seen.clear()
            self._text(deeper, node.args[0])
        elif len(parts) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            self.write.seen.clear()
            self._clauses(deeper, "", node.args[0].elt, node.args[0].generators)
        else:
            self.write.seen.clear()
            for argument in node.args:
                self.expression(deeper, "", argument, ",")
            for keyword in node.keywords:
                self.expression(deeper, self.write.keyword(node, keyword), keyword.value, ",")
        self.put(indent + ")" + tail)
        return True

    def _open(self, indent: str, text: str) -> None:
        if len(indent) + len(text) > WIDTH:
            raise Unfit(text)
        self.put(indent + text)

    def each(self, indent: str, head: str, elements: Sequence[ast.expr], tail: str) -> None:
        """One element a line, each with a comma."""
        self._open(indent, head)
        for element in elements:
            self.expression(indent + INDENT, "", element, ",")
        self.put(indent + tail)

    def _dict(self, indent: str, head: str, node: ast.Dict, tail: str) -> None:
        self._open(indent, head + "{")
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                self.expression(indent + INDENT, "**", value, ",", UNION)
            else:
                self.expression(indent + INDENT, self.write.flat(key) + ": ", value, ",")
        self.put(indent + "}" + tail)

    def _comprehension(
        self,
        indent: str,
        head: str,
        key: str,
        element: ast.expr,
        generators: Sequence[ast.comprehension],
        tail: str,
    ) -> None:
        self._open(indent, head)
        self._clauses(indent + INDENT, key, element, generators)
        self.put(indent + tail)

    def _clauses(
        self, indent: str, key: str, element: ast.expr, generators: Sequence[ast.comprehension]
    ) -> None:
        text = key + self.write.flat(element)
        one = " ".join([text, *self.write.clauses(generators)])
        if len(indent) + len(one) <= WIDTH:
            self.put(indent + one)
            return
        self.write.seen.clear()
        self.expression(indent, key, element, "")
        for clause in generators:
            for part in self.write.clauses([clause]):
                if len(indent) + len(part) > WIDTH:
                    raise Unfit(part)
                self.put(indent + part)

    def _operation(self, indent: str, head: str, node: ast.BinOp | ast.BoolOp, tail: str) -> bool:
        operands, signs, binds = chain(node)
        last = operands[-1]
        if len(signs) == 1 and not head.strip().endswith(("(", ":", ",")) and head.strip():
            # One operator, and brackets at an end: the formatter breaks those instead.
            if isinstance(last, ast.Call) and (last.args or last.keywords):
                front = self.write.flat(operands[0], binds) + f" {signs[0]} "
                return self._call(indent, head + front, last, tail)
            front = self.write.flat(operands[0], binds)
            if self.write.flat(last, binds + 1).startswith("(") and not _bracketed(last):
                self._open(indent, f"{head}{front} {signs[0]} (")
                self._inside(indent, last)
                self.put(indent + ")" + tail)
                return True
            end = f" {signs[0]} {self.write.flat(last, binds + 1)}{tail}"
            if front.startswith("(") and not _bracketed(last) and not _bracketed(operands[0]):
                self._open(indent, head + "(")
                self._inside(indent, operands[0])
                self.put(indent + ")" + end)
                return True
            self.write.seen.clear()
            if _bracketed(last) or _bracketed(operands[0]):
                return False
        self.put(indent + head + "(")
        self._inside(indent, node)
        self.put(indent + ")" + tail)
        return True

    def _inside(self, indent: str, node: ast.expr) -> None:
        """What stands in parentheses of its own: on a line, or an operand a line."""
        deeper = indent + INDENT
        text = self.write.flat(node)
        if len(deeper) + len(text) <= WIDTH:
            self.put(deeper + text)
            return
        self.write.seen.clear()
        if not isinstance(node, ast.BinOp | ast.BoolOp):
            raise Unfit(text)
        operands, signs, binds = chain(node)
        for i, operand in enumerate(operands):
            sign = f"{signs[i - 1]} " if i else ""
            text = sign + self.write.flat(operand, binds + (i > 0))
            if len(deeper) + len(text) > WIDTH:
                raise Unfit(text)
            self.put(deeper + text)

    def _text(self, indent: str, node: ast.expr) -> None:
        """A text too long for a line as several literals, broken after spaces."""
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        words: list[ast.expr] = []
        for part in parts:
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                pieces = part.value.replace(" ", " \0").split("\0")
                words += [ast.Constant(piece, lineno=part.lineno) for piece in pieces if piece]
            else:
                words.append(part)
        line: list[ast.expr] = []
        for i, word in enumerate(words):
            whole = len(indent) + len(self.write.text_of([*line, word])) <= WIDTH
            if line and not whole:
                while len(line) > 1 and not _ends_in_space(line[-1]):
                    words.insert(i, line.pop())
                raise_if_long(indent, text := self.write.text_of(line))
                self.write.seen.clear()
                self.put(indent + text)
                self._text_rest(indent, words[i:])
                return
            line.append(word)
        self.put(indent + self.write.text_of(line))

    def _text_rest(self, indent: str, words: list[ast.expr]) -> None:
        self._text(indent, ast.JoinedStr(values=words))


def raise_if_long(indent: str, text: str) -> None:
    """Refuse what no break would help."""
    if len(indent) + len(text) > WIDTH:
        raise Unfit(text)


def chain(node: ast.BinOp | ast.BoolOp) -> tuple[list[ast.expr], list[str], int]:
    """Operands that stand side by side, the signs between them, and how tightly those bind."""
    if isinstance(node, ast.BoolOp):
        sign, binds = ("and", 5) if isinstance(node.op, ast.And) else ("or", 4)
        return list(node.values), [sign] * (len(node.values) - 1), binds
    binds = BINARY[type(node.op)][1]
    operands: list[ast.expr] = []
    signs: list[str] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp) and BINARY[type(left.op)][1] == binds:
        operands.append(left.right)
        signs.append(BINARY[type(left.op)][0])
        left = left.left
    return [left, *reversed(operands)], signs[::-1], binds


def _ends_in_space(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and str(node.value).endswith(" ")


def _bracketed(node: ast.expr) -> bool:
    return isinstance(
        node,
        ast.Call
        | ast.Subscript
        | ast.List
        | ast.Dict
        | ast.Tuple
        | ast.Set
        | ast.ListComp
        | ast.DictComp
        | ast.SetComp
        | ast.GeneratorExp,
    )
