"""The remote store of a cluster: what is in it, whom it refuses, and how it counts."""

import struct
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from checker.kafka.cluster import programs
from checker.kafka.cluster.clients import Clients
from checker.kafka.cluster.dumps import end_offset, segments
from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.places import Place
from checker.kafka.cluster.programs import Programs
from checker.kafka.cluster.schedule import step_of
from checker.kafka.cluster.tiers import STORE, Tier
from checker.kafka.cluster.verdict import Verdict, judge
from checker.kafka.releases.jars import Release
from tests.kafka.cluster.test_verdict import LOST


@pytest.fixture
def tier(tmp_path):
    found = Tier(tmp_path / "tier", "Store")
    for name in ("t-0-id/00000000000000000006-id.log", "t-0-id/00000000000000000000-id.log"):
        path = tmp_path / "tier" / STORE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "tier" / STORE / "t-other-0-id").mkdir()
    (tmp_path / "tier" / STORE / "t-other-0-id" / "00000000000000000000-id.log").touch()
    return found


def test_segments_of_the_store_are_dumped_under_kafkas_names(tier):
    linked = tier.linked("t")
    assert [path.name for path in linked] == [f"{n:020}.log" for n in (0, 6)]
    assert [path.read_text() for path in linked] == [p.read_text() for p in tier.segments("t")]
    assert len({path.parent for path in linked}) == 2  # two leaders may upload the same segment


def stage_of(tier, **disks):
    cluster = SimpleNamespace(tier=tier, log_dirs={0: tuple(disks.values())})
    return cast(
        Any, SimpleNamespace(cluster=cluster, topics={"t": 1}, partitions=lambda name: ("t", [0]))
    )


def test_steps_switch_the_store_and_see_what_it_has(tier, tmp_path):
    stage = stage_of(tier)
    for line, switched in (
        ("let the remote store refuse 2", {"refuse-2"}),
        ("let the remote store stall 1", {"refuse-2", "stall-1"}),
        ("let the remote store serve 2 again", {"stall-1"}),
        ("let the remote store serve 2 again", {"stall-1"}),
        ("let the remote store take what 1 copies", set()),
        ("let the remote store take what 1 copies", set()),
    ):
        step_of(line).meaning.apply(stage)
        assert {path.name for path in (tmp_path / "tier").glob("*-[0-9]")} == switched
    assert step_of("until the remote store has 2 segments of t").meaning.apply(stage)()
    assert not step_of("until the remote store has 3 segments of t").meaning.apply(stage)()
    with pytest.raises(UndecidedError, match="no remote store"):
        step_of("let the remote store refuse 2").meaning.apply(stage_of(None))


def test_where_a_consumer_is_refused_it_reads_nothing_until_a_later_one_does():
    told = [{"partition": 0, "offset": 0, "name": "a"}]
    refused = [{"partition": 0, "offset": 1, "refused": True}]
    asked = cast(Any, SimpleNamespace(refused={Place("u", 0, 5)}))
    asked.ask = lambda *_, **__: [*told, *refused]
    assert Clients.read(asked, "t", [0]) == {Place("t", 0, 0): "a"}
    assert asked.refused == {Place("u", 0, 5), Place("t", 0, 1)}
    asked.ask = lambda *_, **__: told
    assert Clients.read(asked, "t", [0]) == {Place("t", 0, 0): "a"}
    assert asked.refused == {Place("u", 0, 5)}


def test_a_consumer_gets_a_record_once_the_clients_say_so():
    answers = [False, True]
    stage = stage_of(None)
    stage.clients = SimpleNamespace(ask=lambda op, **asked: answers.pop(0) if op == "first" else [])
    words = "until a consumer that begins at the earliest offset of t gets a record"
    gets = step_of(words).meaning.apply(stage)
    assert [gets(), gets()] == [False, True]


def batch(base, last):
    return struct.pack(">qi11xi4x", base, 19, last)


def test_a_copy_ends_behind_its_last_whole_batch_and_is_moved_when_it_is_no_copy(tmp_path):
    whole = batch(0, 1) + batch(2, 0)
    for written, end in (
        (whole, 3),
        (whole + batch(3, 0)[:-1], 3),
        (whole + bytes(30), 3),
        (b"", None),
    ):
        assert end_offset(written) == end
    folder = tmp_path / "b" / "t-0.x-future"
    folder.mkdir(parents=True)
    (folder / "00000000000000000000.log").write_bytes(whole)
    stage = stage_of(None, a=tmp_path / "a", b=tmp_path / "b")
    ends = step_of("until the copy of t on 0 ends at 3").meaning.apply(stage)
    moved = step_of("until 0 has moved t").meaning.apply(stage)
    one = step_of("until 0 has 1 segments of t").meaning.apply(stage)
    assert ends() and not moved() and not one()
    folder.rename(tmp_path / "b" / "t-0")
    assert moved() and not ends() and one()
    assert len(segments(stage.cluster.log_dirs[0], "t")) == 1


def test_what_the_store_has_is_not_lost_and_what_it_has_not_is():
    assert (
        judge(replace(LOST, remote=frozenset({"x"}))).verdict is Verdict.NONE
    )  # a consumer reads less
    read = LOST.read | {"x"}
    assert judge(replace(LOST, remote=frozenset({"x"}), read=read)).verdict is Verdict.KEPT
    lost = judge(replace(LOST, remote=frozenset()))
    assert lost.verdict is Verdict.LOST and "nor in the remote store" in lost.words
    assert "remote" not in judge(LOST).words


def test_the_store_is_that_of_the_releases_own_tests_behind_all_else(tmp_path, monkeypatch):
    def bring(name, wanted, alone):
        assert (*wanted, alone) == ("org.apache.kafka:kafka-storage:3.9.1:test", True)
        (tmp_path / "store.jar").touch()
        return tmp_path

    monkeypatch.setattr(programs, "artifacts", bring)
    monkeypatch.setattr(
        programs, "compile_java", lambda release, sources: Path("+".join(s.stem for s in sources))
    )
    monkeypatch.setattr(Programs, "server", "kafka")
    found = Programs(Release("3.9.1", tmp_path))
    assert found.tiered.split(":") == ["Tier", "kafka", str(tmp_path / "store.jar")]
    assert found.store.endswith(".LocalTieredStorage")


def test_where_no_tests_are_published_the_store_is_ours(tmp_path, monkeypatch):
    monkeypatch.setattr(
        programs, "compile_java", lambda release, sources: Path("+".join(s.stem for s in sources))
    )
    monkeypatch.setattr(Programs, "server", "kafka")
    found = Programs(Release("4.4.0", tmp_path))
    assert (found.tiered, found.store) == ("Tier+Store:kafka", "Store")
