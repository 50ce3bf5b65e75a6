package highwater;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.message.AddRaftVoterRequestData;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.message.RemoveRaftVoterRequestData;
import org.apache.kafka.common.message.VoteResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.raft.ReplicaKey;
import org.apache.kafka.raft.VoterSet;
import org.apache.kafka.server.common.KRaftVersion;

/**
 * The actions of the model `kraft` on controllers, by their names.
 *
 * A request is made by the client's own method as its state has it made, and its response is read as
 * that to a request under way. A response with the last vote of a majority waits for the step in
 * which the votes are counted.
 */
final class RaftActions {
    interface Action { void take(int... of); }

    interface OfNodes { void take(RaftNode first, RaftNode second); }

    private record Held(Object state, RaftNode by, ApiMessage response) { }

    private static final int WAITS_LONG = 500_000_000;

    private final RaftWorld world;
    private final boolean flushes;
    /** `leader_count_flushed` is nothing: Kafka counts what a leader appends before that is flushed. */
    private final Map<String, Action> actions = new HashMap<>();
    private final Map<RaftNode, Map<RaftNode, Held>> votes = new HashMap<>();
    /** Answers to Fetch requests that a leader had parked until it appended, by the follower. */
    private final Map<RaftNode, ApiMessage[]> parked = new HashMap<>();
    private int records;

    RaftActions(RaftWorld world, boolean flushes) {
        this.world = world;
        this.flushes = flushes;
        put("leader_append", (leader, none) -> appending(leader, () -> append(leader)));
        put("node_flush", (node, none) -> node.flush());
        put("leader_count_flushed", (leader, none) -> leader.settle());
        put("follower_fetch", this::fetch);
        put("follower_fetch_in_vain", (node, leader) -> world.handled(leader, (ApiMessage) Parts.ask(node.client, "buildFetchRequest")));
        put("follower_truncate", this::fetch);
        put("node_time_out", (node, none) -> expire(node, node.role().equals("Follower") ? "fetchTimer" : "electionTimer"));
        put("node_time_out_at_once", (node, none) -> timeOutAtOnce(node));
        put("prospective_stand", (node, none) -> count(node));
        put("prospective_give_up", (node, none) -> expire(node, "electionTimer"));
        put("voter_grant_pre_vote", this::vote);
        put("voter_grant_vote", this::vote);
        put("candidate_become_leader", (node, none) -> appending(node, () -> count(node)));
        put("node_hear_of_epoch", this::hear);
        put("leader_resign", (leader, none) -> resign(leader));
        put("leader_resign_as_removed", (leader, none) -> resign(leader));
        put("resigned_leave", (node, none) -> expire(node, "electionTimer"));
        put("resigned_stand", (node, none) -> expire(node, "electionTimer"));
        put("leader_add_voter", (leader, voter) -> appending(leader, () -> add(leader, voter)));
        put("observer_join", (node, leader) -> appending(leader, () -> join(leader, node)));
        put("leader_remove_voter", (leader, voter) -> appending(leader, () -> remove(leader, keyOf(leader, voter))));
        put("observer_remove_old_key", (node, leader) -> appending(leader, () -> change(leader, asked(node, ApiKeys.REMOVE_RAFT_VOTER))));
        put("leader_update_voter", (leader, voter) -> appending(leader, () -> change(leader, (ApiMessage) Parts.ask(voter.client, "buildUpdateVoterRequest"))));
        put("leader_note_directory", this::tell);
        put("leader_raise_version", (leader, none) -> appending(leader, () -> raise(leader)));
        actions.put("node_create_snapshot", of -> snapshot(node(of[0]), of[1]));
        put("node_delete_before_snapshot", (node, none) -> clean(node));
        put("follower_fetch_snapshot", this::fetchSnapshot);
        put("node_crash", (node, none) -> restart(node, node::crash));
        put("node_lose_power", (node, none) -> restart(node, node::losePower));
        put("node_lose_disk", (node, none) -> loseDisk(node));
    }

    private void put(String name, OfNodes action) {
        actions.put(name, of -> action.take(node(of[0]), of.length > 1 ? node(of[1]) : null));
    }

