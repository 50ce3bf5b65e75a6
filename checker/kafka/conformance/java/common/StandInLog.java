package highwater;

import java.lang.reflect.InvocationTargetException;
import java.util.Set;
import kafka.cluster.Partition;
import org.mockito.Mockito;
import org.mockito.MockMakers;
import org.mockito.invocation.InvocationOnMock;
import scala.Option;

/**
 * A log in its partition's hands that asks the log whatever it is asked, and at one place waits.
 *
 * Where Kafka reads one number after another of a log it calls nothing that could wait. So while a
 * thread takes the log from its partition, the partition has a stand-in, which waits before one of
 * the numbers that a method of the partition asks for.
 */
final class StandInLog {
    private StandInLog() { }

    /** Begins the work, which stalls where the method asks for the number-th of the numbers; whether it does. */
    static boolean begin(Broker broker, Paused work, String method, Set<String> numbers, int number) {
        Partition partition = broker.partition();
        Object log = broker.log();
        int[] asked = {0};
        show(partition, Mockito.mock(log.getClass(), Mockito.withSettings().stubOnly().mockMaker(MockMakers.SUBCLASS).defaultAnswer(call -> {
            if (numbers.contains(call.getMethod().getName()) && isAskedBy(method) && ++asked[0] == number) work.pass();
            return ask(log, call);
        })));
        boolean stalls = work.begin();
        show(partition, log);
        return stalls;
    }

    private static void show(Partition partition, Object log) { Parts.ask(partition, "log_$eq", Option.apply(log)); }

    private static boolean isAskedBy(String method) {
        return StackWalker.getInstance().walk(frames -> frames.anyMatch(
            frame -> frame.getClassName().equals(Partition.class.getName()) && frame.getMethodName().equals(method)));
    }

    private static Object ask(Object log, InvocationOnMock call) throws Throwable {
        try {
            call.getMethod().setAccessible(true);
            return call.getMethod().invoke(log, call.getArguments());
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
