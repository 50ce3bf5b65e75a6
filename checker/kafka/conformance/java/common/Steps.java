package highwater;

import static java.util.Map.entry;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import kafka.cluster.Partition;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.protocol.Errors;

/**
 * The model's actions as steps of Kafka's classes: one row for each action of model/kafka.
 *
 * The arguments are those of the action, in its order: brokers by number, offsets and counts.
 * docs/conformance.md lists the actions that have no row, with the reason.
 */
final class Steps {
    private final World world;
    private final Map<String, Step> table;

    interface Step { void take(int[] a); }

    Steps(World world) {
        this.world = world;
        unsynced = new UnsyncedLogs(world);
        table = new HashMap<>(Map.ofEntries(
            // clients
            entry("producer_send", a -> produce(a[0])),
            entry("consumer_poll", a -> poll(a[0])),
            entry("consumer_process", a -> processed++),
            entry("consumer_commit", a -> committed = position),
            entry("consumer_restart", a -> position = processed = committed),
            entry("leader_stall_before_waiting", a -> world.stall.produce(a[0], world.produced++, acks)),
            entry("leader_answer_stalled_produce", a -> world.stall.finishProduce(a[0])),
            entry("leader_stall_in_check", a -> world.stall.produceAndCheck(a[0], world.produced++, acks)),
            entry("leader_answer_stalled_check", a -> world.stall.finishProduce(a[0])),
            // fetches whose answers arrive in the same step, or never
            entry("follower_fetch_record", a -> fetch(a[0], a[1])),
            entry("follower_fetch_high_watermark", a -> fetch(a[0], a[1])),
            entry("leader_handle_fetch", a -> handleFetch(a[0], a[1])),
            entry("follower_truncate", a -> world.rounds.run(a[0], a[1], false, Rounds.Until.ONCE)),
            entry("follower_truncate_without_epochs", a -> world.rounds.beforeFetching(a[0])),
            entry("follower_take_diverging_high_watermark", a -> world.rounds.run(a[0], a[1], false, Rounds.Until.ONCE)),
            entry("follower_truncate_on_fetch", a -> world.rounds.run(a[0], a[1], false, world.rounds.epochsKept ? Rounds.Until.ONCE : Rounds.Until.TRUNCATED)),
            // log starts
            entry("broker_delete_records", a -> world.brokers[a[0]].deleteRecords(a[1])),
            entry("broker_checkpoint_log_start", a -> world.brokers[a[0]].checkpointLogStart()),
            entry("follower_fetch_log_start", a -> fetch(a[0], a[1])),
            entry("follower_start_anew", a -> world.rounds.run(a[0], a[1], false, Rounds.Until.ONCE)),
            // fetches on which a thread of the leader stalls
            entry("leader_stall_before_noting", a -> world.stall.begin(a[0], a[1], Stall.Place.BEFORE_NOTING)),
            entry("leader_stall_after_noting", a -> stallAfterNoting(a[0], a[1])),
            entry("leader_finish_stalled_fetch", a -> finish(a[0], a[1])),
            entry("leader_expand_by_stalled_fetch", a -> expandByStalled(a[0], a[1])),
            // fetches whose thread stalls between two numbers that it reads
            entry("leader_stall_between_reads", a -> stallBetweenReads(a[0], a[1])),
            entry("follower_take_stalled_record", a -> world.stalledRead.goOn(a[0], a[1])),
            entry("follower_take_stalled_answer", a -> world.stalledRead.goOn(a[0], a[1])),
            entry("follower_start_anew_after_stall", a -> world.stalledRead.goOn(a[0], a[1])),
            // truncations before which a fetcher stalls
            entry("follower_stall_before_truncating", a -> world.rounds.stallBeforeTruncating(a[0], a[1])),
            entry("follower_stall_without_epochs", a -> { throw new UnsupportedOperationException("up to 2.6 only"); }),
            entry("follower_finish_truncating", a -> world.rounds.finishTruncating(a[0])),
            // fetches whose answers travel
            entry("follower_send_fetch", a -> send(a[0], a[1])),
            entry("follower_receive_record", a -> world.rounds.finish(a[0], true)),
            entry("follower_receive_rewritten_record", a -> world.rounds.finish(a[0], true)),
            entry("follower_receive_high_watermark", a -> world.rounds.finish(a[0], true)),
            entry("follower_receive_divergence", a -> world.rounds.finish(a[0], true)),
            entry("follower_ignore_answer", a -> world.rounds.finish(a[0], false)),
            // ISR changes
            entry("leader_propose_expand", a -> expand(a[0], a[1])),
            entry("leader_propose_shrink", a -> shrink(a[0], Set.of(a[1]))),
            entry("leader_propose_shrink_to_itself", a -> shrink(a[0], others(a[0]))),
            entry("controller_apply_isr_change", a -> decide(Errors.NONE)),
            entry("controller_reject_isr_change", a -> decide(Errors.INELIGIBLE_REPLICA)),
            entry("leader_hear_isr_refusal", a -> decide(Errors.INELIGIBLE_REPLICA)),
            entry("leader_hear_isr_answer", a -> hear(a[0])),
            entry("leader_resend_isr_change", a -> resend(a[0])),
            // metadata
            entry("leader_apply_metadata", a -> hearOrRead(a[0])),
            entry("follower_apply_metadata", a -> readAndHear(a[0])),
            entry("leader_read_known_image", a -> world.read(a[0])),
            // the controller
            entry("controller_elect_preferred_leader", a -> elect(a[0], false)),
            entry("controller_elect_unclean_leader", a -> elect(a[0], true)),
            entry("controller_elect_last_known_leader", a -> electLastKnown(a[0])),
            entry("controller_fence_broker", a -> world.leave(a[0])),
            entry("controller_fence_last_leader", a -> world.leave(a[0])),
            entry("controller_fence_leader", a -> replace(a[0], a[1])),
            entry("controller_unfence_broker", a -> world.controller.unfence(a[0])),
            entry("controller_unfence_and_elect", a -> world.controller.unfence(a[0])),
            entry("controller_fail_over", a -> world.failOver()),
            entry("broker_assign_directory", a -> world.controller.assign(a[0], world.disks[a[0]].id)),
            entry("operator_change_min_isr", a -> world.changeMinIsr(laterMinIsr)),
            entry("leader_read_min_isr", a -> world.readMinIsr(a[0])),
            entry("operator_delete_topic", a -> world.deleteTopic()),
            entry("controller_renounce", a -> renounce(a[0])),
            entry("operator_move_replica", a -> world.reassignments.move(a[0], a[1], -1)),
            entry("operator_move_replica_at_once", a -> world.reassignments.move(a[0], a[1], a[2])),
            entry("operator_move_partition", a -> world.reassignments.moveAll()),
            entry("operator_add_replica", a -> world.reassignments.add(a[0], -1)),
            entry("operator_add_replica_at_once", a -> world.reassignments.add(a[0], a[1])),
            entry("operator_remove_replica", a -> world.reassignments.remove(a[0], -1)),
            entry("operator_remove_replica_at_once", a -> world.reassignments.remove(a[0], a[1])),
            entry("operator_restore_replicas", a -> world.reassignments.restore(-1)),
            entry("operator_restore_replicas_at_once", a -> world.reassignments.restore(a[0])),
            entry("operator_cancel_reassignment", a -> world.reassignments.cancel(a[0])),
            entry("controller_complete_reassignment", a -> completeReassignment(a[0])),
            entry("controller_complete_late_reassignment", a -> world.reassignments.completeLate()),
            entry("broker_gain_replica", a -> readAndHear(a[0])),
            entry("broker_lose_replica", a -> readAndHear(a[0])),
            entry("operator_unregister_broker", a -> world.unregister(a[0])),
            // faults
            entry("broker_crash", a -> world.crash(a[0], a[1])),
            entry("broker_shut_down", a -> world.stop(a[0])),
            entry("broker_ask_to_stop", a -> world.shuttingDown.add(a[0])),
            entry("broker_stop_as_asked", a -> world.stopAsAsked(a[0])),
            entry("broker_lose_power", a -> losePower(a[0], a[1], a[2])),
            entry("broker_lose_power_and_epochs", a -> losePowerAndEpochs(a[0], a[1], a[2], a[3])),
            entry("broker_lose_power_and_truncation", a -> losePowerAndTruncation(a[0], a[1], a[2])),
            entry("follower_lose_power_appending", a -> { fetch(a[0], a[1]); losePowerAndTruncation(a[0], a[2], a[3]); }),
            entry("follower_lose_power_receiving", a -> { world.rounds.finish(a[0], true); losePowerAndTruncation(a[0], a[1], a[2]); }),
            entry("broker_sync_truncation", a -> unsynced.forget(a[0])),
            entry("broker_lose_disk", a -> loseDisk(a[0])),
            entry("broker_lose_page_cache", a -> losePageCache(a[0], a[1])),
            entry("rack_lose_power", a -> loseRack(a[0], b -> a[1])),
            entry("rack_lose_uneven_ends", a -> loseRack(a[0], b -> b == a[0] ? a[1] : b == a[2] ? a[3] : a[4])),
            entry("broker_lose_directory", a -> world.disks[a[0]].takeAway()),
            // directories that fail: the harness's brokers do not outlive one
            entry("broker_fail_directory", a -> needsFailures()),
            entry("controller_hear_of_failure", a -> needsFailures()),
            entry("controller_hear_of_leaders_failure", a -> needsFailures()),
            entry("controller_hear_of_last_leaders_failure", a -> needsFailures()),
            entry("controller_fence_and_elect", a -> needsFailures()),
            entry("broker_regain_directory", a -> needsFailures()),
            entry("broker_replace_directory", a -> needsFailures()),
            entry("broker_drop_directory", a -> needsFailures()),
            entry("broker_restart", a -> restart(a[0])),
            // files of leader epochs: what waits to be written is written at the end of a step
            entry("broker_flush_epochs", a -> world.brokers[a[0]].logScheduler.writeEpochs()),
            // moves between directories
            entry("operator_move_log", a -> world.brokers[a[0]].movers.begin()),
            entry("future_replica_truncate", a -> world.brokers[a[0]].movers.truncate()),
            entry("future_replica_fetch", a -> world.brokers[a[0]].movers.fetch()),
            entry("future_replica_truncate_out_of_range", a -> world.brokers[a[0]].movers.fetch()),
            entry("future_replica_replace", a -> world.brokers[a[0]].movers.replace()),
            entry("broker_crash_before_replacing", a -> needsFailures()),
            entry("future_replica_fail", a -> needsFailures()),
            // upgrades: the classes are those of one release, so only a feature can be switched on
            entry("broker_upgrade", a -> { throw new IllegalStateException("one release at a time"); }),
            entry("controller_upgrade", a -> world.controller.switchOnElr())));
    }

