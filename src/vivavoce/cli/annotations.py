"""What `viva import` does with annotations of tasks that `viva export` wrote: store them, and say so."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vivavoce.cli.options import parse_pairs
from vivavoce.cli.output import counted, print_json
from vivavoce.cli.panel import print_ballots
from vivavoce.cli.stdout import echo
from vivavoce.core.errors import InputError

if TYPE_CHECKING:
    from vivavoce.people.storing.store_annotations import AnnotationsStored
    from vivavoce.run.run import Run


class AnnotationOptions(NamedTuple):
    """What was said of annotations, and in `others` what says nothing of them."""

    raters: Sequence[str]
    partial: bool
    replace: bool
    same_allowed: bool
    others: Mapping[str, object]


def are_annotations(files: Sequence[Path], reader: str | None, options: AnnotationOptions) -> bool:
    """Whether files hold tasks of ours. Raises `InputError` for an option that does not go with them."""
    from vivavoce.run.exchange.recognise import holds_tasks

    ours = holds_tasks([file for file in files if file.exists()], reader)
    ours_alone = {"--rater": options.raters, "--partial": options.partial, "--replace": options.replace}
    misplaced = [option for option, value in (options.others if ours else ours_alone).items() if value]
    if misplaced and ours:
        raise InputError(f"{misplaced[0]} says something of answers or scores: not with annotations.")
    if misplaced:
        raise InputError(
            f"{misplaced[0]} goes with annotations of tasks that `viva export` wrote: these hold none."
        )
    return ours


def store_annotations(
    run: Path,
    opened: "Run",
    files: Sequence[Path],
    reader: str | None,
    options: AnnotationOptions,
    *,
    quiet: bool,
    json: bool,
) -> None:
    """Store files that hold such tasks, and say what was stored."""
    names = parse_pairs(options.raters, "--rater")
    stored = opened.import_annotations(
        *files,
        reader=reader,
        raters=names,
        partial=options.partial,
        replace=options.replace,
        again=options.same_allowed,
    )
    if json:
        rows = [ballot._asdict() for ballot in stored.ballots]
        print_json("import", run, rows, left_out=dict(stored.left_out), notes=list(stored.notes),
            row_counts=dict(stored.row_counts),
        )  # fmt: skip
    elif not quiet:
        _print_stored(run, stored)


def _print_stored(run: Path, stored: "AnnotationsStored") -> None:
    print_ballots(run, stored.ballots)
    for reason, places in stored.left_out.items():
        named = ", ".join(places[:5]) + (" …" if len(places) > 5 else "")
        echo(f"{counted(len(places), 'annotation')} left out, {reason}: {named}.")
    for note in stored.notes:
        echo(note)
    if not stored.ballots:
        echo("No annotation was stored.")
