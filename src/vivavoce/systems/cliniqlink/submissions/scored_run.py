"""The scores in a submission's run, read from a copy: what was hashed is what is ranked."""

import hashlib
from pathlib import Path
from typing import NamedTuple

import polars as pl

from vivavoce.core.errors import InputError, SelectionError, VivaError, suggest
from vivavoce.core.private_files import new_bytes
from vivavoce.core.records import Measure
from vivavoce.core.text import one_line
from vivavoce.run.tables.load import load_scores, select_signatures
from vivavoce.store import read
from vivavoce.store.integrity import refuse_damaged
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import with_view
from vivavoce.studies.comparing.overall_columns import bare
from vivavoce.systems.cliniqlink.exam_files import EXAM
from vivavoce.systems.cliniqlink.submissions.submission import Submission
from vivavoce.systems.cliniqlink.submissions.terms import METRIC, exam_digest

_CHUNK = 1 << 20
_QUESTION = ["item", "variant"]
_ANSWER = [*_QUESTION, "repeat"]


class ScoredRun(NamedTuple):
    """A submission with the SHA-256 of its run, the digest of its exam, and its scores by one measure.

    Of the exam's `n_items` questions `n_missing` have no answer: no entry, or a null that no failure of ours
    explains. Their scores say unanswered, so that `scores` has every question of the exam. `answers` is a
    hash of the answers, equal where each is and the same are missing; null without one.
    """

    submission: Submission
    sha256: str
    candidate: str
    exam: str
    n_items: int
    n_missing: int
    measure: Measure
    scores: pl.DataFrame
    answers: str | None


def read_scored_run(submission: Submission, metric: str, copy: Path) -> ScoredRun:
    """The scores of a submission by a metric; `copy` is where its run is copied to.

    Raises `InputError` for a run that is open elsewhere, is not the file whose hash was stated, was changed,
    or has no scores of this kind; its sentence names the run and not the copy.
    """
    sha256 = _copied(submission.run, copy)
    if submission.sha256 not in (None, sha256):
        raise InputError(
            f"{submission.run} is not the file that was taken in: its SHA-256 is {sha256}, and "
            f"submission.yaml states {submission.sha256}."
        )
    try:
        return _scored(submission, RunFile(copy), metric, sha256)
    except VivaError as error:
        raise InputError(str(error).replace(str(copy), str(submission.run))) from None


def _copied(path: Path, to: Path) -> str:
    """Copy a run file; its SHA-256 in hex. Raises `InputError` where a part of it lies in another file."""
    digest = hashlib.sha256()
    try:
        for suffix in ("-wal", "-journal"):
            journal = path.with_name(path.name + suffix)
            if journal.exists() and journal.stat().st_size:
                raise InputError(
                    f"{path} is open in a program, or was not closed ({journal.name} lies beside it): "
                    "`viva copy` writes a whole one."
                )
        with path.open("rb") as stream, new_bytes(to) as target:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
                target.write(chunk)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from None
    return digest.hexdigest()


def _scored(submission: Submission, run: RunFile, metric: str, sha256: str) -> ScoredRun:
    with run.reading() as db:
        refuse_damaged(db, "It is not ranked.")
        items = [i for i in read.items_by_id(db).values() if i.benchmark == EXAM and i.origin is None]
        questions = read.items(db).filter((pl.col("benchmark") == EXAM) & pl.col("origin").is_null())
        candidates = [candidate.candidate for candidate in read.candidates(db)]
    if not items:
        raise InputError(f"{run.path} holds no questions of {EXAM}: it is another exam.")
    candidate = _candidate(submission, candidates, run.path)
    measure, scores = _scores(run, metric, candidate)
    answers = _answers(run, candidate).join(questions, on=_QUESTION, how="semi")
    scores = _with_unanswered(scores, answers, f"`viva score {run.path} {metric}` goes on")
    return ScoredRun(
        submission=submission,
        sha256=sha256,
        candidate=candidate,
        exam=exam_digest(items),
        n_items=len(items),
        n_missing=len(items) - answers.filter(~pl.col("missing")).n_unique(_QUESTION),
        measure=measure,
        scores=_with_absent(scores, questions),
        answers=_answers_hash(run, candidate),
    )


