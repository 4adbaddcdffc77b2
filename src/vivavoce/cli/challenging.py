"""`viva challenge`: the files of the ClinIQLink challenge, for whoever answers and for whoever marks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from vivavoce.cli.options import Json, Quiet, exam, opened, place
from vivavoce.cli.output import print_json, print_table
from vivavoce.errors import InputError

if TYPE_CHECKING:
    from vivavoce.interchange.challenge import Written

__all__ = ["challenge"]


def challenge(
    what: Annotated[
        Literal["questions", "blank", "results"],
        typer.Argument(help="Questions without gold, result files to be filled in, or a run's results."),
    ],
    source: Annotated[
        str, typer.Argument(help='The exam, "cliniqlink(data=DIR)"; for results the run that holds them.')
    ],
    to: Annotated[Path, typer.Option(parser=place, metavar="DIR", help="The folder for the files.")],
    candidate: Annotated[
        str | None, typer.Option(help="Results: whose; need not be given in a run of one candidate.")
    ] = None,
    repeat: Annotated[int | None, typer.Option(help="Results: which repeat; else the first.")] = None,
    gold: Annotated[
        bool, typer.Option("--gold", help="Results: with the key, for the published evaluation.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write files of the ClinIQLink challenge: one for each of its seven formats.

    `questions` leaves out the gold and gives every item an id and a hash: "cliniqlink_questions(data=DIR)"
    collects on them. `results` are a candidate's answers as a submission; `viva import RUN DIR --benchmark
    "cliniqlink(data=DIR)"` brings them in. A file that says something else is never replaced.

    Example: `viva challenge questions "cliniqlink(data=DIR)" --to questions`

    Example: `viva challenge results exam.viva --candidate vllm/my-model --to results`
    """
    if what == "results":
        written = opened(Path(source)).challenge(to, candidate=candidate, repeat=repeat or 1, gold=gold)
    else:
        _refuse(what, {"--candidate": candidate, "--repeat": repeat, "--gold": gold})
        written = _of_an_exam(what, source, to)
    if json:
        run = Path(source) if what == "results" else None
        return print_json("challenge", run, [one._asdict() | {"path": str(one.path)} for one in written])
    if not quiet:
        print_table(["items", "answers", "file"], [[one.items, one.answers, one.path] for one in written])
    return None


def _of_an_exam(what: str, source: str, to: Path) -> "tuple[Written, ...]":
    from vivavoce.interchange.challenge import write_blank, write_questions

    spec = exam(source) or ""
    return write_blank(spec, to) if what == "blank" else write_questions(spec, to)


def _refuse(what: str, of_results: dict[str, object]) -> None:
    for option, value in of_results.items():
        if value:
            raise InputError(f"{option} says something of a run's answers: it goes with results, not {what}.")
