"""A protocol of one's own is named wherever one of this project's is, and told as clearly."""

import json
import sys
from pathlib import Path

import pytest

from checker.api.stateful import PropertyViolationError, state_machine
from checker.core.exits import Exit
from checker.core.spark.protocol_parcel import ProtocolParcel
from checker.core.traces.itf import read_trace, write_trace
from checker.core.traces.trace import build_trace
from model.language.errors import RejectedError, UsageError
from model.own_protocols import entry_points
from model.protocols import PROTOCOLS, protocol_named, reference_of
from properties import properties_of
from tests.support.own import COUNTER, write_counter


@pytest.fixture
def counter(tmp_path, monkeypatch):
    """The file, in the current directory; what a test imports is forgotten after it."""
    monkeypatch.chdir(tmp_path)
    sys.modules.pop("beside", None)  # of another test's folder
    before = set(sys.modules)
    yield write_counter(tmp_path)
    for name in sys.modules.keys() - before:
        if name == "beside" or name.startswith(("counter", "other", "shelf")):
            del sys.modules[name]


@pytest.mark.parametrize("name", ["counter.py", "counter.py:COUNTER", "counter.py:counter",
                                  "./counter.py", "counter:COUNTER"])  # fmt: skip
def test_a_file_or_a_module_names_a_protocol(highwater, counter, name):
    found = highwater("explore", name, "--json")
    assert found.status == Exit.VIOLATED, found.err
    assert found.json["protocol"] == "counter"
    assert found.json["violations"][0]["explanation"] == "c0 counts 2"
    assert found.json["properties"]["somebody_counts"]["depth"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("form", [("--json",), ("--format", "sarif")])
def test_what_it_prints_does_not_spoil_data(highwater, counter, form):
    other = counter.with_name("other.py")
    other.write_text(f"print('loading')\n{counter.read_text()}")
    found = highwater("explore", "other.py", *form)
    assert json.loads(found.out) and "loading" in found.err
    sys.modules.pop(next(name for name in sys.modules if name.startswith("other_")))
    assert highwater("explore", "other.py").out.startswith("loading")


@pytest.mark.slow
def test_its_bounds_are_options_also_where_a_command_has_one_of_that_name(highwater, counter):
    assert highwater("explore", "counter.py", "--clerks", 1, "--steps", 1, "--json").json[
        "bounds"
    ] == {"steps": 1, "clerks": 1}
    walked = highwater("simulate", "counter.py", "--steps", 7, "--bound-steps", 1, "--json").json
    assert (walked["bounds"]["steps"], walked["longest_walk"]) == (1, 2)
    assert "--bound-steps" in highwater("simulate", "counter.py", "--help").out
    assert highwater("explore", "kip320", "--clerks", 1).status == Exit.USAGE


@pytest.mark.parametrize(
    ("command", "status"),
    [(["simulate", "--walks", 20], 12), (["prove"], 21),
     (["mutate", "--workers", 1, "--clerks", 1], 0), (["list"], 0),
     (["explore", "--engine", "reference"], 12)],
)  # fmt: skip
def test_every_command_takes_it(highwater, counter, command, status):
    name, *options = command
    found = highwater(name, "counter.py", *options, "--json")
    assert (found.status, found.err) == (status, "")
    assert "counter" in found.out


def test_a_trace_names_its_protocol_and_replays_when_the_user_says_so(highwater, counter):
    highwater("explore", "counter.py", "--trace-dir", "traces", "--quiet")
    trace = "traces/counter-below_two.itf.json"
    meta = json.loads(Path(trace).read_text())["#meta"]
    assert meta["source"] == "counter.py:COUNTER"
    assert len(meta["digest"]) == 32
    refused = highwater("replay", trace)
    assert refused.status == Exit.USAGE
    assert "give --protocol counter.py:COUNTER" in refused.err
    replayed = highwater("replay", trace, "--protocol", "counter.py", "--json").json
    assert (replayed["accepted"], replayed["redefined"]) == (True, False)
    assert replayed["explanation"] == "c0 counts 2"
    page = highwater("report", trace, "--protocol", "counter.py", "--format", "html")
    assert (page.status, "c0 counts 2" in page.out) == (0, True)
    assert highwater("replay", trace, "--protocol", "kip320").status == Exit.USAGE


def test_a_trace_does_not_make_anybody_run_what_it_names(counter, tmp_path, highwater):
    highwater("explore", "counter.py", "--trace-dir", "traces", "--quiet")
    document = json.loads((tmp_path / "traces" / "counter-below_two.itf.json").read_text())
    for name in ("other.py:EVIL", "other:EVIL"):
        document["#meta"]["source"] = name
        (tmp_path / "other.py").write_text("open('touched', 'w')")
        (tmp_path / "sent.itf.json").write_text(json.dumps(document))
        assert highwater("replay", "sent.itf.json").status == Exit.USAGE
        assert not (tmp_path / "touched").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "is_changed"),
    [
        ("nobody gets to two", "other words", False),
        ("c.count < 2 for", "c.count != 2 for", True),
        ("    clerk.count += 1", "    # a remark\n    clerk.count = clerk.count + 1", False),
        ("require(clerk.count <", "require(clerk.count != 7, clerk.count <", True),
        ("integers(0, STEPS)", "integers(-1, STEPS)", True),
    ],
)
def test_replay_says_when_the_definition_has_changed(counter, highwater, old, new, is_changed):
    highwater("explore", "counter.py", "--trace-dir", "traces", "--quiet")
    write_counter(counter.parent, (old, new), name="other.py")
    trace = "traces/counter-below_two.itf.json"
    found = highwater("replay", trace, "--protocol", "other.py")
    assert found.status == 0
    assert ("has changed since it was found" in found.out) is is_changed


