"""The sizes of a KRaft quorum, and its budgets: how often each thing may happen."""

from __future__ import annotations

from model.language import Bound, Loses, Stops, bounds_in, budget

NODES = Bound("nodes", 3, 1, "controllers, voters and observers", 7)

LOG_SIZE = Bound("log_size", 4, 1, "records in the metadata log at most", 12)

EPOCHS = Bound("epochs", 3, 1, "leader epochs; the run starts with a leader in the first", 7)

APPENDS = budget("appends", "records that the active controller appends", default=1)
VOTER_CHANGES = budget(
    "voter_changes", "voters that are added, removed or updated", default=1
)  # fmt: skip
CRASHES = budget(
    "crashes",
    "controllers whose process dies and restarts; the log is kept",
    stops=Stops.UNCLEANLY,
)
POWER_LOSSES = budget(
    "power_losses",
    "controllers that lose power, and with it what they have not flushed",
    stops=Stops.UNCLEANLY,
    loses=Loses.UNSYNCED,
)
DISK_LOSSES = budget(
    "disk_losses",
    "controllers that lose their disk and get an empty one, with a new directory id; once each",
    stops=Stops.UNCLEANLY,
    loses=Loses.ALL,
)
RESIGNATIONS = budget(
    "resignations", "leaders that resign: by check quorum, at a shutdown, or as the controller asks"
)

VERSION_UPGRADES = budget(
    "version_upgrades", "changes of kraft.version from 0 to 1 while the quorum runs"
)

SNAPSHOTS = budget("snapshots", "snapshots of the metadata log that controllers create")

BOUNDS = bounds_in(globals())
