"""Liveness: the state graph as a graph, and the runs without end that it has."""
