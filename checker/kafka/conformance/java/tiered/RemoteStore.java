package highwater;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;

/** A remote store in memory, one for all brokers of a run, which has a copy wait and refuses what it is told to. */
public final class RemoteStore implements RemoteStorageManager {
    private record Stored(byte[] segment, Map<IndexType, byte[]> indexes) { }

    private static final Map<Uuid, Stored> STORED = new HashMap<>();
    /** The copy that is under way, and waits once all its bytes are here. */
    static Paused copying;
    /** Reads of leader epochs fail. */
    static boolean refuses;

    static void reset() {
        STORED.clear();
        copying = null;
        refuses = false;
    }

    @Override public void configure(Map<String, ?> configs) { }

    @Override public void close() { }

    @Override public Optional<RemoteLogSegmentMetadata.CustomMetadata> copyLogSegmentData(RemoteLogSegmentMetadata metadata, LogSegmentData data) throws RemoteStorageException {
        Map<IndexType, byte[]> indexes = new EnumMap<>(IndexType.class);
        try {
            indexes.put(IndexType.OFFSET, Files.readAllBytes(data.offsetIndex()));
            indexes.put(IndexType.TIMESTAMP, Files.readAllBytes(data.timeIndex()));
            indexes.put(IndexType.PRODUCER_SNAPSHOT, Files.readAllBytes(data.producerSnapshotIndex()));
            ByteBuffer epochs = data.leaderEpochIndex().duplicate();
            byte[] bytes = new byte[epochs.remaining()];
            epochs.get(bytes);
            indexes.put(IndexType.LEADER_EPOCH, bytes);
            STORED.put(metadata.remoteLogSegmentId().id(), new Stored(Files.readAllBytes(data.logSegment()), indexes));
        } catch (IOException e) {
            throw new RemoteStorageException(e);
        }
        copying.pass();
        return Optional.empty();
    }

    private static Stored stored(RemoteLogSegmentMetadata metadata) throws RemoteStorageException {
        Stored found = STORED.get(metadata.remoteLogSegmentId().id());
        if (found == null) throw new RemoteResourceNotFoundException("no " + metadata);
        return found;
    }

    @Override public InputStream fetchLogSegment(RemoteLogSegmentMetadata metadata, int start) throws RemoteStorageException {
        return fetchLogSegment(metadata, start, Integer.MAX_VALUE);
    }

    @Override public InputStream fetchLogSegment(RemoteLogSegmentMetadata metadata, int start, int end) throws RemoteStorageException {
        byte[] all = stored(metadata).segment();
        return new ByteArrayInputStream(all, start, Math.min(all.length - start, end));
    }

    @Override public InputStream fetchIndex(RemoteLogSegmentMetadata metadata, IndexType type) throws RemoteStorageException {
        if (type == IndexType.LEADER_EPOCH && refuses) throw new RemoteStorageException("the store refuses it");
        byte[] found = stored(metadata).indexes().get(type);
        if (found == null) throw new RemoteResourceNotFoundException("no " + type);
        return new ByteArrayInputStream(found);
    }

    @Override public void deleteLogSegmentData(RemoteLogSegmentMetadata metadata) {
        if (RemoteMetadata.isDeletable(metadata.remoteLogSegmentId().id())) STORED.remove(metadata.remoteLogSegmentId().id());
    }
}
