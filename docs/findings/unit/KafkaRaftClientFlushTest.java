package org.apache.kafka.raft;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.raft.RaftClientTestContext.RaftProtocol;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.snapshot.SnapshotReader;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What a controller has flushed of its log when it counts as committed, and when it is acknowledged. */
public class KafkaRaftClientFlushTest {
    private static final int LOCAL = 1, LEADER = 2, EPOCH = 3;

    @Test
    void testSingleVoterFlushesBeforeCommit() throws Exception {
        assertEquals(0, mostCommittedUnflushed(1));
    }

    @Test
    void testLeaderOfThreeVotersFlushesBeforeCommit() throws Exception {
        assertEquals(0, mostCommittedUnflushed(3));
    }

    @Test
    void testVoterFlushesBeforeFirstFetchAfterRestart() throws Exception {
        RaftClientTestContext context = builder(3).withElectedLeader(EPOCH, LEADER).appendToLog(1, List.of("a", "b")).build();
        context.pollUntilRequest();
        assertEquals(2, fetchOffset(context.assertSentFetchRequest()));
        assertTrue(context.log.flushedSinceLastChecked());
    }

    @Test
    void testVoterFlushesBeforeNextFetch() throws Exception {
        RaftClientTestContext context = builder(3).withElectedLeader(EPOCH, LEADER).appendToLog(1, List.of("a", "b")).build();
        context.pollUntilRequest();
        var request = context.assertSentFetchRequest();
        var records = context.buildBatch(2, EPOCH, List.of("c"));
        context.deliverResponse(request.correlationId(), request.destination(), context.fetchResponse(EPOCH, LEADER, records, 2, Errors.NONE));
        context.pollUntilRequest();
        assertEquals(3, fetchOffset(context.assertSentFetchRequest()));
        assertEquals(3, context.log.firstUnflushedOffset());
    }

    private static RaftClientTestContext.Builder builder(int voters) {
        Uuid directory = Uuid.randomUuid();
        var keys = IntStream.rangeClosed(1, voters).mapToObj(id -> ReplicaKey.of(id, id == LOCAL ? directory : Uuid.randomUuid()));
        return new RaftClientTestContext.Builder(LOCAL, directory).withRaftProtocol(RaftProtocol.KIP_996_PROTOCOL)
            .withStartingVoters(VoterSetTest.voterSet(keys), KRaftVersion.KRAFT_VERSION_1);
    }

    private static long fetchOffset(RaftRequest.Outbound request) {
        return ((org.apache.kafka.common.message.FetchRequestData) request.data()).topics().get(0).partitions().get(0).fetchOffset();
    }

    /** The most records beyond the first offset that is not flushed, of all that a listener is told. */
    private static long mostCommittedUnflushed(int voters) throws Exception {
        RaftClientTestContext context = builder(voters).build();
        long[] unflushed = {0}, committed = {0};
        context.client.register(new RaftClient.Listener<String>() {
            @Override public void handleCommit(BatchReader<String> reader) {
                try (reader) {
                    while (reader.hasNext()) committed[0] = reader.next().lastOffset() + 1;
                }
                unflushed[0] = Math.max(unflushed[0], committed[0] - context.log.firstUnflushedOffset());
            }
            @Override public void handleLoadSnapshot(SnapshotReader<String> reader) { reader.close(); }
            @Override public void handleLoadBootstrap(SnapshotReader<String> reader) { reader.close(); }
        });
        if (voters > 1) context.unattachedToLeader();
        context.pollUntil(() -> context.client.quorum().isLeader());
        context.pollUntil(() -> context.log.endOffset().offset() > 0);
        context.client.prepareAppend(context.currentEpoch(), List.of("x"));
        context.client.schedulePreparedAppend();
        context.client.poll();
        if (voters > 1) context.advanceLocalLeaderHighWatermarkToLogEndOffset();
        context.pollUntil(() -> committed[0] == context.log.endOffset().offset());
        return unflushed[0];
    }
}
