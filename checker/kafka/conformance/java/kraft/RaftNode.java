package highwater;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.feature.SupportedVersionRange;
import org.apache.kafka.common.memory.MemoryPool;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Timer;
import org.apache.kafka.raft.Endpoints;
import org.apache.kafka.raft.ExpirationService;
import org.apache.kafka.raft.FileQuorumStateStore;
import org.apache.kafka.raft.KafkaRaftClient;
import org.apache.kafka.raft.NetworkChannel;
import org.apache.kafka.raft.QuorumConfig;
import org.apache.kafka.raft.RaftMessage;
import org.apache.kafka.raft.RaftMessageQueue;
import org.apache.kafka.raft.RaftRequest;
import org.apache.kafka.raft.ReplicaKey;
import org.apache.kafka.raft.VoterSet;

/**
 * A controller: a real `KafkaRaftClient` with its log and its quorum state in real files.
 *
 * No timer ends by itself: all are long, and a step ends the one that it is about. What is sent waits
 * in `sent` for the network. A flush may be held back: then a power loss takes what was not flushed.
 */
final class RaftNode {
    static final TopicPartition PARTITION = new TopicPartition("__cluster_metadata", 0);
    static final ListenerName LISTENER = ListenerName.normalised("CONTROLLER");
    static final String CLUSTER = "highwater";
    static final SupportedVersionRange KRAFT_VERSIONS = new SupportedVersionRange((short) 0, (short) 1);
    private static final Class<?> LOG = Parts.type("org.apache.kafka.raft.RaftLog", "org.apache.kafka.raft.ReplicatedLog");
    /** The low bits of a node's first directory id; each disk that takes its place has one more. */
    static final long FIRST_DIRECTORY = 2;
    private static final int LONG = 500_000_000;
    private static final int MOST_BYTES = 8 * 1024 * 1024;

    final int id;
    final File directory;
    private final ManualClock clock;
    private final boolean segmentEach;
    private final boolean autoJoin;
    private final List<InetSocketAddress> bootstrap;
    /** `controller.quorum.voters`; none where the voters are in the log. */
    private final Map<Integer, InetSocketAddress> staticVoters;
    final Uuid directoryId;
    /** What a client has asked to be sent, in its order. */
    final List<RaftRequest.Outbound> sent = new ArrayList<>();
    private final ArrayDeque<RaftMessage> received = new ArrayDeque<>();
    private int correlation;
    KafkaRaftClient<String> client;
    Object log;
    /** What the disk holds whatever happens: log entries below this offset. */
    long flushed;
    /** What was read of the log; null once it has changed. */
    private List<RaftFiles.Entry> known;
    /** A flush is not carried out but noted: the thread is about to flush. */
    boolean holdsFlush;
    boolean flushIsDue;
    /** Why the client's thread ended, if it did. */
    Throwable failure;

    RaftNode(File root, int id, int incarnation, List<InetSocketAddress> bootstrap, Map<Integer, InetSocketAddress> staticVoters, ManualClock clock, boolean segmentEach, boolean autoJoin) {
        this.id = id;
        this.directoryId = new Uuid(1 + id, FIRST_DIRECTORY - 1 + incarnation);
        this.directory = new File(root, id + "-" + incarnation);
        this.bootstrap = bootstrap;
        this.staticVoters = staticVoters;
        this.clock = clock;
        this.segmentEach = segmentEach;
        this.autoJoin = autoJoin;
    }

    static InetSocketAddress address(int id) { return InetSocketAddress.createUnresolved("localhost", 9000 + id); }

    ReplicaKey key() { return ReplicaKey.of(id, directoryId); }

    Endpoints endpoints() { return Endpoints.fromInetSocketAddresses(Map.of(LISTENER, address(id))); }

    boolean isUp() { return client != null; }

    // --- its life ---

    /** Its directory, with a checkpoint that has the voters and no record. */
    void format(VoterSet voters, Object snapshotId) {
        folder().mkdirs();
        Object made = open();
        RaftSnapshots.write(made, snapshotId, voters, clock);
        Parts.ask(made, "close");
    }

    private File folder() { return new File(directory, PARTITION.toString()); }

