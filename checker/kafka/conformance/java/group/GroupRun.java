package highwater;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.internals.AutoOffsetResetStrategy;
import org.apache.kafka.clients.consumer.internals.CommitRequestManager;
import org.apache.kafka.clients.consumer.internals.ConsumerHeartbeatRequestManager;
import org.apache.kafka.clients.consumer.internals.ConsumerInterceptors;
import org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager;
import org.apache.kafka.clients.consumer.internals.ConsumerMetadata;
import org.apache.kafka.clients.consumer.internals.CoordinatorRequestManager;
import org.apache.kafka.clients.consumer.internals.NetworkClientDelegate.PollResult;
import org.apache.kafka.clients.consumer.internals.NetworkClientDelegate.UnsentRequest;
import org.apache.kafka.clients.consumer.internals.OffsetCommitCallbackInvoker;
import org.apache.kafka.clients.consumer.internals.SubscriptionState;
import org.apache.kafka.clients.consumer.internals.events.BackgroundEvent;
import org.apache.kafka.clients.consumer.internals.events.BackgroundEventHandler;
import org.apache.kafka.clients.consumer.internals.events.PartitionsAssignedEvent;
import org.apache.kafka.clients.consumer.internals.events.PartitionsRemovedEvent;
import org.apache.kafka.clients.consumer.internals.metrics.AsyncConsumerMetrics;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.message.FindCoordinatorResponseData;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.ConsumerGroupHeartbeatRequest;
import org.apache.kafka.common.requests.ConsumerGroupHeartbeatResponse;
import org.apache.kafka.common.requests.FindCoordinatorResponse;
import org.apache.kafka.common.requests.MetadataResponse;
import org.apache.kafka.common.requests.OffsetCommitRequest;
import org.apache.kafka.common.requests.OffsetCommitResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.CoordinatorExecutor;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorTimer;
import org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.GroupCoordinatorShard;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * Kafka's own consumers of the consumer protocol and their group coordinator, with network, threads
 * and time by hand: a command a line, an answer a line.
 *
 * <p>{@code start C}: consumer C subscribes to the one topic, of two partitions, and polls. {@code
 * send C}: its network thread sends the heartbeat that is due; the answer is EPOCH and what it names
 * as owned, {@code -} and numbers, or {@code none} if it names nothing. {@code handle C}: the
 * coordinator handles that heartbeat; the answer is its error, or EPOCH and the assignment of its
 * response. {@code hear C}: the response comes back; the answer is the member's state. {@code
 * disconnect C}: the connection is lost, and the coordinator found again. {@code poll C}: what the
 * network thread does first for an application that polls: begin to reconcile. {@code apply C}:
 * what the application's thread does then: the assignment takes effect, without a listener. {@code
 * reads C}: the partitions that it would fetch once it knew its positions. {@code read C P OFFSET}: it
 * has read P up to there. {@code commit C}: its network thread sends the commit that is due, the
 * coordinator handles it, and the response comes back; the answer has PARTITION:OFFSET:ERROR of
 * each. {@code pass MS}: time.
 */
public final class GroupRun {
    private static final Uuid TOPIC = new Uuid(1, 1);
    private static final String NAME = "topic";
    private static final short NAMES = 9; // the newest version of OffsetCommit that has names of topics
    private static final LogContext CONTEXT = new LogContext();

    private final Clock clock = new Clock();
    private final GroupCoordinatorShard coordinator = coordinator();
    private final Map<String, Member> members = new TreeMap<>();
    private long written;

