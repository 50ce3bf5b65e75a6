package highwater;

import java.io.IOException;
import java.util.concurrent.SynchronousQueue;

/**
 * A load of the transaction log, in a thread of its own, which waits before each read but the first.
 *
 * It has read so many batches, one a read. It waits where `TransactionStateManager` asks for the log's
 * end, with no lock.
 */
final class TxnLoad {
    private final TxnWorld world;
    private final Runnable task;
    private final SynchronousQueue<Boolean> goesOn = new SynchronousQueue<>(), waits = new SynchronousQueue<>();
    private Thread thread;
    private long until;
    private boolean moved, fails, isDone;
    private Throwable thrown;
    /** The offset up to which it has read. */
    long read;
    /** What its last read gave. */
    TxnLog.Said last;

    TxnLoad(TxnWorld world, Runnable task) {
        this.world = world;
        this.task = task;
    }

    /** It waits between two reads. */
    boolean isUnderWay() { return thread != null && !isDone; }

    /** It has read up to this offset, and waits. */
    void readTo(long offset) {
        until = offset;
        go();
    }

    void finish() {
        until = Long.MAX_VALUE;
        go();
    }

    /** The log is the broker's own no more. */
    void abandon() {
        moved = true;
        finish();
    }

    /** The next read fails. */
    void fail() {
        fails = true;
        finish();
    }

    private void go() {
        if (isDone) throw new IllegalStateException("the load is done");
        try {
            if (thread == null) {
                thread = new Thread(this::run);
                thread.setDaemon(true);
                thread.start();
            } else {
                goesOn.put(true);
            }
            waits.take();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (thrown != null) throw new IllegalStateException("a load failed", thrown);
    }

    private void run() {
        try {
            task.run();
        } catch (Throwable e) {
            thrown = e;
        }
        isDone = true;
        hand(waits);
    }

    private static void hand(SynchronousQueue<Boolean> to) {
        try {
            to.put(true);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What the replica manager says of the log's end, once the load may go on; null if it has none. */
    Long end() {
        if (read >= until) {
            hand(waits);
            try {
                goesOn.take();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        return moved ? null : (Long) world.log.log.end();
    }

    /** A read of the log itself. */
    Object read(Object[] arguments) throws IOException {
        if (fails) throw new IOException("a disk");
        Object found = Parts.ask(world.log.log.log, "read", arguments);
        for (TxnUnified.Entry entry : world.log.log.entries(found)) {
            last = TxnLog.said(entry);
            read = entry.offset() + 1;
        }
        return found;
    }
}
