"""Traces as files: what was not written by us is not believed, and files are replaced whole."""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import os
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import checker.core.traces.itf
from checker.core.traces.itf import MAX_BYTES, read_trace, trace_as_itf, write_trace
from model.ladder.kip279 import KIP279
from model.language.errors import HighwaterError, RejectedError, UsageError
from tests.support.traces import (
    EVERY_PROTOCOL,
    OFFICE,
    golden_kip279,
    losing_truncation,
    places,
    random_walk,
    same,
)

GOLDEN = golden_kip279()
DOCUMENT = json.loads(trace_as_itf(GOLDEN))
OFFICE_WALK = random_walk(OFFICE.model(), 8, seed=3)


def read_document(document, tmp_path):
    path = tmp_path / "document.itf.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return read_trace(path, EVERY_PROTOCOL)


def assert_unreadable(document, tmp_path, words):
    with pytest.raises(UsageError, match=words) as caught:
        read_document(document, tmp_path)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 600


def with_value(document, path, value):
    changed = copy.deepcopy(document)
    *way, last = path
    place = changed
    for key in way:
        place = place[key]
    place[last] = value
    return changed


# What was not written by us is not believed.


@pytest.mark.parametrize(
    "trace",
    [pytest.param(losing_truncation(), id="kafka", marks=pytest.mark.slow), OFFICE_WALK],
)
def test_a_value_altered_at_any_one_place_is_rejected_or_unreadable(trace, tmp_path):
    document = json.loads(trace_as_itf(trace))
    assert same(read_document(document, tmp_path), trace)
    survivors = []
    for path, value in list(places(document["states"], ("states",))):
        if isinstance(value, dict | list):
            continue
        *way, last = path
        place = functools.reduce(lambda inner, key: inner[key], way, document)
        for other in alternatives(value):
            place[last] = other
            with contextlib.suppress(HighwaterError):
                read_document(document, tmp_path)
                survivors.append((path, value, other))
        place[last] = value
    assert survivors == []


def alternatives(value):
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, bool(value)]
    if value.lstrip("-").isdecimal():
        return [str(int(value) + 1), str(int(value) - 1)]
    return [value + "0", "none" if value != "none" else "r0"]


def test_a_value_outside_its_domain_is_rejected(tmp_path):
    path = ("states", 3, "replicas", "#map", 0, 1, "high_watermark", "#bigint")
    with pytest.raises(RejectedError, match=r"high_watermark is 9: valid is 0\.\.log_size, 0\.\.2"):
        read_document(with_value(DOCUMENT, path, "9"), tmp_path)


def test_another_protocols_action_is_rejected(tmp_path):
    document = with_value(DOCUMENT, ("states", 2, "#meta", "action"), "leader_handle_update")
    with pytest.raises(
        RejectedError, match=r"no action of kip279 is called 'leader_handle_update'"
    ):
        read_document(document, tmp_path)


def test_another_protocol_is_rejected(tmp_path):
    with pytest.raises(RejectedError, match=r"step 7: become_follower.* is not enabled"):
        read_document(with_value(DOCUMENT, ("#meta", "protocol"), "kip320"), tmp_path)


def test_a_parameter_out_of_range_is_rejected(tmp_path):
    document = with_value(DOCUMENT, ("states", 1, "#meta", "parameters", "leader"), "r7")
    with pytest.raises(
        RejectedError, match=r"has no parameters leader 'r7'; valid are .*leader=r0"
    ):
        read_document(document, tmp_path)


def test_a_wrong_verdict_is_rejected(tmp_path):
    for key, value, words in (
        ("property", "well_formed", "well_formed is true"),
        ("property", "a_record_commits", "should sometimes hold"),
        ("verdict", "reached", "should always hold"),
        ("verdict", "run", "names the property"),
    ):
        with pytest.raises(RejectedError, match=words):
            read_document(with_value(DOCUMENT, ("#meta", key), value), tmp_path)


