package kafka.cluster

import kafka.utils.TestUtils
import org.apache.kafka.common.requests.FetchRequest
import org.apache.kafka.common.{DirectoryId, Uuid}
import org.apache.kafka.metadata.{LeaderRecoveryState, PartitionRegistration}
import org.apache.kafka.server.common.RequestLocal
import org.apache.kafka.server.storage.log.{FetchIsolation, FetchParams}
import org.apache.kafka.storage.internals.log.{AppendOrigin, LogReadInfo}
import org.mockito.Mockito.when

import java.util.Optional

/** How the metadata publisher, a client and a follower call a Partition, from 4.2 on. */
trait PartitionCalls { this: AbstractPartitionTest =>

  def makeLeader(leaderEpoch: Int, partitionEpoch: Int, isr: Seq[Int], adding: Seq[Int] = Seq.empty): Unit = {
    val registration = image(brokerId, leaderEpoch, partitionEpoch, isr, adding)
    partition.makeLeader(registration, isNew = false, offsetCheckpoints, topicId)
  }

  def makeFollower(leader: Int, leaderEpoch: Int, partitionEpoch: Int, isr: Seq[Int]): Unit = {
    val registration = image(leader, leaderEpoch, partitionEpoch, isr)
    partition.makeFollower(registration, isNew = false, offsetCheckpoints, topicId)
  }

  private def image(leader: Int, leaderEpoch: Int, partitionEpoch: Int, isr: Seq[Int], adding: Seq[Int] = Seq.empty) = {
    val replicas = Array(brokerId, brokerId + 1, brokerId + 2) ++ adding
    replicas.foreach(id => when(metadataCache.getAliveBrokerEpoch(id)).thenReturn(Optional.of(defaultBrokerEpoch(id))))
    new PartitionRegistration.Builder()
      .setLeader(leader)
      .setLeaderRecoveryState(LeaderRecoveryState.RECOVERED)
      .setLeaderEpoch(leaderEpoch)
      .setPartitionEpoch(partitionEpoch)
      .setIsr(isr.toArray)
      .setReplicas(replicas)
      .setAddingReplicas(adding.toArray)
      .setDirectories(DirectoryId.unassignedArray(replicas.length))
      .build()
  }

  def append(value: String = "x"): Unit = {
    partition.appendRecordsToLeader(TestUtils.singletonRecords(value.getBytes), AppendOrigin.CLIENT, requiredAcks = -1,
      RequestLocal.withThreadConfinedCaching)
  }

  def fetch(replica: Int, offset: Long, leaderEpoch: Int, logStart: Long = 0L): LogReadInfo = {
    val params = new FetchParams(replica, defaultBrokerEpoch(replica), 0L, 1, Int.MaxValue, FetchIsolation.LOG_END,
      Optional.empty())
    val data = new FetchRequest.PartitionData(Uuid.ZERO_UUID, offset, logStart, Int.MaxValue, Optional.of(leaderEpoch),
      Optional.empty())
    partition.fetchRecords(params, data, time.milliseconds, Int.MaxValue, minOneMessage = true, updateFetchState = true)
  }
}
