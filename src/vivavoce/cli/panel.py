"""`viva panel`: packets for people who rank or rate answers, and the ballots that come back."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from vivavoce.cli import completion
from vivavoce.cli.options import Items, Json, Plugin, Quiet, RunPath, open_run, output_path
from vivavoce.cli.output import counted, print_json
from vivavoce.cli.run_files import check_output_path
from vivavoce.cli.stdout import echo
from vivavoce.core.errors import InputError
from vivavoce.core.records import Finding

if TYPE_CHECKING:
    from vivavoce.people.packets import PacketsWritten
    from vivavoce.people.storing.put_ballot import BallotsStored


def panel(
    run: RunPath,
    what: Annotated[
        Literal["make", "read"],
        typer.Argument(metavar="make|read", help="Write packets, or read ballots."),
    ],
    files: Annotated[
        list[Path], typer.Argument(metavar="[FILE...]", help="read: .json ballots or filled .csv sheets.")
    ] = [],
    raters: Annotated[
        str | None, typer.Option(help="make: the raters' names, separated by commas.", metavar="NAMES")
    ] = None,
    to: Annotated[
        Path | None, typer.Option(parser=output_path, metavar="DIR", help="make: folder for the packets.")
    ] = None,
    items: Items = None,
    candidates: Annotated[
        list[str],
        typer.Option(
            help="make: a candidate to show; repeatable; by default all.",
            metavar="CANDIDATE",
            autocompletion=completion.candidates,
        ),
    ] = [],
    task: Annotated[
        Literal["rank", "rate"] | None,
        typer.Option(
            help="make: rank answers beside each other, or rate each by a rubric (rank).", metavar="rank|rate"
        ),
    ] = None,
    rubric: Annotated[
        str | None, typer.Option(help="make: the rubric to rate by, shipped or a .md file.", metavar="RUBRIC")
    ] = None,
    n: Annotated[
        int | None,
        typer.Option("--n", help="make: number of sampled questions (30; 60 to rate).", metavar="N"),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="make: seed of questions and orders (1).", metavar="N")
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option(help="make: a sentence that says how answers are to be ranked.", metavar="SENTENCE"),
    ] = None,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for",
            help='make: what labels are for, "compare A B" or "score A": draw where they tell most.',
            metavar="GOAL",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="make --for: the judge whose scores people are to correct.",
            metavar="METRIC",
            autocompletion=completion.metrics,
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(help="make --for --dry-run: the least difference that matters.", metavar="NUMBER"),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="make --for: only say how many labels it takes.")
    ] = False,
    partial: Annotated[
        bool, typer.Option("--partial", help="read: accept ballots in which something is not filled in.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="read: let a later ballot replace the earlier one.")
    ] = False,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write blinded packets for raters, and read their ballots.

    `make` writes for each rater a page that works offline, and a sheet as an alternative. Both hold the
    candidates' answers and the reference answer, in an order of their own for each rater and question. The
    key that names the candidates stays in the run. With `--task rate` each answer is rated by the criteria of
    a rubric, as a judge scores it: such ratings are labels that a judge is examined and corrected by. `read`
    checks the ballots and stores them; `viva study RUN panel` sums ranks up, and `viva study RUN examiners
    --labels rating` holds a judge against ratings. Not for clinical use.

    Example: `viva panel exam.viva make --raters anna,ben,carla --to packets --n 30`

    Example: `viva panel exam.viva make --task rate --rubric medgpt --raters anna,ben --to packets --n 60`

    `--for` draws cases for such labels where each tells most by a judge's scores, with chances that are kept;
    later draws take further cases. `--dry-run` says how many labels it takes and writes nothing.

    Example: `viva panel exam.viva make --task rate --rubric medgpt --for "compare A B" --margin .2 --dry-run`

    Example: `viva panel exam.viva read ballot-anna.json packets/ben.csv`
    """
    options_of_make = {
        "--raters": raters,
        "--to": to,
        "--items": items,
        "--candidates": candidates,
        "--task": task,
        "--rubric": rubric,
        "--n": n,
        "--seed": seed,
        "--criterion": criterion,
        "--for": for_,
        "--metric": metric,
        "--margin": margin,
        "--dry-run": dry_run,
    }
    if what == "read":
        _refuse_options(options_of_make, f"`viva panel {run} make`, not with read")
        ballots = open_run(run, plugin).read_panel(*files, partial=partial, replace=replace)
        _show_ballots(run, ballots, quiet=quiet, json=json)
        return
    options_of_read = {"FILE": files, "--partial": partial, "--replace": replace}
    _refuse_options(options_of_read, f"`viva panel {run} read`, not with make")
    if not dry_run:
        _check_destination(raters, to)
    result = open_run(run, plugin).make_panel(
        [name for name in (raters or "").split(",") if name.strip()],
        to,
        items=items,
        candidates=candidates,
        n=n,
        seed=1 if seed is None else seed,
        criterion=criterion,
        task=task or "rank",
        rubric=rubric,
        for_=for_,
        metric=metric,
        margin=margin,
        dry_run=dry_run,
    )
    _show_panel(run, result, quiet=quiet, json=json)


