package kafka.cluster

import org.apache.kafka.common.protocol.Errors
import org.apache.kafka.server.config.ReplicationConfigs
import org.junit.jupiter.api.Assertions.{assertEquals, assertFalse, assertTrue}
import org.junit.jupiter.api.{BeforeEach, Test}
import org.mockito.Mockito.{doAnswer, spy, when}
import org.mockito.stubbing.Answer

import scala.util.Try

/** What a leader keeps, and what it forgets, when it reads metadata late or twice. */
class PartitionReplicationTest extends AbstractPartitionTest with PartitionCalls {
  private val (first, second) = (brokerId + 1, brokerId + 2)

  @BeforeEach
  def makeLog(): Unit = {
    partition.createLogIfNotExists(isNew = true, isFutureReplica = false, offsetCheckpoints, topicId)
  }

  @Test
  def testFollowerStateResetAfterSkippedLeaderEpoch(): Unit = {
    makeLeader(leaderEpoch = 1, partitionEpoch = 1, isr = Seq(brokerId, first, second))
    append()
    fetch(first, offset = 1, leaderEpoch = 1)
    assertEquals(0L, highWatermark)

    // Somebody else led epoch 2: there `first` may have truncated what it had.
    makeLeader(leaderEpoch = 3, partitionEpoch = 3, isr = Seq(brokerId, first))
    assertEquals(0L, highWatermark)

    fetch(first, offset = 0, leaderEpoch = 3)
    assertEquals(0L, highWatermark)
    fetch(first, offset = 1, leaderEpoch = 3)
    assertEquals(1L, highWatermark)
  }

  @Test
  def testFollowerStateKeptInNextLeaderEpoch(): Unit = {
    makeLeader(leaderEpoch = 1, partitionEpoch = 1, isr = Seq(brokerId, first, second))
    append()
    fetch(first, offset = 1, leaderEpoch = 1)

    makeLeader(leaderEpoch = 2, partitionEpoch = 2, isr = Seq(brokerId, first))
    assertEquals(1L, highWatermark)
  }

  @Test
  def testPendingIsrKeptOnSamePartitionEpoch(): Unit = {
    askForSecondAfterItWasDropped()

    makeLeader(leaderEpoch = 1, partitionEpoch = 2, isr = Seq(brokerId, first))
    assertTrue(partition.partitionState.isInflight)
    fetch(first, offset = 1, leaderEpoch = 1)
    assertEquals(0L, highWatermark)

    alterPartitionManager.completeIsrUpdate(newPartitionEpoch = 3)
    assertFalse(partition.partitionState.isInflight)
    assertEquals(3, partition.partitionState.isr.size)
    assertEquals(0L, highWatermark)
    fetch(second, offset = 1, leaderEpoch = 1)
    assertEquals(1L, highWatermark)
  }

  @Test
  def testAssignmentUpdatedOnSamePartitionEpoch(): Unit = {
    askForSecondAfterItWasDropped()

    makeLeader(leaderEpoch = 1, partitionEpoch = 2, isr = Seq(brokerId, first), adding = Seq(brokerId + 3))
    assertTrue(partition.isAddingReplica(brokerId + 3))
    assertTrue(partition.getReplica(brokerId + 3).isDefined)
  }

  @Test
  def testPendingIsrReplacedOnNewerPartitionEpoch(): Unit = {
    askForSecondAfterItWasDropped()

    makeLeader(leaderEpoch = 1, partitionEpoch = 3, isr = Seq(brokerId, first))
    assertFalse(partition.partitionState.isInflight)
    fetch(first, offset = 1, leaderEpoch = 1)
    assertEquals(1L, highWatermark)
  }

  @Test
  def testFollowerFetchStateNotUpdatedInLaterLeaderEpoch(): Unit = {
    makeLeader(leaderEpoch = 1, partitionEpoch = 1, isr = Seq(brokerId, first, second))
    append()
    // Somebody else led epoch 2: there `first` truncates what it has. `second` has lagged out of the ISR.
    stalling(Stall.BeforeNoting) {
      makeLeader(leaderEpoch = 3, partitionEpoch = 3, isr = Seq(brokerId, first))
    }
    Try(fetch(first, offset = 1, leaderEpoch = 1))
    assertEquals(0L, highWatermark)

    fetch(first, offset = 1, leaderEpoch = 3)
    assertEquals(1L, highWatermark)
  }

  @Test
  def testIsrNotExpandedByStaleReplica(): Unit = {
    makeLeader(leaderEpoch = 1, partitionEpoch = 1, isr = Seq(brokerId, second))
    append()
    // `first` is at 1, as far as the thread knows that handles its fetch. It truncates in epoch 2, and is at 0.
    stalling(Stall.AfterNoting) {
      makeFollower(leader = second, leaderEpoch = 2, partitionEpoch = 2, isr = Seq(brokerId, second))
      makeLeader(leaderEpoch = 3, partitionEpoch = 3, isr = Seq(brokerId, second))
      fetch(second, offset = 1, leaderEpoch = 3)
      assertEquals(1L, highWatermark)
      fetch(first, offset = 0, leaderEpoch = 3)
      assertFalse(partition.partitionState.isInflight)
    }
    Try(fetch(first, offset = 1, leaderEpoch = 1))
    assertFalse(partition.partitionState.isInflight)

    fetch(first, offset = 1, leaderEpoch = 3)
    assertTrue(partition.partitionState.isInflight)
  }

