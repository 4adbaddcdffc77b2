"""How far a rater can be believed: judges, juries, people."""
