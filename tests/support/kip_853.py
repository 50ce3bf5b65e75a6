"""The core of a quorum's state, in `kraft` and in the TLA+ specification of KIP-853.

The specification is `kraft/kip_853` of Jack Vanlightly's kafka-tlaplus, with messages as state. It
is no part of this repository: `KAFKA_TLAPLUS` in the environment says where a checkout is. Both
begin with a leader of epoch 1 and its first record. A core is what both have of a node: its role,
where one that has voted is Unattached; its epoch; whom it follows; the epochs of its log; and the
high watermark of a leader, also one that has resigned.

That of a follower is left out: the specification lets it fall to that of a new leader, which does
not know yet what is committed. Kafka's leader says that it does not know (`LeaderState`).
"""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path
from typing import Any

from checker.core.engines.reference import State
from checker.core.graphs.built import build
from model.kraft.state import CANDIDATE, FOLLOWER, LEADER, RESIGNED, UNATTACHED, EpochState
from model.language.protocol import Model
from model.protocols import PROTOCOLS
from tests.support.tlc import shown_cores, values_of

FOLDER = os.environ.get("KAFKA_TLAPLUS", "")
_GOLDEN = Path(__file__).parents[1] / "golden" / "kip_853.csv"
ROWS = [
    {name: int(value) for name, value in row.items()}
    for row in csv.DictReader(_GOLDEN.read_text(encoding="utf-8").splitlines())
]
_ROLES = {UNATTACHED: "U", FOLLOWER: "F", CANDIDATE: "C", LEADER: "L", RESIGNED: "R"}

Core = tuple[tuple[Any, ...], ...]

_MODULE = r"""
---- MODULE Core ----
EXTENDS kraft_kip_853
RoleOf(s) == CASE state[s] \in {Unattached, Voted} -> "U" [] state[s] = Follower -> "F"
               [] state[s] = Candidate -> "C" [] state[s] = Leader -> "L" [] OTHER -> "R"
CoreOf(s) == <<RoleOf(s), current_epoch[s], IF state[s] = Follower THEN leader[s] ELSE 0,
               [offset \in DOMAIN log[s] |-> log[s][offset].epoch],
               IF state[s] \in {Leader, Resigned} THEN hwm[s] ELSE 0>>
Shown == PrintT("core " \o ToString([s \in StartedServers |-> CoreOf(s)]))
====
"""


def model_of_row(row: dict[str, int]) -> Model:
    """`kraft` with the rules that the specification has: those of 3.9, a record a response."""
    bounds = {
        "nodes": row["nodes"],
        "epochs": row["epochs"],
        "log_size": row["epochs"] + row["appends"],
        "appends": row["appends"],
        "voter_changes": 0,
        "crashes": row["crashes"],
        "resignations": row["epochs"],  # there a leader may resign at any moment
    }
    return PROTOCOLS["kraft"].model(bounds, {"whole.fetches": False}, "kafka-3.9")


def cores_of(model: Model) -> tuple[int, set[Core]]:
    """How many states the model has, and their cores."""
    graph = build(model)
    states = graph.engine.layout.unpack(graph.graph.words)
    return len(states), {_core(model, state) for state in states}


def _core(model: Model, state: State) -> Core:
    def of_node(node: int) -> tuple[Any, ...]:
        def value(name: str, *index: int) -> int:
            return state[model.positions[f"nodes.{name}", (node, *index)]]

        role = EpochState(value("role"))
        return (
            _ROLES[role],
            value("epoch"),
            value("leader") + 1 if role == FOLLOWER else 0,
            tuple(value("log.epoch", offset) for offset in range(value("log.end"))),
            value("high_watermark") if role in (LEADER, RESIGNED) else 0,
        )

    return tuple(map(of_node, range(model.bounds["nodes"])))


def specified(row: dict[str, int], folder: Path) -> tuple[int, set[Core]]:
    """How many states the specification has according to TLC, and their cores."""
    place = Path(FOLDER) / "kraft" / "kip_853"
    given = (place / "kraft_kip_853.cfg").read_text(encoding="utf-8")
    states, shown = shown_cores(place, _MODULE, _configuration(given, row), folder)
    return states, {_read(text) for text in shown}


def _configuration(given: str, row: dict[str, int]) -> str:
    """The specification's own, with other numbers, and without what its properties need."""
    values = "{" + ", ".join(f"v{number + 1}" for number in range(row["appends"])) + "}"
    chosen = dict.fromkeys(("MaxCrashes", "MaxAddReconfigs", "MaxRemoveReconfigs"), 0)
    chosen |= dict.fromkeys(("InitClusterSize", "MinClusterSize", "MaxClusterSize"), row["nodes"])
    chosen |= {
        "MaxSpawnedServers": row["nodes"],
        "MaxEpoch": row["epochs"],
        "MaxRestarts": row["crashes"],
    }
    for name, value in {**chosen, "Value": values}.items():
        given, count = re.subn(rf"^( *{name} =).*$", rf"\1 {value}", given, flags=re.MULTILINE)
        assert count == 1, name
    missing = "CONSTANT BeginQuorumEpochRequest = BeginQuorumEpochRequest"
    return f"{given}\nINVARIANT Shown\nCHECK_DEADLOCK FALSE\n{missing}\n"


def _read(text: str) -> Core:
    return tuple(
        (role, epoch, leader, tuple(log), mark)
        for role, epoch, leader, log, mark in values_of(text)
    )
