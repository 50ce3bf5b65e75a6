"""What an application keeps, gathered, as lines of text and as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checker.core.amounts import counted
from checker.core.search.allowance import Allowance
from checker.core.traces.trace import Trace
from checker.kafka.guarantees.applications import Application, Stated
from checker.kafka.guarantees.known_bugs import Concern, concerning
from checker.kafka.guarantees.promises import Prevents, Promise, faults_words, kept_by, searched
from checker.kafka.guarantees.text import steps_of
from checker.kafka.guarantees.tiers import Tier
from checker.kafka.guarantees.verdicts import trace_of
from checker.telling.report.paragraphs import paragraphs
from model.language.declare.settings import as_text
from model.language.errors import UsageError, unknown_name

WIDTH = 34


@dataclass(frozen=True)
class ApplicationAnswer:
    """What an application keeps; true where every promise is kept, whatever the sets of faults.

    `traces` are by the property that they break, with the first of the smallest sets. `known` are
    bugs of these releases that these faults bring about.
    """

    application: Application
    faults: Mapping[str, int]
    max_faults: int
    promises: tuple[Promise, ...]
    stated: tuple[Stated, ...]
    known: tuple[Concern, ...]
    changes: tuple[Prevents, ...]
    all_tried: bool
    seconds: float
    traces: Mapping[str, Trace]
    files: dict[str, Path] = field(default_factory=dict)

    @property
    def is_lossy(self) -> bool:
        """A promise is broken."""
        return any(promise.broken for promise in self.promises) or any(
            stated.is_kept is False for stated in self.stated
        )

    @property
    def is_decided(self) -> bool:
        """Of every promise it is known whether a set of faults breaks it."""
        return all(promise.is_decided for promise in self.promises)

    @property
    def parts(self) -> tuple[ApplicationAnswer]:
        """What has traces: it is one part."""
        return (self,)

    def text(self, width: int) -> str:
        """All of it in lines of the width."""
        return _text(self, width)

    def data(self) -> dict[str, Any]:
        """The answer as plain data, for JSON."""
        return _data(self)

    def __bool__(self) -> bool:
        return not self.is_lossy and self.is_decided

    def __str__(self) -> str:
        return self.text(80)


def answer(
    application: Application,
    faults: Mapping[str, int],
    max_faults: int,
    budget: Allowance,
    on_search: Callable[[str], None] = lambda _: None,
) -> ApplicationAnswer:
    """Search the sets of up to `max_faults` faults, and what keeps the promises that they break.

    `faults` are how often each may happen; empty: each as often as there is room. `UsageError` for
    a fault that none of the application's models has.
    """
    known = dict.fromkeys(name for facet in application.facets for name in facet.faults)
    for name in faults:
        if name not in known:
            raise unknown_name("fault of this application", name, known)
    if max_faults < 0:
        raise UsageError(f"--max-faults {max_faults}: valid are whole numbers from 0")
    seconds = budget.seconds
    most = sum(faults.values()) if faults else max_faults
    found = searched(application.facets, faults, most, budget, on_search)
    broken = [promise for promise in found if promise.broken]
    changes, all_tried = kept_by(broken, found, budget, on_search)
    traces = {promise.claim: trace_of(promise.broken[0].cell) for promise in broken}
    known_bugs = concerning(application.facets, faults, most)
    return ApplicationAnswer(
        application, faults, most, tuple(found), application.stated, known_bugs, tuple(changes),
        all_tried, seconds, traces,
    )  # fmt: skip


# --- as text and data ----------------------------------------------------------------------------


def _text(found: ApplicationAnswer, width: int) -> str:
    """All of it in lines of the width."""
    blocks = [_asked(found)]
    blocks += [
        _rows(found, title) for title in dict.fromkeys(p.facet.title for p in found.promises)
    ]
    blocks += [_stated(found), _known(found), _story(found), _prevented(found), _verdict(found)]
    return paragraphs(blocks, width)


def _asked(found: ApplicationAnswer) -> Iterator[str]:
    asked = found.application
    yield f"{asked.words}: brokers of Kafka {asked.brokers}, clients of {asked.clients}"
    for one in (*asked.read, *asked.assumed):
        means = f"; {one.means}" if one.means else ""
        yield f"  {one.name}={one.value}: {one.origin}{means}"
    for why in dict.fromkeys(asked.unused.values()):
        keys = ", ".join(key for key, reason in asked.unused.items() if reason == why)
        yield f"  not used: {keys}: {why}"
    if asked.ignored:
        yield f"  not used by the models: {counted(len(asked.ignored), 'other key')}"
    if found.faults:
        yield f"faults: at most {faults_words(tuple(found.faults.items()))}"
    else:
        yield f"faults: any {found.max_faults} of those that can happen in each model"


def _rows(found: ApplicationAnswer, title: str) -> Iterator[str]:
    mine = [promise for promise in found.promises if promise.facet.title == title]
    yield title
    sizes = ", ".join(f"{n.replace('_', ' ')} {c}" for n, c in mine[0].facet.sizes.items())
    yield f"  ({mine[0].facet.choice.protocol}, within {sizes})"
    for promise in mine:
        yield f"  {promise.column.name:<{WIDTH}} {row_words(promise, found)}"
        name = promise.claim
        if name in found.files:
            yield f"    {found.files[name]}"


def row_words(promise: Promise, found: ApplicationAnswer) -> str:
    """What was found of a promise, in a line."""
    if promise.broken:
        return "broken by " + "; or ".join(each.words for each in promise.broken)
    if promise.searched < 0:
        return "not searched: time ran out"
    done = f"kept with any {counted(promise.searched, 'fault')}, exhausted"
    if found.faults:
        some = any(found.faults.get(name) for name in promise.facet.faults)
        done = "kept, exhausted" if some else "kept, exhausted: none of these faults is of it"
    return f"{done}; more not searched: time ran out" if promise.rest else done


def _stated(found: ApplicationAnswer) -> Iterator[str]:
    if found.stated:
        yield "beside the models"
    for each in found.stated:
        yield f"  {each.about:<{WIDTH}} {each.words}"


def _known(found: ApplicationAnswer) -> Iterator[str]:
    bugs = ", ".join(one.words for one in found.known) or "none with a stored case"
    yield f"known bugs of these releases under these faults (`highwater affected`): {bugs}"


def _story(found: ApplicationAnswer) -> Iterator[str]:
    first = next((promise for promise in found.promises if promise.broken), None)
    if first is None:
        return
    yield f"how: {first.column.name}, with {faults_words(first.broken[0].faults)}"
    yield from steps_of(found.traces[first.claim])


def _prevented(found: ApplicationAnswer) -> Iterator[str]:
    if not found.is_lossy:
        return
    rest = "" if found.all_tried else " (time ran out before all were tried)"
    lines = [f"{each.change.line}: {', '.join(each.promises)}" for each in found.changes]
    lines += [
        f"{each.instead}, {Tier.SETTING.words}: {each.about}"
        for each in found.stated if each.instead
    ]  # fmt: skip
    if not lines:
        yield f"no single change was found that keeps a promise which these faults break{rest}"
        return
    yield f"what keeps a promise under the faults that break it, cheapest first{rest}"
    yield from (f"  {number}. {line}" for number, line in enumerate(lines, 1))


def _verdict(found: ApplicationAnswer) -> Iterator[str]:
    broken = [promise.column.name for promise in found.promises if promise.broken]
    broken += [each.about for each in found.stated if each.is_kept is False]
    if broken:
        yield f"broken: {', '.join(broken)}"
    elif found.is_decided:
        yield "every promise is kept in any state within these bounds"
    else:
        yield (
            f"no promise was broken in {found.seconds:g} s, in which not all sets of faults were "
            "searched (--max-seconds)"
        )


def _data(found: ApplicationAnswer) -> dict[str, Any]:
    """All of it as plain data, for JSON."""
    asked = found.application
    return {
        "release": asked.brokers,
        "clients": asked.clients,
        "application": asked.words,
        "read": [vars(one) for one in (*asked.read, *asked.assumed)],
        "ignored": list(asked.ignored),
        "unused": dict(asked.unused),
        "faults": dict(found.faults),
        "max_faults": found.max_faults,
        "promises": [_of_promise(found, promise) for promise in found.promises],
        "stated": [
            {"about": s.about, "kept": s.is_kept, "words": s.words, "instead": s.instead}
            for s in found.stated
        ],
        "known": [
            {
                "bug": one.bug.name,
                "source": one.bug.source,
                "words": one.bug.words,
                "faults": dict(one.faults),
            }
            for one in found.known
        ],
        "changes": [
            {
                "change": each.change.words,
                "tier": each.change.tier.name.lower(),
                "about": each.change.about,
                "explored": each.change.choice.arguments,
                "promises": list(each.promises),
            }
            for each in found.changes
        ],
        "all_tried": found.all_tried,
        "seconds": found.seconds,
        "lossy": found.is_lossy,
        "decided": found.is_decided,
    }


def _of_promise(found: ApplicationAnswer, promise: Promise) -> dict[str, Any]:
    facet, name = promise.facet, promise.claim
    return {
        "about": promise.column.name,
        "facet": facet.title,
        "property": name,
        "explored": facet.choice.arguments,
        "settings": as_text(facet.choice.model.settings),
        "words": row_words(promise, found),
        "broken": [
            {
                "faults": dict(each.faults),
                "explored": facet.with_faults(dict(each.faults)).arguments,
                "depth": each.cell.found["depth"],
                "steps": list(each.cell.found["steps"]),
            }
            for each in promise.broken
        ],
        "searched": promise.searched,
        "decided": promise.is_decided,
        "trace": str(found.files[name]) if name in found.files else None,
    }
