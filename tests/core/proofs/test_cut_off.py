"""A cut-off is right: with so many members, and with more, nothing happens that is said not to."""

from __future__ import annotations

import pytest

from checker.core.proofs.cutoff.cut_off import CutOffProof
from checker.core.proofs.proof import ProofOutcome
from checker.core.search.explore import Explorer
from checker.core.search.limits import Limits
from checker.core.search.question import Options
from checker.core.verdict import Verdict
from model.language import (
    Annotated,
    Entity,
    Members,
    Protocol,
    State,
    action,
    choose,
    every,
    implies,
    integers,
    is_none,
    members,
    not_,
    require,
    some,
)
from model.language.errors import UsageError
from model.protocols import protocol_named
from properties import Property, Sense, lemmas_of, promised_properties
from tests.core.proofs.test_what_breaks_beyond import CLAIMS, EVERY, LEAST, camp_of
from tests.laws.camps import HUTS, Camp, Hut, camp
from tests.support.tiers import nightly, slow_but

MOST = 5  # members whose renamings a search can afford
STATES = 20_000


def cut_off(model, claims, lemmas=(), bound="huts"):
    return CutOffProof(model, bound, claims, lemmas, 10.0, cross_check=False).run()


def of_protocol(name, bounds=None, settings=None, preset=None, properties=()):
    model = protocol_named(name).model(bounds, settings, preset)
    chosen = promised_properties(model, properties)
    claims = [p for p in chosen if properties or p.sense is Sense.ALWAYS]
    return cut_off(model, claims, lemmas_of(model.protocol), "replicas")


# --- the protocols that ship ------------------------------------------------------------------


def test_async_isr_holds_for_any_number_of_replicas():
    proof = of_protocol("async_isr", {"max_offset": 1, "max_version": 1})

    assert proof.outcome is ProofOutcome.PROVED
    assert proof.members == proof.model.bounds["replicas"] < proof.cut_off
    assert not proof.refused
    assert max(proof.sizes.values()) == proof.cut_off


def test_without_its_rule_async_isr_has_no_cut_off():
    small, off = {"max_offset": 1, "max_version": 1}, {"maximal_isr": False}
    proof = of_protocol("async_isr", small, off)
    assert proof.outcome is ProofOutcome.NOT_INDUCTIVE


@pytest.mark.slow
def test_kip320_holds_for_any_number_of_replicas():
    small = {"log_size": 1, "max_records": 1, "max_leader_epoch": 1}
    assert of_protocol("kip320", small).outcome is ProofOutcome.PROVED
    off = {"fence_fetch": False}
    assert of_protocol("kip320", small, off).outcome is ProofOutcome.NOT_INDUCTIVE


@pytest.mark.nightly("the broker model with some twenty brokers and each number below: minutes")
def test_kafka_as_it_is_holds_for_any_number_of_brokers():
    kept = ("exposed_records_survive", "logs_agree_below_high_watermark")
    proof = of_protocol("kafka", preset="4.1", properties=kept)
    assert proof.outcome is ProofOutcome.PROVED
    assert proof.members == 3


@pytest.mark.slow
def test_majorities_are_no_matter_of_a_few():
    model = protocol_named("kip595").model()
    claims = promised_properties(model, ("one_leader_per_epoch",))
    proof = cut_off(model, claims, lemmas_of(model.protocol), "voters")
    assert proof.outcome is not ProofOutcome.PROVED
    assert {"become_leader", "advance_high_watermark"} <= proof.refused.keys()
    assert all("majority" in why for why in proof.refused.values())


# --- generated protocols ----------------------------------------------------------------------


def verdict(protocol, huts, claim):
    """What a search says of so many huts, of twenty thousand states at least."""
    options, limits = Options(symmetry=huts <= MOST), Limits(states=STATES)
    explorer = Explorer(protocol.model({"huts": huts}), [claim], limits, options)
    return explorer.run().verdict_on(claim)


def check(number):
    """How many claims of a generated protocol have a cut-off, and how many were asked."""
    generated = camp(number)
    found = 0
    for claim in generated.claims:
        proof = cut_off(generated.protocol.model(), [claim])
        if proof.outcome is not ProofOutcome.PROVED:
            continue
        found += 1
        assert proof.members <= proof.cut_off
        for huts in range(proof.members, proof.cut_off + 3):
            said = verdict(generated.protocol, huts, claim)
            assert said is not Verdict.VIOLATED, f"{huts} huts\n{claim.words}\n{generated.text}"
    return found, len(generated.claims)


SAMPLES = [range(0, 1), range(1, 10), range(10, 1000)]


@pytest.mark.parametrize(
    "numbers",
    [
        SAMPLES[0],
        pytest.param(SAMPLES[1], marks=pytest.mark.slow),
        pytest.param(SAMPLES[2], marks=pytest.mark.nightly("searches of a thousand protocols")),
    ],
    ids=str,
)
def test_nothing_new_happens_with_more_members_than_the_cut_off(numbers):
    found, asked = map(sum, zip(*map(check, numbers), strict=True))
    assert found > asked / 2, "a law that never applies says nothing"


NIGHT = "the other protocols that break beyond the default sizes, and their searches"


def of_the_hundred():
    """A few in every run, some on every change, all at night."""
    quick, slow = EVERY[:: 3 * len(CLAIMS)], EVERY[:: len(CLAIMS)]
    return slow_but(quick, slow) + [nightly(NIGHT, each) for each in EVERY if each not in slow]