    /** The number of each broker's rack. */
    final List<Integer> racks = new ArrayList<>();

    /** What truncation took, as long as no disk need know of it. */
    final UnsyncedLogs unsynced;
    /** Each append is on disk at once. */
    boolean flushed;
    /** The consumer commits what it polls before it processes it, or after. */
    boolean commitsFirst;
    /** What the producer waits for: -1 for the high watermark, 1 for the leader, 0 for nothing. */
    short acks = -1;
    /** What an operator changes `min.insync.replicas` to. */
    int laterMinIsr;
    /** A leader hears of its ISR change in a step of its own. */
    boolean answersApart;
    /** A controller has renounced, since a broker's registration failed. */
    boolean renounced;
    /** The consumer, as far as it is outside the brokers: what it polls next, did, and would resume at. */
    int position, processed, committed;

    Set<String> names() { return table.keySet(); }

    void take(String action, int[] arguments) {
        Step step = table.get(action);
        if (step == null) throw new UnsupportedOperationException(action + " is not mapped to Kafka");
        world.beforeStep();
        unsynced.beforeStep();
        step.take(arguments);
        world.afterStep();
        unsynced.afterStep(flushed);
    }

    private void produce(int leader) {
        int id = world.produced++;
        world.wire.produce(world.brokers[leader], id, acks, error -> world.answers.put(id, error), () -> { });
    }

