package org.apache.kafka.controller;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData.ReassignablePartition;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData.ReassignableTopic;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionRequestData.BrokerState;
import org.apache.kafka.common.message.AssignReplicasToDirsRequestData;
import org.apache.kafka.common.message.BrokerRegistrationRequestData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.metadata.ClearElrRecord;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.RemoveTopicRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.EligibleLeaderReplicasVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.config.ConfigSynonym;
import org.apache.kafka.timeline.SnapshotRegistry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who may be an eligible leader replica, and what reassignments do: on the real managers of the controller, without Raft. */
public class ReplicationControlManagerElrTest {
    private static final Uuid TOPIC = Uuid.randomUuid();
    private static final long EPOCH = 100;

    private final SnapshotRegistry registry = new SnapshotRegistry(new LogContext());
    private final Map<Integer, List<Uuid>> directories = new java.util.HashMap<>();
    private FeatureControlManager features;
    private ClusterControlManager cluster;
    private ConfigurationControlManager configs;
    private ReplicationControlManager replication;

    @BeforeEach
    public void startController() {
        features = new FeatureControlManager.Builder().setSnapshotRegistry(registry).setQuorumFeatures(
            new QuorumFeatures(0, QuorumFeatures.defaultSupportedFeatureMap(true), List.of(0))).build();
        features.replay(new FeatureLevelRecord().setName(MetadataVersion.FEATURE_NAME)
            .setFeatureLevel(MetadataVersion.latestProduction().featureLevel()));
        features.replay(new FeatureLevelRecord().setName(EligibleLeaderReplicasVersion.FEATURE_NAME)
            .setFeatureLevel((short) 1));
        cluster = new ClusterControlManager.Builder().setSnapshotRegistry(registry).setClusterId("c")
            .setReplicaPlacer(new StripedReplicaPlacer(new java.util.Random(0))).setFeatureControlManager(features)
            .setBrokerShutdownHandler((id, clean, records) -> replication.handleBrokerShutdown(id, clean, records))
            .build();
        ConfigDef topics = new ConfigDef()
            .define("min.insync.replicas", ConfigDef.Type.INT, 2, ConfigDef.Importance.HIGH, "")
            .define("unclean.leader.election.enable", ConfigDef.Type.BOOLEAN, false, ConfigDef.Importance.HIGH, "");
        configs = new ConfigurationControlManager.Builder().setSnapshotRegistry(registry)
            .setKafkaConfigSchema(new KafkaConfigSchema(Map.of(ConfigResource.Type.TOPIC, topics),
                Map.of("min.insync.replicas", List.of(new ConfigSynonym("min.insync.replicas")))))
            .setFeatureControl(features).build();
        replication = new ReplicationControlManager.Builder().setSnapshotRegistry(registry)
            .setConfigurationControl(configs).setClusterControl(cluster).setFeatureControl(features).build();
        cluster.activate();
        for (int broker = 0; broker < 5; broker++) {
            directories.put(broker, List.of(Uuid.randomUuid(), Uuid.randomUuid()));
            cluster.replay(new RegisterBrokerRecord().setBrokerId(broker).setBrokerEpoch(EPOCH).setFenced(false)
                .setIncarnationId(Uuid.randomUuid()).setLogDirs(directories.get(broker)), broker);
        }
        replication.replay(new TopicRecord().setName("t").setTopicId(TOPIC));
    }

    @Test
    public void testRemovedReplicaLeavesElrOnReassignmentCompletion() {
        replication.replay(partition(1, List.of(1), List.of(0), 0, 1));
        reassign(List.of(0, 3));
        changeIsr(1, 3);
        assertEquals(List.of(0, 3), ints(replication.getPartition(TOPIC, 0).replicas));
        assertEquals(List.of(3), ints(replication.getPartition(TOPIC, 0).isr));
        assertEquals(List.of(0), elr());
    }

