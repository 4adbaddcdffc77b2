"""From the published files to score rows: imported into a run that lasts as long as the command.

The figures are then those of the product: the same import, the same rules for what is missing. Scores of
blank answers count as they were recorded (`--blank recorded`), because the published figures have them.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vivavoce.benchmarks import Loaded, load
from vivavoce.core.errors import InputError
from vivavoce.core.records import Measure
from vivavoce.core.specs import Spec
from vivavoce.core.tables import is_file, read_lines
from vivavoce.run.exchange.answers import import_answers
from vivavoce.run.exchange.score_layout import Layout
from vivavoce.run.exchange.scores import import_scores
from vivavoce.run.exchange.sources import Source, read_source
from vivavoce.store import read
from vivavoce.store.runfile import RunFile

if TYPE_CHECKING:
    import polars as pl


CEILING = "Rephrased Gold Answers"
JUDGE = "judge(model=gpt-4o-2024-08-06, rubric=medgpt)"
FREE = "judge(model=gpt-4o-2024-08-06, rubric=medgpt_free)"
"""The same judge without the reference: the paper's unsupervised scores."""
JUDGED = ("comprehension", "reasoning", "knowledge_recall", "demographic_bias", "harm")


def medsynf1(variant: str) -> str:
    """The label of the recorded F1 of a variant, by its name in f1.csv."""
    return f"medsynf1(variant={variant})"


SIX = {name: (JUDGE, name) for name in JUDGED} | {"medsynf1": (medsynf1("gptdict_lemma"), "f1")}
"""The columns of Table 2: of which measure, and which of its criteria."""

ITEMS, ITEMS_IN_ALL, REPEATS = 63, 92, 5
PER_CANDIDATE = ITEMS * REPEATS
PAIRS = 21
_SIZES = {1: 11, 2: 12, 3: 24, 4: 11, 5: 24, 6: 10}  # items of each category of the repository
MARKS = {"judge_scores.csv": 9_660, "f1.csv": 35_420}
"""Rows of the files of scores, on all 92 items."""
_COLUMNS = {
    "questions.jsonl": ("id",),
    "responses.jsonl": ("model", "question_id", "iteration", "answer"),
    "judge_scores.csv": ("model", "question_id", "iteration", *JUDGED, "supervised", "parse_status"),
    "f1.csv": ("model", "question_id", "iteration", "variant", "precision", "recall", "f1"),
}
_NAMES = {"item": "question_id", "repeat": "iteration", "candidate": "model"}


class Incomplete(NamedTuple):
    """A file that has not all the scores of a candidate: figures that rest on them are not given."""

    file: str
    rows: str
    candidate: str
    present: int
    expected: int

    def __str__(self) -> str:
        return (
            f"{self.file} has {self.present} of the {self.expected} {self.rows} of {self.candidate} behind "
            "the published figures: those of its figures that rest on them cannot be given."
        )


class Part(NamedTuple):
    """One criterion: its score rows, its key in the run, and its measure."""

    rows: "pl.DataFrame"
    key: int
    measure: Measure


class Recorded(NamedTuple):
    """The scores of the candidates that have all of theirs, and what there is to say of the files.

    `scores` are score rows with details on the paper's 63 items; `exam` those items and the others.
    """

    exam: Loaded
    scores: "pl.DataFrame"
    measures: Mapping[int, Measure]
    incomplete: tuple[Incomplete, ...]

    def part(self, metric: str, criterion: str) -> Part | None:
        """The scores by one criterion of a measure; null where the files hold none."""
        import polars as pl

        for key, measure in self.measures.items():
            if (measure.metric, measure.criterion.criterion) == (metric, criterion):
                return Part(self.scores.filter(pl.col("measure_id") == key), key, measure)
        return None

    def column(self, name: str) -> Part | None:
        """The scores behind a column of Table 2, where answers that the judge's scores lack count nowhere."""
        import polars as pl

        part = self.part(*SIX[name])
        if part is None or name in JUDGED:
            return part
        unparsed = self.unparsed()
        keys = ["item", "variant", "candidate", "repeat"]
        return part._replace(rows=part.rows.join(unparsed.select(pl.col(keys)), on=keys, how="anti"))

    def unparsed(self) -> "pl.DataFrame":
        """A row for each answer whose scores by the judge could not be read; `note` is the file's word."""
        import polars as pl

        judged = self.part(JUDGE, JUDGED[0])
        return (self.scores.clear() if judged is None else judged.rows).filter(pl.col("status") == "failed")


def recorded(data: Path, candidates: Sequence[str], variants: Sequence[str]) -> Recorded:
    """The published scores of `candidates` in the folder `data`, and of the ceiling by all F1 `variants`.

    Raises `InputError` where a file is missing, lacks a column, holds questions or answers other than the
    published ones, or a row that cannot be read.
    """
    _check_files(data)
    spec = str(Spec("hivmedqa", {"data": str(data), "subset": "paper"}))
    exam = load(spec)
    _check_exam(data / "questions.jsonl", exam)
    with tempfile.TemporaryDirectory(prefix="viva-") as folder:
        run = RunFile(Path(folder) / "hivmedqa.viva")
        import_answers(run, data / "responses.jsonl", benchmark=spec, columns=_NAMES | {"text": "answer"},
                       constants={}, roles={})  # fmt: skip
        with run.reading() as db:
            answers = Counter(candidate for _, _, _, candidate, *_ in read.stored_responses(db))
        _check_answers(data / "responses.jsonl", answers, candidates)
        for source, metric, criteria, choice in _imports(data, variants):
            if not source.lines:
                continue
            layout = Layout(_NAMES, {}, criteria, choice, "parse_status" if len(criteria) > 1 else None,
                            "recorded")  # fmt: skip
            limits = {"*": {"low": 0.0, "high": 5.0 if len(criteria) > 1 else 1.0}}
            import_scores(
                run, source, measure=metric, layout=layout, declared=limits, benchmark=spec, same_allowed=True
            )
        with run.reading() as db:
            measures = {keyed.key: keyed.measure for keyed in read.measures(db)}
            scores = read.scores(db, details=True)
    return _complete(Recorded(exam, scores, measures, ()), candidates, variants)


