package highwater;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.TransactionCoordinatorFencedException;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogOffsetMetadata;
import org.apache.kafka.storage.internals.log.ProducerAppendInfo;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;

/**
 * What Kafka's classes make of transaction markers: a question a line, an answer a line.
 *
 * <p>{@code EPOCH COORDINATOR OPEN ? EPOCH COORDINATOR VERSION}: the last epochs that a partition
 * has of a producer, whether a transaction of it is open there (1 or 0), and a marker that comes,
 * with the transaction version of its request; the answer is taken, fenced or coordinator_fenced.
 *
 * <p>Classes of markers have moved between releases, and a marker has a version since 4.2.
 */
public final class TransactionRules {
    private static final TopicPartition PARTITION = new TopicPartition("topic", 0);
    private static final long PRODUCER = 7;
    private static final Method MARKER = Arrays.stream(ProducerAppendInfo.class.getMethods())
        .filter(method -> method.getName().equals("appendEndTxnMarker")).findFirst().orElseThrow();

    private TransactionRules() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        Path directory = Files.createTempDirectory("highwater-transaction-rules-");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            int[] asked = Arrays.stream(line.replace("? ", "").split(" ")).mapToInt(Integer::parseInt).toArray();
            out.println(marker(directory, asked));
            out.flush();
        }
        Files.delete(directory);
    }

    private static String marker(Path directory, int[] asked) throws Exception {
        ProducerStateManager manager = new ProducerStateManager(
            PARTITION, directory.toFile(), 60_000, new ProducerStateManagerConfig(86_400_000, false), Time.SYSTEM);
        ProducerAppendInfo had = manager.prepareUpdate(PRODUCER, AppendOrigin.REPLICATION);
        append(had, asked[0], asked[1], 0, 0);
        manager.update(had);
        if (asked[2] == 1) {
            ProducerAppendInfo data = manager.prepareUpdate(PRODUCER, AppendOrigin.REPLICATION);
            data.appendDataBatch((short) asked[0], 0, 0, 1L, new LogOffsetMetadata(1), 1, true);
            manager.update(data);
        }
        try {
            append(manager.prepareUpdate(PRODUCER, AppendOrigin.COORDINATOR), asked[3], asked[4], 2, asked[5]);
            return "taken";
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof InvalidProducerEpochException)
                return "fenced";
            if (thrown.getCause() instanceof TransactionCoordinatorFencedException)
                return "coordinator_fenced";
            throw thrown;
        }
    }

    private static void append(ProducerAppendInfo info, int epoch, int coordinator, long offset, int version)
            throws Exception {
        Class<?> type = MARKER.getParameterTypes()[0];
        Constructor<?> constructor = type.getConstructors()[0];
        Object commit = Arrays.stream(constructor.getParameterTypes()[0].getEnumConstants())
            .filter(kind -> kind.toString().equals("COMMIT")).findFirst().orElseThrow();
        Object marker = constructor.newInstance(commit, coordinator);
        if (MARKER.getParameterCount() == 4)
            MARKER.invoke(info, marker, (short) epoch, offset, 1L);
        else
            MARKER.invoke(info, marker, (short) epoch, offset, 1L, (short) version);
    }
}
