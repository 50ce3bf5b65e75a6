"""The proxy on real sockets: it changes nothing, holds what it is told to, and nothing else."""

import gc
import socket
import socketserver
import struct
import sys
import threading
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.kafka.cluster.frames import (
    Frames,
    Head,
    Way,
    answer_correlation,
    asked_of,
    fetches,
    heartbeat_answers,
    heartbeats,
    isr_changes,
    metadata,
    registrations,
    request_head,
    votes,
)
from checker.kafka.cluster.news import News
from checker.kafka.cluster.proxy import Proxy

LEADER = 0
SECONDS = 10.0
MOMENT = 0.15  # long enough for a frame to pass that is not held


def request(client, api, correlation, rest=b""):
    """A request's body: header 1, and whatever."""
    name = client.encode()
    return struct.pack(">hhih", api, 9, correlation, len(name)) + name + rest


def framed(body):
    return struct.pack(">i", len(body)) + body


def read_frame(stream):
    size = stream.read(4)
    if len(size) < 4:
        return None
    return stream.read(struct.unpack(">i", size)[0])


LARGE, LENGTH = 77, 4_000_000  # an API, and how long its answers are: longer than sockets take


class Broker(socketserver.ThreadingTCPServer):
    """Answers each request with its correlation id and its own text; notes what it got.

    `written` counts the answers that its sockets have taken.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self):
        self.got, self.written = [], 0
        super().__init__(("127.0.0.1", 0), Connection)


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        while body := read_frame(self.rfile):
            broker = cast(Broker, self.server)
            broker.got.append(body)
            is_large = struct.unpack(">h", body[:2])[0] == LARGE
            self.wfile.write(framed(body[4:8] + b"answer to " + body.ljust(is_large * LENGTH)))
            broker.written += 1


class Client:
    def __init__(self, port, name):
        self.name, self.socket = name, socket.create_connection(("127.0.0.1", port), SECONDS)
        self.stream = self.socket.makefile("rb")

    def send(self, api, correlation, rest=b""):
        body = request(self.name, api, correlation, rest)
        self.socket.sendall(framed(body))
        return body

    def answer(self):
        return read_frame(self.stream)

    def hears_nothing(self):
        self.socket.settimeout(MOMENT)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(SECONDS)
        return False

    def close(self):
        self.stream.close()
        self.socket.close()


@pytest.fixture
def news():
    return News()


@pytest.fixture
def broker():
    server = Broker()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def proxy(news, broker, tmp_path):
    proxy = Proxy(news, tmp_path / "proxy.log")
    yield proxy
    proxy.close()


@pytest.fixture
def connect(proxy, broker):
    front = proxy.front(LEADER)
    proxy.serve(LEADER, broker.server_address[1])
    clients = []

    def to_front(name):
        clients.append(Client(front, name))
        return clients[-1]

    yield to_front
    for client in clients:
        client.close()


def test_no_byte_is_changed_and_the_order_is_kept(connect, broker):
    client = connect("anybody")
    sent = [client.send(n % 70, n, bytes(range(n % 256)) * (n % 5)) for n in range(300)]
    assert [client.answer() for _ in sent] == [body[4:8] + b"answer to " + body for body in sent]
    assert broker.got == sent


def test_what_is_held_waits_and_what_is_not_passes(connect, broker, proxy, news):
    two, one = connect("broker-2-fetcher-0"), connect("broker-1-fetcher-0")
    held = fetches(2, LEADER)
    proxy.hold(held)
    first, second = two.send(1, 1), two.send(1, 2)
    assert news.wait(lambda: proxy.held(held), SECONDS) == 1
    passing = one.send(1, 7)
    assert one.answer() is not None
    assert two.hears_nothing()
    assert broker.got == [passing]
    proxy.release(held)
    assert two.answer() is not None
    assert two.answer() is not None
    assert broker.got == [passing, first, second]


def test_answers_are_held_by_the_api_of_their_requests(connect, proxy, news):
    client = connect("broker-2-fetcher-0")
    held = Frames("answers", LEADER, ".*", (LEADER, 1), frozenset({1}), Way.ANSWER)
    proxy.hold(held)
    client.send(3, 5)
    assert client.answer()[:4] == struct.pack(">i", 5)
    client.send(1, 6)
    assert news.wait(lambda: proxy.held(held), SECONDS) == 1
    assert client.hears_nothing()
    proxy.release(held)
    assert client.answer()[:4] == struct.pack(">i", 6)


def test_what_is_held_of_a_connection_that_closes_is_dropped(connect, broker, proxy, news):
    client, other = connect("broker-2-fetcher-0"), connect("another")
    held = fetches(2, LEADER)
    proxy.hold(held)
    client.send(1, 1)
    assert news.wait(lambda: proxy.held(held), SECONDS)
    client.close()
    other.send(3, 1)
    assert other.answer() is not None
    proxy.release(held)
    kept = other.send(3, 2)
    assert other.answer() is not None
    assert not news.wait(lambda: any(b"fetcher" in body for body in broker.got), 1)
    assert broker.got[-1] == kept


def test_what_is_lost_never_arrives_and_its_connection_closes_and_later_ones_pass(
    connect, broker, proxy, news
):
    client, other = connect("broker-2-fetcher-0"), connect("another")
    held = fetches(2, LEADER)
    proxy.hold(held)
    client.send(1, 1)
    assert news.wait(lambda: proxy.held(held), SECONDS)
    proxy.lose(held)
    assert client.answer() is None
    assert broker.got == []
    later = connect("broker-2-fetcher-0")
    sent = [later.send(1, 2), other.send(3, 1)]
    assert later.answer() is not None and other.answer() is not None
    assert sorted(broker.got) == sorted(sent)


def test_slow_frames_keep_their_order(connect, proxy, broker):
    client = connect("broker-1-fetcher-0")
    proxy.delay(fetches(1, LEADER), 0.02)
    sent = [client.send(1, n) for n in range(5)]
    assert all(client.answer() for _ in sent)
    assert broker.got == sent


def test_what_is_left_unread_stays_with_its_sender_and_is_whole_when_it_is_read(
    connect, proxy, broker, news
):
    two, one = connect("broker-2-fetcher-0"), connect("broker-1-fetcher-0")
    unread = Frames("answers", LEADER, "broker-2-.*", (LEADER, 2), frozenset({LARGE}), Way.ANSWER)
    proxy.leave(unread)
    two.send(3, 1)
    one.send(LARGE, 2)
    assert len(two.answer() or b"") < len(one.answer() or b"") > LENGTH
    assert news.wait(lambda: broker.written == 2, SECONDS)
    sent = two.send(LARGE, 3)
    assert not news.wait(lambda: broker.written > 2, 3 * MOMENT)
    assert broker.got[-1] == sent
    assert two.hears_nothing()
    proxy.take(unread)
    assert two.answer() == sent[4:8] + b"answer to " + sent.ljust(LENGTH)


def test_all_is_read_once_everything_is_let_go(connect, proxy, broker, news):
    client = connect("broker-2-fetcher-0")
    proxy.leave(Frames("answers", LEADER, ".*", (LEADER, 2), None, Way.ANSWER))
    client.send(LARGE, 1)
    assert not news.wait(lambda: broker.written, 3 * MOMENT)
    proxy.release_all()
    assert len(client.answer() or b"") > LENGTH


def test_passed_frames_are_counted_by_who_and_what(connect, proxy, news):
    client = connect("broker-1-fetcher-0")
    for number in range(3):
        client.send(1, number)
        assert client.answer()
    client.send(3, 9)
    assert client.answer()
    assert news.wait(lambda: proxy.passed(fetches(1, LEADER)) == 3, SECONDS)
    assert proxy.passed(fetches(2, LEADER)) == 0


def test_a_front_with_nothing_behind_closes_at_once(connect, proxy):
    proxy.serve(LEADER, None)
    client = connect("anybody")
    assert client.answer() is None


def test_a_size_that_is_no_frame_ends_the_connection(connect):
    client = connect("anybody")
    client.socket.sendall(b"GET / HTTP/1.1\r\n\r\n")
    assert client.answer() is None


def test_every_end_is_closed_whoever_ends_first(broker, news, tmp_path, monkeypatch):
    unclosed: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", unclosed.append)
    for number in range(150):
        proxy = Proxy(news, tmp_path / "proxy.log")
        front = proxy.front(LEADER)
        proxy.serve(LEADER, broker.server_address[1])
        clients = [Client(front, "anybody") for _ in range(3)]
        for client in clients:
            client.send(1, number)
            assert client.answer()
        for client in clients:
            client.close()
        proxy.close()
    gc.collect()
    assert unclosed == []


def test_holding_again_counts_anew(connect, proxy, news):
    client = connect("0")
    held = isr_changes(0)
    asked = Frames(held.words, LEADER, held.client, held.between, held.apis, held.way)
    proxy.hold(asked)
    client.send(56, 1)
    assert news.wait(lambda: proxy.held(asked), SECONDS) == 1
    proxy.release(asked)
    assert client.answer()
    proxy.hold(asked)
    assert proxy.held(asked) == 0


# --- heads ---------------------------------------------------------------------------------------


@given(st.integers(0, 100), st.integers(0, 2**31 - 1), st.text(max_size=40), st.binary(max_size=9))
def test_a_requests_head_is_read_whatever_follows(api, correlation, client, rest):
    head, number = request_head(5, request(client, api, correlation, rest))
    assert (head, number) == (Head(5, client, api, Way.REQUEST), correlation)


@given(st.integers(0, 12))
def test_a_request_that_ends_within_its_head_is_refused(length):
    with pytest.raises(ValueError, match="request"):
        request_head(0, request("abc", 1, 1)[:length])
    with pytest.raises(ValueError, match="answer"):
        answer_correlation(bytes(min(length, 3)))


def test_a_request_without_a_client_id_has_an_empty_one():
    head, _ = request_head(0, struct.pack(">hhih", 3, 9, 1, -1))
    assert head.client == ""


@pytest.mark.parametrize(
    "frames, head, is_one",
    [
        (fetches(2, 0), Head(0, "broker-2-fetcher-0", 1, Way.REQUEST), True),
        (fetches(2, 0), Head(0, "broker-2-fetcher-0", 1, Way.ANSWER), False),
        (fetches(2, 0), Head(1, "broker-2-fetcher-0", 1, Way.REQUEST), False),
        (fetches(2, 0), Head(0, "broker-22-fetcher-0", 1, Way.REQUEST), False),
        (metadata(0), Head(100, "raft-client-0", 1, Way.ANSWER), True),
        (metadata(0), Head(100, "0", 63, Way.REQUEST), False),  # a heartbeat
        (metadata(1), Head(100, "raft-client-10", 1, Way.ANSWER), False),
        (isr_changes(1), Head(100, "10", 56, Way.REQUEST), False),
        (isr_changes(0), Head(100, "0", 56, Way.REQUEST), True),
        (isr_changes(0), Head(100, "0", 63, Way.REQUEST), False),
        (heartbeats(1, 0), Head(0, "consumer-1", 68, Way.REQUEST), True),
        (heartbeats(1, 0), Head(0, "consumer-11", 68, Way.REQUEST), False),
        (heartbeats(1, 0), Head(0, "consumer-1", 1, Way.REQUEST), False),  # a fetch
        (heartbeats(1, 0), Head(0, "consumer-1", 68, Way.ANSWER), False),
        (heartbeat_answers(1, 0), Head(0, "consumer-1", 68, Way.ANSWER), True),
        (asked_of(101, 103), Head(103, "raft-client-101", 1, Way.ANSWER), True),
        (asked_of(0, 103), Head(103, "0", 63, Way.REQUEST), True),  # a heartbeat
        (asked_of(101, 103), Head(101, "raft-client-103", 1, Way.REQUEST), False),
        (asked_of(0, 103), Head(103, "adminclient-0", 1, Way.REQUEST), False),
        (registrations(102, 101), Head(101, "102", 70, Way.REQUEST), True),
        (registrations(102, 101), Head(101, "raft-client-102", 1, Way.REQUEST), False),  # a fetch
        (votes(101, 102), Head(102, "raft-client-101", 52, Way.REQUEST), True),
        (votes(101, 102), Head(102, "raft-client-101", 1, Way.REQUEST), False),  # a fetch
        (votes(101, 102), Head(101, "raft-client-102", 52, Way.REQUEST), False),
    ],
)
def test_frames_are_told_apart(frames, head, is_one):
    assert frames.match(head) is is_one
