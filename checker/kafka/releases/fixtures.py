"""What Kafka's own unit tests stand on, as published: its test classes, JUnit and Mockito."""

from __future__ import annotations

from checker.kafka.releases.jars import Release, artifacts, kafka_artifact, mocks, versions

_MODULES = ("clients", "server-common", "metadata", "storage", "raft")
FIXTURES = ("kafka", *(f"kafka-{module}" for module in _MODULES))
"""The modules whose test classes are brought."""


def junit() -> str:
    """The coordinates of JUnit with its launcher."""
    return f"org.junit.platform:junit-platform-console-standalone:{versions()['tests']['junit']}"


def fixtures(release: Release) -> str:
    """The class path of all that; brought on first use, `UsageError` if it cannot be."""
    tests = [kafka_artifact(release.version, "test", module=module) for module in FIXTURES]
    directories = (
        artifacts(f"kafka-{release.version}-fixtures", tests, alone=True),
        artifacts(f"junit-{versions()['tests']['junit']}", [junit()], alone=True),
    )
    jars = [str(jar) for path in directories for jar in sorted(path.glob("*.jar"))]
    return ":".join([*jars, mocks()])