    /** Nodes are numbered from 0, as in the model. */
    void take(String name, int... of) {
        Action action = actions.get(name);
        if (action == null) throw new IllegalStateException("no action " + name);
        world.clock.sleep(10);
        action.take(of);
    }

    private RaftNode node(int number) { return world.node(number + 1); }

    // --- the quorum at first ---

    /** The first node leads epoch 1, and all voters have its VotersRecord and its high watermark. */
    void begin(int observers) {
        RaftNode first = node(0);
        first.settle();
        if (!first.role().equals("Leader")) {
            expire(first, "electionTimer");
            for (int round = 0; round < 2; round++)
                for (int voter = observers + 1; voter < world.nodes.size() && !first.role().equals("Leader"); voter++) exchange(first, node(voter), request(first, node(voter)));
        }
        for (int round = 0; round < 4; round++)
            for (int voter = observers + 1; voter < world.nodes.size(); voter++)
                if (round == 0) hear(node(voter), first);
                else fetch(node(voter), first);
        for (RaftNode node : world.nodes.values()) node.holdsFlush = flushes;
    }

    // --- messages ---

    /** What the node's state has it send to another. */
    private static ApiMessage request(RaftNode from, RaftNode to) {
        return (ApiMessage) switch (from.role()) {
            case "Leader" -> Parts.ask(from.client, "buildBeginQuorumEpochRequest", to.key());
            case "Prospective" -> Parts.ask(from.client, "buildVoteRequest", to.key(), true);
            case "Candidate" -> Parts.has(from.client, "transitionToProspective") ? Parts.ask(from.client, "buildVoteRequest", to.key(), false) : Parts.ask(from.client, "buildVoteRequest", to.key());
            case "Resigned" -> Parts.ask(from.client, "buildEndQuorumEpochRequest", from.state());
            default -> Parts.ask(from.client, "buildFetchRequest");
        };
    }

    private void exchange(RaftNode from, RaftNode to, ApiMessage request) {
        ApiMessage response = world.handled(to, request);
        if (response == null) world.fail("no answer");
        else read(from, to, response);
    }

    /** The node reads a response to the request that it has under way. */
    private void read(RaftNode node, RaftNode by, ApiMessage response) {
        Node source = new Node(by.id, "localhost", RaftNode.address(by.id).getPort());
        node.forgetRequests();
        int number = node.newRequest(source);
        node.receive(new org.apache.kafka.raft.RaftResponse.Inbound(number, response, source));
        node.settle();
    }

    private void hear(RaftNode node, RaftNode other) {
        if (node.role().equals("Prospective") && other.role().equals("Leader") && RaftNumbers.leader(node) == other.id) {
            // It knows the leader's id alone. A response to a pre-vote changes nothing; the leader's own request does.
            if (world.handled(node, request(other, node)) == null) world.fail("no answer");
            return;
        }
        ApiMessage request = request(node, other);
        if (request instanceof FetchRequestData fetch) {
            // As if it had been sent in an earlier epoch: the answer is the error, and no records.
            var partition = fetch.topics().get(0).partitions().get(0);
            partition.setCurrentLeaderEpoch(Math.min(partition.currentLeaderEpoch(), epoch(other) - 1));
            partition.setLastFetchedEpoch(Math.min(partition.lastFetchedEpoch(), partition.currentLeaderEpoch()));
        }
        exchange(node, other, request);
    }

    static int epoch(RaftNode node) { return (Integer) Parts.ask(node.quorum(), "epoch"); }

    private void fetch(RaftNode node, RaftNode leader) {
        ApiMessage[] waited = parked.remove(node);
        if (leader.flushIsDue && waited != null && waited[0] != null) {
            read(node, leader, waited[0]);
            return;
        }
        if (leader.flushIsDue) world.notes.add("a leader that is about to flush answers a Fetch request that was not parked");
        exchange(node, leader, (ApiMessage) Parts.ask(node.client, "buildFetchRequest"));
    }

    // --- elections ---

    /** A timer ends; what follows from it in the next round is a step of its own, unless it leads. */
    private void expire(RaftNode node, String timer) {
        node.expire(timer);
        node.poll();
        node.rearm();
        node.settle();
    }

    /** Before 4.0 a candidate backs off after its election timeout. */
    private void timeOutAtOnce(RaftNode node) {
        boolean stands = node.role().equals("Candidate");
        expire(node, node.role().equals("Follower") ? "fetchTimer" : "electionTimer");
        if (stands) expire(node, "backoffTimer");
    }

