"""A local model on several devices: the same requests and replies, run by a process on each device."""

from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.models import local
from vivavoce.models.gpus import gpus_text
from vivavoce.models.local import devices
from vivavoce.models.local.batching import Job
from vivavoce.models.local.devices.process import DeviceProcess
from vivavoce.models.local.devices.queue import DeviceQueue
from vivavoce.models.local.devices.weight_files import fetch_weights
from vivavoce.models.requests import FatalError, Request


class LocalOpener(NamedTuple):
    """Loads a local model in a device process; `weights` identify the files that it must find."""

    name: str
    model: str
    settings: Mapping[str, Any]
    weights: str | None

    def open(self, device: str) -> local.Local:
        """The model with its weights. Raises `FatalError` where they cannot be loaded, or are others."""
        model = local.connect(self.name, self.model, {**self.settings, "device": device})
        if self.weights and model.facts["weights"] != self.weights:
            raise FatalError(f"{self.name}: its files changed while it was asked: start again.")
        model.load()
        return model


class DevicePool(local.Local):
    """A model on several devices: requests are prepared here, and run in batches by a process on each.

    The weights are loaded once by each process, and never here. A device that cannot load them is left out,
    as long as another can.
    """

    def __init__(self, prototype: local.Local, settings: Mapping[str, Any], gpus: Sequence[int]) -> None:
        super().__init__(
            prototype.name,
            prototype.model,
            prototype.at,
            prototype.settings,
            prototype.tokens,
            prototype.context,
        )
        self._gpus = tuple(gpus)
        own_settings = {key: value for key, value in settings.items() if key != "gpus"}
        opener = LocalOpener(self.name, self.model, own_settings, self._weights)
        self._processes = [DeviceProcess(device, opener) for device in devices.gpu_devices(gpus)]
        self._queue = DeviceQueue(self._prepare, self._processes, self.settings.batch)
        self._batches = self._queue
        self._fetched = False

    def release(self) -> None:
        """End the processes; a later request starts them again, those of GPUs that were left out too."""
        self._queue.end()

    @property
    def facts(self) -> Mapping[str, Any]:
        """What results may depend on, as the processes say; `lost` gives GPUs that were left out, and why.

        Those that were tried again later are among them. A process knows only the ways of what it was asked:
        one that wrote texts alone has none.
        """
        remote = ChainMap(*(dict(process.facts) for process in self._processes))
        loaded = {key: remote[key] for key in ("dtype", "way", "why") if key in remote}
        causes = self._queue.lost_before | self._queue.lost
        lost = {self._processes[seat].label: cause for seat, cause in sorted(causes.items())}
        return {**super().facts, **loaded, "gpus": gpus_text(self._gpus)} | ({"lost": lost} if lost else {})

    def _prepare(self, request: Request) -> Job:
        if not self._fetched:
            fetch_weights(self.name, self.at)
            self._fetched = True
        return super()._prepare(request)


def connect_pool(name: str, model: str, settings: Mapping[str, Any], gpus: Sequence[int]) -> DevicePool:
    """The model as `connect` gives it, with a process on each GPU.

    Raises what that raises, and `InputError` for a GPU that is not there.
    """
    return DevicePool(local.connect(name, model, settings), settings, gpus)
