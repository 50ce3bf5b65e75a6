package highwater;

import java.io.IOException;
import java.util.concurrent.Semaphore;

/**
 * Rounds of the followers' fetchers, each of which is one `doWork` of a ReplicaFetcherThread.
 *
 * A round whose answer travels runs in a thread of its own and waits where the answer has left the
 * leader. Only one thread runs at any time.
 */
final class Rounds {
    private static final int MOST_REPEATED = 4;
    private final World world;
    private final Round[] underWay = new Round[World.MOST_BROKERS];
    private final Semaphore waits = new Semaphore(0);
    /** The model has the leader-epoch cache: a fetch that diverges is one step, whatever it changes. */
    boolean epochsKept;
    private boolean loses;  // the answer of the round that runs now does not arrive
    private boolean unheard;  // nor does its request
    private int sender = -1;  // whose round runs in a thread of its own, until its answer has left

    private volatile Paused truncation;  // the round that stalls before it truncates
    private int truncating;  // whose it is

    Rounds(World world) { this.world = world; }

    private static final class Round {
        private final Semaphore arrives = new Semaphore(0);
        private Thread thread;
        private boolean taken;
        private volatile boolean repeats;
    }

    /** What a round should end with. */
    enum Until { ANSWERED, TRUNCATED, ONCE }

    /** One round of the follower's fetcher, which must ask `leader`; repeated while its answers change nothing. */
    void run(int follower, int leader, boolean lost, Until until) {
        long before = world.brokers[follower].end();
        for (int round = 0; round < MOST_REPEATED; round++) {
            var fetcher = world.brokers[follower].fetcher();
            if (fetcher == null) {
                world.fail("broker " + follower + " does not fetch");
                return;
            }
            int asked = (Integer) Parts.ask(Parts.ask(fetcher.leader(), "brokerEndPoint"), "id");
            if (asked != leader) world.fail("broker " + follower + " fetches from " + asked);
            int count = world.wire.fetches;
            loses = lost;
            fetcher.doWork();
            loses = false;
            if (world.wire.fetches == count) {
                world.fail("broker " + follower + " sends no fetch");
                return;
            }
            boolean truncated = world.brokers[follower].end() < before, diverges = world.wire.diverging != null;
            if (until == Until.ONCE || (until == Until.TRUNCATED ? truncated : !diverges)) return;
            if (until == Until.ANSWERED && truncated) {
                world.fail("broker " + follower + " truncates");
                return;
            }
            world.note("an answer diverges and changes nothing: asked again");
        }
        world.fail("the fetch does not settle");
    }

    /** One round, whatever comes of it. */
    void once(int follower, boolean lost) {
        loses = lost;
        world.brokers[follower].fetcher().doWork();
        loses = false;
    }

    /** One round whose fetch does not arrive: what the follower does before. */
    void beforeFetching(int follower) {
        unheard = true;
        world.brokers[follower].fetcher().doWork();
        unheard = false;
    }

    /** Called by the wire before a request arrives at the leader. */
    void requestLeaves() {
        if (unheard) throw new RuntimeException(new IOException("the request is lost"));
    }

    /** A round whose answer is left on its way. */
    void start(int follower) {
        var fetcher = world.brokers[follower].fetcher();
        if (fetcher == null) {
            world.fail("broker " + follower + " does not fetch");
            return;
        }
        Round round = underWay[follower] = new Round();
        sender = follower;
        round.thread = new Thread(() -> {
            do {
                round.repeats = false;
                fetcher.doWork();
            } while (round.repeats);
            waits.release();
        }, "round");
        round.thread.setDaemon(true);
        round.thread.start();
        waits.acquireUninterruptibly();
        if (sender >= 0) {
            world.fail("broker " + follower + " sends no fetch");
            sender = -1;
            underWay[follower] = null;
        }
    }

    /** Called by the wire when an answer leaves the leader; `changesNothing`: the follower would only ask again. */
    void answerLeaves(int follower, boolean changesNothing) {
        if (sender == follower) {
            Round round = underWay[follower];
            if (changesNothing && !epochsKept) {
                round.repeats = true;
                return;
            }
            sender = -1;
            waits.release();
            round.arrives.acquireUninterruptibly();
            if (!round.taken) throw new RuntimeException(new IOException("the answer is lost"));
        } else if (loses && world.wire.diverging == null) {
            throw new RuntimeException(new IOException("the answer is lost"));
        }
    }

    /** The answer under way arrives, or is lost. */
    void finish(int follower, boolean taken) {
        Round round = underWay[follower];
        if (round == null) {
            world.fail("no answer is on its way to broker " + follower);
            return;
        }
        underWay[follower] = null;
        round.taken = taken;
        round.arrives.release();
        waits.acquireUninterruptibly();
        try {
            round.thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A round whose thread has taken an answer, and stalls before it truncates as that says. */
    void stallBeforeTruncating(int follower, int leader) {
        var fetcher = world.brokers[follower].fetcher();
        if (fetcher == null || (Integer) Parts.ask(Parts.ask(fetcher.leader(), "brokerEndPoint"), "id") != leader) {
            world.fail("broker " + follower + " does not fetch from " + leader);
            return;
        }
        truncating = follower;
        truncation = new Paused(() -> {
            for (int round = 0; !truncation.stalls() && round < MOST_REPEATED; round++) fetcher.doWork();
        });
        if (truncation.begin()) return;
        truncation = null;
        world.fail("broker " + follower + " has nothing to truncate");
    }

    /** Called by a fetcher, which holds no lock here. */
    void beforeTruncating() {
        if (truncation != null) truncation.pass();
    }

    /** The thread that stalls goes on, to the end of its round. */
    void finishTruncating(int follower) {
        if (truncation == null || truncating != follower) {
            world.fail("no fetcher of broker " + follower + " stalls");
            return;
        }
        Paused mine = truncation;
        truncation = null;
        mine.goOn();
    }

    /** The broker is gone, and with it what was on its way to it, and its threads. */
    void forget(int follower) {
        if (underWay[follower] != null) finish(follower, false);
        if (truncation == null || truncating != follower) return;
        truncation.end();
        truncation = null;
    }
}
