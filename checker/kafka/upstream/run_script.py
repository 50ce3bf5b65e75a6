"""The script that runs a finding's unit tests on a published release, without and with its patch.

It stands alone: bash, a JDK, Maven and `patch` are enough, and it names the same artifacts as
`checker.kafka.releases` brings.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template

from checker.kafka.releases.fixtures import FIXTURES, junit
from checker.kafka.releases.jars import kafka_artifact, versions
from checker.kafka.releases.patch import Changed, Unit
from checker.kafka.upstream.tree import main_folder
from checker.kafka.upstream.unit_tests import UnitFile


def run_script(
    title: str, number: str, version: str, changed: Sequence[Changed],
    units: Mapping[str, Unit], tests: Sequence[UnitFile],
) -> str:  # fmt: skip
    """The text of `run.sh`. `units` are by the class's full name; `tests` are the files of them."""
    template = files("checker.kafka.upstream").joinpath("run.sh.template").read_text("utf-8")
    modules = dict.fromkeys(each.module for each in changed)
    fixtures = [kafka_artifact(version, "test", module=module) for module in FIXTURES]
    mockito = f"org.mockito:mockito-core:{versions()['mockito']['version']}"
    return Template(template).substitute(
        title=title,
        number=number,
        release=version,
        plugin=versions()["maven"]["dependency_plugin"],
        fails=sum(len(unit.fails) for unit in units.values()),
        tests=sum(len(unit.fails) + len(unit.passes) for unit in units.values()),
        kafka=kafka_artifact(version),
        fixtures=" ".join(fixtures),
        tools=f"{junit()} {mockito}",
        sources="\n".join(
            f"bring {m}-{version}-sources alone {kafka_artifact(version, 'sources', module=m)}"
            for m in modules
        ),
        unit=" ".join(shlex.quote(test.path) for test in tests),
        extract="\n".join(_extract(number, version, each) for each in changed),
        changed=" ".join(f"{main_folder(each.module, each.file)}/{each.file}" for each in changed),
        select=" ".join(f"--select-class {name}" for name in units),
    )


def _extract(number: str, version: str, changed: Changed) -> str:
    folder = f'"$work/{number}/source/{main_folder(changed.module, changed.file)}"'
    jar = f'"$work/jars/{changed.module}-{version}-sources"/*.jar'
    return f"mkdir -p {folder} && (cd {folder} && jar xf {jar} {changed.file})"
