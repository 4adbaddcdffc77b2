"""`viva demo`: the sample benchmark from its answers to its report, in eight lines."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from vivavoce.cli.options import Json, Quiet, output_path
from vivavoce.cli.output import print_json
from vivavoce.cli.stdout import echo
from vivavoce.core.errors import StoreError
from vivavoce.core.numbers import printed
from vivavoce.core.private_files import private_folder
from vivavoce.studies.bounded import ends_text

if TYPE_CHECKING:
    from vivavoce.core.records import Finding
    from vivavoce.run.run import Run


METRICS = ("accuracy", "list_f1", "exact", "token_f1", "rouge(n=L)", "meteor", "step_accuracy", "planted")


class Step(NamedTuple):
    """A line of the demo: what was done, its result, and the command that shows more."""

    step: str
    said: str
    next: str | None


def demo(
    to: Annotated[
        Path, typer.Option(parser=output_path, metavar="DIR", help="Folder for the run and its report.")
    ] = Path("viva-demo"),
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Evaluate three made-up candidates on a sample: no key, no network.

    The folder gets the run and its report. A second demo replaces the first, and nothing else. Not for
    clinical use.

    Example: `viva demo`
    """
    steps = []
    for step in _steps(to):
        steps.append(step)
        if not quiet and not json:
            onward = f"  ->  {step.next}" if step.next else ""
            echo(f"{len(steps)} {step.step}: {step.said}{onward}", flush=True)
    if json:
        print_json("demo", to / "demo.viva", [step._asdict() for step in steps])


def _steps(folder: Path) -> Iterator[Step]:
    from vivavoce.benchmarks.sample import CANDIDATES, recorded

    started = time.perf_counter()
    run = _new_run(folder)
    name = quote(str(run.file.path))
    with recorded() as answers:
        imported = run.import_answers(answers, benchmark="sample")
    yield Step(
        "imported",
        f"{imported.responses} made-up answers of {imported.candidates} candidates to {imported.items} "
        "questions",
        f"viva status {name}",
    )

    estimates = run.score(*METRICS)
    yield Step("scored", f"{run.scores.height} scores by {', '.join(METRICS)}", "viva list metrics")

    by_accuracy = [row for row in estimates.rows if row["metric"] == "accuracy"]
    yield Step(
        "leaderboard",
        f"accuracy {'; '.join(map(_estimate, by_accuracy))}",
        f"viva score {name} accuracy",
    )

    comparison = run.compare(*CANDIDATES, metric="accuracy")
    best, second = quote(CANDIDATES[0]), quote(CANDIDATES[1])
    yield Step(
        "verdict",
        "; ".join(map(_verdict, comparison.rows)),
        f"viva compare {name} {best} {second} --metric accuracy",
    )

    findings = run.study()
    yield Step("bias", _bias(findings["bias"]), f"viva study {name} bias")
    yield Step("studied", _studies(findings), f"viva study {name} ranking")
    yield Step("missing", _missing(run), f"viva status {name}")

    report = run.report()
    seconds = time.perf_counter() - started
    yield Step("report", f"made in {seconds:.0f} s; not for clinical use. Open {report}", None)


def _new_run(folder: Path) -> "Run":
    """An empty run in the folder. Raises `StoreError` where another file than a demo's run or report lies."""
    from vivavoce.run.report import refuse_other_files
    from vivavoce.run.run import open_run

    path = folder / "demo.viva"
    try:
        private_folder(folder)
        exists = path.exists() or path.is_symlink()
    except OSError as error:
        raise StoreError(
            f"cannot make the folder {folder}: {error.strerror or error}. Give another with --to."
        ) from None
    refuse_other_files(path.with_suffix(".html"))
    if exists:
        _remove_demo(path)
    return open_run(path)


