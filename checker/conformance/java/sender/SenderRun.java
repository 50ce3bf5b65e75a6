package highwater;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.StringJoiner;
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
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.ProduceResponseData;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.requests.MetadataResponse;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.requests.ProduceResponse;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.ProducerIdAndEpoch;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.ProducerAppendInfo;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;

/**
 * Kafka's own idempotent producer and what a broker knows of it, with the network between them by
 * hand: a command a line, an answer a line.
 *
 * <p>{@code send}: the application sends its next record to the one partition; each is a batch of
 * its own. {@code run}: the sender's thread goes round once, which sends what may be sent, and then
 * receives the answers that are due; the answer is the requests that were sent, each as
 * NUMBER:RECORD:EPOCH:SEQUENCE. {@code append NUMBER}: the broker handles a request, and says
 * appended, duplicate or out_of_order. {@code answer NUMBER ERROR}: that answer is due, by Kafka's
 * name of the error. {@code disconnect NUMBER...}: these requests have none. {@code log}: the
 * records in the log, in order.
 */
public final class SenderRun {
    private static final long PRODUCER = 7;
    private static final TopicPartition PARTITION = new TopicPartition("topic", 0);

    private final Time time = Time.SYSTEM;
    private final List<ClientRequest> requests = new ArrayList<>();
    private final List<ClientResponse> due = new ArrayList<>();
    private final List<String> log = new ArrayList<>();
    private final ProducerMetadata metadata;
    private final RecordAccumulator accumulator;
    private final Sender sender;
    private final Method runOnce = accessible(Sender.class, "runOnce");
    private final Method findDuplicate =
        accessible(ProducerStateEntry.class, "findDuplicateBatch", RecordBatch.class);
    private final ProducerStateManager broker;
    private int shown;
    private int sent;

