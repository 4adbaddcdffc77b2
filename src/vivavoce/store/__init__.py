"""The run: one SQLite file that loses nothing it has committed."""

from vivavoce.store.runfile import RunFile

__all__ = ["RunFile"]
