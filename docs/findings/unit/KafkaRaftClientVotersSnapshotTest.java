package org.apache.kafka.raft;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.raft.RaftClientTestContext.RaftProtocol;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.snapshot.SnapshotWriter;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Whom a voter asks for votes that has made a snapshot and has truncated a record of voters since. */
public class KafkaRaftClientVotersSnapshotTest {
    private static final List<ReplicaKey> KEYS = IntStream.rangeClosed(0, 4).mapToObj(id -> ReplicaKey.of(id, Uuid.randomUuid())).toList();
    private static final int LEADER = 2, EPOCH = 3;

    private final VoterSet three = VoterSetTest.voterSet(keys(3));
    private final VoterSet four = VoterSetTest.voterSet(keys(4));

    private static Stream<ReplicaKey> keys(int last) { return KEYS.stream().filter(key -> key.id() >= 1 && key.id() <= last); }

    @Test
    void testVotersOfSnapshotKeptIfVotersAtSnapshotEndTruncated() throws Exception {
        assertEquals(Set.of(1, 2), askedAfterASnapshot(1, true));
    }

    @Test
    void testVotersOfSnapshotKeptIfVotersBeyondSnapshotEndTruncated() throws Exception {
        assertEquals(Set.of(1, 2), askedAfterASnapshot(2, true));
    }

    @Test
    void testVotersAtSnapshotEndUsed() throws Exception {
        assertEquals(Set.of(1, 2, 4), askedAfterASnapshot(1, false));
    }

    /** Two records, of which one is committed and in the snapshot; then voters at an offset, which may be truncated. */
    private Set<Integer> askedAfterASnapshot(long votersAt, boolean truncates) throws Exception {
        RaftClientTestContext context = new RaftClientTestContext.Builder(3, KEYS.get(3).directoryId().get())
            .withRaftProtocol(RaftProtocol.KIP_996_PROTOCOL)
            .withBootstrapSnapshot(Optional.of(three))
            .withElectedLeader(EPOCH, LEADER)
            .appendToLog(1, List.of("common"))
            .build();
        for (long offset = 1; offset < votersAt; offset++) deliver(context, context.buildBatch(offset, 2, List.of("more")));
        deliver(context, MemoryRecords.withVotersRecord(votersAt, context.time.milliseconds(), EPOCH, ByteBuffer.allocate(512), four.toVotersRecord((short) 0)));
        try (SnapshotWriter<String> writer = context.client.createSnapshot(new OffsetAndEpoch(1, 1), 0).get()) {
            writer.freeze();
        }
        if (truncates) {
            RaftRequest.Outbound request = fetch(context);
            context.deliverResponse(request.correlationId(), request.destination(), context.divergingFetchResponse(EPOCH, LEADER, 1, 1, 1));
            context.client.poll();
        }
        context.time.sleep(context.fetchTimeoutMs + 1);
        context.pollUntilRequest();
        return context.collectPreVoteRequests(EPOCH, truncates ? 1 : EPOCH, truncates ? 1 : votersAt + 1).stream().map(vote -> vote.destination().id()).collect(Collectors.toSet());
    }

    private static RaftRequest.Outbound fetch(RaftClientTestContext context) throws InterruptedException {
        context.pollUntilRequest();
        return context.assertSentFetchRequest();
    }

    private static void deliver(RaftClientTestContext context, MemoryRecords records) throws InterruptedException {
        RaftRequest.Outbound request = fetch(context);
        context.deliverResponse(request.correlationId(), request.destination(), context.fetchResponse(EPOCH, LEADER, records, 1, Errors.NONE));
        context.client.poll();
    }
}
