"""`viva merge`: several runs into one."""

from pathlib import Path
from typing import Annotated

import typer

from vivavoce.cli.exit_codes import ExitCode
from vivavoce.cli.options import Json, Quiet, RunPath, open_run
from vivavoce.cli.output import print_json
from vivavoce.cli.stdout import echo


def merge(
    run: RunPath,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Runs to merge into the first.")],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Merge other runs' answers, scores, findings and calls into a run, each run completely or not at all.

    Shards (`viva collect --shard 3/16`) join in any order; shards of another exam, of other settings or
    prompts, or of another number of shards are refused. Exit code 1 if a shard is missing or unfinished.

    Example: `viva merge all.viva site-a.viva site-b.viva`

    Example: `viva merge exam.viva part-*.viva`
    """
    from vivavoce.run.shards.joining import as_json, incomplete, shard_sentences

    opened = open_run(run)
    merged, shards = opened.merge(*runs), opened.shards()
    if json:
        more = {"shards": as_json(shards)} if shards else {}
        print_json("merge", run, [source._asdict() for source in merged], **more)
    elif not quiet:
        for source in merged:
            echo(
                f"{source.source}: {source.items} items, {source.responses} answers, "
                f"{source.scores} scores, {source.findings} findings and {source.calls} calls are new, "
                f"{source.replaced} failed answers replaced."
            )
            for note in source.notes:
                echo(note)
        for sentence in shard_sentences(shards):
            echo(sentence)
    if incomplete(shards):
        raise typer.Exit(ExitCode.INCOMPLETE)
