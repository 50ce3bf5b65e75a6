"""How partitions are split among members (`RangeAssignor`, `RoundRobinAssignor`, sticky ones).

One topic, to which every member subscribes, and members in the order of their ids. The sticky
rule is that of `AbstractStickyAssignor.ConstrainedAssignmentBuilder`: who owns more than its share
gives up the last, and what nobody has goes to who has least. What is known of sizes in advance is
unrolled as plain Python; the rest are expressions.
"""

from __future__ import annotations

from collections.abc import Callable

from model.kafka_group.bounds import MEMBERS, PARTITIONS
from model.kafka_group.settings import Assignor, StickyClaims
from model.kafka_group.state import Consumer, Group, Partition
from model.language import SetOf, all_of, any_of, choose, count, every, implies, not_, some

PLACES = range(MEMBERS.maximum)
Flags = list[list[bool]]
NUMBERS = range(PARTITIONS.maximum)
SIZES = range(1, MEMBERS.maximum + 1)
COUNTS = range(1, PARTITIONS.maximum + 1)


def place(group: Group, consumer: Consumer, among: SetOf[Consumer]) -> int:
    """How many of `among` have a lesser member id."""
    return count(all_of(among.contains(o), o.rank < consumer.rank) for o in group.consumers)


def range_has(number: int, index: int, size: int, partitions: int) -> bool:
    """`RangeAssignor`: whether the member at `index` of `size` gets partition `number`.

    Plain numbers: the first ones get one more each where it does not divide.
    """
    share, more = divmod(partitions, size)
    first = index * share + min(index, more)
    return first <= number < first + share + (1 if index < more else 0)


def round_robin_has(number: int, index: int, size: int, partitions: int) -> bool:
    """`RoundRobinAssignor`: the same of a topic whose partitions are dealt out one by one."""
    return number < partitions and number % size == index


def dealt_to(group: Group, row: Partition, among: SetOf[Consumer]) -> SetOf[Consumer]:
    """Who of `among` gets the partition, whatever anybody had."""
    rule = round_robin_has if group.options.assignor == Assignor.ROUND_ROBIN else range_has
    return group.consumers.where(
        lambda member: all_of(
            among.contains(member),
            any_of(
                *[
                    all_of(
                        row.number == number,
                        place(group, member, among) == index,
                        among.size == size,
                        group.partition_count == partitions,
                    )
                    for size in SIZES
                    for index in range(size)
                    for partitions in COUNTS
                    for number in range(partitions)
                    if rule(number, index, size, partitions)
                ]
            ),
        )
    )


def is_believed(group: Group, row: Partition, member: Consumer, alone: bool = True) -> bool:
    """A sticky assignor takes it that the member owns the partition, which it claims.

    Of two of one generation it believes neither, if only one may own it, that is `alone`.
    """
    claims = group.options.sticky_claims
    if claims == StickyClaims.NEWEST_MEMBERS:
        return every(
            implies(group.coordinator.joined.contains(o), o.claims_of <= member.claims_of)
            for o in group.consumers
        )
    if claims == StickyClaims.NEWEST_CLAIM:
        return every(
            implies(
                all_of(row.claimed.contains(o), o != member),
                o.claims_of < member.claims_of if alone else o.claims_of <= member.claims_of,
            )
            for o in group.consumers
        )
    return True


