"""The wheel: everything below one name, beside whatever folders a user has."""

import json
import os
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

from checker.core.exits import Exit
from checker.core.files import COUNTEREXAMPLES
from checker.lab.experiments.cases import read_cases
from checker.lab.experiments.scenarios import read_scenarios
from tests.support.extras import ASKED, link_what_all_need
from tests.support.scripts import script

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OWN = ("model", "properties", "checker")


def build_wheel():
    return script("build_wheel")


@pytest.fixture
def with_own_folders(tmp_path):
    """An empty folder but for packages of the names that the repository has at its top."""
    for name in OWN:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"raise RuntimeError('the own {name}')")
    return tmp_path


PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    built = tmp_path_factory.mktemp("built")
    subprocess.run([*PIP, "wheel", "--no-deps", "-w", built, ROOT], check=True)
    return next(built.glob("*.whl"))


def environment_of(wheel, tmp_path_factory):
    """A new environment with the wheel and nothing that it needs, and its folder of packages."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home)
    (packages,) = home.glob("lib/python3*/site-packages")
    subprocess.run([*PIP, "install", "--no-deps", "--target", packages, wheel], check=True)
    return home, packages


@pytest.mark.parametrize(
    ("line", "renamed"),
    [
        ("from model.language import Protocol", "from highwater.model.language import Protocol"),
        ("    from checker.core import exits", "    from highwater.checker.core import exits"),
        ("import model", "from highwater import model"),
        ("import checker.commands.cli as c", "from highwater.checker.commands import cli as c"),
        ("x = files('checker.kafka.releases')", "x = files('highwater.checker.kafka.releases')"),
        ("x.startswith('model.language.')", "x.startswith('highwater.model.language.')"),
        ("x = 'model'", "x = 'model'"),
        ("x = 'model.nowhere'", "x = 'model.nowhere'"),
        ("from models import checker", "from models import checker"),
        ("é = 1; from model import sources", "é = 1; from highwater.model import sources"),
    ],
)
def test_imports_and_names_of_modules_are_renamed(line, renamed):
    lines = ["if True:", line] if line.startswith(" ") else [line]
    assert build_wheel().renamed("\n".join(lines)).splitlines()[-1] == renamed


@pytest.mark.parametrize("line", ["import checker.commands.cli", "import os, model"])
def test_an_import_that_cannot_be_renamed_is_refused(line):
    with pytest.raises(ValueError, match="line 1"):
        build_wheel().renamed(line)


@pytest.mark.slow
def test_no_module_of_the_package_needs_what_is_beside_it(with_own_folders):
    build_wheel().write_package(with_own_folders / "highwater")
    script = (
        "import importlib, pkgutil, sys, highwater\n"
        "skipped = ('.__main__', '.Clients')\n"
        "for found in pkgutil.walk_packages(highwater.__path__, 'highwater.'):\n"
        "    if not found.name.endswith(skipped): importlib.import_module(found.name)\n"
        f"print([name for name in sys.modules if name.split('.')[0] in {OWN}])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(with_own_folders), "PYTHONSAFEPATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=with_own_folders, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


@pytest.mark.slow
def test_the_wheel_alone_searches_and_asks_for_each_extra_in_one_line(wheel, tmp_path_factory):
    home, packages = environment_of(wheel, tmp_path_factory)
    link_what_all_need(packages)
    empty = tmp_path_factory.mktemp("empty")
    environment = {**os.environ, "HIGHWATER_CACHE": str(home / "cache")}
    environment.pop("PYTHONPATH", None)

    def run(*arguments):
        return subprocess.run(
            [home / "bin" / "python", *arguments],
            cwd=empty, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert run("-m", "highwater", "explore", "kip101").returncode == Exit.VIOLATED
    for extra, line in ASKED:
        done = run("-m", "highwater", *line.split())
        assert (done.returncode, done.stdout) == (Exit.USAGE, ""), line
        (said,) = done.stderr.splitlines()
        assert said.endswith(f": pip install 'highwater-kafka[{extra}]'"), line
    done = run("-c", "import highwater.testing")
    assert done.stderr.splitlines()[-1] == (
        "ImportError: highwater.testing needs Hypothesis: pip install 'highwater-kafka[test]'"
    )
    assert [*empty.iterdir()] == []


@pytest.mark.slow
def test_the_wheel_does_what_the_repository_does(with_own_folders, wheel, tmp_path_factory):
    home, packages = environment_of(wheel, tmp_path_factory)
    # What Highwater needs is here already; its editable install is not, since that is a .pth file.
    (packages / "dependencies.pth").write_text(str(Path(pytest.__file__).parents[1]))

    def run(*arguments, status=0):
        environment = {**os.environ, "PYTHONPATH": str(with_own_folders)}
        done = subprocess.run(
            [home / "bin" / "python", *arguments],
            cwd=with_own_folders, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        return done.stdout

    highwater = ("-m", "highwater")
    assert run(*highwater, "--version") == f"highwater, version {PROJECT['version']}\n"
    paxos = with_own_folders / "paxos.py"
    paxos.write_text((ROOT / "docs" / "examples" / "paxos.py").read_text())
    asked = (*highwater, "explore", "paxos.py", "--json")
    assert json.loads(run(*asked))["distinct_states"] == 3_921
    run(*asked, "--engine", "spark", "--depth", "6")
    run(*highwater, "explore", "kip101", "--trace-dir", ".", status=12)
    run(*highwater, "replay", "kip101-weak_isr.itf.json")
    run(*highwater, "report", "kip101-weak_isr", "--format", "html", "-o", "page.html")
    story, *others = read_scenarios(COUNTEREXAMPLES / "scenarios")
    told = json.loads(run(*highwater, "scenario", story.name, "--json"))
    assert len(told["runs"]) == len(story.runs)
    there = packages / "highwater" / "counterexamples" / "scenarios"
    assert len(read_scenarios(there)) == len(others) + 1
    stored = read_cases(COUNTEREXAMPLES)
    assert len(json.loads(run(*highwater, "cases", "--json"))["cases"]) == len(stored)
    assert json.loads(run(*highwater, "matrix", "--stored", "--json"))["complete"]
    run(*highwater, "prove", "async_isr", "--unbounded")
    run(*highwater, "mutate", "paxos.py", "--acceptors", "2", "--quiet", status=22)
    run(*highwater, "reproduce")
    run("-c", "import highwater; assert highwater.explore('kip320', replicas=2)")
    marked = "import pytest\n@pytest.mark.highwater('{}')\ndef test_it(): pass\n"
    for name, status in (("paxos.py", 0), ("kip101", 1)):
        (with_own_folders / "test_it.py").write_text(marked.format(name))
        shown = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py", status=status)
        assert ("is violated after 10 steps" in shown) == bool(status)
    run("-m", "mypy", "--strict", "paxos.py")
    assert (packages / "highwater" / "py.typed").is_file()
