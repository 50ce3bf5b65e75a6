"""`explore` says what its engine found: as JSON, as text, by its exit status, in stored traces."""

import pytest

import properties
from checker.core.exits import Exit
from checker.core.search.explore import Explorer, Limits
from checker.core.traces.itf import read_trace
from model.language.naming import instance_words
from model.protocols import protocol_named
from properties import Property, choose_properties
from tests.support.own import write_counter

VARYING = ("seconds", "states_per_second", "peak_memory_bytes", "disk_bytes")
SMALL = ("--replicas", 2, "--log-size", 1, "--max-records", 1, "--max-leader-epoch", 1)
BROKEN = ("truncate_to_high_watermark", *SMALL)  # weak_isr after 8 steps, strong_isr after 9
SOUND = ("kip320", *SMALL)
KEYS = {
    "command", "protocol", "settings", "bounds", "engine", "symmetry", "verdict", "coverage",
    "stopped", "depth", "distinct_states", "unfinished", "transitions", "levels", "actions",
    "properties", "violations", "deadlock", "liveness", "warnings", "cross_check", "reduced",
    "fingerprint_bits", "collision_probability", "seconds", "states_per_second",
    "peak_memory_bytes", "disk_bytes", "version",
}  # fmt: skip


def engine_result(name, depth):
    protocol = protocol_named(name)
    return Explorer(protocol.model(), choose_properties(protocol), Limits(depth=depth)).run()


def without_times(data):
    return {key: value for key, value in data.items() if key not in VARYING}


# --- JSON ------------------------------------------------------------------------------------


def test_json_reports_what_the_engine_found(highwater):
    ended = highwater("explore", "kip279", "--depth", 7, "--json")
    result, data = engine_result("kip279", 7), ended.json
    assert set(data) == KEYS
    assert data["protocol"] == "kip279"
    assert data["bounds"] == dict(result.model.bounds)
    assert data["verdict"] == data["coverage"] == "bounded"
    assert data["levels"] == result.levels
    assert data["distinct_states"] == sum(result.levels) == result.distinct_states
    assert data["depth"] == 7 == len(data["levels"]) - 1
    assert data["transitions"] == result.transitions
    assert data["transitions"] == sum(a["enabled"] for a in data["actions"].values())
    assert data["distinct_states"] == 1 + sum(a["new"] for a in data["actions"].values())
    assert {n: p["depth"] for n, p in data["properties"].items() if p["depth"] is not None} == (
        result.reached
    )
    assert [data["stopped"], data["violations"], data["deadlock"]] == [None, [], None]
    assert data["states_per_second"] > 0 < data["peak_memory_bytes"]


def test_json_is_all_that_is_printed(highwater):
    ended = highwater("explore", *BROKEN, "--json")
    assert ended.err == ""
    assert ended.out.count("\n") == 1


def test_json_names_the_settings(highwater):
    data = highwater("explore", *SOUND, "--set", "fence_fetch=false", "--json").json
    assert data["settings"]["fence_fetch"] == "false"
    assert data["settings"]["fence_truncation"] == "true"


def test_the_chosen_properties_are_checked_and_no_others(highwater):
    chosen = ("--property", "strong_isr", "--property", "a_record_commits")
    data = highwater("explore", *BROKEN, *chosen, "--json").json
    assert list(data["properties"]) == ["strong_isr", "a_record_commits"]
    assert [(v["property"], v["depth"]) for v in data["violations"]] == [("strong_isr", 9)]


def test_continue_finds_every_violated_property(highwater):
    first = highwater("explore", *BROKEN, "--json").json
    everything = highwater("explore", *BROKEN, "--json", "--continue").json
    assert [v["property"] for v in first["violations"]] == ["weak_isr"]
    assert [v["property"] for v in everything["violations"]] == ["weak_isr", "strong_isr"]
    assert first["coverage"] == "bounded"
    assert everything["coverage"] == "exhausted"
    assert everything["verdict"] == "violated"


@pytest.mark.parametrize("arguments", [("kip101", "--depth", 11, "--continue")])
def test_workers_change_nothing(highwater, arguments):
    one = highwater("explore", *arguments, "--json", "--workers", 1)
    two = highwater("explore", *arguments, "--json", "--workers", 2)
    assert without_times(one.json) == without_times(two.json)
    assert one.json["violations"][0]["steps"]
    assert one.status == two.status == Exit.VIOLATED


@pytest.mark.parametrize(
    "arguments",
    [
        (*BROKEN, "--continue", "--deadlock"),
        (*SOUND, "--deadlock"),
        ("async_isr", "--set", "maximal_isr=false", "--max-offset", 1, "--replicas", 2),
    ],
)
def test_the_textbook_search_finds_the_same(highwater, arguments):
    fast = highwater("explore", *arguments, "--json")
    plain = highwater("explore", *arguments, "--json", "--engine", "reference")
    own = ("engine", "fingerprint_bits", "collision_probability", "cross_check")
    differing = {k for k, v in without_times(fast.json).items() if plain.json[k] != v}
    assert differing <= set(own)
    assert plain.json["engine"] == "reference"
    assert plain.json["fingerprint_bits"] == 0
    assert fast.status == plain.status


