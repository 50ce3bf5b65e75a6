"""The state graph to look at: written down, seen through a view, around a trace, and asked."""
