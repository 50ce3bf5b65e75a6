package highwater;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import kafka.cluster.Partition;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.controller.DirectController;
import org.apache.kafka.metadata.PartitionRegistration;

/** Brokers, a controller and what is between them, for one partition; perhaps another, the topic's first, is elsewhere. */
final class World {
    static final int MOST_BROKERS = 16;
    static final String TOPIC = "t";
    static final long LAG_MS = 30_000;
    private static final long STEP_MS = LAG_MS + 10_000;  // nobody was caught up a step ago

    final TopicPartition partition;
    final ManualClock clock = new ManualClock();
    final ManualScheduler scheduler = new ManualScheduler();
    final IsrChanges isrChanges = new IsrChanges(this);
    final Wire wire = new Wire(this);
    final Rounds rounds = new Rounds(this);
    final Stall stall = new Stall(this);
    final StalledRead stalledRead = new StalledRead(this);
    final Reassignments reassignments = new Reassignments(this);
    final Broker[] brokers;
    final Disk[] disks;
    final Map<Integer, Errors> answers = new TreeMap<>();  // what the producer is told, by record
    /** Whether followers join the ISR only where a step says so, and not as soon as Kafka lets them. */
    final boolean holdsBack;
    DirectController controller;
    int produced;

    /** The brokers that run and have asked to be let go. */
    final Set<Integer> shuttingDown = new TreeSet<>();

    /** The brokers that are active, and to be unregistered in the step that takes them out. */
    final Set<Integer> unregistering = new TreeSet<>();

    /** Where in the metadata log `min.insync.replicas` is changed, or -1; of which partition epoch, and whether that is its own. */
    private int minIsrChangedAt = -1, epochOfMinIsr;
    private boolean changedWithMinIsr;

    /** Where a log starts is written to its checkpoint by a step of its own. */
    boolean lateLogStarts;

    /** Truncation of a cache of leader epochs is written to its file by a step of its own. */
    boolean lateEpochs;

    /** Of the step that was taken last: what to know of it, and why it could not be taken as it should. */
    final List<String> notes = new ArrayList<>(), failures = new ArrayList<>();

    /** If `first` is not 0, the partition is the topic's second, and the first has so many replicas. */
    World(File root, int count, int replicas, int first, Map<String, String> settings, boolean eligibleLeaderReplicas, boolean holdsBack, boolean twoDirectories) {
        this.holdsBack = holdsBack;
        partition = new TopicPartition(TOPIC, first > 0 ? 1 : 0);
        brokers = new Broker[count];
        disks = new Disk[count];
        controller = new DirectController(clock, KafkaRaftServer.configSchema(), partition.partition(), DirectController.bootstrap(eligibleLeaderReplicas));
        for (int b = 0; b < count; b++) {
            disks[b] = new Disk(new File(root, Integer.toString(b)), new Uuid(77L, 1000L + b), partition, twoDirectories);
            start(b);
            controller.unfence(b);
        }
        List<Integer> own = IntStream.range(0, replicas).boxed().toList();
        if (first == 0) controller.createTopic(TOPIC, settings, List.of(own));
        else createBesideFirst(own, first, settings);
        for (int b = 0; b < count; b++) read(b);
        scheduler.runDue();
    }

    /** The first partition is made on brokers that do nothing else, and on fewer of them then; they are fenced for good. */
    private void createBesideFirst(List<Integer> own, int first, Map<String, String> settings) {
        List<Integer> others = own.stream().map(b -> brokers.length + b).toList();
        for (int b : others) {
            controller.register(b, new Uuid(77L, 1000L + b), -1);
            controller.unfence(b);
        }
        controller.createTopic(TOPIC, settings, List.of(others, own));
        if (first < others.size()) controller.reassign(TOPIC, 0, others.subList(0, first));
        for (int b : others) controller.fence(b);
    }

    void note(String words) { notes.add(words); }

    void fail(String words) { failures.add(words); }

    /** A broker starts and registers; its directory of logs is as the one before left it. */
    void start(int broker) {
        brokers[broker] = new Broker(this, broker, clean -> controller.register(broker, disks[broker].id, clean));
    }

    /** The broker reads all of the metadata log, but a change of the settings that nothing of the partition follows; as it starts, that too. */
    void read(int broker) {
        stalledRead.forget(broker);
        boolean before = minIsrChangedLast() && brokers[broker].read > 0 && brokers[broker].read <= minIsrChangedAt;
        brokers[broker].read(controller.log, before ? minIsrChangedAt : controller.log.size());
    }

    void changeMinIsr(int value) {
        minIsrChangedAt = controller.log.size();
        int before = controller.partition().partitionEpoch;
        controller.changeMinIsr(TOPIC, value);
        epochOfMinIsr = controller.partition().partitionEpoch;
        changedWithMinIsr = epochOfMinIsr > before;
    }

