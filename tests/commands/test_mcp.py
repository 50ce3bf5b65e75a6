"""`mcp`: the tools follow from the commands, stay in their folder, and keep their limits."""

import json
import re
from importlib import util
from pathlib import Path

import click
import pytest

from checker import distribution
from checker.commands import mcp_command
from checker.commands.agents.answers import answer, failures
from checker.commands.agents.calls import Ended
from checker.commands.agents.folder import Folder
from checker.commands.agents.limits import MEMORY, SECONDS, CallLimits
from checker.commands.agents.tools import BOUNDS, LEFT_OUT, OFFERED, tools
from checker.commands.cli import COMMANDS
from checker.core.exits import Exit
from model.language.errors import UsageError

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
LIMITS = CallLimits(50.0, 2 * 10**9)
OF_LIMITS = ["--max-seconds=50", "--max-memory=2000000000B"]


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    return Folder(inside)


# --- what is offered -------------------------------------------------------------------------


@pytest.mark.parametrize("name", OFFERED)
def test_a_tool_takes_each_option_of_its_command_that_is_not_left_out(name):
    tool = tools()[name]
    told = tool.input_schema(LIMITS)["properties"]
    for param in tool.command.params:
        option = max(param.opts, key=len).lstrip("-").replace("-", "_")
        assert (option in told) == (param.name not in LEFT_OUT - {SECONDS, MEMORY})
        if isinstance(param, click.Option) and option in told and param.name not in LEFT_OUT:
            assert told[option]["description"] == param.help
    assert (BOUNDS in told) == (name in ("explore", "simulate"))


def test_what_is_left_out_exists():
    names = {param.name for tool in tools().values() for param in tool.command.params}
    assert names >= LEFT_OUT


def test_no_text_is_a_path_that_nobody_checks():
    """A new option that takes text and names a file has to be a `click.Path`, or left out."""
    texts = {
        param.name
        for tool in tools().values()
        for param in tool.params.values()
        if param.type is click.STRING
    }
    names = {"protocol", "preset", "settings", "properties", "fair", "kafka", "topic", "racks"}
    assert texts == {*names, "upgrade_to", "clients", "faults"}


def test_the_tools_are_told_without_a_server(highwater):
    told = highwater("mcp", "--tools", "--json").json["tools"]
    assert [tool["name"] for tool in told] == list(OFFERED)
    explore = told[1]
    assert "Exit status" not in explore["description"]
    assert explore["inputSchema"]["properties"]["depth"] == {
        "type": "integer", "minimum": 0, "description": "steps from the initial state at most",
    }  # fmt: skip
    assert explore["outputSchema"]["anyOf"] == [
        {"$ref": "#/definitions/Explore"}, {"$ref": "#/definitions/Error"},
    ]  # fmt: skip
    out = highwater("mcp", "--tools").out
    assert [line.partition(":")[0] for line in out.splitlines()[::2]] == list(OFFERED)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((), "Missing option '--folder'"),
        (("--folder", "nowhere"), "Directory 'nowhere' does not exist"),
        (("--folder", ".", "--max-memory", "much"), "'much' is no amount of memory"),
        (("--json",), "--json goes with --tools"),
    ],
)
def test_a_server_that_cannot_start_says_why_in_one_line(highwater, arguments, words):
    ended = highwater("mcp", *arguments)
    assert (ended.status, ended.err.count("\n")) == (Exit.USAGE, 1)
    assert words in ended.err


def test_without_the_sdk_one_line_says_what_to_install(highwater, monkeypatch):
    find = util.find_spec
    monkeypatch.setattr(
        distribution, "find_spec", lambda name: None if name.startswith("mcp") else find(name)
    )
    ended = highwater("mcp", "--folder", ".")
    assert (ended.status, ended.out) == (Exit.USAGE, "")
    assert ended.err.endswith(": pip install 'highwater-kafka[mcp]'\n")
    assert ended.err.startswith("error: mcp needs the MCP SDK")
    assert ended.err.count("\n") == 1


