"""`--network-disk`, an option of every command that takes a run, or a plan of one."""

import functools
import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

_VARIABLE = "VIVA_NETWORK_DISK"
"""The variable that `store.disks` reads; importing that would slow down `--help`."""
NetworkDisk = Annotated[
    bool,
    typer.Option(
        "--network-disk",
        help="Write the run on NFS, Lustre, SMB …: slower, one process at a time (also VIVA_NETWORK_DISK=1).",
    ),
]


def with_network_disk(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the option, if it takes a run or a plan of one."""
    signature = inspect.signature(command)
    if not {"run", "plan"} & signature.parameters.keys():
        return command

    @functools.wraps(command)
    def call(*args: Any, network_disk: bool = False, **options: Any) -> None:
        with _allowed(network_disk):
            command(*args, **options)

    option = inspect.Parameter(
        "network_disk", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=NetworkDisk
    )
    parameters = [*signature.parameters.values(), option]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {**command.__annotations__, "network_disk": NetworkDisk}
    return call


@contextmanager
def _allowed(network_disk: bool) -> Iterator[None]:
    """While the block runs, runs on network disks may be written, by worker processes too."""
    before = os.environ.get(_VARIABLE)
    if network_disk:
        os.environ[_VARIABLE] = "1"
    try:
        yield
    finally:
        if network_disk:
            _set(before)


def _set(value: str | None) -> None:
    if value is None:
        os.environ.pop(_VARIABLE, None)
    else:
        os.environ[_VARIABLE] = value
