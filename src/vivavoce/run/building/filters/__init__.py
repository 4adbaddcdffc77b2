"""Filters that every recipe can use: each reports what it finds, and drops only when it is told to."""
