package highwater;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.ListOffsetsRequest;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochRequest;
import org.apache.kafka.common.requests.RequestHeader;

/** A fetcher's connection to its leader. */
final class TieredWire {
    /** Of an answer to a fetch, only what has the follower truncate its log arrives. */
    boolean losesAllButTruncation;
    /** So does the answer that there is nothing left where it asks. */
    boolean mayBeOutOfRange;
    /** An answer was lost for that, and the error of the last one. */
    boolean lost;
    Errors last = Errors.NONE;

    private final TieredWorld world;

    TieredWire(TieredWorld world) { this.world = world; }

    /** A BlockingSend to the leader with that address. */
    Object between(Object address, int leader) {
        Class<?> kind = Parts.type("org.apache.kafka.server.network.BlockingSend", "org.apache.kafka.server.BlockingSend", "kafka.server.BlockingSend");
        return Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, (proxy, method, arguments) -> switch (method.getName()) {
            case "brokerEndPoint" -> address;
            case "initiateClose", "close" -> null;
            case "sendRequest" -> send(leader, (AbstractRequest.Builder<?>) arguments[0]);
            default -> throw new IllegalStateException("the connection to a leader is asked for " + method);
        });
    }

    private ClientResponse send(int to, AbstractRequest.Builder<?> builder) {
        TieredBroker leader = world.brokers[to];
        if (leader == null) throw new RuntimeException(new IOException("broker " + to + " is down"));
        short version = builder.latestAllowedVersion();
        AbstractRequest request = builder.build(version);
        AbstractResponse answer;
        if (request instanceof FetchRequest fetch) answer = fetch(leader, fetch);
        else if (request instanceof ListOffsetsRequest list) answer = Apis.listOffsets(leader.replicas(), world.partition, list);
        else if (request instanceof OffsetsForLeaderEpochRequest asked) answer = Apis.epochEnds(leader.replicas(), asked);
        else throw new IllegalStateException("no broker answers " + request);
        return new ClientResponse(new RequestHeader(request.apiKey(), version, "highwater", 0), null, Integer.toString(to), 0, 0, false, null, null, answer);
    }

    private FetchResponse fetch(TieredBroker leader, FetchRequest request) {
        LinkedHashMap<TopicIdPartition, FetchResponseData.PartitionData> answers = new LinkedHashMap<>();
        Apis.fetch(leader.replicas(), request.version(), request.replicaId(), request.replicaEpoch(), "LOG_END",
            request.fetchData(Map.of(world.topic, TieredWorld.TOPIC)), (partition, data) -> {
                FetchResponseData.PartitionData answer = Apis.told(partition.partition(), data, Apis.copied(Parts.get(data, "records")));
                last = Errors.forCode(answer.errorCode());
                boolean truncates = mayBeOutOfRange && last == Errors.OFFSET_OUT_OF_RANGE || answer.divergingEpoch().endOffset() >= 0;
                if (losesAllButTruncation && !truncates) {
                    lost = true;
                    throw new RuntimeException(new IOException("the answer is lost"));
                }
                answers.put(partition, answer);
            });
        return (FetchResponse) Parts.of(Errors.NONE, 0, 0, answers, List.of()).call(FetchResponse.class, "of");
    }
}
