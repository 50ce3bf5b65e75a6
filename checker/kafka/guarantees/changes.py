"""What would turn a loss into safe: one setting, one upgrade, or one fix that no release has.

Which changes there are to a trace is known to `checker.lab.explanations`. Here each that prevents
it is judged as the cluster was, and they are put in the order of what they cost: first those with
which nothing stops that did not, and for longer than it did; of these settings, features, machines
and upgrades, and last those with which every write waits for a disk. Fixes in no release come last
of all, whatever they cost: nobody can have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from checker.core.search.allowance import Allowance
from checker.kafka.guarantees.faults import without_rebalance
from checker.kafka.guarantees.kafka_keys import (
    DEFAULT_NAMES,
    OPERATORS,
    REBALANCE,
    SLOW,
)
from checker.kafka.guarantees.releases import Release, has_feature, later
from checker.kafka.guarantees.stops import NONE, Ends, Outage
from checker.kafka.guarantees.tiers import NO_BUGS, SEVERAL, KnownBugs, Tier, known_bugs
from checker.kafka.guarantees.upgrade import UPGRADE_TO
from checker.kafka.guarantees.verdicts import (
    Judged,
    is_safe,
    judge_losses,
    judge_stops,
    trace_of,
)
from checker.lab.experiments.choices import Choice
from checker.lab.experiments.matrix import Cell
from checker.lab.explanations.candidates import Kind, candidates
from checker.lab.explanations.effects import Effects, settings_read
from checker.lab.explanations.remedies import fix_words
from checker.telling.report.why import why
from model.kafka.racks import Racks
from model.kafka.settings import KafkaSettings
from model.kafka.settings.eligible_replicas import ELR
from model.language.declare.settings import Role, as_text, describe
from model.language.errors import LimitError

_SETTINGS = describe(KafkaSettings)


@dataclass(frozen=True)
class Change:
    """One change: its words, what it is, where it comes from, and the choice that has it.

    With one that `waits` every write waits for a disk. `bugs` are those that come with it.
    """

    words: str
    tier: Tier
    choice: Choice
    about: str = ""
    waits: bool = False
    bugs: KnownBugs = NO_BUGS


@dataclass(frozen=True)
class Tried:
    """A change with its verdicts, and what stops with it that did not, or for longer."""

    change: Change
    judged: Judged
    costs: tuple[str, ...]

    @property
    def is_safe(self) -> bool:
        """Nothing is lost any more, and every reachable state was visited."""
        return all(is_safe(cell) for cell in self.judged.losses)

    @property
    def order(self) -> tuple[bool, int, bool, int]:
        """The cheapest first; last what nobody can have."""
        change = self.change
        return change.tier is Tier.UNRELEASED, len(self.costs), change.waits, change.tier

    @property
    def cost(self) -> str:
        """What stops with it, in words, and what the model does not measure."""
        stops = f": {'; '.join(self.costs)}" if self.costs else ""
        waits = "; each write waits for the disk, throughput and latency are not measured"
        words = f"costs {'availability' if self.costs else 'no availability'}{stops}"
        if bugs := self.change.bugs.stops:
            words += f"{'' if self.costs else ' under these faults'}; {bugs}"
        return words + (waits if self.change.waits else "")


def changes(
    found: Judged, release: Release, budget: Allowance, rebalances: bool = False,
    on_search: Callable[[str], None] = lambda _: None,
) -> tuple[tuple[Tried, ...], bool]:  # fmt: skip
    """The changes with which nothing is lost, the cheapest first; and whether all were tried."""
    safe: list[Tried] = []
    possible = _Possible(found, release, rebalances)
    for tier in (possible.settings(), possible.upgrades(), possible.unreleased()):
        for change in tier:
            if not budget.left:
                return tuple(sorted(safe, key=lambda one: one.order)), False
            on_search(change.words)
            try:
                tried = _tried(change, found, budget)
            except LimitError:
                continue  # nothing is left then
            if tried.is_safe:
                safe.append(tried)
                if change.tier not in SEVERAL:
                    break  # the nearest release, or one of the fixes
    return tuple(sorted(safe, key=lambda one: one.order)), True


def _tried(change: Change, before: Judged, budget: Allowance) -> Tried:
    judged = judge_losses(change.choice, budget, finer=bool(before.lost[0].mark))
    if not all(is_safe(cell) for cell in judged.losses):
        return Tried(change, judged, ())
    after = judge_stops(judged, budget) if before.stops else judged
    return Tried(change, after, tuple(_costs(before, after)))


def _costs(before: Judged, after: Judged) -> Iterator[str]:
    """What stops that did not, or stops worse, in words."""
    known = {cell.column.name: cell for cell in before.stops}
    for now in after.stops:
        was = known.get(now.column.name)
        if was is not None and _outage(now, after).is_worse_than(_outage(was, before)):
            lasting = after.lasting.get(now.column.properties[0])
            more = f", {lasting.words}" if lasting else ""
            yield f"{now.column.name} {now.words}{more}"


def _outage(cell: Cell, judged: Judged) -> Outage:
    """How long it stops; where that is not known, as long as what ends by itself."""
    if not cell.is_violated:
        return NONE
    return judged.lasting.get(cell.column.properties[0], Outage(Ends.BY_ITSELF, None, 0))


# --- which there are -----------------------------------------------------------------------------


class _Possible:
    """The single changes with which the trace of the first loss is none."""

    def __init__(self, found: Judged, release: Release, rebalances: bool) -> None:
        self._choice, self._release, self._rebalances = found.choice, release, rebalances
        trace = trace_of(found.lost[0])
        reason = why(trace)
        self._effects = Effects(trace, None if reason is None else reason.slice)
        self._candidates = [
            candidate
            for candidate in candidates(trace, settings_read(trace))
            if candidate.kind is not Kind.PROTOCOL
            and len(candidate.settings) == 1
            and self._effects.of(candidate.model, why=False).prevents
        ]

    def settings(self) -> Iterator[Change]:
        """What an operator can set in this release."""
        choice = self._choice
        if self._rebalances and choice.bounds["preferred_elections"]:
            yield Change(f"{REBALANCE}=false", Tier.SETTING, without_rebalance(choice))
        for candidate in sorted(self._candidates, key=lambda c: c.settings.keys() <= SLOW):
            ((name, value),) = candidate.settings.items()
            if name not in OPERATORS or not has_feature(self._release, name):
                continue
            if name == "min.insync.replicas" and int(value) > choice.bounds["replicas"]:
                continue
            if name == "broker.rack" and Racks(value).letters:
                continue  # which is safe by who happens to lead
            other = choice.with_settings(candidate.settings)
            tier = _TIERS.get(name, Tier.SETTING)
            bugs = known_bugs(KafkaSettings, name, as_text(other.model.settings))
            words = _SETTINGS[name].written_as(value)
            yield Change(words, tier, other, bugs.words, name in SLOW, bugs)

    def upgrades(self) -> Iterator[Change]:
        """Later releases, nearest first; of the rules that are new there, those that matter."""
        choice = self._choice
        if UPGRADE_TO in choice.settings:
            return  # which is under way
        released = [
            name
            for candidate in self._candidates
            if candidate.kind is Kind.FIX
            for name in candidate.settings
            if name == ELR or name not in DEFAULT_NAMES
            if _SETTINGS[name].role is not Role.FINENESS
        ]
        for newer in later(self._release):
            other = replace(choice, preset=newer.preset)
            if self._effects.of(other.model, why=False).prevents:
                had, has = as_text(choice.model.settings), as_text(other.model.settings)
                rules = [name for name in dict.fromkeys(released) if has[name] != had[name]]
                migrates = [] if newer.mode is self._release.mode else ["with KRaft"]
                bugs = known_bugs(KafkaSettings, ELR, has) if ELR in rules else NO_BUGS
                about = ", ".join([*migrates, *_rules_words(rules, has, bugs)])
                words = f"upgrade to {newer.alike}"
                yield Change(words, Tier.UPGRADE, other, about, bugs=bugs)

    def unreleased(self) -> Iterator[Change]:
        """Fixes that no release has, of what is most like the trace first."""
        fixes = [c for c in self._candidates if c.kind is Kind.FIX]
        for candidate in sorted(fixes, key=lambda c: -c.likeness):
            ((name, value),) = candidate.settings.items()
            if _SETTINGS[name].is_in_no_release:
                other = self._choice.with_settings(candidate.settings)
                words = fix_words([_SETTINGS[name]])
                yield Change(words, Tier.UNRELEASED, other, f"in the model {name}={value}")


def _rules_words(rules: Iterable[str], has: Mapping[str, str], bugs: KnownBugs) -> Iterator[str]:
    """What a later release has that matters: each by where it is published, ELR by its key."""
    sources = [_SETTINGS[name].source for name in rules if name != ELR]
    yield from dict.fromkeys(source.issues for source in sources if source and source.issues)
    if ELR in rules:
        yield _SETTINGS[ELR].written_as(has[ELR]) + (f"; {bugs.words}" if bugs.words else "")


_TIERS = {ELR: Tier.FEATURE, "broker.rack": Tier.MACHINES}
"""Of settings that take more of an operator than a line of a file."""
