import com.sun.tools.attach.VirtualMachine;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** An attribute that a running node tells by JMX, as an operator's monitoring reads it. */
final class Metrics {
    private Metrics() { }

    /** By the process's own agent, which is started where it is not yet: no port is configured. */
    static Object of(String pid, String bean, String attribute) throws Exception {
        VirtualMachine machine = VirtualMachine.attach(pid);
        try {
            JMXServiceURL address = new JMXServiceURL(machine.startLocalManagementAgent());
            try (JMXConnector connector = JMXConnectorFactory.connect(address)) {
                return connector.getMBeanServerConnection().getAttribute(new ObjectName(bean), attribute);
            }
        } finally {
            machine.detach();
        }
    }
}