def _check_files(data: Path) -> None:
    names = list(_COLUMNS)
    if not data.is_dir():
        raise InputError(f"{data} is no folder: --data names the one with {', '.join(names)}.")
    for name, columns in _COLUMNS.items():
        if not is_file(data / name):
            raise InputError(f"no {name} in {data}: hivmedqa is recomputed from {', '.join(names)}.")
        first = next(read_lines(data / name))
        for column in columns:
            if column not in first.row:
                raise InputError(f"{first.where}: no column {column!r}, which the published {name} has.")


def _check_exam(file: Path, exam: Loaded) -> None:
    """Raise `InputError` if these are not the published questions, the paper's marked as such."""
    expected = {f"c{category}q{n:02}" for category, size in _SIZES.items() for n in range(size)}
    present = {item.name for item in (*exam.items, *exam.others)}
    if odd := sorted(expected ^ present):
        fault = "lacks" if odd[0] in expected else "has, unlike the published one,"
        raise InputError(
            f"{file} {fault} the question {odd[0]}: figures can be recomputed from the "
            f"{ITEMS_IN_ALL} published questions only."
        )
    pairs = _count_pairs(exam)
    if (len(exam.items), pairs) != (ITEMS, PAIRS):
        raise InputError(
            f"{file} scores {len(exam.items)} questions as the paper's, {pairs} of them biased twins of "
            f"others; its figures rest on {ITEMS} and {PAIRS}."
        )


def _count_pairs(exam: Loaded) -> int:
    """How many biased twins stand beside the question that they were made from."""
    bases = {item.item for item in exam.items if not item.variant}
    return sum(bool(item.variant) and item.item in bases for item in exam.items)


def _check_answers(file: Path, counts: Mapping[str, int], candidates: Sequence[str]) -> None:
    for candidate in candidates:
        if counts[candidate] != PER_CANDIDATE:
            raise InputError(
                f"{file} has {counts[candidate]} of the {PER_CANDIDATE} answers of {candidate} behind the "
                "published figures: no score of an answer that is not there can be read, and no figure given."
            )


def _imports(
    data: Path, variants: Sequence[str]
) -> Iterator[tuple[Source, str, tuple[str, ...], dict[str, str]]]:
    """Rows, if any, measure, criteria and choice of rows; F1 by all models for the variant in the six."""
    judged = _chosen(read_source(data / "judge_scores.csv", None), {})
    for metric, supervised in ((JUDGE, "True"), (FREE, "False")):
        choice = {"supervised": supervised}
        yield _chosen(judged, choice), metric, JUDGED, choice
    f1 = _chosen(read_source(data / "f1.csv", None), {})
    for variant in variants:
        choice = {"variant": variant} | (
            {} if medsynf1(variant) == SIX["medsynf1"][0] else {"model": CEILING}
        )
        yield _chosen(f1, choice), medsynf1(variant), ("f1",), choice


def _chosen(source: Source, choice: Mapping[str, str]) -> Source:
    """The rows that have the words of `choice`, in memory: they are read thrice."""
    lines = [line for line in source.lines if choice.items() <= line.row.items()]
    return source._replace(lines=lines)


def _complete(recorded: Recorded, candidates: Sequence[str], variants: Sequence[str]) -> Recorded:
    """Without the scores of candidates that lack some, by a measure, and of those the paper has not."""
    import polars as pl

    models = [name for name in candidates if name != CEILING]
    expected: list[tuple[str, str, str, str]] = []
    expected += [("judge_scores.csv", "scores", JUDGE, name) for name in candidates]
    expected += [("judge_scores.csv", "scores without the reference", FREE, name) for name in models]
    expected += [("f1.csv", "MedSynF1 figures", SIX["medsynf1"][0], name) for name in candidates]
    expected += [("f1.csv", f"figures by {variant}", medsynf1(variant), CEILING) for variant in variants
                 if medsynf1(variant) != SIX["medsynf1"][0]]  # fmt: skip
    scored = recorded.scores.group_by("metric", "candidate").agg(n=pl.len() // pl.col("criterion").n_unique())
    n: dict[tuple[str, str], int] = {(m, c): count for m, c, count in scored.iter_rows()}
    incomplete = [
        Incomplete(file, rows, candidate, n.get((metric, candidate), 0), PER_CANDIDATE)
        for file, rows, metric, candidate in expected
        if n.get((metric, candidate), 0) != PER_CANDIDATE
    ]
    unknown = {i.candidate for i in incomplete if i.rows == "scores"}
    complete = [
        (metric, candidate)
        for _, _, metric, candidate in expected
        # Without all scores of the judge nobody knows which of the F1 figures to set aside.
        if n.get((metric, candidate)) == PER_CANDIDATE
        and not (metric == SIX["medsynf1"][0] and candidate in unknown)
    ]
    keys = pl.DataFrame(complete, schema={"metric": pl.String, "candidate": pl.String}, orient="row")
    scores = recorded.scores.join(keys, on=["metric", "candidate"], how="semi", maintain_order="left")
    return recorded._replace(scores=scores, incomplete=tuple(incomplete))
