package highwater;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.JoinGroupRequestData.JoinGroupRequestProtocol;
import org.apache.kafka.common.message.JoinGroupRequestData.JoinGroupRequestProtocolCollection;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.classic.ClassicGroupMember;
import org.apache.kafka.coordinator.group.classic.ClassicGroupState;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.MemberState;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.coordinator.group.modern.consumer.CurrentAssignmentBuilder;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * What the group coordinator's own classes of 4.0 and later say: a question a line, an answer a line.
 *
 * <p>{@code reconcile STATE EPOCH TARGET_EPOCH ASSIGNED REVOKING TARGET OTHERS OWNED}: the partitions
 * of one topic are {@code -} and their numbers; OTHERS are those that another member has, OWNED what
 * the heartbeat names, or {@code none}. The answer is EPOCH ASSIGNED REVOKING of the member after.
 * {@code consumer KNOWN NAMED EPOCH HAS SINCE}: may a member of the consumer protocol commit partition
 * 0, naming epoch NAMED? Its own is EPOCH; HAS is assigned, revoking or no, and SINCE the epoch of
 * the assignment. {@code classic STATE KNOWN NAMED GENERATION}: the same in a classic group. The
 * answer is Kafka's name of the error, NONE without one.
 */
public final class CoordinatorRules {
    private static final Uuid TOPIC = new Uuid(1, 1);
    private static final String NAME = "topic";
    private static final int OWN_SINCE = 1;
    private static final LogContext CONTEXT = new LogContext();
    private static final boolean HAS_ASSIGNMENT_EPOCHS = hasAssignmentEpochs();

