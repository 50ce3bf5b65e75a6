package highwater;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads a run a line, takes its steps, and answers with a line: the states, one more than steps.
 *
 * A run is {"brokers", "replicas", "first_partition_replicas", "min_isr", "later_min_isr", "answers_apart", "elr", "racks", "flushed", "unsynced", "epochs_kept", "reads_late", "record_segments", "late_log_starts", "late_epochs", "commits_first", "acks", "cells": [[name, index...]...], "steps": [[action, argument...]...]};
 * or has, for "steps", "drive": {"seed", "steps", "records", "epochs", "faults", "false_fencings", "elections", "fail_overs"};
 * the answer {"states": [[number...]...], "notes": {step: [words]}, "failures": {step: [words]}, "stopped": words},
 * and of a drive "events": [[name, broker...]...].
 * The process ends when its input does, and takes the brokers' files with it.
 */
public final class Main {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        File root = new File(arguments[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
        System.setOut(System.err);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> Disk.wipe(root)));
        try {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.println(JSON.writeValueAsString(run(root, JSON.readTree(line))));
                out.flush();
            }
        } finally {
            Disk.wipe(root);
        }
        System.exit(0);
    }

    private static ObjectNode run(File root, JsonNode asked) {
        ObjectNode answer = JSON.createObjectNode();
        ArrayNode states = answer.putArray("states");
        World world = null;
        try {
            world = new World(root, asked.get("brokers").asInt(), asked.get("replicas").asInt(), asked.get("first_partition_replicas").asInt(), topicSettings(asked), asked.get("elr").asBoolean(), !asked.has("drive"));
            Steps steps = new Steps(world);
            for (JsonNode rack : asked.get("racks")) steps.racks.add(rack.asInt());
            steps.flushed = asked.get("flushed").asBoolean();
            steps.unsynced.kept = asked.get("unsynced").asBoolean();
            world.wire.readsLate = asked.get("reads_late").asBoolean();
            world.rounds.epochsKept = asked.get("epochs_kept").asBoolean();
            world.lateLogStarts = asked.get("late_log_starts").asBoolean();
            world.lateEpochs = asked.get("late_epochs").asBoolean();
            steps.commitsFirst = asked.get("commits_first").asBoolean();
            steps.laterMinIsr = asked.get("later_min_isr").asInt();
            steps.answersApart = asked.get("answers_apart").asBoolean();
            steps.acks = (short) asked.get("acks").asInt();
            Projection projection = new Projection(world, steps, asked.get("cells"));
            show(answer, world, states, projection);
            if (asked.has("drive")) drive(asked.get("drive"), answer, world, states, projection);
            for (JsonNode step : asked.path("steps")) {
                int[] numbers = new int[step.size() - 1];
                for (int i = 0; i < numbers.length; i++) numbers[i] = step.get(i + 1).asInt();
                steps.take(step.get(0).asText(), numbers);
                show(answer, world, states, projection);
            }
        } catch (Exception e) {
            StringBuilder words = new StringBuilder(e.toString());
            for (StackTraceElement frame : e.getStackTrace()) words.append(" < ").append(frame);
            answer.put("stopped", words.toString());
        } finally {
            if (world != null) world.close();
        }
        return answer;
    }

    /** Where records are deleted, each has a segment of its own: time passes between two. */
    private static Map<String, String> topicSettings(JsonNode asked) {
        Map<String, String> settings = new HashMap<>(Map.of("min.insync.replicas", asked.get("min_isr").asText()));
        if (asked.get("record_segments").asBoolean()) settings.put("segment.ms", "1");
        return settings;
    }

    private static void drive(JsonNode asked, ObjectNode answer, World world, ArrayNode states, Projection projection) {
        Driver driver = new Driver(world, asked.get("seed").asLong(), asked.get("records").asInt(), asked.get("epochs").asInt(),
            asked.get("faults").asInt(), asked.get("false_fencings").asInt(), asked.get("elections").asInt(), asked.get("fail_overs").asInt());
        ArrayNode events = answer.putArray("events");
        for (int left = asked.get("steps").asInt(); left > 0; left--) {
            Driver.Event event = driver.step();
            if (event == null) return;
            ArrayNode told = events.addArray().add(event.name());
            for (int broker : event.brokers()) told.add(broker);
            show(answer, world, states, projection);
        }
    }

    private static void show(ObjectNode answer, World world, ArrayNode states, Projection projection) {
        keep(answer, "notes", states.size(), world.notes);
        keep(answer, "failures", states.size(), world.failures);
        ArrayNode numbers = states.addArray();
        for (int number : projection.read()) numbers.add(number);
    }

    private static void keep(ObjectNode answer, String kind, int step, List<String> words) {
        if (words.isEmpty()) return;
        ObjectNode byState = (ObjectNode) answer.get(kind);
        ArrayNode kept = (byState == null ? answer.putObject(kind) : byState).putArray(Integer.toString(step));
        words.forEach(kept::add);
    }
}
