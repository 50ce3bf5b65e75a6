package highwater;

import java.io.File;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import kafka.cluster.Partition;
import kafka.server.KafkaConfig;
import kafka.server.ReplicaFetcherThread;
import kafka.server.ReplicaManager;
import org.apache.kafka.clients.FetchSessionHandler;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.metadata.BrokerRegistrationChangeRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.controller.DirectController;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import scala.Function0;
import scala.Function1;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** One incarnation of a broker, from its start to its end: Kafka's classes, put together as BrokerServer does. */
final class Broker implements Fetching {
    private static final Metrics METRICS = new Metrics();
    private static final Map<List<File>, KafkaConfig> CONFIGS = new HashMap<>();

    final int id;
    final KafkaConfig config;
    final ReplicaManager replicas;
    final Object replicationQuota;
    final Function0<MetadataVersion> version;
    final long epoch;
    final Movers movers;  // null where there is one directory
    final LogScheduler logScheduler;
    int read;  // records of the metadata log that it has read
    boolean settingsWait;  // an image is applied but for its settings

    private final World world;
    private final Object logs;
    private final Object cache;
    private final Object topicStats;
    private final Function0<Object> epochSupplier;
    private final Object loader, directoryEvents;
    private MetadataImage image = MetadataImage.EMPTY;

    /** Starts a broker. `register` is given the broker epoch of a clean stop, or -1, and gives the new one. */
    Broker(World world, int id, LongUnaryOperator register) {
        this.world = world;
        this.id = id;
        movers = world.disks[id].directories.size() > 1 ? new Movers(world, this) : null;
        config = CONFIGS.computeIfAbsent(world.disks[id].directories, directories -> BrokerParts.configuration(id, directories, Map.of()));
        version = () -> BrokerParts.versionOf(image.features().metadataVersion());
        cache = BrokerParts.metadataCache(id);
        topicStats = BrokerParts.topicStats(false);
        LogDirFailureChannel failures = new LogDirFailureChannel(5);
        logScheduler = new LogScheduler(world);
        logs = Parts.of(config, CollectionConverters.asScala(List.of()).toSeq(), Set.of(), cache, logScheduler, world.clock,
            topicStats, failures, true).call(Parts.type("kafka.log.LogManager"), "apply");
        epoch = register.applyAsLong(epochOfCleanStop());
        epochSupplier = () -> epoch;
        Supplier<Long> sameEpoch = () -> epoch;
        directoryEvents = movers == null ? BrokerParts.noDirectoryEvents() : movers.events();
        Object changes = Parts.of(channel(), world.scheduler, world.clock, id, epochSupplier, sameEpoch, version)
            .make(Parts.type("org.apache.kafka.server.partition.DefaultAlterPartitionManager", "kafka.server.DefaultAlterPartitionManager"));
        BrokerParts.Quotas quotas = BrokerParts.Quotas.of(METRICS, world.clock);
        replicationQuota = quotas.replication();
        replicas = Parts.of(config, METRICS, world.clock, world.scheduler, logs, quotas.all(), cache, failures, changes, topicStats,
            new AtomicBoolean(false), epochSupplier, directoryEvents, BrokerParts.actionQueue())
            .madeBy(parameter -> BrokerParts.purgatory(parameter, id, world.stall::passes)).make(ReplicaManager.class);
        Parts.set(replicas, "replicaFetcherManager",
            new SteppedFetchers(this, config, replicas, METRICS, world.clock, replicationQuota, version, epochSupplier));
        if (movers != null) movers.manage(replicas, quotas.moves(), topicStats);
        loader = batchLoader();
    }

    private long epochOfCleanStop() {
        return Parts.has(logs, "readBrokerEpochFromCleanShutdownFiles")
            ? ((OptionalLong) Parts.ask(logs, "readBrokerEpochFromCleanShutdownFiles")).orElse(-1) : -1;
    }

