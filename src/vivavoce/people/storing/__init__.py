"""How ballots are stored: files that come back, the key they are read by, and the scores of a run."""
