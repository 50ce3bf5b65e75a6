"""Kafka's own classes in tests: releases that are asked, and what is chosen where it is free."""

VERSION, NEWEST = "4.1.0", "4.3.1"  # the newest whose sources are published, to lay fixes on
CHOSEN = {"min.insync.replicas": "2", "isr.answer.apart": "true", "fetch.answers": "in_flight"}
