"""Kafka to the model: random steps that Kafka's classes allow, explained by steps of the model.

The driver (`java/common/Driver.java`) asks Kafka what is possible. Here all states of the model
that fit what was observed so far are kept; an event is explained if some of them reach a state that
fits the next observation by a few steps of the actions that the event may stand for.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from checker.core.engines.compiled import CompiledExpansion
from checker.core.engines.layout import Layout, Words
from checker.core.engines.reference import ReferenceEngine
from checker.kafka.conformance.brokers import AT_ONCE
from checker.kafka.conformance.harness import Drive, Harness
from checker.kafka.conformance.plan import settings_of
from checker.kafka.conformance.projection import Projection, differing
from model.kafka.protocol import KAFKA
from model.language import Model
from model.language.errors import DomainError
from model.language.naming import instance_words

_METADATA = ("leader_apply_metadata", "follower_apply_metadata", "leader_read_known_image")
MEANS: dict[str, tuple[str, ...]] = {
    "produce": ("producer_send",),
    "shrink": ("leader_propose_shrink", "leader_propose_shrink_to_itself"),
    "fetch": (
        "follower_fetch_record", "follower_fetch_high_watermark", "leader_handle_fetch",
        "leader_propose_expand", "follower_truncate_on_fetch",
    ),
    "read": _METADATA,
    "hear": ("leader_hear_isr_answer", *_METADATA),
    "decide": ("controller_apply_isr_change", "controller_reject_isr_change"),
    "fence": ("controller_fence_broker", "controller_fence_leader", "controller_fence_last_leader"),
    "unfence": ("controller_unfence_broker", "controller_unfence_and_elect"),
    "elect": ("controller_elect_preferred_leader",),
    "fail over": ("controller_fail_over",),
    "ask again": ("leader_resend_isr_change",),
    "crash": ("broker_crash",),
    "stop": ("broker_shut_down",),
    "lose power": ("broker_lose_power",),
    "restart": ("broker_restart", *_METADATA),
}  # fmt: skip
"""The actions of the model that an event of the driver may stand for, none or several of them."""

MOST_STEPS = 3
FAULTS, FALSE_FENCINGS, ELECTIONS, FAIL_OVERS = 4, 2, 3, 1
BOUNDS = {
    "log_size": 3, "max_records": 3, "max_leader_epoch": 15, "crashes": FAULTS,
    "power_losses": FAULTS, "shutdowns": FAULTS, "false_fencings": FALSE_FENCINGS,
    "preferred_elections": ELECTIONS, "controller_failovers": FAIL_OVERS, "unclean_elections": 0,
}  # fmt: skip
EPOCHS_LEFT = 4
"""The driver changes leaders no more this far below the bound; Kafka itself may, a few times."""


@dataclass(frozen=True)
class Rejection:
    """An event that the model does not explain: which, where, and what the candidates came to."""

    event: str
    number: int
    differences: tuple[str, ...]
    guards: tuple[str, ...]

    @property
    def words(self) -> str:
        """For people, several lines."""
        lines = [f"event {self.number}, {self.event}, is not explained"]
        lines += [f"  the nearest candidate: {words}" for words in self.differences]
        return "\n".join([*lines, *(f"  {words}" for words in self.guards)])


def observing_model(version: str, min_isr: int) -> Model:
    """The model that explains a drive: answers of the controller and images are apart."""
    settings: dict[str, Any] = settings_of(version) | {
        "min.insync.replicas": str(min_isr),
        "isr.answer.apart": "true",
        "fetch.answers": "at_once",
        "unclean.leader.election.enable": "false",
    }
    return KAFKA.model(BOUNDS, settings)


class Explainer:
    """Explains drives of one model."""

    def __init__(self, model: Model, version: str) -> None:
        self.model = model
        self.projection = Projection(model, version)
        self._layout = Layout(model)
        self._expansion = CompiledExpansion(model, model.ground_actions, self._layout)
        self._initial = self._layout.pack([model.initial_state])
        names = np.array([instance.action.name for instance in model.instances])
        self._means = {
            event: np.isin(names, [*actions, *AT_ONCE]) for event, actions in MEANS.items()
        }

    def explain(self, drive: Drive) -> tuple[int, Rejection | None]:
        """How many observed states are explained, and the first event that is not."""
        found = self._fitting(self._initial, drive.states[0])
        if not found.shape[1]:
            return 0, self._rejection("the start", (), 0, self._initial, drive.states[0])
        for number, (event, *brokers) in enumerate(drive.events, 1):
            reached = self._reached(found, self._means[event])
            after = self._fitting(reached, drive.states[number])
            if not after.shape[1]:
                observed = drive.states[number]
                return number, self._rejection(event, brokers, number, reached, observed, found)
            found = after
        return len(drive.states), None

    def _reached(self, words: Words, means: npt.NDArray[np.bool_]) -> Words:
        """The states after up to `MOST_STEPS` steps of these actions, and those before them."""
        everything = frontier = words
        for _ in range(MOST_STEPS):
            steps = self._expansion.expand(frontier)
            frontier = np.unique(steps.words[:, means[steps.instances]], axis=1)
            if not frontier.shape[1]:
                break
            everything = np.concatenate([everything, frontier], axis=1)
        return np.unique(everything, axis=1)

    def _fitting(self, words: Words, observed: npt.NDArray[np.int64]) -> Words:
        numbers = self.projection.of_packed(words)
        return words[:, ~differing(numbers, observed).any(axis=1)]

    def _rejection(
        self,
        event: str,
        brokers: Sequence[int],
        number: int,
        reached: Words,
        observed: npt.NDArray[np.int64],
        before: Words | None = None,
    ) -> Rejection:
        different = differing(self.projection.of_packed(reached), observed)
        nearest = int(different.sum(axis=1).argmin())
        numbers = self.projection.of_packed(reached[:, nearest : nearest + 1])[0]
        differences = tuple(
            f"{self.projection.label(int(c))} is {observed[c]}, in the model {numbers[c]}"
            for c in np.flatnonzero(different[nearest])
        )
        told = f"{event} {' '.join(f'b{b}' for b in brokers)}".strip()
        if before is None:
            return Rejection(told, number, differences, ())
        state = self._layout.unpack(before[:, :1])[0]
        return Rejection(told, number, differences, tuple(self._false_guards(event, state)))

    def _false_guards(self, event: str, state: tuple[int, ...]) -> Iterator[str]:
        """For each instance that the event may stand for, the requirement that is false."""
        engine = ReferenceEngine(self.model)
        for instance in self.model.instances:
            if not self._means[event][instance.number]:
                continue
            try:
                false = engine.false_requirement(state, instance)
            except DomainError:
                continue
            if false is not None:
                line = linecache.getline(*false).strip()
                yield f"{instance_words(self.model, instance)}: false: {line}"


def observe(harness: Harness, explainer: Explainer, seed: int, steps: int) -> tuple[int, Any]:
    """One drive, and how much of it is explained."""
    drive = harness.drive(
        explainer.model, explainer.projection,
        {
            "seed": seed, "steps": steps, "records": BOUNDS["max_records"],
            "epochs": BOUNDS["max_leader_epoch"] - EPOCHS_LEFT, "faults": FAULTS,
            "false_fencings": FALSE_FENCINGS, "elections": ELECTIONS, "fail_overs": FAIL_OVERS,
        },
    )  # fmt: skip
    if drive.stopped:
        return 0, Rejection("the drive", 0, (), (drive.stopped,))
    return explainer.explain(drive)
