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
import org.apache.kafka.raft.VoterSet;

/**
 * Reads what is compared, a number a cell of the model.
 *
 * The model's log begins with the VotersRecord of the first epoch, which Kafka's has at offset 2: it
 * is in one batch with the LeaderChange and KRaftVersion records. With static voters it begins with
 * the LeaderChange record; where `kraft.version` is raised, the KRaftVersion and VotersRecord are one. Of what a snapshot has taken the place of, records are not compared.
 */
final class RaftNumbers {
    static final int NOTHING = Integer.MIN_VALUE;
    private static final List<String> ROLES = List.of("Unattached", "Prospective", "Candidate", "Leader", "Follower", "Resigned");

    interface Reader { long read(RaftNode node, int at); }

    private record Cell(Reader reader, int node, int at) { }

    private final RaftWorld world;
    private final RaftActions actions;
    /** How many records Kafka's log has before the model's. */
    private final int before;
    private final Map<String, Reader> readers = new HashMap<>();
    private final Map<RaftNode, List<RaftFiles.Entry>> logs = new HashMap<>();
    private final List<Cell> cells = new ArrayList<>();

    RaftNumbers(RaftWorld world, RaftActions actions, JsonNode wanted) {
        this.world = world;
        this.actions = actions;
        this.before = before(world);
        readers.put("nodes.role", (node, at) -> ROLES.indexOf(node.role()));
        readers.put("nodes.epoch", (node, at) -> RaftActions.epoch(node));
        readers.put("nodes.leader", (node, at) -> number(leader(node)));
        readers.put("nodes.voted", (node, at) -> leader(node) >= 0 ? -1 : number(voted(node)));
        readers.put("nodes.voted_directory", (node, at) -> leader(node) >= 0 ? 0 : votedDirectory(node));
        readers.put("nodes.votes", (node, at) -> votes(node));
        readers.put("nodes.has_fetched", (node, at) -> hasFetched(node));
        readers.put("nodes.log.end", (node, at) -> offset(node, node.end()));
        readers.put("nodes.log.epoch", (node, at) -> inLog(node, at, entry -> entry.epoch()));
        readers.put("nodes.log.voters", (node, at) -> inLog(node, at, entry -> mask(entry.voters())));
        readers.put("nodes.log.second", (node, at) -> inLog(node, at, entry -> mask(entry.second())));
        readers.put("nodes.log.missed", (node, at) -> at + before < snapshotEnd(node) ? NOTHING : inLog(node, at, entry -> !entry.voters().isEmpty() && !isRead(node, entry.offset()) ? 1 : 0));
        readers.put("nodes.unflushed", (node, at) -> Math.max(0, offset(node, node.end()) - offset(node, node.flushed)));
        readers.put("nodes.flushing", (node, at) -> node.flushIsDue ? 1 : 0);
        readers.put("nodes.next_offset", (node, at) -> nextOffset(node) <= node.end() ? 0 : nextOffset(node) - before);
        readers.put("nodes.high_watermark", (node, at) -> highWatermark(node));
        readers.put("nodes.fetched", (node, at) -> node.id == at + 1 ? NOTHING : node.role().equals("Leader") ? offset(node, fetched(node, world.node(at + 1))) : 0);
        readers.put("nodes.told", (node, at) -> told(node, false));
        readers.put("nodes.told_second", (node, at) -> told(node, true));
        readers.put("nodes.second_directory", (node, at) -> node.directoryId.getLeastSignificantBits() > RaftNode.FIRST_DIRECTORY ? 1 : 0);
        readers.put("nodes.snapshot_end", (node, at) -> offset(node, snapshotEnd(node)));
        readers.put("nodes.log_start", (node, at) -> offset(node, node.logStart()));
        readers.put("a node's voter set", (node, at) -> mask(RaftActions.voters(node).voterIds()));
        readers.put("those with another directory", (node, at) -> mask(RaftActions.voters(node).voterKeys().stream().filter(RaftNumbers::isSecond).map(ReplicaKey::id).toList()));
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

    static int before(RaftWorld world) { return world.isStatic ? 0 : 2; }

    /** The model's for an offset of a node's log. */
    private long offset(RaftNode node, long offset) {
        long raised = world.isStatic ? node.entries().stream().filter(entry -> isRaised(entry) && entry.offset() < offset).count() : 0;
        return Math.max(0, offset - before - raised);
    }

    private static boolean isRaised(RaftFiles.Entry entry) { return entry.kind().equals("KRAFT_VERSION"); }

    /** Who has told a leader which directory it has, where voters are configured. */
    private int told(RaftNode leader, boolean second) {
        if (!leader.role().equals("Leader")) return 0;
        var volatileVoters = (Optional<?>) Parts.ask(leader.state(), "volatileVoters");
        if (volatileVoters.isEmpty()) return 0;
        var keys = ((VoterSet) Parts.ask(volatileVoters.get(), "voters")).voterKeys().stream();
        return mask(keys.filter(key -> key.id() != leader.id && key.directoryId().isPresent() && (!second || isSecond(key))).map(ReplicaKey::id).toList());
    }

    private static int number(int id) { return id < 0 ? -1 : id - 1; }

    private long inLog(RaftNode node, int at, java.util.function.ToLongFunction<RaftFiles.Entry> number) {
        long offset = at + before;
        if (offset < node.logStart()) return NOTHING;
        List<RaftFiles.Entry> log = log(node);
        return log.isEmpty() || offset - log.get(0).offset() >= log.size() ? 0 : number.applyAsLong(log.get((int) (offset - log.get(0).offset())));
    }

    private static long snapshotEnd(RaftNode node) {
        return ((Optional<?>) Parts.ask(node.log, "latestSnapshotId")).map(RaftSnapshots::end).orElse(0L);
    }

    /** A node starts with that of where its log does, of which the model has nothing. */
    private long highWatermark(RaftNode node) {
        long mark = (Long) Parts.ask(Parts.ask(node.log, "highWatermark"), "offset");
        return mark > 0 && mark == node.logStart() ? NOTHING : offset(node, mark);
    }

    private static boolean isSecond(ReplicaKey key) {
        return key.directoryId().isPresent() && key.directoryId().get().getLeastSignificantBits() > RaftNode.FIRST_DIRECTORY;
    }

    private List<RaftFiles.Entry> log(RaftNode node) {
        return logs.computeIfAbsent(node, of -> world.isStatic ? of.entries().stream().filter(entry -> !isRaised(entry)).toList() : of.entries());
    }

    private static int mask(Iterable<Integer> ids) {
        int mask = 0;
        for (int id : ids) mask |= 1 << (id - 1);
        return mask;
    }

    static int leader(RaftNode node) { return ((OptionalInt) Parts.get(Parts.ask(node.state(), "election"), "leaderId")).orElse(-1); }

    private static int voted(RaftNode node) { return votedKey(node).map(ReplicaKey::id).orElse(-1); }

    private static Optional<ReplicaKey> votedKey(RaftNode node) {
        return ((Optional<?>) Parts.get(Parts.ask(node.state(), "election"), "votedKey")).map(key -> (ReplicaKey) key);
    }

    /** 0, the other's of now, or none and it has its second one; 1, one that the other has lost; 2, none. */
    private int votedDirectory(RaftNode node) {
        Optional<ReplicaKey> voted = votedKey(node);
        if (voted.isEmpty() || voted.get().id() == node.id) return 0;
        ReplicaKey now = world.node(voted.get().id()).key();
        if (voted.get().directoryId().isPresent()) return voted.get().equals(now) ? 0 : 1;
        return isSecond(now) ? 0 : 2;
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
