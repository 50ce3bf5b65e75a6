"""A matrix of bad inputs, made from each command's options: one line, status 2 or 23, no harm."""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest

from checker.commands.cli import COMMANDS
from checker.commands.cli import highwater as whole
from checker.commands.keeping import Keeping
from checker.core.exits import Exit
from checker.core.files import COUNTEREXAMPLES
from model.language.errors import UsageError
from tests.support.tiers import first_and_slow

TINY = ["--replicas", "2", "--log-size", "1", "--max-records", "1", "--max-leader-epoch", "1"]
ON_A_MODEL = ("explore", "simulate", "hunt", "prove", "infer", "mutate", "growth")
TO = ("--to", "tla")
ASKED = ("--kafka", "4.1", "--crashes", "1")
HUGE = "9" * 40
LONGEST = 450
"""Characters that an error has at most, beside a name that is as long."""
BAD_NAMES = (
    "kip999",
    "",
    " ",
    "-",
    "\u00e9t\u00e9",
    "nowhere.py",
    "nowhere.py:X",
    "no.such:THING",
    "a" * 5_000,
)
CONTENTS = {
    "empty": b"", "bytes": bytes(range(256)), "brace": b"{", "list": b"[]", "null": b"null",
    "number": b"1e999", "deep": b"[" * 5_000, "other": b'{"a": 1}', "nul": b"\0" * 100,
    "toml": b"a = ", "python": b"raise SystemExit(0)", "latin": b"\xff\xfe\xfa",
}  # fmt: skip


def options_of(name: str) -> Iterator[click.Option]:
    command = whole.get_command(click.Context(whole), name)
    assert command is not None
    yield from (p for p in command.params if isinstance(p, click.Option) and p.name != "help")


def wrong_values(option: click.Option) -> Iterator[str]:
    """Values that no option of this type can have."""
    kind = option.type
    if isinstance(kind, click.IntRange | click.types.IntParamType):
        yield from ("x", "", "1.5", "0x10", "nan", " ", "1e3")
        yield from () if option.name == "seed" else ("-1", f"-{HUGE}")
        if isinstance(kind, click.IntRange) and kind.max is not None:
            yield from (str(kind.max + 1), HUGE)
    elif isinstance(kind, click.Choice):
        yield from ("x", "", " ", kind.choices[0].upper() + "x", "\u0661")
    elif option.name in ("max_seconds", "timeout"):
        yield from ("x", "", "-1", "nan", "inf", "1s", "1e400")
    elif option.name == "max_memory":
        yield from ("x", "", "-1MB", "1XB", "nan", "MB")
    elif option.name == "settings":
        yield from ("x", "=", "=1", "x=1", "acks=x", "acks=", f"min.insync.replicas={HUGE}")
    elif option.name == "properties":
        yield from ("x", "", " ", "strong")
    elif option.name == "preset":
        yield from ("x", "", "kafka-99")
    elif option.name == "protocol":
        yield from BAD_NAMES[:6]
    elif option.name in ("kafka", "upgrade_to"):
        yield from ("x", "", "3.10.1", "9.9", "fixed")
    elif option.name == "racks":
        yield from ("x", "", ",", "a,b", "a,a,b,b")
    elif option.name == "topic":
        yield from ("x", "")
    elif option.name == "trace_dir":
        yield from ("/proc/nowhere/x", "taken", "taken/below")
    elif option.name in ("markdown", "picture"):
        yield from ("/proc/nowhere/x.md", "taken/x.md")


def cases() -> Iterator[tuple[str, ...]]:
    for name in COMMANDS:
        model = ("kip320", *TINY) if name in ON_A_MODEL else ()
        subject = {
            "ask": ASKED, "export": ("kip320", *TINY, *TO), "replay": ("taken",),
            "report": ("taken",), "query": (".", "select 1"), "certify": (".",),
        }  # fmt: skip
        base = (name, *model, *subject.get(name, ()))
        yield from ((*base, each) for each in ("--nonsense", "--jso=1", "-Z", "--json=1"))
        yield (*base, *["one-too-many"] * 3) if name not in ("audit", "cases", "scenario") else base
        for option in options_of(name):
            flag = option.opts[0]
            if option.is_flag:
                yield (*base, f"{flag}=yes")
            else:
                yield (*base, flag)  # without its value
                yield from ((*base, flag, value) for value in wrong_values(option))
    for name in (*ON_A_MODEL, "list"):
        yield from ((name, each) for each in BAD_NAMES if each or name != "list")
    for name in ("ask", "replay", "report", "scenario", "cases", "audit", "query", "certify"):
        more = {"query": ("select 1",), "ask": ASKED}.get(name, ())
        for path in ("nowhere", "/proc/nowhere", "\u00e9", "a" * 5_000, "taken/below"):
            yield (name, path, *more)
        for kind in CONTENTS:
            yield (name, f"bad-{kind}.json", *more)
            yield (name, f"bad-{kind}.toml", *more)


