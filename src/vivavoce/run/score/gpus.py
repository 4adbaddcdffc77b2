"""`viva score --gpus`: the local models that metrics ask run on GPUs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vivavoce.core import registry, specs
from vivavoce.core.errors import InputError
from vivavoce.metrics import Metric
from vivavoce.models.candidates import local_name, parse_candidate
from vivavoce.models.endpoints import load_endpoints
from vivavoce.models.gpus import gpus_text, parse_gpus
from vivavoce.run.client import AskOptions
from vivavoce.run.workers.worker_count import Workers


def check_gpus(
    options: AskOptions, metrics: Sequence[Metric], workers: Workers, *, dry_run: bool = False
) -> None:
    """Raise `InputError` for GPUs that these metrics can't use: none of them asks a local model, one states
    its own device, or workers would use the GPUs beside it. They must also be there, but for a `dry_run`.
    """
    gpus = parse_gpus(options.gpus)
    if not gpus:
        return
    if str(workers).strip() != "1":
        raise InputError(
            f"--gpus {gpus_text(gpus)} and --workers {workers} do not go together: score by metrics that "
            "ask a local model with --gpus, and by the others with --workers, in two commands."
        )
    names = list(local_models(metrics))
    if not names:
        raise InputError(
            f"--gpus {gpus_text(gpus)}: no metric here asks a local model (hf/…), and only those run on "
            "these GPUs: leave --gpus out."
        )
    endpoints = load_endpoints(Path(options.providers) if options.providers is not None else None)
    for name in names:
        judge = parse_candidate(name, endpoints).on_gpus(gpus)
        if not dry_run:
            judge.check_gpus()


def local_models(metrics: Sequence[Metric]) -> Iterator[str]:
    """The local models that metrics name in their settings, judges of a jury included."""
    for metric in metrics:
        yield from local_names(registry.full_spec(metric))


def local_names(value: Any) -> Iterator[str]:
    """The local models in a spec, or in a value of its settings, as they are written there."""
    if isinstance(value, tuple | list):
        for each in value:
            yield from local_names(each)
    elif isinstance(value, specs.Spec):
        if local_name(value.name):
            yield str(value)
        for each in value.settings.values():
            yield from local_names(each)
    elif isinstance(value, str) and local_name(value.partition("(")[0].partition(":")[0]):
        yield value
