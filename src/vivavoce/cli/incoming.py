"""`viva import`: recorded answers, or recorded scores, into a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from vivavoce.cli.options import (
    Direction,
    IfUnanswered,
    Json,
    Map,
    Plugin,
    Quiet,
    Range,
    Role,
    RunPath,
    Set,
    Where,
    declared,
    exam,
    opened,
    pairs,
    ranges,
)
from vivavoce.cli.output import counted, print_json
from vivavoce.errors import InputError

if TYPE_CHECKING:
    from vivavoce.interchange import Imported, ImportedScores

__all__ = ["import_"]


def import_(
    run: RunPath,
    file: Annotated[
        Path, typer.Argument(help="Answers or scores: .jsonl, .csv, .tsv, .parquet; a folder of results.")
    ],
    benchmark: Annotated[
        str | None,
        typer.Option(callback=exam, help='The exam they answer: "hivmedqa(data=DIR)", "jsonl(path=F)".'),
    ] = None,
    map: Map = [],  # noqa: B006 - typer reads the default, nothing changes it
    set: Set = [],  # noqa: B006
    role: Role = [],  # noqa: B006
    new_version: Annotated[
        bool, typer.Option("--new-version", help="Accept items that have changed.")
    ] = False,
    scores: Annotated[bool, typer.Option("--scores", help="The file holds marks, not answers.")] = False,
    measure: Annotated[
        str | None, typer.Option(help="Scores: the spec of what gave them, kept as a label.")
    ] = None,
    criteria: Annotated[str, typer.Option(help="Scores: columns that hold marks, by commas.")] = "",
    where: Where = [],  # noqa: B006
    status: Annotated[
        str | None, typer.Option(help="Scores: a column; ok is ok, any other word failed.")
    ] = None,
    blank: Annotated[
        Literal["unanswered", "recorded"], typer.Option(help="Scores: what marks of a blank answer count as.")
    ] = "unanswered",
    range: Range = [],  # noqa: B006
    direction: Direction = [],  # noqa: B006
    if_unanswered: IfUnanswered = [],  # noqa: B006
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Import recorded answers into a run, made if it does not exist; with --scores, recorded marks.

    Fields of answers: item, variant, candidate, repeat, edit, text, status, reasoning, finish_reason,
    tokens, seconds, cost, error. A null text is a failed response, an empty one arrived empty. Fields of
    scores: item, variant, candidate, repeat, edit, criterion, value, rater, pass_no, ballot, position, note.
    A folder holds the result files of a ClinIQLink submission.

    Example: `viva import exam.viva answers.jsonl --benchmark "jsonl(path=exam.jsonl)" --map candidate=model`

    Example: `viva import exam.viva marks.csv --scores --measure "judge(rubric=medgpt, model=gpt-4o)"
    --criteria comprehension,harm --map item=question_id --map candidate=model`
    """
    shared = {"benchmark": benchmark, "map": pairs(map, "--map"), "set": pairs(set, "--set")}
    into = opened(run, plugin)
    of_marks = {"--measure": measure, "--criteria": criteria, "--where": where, "--status": status,
                "--range": range, "--direction": direction, "--if-unanswered": if_unanswered}  # fmt: skip
    _refuse(of_marks, scores=scores, of_answers=bool(role or new_version), benchmark=benchmark)
    if scores:
        marks = into.import_scores(
            file,
            measure=str(measure),
            criteria=[name.strip() for name in criteria.split(",") if name.strip()],
            where=pairs(where, "--where"),
            status=status,
            blank=blank,
            range=ranges(range),
            direction=declared(direction, "--direction"),
            if_unanswered=declared(if_unanswered, "--if-unanswered"),
            **shared,  # type: ignore[arg-type]
        )
        return _show_scores(run, marks, quiet=quiet, json=json)
    done = into.import_answers(
        file,
        role=pairs(role, "--role"),  # type: ignore[arg-type]
        new_version=new_version,
        **shared,  # type: ignore[arg-type]
    )
    return _show_answers(run, done, quiet=quiet, json=json)


def _refuse(of_marks: Mapping[str, object], *, scores: bool, of_answers: bool, benchmark: str | None) -> None:
    """Raise `InputError` where answers or marks lack what they need, or get an option of the other."""
    if scores and of_answers:
        raise InputError("--role and --new-version say something of answers: they do not go with --scores.")
    if scores and of_marks["--measure"] is None:
        raise InputError("--scores needs --measure: the spec of what gave them, such as judge(model=m).")
    if not scores and (alone := [option for option, value in of_marks.items() if value]):
        raise InputError(f"{alone[0]} says something of marks: it goes with --scores.")
    if not scores and benchmark is None:
        raise InputError("--benchmark names the exam that is answered, such as jsonl(path=exam.jsonl).")


def _show_answers(run: Path, done: "Imported", *, quiet: bool, json: bool) -> None:
    if json:
        return print_json("import", run, [done._asdict()])
    if quiet:
        return None
    print(
        f"{run}: {counted(done.responses, 'answer')} of {counted(done.candidates, 'candidate')} to "
        f"{counted(done.items, 'item')} "
        f"({done.new} new, {done.unchanged} unchanged, {done.replaced} replacing failures); "
        f"{done.blank} blank, {done.failed} failed, {done.skipped} skipped."
    )
    _tell_probes(done.probes, "answer")
    for name in done.identical_repeats:
        print(f"All repeats of {name} are the same text: they tell nothing of how it varies.")
    return None


def _tell_probes(rows: int, what: str) -> None:
    if rows:
        print(
            f"{counted(rows, 'row')} left out: what a model told of its probabilities is no {what} in words."
        )


def _show_scores(run: Path, done: "ImportedScores", *, quiet: bool, json: bool) -> None:
    if json:
        return print_json("import", run, [done._asdict()])
    if quiet:
        return None
    print(
        f"{run}: {counted(done.scores, 'mark')} on {', '.join(done.criteria)}: {done.ok} ok, "
        f"{done.unanswered} unanswered, {done.failed} failed; {counted(done.skipped, 'row')} skipped."
    )
    _tell_probes(done.probes, "mark of an answer")
    if done.blank_scored:
        blank = counted(len(done.blank_scored), "blank answer")
        print(f"{blank} had been given marks, which do not count:")
        print("\n".join(f"  {name}" for name in done.blank_scored))
    return None
