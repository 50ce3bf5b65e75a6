"""Generated protocols of a few members: small enough to visit all states of six, and not trivial.

Guards, effects and claims are drawn from lists, by a number that names the protocol. Many claims
are false, some hold of three members and of no more, some of any number.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from model.language import (
    Annotated,
    Bound,
    Entity,
    Members,
    Protocol,
    SetOf,
    State,
    everybody,
    integers,
    members,
)
from properties import Property
from tests.laws.generator import action_of, compiled

HUTS = Bound("huts", default=3, minimum=1, words="huts")


class Hut(Entity):
    """Where somebody wakes and climbs."""

    up: bool = True
    awake: bool = False
    end: Annotated[int, integers(0, 1)] = 0


class Camp(State):
    """All huts, who leads, and who is in the club."""

    huts: Members[Hut] = members(HUTS)
    leader: Hut | None = None
    club: SetOf[Hut] = everybody()
    crashes: Annotated[int, integers(0, 2)] = 0


_GUARDS = (
    "a.up",
    "not_(a.up)",
    "a.awake",
    "not_(a.awake)",
    "a.end == 1",
    "s.leader == a",
    "s.leader != a",
    "is_none(s.leader)",
    "not_(is_none(s.leader))",
    "s.club.contains(a)",
    "not_(s.club.contains(a))",
    "every(not_(o.awake) for o in s.huts)",
    "some(all_of(o != a, o.awake) for o in s.huts)",
    "every(any_of(o == a, not_(o.awake)) for o in s.huts)",
    "every(o.end >= a.end for o in s.huts)",
    "every(o.end == 1 for o in s.club)",
    "some(all_of(s.club.contains(o), o.up) for o in s.huts)",
    "some(all_of(s.leader == o, o.up) for o in s.huts)",
    "s.club.size >= 2",
    "s.club.size < 2",
    "count(o.awake for o in s.huts) < 2",
    "count(o.up for o in s.huts) >= 2",
    "s.club != s.huts.only(a)",
    "s.club.includes(s.huts.where(lambda o: o.awake))",
    "is_majority(s.club, of=s.huts.all())",
    "largest(o.end for o in s.huts) > smallest(o.end for o in s.huts)",
    "b != a",
    "b.up",
    "s.club.contains(b)",
    "b.end > a.end",
    "s.leader == b",
)
_EFFECTS = (
    "a.up = False",
    "a.up = True",
    "a.awake = True",
    "a.awake = False",
    "a.end = 1",
    "a.end = 0",
    "a.end = largest(o.end for o in s.huts)",
    "a.awake = s.leader == a",
    "s.leader = a",
    "s.leader = None",
    "s.leader = choose(s.leader == a, None, s.leader)",
    "s.club = s.club.with_member(a)",
    "s.club = s.club.without_member(a)",
    "s.club = s.huts.where(lambda o: o.up)",
    "s.club = choose(s.club.contains(a), s.club.without_member(a), s.huts.all())",
    "s.crashes = minimum(s.crashes + 1, 2)",
    "for o in s.huts: o.awake = False",
    "for o in s.huts: o.end = choose(o.awake, 1, o.end)",
    "a.end = b.end",
    "s.leader = b",
    "b.awake = True",
)
_CLAIMS = (
    "every(implies(h.awake, h.up) for h in s.huts)",
    "every(implies(h.awake, s.club.contains(h)) for h in s.huts)",
    "every(implies(h.awake, s.leader == h) for h in s.huts)",
    "every(implies(s.leader == h, h.awake) for h in s.huts)",
    "every(implies(s.leader == h, s.club.contains(h)) for h in s.huts)",
    "every(implies(s.club.contains(h), h.up) for h in s.huts)",
    "every(any_of(h == o, not_(h.awake), not_(o.awake)) for h in s.huts for o in s.huts)",
    "every(implies(s.leader == h, h.end >= o.end) for h in s.huts for o in s.huts)",
    "every(implies(s.leader == h, any_of(o == h, not_(o.awake))) for h in s.huts for o in s.huts)",
    "every(h.end == 0 for h in s.huts)",
    "count(h.awake for h in s.huts) < 3",
    "count(h.awake for h in s.huts) < 4",
    "count(not_(h.up) for h in s.huts) < 4",
    "count(h.end == 1 for h in s.huts) < 5",
    "s.club.size >= 1",
    "some(h.up for h in s.huts)",
    "any_of(s.crashes < 2, s.club == s.huts.all())",
    "any_of(is_none(s.leader), some(h.awake for h in s.huts))",
    "implies(s.club.is_empty, is_none(s.leader))",
    "is_majority(s.club, of=s.huts.all())",
)


@dataclass(frozen=True)
class Generated:
    """A protocol with claims that hold at first; `text` is how it reads."""

    protocol: Protocol
    claims: tuple[Property, ...]
    text: str


def camp(number: int) -> Generated:
    """The generated protocol of that number."""
    draw = random.Random(number)
    texts, actions = [], []
    for place in range(draw.randint(2, 4)):
        guards = draw.sample(_GUARDS, draw.randint(0, 2))
        effects = draw.sample(_EFFECTS, draw.randint(1, 2))
        lines = [*(f"require({guard})" for guard in guards), *effects]
        both = any(word in line for line in lines for word in ("b.", "(b", "= b", "b !="))
        parameters = {"a": Hut, "b": Hut} if both else {"a": Hut}
        body = "\n".join(f"    {line}" for line in lines)
        text = f"def act{place}({', '.join(['s', *parameters])}):\n{body}"
        texts.append(text)
        actions.append(action_of(text, f"act{place}", parameters))
    claims = []
    for place, words in enumerate(draw.sample(_CLAIMS, 4)):
        text = f"def claim{place}(s):\n    return {words}"
        texts.append(text)
        claims.append(Property(f"claim{place}", words, compiled(text, f"claim{place}")))
    protocol = Protocol("camp", "huts", Camp, tuple(actions), (HUTS,))
    return Generated(protocol, tuple(claims), "\n\n".join(texts))
