package highwater;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.ClientRequest;
import org.apache.kafka.clients.NodeApiVersions;
import org.apache.kafka.clients.producer.internals.TransactionalRequestResult;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.EndTxnRequestData;
import org.apache.kafka.common.message.EndTxnResponseData;
import org.apache.kafka.common.message.FindCoordinatorResponseData;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.AddPartitionsToTxnResponse;
import org.apache.kafka.common.requests.EndTxnRequest;
import org.apache.kafka.common.requests.EndTxnResponse;
import org.apache.kafka.common.requests.FindCoordinatorResponse;
import org.apache.kafka.common.requests.InitProducerIdRequest;
import org.apache.kafka.common.requests.InitProducerIdResponse;
import org.apache.kafka.common.requests.ProduceRequest;

/**
 * Kafka's own transactional producer, with the network between it and the brokers by hand.
 *
 * It calls what `KafkaProducer` calls; after each call and each response `Sender.runOnce` goes round
 * until nothing comes of it. Which broker is the coordinator it is told at once.
 */
final class TxnClient {
    /** A Produce request is sent twice, unless its time is over before. */
    private static final int RETRIES = 1;
    private static final int ROUNDS = 50, ENOUGH = 3;
    private static final short TRANSACTIONS_VERSION_2 = 2;
    private static final int FIRST_END_TXN_OF_VERSION_2 = 5;

    /** A record of the producer, in a batch of its own. */
    static final class Batch {
        final int transaction;
        final long createdMs, timestamp;
        private final Future<?> future;
        /** The request that it is in, once it is sent; and what that has. */
        private ClientRequest request;
        private byte[] bytes;
        int epoch, sequence;

        private Batch(int transaction, long createdMs, long timestamp, Future<?> future) {
            this.transaction = transaction;
            this.createdMs = createdMs;
            this.timestamp = timestamp;
            this.future = future;
        }

        boolean isSent() { return request != null; }

        boolean isDone() { return future.isDone(); }

