"""Tables and facts of a run that several verbs read."""
