"""Runs out as the files of other tools, one module a tool, and what these share."""
