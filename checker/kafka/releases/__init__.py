"""Published Kafka releases: their jars, a JDK, and Java or Scala compiled against them."""
