"""Shells complete protocols, presets, settings and properties."""

import pytest
from click.shell_completion import ShellComplete

from checker.commands.cli import highwater as command
from model.protocols import PROTOCOLS
from tests.support.own import write_counter


def completed(*arguments, begun=""):
    shell = ShellComplete(command, {}, "highwater", "_HIGHWATER_COMPLETE")
    return [item.value for item in shell.get_completions(list(arguments), begun)]


@pytest.mark.parametrize(
    ("arguments", "begun", "found"),
    [
        (["explore"], "kip3", ["kip320_first_try", "kip320"]),
        (["list"], "as", ["async_isr"]),
        (["replay", "x", "--protocol"], "kip2", ["kip279"]),
        (["explore", "kip320", "--property"], "strong", ["strong_isr"]),
        (["explore", "kip320", "--property"], "records_c", ["records_commit"]),
        (["graph", "kip320", "--quotient"], "i", ["isr"]),
        (
            ["graph", "--quotient"],
            "controller.i",
            ["controller.isr", "controller.image_unread", "controller.index_left_over"],
        ),
        (["explore", "--preset"], "kafka-4.1", ["kafka-4.1"]),
        (["prove", "kip320", "--set"], "fence_f", ["fence_fetch=true", "fence_fetch=false"]),
        (["explore", "kip101", "--set"], "", []),
        (["explore", "nothere.py", "--property"], "", []),
    ],
)
def test_what_there_is_is_completed(arguments, begun, found):
    assert completed(*arguments, begun=begun) == found


def test_every_protocol_is_offered():
    assert completed("simulate") == list(PROTOCOLS)


def test_a_protocol_of_ones_own_completes_its_own(tmp_path):
    file = str(write_counter(tmp_path))
    assert completed("explore", file, "--property") == ["below_two", "somebody_counts"]
    assert completed("explore", file, begun="--cl") == ["--clerks"]