    private void poll(int broker) {
        Integer record = world.wire.consume(world.brokers[broker], position);
        if (record == null) world.fail("broker " + broker + " gives the consumer nothing at " + position);
        else position++;
        if (commitsFirst) committed = position;
    }

    private void fetch(int follower, int leader) {
        makeFirst(leader, follower, false);
        world.rounds.run(follower, leader, false, Rounds.Until.ANSWERED);
    }

    private void send(int follower, int leader) {
        makeFirst(leader, follower, false);
        world.rounds.start(follower);
    }

    private void handleFetch(int leader, int follower) {
        makeFirst(leader, follower, true);
        world.rounds.run(follower, leader, true, Rounds.Until.ANSWERED);
    }

    /** Makes the fetch of a follower at 0 its first or not, as the step needs it, where the HW waits for any news. */
    private void makeFirst(int leader, int follower, boolean first) {
        makeFirst(leader, follower, first, Internals.endOf(world.brokers[follower]));
    }

    private void makeFirst(int leader, int follower, boolean first, Object position) {
        if (Internals.offsetOf(position) > 0 || !Internals.wouldAdvance(world.brokers[leader])) return;
        for (Object replica : Scala.list(world.brokers[leader].partition().remoteReplicas())) {
            if ((Integer) Parts.ask(replica, "brokerId") != follower || Internals.isKnown(replica) != first) continue;
            world.note("forced: a fetch from the start is " + (first ? "" : "not ") + "the first of " + follower);
            if (first) Internals.forgetEnd(replica);
            else Internals.makeKnown(replica, position);
        }
    }

