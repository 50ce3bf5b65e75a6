package highwater;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import org.apache.kafka.clients.ApiVersions;
import org.apache.kafka.clients.ClientRequest;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.KafkaClient;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.clients.producer.internals.ProducerMetadata;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.clients.producer.internals.Sender;
import org.apache.kafka.clients.producer.internals.SenderMetricsRegistry;
import org.apache.kafka.clients.producer.internals.TransactionManager;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.ProduceResponseData;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.MetadataResponse;
import org.apache.kafka.common.requests.ProduceResponse;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.ProducerIdAndEpoch;
import org.apache.kafka.common.utils.Time;

/**
 * Kafka's own accumulator, transaction manager and sender, wired as {@code KafkaProducer} does it, with
 * the network between them and the brokers by hand. The classes differ between releases in what their
 * constructors and methods take: arguments are matched by their types, in order.
 */
final class OwnSender {
    static final long PRODUCER = 7;
    static final String TOPIC = "topic";
    static final int DELIVERY_TIMEOUT = 1_000_000;
    private static final Node COORDINATOR = new Node(100, "localhost", 9092);

    final List<ClientRequest> requests = new ArrayList<>();
    final List<ClientResponse> due = new ArrayList<>();
    final ProducerMetadata metadata;
    final RecordAccumulator accumulator;
    final TransactionManager manager;
    final Sender sender;
    final ApiVersions versions = new ApiVersions();
    private final Time time;

    /** With batches of so many bytes, on a network that takes a request to a node where {@code room} says so. */
    OwnSender(Time time, boolean idempotent, int batchSize, int linger, boolean oneInFlight, Predicate<Node> room)
        throws Exception {
        this(time, idempotent, null, Integer.MAX_VALUE, batchSize, linger, oneInFlight, room);
        if (idempotent)
            called(manager, "setProducerIdAndEpoch", new ProducerIdAndEpoch(PRODUCER, (short) 0));
    }

    /** A transactional one, with a batch for each record, that sends each so often again. */
    OwnSender(Time time, String transactionalId, int retries) throws Exception {
        this(time, true, transactionalId, retries, 1, 0, false, node -> true);
    }

    private OwnSender(Time time, boolean idempotent, String transactionalId, int retries, int batchSize, int linger,
        boolean oneInFlight, Predicate<Node> room) throws Exception {
        this.time = time;
        LogContext context = new LogContext();
        Metrics metrics = new Metrics(time);
        metadata = made(ProducerMetadata.class, 0L, 0L, 60_000L, 60_000L, context, new ClusterResourceListeners(), time);
        metadata.add(TOPIC, time.milliseconds());
        manager = idempotent
            ? made(TransactionManager.class, context, optional(transactionalId), 60_000, 0L, versions, false) : null;
        accumulator = made(RecordAccumulator.class, context, batchSize, linger, 0L, 0L, DELIVERY_TIMEOUT, metrics,
            "producer", time, versions, optional(manager), new BufferPool(1 << 20, batchSize, metrics, time, "producer"));
        sender = made(Sender.class, context, client(room), metadata, accumulator, oneInFlight, 1 << 20, (short) -1,
            retries, new SenderMetricsRegistry(metrics), time, 30_000, 0L, optional(manager), versions);
    }

    /** The topic has these leaders, in an epoch of each. */
    void lead(int[] leaders, int[] epochs) {
        MetadataResponseData data = new MetadataResponseData().setClusterId("cluster").setControllerId(0);
        Arrays.stream(leaders).distinct().forEach(leader -> data.brokers().add(
            new MetadataResponseData.MetadataResponseBroker().setNodeId(leader).setHost("localhost").setPort(1 + leader)));
        List<MetadataResponseData.MetadataResponsePartition> partitions = new ArrayList<>();
        for (int number = 0; number < leaders.length; number++)
            partitions.add(new MetadataResponseData.MetadataResponsePartition().setPartitionIndex(number)
                .setLeaderId(leaders[number]).setLeaderEpoch(epochs[number])
                .setReplicaNodes(List.of(leaders[number])).setIsrNodes(List.of(leaders[number])));
        data.topics().add(new MetadataResponseData.MetadataResponseTopic().setName(TOPIC).setTopicId(Uuid.ZERO_UUID)
            .setPartitions(partitions));
        metadata.updateWithCurrentRequestVersion(
            new MetadataResponse(data, ApiKeys.METADATA.latestVersion()), false, time.milliseconds());
    }

    /** A record goes to the accumulator; partition -1 is for any. */
    void append(int partition, byte[] value, Cluster cluster) throws Exception { append(partition, value, 0L, cluster); }

