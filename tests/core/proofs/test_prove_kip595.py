"""The core of KRaft is proved, and without each of its rules it is not, and loses what it claims.

Runs are steps as `(action, arguments)`, on the reference engine: some are too long to search for.
"""

from __future__ import annotations

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.proofs.bounded.induction import Induction
from checker.core.proofs.proof import ProofOutcome
from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction
from checker.core.verdict import Verdict
from model.kip595.protocol import KIP595
from properties import lemmas_of, properties_of
from properties.claims import Sense
from tests.support.tiers import nightly

CLAIMS = tuple(prop for prop in properties_of(KIP595) if prop.sense is Sense.ALWAYS)
LEMMAS = lemmas_of(KIP595)
A, B, C, D = range(4)


def sizes(voters, log_size, epochs, changes=0):
    return {"voters": voters, "log_size": log_size, "epochs": epochs, "voter_changes": changes}


LARGER = "more voters, of which all that the lemmas say is said of three"


@pytest.mark.parametrize(
    "bounds",
    [
        (2, 1, 1),
        pytest.param((3, 3, 4), marks=pytest.mark.slow),
        nightly(LARGER, ((4, 3, 3),)),
        nightly(LARGER, ((5, 3, 3),)),
        pytest.param((3, 3, 2, 2), marks=pytest.mark.slow),
        nightly("a minute; changes of three voters are looked at each time", ((4, 3, 3, 2),)),
    ],
    ids=str,
)
def test_the_core_of_kraft_is_proved_within_bounds(bounds):
    proof = Induction(KIP595.model(sizes(*bounds)), CLAIMS, LEMMAS).run()

    assert proof.verdict is Verdict.PROVED, proof.counterexample
    if bounds[1] > 1:
        assert proof.never_enabled == ([] if bounds[3:] else ["change_voters"])


FALLS = {
    "durable_votes": ("leaders_are_elected", "restart"),
    "up_to_date": ("candidates_are_safe", "vote"),
    "check_fetch": ("fetched_is_held", "fetch"),
    "own_epoch_first": ("commits_are_majorities", "advance_high_watermark"),
    "commit_before_change": ("voters_of_an_epoch_are_adjacent", "change_voters"),
    "own_epoch_before_change": ("changes_are_settled", "change_voters"),
}
CHANGES = {
    "commit_before_change": sizes(3, 3, 1, 2),
    "own_epoch_before_change": sizes(3, 2, 1, 1),
}


@pytest.mark.parametrize(
    "rule",
    [
        "own_epoch_first",
        nightly("the other rule about changes is looked at each time", "commit_before_change"),
        *(
            pytest.param(rule, marks=pytest.mark.slow)
            for rule in FALLS
            if rule not in ("own_epoch_first", "commit_before_change")
        ),
    ],
)
def test_without_a_rule_the_proof_falls_at_what_the_rule_is_for(rule):
    bounds = CHANGES.get(rule, sizes(3, 2, 2))
    proof = Induction(KIP595.model(bounds, {rule: False}), CLAIMS, LEMMAS).run()

    assert proof.verdict is Verdict.NOT_INDUCTIVE
    found = proof.counterexample
    assert found is not None and found.instance is not None
    assert (found.lemma, found.instance.action.name) == FALLS[rule]


def elected(candidate, *voters):
    return [("stand", candidate), *(("vote", v, candidate) for v in voters),
            ("become_leader", candidate)]  # fmt: skip


def copied(follower, leader):
    return [("replicate", follower, leader), ("fetch", follower, leader)]


