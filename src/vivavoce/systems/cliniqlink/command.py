"""`viva challenge`: the files of the ClinIQLink challenge, for those who answer and those who score."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from vivavoce.cli.options import Json, Quiet, benchmark_spec, open_run, output_path
from vivavoce.cli.output import print_json, print_table
from vivavoce.core import registry
from vivavoce.core.errors import InputError

if TYPE_CHECKING:
    from vivavoce.systems.cliniqlink.exporter import Written


@registry.command("challenge")
def challenge(
    what: Annotated[
        Literal["questions", "blank", "results"],
        typer.Argument(
            metavar="questions|blank|results",
            help="Questions without the key, empty result files, or the results of a run.",
        ),
    ],
    source: Annotated[
        str,
        typer.Argument(
            help="The benchmark, cliniqlink:data=DIR; for results, the run that holds them.",
            metavar="BENCHMARK",
        ),
    ],
    to: Annotated[Path, typer.Option(parser=output_path, metavar="DIR", help="Folder for the files.")],
    candidate: Annotated[
        str | None,
        typer.Option(
            help="Results: the candidate; not needed in a run of one candidate.", metavar="CANDIDATE"
        ),
    ] = None,
    repeat: Annotated[
        int | None, typer.Option(help="Results: the repeat (1 if not given).", metavar="N")
    ] = None,
    gold: Annotated[
        bool, typer.Option("--gold", help="Results: with the key, for the published evaluation.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write files of the ClinIQLink challenge: one for each of its seven formats.

    `questions` leaves out the gold and gives every item an id and a hash: cliniqlink_questions:data=DIR
    collects on them. `results` are a candidate's answers as a submission; `viva import RUN DIR --benchmark
    "cliniqlink(data=DIR)"` brings them in. A file with other content is never replaced.

    Example: `viva challenge questions cliniqlink:data=DIR --to questions`

    Example: `viva challenge results exam.viva --candidate vllm/my-model --to results`
    """
    if what == "results":
        files = open_run(Path(source)).export(
            to, format="cliniqlink", candidate=candidate, repeat=repeat or 1, gold=gold
        )
    else:
        _refuse(what, {"--candidate": candidate, "--repeat": repeat, "--gold": gold})
        files = _of_an_exam(what, source, to)
    if json:
        run = Path(source) if what == "results" else None
        return print_json("challenge", run, [file._asdict() | {"path": str(file.path)} for file in files])
    if not quiet:
        print_table(["items", "answers", "file"], [[file.items, file.answers, file.path] for file in files])
    return None


def _of_an_exam(what: str, source: str, to: Path) -> "tuple[Written, ...]":
    from vivavoce.systems.cliniqlink.exporter import write_blank, write_questions

    spec = benchmark_spec(source) or ""
    return write_blank(spec, to) if what == "blank" else write_questions(spec, to)


def _refuse(what: str, of_results: dict[str, object]) -> None:
    for option, value in of_results.items():
        if value:
            raise InputError(f"{option} says something of a run's answers: it goes with results, not {what}.")
