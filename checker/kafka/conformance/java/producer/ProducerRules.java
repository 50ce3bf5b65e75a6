package highwater;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.ProducerAppendInfo;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;

/**
 * What Kafka's classes say of a producer's batches and records: a question a line, an answer a line.
 *
 * <p>{@code sequence EPOCH:FIRST:LAST ... ? EPOCH:FIRST:LAST}: the batches of a producer that a log
 * has, and one that comes; the answer is duplicate, in_order, out_of_order or fenced. {@code keys
 * COUNT PARTITIONS}: the partition of each of so many keys. {@code turns SIZE FULL...}: records
 * without a key, each 1 byte, with batches of SIZE, and whether the batch is full after it (1 or
 * 0); the answer says after which a new turn begins.
 *
 * <p>Classes of batches have moved between releases, so a batch is whatever fits the method that
 * takes it.
 */
public final class ProducerRules {
    private static final TopicPartition PARTITION = new TopicPartition("topic", 0);
    private static final long PRODUCER = 7;
    private static final Method DUPLICATE = method(ProducerStateEntry.class, "findDuplicateBatch", 1);
    private static final Method APPEND = method(ProducerAppendInfo.class, "append", 2);
    private static final Method PEEK = method(BuiltInPartitioner.class, "peekCurrentPartitionInfo", 1);
    private static final Method UPDATE = method(BuiltInPartitioner.class, "updatePartitionInfo", 4);
    private static final Method CHANGED = method(BuiltInPartitioner.class, "isPartitionChanged", 1);

    private ProducerRules() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        Path directory = Files.createTempDirectory("highwater-producer-rules-");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<String> words = Arrays.asList(line.split(" "));
            List<String> rest = words.subList(1, words.size());
            switch (words.get(0)) {
                case "sequence" -> out.println(sequence(directory, rest));
                case "keys" -> out.println(keys(rest));
                case "turns" -> out.println(turns(rest));
                default -> throw new IllegalArgumentException(line);
            }
            out.flush();
        }
        Files.delete(directory);
    }

    private static String sequence(Path directory, List<String> words) throws Exception {
        ProducerStateManager manager = new ProducerStateManager(
            PARTITION, directory.toFile(), 60_000, config(), Time.SYSTEM);
        int query = words.indexOf("?");
        long offset = 0;
        for (String had : words.subList(0, query)) {
            int[] numbers = numbers(had);
            ProducerAppendInfo info = manager.prepareUpdate(PRODUCER, AppendOrigin.REPLICATION);
            APPEND.invoke(info, batch(numbers, offset), Optional.empty());
            manager.update(info);
            offset += numbers[2] - numbers[1] + 1;
        }
        int[] comes = numbers(words.get(query + 1));
        Optional<ProducerStateEntry> entry = manager.lastEntry(PRODUCER);
        if (entry.isPresent() && ((Optional<?>) DUPLICATE.invoke(entry.get(), batch(comes, offset))).isPresent())
            return "duplicate";
        try {
            APPEND.invoke(manager.prepareUpdate(PRODUCER, AppendOrigin.CLIENT), batch(comes, offset), Optional.empty());
            return "in_order";
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof OutOfOrderSequenceException)
                return "out_of_order";
            if (thrown.getCause() instanceof InvalidProducerEpochException)
                return "fenced";
            throw thrown;
        }
    }

    /** The second parameter, verification of transactions, came with 3.6. */
    private static ProducerStateManagerConfig config() throws Exception {
        Constructor<?> constructor = ProducerStateManagerConfig.class.getConstructors()[0];
        Object[] given = constructor.getParameterCount() == 1
            ? new Object[] {86_400_000}
            : new Object[] {86_400_000, false};
        return (ProducerStateManagerConfig) constructor.newInstance(given);
    }

    private static Object batch(int[] numbers, long offset) {
        Class<?> type = DUPLICATE.getParameterTypes()[0];
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, asked, given) ->
            switch (asked.getName()) {
                case "producerId" -> PRODUCER;
                case "producerEpoch" -> (short) numbers[0];
                case "baseSequence" -> numbers[1];
                case "lastSequence" -> numbers[2];
                case "baseOffset" -> offset;
                case "lastOffset" -> offset + numbers[2] - numbers[1];
                case "maxTimestamp" -> 1L;
                case "isControlBatch", "isTransactional" -> false;
                default -> throw new UnsupportedOperationException(asked.getName());
            });
    }

    private static int[] numbers(String word) {
        return Arrays.stream(word.split(":")).mapToInt(Integer::parseInt).toArray();
    }

    private static String keys(List<String> words) {
        StringJoiner found = new StringJoiner(" ");
        for (int key = 0; key < Integer.parseInt(words.get(0)); key++)
            found.add(String.valueOf(BuiltInPartitioner.partitionForKey(
                ("key " + key).getBytes(), Integer.parseInt(words.get(1)))));
        return found.toString();
    }

    private static String turns(List<String> words) throws Exception {
        Node node = new Node(0, "localhost", 1);
        PartitionInfo[] partitions = new PartitionInfo[2];
        Arrays.setAll(partitions, number -> new PartitionInfo("topic", number, node, new Node[] {node}, new Node[] {node}));
        Cluster cluster = new Cluster("cluster", List.of(node), Arrays.asList(partitions), Set.of(), Set.of());
        BuiltInPartitioner partitioner =
            new BuiltInPartitioner(new LogContext(), "topic", Integer.parseInt(words.get(0)));
        StringJoiner found = new StringJoiner(" ");
        for (String full : words.subList(1, words.size())) {
            Object info = PEEK.invoke(partitioner, cluster);
            UPDATE.invoke(partitioner, info, 1, cluster, full.equals("1"));
            found.add((Boolean) CHANGED.invoke(partitioner, info) ? "1" : "0");
        }
        return found.toString();
    }

    private static Method method(Class<?> type, String name, int parameters) {
        for (Method method : type.getDeclaredMethods())
            if (method.getName().equals(name) && method.getParameterCount() == parameters) {
                method.setAccessible(true);
                return method;
            }
        throw new IllegalStateException(type + " has no " + name);
    }
}