    @SuppressWarnings("unchecked")
    static Set<Integer> granted(RaftNode node) {
        Object state = node.state();
        return (Set<Integer>) Parts.ask(Parts.has(state, "epochElection") ? Parts.ask(state, "epochElection") : state, "grantingVoters");
    }

    private void vote(RaftNode node, RaftNode voter) {
        ApiMessage response = world.handled(voter, request(node, voter));
        if (!(response instanceof VoteResponseData vote) || !vote.topics().get(0).partitions().get(0).voteGranted()) {
            world.fail("no vote: " + response);
            return;
        }
        Map<RaftNode, Held> held = held(node);
        if (2 * (granted(node).size() + held.size() + 1) > voters(node).voterIds().size()) held.put(voter, new Held(node.state(), voter, response));
        else read(node, voter, response);
    }

    /** Votes that the node has been given and has not read, in its state of now. */
    Map<RaftNode, Held> held(RaftNode node) {
        Map<RaftNode, Held> held = votes.computeIfAbsent(node, k -> new HashMap<>());
        held.values().removeIf(vote -> !node.isUp() || vote.state() != node.state());
        return held;
    }

    private void count(RaftNode node) {
        for (Held vote : held(node).values().toArray(Held[]::new)) read(node, vote.by(), vote.response());
    }

    private void resign(RaftNode leader) {
        Parts.ask(leader.state(), "requestResign");
        leader.settle();
    }

    // --- the log ---

    /** The leader appends, after its followers' Fetch requests at the end of its log were parked. */
    private void appending(RaftNode leader, Runnable step) {
        parked.clear();
        if (flushes && leader.role().equals("Leader"))
            for (RaftNode node : world.nodes.values())
                if (node != leader && follows(node, leader) && node.end() == leader.end() && RaftNumbers.fetched(leader, node) == node.end()) park(node, leader);
        step.run();
    }

    private static boolean follows(RaftNode node, RaftNode leader) {
        return node.role().equals("Follower") && !node.flushIsDue && RaftNumbers.leader(node) == leader.id && epoch(node) == epoch(leader);
    }

    private void park(RaftNode node, RaftNode leader) {
        FetchRequestData fetch = ((FetchRequestData) Parts.ask(node.client, "buildFetchRequest")).setMaxWaitMs(WAITS_LONG);
        ApiMessage[] answer = world.send(leader, fetch);
        leader.settle();
        if (answer[0] == null) parked.put(node, answer);
    }

    private void append(RaftNode leader) {
        leader.client.prepareAppend(epoch(leader), java.util.List.of("x" + ++records));
        leader.client.schedulePreparedAppend();
        leader.settle();
    }

    private void snapshot(RaftNode node, int at) {
        if (!RaftSnapshots.create(node, at + RaftNumbers.before(world))) world.fail("it has that snapshot");
    }

    /** Kafka never deletes the active segment: where a log starts within it, is in memory only. */
    private void clean(RaftNode node) {
        if (RaftSnapshots.end(((Optional<?>) Parts.ask(node.log, "latestSnapshotId")).orElseThrow()) == node.end()) {
            Parts.of().call(Parts.get(node.log, "log"), "roll");
            world.notes.add("a log of which all is deleted begins a segment at once");
        }
        RaftSnapshots.clean(node);
    }

    /** The response to a Fetch request names a snapshot, which the node fetches part by part. */
    private void fetchSnapshot(RaftNode node, RaftNode leader) {
        exchange(node, leader, (ApiMessage) Parts.ask(node.client, "buildFetchRequest"));
        if (fetchingSnapshot(node).isEmpty()) world.fail("no snapshot is named");
        for (var part = fetchingSnapshot(node); part.isPresent() && node.failure == null; part = fetchingSnapshot(node))
            exchange(node, leader, (ApiMessage) Parts.ask(node.client, "buildFetchSnapshotRequest", Parts.ask(part.get(), "snapshotId"), Parts.ask(part.get(), "sizeInBytes")));
    }

