"""Panels, reviews and labels: verbs that people's judgements pass through."""
