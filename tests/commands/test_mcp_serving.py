"""`mcp` as agents use it: the SDK's own client, over standard input and output."""

import json
import re
import shutil
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psutil
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from checker.commands.agents.tools import OFFERED
from checker.core.exits import Exit
from checker.core.files import cache_directory
from tests.support.processes import highwater_command

ROOT = Path(__file__).parents[2]
LARGE = {"protocol": "kip320", "bounds": {"log_size": 4, "max_records": 4, "max_leader_epoch": 4}}
BUSY = "import time\nwhile True:\n    time.sleep(0.01)\n"
DEAF = f"import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{BUSY}"

pytestmark = pytest.mark.slow


class Agent:
    """A client that has been connected to a server of its own."""

    def __init__(self, client, server):
        self.client, self.server = client, server

    async def ask(self, name, **arguments):
        """The answer's words and data; the SDK checks that these are as the schema says."""
        result = await self.client.call_tool(name, arguments)
        (content,) = result.content
        return content.text, result.structured_content, result.is_error

    def processes(self):
        """What calls have started and has not ended."""
        return self.server.children(recursive=True)

    async def until(self, running):
        """Wait until a process of a call runs, or none does."""
        with anyio.fail_after(30):
            while bool(self.processes()) != running:
                await anyio.sleep(0.02)


@asynccontextmanager
async def agent(folder, *options, mode="auto", **variables):
    environment = {"PYTHONPATH": str(ROOT), "HIGHWATER_CACHE": str(cache_directory())} | variables
    command, *arguments = highwater_command("mcp", "--folder", str(folder), *options)
    known = set(psutil.Process().children())
    parameters = StdioServerParameters(command=command, args=arguments, env=environment)
    assert sys.__stderr__ is not None
    async with Client(stdio_client(parameters, errlog=sys.__stderr__), mode=mode) as client:
        (server,) = set(psutil.Process().children()) - known
        yield Agent(client, server)
    assert not server.is_running()


