package highwater;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;

/** The model's actions as calls of Kafka's classes, one row each, and what no model has. */
final class TieredActions {
    private static final int MOST_ROUNDS = 6;
    private static final int UNKNOWN = -1;
    private static final long FIRST_RECORD_AT = 900_000_000L, BETWEEN_RECORDS_MS = 1_000;

    interface Action { void take(int... of); }

    private final TieredWorld world;
    private final Map<String, Action> actions = new HashMap<>();
    /** Where the next segment of each broker begins that it copies: where segments roll is the model's choice. */
    private final long[] nextBase;

    TieredActions(TieredWorld world) {
        this.world = world;
        nextBase = new long[world.brokers.length];
        Arrays.fill(nextBase, UNKNOWN);
        actions.put("leader_append", of -> append(broker(of[0])));
        actions.put("follower_fetch", of -> fetch(broker(of[0]), Errors.NONE));
        actions.put("leader_raise_high_watermark", of -> world.committed.add(broker(of[0]).epochAt(world.committed.size())));
        actions.put("leader_find_remote_end", of -> findRemoteEnd(broker(of[0]), of[1]));
        actions.put("leader_begin_copy", of -> beginCopy(broker(of[0]), of[1], of[2]));
        actions.put("leader_finish_copy", of -> finishCopy(broker(of[0]), of[1]));
        actions.put("broker_delete_local", of -> deleteLocal(broker(of[0]), of[1]));
        actions.put("leader_expire", of -> expire(broker(of[0]), of[1]));
        actions.put("leader_delete_unreferenced", of -> cleanUp(broker(of[0]), of[1]));
        actions.put("follower_truncate", of -> truncate(broker(of[0])));
        actions.put("follower_build_from_tier", of -> fetch(broker(of[0]), Errors.OFFSET_MOVED_TO_TIERED_STORAGE));
        actions.put("follower_is_refused", of -> beRefused(broker(of[0])));
        actions.put("follower_dies_building", of -> {
            beRefused(broker(of[0]));
            stop(of[0]);
        });
        actions.put("controller_elect", of -> world.elect(of[0]));
        actions.put("controller_elect_uncleanly", of -> {
            long kept = world.committedIn(broker(of[0]));
            while (world.committed.size() > kept) world.committed.remove(world.committed.size() - 1);
            world.elect(of[0]);
        });
        actions.put("broker_crash", of -> stop(of[0]));
        actions.put("broker_restart", of -> world.start(of[0]));
        actions.put("no model: leader_expire_by_size", of -> expireBySize(broker(of[0]), of[1], of[2]));
        actions.put("no model: follower_fetch_once", of -> broker(of[0]).fetcher().doWork());
    }

    void take(String name, int... of) {
        Action action = actions.get(name);
        if (action == null) throw new IllegalStateException("no action " + name);
        world.beforeStep();
        action.take(of);
        world.afterStep();
        for (int b = 0; b < nextBase.length; b++)
            if (nextBase[b] != UNKNOWN) nextBase[b] = Math.max(nextBase[b], world.brokers[b].ask("logStartOffset"));
    }

    private TieredBroker broker(int number) { return world.brokers[number]; }

    private void stop(int broker) {
        nextBase[broker] = UNKNOWN;
        world.stop(broker);
    }

    // --- logs ---

    private void append(TieredBroker leader) {
        Object record = Disk.record(world.epoch, FIRST_RECORD_AT + BETWEEN_RECORDS_MS * leader.end());
        Apis.produce(leader.replicas(), world.withId, record, (short) 1, error -> world.require(error == Errors.NONE, "the producer is told " + error), () -> { });
    }

    /**
     * A round of the follower's fetcher, whose fetch is answered so.
     *
     * After a refusal it asks for where its log ended before; if nothing is left there, it asks once more.
     */
    private void fetch(TieredBroker follower, Errors answer) {
        follower.fetcher().doWork();
        if (answer == Errors.OFFSET_MOVED_TO_TIERED_STORAGE && world.wire.last == Errors.OFFSET_OUT_OF_RANGE) {
            world.note("the follower asks for where its log ended before");
            follower.fetcher().doWork();
        }
        world.require(world.wire.last == answer, "the leader answers a fetch with " + world.wire.last);
    }

    /** Reads of the latest leader, if that is new, and fetches until what comes would not have it truncate, or only since it has just done so. */
    private void truncate(TieredBroker follower) {
        nextBase[follower.id] = UNKNOWN;
        world.wire.mayBeOutOfRange = !follower.readMetadata();
        world.wire.losesAllButTruncation = true;
        world.wire.lost = false;
        for (int round = 0; !world.wire.lost && round < MOST_ROUNDS; round++) {
            follower.fetcher().doWork();
            world.wire.mayBeOutOfRange = false;
        }
        world.wire.losesAllButTruncation = false;
        world.require(world.wire.lost, "the follower truncates on and on");
    }

