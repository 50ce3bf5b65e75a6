"""A register on a primary with backups: what is acknowledged outlives the primary.

The protocol of docs/writing_a_protocol.md, as it is at the end of that page.

    explore docs/examples/register.py
    explore docs/examples/register.py --set waits_for_backups=false
    highwater prove docs/examples/register.py --unbounded
"""

from __future__ import annotations

from dataclasses import dataclass

from highwater.claims import Templates, always, sometimes
from highwater.language import (
    Annotated,
    Bound,
    Entity,
    Members,
    Protocol,
    State,
    action,
    every,
    implies,
    integers,
    members,
    not_,
    require,
    setting,
    some,
)

SERVERS = Bound("servers", default=3, minimum=1, words="a primary and its backups")
WRITES = Bound("writes", default=2, minimum=1, words="writes at most")


@dataclass(frozen=True)
class Settings:
    waits_for_backups: bool = setting(True, "acknowledge what every live server has")


class Server(Entity):
    _label = "s"
    up: bool = True
    value: Annotated[int, integers(0, WRITES)] = 0


class Register(State):
    servers: Members[Server] = members(SERVERS)
    primary: Server | None = None
    acknowledged: Annotated[int, integers(0, WRITES)] = 0


@action("{server} becomes primary")
def promote(register: Register, server: Server) -> None:
    require(server.up, not_(some((register.primary == s) & s.up for s in register.servers)))
    register.primary = server


@action("{server} takes the next write")
def write(register: Register, server: Server) -> None:
    require(register.primary == server, server.up, server.value < register.bound(WRITES))
    server.value += 1


@action("{backup} copies {server}")
def copy(register: Register, server: Server, backup: Server) -> None:
    require(register.primary == server, server.up, backup.up, backup != server)
    backup.value = server.value


@action("{server} acknowledges its last write")
def acknowledge(register: Register, server: Server) -> None:
    require(register.primary == server, server.up, server.value > register.acknowledged)
    if register.settings.waits_for_backups:
        require(every(implies(s.up, s.value == server.value) for s in register.servers))
    register.acknowledged = server.value


@action("{server} dies")
def die(register: Register, server: Server) -> None:
    require(server.up)
    server.up = False


@always(
    "acknowledged_writes_survive",
    "the primary has every write that was acknowledged",
    failure="{s} leads with {s.value} writes, and {register.acknowledged} were acknowledged",
)
def acknowledged_writes_survive(register: Register) -> bool:
    return every(
        implies((register.primary == s) & s.up, s.value >= register.acknowledged)
        for s in register.servers
    )


@sometimes("all_is_acknowledged", "as many writes as there may be are acknowledged")
def all_is_acknowledged(register: Register) -> bool:
    return register.acknowledged == register.bound(WRITES)


@always("live_servers_are_complete", "every live server has every write that was acknowledged")
def live_servers_are_complete(register: Register) -> bool:
    return every(implies(s.up, s.value >= register.acknowledged) for s in register.servers)


REGISTER = Protocol(
    name="register",
    words="a primary with backups keeps a register",
    state=Register,
    actions=(promote, write, copy, acknowledge, die),
    bounds=(SERVERS, WRITES),
    settings=Settings,
    properties=(acknowledged_writes_survive, all_is_acknowledged),
    lemmas=(live_servers_are_complete,),
    templates=Templates(
        atoms={
            "s is up": lambda register, s: s.up,
            "s is primary": lambda register, s: register.primary == s,
            "s has every write": lambda register, s: s.value >= register.acknowledged,
        },
        places=lambda model: ((number,) for number in range(model.bounds["servers"])),
        at=lambda register, place: (register.servers[place[0]],),
    ),
)
