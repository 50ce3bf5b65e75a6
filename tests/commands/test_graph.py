"""The state graph on the command line: what it says, what is written, and what is refused."""

from __future__ import annotations

import json
import re

import networkx as nx
import pytest

import highwater as public
from tests.support.own import write_counter

TINY = ("--replicas", "2", "--log-size", "1", "--max-records", "1", "--max-leader-epoch", "1")
RUNG = ("graph", "truncate_to_high_watermark", *TINY)
LOSS = ("--property", "weak_isr", "--property", "strong_isr")
TRACE = "counterexamples/ladder/async_isr-without_maximal_isr"


def test_what_the_graph_says_of_a_loss_is_told(highwater):
    done = highwater(*RUNG, *LOSS)
    assert done.status == 0
    assert max(map(len, done.out.splitlines())) <= 80
    words = " ".join(done.out.split())
    assert "353 states" in words and "the whole graph" in words
    assert "certain 4 every fair run from there comes to a loss" in words
    assert "how many 36; 2 up to the order of steps, 1 up to names too" in words
    assert "bridges controller_elect_leader, controller_shrink_isr, become_leader" in words


def test_the_same_is_told_as_data(highwater):
    data = highwater(*RUNG, *LOSS, "--json").json
    assert data["command"] == "graph"
    assert data["risk"] == {"safe": 268, "possible": 75, "certain": 4, "lost": 6, "unknown": 0}
    assert (data["ways"]["length"], data["ways"]["shortest"]) == (8, 36)
    explored = highwater("explore", *RUNG[1:], *LOSS, "--json").json
    assert explored["violations"][0]["depth"] == 8
    assert data["ways"]["first"] == explored["violations"][0]["steps"]


def test_where_there_is_no_loss_it_says_so(highwater):
    done = highwater("graph", "kip320", *TINY)
    assert done.status == 0
    assert "no run comes to a loss" in done.out


def test_fairness_decides_what_is_certain(highwater):
    unfair = [f"--fair={name}=none" for name in (
        "become_leader", "become_follower", "leader_expand_isr", "leader_advance_high_watermark",
        "follower_replicate",
    )]  # fmt: skip
    assert highwater(*RUNG, *LOSS, *unfair, "--json").json["risk"]["certain"] == 0


def test_a_cut_graph_claims_no_more_than_it_knows(highwater):
    done = highwater(*RUNG, *LOSS, "--depth", "4")
    assert "cut at a depth" in " ".join(done.out.split())
    assert "no run that is known does" in done.out
    assert "no run that is known comes to a loss" in done.out
    assert "stopped by the limit of 20 states" in " ".join(
        highwater(*RUNG, "--max-states", "20").out.split()
    )


def test_the_last_step_at_which_a_loss_was_avoidable_is_marked(highwater):
    done = highwater("graph", "--around", TRACE, "--json")
    trace = done.json["trace"]
    assert trace["last_safe"] == 5
    assert [row["risk"] for row in trace["states"]] == ["possible"] * 6 + ["lost"]
    assert [row["to_loss"] for row in trace["states"]] == [6, 5, 4, 3, 2, 1, 0]
    marked = [
        line for line in highwater("graph", "--around", TRACE).out.splitlines() if "<-" in line
    ]
    assert len(marked) == 1
    assert marked[0].split()[0] == "5"


