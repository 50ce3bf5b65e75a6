"""A search beyond memory finds what a search in memory finds, however little memory holds."""

import errno
import functools
import itertools
import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from checker.core.beyond import explorer as explorer_module
from checker.core.beyond import level_files as level_files_module
from checker.core.beyond import writer as writer_module
from checker.core.beyond.explorer import BeyondMemory, Room
from checker.core.beyond.runs import write_run
from checker.core.search import explore as explore_module
from checker.core.search.explore import Explorer, Limits, Options
from checker.core.stores.manifest import manifest_for
from checker.core.stores.store import Store
from model.language.errors import UsageError
from properties import properties_of
from tests.support.beyond import NONE, TINY_ROOM, beyond, tiny_blocks
from tests.support.halting import HALTING, QUESTIONS
from tests.support.laws import denials
from tests.support.processes import highwater_command
from tests.support.stores import essence, kill_at_levels
from tests.support.tiers import slow_but
from tests.support.variants import MOST, tiny

DEEP = Limits(states=1_500)
SOME = ["truncate_to_high_watermark", "kip320"]


def _questions(model):
    """All properties, and for each witness that it never happens: so that much is violated."""
    properties = properties_of(model.protocol)
    return (*properties, *denials(properties))


def _whole(found):
    return essence(found) | {"unfinished": found.unfinished}


@functools.cache
def _plain(name, options, limits):
    model = tiny(name)
    return _whole(Explorer(model, _questions(model), limits, options).run())


@pytest.mark.parametrize("name", slow_but(SOME, MOST))
@pytest.mark.parametrize("workers", [1, 2])
def test_it_finds_what_a_search_in_memory_finds(tmp_path, monkeypatch, name, workers):
    tiny_blocks(monkeypatch)
    monkeypatch.setattr(explore_module, "MIN_THREADED", 1)
    model, options = tiny(name), Options(workers=workers, keep_going=True, deadlock=True)
    expected = _plain(name, options, DEEP)
    room = Room(sum(expected["levels"]) // 5, 40, 7, 1)
    search = beyond(tmp_path, model, _questions(model), options, DEEP, room=room)
    assert _whole(search.run()) == expected
    assert search._older, "nothing was forgotten, so nothing was found late"


@pytest.mark.parametrize("options", [Options(), Options(symmetry=True), Options(deadlock=True)])
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("room", [NONE, TINY_ROOM, Room(1 << 20, 1 << 20, 100, 4)])
def test_it_does_so_of_every_question(tmp_path, monkeypatch, options, question, room):
    tiny_blocks(monkeypatch)
    model, properties = HALTING.model(), QUESTIONS[question]
    for depth in (None, 2):
        limits = Limits(depth=depth)
        expected = _whole(Explorer(model, properties, limits, options).run())
        place = tmp_path / str(depth)
        search = beyond(place, model, properties, options, limits, room=room)
        assert _whole(search.run()) == expected
        again = beyond(place, model, properties, options, limits, room=room)
        assert _whole(again.run()) == expected


@pytest.mark.parametrize("states", [1, 7, 100, 101, 276])
def test_a_limit_of_states_counts_none_twice(tmp_path, monkeypatch, states):
    tiny_blocks(monkeypatch)
    model, limits = tiny("kip320"), Limits(states=states)
    expected = _whole(Explorer(model, (), limits).run())
    assert _whole(beyond(tmp_path, model, (), Options(), limits).run()) == expected
    assert expected["unfinished"] + sum(expected["levels"]) == states


def test_states_are_stored_once_but_for_what_is_found_late(tmp_path):
    """With room for all of them every number is in one run, and no state is dropped."""
    model = tiny("kip320")
    search = beyond(tmp_path, model, (), room=Room(1 << 16, 1 << 16, 10, 4))
    found = search.run()
    assert sum(run.count for run in search._runs) == found.distinct_states
    assert found.disk_bytes >= 6 * found.distinct_states


@pytest.mark.parametrize("depth", [7, None])
def test_the_disk_that_it_tells_of_is_what_its_files_take(tmp_path, monkeypatch, depth):
    tiny_blocks(monkeypatch)
    limits = Limits(depth=depth)
    told = {beyond(tmp_path, tiny("kip320"), (), limits=limits).run().disk_bytes for _ in range(2)}
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".json"]
    assert told == {sum(path.stat().st_size for path in files)}


