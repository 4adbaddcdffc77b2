"""Submissions to a challenge: the CodaBench competition that takes them, and the board that ranks them."""