RUNS = {
    "durable_votes": (
        sizes(3, 1, 1),
        "one_leader_per_epoch",
        [("stand", C), *elected(A, B), ("restart", B), ("vote", B, C), ("become_leader", C)],
    ),
    "up_to_date": (
        sizes(3, 2, 2),
        "leader_completeness",
        [*elected(A, B), *copied(B, A), ("advance_high_watermark", A, 1),
         ("learn_epoch", C, A), *elected(C, B)],
    ),
    "check_fetch": (
        sizes(3, 2, 2),
        "log_matching",
        [*elected(A, B), ("learn_epoch", C, A), *elected(C, B), ("append", C),
         ("learn_epoch", A, C), ("replicate", A, C)],
    ),
    "own_epoch_first": (
        sizes(3, 2, 4),
        "leader_completeness",
        [*elected(A, B), ("learn_epoch", C, A), *elected(C, B), ("learn_epoch", A, C),
         *elected(A, B), *copied(B, A), ("advance_high_watermark", A, 1),
         ("learn_epoch", C, A), *elected(C, B)],
    ),
    "commit_before_change": (
        sizes(3, 3, 2, 2),
        "leader_completeness",
        [*elected(A, B), *copied(B, A), ("advance_high_watermark", A, 1), ("change_voters", A, B),
         ("change_voters", A, C), ("advance_high_watermark", A, 3), *elected(B, C)],
    ),
    "own_epoch_before_change": (
        sizes(4, 3, 3, 2),
        "leader_completeness",
        [*elected(A, B, C), ("change_voters", A, D), ("learn_epoch", D, A),
         *elected(C, B, D), ("change_voters", C, A), ("replicate", D, C), *copied(D, C),
         ("advance_high_watermark", C, 2), ("learn_epoch", A, C), *elected(A, B)],
    ),
}  # fmt: skip


def played(bounds, settings, steps):
    """The state after the steps, or the step that cannot be taken."""
    model = KIP595.model(bounds, settings)
    reference = ReferenceEngine(model)
    instances = {(i.action.name, *i.arguments): i for i in model.instances}
    state = reference.initial()
    for step in steps:
        after = reference.step(state, instances[step])
        if after is None:
            return reference, state, step
        assert all(reference.holds(claim.claim, state) for claim in CLAIMS), step
        state = after
    return reference, state, None


@pytest.mark.parametrize("rule", RUNS)
def test_without_a_rule_a_claim_is_broken_and_with_it_that_run_ends_before(rule):
    bounds, broken, steps = RUNS[rule]
    claim = next(prop.claim for prop in CLAIMS if prop.name == broken)

    reference, state, stopped = played(bounds, {rule: False}, steps)
    assert stopped is None
    assert not reference.holds(claim, state)
    assert played(bounds, {}, steps)[2] is not None


ELECTIONS = (
    "votes_are_of_epochs_reached",
    "leaders_are_elected",
    "who_leads_was_elected",
    "one_leader_per_epoch",
)


@pytest.mark.slow
def test_one_leader_an_epoch_is_proved_for_any_number_of_voters():
    claim = [prop for prop in CLAIMS if prop.name == "one_leader_per_epoch"]
    lemmas = [lemma for lemma in LEMMAS if lemma.name in ELECTIONS]
    proof = UnboundedInduction(KIP595.model(), claim, lemmas).run()
    assert proof.verdict is Verdict.PROVED, [o for o in proof.obligations if o.reason]


@pytest.mark.nightly("a minute; one leader an epoch is proved so each time")
def test_all_is_proved_for_any_number_of_voters():
    proof = UnboundedInduction(KIP595.model(), CLAIMS, LEMMAS).run()
    assert proof.verdict is Verdict.PROVED, [o for o in proof.obligations if o.reason]
    assert proof.never_enabled == ["change_voters"]


class OneAction(UnboundedInduction):
    """What one action has to preserve, with sizes open."""

    action = ""

    def _consecution(self, action):
        if action.name == self.action:
            super()._consecution(action)


def unproved(action, settings, lemmas=LEMMAS, **bounds):
    """The lemmas that the action does not preserve, as far as the proof for all sizes can tell."""
    proof = OneAction(KIP595.model(bounds, settings), (), lemmas, 1.0)
    proof.action = action
    found = proof.run().obligations
    assert any(o.action == action and o.outcome is ProofOutcome.PROVED for o in found)
    return {o.lemma for o in found if o.outcome is not ProofOutcome.PROVED}


@pytest.mark.slow
@pytest.mark.usefixtures("little_effort")
def test_a_majority_of_voters_that_a_step_assigns_is_the_majority_that_it_asks_for():
    elected = [lemma for lemma in LEMMAS if lemma.name == "leaders_are_elected"]
    assert not unproved("become_leader", {}, elected, voter_changes=1)


@pytest.mark.usefixtures("little_effort")
@pytest.mark.nightly("a third of a minute; within bounds each rule is shown to be needed each time")
@pytest.mark.parametrize("rule", [rule for rule in FALLS if rule not in CHANGES])
def test_without_a_rule_the_proof_for_any_number_falls_at_the_same_step(rule):
    lemma, action = FALLS[rule]
    assert lemma in unproved(action, {rule: False})
