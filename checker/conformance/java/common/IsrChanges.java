package highwater;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.RequestCompletionHandler;
import org.apache.kafka.common.errors.StaleBrokerEpochException;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AlterPartitionRequest;
import org.apache.kafka.common.requests.AlterPartitionResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.metadata.PartitionRegistration;

/** AlterPartition requests on their way from leaders to the controller, and the answers on their way back. */
final class IsrChanges {
    /** One request. It outlives the broker that sent it. */
    final class Change {
        final int from;
        final AlterPartitionRequestData request;
        private RequestCompletionHandler sender;  // null once the broker is gone
        private AlterPartitionResponseData answer;
        private boolean waits;
        boolean lost;

        private Change(int from, AlterPartitionRequestData request, RequestCompletionHandler sender) {
            this.from = from;
            this.request = request;
            this.sender = sender;
        }

        AlterPartitionRequestData.PartitionData wanted() { return request.topics().get(0).partitions().get(0); }

        boolean isUnderWay() { return answer == null && !lost; }

        /** The controller decides. */
        Errors decide() {
            try {
                answer = world.controller.alterPartition(request);
            } catch (StaleBrokerEpochException e) {
                changes.remove(this);
                return Errors.STALE_BROKER_EPOCH;
            }
            return Errors.forCode(answer.topics().get(0).partitions().get(0).errorCode());
        }

        /** The leader hears of it, if it still runs. */
        void deliver() {
            changes.remove(this);
            if (sender == null) return;
            RequestHeader header = new RequestHeader(ApiKeys.ALTER_PARTITION, ApiKeys.ALTER_PARTITION.latestVersion(), "highwater", 0);
            sender.onComplete(new ClientResponse(header, null, "controller", 0, 0, false, null, null, new AlterPartitionResponse(answer)));
        }

        /** The same, at the end of a step once no thread of the leader's holds the lock that it takes for writing. */
        void deliverOnceUnlocked() {
            waits = world.stalledRead.holdsLockOf(from);
            if (!waits) deliver();
        }
    }

    private final World world;
    private final List<Change> changes = new ArrayList<>();

    IsrChanges(World world) { this.world = world; }

    void send(int from, Object builder, RequestCompletionHandler sender) {
        AlterPartitionRequest request = (AlterPartitionRequest) ((AbstractRequest.Builder<?>) builder).build();
        changes.add(new Change(from, request.data(), sender));
    }

    List<Change> underWay() { return changes.stream().filter(Change::isUnderWay).toList(); }

    /** A request that was lost with a controller and will be sent again; null if there is none. */
    Change lost() { return changes.stream().filter(c -> c.lost && c.sender != null).findFirst().orElse(null); }

    /** The leader's request that nobody has decided, lost or not; null if there is none. */
    Change askedBy(int leader) {
        return changes.stream().filter(c -> c.from == leader && c.sender != null && c.answer == null).findFirst().orElse(null);
    }

    /** The leader's request that is decided; null if there is none. */
    Change answeredTo(int leader) {
        return changes.stream().filter(c -> c.from == leader && c.sender != null && c.answer != null).findFirst().orElse(null);
    }

    void deliverTo(int leader) {
        Change change = answeredTo(leader);
        if (change != null) change.deliver();
    }

    /** Another controller takes over: what it had not decided is lost. */
    void lose() {
        for (Change change : changes) if (change.answer == null) change.lost = true;
        changes.removeIf(c -> c.lost && c.sender == null);
    }

    /** A lost request that its leader has forgotten is sent again at once: the model has no state between. */
    void resendForgotten() {
        for (Change change : changes)
            if (change.lost && change.sender != null && Internals.pendingIsr(world.brokers[change.from].partition()).isEmpty())
                change.lost = false;
    }

    /** A broker is gone; what it sent arrives all the same. */
    void forget(int broker) {
        for (Change change : changes) if (change.from == broker) change.sender = null;
        changes.removeIf(c -> c.sender == null && (c.answer != null || c.lost));
    }

    /** The partition is gone: no answer matters any more. */
    void forgetAll() { changes.clear(); }

    /** The controller refuses what it can only refuse by now, and the leader hears of it: no step of the model. */
    void refuseVoid() {
        PartitionRegistration partition = world.controller.partition();
        for (Change change : List.copyOf(changes)) {
            if (change.waits) change.deliverOnceUnlocked();
            if (change.answer != null) continue;
            var wanted = change.wanted();
            if (wanted.partitionEpoch() == partition.partitionEpoch && wanted.leaderEpoch() == partition.leaderEpoch
                && partition.leader == change.from) continue;
            Errors error = change.decide();
            world.note("the controller refuses what has become void: " + error);
            if (error == Errors.NONE) world.fail("the controller accepts an ISR change that is void");
            if (error != Errors.STALE_BROKER_EPOCH) change.deliverOnceUnlocked();
        }
    }
}
