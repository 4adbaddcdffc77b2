"""Ranking over Scoring (De la Iglesia et al., 2025): arguments are worth what they do for a proxy task."""
