"""`import highwater`: the same answers as the commands give, as values that show themselves."""

import inspect
from typing import Any

import networkx as nx
import pytest

import highwater as public
from checker.core.proofs.proof import Proof, ProofOutcome
from highwater.language import Protocol
from model.language.errors import UsageError
from model.protocols import protocol_named


def test_a_search_says_what_the_command_says(highwater):
    answer = public.explore("kip101", properties=["strong_isr"])
    told = highwater("explore", "kip101", "--property", "strong_isr", "--json").json
    assert (answer.verdict, answer.result.distinct_states) == (
        told["verdict"], told["distinct_states"],
    )  # fmt: skip
    assert [trace.depth for trace in answer.traces] == [told["violations"][0]["depth"]]
    assert not answer
    assert answer.summary in str(answer)


def test_a_proof_s_summary_says_for_which_sizes_and_which_faults_stay_off():
    model = protocol_named("kafka").model({"crashes": 1})
    proof = Proof(model, (), unbounded=True, outcome=ProofOutcome.PROVED)
    said = public.Answer(model, "proved", (), proof).summary
    assert said.startswith("kafka: proved for all sizes, with no ")
    assert "power losses" in said and "crashes" not in said.split(", ")
    proof.unbounded = False
    within = public.Answer(model, "proved", (), proof).summary
    assert within == "kafka: proved within bounds on sizes"


@pytest.mark.parametrize(
    ("ask", "verdict", "content"),
    [
        (lambda: public.explore("kip320", replicas=2), "exhausted", True),
        (lambda: public.explore("kip320", depth=3), "bounded", True),
        (lambda: public.explore("kip320", max_states=100), "unknown", False),
        (lambda: public.simulate("kip320", walks=20), "sampled", True),
        (lambda: public.simulate("kip101", properties=["strong_isr"]), "violated", False),
        (lambda: public.prove("async_isr"), "proved", True),
        (lambda: public.prove("kip101", replicas=2), "not_inductive", False),
    ],
)
def test_an_answer_is_true_only_where_nothing_is_left_open(ask, verdict, content):
    answer = ask()
    assert (answer.verdict, bool(answer)) == (verdict, content)


def test_an_answer_shows_itself_in_a_notebook_and_escapes_what_it_shows():
    answer = public.explore("kip101", properties=["strong_isr"])
    page = answer._repr_html_()
    assert page.count("<details>") == 1
    assert "r0 removes r1" in page
    assert "<b>kip101: violated: strong_isr after 10 steps</b>" in page
    assert "->" not in page  # escaped


@pytest.mark.slow
def test_the_state_graph_is_a_networkx_graph():
    sizes: Any = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
    graph = public.graph("kip320", **sizes)
    states = public.explore("kip320", **sizes).result.distinct_states
    assert (len(graph), graph.graph["protocol"], graph.graph["complete"]) == (
        states,
        "kip320",
        True,
    )
    assert nx.descendants(graph, 0) | {0} == set(graph)
    seen = public.graph("kip320", quotient="roles, quorum.isr", **sizes)
    again = public.graph("kip320", quotient=["roles", "quorum.isr"], **sizes)
    assert nx.utils.graphs_equal(seen, again)
    assert sum(row["states"] for _, row in seen.nodes(data=True)) == states
    assert not public.graph("kip320", depth=2, **sizes).graph["complete"]
    losses = public.losses("truncate_to_high_watermark", properties=["strong_isr"], **sizes)
    assert losses.distance[0] == 9
    with pytest.raises(UsageError, match="no view or field of kip320 is called 'rolls'"):
        public.graph("kip320", quotient="rolls", **sizes)


def test_a_name_that_there_is_not_is_refused():
    with pytest.raises(UsageError, match="did you mean 'kip320'"):
        public.explore("kip32")
    with pytest.raises(UsageError, match="no bound of kip320"):
        public.prove("kip320", sizes=3)
    with pytest.raises(AttributeError, match="no attribute 'search'"):
        _ = public.search
    assert Protocol.__module__ == "model.language.protocol"


def test_every_question_takes_the_same_of_a_model_and_says_so():
    shared = ["protocol", "settings", "preset", "properties"]
    for ask in (public.explore, public.simulate, public.prove, public.graph, public.losses):
        names = list(inspect.signature(ask).parameters)
        assert (names[:4], names[-1]) == (shared, "bounds")
    assert "depth" in inspect.signature(public.explore).parameters


def test_an_option_of_a_question_is_no_bound_and_a_bound_no_option():
    shallow = public.explore("kip320", depth=2, replicas=2)
    assert shallow.model.bounds["replicas"] == 2
    assert (shallow.verdict, shallow.result.depth) == ("bounded", 2)
    with pytest.raises(UsageError, match="no bound of kip320 is called 'walks'"):
        public.explore("kip320", walks=2)
