package highwater;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.List;
import java.util.Set;
import kafka.coordinator.transaction.CoordinatorEpochAndTxnMetadata;
import kafka.coordinator.transaction.TransactionConfig;
import kafka.coordinator.transaction.TransactionCoordinator;
import kafka.coordinator.transaction.TransactionStateManager;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.transaction.ProducerIdManager;
import org.apache.kafka.coordinator.transaction.TransactionMetadata;
import org.apache.kafka.coordinator.transaction.TransactionState;
import org.apache.kafka.coordinator.transaction.TxnTransitMetadata;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.common.TransactionVersion;
import scala.Function1;
import scala.Option;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction3;
import scala.runtime.BoxedUnit;
import scala.util.Either;
import scala.util.Right;

/**
 * What the coordinator makes of EndTxn by its cache: a question a line, an answer a line.
 *
 * <p>{@code STATE EPOCH ? COMMIT|ABORT EPOCH VERSION}: what the cache has of a transactional id, and
 * a request with its producer epoch and transaction version. The answer is the state and epoch that
 * the coordinator would append, or the error that it answers without an append. Whether it still
 * leads the log it does not ask.
 */
public final class EndTxnRules {
    private static final long PRODUCER = 7;
    private static final TransactionConfig CONFIG =
        new TransactionConfig(1_000_000, 900_000, 50, (short) 3, 1_000_000, 1_000, 2, 10_000, 10_000, false, 30_000);

    private EndTxnRules() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        try (Metrics metrics = new Metrics()) {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.println(end(metrics, List.of(line.replace("? ", "").split(" "))));
                out.flush();
            }
        }
    }

    private static String end(Metrics metrics, List<String> asked) {
        TransactionMetadata metadata = new TransactionMetadata("id", PRODUCER, -1, -1, Short.parseShort(asked.get(1)),
            (short) -1, 60_000, TransactionState.valueOf(asked.get(0)), Set.of(), 1, 1, TransactionVersion.TV_0);
        String[] told = new String[1];
        Cache cache = new Cache(metrics, metadata, told);
        TransactionCoordinator coordinator = new TransactionCoordinator(
            CONFIG, null, new AbstractFunction0<ProducerIdManager>() {
                @Override
                public ProducerIdManager apply() {
                    return null;
                }
            }, cache, null, Time.SYSTEM, new LogContext());
        coordinator.handleEndTransaction("id", PRODUCER, Short.parseShort(asked.get(3)),
            TransactionResult.valueOf(asked.get(2)),
            TransactionVersion.fromFeatureLevel(Short.parseShort(asked.get(4))),
            new AbstractFunction3<Errors, Object, Object, BoxedUnit>() {
                @Override
                public BoxedUnit apply(Errors error, Object producer, Object epoch) {
                    told[0] = error.name();
                    return BoxedUnit.UNIT;
                }
            }, RequestLocal.noCaching());
        return told[0];
    }

    /** One id, and a log that is asked to take what it comes to. */
    private static final class Cache extends TransactionStateManager {
        private final TransactionMetadata metadata;
        private final String[] told;

        Cache(Metrics metrics, TransactionMetadata metadata, String[] told) {
            super(1, null, null, null, CONFIG, Time.SYSTEM, metrics);
            this.metadata = metadata;
            this.told = told;
        }

        @Override
        public Either<Errors, Option<CoordinatorEpochAndTxnMetadata>> getTransactionState(String id) {
            return new Right<>(Option.apply(new CoordinatorEpochAndTxnMetadata(1, metadata)));
        }

        @Override
        public void appendTransactionToLog(String id, int epoch, TxnTransitMetadata to, Function1<Errors, BoxedUnit> then,
                Function1<Errors, Object> retry, RequestLocal local) {
            told[0] = to.txnState() + " " + to.producerEpoch();
        }
    }
}
