"""Reads exported TLA+ again and evaluates it, without TLC: as much of the language as is exported.

It knows nothing of the exporter but the language that it writes: junction lists by their columns,
operators by the table of TLA+, which refuses `a \\/ b /\\ c`, and values that are of one kind.
"""

from __future__ import annotations

import re
from typing import Any

from tests.support.read_promela import Failed
from tests.support.tla_values import (
    Fresh,
    Place,
    Primed,
    State,
    Value,
    application,
    combined,
    replaced,
    truth,
)

_TOKEN = re.compile(
    r"""\s+|\\\*[^\n]*|(?P<token>"[^"]*"|[A-Za-z0-9_]*[A-Za-z][A-Za-z0-9_]*|\d+|----+|====+
    |/\\|\\/|\\E|\\[a-z]+|\\|<<|>>|=>|<=|==|\|->|:>|@@|\.\.|'|[-+~#=<>(){}\[\],:!])""",
    re.VERBOSE,
)
_LOWEST = {"=>": 1, "/\\": 3, "\\/": 3, "=": 5, "#": 5, "<": 5, "<=": 5, "\\in": 5, "\\notin": 5,
           "@@": 6, ":>": 7, "\\union": 8, "\\intersect": 8, "\\": 8, "..": 9, "+": 10,
           "-": 11}  # fmt: skip
_REPEATS = {"/\\", "\\/", "@@", "\\union", "\\intersect", "+", "-"}