    /** The change of the settings was written after all that there is of the partition. */
    boolean minIsrChangedLast() {
        PartitionRegistration now = controller.partition();
        return minIsrChangedAt >= 0 && !changedWithMinIsr && now != null && now.partitionEpoch == epochOfMinIsr;
    }

    /** The broker has read no image with the change in it. */
    boolean hasMinIsrUnread(int broker) {
        return minIsrChangedAt >= 0 && controller.partition() != null && brokers[broker].read <= minIsrChangedAt;
    }

    boolean goesByFormerMinIsr(int broker) { return hasMinIsrUnread(broker) || brokers[broker].settingsWait; }

    /** The change is what the leader reads next, or the image with it has been read, but for its settings. */
    boolean readsMinIsrNext(int leader) {
        Broker broker = brokers[leader];
        if (!hasMinIsrUnread(leader)) return broker.settingsWait;
        return broker.partition().getPartitionEpoch() >= epochOfMinIsr
            && controller.log.subList(broker.read, minIsrChangedAt).stream().noneMatch(PartitionChangeRecord.class::isInstance);
    }

    /** The last offset that the broker has read, settings and all, for the ELR: who is down, or follows, goes by no settings. */
    private long readUpTo(int broker) {
        if (brokers[broker] == null) return controller.log.size();
        Partition known = brokers[broker].partition();
        boolean settingsWait = brokers[broker].settingsWait && known != null && known.isLeader();
        return settingsWait ? minIsrChangedAt - 1L : brokers[broker].read - 1L;
    }

    void readMinIsr(int leader) {
        brokers[leader].read(controller.log, minIsrChangedAt + 1);
        brokers[leader].applySettings();
    }

    void requireLeader(int leader) {
        if (controller.partition().leader != leader) fail("the controller elects " + controller.partition().leader);
    }

    /** The topic is deleted, and each broker that runs reads of it. */
    void deleteTopic() {
        controller.deleteTopic();
        isrChanges.forgetAll();
        for (int b = 0; b < brokers.length; b++) if (brokers[b] != null) {
            rounds.forget(b);
            stall.forget(b);
            stalledRead.forget(b);
            read(b);
        }
        answers.clear();
    }

    void failOver() {
        isrChanges.lose();
        controller = new DirectController(clock, KafkaRaftServer.configSchema(), partition.partition(), controller.log);
    }

    /** Where the log of a broker that is up starts once it is loaded again. */
    private long startOnDisk(Broker broker) { return lateLogStarts ? disks[broker.id].logStart() : Internals.logStart(broker); }

    /** The process dies. The checkpoint of log starts is as if just written, unless that is a step of its own. */
    void crash(int broker, long checkpoint) {
        rounds.forget(broker);
        stall.forget(broker);
        stalledRead.forget(broker);
        long start = Internals.logStart(brokers[broker]);
        long future = brokers[broker].movers == null ? 0 : brokers[broker].movers.futureHighWatermark();
        brokers[broker].kill();
        gone(broker);
        disks[broker].checkpoint(checkpoint, future);
        if (start > 0 && !lateLogStarts) disks[broker].checkpointLogStart(start);
    }

    /** The controller takes a broker out: it is unregistered, it wants to shut down, or its session has expired. */
    void leave(int broker) {
        if (unregistering.remove(broker)) controller.unregister(broker);
        else if (shuttingDown.contains(broker)) controller.beginShutdown(broker);
        else controller.fence(broker);
    }

    /** The model takes an active broker out in a step of its own. */
    void unregister(int broker) {
        if (controller.isActive(broker)) unregistering.add(broker);
        else controller.unregister(broker);
    }

    /** One that is not registered is not answered, and stops when it has waited long enough. */
    void stopAsAsked(int broker) {
        if (controller.isRegistered(broker)) controller.letGo(broker, brokers.length);
        stop(broker);
    }

    void stop(int broker) {
        rounds.forget(broker);
        stall.forget(broker);
        stalledRead.forget(broker);
        brokers[broker].shutDown();
        gone(broker);
    }

    private void gone(int broker) {
        brokers[broker] = null;
        shuttingDown.remove(broker);
        isrChanges.forget(broker);
    }

    void beforeStep() {
        clock.sleep(STEP_MS);
        for (Broker broker : brokers) if (broker != null) broker.beReady();
        for (int b = 0; b < brokers.length; b++) controller.hasRead(b, readUpTo(b));
    }

    /** What happens by itself in the same step. */
    void afterStep() {
        scheduler.runDue();
        isrChanges.resendForgotten();
        isrChanges.refuseVoid();
        for (Broker broker : brokers) if (broker != null) {
            broker.replicas.tryCompleteActions();
            if (lateEpochs) broker.logScheduler.forgetWhatIsWritten(broker.log() == null ? null : Internals.epochCache(broker), startOnDisk(broker));
        }
    }

    void close() {
        for (int b = 0; b < brokers.length; b++) {
            rounds.forget(b);
            stall.forget(b);
            stalledRead.forget(b);
            if (brokers[b] != null) brokers[b].kill();
        }
    }
}
