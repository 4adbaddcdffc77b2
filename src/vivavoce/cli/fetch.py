"""`viva fetch`: the files of a benchmark into a folder, at a pinned revision."""

from pathlib import Path
from typing import Annotated

import typer

from vivavoce.cli import completion
from vivavoce.cli.options import Json, Offline, Plugin, Quiet, output_path
from vivavoce.cli.output import print_json, print_table
from vivavoce.cli.progress import progress_bars
from vivavoce.cli.stdout import echo
from vivavoce.core.registry import load_plugin


def fetch(
    benchmark: Annotated[
        str,
        typer.Argument(
            help="The benchmark whose files are fetched, such as medmcqa.",
            metavar="BENCHMARK",
            autocompletion=completion.registered("benchmarks"),
        ),
    ],
    to: Annotated[
        Path, typer.Option(parser=output_path, metavar="DIR", help="Folder for the files and their lock.")
    ],
    revision: Annotated[
        str | None,
        typer.Option(
            help="Commit, or a branch or tag that becomes the commit it names now.", metavar="REVISION"
        ),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Replace fetched files by those of another revision.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be fetched; write nothing.")
    ] = False,
    offline: Offline = False,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Fetch the files of a benchmark into a folder, as they are published. Rerun to resume.

    The folder's `viva.lock` keeps source, commit, hashes, licence and terms; a rerun checks what is there,
    and a file that differs is refused. Loaders read folders only: no other command
    fetches anything. Files of the hub need the extra `hub`; HF_ENDPOINT names another hub, and HF_TOKEN opens
    gated files.

    Example: `viva fetch medmcqa --to data/medmcqa --revision main`
    """
    from vivavoce.run.fetch import fetch as bring

    for path in plugin:
        load_plugin(path)
    with progress_bars(show=not quiet) as progress:
        finding = bring(
            benchmark,
            to,
            revision=revision,
            update=update,
            dry_run=dry_run,
            offline=offline,
            progress=progress,
        )
    if json:
        print_json("fetch", None, list(finding.rows))
    elif not quiet:
        columns = ("file", "state", "bytes", "sha256")
        print_table(columns, [[row[name] for name in columns] for row in finding.rows])
        echo(str(finding))
