package highwater;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import org.apache.kafka.server.util.Scheduler;

/**
 * What a broker's logs leave to the scheduler: as all else is, or, where that is a step of its own, files of leader epochs later.
 *
 * A broker that stops cleanly ends its scheduler once it reads no more metadata, and before its fetchers end
 * (`BrokerServer.shutdown`): `KafkaScheduler` does what it has been given, and takes nothing more. So what was given
 * before metadata were read last is done at a clean stop, and what came later may be taken for what came after its end.
 */
final class LogScheduler implements Scheduler {
    private static final String EPOCHS = "leader-epoch-cache-flush-";

    private final World world;
    private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
    private boolean beforeMetadata;

    LogScheduler(World world) { this.world = world; }

    @Override public void startup() { }
    @Override public void shutdown() { }
    @Override public void resizeThreadPool(int size) { }

    @Override public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
        if (!world.lateEpochs || !name.startsWith(EPOCHS) || ofStart()) return world.scheduler.schedule(name, task, delayMs, periodMs);
        waiting.add(task);
        return ManualScheduler.NEVER;
    }

    /** Epochs are forgotten as the log's start moves: the model has that in the file at once. */
    private static boolean ofStart() {
        return StackWalker.getInstance().walk(frames -> frames.anyMatch(frame -> frame.getMethodName().startsWith("truncateFromStart")));
    }

    /** The scheduler's thread comes to it. */
    void writeEpochs() {
        while (!waiting.isEmpty()) waiting.poll().run();
        beforeMetadata = false;
    }

    /** The broker reads metadata. */
    void metadataRead() { beforeMetadata |= !waiting.isEmpty(); }

    /** The broker begins to stop cleanly. */
    void end() {
        if (beforeMetadata) writeEpochs();
        waiting.clear();
    }

    /** At the end of a step: if something else has written the file since, there is nothing left to do. */
    void forgetWhatIsWritten(Object epochs) {
        if (waiting.isEmpty() || epochs == null) return;
        List<?> inFile = new ArrayList<>((List<?>) Parts.ask(Parts.get(epochs, "checkpoint"), "read"));
        if (inFile.equals(new ArrayList<>((List<?>) Parts.ask(epochs, "epochEntries")))) writeEpochs();
    }
}
