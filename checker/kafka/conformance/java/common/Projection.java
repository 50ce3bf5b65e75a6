package highwater;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import kafka.cluster.Partition;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.metadata.PartitionRegistration;

/**
 * Kafka's state as numbers, one for each cell of the model's state that is compared.
 *
 * checker/kafka/conformance/projection.py is the table of what is compared; this is how each row is read.
 * Brokers are numbers, with -1 for none; sets have a bit for each member; truths are 0 and 1.
 */
final class Projection {
    /** Kafka has nothing that the cell could be compared with. */
    static final int NOTHING = Integer.MIN_VALUE;

    private static final Set<String> OF_NO_PARTITION = Set.of("controller.topic_deleted", "controller.renounced", "controller.index_left_over");

    private final World world;
    private final Steps steps;
    private final String[] names;
    private final int[][] indices;

    /** What is known of one broker, read once a state. */
    private final class View {
        final Broker broker;
        final Partition partition;
        final List<int[]> log;
        final int logStart, startOnDisk;
        final boolean leads, truncates;
        final Object future;  // the log's copy in another directory, or null
        final List<int[]> copied;

        View(int number) {
            broker = world.brokers[number];
            partition = broker == null ? null : broker.partition();
            log = broker == null ? world.disks[number].log() : Internals.entries(broker);
            logStart = (int) (broker == null ? world.disks[number].logStart() : Internals.logStart(broker));
            startOnDisk = world.disks[number].logStart();
            leads = partition != null && partition.isLeader();
            future = broker == null || broker.movers == null ? null : broker.movers.future();
            copied = future == null ? List.of() : Internals.entries(future);
            truncates = future != null && broker.movers.truncates();
        }

        /** The broker has read of its replica: what else is on its disks is not looked at. */
        boolean known() { return partition != null; }

        int ofCopy(int offset, int number) { return offset < copied.size() ? copied.get(offset)[number] : 0; }

        /** There is a record at the offset that is not deleted; or would not be after a crash, where that may differ. */
        boolean holds(int offset) { return (world.lateLogStarts ? startOnDisk : logStart) <= offset && offset < log.size(); }
    }

    Projection(World world, Steps steps, JsonNode cells) {
        this.world = world;
        this.steps = steps;
        names = new String[cells.size()];
        indices = new int[cells.size()][];
        for (int i = 0; i < names.length; i++) {
            names[i] = cells.get(i).get(0).asText();
            indices[i] = new int[cells.get(i).size() - 1];
            for (int k = 0; k < indices[i].length; k++) indices[i][k] = cells.get(i).get(k + 1).asInt();
        }
    }

    /** The numbers of the state as it is now. */
    long[] read() {
        View[] views = new View[world.brokers.length];
        for (int b = 0; b < views.length; b++) views[b] = new View(b);
        PartitionRegistration registered = world.controller.partition();
        long[] found = new long[names.length];
        for (int i = 0; i < found.length; i++)
            found[i] = names[i].startsWith("brokers.") ? ofBroker(names[i], indices[i], views[indices[i][0]]) : ofAll(names[i], indices[i], registered);
        return found;
    }

    private int ofBroker(String name, int[] at, View view) {
        boolean up = view.broker != null;
        // What is on the disk of a broker that is down goes when it starts, if the topic is gone.
        if (!up && world.controller.partition() == null && (name.startsWith("brokers.log.") || name.equals("brokers.high_watermark") || name.equals("brokers.log_start") || name.equals("brokers.start_on_disk"))) return NOTHING;
        return switch (name) {
            case "brokers.up" -> truth(up);
            case "brokers.fenced" -> truth(!world.controller.isActive(at[0]));
            case "brokers.stopped_cleanly" -> truth(!up && world.disks[at[0]].hasCleanStop());
            case "brokers.log.end" -> (int) (up ? view.broker.end() : view.log.size());
            case "brokers.log.id" -> view.holds(at[1]) ? view.log.get(at[1])[0] : 0;
            case "brokers.log.epoch" -> view.holds(at[1]) ? view.log.get(at[1])[1] : 0;
            case "brokers.log_start" -> view.logStart;
            case "brokers.start_on_disk" -> view.startOnDisk;
            case "brokers.log.epoch by cache" -> !up ? NOTHING : view.holds(at[1]) ? Internals.cachedEpoch(view.broker, at[1]) : 0;
            case "brokers.high_watermark" -> (int) (up ? Internals.highWatermark(view.broker) : checkpoint(at[0], view));
            case "brokers.leader" -> !up || view.partition == null || view.partition.leaderReplicaIdOpt().isEmpty()
                ? -1 : (Integer) view.partition.leaderReplicaIdOpt().get();
            case "brokers.leader_epoch" -> up && view.partition != null ? view.partition.getLeaderEpoch() : 0;
            case "brokers.fetched_epoch" -> up ? Internals.fetchedEpoch(view.broker) : -1;
            case "brokers.gave_up" -> !up || !view.broker.gaveUp() ? 0 : mayBeFenced(view) ? NOTHING : 1;
            case "brokers.not_replicas" -> view.leads ? ~(bits(followers(view.partition)) | 1 << at[0]) & (1 << world.brokers.length) - 1 : 0;
            case "brokers.isr" -> view.leads ? bits(Internals.isr(view.partition)) : 0;
            case "brokers.pending_isr" -> view.leads ? bits(Internals.pendingIsr(view.partition)) : 0;
            case "brokers.follower_leo" -> view.leads ? followerEnd(view.partition, at[1]) : 0;
            case "brokers.future.exists" -> view.known() ? truth(view.future != null) : NOTHING;
            case "brokers.future.log.end" -> view.known() ? view.copied.size() : NOTHING;
            case "brokers.future.log.id" -> view.known() ? view.ofCopy(at[1], 0) : NOTHING;
            case "brokers.future.log.epoch" -> view.known() ? view.ofCopy(at[1], 1) : NOTHING;
            case "brokers.future.high_watermark" -> !view.known() ? NOTHING : view.future == null ? 0 : (int) view.broker.movers.futureHighWatermark();
            case "brokers.future.truncating" -> view.known() ? truth(view.truncates) : NOTHING;
            case "brokers.future.failed" -> view.known() ? truth(view.future != null && view.broker.movers.failed()) : NOTHING;
            case "brokers.future.fetch_offset" -> !view.known() ? NOTHING : view.truncates ? (int) view.broker.movers.fetchOffset() : 0;
            case "brokers.min_isr_unread" -> truth(up && world.hasMinIsrUnread(at[0]));
            case "brokers.min_isr_next" -> truth(view.leads && world.readsMinIsrNext(at[0]));
            default -> throw new IllegalArgumentException("no way to read " + name);
        };
    }

