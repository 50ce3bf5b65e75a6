"""Playing a schedule once: its steps in order, the closing, and the verdict on what is left."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from checker.core.files import prepare_directory
from checker.kafka.cluster.clients import Clients
from checker.kafka.cluster.cluster import Cluster
from checker.kafka.cluster.errors import PromiseBrokenError, UndecidedError
from checker.kafka.cluster.evidence import gather
from checker.kafka.cluster.news import News
from checker.kafka.cluster.processes import Processes
from checker.kafka.cluster.programs import Programs
from checker.kafka.cluster.proxy import Proxy
from checker.kafka.cluster.schedule import Kind, Schedule, Step, Way
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.stalls import AGENT
from checker.kafka.cluster.verdict import Outcome, Verdict, judge
from checker.kafka.releases.jars import at_least

ASK_CONTROLLERS_SINCE = "3.7.0"  # KIP-919: clients that need no broker
Tell = Callable[[float, str], None]


@dataclass(frozen=True)
class Run:
    """One run of a schedule. `keep`: a directory for all that it leaves behind, or `None`."""

    schedule: Schedule
    way: Way
    programs: Programs
    keep: Path | None
    tell: Tell

    def play(self) -> Outcome:
        """Play it once. Whatever happens, every process has ended when this returns or raises."""
        started = time.monotonic()
        outcome = self._outcome(lambda words: self.tell(time.monotonic() - started, words))
        return replace(outcome, seconds=time.monotonic() - started)

    def _outcome(self, say: Callable[[str], None]) -> Outcome:
        news = News()
        with ExitStack() as stack:
            directory = self._directory()
            processes = stack.enter_context(Processes(directory, self.keep is not None, news))
            proxy = Proxy(news, directory / "proxy.log")
            stack.callback(proxy.close)
            try:
                kept = f", in {directory}" if self.keep is not None else ""
                say(f"{_nodes(self.schedule)} start{kept}")
                stage = self._stage(processes, proxy, news)
                self._take(self.schedule.steps(self.way), stage, say)
                say("everything goes on; all is read, then all disks are dumped")
                return judge(gather(stage))
            except PromiseBrokenError as broken:
                return Outcome(Verdict.STUCK, reason=f"not so: {broken}")
            except UndecidedError as why:
                return Outcome(Verdict.NONE, reason=str(why))

    def _directory(self) -> Path:
        if self.keep is None:
            return Path(tempfile.mkdtemp(prefix="highwater-")).resolve()
        prepare_directory(self.keep)
        stem = f"{self.schedule.finding}-{self.schedule.name}"
        name = f"{stem}-{self.way}-" if self.way else f"{stem}-"
        return Path(tempfile.mkdtemp(prefix=name, dir=self.keep)).resolve()

    def _stage(self, processes: Processes, proxy: Proxy, news: News) -> Stage:
        cluster = Cluster(
            self.programs, processes, proxy, news, self.schedule.brokers, self.schedule.settings,
            self.schedule.log_dirs, self.schedule.features,
            dict.fromkeys(self.schedule.stalled, (AGENT,)), self.schedule.quorum,
            has_tier=self.schedule.has_tier,
        )  # fmt: skip
        cluster.begin()
        servers = ",".join(map(cluster.address, cluster.brokers))
        direct = at_least(self.programs.release.version, ASK_CONTROLLERS_SINCE)
        quorum = ",".join(map(cluster.address, cluster.quorum.controllers)) if direct else ""
        clients = Clients(self.programs, processes, news, (servers, quorum))
        return Stage(cluster, proxy, clients, news)

    def _take(self, steps: Iterable[Step], stage: Stage, say: Callable[[str], None]) -> None:
        for step in steps:
            say(step.words)
            try:
                take(step, stage)
            except UndecidedError as why:
                raise UndecidedError(f"{step.words}: {why}") from None


def _nodes(schedule: Schedule) -> str:
    controllers, brokers = len(schedule.quorum.controllers), schedule.brokers
    return (
        f"{'a controller' if controllers == 1 else f'{controllers} controllers'} and "
        f"{'a broker' if brokers == 1 else f'{brokers} brokers'}"
    )


def take(step: Step, stage: Stage) -> None:
    """Do what a step says, or wait for it. Raises `UndecidedError` or `PromiseBrokenError`."""
    if step.kind is Kind.ACT:
        stage.mark()
        step.meaning.apply(stage)
        return
    test = step.meaning.apply(stage)
    if not stage.news.wait(test, step.seconds):
        late = f"not within {step.seconds:.0f} s"
        if step.kind is Kind.PERHAPS:
            return
        if step.kind is Kind.PROMISE:
            raise PromiseBrokenError(f"{step.text}, {late}{_told(stage, step)}")
        raise UndecidedError(late)


def _told(stage: Stage, step: Step) -> str:
    """What the brokers tell of the topic that a promise is about.

    `UndecidedError` if they do not answer: a cluster that is only slow is not stuck.
    """
    told = {topic: stage.clients.ask("describe", topic=topic) for topic in stage.topics}
    if (name := step.meaning.arguments.get("topic")) is None:
        return ""
    topic, numbers = stage.partitions(name)
    asked = [each for each in told[topic] if each["partition"] in numbers]
    words = [f"{topic}-{each['partition']}: {_words(each)}" for each in asked]
    if stage.clients.transactions.all:
        words += stage.open_transactions(name)
    return "".join(f"; {each}" for each in words)


def _words(partition: Mapping[str, Any]) -> str:
    def named(key: str) -> str:
        return ", ".join(map(str, partition[key])) or "none"

    return (
        f"leader {partition['leader']}, replicas {named('replicas')}, ISR {named('isr')}, "
        f"ELR {named('elr')}, last known {named('last_known_elr')}"
    )
