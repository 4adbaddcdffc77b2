"""Published systems: a folder for each paper, written against the public doors only."""
