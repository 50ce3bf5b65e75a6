package highwater;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.HashMap;
import org.apache.kafka.common.message.AddRaftVoterRequestData;
import org.apache.kafka.common.message.RemoveRaftVoterRequestData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;

/** Takes the steps that a run has, by their names. */
final class RaftSteps {
    interface Step { void take(int... of); }

    private final RaftWorld world;
    private final Map<String, Step> steps = new HashMap<>();
    /** What came of the step that cannot be seen in a state, such as an error code. */
    String note = "";
    private int records;

    RaftSteps(RaftWorld world) {
        this.world = world;
        steps.put("time_out", of -> timeOut(node(of[0])));
        steps.put("vote", of -> require(world.exchange(of[0], of[1], ApiKeys.VOTE), "no vote request"));
        steps.put("begin_epoch", of -> beginEpoch(of[0], of[1]));
        steps.put("fetch", of -> fetch(of[0], of[1]));
        steps.put("append", of -> append(node(of[0])));
        steps.put("hold_flushes", of -> node(of[0]).holdsFlush = true);
        steps.put("flush", of -> node(of[0]).flush());
        steps.put("crash", of -> node(of[0]).crash());
        steps.put("lose_power", of -> node(of[0]).losePower());
        steps.put("start", of -> node(of[0]).start());
        steps.put("replace_disk", of -> world.replaceDisk(of[0]));
        steps.put("empty_disk", of -> world.emptyDisk(of[0]));
        steps.put("add_voter", of -> addVoter(node(of[0]), node(of[1])));
        steps.put("remove_voter", of -> removeVoter(node(of[0]), node(of[1])));
        steps.put("resign", of -> resign(node(of[0])));
        steps.put("snapshot", of -> require(RaftSnapshots.create(node(of[0]), of[1]), "it has that snapshot"));
        steps.put("clean", of -> require(RaftSnapshots.clean(node(of[0])), "nothing is deleted"));
        steps.put("fetch_snapshot", of -> require(world.exchange(of[0], of[1], ApiKeys.FETCH_SNAPSHOT), "no snapshot is fetched"));
    }

    private RaftNode node(int id) { return world.node(id); }

    private void require(boolean held, String words) { if (!held) note = words; }

    void take(String name, int... of) {
        Step step = steps.get(name);
        if (step == null) throw new IllegalStateException("no step " + name);
        world.clock.sleep(10);
        note = "";
        step.take(of);
    }

    private void timeOut(RaftNode node) {
        switch (node.role()) {
            case "Follower" -> node.expire("fetchTimer");
            case "Leader" -> node.expire("checkQuorumTimer");
            default -> node.expire("electionTimer");
        }
        node.forgetRequests();
        node.poll();
        node.settle();
    }

    private void beginEpoch(int leader, int to) {
        node(leader).expire("beginQuorumEpochTimer");
        require(world.exchange(leader, to, ApiKeys.BEGIN_QUORUM_EPOCH), "no BeginQuorumEpoch request");
    }

    /** A follower fetches; a node that knows of no leader asks a bootstrap server, here the one named. */
    private void fetch(int follower, int leader) {
        var request = world.asked(node(follower), world.ANYBODY, ApiKeys.FETCH);
        if (request == null) {
            note = "no fetch";
            return;
        }
        ApiMessage response = world.handled(node(leader), request.data());
        world.answer(node(follower), request, response);
    }

    private void append(RaftNode leader) {
        try {
            leader.client.prepareAppend(leader.client.leaderAndEpoch().epoch(), List.of("x" + ++records));
            leader.client.schedulePreparedAppend();
        } catch (RuntimeException e) {
            note = e.toString();
        }
        leader.settle();
    }

    private void addVoter(RaftNode leader, RaftNode added) {
        leader.forgetRequests();
        var request = new AddRaftVoterRequestData().setClusterId(RaftNode.CLUSTER).setTimeoutMs(10_000)
            .setVoterId(added.id).setVoterDirectoryId(added.directoryId).setListeners(added.endpoints().toAddVoterRequest());
        ApiMessage answer = world.handled(leader, request);
        if (answer != null) note = answer.toString();
        else world.answerApiVersions(leader, true);
    }

    private void removeVoter(RaftNode leader, RaftNode removed) {
        var request = new RemoveRaftVoterRequestData().setClusterId(RaftNode.CLUSTER).setVoterId(removed.id).setVoterDirectoryId(removed.directoryId);
        ApiMessage answer = world.handled(leader, request);
        if (answer != null) note = answer.toString();
    }

    private void resign(RaftNode leader) {
        leader.client.resign(leader.client.leaderAndEpoch().epoch());
        leader.settle();
    }

    @Override public String toString() { return Arrays.toString(steps.keySet().toArray()); }
}
