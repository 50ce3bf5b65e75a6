package highwater;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import org.apache.kafka.common.message.VotersRecord;

/** The segment files of a metadata log. */
final class RaftFiles {
    private static final Class<?> FILE_RECORDS = record("FileRecords"), TYPE = record("ControlRecordType"), UTILS = record("ControlRecordUtils");

    /** One record: `voters` are those of a VotersRecord, `second` those of them with another directory than their first. */
    record Entry(long offset, int epoch, String kind, String value, List<Integer> voters, List<Integer> second) { }

    private RaftFiles() { }

    private static Class<?> record(String name) {
        return Parts.type("org.apache.kafka.common.record.internal." + name, "org.apache.kafka.common.record." + name);
    }

    static File[] segments(File folder) {
        File[] found = folder.listFiles((at, name) -> name.endsWith(".log"));
        if (found == null) return new File[0];
        Arrays.sort(found);
        return found;
    }

    private static long baseOffset(File segment) { return Long.parseLong(segment.getName().substring(0, 20)); }

    static List<Entry> entries(File folder) {
        List<Entry> found = new ArrayList<>();
        for (File segment : segments(folder)) {
            Object records = Parts.ask(FILE_RECORDS, "open", segment, false);
            for (Object batch : (Iterable<?>) Parts.ask(records, "batches")) add(found, batch);
            Parts.ask(records, "close");
        }
        return found;
    }

    private static void add(List<Entry> found, Object batch) {
        int epoch = (Integer) Parts.ask(batch, "partitionLeaderEpoch");
        boolean control = (Boolean) Parts.ask(batch, "isControlBatch");
        for (Object record : (Iterable<?>) batch) {
            long offset = (Long) Parts.ask(record, "offset");
            if (!control) {
                ByteBuffer value = (ByteBuffer) Parts.ask(record, "value");
                found.add(new Entry(offset, epoch, "DATA", StandardCharsets.UTF_8.decode(value.duplicate()).toString(), List.of(), List.of()));
                continue;
            }
            String kind = ((Enum<?>) Parts.ask(TYPE, "parse", Parts.ask(record, "key"))).name();
            boolean voters = kind.equals("KRAFT_VOTERS");
            found.add(new Entry(offset, epoch, kind, "", voters ? voters(record, 0) : List.of(), voters ? voters(record, RaftNode.FIRST_DIRECTORY) : List.of()));
        }
    }

    /** Those whose directory came after this one. */
    private static List<Integer> voters(Object record, long directory) {
        TreeSet<Integer> ids = new TreeSet<>();
        for (VotersRecord.Voter voter : ((VotersRecord) Parts.ask(UTILS, "deserializeVotersRecord", record)).voters())
            if (voter.voterDirectoryId().getLeastSignificantBits() > directory) ids.add(voter.voterId());
        return new ArrayList<>(ids);
    }

    /** Power is lost: entries from `kept` on are gone. */
    static void cut(File folder, long kept) {
        File[] segments = segments(folder);
        for (File segment : segments) {
            if (segment == segments[0] || baseOffset(segment) < kept) cutSegment(segment, kept);
            else for (File file : folder.listFiles((at, name) -> name.startsWith(segment.getName().substring(0, 20)) && !name.endsWith(".checkpoint"))) file.delete();
        }
    }

    private static void cutSegment(File segment, long kept) {
        Object records = Parts.ask(FILE_RECORDS, "open", segment, true);
        long position = 0;
        for (Object batch : (Iterable<?>) Parts.ask(records, "batches"))
            if ((Long) Parts.ask(batch, "lastOffset") < kept) position = (Integer) Parts.ask(batch, "position") + (Integer) Parts.ask(batch, "sizeInBytes");
        try {
            ((FileChannel) Parts.ask(records, "channel")).truncate(position);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Parts.ask(records, "close");
    }

    /** What records on a file hold, or a part of a snapshot's. */
    static void read(Object records, ByteBuffer into) {
        if (Parts.has(records, "readInto")) {
            Parts.ask(records, "readInto", into, 0);
            into.position(into.limit());
            return;
        }
        try {
            long position = (Long) Parts.get(records, "position");
            while (into.hasRemaining()) ((FileChannel) Parts.get(records, "channel")).read(into, position + into.position());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
