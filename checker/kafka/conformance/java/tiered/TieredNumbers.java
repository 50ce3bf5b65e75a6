package highwater;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.errors.OffsetOutOfRangeException;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentId;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;

/** What Kafka shows, a number for each cell that is asked for. */
final class TieredNumbers {
    private static final long NOTHING = Integer.MIN_VALUE;
    private static final int BYTES = 1 << 20;

    interface Reader { long read(int... of); }

    private final TieredWorld world;
    private final Map<String, Reader> readers = new HashMap<>();
    private final List<Reader> wanted = new ArrayList<>();
    private final List<int[]> indexes = new ArrayList<>();

    TieredNumbers(TieredWorld world, TieredActions actions, JsonNode cells) {
        this.world = world;
        readers.put("brokers.up", of -> truth(world.brokers[of[0]] != null));
        readers.put("brokers.leads", of -> ofBroker(of[0], broker -> truth(broker.partition() != null && broker.partition().isLeader())));
        readers.put("brokers.follows", of -> ofBroker(of[0], broker -> truth(broker.partition() != null && broker.partition().getLeaderEpoch() == world.epoch)));
        readers.put("brokers.lineage", of -> ofBroker(of[0], broker -> broker.epochAt(of[1])));
        readers.put("brokers.log_start", of -> ofBroker(of[0], broker -> broker.ask("logStartOffset")));
        readers.put("brokers.local_start", of -> ofBroker(of[0], TieredNumbers::localStart));
        readers.put("brokers.end", of -> ofBroker(of[0], TieredBroker::end));
        readers.put("who has looked up what is copied", of -> knows(of[0]) ? 1L << of[0] : 0);
        readers.put("brokers.copied_to", of -> ofBroker(of[0], broker -> knows(of[0]) ? actions.copiedBeyondBase(broker) : -1));
        readers.put("segments.copy", of -> copy(world.segments[of[0]]));
        readers.put("segments.first", of -> world.segments[of[0]] == null ? 0 : world.segments[of[0]].startOffset());
        readers.put("segments.until", of -> world.segments[of[0]] == null ? 0 : world.segments[of[0]].endOffset() + 1);
        readers.put("segments.lineage", of -> lineage(world.segments[of[0]], of[1]));
        readers.put("segments.listed", of -> truth(isListed(world.segments[of[0]], of[1])));
        readers.put("segments.dropped", of -> truth(isDropped(world.segments[of[0]], of[1])));
        for (int b = 0; b < world.brokers.length; b++) {
            int reader = b;
            readers.put("where broker " + b + " looks in the store", of -> ofBroker(reader, broker -> truth(of[0] < localStart(broker))));
            readers.put("what is copied of the log of broker " + b, of -> ofReader(reader, broker -> truth(of[0] < copiedTo(broker))));
            readers.put("what the log of broker " + b + " would begin after", of -> ofReader(reader, broker -> truth(of[0] < startFound(broker))));
            readers.put("the segment that a read at broker " + b + " is led to", of -> ofReader(reader, broker -> ledTo(broker, of[0])));
            readers.put("what a read at broker " + b + " returns", of -> ofReader(reader, broker -> returned(broker, of[0])));
        }
        for (JsonNode cell : cells) {
            Reader reader = readers.get(cell.get(0).asText());
            if (reader == null) throw new IllegalStateException("nothing reads " + cell.get(0).asText());
            wanted.add(reader);
            indexes.add(Lines.numbers(cell));
        }
    }

    long[] read() {
        long[] found = new long[wanted.size()];
        for (int i = 0; i < found.length; i++) found[i] = wanted.get(i).read(indexes.get(i));
        return found;
    }

    private static long truth(boolean held) { return held ? 1 : 0; }

    private interface OfBroker { long read(TieredBroker broker); }

    /** Of a broker that is down nothing is read: its log shows when it is back. */
    private long ofBroker(int number, OfBroker read) { return world.brokers[number] == null ? NOTHING : read.read(world.brokers[number]); }

    /** A RemoteLogManager that has not read of the partition knows no topic id to ask by. */
    private long ofReader(int number, OfBroker read) {
        return world.brokers[number] == null || world.brokers[number].partition() == null ? NOTHING : read.read(world.brokers[number]);
    }

    private boolean knows(int number) {
        Object task = world.brokers[number] == null ? null : world.brokers[number].task("leaderCopyRLMTasks");
        return task != null && ((Optional<?>) Parts.get(task, "copiedOffsetOption")).isPresent();
    }

    /** While tiering is off the log's own mark stays where it was; nothing below the log's start counts. */
    private static long localStart(TieredBroker broker) { return Math.max(broker.ask("localLogStartOffset"), broker.ask("logStartOffset")); }