def _check_destination(raters: str | None, to: Path | None) -> None:
    """Raise `InputError` unless it is said for whom packets are, and where they can be written."""
    if raters is None:
        raise InputError(
            "panel make needs both --raters and --to: --raters says who will rate, as in --raters anna,ben."
        )
    if to is None:
        raise InputError("panel make needs both --raters and --to: --to names a folder.")
    check_output_path(to)


def _show_ballots(run: Path, ballots: "tuple[BallotsStored, ...]", *, quiet: bool, json: bool) -> None:
    """The ballots that were read, as JSON or as sentences."""
    if json:
        print_json("panel", run, [ballot._asdict() for ballot in ballots])
    elif not quiet:
        print_ballots(run, ballots)


def _show_panel(run: Path, result: "PacketsWritten | Finding", *, quiet: bool, json: bool) -> None:
    """The packets that were written, or how many labels a dry run found are needed."""
    if isinstance(result, Finding):
        if json:
            print_json("panel", run, result.rows)
        elif not quiet:
            echo(str(result))
    elif json:
        print_json("panel", run, [result._asdict() | {"files": [str(path) for path in result.files]}])
    elif not quiet:
        _print_packets(result)


def _refuse_options(options: Mapping[str, object], place: str) -> None:
    """Raise `InputError` if one of these options was given: it belongs to the other of make and read."""
    for option, value in options.items():
        if value not in (None, False, []):
            raise InputError(f"{option} goes with {place}.")


_WORDS = {
    "rank": ("rank", "last", "two different answers"),
    "rate": ("rating", "scored by the rule of each criterion", "an answer to show"),
}
"""By task what equal answers share, what becomes of silent ones, and what a question needs."""


def _print_packets(packets: "PacketsWritten") -> None:
    answers = counted(packets.n_answers, "answer")
    questions = counted(packets.n_questions, "question")
    if packets.task == "rate":
        cases = f"{packets.n_cases} of {counted(packets.n_cases_possible or 0, 'case')}"
        echo(f"panel {packets.panel}: {questions} in {cases} with {answers} to rate.")
    else:
        echo(f"panel {packets.panel}: {questions} with {answers}, reference included.")
    for path in packets.files:
        echo(str(path))
    label, silent, least = _WORDS[packets.task]
    notes = (
        (packets.n_alike, "answer", f"shown once with an equal one; they share its {label}."),
        (packets.n_silent, "answer", f"not shown, as there is nothing to read: {silent}."),
        (packets.n_lost, "answer", "not shown, as it never arrived."),
        (packets.n_gone_questions, "question", "left out: its text was forgotten."),
        (packets.n_gone_answers, "answer", "left out: its text was forgotten."),
        (packets.n_too_few, "question", f"without {least} left out."),
        (packets.n_without_reference, "question", "without a reference."),
    )
    for n, thing, note in notes:
        if n:
            echo(f"{counted(n, thing)} {note}")
    if packets.naming:
        names = ", ".join(packets.naming[:5]) + (" …" if len(packets.naming) > 5 else "")
        questions = counted(len(packets.naming), "question")
        echo(f"Answers name a candidate in {questions}, which no order blinds: {names}.")
    if packets.registered:
        echo(f"Read the terms of {', '.join(packets.registered)} before you give its questions to anybody.")
    echo("The key is in the run: send the packets alone.")


def print_ballots(run: Path, ballots: "tuple[BallotsStored, ...]") -> None:
    """Say of each ballot what was stored, and which studies read it."""
    for ballot in ballots:
        skipped = f", {counted(ballot.skipped, 'question')} not filled in" if ballot.skipped else ""
        if ballot.forgotten:
            skipped += f", {counted(ballot.forgotten, 'question')} forgotten since and left out"
        entries = f"{counted(ballot.clearly_wrong, 'answer')} clearly wrong"
        if ballot.task == "rate":
            entries = (
                f"{counted(ballot.labels, 'label')} of {ballot.metric}, {ballot.cannot_tell} cannot tell"
            )
        sentence = (
            f"{ballot.file}: {counted(ballot.new, 'new ballot')} of {ballot.rater}, {ballot.unchanged} "
            f"unchanged, {ballot.replaced} replaced{skipped}; {entries}, {counted(ballot.remarks, 'remark')}."
        )
        echo(sentence)
    if any(ballot.task == "rank" for ballot in ballots):
        echo(f"`viva study {run} panel` sums them up.")
    for metric in sorted({ballot.metric for ballot in ballots if ballot.task == "rate"}):
        echo(f'`viva study {run} examiners --labels "{metric}"` holds a judge against them.')
