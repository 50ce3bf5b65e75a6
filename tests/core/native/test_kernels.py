"""What kernels promise: machine code that does what their Python says, or a refusal."""

from __future__ import annotations

import itertools
import linecache
import types
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.core.engines import vectorised
from checker.core.liveness import components, graph
from checker.core.native.assembly import TranslationError
from checker.core.native.kernel import Kernel, kernel
from checker.core.search import fingerprints, simulate, table_kernels
from checker.core.search import fresh as fresh_steps

NUMBERS = itertools.count()


def written(source, **known):
    """The function that a text says, as if it stood in a file."""
    name = f"<written {next(NUMBERS)}>"
    scope = {"np": np, "kernel": kernel, "__name__": "written", **known}
    exec(
        compile("from __future__ import annotations; import numpy as np\n" + source, name, "exec"),
        scope,
    )
    linecache.cache[name] = (len(source), None, ["\n", *source.splitlines(keepends=True)], name)
    return next(v for k, v in reversed(scope.items()) if isinstance(v, types.FunctionType))


def in_python(function, *arguments):
    """What the function gives as plain Python, with those that it calls as Python too."""
    known = function.__globals__
    called = {name: each for name, each in known.items() if isinstance(each, Kernel)}
    known.update({name: each.function for name, each in called.items()})
    try:
        with np.errstate(all="ignore"):
            return function(*arguments)
    finally:
        known.update(called)


def check_same(function, *arguments):
    """The kernel and its Python give the same, and leave arrays alike."""
    theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    expected = in_python(function, *theirs)
    assert kernel(function)(*arguments) == expected
    for mine, other in zip(arguments, theirs, strict=True):
        assert np.array_equal(mine, other)


def words(random, *shape):
    return random.integers(0, 2**64 - 1, shape, np.uint64, endpoint=True)


def graph_of(random):
    """Offsets, targets and instances of a random graph, some of whose targets lie outside."""
    degrees = random.integers(0, 5, 40)
    offsets = np.concatenate([[0], degrees.cumsum()]).astype(np.int64)
    targets = random.integers(0, 43, offsets[-1]).astype(np.int32)
    return offsets, targets, random.integers(0, 7, offsets[-1]).astype(np.uint16)


def fresh(count, kind=np.int32, value=-1):
    return np.full(count, value, kind)


def cases():
    random = np.random.default_rng(0)
    found, places = words(random, 60), np.arange(60, dtype=np.int32)
    room = fresh(60), np.empty(60, np.uint64), np.empty(16, np.int64)
    yield table_kernels.sort_out, found, *room
    table, exact = np.zeros((200, 1), np.uint64), np.zeros((200, 3), np.uint64)
    none, both = np.empty((0, 60), np.uint64), words(random, 2, 60)
    found[30:] = found[:30]
    for used, kept in ((table, none), (exact, both)):
        yield table_kernels.insert_in_rows, used.copy(), kept, found, places, np.zeros(60, bool)
        table_kernels.insert_in_rows(used, kept, found, places[:20], np.zeros(60, bool))
        yield table_kernels.look_up_in_rows, used, kept, found, places, np.zeros(60, bool)
        yield table_kernels.move_rows, used, np.zeros((400, used.shape[1]), np.uint64)
    offsets, targets, instances = graph_of(random)
    count = len(offsets) - 1
    inside, of_instance = random.random(count) < 0.8, words(random, 7, 2)
    of_instance[random.random((7, 2)) < 0.5] = 0
    component, found = components.components(offsets, targets, inside)
    enabled = components.enabled_groups(offsets, instances, of_instance, inside)
    sources = np.flatnonzero(inside)[::9].astype(np.int32)
    yield fingerprints._fingerprints, words(random, 3, 50), np.empty(50, np.uint64)
    yield fingerprints._fingerprints, words(random, 3, 90)[:, 5:60:3], np.empty(19, np.uint64)
    of, by = places // 3, random.integers(0, 7, 60).astype(np.uint16)
    room = fresh(61), fresh(61, np.uint16, 9), np.zeros((2, 61), np.uint64)
    yield fresh_steps._take, random.random(60) < 0.4, of, by, words(random, 2, 60), *room
    yield fresh_steps._count, by, np.zeros(7, np.int64)
    rows = random.integers(0, 9, 30).astype(np.int32)
    yield vectorised._sort_by_row, rows, np.zeros(11, np.int64), np.empty(30, np.int64)
    yield (
        *(components._components, offsets, targets, inside, fresh(count), fresh(count)),
        *(fresh(count, value=0), fresh(count), fresh(count), fresh(count, np.int64)),
    )
    out = np.zeros((count, 2), np.uint64)
    yield components._note_enabled, offsets, instances, of_instance, inside, out
    some, taken = np.zeros((found, 2), np.uint64), np.zeros((found, 2), np.uint64)
    every = np.full((found, 2), 2**64 - 1, np.uint64)
    yield (
        *(components._sum_up, offsets, targets, instances, of_instance, component),
        *(enabled, some, every, taken),
    )
    starts = np.arange(len(sources), dtype=np.int32)
    yield (
        *(components._reach, offsets, targets, sources, starts, inside, fresh(count)),
        *(fresh(count, np.int64), fresh(count)),
    )
    hashes = words(random, 20)
    table = fresh(64)
    yield graph._fill, table.copy(), hashes
    graph._fill(table, hashes)
    states = words(random, 2, 20)
    yield graph._find, table, states, states[:, ::2].copy(), hashes[::2].copy(), fresh(10)
    rows, actions = np.sort(random.integers((0, 0), (25, 3), (60, 2)).T, axis=1)
    actions = actions[np.lexsort((actions, rows))]
    yield (
        *(simulate._choose, rows.astype(np.int32), actions, random.random((3, 25))),
        *(random.random((2, 25)), fresh(25, np.int64)),
    )


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case[0].function.__name__)
def test_the_kernels_do_what_their_python_says(case):
    check_same(case[0].function, *case[1:])


