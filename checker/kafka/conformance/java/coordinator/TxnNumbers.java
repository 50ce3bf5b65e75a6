package highwater;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.requests.WriteTxnMarkersRequest.TxnMarkerEntry;

/** Reads what is compared, a number a cell of the model. */
final class TxnNumbers {
    private static final int NOTHING = Integer.MIN_VALUE;
    private static final int NO_STATUS = 0, LOADING = 1, HALF_LOADED = 2, ACTIVE = 3, GIVEN_UP = 4;
    private static final int PREPARE_COMMIT = 2, PREPARE_ABORT = 3;

    interface Reader { long read(int of, int at); }

    private record Cell(Reader reader, int of, int at) { }

    private final TxnWorld world;
    private final Map<String, Reader> readers = new HashMap<>();
    private final List<Cell> cells = new ArrayList<>();
    private final Map<TxnPartition, int[]> fates = new HashMap<>();

    TxnNumbers(TxnWorld world, JsonNode wanted) {
        this.world = world;
        TxnProducer producer = world.producer;
        readers.put("partitions.epoch", (of, at) -> partition(of).epoch());
        readers.put("partitions.coordinator_epoch", (of, at) -> partition(of).coordinatorEpoch());
        readers.put("partitions.record", (of, at) -> producer.sent(of));
        readers.put("partitions.late_record.sent", (of, at) -> producer.late[of] == null ? 0 : producer.late[of].where());
        readers.put("partitions.late_record.epoch", (of, at) -> producer.late[of] == null ? 0 : producer.late[of].batch.epoch);
        readers.put("partitions.late_record.transaction", (of, at) -> producer.late[of] == null ? 0 : producer.late[of].batch.transaction);
        readers.put("partitions.late_marker.kind", (of, at) -> kind(partition(of).lateMarker));
        readers.put("partitions.late_marker.epoch", (of, at) -> partition(of).lateMarker == null ? 0 : partition(of).lateMarker.producerEpoch());
        readers.put("partitions.late_marker.coordinator_epoch", (of, at) -> partition(of).lateMarker == null ? 0 : partition(of).lateMarker.coordinatorEpoch());
        readers.put("transactions.wish", (of, at) -> producer.wishes[of]);
        readers.put("transactions.fate", (of, at) -> fates(partition(at))[of]);
        readers.put("coordinators.status", (of, at) -> status(of));
        readers.put("coordinators.state", (of, at) -> said(of).state());
        readers.put("coordinators.epoch", (of, at) -> said(of).epoch());
        readers.put("coordinators.partitions", (of, at) -> said(of).partitions());
        readers.put("coordinators.pending", (of, at) -> pending(of));
        readers.put("producer.phase", (of, at) -> producer.phase());
        readers.put("producer.request", (of, at) -> producer.request());
        readers.put("producer.epoch", (of, at) -> producer.epoch());
        readers.put("producer.begun", (of, at) -> producer.begun);
        readers.put("producer.unresolved", (of, at) -> producer.isUnresolved() ? 1 : 0);
        readers.put("late_request.kind", (of, at) -> producer.lateRequest);
        readers.put("late_request.epoch", (of, at) -> producer.lateEpoch);
        readers.put("log.end", (of, at) -> world.log.end());
        readers.put("log.state", (of, at) -> world.log.at(of).state());
        readers.put("log.epoch", (of, at) -> world.log.at(of).epoch());
        readers.put("log.partitions", (of, at) -> world.log.at(of).partitions());
        readers.put("high_watermark", (of, at) -> world.log.mark());
        for (JsonNode each : wanted) {
            String name = each.get(0).asText();
            Reader reader = world.blanksTheReplaced && name.startsWith("coordinators.") ? ofTheNewest(readers.get(name)) : readers.get(name);
            if (reader == null) throw new IllegalStateException("no reader of " + each.get(0).asText());
            cells.add(new Cell(reader, each.size() > 1 ? each.get(1).asInt() : 0, each.size() > 2 ? each.get(2).asInt() : 0));
        }
    }

    private Reader ofTheNewest(Reader reader) {
        return (of, at) -> of < world.newest().number ? NOTHING : reader.read(of, at);
    }

    long[] read() {
        fates.clear();
        long[] found = new long[cells.size()];
        for (int i = 0; i < found.length; i++) found[i] = cells.get(i).reader().read(cells.get(i).of(), cells.get(i).at());
        return found;
    }

    private TxnPartition partition(int number) { return world.partitions.get(number); }

    private int[] fates(TxnPartition partition) { return fates.computeIfAbsent(partition, of -> of.fates(world.producer.wishes.length)); }

    private static int kind(TxnMarkerEntry marker) {
        return marker == null ? 0 : marker.transactionResult() == TransactionResult.COMMIT ? PREPARE_COMMIT : PREPARE_ABORT;
    }

    private TxnCoordinator coordinator(int number) { return number < world.coordinators.size() ? world.coordinators.get(number) : null; }

    private int status(int number) {
        TxnCoordinator of = coordinator(number);
        if (of == null) return NO_STATUS;
        if (of.isLoading()) return of.load.last == null ? LOADING : HALF_LOADED;
        if (!of.acts()) return NO_STATUS;
        TxnLog.Said said = said(number);
        return isDecided(said) && said.partitions() != 0 && !of.hasPendingMarkers() ? GIVEN_UP : ACTIVE;
    }

    /** What the cache says of the id, or the last record that a load has read. */
    private TxnLog.Said said(int number) {
        TxnCoordinator of = coordinator(number);
        Object cached = of == null ? null : of.cached();
        if (of != null && of.isLoading() && of.load.last != null) return of.load.last;
        if (cached == null) return new TxnLog.Said(0, 0, 0);
        int mask = 0;
        for (Object partition : Scala.list(Parts.ask(cached, "topicPartitions"))) mask |= 1 << ((TopicPartition) partition).partition();
        return new TxnLog.Said((Byte) Parts.ask(Parts.ask(cached, "state"), "id"), (Short) Parts.ask(cached, "producerEpoch"), mask);
    }

    /** It takes no request until an append is committed. While markers are under way it takes none either. */
    private int pending(int number) {
        TxnCoordinator of = coordinator(number);
        Object cached = of == null ? null : of.cached();
        if (cached == null) return 0;
        boolean waits = Scala.orNull(Parts.ask(cached, "pendingState")) != null;
        return waits && (world.log.awaits(of) || !isDecided(said(number))) ? 1 : 0;
    }

    private static boolean isDecided(TxnLog.Said said) { return said.state() == PREPARE_COMMIT || said.state() == PREPARE_ABORT; }
}
