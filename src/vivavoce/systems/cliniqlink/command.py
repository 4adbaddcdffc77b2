"""`viva challenge`: the files of the ClinIQLink challenge, for those who answer and those who score."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, Literal

import typer

from vivavoce.cli.options import Json, Quiet, benchmark_spec, open_run, output_path
from vivavoce.cli.output import figure, print_json, print_table
from vivavoce.cli.stdout import echo
from vivavoce.core import registry
from vivavoce.core.errors import InputError
from vivavoce.core.text import one_line

What = Literal["exam", "questions", "blank", "results", "bundle", "import", "board"]
OPTIONS: Mapping[str, tuple[What, ...]] = {
    "candidate": ("results", "import"),
    "repeat": ("results",),
    "gold": ("results",),
    "image": ("bundle",),
    "start": ("bundle",),
    "end": ("bundle",),
    "queue": ("bundle",),
    "metric": ("bundle", "board"),
    "benchmark": ("import", "board"),
}
"""What each option goes with."""

# The competition, for `bundle`
Image = Annotated[
    str | None,
    typer.Option(help="Bundle: the container image that scores, as CodaBench pulls it.", metavar="IMAGE"),
]
Start = Annotated[str | None, typer.Option(help="Bundle: the first day or moment, in UTC.", metavar="DATE")]
End = Annotated[
    str | None, typer.Option(help="Bundle: the end, in UTC; without it there is none.", metavar="DATE")
]
Queue = Annotated[
    str | None,
    typer.Option(help="Bundle: the virtual host of your own queue of compute workers.", metavar="VHOST"),
]


@registry.command("challenge")
def challenge(
    what: Annotated[
        What,
        typer.Argument(
            metavar="exam|questions|blank|results|bundle|import|board",
            help="The exam with its key, questions without it, empty result files, the results of a run, a "
            "CodaBench competition, a submission to it as a run, or the leaderboard of many submissions.",
        ),
    ],
    source: Annotated[
        str,
        typer.Argument(
            help="The benchmark, cliniqlink:data=DIR or any of the seven formats, such as "
            "jsonl:path=frozen/exam.jsonl; results: the run that holds them; import: the folder "
            "of result files; board: the folder of submissions.",
            metavar="SOURCE",
        ),
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            parser=output_path,
            metavar="DIR",
            help="Folder for the files; import: the run; board: the page (leaderboard.html in the folder of "
            "submissions).",
        ),
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Option(
            help="Results: the candidate; not needed in a run of one candidate. Import: its name (that of "
            "the folder).",
            metavar="CANDIDATE",
        ),
    ] = None,
    repeat: Annotated[
        int | None, typer.Option(help="Results: the repeat (1 if not given).", metavar="N")
    ] = None,
    gold: Annotated[
        bool, typer.Option("--gold", help="Results: with the key, for the published evaluation.")
    ] = False,
    image: Image = None,
    start: Start = None,
    end: End = None,
    queue: Queue = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            help="Import, board: the exam, cliniqlink:data=DIR (board: that of most submissions).",
            metavar="BENCHMARK",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="Bundle, board: the spec of cliniqlink that scores, such as cliniqlink(rules=published).",
            metavar="METRIC",
        ),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write files of the ClinIQLink challenge: one for each of its seven formats, or what a host needs.

    `questions` leaves out the gold and gives every item an id and a hash: cliniqlink_questions:data=DIR
    collects on them. `exam` writes any exam of these formats, key and all, as cliniqlink:data=DIR reads it.
    `results` are a candidate's answers as a submission; `viva import RUN DIR --benchmark
    "cliniqlink(data=DIR)"` brings them in. `bundle` is the competition for CodaBench, as a folder and as the
    zip to upload: the key is in its reference data alone. `import` makes a run of a submission to it, read as
    the competition reads it: a question without an answer counts as an empty one. `board` ranks the runs in a
    folder, with ties, and writes a page and a CSV in place of earlier ones. Any other file with other content
    is never replaced.

    Example: `viva challenge exam jsonl:path=frozen/exam.jsonl --to exam`

    Example: `viva challenge questions cliniqlink:data=DIR --to questions`

    Example: `viva challenge results exam.viva --candidate vllm/my-model --to results`

    Example: `viva challenge bundle cliniqlink:data=DIR --image lab/viva:1 --start 2026-12-01 --to bundle`

    Example: `viva challenge import unpacked --benchmark cliniqlink:data=DIR --to submissions/a/run.viva`

    Example: `viva challenge board submissions --to leaderboard.html`
    """
    _refuse(what, {"candidate": candidate, "repeat": repeat, "gold": gold, "image": image, "start": start,
                   "end": end, "queue": queue, "metric": metric, "benchmark": benchmark})  # fmt: skip
    if what == "board":
        return _board(Path(source), to, metric, benchmark_spec(benchmark), quiet=quiet, json=json)
    if what == "import":
        return _import(Path(source), to, benchmark_spec(benchmark), candidate, quiet=quiet, json=json)
    if to is None:
        raise InputError(f"--to is needed: the folder that {what} is written to.")
    if what == "bundle":
        files = _bundle(source, to, image=image, start=start, end=end, queue=queue, metric=metric)
    else:
        files = _of_the_challenge(what, source, to, candidate=candidate, repeat=repeat, gold=gold)
    if json:
        run = Path(source) if what == "results" else None
        return print_json("challenge", run, [file._asdict() | {"path": str(file.path)} for file in files])
    return None if quiet else _print_files(what, files)


