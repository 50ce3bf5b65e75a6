"""How many members have to stay so that an expression says the same without all the others.

Take some members away from a state: what is left is a smaller state, the *part*. An `every` that
was true stays true there, a `some` that was false stays false. For the other direction somebody has
to be kept, a *witness*: the one of whom `some` is true, of whom `every` is false, who has the
largest. A set that has so many members needs as many. What nobody in particular shows, as that some
are a majority, says something else of any part: that is refused, by the expression that says it.

A witness for each of all the members that a variable ranges over would be no bounded number, so
that such an expression is refused too. Numbers are thought of like truth values, false below true:
`UP` asks that the value in the part is no less, `DOWN` that it is no more.
"""

from __future__ import annotations

import itertools

from checker.core.proofs.cutoff.limited import OF_THE_CORE
from checker.core.proofs.cutoff.need import (
    NOBODY,
    Known,
    Need,
    RefusedError,
    Scope,
    Want,
    Witness,
    all_of,
    any_of,
)
from model.language import graph
from model.language.capture import Write
from model.language.graph import BOOL, Kind, Node, Op, Sort
from model.language.protocol import Model


class Witnesses:
    """The members of one family that expressions of a model need."""

    def __init__(self, model: Model, family: str) -> None:
        self.model = model
        self.family = family
        self.bound = model.schema.index_sets[family].size.bound
        self.least = 1  # members: a rule that compares their number with less says the same then
        self._names = itertools.count()

    def claim(self, node: Node, want: Want, time: object, core: int = 0) -> Need:
        """Who has to stay so that a claim, about the state at `time`, stays true (`UP`) or false.

        Of a `limited` claim the core has so many members. `RefusedError` where no bounded number of
        members does.
        """
        return self._need(node, want, Scope(time, core=core))

    def guard(self, node: Node, time: object) -> Need:
        """Who has to stay, besides an action's parameters, so that a guard stays true."""
        return self._need(node, Want.UP, Scope(time))

    def write(self, write: Write, time: object) -> Need:
        """Who has to stay, besides the parameters, so that whoever stays is left the same."""
        scope = Scope(time)
        for binder in write.binders:
            scope = scope.for_each(binder) if self._is_anyone(binder) else self._loop(binder, scope)
        parts = [self._need(write.when, Want.SAME, scope), self._same(write.value, scope)]
        parts += [self._index(node, scope) for node in write.index]
        return all_of(parts)

    # --- one expression ----------------------------------------------------------------------

    def _need(self, node: Node, want: Want, scope: Scope) -> Need:
        """Who has to stay for a truth value or number."""
        if want is Want.SAME and node.op not in _EXACT:
            both = [self._need(node, one, scope) for one in (Want.UP, Want.DOWN)]
            return self._one_of(node, both, scope) if node.sort is BOOL else all_of(both)
        match node.op:
            case Op.CONST | Op.VARIABLE:
                return NOBODY
            case Op.BOUND:
                if self._is_size(node):
                    raise RefusedError(node, "how many members there are")
                return NOBODY
            case Op.MIN | Op.LT | Op.LE | Op.EQ if any(map(self._is_size, node.args)):
                return self._with_size(node, want, scope)
            case Op.READ:
                return all_of(self._index(arg, scope) for arg in node.args)
            case Op.NOT:
                return self._need(node.args[0], want.turned, scope)
            case Op.AND | Op.OR | Op.MIN | Op.MAX:
                parts = [self._need(arg, want, scope) for arg in node.args]
                by_one = Want.DOWN if node.op in (Op.AND, Op.MIN) else Want.UP
                return self._one_of(node, parts, scope) if want is by_one else all_of(parts)
            case Op.ADD:
                return all_of(self._need(arg, want, scope) for arg in node.args)
            case Op.SUB:
                first, second = node.args
                return self._need(first, want, scope) + self._need(second, want.turned, scope)
            case Op.ITE:
                condition, *branches = node.args
                chosen = [self._need(branch, want, scope) for branch in branches]
                return self._need(condition, Want.SAME, scope) + self._one_of(
                    condition, chosen, scope
                )
            case Op.LT | Op.LE:
                return self._comparison(node, want, scope)
            case Op.EQ:
                return self._equality(node, want, scope)
            case Op.FORALL | Op.EXISTS | Op.LARGEST | Op.SMALLEST | Op.COUNT:
                return self._quantified(node, want, scope)
            case Op.CONTAINS:
                return self._contains(node, want, scope)
            case Op.SIZE if self._is_of_family(node.args[0]):
                member = self._fresh()
                inside = scope.for_each(member)
                if want is Want.UP:
                    raise RefusedError(node, "it counts members")
                return self._member(node.args[0], member, Want.DOWN, inside)
            case Op.SIZE | Op.MAJORITY if not self._is_of_family(node.args[-1]):
                return all_of(self._same(arg, scope) for arg in node.args)
            case Op.MAJORITY:
                raise RefusedError(node, "a majority of all is no matter of a few")
        raise RefusedError(node, "this is not understood")

    def _with_size(self, node: Node, want: Want, scope: Scope) -> Need:
        """A number compared with how many members there are: where these are more, it is less."""
        (other,) = (arg for arg in node.args if not self._is_size(arg))
        self.least = max(self.least, self._highest(other) + 1)
        return self._need(other, want, scope) if node.op is Op.MIN else NOBODY

    def _is_size(self, node: Node) -> bool:
        return node.op is Op.BOUND and self.bound is not None and node.data == self.bound.name

    def _one_of(self, node: Node, needs: list[Need], scope: Scope) -> Need:
        """What one of them needs, as the node says; of each member it may say another one."""
        return all_of(needs) if node.free & scope.every else any_of(needs, scope.loops(node))

    def _witness(self, node: Node, scope: Scope, count: int = 1) -> Witness:
        """So many witnesses of what a node says."""
        if node.free & scope.every:
            raise RefusedError(node, "of each member it may take another one")
        return scope.shown_by(node, frozenset({(node, count)}) if count > 1 else frozenset())

    def _loop(self, variable: Node, scope: Scope) -> Scope:
        """Below a variable that has a bounded number of values, all of which are gone through."""
        name, over = variable.data
        if name.endswith(OF_THE_CORE):
            return scope.knowing(variable, Known(frozenset({(variable, scope.core)})))
        size = self.model.extents[over]
        return scope.knowing(variable, Known(frozenset({(variable, size)})))

    def _quantified(self, node: Node, want: Want, scope: Scope) -> Need:
        over, body = node.args
        shown = Want.DOWN if node.op in (Op.FORALL, Op.SMALLEST) else Want.UP
        if not self._is_anyone(over):
            if want is shown and node.op is not Op.COUNT and not node.free & scope.every:
                it = scope.shown_by(node)  # one value shows it
                return self._need(body, want, scope.knowing(over, Known(it.loops, it.of)))
            return self._need(body, want, self._loop(over, scope))
        if want is not shown:
            return self._need(body, want, scope.for_each(over))
        if node.op is Op.COUNT:
            raise RefusedError(node, "it counts members")
        meant = _meant(over, body) if node.op is Op.EXISTS else None
        if meant is not None and meant.op is Op.VARIABLE:
            return self._need(graph.substitute(body, {over: meant}), want, scope)
        who = self._witness(node, scope)
        kept = Need(frozenset({who})) if meant is None else self._index(meant, scope)
        inside = scope.knowing(over, Known(who.loops, who.of))
        return kept + self._need(body, want, inside)

    def _comparison(self, node: Node, want: Want, scope: Scope) -> Need:
        """`a < b` and `a <= b`: the greater side is to be no less in the part."""
        less, more = node.args if want is Want.UP else node.args[::-1]
        if not self._counts(more):
            return self._need(less, Want.DOWN, scope) + self._need(more, Want.UP, scope)
        strict = (node.op is Op.LT) is (want is Want.UP)
        there = self._at_least(more, self._highest(less) + strict, scope)
        return self._need(less, Want.DOWN, scope) + there

    def _equality(self, node: Node, want: Want, scope: Scope) -> Need:
        first, second = node.args
        if self._is_of_family(first):
            return self._equal_sets(node, want, scope)
        for count, other in ((first, second), (second, first)):
            if self._counts(count):
                more = self._highest(other) + (want is Want.DOWN)
                parts = [self._same(other, scope), self._need(count, Want.DOWN, scope)]
                return all_of([*parts, self._at_least(count, more, scope)])
        return self._same(first, scope) + self._same(second, scope)

    def _equal_sets(self, node: Node, want: Want, scope: Scope) -> Need:
        """Two sets differ in somebody, who is a witness of that."""
        member, kept = self._fresh(), NOBODY
        if want is Want.DOWN:
            who = self._witness(node, scope)
            kept, inside = (
                Need(frozenset({who})),
                scope.knowing(member, Known(who.loops, who.of)),
            )
        else:
            inside = scope.for_each(member)
        groups = [arg for arg in node.args if arg.op is not Op.EMPTY]
        wanted = Want.SAME if len(groups) > 1 else want.turned
        return kept + all_of(self._member(group, member, wanted, inside) for group in groups)

    def _counts(self, node: Node) -> bool:
        if node.op is Op.SIZE:
            return self._is_of_family(node.args[0])
        return node.op is Op.COUNT and self._is_anyone(node.args[0])

    def _at_least(self, node: Node, count: int, scope: Scope) -> Need:
        """There are so many members of a set, or of whom something is true."""
        if count <= 0:
            return NOBODY
        who = self._witness(node, scope, count)
        member = self._fresh() if node.op is Op.SIZE else node.args[0]
        inside = scope.knowing(member, Known(who.loops, who.of))
        if node.op is Op.SIZE:
            shown = self._member(node.args[0], member, Want.UP, inside)
        else:
            shown = self._need(node.args[1], Want.UP, inside)
        return Need(frozenset({who})) + shown

    def _highest(self, node: Node) -> int:
        """The highest that a number may be."""
        match node.op:
            case Op.CONST:
                return int(node.data)
            case Op.BOUND if not self._is_size(node):
                return self.model.bound(node.data)
            case Op.MIN:
                known = [self._highest(arg) for arg in node.args if not self._is_size(arg)]
                return min(known)
            case Op.READ:
                return self.model.limits(self.model.schema.variables[node.data[0]].domain)[1]
            case Op.ADD | Op.MAX:
                highest = [self._highest(arg) for arg in node.args]
                return sum(highest) if node.op is Op.ADD else max(highest)
            case Op.ITE:
                return max(self._highest(arg) for arg in node.args[1:])
        raise RefusedError(node, "members are counted up to this number, which is not known")

    def _contains(self, node: Node, want: Want, scope: Scope) -> Need:
        group, member = node.args
        if not self._is_of_family(group):
            return self._same(group, scope) + self._same(member, scope)
        # Whoever is meant may not be in the part: then the set does not have him there.
        who = self._target(member, scope) if want is Want.UP else NOBODY
        return who + self._same(member, scope) + self._member(group, member, want, scope)

    # --- references, sets and indices --------------------------------------------------------

    def _same(self, node: Node, scope: Scope) -> Need:
        """Who has to stay so that any value is the same, as far as it is about the part."""
        if self._is_of_family(node):
            member = self._fresh()
            return self._member(node, member, Want.SAME, scope.for_each(member))
        if node.sort.kind in (Kind.BOOL, Kind.INT):
            return self._need(node, Want.SAME, scope)
        match node.op:
            case Op.CONST | Op.VARIABLE:
                return NOBODY
            case Op.READ:
                return all_of(self._index(arg, scope) for arg in node.args)
            case Op.MEMBERS_WHERE:  # of another family, which has as many members as it has
                over, body = node.args
                return self._need(body, Want.SAME, self._loop(over, scope))
        return all_of(self._same(arg, scope) for arg in node.args)

    def _member(self, group: Node, member: Node, want: Want, scope: Scope) -> Need:
        """Who has to stay so that `member`, who does, is in a set or not, as before."""
        match group.op:
            case Op.EMPTY | Op.EVERYONE:
                return NOBODY
            case Op.READ:
                return all_of(self._index(arg, scope) for arg in group.args)
            case Op.SINGLETON:
                return self._same(group.args[0], scope)
            case Op.UNION | Op.INTERSECTION | Op.DIFFERENCE:
                first, second = group.args
                turned = want.turned if group.op is Op.DIFFERENCE else want
                both = self._member(first, member, want, scope)
                return both + self._member(second, member, turned, scope)
            case Op.ITE:
                condition, *branches = group.args
                chosen = [self._member(branch, member, want, scope) for branch in branches]
                return self._need(condition, Want.SAME, scope) + self._one_of(
                    condition, chosen, scope
                )
            case Op.MEMBERS_WHERE:
                over, body = group.args
                return self._need(graph.substitute(body, {over: member}), want, scope)
        raise RefusedError(group, "this set is not understood")

    def _index(self, node: Node, scope: Scope) -> Need:
        """Who has to stay so that an index is the same, and of somebody who stays."""
        return self._same(node, scope) + self._target(node, scope)

    def _target(self, node: Node, scope: Scope) -> Need:
        """Whoever a reference means, as a member that stays."""
        if node.op in (Op.VARIABLE, Op.CONST) or node.sort.kind is not Kind.REF:
            return NOBODY
        if node.sort.family != self.family:
            return NOBODY
        return Need(frozenset({self._witness(node, scope)}))

    def _fresh(self) -> Node:
        """A variable that stands for a member, and that nothing else uses."""
        return graph.variable(f"%{next(self._names)}", Sort(Kind.REF, self.family), self.family)

    def _is_of_family(self, node: Node) -> bool:
        return node.sort.kind is Kind.SET and node.sort.family == self.family

    def _is_anyone(self, variable: Node) -> bool:
        """The variable stands for any member, of the core or not."""
        name, over = variable.data
        return bool(over == self.family and not name.endswith(OF_THE_CORE))


def _meant(variable: Node, body: Node) -> Node | None:
    """The reference that some member is, where a `some` says so: there is no choice then."""
    for part in body.args if body.op is Op.AND else (body,):
        if part.op is Op.EQ and variable in part.args:
            (other,) = (arg for arg in part.args if arg is not variable)
            if variable not in other.free:
                return other
    return None


_EXACT = frozenset({Op.CONST, Op.VARIABLE, Op.BOUND, Op.READ, Op.ADD, Op.SUB, Op.NOT, Op.ITE})
"""What is the same where its parts are: there is no need to ask for both directions."""