    void start() {
        folder().mkdirs();
        log = open();
        received.clear();
        sent.clear();
        failure = null;
        client = newClient();
        Parts.of(staticVoters, new FileQuorumStateStore(new File(directory, "quorum-state")), new Metrics(clock), ignoredStaticVoters()).call(client, "initialize");
        flushed = Math.min(flushed, end());
    }

    /** The process ends, and its files are what it had written. */
    void crash() {
        Parts.ask(log, "close");
        client = null;
        log = null;
        known = null;
        holdsFlush = flushIsDue = false;
    }

    /** The machine loses power: what was not flushed is gone. */
    void losePower() {
        crash();
        RaftFiles.cut(folder(), flushed);
    }

    private Object open() {
        Object config = metadataLogConfig();
        Parts parts = Parts.of(PARTITION, Uuid.METADATA_TOPIC_ID, folder(), clock, new ManualScheduler(), config, id);
        return Parts.hasType("org.apache.kafka.raft.internals.KafkaRaftLog")
            ? parts.call(Parts.type("org.apache.kafka.raft.internals.KafkaRaftLog"), "createLog")
            : parts.call(Parts.type("kafka.raft.KafkaMetadataLog"), "apply");
    }

    private Object metadataLogConfig() {
        long milliseconds = segmentEach ? 1 : LONG;
        if (!Parts.hasType("org.apache.kafka.raft.MetadataLogConfig")) {
            Class<?>[] types = {int.class, int.class, long.class, long.class, long.class, int.class, int.class, long.class, int.class};
            return Parts.made(Parts.type("kafka.raft.MetadataLogConfig"), types, MOST_BYTES, MOST_BYTES, milliseconds, -1L, -1L, MOST_BYTES, MOST_BYTES, 60_000L, id);
        }
        Class<?> type = Parts.type("org.apache.kafka.raft.MetadataLogConfig");
        Map<String, Object> values = new HashMap<>(Map.of("metadata.log.segment.bytes", MOST_BYTES, "metadata.log.segment.ms", milliseconds, "metadata.max.retention.bytes", -1, "metadata.max.retention.ms", -1));
        return Parts.made(type, new Class<?>[] {AbstractConfig.class}, new AbstractConfig((ConfigDef) Parts.get(type, "CONFIG_DEF"), values, false));
    }

    @SuppressWarnings("unchecked")
    private KafkaRaftClient<String> newClient() {
        Map<String, Object> values = new HashMap<>(Map.of(
            "controller.quorum.election.timeout.ms", LONG, "controller.quorum.fetch.timeout.ms", LONG, "controller.quorum.request.timeout.ms", LONG,
            "controller.quorum.retry.backoff.ms", 0, "controller.quorum.election.backoff.max.ms", 1, "controller.quorum.append.linger.ms", 0));
        if (autoJoin) values.put("controller.quorum.auto.join.enable", true);
        QuorumConfig config = new QuorumConfig(new AbstractConfig(QuorumConfig.CONFIG_DEF, values, false));
        Random random = new Random() {
            @Override public int nextInt(int bound) { return 0; }
        };
        return Parts.of(OptionalInt.of(id), directoryId, new RaftRecords(), channel(), queue(), heldLog(), MemoryPool.NONE, clock, new Never(), 0, true,
            CLUSTER, bootstrap, endpoints(), KRAFT_VERSIONS, new LogContext("[" + id + "] "), random, config).make(KafkaRaftClient.class);
    }

    private static final class Never implements ExpirationService {
        @Override public <T> CompletableFuture<T> failAfter(long milliseconds) { return new CompletableFuture<>(); }
    }