    @Test
    public void testRemovedReplicaLeavesElrOnReassignmentCancellation() {
        replication.replay(partition(0, List.of(0), List.of(3), 0, 3, 4, 1, 2)
            .setAddingReplicas(List.of(3, 4)).setRemovingReplicas(List.of(1, 2)));
        reassign(null);
        assertEquals(List.of(0, 1, 2), ints(replication.getPartition(TOPIC, 0).replicas));
        assertEquals(List.of(), elr());
    }

    @Test
    public void testAddedReplicaNotInElr() {
        replication.replay(partition(0, List.of(0), List.of(3), 0, 1, 2));
        reassign(List.of(0, 1, 3));
        assertEquals(List.of(), elr());
    }

    @Test
    public void testRemainingReplicaStaysInElrOnReassignment() {
        replication.replay(partition(0, List.of(0), List.of(1), 0, 1, 2));
        reassign(List.of(0, 1, 3));
        assertEquals(List.of(1), elr());
    }

    @Test
    public void testReassignmentRevertedByReassignmentCompletes() {
        replication.replay(partition(0, List.of(0, 1, 2), List.of(), 0, 1, 2));
        reassign(List.of(0, 1, 3));
        reassign(List.of(0, 1, 2));
        assertEquals(List.of(0, 1, 2), ints(replication.getPartition(TOPIC, 0).replicas));
        assertEquals(List.of(), ints(replication.getPartition(TOPIC, 0).addingReplicas));
    }

    @Test
    public void testReassignmentKeepsReplicaRequestedAgain() {
        replication.replay(partition(0, List.of(0, 1, 2), List.of(), 0, 1, 2));
        reassign(List.of(0, 1, 3));
        reassign(List.of(0, 1, 2, 3));
        changeIsr(0, 3);
        assertEquals(List.of(0, 1, 2, 3), ints(replication.getPartition(TOPIC, 0).replicas));
        assertEquals(List.of(), ints(replication.getPartition(TOPIC, 0).removingReplicas));
    }

    @Test
    public void testAssignReplicasToDirsOfOtherReplicaKeepsElr() {
        replication.replay(partition(0, List.of(0), List.of(1), 0, 1, 2));
        assign(2, directories.get(2).get(1));
        assertEquals(List.of(1), elr());
    }

    @Test
    public void testAssignReplicasToDirsOfElrMemberKeepsElr() {
        replication.replay(partition(0, List.of(0), List.of(1), 0, 1, 2));
        assign(1, directories.get(1).get(1));
        assertEquals(List.of(1), elr());
    }

    @Test
    public void testRegistrationWithMissingDirectoryRemovesBrokerFromElr() {
        replication.replay(partition(0, List.of(0), List.of(1), 0, 1, 2));
        register(1, directories.get(1).subList(1, 2));
        assertEquals(List.of(), elr());
    }

    @Test
    public void testRegistrationWithMissingDirectoryAfterAssignmentRemovesBrokerFromElr() {
        replication.replay(partition(0, List.of(0), List.of(1), 0, 1, 2));
        assign(1, directories.get(1).get(1));
        register(1, directories.get(1).subList(1, 2));
        assertEquals(List.of(), elr());
    }

    @Test
    public void testRegistrationWithAllDirectoriesKeepsBrokerInElr() {
        replication.replay(partition(0, List.of(0), List.of(1), 0, 1, 2));
        register(1, directories.get(1));
        assertEquals(List.of(1), elr());
    }

    @Test
    public void testUncleanShutdownAfterElrClearedAndTopicDeleted() {
        replication.replay(partition(0, List.of(0), List.of(1), 0, 1, 2));
        replication.replay(new ClearElrRecord().setTopicName("t"));
        replication.replay(new RemoveTopicRecord().setTopicId(TOPIC));
        List<ApiMessageAndVersion> records = new ArrayList<>();
        replication.handleBrokerShutdown(1, false, records);
        assertEquals(List.of(), records);
    }

    @Test
    public void testLastKnownLeaderElectedIfElrEnabledWhileOffline() {
        replication.replay(partition(-1, List.of(1), List.of(), 0, 1, 2));
        restartUncleanly(1);
        assertEquals(1, replication.getPartition(TOPIC, 0).leader);
    }

