"""Statements and whole definitions as lines."""

import ast
import inspect
import textwrap
from collections.abc import Iterable, Sequence

from ..problems import Problem
from .layout import INDENT, WIDTH, Lines, Unfit
from .marks import comments_of, has_gap, is_text, trailing_of
from .spelling import BINARY, NAMED, TUPLE

_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


class Statements(Lines):
    """Writes statements. A trailing comment that does not fit is left out, unless it is meant for
    a tool."""

    def body(self, statements: Sequence[ast.stmt], indent: str, in_class: bool = False) -> None:
        """Statements one below the other."""
        before: ast.stmt | None = None
        for statement in statements:
            # A definition inside a body is set off by a blank line on both sides.
            beside = isinstance(statement, _DEFINITIONS) or isinstance(before, _DEFINITIONS)
            texted = in_class and before is not None and before is statements[0] and is_text(before)
            if before is not None and (beside or texted or has_gap(statement)):
                self.put("")
            self.statement(statement, indent)
            before = statement

    def statement(self, node: ast.stmt, indent: str) -> None:
        """One statement with the comments above it."""
        self.write.seen.add(node.lineno)
        for line in _fitted(comments_of(node), WIDTH - len(indent)):
            self.put(indent + line)
        self.write.seen.add(node.lineno)
        start = len(self.lines)
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            kind = type(node).__name__
            raise Problem(f"line {node.lineno}: a disguise cannot write {kind}")
        method(node, indent)
        comment = trailing_of(node)
        if comment and not isinstance(node, ast.FunctionDef):
            pragma = comment.startswith(("# type:", "# noqa", "# fmt:", "# pyright:"))
            line = f"{self.lines[start]}  {comment}"
            if pragma or (len(line) <= WIDTH and not self.lines[start].endswith(("(", "[", "{"))):
                self.lines[start] = line

    def _block(self, statements: Sequence[ast.stmt], indent: str) -> None:
        self.body(statements, indent + INDENT)

    def _expr(self, node: ast.Expr, indent: str) -> None:
        if is_text(node) and isinstance(node.value, ast.Constant):
            self.docstring(str(node.value.value), indent)
        else:
            self.expression(indent, "", node.value, "", TUPLE)

    def docstring(self, text: str, indent: str) -> None:
        """Its first line beside the quotes, the others as deep as they are."""
        text = text.replace('"""', "'''")
        lines = _fitted(_dedented(text), WIDTH - len(indent))
        if lines[-1].endswith('"'):
            lines[-1] += " "  # as the formatter does, or the quotes would run together
        raw = "r" if "\\" in text else ""
        if len(lines) == 1 and len(indent) + len(raw) + len(lines[0]) + 6 <= WIDTH:
            self.put(f'{indent}{raw}"""{lines[0]}"""')
            return
        self.put(f'{indent}{raw}"""{lines[0]}')
        for line in lines[1:]:
            self.put(indent + line if line else "")
        last = self.lines[-1]
        if not text.rstrip(" ").endswith("\n") and len(last) + 3 <= WIDTH:
            self.lines[-1] = last + '"""'
        else:
            self.put(indent + '"""')

    def _return(self, node: ast.Return, indent: str) -> None:
        if node.value is None:
            self.put(indent + "return")
        else:
            self.expression(indent, "return ", node.value, "", TUPLE)

    def _assign(self, node: ast.Assign, indent: str) -> None:
        head = "".join([self.write.flat(t, TUPLE) + " = " for t in node.targets])
        self.expression(indent, head, node.value, "", TUPLE)

    def _annassign(self, node: ast.AnnAssign, indent: str) -> None:
        head = f"{self.write.flat(node.target)}: {self.write.flat(node.annotation)}"
        if node.value is None:
            self.put(indent + head)
        else:
            self.expression(indent, head + " = ", node.value, "", TUPLE)

    def _augassign(self, node: ast.AugAssign, indent: str) -> None:
        head = f"{self.write.flat(node.target)} {BINARY[type(node.op)][0]}= "
        self.expression(indent, head, node.value, "", TUPLE)

    def _delete(self, node: ast.Delete, indent: str) -> None:
        self.put(f"{indent}del {self.write.listed(node.targets)}")

    def _pass(self, _node: ast.Pass, indent: str) -> None:
        self.put(indent + "pass")

    def _break(self, _node: ast.Break, indent: str) -> None:
        self.put(indent + "break")

    def _continue(self, _node: ast.Continue, indent: str) -> None:
        self.put(indent + "continue")

    def _global(self, node: ast.Global, indent: str) -> None:
        self.put(f"{indent}global {', '.join(node.names)}")

    def _nonlocal(self, node: ast.Nonlocal, indent: str) -> None:
        self.put(f"{indent}nonlocal {', '.join(node.names)}")

    def _assert(self, node: ast.Assert, indent: str) -> None:
        tail = f", {self.write.flat(node.msg)}" if node.msg else ""
        self.expression(indent, "assert ", node.test, tail)

    def _raise(self, node: ast.Raise, indent: str) -> None:
        if node.exc is None:
            self.put(indent + "raise")
            return
        tail = f" from {self.write.flat(node.cause)}" if node.cause else ""
        self.expression(indent, "raise ", node.exc, tail)

    def _import(self, node: ast.Import, indent: str) -> None:
        self.put(f"{indent}import {', '.join([_alias(a) for a in node.names])}")

    def _importfrom(self, node: ast.ImportFrom, indent: str) -> None:
        names = ", ".join([_alias(a) for a in node.names])
        self.put(f"{indent}from {'.' * node.level}{node.module or ''} import {names}")

    def _if(self, node: ast.If, indent: str, word: str = "if") -> None:
        self.expression(indent, f"{word} ", node.test, ":")
        self._block(node.body, indent)
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            self._if(node.orelse[0], indent, "elif")
        elif node.orelse:
            self.put(indent + "else:")
            self._block(node.orelse, indent)

    def _for(self, node: ast.For, indent: str) -> None:
        head = f"for {self.write.flat(node.target, TUPLE)} in "
        self.expression(indent, head, node.iter, ":", TUPLE)
        self._block(node.body, indent)
        self._else(node.orelse, indent)

    def _while(self, node: ast.While, indent: str) -> None:
        self.expression(indent, "while ", node.test, ":")
        self._block(node.body, indent)
        self._else(node.orelse, indent)

    def _else(self, statements: Sequence[ast.stmt], indent: str) -> None:
        if statements:
            self.put(indent + "else:")
            self._block(statements, indent)

    def _with(self, node: ast.With, indent: str) -> None:
        items = []
        for item in node.items:
            text = self.write.flat(item.context_expr)
            target = item.optional_vars
            items.append(f"{text} as {self.write.flat(target)}" if target else text)
        line = f"{indent}with {', '.join(items)}:"
        if len(line) > WIDTH:
            raise Unfit(line)
        self.put(line)
        self._block(node.body, indent)

    def _try(self, node: ast.Try, indent: str) -> None:
        self.put(indent + "try:")
        self._block(node.body, indent)
        for handler in node.handlers:
            text = f"{indent}except"
            if handler.type:
                text += f" {self.write.flat(handler.type, NAMED)}"
            if handler.name:
                text += f" as {self.write.name(handler, handler.name)}"
            self.put(text + ":")
            self._block(handler.body, indent)
        self._else(node.orelse, indent)
        if node.finalbody:
            self.put(indent + "finally:")
            self._block(node.finalbody, indent)

    def _classdef(self, node: ast.ClassDef, indent: str) -> None:
        self._decorators(node, indent)
        bases = [*map(self.write.flat, node.bases)]
        bases += [f"{k.arg}={self.write.flat(k.value)}" for k in node.keywords]
        name = self.write.name(node, node.name)
        self.put(
            f"{indent}class {name}({', '.join(bases)}):" if bases else f"{indent}class {name}:"
        )
        self.body(node.body, indent + INDENT, in_class=True)

    def _functiondef(self, node: ast.FunctionDef, indent: str) -> None:
        self._decorators(node, indent)
        self.write.seen.add(node.lineno)
        self._header(node, indent)
        self._block(node.body, indent)

    def _decorators(self, node: ast.FunctionDef | ast.ClassDef, indent: str) -> None:
        for decorator in node.decorator_list:
            self.expression(indent, "@", decorator, "")

    def _header(self, node: ast.FunctionDef, indent: str) -> None:
        name = self.write.name(node, node.name)
        parameters = self.write.parameters(node.args)
        returns = f" -> {self.write.flat(node.returns)}" if node.returns else ""
        comment = f"  {trailing_of(node)}" if trailing_of(node) else ""
        inside = ", ".join(parameters)
        line = f"{indent}def {name}({inside}){returns}:"
        if len(line) + len(comment) <= WIDTH:
            self.put(line + comment)
            return
        if not parameters:
            raise Unfit(line)
        self.put(f"{indent}def {name}(")
        if len(indent) + len(INDENT) + len(inside) <= WIDTH:
            self.put(indent + INDENT + inside)
        else:
            for parameter in parameters:
                self.put(f"{indent}{INDENT}{parameter},")
        tail = f"{indent}){returns}:"
        if len(tail) > WIDTH:
            raise Unfit(tail)
        self.put(tail + comment if len(tail) + len(comment) <= WIDTH else tail)


