"""Sorted runs on disk: what is read is what was written, and what two have is found."""

import itertools

import numpy as np
import pytest

from checker.core.beyond import late as late_module
from checker.core.beyond import runs as runs_module
from checker.core.beyond.late import among
from checker.core.beyond.runs import numbers_of, pick, read_run, write_run
from checker.core.search.fingerprints import fingerprints
from checker.core.search.table_kernels import gathered
from model.language.errors import UsageError

SIZES = (1, 2, 255, 4_000)
RANDOM = np.random.default_rng(3)


def _drawn(count):
    """So many numbers, ascending; the least and the greatest there are, and a crowd, among them."""
    crowd = np.uint64(7 << 61) + np.arange(count // 3, dtype=np.uint64)
    ends = np.array([1, 2**64 - 1], np.uint64)
    drawn = RANDOM.integers(1, 2**64, count, dtype=np.uint64)
    return np.unique(np.concatenate([ends, crowd, drawn])[-count:])


def _within(numbers, part, bits):
    """The numbers that begin with some bits."""
    return numbers[numbers >> np.uint64(64 - bits) == part] if bits else numbers


@pytest.fixture(params=[8, 16, pytest.param(24, marks=pytest.mark.slow)])
def cells(request, monkeypatch):
    """Runs cut as small, large and very large ones are, into blocks of a few numbers."""
    monkeypatch.setattr(runs_module, "_cells", lambda _: request.param)
    monkeypatch.setattr(runs_module, "_BLOCK", 100)
    monkeypatch.setattr(runs_module, "_MOST_BLOCK_BITS", 4)
    return request.param


@pytest.mark.parametrize("count", SIZES)
def test_a_run_reads_as_it_was_written(tmp_path, cells, count):
    """Whatever it is cut into, and whatever range is read."""
    numbers = _drawn(count)
    written = write_run(tmp_path / "run", numbers)
    run = read_run(tmp_path / "run")
    assert run.cells == written.cells == cells
    assert run.bytes == (tmp_path / "run").stat().st_size
    with run.opened() as opened:
        blocks = range(1 << run.block_bits)
        assert np.concatenate([opened.numbers(b) for b in blocks]).tolist() == numbers.tolist()
        chosen = numbers[::3]
        like = np.concatenate([opened.like(b, pick(chosen, 0)) for b in blocks])
        assert set(chosen.tolist()) <= set(like.tolist()) <= set(numbers.tolist())
        for bits in range(6):
            for part in range(1 << bits):
                own = _within(numbers, part, bits)
                read = np.concatenate([opened.numbers(b) for b in run.within(part, bits)])
                assert set(own.tolist()) <= set(read.tolist())


@pytest.mark.parametrize("bits", [0, 1, 3])
def test_what_older_runs_have_is_found(tmp_path, cells, bits):
    all_numbers = _drawn(3_000)
    new = np.sort(RANDOM.permutation(all_numbers)[:1_000])
    older = [np.sort(RANDOM.permutation(all_numbers)[:count]) for count in (700, 1, 900)]
    runs = [write_run(tmp_path / str(k), numbers) for k, numbers in enumerate(older)]
    found = []
    for part in range(1 << bits):
        found += among(_within(new, part, bits), runs, bits).tolist()
    assert found == sorted(set(new.tolist()) & set(np.concatenate(older).tolist()))


def test_of_ranges_with_nothing_new_nothing_is_read(tmp_path, cells, monkeypatch):
    run = write_run(tmp_path / "run", _drawn(4_000))
    read = []
    monkeypatch.setattr(runs_module.OpenRun, "like", lambda self, block, _: read.append(block))
    monkeypatch.setattr(late_module, "_has_any", lambda new, run, block: block == 3)
    with pytest.raises(TypeError):
        among(np.array([5], np.uint64), [run])
    assert read == [3]
    monkeypatch.undo()
    assert late_module._has_any(np.array([5], np.uint64), run, 0)
    assert not late_module._has_any(np.array([5], np.uint64), run, 1)


def test_few_numbers_are_told_from_all_others():
    numbers = _drawn(2_000)
    for step, above in itertools.product((1, 5, 300), (0, 3)):
        chosen = numbers[::step]
        own = _within(chosen, 5, above) if above else chosen
        held = pick(own, above).holds(_within(numbers, 5, above))
        assert held.sum() == len(own)


def test_a_number_tells_a_state_as_its_fingerprint_does():
    words = RANDOM.integers(0, 2**63, (2, 50), dtype=np.uint64)
    assert gathered(numbers_of(words)).tolist() == fingerprints(words).tolist()


@pytest.mark.parametrize("kept", [0, 31, 40, 5_000])
def test_a_run_that_was_cut_is_damaged(tmp_path, kept):
    path = tmp_path / "run"
    write_run(path, _drawn(4_000))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(UsageError, match="damaged or lost"):
        read_run(path)
