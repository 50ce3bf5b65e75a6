package highwater;

import java.io.File;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.message.ApiVersionsRequestData;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.FetchSnapshotResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.raft.RaftRequest;
import org.apache.kafka.raft.RaftResponse;
import org.apache.kafka.raft.VoterSet;

/** The controllers of a quorum and the network between them, which delivers what a step asks for. */
final class RaftWorld {
    private static final Class<?> MEMORY = record("MemoryRecords"), UNALIGNED = record("UnalignedMemoryRecords");

    final File root;
    final ManualClock clock = new ManualClock();
    final Map<Integer, RaftNode> nodes = new TreeMap<>();
    private final Map<Integer, Integer> incarnations = new HashMap<>();
    private final List<InetSocketAddress> bootstrap = new ArrayList<>();
    private final Object firstSnapshot;
    private final boolean segmentEach;
    private final boolean autoJoin;
    /** Voters are configured (`kraft.version` 0). */
    final boolean isStatic;
    private final Map<Integer, InetSocketAddress> staticVoters = new TreeMap<>();
    /** Why the step that is taken was not what its name says. */
    final List<String> failures = new ArrayList<>();
    /** What the harness had to force in the step that is taken. */
    final List<String> notes = new ArrayList<>();
    private VoterSet voters;

    /** `first`: where logs begin, after a snapshot that has the voters; 0 is the bootstrap checkpoint. */
    RaftWorld(File root, int count, List<Integer> voterIds, long first, boolean segmentEach, boolean autoJoin, boolean isStatic, boolean observersAreEmpty) {
        this.isStatic = isStatic;
        this.root = root;
        this.segmentEach = segmentEach;
        this.autoJoin = autoJoin;
        firstSnapshot = RaftSnapshots.id(first, 0);
        Lines.wipe(root);
        for (int id = 1; id <= count; id++) bootstrap.add(RaftNode.address(id));
        if (isStatic) for (int id : voterIds) staticVoters.put(id, RaftNode.address(id));
        for (int id = 1; id <= count; id++) nodes.put(id, made(id));
        Map<Integer, VoterSet.VoterNode> found = new TreeMap<>();
        for (int id : voterIds) found.put(id, voter(id));
        voters = VoterSet.fromMap(found);
        for (RaftNode node : nodes.values()) {
            boolean empty = isStatic || observersAreEmpty && !voterIds.contains(node.id);
            if (!empty) node.format(voters, firstSnapshot);
            node.flushed = empty ? 0 : first;
            node.start();
        }
    }

    private static Class<?> record(String name) {
        return Parts.type("org.apache.kafka.common.record.internal." + name, "org.apache.kafka.common.record." + name);
    }

    private RaftNode made(int id) { return new RaftNode(root, id, incarnations.merge(id, 1, Integer::sum), bootstrap, staticVoters, clock, segmentEach, autoJoin); }

    VoterSet.VoterNode voter(int id) {
        return VoterSet.VoterNode.of(nodes.get(id).key(), nodes.get(id).endpoints(), RaftNode.KRAFT_VERSIONS);
    }

    RaftNode node(int id) { return nodes.get(id); }

    /** A node that is down has a new disk, formatted with another directory id. */
    void replaceDisk(int id) {
        nodes.put(id, made(id));
        node(id).format(voters, firstSnapshot);
        node(id).flushed = RaftSnapshots.end(firstSnapshot);
    }

    /** The same, formatted without initial controllers. */
    RaftNode emptyDisk(int id) {
        nodes.put(id, made(id));
        return node(id);
    }

    void fail(String words) { failures.add(words); }

    void close() {
        for (RaftNode node : nodes.values()) if (node.isUp()) node.crash();
        Lines.wipe(root);
    }

    // --- messages ---

    /** The request of that kind which a node would send to another now; null if it would not. */
    RaftRequest.Outbound asked(RaftNode from, int to, ApiKeys kind) {
        from.forgetRequests();
        from.poll();
        for (RaftRequest.Outbound request : from.sent)
            if (request.data().apiKey() == kind.id && (to == ANYBODY || target(request) == to)) return request;
        return null;
    }

    static final int ANYBODY = -1;

    static int target(RaftRequest.Outbound request) { return request.destination().port() - 9000; }

    /** A node handles a request, and answers it; null if it does not yet. */
    ApiMessage handled(RaftNode by, ApiMessage request) {
        ApiMessage[] answer = send(by, request);
        by.settle();
        return answer[0];
    }

    /** A node is sent a request; its answer is in the array once there is one. */
    ApiMessage[] send(RaftNode by, ApiMessage request) {
        var inbound = new RaftRequest.Inbound(RaftNode.LISTENER, 1, ApiKeys.forId(request.apiKey()).latestVersion(), request, clock.milliseconds());
        ApiMessage[] answer = new ApiMessage[1];
        inbound.completion.whenComplete((response, error) -> answer[0] = error == null ? inMemory(response.data()) : null);
        by.client.handle(inbound);
        return answer;
    }

    /** A node reads the response to its request. */
    void answer(RaftNode to, RaftRequest.Outbound request, ApiMessage response) {
        to.receive(new RaftResponse.Inbound(request.correlationId(), response, request.destination()));
        to.settle();
    }

    /** A request of that kind is sent, handled and answered; false if it was not sent, or nobody answered. */
    boolean exchange(int from, int to, ApiKeys kind) {
        RaftRequest.Outbound request = asked(node(from), to, kind);
        if (request == null || !node(to).isUp()) return false;
        ApiMessage response = handled(node(to), request.data());
        if (response == null) return false;
        answer(node(from), request, response);
        return true;
    }

    /** What the controller's own API answers, which is not Raft's. */
    void answerApiVersions(RaftNode leader, boolean appends) {
        for (RaftRequest.Outbound request : List.copyOf(leader.sent)) {
            if (!(request.data() instanceof ApiVersionsRequestData)) continue;
            var range = new ApiVersionsResponseData.SupportedFeatureKey().setName("kraft.version").setMinVersion((short) 0).setMaxVersion((short) 1);
            var features = new ApiVersionsResponseData.SupportedFeatureKeyCollection(List.of(range).iterator());
            leader.receive(new RaftResponse.Inbound(request.correlationId(), new ApiVersionsResponseData().setSupportedFeatures(features), request.destination()));
            if (appends) leader.settle();
            else leader.poll();
        }
    }

    /** Records as they arrive: read off the file. */
    private static ApiMessage inMemory(ApiMessage response) {
        if (response instanceof FetchResponseData fetched)
            for (var topic : fetched.responses()) for (var partition : topic.partitions()) Parts.ask(partition, "setRecords", copy(Parts.ask(partition, "records"), "readableRecords"));
        if (response instanceof FetchSnapshotResponseData fetched)
            for (var topic : fetched.topics()) for (var partition : topic.partitions()) Parts.ask(partition, "setUnalignedRecords", copy(Parts.ask(partition, "unalignedRecords"), ""));
        return response;
    }

    private static Object copy(Object records, String readable) {
        if (Parts.has(records, "buffer")) return records;
        ByteBuffer buffer = ByteBuffer.allocate((Integer) Parts.ask(records, "sizeInBytes"));
        RaftFiles.read(records, buffer);
        buffer.flip();
        return readable.isEmpty() ? Parts.made(UNALIGNED, new Class<?>[] {ByteBuffer.class}, buffer) : Parts.ask(MEMORY, readable, buffer);
    }
}