def test_graphml_and_json_are_read_again_by_networkx(highwater, tmp_path):
    expected = public.graph(
        "truncate_to_high_watermark", properties=["weak_isr", "strong_isr"], replicas=2,
        log_size=1, max_records=1, max_leader_epoch=1,
    )  # fmt: skip
    for kind, read in (
        ("graphml", lambda path: nx.read_graphml(path, node_type=int, force_multigraph=True)),
        ("json", lambda path: nx.node_link_graph(json.loads(path.read_text()), edges="edges")),
    ):
        path = tmp_path / kind
        done = highwater(*RUNG, *LOSS, "--format", kind, "-o", path)
        assert (done.status, done.out) == (0, "")
        assert f"wrote {path}: 353 nodes and {expected.number_of_edges()} arrows" in done.err
        found = read(path)
        assert [row["loss"] for _, row in found.nodes(data=True)] == [
            row["loss"] for _, row in expected.nodes(data=True)
        ]
        assert set(found.edges) == set(expected.edges)
        assert highwater(*RUNG, *LOSS, "--format", kind).out == path.read_text()
    assert {type(n) for n, _ in expected.nodes(data=True)} == {int}
    assert expected.nodes[0]["quorum_isr"] == "{r0, r1}"
    assert expected.nodes[0]["quorum_leader"] is None


def test_parquet_holds_nodes_and_arrows(highwater, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    done = highwater(*RUNG, *LOSS, "--format", "parquet", "-o", tmp_path / "graph")
    assert done.status == 0
    nodes = parquet.read_table(tmp_path / "graph" / "nodes.parquet")
    arrows = parquet.read_table(tmp_path / "graph" / "arrows.parquet")
    assert nodes.column("loss").to_pylist().count("certain") == 4
    graph = public.graph("truncate_to_high_watermark", replicas=2, log_size=1, max_records=1,
                         max_leader_epoch=1)  # fmt: skip
    assert arrows.num_rows == graph.number_of_edges()
    assert nodes.column("quorum_leader").to_pylist()[0] is None
    assert sorted(p.name for p in (tmp_path / "graph").iterdir()) == [
        "arrows.parquet", "nodes.parquet",
    ]  # fmt: skip


def test_a_quotient_is_drawn(highwater):
    done = highwater(*RUNG, *LOSS, "--quotient", "roles,quorum.isr", "--format", "dot")
    assert done.status == 0
    assert done.out.startswith("digraph states {\n")
    assert done.out.endswith("}\n")
    told = highwater(*RUNG, *LOSS, "--quotient", "roles", "--quotient", "quorum.isr", "--json").json
    nodes = re.findall(r"^  (\d+) \[label=", done.out, re.MULTILINE)
    assert len(nodes) == told["seen"]["nodes"]
    sizes = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) states", done.out)]
    assert sum(sizes) == told["states"]


def test_a_graph_of_one_state_is_one(highwater, tmp_path):
    """Nothing was expanded: nothing is known, and nothing breaks."""
    alone = ("--depth", "0")
    assert "1 state, 0 steps" in highwater(*RUNG, *alone).out
    assert "unknown 1 no run that is known does" in " ".join(highwater(*RUNG, *alone).out.split())
    for kind in ("graphml", "dot", "json"):
        assert highwater(*RUNG, *alone, "--format", kind).status == 0
    seen = highwater(*RUNG, *alone, "--quotient", "isr", "--format", "json").json
    assert [node["states"] for node in seen["nodes"]] == [1]
    assert highwater(*RUNG, *alone, "--format", "parquet", "-o", tmp_path / "one").status == 0


