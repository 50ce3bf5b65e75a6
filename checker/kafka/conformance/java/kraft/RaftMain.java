package highwater;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes the steps of runs on real controllers, as `Lines` are asked.
 *
 * A run is {"nodes", "voters": [id...], "first", "segments", "auto_join", "static", "steps": [[name, argument...]...]}, and
 * a state [node...], each what it shows in words. With "cells": [[name, index...]...] and "flushes" it is one of the
 * model, with its actions for steps, and a state is a number for each cell.
 */
public final class RaftMain {
    public static void main(String[] arguments) throws Exception {
        File root = new File(arguments[0]);
        Lines.serve(root, (asked, answer, states) -> run(root, asked, answer, states));
    }

    private static void run(File root, JsonNode asked, ObjectNode answer, ArrayNode states) {
        List<Integer> voters = new ArrayList<>();
        for (JsonNode id : asked.get("voters")) voters.add(id.asInt());
        boolean ofModel = asked.has("cells");
        RaftWorld world = new RaftWorld(root, asked.get("nodes").asInt(), voters, asked.path("first").asInt(), asked.path("segments").asBoolean(), asked.path("auto_join").asBoolean(), asked.path("static").asBoolean(), ofModel);
        try {
            if (ofModel) takeActions(world, asked, answer, states);
            else takeSteps(world, asked, answer, states);
        } finally {
            world.close();
        }
    }

    private static void takeSteps(RaftWorld world, JsonNode asked, ObjectNode answer, ArrayNode states) {
        RaftSteps steps = new RaftSteps(world);
        show(world, states);
        for (JsonNode step : asked.get("steps")) {
            steps.take(step.get(0).asText(), Lines.numbers(step));
            if (!steps.note.isEmpty()) Lines.keep(answer, "notes", states.size(), List.of(steps.note));
            show(world, states);
        }
    }

    private static void takeActions(RaftWorld world, JsonNode asked, ObjectNode answer, ArrayNode states) {
        RaftActions actions = new RaftActions(world, asked.get("flushes").asBoolean());
        actions.begin(world.nodes.size() - asked.get("voters").size());
        RaftNumbers numbers = new RaftNumbers(world, actions, asked.get("cells"));
        Lines.walk(asked, answer, states, actions::take, () -> {
            for (RaftNode node : world.nodes.values()) if (node.failure != null) world.fail("node " + node.id + ": " + node.failure);
            return numbers.read();
        }, world.failures, world.notes);
    }

    private static void show(RaftWorld world, ArrayNode states) {
        ArrayNode state = states.addArray();
        for (RaftNode node : world.nodes.values()) state.add(RaftProjection.words(node));
    }
}
