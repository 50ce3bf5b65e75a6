package highwater;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.FetchResponseData.EpochEndOffset;
import org.apache.kafka.common.message.ListOffsetsResponseData;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.ListOffsetsRequest;
import org.apache.kafka.common.requests.ListOffsetsResponse;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochRequest;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochResponse;
import org.apache.kafka.common.requests.RequestHeader;
import scala.Function1;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.BoxedUnit;

/** A fetcher's connection to its leader: what KafkaApis does with a request, done in the same call. */
final class Wire {
    /** An answer has the bytes that are in the leader's file as it arrives, not those of when it left. */
    boolean readsLate;
    /** How often the leader was asked to fetch, and what its last answer said about diverging logs. */
    int fetches;
    EpochEndOffset diverging;

    private final World world;

    Wire(World world) { this.world = world; }

    /** A BlockingSend from a broker to the leader with that address. */
    static Object between(World world, Broker from, Object address, int leader) {
        Class<?> kind = Parts.type("org.apache.kafka.server.network.BlockingSend", "org.apache.kafka.server.BlockingSend", "kafka.server.BlockingSend");
        return Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, (proxy, method, arguments) -> switch (method.getName()) {
            case "brokerEndPoint" -> address;
            case "initiateClose", "close" -> null;
            case "sendRequest" -> world.wire.send(from.id, leader, (AbstractRequest.Builder<?>) arguments[0]);
            default -> throw new IllegalStateException("the connection to a leader is asked for " + method);
        });
    }

    private ClientResponse send(int from, int to, AbstractRequest.Builder<?> builder) {
        Broker leader = world.brokers[to];
        if (leader == null) throw new RuntimeException(new IOException("broker " + to + " is down"));
        world.rounds.requestLeaves();
        short version = builder.latestAllowedVersion();
        AbstractRequest request = builder.build(version);
        AbstractResponse answer;
        if (request instanceof FetchRequest given && world.stall.takes(() -> handle(leader, given, (partition, data) -> { }))) {
            fetches++;
            throw new RuntimeException(new IOException("no answer comes"));
        }
        if (request instanceof FetchRequest fetch) answer = fetch(leader, fetch);
        else if (request instanceof ListOffsetsRequest list) answer = listOffsets(leader, list);
        else if (request instanceof OffsetsForLeaderEpochRequest asked) answer = epochEnds(leader, asked);
        else throw new IllegalStateException("no broker answers " + request);
        leader.replicas.tryCompleteActions();
        world.rounds.answerLeaves(from, diverging != null && keepsAll(world.brokers[from]));
        if (readsLate && answer instanceof FetchResponse fetched) fetched.data().responses().forEach(topic -> topic.partitions().forEach(
            each -> Parts.ask(each, "setRecords", copied(Parts.ask(each, "records")))));
        RequestHeader header = new RequestHeader(request.apiKey(), version, "highwater", 0);
        return new ClientResponse(header, null, Integer.toString(to), 0, 0, false, null, null, answer);
    }

    private void handle(Broker leader, FetchRequest request, Answer answer) {
        Map<org.apache.kafka.common.Uuid, String> names = Map.of(world.controller.topic(), World.TOPIC);
        fetch(leader, request.version(), request.replicaId(), request.replicaEpoch(), "LOG_END", request.fetchData(names), answer);
    }

    private FetchResponse fetch(Broker leader, FetchRequest request) {
        LinkedHashMap<TopicIdPartition, FetchResponseData.PartitionData> answers = new LinkedHashMap<>();
        diverging = null;
        fetches++;
        handle(leader, request, (partition, data) -> {
            FetchResponseData.PartitionData answer = new FetchResponseData.PartitionData().setPartitionIndex(partition.partition());
            Errors error = (Errors) Parts.get(data, "error");
            answer.setErrorCode(error.code()).setHighWatermark((Long) Parts.get(data, "highWatermark"))
                .setLastStableOffset(((OptionalLong) Parts.get(data, "lastStableOffset")).orElse(-1))
                .setLogStartOffset((Long) Parts.get(data, "logStartOffset"));
            Object records = Parts.get(data, "records");
            Parts.ask(answer, "setRecords", readsLate ? records : copied(records));
            diverging = (EpochEndOffset) ((Optional<?>) Parts.get(data, "divergingEpoch")).orElse(null);
            if (diverging != null) answer.setDivergingEpoch(diverging);
            if (error != Errors.NONE) world.note("the leader answers a fetch with " + error);
            answers.put(partition, answer);
        });
        return (FetchResponse) Parts.of(Errors.NONE, 0, 0, answers, List.of()).call(FetchResponse.class, "of");
    }

    interface Answer { void take(TopicIdPartition partition, Object data); }

    private void fetch(Broker leader, short version, int replica, long epoch, String isolation,
            Map<TopicIdPartition, FetchRequest.PartitionData> wanted, Answer answer) {
        Class<?> isolations = Parts.type("org.apache.kafka.server.storage.log.FetchIsolation", "org.apache.kafka.storage.internals.log.FetchIsolation");
        Object parameters = Parts.of(version, replica, epoch, 0L, 1, 1, Parts.constant(isolations, isolation), Optional.empty())
            .make(Parts.type("org.apache.kafka.server.storage.log.FetchParams", "org.apache.kafka.storage.internals.log.FetchParams"));
        List<Object> asked = new ArrayList<>();
        wanted.forEach((partition, data) -> asked.add(new Tuple2<>(partition, data)));
        Function1<Object, BoxedUnit> respond = answers -> {
            for (Object each : Scala.list(answers)) answer.take((TopicIdPartition) ((Tuple2<?, ?>) each)._1(), ((Tuple2<?, ?>) each)._2());
            return BoxedUnit.UNIT;
        };
        Parts.of(parameters, CollectionConverters.asScala(asked).toSeq(), UNBOUNDED, respond).call(leader.replicas, "fetchMessages");
    }

    /** What a consumer gets that reads at an offset of a broker: the record there, or null. */
    Integer consume(Broker broker, long offset) {
        TopicIdPartition partition = new TopicIdPartition(world.controller.topic(), world.partition);
        Integer[] found = {null};
        FetchRequest.PartitionData wanted = new FetchRequest.PartitionData(world.controller.topic(), offset, 0, 1, Optional.empty());
        fetch(broker, org.apache.kafka.common.protocol.ApiKeys.FETCH.latestVersion(), -1, -1, "HIGH_WATERMARK", Map.of(partition, wanted), (p, data) -> {
            Errors error = (Errors) Parts.get(data, "error");
            if (error != Errors.NONE) world.fail("a consumer's fetch is answered with " + error);
            List<int[]> entries = Disk.entries(copied(Parts.get(data, "records")));
            if (!entries.isEmpty()) found[0] = entries.get(0)[0];
        });
        return found[0];
    }

    /** The bytes leave the leader now, whatever becomes of its files. */
    private static Object copied(Object records) {
        if (!Parts.has(records, "readInto")) return records;
        ByteBuffer bytes = ByteBuffer.allocate((Integer) Parts.ask(records, "sizeInBytes"));
        Parts.ask(records, "readInto", bytes, 0);
        return Parts.ask(Parts.type("org.apache.kafka.common.record.internal.MemoryRecords", "org.apache.kafka.common.record.MemoryRecords"),
            "readableRecords", bytes);
    }

    /** The last answer says that the logs diverge, but only in epochs of which the follower has no record. */
    private boolean keepsAll(Broker follower) {
        var fetcher = follower.fetcher();
        if (fetcher == null) return false;
        long end = follower.end();
        Object here = Scala.orNull(Parts.ask(fetcher, "endOffsetForEpoch", world.partition, diverging.epoch()));
        if (here == null) return diverging.endOffset() >= end;
        int epoch = (Integer) Parts.ask(here, Parts.has(here, "epoch") ? "epoch" : "leaderEpoch");
        long offset = (Long) Parts.ask(here, "offset");
        return (epoch == diverging.epoch() ? Math.min(offset, diverging.endOffset()) : offset) >= end;
    }

    /** The leader would answer the follower's next fetch with where their logs diverge. */
    boolean wouldDiverge(Broker leader, Broker follower) {
        Object state = Scala.orNull(Parts.ask(follower.fetcher(), "fetchState", world.partition));
        Integer fetched = state == null ? null : (Integer) Scala.orNull(Parts.ask(state, "lastFetchedEpoch"));
        if (fetched == null) return false;
        OffsetForLeaderEpochResponseData.EpochEndOffset here = (OffsetForLeaderEpochResponseData.EpochEndOffset)
            Parts.ask(leader.partition(), "lastOffsetForLeaderEpoch", Optional.empty(), fetched, false);
        return here.endOffset() >= 0 && (here.leaderEpoch() < fetched || here.endOffset() < follower.end());
    }

    private ListOffsetsResponse listOffsets(Broker leader, ListOffsetsRequest request) {
        world.note("the follower asks for the leader's end");
        var wanted = request.topics().get(0).partitions().get(0);
        var answer = new ListOffsetsResponseData.ListOffsetsPartitionResponse().setPartitionIndex(world.partition.partition());
        try {
            Optional<Integer> epoch = wanted.currentLeaderEpoch() < 0 ? Optional.empty() : Optional.of(wanted.currentLeaderEpoch());
            Object found = Parts.of(world.partition, wanted.timestamp(), epoch, true).call(leader.replicas, "fetchOffsetForTimestamp");
            if (Parts.has(found, "timestampAndOffsetOpt")) found = Parts.ask(found, "timestampAndOffsetOpt");
            found = Scala.orNull(found);
            answer.setErrorCode(Errors.NONE.code()).setOffset((Long) Parts.get(found, "offset")).setTimestamp((Long) Parts.get(found, "timestamp"))
                .setLeaderEpoch(Parts.get(found, "leaderEpoch") instanceof Optional<?> known && known.isPresent() ? (Integer) known.get() : -1);
        } catch (ApiException e) {
            answer.setErrorCode(Errors.forException(e).code());
        }
        var topic = new ListOffsetsResponseData.ListOffsetsTopicResponse().setName(World.TOPIC).setPartitions(List.of(answer));
        return new ListOffsetsResponse(new ListOffsetsResponseData().setTopics(List.of(topic)));
    }

    private OffsetsForLeaderEpochResponse epochEnds(Broker leader, OffsetsForLeaderEpochRequest request) {
        var found = new OffsetForLeaderEpochResponseData.OffsetForLeaderTopicResultCollection();
        Object answers = Parts.ask(leader.replicas, "lastOffsetForLeaderEpoch",
            CollectionConverters.asScala(List.copyOf(request.data().topics())).toSeq());
        for (Object each : Scala.list(answers)) found.add((OffsetForLeaderEpochResponseData.OffsetForLeaderTopicResult) each);
        return new OffsetsForLeaderEpochResponse(new OffsetForLeaderEpochResponseData().setTopics(found));
    }

    /** Appends a record; `answer` hears what the producer is told, now or later. `appended` is called before it waits for that. */
    void produce(Broker leader, int id, short acks, Consumer<Errors> answer, Runnable appended) {
        Object records = Disk.record(id, world.clock.milliseconds());
        Function1<Object, BoxedUnit> respond = answers -> {
            answer.accept((Errors) Parts.get(Scala.map(answers).values().iterator().next(), "error"));
            return BoxedUnit.UNIT;
        };
        Function1<Object, BoxedUnit> ignore = statistics -> {
            appended.run();
            return BoxedUnit.UNIT;
        };
        TopicIdPartition withId = new TopicIdPartition(world.controller.topic(), world.partition);
        Class<?> local = Parts.type("org.apache.kafka.server.common.RequestLocal", "kafka.server.RequestLocal");
        Object noCaching = Parts.has(local, "noCaching") ? Parts.ask(local, "noCaching") : Parts.ask(local, "NoCaching");
        boolean[] entriesGiven = {false};
        Parts.of(3_600_000L, acks, false, Parts.constant(Parts.type("org.apache.kafka.storage.internals.log.AppendOrigin"), "CLIENT"),
            respond, ignore, noCaching, scala.collection.immutable.Map$.MODULE$.empty(),
            Parts.get(leader.replicas, Parts.hasField(leader.replicas, "defaultActionQueue") ? "defaultActionQueue" : "actionQueue"),
            org.apache.kafka.common.protocol.ApiKeys.PRODUCE.latestVersion())
            .madeBy(type -> {
                if (entriesGiven[0] || !type.getTypeName().startsWith("scala.collection.Map")) return null;
                entriesGiven[0] = true;
                Object partition = type.getTypeName().contains("TopicIdPartition") ? withId : world.partition;
                return CollectionConverters.asScala(Map.of(partition, records));
            }).call(leader.replicas, "appendRecords");
        leader.replicas.tryCompleteActions();
    }

    private static final Object UNBOUNDED = unbounded(Parts.type("org.apache.kafka.server.quota.ReplicaQuota", "kafka.server.ReplicaQuota"));

    private static Object unbounded(Class<?> quota) {
        return Proxy.newProxyInstance(quota.getClassLoader(), new Class<?>[] {quota},
            (proxy, method, arguments) -> method.getReturnType() == boolean.class ? false : null);
    }
}