    /** The way to the controller: each AlterPartition request goes to the world, and is answered when that says so. */
    private Object channel() {
        Class<?> kind = Parts.type("org.apache.kafka.server.common.NodeToControllerChannelManager",
            "org.apache.kafka.server.NodeToControllerChannelManager", "kafka.server.BrokerToControllerChannelManager");
        return Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, (proxy, method, arguments) -> switch (method.getName()) {
            case "sendRequest" -> {
                world.isrChanges.send(id, arguments[0], (org.apache.kafka.clients.RequestCompletionHandler) arguments[1]);
                yield null;
            }
            case "start", "shutdown" -> null;
            default -> throw new IllegalStateException("the channel to the controller is asked for " + method);
        });
    }

    @Override public Object endPointOf(Object address, int leader) {
        return Parts.of("", Wire.between(world, this, address, leader), Parts.of(DirectController.logContext(), leader).make(FetchSessionHandler.class), config, replicas,
            replicationQuota, version, epochSupplier).make(kafka.server.RemoteLeaderEndPoint.class);
    }

    // --- metadata ---

    /** Reads the metadata log from where it is up to `end`, as one image. */
    void read(List<ApiMessage> log, int end) {
        if (read >= end) return;
        logScheduler.settled();
        if (loader == null) {
            MetadataDelta delta = Parts.of(image, BrokerParts.supportedConfigs()).make(MetadataDelta.class);
            for (int i = read; i < end; i++) delta.replay(log.get(i));
            publish(delta, delta.apply(Parts.of((long) end, 1, (long) end, true).make(MetadataProvenance.class)));
        } else {
            Object nobody = Parts.get(Parts.type("org.apache.kafka.raft.LeaderAndEpoch"), "UNKNOWN");
            for (int i = read; i < end; i++)
                Parts.ask(loader, "loadBatch", org.apache.kafka.raft.Batch.data(i, 1, world.clock.milliseconds(), 1,
                    List.of(new ApiMessageAndVersion(log.get(i), (short) 0))), nobody);
            Parts.of(nobody, true).call(loader, "maybeFlushBatches");
        }
        read = end;
    }

    /** From 3.7 Kafka's MetadataBatchLoader makes images out of batches of records. */
    private Object batchLoader() {
        String name = "org.apache.kafka.image.loader.MetadataBatchLoader";
        if (!Parts.hasType(name)) return null;
        Class<?> kind = Parts.type(name), updater = Parts.type(name + "$MetadataUpdater");
        Class<?> faults = Parts.type("org.apache.kafka.server.fault.FaultHandler");
        Object publisher = Proxy.newProxyInstance(updater.getClassLoader(), new Class<?>[] {updater}, (proxy, method, arguments) -> {
            publish((MetadataDelta) arguments[0], (MetadataImage) arguments[1]);
            return null;
        });
        Object thrower = Proxy.newProxyInstance(faults.getClassLoader(), new Class<?>[] {faults}, (proxy, method, arguments) -> {
            throw new IllegalStateException(arguments[0].toString(), (Throwable) arguments[1]);
        });
        return Parts.of(DirectController.logContext(), world.clock, thrower, publisher, BrokerParts.supportedConfigs()).make(kind);
    }

    /** What BrokerMetadataPublisher does with a new image: but for the settings, which come last and wait. */
    private void publish(MetadataDelta delta, MetadataImage next) {
        applySettings();
        image = next;
        if (world.holdsBack) holdBackIsr();
        else showTruth();
        if (read == 0) {
            boolean stray = !image.topics().topicsByName().containsKey(World.TOPIC)
                || java.util.Arrays.stream(image.topics().getTopic(World.TOPIC).partitions().get(world.partition.partition()).replicas).noneMatch(r -> r == id);
            Function1<Object, Object> isStray = log -> stray;
            Function<Object, Object> isStrayInJava = log -> stray;
            Set<String> topics = image.topics().topicsByName().keySet();
            Parts.of(CollectionConverters.asScala(topics), topics, isStray, isStrayInJava).call(logs, "startup");
        }
        beReady();
        if (delta.topicsDelta() != null) replicas.applyDelta(delta.topicsDelta(), image);
        settingsWait = read > 0 && delta.configsDelta() != null;
    }

    /** For what may begin a move, or go on with one. */
    void beReady() { if (movers != null) movers.beReady(directoryEvents); }

    /** What DynamicConfigPublisher does with a topic's `min.insync.replicas`, if that has changed in the last image. */
    void applySettings() {
        if (!settingsWait) return;
        settingsWait = false;
        if (partition() == null) return;
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, World.TOPIC);
        set("min.insync.replicas", Long.parseLong(image.configs().configProperties(topic).getProperty("min.insync.replicas")));
    }

    private void set(String name, long value) {
        Properties settings = new Properties();
        if (partition() != null) {
            Map<?, ?> held = (Map<?, ?>) Parts.ask(Parts.ask(log(), "config"), "originals");
            for (String kept : List.of("min.insync.replicas", "segment.ms")) settings.put(kept, held.get(kept).toString());
        }
        settings.put(name, Long.toString(value));
        Parts.of(World.TOPIC, settings, false, false, false).call(logs, "updateTopicConfig");
    }

    /** DeleteRecords at a leader, if files are to stay for now; else retention. */
    void deleteRecords(long start) {
        if (world.lateLogStarts && partition().isLeader()) partition().deleteRecordsOnLeader(start);
        else deleteSegments(start);
    }

    /** Retention by size, which has the log's segments before the offset deleted. */
    private void deleteSegments(long start) {
        long kept = 0;
        for (Object segment : Scala.list(Parts.ask(log(), "logSegments")))
            if ((Long) Parts.ask(segment, "baseOffset") >= start) kept += (Integer) Parts.ask(segment, "size");
        set("retention.bytes", kept);
        Parts.ask(log(), "deleteOldSegments");
        set("retention.bytes", -1);
    }

    /** What a thread does once a minute. */
    void checkpointLogStart() { Parts.ask(logs, "checkpointLogStartOffsets"); }

    // --- who may join the ISR ---

    /** Shows the leader a cluster whose followers are all fenced, so that none may join the ISR. */
    void holdBackIsr() { show(-1, world.controller.log); }

    /** Whether this broker leads and knows the newest partition epoch. */
    boolean isCurrentLeader() {
        Partition partition = partition();
        return partition != null && partition.isLeader() && partition.getPartitionEpoch() == world.controller.partition().partitionEpoch;
    }

    /** Lets one follower join in the next fetch; whether the image alone would have said no. */
    boolean letJoin(int follower) {
        boolean allowed = image.cluster().broker(follower) != null && !image.cluster().broker(follower).fenced()
            && !image.cluster().broker(follower).inControlledShutdown() && image.cluster().broker(follower).epoch() == world.brokers[follower].epoch;
        show(follower, world.controller.log);
        return !allowed;
    }

    /** Shows the image as it is. */
    void showTruth() { Parts.ask(cache, "setImage", image); }

    private void show(int joiner, List<ApiMessage> log) {
        MetadataDelta delta = Parts.of(image, BrokerParts.supportedConfigs()).make(MetadataDelta.class);
        Set<Integer> shown = new TreeSet<>(image.cluster().brokers().keySet());
        if (joiner >= 0) shown.add(joiner);
        for (int broker : shown) {
            if (broker == joiner) {
                // Only a registration ends a controlled shutdown, or makes up for an unregistration.
                RegisterBrokerRecord newest = null;
                for (ApiMessage record : log) if (record instanceof RegisterBrokerRecord made && made.brokerId() == broker) newest = made;
                delta.replay(newest);
                delta.replay(new BrokerRegistrationChangeRecord().setBrokerId(broker).setBrokerEpoch(newest.brokerEpoch()).setFenced((byte) -1));
            } else if (!image.cluster().broker(broker).fenced()) {
                long known = image.cluster().broker(broker).epoch();
                delta.replay(new BrokerRegistrationChangeRecord().setBrokerId(broker).setBrokerEpoch(known).setFenced((byte) 1));
            }
        }
        Parts.ask(cache, "setImage", delta.apply(image.provenance()));
    }

    // --- what others ask ---

    Partition partition() {
        Option<Partition> found = replicas.onlinePartition(world.partition);
        return found.isEmpty() ? null : found.get();
    }

    Object log() { return Parts.ask(partition(), "localLogOrException"); }

    /** 0 where the broker has no replica. */
    long end() { return partition() == null ? 0 : (Long) Parts.ask(log(), "logEndOffset"); }

    ReplicaFetcherThread fetcher() {
        Option<ReplicaFetcherThread> found = replicas.replicaFetcherManager().getFetcher(world.partition);
        return found.isEmpty() ? null : found.get();
    }

    /** A fetcher has given the partition up until the next leader epoch. */
    boolean gaveUp() { return (Boolean) Parts.ask(Parts.ask(replicas.replicaFetcherManager(), "failedPartitions"), "contains", world.partition); }

    @Override public KafkaConfig config() { return config; }

    @Override public ReplicaManager replicas() { return replicas; }

    @Override public Object replicationQuota() { return replicationQuota; }

    @Override public Function0<MetadataVersion> version() { return version; }

    @Override public void beforeTruncating() { world.rounds.beforeTruncating(); }

    // --- the end ---

    /** The process is gone: nothing is written, and the operating system takes its files back. */
    void kill() {
        replicas.shutdown(false);
        for (Object log : Scala.list(Parts.ask(logs, "allLogs"))) Parts.ask(log, Parts.has(log, "closeQuietly") ? "closeQuietly" : "closeHandlers");
        for (Object lock : Scala.list(Parts.get(logs, "dirLocks"))) Parts.ask(lock, "destroy");
        Parts.ask(topicStats, "close");
    }

    void shutDown() {
        logScheduler.end();
        replicas.shutdown(true);
        Parts.of(epoch).call(logs, "shutdown");
        Parts.ask(topicStats, "close");
    }
}