    /** What is noted before the stall is news, so that the thread moves the HW when it goes on. */
    private void stallAfterNoting(int leader, int follower) {
        for (Object replica : Scala.list(world.brokers[leader].partition().remoteReplicas()))
            if ((Integer) Parts.ask(replica, "brokerId") == follower && Internals.isKnown(replica)) Internals.forgetEnd(replica);
        world.stall.begin(leader, follower, Stall.Place.AFTER_NOTING);
    }

    private void stallBetweenReads(int leader, int follower) {
        makeFirst(leader, follower, false);
        world.stalledRead.begin(leader, follower);
    }

    private void finish(int leader, int follower) {
        makeFirst(leader, follower, false, world.stall.position());
        world.stall.goOn();
    }

    private void expandByStalled(int leader, int follower) {
        if (world.stall.holdsOrphan()) {
            world.rounds.run(follower, leader, true, Rounds.Until.ANSWERED);
        } else if (!Internals.isKnown(world.stall.replica())) {
            world.note("forced: a fetch from the start is not the first of " + follower);
            Internals.makeKnown(world.stall.replica(), world.stall.position());
        }
        letJoin(leader, follower);
        world.stall.goOn();
        holdBack(leader, follower);
    }

    /** The follower's fetch, in which the leader may take it into the ISR. */
    private void expand(int leader, int follower) {
        letJoin(leader, follower);
        world.rounds.run(follower, leader, true, Rounds.Until.ANSWERED);
        holdBack(leader, follower);
    }

    private void letJoin(int leader, int follower) {
        world.stalledRead.forget(leader);
        Broker broker = world.brokers[leader];
        // Records that do not concern the partition may be read at any time: the model does not show them.
        List<?> unread = world.controller.log.subList(broker.read, world.controller.log.size());
        if (unread.stream().noneMatch(PartitionChangeRecord.class::isInstance) && !world.goesByFormerMinIsr(leader)) world.read(leader);
        if (broker.letJoin(follower)) world.note("forced: the leader's image says that " + follower + " may not join");
    }

    private void holdBack(int leader, int follower) {
        if (world.brokers[leader] != null) world.brokers[leader].holdBackIsr();
        if (world.isrChanges.askedBy(leader) == null) world.fail("the leader does not ask for " + follower);
    }

    private Set<Integer> others(int leader) {
        Set<Integer> found = new java.util.HashSet<>();
        for (int b = 0; b < world.brokers.length; b++) if (b != leader) found.add(b);
        return found;
    }

    /** `maybeShrinkIsr`, with the times at which followers were last caught up set as the step needs them. */
    private void shrink(int leader, Set<Integer> dropped) {
        world.stalledRead.forget(leader);
        Partition partition = world.brokers[leader].partition();
        long end = world.brokers[leader].end();
        List<Integer> isr = Internals.isr(partition);
        for (Object replica : Scala.list(partition.remoteReplicas())) {
            int id = (Integer) Parts.ask(replica, "brokerId");
            Internals.setCaughtUp(replica, dropped.contains(id) ? 0 : world.clock.milliseconds());
            if (dropped.contains(id) && isr.contains(id) && Internals.end(replica) == end) {
                world.note("forced: the leader knows that " + id + " is at its end");
                Internals.forgetEnd(replica);
            }
        }
        partition.maybeShrinkIsr();
        if (world.isrChanges.askedBy(leader) == null) world.fail("the leader does not ask to drop " + dropped);
    }

    private void decide(Errors expected) {
        List<IsrChanges.Change> underWay = world.isrChanges.underWay();
        if (underWay.isEmpty()) {
            world.fail("no ISR change is under way");
            return;
        }
        Errors decided = underWay.get(0).decide();
        if (decided == Errors.INELIGIBLE_REPLICA) world.stalledRead.forget(underWay.get(0).from);
        if (decided != expected) world.fail("the controller answers " + decided + ", not " + expected);
        else if (decided != Errors.NONE) underWay.get(0).deliverOnceUnlocked();
    }

    private void hear(int leader) {
        world.stalledRead.forget(leader);
        if (world.isrChanges.answeredTo(leader) == null) world.fail("no answer is on its way to broker " + leader);
        world.isrChanges.deliverTo(leader);
    }

    private void resend(int leader) {
        IsrChanges.Change change = world.isrChanges.askedBy(leader);
        if (change == null) world.fail("broker " + leader + " waits for no ISR change");
        else change.lost = false;
    }

