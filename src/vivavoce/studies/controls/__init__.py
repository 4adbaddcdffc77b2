"""Every rater of a run against its control cases."""
