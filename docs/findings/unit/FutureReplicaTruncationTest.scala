package kafka.server

import kafka.cluster.Partition
import kafka.utils.TestUtils
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.server.LeaderEndPoint
import org.apache.kafka.server.network.BrokerEndPoint
import org.apache.kafka.storage.log.metrics.BrokerTopicStats
import org.junit.jupiter.api.Test
import org.mockito.Mockito.{mock, verify, when}

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
}