    private static Object ignoredStaticVoters() {
        if (!Parts.hasType("org.apache.kafka.raft.ExternalKRaftMetrics")) return "";
        Class<?> type = Parts.type("org.apache.kafka.raft.ExternalKRaftMetrics");
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> null);
    }

    private NetworkChannel channel() {
        return new NetworkChannel() {
            @Override public int newCorrelationId() { return ++correlation; }
            @Override public void send(RaftRequest.Outbound request) { sent.add(request); }
            @Override public ListenerName listenerName() { return LISTENER; }
        };
    }

    private RaftMessageQueue queue() {
        return new RaftMessageQueue() {
            @Override public RaftMessage poll(long milliseconds) { return received.poll(); }
            @Override public void add(RaftMessage message) { received.add(message); }
            @Override public boolean isEmpty() { return received.isEmpty(); }
            @Override public void wakeup() { }
        };
    }

    /** The log, but that flushes are noted, and held back where a step asks for it. */
    private Object heldLog() {
        Object real = log;
        return Proxy.newProxyInstance(LOG.getClassLoader(), new Class<?>[] {LOG}, (proxy, method, arguments) -> {
            if (method.getName().equals("flush") && holdsFlush) {
                flushIsDue = true;
                return null;
            }
            try {
                Object result = method.invoke(real, arguments);
                if (method.getName().startsWith("append") || method.getName().startsWith("truncate")) known = null;
                if (method.getName().equals("flush")) flushed = end(real);
                if (method.getName().startsWith("truncate")) flushed = method.getName().endsWith("Snapshot") ? Math.max(flushed, logStart(real)) : Math.min(flushed, end(real));
                flushed = Math.min(flushed, end(real));
                return result;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    /** The flush that was held back is done; or, where none is due, the page cache is written. */
    void flush() {
        if (flushIsDue) Parts.ask(log, "flush", false);
        flushed = end();
        flushIsDue = false;
    }

    // --- its thread ---

    /** One round of its thread: what the state asks for, then one message. */
    void poll() {
        if (failure != null) return;
        try {
            client.poll();
        } catch (RuntimeException e) {
            failure = e;
        }
    }

    /** Rounds until nothing is left to do or to read. */
    void settle() {
        if (!isUp()) return;
        do poll(); while (!received.isEmpty() && failure == null);
        poll();
    }

    void receive(RaftMessage message) { received.add(message); }

    /** Nobody is waited for any more: the requests under way are lost. */
    void forgetRequests() {
        Parts.ask(Parts.get(client, "requestManager"), "resetAll");
        sent.clear();
    }

    /** The number of a request that is under way to another node. */
    int newRequest(Node to) {
        Parts.ask(Parts.get(client, "requestManager"), "onRequestSent", to, (long) ++correlation, clock.milliseconds());
        return correlation;
    }

    // --- its state ---

    Object quorum() { return Parts.get(client, "quorum"); }

    Object state() { return Parts.get(quorum(), "state"); }

    String role() { return state().getClass().getSimpleName().replace("State", ""); }

    /** A timer of its state ends. */
    void expire(String timer) { ((Timer) Parts.get(state(), timer)).reset(0); }

    /** A timer of its state that came with no time left begins afresh. */
    void rearm() {
        for (String timer : new String[] {"electionTimer", "fetchTimer"})
            if (Parts.hasField(state(), timer) && ((Timer) Parts.get(state(), timer)).isExpired()) ((Timer) Parts.get(state(), timer)).reset(LONG);
    }

    Object voters() { return Parts.get(client, "partitionState"); }

    long end() { return end(log); }

    private static long end(Object log) { return (Long) Parts.ask(Parts.ask(log, "endOffset"), "offset"); }

    long logStart() { return logStart(log); }

    private static long logStart(Object log) { return (Long) Parts.ask(log, "startOffset"); }

    /** The entries of its log, in memory or in its files. */
    List<RaftFiles.Entry> entries() {
        if (known == null) known = RaftFiles.entries(folder());
        return known;
    }

    /** Its files have changed otherwise than by an append or a truncation. */
    void reread() { known = null; }

    /** What it has voted, from its file; null where there is none yet. */
    String quorumState() {
        Path file = new File(directory, "quorum-state").toPath();
        try {
            return Files.exists(file) ? Files.readString(file) : null;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Takes the vote for itself out of `quorum-state` where another leads that epoch; false if there is none.
     *
     * Kafka starts as Candidate of the epoch with it, and is elected by nobody.
     */
    boolean forgetVoteBesideLeader() {
        String text = quorumState();
        if (text == null) return false;
        try {
            var state = (ObjectNode) new ObjectMapper().readTree(text);
            int leader = state.path("leaderId").asInt(-1);
            if (leader < 0 || leader == id || state.path("votedId").asInt(-1) != id) return false;
            state.put("votedId", -1);
            if (state.has("votedDirectoryId")) state.put("votedDirectoryId", Uuid.ZERO_UUID.toString());
            Files.writeString(new File(directory, "quorum-state").toPath(), state.toString());
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override public String toString() { return "node " + id + (isUp() ? " " + role() : " down") + " " + Arrays.asList(entries().toArray()); }
}