def answered(question):
    """What the coroutine returns, in a thread of its own: that of a browser's tests has a loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(anyio.run, question).result()


def test_a_whole_question_goes_as_the_page_says(tmp_path):
    """What there is, a protocol that fails, why, and the fix as a setting."""
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    calls = re.findall(r"^    ([a-z]+) +(\{.*?\})\n +(\S[^\n]*)", page, re.DOTALL | re.MULTILINE)
    found = []

    async def question():
        async with agent(tmp_path) as asks:
            assert not (await asks.ask("list"))[2]
            for name, given, said in calls:
                words, data, wrong = await asks.ask(name, **json.loads(given))
                assert not wrong
                rest = " ".join(words.split())
                for part in filter(None, said.split(" ...")):
                    assert part.strip() in rest
                    rest = rest.partition(part.strip())[2]
                found.append((words, data))
            assert (await asks.ask("replay", files=[found[2][1]["trace"]]))[1]["accepted"]

    answered(question)
    (_, listed), (words, broken), (_, why), (held, fixed) = found
    assert "fence_fetch" in listed["protocols"][0]["settings"]
    (violation,) = broken["violations"]
    assert violation["property"] == why["property"] == "weak_isr"
    assert all(f"{k}. {step}\n" in words for k, step in enumerate(violation["steps"], 1))
    assert [each["settings"] for each in why["prevented_by"]] == [{"fence_fetch": "true"}]
    assert fixed["verdict"] == "exhausted" and "failed" not in held
    assert [path.name for path in tmp_path.iterdir()] == ["traces"]


def test_a_protocol_of_ones_own_is_checked_and_nothing_is_written_outside_the_folder(tmp_path):
    folder, home = tmp_path / "folder", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    shutil.copy(ROOT / "docs" / "examples" / "register.py", folder)

    async def question():
        async with agent(folder, HOME=str(home), HIGHWATER_CACHE="") as asks:
            _, data, wrong = await asks.ask("explore", protocol="register.py")
            assert (wrong, data["verdict"]) == (False, "exhausted")
            broken = {"waits_for_backups": False}
            for tool in ("explore", "simulate"):
                words, data, wrong = await asks.ask(tool, protocol="register.py", set=broken)
                assert (wrong, data["verdict"]) == (False, "violated")
                failed = data["violations"][0]["property"]
                assert f"failed: {failed}, after 5 steps" in words

    answered(question)
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "home"}
    assert list(home.iterdir()) == []
    assert (folder / ".highwater" / "code").is_dir()


def test_answers_about_a_cluster_name_what_failed(tmp_path):
    async def question():
        async with agent(tmp_path) as asks:
            words, data, wrong = await asks.ask("ask", kafka="0.9", crashes=1)
            assert not wrong and data["lossy"]
            for part in data["parts"]:
                for lost in (*part["losses"], *part["stops"]):
                    if lost["steps"]:
                        assert f"failed: {lost['property']}, after {len(lost['steps'])}" in words
            assert words.count("failed: ") >= 1
            words, data, wrong = await asks.ask("affected", kafka="4.0.0")
            assert not wrong and "0004" in words and data["bugs"]

    answered(question)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_clients_may_begin_with_a_handshake_or_without(tmp_path, mode):
    async def question():
        async with agent(tmp_path, mode=mode) as asks:
            offered = (await asks.client.list_tools()).tools
            assert [tool.name for tool in offered] == list(OFFERED)
            assert all(tool.description and tool.output_schema for tool in offered)
            words, data, wrong = await asks.ask("explore", protocol="kip101", depth=2)
            assert not wrong and data["verdict"] == "bounded" and "bounded" in words
            assert (await asks.ask("explore", protocol="kip32"))[2]

    answered(question)


@pytest.mark.parametrize(
    "tool, arguments, line",
    [
        ("explore", {"protocol": "kip32"}, "no protocol is called 'kip32': did you mean 'kip320'?"),
        (
            "explore",
            {"protocol": "kip320", "property": ["weak"]},
            "is called 'weak': did you mean 'weak_isr'?",
        ),
        ("explore", {"protocol": "kip320", "bounds": {"crashes": 1}}, "no bound --crashes"),
        ("explore", {"protocol": "kip320", "depth": "deep"}, "'deep' is not a valid integer"),
        ("explain", {}, "Missing argument 'TRACE'"),
        ("explain", {"file": "nowhere.json"}, "nowhere.json"),
        ("explore", {"protocol": "/x.py"}, "/x.py: outside the folder that this server may use"),
        ("explore", {"trace_dir": "../x"}, "../x: outside the folder that this server may use"),
        ("ask", {"kafka": "4.0", "files": ["a\0"]}, "no path"),
        ("explore", {"preset": "a\0"}, "embedded null byte"),
        ("prove", {}, "no tool is called 'prove'"),
    ],
)
def test_what_is_wrong_is_an_error_in_one_line_and_the_server_goes_on(
    tmp_path, highwater, tool, arguments, line
):
    async def question():
        async with agent(tmp_path) as asks:
            words, data, wrong = await asks.ask(tool, **arguments)
            assert wrong and line in words and "\n" not in words and "Traceback" not in words
            assert (data["error"], data["status"]) == (words, Exit.USAGE)
            assert not (await asks.ask("list"))[2]
            return words

    said = answered(question)
    if list(arguments) == ["protocol"] and "/" not in arguments["protocol"]:
        assert highwater(tool, arguments["protocol"]).err == f"error: {said}\n"


def test_a_call_beyond_its_limit_says_how_far_it_came_and_the_server_goes_on(tmp_path):
    async def question():
        async with agent(tmp_path, "--max-seconds", "3") as asks:
            for asked, limit in [({}, 3), ({"max_seconds": 1}, 1)]:
                words, data, wrong = await asks.ask("explore", **LARGE, **asked)
                rest = " ".join(words.split()).partition(f"stopped by the limit of {limit} seconds")
                if wrong:  # the machine was slow
                    assert rest[2].startswith(" before there was anything to report")
                    assert data["status"] == Exit.LIMIT
                else:
                    assert rest[2].startswith(f" after {data['distinct_states']:,} states")
                    assert data["stopped"] == f"the limit of {limit} seconds"
                    assert data["verdict"] == "unknown"
            words, data, wrong = await asks.ask("explore", **LARGE, max_seconds=4)
            assert wrong and "more than this server allows: at most 3" in words
            assert (await asks.ask("explore", protocol="kip101", depth=2))[1]["depth"] == 2

    answered(question)


def test_a_call_beyond_its_memory_ends(tmp_path):
    async def question():
        async with agent(tmp_path, "--max-memory", "60MB") as asks:
            for tool in ("explore", "simulate"):
                words, data, wrong = await asks.ask(tool, **LARGE)
                assert "stopped by the limit of 60 MB of memory" in " ".join(words.split())
                assert wrong == ("error" in data)
            assert asks.processes() == []

    answered(question)


@pytest.mark.parametrize("text", [BUSY, DEAF], ids=["busy", "deaf"])
def test_a_protocol_that_computes_as_it_is_read_is_ended(tmp_path, text):
    (tmp_path / "busy.py").write_text(text)

    async def question():
        async with agent(tmp_path) as asks:
            with anyio.fail_after(30):
                words, data, wrong = await asks.ask("list", protocol="busy.py", max_seconds=0.5)
            assert wrong and data["status"] == Exit.LIMIT
            assert words.startswith("stopped by the limit of 0.5 seconds before there was anything")
            assert asks.processes() == []

    answered(question)


def test_a_cancelled_call_ends_its_work(tmp_path):
    """One that would go on for longer than is waited for."""
    (tmp_path / "busy.py").write_text(BUSY)

    async def question():
        async with agent(tmp_path) as asks:
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: asks.ask("explore", protocol="busy.py"))
                await asks.until(running=True)
                group.cancel_scope.cancel()
            await asks.until(running=False)
            assert not (await asks.ask("list"))[2]

    answered(question)


def test_two_calls_are_answered_at_once(tmp_path):
    """The second one is there while the first goes on; of three, one waits."""
    ended = []

    async def question():
        async with agent(tmp_path) as asks, anyio.create_task_group() as group:

            async def call(name, tool, **arguments):
                assert not (await asks.ask(tool, **arguments))[2]
                ended.append(name)

            group.start_soon(lambda: call("long", "explore", **LARGE))
            await asks.until(running=True)
            group.start_soon(lambda: call("short", "explore", protocol="kip101", depth=2))
            group.start_soon(lambda: call("last", "list"))
            most = 0
            while len(ended) < 2:
                most = max(most, len(asks.processes()))
                await anyio.sleep(0.02)
            assert most == 2
            group.cancel_scope.cancel()

    answered(question)
    assert set(ended) == {"short", "last"}


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, "input"])
def test_a_server_that_ends_leaves_no_process(start, tmp_path, how):
    """It is told to by a signal, or as its standard input ends."""
    text = (
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
        '"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\n'
        '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"explore","arguments":'
        '{"protocol":"kip320","bounds":{"log_size":4,"max_records":4,"max_leader_epoch":4}}}}\n'
    )
    process = start("mcp", "--folder", tmp_path, stdin=-1)
    process.stdin.write(text)
    process.stdin.flush()
    seen = psutil.Process(process.pid)
    until = time.monotonic() + 30
    while not (calls := seen.children()):
        assert time.monotonic() < until
        time.sleep(0.02)
    if how == "input":
        process.stdin.close()
        process.stdin = None
    else:
        process.send_signal(how)
    process.wait(timeout=30)
    _, alive = psutil.wait_procs(calls, timeout=30)
    assert alive == []
