package org.apache.kafka.controller;

import static highwater.Parts.ask;
import static highwater.Parts.has;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import highwater.Parts;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData.ReassignablePartition;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData.ReassignableTopic;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionResponseData;
import org.apache.kafka.common.message.BrokerHeartbeatRequestData;
import org.apache.kafka.common.message.BrokerRegistrationRequestData;
import org.apache.kafka.common.message.CreateTopicsRequestData;
import org.apache.kafka.common.message.CreateTopicsRequestData.CreatableReplicaAssignment;
import org.apache.kafka.common.message.CreateTopicsRequestData.CreatableTopic;
import org.apache.kafka.common.message.CreateTopicsResponseData;
import org.apache.kafka.common.message.ElectLeadersRequestData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.BrokerHeartbeatReply;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * What a QuorumController decides, without Raft: its own managers, whose records take effect at once.
 *
 * The managers are private to Kafka's package, so this class is in it. `log` is the metadata log, a
 * record an offset. Another controller takes over by replaying it.
 */
public final class DirectController {
    private static final String CLUSTER = "highwater";
    private static final int MORE_THAN_THE_LOG = 1_000;

    public final List<ApiMessage> log = new ArrayList<>();
    private final Object context = logContext();
    private final SnapshotRegistry registry = (SnapshotRegistry) Parts.made(SnapshotRegistry.class, new Class<?>[] {context.getClass()}, context);
    private final FeatureControlManager features;
    private final ClusterControlManager cluster;
    private final ConfigurationControlManager configuration;
    private final ReplicationControlManager replication;
    private final int partition;
    private Uuid topic;

    /** A controller that has replayed `before`; of the topic's partitions it is about the one of that number. */
    public DirectController(Time time, KafkaConfigSchema schema, int partition, Collection<ApiMessage> before) {
        this.partition = partition;
        FeatureControlManager.Builder f = new FeatureControlManager.Builder().setSnapshotRegistry(registry)
            .setQuorumFeatures(quorum());
        if (has(f, "setMetadataVersion") && has(MetadataVersion.class, "isTopicIdsSupported")) ask(f, "setMetadataVersion", newest());
        features = f.build();
        ClusterControlManager.Builder c = new ClusterControlManager.Builder().setTime(time).setSnapshotRegistry(registry)
            .setClusterId(CLUSTER).setSessionTimeoutNs(1_000_000L).setReplicaPlacer(new StripedReplicaPlacer(new Random(0)))
            .setFeatureControlManager(features);
        if (has(c, "setZkMigrationEnabled")) ask(c, "setZkMigrationEnabled", false);
        for (String name : List.of("setBrokerShutdownHandler", "setBrokerUncleanShutdownHandler"))
            if (has(c, name)) ask(c, name, stopHandler(Parts.parameterOf(c, name)));
        cluster = c.build();
        ConfigurationControlManager.Builder s = new ConfigurationControlManager.Builder().setSnapshotRegistry(registry)
            .setStaticConfig(Map.of()).setKafkaConfigSchema(schema);
        if (has(s, "setFeatureControl")) ask(s, "setFeatureControl", features);
        configuration = s.build();
        ReplicationControlManager.Builder r = new ReplicationControlManager.Builder();
        ask(r, "setLogContext", context);
        replication = r.setSnapshotRegistry(registry)
            .setMaxElectionsPerImbalance(Integer.MAX_VALUE).setConfigurationControl(configuration).setClusterControl(cluster)
            .setFeatureControl(features).build();
        cluster.activate();
        before.forEach(this::append);
    }

    /** What log lines begin with: nothing. */
    public static Object logContext() {
        return Parts.of("").make(Parts.type("org.apache.kafka.common.utils.internals.LogContext", "org.apache.kafka.common.utils.LogContext"));
    }

    /** The first records of a new cluster: the newest metadata version, with or without ELR (KIP-966). */
    public static List<ApiMessage> bootstrap(boolean eligibleLeaderReplicas) {
        List<ApiMessage> records = new ArrayList<>();
        records.add(new FeatureLevelRecord().setName(MetadataVersion.FEATURE_NAME).setFeatureLevel(newest().featureLevel()));
        if (eligibleLeaderReplicas) records.add(elrIsOn());
        return records;
    }

    private static FeatureLevelRecord elrIsOn() {
        return new FeatureLevelRecord().setName("eligible.leader.replicas.version").setFeatureLevel((short) 1);
    }

