import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;

/**
 * The remote store of a cluster: a directory, by the class that the setting "store" names. While a file "refuse-N" is there, it refuses
 * what broker N wants to read, as a store does that throttles. While "stall-N" is there, it keeps N's copies waiting.
 */
public final class Tier implements RemoteStorageManager {
    private RemoteStorageManager store;
    private Path refusal;
    private Path stall;

    @Override
    public void configure(Map<String, ?> settings) {
        refusal = Path.of((String) settings.get("dir"), "refuse-" + settings.get("broker.id"));
        stall = refusal.resolveSibling("stall-" + settings.get("broker.id"));
        try {
            store = (RemoteStorageManager) Class.forName((String) settings.get("store")).getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException error) {
            throw new IllegalArgumentException(error);
        }
        store.configure(settings);
    }

    @Override
    public Optional<CustomMetadata> copyLogSegmentData(RemoteLogSegmentMetadata segment, LogSegmentData data)
            throws RemoteStorageException {
        maybeStall(segment);
        return store.copyLogSegmentData(segment, data);
    }

    @Override
    public InputStream fetchLogSegment(RemoteLogSegmentMetadata segment, int from) throws RemoteStorageException {
        maybeRefuse("records", segment);
        return store.fetchLogSegment(segment, from);
    }

    @Override
    public InputStream fetchLogSegment(RemoteLogSegmentMetadata segment, int from, int to) throws RemoteStorageException {
        maybeRefuse("records", segment);
        return store.fetchLogSegment(segment, from, to);
    }

    @Override
    public InputStream fetchIndex(RemoteLogSegmentMetadata segment, IndexType index) throws RemoteStorageException {
        maybeRefuse(index.name(), segment);
        return store.fetchIndex(segment, index);
    }

    @Override
    public void deleteLogSegmentData(RemoteLogSegmentMetadata segment) throws RemoteStorageException {
        store.deleteLogSegmentData(segment);
    }

    @Override
    public void close() {
        // The directory outlives the broker, and "close" of the store might remove it.
    }

    private void maybeStall(RemoteLogSegmentMetadata segment) throws RemoteStorageException {
        if (Files.exists(stall)) {
            String partition = segment.topicIdPartition().topicPartition().toString();
            System.out.println("The remote store stalls " + segment.startOffset() + " to " + segment.endOffset() + " of " + partition);
        }
        try {
            while (Files.exists(stall)) Thread.sleep(100);
        } catch (InterruptedException cancelled) { // as the clients of stores do
            Thread.currentThread().interrupt();
            throw new RemoteStorageException("the copy was cancelled", cancelled);
        }
    }

    private void maybeRefuse(String what, RemoteLogSegmentMetadata segment) throws RemoteStorageException {
        if (Files.exists(refusal)) {
            String partition = segment.topicIdPartition().topicPartition().toString();
            System.out.println("The remote store refuses " + what + " of " + partition); // the broker's log
            throw new RemoteStorageException("503 Slow Down");
        }
    }
}
