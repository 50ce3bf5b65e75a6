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
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Stalls threads of a JVM, each the first that comes to a method, or comes there at its n-th call, before it does
 * anything there.
 *
 * All other threads go on, also through that method. The argument is the port on which the JVM waits for a debugger. A
 * line asks for one: a name of the stall, class and method, from which call on (1: the first), and perhaps the class and
 * the method that have to have called it. The answers are "ready NAME" or "none NAME", then "stalled NAME THREAD". "go
 * NAME" lets it go on, and all go on when this process ends, in whatever way.
 */
public final class Stalls {
    private static final String STALL = "stall"; // the request's property
    private static VirtualMachine machine;
    private static final Map<String, Stalls> ALL = new ConcurrentHashMap<>();

    private final String name;
    private final String caller;
    private final List<BreakpointRequest> places = new ArrayList<>();
    private int calls; // that are to come before the one that stalls
    private EventSet stalled;

    private Stalls(String[] line) {
        name = line[0];
        calls = Integer.parseInt(line[3]) - 1;
        caller = line.length > 4 ? line[4] + "." + line[5] : "";
        for (String each : line[1].split("\\|"))
            for (ReferenceType known : machine.classesByName(each))
                for (Method method : known.methodsByName(line[2])) breakAt(method);
    }

    public static void main(String[] arguments) throws Exception {
        machine = attach(arguments[0]);
        Thread events = new Thread(Stalls::handleEvents);
        events.setDaemon(true);
        events.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            if (words[0].equals("go")) ALL.remove(words[1]).end();
            else begin(new Stalls(words));
        }
    }

    private static void begin(Stalls stall) {
        if (!stall.places.isEmpty()) {
            ALL.put(stall.name, stall);
            for (BreakpointRequest place : stall.places) place.enable();
        }
        say((stall.places.isEmpty() ? "none " : "ready ") + stall.name);
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

    /** The beginning of a method; its class is loaded, since it has been at work. */
    private void breakAt(Method method) {
        Location start = method.location();
        if (start == null) return; // abstract
        BreakpointRequest request = machine.eventRequestManager().createBreakpointRequest(start);
        request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        request.putProperty(STALL, this);
        places.add(request);
    }

    private static void handleEvents() {
        try {
            while (true) {
                EventSet events = machine.eventQueue().remove();
                boolean stays = false;
                for (Event event : events)
                    if (event instanceof BreakpointEvent)
                        stays |= ((Stalls) event.request().getProperty(STALL)).keeps((BreakpointEvent) event, events);
                if (!stays) events.resume();
            }
        } catch (VMDisconnectedException gone) {
            System.exit(0); // the JVM has ended, and its threads with it
        } catch (InterruptedException | IncompatibleThreadStateException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Whether this is the thread that is to stall; those that come at the same time, or later, go on. */
    private synchronized boolean keeps(BreakpointEvent hit, EventSet events) throws IncompatibleThreadStateException {
        if (stalled != null || !ALL.containsKey(name) || !isCalled(hit.thread()) || calls-- > 0) return false;
        stalled = events;
        for (BreakpointRequest place : places) place.disable();
        say("stalled " + name + " " + hit.thread().name());
        return true;
    }

    private synchronized void end() {
        for (BreakpointRequest place : places) place.disable();
        if (stalled != null) stalled.resume();
    }

    private boolean isCalled(ThreadReference thread) throws IncompatibleThreadStateException {
        if (caller.isEmpty()) return true;
        Method method = thread.frame(1).location().method();
        return caller.equals(method.declaringType().name() + "." + method.name());
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