class ReadTla:
    """A module as it was read: its `variables`, and what it defines."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._columns: list[int] = [-1]
        self.defined: dict[str, tuple[list[str], Value]] = {}
        self._skip("----", "MODULE")
        self.name = self._next()
        self._skip("----", "EXTENDS", "Integers", ",", "TLC")
        while self._peek != "VARIABLES":
            self._definition()
        self._next("VARIABLES")
        self.variables = [self._next()]
        while self._peek == ",":
            self._next(",")
            self.variables.append(self._next())
        while self._peek != "====":
            self._definition()
        self.steps = self._next_state
        self.initial: State = {}
        assert self.defined["Init"][1](Place(Fresh(self.initial))) is True

    _next_state: tuple[str, ...] = ()

    def take(self, name: str, state: State) -> State | None:
        """What the step of that name makes of a state. Raises `Failed` for what is asserted."""
        place = Place(state, {})
        if not truth(self.defined[name][1](place)):
            return None
        assert place.after is not None and set(place.after) == set(self.variables), name
        return place.after

    def holds(self, name: str, state: State, after: State | None = None) -> bool:
        """Whether a claim is true of a state, or of a step."""
        return truth(self.defined[name][1](Place(state, after)))

    # --- tokens ---

    @property
    def _peek(self) -> str:
        token, column, _ = self._tokens[self._at]
        return token if column > self._columns[-1] else ""

    def _next(self, *expected: str) -> str:
        token = self._peek
        assert token and (not expected or token in expected), f"{token!r}, not {expected}"
        self._at += 1
        return token

    def _skip(self, *tokens: str) -> None:
        for token in tokens:
            self._next(token)

    # --- definitions ---

    def _definition(self) -> None:
        name = self._next()
        assert name not in self.defined, f"{name} is defined twice"
        parameters = []
        if self._peek == "(":
            self._next("(")
            while self._peek != ")":
                parameters.append(self._next())
                if self._peek == ",":
                    self._next(",")
            self._next(")")
        self._next("==")
        if name == "vars":
            assert self._tuple() == self.variables
            return
        if name == "Next":
            self._next_state = tuple(self._names_of_steps())
            return
        if name == "Spec" or name.endswith("_always"):
            self._temporal()
            return
        self.defined[name] = parameters, self._expression()

    def _names_of_steps(self) -> list[str]:
        if self._peek == "FALSE":
            self._next()
            return []
        found = []
        while self._peek == "\\/":
            self._next()
            found.append(self._next())
        return found

    def _temporal(self) -> None:
        """`Init /\\ [][Next]_vars`, or without a beginning: what is said of every step."""
        if self._peek == "Init":
            self._skip("Init", "/\\")
        self._skip("[", "]", "[")
        assert self._next() in (*self.defined, "Next")
        self._skip("]", "_vars")

    # --- expressions ---

    def _expression(self, lowest: int = 0) -> Value:
        if self._peek in ("/\\", "\\/"):
            return self._junction_list()
        left = self._operand()
        before = ""
        while (level := _LOWEST.get(self._peek, -1)) >= lowest and level > 0:
            sign = self._next()
            assert not before or before == sign or _LOWEST[before] != level, f"{before} {sign}"
            assert before != sign or sign in _REPEATS, f"{sign} is repeated"
            left = combined(sign, left, self._expression(level + 1))
            before = sign
        return left

    def _junction_list(self) -> Value:
        sign, (_, column, _) = self._peek, self._tokens[self._at]
        items = []
        while self._peek == sign and self._tokens[self._at][1] == column:
            self._next()
            self._columns.append(column)
            items.append(self._expression())
            self._columns.pop()
        assert sign == "/\\", "no lists of alternatives are written"

        def all_of(place: Place) -> bool:
            return all(truth(item(place)) for item in items)

        return all_of

    def _operand(self) -> Value:
        token = self._next()
        if token == "~":
            inner = self._expression(4)
            return lambda place: not truth(inner(place))
        if token == "-":
            number = self._expression(12)
            return lambda place: -number(place)
        made = {
            "(": self._group, "{": self._set, "[": self._function, "IF": self._conditional,
            "LET": self._let, "\\E": self._chosen, "UNCHANGED": self._unchanged,
            "Assert": self._assert,
        }  # fmt: skip
        if token in made:
            return self._applied(made[token]())
        if token.isdigit():
            return lambda _: int(token)
        if token in ("TRUE", "FALSE"):
            return lambda _: token == "TRUE"
        return self._applied(self._named(token))

    def _applied(self, function: Value) -> Value:
        while self._peek == "[":
            self._next("[")
            index = self._expression()
            self._next("]")
            function = application(function, index)
        return function

    def _named(self, name: str) -> Value:
        if name in self.variables_so_far:
            if self._peek == "'":
                self._next("'")
                return lambda place: Primed(place, name).value
            return lambda place: place.state[name]
        if self._peek == "(":
            arguments = []
            while self._next("(", ",", ")") != ")":
                arguments.append(self._expression())
            return lambda place: self._call(name, [a(place) for a in arguments])
        return lambda place: (
            place.local[name](place) if name in place.local else self._call(name, [], place)
        )

    @property
    def variables_so_far(self) -> list[str]:
        return getattr(self, "variables", [])

    def _call(self, name: str, arguments: list[Any], place: Place | None = None) -> Any:
        parameters, body = self.defined[name]
        local: dict[str, Any] = {
            parameter: (lambda _, value=value: value)
            for parameter, value in zip(parameters, arguments, strict=True)
        }
        return body(Place(place.state if place else {}, place.after if place else None, local))

    def _group(self) -> Value:
        self._columns.append(-1)
        inner = self._expression()
        self._columns.pop()
        self._next(")")
        return inner

    def _set(self) -> Value:
        items: list[Value] = []
        while self._peek != "}":
            items.append(self._expression())
            if self._peek == ",":
                self._next(",")
        self._next("}")
        return lambda place: frozenset(item(place) for item in items)

    def _function(self) -> Value:
        """`[i \\in 0..2 |-> e]` or `[f EXCEPT ![a][b] = e, ...]`."""
        name = self._next()
        if self._peek == "\\in":
            self._next("\\in")
            low = int(self._next())
            self._next("..")
            high = int(self._next())
            self._next("|->")
            value = self._expression()
            self._next("]")
            return lambda place: {k: value(place) for k in range(low, high + 1)}
        assert name in self.variables
        self._next("EXCEPT")
        changes: list[tuple[list[Value], Value]] = []
        while self._next("!", ",", "]") != "]":
            path = []
            if self._peek == "!":
                self._next("!")
            while self._peek == "[":
                self._next("[")
                path.append(self._expression())
                self._next("]")
            self._next("=")
            changes.append((path, self._expression()))

        def changed(place: Place) -> Any:
            found = place.state[name]
            for path, value in changes:
                found = replaced(found, [index(place) for index in path], value(place))
            return found

        return changed

    def _conditional(self) -> Value:
        condition = self._expression()
        self._next("THEN")
        then = self._expression()
        self._next("ELSE")
        otherwise = self._expression()
        return lambda place: (then if truth(condition(place)) else otherwise)(place)

    def _let(self) -> Value:
        names: list[tuple[str, Value]] = []
        while self._peek != "IN":
            name = self._next()
            assert name not in self.variables_so_far and name not in self.defined
            self._next("==")
            names.append((name, self._expression()))
        self._next("IN")
        body = self._expression()

        def evaluated(place: Place) -> Any:
            inner = Place(place.state, place.after, dict(place.local))
            for name, part in names:
                value = part(inner)
                inner.local[name] = lambda _, value=value: value
            return body(inner)

        return evaluated

    def _chosen(self) -> Value:
        """`\\E t \\in {e} : body`: the set has one element, which the name stands for.

        `{a \\in b` would be the beginning of a set of those of b.
        """
        name = self._next()
        assert name not in self.variables_so_far and name not in self.defined
        self._skip("\\in", "{")
        assert self._tokens[self._at + 1][0] != "\\in"
        part = self._expression()
        self._skip("}", ":")
        body = self._expression()

        def evaluated(place: Place) -> Any:
            value = part(place)
            return body(Place(place.state, place.after, place.local | {name: lambda _: value}))

        return evaluated

    def _unchanged(self) -> Value:
        names = self._tuple()

        def kept(place: Place) -> bool:
            return all(Primed(place, name).becomes(place.state[name]) for name in names)

        return kept

    def _tuple(self) -> list[str]:
        self._next("<<")
        names = [self._next()]
        while self._next(",", ">>") == ",":
            names.append(self._next())
        return names

    def _assert(self) -> Value:
        self._next("(")
        condition = self._expression()
        self._next(",")
        words = self._next()
        self._next(")")

        def asserted(place: Place) -> bool:
            if not truth(condition(place)):
                raise Failed(words.strip('"'))
            return True

        return asserted


def _tokens(text: str) -> list[tuple[str, int, int]]:
    """Each token with its column and line; what follows the end of the module is no part of it."""
    found, place, line, start = [], 0, 0, 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        assert match is not None, f"no token of TLA+: {text[place : place + 40]!r}"
        if (token := match["token"]) is not None:
            short = token[:4] if token.startswith(("----", "====")) else token
            found.append((short, place - start, line))
            if short == "====":
                break
        for k in range(place, match.end()):
            if text[k] == "\n":
                line, start = line + 1, k + 1
        place = match.end()
    return found
