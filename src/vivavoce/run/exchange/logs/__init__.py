"""Readers of the logs of other tools: one file for each tool, registered with `@log_reader(name)`."""