    @Test
    public void testLastKnownLeaderElectedIfElrEnabledBefore() {
        replication.replay(partition(1, List.of(1), List.of(), 0, 1, 2));
        restartUncleanly(1);
        assertEquals(1, replication.getPartition(TOPIC, 0).leader);
    }

    @Test
    public void testEffectiveMinIsrUsesReplicasOfPartition() {
        replication.replay(partition(3, List.of(3), List.of(), 3));
        replication.replay(partition(0, List.of(0, 1), List.of(), 0, 1, 2).setPartitionId(1));
        List<ApiMessageAndVersion> records = new ArrayList<>();
        replication.handleBrokerFenced(1, records);
        replay(records);
        assertEquals(List.of(1), ints(replication.getPartition(TOPIC, 1).elr));
    }

    @Test
    public void testElrEmptyIfFewerReplicasThanMinIsr() {
        replication.replay(partition(0, List.of(0), List.of(), 0));
        reassign(List.of(0, 1));
        assertEquals(List.of(), elr());
    }

    @Test
    public void testUnregisteredBrokerLeavesElr() {
        replication.replay(partition(0, List.of(0), List.of(1), 0, 1, 2));
        unregister(1);
        assertEquals(List.of(), elr());
    }

    @Test
    public void testUnregisteredLeaderNotAddedToElr() {
        replication.replay(partition(0, List.of(0, 2), List.of(), 0, 1, 2));
        unregister(0);
        assertEquals(2, replication.getPartition(TOPIC, 0).leader);
        assertEquals(List.of(), elr());
    }

    @Test
    public void testLastKnownLeaderElectedAfterElrMemberUnregistered() {
        replication.replay(partition(2, List.of(2), List.of(0), 0, 1, 2));
        unregister(0);
        restartUncleanly(2);
        assertEquals(2, replication.getPartition(TOPIC, 0).leader);
    }

    @Test
    public void testOtherElrMembersKeptOnUnregisterBroker() {
        replication.replay(partition(0, List.of(0), List.of(1), 0, 1, 2));
        unregister(0);
        assertEquals(1, replication.getPartition(TOPIC, 0).leader);
        assertEquals(List.of(1), ints(replication.getPartition(TOPIC, 0).isr));
    }

    @Test
    public void testBrokerWithFailedDirectoryLeavesElr() {
        replication.replay(partition(0, List.of(0), List.of(1), 0, 1, 2));
        failDirectory(1, 0);
        assertEquals(List.of(), elr());
    }

    @Test
    public void testLeaderWithFailedDirectoryNotAddedToElr() {
        replication.replay(partition(0, List.of(0, 1), List.of(), 0, 1, 2));
        failDirectory(0, 0);
        assertEquals(1, replication.getPartition(TOPIC, 0).leader);
        assertEquals(List.of(), elr());
    }

    @Test
    public void testBrokerWithFailedDirectoryNotAddedToIsr() {
        replication.replay(partition(0, List.of(0), List.of(), 0, 1, 2));
        failDirectory(1, 0);
        changeIsr(0, 1);
        assertEquals(List.of(0), ints(replication.getPartition(TOPIC, 0).isr));
    }

    @Test
    public void testFailureOfOtherDirectoryKeepsElrAndIsr() {
        replication.replay(partition(0, List.of(0), List.of(1), 0, 1, 2));
        failDirectory(1, 1);
        assertEquals(List.of(1), elr());
        changeIsr(0, 1);
        assertEquals(List.of(0, 1), ints(replication.getPartition(TOPIC, 0).isr));
    }

    @Test
    public void testRaisedMinIsrNotEffectiveUntilLeaderHasCaughtUp() {
        assertElrIsEmptyBeforeTheLeaderHasReadOf(ConfigResource.Type.TOPIC, "t");
    }