    /** The record of a feature update that switches ELR on. */
    public void switchOnElr() { append(elrIsOn()); }

    private static MetadataVersion newest() {
        return (MetadataVersion) ask(MetadataVersion.class, has(MetadataVersion.class, "latestProduction") ? "latestProduction" : "latest");
    }

    private static QuorumFeatures quorum() {
        return Parts.of(0, supported(), List.of(0), new org.apache.kafka.clients.ApiVersions()).make(QuorumFeatures.class);
    }

    private static Map<?, ?> supported() {
        String name = has(QuorumFeatures.class, "defaultSupportedFeatureMap") ? "defaultSupportedFeatureMap" : "defaultFeatureMap";
        return (Map<?, ?>) Parts.of(true).call(QuorumFeatures.class, name);
    }

    /** What the controller does when a broker registers after a stop: from 4.0 `handleBrokerShutdown`. */
    private Object stopHandler(Class<?> kind) {
        return Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, (proxy, method, arguments) ->
            ask(replication, arguments.length == 3 ? "handleBrokerShutdown" : "handleBrokerUncleanShutdown", arguments));
    }

    private void append(ApiMessage record) {
        long offset = log.size();
        log.add(record);
        switch (record.getClass().getSimpleName()) {
            case "FeatureLevelRecord" -> features.replay((FeatureLevelRecord) record);
            case "RegisterBrokerRecord" -> ask(cluster, "replay", record, offset);
            case "BrokerRegistrationChangeRecord", "UnregisterBrokerRecord" -> ask(cluster, "replay", record);
            case "ConfigRecord" -> Parts.of(record, offset).call(configuration, "replay");
            case "TopicRecord", "PartitionRecord", "PartitionChangeRecord", "ClearElrRecord", "RemoveTopicRecord" -> ask(replication, "replay", record);
            default -> throw new IllegalStateException("no manager replays " + record);
        }
        if (record instanceof org.apache.kafka.common.metadata.TopicRecord made) topic = made.topicId();
    }

    private <T> T commit(ControllerResult<T> result) {
        for (ApiMessageAndVersion record : result.records()) append(record.message());
        return result.response();
    }

    private static ControllerRequestContext context(ApiKeys request) {
        return new ControllerRequestContext(new RequestHeaderData().setRequestApiKey(request.id)
            .setRequestApiVersion(request.latestVersion()), KafkaPrincipal.ANONYMOUS, OptionalLong.empty(), change -> { });
    }

    public Uuid topic() { return topic; }
    public PartitionRegistration partition() { return replication.getPartition(topic, partition); }
    public boolean isRegistered(int broker) { return cluster.registration(broker) != null; }
    /** Registered, and neither fenced nor in controlled shutdown. */
    public boolean isActive(int broker) {
        BrokerRegistration registration = cluster.registration(broker);
        return registration != null && !registration.fenced() && !registration.inControlledShutdown();
    }
    public int[] eligible() { return listed("elr"); }
    public int[] lastKnown() { return listed("lastKnownElr"); }

    private int[] listed(String field) {
        return Arrays.stream(PartitionRegistration.class.getFields()).anyMatch(f -> f.getName().equals(field))
            ? (int[]) Parts.get(partition(), field) : new int[0];
    }

    /** Registers a new incarnation; `previous` is the broker epoch of a clean stop, or -1. Its broker epoch. */
    @SuppressWarnings("unchecked")
    public long register(int broker, Uuid directory, long previous) {
        BrokerRegistrationRequestData request = new BrokerRegistrationRequestData().setBrokerId(broker).setClusterId(CLUSTER)
            .setIncarnationId(Uuid.randomUuid());
        if (has(request, "setLogDirs")) ask(request, "setLogDirs", List.of(directory));
        if (has(request, "setPreviousBrokerEpoch")) ask(request, "setPreviousBrokerEpoch", previous);
        request.listeners().add(new BrokerRegistrationRequestData.Listener().setName("PLAINTEXT").setHost("localhost")
            .setPort(9092 + broker).setSecurityProtocol((short) 0));
        supported().forEach((name, range) -> request.features().add(new BrokerRegistrationRequestData.Feature().setName((String) name)
            .setMinSupportedVersion((Short) ask(range, "min")).setMaxSupportedVersion((Short) ask(range, "max"))));
        commit((ControllerResult<Object>) Parts.of(request, log.size() + (long) MORE_THAN_THE_LOG, features.finalizedFeatures(Long.MAX_VALUE),
            true, ApiKeys.BROKER_REGISTRATION.latestVersion()).call(cluster, "registerBroker"));
        return cluster.registration(broker).epoch();
    }

    /** The heartbeat by which a broker that has caught up asks to take part. */
    public void unfence(int broker) { heartbeat(broker, false); }

    /** The heartbeat of a broker that has read everything. Whether it may shut down now. */
    private boolean heartbeat(int broker, boolean wantsShutDown) {
        BrokerHeartbeatReply reply = commit(replication.processBrokerHeartbeat(new BrokerHeartbeatRequestData().setBrokerId(broker)
            .setBrokerEpoch(cluster.registration(broker).epoch()).setCurrentMetadataOffset(log.size()).setWantFence(false)
            .setWantShutDown(wantsShutDown), cluster.registerBrokerRecordOffset(broker).getAsLong()));
        if (reply.inControlledShutdown()) ask(cluster.heartbeatManager(), "maybeUpdateControlledShutdownOffset", broker, log.size() - 1L);
        return reply.shouldShutDown();
    }

    /** A broker that is active has told in its last heartbeat that it has read up to this offset. */
    public void hasRead(int broker, long offset) {
        if (isActive(broker)) cluster.heartbeatManager().touch(broker, false, offset);
    }

    /** A broker's first heartbeat that wants a shutdown: a leader is in controlled shutdown then, another is fenced. */
    public void beginShutdown(int broker) { heartbeat(broker, true); }

    /** Brokers that are active have read all; a broker that wants a shutdown is answered that it may. */
    public void letGo(int broker, int brokers) {
        for (int other = 0; other < brokers; other++) if (isActive(other)) heartbeat(other, false);
        if (!heartbeat(broker, true)) throw new IllegalStateException("broker " + broker + " may not shut down");
    }

    /** What `maybeFenceOneStaleBroker` does once the broker's session has expired. */
    public void fence(int broker) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        replication.handleBrokerFenced(broker, records);
        cluster.heartbeatManager().fence(broker);
        for (ApiMessageAndVersion record : records) append(record.message());
    }

    /** An operator has the controller forget a broker. */
    public void unregister(int broker) { commit(replication.unregisterBroker(broker)); }

    /** `replicas` are those of each partition. */
    public void createTopic(String name, Map<String, String> settings, List<List<Integer>> replicas) {
        CreatableTopic wanted = new CreatableTopic().setName(name).setNumPartitions(-1).setReplicationFactor((short) -1);
        for (int number = 0; number < replicas.size(); number++)
            wanted.assignments().add(new CreatableReplicaAssignment().setPartitionIndex(number).setBrokerIds(replicas.get(number)));
        settings.forEach((setting, value) -> {
            Object config = Parts.made(Parts.type(CreateTopicsRequestData.class.getName() + "$CreatableTopicConfig",
                CreateTopicsRequestData.class.getName() + "$CreateableTopicConfig"), new Class<?>[0]);
            ask(config, "setName", setting);
            ask(config, "setValue", value);
            ask(wanted.configs(), "mustAdd", config);
        });
        CreateTopicsRequestData request = new CreateTopicsRequestData();
        request.topics().add(wanted);
        @SuppressWarnings("unchecked")
        ControllerResult<CreateTopicsResponseData> result = (ControllerResult<CreateTopicsResponseData>)
            Parts.of(context(ApiKeys.CREATE_TOPICS), request, Set.of()).call(replication, "createTopics");
        Errors error = Errors.forCode(commit(result).topics().find(name).errorCode());
        if (error != Errors.NONE) throw new IllegalStateException("create topic: " + error);
    }

    @SuppressWarnings("unchecked")
    public void deleteTopic() {
        Map<Uuid, ApiError> errors = commit((ControllerResult<Map<Uuid, ApiError>>)
            Parts.of(context(ApiKeys.DELETE_TOPICS), List.of(topic)).call(replication, "deleteTopics"));
        if (errors.get(topic).isFailure()) throw new IllegalStateException("delete topic: " + errors);
    }

    /** The brokers that the index of the ELR by broker has more often than they are in the ELR; none before 4.0. */
    public List<Integer> leftInIndex(int brokers) {
        List<Integer> found = new ArrayList<>();
        if (!has(replication, "brokersToElrs")) return found;
        for (int b = 0; b < brokers; b++) {
            final int broker = b;
            int entries = 0;
            Iterator<?> listed = (Iterator<?>) ask(ask(replication, "brokersToElrs"), "partitionsWithBrokerInElr", b);
            for (; listed.hasNext(); listed.next()) entries++;
            boolean eligible = partition() != null && Arrays.stream(eligible()).anyMatch(member -> member == broker);
            if (entries > (eligible ? 1 : 0)) found.add(broker);
        }
        return found;
    }

    /** The same replicas in another order: `first` is the preferred leader now. A reassignment goes on. */
    public void prefer(String name, int first) {
        List<Integer> order = new ArrayList<>(List.of(first));
        for (int replica : partition().replicas) if (replica != first) order.add(replica);
        if (partition().replicas[0] == first) return;
        if (partition().addingReplicas.length + partition().removingReplicas.length > 0 || !order.stream().allMatch(this::isRegistered))
            reorder(order);
        else reassign(name, order);
        if (partition().replicas[0] != first) throw new IllegalStateException("the replicas are still in their old order");
    }

    /** No request changes the order while a reassignment is under way, or a broker is not registered: a record that none would write. */
    private void reorder(List<Integer> order) {
        PartitionChangeRecord record = new PartitionChangeRecord().setTopicId(topic).setPartitionId(partition).setReplicas(order);
        if (has(partition(), "directory")) {
            List<Object> directories = new ArrayList<>();
            for (int replica : order) directories.add(ask(partition(), "directory", replica));
            ask(record, "setDirectories", directories);
        }
        append(record);
    }

    /** Asks for other replicas; null cancels what is under way. */
    public void reassign(String name, List<Integer> replicas) { reassign(name, partition, replicas); }

    /** The same for any partition of the topic. */
    public void reassign(String name, int number, List<Integer> replicas) {
        ReassignableTopic change = new ReassignableTopic().setName(name);
        change.partitions().add(new ReassignablePartition().setPartitionIndex(number).setReplicas(replicas));
        AlterPartitionReassignmentsRequestData request = new AlterPartitionReassignmentsRequestData();
        request.topics().add(change);
        var answer = commit(replication.alterPartitionReassignments(request)).responses().get(0).partitions().get(0);
        Errors error = Errors.forCode(answer.errorCode());
        if (error != Errors.NONE) throw new IllegalStateException("reassign: " + error + ", " + answer.errorMessage());
    }

    /** An election by an operator, preferred or unclean. */
    public Errors elect(String name, boolean unclean) {
        ElectLeadersRequestData request = new ElectLeadersRequestData().setElectionType((byte) (unclean ? 1 : 0));
        request.topicPartitions().add(new ElectLeadersRequestData.TopicPartitions().setTopic(name).setPartitions(List.of(partition)));
        return Errors.forCode(commit(replication.electLeaders(request)).replicaElectionResults().get(0).partitionResult().get(0).errorCode());
    }

    /** A broker says in which of its directories its replica is. */
    @SuppressWarnings("unchecked")
    public void assign(int broker, Uuid directory) {
        String name = "org.apache.kafka.common.message.AssignReplicasToDirsRequestData";
        Object replica = message(name + "$PartitionData"), data = message(name + "$DirectoryData"), in = message(name + "$TopicData"), request = message(name);
        ask(replica, "setPartitionIndex", partition);
        ask(ask(in, "setTopicId", topic), "setPartitions", List.of(replica));
        ask(ask(data, "setId", directory), "setTopics", List.of(in));
        ask(ask(ask(request, "setBrokerId", broker), "setBrokerEpoch", cluster.registration(broker).epoch()), "setDirectories", List.of(data));
        commit((ControllerResult<Object>) ask(replication, "handleAssignReplicasToDirs", request));
    }

    private static Object message(String type) { return Parts.made(Parts.type(type), new Class<?>[0]); }

    @SuppressWarnings("unchecked")
    public void changeMinIsr(String name, int value) {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, name);
        Map<String, Map.Entry<AlterConfigOp.OpType, String>> change =
            Map.of("min.insync.replicas", Map.entry(AlterConfigOp.OpType.SET, Integer.toString(value)));
        Map<ConfigResource, ApiError> errors = commit((ControllerResult<Map<ConfigResource, ApiError>>)
            Parts.of(Map.of(resource, change), false).call(configuration, "incrementalAlterConfigs"));
        if (errors.get(resource).isFailure()) throw new IllegalStateException("min.insync.replicas: " + errors);
    }

    public AlterPartitionResponseData alterPartition(AlterPartitionRequestData request) {
        return commit(replication.alterPartition(context(ApiKeys.ALTER_PARTITION), request));
    }
}
