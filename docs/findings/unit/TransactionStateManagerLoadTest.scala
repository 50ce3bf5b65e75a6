package kafka.coordinator.transaction

import kafka.server.ReplicaManager
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.compress.Compression
import org.apache.kafka.common.metrics.Metrics
import org.apache.kafka.common.protocol.Errors
import org.apache.kafka.common.record.internal.{MemoryRecords, SimpleRecord}
import org.apache.kafka.common.requests.TransactionResult
import org.apache.kafka.coordinator.transaction.{TransactionLog, TransactionState, TxnTransitMetadata}
import org.apache.kafka.metadata.MetadataCache
import org.apache.kafka.server.common.TransactionVersion
import org.apache.kafka.server.util.MockTime
import org.apache.kafka.storage.internals.log.{FetchDataInfo, LogOffsetMetadata, UnifiedLog}
import org.junit.jupiter.api.Assertions.{assertEquals, assertTrue}
import org.junit.jupiter.api.{BeforeEach, Test}
import org.mockito.ArgumentMatchers.{any, anyBoolean, anyInt, anyLong}
import org.mockito.Mockito.{mock, when}

import java.io.IOException
import java.util
import scala.collection.mutable.ListBuffer

/** What a coordinator does with a load of the transaction log that is not committed, or not whole. */
class TransactionStateManagerLoadTest {
  private val transactionalId = "id"
  private val log = mock(classOf[UnifiedLog])
  private val replicaManager = mock(classOf[ReplicaManager])
  private val time = new MockTime()
  private val sent = ListBuffer[TransactionResult]()
  private var states = List[TransactionState]()
  private var reads = 0
  private var failing = 0 until 0 // the reads that fail, by how many came before
  private var manager: TransactionStateManager = _

  @BeforeEach
  def start(): Unit = {
    manager = new TransactionStateManager(0, time.scheduler, replicaManager, mock(classOf[MetadataCache]), TransactionConfig(), time, new Metrics())
    manager.startup(() => 1, enableTransactionalIdExpiration = false)
    when(replicaManager.getLog(any())).thenReturn(Some(log))
    when(replicaManager.getLogEndOffset(any())).thenAnswer(_ => Some(states.size.toLong))
    when(log.logStartOffset).thenReturn(0L)
    when(log.highWatermark).thenAnswer(_ => states.size.toLong)
    when(log.read(anyLong(), anyInt(), any(), anyBoolean())).thenAnswer(call => batch(call.getArgument[Long](0)))
  }

  @Test
  def testLoadWaitsForTheHighWatermark(): Unit = {
    states = List(TransactionState.ONGOING, TransactionState.PREPARE_ABORT)
    when(log.highWatermark).thenReturn(1L)
    load()
    time.sleep(1000L)
    assertTrue(sent.isEmpty)
    assertEquals(Left(Errors.COORDINATOR_LOAD_IN_PROGRESS), manager.getTransactionState(transactionalId))
    when(log.highWatermark).thenReturn(2L)
    time.sleep(1000L)
    assertEquals(List(TransactionResult.ABORT), sent.toList)
    assertEquals(Some(TransactionState.PREPARE_ABORT), loaded)
  }

  @Test
  def testLoadOfACommittedLog(): Unit = {
    states = List(TransactionState.ONGOING, TransactionState.PREPARE_COMMIT)
    load()
    assertEquals(List(TransactionResult.COMMIT), sent.toList)
    assertEquals(Some(TransactionState.PREPARE_COMMIT), loaded)
  }

  @Test
  def testAbandonedLoadIsNotPublished(): Unit = {
    states = List(TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT, TransactionState.ONGOING)
    when(replicaManager.getLogEndOffset(any())).thenAnswer(_ => if (reads > 0) None else Some(3L)) // the broker follows then
    load()
    assertTrue(sent.isEmpty)
    assertEquals(Left(Errors.COORDINATOR_LOAD_IN_PROGRESS), manager.getTransactionState(transactionalId))
  }

  @Test
  def testFailedLoadIsNotPublished(): Unit = {
    states = List(TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT, TransactionState.ONGOING)
    failing = 1 to Int.MaxValue
    load()
    assertTrue(sent.isEmpty)
    assertEquals(Left(Errors.COORDINATOR_LOAD_IN_PROGRESS), manager.getTransactionState(transactionalId))
  }

  @Test
  def testFailedLoadIsRetried(): Unit = {
    states = List(TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT, TransactionState.ONGOING)
    failing = 1 to 1
    load()
    time.sleep(10000L)
    assertTrue(sent.isEmpty)
    assertEquals(Some(TransactionState.ONGOING), loaded)
  }

  private def load(): Unit = manager.loadTransactionsForTxnTopicPartition(0, 1, (_, result, _, _) => sent += result)

  private def loaded: Option[TransactionState] =
    manager.getTransactionState(transactionalId).toOption.flatten.map(_.transactionMetadata.state)

  /** Each state of the transaction is a batch, and a read gives one. */
  private def batch(offset: Long): FetchDataInfo = {
    reads += 1
    if (failing.contains(reads - 1)) throw new IOException("a sector cannot be read")
    val state = states(offset.toInt)
    val partitions = new util.HashSet[TopicPartition]()
    if (state != TransactionState.COMPLETE_COMMIT) partitions.add(new TopicPartition("topic", 0))
    val metadata = new TxnTransitMetadata(7L, -1L, -1L, 5.toShort, (-1).toShort, 60000, state, partitions, 1L, 1L, TransactionVersion.TV_0)
    val record = new SimpleRecord(1L, TransactionLog.keyToBytes(transactionalId), TransactionLog.valueToBytes(metadata, TransactionVersion.TV_0))
    new FetchDataInfo(new LogOffsetMetadata(offset), MemoryRecords.withRecords(offset, Compression.NONE, 0, record))
  }
}
