package highwater;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.util.HashMap;
import java.util.Map;

/**
 * Takes the steps of runs on brokers and a controller, as `Lines` are asked.
 *
 * A run is {"brokers", "replicas", "first_partition_replicas", "min_isr", "later_min_isr", "answers_apart", "elr", "racks", "flushed", "unsynced", "epochs_kept", "reads_late", "record_segments", "late_log_starts", "late_epochs", "two_directories", "commits_first", "acks", "cells": [[name, index...]...], "steps": [[action, argument...]...]};
 * or has, for "steps", "drive": {"seed", "steps", "records", "epochs", "faults", "false_fencings", "elections", "fail_overs"};
 * then the answer has "events": [[name, broker...]...] too. A state is a number for each cell.
 */
public final class Main {
    public static void main(String[] arguments) throws Exception {
        File root = new File(arguments[0]);
        Lines.serve(root, (asked, answer, states) -> run(root, asked, answer, states));
    }

    private static void run(File root, JsonNode asked, ObjectNode answer, ArrayNode states) {
        World world = new World(root, asked.get("brokers").asInt(), asked.get("replicas").asInt(), asked.get("first_partition_replicas").asInt(), topicSettings(asked), asked.get("elr").asBoolean(), !asked.has("drive"), asked.get("two_directories").asBoolean());
        try {
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
            if (asked.has("drive")) drive(asked.get("drive"), answer, world, states, projection);
            else Lines.walk(asked, answer, states, steps::take, projection::read, world.failures, world.notes);
        } finally {
            world.close();
        }
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
        Lines.show(answer, states, projection::read, world.failures, world.notes);
        for (int left = asked.get("steps").asInt(); left > 0; left--) {
            Driver.Event event = driver.step();
            if (event == null) return;
            ArrayNode told = events.addArray().add(event.name());
            for (int broker : event.brokers()) told.add(broker);
            Lines.show(answer, states, projection::read, world.failures, world.notes);
        }
    }
}