def _remove_demo(path: Path) -> None:
    """Remove an earlier demo's run. Raises `StoreError` if the file is another, or cannot be removed."""
    from vivavoce.run.run import open_run
    from vivavoce.store.strange_files import is_empty

    try:
        is_file = path.is_file() and not path.is_symlink()
        replaceable = is_file and (is_empty(path) or _is_demo(open_run(path)))
    except StoreError:
        replaceable = False
    if not replaceable:
        raise StoreError(f"{path} is there already and is no demo's run: give another folder with --to.")
    try:
        for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
            file.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot replace {path}: {error.strerror or error}. Give another folder with --to."
        ) from None


def _is_demo(run: "Run") -> bool:
    """True if the run holds nothing but the sample's answers, and no imported scores."""
    from vivavoce.benchmarks.sample import CANDIDATES
    from vivavoce.core.specs import signed
    from vivavoce.store import read

    with run.file.reading() as db:
        benchmarks = {row.benchmark for row in read.benchmarks(db)}
        candidates = {row.candidate for row in read.candidates(db)}
        imported = any(signed(keyed.measure.signature).recorded for keyed in read.measures(db))
    return benchmarks <= {"sample"} and candidates <= set(CANDIDATES) and not imported


def _short(candidate: str) -> str:
    return candidate.removesuffix(" (made up)")


def _estimate(row: Any) -> str:
    if row["estimate"] is None:
        return f"{_short(row['candidate'])} none"
    ends = ends_text(row["low"], row["high"])
    return f"{_short(row['candidate'])} {printed(row['estimate'])}{ends}"


def _verdict(row: Any) -> str:
    """The verdict on a pair, in few words."""
    first, second = _short(row["a"]), _short(row["b"])
    if row["verdict_code"] == "better":
        first, second = (first, second) if row["favours"] == "a" else (second, first)
        return f"{first} is better than {second}"
    return f"{first} and {second}: {row['verdict_code'].replace('_', ' ')}"


def _bias(finding: "Finding") -> str:
    """How often each candidate adopts the wrong answer that a sentence suggests, and the verdict."""
    from vivavoce.benchmarks.sample import CANDIDATES

    by_candidate = {
        row["candidate"]: row
        for row in finding.rows
        if (row["metric"], row["contrast"], row["type"]) == ("planted", "bias", "all")
    }
    rates, biased = [], []
    for name in CANDIDATES:
        row = by_candidate[name]
        flipped, neutral = (printed(row[side], ".0%") for side in ("value", "partner"))
        rates.append(f"{_short(name)} {flipped}, {neutral} beside a neutral sentence")
        if row["verdict_code"] == "worse":
            biased.append(_short(name))
    verdict = f": a bias of {', '.join(biased)}" if biased else ""
    return f"a suggested wrong answer is taken up by {'; '.join(rates)}{verdict}"


def _studies(findings: "Mapping[str, Finding]") -> str:
    """The studies that found something, then those that had too little data for any figure."""
    from vivavoce.studies.study_headline import is_conclusive

    conclusive = [name for name, finding in findings.items() if is_conclusive(finding)]
    inconclusive = [name for name in findings if name not in conclusive]
    too_little = f"too little to tell: {', '.join(inconclusive)}" if inconclusive else ""
    return "; ".join(filter(None, [", ".join(conclusive), too_little]))


def _missing(run: "Run") -> str:
    """How many responses are unanswered, unreadable or failed; `viva status` counts scores."""
    import polars as pl

    from vivavoce.studies.text import missing_words

    responses = run.responses
    keys = ("item", "variant", "candidate", "repeat", "edit")
    statuses = dict(run.scores.unique((*keys, "status")).group_by("status").len().iter_rows())
    counts = {
        "blank or refused": statuses.get("unanswered", 0),
        "unreadable": statuses.get("unreadable", 0),
        "failed": responses.filter(pl.col("status") == "failed").height,
    }
    return (
        f"{missing_words(counts, 'answer')}, of {responses.height}; each metric declares what they count as, "
        "and status counts scores"
    )
