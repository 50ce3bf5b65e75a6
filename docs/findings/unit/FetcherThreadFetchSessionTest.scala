package kafka.server

import kafka.server.FetcherThreadTestUtils.{initialFetchState, mkBatch}
import org.apache.kafka.clients.FetchSessionHandler
import org.apache.kafka.common.message.FetchResponseData
import org.apache.kafka.common.protocol.ApiKeys
import org.apache.kafka.common.record.internal.{MemoryRecords, SimpleRecord}
import org.apache.kafka.common.requests.FetchRequest
import org.apache.kafka.common.utils.{LogContext, Time}
import org.apache.kafka.common.{TopicIdPartition, TopicPartition, Uuid}
import org.apache.kafka.server.FetchSession.FetchSessionCache
import org.apache.kafka.server.{FetchManager, FetchSessionCacheShard, PartitionFetchState, ReplicaFetch, ResultWithPartitions}
import org.junit.jupiter.api.Assertions.{assertEquals, assertTrue}
import org.junit.jupiter.api.Test

import java.util
import java.util.Optional
import scala.collection.Map

/** What a follower hears of its leader's high watermark and log start through an incremental fetch session. */
class FetcherThreadFetchSessionTest {
  private val (quiet, other) = (new TopicPartition("quiet", 0), new TopicPartition("other", 0))
  private val ids = Map(quiet -> Uuid.randomUuid(), other -> Uuid.randomUuid())

  /** A leader with no record that its follower lacks, which answers through Kafka's own sessions. */
  private class Leader extends MockLeaderEndPoint {
    private val version = ApiKeys.FETCH.latestVersion
    private val names = util.Map.of(ids(quiet), quiet.topic, ids(other), other.topic)
    private val ofTheFollower = new FetchSessionHandler(new LogContext, 1)
    private val ofTheLeader =
      new FetchManager(Time.SYSTEM, new FetchSessionCache(util.List.of(new FetchSessionCacheShard(10, 1000L, Int.MaxValue, 0))))
    var told: util.Set[TopicPartition] = util.Set.of()
    var onTheWay: () => Unit = () => ()

    override def buildFetch(states: util.Map[TopicPartition, PartitionFetchState]): ResultWithPartitions[Optional[ReplicaFetch]] = {
      val ready = super.buildFetch(states)
      val session = ofTheFollower.newBuilder(states.size, false)
      ready.result.ifPresent(_.partitionData.forEach((partition, asked) => session.add(partition, asked)))
      val data = session.build()
      val request = FetchRequest.Builder.forReplica(version, 0, 1L, 0, 1, data.toSend)
        .removed(data.toForget).replaced(data.toReplace).metadata(data.metadata)
      new ResultWithPartitions(Optional.of(new ReplicaFetch(data.sessionPartitions, request)), ready.partitionsWithError)
    }

    override def fetch(builder: FetchRequest.Builder): util.Map[TopicPartition, FetchResponseData.PartitionData] = {
      val request = builder.build(version)
      val context = ofTheLeader.newContext(
        version, request.metadata, true, request.fetchData(names), request.forgottenTopics(names), names)
      val answers = new util.LinkedHashMap[TopicIdPartition, FetchResponseData.PartitionData]
      context.foreachPartition((partition, asked) => answers.put(partition, answer(partition.topicPartition, asked)))
      val response = context.updateAndGenerateResponseData(answers, util.List.of())
      onTheWay()
      assertTrue(ofTheFollower.handleResponse(response, version))
      val data = response.responseData(ofTheFollower.sessionTopicNames, version)
      told = data.keySet
      data
    }

    private def answer(partition: TopicPartition, asked: FetchRequest.PartitionData): FetchResponseData.PartitionData = {
      val state = leaderPartitionState(partition)
      val data = new FetchResponseData.PartitionData().setPartitionIndex(partition.partition)
        .setHighWatermark(state.highWatermark).setLogStartOffset(state.logStartOffset).setRecords(MemoryRecords.EMPTY)
      if (asked.fetchOffset > state.logEndOffset || asked.lastFetchedEpoch.orElse(0) > 0)
        data.setDivergingEpoch(new FetchResponseData.EpochEndOffset().setEpoch(0).setEndOffset(state.logEndOffset))
      data
    }
  }

