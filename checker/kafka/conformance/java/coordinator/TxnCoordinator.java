package highwater;

import static org.mockito.Mockito.RETURNS_DEFAULTS;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import kafka.coordinator.transaction.TransactionCoordinator;
import kafka.coordinator.transaction.TransactionMarkerChannelManager;
import kafka.coordinator.transaction.TransactionStateManager;
import kafka.server.KafkaConfig;
import kafka.server.ReplicaManager;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.NetworkClient;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData.AddPartitionsToTxnResult;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ProduceResponse.PartitionResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.requests.WriteTxnMarkersRequest;
import org.apache.kafka.common.requests.WriteTxnMarkersRequest.TxnMarkerEntry;
import org.apache.kafka.common.requests.WriteTxnMarkersResponse;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.ProducerIdAndEpoch;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.common.TransactionVersion;
import org.apache.kafka.server.util.RequestAndCompletionHandler;
import org.apache.kafka.server.util.Scheduler;
import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;
import scala.Function0;
import scala.Function1;
import scala.Function3;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.BoxedUnit;

/**
 * A broker that leads, or led, the transaction log: its coordinator, put together as BrokerServer does.
 *
 * Replica manager, metadata cache and network client are stand-ins.
 */
final class TxnCoordinator {
    private static final KafkaConfig CONFIG = config();
    private static final Metrics METRICS = new Metrics();
    private static final Object TRANSACTION_CONFIG = Parts.of(1_000_000, 900_000, 1, (short) 3, 1_000_000, 1, 2, 10_000, 10_000, false, 30_000)
        .make(Parts.type("org.apache.kafka.coordinator.transaction.TransactionConfig", "kafka.coordinator.transaction.TransactionConfig"));
    private static final int DATA_BROKERS = 100;

    final int number;
    final TransactionStateManager states;
    final TransactionMarkerChannelManager markers;
    final TransactionCoordinator coordinator;
    TxnLoad load;
    private final TxnWorld world;
    private final Object readLog;
    /** By partition: requests with its marker that are under way. */
    private final Map<Integer, RequestAndCompletionHandler> sent = new HashMap<>();

    TxnCoordinator(TxnWorld world, int number) {
        this.world = world;
        this.number = number;
        readLog = Mockito.mock(TxnUnified.LOG, call -> switch (call.getMethod().getName()) {
            case "read" -> load.read(call.getArguments());
            case "logStartOffset" -> 0L;
            default -> RETURNS_DEFAULTS.answer(call);
        });
        ReplicaManager replicas = Mockito.mock(ReplicaManager.class, this::replicas);
        Class<?> cacheType = constructed(TransactionMarkerChannelManager.class, "MetadataCache");
        Object cache = Mockito.mock(cacheType, this::metadata);
        states = Parts.of(number, new Tasks(), replicas, cache, TRANSACTION_CONFIG, world.clock, METRICS).make(TransactionStateManager.class);
        Function0<Object> onePartition = () -> 1;
        Parts.ask(states, "startup", onePartition, false);
        markers = Parts.of(CONFIG, cache, Mockito.mock(NetworkClient.class), states, world.clock).make(TransactionMarkerChannelManager.class);
        Class<?> idsType = Parts.type("org.apache.kafka.coordinator.transaction.ProducerIdManager", "kafka.coordinator.transaction.ProducerIdManager");
        Object ids = Mockito.mock(idsType, call -> call.getMethod().getReturnType() == long.class ? (Object) TxnWorld.PRODUCER : new scala.util.Success<>(TxnWorld.PRODUCER));
        Function0<Object> idsMade = () -> ids;
        coordinator = Parts.of(TRANSACTION_CONFIG, new Tasks(), idsMade, states, markers, world.clock, new LogContext()).make(TransactionCoordinator.class);
    }

    private static Class<?> constructed(Class<?> type, String named) {
        return Arrays.stream(type.getConstructors()[0].getParameterTypes()).filter(each -> each.getSimpleName().equals(named)).findFirst().orElseThrow();
    }

    private static KafkaConfig config() {
        Properties chosen = new Properties();
        chosen.put("process.roles", "broker");
        chosen.put("node.id", "1");
        chosen.put("controller.quorum.voters", "100@localhost:9090");
        chosen.put("controller.listener.names", "CONTROLLER");
        chosen.put("listeners", "PLAINTEXT://localhost:9092");
        return KafkaConfig.fromProps(chosen);
    }

    /** A load is kept until a step takes it up. */
    private final class Tasks implements Scheduler {
        @Override public void startup() { }
        @Override public void shutdown() { }
        @Override public void resizeThreadPool(int size) { }

