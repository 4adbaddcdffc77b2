"""Shards: what a run remembers of its part, how the parts join, and how they become cluster jobs."""
