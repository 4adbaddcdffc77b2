"""Many GPUs: a model has a process on each, and its requests go to whichever is free."""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.extras import import_extra
from vivavoce.models.gpus import gpus_text


class Device(NamedTuple):
    """What a process runs on: the name that people read, the variables it starts with, and torch's name."""

    label: str
    variables: Mapping[str, str]
    name: str


def gpu_devices(gpus: Sequence[int]) -> tuple[Device, ...]:
    """The devices of these GPUs; each process sees its own alone, as `cuda`.

    A number counts what this process may see: of `CUDA_VISIBLE_DEVICES=4,5`, which a scheduler may have set,
    1 is the GPU 5. Raises `InputError` for a number that no GPU has, `ExtraError` without torch.
    """
    torch = import_extra("torch", extra="hf", user=f"--gpus {gpus_text(gpus)}")
    n_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if not n_gpus:
        raise InputError(
            f"--gpus {gpus_text(gpus)}: torch sees no GPU on this machine: leave --gpus out to run on the "
            "CPU, or install a torch for this machine's GPUs."
        )
    if missing := [number for number in gpus if number >= n_gpus]:
        gpu_range = f"the GPUs 0 to {n_gpus - 1}" if n_gpus > 1 else "GPU 0 alone"
        raise InputError(
            f"--gpus {gpus_text(gpus)}: there is no GPU {missing[0]}: torch sees {gpu_range} here."
        )
    visible = _visible_names() or [str(number) for number in range(n_gpus)]
    return tuple(
        Device(f"GPU {number}", {"CUDA_VISIBLE_DEVICES": visible[number]}, "cuda") for number in gpus
    )


def _visible_names() -> list[str]:
    """The names, numbers or UUIDs, of the GPUs that this process may see; none where it may see all."""
    names = os.environ.get("CUDA_VISIBLE_DEVICES")
    return [] if names is None else [name.strip() for name in names.split(",")]