CASES = sorted({case for case in cases() if case[0] != "liveness" or "one-too-many" not in case})
# What is not wrong: commands that stand for all when nothing is said.
FINE = {("audit",), ("cases",), ("scenario",)}
CASES = [case for case in CASES if case not in FINE]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with files that are no use to anybody, and that nobody may touch."""
    (tmp_path / "taken").write_text("mine")
    for kind, content in CONTENTS.items():
        for suffix in ("json", "toml", "py"):
            (tmp_path / f"bad-{kind}.{suffix}").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() if stat.S_ISREG(path.stat().st_mode) else b""
        for path in sorted(folder.rglob("*"))
        if "__pycache__" not in path.parts
    }


def check(highwater, folder, case):
    """What a bad input may do: say one line, and end."""
    before = contents(folder)
    ended = highwater(*case)
    told = (case, ended.status, ended.out[-300:], ended.err[-300:])
    assert ended.status in (Exit.USAGE, Exit.REJECTED), told
    assert ended.err.startswith("error: ") and ended.err.count("\n") == 1, told
    assert len(ended.err) > len("error: x\n"), told
    assert len(ended.err) < LONGEST + max(map(len, case)), told
    assert "Traceback" not in ended.err and "internal error" not in ended.err, told
    assert ended.out == "", told
    assert contents(folder) == before, told


def test_the_matrix_is_large():
    assert len(CASES) >= 500
    assert {case[0] for case in CASES} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_sample_of_bad_inputs_is_told_in_one_line(highwater, folder, name):
    for case in [case for case in CASES if case[0] == name][::9]:
        check(highwater, folder, case)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_every_bad_input_is_told_in_one_line(highwater, folder, name):
    wrong = []
    for case in CASES:
        if case[0] == name:
            try:
                check(highwater, folder, case)
            except AssertionError as error:
                wrong.append(str(error).split("\n")[0])
    assert not wrong, "\n".join(wrong)


SMALL = ("truncate_to_high_watermark", *TINY)
STORED = {
    "explore": ("kip101", "--property", "weak_isr", "--trace-dir", "new"),
    "simulate": ("kip101", "--property", "weak_isr", "--seed", "1", "--trace-dir", "new"),
    "prove": ("truncate_to_high_watermark", "--bounded", "8", "--property", "weak_isr",
              "--trace-dir", "new"),
}  # fmt: skip
MADE = {
    "explore": (*SMALL, "--store", "new"),
    "report": ("kip101-weak_isr", "--format", "html", "-o", "new"),
    "graph": (*SMALL, "--format", "graphml", "-o", "new"),
    "export": (*SMALL, "--to", "promela", "-o", "new"),
    "cases": ("--itf", "new", str(COUNTEREXAMPLES / "ladder" / "kip101-weak_isr")),
}


@contextmanager
def full_disk():
    """No file can grow, as on a full disk; what was there stays."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.slow
@pytest.mark.parametrize("name", first_and_slow(*STORED))
def test_a_full_disk_does_not_hide_what_was_found(highwater, folder, name):
    before = contents(folder)
    with full_disk():
        ended = highwater(name, *STORED[name])
    assert ended.status == Exit.VIOLATED
    assert "weak_isr" in ended.out and "violated" in ended.out
    assert ended.err.splitlines()[-1].startswith("error: cannot write the trace 'new/")
    assert sum(line.startswith("error: ") for line in ended.err.splitlines()) == 1
    assert contents(folder) == before | {str(folder / "new"): b""}


@pytest.mark.parametrize("name", MADE)
def test_a_full_disk_is_told_in_one_line(highwater, folder, name):
    with full_disk():
        ended = highwater(name, *MADE[name])
    assert (ended.status, ended.out) == (Exit.USAGE, "")
    assert ended.err.startswith("error: ") and ended.err.count("\n") == 1, ended.err
    assert "new" in ended.err
    assert not [path for path, content in contents(folder).items() if "new" in path and content]


@pytest.mark.parametrize("found", Exit)
def test_what_cannot_be_stored_is_said_after_the_result_and_counts_where_all_was_well(
    capsys, found
):
    def refuse(path):
        raise UsageError(f"cannot write {path}: No space left on device")

    with Keeping() as keeping:
        assert keeping.store(refuse, "page.md") is None
        assert keeping.store(str.upper, "kept") == "KEPT"
        assert keeping.status(found) is (Exit.USAGE if found is Exit.OK else found)
        assert capsys.readouterr().err == ""
    assert capsys.readouterr().err == "error: cannot write page.md: No space left on device\n"
    assert Keeping().status(found) is found


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_an_output_that_takes_nothing_is_told_and_one_that_nobody_reads_is_not(finish):
    arguments = ("report", "kip101-weak_isr")
    with open("/dev/full", "w") as full:
        ended = finish(*arguments, stdout=full)
    assert ended.status == Exit.USAGE
    assert ended.err == "error: cannot write the output: No space left on device\n"
    read, write = os.pipe()
    os.close(read)
    ended = finish(*arguments, stdout=write)
    os.close(write)
    assert (ended.status, ended.err) == (Exit.OK, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment",
    [
        {
            "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "COLUMNS": "1",
            "LINES": "1", "TERM": "dumb", "NO_COLOR": "1",
        },
        {"HOME": "/proc/nowhere", "XDG_CACHE_HOME": "/proc/nowhere", "TMPDIR": "/proc/nowhere"},
    ],
    ids=lambda environment: next(iter(environment)),
)  # fmt: skip
def test_odd_surroundings_change_neither_answer_nor_error(finish, environment, tmp_path):
    bad = finish("explore", "kip\u00e9", env=environment, cwd=tmp_path)
    assert (bad.status, bad.out) == (Exit.USAGE, "")
    assert bad.err.startswith("error: no protocol is called") and bad.err.count("\n") == 1
    good = finish("explore", "truncate_to_high_watermark", env=environment, cwd=tmp_path)
    assert good.status == Exit.VIOLATED, good.err
    assert "strong_isr after 8 steps" in " ".join(good.out.split())
    assert "Traceback" not in good.err
    assert os.listdir(tmp_path) == []
