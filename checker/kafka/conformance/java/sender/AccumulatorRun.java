package highwater;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.apache.kafka.clients.ClientRequest;
import org.apache.kafka.clients.producer.internals.ProducerBatch;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;

/**
 * What Kafka's own accumulator does with records: a run a line, what came of it a line.
 *
 * <p>A line is {@code PARTITIONS SIZE SLACK IDEMPOTENT IN_FLIGHT LINGERS} and then events. A record is 1,000
 * bytes in its batch, and a batch has room for SIZE of them and SLACK bytes. The events: {@code kN} a
 * record with a key, to partition N; {@code nN} one without a key, where the next turn would be
 * partition N's; {@code s} the sender sends what it may, {@code d} and has an
 * answer at once; {@code aN:ERROR} the answer to request N,
 * LOST if its connection is lost; {@code v} the sender resolves sequences, {@code b} starts a new
 * producer epoch if one is wanted; {@code l} another broker leads partition 0; {@code x} the oldest
 * batch has reached delivery.timeout.ms; {@code p} linger.ms is over;
 * {@code f} somebody flushes, {@code c} closes.
 *
 * <p>Of each event is told {@code SENT/QUEUE/...}: the batches that were sent, and the queue of each
 * partition, from its head; or none, if it answers a request that was not sent. A batch is its records
 * joined by +, and once it was sent @EPOCH:SEQUENCE.
 */
public final class AccumulatorRun {
    private static final int RECORD = 1_000;
    private static final int VALUE = RECORD - 9; // lengths and the like
    private static final int HEADER = 61;
    private static final int FIRST_PAUSE = 1_000;
    private static final int LINGER = 2_000;

    private final ManualClock clock = new ManualClock();
    private final List<ProducerBatch> sent = new ArrayList<>();
    private final Map<ClientRequest, Boolean> open = new IdentityHashMap<>();
    private final Map<ProducerBatch, List<Integer>> records = new IdentityHashMap<>();
    private final List<ProducerBatch> pending = new ArrayList<>();
    private final Map<ProducerBatch, Integer> partitions = new IdentityHashMap<>();
    private final Map<ProducerBatch, Long> created = new IdentityHashMap<>();
    private final int[] leaders;
    private final int[] epochs;
    private final OwnSender producer;
    private boolean reachable = true;
    private int issued;

