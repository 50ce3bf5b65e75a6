"""Lanes: members with a log as reports show them.

A lane belongs to each member of a symmetric family that has a sequence. Role, epoch, HW and ISR are
read from attributes of the member, or of its parts, which the protocol names (`Protocol.telling`).
What is not there is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from checker.core.engines.reference import ReferenceEngine, State
from checker.telling.report.places import Entry, LogPlace, Owner, Place
from model.language import Model, Telling
from model.language.declare.schema import RecordSchema


@dataclass(frozen=True)
class Piece:
    """A piece of a log as it is drawn. `mark` tells the HW's bar from records and brackets."""

    text: str
    epoch: int | None = None
    mark: bool = False


@dataclass(frozen=True)
class Lane:
    """One broker in one state. A field is empty if the protocol does not have it."""

    name: str
    role: str
    epoch: str
    high_watermark: int | None
    end: int
    isr: str
    entries: tuple[Entry, ...]
    changed: bool = False
    voters: str = ""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The log as it is drawn: `[0:e1|1:e2]`, a bar at the HW, dots for missing records."""
        shown = [Piece(entry.text, entry.epoch) for entry in self.entries]
        shown += [Piece(".")] * ((self.high_watermark or 0) - len(shown))
        drawn = [Piece("[")]
        for offset in range(len(shown) + 1):
            if offset == self.high_watermark:
                drawn.append(Piece("|", mark=True))
            elif 0 < offset < len(shown):
                drawn.append(Piece(" "))
            drawn += shown[offset : offset + 1]
        return (*drawn, Piece("]"))

    @property
    def log(self) -> str:
        """The log as plain text."""
        return "".join(piece.text for piece in self.pieces)

    def line(self, widths: tuple[int, ...]) -> str:
        """The lane as one line, its columns padded to the given widths."""
        cells = [f"{text:<{width}}" for text, width in zip(self.columns, widths, strict=True)]
        return "  ".join([*(cell for cell in cells if cell), self.log])

    @property
    def columns(self) -> tuple[str, ...]:
        """Everything but the log, as labelled words; empty where there is nothing to say."""
        mark = f"HW {self.high_watermark}" if self.high_watermark is not None else ""
        return (
            self.name,
            self.role,
            f"e{self.epoch}" if self.epoch else "",
            mark,
            f"LEO {self.end}",
            f"ISR {self.isr}" if self.isr else "",
        )


def marked(before: tuple[Lane, ...], after: tuple[Lane, ...]) -> tuple[Lane, ...]:
    """The lanes `after` a step, those marked that differ from `before`."""
    return tuple(
        replace(new, changed=new != replace(old, changed=False))
        for old, new in zip(before, after, strict=True)
    )


def lanes_of(engine: ReferenceEngine, places: Iterable[Place], state: State) -> tuple[Lane, ...]:
    """The lane of each member of a family with a log, in a state."""
    logs: dict[Owner, LogPlace] = {}
    for place in places:
        if isinstance(place, LogPlace) and place.owner.has_log:
            logs.setdefault(place.owner, place)
    root = engine.view(state)
    return tuple(_lane(engine.model, root, owner, log, state) for owner, log in logs.items())


def _lane(model: Model, root: Any, owner: Owner, log: LogPlace, state: State) -> Lane:
    broker = getattr(root, owner.family)[owner.number]
    telling = model.protocol.telling
    epoch = find_attribute(broker, telling.epoch)
    isr = find_attribute(broker, telling.quorum)
    mark = find_attribute(broker, telling.mark)
    voters = find_attribute(broker, telling.voters)
    return Lane(
        owner.name,
        _role(telling, root, broker),
        "" if epoch is None else "-" if epoch < 0 else str(epoch),
        mark,
        state[log.end.position],
        "" if isr is None else str(isr).replace(" ", ""),
        log.entries(model, state),
        voters="" if voters is None or voters.is_empty else str(voters),
    )


def find_attribute(record: Any, name: str) -> Any:
    """The attribute called `name` of a record or of one of its parts; `None` if there is none."""
    if not name:
        return None
    if hasattr(record, name):
        return getattr(record, name)
    for inner, part in record._schema.fields.items():
        if (
            isinstance(part, RecordSchema)
            and (found := find_attribute(getattr(record, inner), name)) is not None
        ):
            return found
    return None


def _role(telling: Telling, root: Any, broker: Any) -> str:
    """What the broker believes: that it leads (rightly, or only presumed), or whom it follows."""
    if find_attribute(broker, telling.up) is False:
        return "down"
    leader = find_attribute(broker, telling.leader)
    leads = find_attribute(broker, telling.leads)
    if leads is True or (leads is None and leader is not None and leader == broker):
        return "leader" if _is_true_leader(telling, root, broker) else "presumed"
    if leader is not None:
        return f"follows {leader}"
    return "no leader" if leads is False else ""


def _is_true_leader(telling: Telling, root: Any, broker: Any) -> bool:
    """The part of the root that knows the leader, if there is one, agrees on leader and epoch."""
    name = name_of_truth(telling, root._schema)
    if name is None:
        return True
    truth = getattr(root, name)
    epoch = find_attribute(truth, telling.epoch)
    leads = getattr(truth, telling.leader) == broker
    return bool(leads and epoch == find_attribute(broker, telling.epoch))


def name_of_truth(telling: Telling, root: RecordSchema) -> str | None:
    """The part of the state that knows who leads; none if there is none."""
    parts = root.fields.items()
    return next(
        (
            n
            for n, part in parts
            if isinstance(part, RecordSchema) and telling.leader in part.fields
        ),
        None,
    )


def derives_mark(model: Model) -> bool:
    """The state derives the mark as a whole."""
    name = model.protocol.telling.mark
    return bool(name) and isinstance(getattr(model.schema.root.view_class, name, None), property)
