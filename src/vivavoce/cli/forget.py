"""`viva forget`: the texts of questions or answers out of a run, for good."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from vivavoce.cli import completion
from vivavoce.cli.options import Json, Quiet, RunPath, open_run
from vivavoce.cli.output import print_json
from vivavoce.cli.stdout import echo
from vivavoce.core.errors import InputError

if TYPE_CHECKING:
    from vivavoce.core.records import Finding


def forget(
    run: RunPath,
    item: Annotated[
        list[str],
        typer.Option(
            help="A question by its id, with its variants and all answers to it; repeatable.",
            metavar="ID",
        ),
    ] = [],
    candidate: Annotated[
        list[str],
        typer.Option(
            help="All answers of this candidate; repeatable.",
            metavar="NAME",
            autocompletion=completion.candidates,
        ),
    ] = [],
    response: Annotated[
        list[str],
        typer.Option(
            help="One answer with its edits, as CANDIDATE:ITEM or CANDIDATE:ITEM:REPEAT; repeatable.",
            metavar="ANSWER",
        ),
    ] = [],
    keep_hashes: Annotated[
        bool,
        typer.Option(
            "--keep-hashes", help="Keep the hashes of the texts, by which a likely text can be tried out."
        ),
    ] = False,
    drop_scores: Annotated[
        bool, typer.Option("--drop-scores", help="Delete the scores of these answers too; else they stay.")
    ] = False,
    finish: Annotated[
        bool, typer.Option("--finish", help="End a forgetting that was killed; nothing else is forgotten.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be overwritten, and stop.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; needed where nobody can be asked.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Overwrite the texts of questions or answers for good; scores and counts stay.

    The words go from the answer and from what rests on it: edits, facts, notes of scores, replies of judges,
    raters' remarks, findings, the log of a build. Then the pages of the file are written anew. Estimates stay
    as they were; a new metric sets such answers aside. Copies, exports, reports and packets made before still
    hold the texts. Rerun to resume.

    Example: `viva forget exam.viva --item q17 --dry-run`

    Example: `viva forget exam.viva --response openai/gpt-4o:q17 --yes`

    Example: `viva forget exam.viva --candidate anna --drop-scores`
    """
    opened = open_run(run)
    if finish:
        done = opened.forget_finish()
        rows = [{"finished": done}]
        if json:
            print_json("forget", run, rows)
        elif not quiet:
            echo("The pages of the file were written anew." if done else "There was nothing to finish.")
        return

    def overwrite(*, dry_run: bool) -> "Finding":
        return opened.forget(
            items=item, candidates=candidate, responses=response, keep_hashes=keep_hashes,
            drop_scores=drop_scores, dry_run=dry_run,
        )  # fmt: skip

    if not (dry_run or yes):
        _ask(overwrite(dry_run=True).text)
    finding = overwrite(dry_run=dry_run)
    if json:
        print_json("forget", run, finding.rows, dry_run=dry_run, notes=list(finding.notes))
    elif not quiet:
        for text in (finding.text, *finding.notes):
            echo(text)


def _ask(text: str) -> None:
    """Go on if the user says yes. Raises `InputError` where nobody can be asked."""
    if not sys.stdin.isatty():
        raise InputError(f"{text} Nobody can be asked here: say --yes.")
    echo(text)
    typer.confirm("Overwrite them for good?", abort=True, err=True)
