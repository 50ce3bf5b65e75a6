"""Proofs for all sizes of the broker model: what is proved, and what falls where a fix is off."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.proofs.proof import Obligation, ProofOutcome
from checker.core.proofs.unbounded.instantiate import BY_NEED, CHEAP, roles
from checker.core.proofs.unbounded.relevance import Relevance
from checker.core.proofs.unbounded.told_apart import told_apart, written
from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction
from checker.core.verdict import Verdict
from checker.lab.experiments.cases import read_case
from model.language.graph import INT
from model.language.lifted import Lifted
from model.protocols import protocol_named
from properties import choose_properties, lemmas_of
from tests.support import proof_rows as rows
from tests.support.proof_rows import Row
from tests.support.proofs import Truth
from tests.support.tiers import nightly


@pytest.mark.parametrize(
    "name",
    [
        nightly("a third of a minute; KIP-320 is proved each time", "one_leader_per_epoch"),
        nightly("half a minute for another part", "leader_counts_the_isr"),
        nightly("half a minute for another part", "log_matching"),
    ],
)
def test_parts_of_the_broker_model_are_proved_for_all_sizes(name):
    """With the lemmas that are needed, which are fewer than there are."""
    kafka = protocol_named("kafka")
    model = kafka.model({}, kafka.preset("kafka-4.1"))

    proof = UnboundedInduction(model, choose_properties(kafka, [name]), lemmas_of(kafka)).run()

    assert proof.verdict is Verdict.PROVED
    assert 0 < len(proof.lemmas) < len(lemmas_of(kafka))
    assert {what.action for what in proof.obligations} >= {a.name for a in kafka.actions}


def open_sizes(of: Iterable[Row], *properties: str) -> list[Any]:
    """The rows about the broker model that are to be asked with sizes open."""
    return [
        pytest.param(row, id=row.name)
        for row in of
        if row.choice.protocol == "kafka"
        and (not properties or ("all" in row.sizes and row.properties == properties))
    ]


@pytest.mark.nightly("one to six minutes of a core; its parts are tested each time")
@pytest.mark.parametrize("row", open_sizes(rows.proved(), *rows.table()["groups"]["survival"]))
def test_what_is_committed_in_the_broker_model_is_proved_for_all_sizes(row):
    kafka = row.choice.model.protocol
    asked = choose_properties(kafka, row.properties)

    proof = UnboundedInduction(row.choice.model, asked, lemmas_of(kafka), cross_check=False).run()

    assert proof.verdict is Verdict.PROVED
    assert {what.action for what in proof.obligations} >= {a.name for a in kafka.actions}


class OneAction(UnboundedInduction):
    """What some actions preserve, with little effort."""

    def tried(self, *names: str, of: str = "") -> dict[tuple[str, str], Obligation]:
        """Of these actions, or all; of one claim, or all."""
        self._of = of
        self.relevance = Relevance(self.model, filter(self._can_be_said, self.proof.lemmas))
        self.proof.lemmas = tuple(p for p in self.proof.lemmas if p.name in self.relevance.names)
        self._strategies, self._before = (CHEAP[0], BY_NEED), {}
        self._prepare()
        for action in self.model.captured:
            if action.name in names or not names:
                self._consecution(self.lifted.total_action(action))
        return {key: what for key, (what, _) in self._settled.items()}

    def _prove(self, what: Obligation, *args: Any) -> None:
        if self._of in ("", what.lemma):
            super()._prove(what, *args)


@pytest.mark.nightly("a quarter of a minute each; within bounds they fall in the same way")
@pytest.mark.parametrize("row", open_sizes(rows.falling()))
def test_without_a_fix_what_falls_within_bounds_is_not_proved_for_all_sizes(row):
    model = row.choice.model
    protocol = model.protocol
    known = dict.fromkeys((*lemmas_of(protocol), *choose_properties(protocol, row.properties)))

    tried = OneAction(model, (), known, cross_check=False).tried(row.action)

    failed = {key for key, what in tried.items() if what.outcome is not ProofOutcome.PROVED}
    assert {lemma for _, lemma in failed} & row.lemmas
    assert failed < tried.keys()


@pytest.mark.nightly("half a minute each; within bounds they fall in the same way")
@pytest.mark.parametrize(
    ("case", "lemma", "actions"),
    [
        (
            "18-an_answer_from_an_earlier_epoch",
            "responses_of_this_epoch",
            {"leader_apply_metadata", "follower_apply_metadata"},
        ),
        (
            "37-a_pending_isr_member_is_forgotten",
            "request_of_the_leader",
            {"leader_read_known_image"},
        ),
    ],
)
def test_what_is_under_way_gets_stale_for_all_sizes_as_a_broker_reads_metadata(
    case, lemma, actions
):
    """A response without fix 18, a request without 37: all other actions preserve the lemma."""
    model = read_case(rows.CASES / "kafka" / case).broken.model

    tried = OneAction(model, (), lemmas_of(model.protocol), cross_check=False).tried(of=lemma)

    failed = {action for (action, _), o in tried.items() if o.outcome is not ProofOutcome.PROVED}
    assert failed == actions
    assert failed < {action for action, _ in tried}


@pytest.mark.slow
def test_with_sizes_open_there_are_as_many_members_as_are_told_apart():
    """By `min.insync.replicas=2`, or as many as there are: two in the ELR are no less than two."""
    kafka = protocol_named("kafka")
    settings = {**kafka.preset("kafka-4.3"), "min.insync.replicas": "2"}
    action, lemma = "controller_fence_last_leader", "controller_in_order"

    tried = OneAction(kafka.model({}, settings), (), lemmas_of(kafka), cross_check=False).tried(
        action, of=lemma
    )

    assert tried[action, lemma].outcome is ProofOutcome.PROVED


@pytest.mark.slow
def test_truncation_keeps_what_may_be_exposed_for_all_sizes_whatever_is_lost():
    """The hardest obligation where logs may lose their ends, and nobody is elected for lack of ELR.

    Many definitions matter in it, and their terms come late.
    """
    kafka = protocol_named("kafka")
    (row,) = (
        row
        for row in rows.proved()
        if row.choice.preset == "kafka-4.3" and "no last known leader" in row.about
    )
    action, lemma = "follower_truncate_on_fetch", "what_may_be_exposed_is_held"

    tried = OneAction(row.choice.model, (), lemmas_of(kafka), cross_check=False).tried(
        action, of=lemma
    )

    assert tried[action, lemma].outcome is ProofOutcome.PROVED


def test_no_lemma_makes_every_brokers_offsets_places_to_look_at():
    """With two more for each broker obligations that took a second were not settled in thirty."""
    row = next(row for row in rows.proved() if "responses in flight, fix 18" in row.about)
    model = row.choice.model
    claims = [model.claim(lemma.claim) for lemma in lemmas_of(model.protocol)]

    found = roles(Lifted.narrowed(model), claims)

    assert {(role.name, role.over) for role in found if role.like.sort is INT} == {
        ("offsets.exposed", "records")
    }


@pytest.mark.parametrize("replicas", [1, 2, 3])
def test_what_is_assumed_of_how_many_members_there_are_is_true(replicas):
    """What is assumed of numbers of members is true of any number."""
    kafka = protocol_named("kafka")
    settings = {**kafka.preset("kafka-4.3"), "min.insync.replicas": "3"}
    model = kafka.model({"replicas": replicas}, settings)
    truth = Truth(model, ReferenceEngine(model).initial())

    said = list(told_apart(Lifted.of(model), written(model.captured)))

    assert len(said) == 2
    assert all(truth(node) for node in said)


COUNT_ANEW = {
    "producer_send",
    "follower_fetch_record",
    "follower_fetch_high_watermark",
    "leader_handle_fetch",
}
"""A leader may move its HW here, by positions that are not of its epoch."""


@pytest.mark.nightly("ten seconds each; the same falls within bounds")
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("25-unclean_election", frozenset()),
        ("27-last_replica_standing", frozenset()),
        ("36-positions_from_a_missed_epoch", frozenset(COUNT_ANEW)),
    ],
)
def test_where_the_lemmas_claim_nothing_the_property_falls_as_a_leader_takes_office(name, more):
    """And nowhere else: all other actions preserve it by themselves."""
    case = read_case(rows.CASES / "kafka" / name)
    model = case.broken.model
    claims = choose_properties(model.protocol, [case.violates])
    known = dict.fromkeys((*lemmas_of(model.protocol), *claims))

    tried = OneAction(model, (), known, cross_check=False).tried(of=case.violates)

    failed = {action for (action, _), o in tried.items() if o.outcome is not ProofOutcome.PROVED}
    assert failed == {"leader_apply_metadata"} | more
    assert failed < {action for action, _ in tried}