def test_a_search_that_ends_at_a_depth_does_not_claim_that_there_is_more(highwater, tmp_path):
    """At the depth of the last states nobody has looked whether any other follows."""
    file = write_counter(tmp_path)
    whole = highwater("explore", file, "--property", "somebody_counts", "--json").json
    assert whole["coverage"] == "exhausted"
    cut = highwater("explore", file, "--depth", whole["depth"], "--property",
                    "somebody_counts")  # fmt: skip
    assert "bounded: nothing is violated" in cut.out
    assert "exist" not in cut.out


# --- exit status -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "status", "verdict"),
    [
        (SOUND, Exit.OK, "exhausted"),
        ((*SOUND, "--require-exhaustive"), Exit.OK, "exhausted"),
        ((*SOUND, "--depth", 3), Exit.OK, "bounded"),
        ((*SOUND, "--depth", 3, "--require-exhaustive"), Exit.LIMIT, "bounded"),
        ((*SOUND, "--max-states", 50), Exit.LIMIT, "unknown"),
        ((*SOUND, "--max-states", 50, "--require-exhaustive"), Exit.LIMIT, "unknown"),
        ((*SOUND, "--max-seconds", 0, "--require-exhaustive"), Exit.LIMIT, "unknown"),
        (BROKEN, Exit.VIOLATED, "violated"),
        ((*BROKEN, "--require-exhaustive"), Exit.VIOLATED, "violated"),
        ((*BROKEN, "--depth", 7), Exit.OK, "bounded"),
        ((*BROKEN, "--depth", 8), Exit.VIOLATED, "violated"),
        ((*SOUND, "--deadlock"), Exit.DEADLOCK, "bounded"),
        ((*BROKEN, "--deadlock", "--continue"), Exit.VIOLATED, "violated"),
    ],
)
@pytest.mark.parametrize("engine", ["local", pytest.param("reference", marks=pytest.mark.slow)])
def test_exit_status_follows_the_verdict(highwater, arguments, status, verdict, engine):
    ended = highwater("explore", *arguments, "--json", "--engine", engine)
    told = ended.json.get("verdict", "unknown")  # none where a limit came before the search
    assert (ended.status, told) == (status, verdict)


def test_a_vacuous_property_that_was_asked_for_is_an_error_once_all_states_were_seen(
    highwater, monkeypatch
):
    empty = Property("empty", "nothing", lambda _: True, premise=lambda _: False)
    monkeypatch.setattr(properties, "choose_properties", lambda *_: (empty,))
    ended = highwater("explore", *SOUND, "--property", "empty")
    assert ended.status == Exit.VACUOUS
    words = "vacuous, since no state makes the premise true (within these bounds): empty"
    assert f"warning: {words}" in " ".join(ended.out.split())
    assert highwater("explore", *SOUND, "--property", "empty", "--depth", 2).status == Exit.OK
    assert highwater("explore", *SOUND).status == Exit.OK


def test_max_states_stops_with_what_was_found(highwater):
    data = highwater("explore", "kip320", "--max-states", 20_000, "--json").json
    assert data["verdict"] == "unknown"
    assert data["stopped"] == "the limit of 20,000 states"
    assert data["distinct_states"] == sum(data["levels"]) + data["unfinished"] == 20_000
    assert data["levels"] == engine_result("kip320", data["depth"]).levels


@pytest.mark.slow
def test_max_memory_stops_with_what_was_found(finish):
    large = ("--log-size", 3, "--max-records", 3, "--max-leader-epoch", 3)
    limit = ("--max-memory", "200MB", "--require-exhaustive")
    ended = finish("explore", "kip320", *large, *limit, "--json")
    assert ended.status == Exit.LIMIT
    assert ended.json["verdict"] == "unknown"
    assert ended.json["stopped"] == "the limit of 200 MB of memory"
    assert ended.json["depth"] >= 1
    assert ended.json["distinct_states"] > 1_000
    assert ended.json["peak_memory_bytes"] < 400e6


def test_beyond_its_memory_it_goes_on_from_disk(highwater, tmp_path):
    disk = ("--max-memory", "3GB", "--spill", tmp_path / "spill")
    plain, stopped = (highwater("explore", *BROKEN, *more, "--json").json for more in ((), disk))
    again = highwater("explore", *BROKEN, *disk, "--resume", "--json").json
    assert stopped["disk_bytes"] > 0 == plain["disk_bytes"]
    for name in VARYING:
        plain.pop(name), stopped.pop(name), again.pop(name)
    assert plain == stopped == again
    assert "MB on disk" in highwater("explore", *BROKEN, *disk, "--resume").out


