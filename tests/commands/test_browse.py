"""`browse` as a command: it prints where its page is, serves it, and ends on Ctrl-C."""

import json
import signal
import socket
import urllib.error
import urllib.request

import pytest

from checker.core.exits import Exit


def ask(address, what, question):
    request = urllib.request.Request(
        address + what, json.dumps(question).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def test_it_serves_until_ctrl_c_and_leaves_nothing(start, tmp_path):
    process = start("browse", "--trace", "kip101-weak_isr", "--json", cwd=tmp_path)
    from tests.commands.conftest import check_output

    said = json.loads(process.stdout.readline())
    check_output(said)
    address = said["address"]
    assert ask(address, "view", {"at": 10})["visited"][10]["violates"]
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(address.replace(address.split("/")[3], "guess"), timeout=30)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (Exit.OK, "", "")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=5)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("no_such_protocol",), "no_such_protocol"),
        (("--trace", "nowhere.json"), "nowhere.json"),
        (("--trace", "kip101-weak_isr", "--replicas", 2), "brings its bounds and settings"),
        (("kip320", "--trace", "kip101-weak_isr"), "not of kip320"),
        (("kip320", "--port", 70_000), "70000"),
        (("kip320", "--property", "no_such"), "no_such"),
    ],
)
def test_bad_input_is_one_line(highwater, arguments, words):
    ended = highwater("browse", *arguments)
    assert ended.status in (Exit.USAGE, Exit.REJECTED)
    assert ended.out == "" and ended.err.count("\n") == 1 and words in ended.err


BOUNDS = {"replicas": 2, "log_size": 3, "max_records": 3, "max_leader_epoch": 1}
STATE = {
    "format": "highwater-state", "name": "orders-0", "protocol": "kip320", "bounds": BOUNDS,
    "state": {},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments, expected",
    [
        ((), BOUNDS),
        (("--log-size", 4, "--max-leader-epoch", 0),
         {**BOUNDS, "log_size": 4, "max_leader_epoch": 0}),
    ],
)  # fmt: skip
def test_the_bounds_of_a_state_hold_unless_options_say_others(start, tmp_path, arguments, expected):
    file = tmp_path / "state.json"
    file.write_text(json.dumps(STATE))
    process = start("browse", "--state", file, "--json", *arguments)
    said = json.loads(process.stdout.readline())
    assert (said["protocol"], said["bounds"]) == ("kip320", expected)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == Exit.OK


@pytest.mark.parametrize(
    "change, words",
    [
        (
            {"bounds": {"crashes": 1}},
            "kip320 has no bound --crashes: bounds of kip320 are --replicas",
        ),
        ({"bounds": {"replicas": 10**17}}, "1 to 16"),
        ({"bounds": {"replicas": -1}}, "1 to 16"),
        ({"bounds": {"replicas": True}}, "protocol, bounds and state"),
        ({"bounds": {"replicas": 10**30}}, "too large"),
        ({"bounds": None}, "protocol, bounds and state"),
        ({"protocol": "kip999"}, "'kip999'"),
        ({"state": []}, "state.json: a state must be an object"),
        ({"state": {"next_record_id": {"#bigint": "99"}}}, "state.json: state.next_record_id"),
    ],
)
def test_a_file_that_is_no_state_is_told_in_one_line(highwater, tmp_path, change, words):
    file = tmp_path / "state.json"
    file.write_text(json.dumps(STATE | change))
    ended = highwater("browse", "--state", file)
    assert ended.status in (Exit.USAGE, Exit.REJECTED)
    assert ended.out == "" and ended.err.count("\n") == 1 and words in ended.err


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe{", b"[" * 100_000, b"1" * 5_000, b"NaN"],
    ids=["empty", "bytes", "deep", "long", "nan"],
)
def test_a_file_of_no_json_is_told_in_one_line(highwater, tmp_path, content):
    file = tmp_path / "state.json"
    file.write_bytes(content)
    ended = highwater("browse", "--state", file)
    assert ended.status == Exit.USAGE
    assert ended.err.startswith(f"error: {file}") and ended.err.count("\n") == 1
    assert "sys." not in ended.err and "codec" not in ended.err


def test_a_port_that_is_taken_is_said(highwater):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ended = highwater("browse", "kip320", "--port", taken.getsockname()[1])
    assert ended.status == Exit.USAGE
    assert ended.err.startswith("error: cannot serve on port") and ended.err.count("\n") == 1
