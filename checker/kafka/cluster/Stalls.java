import com.sun.jdi.Bootstrap;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.EventRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Stalls one thread of a JVM: the first that comes to a method, before it does anything there.
 *
 * All other threads go on, also through that method. Says "ready", then "stalled THREAD"; the thread goes on when
 * this process ends, in whatever way. Arguments: the port on which the JVM waits for a debugger, class and method, and
 * perhaps the class and the method that have to have called it.
 */
public final class Stalls {
    public static void main(String[] arguments) throws Exception {
        VirtualMachine machine = attach(arguments[0]);
        List<BreakpointRequest> places = places(machine, arguments[1], arguments[2]);
        String caller = arguments.length > 3 ? arguments[3] + "." + arguments[4] : "";
        System.out.println("ready");
        try {
            System.out.println("stalled " + first(machine, places, caller));
            while (true) machine.eventQueue().remove().resume();
        } catch (VMDisconnectedException gone) {
            // the JVM has ended, and its threads with it
        }
    }

    private static VirtualMachine attach(String port) throws Exception {
        for (AttachingConnector connector : Bootstrap.virtualMachineManager().attachingConnectors())
            if (connector.transport().name().equals("dt_socket")) {
                Map<String, Connector.Argument> where = connector.defaultArguments();
                where.get("hostname").setValue("127.0.0.1");
                where.get("port").setValue(port);
                return connector.attach(where);
            }
        throw new IllegalStateException("this JDK has no debugger");
    }

    /**
     * The beginning of each method of that name; its class is loaded, since it has been at work. A class that has
     * another name in another release: A|B.
     */
    private static List<BreakpointRequest> places(VirtualMachine machine, String type, String name) {
        List<BreakpointRequest> found = new ArrayList<>();
        for (String each : type.split("\\|"))
            for (ReferenceType known : machine.classesByName(each))
                for (Method method : known.methodsByName(name)) {
                    Location start = method.location();
                    if (start == null) continue; // abstract
                    BreakpointRequest request = machine.eventRequestManager().createBreakpointRequest(start);
                    request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
                    request.enable();
                    found.add(request);
                }
        if (found.isEmpty()) throw new IllegalStateException("no method " + type + "." + name + " is loaded");
        return found;
    }

    /** The thread that comes first, which stays there; those that came at the same time go on. */
    private static String first(VirtualMachine machine, List<BreakpointRequest> places, String caller) throws Exception {
        String stalled = null;
        while (true) {
            EventSet events = machine.eventQueue().remove(stalled == null ? 0 : 200);
            if (events == null) return stalled;
            BreakpointEvent hit = null;
            for (Event event : events) if (event instanceof BreakpointEvent) hit = (BreakpointEvent) event;
            if (hit != null && stalled == null && isCalledBy(hit.thread(), caller)) {
                stalled = hit.thread().name();
                for (BreakpointRequest place : places) place.disable();
            } else {
                events.resume();
            }
        }
    }

    private static boolean isCalledBy(ThreadReference thread, String caller) throws IncompatibleThreadStateException {
        if (caller.isEmpty()) return true;
        Method method = thread.frame(1).location().method();
        return caller.equals(method.declaringType().name() + "." + method.name());
    }
}
