"""Candidates and raters compared: estimates, pairs, ranks, gates, and how far a rater can be believed."""
