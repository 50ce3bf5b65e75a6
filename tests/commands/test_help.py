"""Help answers at once, so it loads nothing heavy; and it names every command and option."""

import re

import pytest

from checker.commands.cli import COMMANDS, highwater

HEAVY = {"numpy", "numba", "rich", "psutil", "pandas", "pyspark", "z3", "networkx", "jinja2"}
REPORT_LOADED = (
    "import sys; from checker.commands.cli import highwater, run;"
    "status = run(highwater, sys.argv[1:], name='highwater');"
    "print(*(sys.modules.keys() & {heavy}), file=sys.stderr); sys.exit(status)"
)


@pytest.mark.parametrize("arguments", [("--help",), ("explore", "--help"), ("list", "--json")])
def test_help_and_lists_load_nothing_heavy(finish, arguments):
    ended = finish(*arguments, entry=REPORT_LOADED.format(heavy=HEAVY))
    assert ended.status == 0
    assert ended.out
    assert ended.err.split() == []


def test_help_names_every_command_that_is_there(highwater):
    commands = highwater("--help").out.split("Commands:")[1]
    names = re.findall(r"^  (\w+) ", commands, re.MULTILINE)
    assert {"explore", "list", "replay", "report"} <= set(names) <= set(COMMANDS)
    assert highwater().out == highwater("--help").out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command_names_its_options(highwater, name):
    out = highwater(name, "--help").out
    command = _command(name)
    assert max(map(len, out.splitlines())) <= 80
    for parameter in command.params:
        for option in parameter.opts:
            assert option in out or parameter.human_readable_name in out
    assert command.help.split(".")[0].split()[0] in out


def _command(name):
    import click

    return highwater.get_command(click.Context(highwater), name)