def _print_files(what: What, files: tuple[Any, ...]) -> None:
    columns = {"bundle": ("bytes", "key"), "exam": ("items",)}.get(what, ("items", "answers"))
    rows = [[*(getattr(file, name) for name in columns), file.path] for file in files]
    print_table([*columns, "file"], rows)
    if left_out := getattr(files[0], "left_out", {}):
        listed = ", ".join(f"{n:,} {name}" for name, n in left_out.items())
        echo(f"Left out, as no file holds such a format: {listed}.")


def _of_the_challenge(
    what: str, source: str, to: Path, *, candidate: str | None, repeat: int | None, gold: bool
) -> tuple[Any, ...]:
    """The files of the seven formats: questions, blank results, or the results of a run."""
    from vivavoce.benchmarks import load
    from vivavoce.systems.cliniqlink.exporter import write_blank, write_exam, write_questions

    if what == "results":
        return open_run(Path(source)).export(
            to, format="cliniqlink", candidate=candidate, repeat=repeat or 1, gold=gold
        )
    spec = benchmark_spec(source) or ""
    if what == "exam":
        return write_exam(load(spec).items, to, name=spec)
    return write_blank(spec, to) if what == "blank" else write_questions(spec, to)


def _bundle(
    source: str,
    to: Path,
    *,
    image: str | None,
    start: str | None,
    end: str | None,
    queue: str | None,
    metric: str | None,
) -> tuple[Any, ...]:
    from vivavoce.systems.cliniqlink.submissions.bundle import write_bundle
    from vivavoce.systems.cliniqlink.submissions.competition import read_competition
    from vivavoce.systems.cliniqlink.submissions.terms import METRIC

    terms = read_competition(image, start, end, queue)
    return write_bundle(benchmark_spec(source) or "", to, terms, metric=metric or METRIC)


def _import(
    folder: Path, to: Path | None, benchmark: str | None, candidate: str | None, *, quiet: bool, json: bool
) -> None:
    from vivavoce.systems.cliniqlink.submissions.imports import import_submission

    if to is None or benchmark is None:
        raise InputError(
            "import needs the exam and a run: --benchmark cliniqlink:data=DIR --to submissions/team/run.viva."
        )
    stored = import_submission(folder, benchmark, to, candidate=candidate)
    if json:
        return print_json("challenge", to, [stored._asdict()])
    if not quiet:
        echo(f"{to}: {stored}")
        echo(f"Next: `viva score {quote(str(to))} cliniqlink`.")
    return None


def _board(
    folder: Path, to: Path | None, metric: str | None, benchmark: str | None, *, quiet: bool, json: bool
) -> None:
    from vivavoce.systems.cliniqlink.submissions.board import read_board
    from vivavoce.systems.cliniqlink.submissions.board_files import write_board
    from vivavoce.systems.cliniqlink.submissions.terms import METRIC

    board = read_board(folder, metric=metric or METRIC, benchmark=benchmark, now=datetime.now(UTC))
    files = write_board(board, to or folder / "leaderboard.html")
    refused = [entry._asdict() for entry in board.refused]
    if json:
        paths = {name: str(path) for name, path in files._asdict().items()}
        return print_json("challenge", None, [row.flat for row in board.rows], refused=refused,
                          notes=board.notes, text=board.lead, **paths)  # fmt: skip
    if not quiet:
        _print_board(board)
        echo(f"{files.page}\n{files.table}")
    return None


def _print_board(board: Any) -> None:
    echo(board.lead)
    columns = ["rank", "team", "system", "overall", "95% interval", "missing", "date", "size", "sha256"]
    print_table(columns, [_board_cells(row) for row in board.rows])
    for note in board.notes:
        echo(note)
    for entry in board.refused:
        echo(f"Not on the board: {entry.place}: {entry.reason}")


def _board_cells(row: Any) -> list[Any]:
    interval = None if row.low is None else f"{figure(row.low)} to {figure(row.high)}"
    names = [name and one_line(name, 60) for name in (row.team, row.system)]
    figures = [figure(row.overall), interval, row.n_missing or None]
    return [row.ranks, *names, *figures, row.date, row.size_class, row.sha256[:12]]


def _refuse(what: What, options: Mapping[str, object]) -> None:
    """Raise `InputError` for an option that goes with something else."""
    for name, value in options.items():
        if value and what not in OPTIONS[name]:
            raise InputError(f"--{name} goes with {' and '.join(OPTIONS[name])}, not with {what}.")
