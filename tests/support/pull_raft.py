"""The core of a quorum's state, in `kip595` and in a TLA+ specification of KRaft without changes.

The specification is `specifications/pull-raft/KRaft.tla` of Jack Vanlightly's raft-tlaplus, with
messages as state. It is no part of this repository: `RAFT_TLAPLUS` in the environment says where a
checkout is. A core is of each voter whether it leads, is a candidate or neither, its epoch, and the
epochs of its log.

There a leader appends nothing when it is elected. Here its LeaderChange record is in the same step,
so that what a client appends stands for it there: at once, and states in between are left out. So
is what comes after an `IllegalState`, into which a voter gets that has restarted and then hears of
its epoch's leader.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from checker.core.engines.reference import State
from checker.core.graphs.built import build
from model.language.protocol import Model
from model.protocols import PROTOCOLS
from tests.support.tlc import shown_cores, values_of

FOLDER = os.environ.get("RAFT_TLAPLUS", "")
BOUNDS = {"voters": 2, "log_size": 2, "epochs": 2}
SPECIFIED = 75_106

Core = tuple[tuple[Any, ...], ...]

_NAMES = """
    Follower Candidate Leader Unattached Voted Nil RequestVoteRequest RequestVoteResponse
    BeginQuorumRequest BeginQuorumResponse EndQuorumRequest FetchRequest FetchResponse Ok NotOk
    Diverging FencedLeaderEpoch NotLeader UnknownLeader IllegalState EqualEpoch AnyEpoch
"""

_MODULE = r"""
---- MODULE Core ----
EXTENDS KRaft
CONSTANTS LastEpochAllowed, LogSize
IsNew(i) == state[i] = Leader /\ LastEpoch(log[i]) < currentEpoch[i]
Unused == {v \in Value : acked[v] = Nil}
Append1(i) == Unused # {} /\ ClientRequest(i, CHOOSE v \in Unused : TRUE)
CoreNext ==
    IF \E i \in Server : IsNew(i)
    THEN \E i \in Server : IsNew(i) /\ Append1(i)
    ELSE \/ \E i \in Server : Restart(i) \/ RequestVote(i) \/ BecomeLeader(i) \/ Append1(i)
         \/ HandleRequestVoteRequest \/ HandleRequestVoteResponse \/ HandleBeginQuorumRequest
         \/ \E i, j \in Server : SendFetchRequest(i, j)
         \/ RejectFetchRequest \/ DivergingFetchRequest \/ AcceptFetchRequest
         \/ HandleSuccessFetchResponse \/ HandleDivergingFetchResponse \/ HandleErrorFetchResponse
Within == \A i \in Server : /\ state[i] # IllegalState
                           /\ currentEpoch[i] <= LastEpochAllowed /\ Len(log[i]) <= LogSize
CoreView == <<messages, serverVars, candidateVars, leaderVars, logVars, Unused>>
RoleOf(i) == CASE state[i] = Candidate -> "C" [] state[i] = Leader -> "L" [] OTHER -> "F"
EpochsOf(i) == [offset \in DOMAIN log[i] |-> log[i][offset].epoch - 1]
Shown == (Within /\ \A i \in Server : ~IsNew(i)) =>
    PrintT("core " \o ToString([i \in Server |-> <<RoleOf(i), currentEpoch[i] - 1, EpochsOf(i)>>]))
====
"""


def model() -> Model:
    """`kip595` at the size that is compared."""
    return PROTOCOLS["kip595"].model(BOUNDS)


def cores_of(quorum: Model) -> set[Core]:
    """The cores of its states."""
    graph = build(quorum)
    return {_core(quorum, state) for state in graph.engine.layout.unpack(graph.graph.words)}


def _core(quorum: Model, state: State) -> Core:
    def of_voter(voter: int) -> tuple[Any, ...]:
        def value(name: str, *index: int) -> int:
            return state[quorum.positions[f"voters.{name}", (voter, *index)]]

        log = tuple(value("log.epoch", offset) for offset in range(value("log.end")))
        return "FCL"[value("role")], value("epoch"), log

    return tuple(map(of_voter, range(quorum.bounds["voters"])))


def specified(folder: Path) -> tuple[int, set[Core]]:
    """How many states the specification has according to TLC, and the cores.

    It begins in epoch 1. Elections and restarts, which are not in the view, do not run out.
    """
    numbers = ", ".join(str(k + 1) for k in range(BOUNDS["voters"]))
    chosen = [
        f"Server = {{{numbers}}}",
        "Value = {1, 2, 3, 4}",
        "MaxElections = 6",
        "MaxRestarts = 4",
        f"LastEpochAllowed = {BOUNDS['epochs'] + 1}",
        f"LogSize = {BOUNDS['log_size']}",
    ]
    lines = [
        *(f"CONSTANT {each}" for each in [*(f"{n} = {n}" for n in _NAMES.split()), *chosen]),
        "INIT Init", "NEXT CoreNext", "VIEW CoreView", "CONSTRAINT Within", "INVARIANT Shown",
        "CHECK_DEADLOCK FALSE",
    ]  # fmt: skip
    place = Path(FOLDER) / "specifications" / "pull-raft"
    states, shown = shown_cores(place, _MODULE, "\n".join(lines), folder)
    cores = {
        tuple((role, epoch, tuple(log)) for role, epoch, log in values_of(text)) for text in shown
    }
    return states, cores
