"""A published release on this machine: Maven brings its jars on first use, and they are kept."""

from __future__ import annotations

import re
import tempfile
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from checker.kafka.releases.cache import kept
from checker.kafka.releases.jdk import maven, run_tool
from model.language.errors import unknown_name

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>highwater</groupId>
  <artifactId>jars</artifactId>
  <version>1</version>
  <dependencies>{dependencies}</dependencies>
</project>
"""
NOTHING_ELSE = (
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
)
"""What an artifact needs is not even looked for: some of it may not be there."""

TAGS = ("groupId", "artifactId", "version", "classifier")


@dataclass(frozen=True)
class Release:
    """A release of Kafka whose jars are in the directory `libs`."""

    version: str
    libs: Path

    @property
    def classpath(self) -> str:
        """All jars, as `java -cp` takes them; none is left to the order of a directory."""
        return ":".join(map(str, sorted(self.libs.glob("*.jar"))))

    @property
    def scala(self) -> str:
        """The version of Scala that it was compiled with, such as `2.13.16`."""
        (library,) = self.libs.glob("scala-library-*.jar")
        return library.stem.removeprefix("scala-library-")


@cache
def versions() -> dict[str, Any]:
    """What `versions.toml` says."""
    return tomllib.loads(
        files("checker.kafka.releases").joinpath("versions.toml").read_text("utf-8")
    )


def releases() -> tuple[str, ...]:
    """The releases that can be run, oldest first."""
    return tuple(versions()["kafka"]["releases"])


def newest(*, with_sources: bool = False) -> str:
    """The newest of them; of those whose sources are published, if fixes are to be laid on."""
    unpublished = versions()["kafka"]["without_sources"] if with_sources else ()
    return [version for version in releases() if version not in unpublished][-1]


def at_least(version: str, other: str) -> bool:
    """Whether a release is not older than another."""
    return _numbers(version) >= _numbers(other)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def release(version: str) -> Release:
    """A release by its version, brought if it is not here yet.

    Raises `UsageError` if there is no such release, or it could not be brought.
    """
    if version not in releases():
        raise unknown_name("release of Kafka", version, releases())
    return Release(version, artifacts(f"kafka-{version}", [kafka_artifact(version)]))


def kafka_artifact(version: str, classifier: str = "", *, module: str = "kafka") -> str:
    """The coordinates of a release's main jar or another module's, or of its sources or tests."""
    name = f"kafka_{versions()['kafka']['scala']}" if module == "kafka" else module
    return ":".join(filter(None, ("org.apache.kafka", name, version, classifier)))


def artifacts(name: str, coordinates: Iterable[str], *, alone: bool = False) -> Path:
    """The directory `name` of jars, by coordinates `group:artifact:version[:classifier]`.

    With all that they need to run, or with `alone` none of it. Raises `UsageError` if Maven is
    missing or cannot bring them.
    """
    wanted = tuple(coordinates)

    def bring(directory: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            pom = Path(scratch) / "pom.xml"
            dependencies = "".join(_dependency(each, alone) for each in wanted)
            pom.write_text(POM.format(dependencies=dependencies))
            plugin = f"maven-dependency-plugin:{versions()['maven']['dependency_plugin']}"
            command = [
                *(maven(), "--batch-mode", "--quiet", "--file", str(pom)),
                f"org.apache.maven.plugins:{plugin}:copy-dependencies",
                f"-DoutputDirectory={directory}",
                *([] if alone else ["-DincludeScope=runtime"]),
            ]
            run_tool(command, f"Maven could not bring {', '.join(wanted)}")

    return kept(f"jars/{name}", bring)


def mocks() -> str:
    """The class path of Mockito, whose stand-ins ask Kafka's own objects."""
    version = versions()["mockito"]["version"]
    found = artifacts(f"mockito-{version}", [f"org.mockito:mockito-core:{version}"])
    return ":".join(map(str, sorted(found.glob("*.jar"))))


def _dependency(coordinates: str, alone: bool) -> str:
    parts = zip(TAGS, coordinates.split(":"), strict=False)
    told = "".join(f"<{tag}>{text}</{tag}>" for tag, text in parts)
    return f"<dependency>{told}{NOTHING_ELSE if alone else ''}</dependency>"
