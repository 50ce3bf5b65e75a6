package highwater;

import java.util.Arrays;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/**
 * The producer, as the model has it: what it asks for, and what Kafka's answers do to it.
 *
 * The numbers are the model's. It asks again until it has an answer, whoever's that is.
 */
final class TxnProducer {
    static final int READY = 0, OPEN = 1, MUST_ABORT = 2, INITIALIZING = 3, STOPPED = 4;
    static final int NOTHING = 0, COMMIT = 1, ABORT = 2, INIT = 3, BUMP = 4;
    static final int NONE = 0, ADDING = 1, SENT = 2, VERIFIED = 3, ACKNOWLEDGED = 4;
    static final int WISHES_COMMIT = 1, KNOWS_COMMIT = 2;

    /** A record, in a batch of its own. */
    static final class Record {
        final int epoch, sequence, transaction;
        int sent;
        VerificationGuard guard = VerificationGuard.SENTINEL;

        Record(int epoch, int sequence, int transaction, int sent) {
            this.epoch = epoch;
            this.sequence = sequence;
            this.transaction = transaction;
            this.sent = sent;
        }
    }

    private final TxnWorld world;
    int phase = INITIALIZING, request = INIT, epoch, begun;
    boolean isUnresolved;
    /** Responses reach it. */
    boolean hears = true;
    final int[] wishes;
    /** By partition: what it has under way, and what it has given up; null for nothing. */
    final Record[] records, late;
    int lateRequest = NOTHING, lateEpoch;

    TxnProducer(TxnWorld world, int transactions) {
        this.world = world;
        wishes = new int[transactions];
        records = new Record[world.partitions.size()];
        late = new Record[world.partitions.size()];
    }

    static int sent(Record record) { return record == null ? NONE : record.sent; }

    void send(TxnPartition partition) {
        if (phase == READY) begun++;
        phase = OPEN;
        records[partition.number] = new Record(epoch, partition.sequenceOf(epoch), begun - 1, world.hasVersion2() ? SENT : ADDING);
    }

    void end(int kind) {
        request = kind;
        if (kind == COMMIT) wishes[begun - 1] = WISHES_COMMIT;
    }

    void giveUp(int partition) {
        late[partition] = records[partition];
        records[partition] = null;
        phase = MUST_ABORT;
        isUnresolved = !world.hasVersion2();
    }

    void repeatEnd() {
        lateRequest = request;
        lateEpoch = epoch;
    }

    void restart() {
        forget();
        phase = INITIALIZING;
        request = INIT;
        epoch = 0;
    }

    private void forget() {
        isUnresolved = false;
        Arrays.fill(records, null);
    }

    void stop() {
        forget();
        phase = STOPPED;
        request = NOTHING;
        epoch = 0;
    }

    void refuse(int partition) {
        records[partition] = null;
        phase = MUST_ABORT;
    }

    /** EndTxn of this kind and epoch is answered; version 2 gives the next epoch. */
    void hearOfEnd(int kind, int asked, Errors error, int next) {
        if (!hears || request != kind || epoch != asked) return;
        if (error == Errors.NONE) {
            if (kind == COMMIT) wishes[begun - 1] = KNOWS_COMMIT;
            boolean bumps = isUnresolved;
            forget();
            if (world.hasVersion2()) epoch = next;
            request = bumps ? BUMP : NOTHING;
            phase = bumps ? INITIALIZING : READY;
        } else if (!isRetriable(error)) {
            stop();
        }
    }

    /**
     * It hears that what it asks for is decided, whoever asked before, as it would once that is complete:
     * whether it did.
     */
    boolean hearsOf(TxnLog.Said decided) {
        int kind = decided.state() == 2 ? COMMIT : decided.state() == 3 ? ABORT : NOTHING;
        int asked = world.hasVersion2() ? decided.epoch() - 1 : decided.epoch();
        if (kind == NOTHING || request != kind || epoch != asked) return false;
        hearOfEnd(kind, asked, Errors.NONE, decided.epoch());
        return true;
    }

    /** InitProducerId is answered. */
    void hearOfEpoch(Errors error, int given) {
        if (!hears || request != INIT && request != BUMP) return;
        if (error == Errors.NONE) {
            epoch = given;
            request = NOTHING;
            phase = READY;
        } else if (!isRetriable(error)) {
            stop();
        }
    }

    static boolean isRetriable(Errors error) {
        return switch (error) {
            case CONCURRENT_TRANSACTIONS, NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS -> true;
            default -> false;
        };
    }
}
