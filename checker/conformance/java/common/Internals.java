package highwater;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
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

    static long highWatermark(Broker broker) { return (Long) Parts.ask(broker.log(), "highWatermark"); }

    /** Id and leader epoch of each record of a running broker's log. */
    static List<int[]> entries(Broker broker) {
        List<int[]> found = new ArrayList<>();
        for (Object segment : Scala.list(Parts.ask(broker.log(), "logSegments"))) found.addAll(Disk.entries(Parts.ask(segment, "log")));
        return found;
    }

    /** The leader epoch of an offset by the leader-epoch cache; -1 if it has none. */
    static int cachedEpoch(Broker broker, long offset) {
        Object cache = Scala.orNull(Parts.ask(broker.log(), Parts.has(broker.log(), "leaderEpochCache") ? "leaderEpochCache" : "latestEpoch"));
        return ((OptionalInt) Parts.ask(cache, "epochForOffset", offset)).orElse(-1);
    }

    // --- a follower as its leader knows it ---

    static long end(Object replica) { return Math.max(0, (Long) Parts.ask(Parts.ask(replica, "stateSnapshot"), "logEndOffset")); }

    /** Sets when the follower was last caught up. */
    @SuppressWarnings("unchecked")
    static void setCaughtUp(Object replica, long milliseconds) {
        Object state = Parts.ask(replica, "stateSnapshot");
        Class<?> type = state.getClass();
        java.lang.reflect.Constructor<?> whole = type.getDeclaredConstructors()[0];
        for (java.lang.reflect.Constructor<?> each : type.getDeclaredConstructors())
            if (each.getParameterCount() > whole.getParameterCount()) whole = each;
        ((AtomicReference<Object>) Parts.get(replica, "replicaState")).set(Parts.made(type, whole.getParameterTypes(),
            Parts.ask(state, "logStartOffset"), Parts.ask(state, "logEndOffsetMetadata"), Parts.ask(state, "lastFetchLeaderLogEndOffset"),
            Parts.ask(state, "lastFetchTimeMs"), milliseconds, Parts.ask(state, "brokerEpoch")));
    }

    /** The leader forgets how far the follower is. */
    static void forgetEnd(Object replica) { Parts.ask(replica, "resetReplicaState", 0L, 0L, true, false); }
}
