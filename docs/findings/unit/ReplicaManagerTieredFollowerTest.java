package kafka.server;

import java.util.Optional;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

/** A follower's log that starts at 2 and ends at 6, with a high watermark of 5, and nothing before 6 on its disk. */
public class ReplicaManagerTieredFollowerTest {
    private final UnifiedLog log = mock(UnifiedLog.class);
    private final ReplicaManager replicas = mock(ReplicaManager.class);

    @BeforeEach
    void anEmptiedLog() {
        when(log.remoteLogEnabled()).thenReturn(true);
        when(log.latestEpoch()).thenReturn(Optional.empty());
        when(log.logStartOffset()).thenReturn(2L);
        when(log.highWatermark()).thenReturn(5L);
        when(log.logEndOffset()).thenReturn(6L);
        when(replicas.initialFetchOffset(log)).thenCallRealMethod();
    }

    @Test
    void testFollowerWithoutLeaderEpochsFetchesFromLogStartOffset() {
        assertEquals(2, replicas.initialFetchOffset(log));
        verify(log).truncateFullyAndStartAt(2, Optional.empty());
    }

    @Test
    void testFollowerWithLeaderEpochsFetchesFromLogEndOffset() {
        when(log.latestEpoch()).thenReturn(Optional.of(1));
        goesOnFrom(6);
    }

    @Test
    void testFollowerWithRecordsFetchesFromHighWatermark() {
        when(log.size()).thenReturn(100L);
        goesOnFrom(5);
    }

    @Test
    void testFollowerWithoutRemoteStorageFetchesFromHighWatermark() {
        when(log.remoteLogEnabled()).thenReturn(false);
        goesOnFrom(5);
    }

    private void goesOnFrom(long offset) {
        assertEquals(offset, replicas.initialFetchOffset(log));
        verify(log, never()).truncateFullyAndStartAt(anyLong(), any());
    }
}