    private AccumulatorRun(String[] words) throws Exception {
        int[] given = Arrays.stream(words, 0, 6).mapToInt(Integer::parseInt).toArray();
        leaders = new int[given[0]];
        epochs = new int[given[0]];
        Arrays.setAll(leaders, number -> number);
        int inFlight = given[4];
        producer = new OwnSender(clock, given[3] == 1, HEADER + given[1] * RECORD + given[2], given[5] * LINGER, inFlight == 1,
            node -> reachable && open.keySet().stream().filter(one -> one.destination().equals(node.idString())).count()
                < inFlight);
        producer.lead(leaders, epochs);
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            AccumulatorRun run = new AccumulatorRun(words);
            StringJoiner told = new StringJoiner(" ");
            for (int word = 6; word < words.length; word++)
                told.add(run.told(words[word]));
            out.println(told);
        }
        out.flush();
    }

    private String told(String event) throws Exception {
        String rest = event.substring(1);
        if (event.charAt(0) == 'a' && Integer.parseInt(rest.split(":")[0]) >= sent.size())
            return "none";
        List<ProducerBatch> went = List.of();
        switch (event.charAt(0)) {
            case 'k' -> append(Integer.parseInt(rest), cluster(0));
            case 'n' -> append(-1, cluster(Integer.parseInt(rest)));
            case 's' -> went = send();
            case 'd' -> went = done();
            case 'a' -> answer(rest.split(":"));
            case 'v' -> OwnSender.called(producer.manager, "maybeResolveSequences");
            case 'b' -> OwnSender.called(producer.manager, "bumpIdempotentEpochAndResetIdIfNeeded");
            case 'l' -> lead();
            case 'x' -> expire();
            case 'p' -> clock.sleep(LINGER);
            case 'f' -> producer.accumulator.beginFlush();
            case 'c' -> producer.accumulator.close();
            default -> throw new IllegalArgumentException(event);
        }
        StringJoiner found = new StringJoiner("/");
        found.add(said(went));
        for (int number = 0; number < leaders.length; number++)
            found.add(said(queue(number)));
        return found.toString();
    }

    private void append(int partition, Cluster cluster) throws Exception {
        Map<ProducerBatch, Integer> before = counted();
        clock.sleep(FIRST_PAUSE >> 2 * issued); // all later pauses are less, so that only the oldest batch expires
        byte[] value = new byte[VALUE];
        producer.append(partition, value, cluster);
        for (Map.Entry<ProducerBatch, Integer> one : counted().entrySet())
            if (one.getValue() > before.getOrDefault(one.getKey(), 0)) {
                if (!records.containsKey(one.getKey())) {
                    pending.add(one.getKey());
                    created.put(one.getKey(), clock.milliseconds());
                }
                records.computeIfAbsent(one.getKey(), batch -> new ArrayList<>()).add(issued++);
            }
    }

    private Map<ProducerBatch, Integer> counted() {
        Map<ProducerBatch, Integer> counts = new IdentityHashMap<>();
        for (int number = 0; number < leaders.length; number++)
            for (ProducerBatch batch : queue(number)) {
                counts.put(batch, batch.estimatedSizeInBytes());
                partitions.put(batch, number);
            }
        return counts;
    }

    private List<ProducerBatch> send() throws Exception {
        List<ProducerBatch> before = new ArrayList<>();
        for (int number = 0; number < leaders.length; number++)
            before.addAll(queue(number));
        int known = producer.requests.size();
        OwnSender.called(producer.sender, "sendProducerData", clock.milliseconds());
        producer.requests.subList(known, producer.requests.size()).forEach(request -> open.put(request, true));
        for (int number = 0; number < leaders.length; number++)
            for (ProducerBatch kept : queue(number))
                before.removeIf(batch -> batch == kept);
        before.removeIf(ProducerBatch::isDone);
        sent.addAll(before);
        return before;
    }

    private void answer(String[] words) {
        int number = Integer.parseInt(words[0]);
        ClientRequest request = producer.requests.get(number);
        open.remove(request);
        Errors error = words[1].equals("LOST") ? null : Errors.valueOf(words[1]);
        ProducerBatch batch = sent.get(number);
        producer.response(request, partitions.get(batch), error, 0).onComplete();
        pending.removeIf(ProducerBatch::isDone);
    }

    /** All that may be sent, and answered. */
    private List<ProducerBatch> done() throws Exception {
        int known = producer.requests.size();
        List<ProducerBatch> went = send();
        for (ClientRequest request : List.copyOf(producer.requests.subList(known, producer.requests.size()))) {
            open.remove(request);
            producer.response(request, Integer.parseInt(request.destination()), Errors.NONE, 0).onComplete();
        }
        return went;
    }

    private void lead() {
        leaders[0] += leaders.length;
        epochs[0]++;
        producer.lead(leaders, epochs);
    }

    /** No broker is reachable meanwhile: the sender sends before it looks at the time. */
    private void expire() throws Exception {
        long until = created.get(pending.get(0)) + OwnSender.DELIVERY_TIMEOUT;
        clock.sleep(Math.max(0, until - clock.milliseconds()));
        reachable = false;
        OwnSender.called(producer.sender, "sendProducerData", clock.milliseconds());
        reachable = true;
        pending.removeIf(ProducerBatch::isDone);
    }

    private Collection<ProducerBatch> queue(int partition) {
        Collection<ProducerBatch> queue = producer.accumulator.getDeque(new TopicPartition("topic", partition));
        return queue == null ? List.of() : queue;
    }

    private String said(Collection<ProducerBatch> batches) {
        StringJoiner found = new StringJoiner(",");
        for (ProducerBatch batch : batches) {
            StringJoiner numbers = new StringJoiner("+");
            records.get(batch).forEach(number -> numbers.add(String.valueOf(number)));
            found.add(batch.hasSequence() ? numbers + "@" + batch.producerEpoch() + ":" + batch.baseSequence()
                : numbers.toString());
        }
        return found.toString();
    }

    /** The topic as a record sees it, with one partition that is available for a turn. */
    private Cluster cluster(int available) {
        Node[] nodes = new Node[leaders.length];
        Arrays.setAll(nodes, number -> new Node(number, "localhost", 1 + number));
        List<PartitionInfo> partitions = new ArrayList<>();
        for (int number = 0; number < leaders.length; number++)
            partitions.add(new PartitionInfo("topic", number, number == available ? nodes[number] : null,
                new Node[] {nodes[number]}, new Node[] {nodes[number]}));
        return new Cluster("cluster", Arrays.asList(nodes), partitions, java.util.Set.of(), java.util.Set.of());
    }
}