def _alias(node: ast.alias) -> str:
    return f"{node.name} as {node.asname}" if node.asname else node.name


def _fitted(lines: Iterable[str], width: int) -> list[str]:
    """A line that a longer name made too long is set anew, with the rest of its paragraph."""
    fitted: list[str] = []
    waiting = list(lines)
    while waiting:
        line = waiting.pop(0)
        if len(line) <= width:
            fitted.append(line)
            continue
        start = _start(line)
        words = line[len(start) :].split()
        while waiting and _goes_on(waiting[0], start):
            words += waiting.pop(0)[len(start) :].split()
        fitted += textwrap.wrap(
            " ".join(words),
            width,
            initial_indent=start,
            subsequent_indent=start,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return fitted


def _start(line: str) -> str:
    """What a line of a text or of a comment has before its words."""
    text = line.removeprefix("#").lstrip()
    return line[: len(line) - len(text)]


def _goes_on(line: str, start: str) -> bool:
    """Whether it is the next line of a paragraph: no list, no table, no empty line."""
    text = line.removeprefix("#").strip()
    return bool(text) and _start(line) == start and "  " not in text and text[0] not in "-*"


def _dedented(text: str) -> list[str]:
    return [line.rstrip() for line in inspect.cleandoc(text).split("\n")]
