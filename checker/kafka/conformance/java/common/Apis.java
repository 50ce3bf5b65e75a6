package highwater;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import kafka.server.ReplicaManager;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.FetchResponseData.EpochEndOffset;
import org.apache.kafka.common.message.ListOffsetsResponseData;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.ListOffsetsRequest;
import org.apache.kafka.common.requests.ListOffsetsResponse;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochRequest;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochResponse;
import scala.Function1;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.BoxedUnit;

/** What KafkaApis does with requests for one partition, done in the same call. */
final class Apis {
    interface Answer { void take(TopicIdPartition partition, Object data); }

    private Apis() { }

    static void fetch(ReplicaManager leader, short version, int replica, long epoch, String isolation,
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
        Parts.of(parameters, CollectionConverters.asScala(asked).toSeq(), UNBOUNDED, respond).call(leader, "fetchMessages");
    }

    /** What is sent of that, with `records` in it. */
    static FetchResponseData.PartitionData told(int partition, Object data, Object records) {
        FetchResponseData.PartitionData answer = new FetchResponseData.PartitionData().setPartitionIndex(partition);
        answer.setErrorCode(((Errors) Parts.get(data, "error")).code()).setHighWatermark((Long) Parts.get(data, "highWatermark"))
            .setLastStableOffset(((OptionalLong) Parts.get(data, "lastStableOffset")).orElse(-1))
            .setLogStartOffset((Long) Parts.get(data, "logStartOffset"));
        Parts.ask(answer, "setRecords", records);
        EpochEndOffset diverging = (EpochEndOffset) ((Optional<?>) Parts.get(data, "divergingEpoch")).orElse(null);
        if (diverging != null) answer.setDivergingEpoch(diverging);
        return answer;
    }

    /** The bytes leave the leader now, whatever becomes of its files. */
    static Object copied(Object records) {
        if (!Parts.has(records, "readInto")) return records;
        ByteBuffer bytes = ByteBuffer.allocate((Integer) Parts.ask(records, "sizeInBytes"));
        Parts.ask(records, "readInto", bytes, 0);
        return Parts.ask(Parts.type("org.apache.kafka.common.record.internal.MemoryRecords", "org.apache.kafka.common.record.MemoryRecords"),
            "readableRecords", bytes);
    }

    static ListOffsetsResponse listOffsets(ReplicaManager leader, TopicPartition partition, ListOffsetsRequest request) {
        var wanted = request.topics().get(0).partitions().get(0);
        var answer = new ListOffsetsResponseData.ListOffsetsPartitionResponse().setPartitionIndex(partition.partition());
        try {
            Optional<Integer> epoch = wanted.currentLeaderEpoch() < 0 ? Optional.empty() : Optional.of(wanted.currentLeaderEpoch());
            Object found = Parts.of(partition, wanted.timestamp(), epoch, true).call(leader, "fetchOffsetForTimestamp");
            if (Parts.has(found, "timestampAndOffsetOpt")) found = Parts.ask(found, "timestampAndOffsetOpt");
            found = Scala.orNull(found);
            answer.setErrorCode(Errors.NONE.code()).setOffset((Long) Parts.get(found, "offset")).setTimestamp((Long) Parts.get(found, "timestamp"))
                .setLeaderEpoch(Parts.get(found, "leaderEpoch") instanceof Optional<?> known && known.isPresent() ? (Integer) known.get() : -1);
        } catch (ApiException e) {
            answer.setErrorCode(Errors.forException(e).code());
        }
        var topic = new ListOffsetsResponseData.ListOffsetsTopicResponse().setName(partition.topic()).setPartitions(List.of(answer));
        return new ListOffsetsResponse(new ListOffsetsResponseData().setTopics(List.of(topic)));
    }

    static OffsetsForLeaderEpochResponse epochEnds(ReplicaManager leader, OffsetsForLeaderEpochRequest request) {
        var found = new OffsetForLeaderEpochResponseData.OffsetForLeaderTopicResultCollection();
        Object answers = Parts.ask(leader, "lastOffsetForLeaderEpoch", CollectionConverters.asScala(List.copyOf(request.data().topics())).toSeq());
        for (Object each : Scala.list(answers)) found.add((OffsetForLeaderEpochResponseData.OffsetForLeaderTopicResult) each);
        return new OffsetsForLeaderEpochResponse(new OffsetForLeaderEpochResponseData().setTopics(found));
    }

    /** Appends records; `answer` hears what the producer is told, now or later. `appended` is called before it waits for that. */
    static void produce(ReplicaManager leader, TopicIdPartition partition, Object records, short acks, Consumer<Errors> answer, Runnable appended) {
        Function1<Object, BoxedUnit> respond = answers -> {
            answer.accept((Errors) Parts.get(Scala.map(answers).values().iterator().next(), "error"));
            return BoxedUnit.UNIT;
        };
        Function1<Object, BoxedUnit> ignore = statistics -> {
            appended.run();
            return BoxedUnit.UNIT;
        };
        Class<?> local = Parts.type("org.apache.kafka.server.common.RequestLocal", "kafka.server.RequestLocal");
        Object noCaching = Parts.has(local, "noCaching") ? Parts.ask(local, "noCaching") : Parts.ask(local, "NoCaching");
        boolean[] entriesGiven = {false};
        Parts.of(3_600_000L, acks, false, Parts.constant(Parts.type("org.apache.kafka.storage.internals.log.AppendOrigin"), "CLIENT"),
            respond, ignore, noCaching, scala.collection.immutable.Map$.MODULE$.empty(),
            Parts.get(leader, Parts.hasField(leader, "defaultActionQueue") ? "defaultActionQueue" : "actionQueue"),
            ApiKeys.PRODUCE.latestVersion())
            .madeBy(type -> {
                if (entriesGiven[0] || !type.getTypeName().startsWith("scala.collection.Map")) return null;
                entriesGiven[0] = true;
                Object named = type.getTypeName().contains("TopicIdPartition") ? partition : partition.topicPartition();
                return CollectionConverters.asScala(Map.of(named, records));
            }).call(leader, "appendRecords");
        leader.tryCompleteActions();
    }

    private static final Object UNBOUNDED = unbounded(Parts.type("org.apache.kafka.server.quota.ReplicaQuota", "kafka.server.ReplicaQuota"));

    private static Object unbounded(Class<?> quota) {
        return Proxy.newProxyInstance(quota.getClassLoader(), new Class<?>[] {quota},
            (proxy, method, arguments) -> method.getReturnType() == boolean.class ? false : null);
    }
}
