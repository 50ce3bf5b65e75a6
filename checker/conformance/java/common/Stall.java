package highwater;

import java.util.Set;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import kafka.cluster.Partition;

/**
 * Request threads of a leader that stall: one that handles a follower's fetch, one that appends.
 *
 * `Partition.updateFollowerFetchState` asks how many deletions of records wait before it notes the
 * fetch, and again after that; it holds no lock either time. `ReplicaManager.appendRecords` gives
 * statistics to its caller between the append and `DelayedProduce`. There the threads wait, or in the
 * check that follows, before the high watermark: nothing of Kafka is changed.
 */
final class Stall {
    enum Place { BEFORE_NOTING, AFTER_NOTING }

    private final World world;
    private Place place;  // where the next fetch is to stall
    private volatile Paused fetch, produce;
    private int leader, follower, passed, producer;
    private Object held, position;

    Stall(World world) { this.world = world; }

    /** The follower's next fetch stalls there, and the follower gives it up; after one at most that diverges and changes nothing. */
    void begin(int leader, int follower, Place place) {
        this.leader = leader;
        this.follower = follower;
        this.place = place;
        held = replica();
        position = Internals.endOf(world.brokers[follower]);
        for (int round = 0; round < 2; round++) {
            passed = 0;
            world.rounds.run(follower, leader, true, Rounds.Until.ONCE);
            if (this.place == null) return;
            if (world.wire.diverging == null) break;
        }
        world.fail("the fetch is handled without a stall");
        this.place = null;
        fetch = null;
    }

    /** Called by the wire with a fetch; whether a thread has taken it and stalls. Else it is handled anew. */
    boolean takes(Runnable handling) {
        if (place == null) return false;
        fetch = new Paused(handling);
        if (fetch.begin()) {
            place = null;
            return true;
        }
        fetch = null;
        return false;
    }

    /** Called where a leader asks how many deletions wait. */
    void passes() {
        if (place != null && fetch != null && passed++ == place.ordinal()) fetch.pass();
    }

    /** Whether the leader has thrown away the `Replica` that the thread holds. */
    boolean holdsOrphan() { return replica() != held; }

    /** Where the fetch says that the follower is. */
    Object position() { return position; }

    /** What the leader knows of the follower. */
    Object replica() {
        Partition partition = world.brokers[leader].partition();
        return Scala.orNull(Parts.ask(partition, "getReplica", follower));
    }

    void goOn() {
        if (fetch == null) {
            world.fail("no thread stalls");
            return;
        }
        fetch.goOn();
        fetch = null;
    }

    /** A leader appends the next record, and the thread stalls before it waits for the high watermark. */
    void produce(int leader, int id, short acks) {
        begin(leader, id, acks, () -> produce.pass());
        if (!produce.begin()) failProduce();
    }

    /** The same, and the thread stalls as it looks whether it has to wait: it has the log, and has counted the ISR. */
    void produceAndCheck(int leader, int id, short acks) {
        begin(leader, id, acks, () -> { });
        if (!StandInLog.begin(world.brokers[leader], produce, "checkEnoughReplicasReachOffset", Set.of("highWatermark"), 1)) failProduce();
        else if (isReadLocked(world.brokers[leader].partition())) finishProduce(leader);  // what it is to stall for would wait for it
    }

    private void begin(int leader, int id, short acks, Runnable appended) {
        producer = leader;
        produce = new Paused(() -> world.wire.produce(world.brokers[leader], id, acks, error -> world.answers.put(id, error), appended));
    }

    private void failProduce() {
        produce = null;
        world.fail("the record is appended without a stall");
    }

    private static boolean isReadLocked(Partition partition) {
        return ((ReentrantReadWriteLock) Parts.get(partition, "leaderIsrUpdateLock")).getReadLockCount() > 0;
    }

    void finishProduce(int leader) {
        if (produce == null || producer != leader) {
            world.fail("no thread of broker " + leader + " stalls");
            return;
        }
        produce.goOn();
        produce = null;
    }

    /** The broker is gone: its threads with it, or what they would note of the broker. */
    void forget(int broker) {
        if (fetch != null && (broker == leader || broker == follower)) {
            fetch.end();
            fetch = null;
        }
        if (produce != null && broker == producer) {
            produce.end();
            produce = null;
        }
    }
}
