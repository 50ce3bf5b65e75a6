package highwater;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * What Kafka's assignors give: a question a line, an answer a line.
 *
 * <p>{@code ASSIGNOR PARTITIONS GENERATION:OWNED ...}: an assignor by its name, how many partitions
 * the topic has, and for each member, in the order of member ids, the generation of what it says
 * that it owns (-1 for none) and the numbers of those partitions, together. The answer has for each
 * member the numbers of what it is given.
 */
public final class GroupRules {
    private static final String TOPIC = "topic";
    private static final Map<String, ConsumerPartitionAssignor> ASSIGNORS = Map.of(
        "range", new RangeAssignor(),
        "roundrobin", new RoundRobinAssignor(),
        "sticky", new StickyAssignor(),
        "cooperative-sticky", new CooperativeStickyAssignor()
    );

    private GroupRules() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<String> words = Arrays.asList(line.split(" "));
            out.println(assigned(
                ASSIGNORS.get(words.get(0)), Integer.parseInt(words.get(1)), words.subList(2, words.size())
            ));
        }
        out.flush();
    }

    private static String assigned(ConsumerPartitionAssignor assignor, int partitions, List<String> members) {
        Map<String, Subscription> subscriptions = new TreeMap<>();
        for (int number = 0; number < members.size(); number++) {
            String[] parts = members.get(number).split(":", -1);
            List<TopicPartition> owned = new ArrayList<>();
            for (char digit : parts[1].toCharArray()) {
                owned.add(new TopicPartition(TOPIC, digit - '0'));
            }
            int generation = Integer.parseInt(parts[0]);
            subscriptions.put("member-" + number, new Subscription(
                List.of(TOPIC), remembered(owned, generation), owned, generation, Optional.empty()
            ));
        }
        var given = assignor.assign(cluster(partitions), new GroupSubscription(subscriptions)).groupAssignment();
        StringJoiner answer = new StringJoiner(" ");
        for (String member : subscriptions.keySet()) {
            StringBuilder numbers = new StringBuilder("-");
            given.get(member).partitions().stream().map(TopicPartition::partition).sorted().forEach(numbers::append);
            answer.add(numbers);
        }
        return answer.toString();
    }

    /** What a sticky assignor that was given this says of itself when its member joins. */
    private static ByteBuffer remembered(List<TopicPartition> owned, int generation) {
        if (generation < 0) {
            return null;
        }
        StickyAssignor assignor = new StickyAssignor();
        assignor.onAssignment(
            new ConsumerPartitionAssignor.Assignment(owned),
            new ConsumerGroupMetadata("group", generation, "member", Optional.empty())
        );
        return assignor.subscriptionUserData(Set.of(TOPIC));
    }

    private static Cluster cluster(int partitions) {
        Node node = new Node(0, "localhost", 1);
        List<PartitionInfo> infos = new ArrayList<>();
        for (int number = 0; number < partitions; number++) {
            infos.add(new PartitionInfo(TOPIC, number, node, new Node[] {node}, new Node[] {node}));
        }
        return new Cluster("cluster", List.of(node), infos, Set.of(), Set.of());
    }
}
