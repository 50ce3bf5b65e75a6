import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.SynchronousQueue;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * The members of a share group (KIP-932), for `Clients`: compiled only where the release has them.
 *
 * A member holds what a poll has returned until it is told to acknowledge it, as one that takes long to
 * process does, and then polls again. All that it takes, and what comes of each acknowledgement, it says.
 */
public final class ShareConsumers {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<Integer, ShareConsumers> MEMBERS = new ConcurrentHashMap<>();

    private final int number;
    private final String topic;
    private final Consumer<ObjectNode> say;
    private final KafkaShareConsumer<String, String> consumer;
    private final List<ConsumerRecord<String, String>> held = new ArrayList<>();
    private final SynchronousQueue<Boolean> told = new SynchronousQueue<>(); // each: acknowledge what you hold
    private final Thread thread = new Thread(this::run);
    private volatile boolean settling; // it holds nothing any more
    private volatile boolean leaving;

    private ShareConsumers(JsonNode r, Properties base, Consumer<ObjectNode> say) {
        number = r.get("consumer").asInt();
        topic = r.get("topic").asText();
        this.say = say;
        Properties settings = new Properties();
        settings.putAll(base);
        settings.put("group.id", "shares");
        settings.put("client.id", "share-consumer-" + number);
        settings.put("share.acknowledgement.mode", "explicit");
        consumer = new KafkaShareConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
    }

    /** What `Clients` is asked with the operation "share"; "do" says what of it. */
    public static void perform(JsonNode r, Properties base, Consumer<ObjectNode> say) throws Exception {
        switch (r.get("do").asText()) {
            case "join": {
                ShareConsumers member = new ShareConsumers(r, base, say);
                MEMBERS.put(member.number, member);
                member.thread.start();
                break;
            }
            case "acknowledge": MEMBERS.get(r.get("consumer").asInt()).told.put(true); break;
            case "settle": for (ShareConsumers member : MEMBERS.values()) member.settling = true; break;
            case "leave":
                for (ShareConsumers member : MEMBERS.values()) member.leaving = true;
                for (ShareConsumers member : MEMBERS.values()) member.thread.join();
                break;
            default: throw new IllegalArgumentException("no operation " + r);
        }
    }

    private void run() {
        try {
            consumer.subscribe(List.of(topic));
            while (!leaving) {
                if (held.isEmpty()) {
                    for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                        held.add(record);
                        tell("taken", record, null);
                    }
                } else if (settling) {
                    acknowledge();
                } else if (told.poll(200, java.util.concurrent.TimeUnit.MILLISECONDS) != null) {
                    acknowledge();
                }
            }
            consumer.close();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    private void acknowledge() {
        for (ConsumerRecord<String, String> record : held) consumer.acknowledge(record, AcknowledgeType.ACCEPT);
        Map<TopicIdPartition, Optional<KafkaException>> outcome = consumer.commitSync();
        for (ConsumerRecord<String, String> record : held) {
            Optional<KafkaException> error = outcome.entrySet().stream()
                .filter(each -> each.getKey().topic().equals(record.topic()) && each.getKey().partition() == record.partition())
                .findAny().flatMap(Map.Entry::getValue);
            tell(error.isPresent() ? "refused" : "accepted", record, error.map(KafkaException::getMessage).orElse(null));
        }
        held.clear();
    }

    private void tell(String event, ConsumerRecord<String, String> record, String error) {
        ObjectNode line = JSON.createObjectNode().put("event", "share").put("what", event).put("consumer", number);
        line.put("topic", record.topic()).put("partition", record.partition()).put("offset", record.offset());
        say.accept(line.put("name", record.value().replaceAll("\\.+$", "")).put("error", error));
    }
}