    @Test
    public void testRaisedDefaultMinIsrNotEffectiveUntilLeaderHasCaughtUp() {
        assertElrIsEmptyBeforeTheLeaderHasReadOf(ConfigResource.Type.BROKER, "");
    }

    @Test
    public void testLowestUnreadMinIsrIsEffective() {
        replication.replay(partition(0, List.of(0, 1, 2), List.of(), 0, 1, 2));
        setMinIsr(ConfigResource.Type.TOPIC, "t", "1", 10);
        setMinIsr(ConfigResource.Type.TOPIC, "t", "3", 20);
        hasRead(15, 0);
        hasRead(20, 1, 2, 3, 4);
        fence(1);
        fence(2);
        assertEquals(List.of(), elr());
    }

    @Test
    public void testRaisedMinIsrEffectiveOnceBrokersHaveCaughtUp() {
        replication.replay(partition(0, List.of(0, 1, 2), List.of(), 0, 1, 2));
        setMinIsr(ConfigResource.Type.TOPIC, "t", "3", 10);
        hasRead(10, 0, 1, 2, 3, 4);
        changeIsr(0, 1);
        assertEquals(List.of(2), elr());
    }

    @Test
    public void testRaisedMinIsrDoesNotWaitForFencedBroker() {
        replication.replay(partition(0, List.of(0, 1, 2), List.of(), 0, 1, 2));
        setMinIsr(ConfigResource.Type.TOPIC, "t", "3", 10);
        hasRead(10, 0, 1, 2, 3);
        hasRead(9, 4);
        cluster.heartbeatManager().fence(4);
        changeIsr(0, 1);
        assertEquals(List.of(2), elr());
    }

    @Test
    public void testLoweredMinIsrEffectiveImmediately() {
        replication.replay(partition(0, List.of(0, 1, 2), List.of(), 0, 1, 2));
        setMinIsr(ConfigResource.Type.TOPIC, "t", "1", 10);
        hasRead(9, 0, 1, 2, 3, 4);
        fence(1);
        fence(2);
        assertEquals(List.of(), elr());
    }

    @Test
    public void testElrOfOfflinePartitionKeptOnLoweredMinIsr() {
        replication.replay(partition(-1, List.of(), List.of(0, 1), 0, 1, 2));
        changeMinIsr(ConfigResource.Type.TOPIC, "t", "1");
        assertEquals(List.of(0, 1), elr());
    }

    @Test
    public void testElrKeptBelowRaisedDefaultMinIsr() {
        replication.replay(partition(0, List.of(0), List.of(1, 2), 0, 1, 2));
        changeMinIsr(ConfigResource.Type.BROKER, "", "3");
        assertEquals(List.of(1, 2), elr());
    }

    @Test
    public void testLastKnownLeaderKeptOnLoweredMinIsr() {
        replication.replay(partition(-1, List.of(), List.of(), 0, 1, 2).setLastKnownElr(List.of(2)));
        changeMinIsr(ConfigResource.Type.TOPIC, "t", "1");
        replay(unfence(2));
        assertEquals(2, replication.getPartition(TOPIC, 0).leader);
    }

    @Test
    public void testElectionFromKeptElrClearsElrIfLeaderReachesMinIsr() {
        replication.replay(partition(-1, List.of(), List.of(0, 1), 0, 1, 2));
        changeMinIsr(ConfigResource.Type.TOPIC, "t", "1");
        replay(unfence(0));
        assertEquals(0, replication.getPartition(TOPIC, 0).leader);
        assertEquals(List.of(), elr());
    }

    @Test
    public void testElrClearedPerPartitionOnLoweredMinIsr() {
        replication.replay(partition(-1, List.of(), List.of(0, 1), 0, 1, 2));
        replication.replay(partition(0, List.of(0), List.of(1), 0, 1, 2).setPartitionId(1));
        changeMinIsr(ConfigResource.Type.TOPIC, "t", "1");
        assertEquals(List.of(0, 1), elr());
        assertEquals(List.of(), ints(replication.getPartition(TOPIC, 1).elr));
    }