# --- arguments -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, given, line",
    [
        ("list", {}, "--only=protocols --json --"),
        ("list", {"protocol": "kafka", "only": ["bounds"]}, "--only=bounds --json -- kafka"),
        (
            "explore",
            {"protocol": "kip320", "set": {"fence_fetch": False}, BOUNDS: {"log_size": 3},
             "symmetry": False, "exact": True, "deadlock": False, "depth": None},
            "--set=fence_fetch=false --no-symmetry --exact --log-size=3 {limits} --json -- kip320",
        ),
        ("explore", {"set": ["a=b"], "depth": "x"}, "--set=a=b --depth=x {limits} --json --"),
        ("explore", {BOUNDS: {"depth": 3}}, "--bound-depth=3 {limits} --json --"),
        ("replay", {"files": ["a", "-b"]}, "--json -- a -b"),
    ],
)  # fmt: skip
def test_a_call_is_a_command_line(folder, name, given, line):
    expected = [name, *line.replace("{limits}", " ".join(OF_LIMITS)).split()]
    assert tools()[name].arguments(given, folder, LIMITS) == expected


@pytest.mark.parametrize(
    "given, words",
    [
        ({"depht": 3}, "no argument is called 'depht': did you mean 'depth'?"),
        ({"trace_dri": "x"}, "did you mean 'trace_dir'?"),
        ({"store": "x"}, "no argument is called 'store'"),
        ({"exact": "yes"}, "exact is true or false, not yes"),
        ({BOUNDS: 3}, "bounds is an object"),
        ({BOUNDS: {"trace-dir=/tmp": 3}}, "'trace-dir=/tmp' is no name of a bound"),
        ({"protocol": "os:path"}, "a module may be anywhere; name a file, such as os.py"),
    ],
)
def test_arguments_that_no_command_would_see_are_refused(folder, given, words):
    with pytest.raises(UsageError) as error:
        tools()["explore"].arguments(given, folder, LIMITS)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_a_bound_cannot_be_another_option(folder):
    made = tools()["explore"].arguments({BOUNDS: {"trace_dir": "x", "json": 1}}, folder, LIMITS)
    assert "--bound-trace-dir=x" in made and "--bound-json=1" in made


# --- the folder ------------------------------------------------------------------------------


@pytest.fixture
def links(folder):
    """Paths that leave the folder, and some that do not."""
    outside = folder.root.parent / "outside"
    outside.mkdir()
    (folder.root / "out").symlink_to(outside)
    (folder.root / "in").symlink_to(folder.root)
    (folder.root / "round").symlink_to("round")
    return folder


@pytest.mark.parametrize("path", ["..", "../outside", "a/../../x", "/", "out", "out/x", "a\0"])
def test_a_path_that_leaves_the_folder_is_refused(links, path):
    for name, given in [
        ("explore", {"trace_dir": path}),
        ("explore", {"protocol": f"{path}/x.py"}),
        ("explore", {"protocol": f"{path}/x.py:NAME"}),
        ("explain", {"file": path}),
        ("replay", {"files": ["a", path]}),
        ("replay", {"files": ["a"], "protocol": f"{path}/x.py"}),
        ("ask", {"files": [path], "kafka": "4.1"}),
    ]:
        with pytest.raises(UsageError, match=r"outside the folder|no path"):
            tools()[name].arguments(given, links, LIMITS)


@pytest.mark.parametrize("path", ["a", "a/b", "in/a", "a/../b", ".", "~", "kip101-weak_isr", "-a"])
def test_a_path_in_the_folder_goes_on_as_it_is(links, path):
    assert links.path(path) == path
    assert links.path(str(links.root / path)) == str(links.root / path)


def test_machine_code_is_kept_in_the_folder_and_no_source_to_git(folder):
    assert folder.cache() == folder.root / ".highwater"
    assert [path.name for path in folder.cache().iterdir()] == [".gitignore"]


