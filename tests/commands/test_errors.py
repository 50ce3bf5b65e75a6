"""A user's mistake, or the machine's, gives one clear line, the right status and no traceback."""

import json
import os
from pathlib import Path

import pytest

from checker.core.exits import Exit
from checker.core.search.explore import Explorer

TINY = ("--replicas", 2, "--log-size", 1, "--max-records", 1, "--max-leader-epoch", 1)
FULL = Path("/dev/full")

SPILL = ("explore", "kip320", "--max-memory", "3GB", "--spill", "no-such")


def check_one_line(ended, status, *words):
    assert ended.status == status
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1
    assert "Traceback" not in ended.err
    for word in words:
        assert word in ended.err


@pytest.mark.parametrize("name", ["a\nb", "a\rb\x1b[31m", os.fsdecode(b"\xff\xfe")])
def test_a_name_that_cannot_be_printed_is_escaped(highwater, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments in (("ask", "--kafka", "4.1", "--crashes", 1, name), ("replay", name)):
        ended = highwater(*arguments)
        check_one_line(ended, Exit.USAGE)
        assert ended.err[:-1].isprintable()
        (tmp_path / name).write_text("some.key=1\n")
        check_one_line(highwater(*arguments), Exit.USAGE)
        (tmp_path / name).unlink()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("explore", "kip289"), ("'kip289'", "did you mean 'kip279'?", "kip320", "async_isr")),
        (("explore", "kip320", "--replicas", 0), ("replicas", "0", "1 to 16")),
        (("explore", "kip320", "--replicas", 17), ("replicas", "17", "1 to 16")),
        (("explore", "kip320", "--replicas", "two"), ("--replicas", "'two'", "integer")),
        (("explore", "--depth", -1), ("--depth", "-1", "x>=0")),
        (("explore", "--depht", 1), ("--depht", "--depth")),
        (("explore", "kip320", "--property", "nonsense"), ("'nonsense'", "strong_isr", "weak_isr")),
        (("explore", "kip320", "--property", "strong"), ("'strong'", "did you mean 'strong_isr'?")),
        (("explore", "kip320", "--set", "nonsense=1"), ("'nonsense'", "fence_fetch")),
        (
            ("explore", "kip320", "--set", "fence_fetch=maybe"),
            ("fence_fetch", "'maybe'", "true, false"),
        ),
        (("explore", "kip320", "--set", "fence_fetch"), ("fence_fetch", "NAME=VALUE")),
        (("explore", "kip279", "--set", "a=1"), ("'a'", "no settings")),
        (("explore", "kip279", "--preset", "kafka-9"), ("'kafka-9'", "kip279 has no presets")),
        (
            ("explore", "async_isr", "--log-size", 3),
            ("async_isr has no bound --log-size", "--replicas, --max-offset, --max-version"),
        ),
        (("explore", "--engine", "warp"), ("'warp'", "'local'", "'reference'")),
        (("explore", "--depth", "x"), ("--depth", "'x' is not a valid integer.")),
        (("explore", "--workers", 0), ("--workers", "1<=x<=64")),
        (("explore", "--max-memory", "lots"), ("'lots'", "200MB")),
        (("explore", "--max-seconds", "nan"), ("'nan'", "seconds")),
        (("explore", "--max-seconds", "-1"), ("'-1'", "seconds")),
        (("explore", "--max-states", 0), ("--max-states", "x>=1")),
        (("explore", "kip320", "kip279"), ("kip279",)),
        (("explore", "--set", "replica.lag.time.max.ms=1"), ("not modelled", "no time")),
        (("explore", "--set", f"min.insync.replicas={9**30}"), ("1 to 2147483647",)),
        (("explore", "kip320", "--store", "no-such", "--resume"), ("no store", "leave out")),
        (("explore", "kip320", "--spill", "no-such"), ("--max-memory SIZE",)),
        (("explore", "kip320", "--max-disk", "1GB"), ("--spill DIR",)),
        ((*SPILL, "--store", "no-such"), ("leave out --store",)),
        ((*SPILL, "--exact"), ("leave out --exact",)),
        ((*SPILL, "--reduce"), ("leave out --spill",)),
        ((*SPILL, "--liveness"), ("leave out --spill",)),
        ((*SPILL, "--resume"), ("no-such to go on from",)),
        (("prove", "kip320", "--strengthen"), ("--bounded K",)),
        (("prove", "kip320", "--minimize", "--bounded", 2), ("--minimize", "--bounded")),
        (("mutate", "kip320", "--markdown", "/proc/nowhere/x.md"), ("/proc/nowhere",)),
        (("scenario", "pyproject.toml.json"), ("pyproject.toml.json",)),
        (("exlpore",), ("'exlpore'", "did you mean 'explore'?", "replay")),
        (("list", "kip32"), ("'kip32'", "did you mean 'kip320'?")),
        (("replay",), ("TRACE",)),
        (("replay", "no-such-file.json"), ("no-such-file.json", "No such file")),
        (("replay", "99-a_voters_record_is_not_rea"), ("did you mean '99-a_voters_record_is",)),
        (("explain", "26"), ("did you mean '26-an_isr", " or '26-high_watermark_below_min_isr'?")),
        (("explore", "kafka", "--set", "nope=1"), ("'nope'", "(highwater list kafka)")),
        (("explore", "kafka", "--property", "nope"), ("'nope'", "(highwater list kafka)")),
        (("ask",), ("--kafka", "which release, such as")),
        (("ask", "no-such-file.json"), ("no-such-file.json", "No such file")),
        (("replay", "/"), ("'/'", "not a regular file")),
        (("report", "no-such-file.json"), ("no-such-file.json", "No such file")),
        (("report", "x.json", "--format", "word"), ("'word'", "'markdown'", "'html'")),
    ],
)
def test_wrong_usage_names_what_is_valid(highwater, arguments, words):
    ended = highwater(*arguments)
    check_one_line(ended, Exit.USAGE, *words)
    assert ended.out == ""


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"a": 1}', '{"#meta": {}, "vars": [], "states": []}', "\0\0"]
)
def test_a_file_that_is_no_trace_is_refused(highwater, tmp_path, content):
    path = tmp_path / "x.itf.json"
    path.write_text(content)
    for command in ("replay", "report"):
        check_one_line(highwater(command, path), Exit.USAGE, "x.itf.json", "not a trace")