    /** The same with its timestamp; what comes of it, once it is known. */
    Future<?> append(int partition, byte[] value, long timestamp, Cluster cluster) throws Exception {
        Method append = method(RecordAccumulator.class, "append");
        Object[] given = append.getParameterCount() == 10
            ? new Object[] {TOPIC, partition, timestamp, null, value, null, null, 1_000L, time.milliseconds(), cluster}
            : new Object[] {TOPIC, partition, timestamp, null, value, null, null, 1_000L, false, time.milliseconds(), cluster};
        return ((RecordAccumulator.RecordAppendResult) append.invoke(accumulator, given)).future;
    }

    /** What comes back for a request; without an error the connection is lost. */
    ClientResponse response(ClientRequest request, int partition, Errors error, long offset) {
        ProduceResponse body = null;
        if (error != null) {
            ProduceResponseData data = new ProduceResponseData();
            data.responses().add(new ProduceResponseData.TopicProduceResponse().setName(TOPIC).setPartitionResponses(
                List.of(new ProduceResponseData.PartitionProduceResponse().setIndex(partition).setErrorCode(error.code())
                    .setBaseOffset(error == Errors.NONE ? offset : -1))));
            body = new ProduceResponse(data);
        }
        return response(request, body);
    }

    /** What comes back for a request of any kind; null: the connection is lost. */
    ClientResponse response(ClientRequest request, AbstractResponse body) {
        long now = time.milliseconds();
        return new ClientResponse(request.makeHeader(request.requestBuilder().latestAllowedVersion()), request.callback(), "0",
            now, now, body == null, null, null, body);
    }

    /** A method of one of Kafka's classes, whoever may call it, by its name. */
    static Object called(Object of, String name, Object... given) throws Exception {
        try {
            return method(of.getClass(), name).invoke(of, given);
        } catch (InvocationTargetException thrown) {
            throw (Exception) thrown.getCause();
        }
    }

    /** Answers come when they are due. */
    private KafkaClient client(Predicate<Node> room) {
        return (KafkaClient) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {KafkaClient.class},
            (proxy, asked, given) -> switch (asked.getName()) {
                case "ready", "isReady" -> room.test((Node) given[0]);
                case "hasReadyNodes", "active" -> true;
                case "connectionFailed", "hasInFlightRequests" -> false;
                case "connectionDelay", "pollDelayMs", "throttleDelayMs" -> 0L;
                case "inFlightRequestCount" -> 0;
                case "leastLoadedNode" -> asked.getReturnType() == Node.class ? COORDINATOR
                    : asked.getReturnType().getConstructor(Node.class, boolean.class).newInstance(COORDINATOR, true);
                case "newClientRequest" -> new ClientRequest((String) given[0],
                    (AbstractRequest.Builder<?>) given[1], requests.size(), "client",
                    (Long) given[2], (Boolean) given[3], (Integer) given[4],
                    (org.apache.kafka.clients.RequestCompletionHandler) given[5]);
                case "send" -> {
                    requests.add((ClientRequest) given[0]);
                    yield null;
                }
                case "poll" -> {
                    List<ClientResponse> now = List.copyOf(due);
                    due.clear();
                    now.forEach(ClientResponse::onComplete);
                    yield now;
                }
                default -> null;
            });
    }

    private static Object optional(Object value) {
        return value == null ? Optional.empty() : value;
    }

    /** An object whose parameters are found among these, in order; an empty Optional is null. */
    @SuppressWarnings("unchecked")
    private static <T> T made(Class<T> type, Object... given) throws Exception {
        Constructor<?> shortest = Arrays.stream(type.getConstructors())
            .min((one, other) -> one.getParameterCount() - other.getParameterCount()).orElseThrow();
        Iterator<Object> left = Arrays.asList(given).iterator();
        Object[] taken = new Object[shortest.getParameterCount()];
        for (int place = 0; place < taken.length; place++) {
            Class<?> wanted = shortest.getParameterTypes()[place];
            if (wanted.getSimpleName().startsWith("Compression"))
                taken[place] = wanted.getField("NONE").get(null);
            else
                taken[place] = next(left, wanted);
        }
        return (T) shortest.newInstance(taken);
    }

    private static Object next(Iterator<Object> left, Class<?> wanted) {
        while (left.hasNext()) {
            Object one = left.next();
            boolean isNull = one instanceof Optional<?>;
            if (isNull && !wanted.isPrimitive())
                return null;
            if (wanted.isPrimitive() ? isOf(one, wanted) : wanted.isInstance(one))
                return one;
        }
        throw new IllegalStateException("nothing is left for " + wanted);
    }

    private static boolean isOf(Object value, Class<?> primitive) {
        return primitive == int.class && value instanceof Integer || primitive == long.class && value instanceof Long
            || primitive == short.class && value instanceof Short
            || primitive == boolean.class && value instanceof Boolean;
    }

    private static Method method(Class<?> type, String name) {
        for (Method method : type.getDeclaredMethods())
            if (method.getName().equals(name)) {
                method.setAccessible(true);
                return method;
            }
        throw new IllegalStateException(type + " has no " + name);
    }
}
