"""Programs of a JDK, and Maven: found, or one line says what to install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache

from model.language.errors import UsageError

WANTED = 17  # brokers of Kafka 4 need it
SMALL = ("-XX:+UseSerialGC", "-Dfile.encoding=UTF-8")
"""What makes a JVM need little."""

BRIEF = (*SMALL, "-XX:TieredStopAtLevel=1")
"""What also makes one that lives for a minute start soon."""


def java() -> str:
    """The path of `java`, 17 or newer. Raises `UsageError` if there is none."""
    return _of_the_jdk("java")


def javac() -> str:
    """The path of `javac`, 17 or newer. Raises `UsageError` if there is none."""
    return _of_the_jdk("javac")


def maven() -> str:
    """The path of `mvn`. Raises `UsageError` if there is none."""
    found = shutil.which("mvn")
    if found is None:
        raise UsageError(
            "Kafka's jars are brought by Maven, and there is no mvn on the path: "
            "install it (Debian: apt-get install maven)"
        )
    return found


@cache
def _of_the_jdk(name: str) -> str:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(name, path=os.path.join(home, "bin") if home else None)
    where = f"JAVA_HOME={home}" if home else "the path"
    if found is None:
        version = "none"
    else:
        told = subprocess.run([found, "-version"], capture_output=True, text=True, check=False)
        match = re.search(r"(?:version \"|javac )(?:1\.)?(\d+)", told.stderr + told.stdout)
        version = match[1] if match else "unknown"
        if match and int(version) >= WANTED:
            return found
    raise UsageError(
        f"running Kafka needs {name} {WANTED} or newer, and {where} has {version}: "
        f"install a JDK (Debian: apt-get install openjdk-{WANTED}-jdk-headless)"
    )


def run_tool(command: Sequence[str], doing: str) -> None:
    """Run a compiler or Maven to its end, quietly.

    Raises `UsageError` with the first line that tells of an error, `doing` before it.
    """
    ended = subprocess.run(
        command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if ended.returncode == 0:
        return
    told = [line.strip() for line in (ended.stdout + ended.stderr).splitlines() if line.strip()]
    errors = [line for line in told if "error" in line.lower()] or told
    line = re.sub(r"\x1b\[[0-9;]*m", "", errors[0]) if errors else "it says nothing"
    raise UsageError(f"{doing}: {line} (exit status {ended.returncode})")
