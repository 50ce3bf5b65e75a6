import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.QuorumInfo;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.TopicPartitionReplica;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ElectionNotNeededException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Kafka's own clients, told what to do by lines of JSON and answering in such lines.
 *
 * A request has an "id" and an "op"; its answer has the id and "ok" or "error". What producers hear
 * comes as lines with an "event" when it comes. Arguments: the brokers, then the controllers or "".
 */
public final class Clients {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final PrintStream OUT = System.out;
    private static final int REFUSALS = 5; // how often a consumer is refused before it goes on

    private final Properties base = new Properties();
    private final Admin brokers;
    private final Admin controllers;
    private final String quorum;
    private final Map<String, KafkaProducer<String, String>> producers = new ConcurrentHashMap<>();
    private final Map<Integer, KafkaProducer<String, String>> transactional = new ConcurrentHashMap<>();
    private final Map<Integer, Member> members = new ConcurrentHashMap<>();
    private volatile boolean loading;
    private volatile Thread load;

    private Clients(String servers, String quorum) {
        this.quorum = quorum;
        base.put("bootstrap.servers", servers);
        base.put("metadata.recovery.strategy", "rebootstrap"); // the default since 4.0: else a client may know but a broker that is gone
        Properties ask = new Properties();
        ask.putAll(base);
        ask.put("default.api.timeout.ms", "30000");
        brokers = Admin.create(ask);
        if (quorum.isEmpty()) {
            controllers = brokers;
        } else {
            controllers = quorumOf(quorum, 10); // not for elections: the client refuses
        }
    }

