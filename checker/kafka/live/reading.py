"""Requests one after the other, each with a limit of time, and a note of what was not told and why.

kafka-python's client has limits for some of its waits and not for all: each request has a thread of
its own, which is left to itself when its time is over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from kafka import errors
from kafka.admin import KafkaAdminClient

from checker.kafka.live.snapshot import Unread

T = TypeVar("T")

NO_PERMISSION = "no permission"
_SILENT = "no response"
_ENDED = "no time was left (--max-seconds, or Ctrl-C)"
_LOOK = 0.1  # seconds between two looks whether Ctrl-C has ended all


@dataclass
class Reading:
    """One client, the limits of its requests, and what was not told."""

    client: KafkaAdminClient
    seconds: float
    left: Callable[[], float]
    tell: Callable[[str], None]
    unread: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def note(self, what: str, why: str, broker: int | None = None) -> None:
        """Something was not told; of brokers one line names all."""
        found = self.unread.setdefault((what, why), [])
        found += [] if broker is None else [broker]

    def ask(self, what: str, request: Callable[[], T], broker: int | None = None) -> T | None:
        """The response to a request; none, with a note, if there is no good one in time."""
        seconds = min(self.seconds, self.left())
        if seconds <= 0:
            self.note(what, _ENDED, broker)
            return None
        try:
            return within(seconds, request, self.left)
        except TimeoutError:
            self.note(what, f"{_SILENT} within {seconds:g} s", broker)
        except Exception as error:  # of the client's own too: the rest goes on
            self.note(what, why_not(error), broker)
        return None

    @property
    def told(self) -> tuple[Unread, ...]:
        """What was not told, in the order in which it was asked for."""
        return tuple(
            Unread(f"{what} of {_brokers(found)}" if found else what, why)
            for (what, why), found in self.unread.items()
        )


def within(seconds: float, request: Callable[[], T], left: Callable[[], float]) -> T:
    """What a request returns; `TimeoutError` if it takes longer, or nothing is left of all time.

    It is then left to itself.
    """
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(request())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    end = time.monotonic() + seconds
    while thread.is_alive() and time.monotonic() < end and left() > 0:
        thread.join(_LOOK)
    if failed:
        raise failed[0]
    if not found:
        raise TimeoutError
    return found[0]


def why_not(error: Exception) -> str:
    """Why a request failed, in a clause: without hosts and other names, as it is stored."""
    if isinstance(error, errors.AuthorizationError):
        return NO_PERMISSION
    if isinstance(error, errors.UnsupportedVersionError):
        return "this release does not answer that"
    if isinstance(error, errors.UnknownBrokerIdError | errors.NodeNotReadyError):
        return "it cannot be reached"
    if isinstance(error, errors.KafkaTimeoutError | errors.RequestTimedOutError):
        return f"{_SILENT} in time"
    return type(error).__name__


def _brokers(ids: Sequence[int]) -> str:
    return f"broker{'s' if len(ids) > 1 else ''} {', '.join(map(str, sorted(set(ids))))}"
