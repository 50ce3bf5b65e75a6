"""The model compared with Kafka's own classes, which are stepped on one thread without sockets."""
