"""Texts about a bug in the words of one student's copy.

The texts of the catalogue name files, functions and variables of the public GPT in `code spans`. A
disguised copy has other names, so each span is read as code, and its names are replaced. Prose
outside the spans stays as it is.
"""

import builtins
import io
import keyword
import re
import tokenize
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..disguise import Disguised

_CODE = re.compile(r"`([^`]+)`")
"""As in `worksheet.words`, but in a text whose lines are not joined yet."""

_PARTED = re.compile(r"(\n\s*\n)")
_KEPT = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"np", "math"}


@dataclass(frozen=True, slots=True)
class Wording:
    """Teaching texts in the words of one student's copy."""

    names: Mapping[str, str]
    """As in Disguised, and also what keeps its name, as far as it is known: `attention.project` ->
    `heads.asks`, `attention.project.q` -> `q`. Empty for a variable that the copy has no more."""
    modules: Mapping[str, str]
    """`attention.py` -> the file of the copy that a text means by it."""
    home: str
    """Module of the bug: `attention`."""
    focus: Sequence[str]
    """Definitions that the bug touches."""
    fixed: Collection[str] = ()
    """Names that are no variables: keys of the parameters, fields of the configuration."""

    def __call__(self, text: str) -> str:
        """The text with its code spans in the new words."""
        near = list(self._functions(text))

        def span(match: re.Match[str]) -> str:
            return self._span(match[1], near)

        # A backtick without partner ends with its paragraph.
        parts = _PARTED.split(text)
        return "".join(p if i % 2 else _CODE.sub(span, p) for i, p in enumerate(parts))

    def _functions(self, text: str) -> Iterator[str]:
        """What a text names of the top level, as `attention.project`, each once, in its order."""
        seen = set()
        for part in _PARTED.split(text)[::2]:
            for match in _CODE.finditer(part):
                for token in _names(match[1]):
                    name = self._top(token.string)
                    if token.kind != "keyword" and name and name not in seen:
                        seen.add(name)
                        yield name

    def _span(self, code: str, near: Sequence[str]) -> str:
        if code.endswith(".py") and code in self.modules:
            return " and ".join(f"`{file}`" for file in self._files(code, near))
        new, end = "", 0
        for token in _names(code):
            name = self._renamed(token, near)
            if not name:
                if token.string == code:
                    return code  # No name of the copy: a word like any other.
                name = token.string
            new += code[end : token.start] + name
            end = token.start + len(token.string)
        return f"`{new}{code[end:]}`"

    def _files(self, file: str, near: Sequence[str]) -> Iterable[str]:
        """Where those of its functions are now that the text speaks of, or else its own place."""
        module = file.removesuffix(".py")
        new = [self.names.get(n, n) for n in near if n.split(".")[0] == module]
        return dict.fromkeys(f"{n.split('.')[0]}.py" for n in new) or (self.modules[file],)

    def _renamed(self, token: "_Name", near: Sequence[str]) -> str:
        """The new name; empty for a variable that is no more."""
        name = token.string
        if token.kind == "file":
            return self.modules.get(name, name)
        if token.kind == "member":
            return self.names.get(name, name)
        if token.kind == "keyword":
            function = self._top(token.of)
            return self.names.get(f"{function}.{name}", name) if function else name
        if token.kind == "called":
            top = self._top(name)
            return self._bare(top) if top else self._local(name, near, name)
        return self._local(name, near, None)

    def _local(self, name: str, near: Sequence[str], other: str | None) -> str:
        ours = [n for n in near if n.split(".")[0] == self.home]
        focus = [f"{self.home}.{f}" for f in self.focus]
        for function in dict.fromkeys([*[f for f in ours if f in focus], *focus, *ours]):
            if found := self._inside(function, name):
                return self.names[found]
        if top := self._top(name):
            return self._bare(top)
        if other is not None or name in self.fixed or _symbol(name):
            return name
        new = {
            new
            for key, new in self.names.items()
            if key.startswith(f"{self.home}.") and key.count(".") > 1 and key.endswith(f".{name}")
        }
        return new.pop() if len(new) == 1 else name

    def _bare(self, top: str) -> str:
        return self.names.get(top, top).rpartition(".")[2]

    def _inside(self, function: str, name: str) -> str:
        """The variable of a function, or else of one within it."""
        found = [
            key
            for key in self.names
            if key.startswith(f"{function}.") and key.rpartition(".")[2] == name
        ]
        return min(found, key=lambda key: key.count("."), default="")

    def _top(self, name: str) -> str:
        """`attention.project` for `project`; that of the bug's module, if several have one."""
        if f"{self.home}.{name}" in self.names:
            return f"{self.home}.{name}"
        found = sorted(
            key for key in self.names if key.count(".") == 1 and key.endswith(f".{name}")
        )
        return found[0] if found else ""


@dataclass(frozen=True, slots=True)
class _Name:
    """A name in a span."""

    string: str
    start: int
    """Column in the span."""
    kind: str
    """`file` and `member` with a dot in them, `keyword` before an equals sign, `called` before a
    bracket, or `plain`."""
    of: str = ""
    """The function that is called with a keyword."""


def _names(code: str) -> Iterator[_Name]:
    """The names of a span that may be another's in a copy; nothing that follows a dot."""
    ...