def test_what_lies_around_a_trace_grows_with_the_radius(highwater):
    sizes, marked = [], []
    for radius in (0, 1, 2):
        out = highwater("graph", "--around", TRACE, "--radius", str(radius), "--format", "json").out
        graph = nx.node_link_graph(json.loads(out), edges="edges")
        sizes.append(len(graph))
        marked.append([n for n, on in graph.nodes(data="on_trace") if on])
    assert sizes[0] == 7 < sizes[1] < sizes[2]
    assert marked[0] == marked[1] == marked[2]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--radius", "1"), "--radius goes with --around"),
        (("--format", "parquet"), "say where with -o DIRECTORY"),
        (("-o", "x"), "-o x goes with --format"),
        (("--around", TRACE, "--quotient", "isr"), "do not go together"),
        (("--around", TRACE, "--replicas", "2", "--set", "a=b"), "leave out --replicas, --set"),
        (("--quotient", "rolls"), "did you mean 'roles'"),
        (("--quotient", "quorum.leder"), "did you mean 'quorum.leader'"),
        (("--quotient", ","), "a view needs a name"),
        (("--format", "dot", *TINY), "353 nodes: 300 at most are drawn"),
        (("--property", "a_record_commits"), "should be reached: no state falsifies it"),
        (("--property", "everybody_is_in_sync"), "is a liveness property"),
        (("--fair", "gone=weak"), "no action of truncate_to_high_watermark is called 'gone'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(options, words, highwater):
    name = () if "--around" in options else ("truncate_to_high_watermark",)
    done = highwater("graph", *name, *options)
    assert done.status == 2
    assert words in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_a_limit_that_leaves_no_graph_or_cuts_it_is_said_and_no_answer(highwater):
    none = highwater("graph", "truncate_to_high_watermark", "--max-seconds", "0")
    assert (none.status, none.out) == (20, "")
    assert "the limit of 0 seconds came before the state graph was there" in none.err
    cut = highwater(*RUNG, "--max-states", "20", "--json")
    assert (cut.status, cut.json["complete"]) == (20, False)


def test_a_trace_of_another_protocol_is_rejected(highwater):
    done = highwater("graph", "kip320", "--around", TRACE)
    assert done.status == 23
    assert "it is of async_isr, not of kip320" in done.err


@pytest.mark.slow
def test_a_protocol_of_ones_own_has_a_graph(highwater, tmp_path):
    file = str(write_counter(tmp_path))
    explored = highwater("explore", file, "--continue", "--json").json
    told = highwater("graph", file, "--json").json
    assert told["properties"] == ["below_two"]
    assert told["ways"]["length"] == explored["violations"][0]["depth"]
    plain = tmp_path / "plain.py"
    plain.write_text(
        "from highwater.language import Protocol, State, action, require\n"
        "class S(State):\n    on: bool = False\n"
        "@action('switch')\ndef switch(s: S) -> None:\n    require(s.on == False)\n"
        "    s.on = True\n"
        "PLAIN = Protocol('plain', 'two states', S, (switch,), ())\n"
    )
    assert "2 states, 1 step that" in " ".join(highwater("graph", plain).out.split())
    assert "no property is promised" in highwater("graph", plain).out
    graph = nx.node_link_graph(highwater("graph", plain, "--format", "json").json, edges="edges")
    assert list(graph.nodes(data="on")) == [(0, False), (1, True)]


def test_the_trace_is_not_overwritten(highwater, tmp_path):
    path = tmp_path / "trace.itf.json"
    highwater("explore", *RUNG[1:], *LOSS, "--trace-dir", tmp_path)
    (saved,) = tmp_path.iterdir()
    saved.rename(path)
    before = path.read_bytes()
    done = highwater("graph", "--around", path, "--format", "dot", "-o", path)
    assert done.status == 2
    assert path.read_bytes() == before


def test_what_is_too_large_for_networkx_is_refused_in_one_line(highwater, monkeypatch):
    from checker.core.graphs import export, ways

    monkeypatch.setattr(export, "MOST_IN_NETWORKX", 100)
    done = highwater(*RUNG, "--format", "graphml")
    assert done.status == 2
    assert "networkx is given 100 together at most" in done.err
    monkeypatch.setattr(ways, "MOST_EXAMINED", 10)
    monkeypatch.setattr(ways, "MOST_WAYS", 10)
    left_out = highwater(*RUNG, *LOSS, "--json").json["ways"]
    assert (left_out["gates"], left_out["up_to_order"]) == (None, None)
    assert "36 shortest ways: 10 at most are compared" in left_out["left_out"][0]


def test_a_way_that_the_functions_do_not_go_is_no_answer(highwater, monkeypatch):
    from checker.core.engines.reference import ReferenceEngine

    monkeypatch.setattr(ReferenceEngine, "holds", lambda *_: True)
    done = highwater(*RUNG, *LOSS, "--no-cross-check")
    assert done.status == 1
    assert "the shortest way to a loss is none on the reference engine" in done.err