    /** Where answers and images are one step, an answer may come before an image that the settings are in. */
    private void hearOrRead(int leader) {
        boolean before = world.goesByFormerMinIsr(leader) && !world.minIsrChangedLast();
        if (!answersApart && before && world.isrChanges.tellsNewest(leader)) world.isrChanges.deliverTo(leader);
        else readAndHear(leader);
    }

    private void readAndHear(int broker) {
        world.read(broker);
        world.isrChanges.deliverTo(broker);
    }

    /** Kafka elects the first in the list of replicas that it may, so the broker is made the first. */
    private void elect(int broker, boolean unclean) {
        world.controller.prefer(World.TOPIC, broker);
        Errors error = world.controller.elect(World.TOPIC, unclean);
        if (error != Errors.NONE) world.fail("the election is answered with " + error);
    }

    /** Kafka elects it where that becomes possible, but for an ELR that a report of a directory has emptied. */
    private void electLastKnown(int broker) {
        if (world.controller.partition().leader >= 0) {
            world.note("elected where it became possible");
            return;
        }
        world.note("forced: " + broker + " is fenced and comes back, so that it is elected");
        world.controller.fence(broker);
        world.controller.unfence(broker);
    }

    private void replace(int leader, int successor) {
        world.controller.prefer(World.TOPIC, successor);
        world.leave(leader);
    }

    /** Brokers apply the setting at once, and not as they read of it. */
    /** Where the leader is taken out, Kafka elects the first in the list that it may; the request is of the newest epoch still. */
    private void completeReassignment(int leader) {
        if (world.controller.partition().leader != leader) {
            world.controller.prefer(World.TOPIC, leader);
            for (IsrChanges.Change change : world.isrChanges.underWay())
                change.wanted().setPartitionEpoch(world.controller.partition().partitionEpoch);
        }
        decide(world.controller.partition().leader == leader ? Errors.NONE : Errors.NEW_LEADER_ELECTED);
        world.requireLeader(leader);
    }

    private void losePower(int broker, int kept, int checkpoint) {
        world.crash(broker, checkpoint);
        world.disks[broker].cut(kept);
        unsynced.forget(broker);
    }

    /** The segment's file is as before it was truncated; its checkpoints are as they were synced since. */
    private void losePowerAndTruncation(int broker, int kept, int checkpoint) {
        world.crash(broker, checkpoint);
        unsynced.bringBack(broker, kept);
    }

    /** The log is one segment, which is recovered whole. */
    private void losePowerAndEpochs(int broker, int kept, int checkpoint, int first) {
        losePower(broker, kept, checkpoint);
        world.disks[broker].emptyEpochs();
        if (first > 0) world.fail("epochs are recovered from the first record on");
    }

    private void loseRack(int broker, IntUnaryOperator kept) {
        for (int b = 0; b < world.brokers.length; b++) {
            if (!racks.get(b).equals(racks.get(broker))) continue;
            if (world.brokers[b] == null) {
                if (!flushed && !world.disks[b].hasCleanStop()) losePageCache(b, kept.applyAsInt(b));
                continue;
            }
            long end = world.brokers[b].end();
            if (!flushed) end = Math.min(kept.applyAsInt(b), end);
            losePower(b, (int) end, (int) Math.min(end, Internals.highWatermark(world.brokers[b])));
        }
    }

    /** The broker has crashed; its log is loaded with no more than that. */
    private void losePageCache(int broker, int kept) {
        Disk disk = world.disks[broker];
        disk.cut(kept);
        unsynced.forget(broker);
        disk.lowerCheckpoint(kept);
    }

    private void loseDisk(int broker) {
        world.crash(broker, 0);
        world.disks[broker].lose();
        unsynced.forget(broker);
    }

    /** Kafka's active controller renounces where it meets an exception that it does not expect. */
    private void renounce(int broker) {
        try {
            world.controller.register(broker, world.disks[broker].id, -1);
            world.fail("the controller takes the registration of broker " + broker);
        } catch (RuntimeException failed) {
            Throwable cause = failed;
            while (cause.getCause() != null) cause = cause.getCause();
            if (!String.valueOf(cause.getMessage()).contains("but not in the topics map")) throw failed;
            renounced = true;
            world.failOver();
        }
    }

    private void needsFailures() { throw new IllegalStateException("brokers end where a directory fails"); }

    private void restart(int broker) {
        world.start(broker);
        world.read(broker);
        world.brokers[broker].logScheduler.settled();
        if (!world.disks[broker].taken) return;
        world.disks[broker].taken = false;
        if (world.controller.partition() == null) return;
        world.controller.assign(broker, world.disks[broker].id);
        world.read(broker);
    }
}
