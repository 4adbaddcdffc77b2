"""`viva panel`: packets for people who rank answers, and the ballots that come back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from vivavoce.cli.mistakes import check_target
from vivavoce.cli.options import Items, Json, Plugin, Quiet, RunPath, opened, place
from vivavoce.cli.output import counted, print_json
from vivavoce.errors import InputError
from vivavoce.text import printable

if TYPE_CHECKING:
    from vivavoce.people import Made, Taken

__all__ = ["panel"]


def panel(
    run: RunPath,
    what: Annotated[
        Literal["make", "read"],
        typer.Argument(metavar="make|read", help="Write packets, or read ballots."),
    ],
    files: Annotated[
        list[Path], typer.Argument(metavar="[FILE...]", help="read: .json ballots or filled .csv sheets.")
    ] = [],  # noqa: B006 - typer reads the default, nothing changes it
    raters: Annotated[str | None, typer.Option(help="make: who will rate, by commas.")] = None,
    to: Annotated[
        Path | None, typer.Option(parser=place, metavar="DIR", help="make: a folder for the packets.")
    ] = None,
    items: Items = None,
    candidates: Annotated[
        list[str], typer.Option(help="make: a candidate to show; repeatable; by default all.")
    ] = [],  # noqa: B006
    n: Annotated[int | None, typer.Option("--n", help="make: how many questions to draw; 30.")] = None,
    seed: Annotated[int | None, typer.Option(help="make: what questions and orders are drawn by; 1.")] = None,
    criterion: Annotated[
        str | None, typer.Option(help="make: a sentence that says by what answers are to be ranked.")
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="read: take the questions that are ranked, leave the others.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="read: a later ballot takes the place of the earlier one.")
    ] = False,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Let people rank answers without knowing whose they are: packets out, ballots in.

    `make` writes for each rater a page that works offline and a sheet for those who prefer one; both hold the
    candidates' answers and the reference answer, in an order of their own for each rater and question. Who
    gave which answer stays in the run. `read` checks what comes back and stores it as the ballots of each
    rater; `viva study RUN panel` sums them up. Not for clinical use.

    Example: `viva panel exam.viva make --raters anna,ben,carla --to packets --n 30`

    Example: `viva panel exam.viva read ballot-anna.json packets/ben.csv`
    """
    of_make = {"--raters": raters, "--to": to, "--items": items, "--candidates": candidates,
               "--n": n, "--seed": seed, "--criterion": criterion}  # fmt: skip
    of_read = {"FILE": files, "--partial": partial, "--replace": replace}
    wrong = of_make if what == "read" else of_read
    if given := [name for name, value in wrong.items() if value not in (None, False, [])]:
        other = "make" if what == "read" else "read"
        raise InputError(f"{given[0]} goes with `viva panel {run} {other}`, not with {what}.")
    if what == "read":
        taken = opened(run, plugin).read_panel(*files, partial=partial, replace=replace)
        if json:
            return print_json("panel", run, [one._asdict() for one in taken])
        return None if quiet else _show_taken(run, taken)
    if raters is None or to is None:
        lacks = (
            "--raters says who will rate, as in --raters anna,ben"
            if raters is None
            else "--to names a folder"
        )
        raise InputError(f"panel make needs both --raters and --to: {lacks}.")
    check_target(to)
    made = opened(run, plugin).make_panel(
        [name for name in raters.split(",") if name.strip()],
        to,
        items=items,
        candidates=candidates,
        n=30 if n is None else n,
        seed=1 if seed is None else seed,
        criterion=criterion,
    )
    if json:
        row = made._asdict() | {"files": [str(path) for path in made.files]}
        return print_json("panel", run, [row])
    return None if quiet else _show_made(made)


def _show_made(made: "Made") -> None:
    answers = counted(made.n_answers, "answer")
    print(f"panel {made.panel}: {counted(made.n_questions, 'question')} with {answers}, reference included.")
    for path in made.files:
        print(printable(str(path)))
    told = (
        (
            made.n_alike,
            f"{counted(made.n_alike, 'answer')} shown once with an equal one; they share its rank.",
        ),
        (made.n_silent, f"{counted(made.n_silent, 'answer')} not shown, as there is nothing to read: last."),
        (made.n_lost, f"{counted(made.n_lost, 'answer')} not shown, as it never arrived."),
        (made.n_too_few, f"{counted(made.n_too_few, 'question')} without two different answers left out."),
        (made.n_without_reference, f"{counted(made.n_without_reference, 'question')} without a reference."),
    )
    for n, line in told:
        if n:
            print(line)
    if made.naming:
        names = ", ".join(made.naming[:5]) + (" …" if len(made.naming) > 5 else "")
        where = counted(len(made.naming), "question")
        print(printable(f"Answers name a candidate in {where}, which no order blinds: {names}."))
    if made.registered:
        print(f"Read the terms of {', '.join(made.registered)} before you give its questions to anybody.")
    print("The key is in the run: send the packets alone.")


def _show_taken(run: Path, taken: "tuple[Taken, ...]") -> None:
    for one in taken:
        left = f", {counted(one.skipped, 'question')} not filled in" if one.skipped else ""
        print(printable(
            f"{one.file}: {counted(one.new, 'new ballot')} of {one.rater}, {one.unchanged} unchanged, "
            f"{one.replaced} replaced{left}; {counted(one.clearly_wrong, 'answer')} clearly wrong, "
            f"{counted(one.remarks, 'remark')}."
        ))  # fmt: skip
    print(f"`viva study {run} panel` sums them up.")
