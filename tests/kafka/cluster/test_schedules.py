"""Schedules: every file is whole, every sentence means one thing, and what is wrong is refused."""

import re

import pytest

from checker.kafka.cluster.frames import Frames
from checker.kafka.cluster.schedule import (
    FOLDER,
    Kind,
    Way,
    every_schedule,
    read_schedule,
    schedule_named,
    schedules_of,
    step_of,
    with_workaround,
)
from checker.kafka.cluster.steps import network, quorums
from checker.kafka.cluster.vocabulary import ACTS, CONDITIONS, FRAMES, KINDS, Reach
from model.language.errors import UsageError

SCHEDULES = every_schedule()
GOOD = """
title = "a title"
finding = "0009"
story = "a story"
control = "what is left out"
steps = '''
make topic t on 0, 1, 2      # a remark
- kill 0
+ until 0 has started within 7 s
promise t has a leader
'''
[settings]
"replica.lag.time.max.ms" = 10000
[features]
"eligible.leader.replicas.version" = 0
"""
EXAMPLES = {
    "number": "7", "numbers": "0, 1, 2", "name": "t", "value": "min.insync.replicas",
    "frames": "the fetches of 2 from 0", "text": '"some words"',
}  # fmt: skip


def example(sentence):
    """The sentence with something in its braces."""
    text = sentence.template
    for kind, words in EXAMPLES.items():
        while f":{kind}}}" in text:
            end = text.index(f":{kind}}}")
            text = text[: text.rindex("{", 0, end)] + words + text[end + len(kind) + 2 :]
    return text


def test_there_is_an_example_of_every_kind():
    assert EXAMPLES.keys() == KINDS.keys()


@pytest.mark.parametrize("sentences", [ACTS, CONDITIONS], ids=["acts", "conditions"])
def test_no_sentence_can_be_taken_for_another(sentences):
    assert len(sentences) > 10
    for sentence in sentences:
        text = example(sentence)
        assert [s.template for s in sentences if s.arguments(text) is not None] == [
            sentence.template
        ]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"{s.finding}-{s.name}")
def test_a_schedule_is_told_in_unambiguous_sentences(schedule):
    for step in schedule.every_step:
        sentences = CONDITIONS if step.kind else ACTS
        assert sum(s.arguments(step.text) is not None for s in sentences) == 1
        assert step.meaning.sentence.function.__doc__


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"{s.finding}-{s.name}")
def test_a_control_and_a_workaround_differ_in_marked_steps_only_and_in_few(schedule):
    unmarked = [step for step in schedule.every_step if not step.only]
    played = {way: schedule.steps(way) for way in Way}
    assert all([s for s in steps if not s.only] == unmarked for steps in played.values())
    assert played[Way.AS_IT_IS] != played[Way.CONTROL]
    assert (played[Way.AS_IT_IS] != played[Way.WORKAROUND]) is bool(schedule.workaround)
    assert sum(step.marks_control for step in schedule.every_step) <= 6 < len(unmarked)
    assert sum("w" in step.only for step in schedule.every_step) <= 6


@pytest.mark.parametrize("way", list(Way), ids=lambda way: way or "schedule")
@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"{s.finding}-{s.name}")
def test_what_is_released_was_held(schedule, way):
    held = set()
    for step in schedule.steps(way):
        template = step.meaning.sentence.template
        if template.startswith("hold "):
            assert step.meaning.arguments["frames"] not in held
            held.add(step.meaning.arguments["frames"])
        elif template.startswith(("release ", "lose ")):
            held.remove(step.meaning.arguments["frames"])


@pytest.mark.parametrize("way", list(Way), ids=lambda way: way or "schedule")
@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"{s.finding}-{s.name}")
def test_what_is_left_unread_is_read_again(schedule, way):
    unread = set()
    for step in schedule.steps(way):
        function = step.meaning.sentence.function
        if function is network.leave:
            unread.add(step.meaning.arguments["frames"])
        elif function is network.take:
            unread.remove(step.meaning.arguments["frames"])
    assert not unread


@pytest.mark.parametrize("way", list(Way), ids=lambda way: way or "schedule")
@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"{s.finding}-{s.name}")
def test_a_network_that_is_parted_is_made_whole_and_all_nodes_that_are_named_are_there(
    schedule, way
):
    apart: set[Frames] = set()
    nodes = {*schedule.quorum.controllers, *range(schedule.brokers)}
    for step in schedule.steps(way):
        given = step.meaning.arguments
        for key in ("nodes", "others", "brokers", "controllers", "voters", "replicas"):
            assert set(given.get(key, ())) <= nodes
        assert {given[key] for key in ("broker", "controller") if key in given} <= nodes
        if step.meaning.sentence.function is quorums.cut:
            pairs = set(quorums.between(**given))
            assert not apart & pairs
            apart |= pairs
        elif step.meaning.sentence.function is quorums.heal:
            pairs = set(quorums.between(**given))
            assert pairs <= apart
            apart -= pairs
    assert not apart