    /** Nothing below the log's start counts, whatever the cache has of it. */
    private long copiedTo(TieredBroker broker) {
        return Math.max((Long) Parts.ask(found(broker, "findHighestRemoteOffset"), "offset") + 1, broker.ask("logStartOffset"));
    }

    /** A log start is raised alone, and to the log's end at most. */
    private long startFound(TieredBroker broker) {
        return Math.min(Math.max((Long) found(broker, "findLogStartOffset"), broker.ask("logStartOffset")), broker.end());
    }

    private Object found(TieredBroker broker, String by) { return Parts.ask(broker.remote, by, world.withId, broker.log()); }

    // --- segments ---

    private static RemoteLogSegmentMetadata listed(RemoteLogSegmentMetadata segment) {
        return (RemoteLogSegmentMetadata) ((Map<?, ?>) Parts.get(RemoteMetadata.cache, "idToSegmentMetadata")).get(segment.remoteLogSegmentId());
    }

    private static long copy(RemoteLogSegmentMetadata segment) {
        if (segment == null) return 0;
        RemoteLogSegmentMetadata now = listed(segment);
        if (now == null) return 3;
        return switch (now.state()) {
            case COPY_SEGMENT_STARTED -> 1;
            case COPY_SEGMENT_FINISHED -> 2;
            default -> 3;
        };
    }

    private static long lineage(RemoteLogSegmentMetadata segment, long offset) {
        if (segment == null || offset < segment.startOffset() || offset > segment.endOffset()) return -1;
        TreeMap<Long, Integer> starts = new TreeMap<>();
        segment.segmentLeaderEpochs().forEach((epoch, start) -> starts.put(start, epoch));
        return starts.floorEntry(offset).getValue();
    }

    private static boolean isListed(RemoteLogSegmentMetadata segment, long offset) {
        if (segment == null) return false;
        for (Object state : ((Map<?, ?>) Parts.get(RemoteMetadata.cache, "leaderEpochEntries")).values())
            if (segment.remoteLogSegmentId().equals(((NavigableMap<?, ?>) Parts.get(state, "offsetToId")).get(offset))) return true;
        return false;
    }

    /** An epoch starts there in a segment that is not deleted, and nothing of that epoch has it. */
    private static boolean isDropped(RemoteLogSegmentMetadata segment, long offset) {
        if (segment == null || listed(segment) == null) return false;
        for (var start : segment.segmentLeaderEpochs().entrySet()) {
            Object state = ((Map<?, ?>) Parts.get(RemoteMetadata.cache, "leaderEpochEntries")).get(start.getKey());
            if (start.getValue() == offset && !((NavigableMap<?, ?>) Parts.get(state, "offsetToId")).containsValue(segment.remoteLogSegmentId())
                && !((java.util.Set<?>) Parts.get(state, "unreferencedSegmentIds")).contains(segment.remoteLogSegmentId())) return true;
        }
        return false;
    }

    // --- reads ---

    private RemoteLogSegmentMetadata found(TieredBroker broker, long offset) {
        int epoch = broker.epochAt(offset);
        if (epoch < 0 || !world.isTiered()) return null;
        return (RemoteLogSegmentMetadata) ((Optional<?>) Parts.ask(broker.remote, "fetchRemoteLogSegmentMetadata", world.partition, epoch, offset)).orElse(null);
    }

    private long ledTo(TieredBroker broker, long offset) {
        RemoteLogSegmentMetadata found = found(broker, offset);
        if (found == null) return 0;
        RemoteLogSegmentId id = found.remoteLogSegmentId();
        for (int s = 0; s < world.segments.length; s++) if (world.segments[s] != null && world.segments[s].remoteLogSegmentId().equals(id)) return 1L << s;
        return NOTHING;
    }

    /** The offsets of the records that a read at the offset returns, as bits. */
    private long returned(TieredBroker broker, long offset) {
        if (found(broker, offset) == null) return 0;
        FetchRequest.PartitionData wanted = new FetchRequest.PartitionData(world.topic, offset, 0, BYTES, Optional.empty());
        Object isolation = Parts.constant(Parts.type("org.apache.kafka.server.storage.log.FetchIsolation", "org.apache.kafka.storage.internals.log.FetchIsolation"), "HIGH_WATERMARK");
        Object asked = Parts.of(BYTES, true, world.withId, world.partition, wanted, isolation).make(org.apache.kafka.storage.internals.log.RemoteStorageFetchInfo.class);
        long offsets = 0;
        try {
            Object records = Parts.get(Parts.ask(broker.remote, "read", asked), "records");
            for (Object batch : (Iterable<?>) Parts.ask(records, "batches")) {
                long at = (Long) Parts.ask(batch, "baseOffset");
                if (at >= offset) offsets |= 1L << at;
            }
        } catch (OffsetOutOfRangeException e) {
            return 0;
        }
        return offsets;
    }
}
