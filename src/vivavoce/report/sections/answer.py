"""The first screen: the verdict, the candidates on the primary criterion, three checks, what would settle it.

Nothing is tested here: a comparison is a counted test, so where none was made stands the command for one.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from vivavoce.report.data import ReportData, Rows
from vivavoce.report.sections.checks import Check, checks, settling
from vivavoce.report.sections.leaderboard import Leaderboard, Scale, scale_of
from vivavoce.report.sections.standing import SETTLED, Row, Standing, standings
from vivavoce.studies.comparing.headline import comparison_headline
from vivavoce.studies.comparing.ranking_sentences import first_place
from vivavoce.studies.scale import opening_of, phrase_of, scale_of_row
from vivavoce.studies.text import cases, count, listed

MOST_ROWS, MOST_ON_PHONE = 8, 5
MOST_TICKS = 5


class Answer(NamedTuple):
    """What the first screen shows of one benchmark; the page shows the first one whole.

    `rows` are the candidates of its forest plot, the rest are `n_more`; `ticks` are values along its axis.
    `basis` are the sentences on what the verdict rests on.
    """

    standing: Standing
    headline: str
    is_settled: bool
    basis: tuple[str, ...]
    rows: Rows
    n_more: int
    scale: Scale
    ticks: tuple[float, ...]
    checks: tuple[Check, ...]
    settling: tuple[str, ...]

    def short_name(self, candidate: str) -> str:
        """The candidate's name as the headline has it."""
        return self.standing.name(candidate)

    @property
    def row(self) -> dict[str, Any]:
        """The answer as a row of `--json`."""
        power, judge, missing = self.checks
        return {
            **self.standing.primary._asdict(),
            "words": self.headline,
            "settled": self.is_settled,
            "basis": " ".join(self.basis),
            "enough_cases": power.phrase,
            "judge_validated": judge.phrase,
            "missing": missing.phrase,
            "settling": " ".join(self.settling),
        }


def answers(data: ReportData, boards: Sequence[Leaderboard]) -> list[Answer]:
    """The answer on the primary criterion, and one for each other benchmark; none without scores."""
    return [_answer(standing) for standing in standings(data, boards)]


def _answer(standing: Standing) -> Answer:
    visible, pair = _visible(standing.rows), standing.open_pair
    scale = scale_of(standing.rows, standing.unit.criterion)
    is_settled = pair is not None and pair["verdict_code"] in SETTLED and not pair["stale"]
    return Answer(
        standing=standing,
        headline=_headline(standing),
        is_settled=is_settled and not standing.absent,
        basis=tuple(_basis(standing)),
        rows=visible,
        n_more=len(standing.rows) - len(visible),
        scale=scale,
        ticks=_ticks(scale),
        checks=checks(standing),
        settling=tuple(settling(standing)),
    )


def _visible(rows: Rows) -> Rows:
    """The best candidates, and floor and ceiling as far as there is room."""
    bounds = [row for row in rows if row["role"] != "candidate"][:2]
    best = [row for row in rows if row["role"] == "candidate"]
    return [*best[: MOST_ROWS - len(bounds)], *bounds]


def _headline(s: Standing) -> str:
    if not s.candidates:
        return "Only a floor or a ceiling was scored: there is no candidate to judge."
    if not s.results:
        reason = (s.candidates[0]["reason"] or "no score is there").removeprefix("no result: ")
        return f"No candidate has a result by {s.primary.label}; {reason}."
    leader = str(s.leader)
    if len(s.candidates) == 1:
        opening = opening_of(scale_of_row(s.results[0]))
        return f"{opening}{s.name(leader)} scores {_value(s)} by {s.primary.label}."
    order = [row["candidate"] for row in s.candidates]
    compared = comparison_headline(s.leader_pairs, s.unit.criterion, order=order, absent=s.absent)
    return compared or _not_compared(s, leader)


def _not_compared(s: Standing, leader: str) -> str:
    """Without a comparison of the leader: what a ranking found, else the best mean, which is no verdict."""
    if first := _ranked(s):
        of_judge = " of the judge's scores" if s.results[0]["judge_alone"] else ""
        if len(first) == 1:
            candidates = count(len(s.ranks.places) if s.ranks else 0, "candidate")
            return f"Paired tests{of_judge} put {s.name(first[0])} alone in first place of {candidates}."
        names = listed([*map(s.name, first)])
        words = first_place(names, mde=s.ranks.mde_first if s.ranks else None, criterion=s.unit.criterion)
        return f"By {s.primary.label}, {words}."
    end = "highest" if s.unit.criterion.direction == "higher" else "lowest"
    figure = {"pooled": "pooled figure"}.get(s.results[0]["view"], "mean")
    phrase = phrase_of(scale_of_row(s.results[0]))
    return (
        f"Not compared yet: {phrase}{', ' if phrase else ''}{s.name(leader)} has the {end} {figure}, "
        f"{_value(s)}, but to be in front is no verdict."
    )


def _ranked(s: Standing) -> list[str]:
    """The candidates in first place by a stored ranking that nothing has overtaken."""
    if len(s.candidates) == 1 or s.ranks is None or s.ranks.stale:
        return []
    return [name for name, place in s.ranks.places.items() if place.split("-")[0] == "1"]


def _value(s: Standing) -> str:
    """The leader's estimate with its interval."""
    row = s.results[0]
    ends = "" if row["low"] is None else f" ({s.unit.interval(row['low'], row['high'])})"
    return f"{s.unit.value(row['estimate'])}{ends}"


def _basis(s: Standing) -> Iterator[str]:
    """What the answer is about and rests on: the criterion, questions and cases, what intervals hold for."""
    yield f"By {s.primary.label} on {s.primary.benchmark} ({s.primary.why})."
    pair = s.open_pair
    if pair is not None or s.results:
        basis = pair or s.results[0]
        yield f"{count(basis['n_items'], 'question')}, {cases(basis['n_groups'], basis['effective_cases'])}."
    yield from _brackets(s, pair)
    yield from s.contradictions


def _brackets(s: Standing, pair: Row | None) -> Iterator[str]:
    """What the intervals in the headline hold for, if it has any."""
    if pair is not None:
        yield from _intervals_of_pairs(s.leader_pairs, pair["family"] or 1)
    elif s.results and s.results[0]["low"] is not None and not _ranked(s):
        yield "In brackets the 95 % interval."


def _intervals_of_pairs(pairs: Sequence[Row], family: int) -> Iterator[str]:
    """What stands in brackets behind differences: an interval each, or p where a pair has none."""
    has_interval = {row["low_family"] is not None for row in pairs if row["p_adjusted"] is not None}
    if True in has_interval:
        text = f" for all {family} comparisons together" if family > 1 else ""
        if False in has_interval:
            text += "; p where too few cases differ, or all alike, for an interval"
        yield f"In brackets 95 % intervals{text}."


def _ticks(scale: Scale) -> tuple[float, ...]:
    """Round values along an axis, at most `MOST_TICKS`."""
    raw = (scale.high - scale.low) / (MOST_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(k * power for k in (1, 2, 2.5, 5, 10) if k * power >= raw * (1 - 1e-9))
    first, last = math.ceil(scale.low / step - 1e-9), math.floor(scale.high / step + 1e-9)
    return tuple(round(k * step, 9) for k in range(first, last + 1))