def test_a_trace_that_no_longer_holds_says_why(counter, highwater):
    highwater("explore", "counter.py", "--trace-dir", "traces", "--quiet")
    write_counter(counter.parent, ("clerk.count <", "clerk.count + 2 <"), name="other.py")
    found = highwater("replay", "traces/counter-below_two.itf.json", "--protocol", "other.py")
    assert found.status == Exit.REJECTED
    assert "not enabled" in found.err
    assert "has changed since it was found" in found.err


def test_a_trace_of_one_of_this_projects_protocols_says_that_too(tmp_path, highwater):
    highwater("explore", "kip101", "--trace-dir", tmp_path, "--quiet")
    document = json.loads((tmp_path / "kip101-weak_isr.itf.json").read_text())
    assert document["#meta"]["source"] == "highwater"
    document["#meta"]["digest"] = "0" * 32
    (tmp_path / "old").write_text(json.dumps(document))
    assert highwater("replay", tmp_path / "old", "--json").json["redefined"] is True
    for unsaid in ("digest", "source"):
        del document["#meta"][unsaid]
    (tmp_path / "older").write_text(json.dumps(document))
    assert highwater("replay", tmp_path / "older", "--json").json["redefined"] is False


def test_a_property_that_no_protocol_lists_tells_its_own_failure(counter, tmp_path):
    protocol = protocol_named("counter.py")
    (claim,) = (p for p in properties_of(protocol) if p.name == "below_two")
    bare = protocol.variant("counter", "without properties", properties=())
    with pytest.raises(PropertyViolationError, match=r"c\d counts 2"):
        state_machine(bare, properties=[claim], trace_dir=None)("runTest").debug()
    model = bare.model()
    trace = build_trace(model, [model.instances[0]] * 2, claim)
    assert trace.explanation == "c0 counts 2"
    write_trace(trace, tmp_path / "run")
    again = read_trace(tmp_path / "run", {"counter": bare})
    assert (again.verdict, again.property, again.states) == ("run", None, trace.states)


@pytest.mark.slow
def test_a_scenario_and_a_store_take_it(counter, highwater, tmp_path):
    (tmp_path / "story.toml").write_text(
        'title = "t"\n[[run]]\nname = "n"\nprotocol = "counter.py"\n'
        'events = """\ncount_on c0\ncount_on c0\nexpect c0.count = 2\n'
        'violated below_two\n"""\n'
    )
    told = highwater("scenario", "story.toml", "--quiet")
    assert (told.status, "2 events" in told.out) == (0, True), told.err
    highwater("explore", "counter.py", "--store", "st", "--continue", "--quiet")
    asked = ("query", "st", "SELECT count(*) AS n FROM states", "--json")
    assert "give --protocol FILE.py" in highwater(*asked).err
    assert highwater(*asked, "--protocol", "counter.py").json["rows"] == [{"n": 6}]
    write_counter(counter.parent, ("clerk.count += 1", "clerk.count = 1"), name="other.py")
    assert "has changed" in highwater(*asked, "--protocol", "other.py").err


def test_an_installed_package_adds_its_own(counter, highwater, tmp_path, monkeypatch):
    info = tmp_path / "shelf-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shelf\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[highwater.protocols]\nshelved = counter:COUNTER\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    entry_points.cache_clear()
    found = highwater("explore", "shelved", "--clerks", 1, "--json")
    monkeypatch.undo()
    entry_points.cache_clear()
    assert (found.status, found.json["protocol"]) == (Exit.VIOLATED, "counter")


def test_every_name_finds_the_same_protocol_again(counter):
    for name in ("counter.py", "counter:COUNTER", *PROTOCOLS):
        protocol = protocol_named(name)
        assert protocol_named(reference_of(protocol)) is protocol


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothere.py", "there is no such file"),
        ("counter.py:KOUNTER", "did you mean 'COUNTER'"),
        ("nothere:X", "no module is called 'nothere'"),
        ("counter:KOUNTER", "did you mean 'COUNTER'"),
        ("", "no protocol is called ''"),
        ("countr", "FILE.py, FILE.py:NAME, module:NAME"),
        ("beside.py", "declares no protocol"),
    ],
)
def test_a_name_that_finds_nothing_is_one_clear_line(counter, highwater, name, words):
    found = highwater("explore", name)
    assert (found.status, found.out, found.err.count("\n")) == (Exit.USAGE, "", 1)
    assert words in found.err