# --- what may be said ------------------------------------------------------------------------


def many(a, b, c, xs, ns, flags, out, found):
    """Every kind of statement and expression."""
    total, seen = 0, 0
    scale = 1.5
    for i in range(1, len(xs)):
        if not flags[i] or (i > 2 and flags[i - 1]):
            continue
        elif ns[i] == b:
            found[0] = True
        else:
            seen += 1
        mixed = (xs[i] ^ a) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(7)
        mixed |= (xs[i - 1] & np.uint64(255)) << np.uint64(i)
        out[i] = mixed if mixed > a else mixed + np.uint64(1)
        step = int(scale * (b + i))
        while step > 0:
            step -= 3
            if step == b or step * 2 >= 90:
                break
            total += step
        ns[i] = -b if out[i - 1] == out[i] and -b <= ns[i] else b
    last, first = total, seen
    total, seen = first, last
    one = other = c
    flags[0] = c
    found[1] = one != (total < seen) or other
    out[0] = np.uint64(total)
    return total - seen


numbers = st.integers(-(2**31), 2**31 - 1)
unsigned = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 255, 2**63, 2**64 - 1])


@given(
    unsigned, st.integers(-50, 50), st.booleans(),
    st.lists(st.tuples(unsigned, st.integers(-60, 60), st.booleans()), min_size=1, max_size=12),
)  # fmt: skip
@settings(deadline=None)
def test_what_is_said_means_what_python_means(a, b, c, rows):
    source = """def said(a: np.uint64, b: int, c: bool, xs, ns, flags, out, found) -> int:
    pass
"""
    many.__annotations__ = written(source).__annotations__
    xs = np.array([row[0] for row in rows], np.uint64)
    ns = np.array([row[1] for row in rows], np.int16)
    flags = np.array([row[2] for row in rows])
    given_ = np.uint64(a), b, c, xs, ns, flags, np.zeros(len(rows), np.uint64), np.zeros(2, bool)
    check_same(many, *given_)


def _noted(out, truth: bool) -> bool:
    out[0] += 1
    return truth


noted = kernel(_noted)


def stops(out, first: bool, second: bool) -> bool:
    both = noted(out, first) and noted(out, second)
    return both or noted(out, second) or noted(out, first)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_and_and_or_stop_where_python_stops(first, second):
    check_same(stops, np.zeros(1, np.int64), first, second)


def halves(a: int) -> int:
    down, up = split(a, 3)
    return down * 100 + up


def _split(a: int, by: int) -> tuple[int, int]:
    if a < by:
        return a, by
    return a - by, a + by


split = kernel(_split)


@pytest.mark.parametrize("number", [-7, 2, 3, 90])
def test_kernels_call_kernels_which_return_several_values(number):
    check_same(halves, number)


NOTHING = np.empty((0, 0), np.uint64)