    public static void main(String[] arguments) throws Exception {
        Clients clients = new Clients(arguments[0], arguments[1]);
        ExecutorService workers = Executors.newCachedThreadPool();
        say(JSON.createObjectNode().put("event", "ready"));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            JsonNode request = JSON.readTree(line);
            workers.execute(() -> clients.answer(request));
        }
        Runtime.getRuntime().halt(0);
    }

    private void answer(JsonNode request) {
        ObjectNode answer = JSON.createObjectNode().put("id", request.get("id").asInt());
        try {
            answer.set("ok", perform(request.get("op").asText(), request));
        } catch (Throwable thrown) {
            answer.put("error", cause(thrown));
        }
        say(answer);
    }

    private JsonNode perform(String op, JsonNode r) throws Exception {
        switch (op) {
            case "create": return create(r);
            case "delete": brokers.deleteTopics(List.of(r.get("topic").asText())).all().get(); break;
            case "reassign": reassign(r, Optional.of(new NewPartitionReassignment(numbers(r.get("replicas"))))); break;
            case "cancel": reassign(r, Optional.empty()); break;
            case "move": move(r); break;
            case "elect": elect(r); break;
            case "configure": configure(r); break;
            case "feature": feature(r); break;
            case "unregister": brokers.unregisterBroker(r.get("broker").asInt()).all().get(); break;
            case "describe": return describe(r);
            case "write": write(r); break;
            case "load": load(r); break;
            case "cease": loading = false; break;
            case "transact": transact(r); break;
            case "open": return open(r);
            case "ends": return ends(r);
            case "join": join(r); break;
            case "watch": watch(r); break;
            case "begin": members.get(r.get("consumer").asInt()).begin.countDown(); break;
            case "stop": stop(); break;
            case "share": share(r); break;
            case "read": return read(r);
            case "first": return first(r);
            case "trim": return trim(r);
            case "earliest": return earliest(r);
            case "topics": return JSON.valueToTree(brokers.listTopics().names().get());
            case "quorum": return quorum(r);
            case "metric": return JSON.valueToTree(Metrics.of(r.get("pid").asText(), r.get("bean").asText(), r.get("attribute").asText()));
            case "add_voter": addVoter(r); break;
            case "remove_voter": removeVoter(r); break;
            case "subscriptions": subscriptions(r); break;
            default: throw new IllegalArgumentException("no operation " + op);
        }
        return JSON.nullNode();
    }

    private JsonNode create(JsonNode r) throws Exception {
        Map<Integer, List<Integer>> assignment = new HashMap<>();
        for (int i = 0; i < r.get("partitions").asInt(); i++) assignment.put(i, numbers(r.get("replicas")));
        Map<String, String> settings = JSON.convertValue(r.path("settings"), new TypeReference<Map<String, String>>() { });
        NewTopic topic = new NewTopic(r.get("topic").asText(), assignment);
        brokers.createTopics(List.of(settings == null ? topic : topic.configs(settings))).all().get();
        return JSON.nullNode();
    }

    private void reassign(JsonNode r, Optional<NewPartitionReassignment> to) throws Exception {
        Map<TopicPartition, Optional<NewPartitionReassignment>> all = new HashMap<>();
        for (TopicPartition partition : partitions(r)) all.put(partition, to);
        try {
            controllers.alterPartitionReassignments(all).all().get();
        } catch (ExecutionException refused) { // up to 3.9, by the client: only brokers are asked
            if (!refused.getCause().getClass().getSimpleName().equals("UnsupportedEndpointTypeException")) throw refused;
            brokers.alterPartitionReassignments(all).all().get();
        }
    }

    /** A replica to another directory of its broker. */
    private void move(JsonNode r) throws Exception {
        Map<TopicPartitionReplica, String> all = new HashMap<>();
        for (TopicPartition partition : partitions(r))
            all.put(new TopicPartitionReplica(partition.topic(), partition.partition(), r.get("broker").asInt()), r.get("to").asText());
        brokers.alterReplicaLogDirs(all).all().get();
    }

    private void elect(JsonNode r) throws Exception {
        ElectionType type = r.get("unclean").asBoolean() ? ElectionType.UNCLEAN : ElectionType.PREFERRED;
        for (Optional<Throwable> error : brokers.electLeaders(type, Set.copyOf(partitions(r))).partitions().get().values())
            if (error.isPresent() && !(error.get() instanceof ElectionNotNeededException)) // whoever it would be leads
                throw new ExecutionException(error.get());
    }

    private void configure(JsonNode r) throws Exception {
        ConfigResource.Type type = ConfigResource.Type.valueOf(r.get("kind").asText().toUpperCase());
        ConfigEntry entry = new ConfigEntry(r.get("key").asText(), r.get("value").asText());
        brokers.incrementalAlterConfigs(Map.of(new ConfigResource(type, r.get("name").asText()),
            List.of(new AlterConfigOp(entry, AlterConfigOp.OpType.SET)))).all().get();
    }

    private void feature(JsonNode r) throws Exception {
        FeatureUpdate update = new FeatureUpdate((short) r.get("level").asInt(), FeatureUpdate.UpgradeType.UPGRADE);
        brokers.updateFeatures(Map.of(r.get("name").asText(), update), new UpdateFeaturesOptions()).all().get();
    }

    private JsonNode describe(JsonNode r) throws Exception {
        String topic = r.get("topic").asText();
        TopicDescription found = brokers.describeTopics(List.of(topic)).allTopicNames().get().get(topic);
        ArrayNode all = JSON.createArrayNode();
        for (TopicPartitionInfo partition : found.partitions()) {
            ObjectNode one = all.addObject().put("partition", partition.partition());
            Node leader = partition.leader();
            one.put("leader", leader == null || leader.isEmpty() ? -1 : leader.id());
            one.set("replicas", ids(partition.replicas()));
            one.set("isr", ids(partition.isr()));
            one.set("elr", later(partition, "elr"));
            one.set("last_known_elr", later(partition, "lastKnownElr"));
        }
        return all;
    }

    /** What newer releases tell and older ones do not know: empty there. */
    private static JsonNode later(TopicPartitionInfo partition, String method) {
        try {
            Object found = TopicPartitionInfo.class.getMethod(method).invoke(partition);
            @SuppressWarnings("unchecked")
            Collection<Node> nodes = found == null ? List.of() : (Collection<Node>) found;
            return ids(nodes);
        } catch (ReflectiveOperationException unknown) {
            return JSON.createArrayNode();
        }
    }

    /**
     * Sends "count" records named NAME, or NAME0, NAME1, ... if that is not 1; answers come as events. With "servers"
     * these are asked who leads, and the leader alone answers.
     */
    private void write(JsonNode r) {
        boolean alone = r.has("servers");
        String name = alone ? r.get("servers").asText() : r.path("once").asBoolean() ? "once" : "one";
        KafkaProducer<String, String> producer = producers.computeIfAbsent(name, alone ? this::leaderAlone : this::producer);
        int count = r.path("count").asInt(1);
        String padding = ".".repeat(r.path("padding").asInt(0));
        for (int i = 0; i < count; i++) {
            String record = r.get("name").asText() + (count == 1 ? "" : Integer.toString(i));
            send(producer, alone ? "appended" : "acknowledged", r.get("topic").asText(), r.path("partition").asInt(0), record, padding);
        }
    }

    private KafkaProducer<String, String> producer(String name) {
        Properties settings = new Properties();
        settings.putAll(base);
        settings.put("client.id", "producer-" + name);
        if (name.equals("once")) {
            settings.put("retries", "0");
            settings.put("enable.idempotence", "false");
        }
        settings.put("acks", "all");
        settings.put("request.timeout.ms", "60000");
        settings.put("delivery.timeout.ms", "180000");
        return new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    private KafkaProducer<String, String> leaderAlone(String servers) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", servers);
        settings.put("client.id", "producer-leader-alone");
        settings.put("retries", "0");
        settings.put("enable.idempotence", "false");
        settings.put("acks", "1");
        return new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    private static void send(
            KafkaProducer<String, String> producer, String told, String topic, int partition, String name, String padding) {
        producer.send(new ProducerRecord<>(topic, partition, null, name + padding), (metadata, error) -> {
            ObjectNode event = JSON.createObjectNode().put("event", error == null ? told : "failed");
            event.put("topic", topic).put("partition", partition).put("name", name);
            if (error == null) event.put("offset", metadata.offset());
            else event.put("error", cause(error));
            say(event);
        });
    }

    /** What one transactional producer does; how a transaction ended, as it was told, comes as an event. */
    private void transact(JsonNode r) {
        int number = r.get("producer").asInt();
        String step = r.get("step").asText();
        KafkaProducer<String, String> producer = transactional.computeIfAbsent(number, this::transactional);
        switch (step) {
            case "begin": producer.beginTransaction(); break;
            case "send": send(producer, "acknowledged", r.get("topic").asText(), 0, r.get("name").asText(), ""); break;
            case "die": transactional.remove(number).close(Duration.ZERO); break; // without an abort
            default: end(number, producer, step.equals("commit"));
        }
    }

    private KafkaProducer<String, String> transactional(int number) {
        Properties settings = new Properties();
        settings.putAll(base);
        settings.put("client.id", "producer-" + number);
        settings.put("transactional.id", "producer-" + number);
        settings.put("transaction.timeout.ms", "10000");
        settings.put("max.block.ms", "180000"); // for the end of a transaction to be heard of
        KafkaProducer<String, String> producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        return producer;
    }

    private static void end(int number, KafkaProducer<String, String> producer, boolean commits) {
        ObjectNode event = JSON.createObjectNode().put("event", commits ? "committed" : "aborted").put("producer", number);
        try {
            if (commits) producer.commitTransaction();
            else producer.abortTransaction();
        } catch (RuntimeException failed) {
            event.put("error", cause(failed));
        }
        say(event);
    }

    /** The transactions that are open in partitions; with "told" also what each producer's coordinator tells of it. */
    private JsonNode open(JsonNode r) throws Exception {
        ArrayNode all = JSON.createArrayNode();
        var states = brokers.describeProducers(partitions(r)).all().get();
        for (var state : states.entrySet())
            for (ProducerState producer : state.getValue().activeProducers())
                if (producer.currentTransactionStartOffset().isPresent())
                    all.addObject().put("partition", state.getKey().partition())
                        .put("offset", producer.currentTransactionStartOffset().getAsLong())
                        .put("producer", producer.producerId()).put("epoch", producer.producerEpoch());
        if (!r.path("told").asBoolean()) return all;
        for (JsonNode one : all)
            for (var listed : brokers.listTransactions().all().get())
                if (listed.producerId() == one.get("producer").asLong()) {
                    var known = brokers.describeTransactions(List.of(listed.transactionalId())).all().get().get(listed.transactionalId());
                    TopicPartition partition = new TopicPartition(r.get("topic").asText(), one.get("partition").asInt());
                    ((ObjectNode) one).put("id", listed.transactionalId()).put("state", known.state().toString())
                        .put("known", known.topicPartitions().contains(partition));
                }
        return all;
    }

    /** Of each partition the last stable offset and the high watermark: where readers come to. */
    private JsonNode ends(JsonNode r) throws Exception {
        Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
        for (TopicPartition partition : partitions(r)) latest.put(partition, OffsetSpec.latest());
        ArrayNode all = JSON.createArrayNode();
        var stable = brokers.listOffsets(latest, new ListOffsetsOptions(IsolationLevel.READ_COMMITTED)).all().get();
        var every = brokers.listOffsets(latest).all().get();
        for (TopicPartition partition : partitions(r))
            all.addObject().put("partition", partition.partition()).put("stable", stable.get(partition).offset())
                .put("all", every.get(partition).offset());
        return all;
    }

    /** Several producers with default settings take turns, until "stop". */
    private void load(JsonNode r) {
        List<KafkaProducer<String, String>> many = new ArrayList<>();
        for (int i = 0; i < r.get("producers").asInt(); i++)
            many.add(new KafkaProducer<>(base, new StringSerializer(), new StringSerializer()));
        String topic = r.get("topic").asText();
        int partitions = r.get("partitions").asInt();
        long pause = 1_000_000_000L / r.get("rate").asInt();
        loading = true;
        load = new Thread(() -> {
            for (long i = 0; loading; i++) {
                send(many.get((int) (i % many.size())), "acknowledged", topic, (int) (i % partitions), "v" + i, "");
                LockSupport.parkNanos(pause);
            }
            for (KafkaProducer<String, String> producer : many) producer.close();
        });
        load.start();
    }

    /** Ends the load, the group and transactional producers; returns when each record of it is acknowledged or has failed. */
    private void stop() throws InterruptedException {
        loading = false;
        if (load != null) load.join();
        for (Member member : members.values()) member.leave();
        for (KafkaProducer<String, String> producer : transactional.values()) producer.close(Duration.ZERO);
    }

    private void join(JsonNode r) {
        Properties settings = new Properties();
        settings.put("group.id", "group");
        settings.put("group.protocol", "consumer");
        String topic = r.get("topic").asText();
        start(new Member(r, settings, (consumer, member) -> consumer.subscribe(List.of(topic), member)));
    }

    /** By reflection: it is compiled where the release has share groups. */
    private void share(JsonNode r) throws Exception {
        Consumer<ObjectNode> say = Clients::say;
        Class.forName("ShareConsumers").getMethod("perform", JsonNode.class, Properties.class, Consumer.class)
            .invoke(null, r, base, say);
    }

    private void watch(JsonNode r) throws Exception {
        Properties settings = new Properties();
        settings.put("client.rack", r.get("rack").asText());
        settings.put("enable.auto.commit", "false");
        List<TopicPartition> partitions = partitions(r);
        start(new Member(r, settings, (consumer, member) -> consumer.assign(partitions)));
    }

    private void start(Member member) {
        members.put(member.number, member);
        member.start();
    }

    /** A member of the group, or a consumer without one: it says what it is given, gives up and reads. */
    private final class Member extends Thread implements ConsumerRebalanceListener {
        private final int number;
        private final BiConsumer<KafkaConsumer<String, String>, Member> choose;
        private final CountDownLatch begin;
        private final KafkaConsumer<String, String> consumer;
        private volatile boolean leaving;

        private Member(JsonNode r, Properties settings, BiConsumer<KafkaConsumer<String, String>, Member> choose) {
            number = r.get("consumer").asInt();
            this.choose = choose;
            begin = new CountDownLatch(r.path("slow").asBoolean() ? 1 : 0);
            settings.putAll(base);
            settings.put("client.id", "consumer-" + number);
            settings.put("auto.offset.reset", "earliest");
            consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        }

        @Override
        public void run() {
            choose.accept(consumer, this);
            while (!leaving) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100)))
                    tell("read", Set.of(new TopicPartition(record.topic(), record.partition())),
                        record.value().replaceAll("\\.+$", ""));
            }
            consumer.close();
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            for (TopicPartition partition : partitions) consumer.position(partition); // where it is to begin
            tell("about", partitions, null);
            try {
                begin.await();
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
            tell("begun", partitions, null);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            tell("revoked", partitions, null);
        }

        private void tell(String event, Collection<TopicPartition> partitions, String record) {
            ObjectNode line = JSON.createObjectNode().put("event", event).put("consumer", number).put("name", record);
            ArrayNode names = line.putArray("partitions");
            for (TopicPartition partition : partitions) names.add(partition.toString());
            say(line);
        }

        private void leave() throws InterruptedException {
            begin.countDown();
            leaving = true;
            join();
        }
    }

    /** Every record of a topic from the beginning to the end, as a consumer reads it; where it is refused, and goes on behind. */
    private JsonNode read(JsonNode r) throws Exception {
        Properties settings = new Properties();
        settings.putAll(base);
        settings.put("isolation.level", r.path("committed").asBoolean() ? "read_committed" : "read_uncommitted");
        settings.put("enable.auto.commit", "false");
        settings.put("auto.offset.reset", "none");
        ArrayNode all = JSON.createArrayNode();
        try (KafkaConsumer<String, String> consumer =
                 new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            List<TopicPartition> partitions = partitions(r);
            consumer.assign(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            consumer.seekToBeginning(partitions);
            long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
            int refusals = 0; // one after the other, at the same place
            while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
                if (System.nanoTime() > deadline) throw new IllegalStateException("the end was not reached in 60 s");
                try {
                    for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200)))
                        all.addObject().put("partition", record.partition()).put("offset", record.offset())
                            .put("name", record.value().replaceAll("\\.+$", ""));
                } catch (OffsetOutOfRangeException refused) {
                    if (++refusals % REFUSALS != 0) {
                        Thread.sleep(200);
                        continue;
                    }
                    refused.offsetOutOfRangePartitions().forEach((partition, offset) -> {
                        all.addObject().put("partition", partition.partition()).put("offset", offset).put("refused", true);
                        consumer.seek(partition, offset + 1);
                    });
                }
            }
        }
        return all;
    }

    /** Whether a consumer that has no position, and goes to the earliest offset whenever it is refused, gets a record. */
    private JsonNode first(JsonNode r) throws Exception {
        Properties settings = new Properties();
        settings.putAll(base);
        settings.put("enable.auto.commit", "false");
        settings.put("auto.offset.reset", "earliest");
        try (KafkaConsumer<String, String> consumer =
                 new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(partitions(r));
            return JSON.valueToTree(!consumer.poll(Duration.ofSeconds(20)).isEmpty());
        }
    }

    /** Deletes all records that are committed but the last "kept"; where the log of each partition starts after that. */
    private JsonNode trim(JsonNode r) throws Exception {
        Map<TopicPartition, RecordsToDelete> all = new HashMap<>();
        int kept = r.get("kept").asInt();
        for (TopicPartition partition : partitions(r))
            all.put(partition, RecordsToDelete.beforeOffset(kept == 0 ? -1 : highWatermark(partition) - kept));
        ArrayNode starts = JSON.createArrayNode();
        var answers = brokers.deleteRecords(all).lowWatermarks();
        for (TopicPartition partition : partitions(r)) starts.add(answers.get(partition).get().lowWatermark());
        return starts;
    }

    /** Where each partition begins, as its leader tells. */
    private JsonNode earliest(JsonNode r) throws Exception {
        Map<TopicPartition, OffsetSpec> all = new HashMap<>();
        for (TopicPartition partition : partitions(r)) all.put(partition, OffsetSpec.earliest());
        ArrayNode starts = JSON.createArrayNode();
        var answers = brokers.listOffsets(all);
        for (TopicPartition partition : partitions(r)) starts.add(answers.partitionResult(partition).get().offset());
        return starts;
    }

    private long highWatermark(TopicPartition partition) throws Exception {
        return brokers.listOffsets(Map.of(partition, OffsetSpec.latest())).partitionResult(partition).get().offset();
    }

    private static Admin quorumOf(String servers, int retries) {
        Properties direct = new Properties();
        direct.put("bootstrap.controllers", servers);
        direct.put("retries", Integer.toString(retries));
        direct.put("default.api.timeout.ms", "30000");
        return Admin.create(direct);
    }

    /** Who leads the metadata, as these controllers tell, and how far each replica has come. */
    private JsonNode quorum(JsonNode r) throws Exception {
        QuorumInfo found;
        try (Admin admin = quorumOf(r.get("servers").asText(), 0)) { // a new one does not go by who led before
            found = admin.describeMetadataQuorum().quorumInfo().get();
        }
        ObjectNode told = JSON.createObjectNode().put("leader", found.leaderId()).put("high_watermark", found.highWatermark());
        ObjectNode ends = told.putObject("ends");
        for (Collection<QuorumInfo.ReplicaState> some : List.of(found.voters(), found.observers()))
            for (QuorumInfo.ReplicaState one : some) ends.put(Integer.toString(one.replicaId()), one.logEndOffset());
        return told;
    }

    /** By reflection: it is there since 3.9. By a new client, which does not go by who led before. */
    private void addVoter(JsonNode r) throws Exception {
        String[] address = r.get("address").asText().split(":");
        Object endpoint = Class.forName("org.apache.kafka.clients.admin.RaftVoterEndpoint")
            .getConstructor(String.class, String.class, int.class)
            .newInstance("CONTROLLER", address[0], Integer.parseInt(address[1]));
        try (Admin admin = quorumOf(quorum, 10)) {
            Object result = Admin.class.getMethod("addRaftVoter", int.class, Uuid.class, Set.class)
                .invoke(admin, r.get("voter").asInt(), Uuid.fromString(r.get("directory").asText()), Set.of(endpoint));
            ((KafkaFuture<?>) result.getClass().getMethod("all").invoke(result)).get();
        }
    }

    /** By reflection, as above; nobody but "servers" is asked. */
    private void removeVoter(JsonNode r) throws Exception {
        try (Admin admin = quorumOf(r.get("servers").asText(), 0)) {
            Object result = Admin.class.getMethod("removeRaftVoter", int.class, Uuid.class)
                .invoke(admin, r.get("voter").asInt(), Uuid.fromString(r.get("directory").asText()));
            ((KafkaFuture<?>) result.getClass().getMethod("all").invoke(result)).get();
        }
    }

    /** One record of metadata each, all in one request: client metrics that no client sends. */
    private void subscriptions(JsonNode r) throws Exception {
        Map<ConfigResource, Collection<AlterConfigOp>> all = new HashMap<>();
        for (int i = 0; i < r.get("count").asInt(); i++)
            all.put(new ConfigResource(ConfigResource.Type.valueOf("CLIENT_METRICS"), r.get("name").asText() + i),
                List.of(new AlterConfigOp(new ConfigEntry("interval.ms", "3600000"), AlterConfigOp.OpType.SET)));
        try (Admin admin = quorumOf(r.get("servers").asText(), 0)) { // no other one, if this does not lead any more
            admin.incrementalAlterConfigs(all).all().get();
        }
    }

    private List<TopicPartition> partitions(JsonNode r) throws Exception {
        String topic = r.get("topic").asText();
        List<TopicPartition> all = new ArrayList<>();
        for (int number : numbers(r.get("numbers"))) all.add(new TopicPartition(topic, number));
        return all;
    }

    private static ArrayNode ids(Collection<Node> nodes) {
        ArrayNode all = JSON.createArrayNode();
        for (Node node : nodes) all.add(node.id());
        return all;
    }

    private static List<Integer> numbers(JsonNode list) {
        List<Integer> all = new ArrayList<>();
        for (JsonNode number : list) all.add(number.asInt());
        return all;
    }

    private static String cause(Throwable thrown) {
        while (thrown.getCause() != null) thrown = thrown.getCause();
        return thrown.getClass().getSimpleName() + ": " + thrown.getMessage();
    }

    private static void say(ObjectNode line) {
        synchronized (OUT) {
            OUT.println(line);
            OUT.flush();
        }
    }
}
