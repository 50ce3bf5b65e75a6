"""What properties promise: each can fail. Something breaks it, and the explorer shows how.

`broken_by` names a protocol, perhaps with settings, or describes a mistake; such a mistake is made
here, in a small variant of a protocol.
"""

from __future__ import annotations

import dataclasses

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.verdict import Verdict
from model.async_isr import protocol as isr
from model.async_isr.protocol import ASYNC_ISR, IsrVersion, Partition
from model.ladder import LADDER
from model.ladder import cluster as ladder
from model.ladder.cluster import Cluster, LeaderAndIsrRequest, Replica
from model.ladder.kip279 import KIP279
from model.ladder.kip320 import KIP320, Kip320Settings
from model.language import (
    Protocol,
    action,
    not_,
    require,
)
from model.language.action import Action
from model.language.protocol import Model
from model.protocols import PROTOCOLS
from properties import Property, Sense, properties_of
from properties.async_isr.claims import ASYNC_ISR_PROPERTIES
from properties.async_isr.lemmas import ASYNC_ISR_LEMMAS
from properties.ladder.claims import LADDER_PROPERTIES
from properties.ladder.lemmas import KIP320_LEMMAS
from tests.support.laws import check_is_broken, explore

HERE = [*LADDER_PROPERTIES, *ASYNC_ISR_PROPERTIES]
LEMMAS = [prop for prop in KIP320_LEMMAS if prop.broken_by.split()[0] in PROTOCOLS]
LEMMAS += ASYNC_ISR_LEMMAS[1:]
INVARIANTS = [prop for prop in (*HERE, *LEMMAS) if prop.sense is Sense.ALWAYS]


# --- mistakes -----------------------------------------------------------------------------------


@action("controller takes {replica} out of the ISR")
def controller_shrink_isr(cluster: Cluster, replica: Replica) -> None:
    """The mistake: a leader that is taken out of the ISR leads on."""
    quorum = cluster.quorum
    require(cluster.next_leader_epoch <= cluster.bound("max_leader_epoch"))
    require(quorum.isr.contains(replica))

    ladder._send_request(cluster, quorum.leader, quorum.isr.without_member(replica))


@action("{follower} becomes follower of {leader} in epoch {request.number}")
def become_follower(
    cluster: Cluster, follower: Replica, leader: Replica, request: LeaderAndIsrRequest
) -> None:
    """The mistake: the HW stays where it was, perhaps beyond the new end."""
    ladder.require_newer_request(cluster, follower, leader, request)

    follower.adopt(request, leader)
    follower.log.truncate_to(follower.log.end_of_agreement(leader.log))


@action("leader hears of ISR version {version.number}")
def leader_handle_update(partition: Partition, version: IsrVersion) -> None:
    """The mistake: the leader takes a version that the controller has not written."""
    require(version.number > partition.leader_version)

    partition.leader_isr = version.isr
    partition.leader_version = version.number
    partition.pending_isr = partition.replicas.none()


def _request(
    partition: Partition, replica: isr.Replica, version: int, pending: bool = True
) -> None:
    """Ask for a change of one version of the ISR, and remember it or not."""
    partition.versions[version].requested[replica] = True
    if pending:
        isr_asked_for = isr.toggled(partition.leader_isr, replica)
        partition.pending_isr = partition.pending_isr.union(isr_asked_for)


@action("leader hears of ISR version {version.number}")
def leader_keeps_isr(partition: Partition, version: IsrVersion) -> None:
    """The mistake: the leader keeps the ISR of the version before."""
    require(version.number > partition.leader_version)
    require(version.number <= partition.controller_version)

    partition.leader_version = version.number
    partition.pending_isr = partition.replicas.none()


@action("leader asks to put {replica} into the ISR")
def leader_guesses_version(partition: Partition, replica: isr.Replica) -> None:
    """The mistake: the request is for the controller's version, which the leader does not know."""
    require(not_(partition.leader_isr.contains(replica)))

    _request(partition, replica, partition.controller_version)


@action("leader asks to put {replica} into the ISR")
def leader_forgets_request(partition: Partition, replica: isr.Replica) -> None:
    """The mistake: the leader does not count whom it has asked for."""
    require(not_(partition.leader_isr.contains(replica)))

    _request(partition, replica, partition.leader_version, pending=False)


@action("controller puts {replica} into the ISR")
def controller_adds_replica(partition: Partition, replica: isr.Replica) -> None:
    """The mistake: nobody asked for it."""
    require(partition.controller_version < partition.bound("max_version"))
    require(not_(partition.controller_isr.contains(replica)))

    partition.write_isr(partition.controller_isr.with_member(replica))


