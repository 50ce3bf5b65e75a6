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
import java.util.ArrayList;
import java.util.List;

/**
 * Reads a run a line, takes its steps on real controllers, and answers with a line: the states, one more than steps.
 *
 * A run is {"nodes", "voters": [id...], "first", "segments", "auto_join", "steps": [[name, argument...]...]};
 * the answer {"states": [[node...]...], "notes": {step: words}, "stopped": words}.
 * With "cells": [[name, index...]...] and "flushes" it is one of the model, with its actions for steps,
 * and the states are numbers; {"failures": {step: [words]}} has what could not be done.
 * The process ends when its input does, and takes the controllers' files with it.
 */
public final class RaftMain {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        File root = new File(arguments[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
        System.setOut(System.err);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> RaftFiles.wipe(root)));
        try {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.println(JSON.writeValueAsString(run(root, JSON.readTree(line))));
                out.flush();
            }
        } finally {
            RaftFiles.wipe(root);
        }
        System.exit(0);
    }

    private static ObjectNode run(File root, JsonNode asked) {
        ObjectNode answer = JSON.createObjectNode();
        ArrayNode states = answer.putArray("states");
        RaftWorld world = null;
        try {
            List<Integer> voters = new ArrayList<>();
            for (JsonNode id : asked.get("voters")) voters.add(id.asInt());
            boolean ofModel = asked.has("cells");
            world = new RaftWorld(root, asked.get("nodes").asInt(), voters, asked.path("first").asInt(), asked.path("segments").asBoolean(), asked.path("auto_join").asBoolean(), ofModel);
            if (ofModel) takeActions(world, asked, answer, states);
            else takeSteps(world, asked, answer, states);
        } catch (Exception e) {
            StringBuilder words = new StringBuilder(e.toString());
            for (StackTraceElement frame : e.getStackTrace()) words.append(" < ").append(frame);
            answer.put("stopped", words.toString());
        } finally {
            if (world != null) world.close();
        }
        return answer;
    }

    private static void takeSteps(RaftWorld world, JsonNode asked, ObjectNode answer, ArrayNode states) {
        RaftSteps steps = new RaftSteps(world);
        show(world, states);
        for (JsonNode step : asked.get("steps")) {
            steps.take(step.get(0).asText(), numbers(step));
            if (!steps.note.isEmpty()) answer.withObjectProperty("notes").put(Integer.toString(states.size()), steps.note);
            show(world, states);
        }
    }

    private static void takeActions(RaftWorld world, JsonNode asked, ObjectNode answer, ArrayNode states) {
        RaftActions actions = new RaftActions(world, asked.get("flushes").asBoolean());
        actions.begin(world.nodes.size() - asked.get("voters").size());
        RaftNumbers numbers = new RaftNumbers(world, actions, asked.get("cells"));
        compare(world, answer, states, numbers);
        for (JsonNode step : asked.get("steps")) {
            actions.take(step.get(0).asText(), numbers(step));
            compare(world, answer, states, numbers);
        }
    }

    private static int[] numbers(JsonNode step) {
        int[] numbers = new int[step.size() - 1];
        for (int i = 0; i < numbers.length; i++) numbers[i] = step.get(i + 1).asInt();
        return numbers;
    }

    private static void compare(RaftWorld world, ObjectNode answer, ArrayNode states, RaftNumbers read) {
        for (RaftNode node : world.nodes.values()) if (node.failure != null) world.fail("node " + node.id + ": " + node.failure);
        keep(answer, "failures", states.size(), world.failures);
        keep(answer, "notes", states.size(), world.notes);
        ArrayNode state = states.addArray();
        for (long number : read.read()) state.add(number);
    }

    private static void keep(ObjectNode answer, String kind, int state, List<String> words) {
        if (words.isEmpty()) return;
        ArrayNode kept = answer.withObjectProperty(kind).putArray(Integer.toString(state));
        words.forEach(kept::add);
        words.clear();
    }

    private static void show(RaftWorld world, ArrayNode states) {
        ArrayNode state = states.addArray();
        for (RaftNode node : world.nodes.values()) state.add(RaftProjection.words(node));
    }
}
