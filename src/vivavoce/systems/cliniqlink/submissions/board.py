"""The board: many submissions to one exam, ranked together, with ties, dates, sizes and hashes.

Ranks are those of the study of overalls: paired tests on the questions that all have scores on, adjusted for
all pairs. Which submissions count is settled before anything is ranked.
"""

import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from vivavoce.benchmarks import load
from vivavoce.core.errors import InputError
from vivavoce.core.text import one_line
from vivavoce.studies.comparing.overall import Overall
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.text import and_so, count
from vivavoce.systems.cliniqlink.submissions.likeness import likeness_notes
from vivavoce.systems.cliniqlink.submissions.scored_run import ScoredRun, read_scored_run
from vivavoce.systems.cliniqlink.submissions.submission import (
    Refused,
    Submission,
    for_others,
    read_submissions,
)
from vivavoce.systems.cliniqlink.submissions.terms import (
    COLUMNS,
    METRIC,
    MOST_SUBMISSIONS,
    OVERALL_COLUMN,
    exam_digest,
    size_class,
)

MOST_IN_LEAD, LONGEST_TITLE = 4, 80
_CORPUS = re.compile(r",? *corpus=\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """A submission on the board. Figures are null where there are none, and `reason` then says why.

    `overall` is the mean of the seven formats on the submission's own questions, `overall_common` that on the
    `n_common` questions that all have scores on, by which `rank` orders; `rank_low` to `rank_high` are the
    positions that no test separates, and `tied_with` counts the submissions not told apart from this one.
    Of `n_questions` in the exam `n_missing` have no answer, which counts as an empty one; `n_failed` failed
    on our side: these are not averaged, and ranks hold whatever they could be. `unanswered` is the share of
    missing, blank and refused answers.
    """

    place: str
    team: str
    system: str | None
    date: str | None
    size_class: str | None
    size_gb: float | None
    parameters: float | None
    sha256: str
    rank: float | None
    rank_low: int | None
    rank_high: int | None
    tied_with: int | None
    overall: float | None
    low: float | None
    high: float | None
    overall_common: float | None
    n_common: int | None
    formats: Mapping[str, float | None]
    n_questions: int
    n_missing: int
    n_failed: int
    unanswered: float | None
    reason: str | None

    @property
    def ranks(self) -> str | None:
        """The rank interval: `1`, or `1–3`."""
        if self.rank_low is None:
            return None
        return f"{self.rank_low}" if self.rank_low == self.rank_high else f"{self.rank_low}–{self.rank_high}"

    @property
    def title(self) -> str:
        """The team with its system, on one line and cut."""
        return one_line(f"{self.team} ({self.system})" if self.system else self.team, LONGEST_TITLE)

    @property
    def flat(self) -> dict[str, Any]:
        """The row with a column for each format."""
        row = asdict(self)
        formats: dict[str, Any] = row.pop("formats")
        return row | formats


class Leaderboard(NamedTuple):
    """The submissions that are ranked, the best first, and those that are not.

    `metric` scored them; the hash of the references is left out of it, since keys could be tried on it.
    `notes` are sentences on submissions that look alike.
    """

    rows: tuple[BoardRow, ...]
    refused: tuple[Refused, ...]
    metric: str
    notes: tuple[str, ...]

    @property
    def lead(self) -> str:
        """Who is first, or who is not separated from the first: no difference that matters is stated."""
        n = count(len(self.rows), "submission")
        first = [row.title for row in self.rows if row.rank_low == 1]
        if not first:
            reason = next((row.reason for row in self.rows if row.reason), "no overall can be compared")
            return f"{n}, and no rank: {reason}."
        if len(first) == 1:
            return f"Of {n}, paired tests put {first[0]} alone in first place."
        names = and_so(first) if len(first) <= MOST_IN_LEAD else count(len(first), "submission")
        return f"Of {n}, {names} are not separated from the first."


def read_board(
    folder: Path, *, metric: str = METRIC, benchmark: str | None = None, now: datetime | None = None
) -> Leaderboard:
    """Rank the submissions in a folder by the mean of the seven formats.

    `benchmark` is the spec of the exam that is ranked, by default that of most submissions. Of a team the
    first three by date count; a date after `now` is refused, null takes any. Raises `InputError` where no
    submission can be ranked, and where they are of two exams or scored in two ways, as many of each.
    """
    exam = exam_digest(load(benchmark).items) if benchmark else None
    submissions, refused = read_submissions(folder, now=now)
    runs: list[ScoredRun] = []
    with tempfile.TemporaryDirectory(prefix="viva-") as work:
        for place, submission in enumerate(submissions):
            try:
                runs.append(read_scored_run(submission, metric, Path(work) / f"{place}.viva"))
            except InputError as error:
                path = folder / submission.run.relative_to(folder).parts[0]
                refused.append(Refused(submission.place, submission.team, for_others(str(error), path)))
    runs.sort(key=lambda run: run.submission.order)
    # Copies go first, so that they have no vote on the exam.
    of_one_exam = partial(_of_this_exam, exam=exam) if exam else _of_one_exam
    for select in (_without_copies, of_one_exam, _of_one_measure, _first_of_each_team):
        runs, more = select(runs)
        refused += more
    if not runs:
        first = min(refused, key=lambda entry: entry.place)
        raise InputError(
            f"no submission in {folder} can be ranked, and {len(refused)} refused. "
            f"{first.place}: {first.reason}"
        )
    return Leaderboard(
        tuple(_ranked(runs)),
        tuple(sorted(refused, key=lambda entry: entry.place)),
        _CORPUS.sub("", runs[0].measure.signature),
        tuple(likeness_notes(runs)),
    )


Selected = tuple[list[ScoredRun], list[Refused]]


def _of_this_exam(runs: Sequence[ScoredRun], exam: str) -> Selected:
    """The submissions to the exam of this digest."""
    return _divided(
        runs,
        lambda run: run.exam == exam,
        "it is of another exam: its questions, keys or cases are not those of the benchmark.",
    )


def _of_one_exam(runs: Sequence[ScoredRun]) -> Selected:
    """The submissions to the exam that most are of: the same questions, keys and cases."""
    groups = Counter(run.exam for run in runs).most_common(2)
    if len(groups) == 2 and groups[0][1] == groups[1][1]:
        names = [next(run.submission.place for run in runs if run.exam == exam) for exam, _ in groups]
        raise InputError(
            f"the submissions are of two exams, {groups[0][1]} of each: {names[0]} holds other questions or "
            f"keys than {names[1]}. Name the exam with --benchmark, or move those of one into a folder of "
            "their own."
        )
    return _divided(
        runs,
        lambda run: run.exam == groups[0][0],
        "it is of another exam: its questions, keys or cases are not those of the other submissions.",
    )


def _of_one_measure(runs: Sequence[ScoredRun]) -> Selected:
    """The submissions scored as most are. Raises `InputError` where as many are scored otherwise."""
    signatures = Counter(run.measure.signature for run in runs).most_common(2)
    if len(signatures) == 2 and signatures[0][1] == signatures[1][1]:
        first, second = (signature for signature, _ in signatures)
        raise InputError(
            f"as many submissions are scored by {first} as by {second} ({signatures[0][1]} of each): choose "
            "with --metric, or score all alike."
        )
    return _divided(
        runs,
        lambda run: run.measure.signature == signatures[0][0],
        f"it is scored otherwise than the others, by {signatures[0][0] if signatures else ''}: score it so.",
    )


def _without_copies(runs: Sequence[ScoredRun]) -> Selected:
    """The submissions without those whose run is, byte by byte, that of an earlier one.

    A run of several candidates may be submitted once for each.
    """
    first: dict[tuple[str, str], ScoredRun] = {}
    for run in runs:
        first.setdefault((run.sha256, run.candidate), run)
    return list(first.values()), [
        _refused(
            run, f"its run is that of {first[run.sha256, run.candidate].submission.place}, byte by byte."
        )
        for run in runs
        if first[run.sha256, run.candidate] is not run
    ]


def _first_of_each_team(runs: Sequence[ScoredRun]) -> Selected:
    """The first three of each team; `runs` are in the order of their dates."""
    of_team: dict[str, list[Submission]] = defaultdict(list)
    ranked, refused = [], []
    for run in runs:
        earlier = of_team[run.submission.team_key]
        if len(earlier) < MOST_SUBMISSIONS:
            ranked.append(run)
        else:
            first = and_so(entry.place for entry in earlier[:MOST_SUBMISSIONS])
            refused.append(
                _refused(run, f"a team has at most {MOST_SUBMISSIONS} submissions, and {first} came first.")
            )
        earlier.append(run.submission)
    return ranked, refused


def _divided(runs: Sequence[ScoredRun], fits: Any, reason: str) -> Selected:
    return [run for run in runs if fits(run)], [_refused(run, reason) for run in runs if not fits(run)]


def _refused(run: ScoredRun, reason: str) -> Refused:
    return Refused(run.submission.place, run.submission.team, reason)


def _ranked(runs: Sequence[ScoredRun]) -> Iterator[BoardRow]:
    """The rows in the study's order. Submissions are candidates by number there: names may be alike."""
    names = {f"{place:06}": run for place, run in enumerate(runs)}
    scores = [
        run.scores.with_columns(
            candidate=pl.lit(name), role=pl.lit("candidate"), measure_id=pl.lit(1, pl.Int64)
        )
        for name, run in names.items()
    ]
    table = ScoreTable(pl.concat(scores, how="vertical_relaxed"), {1: runs[0].measure})
    rows = Overall().findings(table).rows
    figures: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        figures.setdefault(row["candidate"], {})[row["format"]] = row
    for name, by_format in figures.items():
        yield _row(names[name], by_format)


def _row(run: ScoredRun, figures: Mapping[str, Mapping[str, Any]]) -> BoardRow:
    overall, submission = figures[OVERALL_COLUMN.format], run.submission
    means = {column.key: figures.get(column.format, {}).get("estimate") for column in COLUMNS}
    return BoardRow(
        place=submission.place,
        team=submission.team,
        system=submission.system,
        date=submission.date_text,
        size_class=size_class(submission.size_gb),
        size_gb=submission.size_gb,
        parameters=submission.parameters,
        sha256=run.sha256,
        overall=overall["estimate"],
        overall_common=overall["estimate_common"],
        formats=means,
        n_questions=run.n_items,
        n_missing=run.n_missing,
        n_failed=overall["n_failed"],
        **{
            name: overall[name]
            for name in ("rank", "rank_low", "rank_high", "tied_with", "low", "high", "n_common")
        },
        unanswered=overall["unanswered"],
        reason=overall["reason"],
    )
