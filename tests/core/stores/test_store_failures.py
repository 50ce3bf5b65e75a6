"""A store with damaged files, or on a disk that fails, says so in one line and loses nothing."""

import itertools
import json
import math
import os
import shutil
import subprocess
from collections import Counter

import pytest

from checker.core import files as files_module
from checker.core.search.explore import Limits
from checker.core.search.question import Question
from checker.core.stores.answers import exploration_of
from checker.core.stores.query import model_of, small_tables
from checker.core.stores.store import MARKER, Store
from model.language.errors import UsageError
from tests.support.stores import (
    TINY,
    copied,
    data_file,
    everything,
    files,
    model_named,
    opened,
    plain,
    stored,
)


def _cut(directory):
    path = data_file(directory)
    path.write_bytes(path.read_bytes()[:-20])


def _lose(directory):
    data_file(directory).unlink()


def _flip(directory):
    path = data_file(directory)
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0x40
    path.write_bytes(bytes(content))


def _blank(directory):
    path = data_file(directory)
    path.write_bytes(bytes(path.stat().st_size))


def _break_marker(directory):
    (directory / "levels" / "level=12" / MARKER).write_text('{"depth": 12')


def _lose_marker(directory):
    (directory / "levels" / "level=12" / MARKER).unlink()


def _another_letter(directory):
    """One bit of the name of a property that was reached: it would count as never reached."""
    path = directory / "levels" / "level=12" / MARKER
    honest = path.read_text()
    [name, *_] = json.loads(honest)["reached"]
    path.write_text(honest.replace(f'"{name}"', f'"{name[:-1]}{chr(ord(name[-1]) ^ 1)}"'))


def _another_column(directory):
    path = data_file(directory)
    path.write_bytes(path.read_bytes().replace(b"number", b"numbes"))


_DAMAGES = [_cut, _lose, _flip, _blank, _break_marker, _lose_marker]


@pytest.mark.parametrize("damage", [*_DAMAGES, _another_letter, _another_column])
def test_damage_is_told_in_one_line_and_nothing_is_changed(tmp_path, damage):
    model = model_named("kip320", TINY)
    copied(tmp_path, model, Limits(depth=13))
    damage(tmp_path)
    before = files(tmp_path)
    with pytest.raises(UsageError, match=r"is damaged: .*level.?=?12") as caught:
        stored(tmp_path, model)
    assert "\n" not in str(caught.value)
    assert files(tmp_path) == before


def _places(data, place=()):
    inner = enumerate(data) if isinstance(data, list) else ()
    for key, value in data.items() if isinstance(data, dict) else inner:
        yield (*place, key)
        yield from _places(value, (*place, key))


OTHERS: list[object] = [None, True, "x", 1.5, math.nan, [], {}, [[1]], 10**30]
"""Values of other kinds, of which each is tried in the place of each value."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["manifest.json", f"levels/level=2/{MARKER}"])
def test_a_value_of_another_kind_is_damage(tmp_path, name):
    """Whichever value of a file it replaces; it is told as damage, or changes nothing."""
    model = model_named("kip320", TINY)
    copied(tmp_path, model, Limits(depth=2))
    honest = json.loads((tmp_path / name).read_text())
    places, refused = [*_places(honest)], Counter[int]()
    for place, (number, value) in itertools.product(places, enumerate(OTHERS)):
        wrong = json.loads(json.dumps(honest))
        *way, last = place
        inner = wrong
        for key in way:
            inner = inner[key]
        inner[last] = value
        (tmp_path / name).write_text(json.dumps(wrong))
        try:
            store = Store.open(str(tmp_path))
            small_tables(store, model_of(store))
            exploration_of(store, model, Question(everything(model)), "local")
            opened(tmp_path, model)
        except UsageError as error:
            refused[number] += 1
            assert "\n" not in str(error), (place, value)
    assert all(refused[number] > len(places) / 2 for number in range(len(OTHERS)))


@pytest.mark.parametrize("name", ["manifest.json", f"levels/level=2/{MARKER}"])
def test_a_file_that_is_nested_without_end_is_damage(tmp_path, name):
    copied(tmp_path, model_named("kip320", TINY), Limits(depth=2))
    (tmp_path / name).write_text("[" * 100_000)
    with pytest.raises(UsageError, match=r"is damaged|is not the manifest"):
        Store.open(str(tmp_path))


@pytest.mark.parametrize("refused", [1, 2, 5, 20])
def test_a_write_that_fails_leaves_a_store_to_resume(tmp_path, monkeypatch, refused):
    model = model_named("kip320", TINY)
    calls = []

    def failing(path, *content_and_whether_kept):
        calls.append(path)
        if len(calls) == refused:
            raise OSError(28, os.strerror(28))
        return write_whole(path, *content_and_whether_kept)

    from checker.core.stores import storage

    write_whole = files_module.write_whole
    with monkeypatch.context() as patch:
        patch.setattr(storage, "write_whole", failing)
        with pytest.raises(UsageError, match=r"cannot write .*No space left on device") as caught:
            stored(tmp_path / "store", model)
    assert "\n" not in str(caught.value)
    assert stored(tmp_path / "store", model) == plain(model)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MB; skips where this user may not mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if (
        shutil.which("mount") is None
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip("mounting a small file system needs more rights")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_told_and_the_store_is_as_good_as_before(small_disk):
    model = model_named("kip320")
    with pytest.raises(UsageError, match="No space left on device") as caught:
        stored(small_disk / "store", model)
    assert "\n" not in str(caught.value)
    store = opened(small_disk / "store", model)
    assert len(store.levels) > 8
    subprocess.run(["mount", "-o", "remount,size=100m", str(small_disk)], check=True)
    assert stored(small_disk / "store", model) == plain(model)


def test_a_read_only_directory_is_told(small_disk):
    model = model_named("kip320", TINY)
    copied(small_disk / "store", model, Limits(depth=4))
    before = files(small_disk)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for place in ("store", "other"):
        with pytest.raises(UsageError, match="Read-only file system") as caught:
            stored(small_disk / place, model)
        assert "\n" not in str(caught.value)
    assert files(small_disk) == before