def _height(ns, limit: int) -> int:
    return limit + len(ns)


height = kernel(_height)


def measures(xs, ns, limit: int) -> tuple[int, np.uint64]:
    most, by = 0, np.uint64(limit) // np.uint64(7)
    for i in range(int(np.uint64(len(xs)))):
        most = max(most, ns[i] + 1 if np.uint32(xs[i]) == np.uint32(xs[0]) else 0)
    return most - height(NOTHING, limit), by * xs[0]


def test_several_values_lower_halves_divisions_and_the_greatest():
    xs = np.array([2**63 + 5, 5, 2**40, 5], np.uint64)
    check_same(measures, xs & np.uint64(2**32 - 1), np.array([3, 9, 99, 4], np.int32), 2**20)
    got: Any = kernel(measures)(xs, np.array([3, 9, 99, 4], np.int32), 21)
    assert got == (10 - 21, 3 * (2**63 + 5) % 2**64)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return a + b", "do not mix"),
        ("return a < b", "do not mix"),
        ("return xs[0] + b", "do not mix"),
        ("return np.uint64(-1)", "of -1"),
        ("return c + c", "not done with bool"),
        ("return b // 2", "not done with int"),
        ("return unknown", "unknown is not known"),
        ("return unknown(b)", "unknown is not known"),
        ("return min(b, 1)", "min is not known"),
        ("return xs[0, 1]", "1 dimensions"),
        ("return xs[c]", "an index is no bool"),
        ("return sum(x for x in xs)", "sum is not known"),
        ("return b if c else a", "convert it"),
        ("return 1 < b < 3", "not translated"),
        ("return [b]", "not translated"),
        ("xs = b", "xs is an array"),
        ("b = a", "np.uint64 where int belongs"),
        ("xs[0] = b", "int where np.uint64 belongs"),
        ("if c: return b", "may end without a result"),
        ("if c: return b\n    return c", "returns"),
        ("for x in xs: pass", "not translated"),
        ("for x in range(0, b, 2): pass", "no step"),
        ("while c: break\n    else: b = 1", "not translated"),
        ("for i in range(b):\n        break\n        b = 1", "nothing comes here"),
        ("b, c = b", "1 values for 2 names"),
        ("return len(xs=xs)", "no names"),
        ("return b, c", "no whole number among several"),
        ("import os", "not translated"),
        ("return 99999999999999999999", "64 bits"),
        ("return np.uint64(18446744073709551616)", "64 bits"),
    ],
)
def test_what_is_not_understood_is_refused(body, words):
    function = written(f"def said(a: np.uint64, b: int, c: bool, xs):\n    {body}\n")
    with pytest.raises(TranslationError, match=words):
        kernel(function)(np.uint64(3), 5, True, np.ones(4, np.uint64))


def test_a_file_that_changed_since_it_was_imported_is_told(tmp_path, monkeypatch):
    file = tmp_path / "changing.py"
    said_then = "from __future__ import annotations\ndef said(b: int) -> int:\n    return b + 1\n"
    file.write_text(said_then)
    monkeypatch.syspath_prepend(tmp_path)
    said = import_module("changing").said
    file.write_text(said_then.replace("1", "2"))
    with pytest.raises(TranslationError, match="changed since it was imported"):
        kernel(said)(1)


def first(xs) -> Any:
    return xs[0]


def clear(xs) -> None:
    xs[0] = 0


def test_arrays_that_no_kernel_takes_are_refused():
    unaligned = np.zeros(17, np.uint8)[1:].view(np.int64)
    for wrong in ([1], np.ones(3, np.float32), np.ones(3, ">i8"), np.array(["a"]), unaligned):
        with pytest.raises(TypeError, match="a kernel takes"):
            kernel(first)(wrong)
    kept = np.frombuffer(bytes(8), np.int64)
    assert kernel(first)(kept) == 0
    with pytest.raises(ValueError, match="read-only"):
        kernel(clear)(kept)


@pytest.mark.parametrize("element", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f8", "?"])
def test_elements_of_every_size_are_read_and_written_whole(element):
    function = written("def said(xs, ys):\n    for i in range(len(xs)):\n        ys[i] = xs[i]\n")
    kind = np.dtype(element)
    values = [0, 1] if element in "f8?" else [np.iinfo(kind).min, 1, np.iinfo(kind).max]
    check_same(function, np.array(values, kind), np.zeros(len(values), kind))