MISTAKES = [
    ("class Office", "clas Office", "other.py:13: invalid syntax"),
    ("from beside", "from behind", "other.py:2: ModuleNotFoundError: No module named 'behind'"),
    ("default=LIMIT", "default=1 / 0", "other.py:6: ZeroDivisionError: division by zero"),
    ("from beside", "raise SystemExit(3)\nfrom beside", "other.py:2: SystemExit: 3"),
    ("from beside", "raise GeneratorExit\nfrom beside", "other.py:2: GeneratorExit"),
    (", (STEPS, CLERKS)", ", (STEPS)", "counter: bounds is no tuple: write (..., ...)"),
    (", (STEPS, CLERKS)", ", (STEPS,)", "clerks, but clerks is not among the bounds"),
    ("bound(STEPS)", "bound('step')", "other.py:18: no bound is called 'step'"),
    ("bound(STEPS)", "bound('step')", "did you mean 'steps'"),
    ("< office.bound(STEPS)", "< STEPS", "other.py:18: the bound steps where a boolean"),
    ("{clerk} counts", "{clark} counts", "py:16: action count_on: its words name {clark}"),
    ("{c} counts {", "{d} counts {", "property below_two: its failure text names {d}"),
    ("{c.count}", "{c.kount}", "other.py:21: property below_two: its failure text: no variable "
     "is called 'kount': did you mean 'count'?"),
    ("office: Office, clerk: Clerk)", "clerk: Clerk)",
     "other.py:16: action count_on: its first parameter is the state: write def "
     "count_on(state, clerk)"),
    ("integers(0, STEPS)] = 0", "integers(0, STEPS)] = 0\n    days: int = 0",
     "other.py:12: clerks.days: an int needs limits: write Annotated[int, integers(0, 3)]"),
    ('"counter", "clerks', '"kip101", "clerks', "kip101 is a protocol of Highwater's: name it"),
    ("(below_two, somebody_counts)", "(somebody_counts,)",
     "other.py:21: the property below_two is in no protocol"),
    ("(count_on,)", "()", "other.py:16: the action count_on is in no protocol"),
    ("(count_on,)", "(count_on, count_on)", "two actions are called count_on"),
    ("    return some(", "    some(", "other.py:25: the claim somebody_counts returns nothing"),
    ("return some(c.count > 0", "return count(c.count > 0", "returns a number"),
    ("    clerk.count += 1", "    office.clerks[7].count = 1", "clerks[7] does not exist"),
    ("return every(c.count < 2", "if office.clerks[0].count > 0: return every(c.count < 2",
     "other.py:23: `if` on a value read from the state"),
    ("    require(clerk.count < office.bound(STEPS))\n", "",
     "other.py:18: count_on(clerk=c0): clerks[c0].count cannot be 4: valid is 0..steps, here 0 "
     "to 3 (step 4, after count_on(clerk=c0); count_on(clerk=c0); count_on(clerk=c0))"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "words"), MISTAKES, ids=[new or "nothing" for _, new, _ in MISTAKES]
)
def test_a_mistake_in_the_file_is_one_line_with_file_and_line(counter, highwater, old, new, words):
    beyond = ("c.count < 2 for", "c.count < 20 for")
    write_counter(
        counter.parent, beyond, (old.replace(*beyond), new.replace(*beyond)), name="other.py"
    )
    found = highwater("explore", "other.py", "--deadlock")
    assert (found.status, found.out, found.err.count("\n")) == (Exit.USAGE, "", 1)
    assert words in found.err
    assert "internal error" not in found.err


@pytest.mark.slow
def test_several_protocols_in_one_file_are_told_apart(counter, highwater):
    write_counter(
        counter.parent,
        ("COUNTER = ", "SECOND = Protocol('second', 'w', Office, (count_on,), (STEPS, CLERKS))\n"
                       "COUNTER = "),
        name="other.py",
    )  # fmt: skip
    assert "say which, as other.py:NAME" in highwater("explore", "other.py").err
    assert highwater("explore", "other.py:SECOND").status == 0
    assert highwater("explore", "other.py:second", "--json").json["protocol"] == "second"


def test_workers_elsewhere_get_the_file_and_what_it_imports_from_beside_it(counter):
    parcel = ProtocolParcel.of(protocol_named("counter.py"))
    assert (parcel.name, dict(parcel.files)) == (
        "COUNTER", {"counter.py": COUNTER, "beside.py": "LIMIT = 3\n"},
    )  # fmt: skip
    opened = parcel.opened()
    assert opened is not protocol_named("counter.py")
    assert opened.model().bounds == protocol_named("counter.py").model().bounds
    with pytest.raises(UsageError, match="declare it at the top of a file"):
        ProtocolParcel.of(protocol_named("counter.py").variant("other", "made in a function"))


def test_rejections_are_of_that_kind(counter, highwater):
    highwater("explore", "counter.py", "--trace-dir", "traces", "--quiet")
    write_counter(counter.parent, ("clerk.count += 1", "clerk.count = 1"), name="other.py")
    with pytest.raises(RejectedError, match="step 2"):
        read_trace("traces/counter-below_two.itf.json", {"counter": protocol_named("other.py")})
