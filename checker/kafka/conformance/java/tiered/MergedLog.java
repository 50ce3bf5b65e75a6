package highwater;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import org.apache.kafka.common.utils.Time;
import org.mockito.Mockito;
import org.mockito.MockMakers;

/** A log in the hands of a copy task that asks the log whatever it is asked, but where its segments begin and end. */
final class MergedLog {
    private MergedLog() { }

    /** The log with one segment from `base` to before `end`, as if it had rolled there; it is put together in `scratch`. */
    static Object of(Object log, File scratch, long base, long end, Time time) {
        List<Object> segments = List.of(merged(log, scratch, base, end, time), startingAt(log, end));
        return Mockito.mock(log.getClass(), Mockito.withSettings().stubOnly().mockMaker(MockMakers.SUBCLASS).defaultAnswer(call -> {
            if (call.getMethod().getName().equals("logSegments") && call.getArguments().length > 0)
                return call.getMethod().getReturnType() == List.class ? segments : scala.jdk.javaapi.CollectionConverters.asScala(segments);
            try {
                call.getMethod().setAccessible(true);
                return call.getMethod().invoke(log, call.getArguments());
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }

    private static Object startingAt(Object log, long offset) {
        for (Object segment : Scala.list(Parts.ask(log, "logSegments"))) if ((Long) Parts.ask(segment, "baseOffset") == offset) return segment;
        throw new IllegalStateException("no segment begins at " + offset);
    }

    private static Object merged(Object log, File scratch, long base, long end, Time time) {
        Lines.wipe(scratch);
        scratch.mkdirs();
        Object merged = Parts.of(scratch, base, Parts.ask(log, "config"), time, false, 0, "").call(Parts.type("org.apache.kafka.storage.internals.log.LogSegment"), "open");
        for (long offset = base; offset < end; offset++) {
            Object segment = startingAt(log, offset);
            Parts.of(offset, Parts.ask(segment, "largestTimestamp"), offset, Apis.copied(Parts.ask(segment, "log"))).call(merged, "append");
        }
        Parts.ask(merged, "onBecomeInactiveSegment");
        return merged;
    }
}
