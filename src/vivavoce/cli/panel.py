"""`viva panel`: packets for people who rank answers, and the ballots that come back."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from vivavoce.cli.options import Items, Json, Plugin, Quiet, RunPath, open_run, output_path
from vivavoce.cli.output import counted, print_json
from vivavoce.cli.run_files import check_output_path
from vivavoce.core.errors import InputError
from vivavoce.core.text import printable

if TYPE_CHECKING:
    from vivavoce.people.packets import PacketsWritten
    from vivavoce.people.store_ballots import BallotsStored


def panel(
    run: RunPath,
    what: Annotated[
        Literal["make", "read"],
        typer.Argument(metavar="make|read", help="Write packets, or read ballots."),
    ],
    files: Annotated[
        list[Path], typer.Argument(metavar="[FILE...]", help="read: .json ballots or filled .csv sheets.")
    ] = [],
    raters: Annotated[str | None, typer.Option(help="make: the raters' names, separated by commas.")] = None,
    to: Annotated[
        Path | None, typer.Option(parser=output_path, metavar="DIR", help="make: folder for the packets.")
    ] = None,
    items: Items = None,
    candidates: Annotated[
        list[str], typer.Option(help="make: a candidate to show; repeatable; by default all.")
    ] = [],
    n: Annotated[int | None, typer.Option("--n", help="make: number of sampled questions (30).")] = None,
    seed: Annotated[int | None, typer.Option(help="make: seed of questions and orders (1).")] = None,
    criterion: Annotated[
        str | None, typer.Option(help="make: a sentence that says how answers are to be ranked.")
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="read: accept ballots in which some questions are not ranked.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="read: let a later ballot replace the earlier one.")
    ] = False,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Blinded human evaluation: write packets in which people rank answers, and read their ballots.

    `make` writes for each rater a page that works offline, and a sheet as an alternative. Both hold the
    candidates' answers and the reference answer, in an order of their own for each rater and question. The
    key that names the candidates stays in the run. `read` checks the ballots and stores them; `viva study RUN
    panel` sums them up. Not for clinical use.

    Example: `viva panel exam.viva make --raters anna,ben,carla --to packets --n 30`

    Example: `viva panel exam.viva read ballot-anna.json packets/ben.csv`
    """
    options_of_make = {
        "--raters": raters,
        "--to": to,
        "--items": items,
        "--candidates": candidates,
        "--n": n,
        "--seed": seed,
        "--criterion": criterion,
    }
    if what == "read":
        _refuse_options(options_of_make, f"`viva panel {run} make`, not with read")
        ballots = open_run(run, plugin).read_panel(*files, partial=partial, replace=replace)
        _show_ballots(run, ballots, quiet=quiet, json=json)
        return
    options_of_read = {"FILE": files, "--partial": partial, "--replace": replace}
    _refuse_options(options_of_read, f"`viva panel {run} read`, not with make")
    if raters is None:
        raise InputError(
            "panel make needs both --raters and --to: --raters says who will rate, as in --raters anna,ben."
        )
    if to is None:
        raise InputError("panel make needs both --raters and --to: --to names a folder.")
    check_output_path(to)
    packets = open_run(run, plugin).make_panel(
        [name for name in raters.split(",") if name.strip()],
        to,
        items=items,
        candidates=candidates,
        n=30 if n is None else n,
        seed=1 if seed is None else seed,
        criterion=criterion,
    )
    _show_packets(run, packets, quiet=quiet, json=json)


def _show_ballots(run: Path, ballots: "tuple[BallotsStored, ...]", *, quiet: bool, json: bool) -> None:
    """The ballots that were read, as JSON or as sentences."""
    if json:
        print_json("panel", run, [ballot._asdict() for ballot in ballots])
    elif not quiet:
        _print_ballots(run, ballots)


def _show_packets(run: Path, packets: "PacketsWritten", *, quiet: bool, json: bool) -> None:
    """The packets that were written, as JSON or as sentences."""
    if json:
        print_json("panel", run, [packets._asdict() | {"files": [str(path) for path in packets.files]}])
    elif not quiet:
        _print_packets(packets)


def _refuse_options(options: Mapping[str, object], place: str) -> None:
    """Raise `InputError` if one of these options was given: it belongs to the other of make and read."""
    for option, value in options.items():
        if value not in (None, False, []):
            raise InputError(f"{option} goes with {place}.")


def _print_packets(packets: "PacketsWritten") -> None:
    answers = counted(packets.n_answers, "answer")
    print(
        f"panel {packets.panel}: {counted(packets.n_questions, 'question')} with {answers}, reference "
        "included."
    )
    for path in packets.files:
        print(printable(str(path)))
    notes = (
        (packets.n_alike, "answer", "shown once with an equal one; they share its rank."),
        (packets.n_silent, "answer", "not shown, as there is nothing to read: last."),
        (packets.n_lost, "answer", "not shown, as it never arrived."),
        (packets.n_too_few, "question", "without two different answers left out."),
        (packets.n_without_reference, "question", "without a reference."),
    )
    for n, thing, note in notes:
        if n:
            print(f"{counted(n, thing)} {note}")
    if packets.naming:
        names = ", ".join(packets.naming[:5]) + (" …" if len(packets.naming) > 5 else "")
        questions = counted(len(packets.naming), "question")
        print(printable(f"Answers name a candidate in {questions}, which no order blinds: {names}."))
    if packets.registered:
        print(f"Read the terms of {', '.join(packets.registered)} before you give its questions to anybody.")
    print("The key is in the run: send the packets alone.")


def _print_ballots(run: Path, ballots: "tuple[BallotsStored, ...]") -> None:
    for ballot in ballots:
        skipped = f", {counted(ballot.skipped, 'question')} not filled in" if ballot.skipped else ""
        sentence = (
            f"{ballot.file}: {counted(ballot.new, 'new ballot')} of {ballot.rater}, {ballot.unchanged} "
            f"unchanged, {ballot.replaced} replaced{skipped}; "
            f"{counted(ballot.clearly_wrong, 'answer')} clearly wrong, {counted(ballot.remarks, 'remark')}."
        )
        print(printable(sentence))
    print(f"`viva study {run} panel` sums them up.")
