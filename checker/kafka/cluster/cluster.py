"""Controllers and brokers of one release, each a process with a proxy in front of it.

Every node listens on a port that the system chose, and says in its log which; all others know only
its proxy's. Nothing is configured but ports, sizes that spare memory, and what the schedule says.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from checker.kafka.cluster.dumps import dump, end_below, magic_of, segments
from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.news import News
from checker.kafka.cluster.observed import Node
from checker.kafka.cluster.processes import Process, Processes
from checker.kafka.cluster.programs import CONFIGURATION, Programs
from checker.kafka.cluster.proxy import HOST, Proxy
from checker.kafka.cluster.quorum import DECODED, METADATA_LOG, Quorum, directory_id, topic_names
from checker.kafka.cluster.tiers import Tier
from checker.kafka.releases.jars import at_least

CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
NODE = "{node}"  # in the value of a setting: the node's own number
HEAP, TOOL_HEAP = 300, 128  # MiB
START_LIMIT, STOP_LIMIT = 120.0, 90.0  # seconds
# Before, a controller may advertise nothing, and is known by the voters' addresses alone. From then
# on brokers reconnect to what it advertises, by default its own port, past the proxy.
CONTROLLERS_ADVERTISE_SINCE = "3.9.0"
DEFAULTS = {
    "num.network.threads": "2",
    "num.io.threads": "4",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "log.cleaner.io.buffer.size": "65536",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
}


class Records(NamedTuple):
    """Names of records in each broker's logs, in folders set aside, and in the remote store."""

    on_disk: dict[int, frozenset[str]]
    set_aside: frozenset[str]
    remote: frozenset[str] | None


