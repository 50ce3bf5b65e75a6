package highwater;

import java.util.concurrent.Semaphore;
import kafka.cluster.Partition;

/**
 * A request thread of a leader that stalls while it handles a follower's fetch.
 *
 * `Partition.updateFollowerFetchState` asks how many deletions of records wait before it notes the
 * fetch, and again after that; it holds no lock either time. There the thread waits: nothing of
 * Kafka is changed. Only one thread runs at any time.
 */
final class Stall {
    enum Place { BEFORE_NOTING, AFTER_NOTING }

    private final World world;
    private final Semaphore waits = new Semaphore(0), goesOn = new Semaphore(0);
    private Place place;  // where the next fetch is to stall
    private Thread thread;
    private int leader, follower, passed;
    private Object held;

    Stall(World world) { this.world = world; }

    /** The follower's next fetch stalls there, and the follower gives it up. */
    void begin(int leader, int follower, Place place) {
        this.leader = leader;
        this.follower = follower;
        this.place = place;
        passed = 0;
        held = replica();
        world.rounds.run(follower, leader, true, Rounds.Until.ONCE);
        if (this.place == null) return;
        world.fail("the fetch is handled without a stall");
        this.place = null;
    }

    /** Called by the wire with a fetch; whether a thread has taken it and stalls. */
    boolean takes(Runnable handling) {
        if (place == null) return false;
        thread = new Thread(() -> {
            try {
                handling.run();
            } finally {
                waits.release();
            }
        }, "request handler");
        thread.setDaemon(true);
        thread.start();
        waits.acquireUninterruptibly();
        return true;
    }

    /** Called where a leader asks how many deletions wait. */
    void passes() {
        if (Thread.currentThread() != thread || place == null || passed++ < place.ordinal()) return;
        place = null;
        waits.release();
        try {
            goesOn.acquire();
        } catch (InterruptedException e) {
            throw new IllegalStateException("the broker is gone", e);
        }
    }

    /** Whether the leader has thrown away the `Replica` that the thread holds. */
    boolean holdsOrphan() { return replica() != held; }

    /** What the leader knows of the follower. */
    Object replica() {
        Partition partition = world.brokers[leader].partition();
        return Scala.orNull(Parts.ask(partition, "getReplica", follower));
    }

    void goOn() {
        if (thread == null) {
            world.fail("no thread stalls");
            return;
        }
        goesOn.release();
        waits.acquireUninterruptibly();
        thread = null;
    }

    /** The broker is gone: the thread with it, or what it would note of the broker. */
    void forget(int broker) {
        if (thread == null || broker != leader && broker != follower) return;
        thread.interrupt();
        waits.acquireUninterruptibly();
        thread = null;
    }
}
