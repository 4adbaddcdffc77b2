"""Estimates, ranks and thresholds: how candidates stand."""
