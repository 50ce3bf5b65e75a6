"""Who has to stay so that an expression says the same: counted, and tried on parts of states."""

from __future__ import annotations

import itertools

import pytest

from checker.core.proofs.cutoff.limited import limited
from checker.core.proofs.cutoff.need import RefusedError, Want
from checker.core.proofs.cutoff.witnesses import Witnesses
from model.language.lifted import Lifted
from tests.laws.generator import compiled
from tests.laws.part_laws import says_the_same
from tests.support.lab import model_of
from tests.support.parts import Parts
from tests.support.variants import random_states

MEMBERS = 4
FEW_DO = (
    "s.flag",
    "every(n.flag for n in s.nodes)",
    "some(n.flag for n in s.nodes)",
    "every(any_of(n.flag, o.x > n.x) for n in s.nodes for o in s.nodes)",
    "some(all_of(n.flag, some(o.x > n.x for o in s.nodes)) for n in s.nodes)",
    "all_of(some(n.flag for n in s.nodes), some(n.x == 3 for n in s.nodes))",
    "any_of(some(n.flag for n in s.nodes), some(n.x == 3 for n in s.nodes))",
    "s.flag == some(n.x == 3 for n in s.nodes)",
    "largest(n.x for n in s.nodes) > s.desk.m",
    "smallest(n.x for n in s.nodes) == 0",
    "largest(n.x for n in s.nodes) - smallest(n.x for n in s.nodes) > 1",
    "every(n.x <= largest(o.x for o in s.nodes) - 1 for n in s.group)",
    "s.group.is_empty",
    "s.group == s.nodes.where(lambda n: n.flag)",
    "s.group.includes(s.nodes.where(lambda n: n.x == 3))",
    "s.group.size >= 2",
    "s.group.size == 2",
    "count(n.flag for n in s.nodes) >= 2",
    "count(n.flag for n in s.nodes) < s.desk.m",
    "s.group.contains(s.chosen)",
    "s.chosen == s.desk.owner",
    "is_none(s.chosen)",
    "some(all_of(s.chosen == n, n.flag) for n in s.nodes)",
    "every(n.friend == s.chosen for n in s.nodes)",
    "every(n.group.contains(s.chosen) for n in s.nodes)",
    "every(some(w.votes[n] for n in s.nodes) for w in s.rows)",
    "some(every(w.votes[n] for n in s.nodes) for w in s.rows)",
    "every(some(all_of(w.votes[n], n.flag) for w in s.rows) for n in s.nodes)",
    "every(any_of(n.flag, some(w.votes[n] for w in s.rows)) for n in s.nodes)",
    "choose(some(n.flag for n in s.nodes), s.group.is_empty, some(n.x == 3 for n in s.nodes))",
    "every(choose(w.mark, some(n.flag for n in s.nodes), some(n.x == 3 for n in s.nodes))"
    " for w in s.rows)",
    'minimum(s.bound("nodes"), 2) > s.desk.m',
)
"""Claims, of which few members say whether they are true and whether they are false."""

REFUSED = {
    "some(o.x > n.x for o in s.nodes)": "every(some(o.x > n.x for o in s.nodes) for n in s.nodes)",
    "s.group": "is_majority(s.group, of=s.nodes.all())",
    "counts": "s.group.size + 1 >= count(n.flag for n in s.nodes)",
    "how many": 's.bound("nodes") - 1 > s.n',
    "n.group": "every(n.group != s.group for n in s.nodes)",
    "n.group size": "every(n.group.size >= 2 for n in s.nodes)",
}
"""Claims that are true of many members and of no few of them."""


def nothing(s):
    """A step that is none."""


def captured(words):
    model = model_of(nothing, nodes=MEMBERS, rows=2, size=1)
    claim = compiled(f"def claim(s):\n    return {words}", "claim")
    return model, Lifted.of(model).now(model.claim(claim))


@pytest.mark.parametrize("words", FEW_DO)
def test_so_many_say_so_whoever_else_stays(words):
    model, claim = captured(words)
    witnesses, parts = Witnesses(model, "nodes"), Parts(model, "nodes", {})
    for want, state in itertools.product((Want.UP, Want.DOWN), random_states(model, 12, 3)):
        count = witnesses.claim(claim, want, 0).count
        assert count < MEMBERS, "nothing is tried"
        assert says_the_same(parts, claim, want, count, state), f"{want}: {count}, {state}"


@pytest.mark.parametrize("words", REFUSED.values())
def test_what_no_few_say_is_refused(words):
    model, claim = captured(words)
    with pytest.raises(RefusedError):
        Witnesses(model, "nodes").claim(claim, Want.UP, 0)


def test_of_the_core_alone_it_needs_as_many_as_there_are_in_the_core():
    model, claim = captured(REFUSED["some(o.x > n.x for o in s.nodes)"])
    witnesses = Witnesses(model, "nodes")
    needs = [
        witnesses.claim(limited(claim, "nodes", core), Want.UP, 0, core).count for core in (1, 3)
    ]
    assert needs == [1, 3]


def test_what_two_claims_need_of_one_witness_is_one():
    model, claim = captured("some(n.flag for n in s.nodes)")
    need = Witnesses(model, "nodes").claim(claim, Want.UP, 0)
    later = Witnesses(model, "nodes").claim(claim, Want.UP, 1)
    assert (need + need).count == 1
    assert (need + later).count == 2, "at another time it may be somebody else"
