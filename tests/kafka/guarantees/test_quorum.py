"""What controllers can lose, as an operator asks about it."""

from pathlib import Path
from typing import Any

import pytest

from checker.api.asking import ask_controllers
from checker.kafka.guarantees.controllers import describe_controllers
from model.language.errors import UsageError

SMALL: dict[str, Any] = {"epochs": 2, "appends": 1, "log_size": 3, "max_seconds": 600}


@pytest.mark.slow
def test_a_single_controller_that_loses_power_loses_metadata_and_three_do_not():
    answer = ask_controllers("4.3.1", controllers=1, power_losses=1, **SMALL)
    assert [cell.column.name for cell in answer.lost] == ["committed metadata"]
    assert [change.words for change in answer.changes] == [
        "3 controllers", "the fix of finding 0023"
    ]  # fmt: skip
    assert "1. 3 controllers, machines and no setting" in str(answer) and answer.data()["lossy"]
    assert ask_controllers("4.3.1", controllers=3, crashes=1, **SMALL)


def test_a_file_says_how_many_voters_are_configured(tmp_path):
    file = tmp_path / "controller.properties"
    file.write_text("process.roles=controller\ncontroller.quorum.voters=1@a:1,2@b:1,3@c:1\n")
    quorum = describe_controllers("3.9", [file], {}, None)
    assert (quorum.nodes, quorum.settings) == (3, {"kraft.version": "0"})
    assert quorum.words == "Kafka 3.9, 3 controllers, configured voters (kraft.version 0)"


@pytest.mark.nightly("two minutes; case 110, a replaced disk that votes twice, is quick")
def test_a_disk_that_is_lost_is_another_voter_only_where_voters_are_in_the_log():
    static = {"kraft.version": "0"}
    answer = ask_controllers("3.9", controllers=3, settings=static, disk_losses=1, **SMALL)
    assert answer.lost[0].column.name == "committed metadata"
    assert "kraft.version=1" in [change.words for change in answer.changes]


@pytest.mark.parametrize(
    ("kafka", "text", "nodes", "settings", "words"),
    [
        ("2.7", "", 3, {}, "has no KRaft"),
        ("4.3", "", None, {}, "say how many controllers"),
        ("4.3", "", 8, {}, "valid are 1 to 7"),
        ("4.3", "controller.quorum.voters=1@a:1,2@b:1\n", 3, {}, "lists 2"),
        ("4.3", "", 3, {"acks": "all"}, "setting of kraft"),
        ("3.7", "", 3, {"kraft.version": "1"}, "3.9 is the first"),
    ],
)
def test_what_cannot_be_asked_is_refused(tmp_path, kafka, text, nodes, settings, words):
    files: list[Path] = []
    if text:
        files = [tmp_path / "controller.properties"]
        files[0].write_text(text)
    with pytest.raises(UsageError, match=words):
        describe_controllers(kafka, files, settings, nodes)
