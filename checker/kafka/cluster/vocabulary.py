"""The sentences that schedules are written in: each is a template and a function, defined once.

An *act* does something and returns when it is done. A *condition* gives a test: `until CONDITION`
waits for it, and a run in which it does not come to pass has no verdict; `promise CONDITION` waits
too, and a run in which it does not come to pass is stuck; `perhaps CONDITION` waits, and goes on
either way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

from checker.kafka.cluster.frames import (
    Frames,
    answers,
    asked_of,
    fetches,
    heartbeat_answers,
    heartbeats,
    isr_changes,
    markers,
    metadata,
    registrations,
    transacting,
    votes,
)
from checker.kafka.cluster.stage import Stage
from model.language.errors import UsageError

Act = Callable[..., None]
Test = Callable[[], object]
Condition = Callable[..., Test]

FRAMES: Mapping[str, Callable[..., Frames]] = {
    "the fetches of {follower} from {leader}": fetches,
    "the answers to {follower} from {leader}": answers,
    "the metadata of {broker}": metadata,
    "the ISR changes of {broker}": isr_changes,
    "the vote requests of {candidate} to {voter}": votes,
    "the requests of {asker} to {server}": asked_of,
    "the registration of {controller} at {leader}": registrations,
    "the markers of {coordinator} to {broker}": markers,
    "the requests of producer {producer} to {broker}": transacting,
    "the heartbeats of consumer {consumer} to {broker}": heartbeats,
    "the heartbeat answers to consumer {consumer} from {broker}": heartbeat_answers,
}


def _frames(text: str) -> Frames:
    for template, make in FRAMES.items():
        pattern = re.sub(r"\\{\w+\\}", r"(\\d+)", re.escape(template))
        if match := re.fullmatch(pattern, text):
            return make(*map(int, match.groups()))
    raise UsageError(f"{text!r} are no frames: write {', or '.join(FRAMES)}")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


# What may stand in a template's braces: how it is written, and what the function gets.
KINDS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "number": (r"\d+", int),
    "numbers": (r"\d+(?:, ?\d+)*", _numbers),
    "name": (r"[A-Za-z_][\w.-]*", str),
    "value": (r"\S+", str),
    "frames": (r"the .+?", _frames),
    "text": (r'".+?"', lambda text: text[1:-1]),
}


class Reach(IntEnum):
    """What an act asks beyond what operators and clients do every day, the least first."""

    OPERATION = 0
    LOAD = 1
    FAULT = 2
    HELD = 3

    @property
    def words(self) -> str:
        """As pages say it."""
        return (
            "ordinary operation",
            "load",
            "faults at chosen instants",
            "held back by the test",
        )[self]


@dataclass(frozen=True)
class Sentence:
    """A template with `{name:kind}` in it, and what it means.

    `example` says what an act asks beyond ordinary operation, such as "a crash".
    """

    template: str
    function: Callable[..., Any]
    reach: Reach = Reach.OPERATION
    example: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The template as a regular expression with named groups."""
        parts = re.split(r"(\{\w+:\w+\})", self.template)
        return re.compile("".join(map(self._part, parts)))

    def _part(self, part: str) -> str:
        if not part.startswith("{"):
            return re.escape(part)
        name, _, kind = part[1:-1].partition(":")
        return f"(?P<{name}>{KINDS[kind][0]})"

    def arguments(self, text: str) -> dict[str, Any] | None:
        """What the braces stand for in a text; `None` if it is not this sentence."""
        match = self.pattern.fullmatch(text)
        if match is None:
            return None
        kinds = dict(re.findall(r"\{(\w+):(\w+)\}", self.template))
        return {name: KINDS[kinds[name]][1](found) for name, found in match.groupdict().items()}

    @property
    def words(self) -> str:
        """The template for people: `{name:kind}` as NAME."""
        return re.sub(r"\{(\w+):\w+\}", lambda match: match[1].upper(), self.template)


ACTS: list[Sentence] = []
CONDITIONS: list[Sentence] = []


def act(template: str, *, load: str = "", fault: str = "", held: str = "") -> Callable[[Act], Act]:
    """Make a function `f(stage, ...)` the meaning of a sentence.

    An act that is no ordinary operation says in words which `load` or `fault` it is, or what is
    `held` back.
    """
    said = {Reach.LOAD: load, Reach.FAULT: fault, Reach.HELD: held}
    reach = next((reach for reach, words in said.items() if words), Reach.OPERATION)

    def register(function: Act) -> Act:
        ACTS.append(Sentence(template, function, reach, said.get(reach, "")))
        return function

    return register


def condition(template: str) -> Callable[[Condition], Condition]:
    """Make a function `f(stage, ...)` that returns a test the meaning of a condition."""

    def register(function: Condition) -> Condition:
        CONDITIONS.append(Sentence(template, function))
        return function

    return register


@dataclass(frozen=True)
class Meaning:
    """A sentence with its arguments, ready to be played."""

    sentence: Sentence
    arguments: Mapping[str, Any]

    def apply(self, stage: Stage) -> Any:
        """Do it, or give the test."""
        return self.sentence.function(stage, **self.arguments)


def meaning_of(text: str, sentences: list[Sentence]) -> Meaning:
    """What a text means. `UsageError` if no sentence is like it."""
    for sentence in sentences:
        found = sentence.arguments(text)
        if found is not None:
            return Meaning(sentence, found)
    first = text.split(maxsplit=1)[0] if text else ""
    like = [s.words for s in sentences if s.template.split()[0] == first]
    near = like or sorted({s.template.split()[0] for s in sentences})
    hint = "write " + ", or ".join(f"{words!r}" for words in near[:8])
    raise UsageError(f"{text!r} is no sentence of a schedule: {hint}")
