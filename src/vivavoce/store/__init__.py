"""The run: one SQLite file that loses nothing it has committed."""
