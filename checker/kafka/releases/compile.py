"""Java and Scala compiled against a release's own jars, once for the same sources."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from checker.kafka.releases.cache import kept
from checker.kafka.releases.jars import Release, artifacts
from checker.kafka.releases.jdk import WANTED, java, javac, run_tool


def compile_java(release: Release, sources: Sequence[Path], *, also: str = "") -> Path:
    """The directory of classes of these `.java` files; `also` is put before the release's jars.

    Raises `UsageError` with the compiler's first error.
    """

    def make(directory: Path) -> None:
        command = [
            *(javac(), "-nowarn", "-proc:none", "--release", str(WANTED)),
            *("-encoding", "UTF-8", "-cp", _joined(also, release.classpath)),
            *("-d", str(directory), *map(str, sources)),
        ]
        run_tool(command, f"javac against Kafka {release.version}")

    return kept(f"classes/{_digest('java', release, sources, also)}", make)


def compile_scala(release: Release, sources: Sequence[Path], *, also: str = "") -> Path:
    """The directory of classes of these `.scala` files, by the compiler that built the release.

    `also` is put before the release's jars. Raises `UsageError` with the compiler's first error.
    """

    def make(directory: Path) -> None:
        version = release.scala
        compiler = artifacts(f"scala-{version}", [f"org.scala-lang:scala-compiler:{version}"])
        command = [
            *(java(), "-Xmx1200m", "-Xss4m", "-XX:+UseSerialGC", "-cp", f"{compiler}/*"),
            *("scala.tools.nsc.Main", "-nowarn", "-release", str(WANTED)),
            *("-classpath", _joined(also, release.classpath)),
            *("-d", str(directory), *map(str, sources)),
        ]
        run_tool(command, f"the Scala compiler against Kafka {release.version}")

    return kept(f"classes/{_digest('scala', release, sources, also)}", make)


def compile_any(release: Release, sources: Sequence[Path], *, also: str = "") -> Path:
    """The same for sources of both languages, each compiled against the other as released."""
    compilers = {".java": compile_java, ".scala": compile_scala}
    made = [
        compilers[suffix](
            release, [source for source in sources if source.suffix == suffix], also=also
        )
        for suffix in sorted({source.suffix for source in sources})
    ]
    if len(made) == 1:
        return made[0]

    def make(directory: Path) -> None:
        for one in made:
            shutil.copytree(one, directory, dirs_exist_ok=True)

    return kept(f"classes/{_digest('both', release, sources, also)}", make)


def _joined(*paths: str) -> str:
    return ":".join(path for path in paths if path)


def _digest(language: str, release: Release, sources: Sequence[Path], also: str) -> str:
    """What the classes depend on; a path that was compiled itself has its own digest as name."""
    known = hashlib.sha256("\0".join((language, release.version, also)).encode())
    for source in sorted(sources):
        known.update(f"\0{source.name}\0".encode())
        known.update(source.read_bytes())
    return f"{release.version}-{known.hexdigest()[:24]}"
