package highwater;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Readable;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/**
 * The transaction log's only partition, as its leader has it.
 *
 * What is appended waits until a step commits it; who led before is told that the broker leads no
 * more. A record that says that a transaction is complete waits for the step that the model has for it.
 */
final class TxnLog {
    /** An append that has no answer yet. */
    record Append(TxnCoordinator by, Object records, java.util.function.Consumer<Errors> answer) { }

    /** What a record says of the id. */
    record Said(int state, int epoch, int partitions) { }

    private static final int FULL = 4, COMPLETE = 4;
    private static final Class<?> VALUE = Parts.type("org.apache.kafka.coordinator.transaction.generated.TransactionLogValue", "kafka.internals.generated.TransactionLogValue");

    private final TxnWorld world;
    final TxnUnified log;
    /** The offset of the first record that compaction has left. */
    private long first;
    private Append waiting;
    private Append held;
    /** Too few replicas are in sync. */
    boolean fails;

    TxnLog(TxnWorld world) {
        this.world = world;
        log = new TxnUnified(world, "__transaction_state-0", false);
    }

    /** How many records of the id there are. */
    long end() { return log.end() - first; }

    /** Where in the log a record of the model is. */
    long offset(long place) { return first + place; }

    long mark() { return Math.max(0, (Long) Parts.ask(log.log, "highWatermark") - first); }

    Said at(long place) { return place < end() ? said(log.entries(log.read(TxnUnified.LOG_END)).get((int) (first + place))) : new Said(0, 0, 0); }

    static Said said(TxnUnified.Entry entry) {
        ByteBuffer buffer = entry.value().duplicate();
        short version = buffer.getShort();
        Object value = Parts.made(VALUE, new Class<?>[] {Readable.class, short.class}, new ByteBufferAccessor(buffer), version);
        int mask = 0;
        List<?> topics = (List<?>) Parts.ask(value, "transactionPartitions");
        if (topics != null) for (Object topic : topics) for (Object number : (List<?>) Parts.ask(topic, "partitionIds")) mask |= 1 << (Integer) number;
        return new Said((Byte) Parts.ask(value, "transactionStatus"), (Short) Parts.ask(value, "producerEpoch"), mask);
    }

    /** What `ReplicaManager.appendRecords` does. */
    void append(Append asked) {
        if (fails || asked.by() != world.newest()) {
            asked.answer().accept(fails ? Errors.NOT_ENOUGH_REPLICAS : Errors.NOT_LEADER_OR_FOLLOWER);
            return;
        }
        Object batch = ((Iterable<?>) Parts.ask(asked.records(), "batches")).iterator().next();
        Object record = ((Iterable<?>) batch).iterator().next();
        boolean completes = said(new TxnUnified.Entry(0, false, (short) 0, (ByteBuffer) Parts.ask(record, "value"))).state() >= COMPLETE;
        if (completes) held = asked;
        else write(asked);
    }

    private void write(Append asked) {
        if (waiting != null) throw new IllegalStateException("an append is under way");
        compact();
        log.append(asked.records(), asked.by().number, AppendOrigin.COORDINATOR, VerificationGuard.SENTINEL, (short) 0);
        waiting = asked;
    }

    /** What the log cleaner has removed by now, as the model has it. */
    private void compact() {
        boolean nobodyReads = world.coordinators.size() > world.failoversAtMost && world.newest().acts();
        long kept = nobodyReads ? mark() : end() == FULL ? 2 : 1;
        first += Math.max(0, Math.min(kept, mark()) - 1);
    }

    boolean holds(TxnCoordinator coordinator) { return held != null && held.by() == coordinator; }

    boolean awaits(TxnCoordinator coordinator) { return waiting != null && waiting.by() == coordinator; }

    /** The append that says that all is complete goes on. */
    void release(TxnCoordinator coordinator) {
        if (!holds(coordinator)) {
            world.fail("nothing is complete");
            return;
        }
        Append complete = held;
        held = null;
        write(complete);
    }

    /** Every replica in sync has the log; `told`: the producer hears of it. */
    void commit(boolean told) {
        log.replicated();
        Append committed = waiting;
        waiting = null;
        if (committed == null) return;
        world.producer.hears = told;
        committed.answer().accept(Errors.NONE);
        if (told && world.producer.hearsOf(at(end() - 1))) world.notes.add("EndTxn is answered by what another request or the time has decided");
        world.producer.hears = true;
    }

    /** Another broker leads, and has so many records. */
    void moveTo(long end) {
        List<Append> lost = new ArrayList<>();
        if (waiting != null) lost.add(waiting);
        if (held != null) lost.add(held);
        waiting = null;
        held = null;
        Parts.ask(log.log, "truncateTo", first + end);
        world.elect();
        for (Append append : lost) append.answer().accept(Errors.NOT_LEADER_OR_FOLLOWER);
    }
}
