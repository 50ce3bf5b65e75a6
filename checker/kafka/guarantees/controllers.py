"""The controllers' quorum that an operator asks about, as a choice of the model `kraft`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.core.amounts import counted
from checker.kafka.guarantees.config_files import read_config
from checker.kafka.guarantees.kafka_keys import AUTO_JOIN, BOOTSTRAP, LEVEL, VOTERS
from checker.lab.experiments.choices import Choice
from model.kafka.releases import is_of_a_series
from model.kraft.bounds import APPENDS, BOUNDS, EPOCHS, NODES
from model.kraft.presets import PRESETS
from model.kraft.protocol import KRAFT
from model.language.budgets import Budget
from model.language.declare.history import version_of
from model.language.declare.settings import as_text
from model.language.errors import UsageError, unknown_name

FAULTS: Mapping[str, str] = {
    bound.name: bound.words for bound in BOUNDS if isinstance(bound, Budget) and bound != APPENDS
}
"""What may be asked to happen to controllers so many times, in words."""

SIZES = ("appends", "epochs", "log_size")
"""What else may be said: within which sizes."""

RELEASES: Mapping[str, str] = {
    name.partition("-")[2]: name for name in PRESETS if name != "kafka-fixed"
}
"""The presets that are releases, by their versions, oldest first."""


@dataclass(frozen=True)
class Controllers:
    """A quorum as it was asked about: the release, how many vote, and what was read where."""

    release: str
    preset: str
    nodes: int
    settings: Mapping[str, str]
    read: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The quorum, for people."""
        level = as_text(self.choice({}).model.settings)[LEVEL]
        kept = "voters in the log" if level == "1" else "configured voters"
        who = counted(self.nodes, "controller")
        return f"Kafka {self.release}, {who}, {kept} ({LEVEL} {level})"

    def choice(self, numbers: Mapping[str, int]) -> Choice:
        """What is searched, with these faults and sizes: else there is room for each fault."""
        faults = {name: count for name, count in numbers.items() if name in FAULTS}
        sizes = {"epochs": EPOCHS.default, "appends": 2 if sum(faults.values()) == 1 else 1}
        sizes |= {name: number for name, number in numbers.items() if name in SIZES}
        room = sizes["epochs"] + sizes["appends"] + faults.get("voter_changes", 0)
        quiet = dict.fromkeys(FAULTS, 0)
        bounds = {**quiet, "nodes": self.nodes, "log_size": room, **sizes, **faults}
        return Choice("kraft", self.preset, self.settings, bounds)


def describe_controllers(
    kafka: str, files: Sequence[Path], settings: Mapping[str, str], nodes: int | None
) -> Controllers:
    """The quorum that a release, properties files and settings describe.

    With `controller.quorum.voters` the voters are configured (`kraft.version` 0), and there are as
    many as it lists; `nodes` and `settings` go before what files say. `UsageError` for a release
    without KRaft, a number of controllers that a file contradicts, a setting that there is not.
    """
    preset = preset_of(kafka)
    chosen: dict[str, str] = {}
    read = []
    for path in files:
        for entry in read_config(path).entries:
            if entry.key not in (VOTERS, BOOTSTRAP, AUTO_JOIN) or not entry.value.strip():
                continue
            read.append(f"{entry.key}={entry.value}: {entry.file}")
            if entry.key == AUTO_JOIN:
                chosen[AUTO_JOIN] = entry.value
            elif entry.key == VOTERS:
                listed = len(entry.value.split(","))
                if nodes not in (None, listed):
                    raise UsageError(f"--controllers {nodes}: {path} lists {listed} in {VOTERS}")
                nodes, chosen[LEVEL] = listed, "0"
    if nodes is None:
        raise UsageError(f"say how many controllers vote: --controllers N, or {VOTERS} in a file")
    if not 1 <= nodes <= NODES.maximum:
        raise UsageError(f"--controllers {nodes}: valid are 1 to {NODES.maximum}")
    chosen |= settings
    had = as_text(KRAFT.model({}, None, preset).settings)
    for name in chosen:
        if name not in had:
            raise unknown_name("setting of kraft", name, had, "highwater list kraft")
    if chosen.get(LEVEL) == "1" and had[LEVEL] == "0":
        raise UsageError(f"{LEVEL}=1: Kafka {kafka} has configured voters only; 3.9 is the first")
    return Controllers(kafka.strip().removeprefix("kafka-"), preset, nodes, chosen, tuple(read))


def preset_of(kafka: str) -> str:
    """The preset of `kraft` with a release's rules; `UsageError` for one without KRaft."""
    asked = kafka.strip().removeprefix("kafka-")
    names = [name for name in RELEASES if is_of_a_series(asked) and _is_upto(name, asked)]
    if not names:
        raise UsageError(f"Kafka {kafka} has no KRaft here: valid are releases from 2.8 on")
    return RELEASES[names[-1]]


def _is_upto(name: str, asked: str) -> bool:
    return version_of(name) <= version_of(asked)