    private GroupRun() throws Exception {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        GroupRun run = new GroupRun();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine())
            out.println(run.answer(line.split(" ")));
        out.flush();
    }

    private String answer(String[] words) throws Exception {
        if (words[0].equals("pass")) {
            clock.sleep(Long.parseLong(words[1]));
            return "passed";
        }
        if (words[0].equals("start")) {
            members.put(words[1], new Member());
            return "started";
        }
        Member member = members.get(words[1]);
        return switch (words[0]) {
            case "send" -> member.send();
            case "handle" -> handle(member);
            case "hear" -> member.hear();
            case "disconnect" -> member.disconnect();
            case "poll" -> member.poll();
            case "apply" -> member.apply();
            case "reads" -> member.reads();
            case "read" -> member.read(Integer.parseInt(words[2]), Long.parseLong(words[3]));
            case "commit" -> member.commit();
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private String handle(Member member) {
        try {
            var result = coordinator.consumerGroupHeartbeat(context(), member.request());
            record(result.records());
            member.response = result.response();
        } catch (org.apache.kafka.common.errors.ApiException refused) {
            Errors error = Errors.forException(refused);
            member.response = new ConsumerGroupHeartbeatResponseData().setErrorCode(error.code());
            return error.name();
        }
        var given = member.response.assignment();
        Set<Integer> numbers = new TreeSet<>();
        if (given != null)
            given.topicPartitions().forEach(topic -> numbers.addAll(topic.partitions()));
        return member.response.memberEpoch() + " " + (given == null ? "none" : said(numbers));
    }

    private void record(List<CoordinatorRecord> records) {
        for (CoordinatorRecord record : records)
            coordinator.replay(written++, -1, (short) -1, record);
    }

    private static String said(Iterable<Integer> numbers) {
        StringBuilder said = new StringBuilder("-");
        numbers.forEach(said::append);
        return said.toString();
    }

    /** A consumer: the parts of its network thread that are about membership. */
    private final class Member {
        private final SubscriptionState subscriptions = new SubscriptionState(CONTEXT, AutoOffsetResetStrategy.EARLIEST);
        private final LinkedBlockingQueue<BackgroundEvent> events = new LinkedBlockingQueue<>();
        private final CoordinatorRequestManager finder = new CoordinatorRequestManager(CONTEXT, 100, 1_000, "group");
        private final CommitRequestManager commits;
        private final ConsumerMembershipManager membership;
        private final ConsumerHeartbeatRequestManager heartbeats;
        private UnsentRequest sent;
        private ConsumerGroupHeartbeatResponseData response;

        Member() throws Exception {
            ConsumerConfig config = new ConsumerConfig(Map.of(
                "bootstrap.servers", "localhost:1", "group.id", "group", "group.protocol", "consumer",
                "key.deserializer", ByteArrayDeserializer.class, "value.deserializer", ByteArrayDeserializer.class));
            Metrics metrics = new Metrics(clock);
            ConsumerMetadata metadata =
                new ConsumerMetadata(config, subscriptions, CONTEXT, new ClusterResourceListeners());
            BackgroundEventHandler handler =
                new BackgroundEventHandler(events, clock, new AsyncConsumerMetrics(metrics, "consumer-metrics"));
            Constructor<?> invoker =
                OffsetCommitCallbackInvoker.class.getDeclaredConstructor(ConsumerInterceptors.class);
            invoker.setAccessible(true);
            commits = new CommitRequestManager(clock, CONTEXT, subscriptions, config, finder,
                (OffsetCommitCallbackInvoker) invoker.newInstance(new ConsumerInterceptors<>(List.of(), metrics)),
                "group", Optional.empty(), metrics, metadata);
            membership = new ConsumerMembershipManager("group", Optional.empty(), Optional.empty(), 300_000,
                Optional.empty(), subscriptions, commits, metadata, CONTEXT, handler, clock, metrics,
                config.getBoolean("enable.auto.commit"));
            membership.registerStateListener(commits);
            heartbeats = new ConsumerHeartbeatRequestManager(
                CONTEXT, clock, config, finder, subscriptions, membership, handler, metrics);
            subscriptions.subscribe(Set.of(NAME), Optional.empty());
            metadata.updateWithCurrentRequestVersion(topic(), false, clock.milliseconds());
            membership.onSubscriptionUpdated();
            find();
            poll();
        }

        /** The answer to FindCoordinator. */
        private void find() throws Exception {
            UnsentRequest request = only(finder.poll(clock.milliseconds()));
            complete(request, new FindCoordinatorResponse(new FindCoordinatorResponseData().setCoordinators(List.of(
                new FindCoordinatorResponseData.Coordinator().setKey("group").setNodeId(0).setHost("localhost")
                    .setPort(1)))), false);
        }

        String send() throws Exception {
            sent = only(heartbeats.poll(clock.milliseconds()));
            var owned = request().topicPartitions();
            Set<Integer> numbers = new TreeSet<>();
            if (owned != null)
                owned.forEach(topic -> numbers.addAll(topic.partitions()));
            return request().memberEpoch() + " " + (owned == null ? "none" : said(numbers));
        }

        ConsumerGroupHeartbeatRequestData request() {
            AbstractRequest.Builder<?> builder = (AbstractRequest.Builder<?>) told(sent, "requestBuilder");
            return ((ConsumerGroupHeartbeatRequest) builder.build()).data();
        }

        String hear() throws Exception {
            complete(sent, new ConsumerGroupHeartbeatResponse(response), false);
            return membership.state().name();
        }

        String disconnect() throws Exception {
            complete(sent, null, true);
            clock.sleep(1_000);
            find();
            return membership.state().name();
        }

        String poll() {
            membership.maybeReconcile(true);
            commits.updateTimerAndMaybeCommit(clock.milliseconds());
            membership.onConsumerPoll();
            heartbeats.resetPollTimer(clock.milliseconds());
            return membership.state().name();
        }

        String apply() {
            List<BackgroundEvent> due = new ArrayList<>();
            events.drainTo(due);
            for (BackgroundEvent event : due) {
                if (event instanceof PartitionsAssignedEvent assigned) {
                    membership.applyAssignment(assigned.assignedPartitions(), assigned.addedPartitions());
                    assigned.future().complete(null);
                } else {
                    ((PartitionsRemovedEvent) event).future().complete(null);
                }
            }
            return membership.state().name();
        }

        String reads() throws Exception {
            Method isFetchable = SubscriptionState.class.getDeclaredMethod("isFetchable", TopicPartition.class);
            isFetchable.setAccessible(true);
            Set<Integer> numbers = new TreeSet<>();
            for (TopicPartition partition : subscriptions.assignedPartitions()) {
                if (subscriptions.position(partition) == null && subscriptions.initializingPartitions().contains(partition))
                    subscriptions.seek(partition, 0);
                if ((Boolean) isFetchable.invoke(subscriptions, partition))
                    numbers.add(partition.partition());
            }
            return said(numbers);
        }

        String read(int partition, long offset) {
            subscriptions.seek(new TopicPartition(NAME, partition), offset);
            return "read";
        }

        String commit() throws Exception {
            UnsentRequest request = only(commits.poll(clock.milliseconds()));
            AbstractRequest.Builder<?> builder = (AbstractRequest.Builder<?>) told(request, "requestBuilder");
            OffsetCommitRequestData data = ((OffsetCommitRequest) builder.build(NAMES)).data();
            var result = coordinator.commitOffset(context(), data);
            record(result.records());
            TreeSet<String> answers = new TreeSet<>();
            for (int number = 0; number < data.topics().get(0).partitions().size(); number++) {
                var asked = data.topics().get(0).partitions().get(number);
                var told = result.response().topics().get(0).partitions().get(number);
                answers.add(asked.partitionIndex() + ":" + asked.committedOffset() + ":" + Errors.forCode(told.errorCode()));
            }
            complete(request, new OffsetCommitResponse(result.response()), false);
            return String.join(" ", answers);
        }

        private void complete(UnsentRequest request, AbstractResponse body, boolean isLost) {
            long now = clock.milliseconds();
            ApiKeys key = ((AbstractRequest.Builder<?>) told(request, "requestBuilder")).apiKey();
            RequestHeader header = new RequestHeader(key, key.latestVersion(), "consumer", 0);
            var handler = (org.apache.kafka.clients.RequestCompletionHandler) told(request, "handler");
            handler.onComplete(new ClientResponse(header, handler, "0", now, now, isLost, null, null, body));
        }
    }

    private static UnsentRequest only(PollResult result) {
        if (result.unsentRequests.size() != 1)
            throw new IllegalStateException("one request is expected, not " + result.unsentRequests);
        return result.unsentRequests.get(0);
    }

    private static Object told(UnsentRequest request, String name) {
        try {
            Method method = UnsentRequest.class.getDeclaredMethod(name);
            method.setAccessible(true);
            return method.invoke(request);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }

    private GroupCoordinatorShard coordinator() throws Exception {
        AbstractConfig config = new AbstractConfig(AbstractKafkaConfig.CONFIG_DEF,
            Map.of("node.id", "0", "process.roles", "broker", "controller.listener.names", "CONTROLLER"), false);
        GroupCoordinatorConfig settings = new GroupCoordinatorConfig(config);
        GroupConfigManager groups = new GroupConfigManager(Map.of(), settings, new ShareGroupConfig(config));
        GroupCoordinatorShard.Builder builder = new GroupCoordinatorShard.Builder(settings, groups);
        builder.withAuthorizerPlugin(Optional.empty());
        GroupCoordinatorShard shard = builder.withLogContext(CONTEXT)
            .withSnapshotRegistry(new SnapshotRegistry(CONTEXT)).withTime(clock)
            .withTimer(idle(CoordinatorTimer.class)).withExecutor(idle(CoordinatorExecutor.class))
            .withCoordinatorMetrics(new GroupCoordinatorMetrics())
            .withTopicPartition(new TopicPartition("__consumer_offsets", 0)).build();
        shard.onLoaded(new KRaftCoordinatorMetadataImage(image()));
        return shard;
    }

    /** A timer at which nothing is ever due, or an executor with nothing to do. */
    @SuppressWarnings("unchecked")
    private static <T> T idle(Class<?> type) {
        return (T) Proxy.newProxyInstance(GroupRun.class.getClassLoader(), new Class<?>[] {type},
            (proxy, asked, given) -> asked.getReturnType() == boolean.class ? false : null);
    }

    private static AuthorizableRequestContext context() {
        return (AuthorizableRequestContext) Proxy.newProxyInstance(
            GroupRun.class.getClassLoader(), new Class<?>[] {AuthorizableRequestContext.class},
            (proxy, asked, given) -> switch (asked.getName()) {
                case "requestVersion" -> (int) NAMES;
                case "clientId" -> "consumer";
                case "clientAddress" -> InetAddress.getLoopbackAddress();
                default -> null;
            });
    }

    private static MetadataImage image() {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        delta.replay(new TopicRecord().setName(NAME).setTopicId(TOPIC));
        for (int number = 0; number < 2; number++)
            delta.replay(new PartitionRecord().setTopicId(TOPIC).setPartitionId(number).setReplicas(List.of(0))
                .setIsr(List.of(0)).setLeader(0).setLeaderEpoch(0).setPartitionEpoch(0));
        return delta.apply(MetadataProvenance.EMPTY);
    }

    private static MetadataResponse topic() {
        MetadataResponseData data = new MetadataResponseData().setClusterId("cluster").setControllerId(0);
        data.brokers().add(new MetadataResponseData.MetadataResponseBroker().setNodeId(0).setHost("localhost").setPort(1));
        List<MetadataResponseData.MetadataResponsePartition> partitions = new ArrayList<>();
        for (int number = 0; number < 2; number++)
            partitions.add(new MetadataResponseData.MetadataResponsePartition().setPartitionIndex(number)
                .setLeaderId(0).setReplicaNodes(List.of(0)).setIsrNodes(List.of(0)));
        data.topics().add(new MetadataResponseData.MetadataResponseTopic().setName(NAME).setTopicId(TOPIC)
            .setPartitions(partitions));
        return new MetadataResponse(data, ApiKeys.METADATA.latestVersion());
    }

    /** Time that passes when it is told to. */
    private static final class Clock implements Time {
        private long now = 1_000_000_000L;

        @Override public long milliseconds() { return now; }
        @Override public long nanoseconds() { return now * 1_000_000L; }
        @Override public void sleep(long milliseconds) { now += milliseconds; }
        @Override public void waitObject(Object object, Supplier<Boolean> condition, long deadline) {
            throw new IllegalStateException("nothing may wait: there is one thread");
        }
    }
}