    /** A follower that has not read of the newest leader epoch: a leader that has fences its fetch, and it gives up until it has, too. */
    private boolean mayBeFenced(View view) {
        PartitionRegistration registered = world.controller.partition();
        return registered == null || view.partition == null || view.partition.getLeaderEpoch() < registered.leaderEpoch;
    }

    /** As it will be loaded: a log that was thrown away leaves its high watermark in the file. */
    private long checkpoint(int broker, View view) {
        return Math.max(Math.min(world.disks[broker].checkpoint(), view.log.size()), view.logStart);
    }

    private int ofAll(String name, int[] at, PartitionRegistration registered) {
        if (registered == null && name.startsWith("controller.") && !OF_NO_PARTITION.contains(name)) return NOTHING;
        return switch (name) {
            case "controller.topic_deleted" -> truth(registered == null);
            case "controller.renounced" -> truth(steps.renounced);
            case "controller.index_left_over" -> bits(world.controller.leftInIndex(world.brokers.length));
            case "controller.replicas" -> bits(registered.replicas);
            case "controller.adding" -> bits(registered.addingReplicas);
            case "controller.removing" -> bits(registered.removingReplicas);
            case "controller.leader" -> registered.leader;
            case "controller.leader_epoch" -> registered.leaderEpoch;
            case "controller.isr" -> bits(registered.isr);
            case "controller.eligible" -> bits(world.controller.eligible());
            case "controller.last_known_leader" -> world.controller.lastKnown().length == 0 ? -1 : world.controller.lastKnown()[0];
            case "controller.leader_is_current" -> truth(leaderIsCurrent(registered));
            case "controller.request" -> requested();
            case "controller.min_isr_changed_last" -> truth(world.minIsrChangedLast());
            case "controller.image_unread" -> leaderIsCurrent(registered) && steps.answersApart ? truth(hasUnread(world.brokers[registered.leader])) : NOTHING;
            case "epoch_starts.cached" -> world.brokers[at[1]] == null ? NOTHING : Internals.epochStartingAt(world.brokers[at[1]], at[0]);
            case "records.acknowledged" -> truth(world.answers.get(at[0]) == Errors.NONE);
            case "next_record" -> world.produced;
            case "consumer.position" -> steps.position;
            case "consumer.processed" -> steps.processed;
            case "consumer.committed" -> steps.committed;
            default -> throw new IllegalArgumentException("no way to read " + name);
        };
    }

    private boolean leaderIsCurrent(PartitionRegistration registered) {
        Broker leader = registered.leader < 0 ? null : world.brokers[registered.leader];
        return leader != null && leader.isCurrentLeader();
    }

    private boolean hasUnread(Broker leader) {
        List<?> unread = world.controller.log.subList(leader.read, world.controller.log.size());
        return unread.stream().anyMatch(PartitionChangeRecord.class::isInstance);
    }

    private int requested() {
        List<Integer> members = new ArrayList<>();
        for (IsrChanges.Change change : world.isrChanges.underWay())
            for (var member : change.wanted().newIsrWithEpochs()) members.add(member.brokerId());
        return bits(members);
    }

    private static List<Integer> followers(Partition partition) {
        List<Integer> found = new ArrayList<>();
        for (Object replica : Scala.list(partition.remoteReplicas())) found.add((Integer) Parts.ask(replica, "brokerId"));
        return found;
    }

    private static int followerEnd(Partition partition, int follower) {
        for (Object replica : Scala.list(partition.remoteReplicas()))
            if ((Integer) Parts.ask(replica, "brokerId") == follower) return (int) Internals.end(replica);
        return 0;
    }

    private static int truth(boolean value) { return value ? 1 : 0; }

    private static int bits(int[] members) { return Arrays.stream(members).reduce(0, (bits, member) -> bits | 1 << member); }

    private static int bits(Collection<Integer> members) { return members.stream().reduce(0, (bits, member) -> bits | 1 << member); }
}
