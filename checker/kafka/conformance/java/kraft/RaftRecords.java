package highwater;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Readable;
import org.apache.kafka.common.protocol.Writable;
import org.apache.kafka.server.common.serialization.RecordSerde;

/** Records of metadata as texts. */
final class RaftRecords implements RecordSerde<String> {
    @Override public int recordSize(String text, ObjectSerializationCache cache) { return text.getBytes(StandardCharsets.UTF_8).length; }
    @Override public void write(String text, ObjectSerializationCache cache, Writable out) { out.writeByteArray(text.getBytes(StandardCharsets.UTF_8)); }
    @Override public String read(Readable in, int size) { return new String(in.readArray(size), StandardCharsets.UTF_8); }
}
