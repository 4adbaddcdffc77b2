"""The version, in the one place that the build reads it from."""

__version__ = "0.2.0.dev0"
