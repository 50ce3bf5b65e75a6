"""Proxies on loopback between clients, brokers and controller: they hold whole frames, or are slow.

No byte is changed, and the order within each direction of a connection is kept. When one end closes
a connection, what is held of it is dropped, as by a dead link. A server that is not there, or not
yet, is a connection that closes at once. What is left unread stays with the server, but for what
the sockets' buffers take, as where a network or a client is slow.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Collection, Coroutine
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from checker.kafka.cluster.frames import (
    LARGEST,
    Frames,
    Head,
    Way,
    answer_correlation,
    request_head,
)
from checker.kafka.cluster.news import News

T = TypeVar("T")

HOST = "127.0.0.1"
ANSWER_LIMIT = 30.0  # seconds for the proxy's own thread to do as it is told
BUFFER = 65536  # bytes that a socket towards a server takes in: a follower's own, by default


class _Hold:
    """Frames that are held until they are let go, or lost with their connections."""

    def __init__(self) -> None:
        self.ended, self.is_lost = asyncio.Event(), False

    def end(self, is_lost: bool) -> None:
        """What is held of them goes on, or its connections close."""
        self.is_lost = is_lost
        self.ended.set()


class _Connection:
    """One connection: its two ends, and which API each request that is under way was for."""

    def __init__(self, server: int, up: asyncio.StreamWriter, down: asyncio.StreamWriter) -> None:
        self.server, self.client = server, ""
        self.writers = {Way.REQUEST: up, Way.ANSWER: down}
        self.asked: dict[int, int] = {}
        self.closed = asyncio.Event()
        self._is_read = True

    def read(self, unread: Collection[Frames]) -> None:
        """Take nothing from the server's socket while an answer under way is to be left unread."""
        awaited = [Head(self.server, self.client, api, Way.ANSWER) for api in self.asked.values()]
        is_read = not any(frames.match(head) for frames in unread for head in awaited)
        transport = self.writers[Way.REQUEST].transport
        assert isinstance(transport, asyncio.ReadTransport)
        if is_read != self._is_read and not transport.is_closing():
            self._is_read = is_read
            (transport.resume_reading if is_read else transport.pause_reading)()

    def head(self, way: Way, body: bytes) -> Head:
        """Whose frame this is, and of which API."""
        if way is Way.REQUEST:
            head, correlation = request_head(self.server, body)
            self.client = head.client
            self.asked[correlation] = head.api
            return head
        return Head(self.server, self.client, self.asked.pop(answer_correlation(body), -1), way)


