"""Pairwise comparisons by people: how often each candidate is preferred, its strength, and agreement.

Not every pair meets on every question, so candidates have no common table of ranks: strengths are those of
Davidson's model, and cases are drawn again for the intervals.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.specs import signed
from vivavoce.stats.bradley_terry import parts
from vivavoce.studies.bounded import figure_text
from vivavoce.studies.intervals import by_coefficient, by_mean, too_few
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.text import count

UNCONNECTED = "these pairs do not connect all candidates: their strengths are on no common scale"
SEPARATED = "some never lost or never won: their distance says nothing"
_QUESTION = ("item", "variant", "group")

SENTENCES = (
    NamingSentence(
        code="panel.differ",
        templates=(
            (
                "{panel} on {benchmark}: Friedman's test over cases: {test}; mean ranks over cases further "
                "apart than {distance} differ (Nemenyi)."
            ),
        ),
        names=("panel",),
        family="all that the panel ranked, in one test",
        correction="none",
        null="panel",
    ),
    NamingSentence(
        code="panel.better",
        templates=(
            (
                "{panel} on {benchmark}: {name} (ceiling) is {place} by mean rank {rank}; shown better "
                "than it: {better}; shown worse: {worse}."
            ),
        ),
        names=("candidate",),
        family="all pairs of the panel",
        correction="Holm",
        null="panel",
    ),
    NamingSentence(
        code="panel.places",
        templates=("{panel} on {benchmark} ({basis}), mean rank of {n} and the places left open: {places}.",),
        names=("candidate",),
        family="all pairs of the panel",
        correction="Holm",
        null="panel",
    ),
)
"""What a panel says of candidates by inference."""


class Meeting(NamedTuple):
    """Two candidates on one question by one rater; `outcome` is 1 if the first is better, 0, or -1."""

    group: str
    question: tuple[str, ...]
    rater: str
    first: str
    second: str
    outcome: int


class Pairs(NamedTuple):
    """The meetings of one panel on one benchmark."""

    benchmark: str
    panel: str
    meetings: tuple[Meeting, ...]
    roles: Mapping[str, str]

    @property
    def raters(self) -> list[str]:
        """Who compared."""
        return sorted({meeting.rater for meeting in self.meetings})


def pairs_of_panels(scores: ScoreTable) -> Iterator[Pairs]:
    """The meetings of every panel that compared answers two at a time, first passes alone."""
    panels: dict[str, list[int]] = {}
    for key, measure in scores.measures.items():
        if measure.criterion.pool == "rank" and signed(measure.signature).spec.name == "pairs":
            panels.setdefault(measure.metric, []).append(key)
    for panel, keys in panels.items():
        rows = scores.scores.filter(
            pl.col("measure_id").is_in(keys) & (pl.col("pass_no") == 1) & (pl.col("status") != "failed")
        )
        for (benchmark,), part in rows.group_by("benchmark", maintain_order=True):
            roles = dict(part.select("candidate", "role").unique().iter_rows())
            yield Pairs(str(benchmark), panel, tuple(_meetings(part)), roles)


def _meetings(rows: pl.DataFrame) -> Iterator[Meeting]:
    """Each two of a ballot, but for two that are both silent; what is silent loses."""
    ballots = rows.sort(*_QUESTION, "rater", "candidate").group_by(*_QUESTION, "rater", maintain_order=True)
    for (item, variant, group, rater), ballot in ballots:
        ranks = [
            (who, value if status == "ok" else np.inf)
            for who, value, status in ballot.select("candidate", "value", "status").iter_rows()
        ]
        for (first, rank), (second, rank_of_second) in combinations(ranks, 2):
            if np.isfinite(min(rank, rank_of_second)):
                outcome = int(np.sign(rank_of_second - rank)) if rank != rank_of_second else 0
                yield Meeting(str(group), (str(item), str(variant)), str(rater), first, second, outcome)


def pair_rows(pairs: Pairs) -> Iterator[dict[str, Any]]:
    """By candidate the share of its pairs in which it is preferred, ties half, and its strength; alpha."""
    shared: dict[str, Any] = {
        "benchmark": pairs.benchmark, "panel": pairs.panel, "part": "pairs", "n_raters": len(pairs.raters)
    }  # fmt: skip
    names = sorted(pairs.roles)
    strengths, reason = _strengths(pairs.meetings, names)
    for column, name in enumerate(names):
        sides = [(m, m.outcome if m.first == name else -m.outcome) for m in pairs.meetings if name in m[3:5]]
        groups = np.array([m.group for m, _ in sides])
        share = by_mean(np.array([(won + 1) / 2 for _, won in sides]), groups, low=0.0, high=1.0)
        of_candidate = {
            "candidate": name, "role": pairs.roles[name], "n": len(sides),
            "n_items": len({m.question for m, _ in sides}), "n_groups": len(set(groups)),
        }  # fmt: skip
        yield shared | of_candidate | {"figure": "preferred", "value": share.value, "low": share.low,
                                       "high": share.high, "reason": share.reason}  # fmt: skip
        strength = strengths[column] if strengths else None
        ends = (
            {} if strength is None else {"value": strength.value, "low": strength.low, "high": strength.high}
        )
        yield shared | of_candidate | {"figure": "strength", **ends, "reason": reason}
    yield shared | {"figure": "alpha_ordinal", **_agreement(pairs)}


def _strengths(
    meetings: Sequence[Meeting], names: Sequence[str]
) -> tuple[Sequence[stats.Bootstrap] | None, str | None]:
    """Davidson's strengths with their intervals, or why there are none; and whether they say little."""
    groups = np.array([m.group for m in meetings])
    if few := too_few(groups):
        return None, few
    places = {name: k for k, name in enumerate(names)}
    compared = np.array([(places[m.first], places[m.second]) for m in meetings])
    won = np.array([m.outcome for m in meetings])
    if len(parts(compared[:, 0], compared[:, 1], len(names))) > 1:
        return None, UNCONNECTED
    separated = stats.davidson(compared, won, n_systems=len(names)).separated
    strengths = stats.bootstrap_strengths(
        compared, won, groups=groups, n_systems=len(names), rng=stats.seeded_rng(0)
    )
    return strengths.systems, SEPARATED if separated else None