        /** The application is told that it is written. */
        boolean isAcknowledged() {
            try {
                return future.isDone() && future.get() != null;
            } catch (java.util.concurrent.ExecutionException e) {
                return false;
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        /** What a broker gets, as its own copy. */
        Object records() { return Parts.ask(TxnUnified.MEMORY, "readableRecords", ByteBuffer.wrap(bytes.clone())); }
    }

    private final TxnWorld world;
    private final ManualClock clock = new ManualClock();
    private final OwnSender own;
    private final List<Batch> batches = new ArrayList<>();
    private int seen;
    /** A request for a coordinator that is under way, or null. */
    private ClientRequest asked;
    private TransactionalRequestResult awaited;
    private Runnable then;

    TxnClient(TxnWorld world, int partitions) {
        this.world = world;
        try {
            own = new OwnSender(clock, TxnWorld.ID, RETRIES);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        int[] leaders = new int[partitions];
        Arrays.setAll(leaders, number -> number);
        own.lead(leaders, new int[partitions]);
        own.versions.update("100", versions(world.version));
    }

    /** What brokers can; their cluster has this transaction version. */
    private static NodeApiVersions versions(short transactionVersion) {
        NodeApiVersions all = NodeApiVersions.create();
        if (transactionVersion < TRANSACTIONS_VERSION_2) return all;
        Collection<ApiVersionsResponseData.ApiVersion> supported = all.allSupportedApiVersions().values();
        var finalized = new ApiVersionsResponseData.FinalizedFeatureKey().setName("transaction.version")
            .setMinVersionLevel(transactionVersion).setMaxVersionLevel(transactionVersion);
        return Parts.of(supported, List.of(), List.of(finalized), 1L).make(NodeApiVersions.class);
    }

    // --- what KafkaProducer calls ---

    void initTransactions() {
        boolean asksNothing = Arrays.stream(own.manager.getClass().getMethods())
            .anyMatch(each -> each.getName().equals("initializeTransactions") && each.getParameterCount() == 0);
        await(Parts.ask(own.manager, "initializeTransactions", asksNothing ? new Object[0] : new Object[] {false}), () -> {
            if (Parts.has(own.manager, "maybeUpdateTransactionV2Enabled")) Parts.ask(own.manager, "maybeUpdateTransactionV2Enabled", true);
        });
    }

    void beginTransaction() { own.manager.beginTransaction(); }

    Batch send(int partition, int transaction) {
        clock.sleep(1);
        byte[] value = Integer.toString(transaction).getBytes(StandardCharsets.UTF_8);
        try {
            long timestamp = world.clock.milliseconds();
            Future<?> future = own.append(partition, value, timestamp, own.metadata.fetch());
            Batch batch = new Batch(transaction, clock.milliseconds(), timestamp, future);
            batches.add(batch);
            own.manager.maybeAddPartition(TxnWorld.data(partition));
            turn();
            return batch;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    void commitTransaction(Runnable committed) { await(own.manager.beginCommit(), committed); }

    void abortTransaction() { await(own.manager.beginAbort(), () -> { }); }

    /** What an application's thread waits for, and does after it. */
    private void await(Object result, Runnable next) {
        awaited = (TransactionalRequestResult) result;
        then = next;
        turn();
    }

    // --- what it is ---

    String state() { return Parts.get(own.manager, "currentState").toString(); }

    boolean hasStopped() { return state().equals("FATAL_ERROR"); }

    int epoch() { return Math.max(0, (Short) Parts.get(Parts.get(own.manager, "producerIdAndEpoch"), "epoch")); }

    /** It will ask for another epoch after the transaction. */
    boolean wantsEpoch() {
        String name = Parts.hasField(own.manager, "clientSideEpochBumpRequired") ? "clientSideEpochBumpRequired" : "epochBumpRequired";
        return (Boolean) Parts.get(own.manager, name);
    }

    boolean hasInTransaction(int partition) { return ((Collection<?>) Parts.get(own.manager, "partitionsInTransaction")).contains(TxnWorld.data(partition)); }

    /** It waits for an answer to a request of this kind. */
    boolean asks(ApiKeys kind) { return asked != null && asked.apiKey() == kind; }

    EndTxnRequestData endTxn() { return ((EndTxnRequest) asked.requestBuilder().build()).data(); }

    /** The epoch that its InitProducerId names; -1 for none. */
    int namedEpoch() { return ((InitProducerIdRequest) asked.requestBuilder().build()).data().producerEpoch(); }

    // --- what comes back ---

    void addPartitionsToTxn(int partition, Errors error) {
        var result = AddPartitionsToTxnResponse.resultForTransaction("", Map.of(TxnWorld.data(partition), error));
        answer(new AddPartitionsToTxnResponse(new AddPartitionsToTxnResponseData().setResultsByTopicV3AndBelow(result.topicResults())));
    }

    void endTxn(Errors error, int epoch) {
        var data = new EndTxnResponseData().setErrorCode(error.code());
        boolean isOfVersion2 = asked.requestBuilder().build().version() >= FIRST_END_TXN_OF_VERSION_2;
        if (isOfVersion2 != world.hasVersion2()) world.fail("EndTxn is of another transaction version");
        if (isOfVersion2 && error == Errors.NONE) Parts.ask(Parts.ask(data, "setProducerId", TxnWorld.PRODUCER), "setProducerEpoch", (short) epoch);
        answer(new EndTxnResponse(data));
    }

    void initProducerId(Errors error, int epoch) {
        long id = error == Errors.NONE ? TxnWorld.PRODUCER : -1;
        answer(new InitProducerIdResponse(new InitProducerIdResponseData().setErrorCode(error.code()).setProducerId(id).setProducerEpoch((short) epoch)));
    }

    /** The connection to the coordinator is lost. */
    void disconnect() { answer((AbstractResponse) null); }

    private void answer(AbstractResponse body) {
        ClientRequest request = asked;
        asked = null;
        own.due.add(own.response(request, body));
        turn();
    }

    /** A partition has answered. */
    void produced(Batch batch, int partition, Errors error) {
        own.due.add(own.response(batch.request, partition, error, 0));
        turn();
    }

    /** It gives a record up that is under way: by its time, or where another is older, as it was sent in vain so often. */
    void giveUp(Batch batch, int partition) {
        boolean isOldest = batches.stream().noneMatch(each -> !each.isDone() && each.createdMs < batch.createdMs);
        if (isOldest) {
            clock.sleep(batch.createdMs + OwnSender.DELIVERY_TIMEOUT - clock.milliseconds());
            turn();
        } else {
            for (int copy = 0; copy <= RETRIES; copy++) produced(batch, partition, null);
        }
        if (!batch.isDone()) world.fail("the record is not given up");
    }

    // --- its thread ---

    private void turn() {
        int quiet = 0;
        for (int round = 0; quiet < ENOUGH; round++) {
            if (round == ROUNDS) throw new IllegalStateException("the producer does not come to rest");
            int before = own.requests.size();
            try {
                OwnSender.called(own.sender, "runOnce");
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            while (seen < own.requests.size()) sent(own.requests.get(seen++));
            quiet = own.requests.size() == before && own.due.isEmpty() ? quiet + 1 : 0;
        }
        hear();
    }

    /** The application hears of what it has waited for. */
    private void hear() {
        batches.removeIf(Batch::isDone);
        if (awaited == null || !awaited.isCompleted()) return;
        if (awaited.isSuccessful()) {
            Parts.of(1L, TimeUnit.SECONDS, "").call(awaited, "await");
            then.run();
        }
        awaited = null;
    }

    private void sent(ClientRequest request) {
        switch (request.apiKey()) {
            case FIND_COORDINATOR -> {
                var found = new FindCoordinatorResponseData.Coordinator().setKey(TxnWorld.ID).setNodeId(100).setHost("localhost").setPort(9092);
                own.due.add(own.response(request, new FindCoordinatorResponse(new FindCoordinatorResponseData().setCoordinators(List.of(found)))));
            }
            case PRODUCE -> produce(request);
            default -> {
                if (asked != null) world.fail("two requests are under way to the coordinator");
                asked = request;
            }
        }
    }

    private void produce(ClientRequest request) {
        ProduceRequestData data = ((ProduceRequest) request.requestBuilder().build()).data();
        for (var topic : data.topicData())
            for (var partition : topic.partitionData()) {
                ByteBuffer buffer = ((ByteBuffer) Parts.ask(Parts.ask(partition, "records"), "buffer")).duplicate();
                byte[] bytes = new byte[buffer.remaining()];
                buffer.get(bytes);
                Object first = ((Iterable<?>) Parts.ask(Parts.ask(TxnUnified.MEMORY, "readableRecords", ByteBuffer.wrap(bytes)), "batches")).iterator().next();
                Object record = ((Iterable<?>) first).iterator().next();
                long timestamp = (Long) Parts.ask(record, "timestamp");
                Batch batch = batches.stream().filter(each -> !each.isDone() && each.timestamp == timestamp).findFirst().orElseThrow();
                batch.request = request;
                batch.bytes = bytes;
                batch.epoch = (Short) Parts.ask(first, "producerEpoch");
                batch.sequence = (Integer) Parts.ask(first, "baseSequence");
            }
    }
}
