package highwater;

import java.util.Optional;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.raft.VoterSet;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.snapshot.RawSnapshotWriter;
import org.apache.kafka.snapshot.RecordsSnapshotWriter;
import org.apache.kafka.snapshot.SnapshotWriter;

/** Snapshots of metadata that hold the voters and nothing else. */
final class RaftSnapshots {
    private static final Class<?> ID = Parts.type("org.apache.kafka.raft.OffsetAndEpoch", "org.apache.kafka.server.common.OffsetAndEpoch");

    private RaftSnapshots() { }

    static Object id(long end, int epoch) { return Parts.made(ID, new Class<?>[] {long.class, int.class}, end, epoch); }

    static long end(Object id) { return (Long) Parts.ask(id, "offset"); }

    static int epoch(Object id) { return (Integer) Parts.ask(id, "epoch"); }

    @SuppressWarnings("unchecked")
    static void write(Object log, Object id, VoterSet voters, Time clock) {
        var raw = (Optional<RawSnapshotWriter>) Parts.ask(log, "createNewSnapshotUnchecked", id);
        try (RecordsSnapshotWriter<String> writer = new RecordsSnapshotWriter.Builder().setTime(clock).setKraftVersion(KRaftVersion.KRAFT_VERSION_1)
                .setVoterSet(Optional.of(voters)).setRawSnapshotWriter(raw.orElseThrow()).build(new RaftRecords())) {
            writer.freeze();
        }
    }

    /** A node's own snapshot of all below an offset; false where it has it already. */
    @SuppressWarnings("unchecked")
    static boolean create(RaftNode node, long end) {
        int epoch = node.entries().stream().filter(entry -> entry.offset() == end - 1).findFirst().orElseThrow().epoch();
        var made = (Optional<SnapshotWriter<String>>) Parts.ask(node.client, "createSnapshot", id(end, epoch), 0L);
        if (made.isEmpty()) return false;
        try (SnapshotWriter<String> writer = made.get()) {
            writer.freeze();
        }
        return true;
    }

    /** The log starts at the latest snapshot; false where it does already. */
    static boolean clean(RaftNode node) {
        Object latest = ((Optional<?>) Parts.ask(node.log, "latestSnapshotId")).orElseThrow();
        boolean deleted = (Boolean) Parts.ask(node.log, "deleteBeforeSnapshot", latest);
        node.reread();
        return deleted;
    }
}
