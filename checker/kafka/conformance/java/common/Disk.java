package highwater;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** A broker's files, as Kafka lays them out. */
final class Disk {
    static final String CHECKPOINT = "replication-offset-checkpoint", LOG_STARTS = "log-start-offset-checkpoint", CLEAN_STOP = ".kafka_cleanshutdown";
    private static final Class<?> FILE_RECORDS = record("FileRecords"), MEMORY_RECORDS = record("MemoryRecords");

    /** The first, which is the one that the controller knows; and, for moves, another one. */
    final List<File> directories;
    private final File directory;
    private final TopicPartition partition;
    Uuid id;
    /** The controller does not know yet that the replica is on another disk. */
    boolean taken;

    Disk(File directory, Uuid id, TopicPartition partition, boolean two) {
        this.directory = directory;
        directories = two ? List.of(directory, new File(directory.getPath() + "-other")) : List.of(directory);
        this.id = id;
        this.partition = partition;
        for (File each : directories) {
            Lines.wipe(each);
            each.mkdirs();
        }
        name();
    }

    /** The directory of the log. */
    private File home() {
        File last = directories.get(directories.size() - 1);
        return new File(last, partition.toString()).exists() ? last : directory;
    }

    File otherThan(String path) { return directories.get(directories.get(0).getPath().equals(path) ? 1 : 0); }

    private void name() {
        for (File each : directories) write(each, "meta.properties", "version=1\nnode.id=" + directory.getName() + "\ncluster.id=highwater\ndirectory.id=" + (each == directory ? id : new Uuid(id.getMostSignificantBits() + 1, id.getLeastSignificantBits())) + "\n");
    }

    private static Class<?> record(String name) {
        return Parts.type("org.apache.kafka.common.record.internal." + name, "org.apache.kafka.common.record." + name);
    }

