package kafka.cluster

import kafka.server.RequestLocal
import kafka.utils.TestUtils
import org.apache.kafka.common.Uuid
import org.apache.kafka.common.message.LeaderAndIsrRequestData.LeaderAndIsrPartitionState
import org.apache.kafka.common.protocol.ApiKeys
import org.apache.kafka.common.requests.FetchRequest
import org.apache.kafka.storage.internals.log.{AppendOrigin, FetchIsolation, FetchParams, LogReadInfo}

import java.util.Optional
import scala.jdk.CollectionConverters._

/** How the metadata publisher, a client and a follower call a Partition, in 3.9. */
trait PartitionCalls { this: AbstractPartitionTest =>
  val topicId: Option[Uuid] = Some(Uuid.randomUuid())

  def makeLeader(leaderEpoch: Int, partitionEpoch: Int, isr: Seq[Int], adding: Seq[Int] = Seq.empty): Unit =
    partition.makeLeader(image(brokerId, leaderEpoch, partitionEpoch, isr, adding), offsetCheckpoints, topicId)

  def makeFollower(leader: Int, leaderEpoch: Int, partitionEpoch: Int, isr: Seq[Int]): Unit =
    partition.makeFollower(image(leader, leaderEpoch, partitionEpoch, isr), offsetCheckpoints, topicId)

  private def image(leader: Int, leaderEpoch: Int, partitionEpoch: Int, isr: Seq[Int], adding: Seq[Int] = Seq.empty) = {
    val replicas = Seq(brokerId, brokerId + 1, brokerId + 2) ++ adding
    new LeaderAndIsrPartitionState()
      .setLeader(leader)
      .setLeaderEpoch(leaderEpoch)
      .setPartitionEpoch(partitionEpoch)
      .setIsr(isr.map(Int.box).asJava)
      .setReplicas(replicas.map(Int.box).asJava)
      .setAddingReplicas(adding.map(Int.box).asJava)
  }

  def append(value: String = "x"): Unit = {
    partition.appendRecordsToLeader(TestUtils.singletonRecords(value.getBytes), AppendOrigin.CLIENT, requiredAcks = -1,
      RequestLocal.withThreadConfinedCaching)
  }

  def fetch(replica: Int, offset: Long, leaderEpoch: Int, logStart: Long = 0L): LogReadInfo = {
    val params = new FetchParams(ApiKeys.FETCH.latestVersion, replica, defaultBrokerEpoch(replica), 0L, 1, Int.MaxValue,
      FetchIsolation.LOG_END, Optional.empty())
    val data = new FetchRequest.PartitionData(Uuid.ZERO_UUID, offset, logStart, Int.MaxValue, Optional.of(leaderEpoch),
      Optional.empty())
    partition.fetchRecords(params, data, time.milliseconds, Int.MaxValue, minOneMessage = true, updateFetchState = true)
  }
}
