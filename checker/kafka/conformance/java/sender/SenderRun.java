package highwater;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.StringJoiner;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.ProducerAppendInfo;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;

/**
 * Kafka's own idempotent producer and what a broker knows of it, with the network between them by
 * hand: a command a line, an answer a line.
 *
 * <p>{@code send}: the application sends its next record to the one partition; each is a batch of
 * its own. {@code run}: the sender's thread goes round once, which sends what may be sent, and then
 * receives the answers that are due; the answer is the requests that were sent, each as
 * NUMBER:RECORD:EPOCH:SEQUENCE. {@code append NUMBER}: the broker handles a request, and says
 * appended, duplicate or out_of_order. {@code answer NUMBER ERROR}: that answer is due, by Kafka's
 * name of the error. {@code disconnect NUMBER...}: these requests have none. {@code log}: the
 * records in the log, in order.
 */
public final class SenderRun {
    private static final TopicPartition PARTITION = new TopicPartition("topic", 0);

    private final List<String> log = new ArrayList<>();
    private final OwnSender producer = new OwnSender(Time.SYSTEM, true, 1, 0, false, node -> true);
    private final Method findDuplicate = ProducerStateEntry.class.getDeclaredMethod("findDuplicateBatch", RecordBatch.class);
    private final ProducerStateManager broker;
    private int shown;
    private int sent;

    private SenderRun(Path directory) throws Exception {
        producer.lead(new int[] {0}, new int[] {0});
        findDuplicate.setAccessible(true);
        broker = new ProducerStateManager(
            PARTITION, directory.toFile(), 60_000, new ProducerStateManagerConfig(86_400_000, false), Time.SYSTEM);
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        Path directory = Files.createTempDirectory("highwater-sender-run-");
        SenderRun run = new SenderRun(directory);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine())
            out.println(run.answer(line.split(" ")));
        out.flush();
        Files.delete(directory);
    }

    private String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "send" -> {
                byte[] value = String.valueOf(sent++).getBytes(StandardCharsets.UTF_8);
                producer.append(0, value, producer.metadata.fetch());
                return "sent";
            }
            case "run" -> {
                OwnSender.called(producer.sender, "runOnce");
                StringJoiner found = new StringJoiner(" ");
                for (; shown < producer.requests.size(); shown++) {
                    RecordBatch batch = batch(shown);
                    found.add(shown + ":" + record(batch) + ":" + batch.producerEpoch() + ":" + batch.baseSequence());
                }
                return found.toString();
            }
            case "append" -> {
                return append(batch(Integer.parseInt(words[1])));
            }
            case "answer" -> {
                due(words[1], Errors.valueOf(words[2]));
                return "due";
            }
            case "disconnect" -> {
                for (int word = 1; word < words.length; word++)
                    due(words[word], null);
                return "due";
            }
            case "log" -> {
                return String.join(" ", log);
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private String append(RecordBatch batch) throws Exception {
        Optional<ProducerStateEntry> entry = broker.lastEntry(OwnSender.PRODUCER);
        if (entry.isPresent() && ((Optional<?>) findDuplicate.invoke(entry.get(), batch)).isPresent())
            return "duplicate";
        ProducerAppendInfo info = broker.prepareUpdate(OwnSender.PRODUCER, AppendOrigin.CLIENT);
        try {
            info.append(batch, Optional.empty());
        } catch (OutOfOrderSequenceException thrown) {
            return "out_of_order";
        }
        broker.update(info);
        log.add(record(batch));
        return "appended";
    }

    private RecordBatch batch(int number) {
        ProduceRequest request = (ProduceRequest) producer.requests.get(number).requestBuilder().build();
        MemoryRecords records =
            (MemoryRecords) request.data().topicData().iterator().next().partitionData().get(0).records();
        MutableRecordBatch batch = records.batches().iterator().next();
        return batch;
    }

    private static String record(RecordBatch batch) {
        return new String(Utils.toArray(batch.iterator().next().value()), StandardCharsets.UTF_8);
    }

    private void due(String number, Errors error) {
        producer.due.add(producer.response(producer.requests.get(Integer.parseInt(number)), 0, error, log.size()));
    }
}