    private static Optional<?> fetchingSnapshot(RaftNode node) {
        return Parts.has(node.state(), "fetchingSnapshot") ? (Optional<?>) Parts.ask(node.state(), "fetchingSnapshot") : Optional.empty();
    }

    // --- voters ---

    static VoterSet voters(RaftNode node) { return (VoterSet) Parts.ask(node.voters(), "lastVoterSet"); }

    /** The key that a node's voter set has for another's id. */
    private static ReplicaKey keyOf(RaftNode of, RaftNode voter) {
        return voters(of).voterKeys().stream().filter(key -> key.id() == voter.id).findFirst().orElseThrow();
    }

    /** Kafka asks that it has fetched all that the leader had at its last Fetch request but one. */
    private void takeForCaughtUp(RaftNode leader, RaftNode added) {
        Object state = ((Map<?, ?>) Parts.get(leader.state(), "observerStates")).get(added.key());
        if (state == null || (Long) Parts.get(state, "lastCaughtUpTimestamp") > 0) return;
        Parts.set(state, "lastCaughtUpTimestamp", world.clock.milliseconds());
        world.notes.add("a voter is added that has not caught up");
    }

    private void add(RaftNode leader, RaftNode added) {
        takeForCaughtUp(leader, added);
        change(leader, new AddRaftVoterRequestData().setClusterId(RaftNode.CLUSTER).setTimeoutMs(10_000)
            .setVoterId(added.id).setVoterDirectoryId(added.directoryId).setListeners(added.endpoints().toAddVoterRequest()));
    }

    private void join(RaftNode leader, RaftNode node) {
        takeForCaughtUp(leader, node);
        change(leader, asked(node, ApiKeys.ADD_RAFT_VOTER));
    }

    /** What the node sends by itself once it is time to look at the voter set; null if it does not. */
    private ApiMessage asked(RaftNode node, ApiKeys kind) {
        node.expire("updateVoterSetPeriodTimer");
        var request = world.asked(node, RaftWorld.ANYBODY, kind);
        return request == null ? null : request.data();
    }

    private void remove(RaftNode leader, ReplicaKey removed) {
        change(leader, new RemoveRaftVoterRequestData().setClusterId(RaftNode.CLUSTER).setVoterId(removed.id()).setVoterDirectoryId(removed.directoryId().orElseThrow()));
    }

    /** The leader appends a VotersRecord; who asked for it waits no longer. */
    private void change(RaftNode leader, ApiMessage request) {
        if (request == null) {
            world.fail("nobody asks for it");
            return;
        }
        long before = leader.end();
        leader.forgetRequests();
        ApiMessage[] answer = world.send(leader, request);
        leader.poll();
        if (leader.sent.stream().anyMatch(sent -> sent.data() instanceof org.apache.kafka.common.message.ApiVersionsRequestData)) world.answerApiVersions(leader, false);
        Parts.set(leader.state(), "addVoterHandlerState", Optional.empty());
        Parts.set(leader.state(), "removeVoterHandlerState", Optional.empty());
        leader.settle();
        if (leader.end() == before) world.fail("voters are not changed: " + answer[0]);
    }

    /** With `kraft.version` 0 a voter tells the leader its directory, which writes nothing. */
    private void tell(RaftNode leader, RaftNode voter) {
        ApiMessage answer = world.handled(leader, (ApiMessage) Parts.ask(voter.client, "buildUpdateVoterRequest"));
        if (answer == null || (Short) Parts.ask(answer, "errorCode") != 0) world.fail("not noted: " + answer);
    }

    private void raise(RaftNode leader) {
        long before = leader.end();
        Parts.ask(leader.client, "upgradeKRaftVersion", epoch(leader), KRaftVersion.KRAFT_VERSION_1, false);
        leader.settle();
        if (leader.end() == before) world.fail("nothing is written");
    }

    // --- faults ---

    private void restart(RaftNode node, Runnable stop) {
        stop.run();
        if (node.forgetVoteBesideLeader()) world.notes.add("a vote that is kept beside the leader is taken out of quorum-state");
        parked.remove(node);
        node.holdsFlush = flushes;
        node.start();
        node.settle();
    }

    private void loseDisk(RaftNode node) {
        node.crash();
        RaftNode next = world.emptyDisk(node.id);
        next.holdsFlush = flushes;
        next.start();
        next.settle();
    }
}
