package kafka.cluster

import org.apache.kafka.common.Uuid
import org.apache.kafka.common.message.LeaderAndIsrRequestData.LeaderAndIsrPartitionState
import org.apache.kafka.common.protocol.ApiKeys
import org.apache.kafka.common.requests.FetchRequest
import org.apache.kafka.storage.internals.log.{FetchIsolation, FetchParams}

import java.util.Optional
import scala.jdk.CollectionConverters._

/** How the metadata publisher and a follower call a Partition, in 3.9. */
trait PartitionCalls { this: AbstractPartitionTest =>

  def makeLeader(leaderEpoch: Int, partitionEpoch: Int, isr: Seq[Int], adding: Seq[Int] = Seq.empty): Unit = {
    val replicas = Seq(brokerId, brokerId + 1, brokerId + 2) ++ adding
    val state = new LeaderAndIsrPartitionState()
      .setLeader(brokerId)
      .setLeaderEpoch(leaderEpoch)
      .setPartitionEpoch(partitionEpoch)
      .setIsr(isr.map(Int.box).asJava)
      .setReplicas(replicas.map(Int.box).asJava)
      .setAddingReplicas(adding.map(Int.box).asJava)
    partition.makeLeader(state, offsetCheckpoints, topicId)
  }

  def fetch(replica: Int, offset: Long, leaderEpoch: Int): Unit = {
    val params = new FetchParams(ApiKeys.FETCH.latestVersion, replica, defaultBrokerEpoch(replica), 0L, 1, Int.MaxValue,
      FetchIsolation.LOG_END, Optional.empty())
    val data = new FetchRequest.PartitionData(Uuid.ZERO_UUID, offset, 0L, Int.MaxValue, Optional.of(leaderEpoch),
      Optional.empty())
    partition.fetchRecords(params, data, time.milliseconds, Int.MaxValue, minOneMessage = true, updateFetchState = true)
  }
}
