"""Exploration up to renaming: fewer states, the same verdicts, traces that replay."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from checker.core.engines.vectorised import VectorisedEngine
from checker.core.search.explore import Explorer, Journal, Options
from checker.core.search.symmetry import Symmetry
from checker.core.traces.trace import TraceVerdict, build_trace
from checker.core.verdict import Verdict
from model.kafka.protocol import KAFKA
from model.ladder.cluster import Cluster
from model.language.errors import DisagreementError, UsageError
from model.protocols import protocol_named
from properties import Property, promised_properties
from tests.support.kafka import FIX_36, SAFE, kafka_model
from tests.support.tiers import nightly

SMALL = {"log_size": 2, "max_records": 1, "max_leader_epoch": 2}


def explored(model, symmetry):
    properties = promised_properties(model)
    return Explorer(
        model, properties, options=Options(keep_going=True, symmetry=symmetry, cross_check=False)
    ).run()


@cache
def reached(model, levels, most=400):
    """Some packed states that the model reaches."""
    engine = VectorisedEngine(model)
    words = engine.layout.pack([model.initial_state])
    for _ in range(levels):
        words = np.unique(np.concatenate([words, engine.expand(words).words], axis=1), axis=1)
        words = words[:, :: max(1, words.shape[1] // most)]
    return engine.layout, words


MODELS = {
    "kip320": protocol_named("kip320").model(),
    "kip320 with 4 replicas": protocol_named("kip320").model({"replicas": 4}),
    "kafka": kafka_model("kafka-4.0", SAFE, crashes=1, preferred_elections=1),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("patience", [None, 0.0], ids=["kernel", "machine_code"])
def test_the_canonical_state_is_the_least_renaming_and_the_same_for_all(patience, name):
    model = MODELS[name]
    layout, words = reached(model, 9, most=60)
    symmetry = Symmetry(model, (), layout, patience=patience)
    canonical = symmetry.canonical(words)
    changed = 0
    for state, found in zip(layout.unpack(words), canonical.T, strict=True):
        renamings = [symmetry.renamed(state, p) for p in symmetry.permutations]
        packed = layout.pack(renamings)
        assert min(tuple(column) for column in packed.T) == tuple(found)
        assert (symmetry.canonical(packed) == found[:, None]).all()
        changed += tuple(layout.pack([state])[:, 0]) != tuple(found)
    assert changed > words.shape[1] // 4


def test_machine_code_that_takes_another_renaming_for_the_least_is_refused():
    layout, words = reached(MODELS["kip320"], 9)
    symmetry = Symmetry(MODELS["kip320"], (), layout, patience=0.0)
    symmetry._renamings.pop()  # machine code knows of one renaming less
    with pytest.raises(DisagreementError, match="another renaming"):
        symmetry.canonical(words)


def test_a_renamed_step_does_what_the_step_does():
    model = MODELS["kafka"]
    layout, words = reached(model, 7, most=60)
    symmetry = Symmetry(model, (), layout)
    engine = VectorisedEngine(model)

    def classes(packed):
        return {column.tobytes() for column in symmetry.canonical(engine.expand(packed).words).T}

    for place in range(words.shape[1]):
        one = words[:, place : place + 1]
        assert classes(one) == classes(symmetry.canonical(one))


class Classes(Journal):
    """Adds up of how many states the classes are that a search finds."""

    def __init__(self, symmetry):
        self.symmetry = symmetry
        self.states = self.classes = 0

    def level(self, findings, pieces, lineage):
        for words in pieces:
            self.states += int(self.symmetry.class_sizes(words).sum())
            self.classes += words.shape[1]


SHRINKING = {
    "kip320": protocol_named("kip320").model({"log_size": 2, "max_records": 1}),
    "kafka": kafka_model("kafka-4.0", SAFE, crashes=1),
    "four replicas": protocol_named("kip320").model(
        {"replicas": 4, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
    ),
}


@pytest.mark.parametrize("name", SHRINKING)
def test_classes_add_up_to_the_states_without_symmetry(name):
    """Renamings that change nothing at the start lead from reachable states to reachable ones."""
    model = SHRINKING[name]
    plain = Explorer(model, (), options=Options(cross_check=False))
    count = plain.run().distinct_states
    start = model.initial_state
    symmetry = Symmetry(model, (), plain.engine.layout, fixing=start)
    classes = Classes(symmetry)
    options = Options(symmetry=True, cross_check=False)
    explorer = Explorer(model, (), options=options, journal=classes)
    explorer._symmetry = symmetry
    explorer.run()
    assert classes.states == count
    assert classes.classes < 0.8 * count


def test_the_deepest_run_ends_in_the_last_level():
    model = SHRINKING["four replicas"]
    for symmetry in (False, True):
        options = Options(symmetry=symmetry, cross_check=False)
        explorer = Explorer(model, (), options=options)
        depth = explorer.run().depth
        trace = build_trace(model, explorer.deepest(), verdict=TraceVerdict.RUN)
        assert trace.depth == depth


def test_kip320_has_the_known_number_of_classes():
    model = protocol_named("kip320").model()
    result = explored(model, symmetry=True)
    assert (result.verdict, result.depth) == (Verdict.EXHAUSTED, 25)
    assert result.distinct_states == 123_311


@pytest.mark.parametrize(
    "model",
    [
        protocol_named("truncate_to_high_watermark").model(SMALL),
        protocol_named("kip279").model(SMALL),
        nightly(
            "another release than the one that is compared on every change",
            kafka_model("kafka-4.1", SAFE, crashes=1, preferred_elections=2, max_leader_epoch=3),
        ),
        pytest.param(kafka_model("kafka-0.10", SAFE, crashes=2), marks=pytest.mark.slow),
    ],
    ids=["before KIP-101", "kip279", "kafka-4.1", "kafka-0.10"],
)
def test_verdicts_and_depths_of_violations_are_those_of_the_full_search(model):
    full, small = explored(model, symmetry=False), explored(model, symmetry=True)
    assert small.distinct_states < full.distinct_states / 2
    assert small.verdict is full.verdict is Verdict.VIOLATED
    for prop in full.properties:
        assert small.verdict_on(prop) is full.verdict_on(prop)
    assert {(v.property.name, v.depth) for v in small.violations} == {
        (v.property.name, v.depth) for v in full.violations
    }
    assert small.reached == full.reached
    assert small.premises == full.premises
    for violation in small.violations:
        trace = build_trace(model, violation.steps, violation.property)  # replays it
        assert trace.depth == violation.depth


@pytest.mark.slow
def test_a_full_state_space_shrinks_and_stays_safe():
    model = kafka_model("kafka-4.1", SAFE | FIX_36, crashes=1, preferred_elections=1)
    full, small = explored(model, symmetry=False), explored(model, symmetry=True)
    assert small.verdict is full.verdict is Verdict.EXHAUSTED
    assert 2 * small.distinct_states < full.distinct_states


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (protocol_named("async_isr").model(), "controller_shrink_isr names r0"),
        (
            kafka_model("kafka-4.1", {"preferred.leader": "first_replica"}),
            "controller_elect_preferred_leader names b0",
        ),
    ],
    ids=["async_isr", "a fixed preferred leader"],
)
def test_members_that_have_names_are_refused(model, named):
    with pytest.raises(UsageError, match=named):
        Explorer(model, (), options=Options(symmetry=True))


def the_first(cluster: Cluster) -> bool:
    """Names a replica."""
    return cluster.quorum.leader == cluster.replicas[0]


@pytest.mark.parametrize(
    "prop",
    [
        Property("names_one", "", the_first),
        Property("names_one", "", lambda cluster: cluster.quorum.isr.is_empty, premise=the_first),
        Property("names_one", "", lambda before, after: the_first(after), of_steps=True),
    ],
    ids=["claim", "premise", "claim about steps"],
)
def test_properties_that_name_a_member_are_refused(prop):
    with pytest.raises(UsageError, match="the property names_one names r0"):
        Explorer(protocol_named("kip320").model(), (prop,), options=Options(symmetry=True))


@pytest.mark.slow
def test_too_many_members_are_refused():
    model = KAFKA.model({"replicas": 6})
    with pytest.raises(UsageError, match="6 brokers have too many renamings"):
        Explorer(model, (), options=Options(symmetry=True))
