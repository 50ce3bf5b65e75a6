"""What the shelf promises: what is put there is got again, from memory or disk, in few bytes."""

from __future__ import annotations

import os
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.core.search import shelf as shelf_module
from checker.core.search.shelf import Shelf

arrays = st.lists(
    st.lists(
        st.integers(-(2**63), 2**63 - 1) | st.integers(-130, 300) | st.integers(65_000, 66_000),
        max_size=20,
    ),
    max_size=8,
)


@given(arrays, st.sampled_from([0, 50, 10_000]))
@settings(deadline=None)
def test_what_is_put_there_is_got_again(lists, limit):
    before, shelf_module._IN_MEMORY = shelf_module._IN_MEMORY, limit
    try:
        shelf = Shelf()
        numbers = [shelf.put(np.array(each, np.int64)) for each in lists]
        for number, each in reversed(list(zip(numbers, lists, strict=True))):
            assert shelf.get(number).tolist() == each
    finally:
        shelf_module._IN_MEMORY = before


def test_numbers_take_the_bytes_that_the_widest_of_them_needs():
    shelf = Shelf()
    for least, most, size in [(0, 255, 1), (0, 256, 2), (-1, 127, 1), (-1, 128, 2), (0, 2**40, 8)]:
        number = shelf.put(np.array([least, most], np.int64))
        assert shelf.get(number).nbytes == 2 * size


def test_many_go_to_a_file_without_a_name(monkeypatch, tmp_path):
    monkeypatch.setattr(shelf_module, "_IN_MEMORY", 1_000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    shelf = Shelf()
    for value in range(100):
        shelf.put(np.full(100, value))
    assert shelf._held <= 1_000
    assert shelf._scratch._file is not None
    assert os.fstat(shelf._scratch._file.fileno()).st_size == 90 * 100
    assert list(tmp_path.iterdir()) == []
    assert [int(shelf.get(k)[99]) for k in range(100)] == list(range(100))


@pytest.mark.parametrize("written", [0, 5])
def test_memory_takes_what_a_full_disk_does_not(monkeypatch, written):
    def pwrite(descriptor, data, offset):
        nonlocal written
        if written == 0:
            raise OSError(28, "No space left on device")
        written -= 1
        return write(descriptor, data[:60], offset)

    write = os.pwrite
    monkeypatch.setattr(shelf_module, "_IN_MEMORY", 0)
    monkeypatch.setattr(os, "pwrite", pwrite)
    shelf = Shelf()
    for value in range(20):
        shelf.put(np.arange(value, value + 100))
    assert [shelf.get(k).tolist() for k in range(20)] == [[*range(v, v + 100)] for v in range(20)]
