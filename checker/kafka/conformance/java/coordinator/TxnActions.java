package highwater;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.WriteTxnMarkersRequest.TxnMarkerEntry;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/**
 * The actions of the model `kafka_transactions`, by their names.
 *
 * `coordinator_miss_completion` is nothing: Kafka has noticed. `coordinator_refuse_its_own_time` is not taken.
 */
final class TxnActions {
    interface Action { void take(int... of); }

    private final TxnWorld world;
    private final Map<String, Action> actions = new HashMap<>();

    TxnActions(TxnWorld world) {
        this.world = world;
        TxnProducer producer = world.producer;
        actions.put("producer_send", of -> producer.send(of[0]));
        actions.put("producer_commit", of -> producer.commit());
        actions.put("producer_abort", of -> producer.abort());
        actions.put("producer_give_up", of -> producer.giveUp(of[0]));
        actions.put("producer_repeat_end", of -> producer.repeatEnd());
        actions.put("producer_restart", of -> producer.restart());
        actions.put("coordinator_add_partition", of -> addPartition(by(of), of[1]));
        actions.put("coordinator_verify", of -> verify(by(of), partition(of[1])));
        actions.put("coordinator_verify_late", of -> verifyLate(by(of), partition(of[1])));
        actions.put("coordinator_end", of -> by(of).end(producer.request(), producer.epoch()));
        actions.put("coordinator_end_late", of -> endLate(by(of)));
        actions.put("coordinator_answer_from_cache", of -> by(of).end(producer.request(), producer.epoch()));
        actions.put("coordinator_init", of -> init(by(of)));
        actions.put("coordinator_fail_to_fence", of -> failToInit(by(of)));
        actions.put("coordinator_time_out", of -> by(of).timeOut());
        actions.put("log_commit", of -> world.log.commit(true));
        actions.put("log_commit_in_vain", of -> world.log.commit(false));
        actions.put("coordinator_fail_over", of -> world.log.moveTo(of[0]));
        actions.put("coordinator_resign", of -> by(of).resign());
        actions.put("coordinator_read_part", of -> by(of).load.readTo(world.log.offset(of[1])));
        actions.put("coordinator_load", of -> by(of).load.finish());
        actions.put("coordinator_publish_abandoned_load", of -> by(of).load.abandon());
        actions.put("coordinator_fail_to_load", of -> by(of).load.fail());
        actions.put("partition_get_marker", of -> marker(by(of), partition(of[1]), false));
        actions.put("partition_get_marker_and_again", of -> marker(by(of), partition(of[1]), true));
        actions.put("partition_get_late_marker", of -> lateMarker(partition(of[0])));
        actions.put("coordinator_complete", of -> world.log.release(by(of)));
        actions.put("coordinator_fail_to_send", of -> disconnect(by(of), of[1]));
        actions.put("coordinator_miss_completion", of -> { });
        actions.put("coordinator_load_in_vain", of -> by(of).loadTwice());
        actions.put("partition_forget_producer", of -> partition(of[0]).expire());
        actions.put("partition_get_record", of -> record(partition(of[0])));
        actions.put("partition_get_late_record", of -> lateRecord(partition(of[0])));
    }

    void take(String name, int... of) {
        Action action = actions.get(name);
        if (action == null) throw new IllegalStateException("no action " + name);
        world.clock.sleep(10);
        action.take(of);
    }

    private TxnPartition partition(int number) { return world.partitions.get(number); }

    private TxnCoordinator by(int... of) { return world.coordinators.get(of[0]); }

    private void init(TxnCoordinator by) { by.init(world.producer.namedEpoch()); }

    private void failToInit(TxnCoordinator by) {
        world.log.fails = true;
        init(by);
        world.log.fails = false;
    }

    // --- the coordinator is asked for a record's partition ---

    private void addPartition(TxnCoordinator by, int partition) {
        if (!world.producer.isAdding()) {
            world.fail("no partition is to be added");
            return;
        }
        Errors answer = by.add(partition, world.producer.epoch());
        if (answer != null) world.producer.hearOfPartition(partition, answer);
    }

    private void verify(TxnCoordinator by, TxnPartition partition) {
        Errors answer = verified(by, partition, world.producer.record(partition.number));
        if (answer != Errors.NONE && answer != null && !TxnProducer.isRetriable(answer)) world.producer.hearOfRecord(partition.number, refusal(answer));
    }