def test_a_reader_that_does_not_check_would_believe_a_false_verdict(tmp_path, monkeypatch):
    """Mutant: the check is what rejects it."""
    monkeypatch.setattr(checker.core.traces.itf, "check_trace", lambda trace: None)
    document = with_value(DOCUMENT, ("#meta", "property"), "well_formed")
    assert read_document(document, tmp_path).property == "well_formed"


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ((), [], "the file must be an object, not a list of 0"),
        (("extra",), 1, "the file has the unknown field 'extra'"),
        (("#meta", "format"), "JSON", "#meta.format must be 'ITF'"),
        (("#meta", "format_version"), 2, "#meta.format_version must be 1, not 2"),
        (("#meta", "format_version"), True, "#meta.format_version must be 1, not true"),
        (("#meta", "author"), "x", "#meta has the unknown field 'author': valid are format,"),
        (("#meta", "protocol"), 3, "#meta.protocol must be a string, not 3"),
        (("#meta", "protocol"), "kip278", "did you mean 'kip279'"),
        (("#meta", "protocol"), "x" * 10_000, "a string of 10000 characters: too long"),
        (("#meta", "property"), "strong_irs", "did you mean 'strong_isr'"),
        (("#meta", "verdict"), "fine", "no verdict of a trace is called 'fine'"),
        (("#meta", "depth"), 11, "#meta.depth must be 10, the number of steps, not 11"),
        (("#meta", "version"), "<script>", "#meta.version '<script>' is not a version"),
        (("#meta", "settings"), {"fence": "true"}, "this protocol has no settings"),
        (("#meta", "settings"), [], "#meta.settings must be an object, not a list of 0"),
        (("#meta", "bounds", "log_size"), 99, "log-size cannot be 99: valid are 1 to 16"),
        (("#meta", "bounds", "log_size"), True, "#meta.bounds.log_size must be a number, not true"),
        (("#meta", "bounds", "log_size"), 2.0, "#meta.bounds.log_size must be a number"),
        (("#meta", "bounds", "brokers"), 3, "#meta.bounds has the unknown field 'brokers'"),
        (("vars",), ["replicas"], "vars must be "),
        (("states",), {}, "states must be a list with at least one state, not an object"),
        (("states",), [], "states must be a list with at least one state"),
        (("states", 2), None, r"states\[2\] must be an object, not null"),
        (("states", 2, "log"), None, r"states\[2\] has the unknown field 'log'"),
        (("states", 2, "#meta", "index"), 3, r"states\[2\]\.#meta\.index must be 2, not 3"),
        (("states", 2, "quorum", "leader"), "r9", r"quorum\.leader names 'r9': valid are r0, r1"),
        (("states", 2, "quorum", "leader"), None, r"quorum\.leader must be a string, not null"),
        (("states", 2, "quorum", "leader_epoch"), 0, "must be an integer such as"),
        (("states", 2, "quorum", "isr"), {"#set": ["r0", "r0"]}, "holds 'r0' twice"),
        (("states", 2, "quorum", "isr"), {"#set": ["none"]}, "holds 'none', which is not one of"),
        (("states", 2, "quorum", "isr"), ["r0"], "must be an object, not a list of 1"),
        (("states", 2, "replicas", "#map", 1, 0), "r0", "has the key 0 twice"),
        (("states", 2, "replicas", "#map"), [], "must have 3 keys, not 0"),
        (("states", 2, "replicas", "#map", 0, 1, "log"), "x", "must be a list, not 'x'"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_named(path, value, words, tmp_path):
    document = with_value(DOCUMENT, path, value) if path else value
    assert_unreadable(document, tmp_path, words)


@pytest.mark.parametrize("path", [("#meta",), ("vars",), ("states",), ("#meta", "bounds"),
                                  ("#meta", "bounds", "replicas"), ("states", 1, "quorum"),
                                  ("states", 1, "#meta", "action")])  # fmt: skip
def test_a_missing_field_is_named(path, tmp_path):
    document = copy.deepcopy(DOCUMENT)
    place = document
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    assert_unreadable(document, tmp_path, f"lacks the field '{path[-1]}'")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON: line 1, column 1: "),
        ("{", "not JSON: line 1, column 2: "),
        ("null", "must be an object, not null"),
        ('{"a": 1, "a": 2}', "an object has the field 'a' twice"),
        ("NaN", "NaN is not a number"),
        ("[" * 1_000_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
        ("[" * 500 + "]" * 500, "the file must be an object"),
        ("9" * 5000, "is too large"),
        ('"\\ud800\\u001b[31m"', r"the file must be an object, not '\\ud800\\x1b\[31m'"),
        ('{"\\u001b[31m": 1}', r"unknown field '\\x1b\[31m'"),
    ],
    ids=range(11),
)
def test_text_that_is_no_trace_is_one_clear_line(text, words, tmp_path):
    assert_unreadable(text, tmp_path, words)


