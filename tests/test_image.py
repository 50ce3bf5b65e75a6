"""The container image: what it is made of is there, and what it holds runs without being root."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.support.scripts import script

ROOT = Path(__file__).parent.parent
IMAGE = "highwater"
BASE = re.findall(r"(?m)^ARG BASE=(.*)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
TRUSTED = Path("/etc/ssl/certs/ca-certificates.crt")
"""Whom this machine trusts, where packages come through a proxy of its own."""


AGENT = """
import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters

async def ask():
    server = StdioServerParameters(command="highwater", args=["mcp", "--folder", "/work"])
    async with Client(server) as client:
        found = await client.call_tool("explore", {"protocol": "kip101"})
        print(found.structured_content["verdict"])

anyio.run(ask)
"""


def copied() -> list[str]:
    """What the Dockerfile takes from the tree."""
    steps = re.findall(r"(?m)^COPY (?!--from)(.*) \S+$", (ROOT / "Dockerfile").read_text())
    return [name for step in steps for name in step.split()]


def test_the_image_is_built_from_all_that_the_wheel_is_made_of():
    parts = {*copied()}
    assert [name for name in parts if not (ROOT / name).exists()] == []
    wheel, about = script("build_wheel"), tomllib.loads((ROOT / "pyproject.toml").read_text())
    files = {about["project"]["readme"], *about["project"].get("license-files", ["LICENSE"])}
    hook = about["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["path"]
    needed = {*wheel.PACKAGES, "counterexamples", "pyproject.toml", "constraints.txt", hook}
    assert needed | files <= parts
    taken = (ROOT / ".dockerignore").read_text(encoding="utf-8").split("\n!")[1:]
    assert {name.split("\n")[0] for name in taken} == parts


def run(*command: str, timeout: int = 600, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=timeout, **options
    )


@pytest.mark.parametrize(
    ("works", "base", "does"),
    [
        ({"docker": 0, "podman": 0}, "", "docker build --tag highwater ."),
        ({"docker": 1, "podman": 0, "buildah": 0}, "", "podman build --tag highwater ."),
        ({"docker": 1, "buildah": 1}, "mine:1",
         "buildah build --build-arg BASE=mine:1 --tag highwater ."),
        ({"docker": 1}, "", ""),
    ],
)  # fmt: skip
def test_the_first_builder_that_works_builds_the_image(tmp_path, works, base, does):
    (tmp_path / "dirname").symlink_to(shutil.which("dirname") or "")
    for name, status in works.items():
        info = f'[ "$1" != info ] || exit {status}'
        (tmp_path / name).write_text(f'#!/bin/sh\n{info}\necho {name} "$@"\n')
        (tmp_path / name).chmod(0o755)
    done = run(str(ROOT / "scripts" / "build-image"), env={"PATH": str(tmp_path), "BASE": base})
    assert done.stdout.strip() == does
    assert done.returncode == (0 if does else 1)
    assert done.stderr.count("\n") == (0 if does else 1)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The image to begin with; where no registry has it, Debian's packages make it."""
    if run("buildah", "pull", BASE[0]).returncode == 0:
        return BASE[0]
    if shutil.which("debootstrap") is None:
        pytest.skip(f"neither a registry nor debootstrap brings {BASE[0]}")
    release = BASE[0].partition(":")[2].removesuffix("-slim")
    root = tmp_path_factory.mktemp("base") / "root"
    done = run("debootstrap", "--variant=minbase", release, str(root))
    assert done.returncode == 0, done.stdout[-2000:]
    shutil.copy(TRUSTED, root / "etc" / "trusted.crt")  # packages write a file of that name
    container = run("buildah", "from", "scratch").stdout.strip()
    assert run("buildah", "add", container, str(root), "/").returncode == 0
    assert run("buildah", "config", "--env", "PIP_CERT=/etc/trusted.crt", container).returncode == 0
    name = "localhost/highwater-base"
    assert run("buildah", "commit", "--rm", container, name).returncode == 0
    return name


@pytest.fixture(scope="module")
def inside(base):
    """Run a command in a container of the image, built anew."""
    done = run(
        str(ROOT / "scripts" / "build-image"), timeout=1800, env={**os.environ, "BASE": base}
    )
    assert done.returncode == 0, done.stderr[-2000:]
    container = run("buildah", "from", f"localhost/{IMAGE}").stdout.strip()

    def ran(*command: str) -> subprocess.CompletedProcess[str]:
        return run("buildah", "run", "--isolation", "chroot", container, "--", *command)

    yield ran
    run("buildah", "rm", container)


@pytest.mark.nightly("a whole environment is installed, with Java and Spark: minutes")
@pytest.mark.skipif(shutil.which("buildah") is None, reason="buildah builds the image")
def test_the_image_searches_asks_answers_agents_and_runs_spark_without_being_root(inside):
    assert inside("id", "-un").stdout.strip() == "highwater"
    found = inside("highwater", "explore", "kip101", "--json")
    assert found.returncode == 12 and json.loads(found.stdout)["distinct_states"] == 113_224
    asked = inside("highwater", "ask", "--kafka", "4.1", "--replicas", "3", "--crashes", "1",
                   "--json")  # fmt: skip
    assert asked.returncode == 12, asked.stderr
    agent = inside("python", "-c", AGENT)
    assert agent.stdout.strip() == "violated", agent.stderr
    spark = inside("highwater", "explore", "kip320", "--engine", "spark", "--replicas", "2",
                   "--json")  # fmt: skip
    assert spark.returncode == 0, spark.stderr
    told = json.loads(spark.stdout)
    assert (told["engine"], told["verdict"]) == ("spark", "exhausted")