    private void beRefused(TieredBroker follower) {
        RemoteStore.refuses = true;
        fetch(follower, Errors.OFFSET_MOVED_TO_TIERED_STORAGE);
        RemoteStore.refuses = false;
    }

    /** Local retention by size, of just what is below `start`; a follower has looked up what is copied. */
    private void deleteLocal(TieredBroker broker, long start) {
        Object lookUp = broker.task("followerRLMTasks");
        if (lookUp != null) Parts.ask(lookUp, "execute", broker.log());
        long kept = 0;
        for (Object segment : Scala.list(Parts.ask(broker.log(), "logSegments")))
            if ((Long) Parts.ask(segment, "baseOffset") >= start) kept += (Integer) Parts.ask(segment, "size");
        broker.configure(Map.of("local.retention.bytes", Long.toString(kept)));
        Parts.ask(broker.log(), "deleteOldSegments");
        broker.configure(Map.of());
    }

    // --- copies ---

    private void findRemoteEnd(TieredBroker leader, long base) {
        Object task = leader.task("leaderCopyRLMTasks");
        Parts.ask(task, "maybeUpdateLogStartOffsetOnBecomingLeader", leader.log());
        Parts.ask(task, "maybeUpdateCopiedOffset", leader.log());
        nextBase[leader.id] = base;
        long from = from(leader);
        world.require(base <= Math.max(from, leader.ask("localLogStartOffset")), "the task goes on from " + from);
    }

    /** The first offset that the copy task takes to be not copied, if its next segment begins before; -1 if not. */
    long copiedBeyondBase(TieredBroker leader) { return nextBase[leader.id] < from(leader) ? from(leader) : UNKNOWN; }

    /** The first offset that the copy task takes to be not copied. */
    private static long from(TieredBroker leader) {
        Object copied = ((Optional<?>) Parts.get(leader.task("leaderCopyRLMTasks"), "copiedOffsetOption")).orElseThrow();
        return Math.max((Long) Parts.ask(copied, "offset") + 1, leader.ask("logStartOffset"));
    }

    /** The copy task runs up to where the store has the bytes; it finds one segment that it may copy. */
    private void beginCopy(TieredBroker leader, int number, long end) {
        Object task = leader.task("leaderCopyRLMTasks");
        long base = nextBase[leader.id];
        long from = from(leader);
        if (from < base && base > leader.ask("localLogStartOffset")) world.note("the segment begins after what is copied");
        Object log = MergedLog.of(leader.log(), world.scratch, base, end, world.clock);
        Paused copy = new Paused(() -> Parts.ask(task, "copyLogSegmentsToRemote", log));
        RemoteStore.copying = copy;
        if (!copy.begin()) {
            world.fail("the copy task copies nothing");
            return;
        }
        world.copies[number] = copy;
        world.copiers[number] = leader.id;
        world.segments[number] = RemoteMetadata.begun;
    }

    private void finishCopy(TieredBroker copier, int number) {
        RemoteLogSegmentMetadata segment = world.segments[number];
        world.copies[number].goOn();
        world.copies[number] = null;
        long until = segment.endOffset() + 1;
        if (nextBase[copier.id] == Math.max(segment.startOffset(), copier.ask("logStartOffset")) && until <= copier.end()) nextBase[copier.id] = until;
    }

    // --- deletions ---

    /** Retention by time, which has expired up to the last record of the segment. */
    private void expire(TieredBroker leader, int number) {
        long expired = FIRST_RECORD_AT + BETWEEN_RECORDS_MS * world.segments[number].endOffset();
        leader.configure(Map.of("retention.ms", Long.toString(world.clock.milliseconds() - expired - 1)));
        cleanUp(leader, number);
        leader.configure(Map.of());
    }

    /** Retention by size, with room for so many records in the store besides what counts as local alone. */
    private void expireBySize(TieredBroker leader, int number, int records) {
        RemoteLogSegmentMetadata segment = world.segments[number];
        long each = segment.segmentSizeInBytes() / (segment.endOffset() + 1 - segment.startOffset());
        leader.configure(Map.of("retention.bytes", Long.toString(leader.ask("onlyLocalLogSegmentsSize") + records * each)));
        cleanUp(leader, number);
        leader.configure(Map.of());
    }

    /** The expiration task runs; of what it deletes this segment is deleted, and no other one yet. */
    private void cleanUp(TieredBroker leader, int number) {
        RemoteMetadata.deletable = world.segments[number].remoteLogSegmentId().id();
        Parts.ask(leader.task("leaderExpirationRLMTasks"), "cleanupExpiredRemoteLogSegments");
        RemoteMetadata.deletable = null;
    }
}
