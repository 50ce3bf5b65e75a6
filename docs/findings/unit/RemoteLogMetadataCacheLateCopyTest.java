package org.apache.kafka.server.log.remote.metadata.storage;

import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentId;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadataUpdate;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** A new leader, broker 1, copies 0 to 150 and 151 to 250. What broker 0 began to copy before ends after that. */
public class RemoteLogMetadataCacheLateCopyTest {
    private static final TopicIdPartition TP = new TopicIdPartition(Uuid.randomUuid(), new TopicPartition("t", 0));
    private static final int EPOCH = 0;

    private final RemoteLogMetadataCache cache = new RemoteLogMetadataCache();
    private RemoteLogSegmentId first;
    private RemoteLogSegmentId second;

    @BeforeEach
    void copiesOfTheNewLeader() throws Exception {
        cache.markInitialized();
        first = copied(1, 0, 150);
        second = copied(1, 151, 250);
    }

    @Test
    void testSegmentFinishedLateDoesNotReplaceLongerOne() throws Exception {
        copied(0, 0, 100);
        assertEquals(Optional.of(first), at(120));
    }

    @Test
    void testSegmentFinishedLateDoesNotShadowLongerOne() throws Exception {
        copied(0, 50, 100);
        assertEquals(Optional.of(first), at(120));
    }

    @Test
    void testSegmentsListedIfShorterOneFinishedLate() throws Exception {
        RemoteLogSegmentId late = copied(0, 0, 100);
        assertEquals(Set.of(first, second, late), listed());
    }

    @Test
    void testSegmentReplacedByLongerOne() throws Exception {
        RemoteLogSegmentId longer = copied(0, 151, 300);
        assertEquals(Optional.of(longer), at(200));
        assertEquals(Optional.of(longer), at(300));
        assertEquals(Set.of(first, second, longer), listed());
    }

    @Test
    void testSegmentFinishedLateThatReachesFurther() throws Exception {
        RemoteLogSegmentId late = copied(0, 100, 200);
        assertEquals(Optional.of(first), at(99));
        assertEquals(Optional.of(late), at(150));
        assertEquals(Optional.of(second), at(151));
        assertEquals(Optional.of(second), at(250));
    }

    private RemoteLogSegmentId copied(int broker, long start, long end) throws Exception {
        RemoteLogSegmentId id = new RemoteLogSegmentId(TP, Uuid.randomUuid());
        cache.addCopyInProgressSegment(new RemoteLogSegmentMetadata(id, start, end, 0, broker, 0, 1, Map.of(EPOCH, start)));
        cache.updateRemoteLogSegmentMetadata(new RemoteLogSegmentMetadataUpdate(
            id, 1, Optional.empty(), RemoteLogSegmentState.COPY_SEGMENT_FINISHED, broker));
        return id;
    }

    private Optional<RemoteLogSegmentId> at(long offset) {
        return cache.remoteLogSegmentMetadata(EPOCH, offset).map(RemoteLogSegmentMetadata::remoteLogSegmentId);
    }

    private Set<RemoteLogSegmentId> listed() throws Exception {
        Set<RemoteLogSegmentId> found = new HashSet<>();
        Iterator<RemoteLogSegmentMetadata> segments = cache.listRemoteLogSegments(EPOCH);
        while (segments.hasNext()) found.add(segments.next().remoteLogSegmentId());
        return found;
    }
}
