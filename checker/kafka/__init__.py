"""What runs or reads Kafka: releases, clusters, conformance, audits, operators' questions."""
