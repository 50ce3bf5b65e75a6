package highwater;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.log.remote.metadata.storage.RemoteLogMetadataCache;
import org.apache.kafka.server.log.remote.storage.RemoteLogMetadataManager;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadataUpdate;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;
import org.apache.kafka.server.log.remote.storage.RemotePartitionDeleteMetadata;

/** Metadata of remote segments: Kafka's own RemoteLogMetadataCache, one for all brokers, without the topic between. */
@SuppressWarnings("unchecked")
public final class RemoteMetadata implements RemoteLogMetadataManager {
    static Object cache;
    /** The segment whose copy began last. */
    static RemoteLogSegmentMetadata begun;
    /** A task that deletes several may delete this one; its other requests come to nothing. */
    static Uuid deletable;
    /** All requests to delete are granted. */
    static boolean allDeletable;

    static void reset() {
        cache = Parts.of().make(RemoteLogMetadataCache.class);
        Parts.ask(cache, "markInitialized");
        begun = null;
        deletable = null;
        allDeletable = false;
    }

    static boolean isDeletable(Uuid segment) { return allDeletable || segment.equals(deletable); }

    /** A request that no task makes. */
    static void update(RemoteLogSegmentMetadata segment, RemoteLogSegmentState state, int broker) {
        Parts.ask(cache, "updateRemoteLogSegmentMetadata",
            new RemoteLogSegmentMetadataUpdate(segment.remoteLogSegmentId(), segment.eventTimestampMs(), Optional.empty(), state, broker));
    }

    @Override public void configure(Map<String, ?> configs) { }

    @Override public void close() { }

    @Override public CompletableFuture<Void> addRemoteLogSegmentMetadata(RemoteLogSegmentMetadata metadata) {
        begun = metadata;
        Parts.ask(cache, "addCopyInProgressSegment", metadata);
        return CompletableFuture.completedFuture(null);
    }

    @Override public CompletableFuture<Void> updateRemoteLogSegmentMetadata(RemoteLogSegmentMetadataUpdate update) {
        boolean known = ((Map<?, ?>) Parts.get(cache, "idToSegmentMetadata")).containsKey(update.remoteLogSegmentId());
        if (update.state() == RemoteLogSegmentState.COPY_SEGMENT_FINISHED || known && isDeletable(update.remoteLogSegmentId().id()))
            Parts.ask(cache, "updateRemoteLogSegmentMetadata", update);
        return CompletableFuture.completedFuture(null);
    }

    @Override public Optional<RemoteLogSegmentMetadata> remoteLogSegmentMetadata(TopicIdPartition partition, int epoch, long offset) {
        return (Optional<RemoteLogSegmentMetadata>) Parts.ask(cache, "remoteLogSegmentMetadata", epoch, offset);
    }

    @Override public Optional<Long> highestOffsetForEpoch(TopicIdPartition partition, int epoch) {
        return (Optional<Long>) Parts.ask(cache, "highestOffsetForEpoch", epoch);
    }

    @Override public CompletableFuture<Void> putRemotePartitionDeleteMetadata(RemotePartitionDeleteMetadata metadata) { return CompletableFuture.completedFuture(null); }

    @Override public Iterator<RemoteLogSegmentMetadata> listRemoteLogSegments(TopicIdPartition partition) { return all(Parts.ask(cache, "listAllRemoteLogSegments")); }

    @Override public Iterator<RemoteLogSegmentMetadata> listRemoteLogSegments(TopicIdPartition partition, int epoch) { return all(Parts.ask(cache, "listRemoteLogSegments", epoch)); }

    /** What is listed as it is asked, whatever is deleted meanwhile. */
    private static Iterator<RemoteLogSegmentMetadata> all(Object listed) {
        List<RemoteLogSegmentMetadata> found = new ArrayList<>();
        ((Iterator<RemoteLogSegmentMetadata>) listed).forEachRemaining(found::add);
        return found.iterator();
    }

    @Override public void onPartitionLeadershipChanges(Set<TopicIdPartition> leaders, Set<TopicIdPartition> followers) { }

    @Override public void onStopPartitions(Set<TopicIdPartition> partitions) { }

    @Override public long remoteLogSize(TopicIdPartition partition, int epoch) {
        long size = 0;
        for (Iterator<RemoteLogSegmentMetadata> listed = listRemoteLogSegments(partition, epoch); listed.hasNext();) size += listed.next().segmentSizeInBytes();
        return size;
    }
}
