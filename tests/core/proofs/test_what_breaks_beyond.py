"""Protocols that hold up to the default sizes and break beyond: none is proved for all sizes.

A hut wakes, writes and crashes. What is claimed is true of three huts, logs of two and one crash,
and false of five huts, of a log of eight or of three crashes: whoever takes small sizes for all
would prove it.
"""

from __future__ import annotations

import itertools
from functools import partial

import pytest

from checker.core.proofs.proof import ProofOutcome
from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction
from checker.core.search.explore import Explorer
from checker.core.search.question import Options
from checker.core.verdict import Verdict
from model.language import (
    Annotated,
    Bound,
    Entity,
    Members,
    Protocol,
    State,
    action,
    all_of,
    any_of,
    every,
    implies,
    integers,
    members,
    not_,
    require,
    some,
)
from properties import Property
from tests.support.tiers import nightly

HUTS = Bound("huts", default=3, minimum=1, words="huts")
LOG_SIZE = Bound("log_size", default=2, minimum=1, words="what a hut may write")
CRASHES = Bound("crashes", default=1, minimum=0, words="crashes")


class Hut(Entity):
    """Where somebody wakes and writes."""

    up: bool = True
    awake: bool = False
    end: Annotated[int, integers(0, LOG_SIZE)] = 0


class Camp(State):
    """All huts, and how many crashes there were."""

    huts: Members[Hut] = members(HUTS)
    crashes: Annotated[int, integers(0, CRASHES)] = 0


# --- actions, in a few ways each --------------------------------------------------------------


@action("{hut} wakes")
def wake(camp: Camp, hut: Hut) -> None:
    """At any time."""
    require(all_of(hut.up, not_(hut.awake)))
    hut.awake = True


@action("{hut} wakes, as another is awake or none is")
def wake_in_turn(camp: Camp, hut: Hut) -> None:
    """From hut to hut."""
    first = every(not_(other.awake) for other in camp.huts)
    require(all_of(hut.up, not_(hut.awake)))
    require(any_of(first, some(all_of(other != hut, other.awake) for other in camp.huts)))
    hut.awake = True


@action("{hut} writes")
def write(camp: Camp, hut: Hut) -> None:
    """Whoever is up."""
    require(all_of(hut.up, hut.end < camp.bound("log_size")))
    hut.end = hut.end + 1


@action("{hut} writes, awake")
def write_awake(camp: Camp, hut: Hut) -> None:
    """Whoever is awake."""
    require(all_of(hut.awake, hut.end < camp.bound("log_size")))
    hut.end = hut.end + 1


@action("{hut} writes what nobody is ahead of")
def write_together(camp: Camp, hut: Hut) -> None:
    """Nobody gets more than one ahead."""
    require(all_of(hut.up, hut.end < camp.bound("log_size")))
    require(every(any_of(not_(other.up), hut.end <= other.end) for other in camp.huts))
    hut.end = hut.end + 1


@action("{hut} crashes")
def crash(camp: Camp, hut: Hut) -> None:
    """For good."""
    require(all_of(hut.up, camp.crashes < camp.bound("crashes")))
    hut.up = False
    hut.awake = False
    camp.crashes = camp.crashes + 1


@action("{hut} crashes and is up again")
def crash_and_restart(camp: Camp, hut: Hut) -> None:
    """It sleeps then."""
    require(camp.crashes < camp.bound("crashes"))
    hut.awake = False
    camp.crashes = camp.crashes + 1


WAYS = list(
    itertools.product(
        (wake, wake_in_turn), (write, write_awake, write_together), (crash, crash_and_restart)
    )
)


# --- claims, each with the sizes at which it breaks -------------------------------------------


def some_awake(camp, count, others=()):
    """So many different huts are awake, besides the others."""
    if count == 0:
        return True
    return some(
        all_of(
            hut.awake,
            *(hut != other for other in others),
            some_awake(camp, count - 1, (*others, hut)),
        )
        for hut in camp.huts
    )


def fewer_awake(count, camp):
    return not_(some_awake(camp, count))


def shorter(count, camp):
    return every(hut.end < count for hut in camp.huts)


def fewer_crashes(count, camp):
    return camp.crashes < count


def neither(crashes, end, camp):
    return not_(all_of(camp.crashes >= crashes, some(hut.end >= end for hut in camp.huts)))


CLAIMS = {
    **{f"fewer than {k} awake": (partial(fewer_awake, k), {"huts": k}) for k in (4, 5)},
    **{f"shorter than {k}": (partial(shorter, k), {"log_size": k}) for k in (3, 6, 8)},
    **{
        f"fewer than {k} crashes": (partial(fewer_crashes, k), {"huts": k, "crashes": k})
        for k in (2, 3)
    },
    "not two crashes and a log of five": (partial(neither, 2, 5), {"log_size": 5, "crashes": 2}),
    "not a crash and a log of eight": (partial(neither, 1, 8), {"log_size": 8, "crashes": 1}),
}
LEAST = {"huts": 2, "log_size": 1, "crashes": 0}
EVERY = [(name, way) for name in CLAIMS for way in range(len(WAYS))]
QUICK = EVERY[:: 2 * len(WAYS)]
LONG = [each for each in EVERY if each[0] == "fewer than 5 awake" and WAYS[each[1]][1] is not write]
"""How huts write is nothing to those that are awake, of whom five take longest."""
SLOW = [pytest.param(*each, marks=pytest.mark.slow) for each in EVERY if each not in QUICK + LONG]
FOR_THE_NIGHT = [nightly("five huts awake, that write in other ways", each) for each in LONG]


def camp_of(way):
    words = "huts that wake, write and crash"
    return Protocol("camp", words, Camp, WAYS[way], (HUTS, LOG_SIZE, CRASHES))


def for_all_sizes(protocol, claim):
    return UnboundedInduction(protocol.model(), [claim], (), 1.0, cross_check=False).run().outcome


def verdict(protocol, bounds, claim):
    model = protocol.model(bounds)
    return Explorer(model, [claim], None, Options(symmetry=True)).run().verdict_on(claim)


@pytest.mark.usefixtures("little_effort")
@pytest.mark.parametrize(("name", "way"), [*QUICK, *SLOW, *FOR_THE_NIGHT])
def test_what_breaks_beyond_the_default_sizes_is_not_proved_for_all(name, way):
    said, breaks_at = CLAIMS[name]
    protocol = camp_of(way)
    claim = Property("it", name, said)
    assert verdict(protocol, {}, claim) is Verdict.EXHAUSTED
    assert verdict(protocol, LEAST | breaks_at, claim) is Verdict.VIOLATED

    assert for_all_sizes(protocol, claim) is ProofOutcome.UNKNOWN


@pytest.mark.parametrize("way", range(len(WAYS)))
def test_what_holds_at_every_size_is_proved(way):
    up = Property("up", "", lambda camp: every(implies(hut.awake, hut.up) for hut in camp.huts))
    assert for_all_sizes(camp_of(way), up) is ProofOutcome.PROVED


def test_there_are_a_hundred_of_them():
    assert len(EVERY) >= 100