    private CoordinatorRules() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            out.println(switch (words[0]) {
                case "reconcile" -> reconciled(words);
                case "consumer" -> consumerCommit(words);
                case "classic" -> classicCommit(words);
                default -> throw new IllegalArgumentException(line);
            });
        }
        out.flush();
    }

    private static String reconciled(String[] words) throws Exception {
        Set<Integer> revoking = numbers(words[5]);
        Set<Integer> others = numbers(words[7]);
        others.addAll(numbers(words[4]));
        others.addAll(revoking);
        CurrentAssignmentBuilder builder = new CurrentAssignmentBuilder(
            member(words[1], Integer.parseInt(words[2]), numbers(words[4]), revoking, OWN_SINCE));
        Set<Integer> target = numbers(words[6]);
        builder
            .withTargetAssignment(
                Integer.parseInt(words[3]), new Assignment(target.isEmpty() ? Map.of() : Map.of(TOPIC, target)))
            .withCurrentPartitionEpoch((topic, partition) -> others.contains(partition) ? OWN_SINCE : -1);
        if (!words[8].equals("none"))
            builder.withOwnedTopicPartitions(List.of(new ConsumerGroupHeartbeatRequestData.TopicPartitions()
                .setTopicId(TOPIC).setPartitions(List.copyOf(numbers(words[8])))));
        for (Method method : CurrentAssignmentBuilder.class.getMethods())
            if (method.getName().equals("withMetadataImage"))
                method.invoke(builder, image());
        ConsumerGroupMember after = builder.build();
        return after.memberEpoch() + " " + said(after.assignedPartitions()) + " " + said(after.partitionsPendingRevocation());
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static ConsumerGroupMember member(
        String state, int epoch, Set<Integer> assigned, Set<Integer> revoking, int since
    ) {
        Map has = partitions(assigned, since);
        Map losing = partitions(revoking, since);
        return new ConsumerGroupMember.Builder("member").setState(MemberState.valueOf(state)).setMemberEpoch(epoch)
            .setPreviousMemberEpoch(epoch).setSubscribedTopicNames(List.of(NAME))
            .setAssignedPartitions(has).setPartitionsPendingRevocation(losing).build();
    }

    /** Since 4.3 a member's partitions have the epoch of their assignment. */
    private static Map<Uuid, Object> partitions(Set<Integer> numbers, int since) {
        if (numbers.isEmpty())
            return Map.of();
        if (!HAS_ASSIGNMENT_EPOCHS)
            return Map.of(TOPIC, numbers);
        Map<Integer, Integer> epochs = new HashMap<>();
        numbers.forEach(number -> epochs.put(number, since));
        return Map.of(TOPIC, epochs);
    }

    private static boolean hasAssignmentEpochs() {
        for (Method method : ConsumerGroupMember.class.getMethods())
            if (method.getName().equals("assignmentEpoch"))
                return true;
        return false;
    }

    private static String consumerCommit(String[] words) throws Exception {
        ConsumerGroup group = consumerGroup();
        if (Boolean.parseBoolean(words[1])) {
            Set<Integer> one = Set.of(0);
            Set<Integer> none = Set.of();
            group.updateMember(member("STABLE", Integer.parseInt(words[3]), words[4].equals("assigned") ? one : none,
                words[4].equals("revoking") ? one : none, Integer.parseInt(words[5])));
        } else {
            group.updateMember(new ConsumerGroupMember.Builder("another").setState(MemberState.STABLE).build());
        }
        return validated(group, "member", Integer.parseInt(words[2]));
    }

    private static ConsumerGroup consumerGroup() throws Exception {
        SnapshotRegistry registry = new SnapshotRegistry(CONTEXT);
        for (Constructor<?> constructor : ConsumerGroup.class.getConstructors()) {
            if (constructor.getParameterCount() == 3)
                return (ConsumerGroup) constructor.newInstance(CONTEXT, registry, "group");
            return (ConsumerGroup) constructor.newInstance(CONTEXT, registry, "group",
                new GroupCoordinatorMetrics().newMetricsShard(registry, new TopicPartition("__consumer_offsets", 0)));
        }
        throw new IllegalStateException("no constructor");
    }

    private static String classicCommit(String[] words) throws Exception {
        ClassicGroup group = new ClassicGroup(CONTEXT, "group", ClassicGroupState.EMPTY, Time.SYSTEM,
            Integer.parseInt(words[4]), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
        JoinGroupRequestProtocolCollection protocols = new JoinGroupRequestProtocolCollection();
        protocols.add(new JoinGroupRequestProtocol().setName("range").setMetadata(new byte[0]));
        ClassicGroupState state = ClassicGroupState.valueOf(words[1]);
        if (state != ClassicGroupState.EMPTY)
            group.add(new ClassicGroupMember(Boolean.parseBoolean(words[2]) ? "member" : "another", Optional.empty(),
                "client", "host", 1_000, 1_000, "consumer", protocols));
        for (ClassicGroupState next : List.of(ClassicGroupState.PREPARING_REBALANCE,
                ClassicGroupState.COMPLETING_REBALANCE, ClassicGroupState.STABLE)) {
            if (group.isInState(state))
                break;
            group.transitionTo(next);
        }
        return validated(group, "member", Integer.parseInt(words[3]));
    }

    /** Since 4.3 what comes back says of each partition whether it may be committed. */
    private static String validated(Object group, String member, int named) throws Exception {
        for (Method method : group.getClass().getMethods()) {
            if (!method.getName().equals("validateOffsetCommit"))
                continue;
            boolean isShort = method.getParameterTypes()[4] == short.class;
            Object version = isShort ? (Object) Short.valueOf((short) 9) : Integer.valueOf(9);
            try {
                Object validator = method.invoke(group, member, null, named, false, version);
                if (validator != null) {
                    Class<?> type = Class.forName("org.apache.kafka.coordinator.group.CommitPartitionValidator");
                    type.getMethod("validate", String.class, Uuid.class, int.class).invoke(validator, NAME, TOPIC, 0);
                }
            } catch (InvocationTargetException thrown) {
                if (thrown.getCause() instanceof ApiException refused)
                    return Errors.forException(refused).name();
                throw thrown;
            }
            return "NONE";
        }
        throw new IllegalStateException("validateOffsetCommit is not there");
    }

    private static Set<Integer> numbers(String word) {
        Set<Integer> numbers = new HashSet<>();
        for (char digit : word.substring(1).toCharArray())
            numbers.add(digit - '0');
        return numbers;
    }

    /** The numbers of a member's partitions, each with the epoch of its assignment where it has one. */
    private static String said(Map<Uuid, ?> partitions) {
        StringBuilder said = new StringBuilder("-");
        Object numbers = partitions.get(TOPIC);
        if (numbers instanceof Map<?, ?> epochs)
            new TreeMap<>(epochs).forEach((number, epoch) -> said.append(number).append(':').append(epoch).append(','));
        else if (numbers instanceof Set<?> plain)
            new TreeSet<>(plain).forEach(number -> said.append(number).append(','));
        return said.toString();
    }

    /** The coordinator's view of the topic, where a release has such a thing. */
    private static Object image() throws Exception {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        delta.replay(new TopicRecord().setName(NAME).setTopicId(TOPIC));
        return Class.forName("org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataImage")
            .getConstructor(MetadataImage.class).newInstance(delta.apply(MetadataProvenance.EMPTY));
    }
}
