"""Write docs/reference/cli.md from the command line itself, so that the page cannot say anything else.

Usage: python tools/command_reference.py [--check]    --check only compares, and fails if the page is stale
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from vivavoce import cli
from vivavoce.cli.commands import spelling
from vivavoce.cli.exit_codes import MEANINGS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "cli.md"
INTRODUCTION = """\
<!-- Written by tools/command_reference.py: change the help of a command instead, then run it. -->
# Command line

RUN comes first everywhere. `--json` prints one object with `schema`, `run` and `rows` on stdout; a missing
value is null with a `reason`, never NaN. Progress goes to stderr,
and so does what plugins and libraries print.

## Exit codes

"""


def page() -> str:
    """The whole page: every command with its help, its arguments and its options."""
    group: Any = typer.main.get_command(cli.app)
    context = typer.Context(group)
    sections = [section(name, group.get_command(context, name)) for name in group.list_commands(context)]
    return "\n".join([INTRODUCTION + exit_codes(), *sections])


def exit_codes() -> str:
    """The table of exit codes."""
    rows = [f"| {code:d} | {meaning} |" for code, meaning in MEANINGS.items()]
    return "\n".join(["| code | meaning |", "|--:|---|", *rows]) + "\n"


def section(name: str, command: Any) -> str:
    """One command."""
    command.fill_help()
    return "\n".join([f"## viva {name}", "", command.help, "", *table(command.params)]) + "\n"


def table(parameters: list[Any]) -> Iterator[str]:
    """Arguments and options with their help, those that every command shares last."""
    yield "| argument or option | meaning |"
    yield "|---|---|"
    for parameter in parameters:
        if parameter.name != "help" and not getattr(parameter, "hidden", False):
            yield f"| `{_cell(spelling(parameter))}` | {_cell(parameter.help or '')} |"


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


def main() -> None:
    """Write the page, or compare it."""
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        sys.exit(f"{PAGE} is stale: run python tools/command_reference.py")


if __name__ == "__main__":
    main()
