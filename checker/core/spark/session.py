"""Spark's session: the JVM found before anything starts, its log kept away from the terminal.

Settings are explained where they stand. What the user sets in `spark-defaults.conf`, or by `--conf`
in PYSPARK_SUBMIT_ARGS, holds, except for what results depend on.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import psutil

from checker.distribution import require
from model.language.errors import UsageError

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

T = TypeVar("T")

JAVA = 17

REQUIRED = {
    # Workers keep their visited sets between levels.
    "spark.python.worker.reuse": "true",
    "spark.ui.showConsoleProgress": "false",
}
PREFERRED = {
    "spark.app.name": "highwater",
    "spark.ui.enabled": "false",
    # The driver sees notes only, and a JVM passes parcels on; states are in the Python workers.
    "spark.driver.memory": "1g",
    "spark.executor.memory": "1g",
    # Packed states shrink by a third at little cost.
    "spark.io.compression.codec": "lz4",
    # A level takes seconds: do not wait for the perfect place to run a task.
    "spark.locality.wait": "0s",
    "spark.log.level": "WARN",
    # The JVM only schedules and moves parcels: quick compilation is enough, and starts sooner.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    # What a worker frees it soon needs again: to give it back and get it anew takes longer than
    # much of what is done with it.
    "spark.executorEnv.MALLOC_MMAP_MAX_": "0",
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(1 << 30),
    "spark.executorEnv.ARROW_DEFAULT_MEMORY_POOL": "system",
}


def require_java() -> None:
    """Raise `UsageError` unless PySpark is installed and a Java that it can use is found."""
    require("--engine spark needs PySpark", "pyspark")
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    where = f"JAVA_HOME={home}" if home else "PATH"
    found = _java_version(java)
    if found is None or found < JAVA:
        what = "none" if found is None else f"Java {found}"
        raise UsageError(
            f"--engine spark needs Java {JAVA} or newer, and there is {what} in {where}: install "
            "one, for example OpenJDK 21, and let JAVA_HOME name its directory"
        )


def _java_version(java: str) -> int | None:
    """The major version, which the first line gives as in `version "17.0.15"` or `"1.8.0_402"`."""
    if shutil.which(java) is None:
        return None
    try:
        answer = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    return int(match[1]) if match else None


def start_session(
    master: str, log: Path | None = None, extra: Mapping[str, str] | None = None
) -> SparkSession:
    """A session, with SQL, on `master`, or the one that runs; see `start_context`."""
    from pyspark.sql import SparkSession

    return SparkSession(start_context(master, log, extra))


def start_context(
    master: str, log: Path | None = None, extra: Mapping[str, str] | None = None,
    given_up: Callable[[], bool] = lambda: False,
) -> SparkContext:  # fmt: skip
    """Spark on `master`, or what of it runs. It starts in half the time that a session takes.

    Spark and its workers write to `log`, by default a file in the temporary directory. Once
    `given_up` says so, what has begun to run is ended: `KeyboardInterrupt`.
    """
    require_java()
    require_master(master)
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).disabled = True  # they write errors to the terminal, as JSON
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    path = log or Path(tempfile.gettempdir()) / f"highwater-spark-{os.getpid()}.log"
    from pyspark import SparkConf, SparkContext

    own = {**PREFERRED, **_places(master)}
    preferred = {name: value for name, value in own.items() if name not in _chosen_by_user()}
    settings = {**preferred, **REQUIRED, **(extra or {}), "spark.master": master}
    with _standard_error_to(path):
        try:
            conf = SparkConf().setAll(list(settings.items()))
            return _unless_given_up(lambda: SparkContext.getOrCreate(conf), given_up)
        except Exception as error:
            reason = failure_reason(error)
            raise UsageError(f"Spark does not start on {master}: {reason} (see {path})") from error


def _unless_given_up(start: Callable[[], T], given_up: Callable[[], bool]) -> T:
    """What `start` gives, called in a thread: it takes seconds, and Ctrl-C is not for it to take.

    If it is given up before that, the processes that it has begun are ended: `KeyboardInterrupt`.
    """
    before = set(psutil.Process().children(recursive=True))
    started: Future[T] = Future()

    def run() -> None:
        try:
            started.set_result(start())
        except BaseException as error:
            started.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        while not given_up():
            if wait([started], timeout=0.1).done:
                return started.result()
    except KeyboardInterrupt:
        pass
    for process in set(psutil.Process().children(recursive=True)) - before:
        with contextlib.suppress(psutil.Error):
            process.kill()
    raise KeyboardInterrupt


def _chosen_by_user() -> set[str]:
    """The settings in `spark-defaults.conf` and in PYSPARK_SUBMIT_ARGS."""
    arguments = os.environ.get("PYSPARK_SUBMIT_ARGS", "")
    chosen = set(re.findall(r"--conf[ =]+['\"]?([\w.]+)=", arguments))
    chosen |= {"spark.driver.memory"} if "--driver-memory" in arguments else set()
    home = os.environ.get("SPARK_HOME")
    directory = os.environ.get("SPARK_CONF_DIR") or (f"{home}/conf" if home else "")
    defaults = Path(directory, "spark-defaults.conf")
    if directory and defaults.is_file():
        lines = defaults.read_text(encoding="utf-8").splitlines()
        chosen |= {re.split(r"[\s=:]", line.strip(), maxsplit=1)[0] for line in lines}
    return chosen


def _places(master: str) -> dict[str, str]:
    """Where the driver listens: nowhere but here if all workers are here."""
    if master.startswith("local"):
        return {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return {}


MASTERS = "local, local[N], local-cluster[N,CORES,MB], spark://HOST:PORT, yarn, k8s://URL"


def require_master(master: str) -> None:
    """Raise `UsageError` for a URL that Spark does not know, or a standalone master that is away.

    Spark itself would try for a minute before it said so.
    """
    if not re.fullmatch(r"local(\[.+\])?|local-cluster\[.+\]|yarn|k8s://.+|spark://.+", master):
        raise UsageError(f"--master {master} is not a place where Spark runs: valid are {MASTERS}")
    match = re.fullmatch(r"spark://(?P<hosts>.+)", master)
    if match is None:
        return
    for place in match["hosts"].split(","):
        host, _, port = place.rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=5).close()
        except (OSError, ValueError):
            continue
        return
    raise UsageError(
        f"no Spark master answers at {master}: give the URL that its log or page shows, such as "
        "spark://host:7077"
    )


def failure_reason(error: Exception) -> str:
    """The line that says most of an error of Spark: the worker's own error if there is one."""
    java = getattr(error, "java_exception", None)
    lines = str(error if java is None else java).splitlines() or [type(error).__name__]
    telling = re.compile(r"^(Caused by: )?[\w.]*(Error|Exception)\b.*:")
    if any("Traceback" in line for line in lines):
        lines = [line for line in lines if re.match(r"^\w[\w.]*(Error|Exception)\b", line)][
            -1:
        ] or lines
    else:
        lines = [line for line in lines if telling.match(line)][-1:] or lines
    return lines[0].strip().removeprefix("Caused by: ")[:300]


@contextlib.contextmanager
def _standard_error_to(path: Path) -> Iterator[None]:
    """Point standard error at a file while the JVM starts, which keeps it for good."""
    sys.stderr.flush()
    kept = os.dup(2)
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.dup2(target, 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
        os.close(target)
