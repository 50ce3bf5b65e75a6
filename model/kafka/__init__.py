"""One topic partition as operators run it: brokers that crash, disks, clients, Kafka's versions."""
