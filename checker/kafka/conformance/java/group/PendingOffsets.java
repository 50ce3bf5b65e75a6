package highwater;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import kafka.common.OffsetAndMetadata;
import kafka.coordinator.group.CommitRecordMetadataAndOffset;
import kafka.coordinator.group.Empty$;
import kafka.coordinator.group.GroupMetadata;
import kafka.coordinator.group.GroupMetadataManager;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import scala.Option;
import scala.collection.immutable.Map.Map1;

/**
 * What a group of the coordinator up to 3.9 makes of offsets in transactions: a run a line.
 *
 * <p>{@code prepare:OFFSET}: a producer's offset is pending; {@code append}: it is in the log;
 * {@code complete:commit} or {@code complete:abort}: the group looks at a marker. The answer is the
 * committed offset, -1 for none, and whether one is pending. {@code awaited}: what the partition of
 * the group's offsets is given that has written a marker.
 */
public final class PendingOffsets {
    private static final TopicPartition INPUT = new TopicPartition("input", 0);
    private static final TopicIdPartition INPUT_ID = new TopicIdPartition(Uuid.ZERO_UUID, INPUT);
    private static final long PRODUCER = 7L;

    private PendingOffsets() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(line.equals("awaited") ? awaited() : run(line));
            out.flush();
        }
    }

    private static String awaited() {
        for (var method : GroupMetadataManager.class.getMethods())
            if (method.getName().equals("scheduleHandleTxnCompletion")) return method.getReturnType().getSimpleName();
        return "none";
    }

    private static String run(String line) {
        GroupMetadata group = new GroupMetadata("group", Empty$.MODULE$, Time.SYSTEM);
        OffsetAndMetadata last = null;
        long end = 0;
        for (String word : line.split(" ")) {
            String[] parts = word.split(":");
            switch (parts[0]) {
                case "prepare" -> {
                    last = OffsetAndMetadata.apply(Long.parseLong(parts[1]), "", 0L);
                    group.prepareTxnOffsetCommit(PRODUCER, new Map1<>(INPUT_ID, last));
                }
                case "append" -> group.onTxnOffsetCommitAppend(PRODUCER, INPUT_ID, new CommitRecordMetadataAndOffset(Option.apply(end++), last));
                case "complete" -> complete(group, parts[1].equals("commit"));
                default -> throw new IllegalArgumentException(word);
            }
        }
        var committed = group.offset(INPUT);
        long offset = committed.isEmpty() ? -1 : committed.get().offset();
        return offset + (group.hasPendingOffsetCommitsForTopicPartition(INPUT) ? " pending" : " free");
    }

    /** A thread of the group's coordinator logs what goes wrong, and nobody else hears of it. */
    private static void complete(GroupMetadata group, boolean commits) {
        try {
            group.completePendingTxnOffsetCommit(PRODUCER, commits);
        } catch (IllegalStateException error) {
            System.err.println(error);
        }
    }
}
