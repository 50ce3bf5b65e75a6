package org.apache.kafka.raft;

import java.nio.ByteBuffer;
import java.util.Collections;
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
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Whom a controller asks for votes after the leader has truncated its log and has added two voters. */
public class KafkaRaftClientVotersTruncationTest {
    private static final List<ReplicaKey> KEYS = IntStream.rangeClosed(0, 5).mapToObj(id -> ReplicaKey.of(id, Uuid.randomUuid())).toList();
    private static final int LEADER = 2, EPOCH = 3;

    private final VoterSet three = VoterSetTest.voterSet(keys(3));
    private final VoterSet four = VoterSetTest.voterSet(keys(4));
    private final VoterSet five = VoterSetTest.voterSet(keys(5));

    private static Stream<ReplicaKey> keys(int last) { return KEYS.stream().filter(key -> key.id() >= 1 && key.id() <= last); }

    @Test
    void testVotersReadBelowPreviousLogEndOffset() throws Exception {
        assertEquals(Set.of(1, 2, 4, 5), askedAfterTruncationOf(2));
    }

    @Test
    void testVotersReadFarBelowPreviousLogEndOffset() throws Exception {
        assertEquals(Set.of(1, 2, 4, 5), askedAfterTruncationOf(12));
    }

    @Test
    void testVotersReadUpToBeyondPreviousLogEndOffset() throws Exception {
        assertEquals(Set.of(1, 2, 4, 5), askedAfterTruncationOf(1));
    }

    @Test
    void testVotersReadWithoutTruncation() throws Exception {
        assertEquals(Set.of(1, 2, 4, 5), askedAfterTruncationOf(0));
    }

    /** The log has one record that all have, and `lost` records of epoch 2. */
    private Set<Integer> askedAfterTruncationOf(int lost) throws Exception {
        var builder = new RaftClientTestContext.Builder(3, KEYS.get(3).directoryId().get())
            .withRaftProtocol(RaftProtocol.KIP_996_PROTOCOL)
            .withBootstrapSnapshot(Optional.of(three))
            .withElectedLeader(EPOCH, LEADER)
            .appendToLog(1, List.of("common"));
        if (lost > 0) builder.appendToLog(2, Collections.nCopies(lost, "lost"));
        RaftClientTestContext context = builder.build();
        if (lost > 0) {
            var request = fetch(context);
            context.deliverResponse(request.correlationId(), request.destination(), context.divergingFetchResponse(EPOCH, LEADER, 1, 1, 1));
        }
        append(context, 1, four);
        append(context, 2, five);
        context.time.sleep(context.fetchTimeoutMs + 1);
        context.pollUntilRequest();
        return context.collectPreVoteRequests(EPOCH, EPOCH, 3).stream().map(vote -> vote.destination().id()).collect(Collectors.toSet());
    }

    private static RaftRequest.Outbound fetch(RaftClientTestContext context) throws InterruptedException {
        context.pollUntilRequest();
        return context.assertSentFetchRequest();
    }

    private static void append(RaftClientTestContext context, long offset, VoterSet voters) throws InterruptedException {
        var request = fetch(context);
        MemoryRecords records = MemoryRecords.withVotersRecord(offset, context.time.milliseconds(), EPOCH, ByteBuffer.allocate(512), voters.toVotersRecord((short) 0));
        context.deliverResponse(request.correlationId(), request.destination(), context.fetchResponse(EPOCH, LEADER, records, 1, Errors.NONE));
        context.client.poll();
    }
}
