"""`viva demo`: the sample exam from its answers to its report, in eight lines."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from vivavoce.cli.options import Json, Quiet, place
from vivavoce.cli.output import print_json
from vivavoce.errors import StoreError
from vivavoce.text import printable

if TYPE_CHECKING:
    from vivavoce.records import Finding
    from vivavoce.run import Run

__all__ = ["demo"]

METRICS = (
    *("accuracy", "list_f1", "exact", "token_f1", "rouge(n=L)", "bleu", "meteor", "step_accuracy", "planted"),
)


class Step(NamedTuple):
    """A line of the demo: what was done, what came of it, and what to type to go on from there."""

    step: str
    said: str
    next: str | None


def demo(
    to: Annotated[
        Path, typer.Option(parser=place, metavar="PATH", help="The folder for the run and its report.")
    ] = Path("viva-demo"),
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Examine three made-up candidates on a sample exam: no file, no key, no network. Not for clinical use.

    Run and report are left in the folder. A second demo starts anew, and replaces nothing but the first.

    Example: `viva demo`
    """
    steps = []
    for step in _steps(to):
        steps.append(step)
        if not quiet and not json:
            onward = f"  ->  {step.next}" if step.next else ""
            print(printable(f"{len(steps)} {step.step}: {step.said}{onward}"), flush=True)
    if json:
        print_json("demo", to / "demo.viva", [step._asdict() for step in steps])


def _steps(to: Path) -> Iterator[Step]:
    from vivavoce.benchmarks.sample import CANDIDATES, recorded

    began = time.perf_counter()
    run = _anew(to)
    name = quote(str(run.file.path))
    with recorded() as answers:
        done = run.import_answers(answers, benchmark="sample")
    yield Step(
        "imported",
        f"{done.responses} made-up answers of {done.candidates} candidates to {done.items} questions",
        f"viva status {name}",
    )

    marked = run.score(*METRICS)
    yield Step(
        "marked",
        f"{run.scores.height} marks by {', '.join(METRICS)}",
        "viva list metrics",
    )

    by_accuracy = [row for row in marked.rows if row["metric"] == "accuracy"]
    yield Step(
        "leaderboard",
        f"accuracy {'; '.join(map(_scored, by_accuracy))}",
        f"viva score {name} accuracy",
    )

    compared = run.compare(*CANDIDATES, metric="accuracy")
    best = quote(CANDIDATES[0])
    yield Step(
        "verdict",
        "; ".join(_verdict(row) for row in compared.rows),
        f"viva compare {name} {best} {quote(CANDIDATES[1])} --metric accuracy",
    )

    studied = run.study()
    yield Step("bias", _biased(studied["bias"]), f"viva study {name} bias")

    yield Step("studied", _studied(studied), f"viva study {name} ranking")

    yield Step("missing", _missing(run), f"viva status {name}")

    report = run.report()
    seconds = time.perf_counter() - began
    yield Step("report", f"made in {seconds:.0f} s; not for clinical use. Open {report}", None)


def _anew(to: Path) -> "Run":
    """An empty run in the folder. Raises `StoreError` where a file lies that is no demo of ours."""
    from vivavoce.run import open_run

    path = to / "demo.viva"
    try:
        to.mkdir(parents=True, exist_ok=True)
        there = path.exists() or path.is_symlink()
    except OSError as error:
        raise StoreError(
            f"cannot make the folder {to}: {error.strerror or error}. Give another with --to."
        ) from None
    if there:
        other = f"{path} is there already and is no demo's run: give another folder with --to."
        try:
            ours = path.is_file() and not path.is_symlink() and _is_demo(open_run(path))
        except StoreError:
            ours = False
        if not ours:
            raise StoreError(other)
        try:
            for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
                file.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(
                f"cannot replace {path}: {error.strerror or error}. Give another folder with --to."
            ) from None
    return open_run(path)


def _is_demo(run: "Run") -> bool:
    """True if the run holds nothing but the sample's answers, and no marks that came from outside."""
    from vivavoce.benchmarks.sample import CANDIDATES
    from vivavoce.specs import signed
    from vivavoce.store import read

    with run.file.reading() as db:
        benchmarks = {found.benchmark for found in read.benchmarks(db)}
        candidates = {found.candidate for found in read.candidates(db)}
        elsewhere = any(signed(keyed.measure.signature).recorded for keyed in read.measures(db))
    return benchmarks <= {"sample"} and candidates <= set(CANDIDATES) and not elsewhere


def _short(candidate: str) -> str:
    return candidate.removeprefix("illustration: ")


def _scored(row: Any) -> str:
    if row["estimate"] is None:
        return f"{_short(row['candidate'])} none"
    ends = "" if row["low"] is None else f" ({row['low']:.2f} to {row['high']:.2f})"
    return f"{_short(row['candidate'])} {row['estimate']:.2f}{ends}"


def _verdict(row: Any) -> str:
    """A pair and what the comparison makes of it, in few words."""
    first, second = _short(row["a"]), _short(row["b"])
    if row["verdict_code"] == "better":
        first, second = (first, second) if row["favours"] == "a" else (second, first)
        return f"{first} is better than {second}"
    return f"{first} and {second}: {row['verdict_code'].replace('_', ' ')}"


def _biased(found: "Finding") -> str:
    """How often each candidate takes up the wrong answer that a sentence suggests, and what is made of it."""
    from vivavoce.benchmarks.sample import CANDIDATES

    told = {
        row["candidate"]: row
        for row in found.rows
        if (row["metric"], row["contrast"], row["type"]) == ("planted", "bias", "all")
    }
    rates = "; ".join(
        f"{_short(name)} {told[name]['value']:.0%}, {told[name]['partner']:.0%} beside a neutral sentence"
        for name in CANDIDATES
    )
    swayed = [_short(name) for name in CANDIDATES if told[name]["verdict_code"] == "worse"]
    shown = f": a bias of {', '.join(swayed)}" if swayed else ""
    return f"a suggested wrong answer is taken up by {rates}{shown}"


def _studied(found: "Mapping[str, Finding]") -> str:
    """The studies that found something, then those that had too little for any figure."""
    telling = [name for name, finding in found.items() if any(map(_tells, finding.rows))]
    silent = [name for name in found if name not in telling]
    parts = [", ".join(telling), f"too little to tell: {', '.join(silent)}" if silent else ""]
    return "; ".join(filter(None, parts))


def _tells(row: "Mapping[str, Any]") -> bool:
    """Whether a row of a study has its figure; a bias may be shown though something beside it is unknown."""
    return not row["reason"] or row.get("verdict_code") == "worse"


def _missing(run: "Run") -> str:
    """What was not answered or cannot be read: states of their own."""
    import polars as pl

    answers = run.responses
    place = ("item", "variant", "candidate", "repeat", "edit")
    states = dict(run.scores.unique((*place, "status")).group_by("status").len().iter_rows())
    lost = answers.filter(pl.col("status") == "failed").height
    return (
        f"of {answers.height} answers {states.get('unanswered', 0)} are blank or refused, "
        f"{states.get('unreadable', 0)} unreadable, {lost} never came: each is a state of its own, "
        "counted as each metric declares"
    )
