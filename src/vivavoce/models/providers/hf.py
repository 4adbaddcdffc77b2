"""Models in this process: `hf/NAME`, a hub id or a folder."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from vivavoce.core import registry
from vivavoce.models.local.loading import SETTINGS, is_path
from vivavoce.models.providers import Provider
from vivavoce.models.rate_limit import Limits
from vivavoce.models.requests import Model

_CACHED = re.compile("models--(?P<id>.+)")
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
    takes_gpus = True
    configured = "never"

    @classmethod
    def check_gpus(cls, gpus: Sequence[int]) -> None:
        """Raise `InputError` for a GPU that is not there. Imports torch."""
        from vivavoce.models.local.devices import gpu_devices

        gpu_devices(gpus)

    @classmethod
    def normalised(cls, model: str) -> str:
        """One folder has one name, however it is written."""
        return os.path.normpath(model)

    @classmethod
    def label(cls, model: str) -> str:
        """The last folder of a path, a snapshot in the hub's cache by the id it was fetched under.

        A hub id and a folder written like one, such as `models/small`, stay as they are.
        """
        if not is_path(model):
            return model
        folder = Path(model).expanduser().absolute()
        if folder.parent.name == "snapshots" and (cached := _CACHED.fullmatch(folder.parent.parent.name)):
            return cached["id"].replace("--", "/")
        return folder.name or model

    def connect(self) -> Model:
        """The model with its tokeniser; weights are loaded by the first request."""
        from vivavoce.models import local  # not above: it needs torch and transformers

        if gpus := self.options.get("gpus"):
            from vivavoce.models.local.devices.pool import connect_pool

            return connect_pool(self.name, self.model, self.options, gpus)
        return local.connect(self.name, self.model, self.options)
