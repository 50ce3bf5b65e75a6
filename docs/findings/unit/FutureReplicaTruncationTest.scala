package kafka.server

import kafka.cluster.Partition
import kafka.server.FetcherThreadTestUtils.{initialFetchState, mkBatch}
import kafka.utils.TestUtils
import org.apache.kafka.common.message.OffsetForLeaderEpochRequestData.OffsetForLeaderPartition
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData.EpochEndOffset
import org.apache.kafka.common.record.internal.SimpleRecord
import org.apache.kafka.common.{TopicPartition, Uuid}
import org.apache.kafka.server.LeaderEndPoint
import org.apache.kafka.server.network.BrokerEndPoint
import org.apache.kafka.storage.log.metrics.BrokerTopicStats
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.mockito.Mockito.{mock, verify, when}

import java.util
import scala.collection.Map

/** What a follower that truncates tells the thread that copies its log to another directory. */
class FutureReplicaTruncationTest {
  private val partition = new TopicPartition("t", 0)
  private val config = KafkaConfig.fromProps(TestUtils.createBrokerConfig(1))

  private def isMarkedBy(isLast: Boolean): Unit = {
    val (leader, replicas) = (mock(classOf[LeaderEndPoint]), mock(classOf[ReplicaManager]))
    val (copies, log) = (mock(classOf[ReplicaAlterLogDirsManager]), mock(classOf[Partition]))
    val stats = new BrokerTopicStats
    when(leader.brokerEndPoint()).thenReturn(new BrokerEndPoint(0, "localhost", 9092))
    when(replicas.brokerTopicStats).thenReturn(stats)
    when(replicas.getPartitionOrException(partition)).thenReturn(log)
    when(replicas.replicaAlterLogDirsManager).thenReturn(copies)
    val fetcher = new ReplicaFetcherThread("fetcher", leader, config, new FailedPartitions, replicas, mock(classOf[ReplicaQuota]), "")

    fetcher.truncate(partition, OffsetTruncationState(5L, truncationCompleted = isLast))

    verify(log).truncateTo(5L, isFuture = false)
    verify(copies).markPartitionsForTruncation(1, partition, 5L)
    stats.close()
  }

  @Test
  def testFutureReplicaMarkedForTruncationIfCompleted(): Unit = isMarkedBy(isLast = true)

  @Test
  def testFutureReplicaMarkedForTruncationIfNotCompleted(): Unit = isMarkedBy(isLast = false)

  /** The log that is copied. It ends epoch `epoch` where its last batch of that epoch does; `asked` is called then. */
  private class Copied(asked: () => Unit) extends MockLeaderEndPoint(truncateOnFetch = false) {
    override def fetchEpochEndOffsets(of: util.Map[TopicPartition, OffsetForLeaderPartition]): util.Map[TopicPartition, EpochEndOffset] = {
      val last = leaderPartitionState(partition).log.filter(_.partitionLeaderEpoch <= of.get(partition).leaderEpoch).last
      val end = new EpochEndOffset().setPartition(0).setLeaderEpoch(last.partitionLeaderEpoch).setEndOffset(last.lastOffset + 1)
      asked()
      util.Map.of(partition, end)
    }
  }

  /** One record of each of these epochs. */
  private def records(epochs: Int*): PartitionState = {
    val batches = epochs.zipWithIndex.map { case (epoch, offset) => mkBatch(offset.toLong, epoch, new SimpleRecord(s"$epoch".getBytes)) }
    PartitionState(batches, leaderEpoch = 3, highWatermark = 2L)
  }

  /** The log is truncated to 2 and gets other records, before or while its copy asks where epoch 2 ends. */
  private def isTruncated(whileAsked: Boolean): Unit = {
    var asked = () => ()
    val log = new Copied(() => asked())
    val copy = new MockFetcherThread(log, new MockTierStateMachine(log))
    log.setReplicaPartitionStateCallback(copy.replicaPartitionState)
    log.setLeaderState(partition, records(0, 0, 2, 2, 2, 2))
    copy.setReplicaState(partition, records(0, 0, 2, 2))
    copy.addPartitions(Map(partition -> initialFetchState(Some(Uuid.randomUuid()), 4L, leaderEpoch = 3)))
    val truncate = () => {
      asked = () => ()
      log.setLeaderState(partition, records(0, 0, 3, 3, 3, 3))
      copy.markPartitionsForTruncation(partition, 2L)
    }
    if (whileAsked) asked = truncate else truncate()

    (1 to 6).foreach(_ => copy.doWork())

    assertEquals(Seq(0, 0, 3, 3, 3, 3), copy.replicaPartitionState(partition).log.map(_.partitionLeaderEpoch).toSeq)
  }

  @Test
  def testFutureReplicaTruncatedIfMarkedBeforeFetchingEpochEndOffsets(): Unit = isTruncated(whileAsked = false)

  @Test
  def testFutureReplicaTruncatedIfMarkedWhileFetchingEpochEndOffsets(): Unit = isTruncated(whileAsked = true)
}
