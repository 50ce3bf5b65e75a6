package highwater;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.requests.WriteTxnMarkersRequest.TxnMarkerEntry;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/** A partition that the producer writes to: a log, and what its leader's broker does around it. */
final class TxnPartition {
    /** After so many records a segment begins. */
    private static final int ROLLS = 3;
    /** What a partition has of a transaction, by the model's numbers. */
    static final int NONE = 0, OPEN = 1, COMMITTED = 2, ABORTED = 3;

    private static final Class<?> MARKER = Parts.type("org.apache.kafka.common.record.internal.EndTransactionMarker", "org.apache.kafka.common.record.EndTransactionMarker");
    private static final Class<?> CONTROL = Parts.type("org.apache.kafka.common.record.internal.ControlRecordType", "org.apache.kafka.common.record.ControlRecordType");

    final int number;
    final TxnUnified log;
    private long lastRecordMs;
    /** A copy of a marker that is still under way. */
    TxnMarkerEntry lateMarker;
    private final TxnWorld world;
    private Known before;
    /** By time, of which a log's files know nothing. */
    private boolean hasForgotten;

    TxnPartition(TxnWorld world, int number) {
        this.world = world;
        this.number = number;
        log = new TxnUnified(world, TxnWorld.TOPIC + "-" + number, world.verifies);
    }

    /** A marker will come late, unless null, or another is late already. */
    void getsLate(TxnMarkerEntry marker) { if (lateMarker == null) lateMarker = marker; }

    private ProducerStateManager producers() { return (ProducerStateManager) Parts.ask(log.log, "producerStateManager"); }

    ProducerStateEntry producer() { return (ProducerStateEntry) Scala.map(Parts.ask(producers(), "activeProducers")).get(TxnWorld.PRODUCER); }

    int epoch() { return producer() == null ? 0 : Math.max(0, producer().producerEpoch()); }

    int coordinatorEpoch() { return producer() == null ? 0 : Math.max(0, producer().coordinatorEpoch()); }

    /** What is left to be asked of the coordinator: the sentinel for nothing. */
    VerificationGuard verification(TxnProducer.Record record) {
        return (VerificationGuard) Parts.of(TxnWorld.PRODUCER, record.batch.sequence, (short) record.batch.epoch, world.hasVersion2()).call(log.log, "maybeStartTransactionVerification");
    }

    boolean isStillVerified(TxnProducer.Record record) {
        VerificationGuard now = (VerificationGuard) Parts.ask(log.log, "verificationGuard", TxnWorld.PRODUCER);
        return record.batch.epoch >= epoch() && now.verify(record.guard);
    }

    /** What becomes of a record that need not be verified any more. */
    Errors append(TxnProducer.Record record) {
        Errors error = appended(() -> log.append(record.batch.records(), 0, AppendOrigin.CLIENT, record.guard, world.version));
        if (error == Errors.NONE) lastRecordMs = record.batch.timestamp;
        return error;
    }

    /** What becomes of a marker, as `KafkaApis` has it written. */
    Errors append(TxnMarkerEntry marker) {
        Object kind = Parts.constant(CONTROL, marker.transactionResult() == TransactionResult.COMMIT ? "COMMIT" : "ABORT");
        Object end = Parts.of(kind, marker.coordinatorEpoch()).make(MARKER);
        Object records = Parts.ask(TxnUnified.MEMORY, "withEndTransactionMarker", world.clock.milliseconds(), marker.producerId(), marker.producerEpoch(), end);
        short version = Parts.has(marker, "transactionVersion") ? (Short) Parts.ask(marker, "transactionVersion") : 0;
        return appended(() -> log.append(records, 0, AppendOrigin.COORDINATOR, VerificationGuard.SENTINEL, version));
    }

    private Errors appended(Runnable append) {
        try {
            append.run();
        } catch (ApiException e) {
            return Errors.forException(e);
        } catch (IllegalStateException e) {
            if (e.getCause() instanceof ApiException cause) return Errors.forException(cause);
            throw e;
        }
        log.replicated();
        if (log.end() % ROLLS == 0) log.roll();
        reload();
        return Errors.NONE;
    }

    /**
     * What a broker knows that has the files, and was killed, is what the leader does; and once its log
     * is truncated by one append, what the leader did before.
     */
    private void reload() {
        if (hasForgotten) return;
        if (before == null) before = new Known(0, "{}", Collections.nCopies(world.producer.wishes.length, NONE));
        Known now = Known.of(world, log);
        TxnUnified killed = log.killed();
        if (!Known.of(world, killed).equals(now)) world.fail("after a restart: " + Known.of(world, killed) + " instead of " + now);
        killed.truncate(before.end());
        if (!Known.of(world, killed).equals(before)) world.fail("after a truncation: " + Known.of(world, killed) + " instead of " + before);
        killed.remove();
        before = now;
    }

    /** What a log has of producers, and what a consumer reads. */
    private record Known(long end, String producers, List<Integer> fates) {
        static Known of(TxnWorld world, TxnUnified log) {
            log.replicated();
            List<Integer> fates = Arrays.stream(TxnPartition.fates(log, world.producer.wishes.length)).boxed().toList();
            return new Known(log.end(), log.producers(), fates);
        }
    }

    /** The time comes at which who has sent its last record then is forgotten. */
    void expire() {
        hasForgotten = true;
        Parts.ask(producers(), "removeExpiredProducers", lastRecordMs + TxnUnified.DAY_MS);
    }

    /** What the partition has of each transaction, as a consumer with read_committed finds it. */
    int[] fates(int transactions) { return fates(log, transactions); }

    private static int[] fates(TxnUnified log, int transactions) {
        int[] fates = new int[transactions];
        Arrays.fill(fates, NONE);
        for (Object read : log.reads(TxnUnified.LOG_END))
            for (TxnUnified.Entry entry : log.entries(read)) if (!entry.isControl()) fates[transaction(entry)] = OPEN;
        boolean skips = false;
        for (Object read : log.reads(TxnUnified.COMMITTED)) {
            List<FetchResponseData.AbortedTransaction> aborted = new ArrayList<>();
            for (Object each : TxnUnified.aborted(read)) aborted.add((FetchResponseData.AbortedTransaction) each);
            for (TxnUnified.Entry entry : log.entries(read)) {
                while (!aborted.isEmpty() && aborted.get(0).firstOffset() <= entry.offset()) {
                    aborted.remove(0);
                    skips = true;
                }
                if (entry.isControl()) skips = false;
                else fates[transaction(entry)] = skips ? ABORTED : COMMITTED;
            }
        }
        return fates;
    }

    private static int transaction(TxnUnified.Entry entry) { return Integer.parseInt(StandardCharsets.UTF_8.decode(entry.value().duplicate()).toString()); }
}
