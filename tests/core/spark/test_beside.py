"""Parcels that wait in files beside the shuffle, and what a slice does not send twice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.search import recent
from checker.core.search.explore import Options
from checker.core.search.recent import Recent
from checker.core.spark import worker
from checker.core.spark.beside import directory_beside, get_from_beside, put_beside
from checker.core.spark.distributed import GROUPS_A_SLICE, _slices
from checker.core.spark.parcels import Kind, Parcel
from checker.core.stores.level_files import ROW_GROUP
from checker.core.stores.store import Level, LevelFile
from model.language.errors import UsageError
from tests.support.stores import SMALL, TINY, distributed, model_named, plain, without_spark
from tests.support.tiers import first_and_slow

__all__ = ["without_spark"]

PARCELS = [
    Parcel(2, Kind.STATES, b"to two"),
    Parcel(0, Kind.NOTE, b"{}"),
    Parcel(0, Kind.STATES, b"to none"),
    Parcel(2, Kind.STATES, b"to two again"),
]


def contents(parcels):
    return [(parcel.to, parcel.kind, bytes(parcel.content)) for parcel in parcels]


def test_states_wait_in_a_file_and_come_back_in_any_order(tmp_path):
    sent = list(put_beside(PARCELS, tmp_path))
    assert [parcel.kind for parcel in sent] == [Kind.PLACE, Kind.NOTE, Kind.PLACE, Kind.PLACE]
    assert b"to " not in b"".join(bytes(parcel.content) for parcel in sent)
    [file] = tmp_path.iterdir()
    assert file.read_bytes() == b"to twoto noneto two again"
    assert contents(get_from_beside(reversed(sent))) == contents(reversed(PARCELS))


def test_a_task_that_is_run_twice_has_a_file_of_its_own(tmp_path):
    first, second = (list(put_beside(PARCELS, tmp_path)) for _ in range(2))
    assert len(list(tmp_path.iterdir())) == 2
    assert contents(get_from_beside([*first, *second])) == contents([*PARCELS, *PARCELS])


def test_without_a_directory_states_go_with_the_shuffle():
    sent = list(put_beside(PARCELS, None))
    assert sent == PARCELS
    assert list(get_from_beside(sent)) == PARCELS


def test_the_directory_goes_with_the_level(tmp_path):
    with pytest.raises(KeyError), directory_beside(tmp_path) as directory:
        assert directory is not None
        list(put_beside(PARCELS, directory))
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    with directory_beside(None) as directory:
        assert directory is None


def test_a_file_that_cannot_be_written_or_read_is_told_in_one_line(tmp_path):
    [told] = put_beside(PARCELS, tmp_path / "away")
    assert told.kind == Kind.ERROR
    assert bytes(told.content).decode() == (
        f"cannot write to {tmp_path / 'away'}: No such file or directory"
    )
    sent = list(put_beside(PARCELS, tmp_path))
    next(tmp_path.iterdir()).unlink()
    with pytest.raises(UsageError, match=r"^cannot read .*: No such file or directory$"):
        list(get_from_beside(sent))


def test_a_full_disk_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("checker.core.spark.beside.tempfile.mkstemp", lambda **_: _full())
    [told] = put_beside(PARCELS[:1], tmp_path)
    assert (told.kind, bytes(told.content)) == (
        Kind.ERROR,
        b"cannot write /dev/full: No space left on device",
    )


def _full():
    import os

    return os.open("/dev/full", os.O_WRONLY), "/dev/full"


@pytest.mark.parametrize("options", first_and_slow(Options(), Options(exact=True)))
def test_where_parcels_wait_changes_nothing(tmp_path, without_spark, monkeypatch, options):
    model = model_named("kip320", TINY)
    expand_slice, keep_new, beside = worker.expand_slice, worker.keep_new, tmp_path / "beside"
    beside.mkdir()

    def expand(job, work):
        return put_beside(expand_slice(job, work, is_sieved=False), beside)

    monkeypatch.setattr(worker, "expand_slice", expand)
    monkeypatch.setattr(worker, "keep_new", lambda job, sent: keep_new(job, get_from_beside(sent)))
    assert distributed(tmp_path / "store", model, without_spark, 3, options) == plain(
        model, options
    )
    assert len(list(beside.iterdir())) > 20


# --- what a slice sends ------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(1, 40), max_size=30), max_size=5), st.booleans())
def test_the_first_of_equals_passes_and_others_only_if_they_were_pushed_out(batches, is_exact):
    """Fingerprints that share a place push each other out, and exact states may share one."""
    lately = Recent(1 if is_exact else 0)
    places = len(lately._places)
    seen: dict[int, int] = {}
    for batch in batches:
        states = np.array(batch, np.uint64)
        found = np.uint64(places) * (states % np.uint64(7) + np.uint64(1)) + states // np.uint64(8)
        fresh = lately.pass_by(states[np.newaxis][: int(is_exact)], found)
        if not is_exact:
            states = found
        for state, place, passes in zip(
            states.tolist(), (found % np.uint64(places)).tolist(), fresh.tolist(), strict=True
        ):
            assert passes is (seen.get(place) != state)
            seen[place] = state


@pytest.mark.slow
def test_a_slice_that_forgets_everything_sends_more_and_finds_the_same(
    tmp_path, without_spark, monkeypatch
):
    model = model_named("kip320", TINY)
    sizes, expand_slice = [0, 0], worker.expand_slice

    def counted(which):
        def expand(*arguments):
            for parcel in expand_slice(*arguments):
                sizes[which] += len(parcel.content) if parcel.kind == Kind.STATES else 0
                yield parcel

        return expand

    for which, places in enumerate((recent._PLACES, 1)):
        monkeypatch.setattr(recent, "_PLACES", places)
        monkeypatch.setattr(worker, "expand_slice", counted(which))
        assert distributed(tmp_path / str(which), model, without_spark, 3) == plain(model)
    assert sizes[1] > 1.1 * sizes[0] > 0


@pytest.mark.parametrize("cores", [1, 2, 7, 64])
@pytest.mark.parametrize("groups", [(1,), (3, 5), (40, 0, 9, 1)])
def test_slices_are_all_of_a_level_and_enough_for_the_cores(cores, groups):
    files = tuple(
        LevelFile(f"{n}", ROW_GROUP * count - bool(count), 0, 0, 0)
        for n, count in enumerate(groups)
    )
    work = _slices(Level(0, files), cores)
    parts = [part for each in work for part in each]
    covered = {(p.file.name, p.first_group + k) for p in parts for k in range(p.groups)}
    assert covered == {(str(n), k) for n, count in enumerate(groups) for k in range(count)}
    assert sum(part.groups for part in parts) == sum(groups)
    assert len(work) >= min(cores, sum(groups))
    assert max(sum(part.groups for part in each) for each in work) <= GROUPS_A_SLICE + len(groups)
    assert all(each and all(part.groups for part in each) for each in work)


def test_a_slice_has_neighbours_from_the_files_of_several_owners():
    files = tuple(LevelFile(f"{n}", ROW_GROUP * 20, 0, 0, 0) for n in range(2))
    work = _slices(Level(0, files), 2)
    assert [[(p.file.name, p.first_group, p.groups) for p in each] for each in work] == [
        [("0", 5 * k, 5), ("1", 5 * k, 5)] for k in range(4)
    ]


@pytest.mark.slow
def test_a_slice_is_expanded_in_the_order_of_numbers(tmp_path, without_spark, monkeypatch):
    """Of files of several owners: else the first of equals would not have the least number."""
    monkeypatch.setattr("checker.core.stores.level_files.ROW_GROUP", 16)
    monkeypatch.setattr("checker.core.spark.distributed.ROW_GROUP", 16)
    model = model_named("kip279", SMALL)
    expand_slice, several = worker.expand_slice, []

    def expand(job, work):
        several.append(len(work) > 1)
        return expand_slice(job, work)

    monkeypatch.setattr(worker, "expand_slice", expand)
    assert distributed(tmp_path, model, without_spark, 3) == plain(model)
    assert sum(several) > 20
