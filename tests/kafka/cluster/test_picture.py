"""Schedules as pictures: every step is there, and who is up or leads is as the steps say."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from checker.commands.cli import highwater, run
from checker.core.exits import Exit
from checker.kafka.cluster.picture import CLIENTS, picture_of
from checker.kafka.cluster.schedule import Way, every_schedule, read_schedule, step_of
from checker.kafka.cluster.vocabulary import ACTS, CONDITIONS
from checker.telling.pictures.lanes import Mark, Passing, Standing
from tests.kafka.cluster.test_schedules import GOOD, example

SCHEDULES = every_schedule()
SVG = "{http://www.w3.org/2000/svg}"
both = pytest.mark.parametrize("control", [False, True], ids=["schedule", "control"])
each = pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"{s.finding}-{s.name}")


@pytest.fixture
def drawn(tmp_path):
    """The lanes of a schedule with these steps."""

    def of(*lines: str):
        file = tmp_path / "0009-own.toml"
        head, _, rest = GOOD.partition("steps = '''\n")
        file.write_text(
            f"{head}steps = '''\n"
            + "\n".join(lines)
            + f"\n- kill 0\n'''{rest.split(chr(39) * 3)[1]}"
        )
        return picture_of(read_schedule(file), False)

    return of


@each
@both
def test_a_picture_tells_each_step_in_its_words_and_marks_what_the_other_lacks(schedule, control):
    steps = schedule.steps(Way.CONTROL if control else Way.AS_IT_IS)
    picture = ElementTree.fromstring(picture_of(schedule, control).svg())
    rows = [g for g in picture.iter(f"{SVG}g") if g.get("class") == "row"]
    assert [row.get("data-words") for row in rows] == [step.words for step in steps]
    numbered = [f"{number}. {step.words}" for number, step in enumerate(steps, 1)]
    for row, words in zip(rows, numbered, strict=True):
        shown = "".join(row.itertext())
        assert words in shown
    described = picture.findtext(f"{SVG}desc") or ""
    assert all(f"{words}." in described for words in numbered)
    bands = [r for r in picture.findall(f"{SVG}rect") if r.get("class") == "band"]
    assert len(bands) == sum(step.marks_control for step in steps)
    key = "".join(
        t for g in picture.iter(f"{SVG}g") if g.get("class") == "key" for t in g.itertext()
    )
    assert (schedule.control in key) is bool(bands)


@each
@both
def test_every_step_stands_on_some_lane(schedule, control):
    lanes = picture_of(schedule, control)
    named = [f"controller {node}" for node in sorted(schedule.quorum.controllers)]
    controllers = ["controller"] if named == ["controller 100"] else named
    assert lanes.names == [
        CLIENTS, *controllers, *(f"broker {b}" for b in range(schedule.brokers)),
    ]  # fmt: skip
    for row in lanes.rows:
        assert row.marks or row.arrow
        touched = {name for name, _ in row.marks} | set(row.arrow[:2] if row.arrow else ())
        assert touched <= set(lanes.names)


@pytest.mark.parametrize("sentence", [*ACTS, *CONDITIONS], ids=lambda s: s.words)
def test_every_sentence_can_be_drawn(sentence):
    kind = "until " if sentence in CONDITIONS else ""
    own = replace(SCHEDULES[0], brokers=8, every_step=(step_of(kind + example(sentence)),))
    (row,) = picture_of(own).rows
    assert row.marks or row.arrow
    marks = {mark for _, mark in row.marks}
    assert marks <= ({Mark.WAIT} if kind else {Mark.ACT, Mark.GONE})


def test_who_is_down_and_who_leads_is_so_until_a_step_says_otherwise(drawn):
    lanes = drawn(
        "make topic t on 1, 0, 2", "kill 1", "until 2 leads t in epoch 1", "start 1",
        "make topic u on 0, 1, 2", "until t has no leader",
    )  # fmt: skip
    stands = [dict(zip(lanes.names, row.standing, strict=True)) for row in lanes.rows]
    leaders = [[n for n, s in stand.items() if s is Standing.LEADS] for stand in stands]
    down = [[n for n, s in stand.items() if s is Standing.DOWN] for stand in stands]
    assert leaders == [["broker 1"], [], ["broker 2"], ["broker 2"], ["broker 2"], [], []]
    assert down == [[], ["broker 1"], ["broker 1"], [], [], [], ["broker 0"]]


def test_arrows_go_from_who_sends_to_who_hears(drawn):
    lanes = drawn(
        "make topic t on 0, 1, 2", "hold the fetches of 2 from 0",
        "release the answers to 2 from 0",
        "delay the ISR changes of 0 by 7 ms", "until one of the metadata of 1 is held",
        "until 0 has noted 2 at 1 in t", "send x to t", "until x is acknowledged",
        "hold the heartbeats of consumer 1 to 2", "lose the heartbeats of consumer 1 to 2",
        "until one of the heartbeat answers to consumer 1 from 0 is held",
    )  # fmt: skip
    assert [row.arrow for row in lanes.rows[:-1]] == [
        (CLIENTS, "controller", Passing.PASSES),
        ("broker 2", "broker 0", Passing.STOPPED),
        ("broker 0", "broker 2", Passing.PASSES),
        ("broker 0", "controller", Passing.SLOW),
        ("controller", "broker 1", Passing.STOPPED),
        ("broker 2", "broker 0", Passing.PASSES),
        (CLIENTS, "broker 0", Passing.PASSES),
        ("broker 0", CLIENTS, Passing.PASSES),
        (CLIENTS, "broker 2", Passing.STOPPED),
        (CLIENTS, "broker 2", Passing.STOPPED),
        ("broker 0", CLIENTS, Passing.STOPPED),
    ]


def test_words_of_a_schedule_may_hold_anything():
    evil = '</text><script>alert(1)</script>&"\x1b'
    schedule = replace(SCHEDULES[0], title=evil, story=evil, control=evil)
    picture = picture_of(schedule).svg()
    assert "<script" not in picture
    assert "<script>" in "".join(ElementTree.fromstring(picture).itertext())


def test_the_command_writes_the_picture_and_plays_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("checker.kafka.cluster.play.Run", None)
    first, control = tmp_path / "a.svg", tmp_path / "b.svg"
    assert run(highwater, ["reproduce", "0001", "--picture", str(first)]) == Exit.OK
    asked = ["reproduce", "0001", "--control", "--schedule", "crash", "--picture", str(control)]
    assert run(highwater, asked) == Exit.OK
    (crash,) = (s for s in SCHEDULES if (s.finding, s.name) == ("0001", "crash"))
    assert first.read_text(encoding="utf-8") == picture_of(crash).svg()
    assert control.read_text(encoding="utf-8") == picture_of(crash, control=True).svg()
    assert run(highwater, ["reproduce", "--picture", str(first)]) == Exit.USAGE
    assert "goes with a FINDING" in capsys.readouterr().err
