package highwater;

import java.util.ArrayDeque;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.server.util.Scheduler;

/** Runs at the end of a step what Kafka wants to have run at once; periodic and delayed tasks never run. */
final class ManualScheduler implements Scheduler {
    private static final String ISR_CHANGE_SENT_AGAIN = "send-alter-partition";
    private final ArrayDeque<Runnable> due = new ArrayDeque<>();

    @Override public void startup() { }
    @Override public void shutdown() { }
    @Override public void resizeThreadPool(int size) { }

    @Override public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
        if (periodMs < 0 && (delayMs <= 0 || name.equals(ISR_CHANGE_SENT_AGAIN))) due.add(task);
        return NEVER;
    }

    void runDue() {
        for (int left = due.size(); left > 0; left--) due.poll().run();
    }

    /** Kafka's clean shutdown needs a future, or it fails without a word. */
    static final ScheduledFuture<?> NEVER = new ScheduledFuture<Object>() {
        @Override public long getDelay(TimeUnit unit) { return 0; }
        @Override public int compareTo(Delayed other) { return 0; }
        @Override public boolean cancel(boolean interrupt) { return true; }
        @Override public boolean isCancelled() { return false; }
        @Override public boolean isDone() { return false; }
        @Override public Object get() { return null; }
        @Override public Object get(long timeout, TimeUnit unit) { return null; }
    };
}
