package highwater;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** What disks may still have of logs that were truncated, as long as nothing has synced their files. */
final class UnsyncedLogs {
    private final World world;
    private final Was[] atStep = new Was[World.MOST_BROKERS], before = new Was[World.MOST_BROKERS];
    /** A power loss may undo a truncation; else nothing is kept. */
    boolean kept;

    /** A log, and the bytes of its segments by the names of their files. */
    private record Was(List<int[]> log, Map<String, byte[]> segments) { }

    UnsyncedLogs(World world) { this.world = world; }

    void beforeStep() {
        for (int b = 0; kept && b < world.brokers.length; b++) atStep[b] = world.brokers[b] == null ? null : now(b);
    }

    /** `flushed`: each append is synced. */
    void afterStep(boolean flushed) {
        for (int b = 0; kept && b < world.brokers.length; b++) {
            if (world.brokers[b] == null) {
                if (world.disks[b].hasCleanStop()) before[b] = null;
                continue;
            }
            List<int[]> log = world.disks[b].log();
            if (atStep[b] == null) continue;
            if (log.size() < atStep[b].log.size() && before[b] == null) before[b] = atStep[b];
            boolean appended = log.size() > atStep[b].log.size();
            if (appended && before[b] != null && (flushed || begins(log, before[b].log))) before[b] = null;
        }
    }

    /** The file system has synced the truncation, or the disk is read again. */
    void forget(int broker) { before[broker] = null; }

    /** The broker, which is down, has `left` records of its log as it was before the truncation. */
    void bringBack(int broker, long left) {
        if (before[broker] == null) world.fail("broker " + broker + " has truncated nothing that may come back");
        else world.disks[broker].put(before[broker].segments);
        world.disks[broker].cut(left);
        forget(broker);
    }

    private Was now(int broker) { return new Was(new ArrayList<>(world.disks[broker].log()), world.disks[broker].bytes()); }

    private static boolean begins(List<int[]> log, List<int[]> other) {
        if (other.size() > log.size()) return false;
        for (int at = 0; at < other.size(); at++) if (!Arrays.equals(log.get(at), other.get(at))) return false;
        return true;
    }
}
