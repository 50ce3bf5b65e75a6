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
            Lines.walk(asked, answer, states, actions::take, numbers::read, world.failures, world.notes);
        } finally {
            world.close();
        }
    }
}
