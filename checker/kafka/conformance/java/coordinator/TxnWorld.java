package highwater;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.TopicPartition;

/** One transactional id: its producer, the transaction log, those who led it, and partitions written to. */
final class TxnWorld {
    static final String ID = "id", TOPIC = OwnSender.TOPIC;
    static final long PRODUCER = 7;
    static final int TIMEOUT_MS = 60_000;

    final File root;
    final ManualClock clock = new ManualClock();
    /** Of the transaction version: 0 or 2. */
    final short version;
    final boolean verifies;
    final int failoversAtMost;
    /** Of coordinators that were replaced the model may have nothing. */
    final boolean blanksTheReplaced;
    final TxnLog log;
    final TxnProducer producer;
    final List<TxnPartition> partitions = new ArrayList<>();
    /** By their epoch; the last one leads the log. */
    final List<TxnCoordinator> coordinators = new ArrayList<>();
    /** Why the step that is taken was not what its name says. */
    final List<String> failures = new ArrayList<>();
    /** What had to be forced in it. */
    final List<String> notes = new ArrayList<>();

    TxnWorld(File root, JsonNode asked) {
        this.root = root;
        Lines.wipe(root);
        version = (short) asked.get("version").asInt();
        verifies = asked.get("verifies").asBoolean();
        blanksTheReplaced = asked.get("blanks").asBoolean();
        failoversAtMost = asked.get("failovers").asInt();
        log = new TxnLog(this);
        for (int number = 0; number < asked.get("partitions").asInt(); number++) partitions.add(new TxnPartition(this, number));
        producer = new TxnProducer(this, asked.get("transactions").asInt());
        begin();
    }

    /** The producer has epoch 0 of the first coordinator. */
    private void begin() {
        producer.restart();
        TxnCoordinator first = elect();
        first.load.finish();
        first.init(-1);
        log.commit(true);
        if (producer.epoch() != 0 || log.end() != 1) throw new IllegalStateException("epoch " + producer.epoch() + " at first");
    }

    boolean hasVersion2() { return version == 2; }

    TxnCoordinator newest() { return coordinators.get(coordinators.size() - 1); }

    TxnCoordinator elect() {
        TxnCoordinator elected = new TxnCoordinator(this, coordinators.size());
        coordinators.add(elected);
        elected.elect();
        return elected;
    }

    static TopicPartition data(int number) { return new TopicPartition(TOPIC, number); }

    void fail(String words) { failures.add(words); }

    void close() {
        for (TxnCoordinator coordinator : coordinators) coordinator.close();
        for (TxnPartition partition : partitions) partition.log.close();
        log.log.close();
        Lines.wipe(root);
    }
}