    private static void write(File directory, String name, String text) {
        try {
            Files.writeString(new File(directory, name).toPath(), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What the HW checkpoints would hold, had they been written when the HW was this; that of a future replica is in its own directory. */
    void checkpoint(long highWatermark, long ofFuture) {
        for (File each : directories) write(each, CHECKPOINT, each.equals(home()) ? highWatermark : Math.min(ofFuture, highWatermark));
    }

    void lowerCheckpoint(long highest) { write(CHECKPOINT, Math.min(highest, checkpoint())); }

    /** The HW in the checkpoint; 0 if there is none. */
    long checkpoint() { return read(CHECKPOINT); }

    /** What the checkpoint of log starts would hold, had it been written when the log started there. */
    void checkpointLogStart(long start) { write(LOG_STARTS, start); }

    private void write(String name, long offset) { write(home(), name, offset); }

    private void write(File directory, String name, long offset) { write(directory, name, "0\n1\n" + line() + offset + "\n"); }

    /** How the partition's line of a checkpoint begins. */
    private String line() { return partition.topic() + " " + partition.partition() + " "; }

    private long read(String name) {
        try {
            File file = new File(home(), name);
            if (!file.exists()) return 0;
            for (String line : Files.readAllLines(file.toPath()))
                if (line.startsWith(line())) return Long.parseLong(line.substring(line().length()));
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean hasCleanStop() { return new File(directory, CLEAN_STOP).exists(); }

    /** The files of the log's segments, the oldest first. */
    private File[] segments() {
        File[] found = new File(home(), partition.toString()).listFiles((at, name) -> name.endsWith(".log"));
        if (found == null) return new File[0];
        Arrays.sort(found);
        return found;
    }

    private static int baseOffset(File segment) { return Integer.parseInt(segment.getName().substring(0, 20)); }

    /** Where the log starts that a broker finds when it starts. */
    int logStart() {
        File[] segments = segments();
        return segments.length == 0 ? 0 : (int) Math.max(baseOffset(segments[0]), read(LOG_STARTS));
    }

    /** That log: id and leader epoch at each offset. */
    List<int[]> log() {
        List<int[]> found = new ArrayList<>();
        for (File segment : segments()) {
            Object records = Parts.ask(FILE_RECORDS, "open", segment, false);
            add(found, baseOffset(segment), records);
            Parts.ask(records, "close");
        }
        return found;
    }

    /** The bytes of the log's segments, by the names of their files. */
    Map<String, byte[]> bytes() {
        Map<String, byte[]> found = new HashMap<>();
        try {
            for (File segment : segments()) found.put(segment.getName(), Files.readAllBytes(segment.toPath()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    /** These are the log's segments again. */
    void put(Map<String, byte[]> segments) {
        try {
            for (File segment : segments()) segment.delete();
            for (var each : segments.entrySet()) Files.write(new File(home(), partition + "/" + each.getKey()).toPath(), each.getValue());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The records of a segment, at their offsets; zeros where there is none before it. */
    static void add(List<int[]> log, long baseOffset, Object records) {
        while (log.size() < baseOffset) log.add(new int[2]);
        log.addAll(entries(records));
    }

    /** Power is lost: of the log `kept` records are left, and no marker of a clean stop. */
    void cut(long kept) {
        for (File each : directories) new File(each, CLEAN_STOP).delete();
        File[] segments = segments();
        for (File segment : segments) {
            if (segment == segments[0] || baseOffset(segment) < kept) cut(segment, kept);
            else for (File file : segment.getParentFile().listFiles((at, name) -> name.startsWith(segment.getName().substring(0, 20)))) file.delete();
        }
        new File(home(), "recovery-point-offset-checkpoint").delete();
    }

    private static void cut(File segment, long kept) {
        Object records = Parts.ask(FILE_RECORDS, "open", segment, true);
        long position = 0;
        for (Object batch : (Iterable<?>) Parts.ask(records, "batches"))
            if ((Long) Parts.ask(batch, "lastOffset") < kept) position = (Integer) Parts.ask(batch, "position") + (Integer) Parts.ask(batch, "sizeInBytes");
        try {
            ((java.nio.channels.FileChannel) Parts.ask(records, "channel")).truncate(position);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Parts.ask(records, "close");
    }

    /** The file of leader epochs was not synced, and is empty. */
    void emptyEpochs() { write(home(), partition + "/leader-epoch-checkpoint", ""); }

    /** The disk is replaced by an empty one. */
    void lose() {
        for (File each : directories) for (File file : each.listFiles()) if (!file.getName().equals("meta.properties")) Lines.wipe(file);
    }

    /** The disk is used no more; another one, which has none of the partition, has the marker of the clean stop too. */
    void takeAway() {
        for (File each : directories) for (File file : each.listFiles()) if (!file.getName().equals(CLEAN_STOP)) Lines.wipe(file);
        taken = true;
        id = new Uuid(id.getMostSignificantBits(), id.getLeastSignificantBits() + World.MOST_BROKERS);
        name();
    }

    /** Id and leader epoch of each record. */
    static List<int[]> entries(Object records) {
        List<int[]> found = new ArrayList<>();
        for (Object batch : (Iterable<?>) Parts.ask(records, "batches")) {
            int epoch = (Integer) Parts.ask(batch, "partitionLeaderEpoch");
            for (Object record : (Iterable<?>) batch) {
                ByteBuffer value = (ByteBuffer) Parts.ask(record, "value");
                found.add(new int[] {Integer.parseInt(StandardCharsets.UTF_8.decode(value.duplicate()).toString()), epoch});
            }
        }
        return found;
    }

    /** A batch of one record whose value is its id. */
    static Object record(int id, long now) {
        byte[] value = Integer.toString(id).getBytes(StandardCharsets.UTF_8);
        Object simple = Parts.made(record("SimpleRecord"), new Class<?>[] {long.class, byte[].class}, now, value);
        Object records = java.lang.reflect.Array.newInstance(simple.getClass(), 1);
        java.lang.reflect.Array.set(records, 0, simple);
        Object none = Parts.get(Parts.hasType("org.apache.kafka.common.compress.Compression")
            ? Parts.type("org.apache.kafka.common.compress.Compression") : Parts.type("org.apache.kafka.common.record.CompressionType"), "NONE");
        return Parts.ask(MEMORY_RECORDS, "withRecords", 0L, none, 0, records);
    }
}
