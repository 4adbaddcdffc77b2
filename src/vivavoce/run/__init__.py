"""The verbs on a run: a file or a folder for each, and `Run`, which has them as methods."""