        @Override public java.util.concurrent.ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
            if (name.startsWith("load-txns")) load = new TxnLoad(world, task);
            return ManualScheduler.NEVER;
        }
    }

    // --- stand-ins ---

    private Object replicas(InvocationOnMock call) throws Throwable {
        return switch (call.getMethod().getName()) {
            case "getLog" -> Option.apply(readLog);
            case "getLogEndOffset" -> Option.apply(load.end());
            case "topicIdPartition" -> new TopicIdPartition(Uuid.ONE_UUID, call.<TopicPartition>getArgument(0));
            case "appendRecords" -> append(call);
            default -> RETURNS_DEFAULTS.answer(call);
        };
    }

    @SuppressWarnings("unchecked")
    private Object append(InvocationOnMock call) {
        Method method = call.getMethod();
        Class<?>[] types = method.getParameterTypes();
        Map.Entry<Object, Object> entry = null;
        Function1<Object, Object> answer = null;
        boolean isScala = false;
        for (int place = 0; place < types.length; place++) {
            if (entry == null && scala.collection.Map.class.isAssignableFrom(types[place])) {
                entry = Scala.map(call.getArgument(place)).entrySet().iterator().next();
            } else if (answer == null && types[place] == Function1.class) {
                answer = call.getArgument(place);
                isScala = method.getGenericParameterTypes()[place].getTypeName().contains("scala.collection.Map");
            }
        }
        Object key = entry.getKey();
        Function1<Object, Object> told = answer;
        boolean scalaMap = isScala;
        world.log.append(new TxnLog.Append(this, entry.getValue(), error -> {
            Map<Object, Object> of = Map.of(key, new PartitionResponse(error));
            told.apply(scalaMap ? CollectionConverters.asScala(of) : of);
        }));
        return null;
    }

    private Object metadata(InvocationOnMock call) throws Throwable {
        Class<?> type = call.getMethod().getReturnType();
        return switch (call.getMethod().getName()) {
            case "features" -> Parts.of(MetadataVersion.latestProduction(), Map.of(TransactionVersion.FEATURE_NAME, world.version), 1L)
                .make(Parts.type("org.apache.kafka.server.common.FinalizedFeatures"));
            case "metadataVersion" -> MetadataVersion.latestProduction();
            case "getPartitionLeaderEndpoint" -> {
                Node leader = new Node(DATA_BROKERS + call.<Integer>getArgument(1), "localhost", 9092);
                yield type == Option.class ? Option.apply(leader) : Optional.of(leader);
            }
            default -> RETURNS_DEFAULTS.answer(call);
        };
    }

    // --- what it is ---

    /** The cached metadata of the id; null if there is none, or a load is under way. */
    Object cached() {
        Object found = Parts.ask(states, "getTransactionState", TxnWorld.ID);
        if (!(found instanceof scala.util.Right<?, ?> right)) return null;
        Object entry = Scala.orNull(right.value());
        return entry == null ? null : Parts.ask(entry, "transactionMetadata");
    }

    boolean isLoading() { return !Scala.list(Parts.ask(states, "loadingPartitions")).isEmpty(); }

    boolean acts() { return cached() != null; }

    boolean hasPendingMarkers() { return (Integer) Parts.ask(markers, "numTxnsWithPendingMarkers") > 0; }

    // --- what it is asked ---

    void elect() { coordinator.onElection(0, number); }

    /** It hears of who leads the log now. */
    void resign() {
        coordinator.onResignation(0, Option.apply(world.coordinators.size()));
        if (isLoading()) {
            // 3.9 goes on with a load that is not of the epoch that it hears of.
            coordinator.onResignation(0, Option.apply(number));
            world.notes.add("a load is cancelled that the release goes on with");
        }
        if (load.isUnderWay()) load.finish();
        sent.clear();
    }

    /** It loads the log over a cache that it has. */
    void loadTwice() {
        load.finish();
        elect();
        load.finish();
    }

    private static Function1<Object, Object> heard(Consumer<Object> then) {
        return answer -> {
            then.accept(answer);
            return BoxedUnit.UNIT;
        };
    }

    /** InitProducerId; `expected`: the epoch that it names, or -1. */
    void init(int expected) {
        Option<?> named = expected < 0 ? Option.empty() : Option.apply(new ProducerIdAndEpoch(TxnWorld.PRODUCER, (short) expected));
        Parts.of(TxnWorld.ID, TxnWorld.TIMEOUT_MS, named, heard(result ->
            world.producer.hearOfEpoch((Errors) Parts.ask(result, "error"), (Short) Parts.ask(result, "producerEpoch"))))
            .call(coordinator, "handleInitProducerId");
    }

    void end(int kind, int epoch) {
        end(kind, epoch, (error, next) -> world.producer.hearOfEnd(kind, epoch, error, next));
    }

    /** A copy of EndTxn, for whose answer nobody waits. */
    void endUnheard(int kind, int epoch) { end(kind, epoch, (error, next) -> { }); }

    private void end(int kind, int epoch, BiConsumer<Errors, Short> then) {
        TransactionResult result = kind == TxnProducer.COMMIT ? TransactionResult.COMMIT : TransactionResult.ABORT;
        Parts.of(TxnWorld.ID, TxnWorld.PRODUCER, (short) epoch, result, TransactionVersion.values()[world.version],
            told(then), heard(error -> then.accept((Errors) error, (short) epoch))).call(coordinator, "handleEndTransaction");
    }

    private static Function3<Object, Object, Object, Object> told(BiConsumer<Errors, Short> then) {
        return (error, producer, epoch) -> {
            then.accept((Errors) error, (Short) epoch);
            return BoxedUnit.UNIT;
        };
    }

    /** Java's set and Scala's, which is a function, too: it comes after those that are called back. */
    private static Object[] oneOf(int partition) {
        Set<TopicPartition> java = Set.of(TxnWorld.data(partition));
        return new Object[] {java, CollectionConverters.asScala(java).toSet()};
    }

    /** AddPartitionsToTxn; the answer is null if it waits for an append. */
    Errors add(int partition, int epoch) {
        Errors[] answer = new Errors[1];
        Object[] one = oneOf(partition);
        Parts.of(TxnWorld.ID, TxnWorld.PRODUCER, (short) epoch, heard(error -> answer[0] = (Errors) error), one[0], one[1], TransactionVersion.values()[world.version])
            .call(coordinator, "handleAddPartitionsToTransaction");
        return answer[0];
    }

    /** AddPartitionsToTxn that only verifies. */
    Errors verify(int partition, int epoch) {
        Errors[] answer = new Errors[1];
        Object[] one = oneOf(partition);
        Parts.of(TxnWorld.ID, TxnWorld.PRODUCER, (short) epoch, heard(result -> {
            var topics = ((AddPartitionsToTxnResult) result).topicResults();
            answer[0] = Errors.forCode(topics.iterator().next().resultsByPartition().iterator().next().partitionErrorCode());
        }), one[0], one[1]).call(coordinator, "handleVerifyPartitionsInTransaction");
        return answer[0];
    }

    void timeOut() {
        world.clock.sleep(TxnWorld.TIMEOUT_MS + 1);
        boolean givesEpoch = Arrays.stream(coordinator.getClass().getMethods()).anyMatch(each -> each.getName().equals("handleEndTransaction") && List.of(each.getParameterTypes()).contains(Function3.class));
        Function1<Object, Object> then = id -> givesEpoch ? told((error, epoch) -> { }) : heard(error -> { });
        Parts.ask(coordinator, "abortTimedOutTransactions", then);
    }

    // --- markers ---

    /** The marker that is under way to the partition, or null. */
    TxnMarkerEntry marker(int partition) {
        for (RequestAndCompletionHandler each : markers.generateRequests()) sent.put(each.destination.id() - DATA_BROKERS, each);
        RequestAndCompletionHandler request = sent.get(partition);
        if (request == null) return null;
        List<TxnMarkerEntry> entries = ((WriteTxnMarkersRequest) request.request.build()).markers();
        if (entries.size() != 1) world.fail(entries.size() + " markers in a request");
        return entries.get(entries.size() - 1);
    }

    /** The marker that is under way to the partition, or null, for whose answer nobody waits any more. */
    TxnMarkerEntry leave(int partition) {
        RequestAndCompletionHandler request = sent.remove(partition);
        return request == null ? null : ((WriteTxnMarkersRequest) request.request.build()).markers().get(0);
    }

    /** The request with that marker is answered; null: the connection is lost. */
    void answer(int partition, Errors error) {
        RequestAndCompletionHandler request = sent.remove(partition);
        var body = error == null ? null : new WriteTxnMarkersResponse(Map.of(TxnWorld.PRODUCER, Map.of(TxnWorld.data(partition), error)));
        var header = new RequestHeader(ApiKeys.WRITE_TXN_MARKERS, ApiKeys.WRITE_TXN_MARKERS.latestVersion(), "", 0);
        long now = world.clock.milliseconds();
        request.handler.onComplete(new ClientResponse(header, null, request.destination.idString(), now, now, error == null, null, null, body));
    }

    void close() {
        if (load != null && load.isUnderWay()) resign();
        Parts.ask(markers, "removeMetrics");
    }
}