  @Test
  def testIsrNotExpandedUntilFollowerReachesLogStartOffset(): Unit = {
    makeLeader(leaderEpoch = 1, partitionEpoch = 1, isr = Seq(brokerId, second))
    append()
    fetch(second, offset = 1, leaderEpoch = 1)
    partition.deleteRecordsOnLeader(1)
    // `first` holds a record at 0, which may be another one; the answer to this fetch has it deleted.
    fetch(first, offset = 1, leaderEpoch = 1)
    assertFalse(partition.partitionState.isInflight)

    fetch(first, offset = 1, leaderEpoch = 1, logStart = 1)
    assertTrue(partition.partitionState.isInflight)
  }

  @Test
  def testIsrExpandedIfFollowerLogStartOffsetIsHigher(): Unit = {
    makeLeader(leaderEpoch = 1, partitionEpoch = 1, isr = Seq(brokerId, second))
    append()
    fetch(second, offset = 1, leaderEpoch = 1)
    fetch(first, offset = 1, leaderEpoch = 1, logStart = 1)
    assertTrue(partition.partitionState.isInflight)
  }

  @Test
  def testFetchLogStartOffsetNotBeyondHighWatermark(): Unit = {
    makeLeader(leaderEpoch = 1, partitionEpoch = 1, isr = Seq(brokerId, first, second))
    append()
    fetch(first, offset = 1, leaderEpoch = 1)
    afterTheFirstReadingOfTheLog {
      fetch(second, offset = 1, leaderEpoch = 1)
      partition.deleteRecordsOnLeader(1)
    }
    val answer = fetch(first, offset = 1, leaderEpoch = 1)
    assertEquals(1L, partition.localLogOrException.logStartOffset)
    assertTrue(answer.logStartOffset <= answer.highWatermark, s"log start ${answer.logStartOffset}, high watermark ${answer.highWatermark}")
  }

  @Test
  def testHighWatermarkIncrementedAfterAlterPartitionRejected(): Unit = {
    askForSecondAfterItWasDropped()
    fetch(first, offset = 1, leaderEpoch = 1)
    assertEquals(0L, highWatermark)

    alterPartitionManager.failIsrUpdate(Errors.INELIGIBLE_REPLICA)
    assertFalse(partition.partitionState.isInflight)
    assertEquals(2, partition.partitionState.maximalIsr.size)
    assertEquals(1L, highWatermark)
  }

  @Test
  def testHighWatermarkNotIncrementedAfterInvalidUpdateVersion(): Unit = {
    askForSecondAfterItWasDropped()
    fetch(first, offset = 1, leaderEpoch = 1)

    alterPartitionManager.failIsrUpdate(Errors.INVALID_UPDATE_VERSION)
    assertTrue(partition.partitionState.isInflight)
    assertEquals(0L, highWatermark)
  }

  /** A thread that handles a fetch asks for the number of delayed deletions before it notes it, and again after that. */
  private object Stall extends Enumeration { val BeforeNoting, AfterNoting = Value }

  /** What happens while the thread of the next fetch stalls there, without a lock. */
  private def stalling(place: Stall.Value)(meanwhile: => Unit): Unit = {
    var passed = 0
    when(delayedOperations.numDelayedDelete).thenAnswer { _ =>
      passed += 1
      if (passed == place.id + 1) meanwhile
      0
    }
  }

  /** What happens once the next fetch has read the first of the log's start and its high watermark. */
  private def afterTheFirstReadingOfTheLog(meanwhile: => Unit): Unit = {
    val log = spy(partition.localLogOrException)
    partition.setLog(log, isFutureLog = false)
    var isRead = false
    val reading: Answer[Any] = call => {
      val found = call.callRealMethod()
      if (!isRead) {
        isRead = true
        meanwhile
      }
      found
    }
    doAnswer(reading).when(log).highWatermark
    doAnswer(reading).when(log).logStartOffset
  }

  /** `second` lags and leaves the ISR by an answer; it fetches again, and a request to let it in is under way. */
  private def askForSecondAfterItWasDropped(): Unit = {
    makeLeader(leaderEpoch = 1, partitionEpoch = 1, isr = Seq(brokerId, first, second))
    time.sleep(ReplicationConfigs.REPLICA_LAG_TIME_MAX_MS_DEFAULT + 1)
    fetch(first, offset = 0, leaderEpoch = 1)
    partition.maybeShrinkIsr()
    alterPartitionManager.completeIsrUpdate(newPartitionEpoch = 2)
    assertEquals(2, partition.partitionState.isr.size)

    append()
    fetch(second, offset = 0, leaderEpoch = 1)
    assertTrue(partition.partitionState.isInflight)
    assertEquals(3, partition.partitionState.maximalIsr.size)
    assertEquals(0L, highWatermark)
  }

  private def highWatermark: Long = partition.localLogOrException.highWatermark
}
