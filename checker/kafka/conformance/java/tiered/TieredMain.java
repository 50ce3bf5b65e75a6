package highwater;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;

/**
 * Takes the steps of runs on brokers with remote storage, as `Lines` are asked.
 *
 * A run is {"brokers", "copies", "cells": [[name, index...]...], "steps": [[name, argument...]...]}, and a state a
 * number for each cell.
 */
public final class TieredMain {
    public static void main(String[] arguments) throws Exception {
        File root = new File(arguments[0]);
        Lines.serve(root, (asked, answer, states) -> run(root, asked, answer, states));
    }

    private static void run(File root, JsonNode asked, ObjectNode answer, ArrayNode states) {
        TieredWorld world = new TieredWorld(root, asked.get("brokers").asInt(), asked.get("copies").asInt());
        try {
            TieredActions actions = new TieredActions(world);
            TieredNumbers numbers = new TieredNumbers(world, actions, asked.get("cells"));
            show(world, answer, states, numbers);
            for (JsonNode step : asked.get("steps")) {
                actions.take(step.get(0).asText(), Lines.numbers(step));
                show(world, answer, states, numbers);
            }
        } finally {
            world.close();
        }
    }

    private static void show(TieredWorld world, ObjectNode answer, ArrayNode states, TieredNumbers numbers) {
        Lines.keep(answer, "failures", states.size(), world.failures);
        Lines.keep(answer, "notes", states.size(), world.notes);
        ArrayNode state = states.addArray();
        for (long number : numbers.read()) state.add(number);
    }
}
