"""A plan's plugins are code of whoever wrote it: none of it runs before the user said yes."""

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from vivavoce.core.errors import InputError
from vivavoce.core.text import printable

TrustPlugins = Annotated[
    bool, typer.Option("--trust-plugins", help="Run the code of the plan's plugins, which you have read.")
]


def confirm_plugins(plan: Path, *, is_trusted: bool, is_run: bool = False) -> None:
    """Return if a plan has no plugins, or if the user lets their code run, here or at the terminal.

    A plan that is run runs them. Raises `InputError` with the files and their SHA-256 otherwise.
    """
    from vivavoce.run.plan.plan_file import read_plan

    if is_trusted or is_run or not (plugins := read_plan(plan).plugins):
        return
    lines = [f"{name} (sha256 {_digest(Path(name))})" for name in plugins]
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        _show(lines, plan)
        if typer.confirm("Run their code?", err=True):
            return
    raise InputError(
        f"{plan} names plugins, whose code would run with your rights: {', '.join(lines)}. Read them, and "
        "what they import; then add --trust-plugins."
    )


def _show(lines: Sequence[str], plan: Path) -> None:
    print(printable(f"viva: {plan} names plugins, whose code runs with your rights:"), file=sys.stderr)
    for line in lines:
        print(printable(f"  {line}"), file=sys.stderr)


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except (OSError, ValueError):
        return "cannot be read"
