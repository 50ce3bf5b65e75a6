package highwater;

import java.lang.reflect.InvocationTargetException;
import java.util.Set;
import kafka.cluster.Partition;
import org.mockito.Mockito;
import org.mockito.MockMakers;
import org.mockito.invocation.InvocationOnMock;
import scala.Option;

/**
 * A fetch whose thread stalls in `Partition.readRecords`, between the high watermark and the log's start.
 *
 * Kafka calls nothing between the two that could wait. So while the thread takes the log from its
 * partition, the partition has a stand-in, which asks the log whatever it is asked, and waits before
 * the second of the two numbers. The thread holds the partition's lock for reading meanwhile.
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
        Partition partition = world.brokers[leader].partition();
        if (!world.rounds.epochsKept && world.wire.wouldDiverge(world.brokers[leader], world.brokers[follower])) {
            world.rounds.run(follower, leader, false, Rounds.Until.ONCE);
            world.note("an answer diverges and changes nothing: asked again");
        }
        Object log = world.brokers[leader].log();
        read = new Paused(fetcher::doWork);
        show(partition, standIn(log));
        boolean stalls = read.begin();
        show(partition, log);
        if (stalls) return;
        read = null;
        world.fail("the fetch is answered without a stall");
    }

    private static void show(Partition partition, Object log) { Parts.ask(partition, "log_$eq", Option.apply(log)); }

    private Object standIn(Object log) {
        int[] found = {0};
        return Mockito.mock(log.getClass(), Mockito.withSettings().stubOnly().mockMaker(MockMakers.SUBCLASS).defaultAnswer(call -> {
            if (isOneOfTheNumbers(call) && found[0]++ == 1) read.pass();
            return asked(log, call);
        }));
    }

    private static Object asked(Object log, InvocationOnMock call) throws Throwable {
        try {
            call.getMethod().setAccessible(true);
            return call.getMethod().invoke(log, call.getArguments());
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static boolean isOneOfTheNumbers(InvocationOnMock call) {
        return NUMBERS.contains(call.getMethod().getName()) && StackWalker.getInstance().walk(frames -> frames.anyMatch(
            frame -> frame.getClassName().equals(Partition.class.getName()) && frame.getMethodName().equals("readRecords")));
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
