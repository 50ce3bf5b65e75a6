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
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Runs that are asked for by lines of JSON, each answered by one, whatever takes their steps.
 *
 * The answer is {"states": [[...]...], "notes": {state: [words]}, "failures": {state: [words]}, "stopped": words}:
 * a state more than steps, unless an exception stopped the run. The process ends when its input does, and takes its
 * files with it.
 */
final class Lines {
    interface Run { void take(JsonNode asked, ObjectNode answer, ArrayNode states) throws Exception; }

    interface Actions { void take(String name, int[] arguments); }

    interface Numbers { long[] read(); }

    private static final ObjectMapper JSON = new ObjectMapper();

    private Lines() { }

    /** Answers lines until there are none. */
    static void serve(File root, Run run) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
        System.setOut(System.err);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> wipe(root)));
        try {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.println(JSON.writeValueAsString(answer(run, JSON.readTree(line))));
                out.flush();
            }
        } finally {
            wipe(root);
        }
        System.exit(0);
    }

    private static ObjectNode answer(Run run, JsonNode asked) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            run.take(asked, answer, answer.putArray("states"));
        } catch (Exception e) {
            StringBuilder words = new StringBuilder(e.toString());
            for (StackTraceElement frame : e.getStackTrace()) words.append(" < ").append(frame);
            answer.put("stopped", words.toString());
        }
        return answer;
    }

    /** Takes the asked steps. A state is what is read, a number for each cell, with what was said of it since the last. */
    static void walk(JsonNode asked, ObjectNode answer, ArrayNode states, Actions actions, Numbers numbers, List<String> failures, List<String> notes) {
        show(answer, states, numbers, failures, notes);
        for (JsonNode step : asked.get("steps")) {
            actions.take(step.get(0).asText(), numbers(step));
            show(answer, states, numbers, failures, notes);
        }
    }

    static void show(ObjectNode answer, ArrayNode states, Numbers numbers, List<String> failures, List<String> notes) {
        ArrayNode state = JSON.createArrayNode();
        for (long number : numbers.read()) state.add(number);
        keep(answer, "failures", states.size(), failures);
        keep(answer, "notes", states.size(), notes);
        failures.clear();
        notes.clear();
        states.add(state);
    }

    /** The numbers of a step, which has its name first. */
    static int[] numbers(JsonNode step) {
        int[] numbers = new int[step.size() - 1];
        for (int i = 0; i < numbers.length; i++) numbers[i] = step.get(i + 1).asInt();
        return numbers;
    }

    /** Keeps what was said of a state, if anything was. */
    static void keep(ObjectNode answer, String kind, int state, List<String> words) {
        if (words.isEmpty()) return;
        JsonNode known = answer.get(kind);
        ObjectNode states = known == null ? answer.putObject(kind) : (ObjectNode) known;
        ArrayNode kept = states.putArray(Integer.toString(state));
        words.forEach(kept::add);
    }

    /** Deletes a file, or a directory with all in it. */
    static void wipe(File file) {
        File[] inside = file.listFiles();
        if (inside != null) for (File each : inside) wipe(each);
        file.delete();
    }
}