    private void verifyLate(TxnCoordinator by, TxnPartition partition) {
        Errors answer = verified(by, partition, world.producer.late[partition.number]);
        if (answer != Errors.NONE && answer != null && !TxnProducer.isRetriable(answer)) world.producer.late[partition.number] = null;
    }

    /** What the broker that leads the partition hears of the coordinator; null if it has to ask again. */
    private Errors verified(TxnCoordinator by, TxnPartition partition, TxnProducer.Record record) {
        try {
            record.guard = partition.verification(record);
        } catch (InvalidProducerEpochException e) {
            world.notes.add("a record is verified that the partition refuses without asking");
        }
        if (record.guard == VerificationGuard.SENTINEL) world.notes.add("a record is verified that need not be");
        Errors answer = world.hasVersion2() ? by.add(partition.number, record.batch.epoch) : by.verify(partition.number, record.batch.epoch);
        if (answer == Errors.NONE) record.isVerified = true;
        return answer;
    }

    /** What `AddPartitionsToTxnManager` makes of a coordinator's answer. */
    private static Errors refusal(Errors answer) { return answer == Errors.PRODUCER_FENCED ? Errors.INVALID_PRODUCER_EPOCH : answer; }

    private void endLate(TxnCoordinator by) {
        TxnProducer producer = world.producer;
        by.endUnheard(producer.lateRequest, producer.lateEpoch);
        producer.lateRequest = TxnProducer.NOTHING;
        producer.lateEpoch = 0;
    }

    // --- what partitions get ---

    /** One of an old epoch has come before the marker that fenced it: a release may refuse it otherwise. */
    private Errors written(TxnPartition partition, TxnProducer.Record record) {
        if (world.verifies && record.batch.epoch < partition.epoch()) {
            record.guard = VerificationGuard.SENTINEL;
            if (!record.isVerified) world.notes.add("a record of an old epoch is one that came before its marker");
        } else if (world.verifies && !record.isVerified) {
            record.guard = partition.verification(record);
            if (record.guard != VerificationGuard.SENTINEL) world.fail("the coordinator has to be asked first");
        }
        return partition.append(record);
    }

    private void record(TxnPartition partition) {
        TxnProducer producer = world.producer;
        Errors answer = written(partition, producer.record(partition.number));
        producer.hearOfRecord(partition.number, answer);
        if (answer == Errors.INVALID_TXN_STATE) {
            producer.close();
            world.notes.add("Kafka Streams ends where its producer could abort");
        }
    }

    private void lateRecord(TxnPartition partition) {
        written(partition, world.producer.late[partition.number]);
        world.producer.late[partition.number] = null;
    }

    private void marker(TxnCoordinator by, TxnPartition partition, boolean again) {
        TxnMarkerEntry marker = by.marker(partition.number);
        if (marker == null) {
            world.fail("no marker is under way");
            return;
        }
        if (again) partition.lateMarker = marker;
        Errors error = write(partition, marker);
        by.answer(partition.number, error);
        if (error != Errors.NONE) for (TxnPartition other : world.partitions) other.getsLate(by.leave(other.number));
    }

    private void disconnect(TxnCoordinator by, int partition) {
        if (by.marker(partition) == null) world.fail("no marker is under way");
        else by.answer(partition, null);
    }

    private void lateMarker(TxnPartition partition) {
        write(partition, partition.lateMarker);
        partition.lateMarker = null;
    }

    /** A record that waits and cannot be taken after it is appended at once, and refused. */
    private Errors write(TxnPartition partition, TxnMarkerEntry marker) {
        Errors error = partition.append(marker);
        TxnProducer.Record record = world.producer.record(partition.number), late = world.producer.late[partition.number];
        if (isSpoilt(partition, record)) world.producer.hearOfRecord(partition.number, refused(partition, record));
        if (isSpoilt(partition, late)) {
            refused(partition, late);
            world.producer.late[partition.number] = null;
        }
        return error;
    }

    private static boolean isSpoilt(TxnPartition partition, TxnProducer.Record record) {
        return record != null && !record.batch.isAcknowledged() && record.isVerified && !partition.isStillVerified(record);
    }

    private Errors refused(TxnPartition partition, TxnProducer.Record record) {
        Errors error = partition.append(record);
        if (error == Errors.NONE) world.fail("a record is taken whose verification a marker has ended");
        return error;
    }
}
