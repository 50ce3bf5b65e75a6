package highwater;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;

/**
 * Takes the steps of the model `kafka_transactions` on Kafka's classes, as `Lines` are asked.
 *
 * A run is {"partitions", "transactions", "failovers", "version", "verifies", "blanks",
 * "cells": [[name, index...]...], "steps": [[action, argument...]...]}, and a state is a number for each cell.
 */
public final class TxnMain {
    private TxnMain() { }

    public static void main(String[] arguments) throws Exception {
        File root = new File(arguments[0]);
        Lines.serve(root, (asked, answer, states) -> run(root, asked, answer, states));
    }

    private static void run(File root, JsonNode asked, ObjectNode answer, ArrayNode states) {
        TxnWorld world = new TxnWorld(root, asked);
        try {
            TxnActions actions = new TxnActions(world);
            TxnNumbers numbers = new TxnNumbers(world, asked.get("cells"));
            Lines.walk(asked, answer, states, actions::take, numbers::read, world.failures, world.notes);
        } finally {
            world.close();
        }
    }
}