def shares(owned: Flags, size: int, partitions: int) -> Flags:
    """The sticky rule, by number of the partition and place of the member.

    `owned`: whether that member owns the partition now, and is believed. What nobody keeps goes to
    who has least; of those who have as much, first to who has kept it.
    """
    kept = _kept(owned, size, partitions)
    has = [_sum([kept[number][index] for number in NUMBERS]) for index in PLACES]
    least = _chosen([[p // n for n in SIZES] for p in COUNTS], size, partitions)
    late = [choose(had < least, 1, 0) for had in has]
    final = []
    for number in NUMBERS:
        free = all_of(number < partitions, not_(any_of(*kept[number])))
        rank = [has[index] + has[index] + late[index] for index in PLACES]
        given = [all_of(free, _is_next(rank, size, index)) for index in PLACES]
        has = [has[index] + choose(given[index], 1, 0) for index in PLACES]
        final.append([any_of(kept[number][index], given[index]) for index in PLACES])
    return final


def _kept(owned: Flags, size: int, partitions: int) -> Flags:
    """What members keep: the first they own, up to the least share, and one more for the first."""
    least = _chosen([[p // n for n in SIZES] for p in COUNTS], size, partitions)
    extra = _chosen([[p % n for n in SIZES] for p in COUNTS], size, partitions)
    more = [_sum([owned[number][index] for number in NUMBERS]) > least for index in PLACES]
    kept = []
    for number in NUMBERS:
        row = []
        for index in PLACES:
            may_have_more = all_of(more[index], _sum(more[:index]) < extra)
            before = _sum([owned[other][index] for other in range(number)])
            quota = least + choose(may_have_more, 1, 0)
            row.append(all_of(owned[number][index], before < quota))
        kept.append(row)
    return kept


def _chosen(values: list[list[int]], size: int, partitions: int) -> int:
    """The entry for this many partitions and members."""
    chosen = 0
    for p in COUNTS:
        for n in SIZES:
            here = all_of(partitions == p, size == n)
            chosen = choose(here, values[p - 1][n - 1], chosen)
    return chosen


def _is_next(rank: list[int], size: int, index: int) -> bool:
    """Of the members the one of the least rank, and of several the first."""
    earlier = [any_of(o >= size, rank[o] > rank[index]) for o in PLACES if o < index]
    later = [any_of(o >= size, rank[o] >= rank[index]) for o in PLACES if o > index]
    return all_of(index < size, *earlier, *later)


def _sum(flags: list[bool]) -> int:
    """How many of these plain-listed claims hold."""
    return sum([choose(flag, 1, 0) for flag in flags])


def sticky_shares(
    group: Group, among: SetOf[Consumer], owns: Callable[[Partition, Consumer], bool]
) -> Flags:
    """The sticky rule, where `owns` says who owns what and is believed."""
    owned = [
        [
            some(
                all_of(
                    row.number == number,
                    among.contains(member),
                    place(group, member, among) == index,
                    owns(row, member),
                )
                for row in group.partitions
                for member in group.consumers
            )
            for index in PLACES
        ]
        for number in NUMBERS
    ]
    return shares(owned, among.size, group.partition_count)


def given_to(group: Group, final: Flags, row: Partition, among: SetOf[Consumer]) -> SetOf[Consumer]:
    """Who by the sticky rule keeps or gets the partition."""
    return group.consumers.where(
        lambda member: all_of(
            among.contains(member),
            any_of(
                *[
                    all_of(
                        row.number == number,
                        place(group, member, among) == index,
                        final[number][index],
                    )
                    for number in NUMBERS
                    for index in PLACES
                ]
            ),
        )
    )


def assign_classic(group: Group) -> None:
    """Write down what the member that leads works out for those who have joined."""
    among = group.coordinator.joined
    if group.options.assignor in (Assignor.RANGE, Assignor.ROUND_ROBIN):
        for row in group.partitions:
            row.assigned = dealt_to(group, row, among)
        return

    def owns(row: Partition, member: Consumer) -> bool:
        return all_of(row.claimed.contains(member), is_believed(group, row, member))

    final = sticky_shares(group, among, owns)
    for row in group.partitions:
        given = given_to(group, final, row, among)
        if group.is_cooperative:
            given = given.minus(waiting(group, row))
        row.assigned = given


def waiting(group: Group, row: Partition) -> SetOf[Consumer]:
    """`CooperativeStickyAssignor.adjustAssignment`: before whom another has to give it up."""
    return group.consumers.where(
        lambda member: some(
            all_of(o != member, row.claimed.contains(o), is_believed(group, row, o, alone=False))
            for o in group.consumers
        )
    )


def set_target(group: Group) -> None:
    """Write down what the coordinator aims at for all whom it knows (KIP-848)."""
    among = group.consumers.where(lambda member: member.is_known)
    if group.options.assignor == Assignor.RANGE:
        for row in group.partitions:
            row.target = dealt_to(group, row, among)
        return
    final = sticky_shares(group, among, lambda row, member: row.target.contains(member))
    for row in group.partitions:
        row.target = given_to(group, final, row, among)