    @Test
    public void testElrClearedIfIsrReachesLoweredMinIsr() {
        replication.replay(partition(0, List.of(0), List.of(1), 0, 1, 2));
        changeMinIsr(ConfigResource.Type.TOPIC, "t", "1");
        assertEquals(List.of(), elr());
    }

    @Test
    public void testElrClearedIfIsrReachesDefaultMinIsr() {
        changeMinIsr(ConfigResource.Type.BROKER, "", "1");
        changeMinIsr(ConfigResource.Type.TOPIC, "t", "2");
        replication.replay(partition(0, List.of(0), List.of(1), 0, 1, 2));
        changeMinIsr(ConfigResource.Type.TOPIC, "t", null);
        assertEquals(List.of(), elr());
    }

    /** The minimum of the topic, or of all, is raised to 3, of which 0 has not read as it drops 2 from the ISR. */
    private void assertElrIsEmptyBeforeTheLeaderHasReadOf(ConfigResource.Type type, String name) {
        replication.replay(partition(0, List.of(0, 1, 2), List.of(), 0, 1, 2));
        setMinIsr(type, name, "3", 10);
        hasRead(9, 0);
        hasRead(10, 1, 2, 3, 4);
        changeIsr(0, 1);
        assertEquals(List.of(), elr());
    }

    /** The record of a change, at this offset: of a topic, or of the default for all. As published, nobody asks for the offset. */
    private void setMinIsr(ConfigResource.Type type, String name, String value, long offset) {
        ConfigRecord record = new ConfigRecord().setResourceType(type.id()).setResourceName(name)
            .setName("min.insync.replicas").setValue(value);
        try {
            for (var replay : ConfigurationControlManager.class.getMethods())
                if (replay.getName().equals("replay"))
                    replay.invoke(configs, replay.getParameterCount() == 1 ? new Object[] {record} : new Object[] {record, offset});
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** An operator changes it, or takes it out: all that the controller writes. Older releases are told less. */
    private void changeMinIsr(ConfigResource.Type type, String name, String value) {
        var op = Map.entry(value == null ? AlterConfigOp.OpType.DELETE : AlterConfigOp.OpType.SET, value == null ? "" : value);
        var changes = Map.of(new ConfigResource(type, name), Map.of("min.insync.replicas", op));
        ControllerResult<?> result = null;
        try {
            for (var method : ConfigurationControlManager.class.getDeclaredMethods())
                if (method.getName().equals("incrementalAlterConfigs")) {
                    Object[] given = new Object[method.getParameterCount()];
                    Arrays.fill(given, false);
                    given[0] = changes;
                    result = (ControllerResult<?>) method.invoke(configs, given);
                }
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
        for (ApiMessageAndVersion each : result.records()) {
            if (each.message() instanceof ConfigRecord record)
                setMinIsr(ConfigResource.Type.forId(record.resourceType()), record.resourceName(), record.value(), 0);
            else if (each.message() instanceof ClearElrRecord cleared) replication.replay(cleared);
        }
        replay(result.records());
    }

    /** The brokers have told in their heartbeats that they have read up to this offset. */
    private void hasRead(long offset, int... brokers) {
        for (int broker : brokers) cluster.heartbeatManager().touch(broker, false, offset);
    }

    private void fence(int broker) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        replication.handleBrokerFenced(broker, records);
        replay(records);
    }

    private void failDirectory(int broker, int number) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        replication.handleDirectoriesOffline(broker, EPOCH, List.of(directories.get(broker).get(number)), records);
        replay(records);
        for (ApiMessageAndVersion record : records)
            if (record.message() instanceof org.apache.kafka.common.metadata.BrokerRegistrationChangeRecord change)
                cluster.replay(change);
    }

    private void unregister(int broker) {
        replay(replication.unregisterBroker(broker).records());
    }

    private void restartUncleanly(int broker) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        replication.handleBrokerShutdown(broker, false, records);
        replay(records);
        replay(unfence(broker));
    }