    private SenderRun(Path directory) throws Exception {
        LogContext context = new LogContext();
        Metrics metrics = new Metrics(time);
        metadata = new ProducerMetadata(0, 0, 60_000, 60_000, context, new ClusterResourceListeners(), time);
        metadata.add("topic", time.milliseconds());
        metadata.updateWithCurrentRequestVersion(topic(), false, time.milliseconds());
        TransactionManager manager = new TransactionManager(context, null, 60_000, 0, new ApiVersions(), false);
        accessible(TransactionManager.class, "setProducerIdAndEpoch", ProducerIdAndEpoch.class)
            .invoke(manager, new ProducerIdAndEpoch(PRODUCER, (short) 0));
        accumulator = new RecordAccumulator(context, 1, Compression.NONE, 0, 0, 0, 120_000, metrics, "producer", time,
            manager, new BufferPool(1 << 20, 1, metrics, time, "producer"));
        sender = new Sender(context, client(), metadata, accumulator, false, 1 << 20, (short) -1, Integer.MAX_VALUE,
            new SenderMetricsRegistry(metrics), time, 30_000, 0, manager);
        broker = new ProducerStateManager(
            PARTITION, directory.toFile(), 60_000, new ProducerStateManagerConfig(86_400_000, false), time);
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        Path directory = Files.createTempDirectory("highwater-sender-run-");
        SenderRun run = new SenderRun(directory);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine())
            out.println(run.answer(line.split(" ")));
        out.flush();
        Files.delete(directory);
    }

    private String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "send" -> {
                byte[] value = String.valueOf(sent++).getBytes(StandardCharsets.UTF_8);
                accumulator.append("topic", 0, 1, null, value, null, null, 1_000, time.milliseconds(), metadata.fetch());
                return "sent";
            }
            case "run" -> {
                runOnce.invoke(sender);
                StringJoiner found = new StringJoiner(" ");
                for (; shown < requests.size(); shown++) {
                    RecordBatch batch = batch(shown);
                    found.add(shown + ":" + record(batch) + ":" + batch.producerEpoch() + ":" + batch.baseSequence());
                }
                return found.toString();
            }
            case "append" -> {
                return append(batch(Integer.parseInt(words[1])));
            }
            case "answer" -> {
                due.add(response(requests.get(Integer.parseInt(words[1])), Errors.valueOf(words[2])));
                return "due";
            }
            case "disconnect" -> {
                for (int word = 1; word < words.length; word++)
                    due.add(response(requests.get(Integer.parseInt(words[word])), null));
                return "due";
            }
            case "log" -> {
                return String.join(" ", log);
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private String append(RecordBatch batch) throws Exception {
        Optional<ProducerStateEntry> entry = broker.lastEntry(PRODUCER);
        if (entry.isPresent() && ((Optional<?>) findDuplicate.invoke(entry.get(), batch)).isPresent())
            return "duplicate";
        ProducerAppendInfo info = broker.prepareUpdate(PRODUCER, AppendOrigin.CLIENT);
        try {
            info.append(batch, Optional.empty());
        } catch (OutOfOrderSequenceException thrown) {
            return "out_of_order";
        }
        broker.update(info);
        log.add(record(batch));
        return "appended";
    }

    private RecordBatch batch(int number) {
        ProduceRequest request = (ProduceRequest) requests.get(number).requestBuilder().build();
        MemoryRecords records =
            (MemoryRecords) request.data().topicData().iterator().next().partitionData().get(0).records();
        MutableRecordBatch batch = records.batches().iterator().next();
        return batch;
    }

    private static String record(RecordBatch batch) {
        return new String(Utils.toArray(batch.iterator().next().value()), StandardCharsets.UTF_8);
    }

    /** What comes back for a request; without an error the connection is lost. */
    private ClientResponse response(ClientRequest request, Errors error) {
        ProduceResponse body = null;
        if (error != null) {
            ProduceResponseData data = new ProduceResponseData();
            data.responses().add(new ProduceResponseData.TopicProduceResponse().setName("topic").setPartitionResponses(
                List.of(new ProduceResponseData.PartitionProduceResponse().setIndex(0).setErrorCode(error.code())
                    .setBaseOffset(error == Errors.NONE ? log.size() : -1))));
            body = new ProduceResponse(data);
        }
        long now = time.milliseconds();
        return new ClientResponse(request.makeHeader(ApiKeys.PRODUCE.latestVersion()), request.callback(), "0", now, now,
            error == null, null, null, body);
    }

    private static MetadataResponse topic() {
        MetadataResponseData data = new MetadataResponseData().setClusterId("cluster").setControllerId(0);
        data.brokers().add(new MetadataResponseData.MetadataResponseBroker().setNodeId(0).setHost("localhost").setPort(1));
        data.topics().add(new MetadataResponseData.MetadataResponseTopic().setName("topic").setTopicId(Uuid.ZERO_UUID)
            .setPartitions(List.of(new MetadataResponseData.MetadataResponsePartition().setPartitionIndex(0)
                .setLeaderId(0).setReplicaNodes(List.of(0)).setIsrNodes(List.of(0)))));
        return new MetadataResponse(data, ApiKeys.METADATA.latestVersion());
    }

    /** A network on which every node can be reached, and answers come when they are due. */
    private KafkaClient client() {
        return (KafkaClient) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {KafkaClient.class},
            (proxy, asked, given) -> switch (asked.getName()) {
                case "ready", "isReady", "hasReadyNodes", "active" -> true;
                case "connectionFailed", "hasInFlightRequests" -> false;
                case "connectionDelay", "pollDelayMs" -> 0L;
                case "inFlightRequestCount" -> 0;
                case "newClientRequest" -> new ClientRequest((String) given[0],
                    (org.apache.kafka.common.requests.AbstractRequest.Builder<?>) given[1], requests.size(), "client",
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

    private static Method accessible(Class<?> type, String name, Class<?>... parameters) {
        try {
            Method method = type.getDeclaredMethod(name, parameters);
            method.setAccessible(true);
            return method;
        } catch (NoSuchMethodException missing) {
            throw new IllegalStateException(missing);
        }
    }
}
