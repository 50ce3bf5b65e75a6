"""What a proof rests on is enough for it, and a picture shows it from top to bottom."""

from xml.etree import ElementTree

import networkx as nx
import pytest

from checker.core.proofs.bounded.induction import Induction
from checker.core.proofs.proof import FOLLOWS
from checker.core.proofs.rests import rests_on
from checker.core.verdict import Verdict
from checker.telling.pictures.layers import as_svg
from model.ladder.cluster import Cluster
from model.language import any_of, every
from model.language.errors import UsageError
from model.protocols import protocol_named
from properties import choose_properties, lemmas_of
from properties.claims import always

SIZES = {"replicas": 3, "log_size": 2, "max_records": 2, "max_leader_epoch": 2}
MODEL = protocol_named("kip320").model(SIZES)
LEMMAS = lemmas_of(MODEL.protocol)
(STRONG,) = choose_properties(MODEL.protocol, ["strong_isr"])


def proved(*lemmas):
    return Induction(MODEL, (STRONG,), lemmas).run()


@always("idle", "every HW is at 0 or beyond, or below 1: true of every state")
def idle(cluster: Cluster) -> bool:
    return every(any_of(r.high_watermark >= 0, r.high_watermark < 1) for r in cluster.replicas)


@pytest.fixture(scope="module")
def arrows():
    return rests_on(proved(*LEMMAS, idle))


def test_what_is_drawn_proves_it_and_nothing_else_is_drawn(arrows):
    drawn = [lemma for lemma in LEMMAS if lemma.name in arrows]

    assert proved(*drawn).verdict is Verdict.PROVED
    assert set(arrows) == {STRONG.name, *nx.descendants(arrows, STRONG.name)}
    assert drawn and idle.name not in arrows


def test_an_arrow_names_the_steps_that_need_it(arrows):
    assert arrows.edges["strong_isr", "committed"]["actions"] == [FOLLOWS]
    steps = {
        step for *_, step in arrows.edges(data="actions") if step != [FOLLOWS] for step in step
    }
    assert steps <= {action.name for action in MODEL.protocol.actions}
    assert "leader_expand_isr" in steps


def test_without_a_proof_there_is_nothing_to_draw():
    with pytest.raises(UsageError, match="strong_isr is not proved"):
        rests_on(proved())


def test_a_proof_that_holds_within_its_bounds_alone_is_drawn():
    """With one record and two leader epochs nothing is lost without this fence; with more it is."""
    sizes = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
    model = protocol_named("kip320").model(sizes, {"wait_for_epoch": "false"})
    proof = Induction(model, (STRONG,), LEMMAS).run()

    assert proof.verdict is Verdict.PROVED
    assert "committed" in rests_on(proof)


def test_a_box_is_above_what_it_rests_on():
    graph = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "b"), ("a", "d"), ("c", "d"), ("e", "d")])
    picture = ElementTree.fromstring(as_svg("t", "d", graph, {"a": "words of a"}, {"a"}))

    texts = {t.get("data-name"): t for t in picture.iter("{http://www.w3.org/2000/svg}text")}
    boxes = {name: box_of(picture, text) for name, text in texts.items()}
    assert set(boxes) == set(graph)
    assert boxes["b"] == boxes["c"] != boxes["d"]  # each rests on the other
    for above, below in graph.edges:
        if boxes[above] != boxes[below]:
            assert bottom(boxes[above]) < float(boxes[below][1])
    assert "words of a\nrests on b, d" in "".join(texts["a"].itertext())
    assert [name for name, text in texts.items() if text.get("class") == "marked"] == ["a"]


def box_of(picture, text):
    """The box that a name is in: x, y, width, height."""
    x, y = float(text.get("x")), float(text.get("y"))
    for rect in picture.iter("{http://www.w3.org/2000/svg}rect"):
        left, top, width, _ = box = tuple(map(rect.get, ("x", "y", "width", "height")))
        if float(left) <= x <= float(left) + float(width) and float(top) < y < bottom(box):
            return box
    raise AssertionError(f"{text.get('data-name')} is in no box")


def bottom(box):
    return float(box[1]) + float(box[3])