@pytest.mark.parametrize("stop", [1, 4, 9])
def test_a_search_that_was_stopped_goes_on(tmp_path, monkeypatch, stop):
    tiny_blocks(monkeypatch)
    model, options = tiny("kip320"), Options(keep_going=True)
    questions = _questions(model)

    def ask(progress):
        if progress.depth >= stop:
            search.request_stop()

    search = beyond(tmp_path, model, questions, options, on_progress=ask)
    stopped = search.run()
    assert stopped.stopped == "interrupted"
    left = Store.open(str(tmp_path), search.store.manifest).levels
    assert [level.size for level in left] == stopped.levels
    expected = _plain("kip320", options, Limits())
    assert _whole(beyond(tmp_path, model, questions, options).run()) == expected


class _FullDisk:
    """Writing fails as if the disk were full, from the given write on, until it is emptied."""

    def __init__(self, monkeypatch, writes):
        self.left, self._write = writes, level_files_module.append
        monkeypatch.setattr(level_files_module, "append", self)

    def __call__(self, *arguments):
        self.left -= 1
        if self.left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._write(*arguments)


@pytest.mark.parametrize("writes", [8, 25])
def test_a_full_disk_ends_it_in_one_line_and_it_goes_on(tmp_path, monkeypatch, writes):
    tiny_blocks(monkeypatch)
    model = tiny("kip320")
    with monkeypatch.context() as patch:
        _FullDisk(patch, writes)
        found = beyond(tmp_path, model, ()).run()
    assert found.stopped == f"a full disk: there is no room left for {tmp_path}"
    assert found.levels == _plain_levels(model)[: len(found.levels)]
    assert beyond(tmp_path, model, ()).run().levels == _plain_levels(model)


class _KilledError(Exception):
    """Ends a run as a kill does: nothing is tidied up."""


def _kill_after(patch, writes):
    """Have a run killed before it writes, or removes, one thing more than so many."""
    left = [writes]

    def killing(function):
        def ask(*arguments, **named):
            left[0] -= 1
            if left[0] < 0:
                raise _KilledError
            return function(*arguments, **named)

        return ask

    patch.setattr(level_files_module, "append", killing(level_files_module.append))
    patch.setattr(writer_module, "write_run", killing(write_run))
    patch.setattr(Path, "write_bytes", killing(Path.write_bytes))
    patch.setattr(Path, "unlink", killing(Path.unlink))
    patch.setattr(Store, "commit", killing(Store.commit))
    patch.setattr(BeyondMemory, "_clean", lambda _: None)


def test_killed_at_any_instant_it_goes_on(tmp_path, monkeypatch):
    """Each run gets a little further than the one before, and is killed there."""
    tiny_blocks(monkeypatch)
    model, options = tiny("kip320"), Options(keep_going=True)
    questions, kept, done = _questions(model), 0, False
    for writes in itertools.count(1):
        search = beyond(tmp_path, model, questions, options)
        search._clean()
        with monkeypatch.context() as patch:
            _kill_after(patch, writes)
            with suppress(_KilledError):
                found, done = search.run(), True
        stored = len(search.store.levels)
        assert stored >= kept, "a level that was whole is lost"
        kept = stored
        if done:
            break
    assert writes > 9
    assert _whole(found) == _plain("kip320", options, Limits())


def _plain_levels(model):
    return Explorer(model, ()).run().levels


def test_a_disk_that_is_full_at_once_is_told(tmp_path, monkeypatch):
    model = tiny("kip320")
    _FullDisk(monkeypatch, 0)
    with pytest.raises(UsageError, match="a full disk: there is no room left") as caught:
        beyond(tmp_path, model, ()).run()
    assert "\n" not in str(caught.value)