  /** Its epoch cache may end with an epoch in which it led and wrote nothing, until it truncates. */
  private class Follower extends MockFetcherThread(leader, new MockTierStateMachine(leader)) {
    var ledWithoutRecords: Optional[Integer] = Optional.empty

    override def latestEpoch(partition: TopicPartition): Optional[Integer] =
      ledWithoutRecords.or(() => super.latestEpoch(partition))

    override def truncate(partition: TopicPartition, state: OffsetTruncationState): Unit = {
      super.truncate(partition, state)
      ledWithoutRecords = Optional.empty
    }
  }

  private val leader = new Leader
  private val fetcher = new Follower
  leader.setReplicaPartitionStateCallback(fetcher.replicaPartitionState)

  /** The leader has one committed record. The follower has so many of the same leader epoch, and knows of none that it is committed. */
  private def follow(partition: TopicPartition, followersRecords: Int): Unit = {
    leader.setLeaderState(partition, PartitionState(records(1), leaderEpoch = 1, highWatermark = 1L))
    fetcher.setReplicaState(partition, PartitionState(records(followersRecords), leaderEpoch = 1, highWatermark = 0L))
    fetcher.addPartitions(Map(partition -> initialFetchState(ids.get(partition), followersRecords, leaderEpoch = 1)))
  }

  private def records(count: Int) =
    (0 until count).map(offset => mkBatch(offset, 0, new SimpleRecord(s"record $offset".getBytes)))

  private def fetches(count: Int): Unit = (1 to count).foreach(_ => fetcher.doWork())

  private def highWatermark: Long = fetcher.replicaPartitionState(quiet).highWatermark

  @Test
  def testHighWatermarkSentOnceWithoutDivergence(): Unit = {
    follow(quiet, followersRecords = 1)
    fetches(1)
    assertEquals(1L, highWatermark)
    fetches(1)
    assertEquals(util.Set.of(), leader.told)
  }

  @Test
  def testHighWatermarkSentAfterTruncation(): Unit = {
    follow(quiet, followersRecords = 2)
    fetches(2)
    assertEquals(1L, fetcher.replicaPartitionState(quiet).logEndOffset)
    assertEquals(1L, highWatermark)
    fetches(1)
    assertEquals(util.Set.of(), leader.told)
  }

  @Test
  def testHighWatermarkSentAfterTruncationInExistingSession(): Unit = {
    follow(other, followersRecords = 1)
    fetches(1)
    follow(quiet, followersRecords = 2)
    fetches(2)
    assertEquals(1L, highWatermark)
  }

  @Test
  def testHighWatermarkSentAfterTruncationOfEmptyEpoch(): Unit = {
    fetcher.ledWithoutRecords = Optional.of(1)
    follow(quiet, followersRecords = 1)
    fetches(2)
    assertEquals(1L, highWatermark)
  }

  @Test
  def testLogStartOffsetSentAfterTruncation(): Unit = {
    follow(quiet, followersRecords = 2)
    leader.leaderPartitionState(quiet).logStartOffset = 1L
    fetches(2)
    assertEquals(1L, fetcher.replicaPartitionState(quiet).logStartOffset)
  }

  @Test
  def testHighWatermarkSentAfterResponseOfOldEpochIgnored(): Unit = {
    follow(other, followersRecords = 1)
    follow(quiet, followersRecords = 1)
    leader.leaderPartitionState(quiet).highWatermark = 0L
    fetches(1)
    leader.leaderPartitionState(quiet).highWatermark = 1L
    leader.onTheWay = () =>
      fetcher.addPartitions(Map(quiet -> initialFetchState(ids.get(quiet), fetchOffset = 1L, leaderEpoch = 2)))
    fetches(1)
    assertEquals(0L, highWatermark)
    leader.onTheWay = () => ()
    fetches(1)
    assertEquals(1L, highWatermark)
  }
}
