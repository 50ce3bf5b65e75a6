package highwater;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.ScheduledFuture;
import kafka.coordinator.transaction.CoordinatorEpochAndTxnMetadata;
import kafka.coordinator.transaction.TransactionConfig;
import kafka.coordinator.transaction.TransactionStateManager;
import kafka.server.ReplicaManager;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.transaction.TransactionLog;
import org.apache.kafka.coordinator.transaction.TransactionMetadata;
import org.apache.kafka.coordinator.transaction.TransactionState;
import org.apache.kafka.coordinator.transaction.TxnTransitMetadata;
import org.apache.kafka.server.common.TransactionVersion;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.FetchDataInfo;
import org.apache.kafka.storage.internals.log.LogOffsetMetadata;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.mockito.Mockito;
import scala.Option;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction4;
import scala.runtime.BoxedUnit;
import scala.util.Either;

/**
 * What a coordinator has of an id after it has loaded the transaction log: a question a line.
 *
 * <p>{@code STATE... ? HIGH_WATERMARK whole|moved|failed READ}: the id's records in the log, and how
 * the load goes, one record a read: whole; or the log is no longer the broker's own after so many
 * reads; or the next one fails. The answer is the state in the cache, or none, and the markers that
 * are sent. Replica manager and log are mocks; a read above the high watermark is for LOG_END alone.
 */
public final class LoadRules {
    private static final TopicPartition DATA = new TopicPartition("data", 0);
    private static final TransactionConfig CONFIG =
        new TransactionConfig(1_000_000, 900_000, 50, (short) 3, 1_000_000, 1_000, 2, 10_000, 10_000, false, 30_000);

    private LoadRules() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        try (Metrics metrics = new Metrics()) {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                List<String> words = List.of(line.split(" "));
                int query = words.indexOf("?");
                out.println(load(metrics, words.subList(0, query), Long.parseLong(words.get(query + 1)),
                    words.get(query + 2), Integer.parseInt(words.get(query + 3))));
                out.flush();
            }
        }
        System.exit(0);
    }

    private static String load(Metrics metrics, List<String> states, long mark, String way, int reads) throws Exception {
        int[] done = {0};
        UnifiedLog log = Mockito.mock(UnifiedLog.class);
        Mockito.when(log.read(anyLong(), anyInt(), any(), anyBoolean())).thenAnswer(call -> {
            if (way.equals("failed") && done[0] == reads) throw new IOException("a disk");
            done[0]++;
            long offset = call.getArgument(0);
            boolean all = call.getArgument(2) == FetchIsolation.LOG_END;
            return read(states, offset, all ? states.size() : mark);
        });
        ReplicaManager replicas = Mockito.mock(ReplicaManager.class);
        Mockito.when(replicas.getLog(any())).thenReturn(Option.apply(log));
        Mockito.when(replicas.getLogEndOffset(any())).thenAnswer(call ->
            way.equals("moved") && done[0] == reads ? Option.empty() : Option.apply((Object) (long) states.size()));
        TransactionStateManager manager =
            new TransactionStateManager(1, AtOnce.SCHEDULER, replicas, null, CONFIG, Time.SYSTEM, metrics);
        manager.startup(new AbstractFunction0<Object>() {
            @Override
            public Object apply() {
                return 1;
            }
        }, false);
        StringJoiner told = new StringJoiner(" ");
        manager.loadTransactionsForTxnTopicPartition(0, 9, new Markers(told));
        Either<?, ?> found = manager.getTransactionState("id");
        Option<?> entry = found.isRight() ? (Option<?>) found.toOption().get() : Option.empty();
        String state = entry.isEmpty() ? "none"
            : ((CoordinatorEpochAndTxnMetadata) entry.get()).transactionMetadata().state().name();
        return told.length() == 0 ? state : state + " " + told;
    }

    private static FetchDataInfo read(List<String> states, long offset, long end) {
        ByteBuffer buffer = ByteBuffer.allocate(1024);
        if (offset < end) {
            TransactionState state = TransactionState.valueOf(states.get((int) offset));
            Set<TopicPartition> partitions = state == TransactionState.EMPTY ? Set.of() : Set.of(DATA);
            TxnTransitMetadata to = new TxnTransitMetadata(7, -1, -1, (short) 1, (short) -1, 60_000, state,
                new HashSet<>(partitions), 1, 1, TransactionVersion.TV_0);
            SimpleRecord record = new SimpleRecord(1, TransactionLog.keyToBytes("id"), TransactionLog.valueToBytes(to, TransactionVersion.TV_0));
            buffer.put(MemoryRecords.withRecords(offset, Compression.NONE, 1, record).buffer());
        }
        buffer.flip();
        return new FetchDataInfo(new LogOffsetMetadata(offset), MemoryRecords.readableRecords(buffer));
    }

    /** Notes which markers are to be sent. */
    private static final class Markers
            extends AbstractFunction4<Object, TransactionResult, TransactionMetadata, TxnTransitMetadata, BoxedUnit> {
        private final StringJoiner told;

        Markers(StringJoiner told) {
            this.told = told;
        }

        @Override
        public BoxedUnit apply(Object epoch, TransactionResult result, TransactionMetadata had, TxnTransitMetadata to) {
            told.add(result.name());
            return BoxedUnit.UNIT;
        }
    }

    /** Does at once what it is to do once. */
    private static final class AtOnce implements Scheduler {
        static final AtOnce SCHEDULER = new AtOnce();

        @Override
        public void startup() {}

        @Override
        public void shutdown() {}

        @Override
        public void resizeThreadPool(int size) {}

        @Override
        public ScheduledFuture<?> schedule(String name, Runnable task, long delay, long period) {
            task.run();
            return null;
        }
    }
}
