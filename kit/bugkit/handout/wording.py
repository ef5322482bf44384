"""Texts about a bug in the words of one student's copy.

The texts of the catalogue name files, functions and variables of the public GPT in `code spans`. A
disguised copy has other names, so each span is read as code, and its names are replaced. Prose
outside the spans stays as it is.
"""

import io
import re
import tokenize
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..disguise import Disguised
from .renaming import all_names, fixed_names, modules_of

_CODE = re.compile(r"`([^`]+)`")
"""As in `worksheet.words`, but in a text whose lines are not joined yet."""

_PARTED = re.compile(r"(\n\s*\n)")


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
        spans = (m[1] for part in _PARTED.split(text)[::2] for m in _CODE.finditer(part))
        words = [name.string for span in spans for name in _names(span) if not name.keyword]
        found = [self._top(word) for word in words if not self._touched(word)]
        yield from dict.fromkeys(name for name in found if name)

    def _touched(self, word: str) -> bool:
        """Whether it is a variable where the bug is."""
        return any(self._inside(function, word) for function in self._places(()))

    def _span(self, code: str, near: Sequence[str]) -> str:
        if code in self.modules:
            return " and ".join(f"`{file}`" for file in self._files(code, near))
        new, end = "", 0
        for name in _names(code):
            word = self._renamed(name, near, name.string == code)
            if not word and name.string == code:
                return code  # Nothing of the copy is called so: a word like any other.
            new += code[end : name.start] + (word or name.string)
            end = name.start + len(name.string)
        return f"`{new}{code[end:]}`"

    def _files(self, file: str, near: Sequence[str]) -> Iterable[str]:
        """Where those of its functions are now that the text speaks of, or else its own place."""
        module = file.removesuffix(".py")
        new = [self.names[name] for name in near if name.split(".")[0] == module]
        return dict.fromkeys(f"{n.split('.')[0]}.py" for n in new) or (self.modules[file],)

    def _renamed(self, name: "_Name", near: Sequence[str], alone: bool) -> str:
        """The new name; empty for a variable that is no more."""
        word = name.string
        if name.keyword:
            function = name.of if "." in name.of else self._top(name.of)
            return self.names.get(f"{function}.{word}", word)
        module, dot, member = word.partition(".")
        if dot:
            found = self.names.get(word) or self.modules.get(word)
            return found or f"{self._variable(module, near, False) or module}.{member}"
        return self._variable(word, near, alone)

    def _variable(self, word: str, near: Sequence[str], alone: bool) -> str:
        for function in self._places(near):
            if found := self._inside(function, word):
                return self.names[found]
        if top := self._top(word):
            return self.names[top].rpartition(".")[2]
        # An expression that a text makes up has variables of its own, and C is the width in all.
        if not alone or word in self.fixed or re.fullmatch("[A-Z]", word):
            return word
        new = {self.names[key] for key in self._ending(word) if key.startswith(f"{self.home}.")}
        return new.pop() if len(new) == 1 else word

    def _places(self, near: Sequence[str]) -> Iterable[str]:
        """Whose variables are meant: first those of what the text names. A backward pass that it
        does not name is left out, where the bug touches other definitions too."""
        named = [name for name in near if name.split(".")[0] == self.home]
        focus = [f"{self.home}.{name}" for name in self.focus]
        forward = [name for name in focus if not name.endswith("_backward")]
        touched = [name for name in named if name in focus]
        return dict.fromkeys([*touched, *(forward or focus), *named])

    def _inside(self, function: str, word: str) -> str:
        """The variable of a function, or else of one within it."""
        found = [key for key in self._ending(word) if key.startswith(f"{function}.")]
        return min(found, key=lambda key: key.count("."), default="")

    def _top(self, word: str) -> str:
        """`attention.project` for `project`; that of the bug's module, if several have one."""
        found = [key for key in self._ending(word) if key.count(".") == 1]
        return min(found, key=lambda key: (key != f"{self.home}.{word}", key), default="")

    def _ending(self, word: str) -> list[str]:
        return [key for key in self.names if key.rpartition(".")[2] == word]


@dataclass(frozen=True, slots=True)
class _Name:
    """A name in a span, with the first attribute if it has one."""

    string: str
    start: int
    """Column in the span."""
    keyword: bool
    """Whether it says which argument is given."""
    of: str = ""
    """The function that an argument is given to."""


def _names(code: str) -> Iterator[_Name]:
    """The names of a span that may be others in a copy: none in a text, none of a library."""
    tokens = _tokens(code)
    if any(token.string == "import" for token in tokens):
        return
    calls: list[str] = []
    at = 0
    while at < len(tokens):
        token, before = tokens[at], tokens[at - 1].string if at else ""
        at += 1
        if token.string in ("(", "[", "{"):
            calls.append(_dotted(tokens[: at - 1]) if token.string == "(" else "")
        elif token.string in (")", "]", "}") and calls:
            calls.pop()
        elif token.type == tokenize.NAME and before != ".":
            end = token
            if [t.string for t in tokens[at : at + 1]] == ["."] and at + 1 < len(tokens):
                end = tokens[at + 1]
            start, string = token.start[1], code[token.start[1] : end.end[1]]
            after = tokens[at : at + 2]
            given = len(after) == 2 and after[0].string == "="
            # `x=1` alone is an argument, `x = 1` a statement.
            close = given and token.end == after[0].start and after[0].end == after[1].start
            keyword = given and (bool(calls) or close)
            yield _Name(string, start, keyword, calls[-1] if keyword and calls else "")


def _dotted(tokens: Sequence[tokenize.TokenInfo]) -> str:
    """The name at the end: `f`, `a.f`, or empty."""
    words: list[str] = []
    for token in reversed(tokens):
        if token.type != (tokenize.OP if len(words) % 2 else tokenize.NAME):
            break
        if len(words) % 2 and token.string != ".":
            break
        words.append(token.string)
    return "".join(reversed(words))


def _tokens(code: str) -> list[tokenize.TokenInfo]:
    """As far as they can be read, without what stands in a formatted text."""
    found: list[tokenize.TokenInfo] = []
    line = re.sub(r"\s", " ", code)  # With a break in it, it would be two statements.
    depth = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(line).readline):
            kind = tokenize.tok_name[token.type]
            if kind == "ERRORTOKEN" and not token.string.isspace():
                break
            depth += kind.endswith("STRING_START")
            if not depth and token.type in (
                tokenize.NAME,
                tokenize.OP,
                tokenize.NUMBER,
                tokenize.STRING,
            ):
                found.append(token)
            depth -= kind.endswith("STRING_END")
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass  # What could not be read stays as it is.
    return found


def wording_of(
    disguised: Disguised, files: Mapping[str, str], file: str, now: str, focus: Sequence[str]
) -> Wording:
    """For a bug in `file` of the package that was disguised; the copy has it in the file `now`."""
    return Wording(
        names=all_names(disguised, files),
        modules=modules_of(disguised, files) | {file: now},
        home=file.removesuffix(".py"),
        focus=focus,
        fixed=fixed_names(files.values()),
    )
