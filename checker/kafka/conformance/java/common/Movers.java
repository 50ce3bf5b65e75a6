package highwater;

import java.io.File;
import java.lang.reflect.Proxy;
import java.util.Map;
import kafka.server.LocalLeaderEndPoint;
import kafka.server.ReplicaAlterLogDirsThread;
import kafka.server.ReplicaManager;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Moves of a broker's replica to its other log directory, step by step.
 *
 * Kafka's manager of ReplicaAlterLogDirsThreads finds a thread where it would start one: Kafka's own
 * class, never started, whose `doWork` the harness calls. Its quota, which only its
 * LocalLeaderEndPoint asks, says whether it may fetch; so that to compare epochs, to fetch and to
 * replace the current log are steps of their own. The controller hears nothing of the new directory:
 * that it has taken it is told the thread where the log is replaced.
 */
final class Movers {
    private final World world;
    private final Broker broker;
    private Object manager, quota, topicStats;
    private boolean mayFetch;

    Movers(World world, Broker broker) {
        this.world = world;
        this.broker = broker;
    }

    /** Where the broker reports directories: nobody hears of it. */
    Object events() {
        Class<?> kind = Parts.type("org.apache.kafka.server.common.DirectoryEventHandler");
        return Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, (proxy, method, arguments) -> switch (method.getName()) {
            case "equals" -> proxy == arguments[0];
            case "hashCode" -> System.identityHashCode(proxy);
            case "toString" -> "events";
            default -> null;
        });
    }

    void manage(ReplicaManager replicas, Object quota, Object topicStats) {
        manager = Parts.get(replicas, "replicaAlterLogDirsManager");
        this.quota = quota;
        this.topicStats = topicStats;
    }

    /** The manager ends idle threads: another one is there before it would start one itself. */
    @SuppressWarnings("unchecked")
    void beReady(Object events) {
        Object kept = Parts.get(manager, "fetcherThreadMap");
        Map<Object, Object> threads = CollectionConverters.asJava((scala.collection.mutable.Map<Object, Object>) kept);
        Object key = Parts.made(Parts.type("kafka.server.BrokerIdAndFetcherId"), new Class<?>[] {int.class, int.class}, broker.id, 0);
        if (threads.containsKey(key)) return;
        Class<?> place = Parts.type("org.apache.kafka.server.network.BrokerEndPoint", "kafka.cluster.BrokerEndPoint");
        Object here = Parts.made(place, new Class<?>[] {int.class, String.class, int.class}, broker.id, "localhost", -1);
        Class<?> limit = Parts.type("org.apache.kafka.server.quota.ReplicaQuota", "kafka.server.ReplicaQuota");
        Object throttle = Proxy.newProxyInstance(limit.getClassLoader(), new Class<?>[] {limit}, (proxy, method, arguments) ->
            method.getName().equals("isQuotaExceeded") ? (Object) !mayFetch : method.getReturnType() == boolean.class ? (Object) false : null);
        Object log = Parts.of(here, broker.config, broker.replicas, throttle).make(LocalLeaderEndPoint.class);
        threads.put(key, Parts.of("mover", log, Parts.ask(manager, "failedPartitions"), broker.replicas, quota, topicStats, 0, events)
            .make(ReplicaAlterLogDirsThread.class));
    }

    /** The log in the other directory, or null. */
    Object future() { return broker.partition() == null ? null : Scala.orNull(Parts.ask(broker.partition(), "futureLog")); }

    /** That log's HW; 0 if there is none. */
    long futureHighWatermark() { return future() == null ? 0 : (Long) Parts.ask(future(), "highWatermark"); }

    /** Where the fetcher is with it, or null. */
    private Object state() {
        Object thread = thread();
        return thread == null ? null : Scala.orNull(Parts.ask(thread, "fetchState", world.partition));
    }

    private ReplicaAlterLogDirsThread thread() { return (ReplicaAlterLogDirsThread) Scala.orNull(Parts.ask(manager, "getFetcher", world.partition)); }

    /** The fetcher compares epochs before it fetches on. One of an empty log has nothing to compare. */
    boolean truncates() { return state() != null && (Boolean) Parts.ask(state(), "isTruncating") && (Long) Parts.ask(future(), "logEndOffset") > 0; }

    /** The fetcher has given the partition up. */
    boolean failed() { return (Boolean) Parts.ask(Parts.ask(manager, "failedPartitions"), "contains", world.partition); }

    long fetchOffset() { return (Long) Parts.get(state(), "fetchOffset"); }

    void begin() {
        String home = (String) Parts.ask(broker.log(), "parentDir");
        File other = world.disks[broker.id].otherThan(home);
        Object errors = Parts.ask(broker.replicas, "alterReplicaLogDirs", CollectionConverters.asScala(Map.of(world.partition, other.getPath())));
        if (!errors.toString().contains("NONE")) world.fail("the move is answered with " + errors);
    }

    /** One round of the fetcher: with a fetch or without. */
    private void round(boolean fetches) {
        if (thread() == null) {
            world.fail("broker " + broker.id + " copies nothing");
            return;
        }
        mayFetch = fetches;
        thread().doWork();
        mayFetch = false;
    }

    void truncate() {
        if (!truncates()) world.fail("the fetcher of broker " + broker.id + " compares nothing");
        round(false);
    }

    void fetch() {
        if (truncates()) world.fail("the fetcher of broker " + broker.id + " compares epochs first");
        round(true);
    }

    /** The fetcher finds that both logs end alike, reports the directory, and replaces the log once that is accepted. */
    void replace() {
        for (int rounds = 0; future() != null && rounds < 2; rounds++) {
            fetch();
            accept();
        }
        if (future() != null) world.fail("the log of broker " + broker.id + " is not replaced");
    }

    /** The controller takes the directory that the fetcher has reported. */
    private void accept() {
        Object promotion = thread() == null ? null : ((Map<?, ?>) Parts.get(thread(), "promotionStates")).get(world.partition);
        if (promotion == null || !promotion.toString().contains("Queued")) return;
        Class<?> accepted = Parts.type("kafka.server.ReplicaAlterLogDirsThread$ReassignmentState$Accepted$");
        Parts.ask(thread(), "updateReassignmentState", world.partition, Parts.get(accepted, "MODULE$"));
    }
}
