package highwater;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import kafka.cluster.Partition;

/** What Kafka's classes hold inside: read for the comparison, and in two places set. */
final class Internals {
    private Internals() { }

    static List<Integer> isr(Partition partition) { return numbers(Parts.ask(Parts.ask(partition, "partitionState"), "isr")); }

    /** The ISR that the leader has asked for and not heard of; empty if none. */
    static List<Integer> pendingIsr(Partition partition) {
        Object state = Parts.ask(partition, "partitionState");
        if (!Parts.has(state, "sentLeaderAndIsr")) return List.of();
        return numbers(Parts.ask(Parts.ask(state, "sentLeaderAndIsr"), "isr"));
    }

    private static List<Integer> numbers(Object collection) {
        List<Integer> found = new ArrayList<>();
        for (Object each : Scala.list(collection)) found.add((Integer) each);
        return found;
    }

    /** 0 where the broker has no replica. */
    static long highWatermark(Broker broker) { return broker.partition() == null ? 0 : (Long) Parts.ask(broker.log(), "highWatermark"); }

    /** 0 where the broker has no replica. */
    static long logStart(Broker broker) { return broker.partition() == null ? 0 : (Long) Parts.ask(broker.log(), "logStartOffset"); }

    /** Id and leader epoch at each offset of a running broker's log; zeros before its first segment. */
    static List<int[]> entries(Broker broker) {
        List<int[]> found = new ArrayList<>();
        if (broker.partition() == null) return found;
        for (Object segment : Scala.list(Parts.ask(broker.log(), "logSegments"))) Disk.add(found, (Long) Parts.ask(segment, "baseOffset"), Parts.ask(segment, "log"));
        return found;
    }

    /** The leader epoch of an offset by the leader-epoch cache; -1 if it has none. */
    static int cachedEpoch(Broker broker, long offset) {
        return ((OptionalInt) Parts.ask(epochCache(broker), "epochForOffset", offset)).orElse(-1);
    }

    /** The leader epoch whose entry in the cache starts at the offset; -1 if there is none. */
    static int epochStartingAt(Broker broker, long offset) {
        if (broker.partition() == null) return -1;
        for (Object entry : (Iterable<?>) Parts.ask(epochCache(broker), "epochEntries"))
            if ((Long) Parts.get(entry, "startOffset") == offset) return (Integer) Parts.get(entry, "epoch");
        return -1;
    }

    /** What the cache of the log's copy in another directory would hold, which takes its place. */
    static void readEpochsOffRecords(Broker broker) {
        Object cache = epochCache(broker);
        Parts.ask(cache, "clearAndFlush");
        List<int[]> log = entries(broker);
        for (int offset = (int) logStart(broker); offset < log.size(); offset++) Parts.ask(cache, "assign", log.get(offset)[1], (long) offset);
    }

    static Object epochCache(Broker broker) {
        return Scala.orNull(Parts.ask(broker.log(), Parts.has(broker.log(), "leaderEpochCache") ? "leaderEpochCache" : "latestEpoch"));
    }

    // --- a follower as its leader knows it ---

    static long end(Object replica) { return Math.max(0, (Long) Parts.ask(Parts.ask(replica, "stateSnapshot"), "logEndOffset")); }

    /** The leader knows the follower's end: it has fetched since the leader came to lead. */
    static boolean isKnown(Object replica) { return (Long) Parts.ask(Parts.ask(replica, "stateSnapshot"), "logEndOffset") >= 0; }

    /** Sets when the follower was last caught up. */
    static void setCaughtUp(Object replica, long milliseconds) {
        set(replica, Parts.ask(Parts.ask(replica, "stateSnapshot"), "logEndOffsetMetadata"), milliseconds);
    }

    /** The leader knows the follower to be where its log ends. */
    static void makeKnown(Object replica, Broker follower) {
        set(replica, Parts.ask(follower.log(), "logEndOffsetMetadata"), (Long) Parts.ask(Parts.ask(replica, "stateSnapshot"), "lastCaughtUpTimeMs"));
    }

    private static void set(Object replica, Object end, long caughtUp) {
        set(replica, end, caughtUp, Parts.ask(Parts.ask(replica, "stateSnapshot"), "brokerEpoch"));
    }

    @SuppressWarnings("unchecked")
    private static void set(Object replica, Object end, long caughtUp, Object epoch) {
        Object state = Parts.ask(replica, "stateSnapshot");
        Class<?> type = state.getClass();
        java.lang.reflect.Constructor<?> whole = type.getDeclaredConstructors()[0];
        for (java.lang.reflect.Constructor<?> each : type.getDeclaredConstructors())
            if (each.getParameterCount() > whole.getParameterCount()) whole = each;
        ((AtomicReference<Object>) Parts.get(replica, "replicaState")).set(Parts.made(type, whole.getParameterTypes(),
            Parts.ask(state, "logStartOffset"), end, Parts.ask(state, "lastFetchLeaderLogEndOffset"),
            Parts.ask(state, "lastFetchTimeMs"), caughtUp, epoch));
    }

    /** The HW waits for no member of the maximal ISR, only for something that has it computed. */
    static boolean wouldAdvance(Broker leader) {
        Partition partition = leader.partition();
        Set<Integer> counted = new HashSet<>(isr(partition));
        counted.addAll(pendingIsr(partition));
        long held = leader.end();
        for (Object replica : Scala.list(partition.remoteReplicas()))
            if (counted.contains((Integer) Parts.ask(replica, "brokerId"))) held = Math.min(held, end(replica));
        return held > highWatermark(leader);
    }

    /** The leader forgets how far the follower is, but not its broker epoch. */
    static void forgetEnd(Object replica) {
        Object epoch = Parts.ask(Parts.ask(replica, "stateSnapshot"), "brokerEpoch");
        Parts.ask(replica, "resetReplicaState", 0L, 0L, true, false);
        Object state = Parts.ask(replica, "stateSnapshot");
        set(replica, Parts.ask(state, "logEndOffsetMetadata"), (Long) Parts.ask(state, "lastCaughtUpTimeMs"), epoch);
    }
}