def test_a_trace_directory_that_cannot_be_is_refused_before_the_search(
    highwater, tmp_path, monkeypatch
):
    monkeypatch.setattr(Explorer, "run", lambda _: pytest.fail("it searched"))
    occupied = tmp_path / "file"
    occupied.write_text("")
    for path in (occupied, occupied / "below", "/proc/nowhere"):
        check_one_line(
            highwater("explore", "--trace-dir", path), Exit.USAGE, "cannot make the directory"
        )
    assert occupied.read_text() == ""


def test_a_read_only_trace_directory_is_refused(highwater, tmp_path):
    tmp_path.chmod(0o500)
    forbidden = "/proc/self" if os.geteuid() == 0 else tmp_path  # root may write to the other
    ended = highwater("explore", "--trace-dir", forbidden, *TINY)
    check_one_line(ended, Exit.USAGE, "cannot write to the directory")


def test_a_mistake_of_ours_is_one_line_and_a_traceback_on_request(highwater, monkeypatch):
    def fail(_):
        raise ZeroDivisionError("line one\nline two")

    monkeypatch.setattr(Explorer, "run", fail)
    ended = highwater("explore")
    words = ("internal error", "ZeroDivisionError: line one line two", "HIGHWATER_DEBUG=1")
    check_one_line(ended, Exit.INTERNAL, *words)
    monkeypatch.setenv("HIGHWATER_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        highwater("explore")


def test_out_of_memory_is_said(highwater, monkeypatch):
    def fail(_):
        raise MemoryError

    monkeypatch.setattr(Explorer, "run", fail)
    check_one_line(highwater("explore"), Exit.INTERNAL, "memory ran out", "--max-memory")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [("explore", *TINY, "--quiet"), ("list", "--help")])
def test_a_full_disk_is_said(finish, arguments):
    with FULL.open("w") as full:
        ended = finish(*arguments, stdout=full)
    check_one_line(ended, Exit.USAGE, "No space left on device")


@pytest.mark.slow
def test_a_reader_that_leaves_does_not_change_the_status(finish):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = finish("explore", "truncate_to_high_watermark", *TINY, stdout=writer)
        assert (ended.status, ended.err) == (Exit.VIOLATED, "")
        listed = finish("list", stdout=writer)
        assert (listed.status, listed.err) == (Exit.OK, "")
        helped = finish("list", "--help", stdout=writer)
        assert (helped.status, helped.err) == (Exit.OK, "")
    finally:
        os.close(writer)


@pytest.mark.slow
def test_closed_streams_do_not_change_the_status(finish):
    entry = "import os; os.close(1); os.close(2); import sys; sys.stdout = sys.stderr = None; "
    entry += "from checker.commands.cli import main; main()"
    violated = finish("explore", "truncate_to_high_watermark", *TINY, entry=entry)
    assert violated.status == Exit.VIOLATED
    assert finish("explore", "kip999", entry=entry).status == Exit.USAGE


def test_a_terminal_without_unicode_still_gets_the_result(finish):
    ended = finish("list", "kip320", env={"PYTHONIOENCODING": "ascii"})
    assert ended.status == Exit.OK
    assert "strong_isr" in ended.out
    assert json.loads(finish("list", "--json", env={"PYTHONIOENCODING": "ascii"}).out)
