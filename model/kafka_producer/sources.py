"""Where the producer model's actions and settings are in Kafka.

Places are methods at commit 1eb7644 (trunk, 2024-10-25). A release is the first with the rule, in
whichever class it then was: as Kafka's tags show, or for fixes as `docs/clients.md` says.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.sources import Source, sources_in

_ACTIONS = """
action | in Kafka | first release | about it | settings
application_send | KafkaProducer.doSend | 0.8.1 | | partitioner.class, batch.size
application_send_without_key | BuiltInPartitioner.updatePartitionInfo | 0.8.1 |
    KIP-480, KIP-794, KAFKA-10888 | partitioner.class, batch.size
sender_send_batch | UnifiedLog.append | 0.8.1 | KIP-98, KAFKA-3197, KAFKA-15591 |
    enable.idempotence, acks, max.in.flight.requests.per.connection, in.flight.mutes.partition,
    first.sequence, producer.epoch.by.partition
sender_send_known_batch | ProducerStateEntry.findDuplicateBatch | 0.11.0.0 |
    KIP-98, KAFKA-5494, KAFKA-7190 | producer.batches.kept, producer.state.outlives.records
sender_send_out_of_order_batch | ProducerAppendInfo.checkSequence | 0.11.0.0 |
    KIP-98, KAFKA-12152, KAFKA-15591 | first.sequence, producer.epoch.by.partition
sender_send_batch_in_vain | ReplicaManager.appendRecords | 0.8.1 | | acks
sender_send_unreplicated_batch | Partition.checkEnoughReplicasReachOffset | 0.8.2.0
sender_send_refused_batch | UnifiedLog.analyzeAndValidateRecords | 0.8.1 | | acks
sender_send_late_batch | NetworkClient.handleTimedOutRequests | 0.8.1 | | enable.idempotence
broker_handle_late_request | KafkaApis.handleProduceRequest | 0.8.1 | | enable.idempotence
producer_receive_answer | Sender.completeBatch | 0.8.1 | | enable.idempotence
producer_receive_error | Sender.reenqueueBatch | 0.8.1 | | enable.idempotence, retries
producer_receive_out_of_order | TransactionManager.canRetry | 1.0.0 | KAFKA-5494, KAFKA-14034 |
    epoch.bump
producer_receive_refusal | TransactionManager.handleFailedBatch | 0.8.1 | KIP-360, KAFKA-14034 |
    enable.idempotence, epoch.bump
producer_time_out | NetworkClient.handleTimedOutRequests | 0.9.0.0 | | retries
producer_expire_batch | RecordAccumulator.expiredBatches | 0.9.0.0 | KIP-91 | enable.idempotence
producer_lose_connection | NetworkClient.cancelInFlightRequests | 0.8.1 | | retries
sender_resolve_sequences | TransactionManager.maybeResolveSequences | 1.0.0 | KAFKA-5793
sender_bump_epoch | TransactionManager.bumpIdempotentProducerEpoch | 2.6.0 | KIP-360, KAFKA-8805
broker_change_leader | Partition.makeLeader | 0.8.1 | KAFKA-3197
broker_lose_power | LogSegment.recover | 0.8.1 | | acks
broker_lose_power_within_batch | LogSegment.recover | 0.8.1 | KIP-98 | batch.is.one.entry
broker_delete_records | UnifiedLog.maybeIncrementLogStartOffset | 0.8.1 | KAFKA-7190
producer_restart | TransactionManager.bumpIdempotentEpochAndResetIdIfNeeded | 0.8.1 | KIP-98
operator_add_partition | ReplicationControlManager.createPartitions | 0.8.1
"""

_SETTINGS = """
setting | in Kafka | first release | about it
acks | Partition.checkEnoughReplicasReachOffset | 0.8.1 | KIP-679
batch.size | RecordAccumulator.append | 0.8.1
retries | Sender.canRetry | 0.8.1 | KIP-91
max.in.flight.requests.per.connection | InFlightRequests.canSendMore | 0.8.2.0
enable.idempotence | ProducerConfig.postProcessAndValidateIdempotenceConfigs | 0.11.0.0 |
    KIP-98, KIP-679, KAFKA-13598, KAFKA-13673
partitioner.class | KafkaProducer.partition | 0.8.1 | KIP-480, KIP-794
producer.batches.kept | ProducerStateEntry.addBatchMetadata | 1.0.0 | KAFKA-5494
in.flight.mutes.partition | RecordAccumulator.mutePartition | 0.10.0.0 | KAFKA-3197
batch.is.one.entry | DefaultRecordBatch.ensureValid | 0.11.0.0 | KIP-98
producer.state.outlives.records | ProducerStateManager.onLogStartOffsetIncremented | 2.5.0 |
    KAFKA-7190
first.sequence | ProducerAppendInfo.checkSequence | | KAFKA-15591
producer.epoch.by.partition | TransactionManager.maybeUpdateProducerIdAndEpoch | 2.8.0 |
    KAFKA-12152
epoch.bump | TransactionManager.handleFailedBatch | | KAFKA-14034
"""

ACTION_SOURCES: Mapping[str, Source] = dict(sources_in(_ACTIONS))
SETTING_SOURCES: Mapping[str, Source] = dict(sources_in(_SETTINGS))