def renamed(mistake: Action, name: str) -> Action:
    """The mistake in the place of the action called `name`."""
    return dataclasses.replace(mistake, name=name)


FORGETFUL = ASYNC_ISR.variant(
    "mutant", "", renamed(leader_forgets_request, "leader_request_expand_isr")
)

MISTAKES: dict[str, Protocol] = {
    "a leader that takes a version's number and keeps the ISR that it had": ASYNC_ISR.variant(
        "mutant", "", renamed(leader_keeps_isr, "leader_handle_update")
    ),
    "a leader that guesses the controller's version": ASYNC_ISR.variant(
        "mutant", "", renamed(leader_guesses_version, "leader_request_expand_isr")
    ),
    "a leader that sends a request and forgets it": FORGETFUL,
    "a leader that asks to expand the ISR and does not count the newcomer": FORGETFUL,
    "a controller that adds a replica by itself": ASYNC_ISR.variant(
        "mutant", "", renamed(controller_adds_replica, "leader_request_shrink_isr")
    ),
    "a controller that drops the leader from the ISR and lets it lead on": KIP320.variant(
        "mutant", "", controller_shrink_isr
    ),
    # Under KIP-320 nobody ever truncates below its own HW, so this mistake would do no harm there.
    "a follower that truncates without lowering its HW": KIP279.variant(
        "mutant", "", become_follower
    ),
    "a leader that takes a version before the controller has written it": ASYNC_ISR.variant(
        "mutant", "", leader_handle_update
    ),
}
BOUNDS = {
    "valid_high_watermark": {"max_version": 3},
    "log_matching": {"log_size": 3, "max_records": 3},  # two entries match over two that do not
}


def _what_breaks(prop: Property) -> Model:
    """The model that `broken_by` names or describes."""
    if prop.broken_by in MISTAKES:
        return MISTAKES[prop.broken_by].model()
    name, *changes = prop.broken_by.split()
    settings = dict(change.split("=") for change in changes)
    return PROTOCOLS[name].model(BOUNDS.get(prop.name), settings)


@pytest.mark.parametrize("prop", INVARIANTS, ids=lambda prop: prop.name)
def test_what_is_said_to_break_a_property_breaks_it_and_the_report_says_where(prop):
    assert check_is_broken(_what_breaks(prop), prop) > 0


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_property_that_should_always_hold_says_what_breaks_it(name):
    for prop in properties_of(PROTOCOLS[name]):
        assert prop.words
        if prop.sense is Sense.ALWAYS:
            assert prop.broken_by, prop.name


# --- the protocols as they are ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kip320", "async_isr"])
def test_the_protocol_as_it_should_be_keeps_all_its_properties(name):
    model = PROTOCOLS[name].model()
    found = explore(model, properties_of(model.protocol))
    assert found.verdict is Verdict.EXHAUSTED
    for prop in found.properties:
        assert not found.is_vacuous(prop), f"{prop.name} is vacuous"
        if prop.sense is Sense.SOMETIMES:
            assert found.verdict_on(prop) is Verdict.REACHED, prop.name
    assert found.never_enabled == []


@pytest.mark.parametrize("protocol", [LADDER[0], LADDER[-1]], ids=lambda protocol: protocol.name)
def test_every_rung_keeps_its_state_well_formed_and_can_do_what_matters(protocol):
    model = protocol.model({"max_leader_epoch": 1})
    safe = [prop for prop in LADDER_PROPERTIES if not prop.name.endswith("_isr") or prop.name ==
            "leader_in_isr"]  # fmt: skip
    found = explore(model, safe)
    assert found.verdict is Verdict.EXHAUSTED
    assert set(found.reached) == {p.name for p in safe if p.sense is Sense.SOMETIMES}
    assert found.never_enabled == []


def test_no_fence_of_kip320_is_needed_for_a_well_formed_state():
    from dataclasses import fields

    settings = {field.name: False for field in fields(Kip320Settings)}
    model = KIP320.model({"max_leader_epoch": 1}, settings)
    wanted = [prop for prop in LADDER_PROPERTIES if prop.name in ("well_formed", "leader_in_isr")]
    assert explore(model, wanted).verdict is Verdict.EXHAUSTED


def test_the_start_of_asynchronous_isr_updates_has_every_replica_in_the_isr():
    engine = ReferenceEngine(ASYNC_ISR.model())
    partition = engine.view(engine.initial())
    assert partition.controller_isr.size == partition.leader_isr.size == 3
    assert isr.ASYNC_ISR is ASYNC_ISR
