"""Replicas as a state of the broker model: plain data, from which one can walk and search.

A log on a disk has millions of offsets and the model's has a few, but a few matter: where a log or
its high watermark ends, an epoch begins, or two logs differ. Records between two such offsets are
alike to every replica, so each run of them becomes one record. What all replicas hold below their
high watermarks is the first one. What disks do not say is taken as little as can be, and told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from checker.kafka.audit.judgement import Judgement
from checker.kafka.audit.segments import Stretch
from model.language.errors import UsageError

MOST = 8
"""Runs of records that are told apart: a state space of longer logs is of no use."""

FORMAT = "highwater-state"


@dataclass(frozen=True)
class Found:
    """A partition as a state. `offsets` are the runs of records, from and to (exclusive), that the
    model's offsets stand for; `epochs` maps leader epochs to the model's."""

    name: str
    offsets: tuple[tuple[int, int], ...]
    epochs: Mapping[int, int]
    bounds: Mapping[str, int]
    state: Mapping[str, Any]
    notes: tuple[str, ...]

    def data(self) -> dict[str, Any]:
        """The file that `browse --state` reads."""
        return {
            "format": FORMAT, "protocol": "kafka", "name": self.name, "bounds": dict(self.bounds),
            "offsets": [list(run) for run in self.offsets],
            "epochs": {str(epoch): number for epoch, number in self.epochs.items()},
            "notes": list(self.notes), "state": dict(self.state),
        }  # fmt: skip


def as_state(judgement: Judgement) -> Found:
    """The replicas of a partition as a state. `UsageError`, which says why, if they are none."""
    case = _Case(judgement)
    case.refuse()
    epochs = {epoch: number for number, epoch in enumerate(case.epochs)}
    brokers = {f"b{place}": case.broker(place, epochs) for place in case.places}
    state = {
        "brokers": {"#map": [[name, broker] for name, broker in brokers.items()]},
        "offsets": {"#map": [[k, {"exposed": v}] for k, v in enumerate(case.exposed)]},
        "controller": {
            "leader": "none", "leader_epoch": max(epochs.values()), "leader_is_current": False,
            "isr": {"#set": [f"b{place}" for place in case.latest]},
        },
        "next_record": len(case.ids),
    }  # fmt: skip
    bounds = {
        "replicas": len(case.places), "log_size": len(case.runs) + 1,
        "max_records": len(case.ids) + 1, "max_leader_epoch": len(epochs) + 2,
    }  # fmt: skip
    name, notes = judgement.group.name, tuple(case.notes(epochs))
    return Found(name, tuple(case.runs), epochs, bounds, state, notes)


class _Case:
    """The replicas of a partition, and the runs of records that tell them apart."""

    def __init__(self, judgement: Judgement) -> None:
        self._judgement = judgement
        self._replicas = judgement.group.replicas
        self._logs = judgement.comparison.contents
        self.places = range(len(self._replicas))
        self._start = max(log.start for log in self._logs)
        self._highs = [replica.high_watermark or 0 for replica in self._replicas]

    def refuse(self) -> None:
        """`UsageError` for what no state of the model is like."""
        name, holes = self._judgement.group.name, self._judgement.comparison.holes
        for place, log in enumerate(self._logs):
            who = self._replicas[place].name
            if log.damage:
                raise _refused(name, f"{who} has {log.damage[0]}")
            if place in holes or (log.end > log.start and not log.stretches):
                raise _refused(name, f"the log of {who} has holes where another has records")
            if any(stretch.epoch < 0 for stretch in log.stretches):
                raise _refused(name, f"{who} has batches without a leader epoch")
            if log.end < self._start:
                first = self._replicas[[each.start for each in self._logs].index(self._start)]
                raise _refused(
                    name, f"the log of {who} ends at {log.end:,}, below {self._start:,}, where "
                    f"that of {first.name} begins",
                )  # fmt: skip
        if len(self.runs) > MOST:
            raise _refused(
                name, f"the logs differ in too many ways: {len(self.runs)} runs of records are "
                f"to be told apart, and a log of the model has {MOST} at most",
            )  # fmt: skip

    @cached_property
    def _stretches(self) -> list[list[Stretch]]:
        """Of each log the stretches of one epoch, on end: a hole that all logs have is none."""
        found = []
        for log in self._logs:
            firsts = [log.start, *(stretch.first for stretch in log.stretches[1:]), log.end]
            found.append([
                Stretch(stretch.epoch, first, until)
                for stretch, (first, until) in zip(log.stretches, pairwise(firsts), strict=False)
            ])  # fmt: skip
        return found

    # --- offsets ---------------------------------------------------------------------------------

    @cached_property
    def _every_run(self) -> list[tuple[int, int]]:
        """All runs of records, from the offset on at which every log has begun."""
        ends = {log.end for log in self._logs} | set(self._highs)
        ends |= {stretch.first for stretches in self._stretches for stretch in stretches}
        for kinds in self._judgement.comparison.differences.values():
            ends |= {each.offset for each in kinds.values()}
        inner = sorted(end for end in ends if end > self._start)
        return list(pairwise([self._start, *inner]))

    @cached_property
    def _common(self) -> int:
        """How many runs at the beginning are the same on all, and below all high watermarks."""
        for count, (begin, until) in enumerate(self._every_run):
            held = {self._held(place, begin) for place in self.places}
            if len(held) > 1 or held == {None} or min(self._highs) < until:
                return count
        return len(self._every_run)

    @cached_property
    def runs(self) -> list[tuple[int, int]]:
        """The runs that the model's offsets stand for; what is common to all is one."""
        common = self._every_run[: self._common]
        rest = self._every_run[self._common :]
        return [(common[0][0], common[-1][1]), *rest] if common else rest

    def offset(self, actual: int) -> int:
        """The model's offset for one at which a run ends, or that lies before all of them."""
        return sum(1 for _, until in self.runs if until <= actual)

    # --- records ---------------------------------------------------------------------------------

    def _epoch(self, place: int, offset: int) -> int | None:
        """The epoch of the record at an offset; `None` if there is none."""
        for stretch in self._stretches[place]:
            if stretch.first <= offset < stretch.until:
                return stretch.epoch
        return None

    def _held(self, place: int, offset: int) -> tuple[int, int] | None:
        """What a replica holds at an offset: the epoch, and the first replica with the same."""
        epoch = self._epoch(place, offset)
        if epoch is None:
            return None
        for other in range(place + 1):
            if self._epoch(other, offset) == epoch and not self._differ(other, place, offset):
                return epoch, other
        raise AssertionError("a replica holds what it holds")

    def _differ(self, one: int, other: int, offset: int) -> bool:
        """Whether two logs have differed within an epoch up to there."""
        kinds = self._judgement.comparison.differences.get((one, other), {})
        return 0 in kinds and kinds[0].offset <= offset

    @cached_property
    def ids(self) -> dict[tuple[int, tuple[int, int]], int]:
        """The record that each run and what is held there stands for, numbered in order."""
        found = {
            (k, held)
            for k, (_, until) in enumerate(self.runs)
            for place in self.places
            if (held := self._held(place, until - 1)) is not None
        }
        return {each: number for number, each in enumerate(sorted(found))}

    def _log(self, place: int) -> list[tuple[int, int]]:
        """A replica's records in the model: id and actual epoch."""
        held = [self._held(place, until - 1) for _, until in self.runs]
        return [(self.ids[k, each], each[0]) for k, each in enumerate(held) if each is not None]

    @cached_property
    def exposed(self) -> list[int]:
        """For each of the model's offsets the record that a high watermark says was exposed first:
        of several, that of the earliest epoch; -1 where none does."""
        found = []
        for k, (_, until) in enumerate(self.runs):
            here = [
                (held, self.ids[k, held])
                for place in self.places
                if self._highs[place] >= until
                and (held := self._held(place, until - 1)) is not None
            ]
            found.append(min(here)[1] if here else -1)
        return [*found, -1]

    # --- epochs, and who is in sync --------------------------------------------------------------

    def _last_epoch(self, place: int) -> int:
        """The latest epoch that a replica knows, by its batches or its epoch file."""
        said = [stretch.epoch for stretch in self._logs[place].stretches]
        return max([*said, *(epoch for epoch, _ in self._replicas[place].epochs or ())], default=0)

    @cached_property
    def epochs(self) -> list[int]:
        """The epochs that the state has, in order."""
        used = {epoch for place in self.places for _, epoch in self._log(place)}
        return sorted(used | {max(map(self._last_epoch, self.places))})

    @cached_property
    def latest(self) -> list[int]:
        """The replicas that know the latest epoch."""
        return [place for place in self.places if self._last_epoch(place) == self.epochs[-1]]

    def broker(self, place: int, epochs: Mapping[int, int]) -> dict[str, Any]:
        """A replica as a broker that is down."""
        return {
            "up": False, "fenced": True, "leader": "none", "isr": {"#set": []},
            "stopped_cleanly": self._replicas[place].clean_shutdown,
            "log": [{"id": id, "epoch": epochs[epoch]} for id, epoch in self._log(place)],
            "high_watermark": self.offset(self._highs[place]),
        }  # fmt: skip

    # --- in words --------------------------------------------------------------------------------

    def notes(self, epochs: Mapping[int, int]) -> Iterator[str]:
        """What stands for what, what is not in the state, and what the disks do not say."""
        names = [replica.name for replica in self._replicas]
        yield "brokers: " + ", ".join(f"b{k} is {name}" for k, name in enumerate(names))
        runs = [f"{k} is {_run(run)}" for k, run in enumerate(self.runs)]
        yield f"offsets: {', '.join(runs) or 'no record'}"
        if self._common:
            yield f"{_run(self.runs[0])}: the same on all, and one record here"
        yield "leader epochs: " + ", ".join(f"{new} is {old}" for old, new in epochs.items())
        for replica, log in zip(self._replicas, self._logs, strict=True):
            if replica.high_watermark is None:
                yield f"{replica.name} has no high watermark checkpointed: it is 0 here"
            beyond = [epoch for epoch, offset in replica.epochs or () if offset >= log.end]
            if beyond:
                yield (
                    f"the epoch file of {replica.name} says that epoch {_words(beyond)} began at "
                    "the log's end or beyond: logs here have no epoch without a record"
                )
        if len(names) == 1:
            yield "one replica alone: name the directories of the others too"
        in_sync = [names[place] for place in self.latest]
        yield (
            "not on these disks, and taken so: all brokers are down and fenced, nobody leads; in "
            f"sync is who knows the latest epoch ({', '.join(in_sync)}); nothing was acknowledged, "
            "and what lies below a high watermark was exposed"
        )


def _refused(name: str, why: str) -> UsageError:
    return UsageError(f"{name} is no state of the model: {why}")


def _run(run: tuple[int, int]) -> str:
    begin, until = run
    return f"{begin:,}" if until == begin + 1 else f"{begin:,} to {until - 1:,}"


def _words(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
