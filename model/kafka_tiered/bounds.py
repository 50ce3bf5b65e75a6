"""The sizes of the tiered model, and its budgets: how often each thing may happen."""

from __future__ import annotations

from model import replicated_log
from model.language import Bound, bounds_in, budget

BROKERS = Bound("brokers", 2, 2, "brokers with a replica of the partition", 4)
LOG_SIZE = replicated_log.LOG_SIZE
MAX_LEADER_EPOCH = replicated_log.MAX_LEADER_EPOCH.with_default(1)
COPIES = Bound("copies", 2, 1, "copies of segments to the remote store that begin at most", 4)

CRASHES = budget("crashes", "brokers that stop and start again", default=1)
REFUSED_READS = budget("refused_reads", "reads that the remote store refuses a new replica")
BUILD_CRASHES = budget(
    "build_crashes", "brokers that die between truncating a log and writing its leader epochs"
)
UNCLEAN_ELECTIONS = budget(
    "unclean_elections", "elections of a replica that lacks committed records"
)
EXPIRATIONS = budget("expirations", "remote segments that retention deletes")
TIERING_DISABLINGS = budget(
    "tiering_disablings", "times that tiering is switched off for the topic"
)

BOUNDS = bounds_in(globals())
