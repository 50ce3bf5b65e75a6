package highwater;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.anyShort;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import kafka.coordinator.transaction.CoordinatorEpochAndTxnMetadata;
import kafka.coordinator.transaction.PendingCompleteTxn;
import kafka.coordinator.transaction.PendingCompleteTxnAndMarkerEntry;
import kafka.coordinator.transaction.TransactionMarkerChannelManager;
import kafka.coordinator.transaction.TransactionMarkerRequestCompletionHandler;
import kafka.coordinator.transaction.TransactionStateManager;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.requests.WriteTxnMarkersRequest.TxnMarkerEntry;
import org.apache.kafka.common.requests.WriteTxnMarkersResponse;
import org.apache.kafka.coordinator.transaction.TransactionMetadata;
import org.apache.kafka.coordinator.transaction.TransactionState;
import org.apache.kafka.server.common.TransactionVersion;
import org.mockito.Mockito;
import scala.Option;
import scala.util.Right;

/**
 * What a coordinator makes of the answer to a request with the markers of several ids: a line each.
 *
 * <p>A question is the error of each id's partition, in the order of the request. The answer says of
 * each whether it is {@code completed}, sent {@code again}, {@code cancelled}, or {@code forgotten}.
 */
public final class MarkerAnswers {
    private static final TopicPartition DATA = new TopicPartition("data", 0);
    private static final int EPOCH = 1;

    private MarkerAnswers() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(answered(List.of(line.split(" "))));
            out.flush();
        }
    }

    private static String answered(List<String> errors) {
        Map<String, String> fates = new HashMap<>();
        TransactionStateManager states = Mockito.mock(TransactionStateManager.class);
        TransactionMarkerChannelManager markers = Mockito.mock(TransactionMarkerChannelManager.class);
        Mockito.doAnswer(call -> fates.put(call.getArgument(0), "completed")).when(markers).maybeWriteTxnCompletion(any());
        Mockito.doAnswer(call -> fates.put(((PendingCompleteTxn) call.getArgument(0)).transactionalId(), "cancelled")).when(markers).removeMarkersForTxn(any());
        Mockito.doAnswer(call -> fates.put(((PendingCompleteTxn) call.getArgument(3)).transactionalId(), "again"))
            .when(markers).addTxnMarkersToBrokerQueue(anyLong(), anyShort(), any(), any(), any());
        List<PendingCompleteTxnAndMarkerEntry> entries = new ArrayList<>();
        Map<Long, Map<TopicPartition, Errors>> told = new HashMap<>();
        for (int place = 0; place < errors.size(); place++) {
            TransactionMetadata metadata = new TransactionMetadata("id" + place, place, -1, -1, (short) 0, (short) -1, 60_000,
                TransactionState.PREPARE_COMMIT, new HashSet<>(Set.of(DATA)), 1, 1, TransactionVersion.TV_0);
            Mockito.when(states.getTransactionState("id" + place))
                .thenReturn(new Right<>(Option.apply(new CoordinatorEpochAndTxnMetadata(EPOCH, metadata))));
            entries.add(new PendingCompleteTxnAndMarkerEntry(new PendingCompleteTxn("id" + place, EPOCH, metadata, null),
                new TxnMarkerEntry(place, (short) 0, EPOCH, TransactionResult.COMMIT, List.of(DATA), (short) 0)));
            told.put((long) place, Map.of(DATA, Errors.valueOf(errors.get(place))));
        }
        RequestHeader header = new RequestHeader(ApiKeys.WRITE_TXN_MARKERS, ApiKeys.WRITE_TXN_MARKERS.latestVersion(), "coordinator", 0);
        try {
            new TransactionMarkerRequestCompletionHandler(0, states, markers, entries).onComplete(
                new ClientResponse(header, null, "0", 0, 0, false, null, null, new WriteTxnMarkersResponse(told)));
        } catch (IllegalStateException error) {
            System.err.println(error);  // as the network client does, which goes on with the next response
        }
        StringJoiner all = new StringJoiner(" ");
        for (int place = 0; place < errors.size(); place++) all.add(fates.getOrDefault("id" + place, "forgotten"));
        return all.toString();
    }
}
