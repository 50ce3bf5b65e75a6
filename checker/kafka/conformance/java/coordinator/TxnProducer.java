package highwater;

import java.util.Arrays;
import org.apache.kafka.common.message.EndTxnRequestData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/**
 * The producer: an application that does what the model's does, with a client of Kafka's.
 *
 * The numbers are the model's. What is left of a producer that has died are copies that are late.
 */
final class TxnProducer {
    static final int READY = 0, OPEN = 1, MUST_ABORT = 2, INITIALIZING = 3, STOPPED = 4;
    static final int NOTHING = 0, COMMIT = 1, ABORT = 2, INIT = 3, BUMP = 4;
    static final int NONE = 0, ADDING = 1, SENT = 2, VERIFIED = 3, ACKNOWLEDGED = 4;
    private static final int WISHES_COMMIT = 1, KNOWS_COMMIT = 2;

    /** A record, and what its partition's broker knows of it. */
    static final class Record {
        final TxnClient.Batch batch;
        boolean isVerified;
        VerificationGuard guard = VerificationGuard.SENTINEL;

        Record(TxnClient.Batch batch) { this.batch = batch; }

        int where() { return !batch.isSent() ? ADDING : isVerified ? VERIFIED : SENT; }
    }

    private final TxnWorld world;
    private TxnClient client;
    int begun;
    /** Responses reach it. */
    boolean hears = true;
    /** What it was in before it asked for the end of a transaction. */
    private int before;
    /** The application has ended. */
    private boolean isClosed;
    final int[] wishes;
    /** By partition: what it has sent in its transaction, and what it has given up; null for nothing. */
    private final Record[] records;
    final Record[] late;
    int lateRequest = NOTHING, lateEpoch;

    TxnProducer(TxnWorld world, int transactions) {
        this.world = world;
        wishes = new int[transactions];
        records = new Record[world.partitions.size()];
        late = new Record[world.partitions.size()];
    }

    // --- what it is ---

    int phase() {
        if (isClosed) return STOPPED;
        return switch (client.state()) {
            case "READY" -> READY;
            case "IN_TRANSACTION" -> OPEN;
            case "ABORTABLE_ERROR" -> MUST_ABORT;
            case "COMMITTING_TRANSACTION", "ABORTING_TRANSACTION" -> before;
            case "FATAL_ERROR" -> STOPPED;
            default -> INITIALIZING;
        };
    }

    int request() {
        if (isClosed) return NOTHING;
        if (client.asks(ApiKeys.END_TXN)) return client.endTxn().committed() ? COMMIT : ABORT;
        if (client.asks(ApiKeys.INIT_PRODUCER_ID)) return client.namedEpoch() < 0 ? INIT : BUMP;
        return NOTHING;
    }

    /** A producer that has ended, or whose application has. */
    private boolean hasStopped() { return isClosed || client.hasStopped(); }

    int epoch() { return hasStopped() ? 0 : client.epoch(); }

    boolean isUnresolved() { return !hasStopped() && client.wantsEpoch(); }

    int sent(int partition) {
        Record record = record(partition);
        return record == null ? NONE : record.batch.isDone() ? ACKNOWLEDGED : record.where();
    }

    /** What it has sent there and has not heard to have failed, in a transaction that is not over for it. */
    Record record(int partition) {
        Record record = records[partition];
        boolean isOver = record == null || hasStopped() || record.batch.isDone()
            && !(record.batch.isAcknowledged() && client.hasInTransaction(partition));
        return isOver ? null : record;
    }

    // --- what the application does ---

    void send(int partition) {
        if (client.state().equals("READY")) {
            client.beginTransaction();
            begun++;
        }
        records[partition] = new Record(client.send(partition, begun - 1));
    }

    void commit() {
        before = phase();
        int number = begun - 1;
        wishes[number] = WISHES_COMMIT;
        client.commitTransaction(() -> wishes[number] = KNOWS_COMMIT);
    }

    void abort() {
        before = phase();
        client.abortTransaction();
    }

    /** Another process starts, with the same id. */
    void restart() {
        Arrays.fill(records, null);
        isClosed = false;
        client = new TxnClient(world, records.length);
        client.initTransactions();
    }

    // --- what becomes of what it has sent ---

    void giveUp(int partition) {
        late[partition] = records[partition];
        client.giveUp(records[partition].batch, partition);
    }

    void repeatEnd() {
        lateRequest = request();
        lateEpoch = client.endTxn().producerEpoch();
        client.disconnect();
    }

    void hearOfRecord(int partition, Errors error) { client.produced(record(partition).batch, partition, error); }

    /** It ends itself, as Kafka Streams does with INVALID_TXN_STATE, after which its producer could abort. */
    void close() { isClosed = true; }

    boolean isAdding() { return client.asks(ApiKeys.ADD_PARTITIONS_TO_TXN); }

    void hearOfPartition(int partition, Errors error) { client.addPartitionsToTxn(partition, error); }

    /** EndTxn of this kind and epoch is answered; version 2 gives the next epoch. */
    void hearOfEnd(int kind, int asked, Errors error, int next) {
        if (!isAnsweredBy(kind, asked)) return;
        if (hears) client.endTxn(error, next);
        else client.disconnect();
    }

    private boolean isAnsweredBy(int kind, int asked) {
        if (request() != kind || kind != COMMIT && kind != ABORT) return false;
        EndTxnRequestData data = client.endTxn();
        return data.producerEpoch() == asked;
    }

    /**
     * It hears that what it asks for is decided, whoever asked before, as it would once that is complete:
     * whether it did.
     */
    boolean hearsOf(TxnLog.Said decided) {
        int kind = decided.state() == 2 ? COMMIT : decided.state() == 3 ? ABORT : NOTHING;
        int asked = world.hasVersion2() ? decided.epoch() - 1 : decided.epoch();
        if (!isAnsweredBy(kind, asked)) return false;
        hearOfEnd(kind, asked, Errors.NONE, decided.epoch());
        return true;
    }

    /** InitProducerId is answered. */
    void hearOfEpoch(Errors error, int given) {
        if (isClosed || !client.asks(ApiKeys.INIT_PRODUCER_ID)) return;
        if (hears) client.initProducerId(error, given);
        else client.disconnect();
    }

    int namedEpoch() { return client.namedEpoch(); }

    static boolean isRetriable(Errors error) { return error.exception() instanceof org.apache.kafka.common.errors.RetriableException; }
}
