package highwater;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.FetchResponseData.EpochEndOffset;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.ListOffsetsRequest;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochRequest;
import org.apache.kafka.common.requests.RequestHeader;

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
        else if (request instanceof ListOffsetsRequest list) {
            world.note("the follower asks for the leader's end");
            answer = Apis.listOffsets(leader.replicas, world.partition, list);
        }
        else if (request instanceof OffsetsForLeaderEpochRequest asked) answer = Apis.epochEnds(leader.replicas, asked);
        else throw new IllegalStateException("no broker answers " + request);
        leader.replicas.tryCompleteActions();
        world.rounds.answerLeaves(from, diverging != null && keepsAll(world.brokers[from]));
        if (readsLate && answer instanceof FetchResponse fetched) fetched.data().responses().forEach(topic -> topic.partitions().forEach(
            each -> Parts.ask(each, "setRecords", Apis.copied(Parts.ask(each, "records")))));
        RequestHeader header = new RequestHeader(request.apiKey(), version, "highwater", 0);
        return new ClientResponse(header, null, Integer.toString(to), 0, 0, false, null, null, answer);
    }

    private void handle(Broker leader, FetchRequest request, Apis.Answer answer) {
        Map<org.apache.kafka.common.Uuid, String> names = Map.of(world.controller.topic(), World.TOPIC);
        Apis.fetch(leader.replicas, request.version(), request.replicaId(), request.replicaEpoch(), "LOG_END", request.fetchData(names), answer);
    }

    private FetchResponse fetch(Broker leader, FetchRequest request) {
        LinkedHashMap<TopicIdPartition, FetchResponseData.PartitionData> answers = new LinkedHashMap<>();
        diverging = null;
        fetches++;
        handle(leader, request, (partition, data) -> {
            Object records = Parts.get(data, "records");
            FetchResponseData.PartitionData answer = Apis.told(partition.partition(), data, readsLate ? records : Apis.copied(records));
            diverging = (EpochEndOffset) ((Optional<?>) Parts.get(data, "divergingEpoch")).orElse(null);
            Errors error = Errors.forCode(answer.errorCode());
            if (error != Errors.NONE) world.note("the leader answers a fetch with " + error);
            answers.put(partition, answer);
        });
        return (FetchResponse) Parts.of(Errors.NONE, 0, 0, answers, List.of()).call(FetchResponse.class, "of");
    }

    /** What a consumer gets that reads at an offset of a broker: the record there, or null. */
    Integer consume(Broker broker, long offset) {
        TopicIdPartition partition = new TopicIdPartition(world.controller.topic(), world.partition);
        Integer[] found = {null};
        FetchRequest.PartitionData wanted = new FetchRequest.PartitionData(world.controller.topic(), offset, 0, 1, Optional.empty());
        Apis.fetch(broker.replicas, org.apache.kafka.common.protocol.ApiKeys.FETCH.latestVersion(), -1, -1, "HIGH_WATERMARK", Map.of(partition, wanted), (p, data) -> {
            Errors error = (Errors) Parts.get(data, "error");
            if (error != Errors.NONE) world.fail("a consumer's fetch is answered with " + error);
            List<int[]> entries = Disk.entries(Apis.copied(Parts.get(data, "records")));
            if (!entries.isEmpty()) found[0] = entries.get(0)[0];
        });
        return found[0];
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

    /** Appends a record; `answer` hears what the producer is told, now or later. `appended` is called before it waits for that. */
    void produce(Broker leader, int id, short acks, Consumer<Errors> answer, Runnable appended) {
        Apis.produce(leader.replicas, new TopicIdPartition(world.controller.topic(), world.partition), Disk.record(id, world.clock.milliseconds()), acks, answer, appended);
    }
}