    private List<ApiMessageAndVersion> unfence(int broker) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        replication.handleBrokerUnfenced(broker, EPOCH, records);
        return records;
    }

    private PartitionRecord partition(int leader, List<Integer> isr, List<Integer> elr, Integer... replicas) {
        return new PartitionRecord().setTopicId(TOPIC).setPartitionId(0).setLeader(leader).setLeaderEpoch(0)
            .setPartitionEpoch(0).setIsr(isr).setEligibleLeaderReplicas(elr).setReplicas(List.of(replicas))
            .setDirectories(Arrays.stream(replicas).map(id -> directories.get(id).get(0)).toList());
    }

    private void reassign(List<Integer> to) {
        ReassignableTopic topic = new ReassignableTopic().setName("t");
        topic.partitions().add(new ReassignablePartition().setPartitionIndex(0).setReplicas(to));
        AlterPartitionReassignmentsRequestData request = new AlterPartitionReassignmentsRequestData();
        request.topics().add(topic);
        replay(replication.alterPartitionReassignments(request).records());
    }

    private void changeIsr(int leader, int added) {
        var partition = replication.getPartition(TOPIC, 0);
        List<BrokerState> isr = List.of(new BrokerState().setBrokerId(leader).setBrokerEpoch(EPOCH),
            new BrokerState().setBrokerId(added).setBrokerEpoch(EPOCH));
        var topic = new AlterPartitionRequestData.TopicData().setTopicId(TOPIC);
        topic.partitions().add(new AlterPartitionRequestData.PartitionData().setPartitionIndex(0)
            .setLeaderEpoch(partition.leaderEpoch).setPartitionEpoch(partition.partitionEpoch).setNewIsrWithEpochs(isr));
        var request = new AlterPartitionRequestData().setBrokerId(leader).setBrokerEpoch(EPOCH);
        request.topics().add(topic);
        var context = new ControllerRequestContext(new RequestHeaderData().setRequestApiKey(ApiKeys.ALTER_PARTITION.id)
            .setRequestApiVersion(ApiKeys.ALTER_PARTITION.latestVersion()), KafkaPrincipal.ANONYMOUS,
            java.util.OptionalLong.empty());
        replay(replication.alterPartition(context, request).records());
    }

    private void assign(int broker, Uuid directory) {
        var topic = new AssignReplicasToDirsRequestData.TopicData().setTopicId(TOPIC).setPartitions(
            List.of(new AssignReplicasToDirsRequestData.PartitionData().setPartitionIndex(0)));
        replay(replication.handleAssignReplicasToDirs(new AssignReplicasToDirsRequestData().setBrokerId(broker)
            .setBrokerEpoch(EPOCH).setDirectories(List.of(new AssignReplicasToDirsRequestData.DirectoryData()
                .setId(directory).setTopics(List.of(topic))))).records());
    }

    /** A new incarnation, after a shutdown that was clean. */
    private void register(int broker, List<Uuid> logDirs) {
        cluster.heartbeatManager().remove(broker);
        var request = new BrokerRegistrationRequestData().setBrokerId(broker).setClusterId("c")
            .setIncarnationId(Uuid.randomUuid()).setPreviousBrokerEpoch(EPOCH).setLogDirs(logDirs);
        QuorumFeatures.defaultSupportedFeatureMap(true).forEach((name, range) -> request.features().add(
            new BrokerRegistrationRequestData.Feature().setName(name).setMinSupportedVersion(range.min())
                .setMaxSupportedVersion(range.max())));
        replay(cluster.registerBroker(request, EPOCH + 1, features.finalizedFeatures(Long.MAX_VALUE), true).records());
    }

    private void replay(List<ApiMessageAndVersion> records) {
        for (ApiMessageAndVersion record : records)
            if (record.message() instanceof PartitionChangeRecord change) replication.replay(change);
    }

    private List<Integer> elr() {
        return ints(replication.getPartition(TOPIC, 0).elr);
    }

    private static List<Integer> ints(int[] replicas) {
        return Arrays.stream(replicas).boxed().sorted().toList();
    }
}
