"""Which fix each Kafka version lacks, found by search: the table in docs/broker-model.md.

For each preset: search for a loss; see which of the missing fixes make its trace impossible; switch
the first of them on; search again, until nothing is lost. Run from the repository's root.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from checker.search.explore import Explorer, Limits, Options
from checker.traces.trace import build_trace
from checker.verdict import Violation
from model.kafka.protocol import KAFKA
from model.kafka.settings import Truncation
from model.language.errors import HighwaterError
from model.language.protocol import Model
from properties import choose_properties

SAFE = {"min.insync.replicas": "2", "acks": "all", "unclean.leader.election.enable": "false"}
FIXES: dict[str, Mapping[str, str]] = {
    "1 (to KIP-101)": {"truncation": "leader_epoch"},
    "2, 6 (to KIP-279)": {"truncation": "leader_epoch_iterated"},
    "9": {"join.isr.from.epoch.start": "true"},
    "10": {"fetch.fenced.by.epoch": "true"},
    "18": {"answer.matches.request.epoch": "true"},
    "21": {"isr.unfenced.brokers.only": "true"},
    "22": {"broker.epoch.checked": "true"},
    "26": {"hw.frozen.below.min.isr": "true"},
    "bounces noticed (KAFKA-7235)": {"quick.bounce": "refused"},
    "36": {"reset.follower.leo.every.epoch": "true"},
    "27 with 26": {"eligible.leader.replicas": "true", "hw.frozen.below.min.isr": "true"},
}
FAULTS: dict[str, dict[str, int]] = {
    "elections and a crash": {"crashes": 1, "preferred_elections": 2, "max_leader_epoch": 3},
    "a power loss": {"crashes": 0, "power_losses": 1, "preferred_elections": 1, "log_size": 2,
                     "max_records": 2, "max_leader_epoch": 2},
    "a disk loss": {"crashes": 0, "disk_losses": 1, "preferred_elections": 1, "log_size": 2,
                    "max_records": 2, "max_leader_epoch": 2},
}  # fmt: skip
LOSS = ("exposed_records_survive", "acknowledged_records_survive")
PRESETS = [name for name in KAFKA.presets if name != "kafka-0.8.2"]


def shortest_loss(model: Model) -> tuple[Violation | None, str]:
    """The shortest loss, and what the search came to."""
    options = Options(symmetry=True)
    chosen = choose_properties(KAFKA, LOSS)
    result = Explorer(model, chosen, Limits(seconds=240), options).run()
    words = f"{result.coverage}, {result.distinct_states:,} classes"
    return (result.violations[0] if result.violations else None), words


def covers(bounds: dict[str, int], settings: dict[str, str], loss: Violation) -> bool:
    """With these settings the trace of `loss` is no trace of a loss any more."""
    model = KAFKA.model(bounds, settings)
    by_name = {(i.action.name, i.arguments): i for i in model.instances}
    try:
        steps = [by_name[step.action.name, step.arguments] for step in loss.steps]
        build_trace(model, steps, loss.property)
    except HighwaterError:
        return True
    return False


def is_missing(name: str, fix: Mapping[str, str], settings: Mapping[str, str]) -> bool:
    """The fix would change the settings, and for the better; ELR is for KRaft alone."""
    if "truncation" in fix:
        order = list(Truncation)
        return order.index(Truncation(settings["truncation"])) < order.index(
            Truncation(fix["truncation"])
        )
    if name == "27 with 26" and settings["isr.changes"] == "zookeeper":
        return False
    return any(settings[key] != value for key, value in fix.items())


def peel(preset: str, bounds: dict[str, int]) -> str:
    """The losses of a preset, one after the other, with the fixes that prevent each."""
    settings = {**KAFKA.preset(preset), **SAFE}
    found: list[str] = []
    while True:
        loss, words = shortest_loss(KAFKA.model(bounds, settings))
        if loss is None:
            return ", then ".join([*found, f"nothing ({words})"])
        missing = {
            name: fix
            for name, fix in FIXES.items()
            if is_missing(name, fix, settings) and covers(bounds, settings | dict(fix), loss)
        }
        found.append(f"**{' or '.join(missing) or '27, which needs KRaft,'}** after {loss.depth}")
        if not missing:
            return ", then ".join(found)
        settings |= dict(next(iter(missing.values())))


def main() -> None:
    """Print the table, or only the rows of the presets that are given."""
    print(f"| preset | {' | '.join(FAULTS)} |")
    print("|---|" + "---|" * len(FAULTS))
    for preset in sys.argv[1:] or PRESETS:
        cells = [peel(preset, bounds) for bounds in FAULTS.values()]
        print(f"| `{preset}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