def test_a_limit_of_disk_ends_it_and_it_goes_on(tmp_path, monkeypatch):
    tiny_blocks(monkeypatch)
    model = tiny("kip320")
    found = beyond(tmp_path, model, (), max_disk=5_000).run()
    assert found.stopped == "the limit of 5,000 bytes on disk"
    assert 5_000 < found.disk_bytes < 10_000
    assert beyond(tmp_path, model, ()).run().levels == _plain_levels(model)


@pytest.mark.parametrize("what", ["run-00000", "links", "index"])
def test_a_lost_file_is_told(tmp_path, what):
    model = tiny("kip320")
    beyond(tmp_path, model, (), limits=Limits(depth=5)).run()
    (tmp_path / "levels" / "level=3" / what).unlink()
    with pytest.raises(UsageError, match=f"damaged: level 3 has lost its file {what}"):
        beyond(tmp_path, model, ()).run()


def test_lost_states_are_told(tmp_path):
    model = tiny("kip320")
    beyond(tmp_path, model, (), limits=Limits(depth=5)).run()
    (tmp_path / "states" / "5").unlink()
    with pytest.raises(UsageError, match="has lost its states"):
        beyond(tmp_path, model, ()).run()


def test_what_it_keeps_is_no_store_to_query(tmp_path):
    model = tiny("kip320")
    beyond(tmp_path, model, (), limits=Limits(depth=2)).run()
    with pytest.raises(UsageError, match="--spill"):
        Store.open(str(tmp_path))
    with pytest.raises(UsageError, match="option spill is on"):
        Store.open(str(tmp_path), manifest_for(model, (), Options()))


def test_too_little_memory_is_told():
    with pytest.raises(UsageError, match="too little to search from disk: give 240 MB or more"):
        Room.of(100_000_000, 80_000_000)
    room = Room.of(12 << 30, 250_000_000)
    assert 10 * room.states < 12 << 30 < 15 * room.states
    assert explorer_module._NUMBER * room.run <= (12 << 30) // 5


def test_whole_states_stay_in_memory(tmp_path):
    model, options = tiny("kip320"), Options(exact=True)
    with pytest.raises(UsageError, match="leave out --exact"):
        beyond(tmp_path, model, (), options)


@pytest.mark.slow
def test_a_killed_search_goes_on_from_its_last_whole_level(tmp_path):
    command = highwater_command("explore", "kip320", "--quiet", "--resume")
    place = tmp_path / "spill"
    place.mkdir()
    to_disk = ["--max-memory", "1GB", "--spill", str(place)]
    kill_at_levels([*command, *to_disk], place, (2, 9, 14, 17))
    last = [*command, "--json", *to_disk]
    found = subprocess.run(last, capture_output=True, check=True, text=True).stdout
    plain = [*command[:-1], "--json"]
    expected = subprocess.run(plain, capture_output=True, check=True, text=True).stdout
    kept = ("levels", "transitions", "actions", "properties", "coverage", "violations")
    told, wanted = json.loads(found), json.loads(expected)
    assert {name: told[name] for name in kept} == {name: wanted[name] for name in kept}


def test_what_is_under_way_is_not_forgotten(tmp_path, monkeypatch):
    """As if other threads had always added all that may be under way before one batch is taken."""
    tiny_blocks(monkeypatch)
    monkeypatch.setattr(level_files_module, "BLOCK", 3)
    model, options = tiny("truncate_to_high_watermark"), Options(workers=2)
    search = beyond(tmp_path, model, (), options, room=Room(30, 7, 3, 1))
    take_one = search._batch

    def take_last(expanded):
        with search._conveyor._changed:
            while (job := search._conveyor._job()) is not None:
                search._conveyor._changed.release()
                search._conveyor._do(*job)
                search._conveyor._changed.acquire()
        return take_one(expanded)

    monkeypatch.setattr(search, "_batch", take_last)
    monkeypatch.setattr(search, "_have_help", lambda: None)
    assert search.run().levels == _plain_levels(model)
