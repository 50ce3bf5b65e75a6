package kafka.server

import kafka.server.FetcherThreadTestUtils.{initialFetchState, mkBatch}
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData.EpochEndOffset
import org.apache.kafka.common.record.internal.SimpleRecord
import org.apache.kafka.common.{TopicPartition, Uuid}
import org.junit.jupiter.api.Assertions.{assertEquals, assertTrue}
import org.junit.jupiter.api.Test

import scala.collection.Map

/** What a fetcher does with an answer when the partition is with another fetcher, or in another epoch, by then. */
class FetcherThreadLeaderEpochTest {
  private val (moved, stays) = (new TopicPartition("moved", 0), new TopicPartition("stays", 0))
  private val ids = Map(moved -> Uuid.randomUuid(), stays -> Uuid.randomUuid())

  /** Calls `between` after it has taken a diverging answer, without its lock, and before it truncates. */
  private class Fetcher(leader: MockLeaderEndPoint, between: Fetcher => Unit)
      extends MockFetcherThread(leader, new MockTierStateMachine(leader)) {
    var answers = 0

    override def truncateOnFetchResponse(ends: Map[TopicPartition, EpochEndOffset]): Unit = {
      answers += 1
      assertTrue(!partitionMapLock.isHeldByCurrentThread)
      between(this)
      super.truncateOnFetchResponse(ends)
    }

    def follow(partition: TopicPartition, offset: Long, leaderEpoch: Int): Unit =
      addPartitions(Map(partition -> initialFetchState(ids.get(partition), offset, leaderEpoch)))
  }

  /** The follower has a record of epoch 0, the leader one of epoch 1 in its place. Where the log ends after one answer. */
  private def endAfter(between: Fetcher => Unit): Long = {
    val leader = new MockLeaderEndPoint()
    val fetcher = new Fetcher(leader, between)
    leader.setLeaderState(moved, PartitionState(Seq(record("y", leaderEpoch = 1)), leaderEpoch = 1, highWatermark = 0L))
    leader.setLeaderState(stays, PartitionState(leaderEpoch = 1))
    leader.setReplicaPartitionStateCallback(fetcher.replicaPartitionState)
    fetcher.setReplicaState(moved, PartitionState(Seq(record("x", leaderEpoch = 0)), leaderEpoch = 1, highWatermark = 0L))
    fetcher.setReplicaState(stays, PartitionState(leaderEpoch = 1))
    fetcher.follow(stays, 0L, leaderEpoch = 1)
    fetcher.follow(moved, 1L, leaderEpoch = 1)

    fetcher.doWork()

    assertEquals(1, fetcher.answers)
    fetcher.replicaPartitionState(moved).logEndOffset
  }

  private def record(value: String, leaderEpoch: Int) =
    mkBatch(baseOffset = 0, leaderEpoch, new SimpleRecord(value.getBytes))

  @Test
  def testTruncationInLeaderEpochOfResponse(): Unit =
    assertEquals(0L, endAfter(_ => ()))

  @Test
  def testNoTruncationOfRemovedPartition(): Unit =
    assertEquals(1L, endAfter(fetcher => fetcher.removePartitions(Set(moved))))

  @Test
  def testNoTruncationInLaterLeaderEpoch(): Unit =
    assertEquals(1L, endAfter { fetcher =>
      fetcher.removePartitions(Set(moved))  // another broker leads epoch 2, and has x
      fetcher.follow(moved, 1L, leaderEpoch = 3)
    })
}
