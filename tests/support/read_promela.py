"""Reads exported Promela again and runs it, without Spin: as much of the language as is exported.

It knows nothing of the exporter but the language that it writes, with the tightness of operators
that Promela and C give them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

_TOKEN = re.compile(
    r"\s*(\"(?:\\.|[^\"])*\"|[A-Za-z_][\w]*|\d+|::|->|&&|\|\||[=!<]=|[-+<!&|(){}:;?=,.])"
)
_TIGHTNESS = {"||": 1, "&&": 2, "|": 3, "&": 4, "==": 5, "!=": 5, "<": 6, "<=": 6, "+": 7, "-": 7}
_PYTHON = {"||": "or", "&&": "and"}


class Failed(Exception):  # noqa: N818  # an answer, as Spin gives it
    """An assertion is false; with the words that are printed before."""


State = tuple[int, ...]
Option = Callable[[dict[str, int]], "dict[str, int] | None"]


class ReadPromela:
    """A model as it was read: `names` of its variables, `initial`, and its options in order."""

    def __init__(self, text: str) -> None:
        self.comments = re.findall(r"\t/\* (.*) \*/", text)
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        self._constants = dict(re.findall(r"^#define (\w+) (-?\d+)$", text, re.MULTILINE))
        text = re.sub(r"^#define.*$", "", text, flags=re.MULTILINE)
        self._tokens = _tokens(text)
        self._ranges: dict[str, tuple[int, int]] = {}
        self._scope: dict[str, Any] = {"Failed": Failed, "fit": self._fit}
        initial = []
        while self._peek in ("unsigned", "bit", "short", "int"):
            initial.append(self._declaration())
        self.initial: State = tuple(initial)
        self.names = tuple(self._ranges)
        while self._peek == "c_code":
            self._function()
        self.options: list[Option] = list(self._process())
        assert not self._tokens, f"something follows the process: {self._tokens[:5]}"

    def take(self, number: int, state: State) -> State | None:
        """What an option makes of a state: nothing if it is not executable. Raises `Failed`."""
        after = self.options[number](dict(zip(self.names, state, strict=True)))
        return None if after is None else tuple(after.values())

    def _fit(self, name: str, value: int) -> int:
        low, high = self._ranges[name]
        assert low <= value <= high, f"{name} is {value}, which its type cannot hold"
        return int(value)

    # --- tokens ---

    @property
    def _peek(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def _next(self, *expected: str) -> str:
        token = self._tokens.pop(0)
        assert not expected or token in expected, f"{token!r} stands where {expected} should"
        return token

    def _skip(self, text: str) -> None:
        for token in _tokens(text):
            self._next(token)

    # --- declarations ---

    def _declaration(self) -> int:
        kind, name = self._next(), self._next()
        if kind == "unsigned":
            self._next(":")
            self._ranges[name] = 0, (1 << int(self._next())) - 1
        else:
            half = {"bit": 0, "short": 1 << 15, "int": 1 << 31}[kind]
            self._ranges[name] = (-half, half - 1) if half else (0, 1)
        self._next("=")
        value = self._fit(name, int(eval(self._expression({}))))
        self._next(";")
        return value

    def _function(self) -> None:
        self._skip("c_code { static int")
        name = self._next()
        self._skip("(void) {")
        lines = self._local_constants()
        self._next("return")
        lines.append(f"return {self._expression(_locals(lines), c=True)}")
        self._skip("; } }")
        self._define(name, lines)

    def _define(self, name: str, lines: list[str]) -> None:
        body = "\n".join(f"    {line}" for line in lines)
        exec(f"def {name}(s):\n{body}", self._scope)

    def _local_constants(self) -> list[str]:
        lines: list[str] = []
        while self._peek == "const":
            self._skip("const int")
            name = self._next()
            self._next("=")
            lines.append(f"{name} = {self._expression(_locals(lines), c=True)}")
            self._next(";")
        return lines

    # --- the process ---

    def _process(self) -> Iterator[Option]:
        self._skip("active proctype")
        self._next()
        self._skip("() {")
        self.deadlock_is_an_error = self._peek != "end"
        if not self.deadlock_is_an_error:
            self._skip("end:")
        self._next("do")
        while self._peek == "::":
            self._next("::")
            if self._peek == "false":
                self._next()
                continue
            self._skip("d_step {")
            lines = [f"if not ({self._expression({})}): return None", "s = dict(s)"]
            self._next("->")
            while True:
                lines += self._statement()
                if self._next(";", "}") == "}":
                    break
            name = f"option_{len(self._scope)}"
            self._define(name, [*lines, "return s"])
            yield self._scope[name]
        self._skip("od }")

    def _statement(self) -> list[str]:
        if self._peek == "if":
            self._skip("if ::")
            condition = self._expression({})
            self._next("->")
            failure = self._failure()
            self._skip(":: else fi")
            return [f"if {condition}: {failure}"]
        if self._peek == "skip":
            self._next()
            return []
        if self._peek == "c_code" and self._tokens[2] == "printf":
            return [self._failure()]
        if self._peek == "c_code":
            self._skip("c_code {")
            lines = self._local_constants()
            while self._peek == "now":
                self._skip("now .")
                lines.append(self._assignment(_locals(lines), c=True))
                self._next(";")
            self._next("}")
            return lines
        return [self._assignment({}, c=False)]

    def _assignment(self, local: dict[str, str], c: bool) -> str:
        name = self._next()
        assert name in self._ranges, name
        self._next("=")
        return f's["{name}"] = fit("{name}", {self._expression(local, c=c)})'

    def _failure(self) -> str:
        self._skip("c_code { printf (")
        words = self._next()
        self._skip("); } ; assert ( false )")
        return f"raise Failed({eval(words).strip()!r})"

    # --- expressions, as Python ---

    def _expression(self, local: dict[str, str], tightness: int = 1, c: bool = False) -> str:
        left = self._operand(local, c)
        while (found := _TIGHTNESS.get(self._peek, 0)) >= tightness:
            sign = self._next()
            right = self._expression(local, found + 1, c)
            left = f"({left} {_PYTHON.get(sign, sign)} {right})"
        return left

    def _operand(self, local: dict[str, str], c: bool) -> str:
        token = self._next()
        if token == "!":
            return f"(not {self._operand(local, c)})"
        if token == "-":
            return f"(-{self._operand(local, c)})"
        if token == "(":
            inner = self._expression(local, c=c)
            if self._peek == ("?" if c else "->"):
                self._next()
                then = self._expression(local, c=c)
                self._next(":")
                inner = f"({then} if {inner} else {self._expression(local, c=c)})"
            self._next(")")
            return inner
        if token == "c_expr":
            self._skip("{ (")
            function = self._next()
            self._skip(") ( ) }")
            assert function in self._scope, function
            return f"{function}(s)"
        if c and token == "now":
            self._next(".")
            token = self._next()
            assert token in self._ranges, token
            return f's["{token}"]'
        if token.isdigit() or token in local:
            return token
        if not c and token in ("true", "false"):
            return str(token == "true")
        if not c and token in self._constants:
            return f"({self._constants[token]})"
        assert not c and token in self._ranges, f"{token} is not known here"
        return f's["{token}"]'


def _locals(lines: list[str]) -> dict[str, str]:
    return {line.split()[0]: "" for line in lines if not line.startswith("s[")}


def _tokens(text: str) -> list[str]:
    found, place = [], 0
    text = text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        assert match is not None, f"no token of Promela: {text[place : place + 40]!r}"
        found.append(match[1])
        place = match.end()
    return found
