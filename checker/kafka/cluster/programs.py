"""Kafka's own programs, of one release: where their classes are, and what they need to run."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from checker.kafka.releases.compile import compile_java
from checker.kafka.releases.jars import (
    Release,
    artifacts,
    at_least,
    kafka_artifact,
    release,
    versions,
)
from model.language.errors import UsageError

CONFIGURATION = Path(str(files("checker.kafka.cluster").joinpath("log4j2.xml")))
QUIET = "-Dlog4j2.level=ERROR"  # for a program that is not a node, and without the configuration
OURS = [
    Path(str(files("checker.kafka.cluster").joinpath(name)))
    for name in ("Clients.java", "Metrics.java", "Stalls.java")
]
SHARES = Path(str(files("checker.kafka.cluster").joinpath("ShareConsumers.java")))
SHARE_CONSUMERS_SINCE = "4.1.0"  # with acknowledgements that a setting makes explicit
TIER = Path(str(files("checker.kafka.cluster").joinpath("Tier.java")))
STORE = TIER.with_name("Store.java")
KAFKAS_STORE = "org.apache.kafka.server.log.remote.storage.LocalTieredStorage"

# Kafka moves its programs from core to modules of their own, by and by.
STORAGE_TOOL = ("kafka.tools.StorageTool", "org.apache.kafka.tools.StorageTool")
DUMP_LOG_SEGMENTS = ("kafka.tools.DumpLogSegments", "org.apache.kafka.tools.DumpLogSegments")
TOOLS_APART_SINCE = "4.2.0"  # the jar kafka-tools is asked for from here on


@dataclass(frozen=True)
class Programs:
    """What may be run of a release. `patch`: classes that nodes and clients take first."""

    release: Release
    patch: Path | None = None

    @cached_property
    def _jars(self) -> tuple[Path, ...]:
        version = self.release.version
        core = next(iter(self.release.libs.glob("log4j-core-*.jar")), None)
        log4j = core.stem.removeprefix("log4j-core-") if core else versions()["log4j"]["version"]
        group = "org.apache.logging.log4j"
        brought = [
            artifacts(
                f"log4j-{log4j}",
                [f"{group}:{name}:{log4j}" for name in ("log4j-slf4j-impl", "log4j-1.2-api")],
            )
        ]
        if at_least(version, TOOLS_APART_SINCE):
            tools = f"org.apache.kafka:kafka-tools:{version}"
            brought.append(artifacts(f"kafka-tools-{version}", [tools], alone=True))
        directories = (self.release.libs, *brought)
        return tuple(jar for directory in directories for jar in sorted(directory.glob("*.jar")))

    @cached_property
    def classpath(self) -> str:
        """Everything unmodified, as `java -cp` takes it."""
        return ":".join(map(str, self._jars))

    @cached_property
    def server(self) -> str:
        """The same with the patch, if there is one, before it."""
        return f"{self.patch}:{self.classpath}" if self.patch else self.classpath

    @cached_property
    def clients(self) -> str:
        """The same with our own programs, compiled for this release."""
        has_shares = at_least(self.release.version, SHARE_CONSUMERS_SINCE)
        ours = [*OURS, SHARES] if has_shares else OURS
        return f"{compile_java(self.release, ours)}:{self.server}"

    @cached_property
    def tiered(self) -> str:
        """That of a node with a remote store: Kafka's own tests have one, and ours is around it."""
        if not self.has_tests:
            return f"{compile_java(self.release, [TIER, STORE])}:{self.server}"
        version = self.release.version
        wanted = kafka_artifact(version, "test", module="kafka-storage")
        directory = artifacts(f"kafka-storage-{version}-test", [wanted], alone=True)
        store = ":".join(map(str, directory.glob("*.jar")))
        return f"{compile_java(self.release, [TIER])}:{self.server}:{store}"

    @property
    def has_tests(self) -> bool:
        """Whether tests of the release are published; the store of another release does not run."""
        return self.release.version not in versions()["kafka"]["without_tests"]

    @property
    def store(self) -> str:
        """The class of the remote store: that of Kafka's tests, or ours where there are none."""
        return KAFKAS_STORE if self.has_tests else STORE.stem

    @cached_property
    def storage_tool(self) -> str:
        """The class that formats log directories."""
        return self._first(STORAGE_TOOL)

    @cached_property
    def dump_log_segments(self) -> str:
        """The class that shows the records of log segments."""
        return self._first(DUMP_LOG_SEGMENTS)

    def bring(self, *, has_tier: bool = False) -> None:
        """Download and compile what is not here yet, before anything is started."""
        _ = self.clients, self.storage_tool, self.dump_log_segments
        if has_tier:
            _ = self.tiered

    def _first(self, names: tuple[str, ...]) -> str:
        for name in names:
            entry = name.replace(".", "/") + ".class"
            for jar in self._jars:
                with zipfile.ZipFile(jar) as archive:
                    if entry in archive.NameToInfo:
                        return name
        raise UsageError(f"Kafka {self.release.version} has no {' nor '.join(names)}")


def programs(version: str, patch: Path | None = None, *, has_tier: bool = False) -> Programs:
    """The programs of a release, all of them brought. Raises `UsageError`."""
    found = Programs(release(version), patch)
    found.bring(has_tier=has_tier)
    return found
