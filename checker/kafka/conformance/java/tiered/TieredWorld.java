package highwater;

import java.io.File;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.controller.DirectController;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;

/**
 * Brokers with one partition of a tiered topic, and the store that they share.
 *
 * The ISR is not here: the metadata say who leads, as the steps do, and beside the brokers there is one in the ISR that
 * never fetches, so that the high watermark of no log moves by itself. The steps move it.
 */
final class TieredWorld {
    static final String TOPIC = "t";
    static final Map<String, String> SETTINGS = Map.of("remote.storage.enable", "true", "retention.ms", "-1", "retention.bytes", "-1",
        "local.retention.ms", "-2", "local.retention.bytes", "-2");
    private static final int NEVER_FETCHES = 9;

    final TopicPartition partition = new TopicPartition(TOPIC, 0);
    final Uuid topic = new Uuid(77L, 77L);
    final TopicIdPartition withId = new TopicIdPartition(topic, partition);
    final ManualClock clock = new ManualClock();
    final ManualScheduler scheduler = new ManualScheduler();
    final TieredWire wire = new TieredWire(this);
    final TieredBroker[] brokers;
    final Disk[] disks;
    final File scratch;
    final List<ApiMessage> metadata = new ArrayList<>();
    final Map<String, String> settings = new HashMap<>(SETTINGS);
    /** The remote segments by the numbers that the steps give them; null: none. */
    final RemoteLogSegmentMetadata[] segments;
    /** Copies that wait in the store, by those numbers, and who copies. */
    final Paused[] copies;
    final int[] copiers;
    /** The epochs of the committed records. */
    final List<Integer> committed = new ArrayList<>();
    int epoch;

    /** Of the step that was taken last: what to know of it, and why it could not be taken as it should. */
    final List<String> notes = new ArrayList<>(), failures = new ArrayList<>();

    TieredWorld(File root, int count, int copies) {
        RemoteStore.reset();
        RemoteMetadata.reset();
        brokers = new TieredBroker[count];
        disks = new Disk[count];
        segments = new RemoteLogSegmentMetadata[copies];
        this.copies = new Paused[copies];
        copiers = new int[copies];
        scratch = new File(root, "copied");
        metadata.addAll(DirectController.bootstrap(false));
        List<Integer> all = new ArrayList<>();
        for (int b = 0; b < count; b++) {
            disks[b] = new Disk(new File(root, Integer.toString(b)), new Uuid(77L, 1000L + b), partition, false);
            metadata.add(registration(b));
            all.add(b);
        }
        all.add(NEVER_FETCHES);
        metadata.add(new TopicRecord().setName(TOPIC).setTopicId(topic));
        SETTINGS.forEach(this::set);
        metadata.add(new PartitionRecord().setTopicId(topic).setPartitionId(0).setReplicas(all).setIsr(all).setLeader(0).setLeaderEpoch(0).setPartitionEpoch(0));
        for (int b = 0; b < count; b++) start(b);
        for (TieredBroker broker : brokers) broker.readMetadata();
        afterStep();
    }

    private static RegisterBrokerRecord registration(int broker) {
        var endpoints = new RegisterBrokerRecord.BrokerEndpointCollection();
        endpoints.add(new RegisterBrokerRecord.BrokerEndpoint().setName("PLAINTEXT").setHost("localhost").setPort(9092 + broker).setSecurityProtocol((short) 0));
        return new RegisterBrokerRecord().setBrokerId(broker).setBrokerEpoch(TieredBroker.epoch(broker)).setIncarnationId(new Uuid(7L, broker))
            .setEndPoints(endpoints).setFenced(false);
    }

    private void set(String name, String value) {
        settings.put(name, value);
        metadata.add(new ConfigRecord().setResourceType((byte) 2).setResourceName(TOPIC).setName(name).setValue(value));
    }

    /** The operator sets `remote.storage.enable`; all brokers read of it. A leader that is up deletes what is remote. */
    void switchTiering(boolean on) {
        set("remote.storage.enable", Boolean.toString(on));
        set("remote.log.delete.on.disable", "true");
        boolean led = false;
        for (TieredBroker broker : brokers) led |= broker != null && broker.partition() != null && broker.partition().isLeader();
        if (!on && led) for (int s = 0; s < copies.length; s++) endCopy(s);
        RemoteMetadata.allDeletable = !on;
        for (TieredBroker broker : brokers) if (broker != null) {
            broker.readMetadata();
            broker.readSettings();
        }
        RemoteMetadata.allDeletable = false;
    }

    boolean isTiered() { return settings.get("remote.storage.enable").equals("true"); }

    /** A copy that is under way ends, and what was said of it is taken back. */
    private void endCopy(int number) {
        if (copies[number] == null) return;
        copies[number].end();
        copies[number] = null;
        for (var state : List.of(RemoteLogSegmentState.DELETE_SEGMENT_STARTED, RemoteLogSegmentState.DELETE_SEGMENT_FINISHED))
            RemoteMetadata.update(segments[number], state, copiers[number]);
        segments[number] = null;
    }

    void note(String words) { notes.add(words); }

    void fail(String words) { failures.add(words); }

    void require(boolean held, String words) { if (!held) fail(words); }

    void start(int broker) { brokers[broker] = new TieredBroker(this, broker); }

    /** The broker is gone, and with it the copies that it had under way. */
    void stop(int broker) {
        for (int s = 0; s < copies.length; s++) if (copiers[s] == broker) endCopy(s);
        brokers[broker].stop(true);
        brokers[broker] = null;
    }

    /** The controller elects; the new leader hears of it at once. */
    void elect(int broker) {
        metadata.add(new PartitionChangeRecord().setTopicId(topic).setPartitionId(0).setLeader(broker));
        epoch++;
        brokers[broker].readMetadata();
    }

    void beforeStep() {
        clock.sleep(1);
    }

    /** What happens by itself in the same step: each record gets a segment of its own, and all know what is committed. */
    void afterStep() {
        scheduler.runDue();
        for (TieredBroker broker : brokers) if (broker != null && broker.log() != null) {
            broker.roll();
            long known = committedIn(broker);
            if (broker.ask("highWatermark") < known) Parts.ask(broker.log(), "updateHighWatermark", known);
        }
    }

    /** How far the log has what is committed; where the cache knows no epoch, it counts as right. */
    long committedIn(TieredBroker broker) {
        long start = broker.epochsStart(), offset = 0;
        while (offset < Math.min(committed.size(), broker.end()) && (offset < start || broker.epochAt(offset) == committed.get((int) offset))) offset++;
        return offset;
    }

    void close() {
        for (Paused copy : copies) if (copy != null) copy.end();
        for (TieredBroker broker : brokers) if (broker != null) broker.stop(false);
        Lines.wipe(scratch);
    }
}
