"""What Kafka's classes say of a producer's batches, and do: a Java process, asked by lines.

Apart from the harness of the broker model: no broker runs.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from checker.kafka.releases.compile import compile_java
from checker.kafka.releases.jars import release
from checker.kafka.releases.jdk import BRIEF, java
from checker.kafka.releases.patch import patched_classes
from model.language.errors import UsageError


def answers(version: str, questions: Iterable[str]) -> list[str]:
    """The answer of a release's classes to each question; `ProducerRules.java` says what can be
    asked. `UsageError` if the process ends before it has answered all.
    """
    return asked(version, "producer/ProducerRules.java", questions)


def run_sender(version: str, commands: Iterable[str]) -> list[str]:
    """What a release's own producer and its broker's checks do, command by command, as
    `SenderRun.java` has them. `UsageError` if the process ends early.
    """
    return asked(version, "sender/SenderRun.java", commands, "sender/OwnSender.java")


def run_accumulator(version: str, runs: Iterable[str]) -> list[str]:
    """What a release's own accumulator does in each run; `AccumulatorRun.java` says what a run is.

    `UsageError` if the process ends before it has answered all.
    """
    besides = ("sender/OwnSender.java", "common/ManualClock.java")
    return asked(version, "sender/AccumulatorRun.java", runs, *besides)


def asked(
    version: str,
    program: str,
    questions: Iterable[str],
    *besides: str,
    fix: str = "",
    also: str = "",
) -> list[str]:
    """The lines that a program, a file below `java`, answers with a release's classes.

    `besides` are further files there that it needs, `also` a class path of other jars; `fix` is a
    finding's, laid on the classes.
    """
    chosen, lines = release(version), list(questions)
    folder = Path(str(files("checker.kafka.conformance").joinpath("java")))
    classes = compile_java(chosen, [folder / name for name in (program, *besides)], also=also)
    fixed = f"{patched_classes(chosen, fix)}:" if fix else ""
    paths = f"{classes}:{fixed}{f'{also}:' if also else ''}{chosen.classpath}"
    done = subprocess.run(
        [
            *(java(), *BRIEF, f"-Dlog4j.configuration=file:{folder / 'log4j.properties'}"),
            *("-cp", paths, f"highwater.{Path(program).stem}"),
        ],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    told = done.stdout.splitlines()
    if len(told) != len(lines):
        why = [line.strip() for line in done.stderr.splitlines() if "Exception" in line]
        raise UsageError(
            f"the Java process of Kafka {version} ended: {why[0] if why else 'no reason'}"
        )
    return told
