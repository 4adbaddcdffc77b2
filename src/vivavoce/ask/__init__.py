"""The asking engine: every request to a model passes here, once.

Bounded workers per model; per endpoint a limit on what is on the wire, which follows what the endpoint bears;
rates, attempts with jitter, a price, one way to stop. What comes of a request is handed to `keep` at once, a
failure too, so that a call that is cut short loses nothing. What the program itself wants to know it asks
at a `Desk`.
"""

from vivavoce.ask.desk import Desk, Heard
from vivavoce.ask.engine import ask
from vivavoce.ask.work import Answer, Job, Tally, Work
from vivavoce.models.gate import Limits

__all__ = ["Answer", "Desk", "Heard", "Job", "Limits", "Tally", "Work", "ask"]