def test_nested_values_inside_a_trace_are_one_clear_line(tmp_path):
    deep = "[" * 400 + "]" * 400
    for marker, words in (
        ("quorum", "quorum must be an object"),
        ("leader", "valid are leader=r0"),
    ):
        document = copy.deepcopy(DOCUMENT)
        if marker == "quorum":
            document["states"][1]["quorum"] = "DEEP"
            assert_unreadable(json.dumps(document).replace('"DEEP"', deep), tmp_path, words)
        else:
            document["states"][1]["#meta"]["parameters"]["leader"] = "DEEP"
            with pytest.raises(RejectedError, match="has no parameters leader a list of 1"):
                read_document(json.dumps(document).replace('"DEEP"', deep), tmp_path)


def test_a_file_that_is_too_large_is_refused_unread(tmp_path):
    path = tmp_path / "large.itf.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(UsageError, match=f"larger than {MAX_BYTES >> 20} MiB"):
        read_trace(path)


def test_bytes_that_are_no_text_are_named(tmp_path):
    path = tmp_path / "binary"
    path.write_bytes(b'{"#meta": "\xff"}')
    with pytest.raises(UsageError, match="byte 11 is not UTF-8"):
        read_trace(path)


def test_what_cannot_be_read_is_one_clear_line(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path, words in (
        (tmp_path / "none", "No such file"),
        (tmp_path, "it is not a regular file"),
        (tmp_path / "pipe", "it is not a regular file"),
        (tmp_path / "loop", "symbolic links"),
        (tmp_path / ("x" * 300), "too long"),
        ("nul\0byte", "null (byte|character)"),  # Python 3.13 says character
    ):
        with pytest.raises(UsageError, match=words) as caught:
            read_trace(path)
        assert "\n" not in str(caught.value)


def test_too_many_states_or_variables_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(checker.core.traces.itf, "MAX_STATES", 5)
    assert_unreadable(DOCUMENT, tmp_path, "there are 11 states: valid are up to 5")
    with pytest.raises(UsageError, match="11 states is too long to store"):
        write_trace(GOLDEN, tmp_path / "long")
    assert not (tmp_path / "long").exists()
    monkeypatch.setattr(checker.core.traces.itf, "MAX_CELLS", 10)
    assert_unreadable(DOCUMENT, tmp_path, "variables: valid are up to 10")


@pytest.mark.slow
@settings(max_examples=5, deadline=None)
@given(st.data())
def test_no_mutilated_file_raises_anything_else(tmp_path_factory, data):
    """Replace any part of a trace by any small JSON value: it is read, unreadable, or rejected."""
    path, _ = data.draw(st.sampled_from(PLACES))
    value = data.draw(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["#set", "#map", "#bigint", "end", "x"]), inner)
            ),
            max_leaves=6,
        )
    )
    text = json.dumps(with_value(DOCUMENT, path, value) if path else value)
    file = tmp_path_factory.mktemp("mutilated") / "trace"
    file.write_text(text)
    try:
        trace = read_trace(file)
    except (UsageError, RejectedError) as error:
        assert "\n" not in str(error)
    else:
        assert trace.model.protocol is KIP279


PLACES = list(places(DOCUMENT))


# Files are replaced as a whole.


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "kept.itf.json"
    write_trace(GOLDEN, path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match=r"cannot write the trace .*: No space left on device"):
        write_trace(replace(GOLDEN, version="9"), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_one_clear_line(tmp_path):
    for path in (tmp_path / "none" / "trace", tmp_path, "nul\0byte"):
        with pytest.raises(UsageError, match="cannot write the trace"):
            write_trace(GOLDEN, path)
    assert list(tmp_path.iterdir()) == []
