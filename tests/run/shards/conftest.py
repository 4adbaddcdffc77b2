"""An exam of questions, and an endpoint on a real socket that counts what it was asked."""

from tests.run.collect.conftest import endpoint, exam, fake, limits, serving

__all__ = ["endpoint", "exam", "fake", "limits", "serving"]
