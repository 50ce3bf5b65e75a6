package highwater;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/** A `UnifiedLog` with its files, whose class is another in each release. */
final class TxnUnified {
    /** A record in it; `value` is its own buffer. */
    record Entry(long offset, boolean isControl, short epoch, ByteBuffer value) { }

    /** Where there are both, Java's has but a few static methods. */
    static final Class<?> LOG = Parts.type("kafka.log.UnifiedLog", "org.apache.kafka.storage.internals.log.UnifiedLog");
    private static final Class<?> ISOLATION = Parts.type("org.apache.kafka.server.storage.log.FetchIsolation", "org.apache.kafka.storage.internals.log.FetchIsolation");
    static final Class<?> MEMORY = Parts.type("org.apache.kafka.common.record.internal.MemoryRecords", "org.apache.kafka.common.record.MemoryRecords");
    static final Object LOG_END = Parts.constant(ISOLATION, "LOG_END"), COMMITTED = Parts.constant(ISOLATION, "TXN_COMMITTED");
    private static final Object STATS = Parts.of().make(Parts.type("org.apache.kafka.storage.log.metrics.BrokerTopicStats", "kafka.server.BrokerTopicStats"));
    private static final Object REQUEST_LOCAL = requestLocal();
    private static final Object METADATA_VERSION = Parts.ask(Parts.type("org.apache.kafka.server.common.MetadataVersion"), "latestProduction");
    private static final LogConfig CONFIG = new LogConfig(Map.of("segment.index.bytes", "4096"));
    private static final String[] KNOWN = {"producerEpoch", "coordinatorEpoch", "currentTxnFirstOffset", "lastSeq", "lastDataOffset", "lastTimestamp"};
    static final int DAY_MS = 86_400_000;
    private static final int ALL = 1 << 20;

    private final File directory;
    private final TxnWorld world;
    private final boolean verifies;
    Object log;

    TxnUnified(TxnWorld world, String name, boolean verifies) {
        this(world, new File(world.root, name), verifies);
        make(directory);
        open(true);
    }

    private TxnUnified(TxnWorld world, File directory, boolean verifies) {
        this.world = world;
        this.verifies = verifies;
        this.directory = directory;
    }

    private static void make(File directory) {
        if (!directory.mkdirs()) throw new IllegalStateException("no directory " + directory);
    }

    /** Another broker's, which has these files after its process was killed, and reads them. */
    TxnUnified killed() {
        TxnUnified other = new TxnUnified(world, new File(new File(world.root, "killed"), directory.getName()), verifies);
        make(other.directory);
        try {
            for (File file : directory.listFiles()) Files.copy(file.toPath(), new File(other.directory, file.getName()).toPath());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        other.open(false);
        return other;
    }

    void remove() {
        close();
        Lines.wipe(directory);
    }

    private void open(boolean wasClosed) {
        log = Parts.of(directory, CONFIG, 0L, 0L, new ManualScheduler(), STATS, world.clock, 900_000, new ProducerStateManagerConfig(DAY_MS, verifies),
            600_000, new LogDirFailureChannel(5), wasClosed, false, false, new ConcurrentHashMap<>(), Parts.get(Parts.type("org.apache.kafka.storage.internals.log.LogOffsetsListener"), "NO_OP_OFFSETS_LISTENER"))
            .call(LOG, Parts.has(LOG, "create") ? "create" : "apply");
    }

    private static Object requestLocal() {
        Class<?> type = Parts.type("org.apache.kafka.server.common.RequestLocal", "kafka.server.RequestLocal");
        return Parts.ask(type, Parts.has(type, "noCaching") ? "noCaching" : "NoCaching");
    }

    /** Kafka's error, if the log does not take the records. */
    void append(Object records, int leaderEpoch, AppendOrigin origin, VerificationGuard guard, short transactionVersion) {
        Parts.of(records, leaderEpoch, origin, METADATA_VERSION, REQUEST_LOCAL, guard, transactionVersion).call(log, "appendAsLeader");
    }

    /** A new segment begins, with a snapshot of what is known of producers. */
    void roll() { Parts.of().call(log, "roll"); }

    void truncate(long end) { Parts.ask(log, "truncateTo", end); }

    /** What it knows of each producer, but for all batches before the last, which no snapshot has. */
    String producers() {
        var known = new TreeMap<Object, String>();
        Scala.map(Parts.ask(Parts.ask(log, "producerStateManager"), "activeProducers")).forEach((id, entry) -> known.put(id, Arrays.stream(KNOWN)
            .map(name -> name + " " + Parts.ask(entry, name)).collect(Collectors.joining(", "))));
        return known.toString();
    }

    long end() { return (Long) Parts.ask(log, "logEndOffset"); }

    void replicated() { Parts.ask(log, "updateHighWatermark", end()); }

    /** What is read with this isolation, records and aborted transactions, of the first segment. */
    Object read(Object isolation) { return Parts.ask(log, "read", 0L, ALL, isolation, true); }

    /** The same of one segment after the other. */
    List<Object> reads(Object isolation) {
        List<Object> found = new ArrayList<>();
        for (long from = 0; from < end(); ) {
            Object read = Parts.ask(log, "read", from, ALL, isolation, true);
            List<Entry> entries = entries(read);
            if (entries.isEmpty()) break;
            found.add(read);
            from = entries.get(entries.size() - 1).offset() + 1;
        }
        return found;
    }

    List<Entry> entries(Object read) {
        List<Entry> found = new ArrayList<>();
        for (Object batch : (Iterable<?>) Parts.ask(Parts.get(read, "records"), "batches")) {
            boolean isControl = (Boolean) Parts.ask(batch, "isControlBatch");
            for (Object record : (Iterable<?>) batch)
                found.add(new Entry((Long) Parts.ask(record, "offset"), isControl, (Short) Parts.ask(batch, "producerEpoch"),
                    isControl ? (ByteBuffer) Parts.ask(record, "key") : (ByteBuffer) Parts.ask(record, "value")));
        }
        return found;
    }

    static Collection<?> aborted(Object read) {
        Object found = Scala.orNull(Parts.get(read, "abortedTransactions"));
        return found == null ? List.of() : Scala.list(found);
    }

    void close() { Parts.ask(log, "close"); }
}
