"""Queries that most readers want, by name. They run on DuckDB and on Spark."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from model.language.errors import UsageError, unknown_name


def _levels(columns: Sequence[str]) -> str:
    """How many states each level has."""
    return "SELECT level, states FROM levels ORDER BY level"


def _actions(columns: Sequence[str]) -> str:
    """How many states of each level each action reaches first."""
    return (
        "SELECT level, action, count(*) AS states FROM states GROUP BY level, action "
        "ORDER BY level, action"
    )


def _first_fired(columns: Sequence[str]) -> str:
    """The first level at which each action fires."""
    return (
        "SELECT action, min(CASE WHEN enabled > 0 THEN level END) AS first_level, "
        "sum(enabled) AS enabled, sum(new) AS new FROM actions GROUP BY action "
        "ORDER BY first_level NULLS LAST, action"
    )


def _lag(columns: Sequence[str]) -> str:
    """How many records followers lag behind the leader, in how many states; negative: ahead."""
    ends = {m[2]: m[0] for m in map(re.compile(r"(\w+)_(\d+)_log_end").fullmatch, columns) if m}
    leader = _one_of(columns, ("quorum_leader", "controller_leader"))
    if not ends:
        raise UsageError("the query lag needs logs in the state, and this protocol has none")
    cases = " ".join(f"WHEN {number} THEN {end}" for number, end in ends.items())
    parts = [
        f"SELECT '{end.removesuffix('_log_end')}' AS follower, "
        f"(CASE {leader} {cases} END) - {end} AS lag FROM states WHERE {leader} <> {number}"
        for number, end in ends.items()
    ]
    union = " UNION ALL ".join(parts)
    return (
        f"SELECT follower, lag, count(*) AS states FROM ({union}) AS lags "
        "GROUP BY follower, lag ORDER BY follower, lag"
    )


def _isr(columns: Sequence[str]) -> str:
    """How many replicas are in sync, in how many states."""
    isr = _one_of(columns, ("quorum_isr", "controller_isr", "leader_isr"))
    return (
        f"SELECT bit_count({isr}) AS in_sync, count(*) AS states FROM states "
        f"GROUP BY bit_count({isr}) ORDER BY in_sync"
    )


def _one_of(columns: Sequence[str], wanted: Sequence[str]) -> str:
    for name in wanted:
        if name in columns:
            return name
    raise UsageError(
        f"this query needs a column {' or '.join(wanted)}, and this protocol has none of them"
    )


READY: dict[str, Callable[[Sequence[str]], str]] = {
    "levels": _levels,
    "actions": _actions,
    "first-fired": _first_fired,
    "lag": _lag,
    "isr": _isr,
}
"""Queries by name; each makes its SQL from the names of the state's columns."""


def ready_query(name: str, columns: Sequence[str]) -> str:
    """The SQL of the ready query called `name`."""
    if name not in READY:
        raise unknown_name("ready query", name, READY)
    return READY[name](columns)