class Proxy:
    """A front for each node, on a port of its own that stays; `serve` says what is behind it."""

    def __init__(self, news: News, log: Path) -> None:
        self._news = news
        self._log = log.open("a", encoding="utf-8", buffering=1)
        self._behind: dict[int, int] = {}
        self._holds: dict[Frames, _Hold] = {}
        self._unread: set[Frames] = set()
        self._connections: set[_Connection] = set()
        self._delays: dict[Frames, float] = {}
        self._held: Counter[Frames] = Counter()
        self._passed: Counter[Head] = Counter()
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()

    def front(self, server: int) -> int:
        """Open a node's front; its port."""
        return self._run(self._open(server))

    def serve(self, server: int, port: int | None) -> None:
        """What is behind a front from now on; `None`: nothing."""
        with self._news.change():
            if port is None:
                self._behind.pop(server, None)
            else:
                self._behind[server] = port

    def hold(self, frames: Frames) -> None:
        """Hold these frames, from the next one on."""
        self._held.pop(frames, None)
        self._tell(lambda: self._holds.setdefault(frames, _Hold()))
        self._note(f"hold {frames.words}")

    def release(self, frames: Frames) -> None:
        """Let them go, what is held first. `KeyError` if they are not held."""
        self._note(f"release {frames.words}")
        self._tell(lambda: self._holds.pop(frames).end(is_lost=False))

    def lose(self, frames: Frames) -> None:
        """Close the connections of what is held; later ones go. `KeyError` if they are not held."""
        self._note(f"lose {frames.words}")
        self._tell(lambda: self._holds.pop(frames).end(is_lost=True))

    def leave(self, frames: Frames) -> None:
        """Leave these answers unread, from the next one on; one that has begun as well."""
        self._note(f"leave {frames.words}")
        self._tell(lambda: self._read_all_but({*self._unread, frames}))

    def take(self, frames: Frames) -> None:
        """Read them again."""
        self._note(f"take {frames.words}")
        self._tell(lambda: self._read_all_but(self._unread - {frames}))

    def release_all(self) -> None:
        """Let everything go."""
        self._tell(lambda: self._read_all_but(set()))
        for frames in tuple(self._holds):
            self.release(frames)

    def delay(self, frames: Frames, seconds: float) -> None:
        """Let each of these frames wait so long, from now on."""
        self._tell(lambda: self._delays.__setitem__(frames, seconds))
        self._note(f"delay {frames.words} by {seconds} s")

    def held(self, frames: Frames) -> int:
        """How many frames have been held since these are."""
        return self._held[frames]

    def passed(self, frames: Frames) -> int:
        """How many of these frames have gone through, ever."""
        with self._news.change():
            return sum(n for head, n in self._passed.items() if frames.match(head))

    def close(self) -> None:
        """Close all fronts and connections, and end the thread."""
        if self._loop.is_closed():
            return
        self._run(self._shut())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(ANSWER_LIMIT)
        self._loop.close()
        self._log.close()

    # --- in the proxy's thread -------------------------------------------------------------------

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(ANSWER_LIMIT)

    def _tell(self, change: Callable[[], object]) -> None:
        async def work() -> None:
            change()

        self._run(work())

    def _note(self, words: str) -> None:
        with suppress(ValueError):  # closed
            self._log.write(f"[{datetime.now():%H:%M:%S.%f}] {words}\n")

    async def _open(self, server: int) -> int:
        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = self._loop.create_task(self._connect(server, reader, writer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            task.add_done_callback(lambda _: writer.close())  # also of one that never began
            if self._closing:
                task.cancel()

        opened = await asyncio.start_server(accept, HOST, 0)
        self._servers.append(opened)
        port: int = opened.sockets[0].getsockname()[1]
        return port

    async def _connect(
        self, server: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Carry frames both ways until one end closes, or the proxy does."""
        with suppress(OSError):
            port = self._behind.get(server)
            if port is None:
                return
            up_reader, up_writer = await _reach(port)
            connection = _Connection(server, up_writer, writer)
            self._connections.add(connection)
            work = [
                asyncio.ensure_future(task)
                for way, source in ((Way.REQUEST, reader), (Way.ANSWER, up_reader))
                for task in self._one_way(connection, way, source)
            ]
            try:
                await connection.closed.wait()
            finally:
                up_writer.close()  # first, since waiting may be cancelled once more
                self._connections.discard(connection)
                for task in work:
                    task.cancel()
                await asyncio.gather(*work, return_exceptions=True)

    def _one_way(
        self, connection: _Connection, way: Way, source: asyncio.StreamReader
    ) -> tuple[Coroutine[Any, Any, None], Coroutine[Any, Any, None]]:
        """Reading goes on while a frame is held, so that a close is noticed."""
        frames: asyncio.Queue[bytes] = asyncio.Queue()
        return self._read(connection, source, frames), self._write(connection, way, frames)

    async def _read(
        self, connection: _Connection, source: asyncio.StreamReader, frames: asyncio.Queue[bytes]
    ) -> None:
        try:
            while True:
                size = struct.unpack(">i", await source.readexactly(4))[0]
                if not 0 < size < LARGEST:
                    break
                frames.put_nowait(await source.readexactly(size))
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            connection.closed.set()

    async def _write(self, connection: _Connection, way: Way, frames: asyncio.Queue[bytes]) -> None:
        writer = connection.writers[way]
        try:
            while True:
                body = await frames.get()
                head = connection.head(way, body)
                await self._wait(head)
                if way is Way.REQUEST:
                    connection.read(self._unread)
                writer.write(struct.pack(">i", len(body)) + body)
                await writer.drain()
                with self._news.change():
                    self._passed[head] += 1
        except (OSError, ValueError):
            connection.closed.set()

    def _read_all_but(self, unread: set[Frames]) -> None:
        self._unread = unread
        for connection in self._connections:
            connection.read(unread)

    async def _wait(self, head: Head) -> None:
        first = True
        while holds := [(f, hold) for f, hold in self._holds.items() if f.match(head)]:
            frames, hold = holds[0]
            if first:
                first = False
                self._note(f"held {head}")
                with self._news.change():
                    self._held[frames] += 1
            await hold.ended.wait()
            if hold.is_lost:
                raise ConnectionAbortedError
        for frames, seconds in self._delays.items():
            if frames.match(head):
                await asyncio.sleep(seconds)

    async def _shut(self) -> None:
        self._closing = True
        for server in self._servers:
            server.close()
        for task in tuple(self._tasks):
            task.cancel()
        while others := asyncio.all_tasks() - {asyncio.current_task()}:  # some are being accepted
            await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0)  # what was told to close does


async def _reach(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to a server; its buffer is bounded, where the system would let it grow."""
    end = socket.socket()
    try:
        end.setblocking(False)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        await asyncio.get_running_loop().sock_connect(end, (HOST, port))
        return await asyncio.open_connection(sock=end)
    except BaseException:
        end.close()
        raise