@pytest.mark.parametrize(("name", "way"), of_the_hundred())
def test_what_breaks_beyond_has_no_cut_off_below(name, way):
    said, breaks_at = CLAIMS[name]
    claim = Property("it", name, said)
    others = LEAST | breaks_at | {"huts": 2}

    proof = cut_off(camp_of(way).model(others), [claim])
    assert proof.outcome is not ProofOutcome.PROVED or breaks_at.get("huts", 0) < proof.members

    by_default = cut_off(camp_of(way).model(), [claim])
    if breaks_at.keys() == {"huts"}:
        assert by_default.outcome is not ProofOutcome.PROVED
    if by_default.outcome is ProofOutcome.PROVED:
        model = camp_of(way).model({"huts": MOST})
        searched = Explorer(model, [claim], None, Options(symmetry=True)).run()
        assert searched.verdict_on(claim) is Verdict.EXHAUSTED


# --- what a premise is for --------------------------------------------------------------------


class Guest(Entity):
    """Who has a friend, perhaps somebody far away."""

    friend: Guest | None = None


class Party(State):
    """Guests, and whether two of them left."""

    huts: Members[Guest] = members(HUTS)
    left: bool = False


@action("{a} befriends {b}")
def befriend(party: Party, a: Guest, b: Guest) -> None:
    """Anybody."""
    a.friend = b


@action("{a} and {b} leave, as they have different friends elsewhere")
def leave(party: Party, a: Guest, b: Guest) -> None:
    """Four are needed."""
    require(a != b)
    for guest in (a, b):
        require(guest.friend != a, guest.friend != b, not_(is_none(guest.friend)))
    require(a.friend != b.friend)
    party.left = True


def test_two_who_are_not_looked_at_are_two():
    party = Protocol("party", "guests", Party, (befriend, leave), (HUTS,))
    nobody_left = Property("nobody_left", "", lambda party: not_(party.left))
    assert cut_off(party.model(), [nobody_left]).outcome is ProofOutcome.NOT_INDUCTIVE


def first_leads(camp: Camp) -> None:
    """The first hut leads from the beginning."""
    camp.leader = camp.huts[0]


@action("{hut} wakes")
def wake(camp: Camp, hut: Hut) -> None:
    """Whoever it is."""
    hut.awake = True


@action("a crash is counted")
def crash(camp: Camp) -> None:
    """Some three."""
    require(camp.crashes < 2)
    camp.crashes = camp.crashes + 1


def test_who_is_named_at_first_is_not_everybody():
    protocol = Protocol("camp", "huts", Camp, (wake,), (HUTS,), start=first_leads)
    everybody_leads = Property("all", "", lambda camp: every(camp.leader == h for h in camp.huts))
    first_is = Property("one", "", lambda camp: some(camp.leader == h for h in camp.huts))

    assert cut_off(protocol.model(), [everybody_leads]).outcome is ProofOutcome.NOT_INDUCTIVE
    assert cut_off(protocol.model(), [first_is]).outcome is ProofOutcome.PROVED


def test_a_claim_of_steps_is_asked_of_each_action():
    protocol = Protocol("camp", "huts", Camp, (crash, wake), (HUTS,))
    grows = Property("grows", "", lambda s, t: t.crashes > s.crashes, of_steps=True)
    stays = Property("stays", "", lambda s, t: t.crashes >= s.crashes, of_steps=True)

    assert cut_off(protocol.model(), [grows]).outcome is ProofOutcome.NOT_INDUCTIVE
    assert cut_off(protocol.model(), [stays]).outcome is ProofOutcome.PROVED


@action("{hut} falls, as three others are up")
def fall(camp: Camp, hut: Hut) -> None:
    """With four at least."""
    require(camp.club.without_member(hut).size >= 3)
    hut.up = False


@action("{hut} leads, as three others are awake")
def lead(camp: Camp, hut: Hut) -> None:
    """With four at least."""
    awake = camp.huts.where(lambda other: other.awake).without_member(hut)
    camp.leader = choose(awake.size >= 3, hut, None)


def test_who_only_a_guard_asks_for_is_kept():
    protocol = Protocol("camp", "huts", Camp, (fall,), (HUTS,))
    all_up = Property("up", "", lambda camp: every(hut.up for hut in camp.huts))
    assert cut_off(protocol.model(), [all_up]).outcome is ProofOutcome.NOT_INDUCTIVE


def test_who_only_an_assignment_asks_for_is_kept():
    protocol = Protocol("camp", "huts", Camp, (lead, wake), (HUTS,))
    nobody_leads = Property("no", "", lambda camp: is_none(camp.leader))
    assert cut_off(protocol.model(), [nobody_leads]).outcome is ProofOutcome.NOT_INDUCTIVE


def test_a_lemma_of_each_member_and_another_one_is_assumed_of_the_core():
    """Who is awake has somebody who is up; so nobody is awake where nobody is up."""
    protocol = Protocol("camp", "huts", Camp, (crash,), (HUTS,))
    lemma = Property(
        "somebody_is_up", "",
        lambda s: every(implies(h.awake, some(o.up & (o.end <= h.end) for o in s.huts))
                        for h in s.huts),
    )  # fmt: skip
    none = Property("it", "", lambda s: every(implies(h.awake, some(o.up for o in s.huts))
                                              for h in s.huts))  # fmt: skip

    assert cut_off(protocol.model(), [none], [lemma]).outcome is ProofOutcome.PROVED


def test_what_is_no_number_of_members_is_refused():
    with pytest.raises(UsageError, match="crashes is no number of members: valid is huts"):
        cut_off(camp_of(0).model(), [], bound="crashes")


class Hall(State):
    """As many seats as there are guests."""

    huts: Members[Guest] = members(HUTS)
    seats: Annotated[int, integers(0, HUTS)] = 0


def test_a_number_that_grows_with_the_members_is_refused():
    hall = Protocol("hall", "guests", Hall, (), (HUTS,))
    with pytest.raises(UsageError, match="the values of seats depend on huts"):
        cut_off(hall.model(), [])
