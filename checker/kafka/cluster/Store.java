import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;

/**
 * A remote store in a directory, with files named as those of Kafka's LocalTieredStorage: for releases whose tests, which
 * have that one, are not published.
 */
public final class Store implements RemoteStorageManager {
    private static final String LOG = "log";
    private Path directory;

    @Override
    public void configure(Map<String, ?> settings) {
        directory = Path.of((String) settings.get("dir"), "kafka-tiered-storage");
    }

    @Override
    public Optional<CustomMetadata> copyLogSegmentData(RemoteLogSegmentMetadata segment, LogSegmentData data)
            throws RemoteStorageException {
        try {
            Files.createDirectories(file(segment, LOG).getParent());
            Files.copy(data.offsetIndex(), file(segment, IndexType.OFFSET));
            Files.copy(data.timeIndex(), file(segment, IndexType.TIMESTAMP));
            Files.copy(data.producerSnapshotIndex(), file(segment, IndexType.PRODUCER_SNAPSHOT));
            if (data.transactionIndex().isPresent())
                Files.copy(data.transactionIndex().get(), file(segment, IndexType.TRANSACTION));
            ByteBuffer epochs = data.leaderEpochIndex().duplicate();
            byte[] bytes = new byte[epochs.remaining()];
            epochs.get(bytes);
            Files.write(file(segment, IndexType.LEADER_EPOCH), bytes);
            Files.copy(data.logSegment(), file(segment, LOG));
        } catch (IOException error) {
            throw new RemoteStorageException(error);
        }
        return Optional.empty();
    }

    @Override
    public InputStream fetchLogSegment(RemoteLogSegmentMetadata segment, int from) throws RemoteStorageException {
        return fetchLogSegment(segment, from, Integer.MAX_VALUE - 1);
    }

    /** "to" is the last byte that is wanted. */
    @Override
    public InputStream fetchLogSegment(RemoteLogSegmentMetadata segment, int from, int to) throws RemoteStorageException {
        byte[] all = bytes(file(segment, LOG));
        return new ByteArrayInputStream(Arrays.copyOfRange(all, from, Math.min(to + 1, all.length)));
    }

    @Override
    public InputStream fetchIndex(RemoteLogSegmentMetadata segment, IndexType index) throws RemoteStorageException {
        return new ByteArrayInputStream(bytes(file(segment, index)));
    }

    @Override
    public void deleteLogSegmentData(RemoteLogSegmentMetadata segment) throws RemoteStorageException {
        try {
            Files.deleteIfExists(file(segment, LOG));
            for (IndexType index : IndexType.values()) Files.deleteIfExists(file(segment, index));
        } catch (IOException error) {
            throw new RemoteStorageException(error);
        }
    }

    @Override
    public void close() {
        // The directory outlives the broker.
    }

    private static byte[] bytes(Path file) throws RemoteStorageException {
        try {
            return Files.readAllBytes(file);
        } catch (NoSuchFileException error) {
            throw new RemoteResourceNotFoundException(error);
        } catch (IOException error) {
            throw new RemoteStorageException(error);
        }
    }

    private Path file(RemoteLogSegmentMetadata segment, IndexType index) {
        return file(segment, index.name().toLowerCase());
    }

    private Path file(RemoteLogSegmentMetadata segment, String ending) {
        String name = String.format("%020d-%s.%s", segment.startOffset(), segment.remoteLogSegmentId().id(), ending);
        return directory.resolve(segment.topicIdPartition().topicPartition().toString()).resolve(name);
    }
}
