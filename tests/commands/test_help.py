"""Help answers at once, so it loads nothing heavy; and it names every command and option."""

import re

import pytest

from checker.commands.cli import COMMANDS, GROUPS, highwater
from checker.distribution import highwater_version
from model.language.declare.settings import describe
from model.protocols import PROTOCOLS

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


@pytest.mark.parametrize("arguments", [["--version"], ["explore", "--version"]])
def test_the_version_is_that_of_the_distribution(highwater, arguments):
    shown = highwater(*arguments)
    assert (shown.status, shown.out) == (0, f"highwater, version {highwater_version()}\n")
    assert highwater_version() != "unknown"


def test_help_says_how_a_shell_completes(highwater):
    assert "_HIGHWATER_COMPLETE=bash_source" in highwater("--help").out


def test_help_names_every_command_that_is_there_in_a_group(highwater):
    out = highwater("--help").out
    assert max(map(len, out.splitlines())) <= 80
    groups = {
        title.strip(): part for title, part in re.findall(r"^(\S.*):\n((?:  .*\n)+)", out, re.M)
    }
    assert list(groups) == ["Options", *GROUPS]
    for title, commands in GROUPS.items():
        assert re.findall(r"^  (\w+) ", groups[title], re.MULTILINE) == list(commands)
    assert highwater().out == out


def test_a_name_stands_in_one_group():
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command_names_its_options(highwater, name):
    out = highwater(name, "--help").out
    command = _command(name)
    assert max(map(len, out.splitlines())) <= 80
    for parameter in command.params:
        for option in parameter.opts:
            assert option in out or parameter.human_readable_name in out
    assert command.help.split(".")[0].split()[0] in out


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_help_of_a_protocol_shows_its_sizes_faults_and_settings_and_no_others(highwater, protocol):
    out = highwater("explore", protocol, "--help").out
    assert max(map(len, out.splitlines())) <= 80
    shown = set(re.findall(r"^  (--[a-z-]+) N ", out, re.MULTILINE))
    assert shown == {option(bound.name) for bound in PROTOCOLS[protocol].bounds}
    settings = describe(PROTOCOLS[protocol].settings)
    assert set(re.findall(r"^  ([a-z._]+)=", out, re.MULTILINE)) == set(settings)
    assert highwater("explore", "--help", protocol).out == out


def test_help_without_a_protocol_says_how_to_see_those_of_one(highwater):
    out = highwater("explore", "--help").out
    assert "--replicas" not in out
    assert "`explore PROTOCOL --help`" in out or "`highwater explore PROTOCOL --help`" in out
    assert all(name in out for name in PROTOCOLS)


def test_faults_stand_apart_from_sizes(highwater):
    out = highwater("explore", "kafka", "--help").out
    sizes, faults = out.split("Sizes of kafka:")[1].split("Faults and changes")
    assert "--log-size" in sizes
    assert "--crashes" in faults.split("\n\n")[0]


def test_an_option_that_is_not_there_is_told_in_one_line_with_what_is(highwater):
    for arguments in [("kip320", "--replcias", 2), ("--replcias", 2, "kip320")]:
        ended = highwater("explore", *arguments)
        assert (ended.status, ended.err.count("\n")) == (2, 1)
        assert "no option is called --replcias: did you mean --replicas?" in ended.err
        assert "bounds of kip320 are --replicas, --log-size, " in ended.err
        assert "--crashes" not in ended.err
    ended = highwater("explore", "kip320", "--crash", 1)
    assert "no option is called --crash: bounds of kip320 are" in ended.err  # not: --also


def option(bound):
    return f"--{bound.replace('_', '-')}"


def _command(name):
    import click

    return highwater.get_command(click.Context(highwater), name)