def test_a_schedule_as_it_is_read(tmp_path):
    path = tmp_path / "0009-story.toml"
    path.write_text(GOOD)
    schedule = read_schedule(path)
    assert (schedule.name, schedule.finding, schedule.brokers) == ("story", "0009", 3)
    assert schedule.quorum.controllers == (100,)
    assert schedule.settings == {"replica.lag.time.max.ms": "10000"}
    assert schedule.features == {"eligible.leader.replicas.version": 0}
    assert [s.words for s in schedule.steps()] == [
        "make topic t on 0, 1, 2", "kill 0", "promise t has a leader",
    ]  # fmt: skip
    assert [s.words for s in schedule.steps(Way.CONTROL)] == [
        "make topic t on 0, 1, 2", "until 0 has started", "promise t has a leader",
    ]  # fmt: skip
    assert [s.kind for s in schedule.every_step] == [
        Kind.ACT, Kind.ACT, Kind.UNTIL, Kind.PROMISE,
    ]  # fmt: skip
    assert schedule.steps(Way.CONTROL)[1].seconds == 7


def test_a_mark_says_in_which_runs_a_step_is_played(tmp_path):
    path = tmp_path / "0009-story.toml"
    more = "w+ start 1\nw- start 2\n-- pause 1\npromise"
    story = GOOD.replace("promise", more).replace("story =", 'workaround = "what is done"\nstory =')
    path.write_text(story)
    schedule = read_schedule(path)
    marked = {way: [s.words for s in schedule.steps(way) if s.only] for way in Way}
    assert marked == {
        Way.AS_IT_IS: ["kill 0", "start 2", "pause 1"],
        Way.CONTROL: ["until 0 has started", "start 2"],
        Way.WORKAROUND: ["kill 0", "start 1"],
    }


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("kill 0", "kil 0", "step line 2: 'kil 0' is no sentence of a schedule"),
        ("kill 0", "kill nobody", "write 'kill BROKER'"),
        ("kill 0", "hold the door", "'the door' are no frames: write the fetches of"),
        ("until 0 has started", "until 0 is happy", "write '"),
        ("until 0 has started", "until kill 0", "is no sentence"),
        ("- kill 0\n+ until", "until", "a control differs by at least one step"),
        ('control = "what is left out"', 'control = ""', "a control differs"),
        ("promise", "w+ promise", "a workaround differs by a step, marked w- or w+, and says"),
        ("finding", 'workaround = "what is done"\nfinding', "a workaround differs"),
        ('title = "a title"', "", "no 'title'"),
        ("[settings]", "controllers = [101, 101]\n[settings]", "are different node ids"),
        ("[settings]", "controllers = [2, 101]\n[settings]", "from 100 on, not 2, 101"),
        ("[settings]", "controllers = []\n[settings]", "one or several"),
        ("title", "tittle", "did you mean 'title'?"),
        ("[settings]", "[settings", "0009-story.toml"),
    ],
)
def test_a_schedule_that_is_not_well_formed_is_refused_in_one_line(tmp_path, old, new, words):
    path = tmp_path / "0009-story.toml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(UsageError) as refused:
        read_schedule(path)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_finding_is_found_by_its_page_and_by_the_catalogue():
    assert schedules_of("36") == schedules_of("0001") != schedules_of("0002")
    with pytest.raises(UsageError, match=r"no finding is called '0099'.*valid are 0001, 0002"):
        schedules_of("0099")
    with pytest.raises(UsageError, match=r"no schedule of 0001 is called 'crush'.*'crash'"):
        schedule_named("crush", schedules_of("0001"))
    assert schedule_named(None, schedules_of("0001")).name == "crash"
    assert with_workaround("election", schedules_of("0001")).name == "election"
    with pytest.raises(UsageError, match=r"no schedule of 0014 has a workaround: valid are 0001,"):
        with_workaround(None, schedules_of("0014"))


def test_files_are_named_after_their_findings():
    assert [path.stem for path in sorted(FOLDER.glob("*.toml"))] == [
        f"{schedule.finding}-{schedule.name}" for schedule in SCHEDULES
    ]


def test_all_frames_that_can_be_named_can_be_held():
    for template in FRAMES:
        places = re.findall(r"\{\w+\}", template)
        assert len(places) == len(set(places))
        text = template.format(**{place[1:-1]: number for number, place in enumerate(places)})
        assert step_of(f"hold {text}").meaning.arguments["frames"].words == text


@pytest.mark.parametrize(
    ("steps", "reach", "words"),
    [
        ("send x to t\nshut down 1\nuntil 1 has started", Reach.OPERATION, "ordinary operation"),
        ("kill 1\nsend 5 records a second from 2 producers to t", Reach.FAULT,
         "faults at chosen instants: a crash; load: many producers"),
        ("kill 1\nhold the metadata of 0\nkill 2", Reach.HELD,
         "held back by the test: a request; faults at chosen instants: a crash"),
    ],
)  # fmt: skip
def test_what_it_takes_to_show_it_is_told_by_its_acts_the_most_first(tmp_path, steps, reach, words):
    path = tmp_path / "0009-story.toml"
    without = GOOD.replace("+ until 0", "+ hold the metadata of 0\n+ until 0")
    path.write_text(without.replace("kill 0", steps.replace("\n", "\n- ")))
    schedule = read_schedule(path)
    assert (schedule.reach, schedule.shown_by) == (reach, words)