# --- text ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [BROKEN, ("kip320", "--depth", 5), (*SOUND, "--max-states", 50)]
)
def test_text_ends_with_the_verdict_in_80_columns(highwater, arguments):
    plain, ended = highwater("explore", *arguments), highwater("explore", *arguments, "--stats")
    data = highwater("explore", *arguments, "--json").json
    assert set(plain.out.splitlines()) < set(ended.out.splitlines())
    lines = ended.out.splitlines()
    last = lines[max(i for i, line in enumerate(lines) if not line) + 1]
    assert last.startswith(data["verdict"] + ":")
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in ended.out
    table = lines[lines.index("property              verdict") + 1 :]
    for (name, prop), line in zip(data["properties"].items(), table, strict=False):
        assert line.replace(",", " ").split()[:2] == [name, prop["verdict"]]
        assert ("vacuous" in line) is (prop["vacuous"] and prop["sense"] == "always")
        assert prop["depth"] is None or f"after {prop['depth']} step" in line
    printed = " ".join(ended.out.split())
    for words in data["warnings"]:
        assert f"warning: {words}" in printed
    for name, count in data["actions"].items():
        row = f"{name} {count['enabled']:,} {count['new']:,}"
        assert (row in printed) is (count["enabled"] > 0)
        assert row not in " ".join(plain.out.split())
    assert "states/s" in printed and "states/s" not in plain.out


def test_text_begins_with_the_trace(highwater):
    ended = highwater("explore", *BROKEN)
    steps = ended.out.index("initial state")
    assert (
        steps < ended.out.index("weak_isr is violated after 8 steps") < ended.out.index("distinct")
    )
    assert "(HW 1)" in ended.out  # the failing values


def test_a_run_that_finds_nothing_says_what_it_did_not_see(highwater):
    shallow = highwater("explore", "kip279", "--depth", 3).out
    assert "witnesses not reached (up to depth 3, deeper may be): " in shallow
    assert "actions never enabled (up to depth 3, deeper may be):" in shallow
    alone = ("--replicas", 1, "--max-leader-epoch", 0)
    exhausted = " ".join(highwater("explore", "kip320", *alone).out.split())
    assert "actions never enabled (within these bounds): leader_expand_isr" in exhausted
    assert "witnesses not reached (within these bounds): the_leader_changes" in exhausted


# --- traces ----------------------------------------------------------------------------------


def test_traces_are_stored_and_replay(highwater, tmp_path):
    directory = tmp_path / "new" / "traces"
    store = ("--trace-dir", directory, "--continue")
    data = highwater("explore", *BROKEN, *store, "--json").json
    stem = "truncate_to_high_watermark"
    names = [f"{stem}-strong_isr.itf.json", f"{stem}-weak_isr.itf.json"]
    assert sorted(path.name for path in directory.iterdir()) == names
    for violation in data["violations"]:
        trace = read_trace(violation["trace"])
        assert trace.property == violation["property"]
        assert trace.depth == violation["depth"]
        assert [instance_words(trace.model, step) for step in trace.steps] == violation["steps"]
        assert trace.explanation == violation["explanation"]


def test_the_trace_to_a_deadlock_is_stored(highwater, tmp_path):
    data = highwater("explore", *SOUND, "--deadlock", "--trace-dir", tmp_path, "--json").json
    trace = read_trace(tmp_path / "kip320-deadlock.itf.json")
    assert trace.verdict == "deadlock"
    assert trace.depth == data["deadlock"]["depth"]


def test_text_names_the_stored_trace(highwater, tmp_path):
    ended = highwater("explore", *BROKEN, "--trace-dir", tmp_path)
    (path,) = tmp_path.iterdir()
    assert f"trace saved: {path}\n" in ended.out


def test_a_full_disk_does_not_lose_the_result(highwater, tmp_path, monkeypatch):
    from model.language.errors import UsageError

    def full(*_):
        raise UsageError("cannot write the trace: No space left on device")

    monkeypatch.setattr("checker.core.traces.itf.write_trace", full)
    ended = highwater("explore", *BROKEN, "--trace-dir", tmp_path)
    assert ended.status == Exit.VIOLATED  # the gravest
    assert "violated: weak_isr after 8 steps" in ended.out
    assert ended.err == "error: cannot write the trace: No space left on device\n"


def test_a_trace_that_the_reference_engine_refuses_is_never_reported(highwater, monkeypatch):
    honest = Explorer.run

    def wrong(self):
        result = honest(self)
        first = result.violations[0]
        result.violations[0] = type(first)(first.property, first.depth, first.steps[:-1])
        return result

    monkeypatch.setattr(Explorer, "run", wrong)
    ended = highwater("explore", *BROKEN)
    assert ended.status == Exit.INTERNAL
    assert "the reference engine does not confirm the trace to weak_isr" in ended.err
    assert ended.out == ""


def test_a_violation_says_which_entry_of_the_catalogue_it_is_an_instance_of(highwater):
    told = " ".join(highwater("explore", "kip101", "--property", "weak_isr").out.split())
    assert "This is an instance of \"A leader's own ISR loses what it serves" in told
    assert "prevented at step 7 by kip320. `highwater explain TRACE` says more." in told


@pytest.mark.slow
def test_random_walks_say_it_too(highwater):
    asked = ("simulate", "kip101", "--property", "weak_isr", "--seed", 1, "--max-seconds", 60)
    ended = highwater(*asked)
    assert ended.status == Exit.VIOLATED
    assert "This is an instance of \"A leader's own ISR loses" in " ".join(ended.out.split())
    assert not any(line.endswith(" ") for line in ended.out.splitlines())
