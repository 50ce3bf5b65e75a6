package highwater;

import java.util.Set;

/**
 * A fetch whose thread stalls in `Partition.readRecords`, between the high watermark and the log's start.
 *
 * The thread holds the partition's lock for reading meanwhile.
 */
final class StalledRead {
    private static final Set<String> NUMBERS = Set.of("highWatermark", "logStartOffset");

    private final World world;
    private volatile Paused read;
    private int leader, follower;
    private boolean lost;  // the round that stalled gets no answer

    StalledRead(World world) { this.world = world; }

    /** The follower's next fetch stalls once the leader has read the first of the two. */
    void begin(int leader, int follower) {
        var fetcher = world.brokers[follower].fetcher();
        if (fetcher == null) {
            world.fail("broker " + follower + " does not fetch");
            return;
        }
        this.leader = leader;
        this.follower = follower;
        read = new Paused(fetcher::doWork);
        if (StandInLog.begin(world.brokers[leader], read, "readRecords", NUMBERS, 2)) return;
        read = null;
        world.fail("the fetch is answered without a stall");
    }

    /** The thread goes on, and the follower takes what it is answered. */
    void goOn(int leader, int follower) {
        if (read == null || leader != this.leader || follower != this.follower) {
            world.fail("no thread of broker " + leader + " reads for " + follower);
            return;
        }
        Paused mine = read;
        read = null;
        mine.goOn();
    }

    /** A thread of the broker holds the partition's lock for reading. */
    boolean holdsLockOf(int broker) { return read != null && broker == leader; }

    /** The round that runs is one that was ended where it stalled. */
    boolean isLost() { return lost; }

    /** The broker takes that lock for writing, or waits for no answer any more: the stall is as if it had never been. */
    void forget(int broker) {
        if (read == null || broker != leader && broker != follower) return;
        Paused mine = read;
        read = null;
        lost = true;
        mine.end();
        lost = false;
    }
}
