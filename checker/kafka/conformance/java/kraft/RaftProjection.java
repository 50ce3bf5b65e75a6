package highwater;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeSet;
import org.apache.kafka.raft.LogOffsetMetadata;
import org.apache.kafka.raft.ReplicaKey;
import org.apache.kafka.raft.VoterSet;

/** What a node shows: in words, for people and for tests. */
final class RaftProjection {
    private static final ObjectMapper JSON = new ObjectMapper();

    private RaftProjection() { }

    static ObjectNode words(RaftNode node) {
        ObjectNode shown = JSON.createObjectNode().put("node", node.id).put("up", node.isUp());
        ArrayNode log = shown.putArray("log");
        for (RaftFiles.Entry entry : node.entries()) log.add(entry.offset() + "@" + entry.epoch() + " " + entry.kind() + " " + (entry.voters().isEmpty() ? entry.value() : entry.voters()));
        shown.put("flushed", node.flushed).put("quorum_state", node.quorumState());
        if (!node.isUp()) return shown;
        if (node.failure != null) shown.put("failure", node.failure.toString());
        Object election = Parts.ask(node.state(), "election");
        shown.put("role", node.role()).put("epoch", (Integer) Parts.ask(election, "epoch"));
        Parts.get(election, "leaderId");
        shown.put("leader", ((OptionalInt) Parts.get(election, "leaderId")).orElse(-1));
        shown.put("voted", ((Optional<?>) Parts.get(election, "votedKey")).map(key -> ((ReplicaKey) key).id()).orElse(-1));
        shown.put("start", node.logStart()).put("end", node.end());
        shown.put("high_watermark", highWatermark(node));
        shown.put("next_offset", (Long) Parts.get(node.voters(), "nextOffset"));
        shown.put("voters", voters((VoterSet) Parts.ask(node.voters(), "lastVoterSet")));
        shown.put("voter_history", Parts.get(Parts.get(node.voters(), "voterSetHistory"), "votersHistory").getClass().getSimpleName());
        shown.put("snapshot", ((Optional<?>) Parts.ask(node.log, "latestSnapshotId")).map(Object::toString).orElse(""));
        return shown;
    }

    static long highWatermark(RaftNode node) {
        return ((Optional<?>) Parts.ask(node.quorum(), "highWatermark")).map(mark -> ((LogOffsetMetadata) mark).offset()).orElse(-1L);
    }

    static String voters(VoterSet voters) { return new TreeSet<>(voters.voterIds()).toString(); }
}
