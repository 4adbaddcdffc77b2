"""The sentences of the examiner's card: who is fooled by which controls, and what was not examined."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from vivavoce.core.numbers import printed
from vivavoce.core.records import Criterion
from vivavoce.stats import ALPHA
from vivavoce.studies.controls.rows import ControlRow
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.text import and_so, count, number, plain
from vivavoce.variants.control_kinds import KINDS

FOOLED = NamingSentence(
    code="controls.fooled",
    templates=("{measure} on {benchmark} is fooled by {kinds} ({figures}.",),
    names=("metric", "rater"),
    family="all kinds of control of one criterion",
    correction="Holm",
    null="controls",
)
NOT_FOOLED = NamingSentence(
    code="controls.not_fooled",
    templates=(
        "{measure} on {benchmark} is fooled by none of {kinds}.",
        "{measure} on {benchmark} is not fooled by {kinds}.",
    ),
    names=("metric", "rater"),
    family="all kinds of control of one criterion",
    correction="Holm",
    null="controls",
)


def sentences(
    rows: Sequence[ControlRow], names: Mapping[tuple[str, str, str], str], criteria: Iterable[Criterion]
) -> Iterator[str]:
    """One sentence per examiner: what fooled it, what did not, and what is open."""
    scales = {c.criterion: c for c in criteria}
    cards: dict[tuple[str, ...], list[ControlRow]] = {}
    for row in rows:
        cards.setdefault((row.benchmark, row.metric, row.criterion, row.rater), []).append(row)
    for (benchmark, *measure), card in cards.items():
        *kinds, overall = card
        start = f"{names[measure[0], measure[1], measure[2]]} on {benchmark}"
        criterion = scales[overall.criterion]
        if overall.verdict is None:
            yield f"{start}: no verdict, {overall.reason}."
            continue
        yield f"{start} {_says(kinds, overall, criterion)}"


def _says(kinds: Sequence[ControlRow], overall: ControlRow, criterion: Criterion) -> str:
    margin = "" if overall.margin is None else f" (margin {plain(overall.margin)})"
    by_verdict: dict[str | None, list[ControlRow]] = {}
    for row in kinds:
        by_verdict.setdefault(row.verdict or "not_shown", []).append(row)
    if overall.verdict == "not_fooled":
        clear = named_kinds(kinds, "not_fooled")
        return f"is fooled by none of {count(len(kinds), 'kind')} of control{margin}: {clear}."
    words = {"fooled": "fooled by", "not_fooled": "not fooled by", "not_shown": "not shown for"}
    parts = []
    for verdict, rows in by_verdict.items():
        convicts = verdict == "fooled"
        names = and_so(_figures(row, criterion) if convicts else row.control for row in rows)
        parts.append(
            (list(words).index(str(verdict)), f"{words[str(verdict)]} {names}{margin if convicts else ''}")
        )
    return f"is {'; '.join(text for _, text in sorted(parts))}."


def _figures(row: ControlRow, criterion: Criterion) -> str:
    """A kind with the figures that convict: those of a stratum where that is what fooled it."""
    if row.stratum and row.p_stratum is not None and row.p_stratum <= ALPHA:
        gain = number(row.stratum_gain or 0.0, criterion)
        of_cases = count(row.n_stratum_cases or 0, "case")
        return f"{row.control} ({row.stratum}: {gain} above the real text in {of_cases})"
    difference = -(row.difference or 0.0)
    gained = number(difference, criterion)
    if difference and not gained.strip("-+−0."):
        gained = printed(difference, ".1g")
    return (
        f"{row.control} (control less real text {gained}; the real text is ahead with probability "
        f"{printed(row.p_greater or 0.0)})"
    )


def named_kinds(rows: Sequence[ControlRow], *verdicts: str | None) -> str:
    """The kinds of control with one of these verdicts."""
    return and_so(r.control for r in rows if r.verdict in verdicts)


def kinds_without_control(kinds: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The line on kinds of control that no answer has."""
    lacking = {name: [kind for kind in KINDS if kind not in of] for name, of in kinds.items()}
    lines = (f"{and_so(names)} on {name}" for name, names in lacking.items() if names)
    text = "; ".join(lines)
    return (f"Not examined, for no answer has such a control: {text}.",) if text else ()


def examined_criteria(rows: Sequence[ControlRow], scores: ScoreTable) -> tuple[str, ...]:
    """The line on which criteria were examined."""
    short = labels(scores.measures)
    places = {(r.metric, r.criterion, r.rater) for r in rows}
    names = [short[key_of(m)] for m in scores.measures.values()
             if (m.metric, m.criterion.criterion, m.rater) in places]  # fmt: skip
    return (f"Examined, each criterion that has one value per answer: {'; '.join(dict.fromkeys(names))}.",)


def scored_by_pieces(rows: pl.DataFrame, scores: ScoreTable) -> tuple[str, ...]:
    """The line on scores of pieces and of ballots, which have no pair."""
    keys = rows.filter((pl.col("unit") != "") | (pl.col("ballot") != ""))["measure_id"].unique().sort()
    short = labels(scores.measures)
    names = [short[key_of(scores.measures[key])] for key in keys if key in scores.measures]
    return (f"Left out, scored by pieces or on ballots: {'; '.join(names)}.",) if names else ()
