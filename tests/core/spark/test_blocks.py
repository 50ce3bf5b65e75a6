"""Blocks of states: in whatever order they come, states are looked at in the order of numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.search.lineage import StateRows
from checker.core.spark.blocks import in_order, put_in_room
from checker.core.stores.level_files import read_rows, write_rows
from checker.core.stores.storage import Storage
from checker.core.stores.store import Store
from tests.support.stores import TINY, distributed, model_named, plain, without_spark

__all__ = ["without_spark"]


def _block(numbers):
    numbers = np.array(sorted(numbers), np.uint64)
    return np.stack([numbers, numbers * np.uint64(3)])


@given(
    st.sets(st.integers(0, 60), min_size=1), st.lists(st.integers(0, 4), min_size=61, max_size=61)
)
def test_blocks_come_out_in_order_and_only_those_that_overlap_are_put_together(numbers, chosen):
    parts = [{n for n in numbers if chosen[n] == which} for which in range(5)]
    blocks = [_block(part) for part in parts if part]
    found = list(in_order(blocks))
    assert np.array_equal(np.concatenate(found, axis=1), _block(numbers))
    spans = sorted((min(part), max(part)) for part in parts if part)
    ends = np.maximum.accumulate([last for _, last in spans])
    assert len(found) == 1 + sum(
        first > end for (first, _), end in zip(spans[1:], ends, strict=False)
    )


@given(
    st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.integers(0, 4)), max_size=40),
    st.integers(1, 7),
)
def test_states_go_to_the_blocks_of_their_owners_and_none_is_lost_where_one_is_full(steps, size):
    to, chosen, rows = (np.array([s[k] for s in steps]) for k in range(3))
    to, chosen, rows = to.astype(np.int64), chosen.astype(bool), np.sort(rows).astype(np.int32)
    instances = np.arange(len(steps)).astype(np.uint16)
    numbers = np.arange(5).astype(np.uint64) * np.uint64(10)
    after = np.stack([instances + np.uint64(1000), instances + np.uint64(2000)])
    room, counts = np.zeros((3 * 3, size), np.uint64), np.zeros(3, np.int64)
    received: list[list[list[int]]] = [[], [], []]

    def take(owner):
        received[owner] += room[3 * owner : 3 * owner + 3, : counts[owner]].T.tolist()
        counts[owner] = 0

    done = 0
    while True:
        done = put_in_room(done, to, chosen, rows, instances, numbers, 6, after, room, counts)
        if done == len(steps):
            break
        assert counts[to[done]] == size
        take(to[done])
    for owner in range(3):
        take(owner)
        assert received[owner] == [
            [int(numbers[rows[k]]) << 6 | k, 1000 + k, 2000 + k]
            for k in range(len(steps))
            if to[k] == owner and chosen[k]
        ]


@pytest.mark.slow
def test_a_search_whose_states_are_not_kept_finds_the_same(tmp_path, without_spark):
    model = model_named("kip320", TINY)
    found = distributed(tmp_path, model, without_spark, 3, numbers=1 << 20, is_kept=False)
    assert found == plain(model)


ROWS = StateRows(
    np.arange(8, dtype=np.uint64).reshape(2, 4),
    np.arange(4),
    np.zeros(4, np.int64),
    np.arange(4, dtype=np.int32),
)


def test_what_is_not_kept_is_written_anew_each_time(tmp_path):
    for is_kept, count in ((True, 1), (False, 2)):
        storage = Storage(str(tmp_path / str(is_kept)), is_kept)
        storage.make_directory(Store.directory(3))
        files = [write_rows(storage, 3, ROWS, (0, 1)) for _ in range(2)]
        assert len({file.name for file in files}) == count
        assert bool(files[0].digests) is is_kept
        assert np.array_equal(read_rows(storage, 3, files[1], 2).words, ROWS.words)
