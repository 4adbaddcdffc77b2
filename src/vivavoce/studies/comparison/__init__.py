"""Candidate against candidate on the same items."""
