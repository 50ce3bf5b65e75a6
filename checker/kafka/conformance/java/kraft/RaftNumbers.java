package highwater;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.kafka.raft.LogOffsetMetadata;
import org.apache.kafka.raft.ReplicaKey;

/**
 * Reads what is compared, a number a cell of the model.
 *
 * The model's log begins with the VotersRecord of the first epoch, which Kafka's has at offset 2: it
 * is in one batch with the LeaderChange and KRaftVersion records.
 */
final class RaftNumbers {
    static final int NOTHING = Integer.MIN_VALUE;
    private static final int BEFORE = 2;
    private static final List<String> ROLES = List.of("Unattached", "Prospective", "Candidate", "Leader", "Follower", "Resigned");

    interface Reader { long read(RaftNode node, int at); }

    private record Cell(Reader reader, int node, int at) { }

    private final RaftWorld world;
    private final RaftActions actions;
    private final Map<String, Reader> readers = new HashMap<>();
    private final Map<RaftNode, List<RaftFiles.Entry>> logs = new HashMap<>();
    private final List<Cell> cells = new ArrayList<>();

    RaftNumbers(RaftWorld world, RaftActions actions, JsonNode wanted) {
        this.world = world;
        this.actions = actions;
        readers.put("nodes.role", (node, at) -> ROLES.indexOf(node.role()));
        readers.put("nodes.epoch", (node, at) -> RaftActions.epoch(node));
        readers.put("nodes.leader", (node, at) -> number(leader(node)));
        readers.put("nodes.voted", (node, at) -> leader(node) >= 0 ? -1 : number(voted(node)));
        readers.put("nodes.votes", (node, at) -> votes(node));
        readers.put("nodes.has_fetched", (node, at) -> hasFetched(node));
        readers.put("nodes.log.end", (node, at) -> offset(node.end()));
        readers.put("nodes.log.epoch", (node, at) -> has(node, at) ? entry(node, at).epoch() : 0);
        readers.put("nodes.log.voters", (node, at) -> has(node, at) ? mask(entry(node, at).voters()) : 0);
        readers.put("nodes.log.second", (node, at) -> has(node, at) ? mask(entry(node, at).second()) : 0);
        readers.put("nodes.log.missed", (node, at) -> has(node, at) && !entry(node, at).voters().isEmpty() && !isRead(node, at + BEFORE) ? 1 : 0);
        readers.put("nodes.unflushed", (node, at) -> Math.max(0, offset(node.end()) - offset(node.flushed)));
        readers.put("nodes.flushing", (node, at) -> node.flushIsDue ? 1 : 0);
        readers.put("nodes.next_offset", (node, at) -> nextOffset(node) > node.end() ? offset(nextOffset(node)) : 0);
        readers.put("nodes.high_watermark", (node, at) -> offset((Long) Parts.ask(Parts.ask(node.log, "highWatermark"), "offset")));
        readers.put("nodes.fetched", (node, at) -> node.id == at + 1 ? NOTHING : node.role().equals("Leader") ? offset(fetched(node, world.node(at + 1))) : 0);
        readers.put("nodes.second_directory", (node, at) -> node.directoryId.getLeastSignificantBits() > RaftNode.FIRST_DIRECTORY ? 1 : 0);
        for (JsonNode each : wanted) {
            Reader reader = readers.get(each.get(0).asText());
            if (reader == null) throw new IllegalStateException("no reader of " + each.get(0).asText());
            cells.add(new Cell(reader, each.get(1).asInt(), each.size() > 2 ? each.get(2).asInt() : 0));
        }
    }

    long[] read() {
        logs.clear();
        long[] found = new long[cells.size()];
        for (int i = 0; i < found.length; i++) {
            RaftNode node = world.node(cells.get(i).node() + 1);
            found[i] = cells.get(i).reader().read(node, cells.get(i).at());
        }
        return found;
    }

    private static long offset(long offset) { return Math.max(0, offset - BEFORE); }

    private static int number(int id) { return id < 0 ? -1 : id - 1; }

    private RaftFiles.Entry entry(RaftNode node, int at) { return log(node).get(at + BEFORE); }

    private boolean has(RaftNode node, int at) { return log(node).size() > at + BEFORE; }

    private List<RaftFiles.Entry> log(RaftNode node) { return logs.computeIfAbsent(node, RaftNode::entries); }

    private static int mask(Iterable<Integer> ids) {
        int mask = 0;
        for (int id : ids) mask |= 1 << (id - 1);
        return mask;
    }

    static int leader(RaftNode node) { return ((OptionalInt) Parts.get(Parts.ask(node.state(), "election"), "leaderId")).orElse(-1); }

    private static int voted(RaftNode node) {
        return ((Optional<?>) Parts.get(Parts.ask(node.state(), "election"), "votedKey")).map(key -> ((ReplicaKey) key).id()).orElse(-1);
    }

    private int votes(RaftNode node) {
        if (!node.role().equals("Prospective") && !node.role().equals("Candidate")) return 0;
        int mask = mask(RaftActions.granted(node));
        for (RaftNode voter : actions.held(node).keySet()) mask |= 1 << (voter.id - 1);
        return mask;
    }

    private static long hasFetched(RaftNode node) {
        if (!node.role().equals("Follower")) return 0;
        return !Parts.hasField(node.state(), "hasFetchedFromLeader") ? NOTHING : (Boolean) Parts.get(node.state(), "hasFetchedFromLeader") ? 1 : 0;
    }

    private static long nextOffset(RaftNode node) { return (Long) Parts.get(node.voters(), "nextOffset"); }

    private static boolean isRead(RaftNode node, long offset) {
        Map<?, ?> history = (Map<?, ?>) Parts.get(Parts.get(Parts.get(node.voters(), "voterSetHistory"), "votersHistory"), "history");
        return history.containsKey(offset);
    }

    /** How far the leader knows another to have fetched, as the voter or else by its key; 0 if not at all. */
    static long fetched(RaftNode leader, RaftNode other) {
        Object state = ((Map<?, ?>) Parts.get(leader.state(), "voterStates")).get(other.id);
        if (state == null) state = ((Map<?, ?>) Parts.get(leader.state(), "observerStates")).get(other.key());
        if (state == null) return 0;
        return ((Optional<?>) Parts.get(state, "endOffset")).map(end -> ((LogOffsetMetadata) end).offset()).orElse(0L);
    }
}
