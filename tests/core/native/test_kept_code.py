"""What the cache of machine code promises: it changes nothing, and believes nobody."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import llvmlite.binding
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.core import files
from checker.core.engines import machine_code
from checker.core.engines.machine_code import SwitchOver, Written
from checker.core.native import kept_code, object_code
from checker.core.native.object_code import KERNEL, LOOPS, PLAIN, ObjectCode, is_kept
from checker.core.search.explore import Explorer, Options
from model.protocols import protocol_named
from properties import properties_of
from tests.support.tiers import first_and_slow

ROOT = Path(__file__).parents[3]
KEY, OTHER = "a" * 64, "b" * 64
ADDS = "define i64 @run(i64 %a) {\n%b = add i64 %a, 5\nret i64 %b\n}"


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """Where code is kept, in a cache of the test's own."""
    monkeypatch.setenv("HIGHWATER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "code"


def kept_file(kept):
    kept_code.store(KEY, b"machine code")
    return kept / KEY


def test_what_was_kept_is_there_for_its_own_key_alone(kept):
    assert kept_code.load(KEY) is None
    file = kept_file(kept)
    assert kept_code.load(KEY) == b"machine code"
    assert kept_code.load(OTHER) is None
    file.rename(kept / OTHER)
    assert kept_code.load(OTHER) is None
    assert [file.name for file in kept.iterdir()] == [OTHER]


@given(st.integers(0, 58), st.integers(1, 255))
@settings(deadline=None, max_examples=60)
def test_a_file_that_is_damaged_anywhere_is_as_if_it_were_not_there(place, difference):
    kept = files.cache_directory() / "code"
    file = kept_file(kept)
    whole = file.read_bytes()
    assert len(whole) == 59
    damaged = bytearray(whole)
    damaged[place] ^= difference
    for content in (bytes(damaged), whole[:place], whole + b"x", b""):
        file.write_bytes(content)
        assert kept_code.load(KEY) is None
    kept_code.store(KEY, b"machine code")
    assert kept_code.load(KEY) == b"machine code"


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_what_others_may_write_is_not_believed(kept, mode):
    file = kept_file(kept)
    file.chmod(mode)
    assert kept_code.load(KEY) is None
    file.chmod(0o644)
    assert kept_code.load(KEY) is not None
    kept.chmod(mode | 0o100)
    assert kept_code.load(KEY) is None
    kept_code.store(OTHER, b"more")
    kept.chmod(0o700)
    assert kept_code.load(OTHER) is None


def test_what_belongs_to_another_user_is_not_believed(kept, monkeypatch):
    kept_file(kept)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert kept_code.load(KEY) is None


def test_links_and_directories_are_not_followed(kept, tmp_path):
    file = kept_file(kept)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert kept_code.load(KEY) is None
    file.unlink()
    file.mkdir()
    assert kept_code.load(KEY) is None
    kept_code.store(KEY, b"machine code")
    file.rmdir()
    kept.rename(tmp_path / "moved")
    kept.symlink_to(tmp_path / "moved")
    kept_code.store(KEY, b"machine code")
    assert kept_code.load(KEY) is None


def no_home(monkeypatch, tmp_path):
    monkeypatch.delenv("HIGHWATER_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)


def a_file_in_the_way(monkeypatch, tmp_path):
    (tmp_path / "cache").write_text("")


def a_full_disk(monkeypatch, tmp_path):
    def write(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept_code, "_sealed", write)


def nothing_can_be_written(monkeypatch, tmp_path):
    def make(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", make)


@pytest.mark.parametrize(
    "trouble", [no_home, a_file_in_the_way, a_full_disk, nothing_can_be_written]
)
def test_where_nothing_can_be_kept_nothing_is_lost(trouble, monkeypatch, tmp_path, kept):
    with monkeypatch.context() as patch:
        trouble(patch, tmp_path)
        for _ in range(2):
            assert not is_kept(ADDS, PLAIN)
            assert run(ObjectCode(ADDS, PLAIN)) == 6
    assert not kept.exists() or not list(kept.iterdir())


def run(code, number=1):
    return code.function("run", ctypes.c_int64, ctypes.c_int64)(number)


def test_what_was_not_used_for_longest_goes_first(kept, monkeypatch):
    monkeypatch.setattr(kept_code, "_MOST", 1000)
    for number, name in enumerate("abcd"):
        kept_code.store(name * 64, bytes(200))
        os.utime(kept / (name * 64), (number, number))
    assert kept_code.load("a" * 64) is not None  # and so it was used last
    kept_code.store("e" * 64, bytes(200))
    assert sorted(file.name[0] for file in kept.iterdir()) == ["a", "d", "e"]


def test_the_directory_is_listed_only_when_it_may_be_full(kept, monkeypatch):
    monkeypatch.setattr(kept_code, "_MOST", 10_000)
    listing = mock.Mock(wraps=kept_code._files)
    monkeypatch.setattr(kept_code, "_files", listing)
    for number in range(40):
        kept_code.store(f"{number:064}", bytes(300))
        assert sum(file.stat().st_size for file in kept.iterdir()) <= 10_000
    assert 2 <= listing.call_count <= 8


def test_kept_code_is_run_and_not_compiled_again(monkeypatch):
    assert run(ObjectCode(ADDS, PLAIN)) == 6
    monkeypatch.setattr(object_code, "_compiled", lambda *_: pytest.fail("compiled again"))
    assert is_kept(ADDS, PLAIN)
    assert run(ObjectCode(ADDS, PLAIN)) == 6


def test_everything_that_decides_the_code_is_in_its_key(monkeypatch):
    ObjectCode(ADDS, PLAIN)
    assert is_kept(ADDS, PLAIN)
    assert not is_kept(ADDS.replace("5", "6"), PLAIN)
    assert not is_kept(ADDS, LOOPS)
    assert not is_kept(ADDS, KERNEL)
    triple, processor, features = object_code._target()
    for other in (
        ("other", processor, features), (triple, "other", features), (triple, processor, "other"),
    ):  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(object_code, "_target", lambda other=other: other)
            assert not is_kept(ADDS, PLAIN)
    for where, name in (
        (llvmlite, "__version__"), (llvmlite.binding, "llvm_version_info"),
    ):  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(where, name, "other")
            assert not is_kept(ADDS, PLAIN)
    for table in (object_code._SPEED, object_code._GENERATION):
        with monkeypatch.context() as patch:
            patch.setitem(table, PLAIN, 3)
            assert not is_kept(ADDS, PLAIN)


WRITER = """
import sys
from checker.core.native import kept_code
for k in range(200):
    code = bytes([k]) * 50_000
    kept_code.store("f" * 64, code)
    found = kept_code.load("f" * 64)
    assert found is not None and len(set(found)) == 1 and len(found) == 50_000, found
"""


def test_two_processes_may_keep_the_same_at_once(kept):
    both = [subprocess.Popen([sys.executable, "-c", WRITER], cwd=ROOT) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert [file.name for file in kept.iterdir()] == ["f" * 64]


# --- searches --------------------------------------------------------------------------------


def searched(model, **options):
    """All that a search finds, with machine code from its first state on."""
    how = Options(compile_after=0, keep_going=True, cross_check=False, **options)
    found = Explorer(model, properties_of(model.protocol), options=how).run()
    violated = [(v.property.name, [str(step) for step in v.steps]) for v in found.violations]
    return found.levels, found.transitions, violated, found.reached


@pytest.mark.parametrize(
    ("how", "name"),
    first_and_slow(({"symmetry": True}, "kip320"), ({"exact": True}, "truncate_to_high_watermark")),
    ids=str,
)
def test_a_search_finds_the_same_whatever_is_kept(kept, name, how, monkeypatch):
    # One model: of equal expressions a second one may have others first, if some are still there.
    model = protocol_named(name).model({"replicas": 2} if "kip" in name else None)
    first = searched(model, **how)
    assert list(kept.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(object_code, "_compiled", lambda *_: pytest.fail("compiled again"))
        assert searched(model, **how) == first
    contents = [file.read_bytes() for file in kept.iterdir()]
    for file, wrong in zip(kept.iterdir(), [*contents[1:], contents[0][:-1]], strict=True):
        file.write_bytes(wrong)  # another file's code, or a part of its own
    assert searched(model, **how) == first


def switch_over(patience, calls):
    def program(number):
        calls.append("program")
        return number + 5

    def function(codes):
        def quick(number):
            calls.append("machine code")
            return run(codes[0], number)

        return quick

    return SwitchOver(
        program, lambda: Written([ADDS], PLAIN, function), lambda *_: None, None, patience
    )


def test_kept_code_takes_over_before_it_would_pay_to_compile(monkeypatch):
    monkeypatch.setattr(machine_code, "_LOOK", 0)
    hours = 10_000.0
    for kept, patience, expected in (
        (False, hours, "program"), (True, hours, "machine code"), (True, None, "program"),
    ):  # fmt: skip
        if kept:
            ObjectCode(ADDS, PLAIN)
        calls: list[str] = []
        called = switch_over(patience, calls)
        assert [called(1) for _ in range(3)] == [6, 6, 6]
        assert calls == [expected] * 3