def _scores(run: RunFile, metric: str, candidate: str) -> tuple[Measure, pl.DataFrame]:
    """The scores of a candidate by the one measure that a metric names. Raises `InputError` without one."""
    try:
        signatures = with_view(run, select_signatures, metric)
    except SelectionError as error:
        raise InputError(
            f"{run.path}: {error} The board needs scores by one version of {metric}, from `viva score`."
        ) from None
    table = with_view(run, load_scores, signatures, None, [candidate])
    if by := next((m.metric for m in table.measures.values() if bare(m) != METRIC), None):
        raise InputError(f"{run.path}: the board ranks by {METRIC}, which scores all formats, not by {by}.")
    scores = table.scores.filter((pl.col("benchmark") == EXAM) & (pl.col("edit") == ""))
    keys = scores["measure_id"].unique().to_list()
    if len(keys) != 1:
        fault = "scores by several versions" if keys else f"no scores of {one_line(candidate, 60)}"
        raise InputError(f"{run.path} holds {fault} of {metric}: `viva score {run.path} {metric}`.")
    if "weight" in scores.columns:
        raise InputError(f"{run.path} holds a sample of the exam, and the board ranks by the whole.")
    return table.measures[keys[0]], scores


def _with_unanswered(scores: pl.DataFrame, answers: pl.DataFrame, remedy: str) -> pl.DataFrame:
    """The scores, those of missing answers as unanswered. Raises `InputError` where one has none yet."""
    if unscored := answers.join(scores, on=_ANSWER, how="anti").height:
        raise InputError(f"{unscored} of {answers.height} answers have no score yet: {remedy}.")
    is_missing = pl.col("missing") & (pl.col("status") == "failed")
    return (
        scores.join(answers, on=_ANSWER, how="left", maintain_order="left")
        .with_columns(status=pl.when(is_missing).then(pl.lit("unanswered")).otherwise("status"))
        .drop("missing")
    )


def _with_absent(scores: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """The scores, of which there is one at least, and a row that says unanswered for each other question."""
    of_question = [name for name in scores.columns if name in questions.columns]
    absent = (
        questions.select(of_question)
        .join(scores, on=_QUESTION, how="anti")
        .with_columns(
            value=pl.lit(None, pl.Float64),
            status=pl.lit("unanswered"),
            parts=pl.lit(None, pl.String),
            note=pl.lit("no answer was submitted"),
        )
    )
    of_measure = scores.head(1).drop(absent.columns)
    rows = absent.join(of_measure, how="cross").select(scores.columns)
    return pl.concat([scores, rows], how="vertical_relaxed")


def _answers(run: RunFile, candidate: str) -> pl.DataFrame:
    """The answers, and whether each is missing: a null without a failure that explains it."""
    missing = (pl.col("status") == "failed") & pl.col("error").is_null()
    return _responses(run, candidate, "status", "error").select(*_ANSWER, missing=missing)


def _answers_hash(run: RunFile, candidate: str) -> str | None:
    """A SHA-256 in hex over the answers of a candidate, in the order of their questions; null without one."""
    digest = None
    for row in _responses(run, candidate, "text").drop_nulls("text").iter_rows():
        digest = digest or hashlib.sha256()
        digest.update(f"{row!r}\n".encode())
    return digest.hexdigest() if digest else None


def _responses(run: RunFile, candidate: str, *columns: str) -> pl.DataFrame:
    """These columns of a candidate's answers in words to the exam, by item, variant and repeat."""
    with run.reading() as db:
        rows = read.responses(
            db, probed=False, edited=False, columns=("benchmark", "candidate", *_ANSWER, *columns)
        )
    return rows.filter(benchmark=EXAM, candidate=candidate).select(*_ANSWER, *columns)


def _candidate(submission: Submission, candidates: list[str], path: Path) -> str:
    """Whose answers are submitted. Raises `InputError` where it is not clear."""
    name = submission.candidate
    if name is None and len(candidates) == 1:
        return candidates[0]
    if name is None:
        names = ", ".join(one_line(label, 40) for label in candidates[:5])
        raise InputError(
            f"{path} holds {len(candidates)} candidates{f' ({names})' if names else ''}: name one under "
            "candidate in submission.yaml."
        )
    if name not in candidates:
        raise InputError(f"{path} has no candidate {one_line(name, 60)!r}.{suggest(name, candidates)}")
    return name
