package org.apache.kafka.raft;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.raft.RaftClientTestContext.RaftProtocol;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** A new node, which has read no voters, and what a bootstrap server tells it of a leader. */
public class KafkaRaftClientEndpointsTest {
    private static final int LEADER = 1, EPOCH = 3;
    private static final InetSocketAddress SERVER = InetSocketAddress.createUnresolved("localhost", 9990);

    @Test
    void testBootstrapServersUsedIfLeaderEndpointsUnknown() throws Exception {
        RaftClientTestContext context = told(false);
        context.assertUnknownLeaderAndNoVotedCandidate(EPOCH);
        context.pollUntilRequest();
        assertTrue(context.bootstrapIds.contains(context.assertSentFetchRequest().destination().id()));
    }

    @Test
    void testFollowsLeaderWithEndpoints() throws Exception {
        told(true).assertElectedLeader(EPOCH, LEADER);
    }

    private static RaftClientTestContext told(boolean where) throws Exception {
        RaftClientTestContext context = new RaftClientTestContext.Builder(4, Uuid.randomUuid())
            .withRaftProtocol(RaftProtocol.KIP_996_PROTOCOL)
            .withBootstrapSnapshot(Optional.empty())
            .withBootstrapServers(Optional.of(List.of(SERVER)))
            .build();
        context.pollUntilRequest();
        RaftRequest.Outbound request = context.assertSentFetchRequest();
        FetchResponseData response = context.fetchResponse(EPOCH, LEADER, MemoryRecords.EMPTY, 0, Errors.NOT_LEADER_OR_FOLLOWER);
        if (where) {
            var endpoints = new FetchResponseData.NodeEndpointCollection();
            endpoints.add(new FetchResponseData.NodeEndpoint().setNodeId(LEADER).setHost("localhost").setPort(9991));
            response.setNodeEndpoints(endpoints);
        }
        context.deliverResponse(request.correlationId(), request.destination(), response);
        context.client.poll();
        return context;
    }
}
