package highwater;

import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/** Time that passes only when a step is taken. */
final class ManualClock implements Time {
    private long now = 1_000_000_000L;

    @Override public long milliseconds() { return now; }
    @Override public long hiResClockMs() { return now; }
    @Override public long nanoseconds() { return now * 1_000_000L; }
    @Override public void sleep(long milliseconds) { now += milliseconds; }
    @Override public void waitObject(Object object, Supplier<Boolean> condition, long deadline) {
        throw new IllegalStateException("nothing may wait: one thread runs at a time");
    }
}
