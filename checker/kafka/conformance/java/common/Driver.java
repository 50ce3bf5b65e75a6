package highwater;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import kafka.cluster.Partition;

/**
 * Takes random steps that Kafka's classes allow: it asks them, and not the model, what is possible.
 *
 * Followers join the ISR as soon as Kafka lets them, and leave it when Kafka finds them behind. Only
 * faults have budgets. A leader on an old partition epoch is kept from asking for another ISR: it
 * would be refused, and the model leaves that out (docs/decisions/0010-broker-model-state.md).
 */
final class Driver {
    /** A step: its name, the brokers it is about, and what it does. */
    record Event(String name, int[] brokers, int weight, Runnable run) { }

    private final World world;
    private final Random random;
    private final int mostRecords, mostEpochs;
    private int faults, falseFencings, elections, failOvers;

    Driver(World world, long seed, int mostRecords, int mostEpochs, int faults, int falseFencings, int elections, int failOvers) {
        this.world = world;
        this.random = new Random(seed);
        this.mostRecords = mostRecords;
        this.mostEpochs = mostEpochs;
        this.faults = faults;
        this.falseFencings = falseFencings;
        this.elections = elections;
        this.failOvers = failOvers;
    }

    /** Takes one step, and tells it; null if none is possible. */
    Event step() {
        world.beforeStep();
        List<Event> possible = new ArrayList<>();
        for (int b = 0; b < world.brokers.length; b++)
            if (world.brokers[b] == null) ofStopped(b, possible);
            else ofRunning(b, possible);
        ofController(possible);
        int total = possible.stream().mapToInt(Event::weight).sum();
        if (total == 0) return null;
        int drawn = random.nextInt(total);
        for (Event event : possible) {
            drawn -= event.weight();
            if (drawn >= 0) continue;
            event.run().run();
            world.afterStep();
            return event;
        }
        throw new AssertionError();
    }

    private static Event event(String name, int weight, Runnable run, int... brokers) { return new Event(name, brokers, weight, run); }

    private void ofStopped(int b, List<Event> possible) {
        if (!world.controller.isActive(b)) possible.add(event("restart", 3, () -> { world.start(b); world.read(b); }, b));
    }

    private void ofRunning(int b, List<Event> possible) {
        Broker broker = world.brokers[b];
        Partition partition = broker.partition();
        if (partition != null && partition.isLeader()) {
            if (world.produced < mostRecords) possible.add(event("produce", 3, () -> produce(b), b));
            if (broker.isCurrentLeader()) possible.add(event("shrink", 1, partition::maybeShrinkIsr, b));
        }
        var fetcher = broker.fetcher();
        if (fetcher != null) {
            int leader = (Integer) Parts.ask(Parts.ask(fetcher.leader(), "brokerEndPoint"), "id");
            if (world.brokers[leader] != null) possible.add(event("fetch", 8, () -> fetch(b, leader), b, leader));
        }
        if (broker.read < world.controller.log.size()) possible.add(event("read", 6, () -> world.read(b), b));
        if (world.isrChanges.answeredTo(b) != null) possible.add(event("hear", 4, () -> world.isrChanges.deliverTo(b), b));
        if (!world.controller.isActive(b)) possible.add(event("unfence", 4, () -> world.controller.unfence(b), b));
        if (faults > 0) ofFaults(b, broker, possible);
    }

    private void ofFaults(int b, Broker broker, List<Event> possible) {
        int checkpoint = random.nextInt((int) Internals.highWatermark(broker) + 1), kept = random.nextInt((int) broker.end() + 1);
        possible.add(event("crash", 1, () -> { faults--; world.crash(b, checkpoint); }, b));
        possible.add(event("stop", 1, () -> { faults--; world.stop(b); }, b));
        possible.add(event("lose power", 1, () -> { faults--; world.crash(b, Math.min(checkpoint, kept)); world.disks[b].cut(kept); }, b));
    }

    private void ofController(List<Event> possible) {
        if (!world.isrChanges.underWay().isEmpty()) possible.add(event("decide", 4, this::decide));
        boolean epochLeft = world.controller.partition().leaderEpoch < mostEpochs;
        for (int b = 0; b < world.brokers.length; b++) {
            int broker = b;
            boolean up = world.brokers[b] != null;
            if (world.controller.isActive(b) && epochLeft && (!up || falseFencings > 0))
                possible.add(event("fence", up ? 1 : 3, () -> { if (up) falseFencings--; world.controller.fence(broker); }, b));
            if (elections > 0 && epochLeft && canLead(b)) possible.add(event("elect", 1, () -> elect(broker), b));
        }
        if (failOvers > 0) possible.add(event("fail over", 1, () -> { failOvers--; world.failOver(); }));
        if (world.isrChanges.lost() != null) possible.add(event("ask again", 3, () -> world.isrChanges.lost().lost = false));
    }

    private void fetch(int follower, int leader) {
        if (!world.brokers[leader].isCurrentLeader()) world.brokers[leader].holdBackIsr();
        world.rounds.once(follower, random.nextInt(4) == 0);
        world.brokers[leader].showTruth();
    }

    private boolean canLead(int broker) {
        var partition = world.controller.partition();
        boolean inIsr = java.util.Arrays.stream(partition.isr).anyMatch(member -> member == broker);
        return inIsr && partition.leader != broker && world.controller.isActive(broker);
    }

    private void elect(int broker) {
        elections--;
        world.controller.prefer(World.TOPIC, broker);
        world.note("elected: " + world.controller.elect(World.TOPIC, false));
    }

    private void produce(int leader) {
        int id = world.produced;
        world.wire.produce(world.brokers[leader], id, (short) -1, error -> world.answers.put(id, error), () -> { });
        if (world.answers.get(id) == org.apache.kafka.common.protocol.Errors.NOT_ENOUGH_REPLICAS) world.answers.remove(id);
        else world.produced++;
    }

    private void decide() {
        IsrChanges.Change change = world.isrChanges.underWay().get(0);
        if (change.decide() != org.apache.kafka.common.protocol.Errors.NONE) change.deliver();
    }
}