class Cluster:
    """The nodes of one run. `nodes[n]` is what node n has said since it was started."""

    def __init__(
        self,
        programs: Programs,
        processes: Processes,
        proxy: Proxy,
        news: News,
        brokers: int,
        settings: Mapping[str, str],
        log_dirs: int = 1,
        features: Mapping[str, int] | None = None,
        options: Mapping[int, tuple[str, ...]] | None = None,
        quorum: Quorum | None = None,
        *,
        has_tier: bool = False,
    ) -> None:
        self.programs, self.processes, self.proxy, self.news = programs, processes, proxy, news
        self.brokers = tuple(range(brokers))
        self.quorum = quorum = quorum or Quorum()
        self.all_nodes = (*quorum.controllers, *self.brokers)
        self.tier = Tier(processes.directory / "tier", programs.store) if has_tier else None
        tiered = self.tier.settings(brokers) if self.tier else {}
        self.settings = {**DEFAULTS, **tiered, **settings}
        self.features = features or {}
        self._options = options or {}  # of the JVMs of nodes
        self.nodes = {node: Node() for node in self.all_nodes}
        self.log_dirs = {
            node: tuple(self.home(node) / f"disk-{n}" for n in range(log_dirs))
            for node in self.all_nodes
        }
        self._running: dict[int, Process] = {}
        self._paused: set[int] = set()
        self._leaving: set[int] = set()
        self.fronts = {node: proxy.front(node) for node in self.all_nodes}

    def home(self, node: int) -> Path:
        """The directory with all that belongs to a node."""
        return self.processes.directory / str(node)

    def address(self, node: int) -> str:
        """Where all others reach a node: its front."""
        return f"{HOST}:{self.fronts[node]}"

    def begin(self) -> None:
        """Format every node's disks, and start all; return when every broker has started."""
        for node in self.all_nodes:
            self.home(node).mkdir()
        self.format(self.all_nodes)
        self.start(self.all_nodes)

    # --- disks and configuration -----------------------------------------------------------------

    def configure(self, node: int) -> Path:
        """Write a node's configuration, as it is now; its path."""
        is_broker = node in self.brokers
        name, role = ("BROKER", "broker") if is_broker else ("CONTROLLER", "controller")
        own = {
            "node.id": str(node),
            "process.roles": role,
            "log.dirs": ",".join(map(str, self.log_dirs[node])),
            "listeners": f"{name}://{HOST}:0",
            **self.quorum.settings({each: self.address(each) for each in self.quorum.controllers}),
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,BROKER:PLAINTEXT",
        }
        version = self.programs.release.version
        if is_broker or at_least(version, CONTROLLERS_ADVERTISE_SINCE):
            own["advertised.listeners"] = f"{name}://{self.address(node)}"
        if is_broker:
            own["inter.broker.listener.name"] = name
        path = self.home(node) / "server.properties"
        lines = (f"{key}={value}\n" for key, value in {**own, **self.given(node)}.items())
        path.write_text("".join(lines), encoding="utf-8")
        return path

    def given(self, node: int) -> dict[str, str]:
        """The settings that are not of this node's place and ports, as it gets them."""
        return {key: value.replace(NODE, str(node)) for key, value in self.settings.items()}

    def format(self, nodes: Iterable[int], *options: str) -> None:
        """Format the disks of nodes with Kafka's own program, several at a time."""
        levels = chain.from_iterable(("--feature", f"{k}={v}") for k, v in self.features.items())
        given = (*levels, *options)
        formatting: dict[int, Process] = {}
        for node in nodes:
            arguments = [
                self.programs.storage_tool, "format", "-t", CLUSTER_ID,
                "-c", str(self.configure(node)), *given, *self.quorum.format_options(node),
            ]  # fmt: skip
            log = self.home(node) / "format.log"
            formatting[node] = self._java(arguments, log, lambda line: None, TOOL_HEAP)
        for node, process in formatting.items():
            if not self._has_ended(process):
                raise UndecidedError(f"the disks of node {node} were not formatted in time")
            self.processes.gone(process)
            for disk in self.log_dirs[node]:
                if not (disk / "meta.properties").is_file():
                    raise UndecidedError(f"the disks of node {node} could not be formatted")

    def _has_ended(self, process: Process) -> bool:
        """Wait until it has."""
        return bool(self.news.wait(lambda: process.has_ended, START_LIMIT))

    def lose_disks(self, node: int) -> None:
        """Replace the disks of a broker that is down by new ones, formatted."""
        for disk in self.log_dirs[node]:
            shutil.rmtree(disk)
        self.format([node])

    def disk_of(self, node: int, partition: str) -> Path:
        """The disk of a node on which a partition such as `t-0` is. `UndecidedError` if none is."""
        for disk in self.log_dirs[node]:
            if (disk / partition).is_dir():
                return disk
        raise UndecidedError(f"no disk of node {node} holds {partition}")

    def lose_unflushed(self, node: int, partition: str) -> None:
        """Empty the log's segments on a broker that is down, as a power loss may: none is flushed.

        Kafka leaves that to the operating system until a segment is full.
        """
        disk = self.disk_of(node, partition)
        for segment in (disk / partition).glob("*.log"):
            os.truncate(segment, 0)
        (disk / "recovery-point-offset-checkpoint").unlink(missing_ok=True)

    def lose_unflushed_metadata(self, node: int) -> None:
        """Cut off the batches of the metadata log that a node which is down has not flushed.

        Its log tells what it has flushed, over all its starts.
        """
        partition = f"{METADATA_LOG}-0"
        for segment in (self.disk_of(node, partition) / partition).glob("*.log"):
            os.truncate(segment, end_below(segment.read_bytes(), self.nodes[node].flushed))

    def spoil(self, node: int, partition: str, offset: int) -> None:
        """Turn a bit of the batch that begins at an offset, on the disk of one node, as disks do.

        It is the batch's magic byte: who reads the batch is told that it is corrupt.
        `UndecidedError` if no batch begins there.
        """
        for segment in (self.disk_of(node, partition) / partition).glob("*.log"):
            if (at := magic_of(segment.read_bytes(), offset)) is not None:
                with segment.open("r+b") as file:
                    file.seek(at)
                    (magic,) = file.read(1)
                    file.seek(at)
                    file.write(bytes([magic ^ 0x40]))
                return
        raise UndecidedError(f"no batch of {partition} begins at {offset} on node {node}")

    def fail_disk(self, node: int, disk: Path) -> None:
        """Have a disk fail under a broker that runs: a file is in its place from now on.

        What the broker holds open goes on; it finds out when it writes its next checkpoint.
        """
        if disk == self.log_dirs[node][0]:
            raise UndecidedError(f"node {node} has its metadata on that disk, and would end")
        gone = disk.rename(disk.with_suffix(".failed"))
        disk.touch()
        shutil.rmtree(gone)

    def failed_disk(self, node: int) -> Path:
        """The disk of a node that has failed. `UndecidedError` if none has."""
        for disk in self.log_dirs[node]:
            if disk.is_file():
                return disk
        raise UndecidedError(f"no disk of node {node} has failed")

    def lose_disk(self, node: int, disk: Path, is_replaced: bool) -> None:
        """Lose a disk of a broker that is down: a new one takes its place, or nothing does."""
        if disk.is_file():
            disk.unlink()
        else:
            shutil.rmtree(disk)
        if is_replaced:
            self.format([node], "--ignore-formatted")
        else:
            self.log_dirs[node] = tuple(each for each in self.log_dirs[node] if each != disk)

    # --- processes -------------------------------------------------------------------------------

    def launch(self, node: int) -> None:
        """Start a node's process, and do not wait for it. `UndecidedError` if it runs already."""
        if self.is_up(node):
            raise UndecidedError(f"node {node} runs already")
        said = self.nodes[node] = Node(flushed=self.nodes[node].flushed)

        def hear(line: str) -> None:
            before = said.port
            said.hear(line)
            if said.port != before:
                self.proxy.serve(node, said.port)

        arguments = [*self._options.get(node, ()), "kafka.Kafka", str(self.configure(node))]
        log = self.home(node) / "server.log"
        classpath = self.programs.tiered if self.tier else self.programs.server
        self._running[node] = self._java(arguments, log, hear, HEAP, classpath)

    def start(self, nodes: Iterable[int]) -> None:
        """Start nodes, and wait until each of them has started."""
        started = tuple(nodes)
        for node in started:
            self.launch(node)
        for node in started:
            self._wait_until_started(node)

    def make_whole(self) -> None:
        """Start every node that has not: what shuts down may do so first."""
        down = []
        for node in self.all_nodes:
            if node in self._leaving or not self.is_up(node):
                self.wait_until_down(node)
                down.append(node)
            else:
                self._wait_until_started(node)
        self.start(down)

    def shut_down(self, node: int) -> None:
        """Ask for a controlled shutdown, and do not wait for it."""
        self._process(node).send(signal.SIGTERM)
        self._leaving.add(node)

    def wait_until_down(self, node: int) -> None:
        """Wait for a process that was asked to shut down; end it if it does not come to that."""
        if process := self._running.get(node):
            self.news.wait(lambda: process.has_ended, STOP_LIMIT)
            self._forget(node)

    def kill(self, node: int) -> None:
        """End a process at once, as a crash does: what the system holds for its disk stays."""
        self._process(node)
        self._forget(node)

    def pause(self, node: int) -> None:
        """Stop a process for a while, as a long garbage collection would."""
        self._process(node).send(signal.SIGSTOP)
        self._paused.add(node)

    def resume(self, node: int) -> None:
        """Let it go on."""
        self._process(node).send(signal.SIGCONT)
        self._paused.discard(node)

    def resume_all(self) -> None:
        """Let all go on that were paused."""
        for node in tuple(self._paused):
            self.resume(node)

    def pid(self, node: int) -> int:
        """The process id of a node. `UndecidedError` if it does not run."""
        return self._process(node).pid

    def is_up(self, node: int) -> bool:
        """Whether its process runs."""
        return node in self._running and not self._running[node].has_ended

    def is_started(self, node: int) -> bool:
        """Whether its process runs and has started, and was not asked to shut down."""
        return self.is_up(node) and self.nodes[node].started and node not in self._leaving

    # --- evidence --------------------------------------------------------------------------------

    def stop(self) -> None:
        """End every node; what they wrote is on their disks."""
        for node in tuple(self._running):
            self._forget(node)

    def records(self, topics: Iterable[str]) -> Records:
        """The names of the topics' records, by where they are."""
        wanted = tuple(topics)
        logs = {broker: self._segments(broker, wanted, False) for broker in self.brokers}
        aside = [file for broker in self.brokers for file in self._segments(broker, wanted, True)]
        remote = [file for topic in wanted for file in self.tier.linked(topic)] if self.tier else []
        shown = dump(
            self.programs, self.processes, self.news,
            [*chain.from_iterable(logs.values()), *aside, *remote],
            self.processes.directory / "dump.txt",
        )  # fmt: skip

        def names(files: Iterable[Path]) -> frozenset[str]:
            return frozenset(chain.from_iterable(shown[file] for file in files))

        on_disk = {broker: names(files) for broker, files in logs.items()}
        return Records(on_disk, names(aside), names(remote) if self.tier else None)

    def made_topics(self) -> dict[int, frozenset[str]]:
        """By controller, the topics that the metadata log on its disk makes: `topic t`."""
        controllers = self.quorum.controllers
        logs = {node: segments(self.log_dirs[node], METADATA_LOG) for node in controllers}
        shown = dump(
            self.programs, self.processes, self.news, list(chain.from_iterable(logs.values())),
            self.processes.directory / "metadata.txt", (DECODED,),
        )  # fmt: skip
        return {
            node: topic_names(chain.from_iterable(shown[file] for file in files))
            for node, files in logs.items()
        }

    def directory_id(self, node: int) -> str:
        """The id of a node's first disk, by which a quorum knows a voter."""
        return directory_id(self.log_dirs[node][0])

    def _segments(self, broker: int, topics: Iterable[str], set_aside: bool) -> list[Path]:
        disks = self.log_dirs[broker]
        return [file for topic in topics for file in segments(disks, topic, set_aside)]

    def _process(self, node: int) -> Process:
        if not self.is_up(node):
            raise UndecidedError(f"node {node} does not run")
        return self._running[node]

    def _forget(self, node: int) -> None:
        self.proxy.serve(node, None)
        self._paused.discard(node)
        self._leaving.discard(node)
        self.processes.gone(self._running.pop(node))

    def _wait_until_started(self, node: int) -> None:
        process = self._running[node]
        self.news.wait(lambda: self.is_started(node) or process.has_ended, START_LIMIT)
        if not self.is_started(node):
            why = "it ended" if process.has_ended else f"not within {START_LIMIT:.0f} s"
            raise UndecidedError(f"node {node} did not start: {why}")

    def _java(
        self,
        arguments: list[str],
        log: Path,
        hear: Callable[[str], None],
        heap: int,
        classpath: str = "",
    ) -> Process:
        configuration = f"-Dlog4j2.configurationFile={CONFIGURATION}"
        return self.processes.start(
            classpath or self.programs.classpath, [configuration, *arguments], log, hear, heap
        )