def test_a_folder_that_cannot_be_written_to_has_no_machine_code(folder, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert not folder.cache().exists()


def test_a_link_does_not_lead_machine_code_out_of_the_folder(folder):
    (folder.root / ".highwater").symlink_to(folder.root.parent)
    with pytest.raises(UsageError, match="outside the folder"):
        folder.cache()


# --- limits ----------------------------------------------------------------------------------


def test_a_call_may_ask_for_less(folder):
    given = {"max_seconds": 2, "max_memory": "500MB", "depth": 3}
    assert LIMITS.asked(given) == CallLimits(2.0, 500_000_000)
    assert given == {"depth": 3}
    assert LIMITS.asked({}) == LIMITS
    told = LIMITS.schema()
    assert LIMITS.asked({name: about["default"] for name, about in told.items()}) == LIMITS


@pytest.mark.parametrize(
    "given, words",
    [
        ({"max_seconds": 51}, "max_seconds 51 is more than this server allows: at most 50"),
        ({"max_memory": "3GB"}, "max_memory 3GB is more than this server allows: at most 2000MB"),
        ({"max_seconds": "soon"}, "Invalid value for max_seconds: 'soon' is no time"),
        ({"max_memory": 5}, "Invalid value for max_memory: '5' is no amount of memory"),
    ],
)
def test_a_call_may_not_ask_for_more(given, words):
    with pytest.raises(UsageError) as error:
        LIMITS.asked(given)
    assert words in str(error.value)


# --- answers ---------------------------------------------------------------------------------


def test_words_name_the_property_that_failed_and_the_steps():
    finding = {"property": "weak_isr", "steps": ["elect(r0)", "write(r0)"]}
    quorum = {"properties": ["no_two_leaders", "safe"], "steps": [{"step": "vote(r0)"}]}
    halted = {"property": None, "steps": ["halt"]}
    found = {"violations": [finding], "more": {"parts": [{"losses": [quorum]}]}, "deadlock": halted}
    assert list(failures(found)) == [
        "failed: weak_isr, after 2 steps\n1. elect(r0)\n2. write(r0)",
        "failed: no_two_leaders, safe, after 1 step\n1. vote(r0)",
        "failed: no step is possible, after 1 step\n1. halt",
    ]
    assert list(failures({"losses": [{"property": "held", "steps": []}], "steps": 3})) == []


@pytest.mark.parametrize(
    "ended, words, status",
    [
        (Ended("", "", -9), "ended with signal 9, as where memory runs out", 1),
        (Ended("noise\n", "", 1), "ended with status 1, and no answer", 1),
        (Ended("", "", -2, "the limit of 1 seconds"), "stopped by the limit of 1 seconds", 20),
        (
            Ended('{"error": "interrupted", "status": 130}\n', "", 130, "the limit of 1 MB"),
            "stopped by the limit of 1 MB before there was anything to report",
            20,
        ),
    ],
)
def test_a_call_that_found_nothing_is_an_error_in_one_line(ended, words, status):
    found = answer("explore", ended)
    assert found.is_error and words in found.words and "\n" not in found.words
    assert found.data == {"command": "explore", "error": found.words, "status": status}


def test_what_ended_a_search_from_outside_is_said_with_what_it_found():
    data = {"command": "simulate", "verdict": "sampled", "stopped": "interrupted"}
    ended = Ended(f"sampled\n{json.dumps(data)}\n", "a note\n", 20, "the limit of 1 MB of memory")
    found = answer("simulate", ended)
    assert found.words == "sampled\n\na note\n\nstopped by the limit of 1 MB of memory"
    assert found.data["stopped"] == "the limit of 1 MB of memory" and not found.is_error


def test_json_comes_with_the_same_as_text_before_it(finish):
    from checker.commands.agents import child

    entry = f"from {child.__name__} import main; main()"
    ended = finish("list", "92", "--json", entry=entry)
    text, _, last = ended.out.rstrip("\n").rpartition("\n")
    assert json.loads(last)["bugs"] and text + "\n" == finish("list", "92").out


# --- the page --------------------------------------------------------------------------------


def test_the_page_says_of_each_tool_what_the_command_line_does():
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE.split("## The tools")[1], re.MULTILINE)
    assert rows == [(name, COMMANDS[name]) for name in OFFERED]


def test_the_page_configures_a_server_that_starts_and_names_its_ceilings():
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    (server,) = json.loads(block)["mcpServers"].values()
    assert (server["command"], server["args"][:2]) == ("highwater", ["mcp", "--folder"])
    ceilings = dict(re.findall(r"\| `--([a-z-]+) (\w+)` \|", PAGE))
    defaults = {param.opts[0].lstrip("-"): param.default for param in mcp_command.command.params}
    assert ceilings == {"max-seconds": "50", "max-memory": "2GB", "calls": "2"}
    assert {name: defaults[name] for name in ceilings} == {
        "max-seconds": 50.0, "max-memory": "2GB", "calls": 2,
    }  # fmt: skip


def test_the_calls_on_the_page_can_be_made(folder):
    calls = re.findall(r"^    ([a-z]+) +(\{.*?\})\n", PAGE, re.DOTALL | re.MULTILINE)
    assert [name for name, _ in calls] == ["list", "explore", "explain", "explore"]
    for name, given in calls:
        assert tools()[name].arguments(json.loads(given), folder, LIMITS)[0] == name