def _agreement(pairs: Pairs) -> dict[str, Any]:
    """Krippendorff's alpha, ordinal, of the choices on questions that two raters or more compared."""
    column = {rater: k for k, rater in enumerate(pairs.raters)}
    units: dict[tuple[Any, ...], Any] = {}
    counts = Counter((m.question, m.first, m.second) for m in pairs.meetings)
    groups = []
    for m in pairs.meetings:
        key = m.question, m.first, m.second
        if counts[key] > 1:
            if key not in units:
                units[key] = np.full(len(column), np.nan)
                groups.append(m.group)
            units[key][column[m.rater]] = m.outcome
    if not units:
        return {"n_items": 0, "reason": "no pair was compared by two raters"}
    # Which answer is called the first is arbitrary: both ways count, or who always wins would not vary.
    table = np.array([*units.values(), *(-unit for unit in units.values())])
    alpha = by_coefficient("alpha_ordinal", np.nan_to_num(table), np.array(groups * 2), np.isnan(table))
    return {"n_items": len(units), "n_groups": len(set(groups)), "value": alpha.value, "low": alpha.low,
            "high": alpha.high, "reason": alpha.reason}  # fmt: skip


def pair_sentences(rows: Sequence[Any]) -> list[str]:
    """A sentence for each candidate of a panel, the most preferred first."""
    shares = [row for row in rows if row.figure == "preferred"]
    return [
        f"{row.panel}, {row.benchmark}: {row.candidate} is preferred in {figure_text(row)} "
        f"of its {count(row.n, 'comparison')}."
        if row.value is not None
        else f"{row.panel}, {row.benchmark}: {row.candidate}: {row.reason}."
        for row in sorted(shares, key=lambda row: -(row.value or 0.0))
    ]
