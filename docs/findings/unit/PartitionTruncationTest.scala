package kafka.cluster

import org.apache.kafka.common.requests.ByteBufferChannel
import org.junit.jupiter.api.Assertions.{assertEquals, assertFalse, assertTrue}
import org.junit.jupiter.api.{BeforeEach, Test}

import java.nio.charset.StandardCharsets.ISO_8859_1
import scala.util.Try

/** What becomes of an answer that waits to be sent, a slice of the log's file, where the log is truncated meanwhile. */
class PartitionTruncationTest extends AbstractPartitionTest with PartitionCalls {
  private val follower = brokerId + 1

  @BeforeEach
  def lead(): Unit = {
    partition.createLogIfNotExists(isNew = true, isFutureReplica = false, offsetCheckpoints, topicId)
    makeLeader(leaderEpoch = 1, partitionEpoch = 1, isr = Seq(brokerId, follower))
  }

  @Test
  def testTruncatedRecordsNotOverwrittenInFetchResponse(): Unit = {
    append("first")
    append("second")
    val late = answer(offset = 1)
    truncate(offset = 1)
    append("other!")
    assertFalse(Try(late()).toOption.exists(_.contains("other!")))
  }

  @Test
  def testTruncatedRecordsNotOverwrittenInFetchResponseOfEmptySegment(): Unit = {
    append("first")
    val late = answer(offset = 0)
    truncate(offset = 0)
    append("other")
    assertFalse(Try(late()).toOption.exists(_.contains("other")))
  }

  @Test
  def testTruncatedRecordsNotOverwrittenInFetchResponseAfterSecondTruncation(): Unit = {
    append("first")
    append("second")
    truncate(offset = 1)
    append("third!")
    val late = answer(offset = 1)
    truncate(offset = 1)
    append("other!")
    assertFalse(Try(late()).toOption.exists(_.contains("other!")))
  }

  @Test
  def testRemainingRecordsSentAfterTruncation(): Unit = {
    append("first")
    val late = answer(offset = 0)
    append("second")
    truncate(offset = 1)
    append("other!")
    assertTrue(late().contains("first"))
  }

  @Test
  def testAppendAfterTruncation(): Unit = {
    append("first")
    append("second")
    truncate(offset = 1)
    append("other!")
    append("last")
    assertEquals(3L, partition.localLogOrException.logEndOffset)
    for ((value, offset) <- Seq("first", "other!", "last").zipWithIndex)
      assertTrue(answer(offset)().contains(value), value)
  }

  /** An answer to the follower; asked for, it is sent, and what has been sent is given. */
  private def answer(offset: Long): () => String = {
    val records = fetch(follower, offset, leaderEpoch = 1).fetchedData.records
    () => {
      val channel = new ByteBufferChannel(records.sizeInBytes)
      val send = records.toSend
      while (!send.completed) send.writeTo(channel)
      channel.close()
      ISO_8859_1.decode(channel.buffer).toString
    }
  }

  private def truncate(offset: Long): Unit = partition.truncateTo(offset, isFuture = false)
}
