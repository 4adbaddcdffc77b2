"""Models in this process: `hf/NAME`, a hub id or a folder."""

import os

from vivavoce.core import registry
from vivavoce.models.local.loading import SETTINGS
from vivavoce.models.providers import Provider
from vivavoce.models.rate_limit import Limits
from vivavoce.models.requests import Model

WAITING = 256
"""Requests that wait for a model in this process: what runs together is chosen from them by length."""


@registry.provider("hf")
class HFProvider(Provider):
    """A model in this process, through torch and transformers: a hub id or a folder."""

    price = (0.0, 0.0)
    limits = Limits(concurrency=WAITING, attempts=1)
    host = ""
    returns_logprobs = True
    branching = True
    settings = SETTINGS
    running = ("batch", "device", "way")
    configured = "never"

    @classmethod
    def normalised(cls, model: str) -> str:
        """One folder has one name, however it is written."""
        return os.path.normpath(model)

    def connect(self) -> Model:
        """The model with its tokeniser; weights are loaded by the first request."""
        from vivavoce.models import local  # not above: it needs torch and transformers

        return local.connect(self.name, self.model, self.options)
