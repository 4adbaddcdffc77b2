"""A yes/no judge against people: what it finds of what people affirm, and of what they deny.

People's answer is the truth here: sensitivity is the share of their yes to which the judge says yes,
specificity that of their no to which it says no. A judge may be right as often of all candidates together
and miss more with one of them, so both stand by candidate, too.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Criterion, Measure
from vivavoce.studies.intervals import Estimate, in_cases
from vivavoce.studies.rater_scores import LabelledScores, RaterRow, rater_row
from vivavoce.studies.score_table import ITEM_KEY, RESPONSE, Labels
from vivavoce.studies.text import count

KINDS = {"sensitivity": 1.0, "specificity": 0.0}
"""The figures, and what people said of the answers that each is of."""
WORDS = {1.0: "yes", 0.0: "no"}
LEAST_OF_A_KIND = 5
"""Cases in which people say yes (or no) below which there is no figure."""
BY_CANDIDATE, OVERALL = "by candidate", "judge and people"


class _Answers(NamedTuple):
    """Answers that people affirm or deny: RESPONSE, group, role, `people`, `right` and `weight`."""

    rows: pl.DataFrame
    n_dropped: int
    n_raters: int

    def kind(self, figure: str, candidate: str = "") -> pl.DataFrame:
        """Those that a figure is of, of one candidate or of all."""
        rows = self.rows.filter(people=KINDS[figure])
        return rows.filter(candidate=candidate) if candidate else rows

    @property
    def candidates(self) -> list[str]:
        """The names of the candidates; floors and ceilings are none."""
        return sorted(self.rows.filter(role="candidate")["candidate"].unique().to_list())


def yes_no_rows(
    measure: Measure, labelled: LabelledScores, labels: Labels | str | None
) -> Iterator[RaterRow]:
    """`sensitivity` and `specificity` of a judge whose scores and labels are 0 and 1, no row of any other.

    Overall and by candidate: `value`, `low`, `high` (Wilson with effective size, by case), `n_units` answers
    of the kind and `n_right` of them on which the judge agrees; the unweighted counts, while value and
    interval weigh answers by 1 / probability where cases were drawn with several (`labels`). Of two people
    the majority counts; answers on which they are split, and labels outside the draw, are in `n_dropped`.
    Null below 5 cases of the kind. By candidate also `p` of the figure being that of the other candidates,
    members permuted over cases (`stats.member_permutation`), and `p_adjusted`, Holm's over `n_tests`: both
    figures of all candidates that have them; of two candidates one test a figure.
    """
    if not _is_yes_no(measure.criterion, labelled.single):
        return
    answers = _answers(labelled, labels)
    names = answers.candidates if len(answers.candidates) > 1 else []
    tests = _tests(answers, names)
    # Of two candidates each is the other one's "others": one question, asked once.
    n_tests = len(tests) if len({name for name, _ in tests}) > 2 else len({figure for _, figure in tests})
    for candidate in ("", *names):
        for figure in KINDS:
            rows = answers.kind(figure, candidate)
            p, p_adjusted = tests.get((candidate, figure), (None, None))
            yield rater_row(
                *("people", labelled.benchmark, measure),
                contrast=BY_CANDIDATE if candidate else OVERALL,
                figure=figure,
                candidate=candidate,
                n_right=int(rows["right"].sum()),
                n_raters=answers.n_raters,
                n_dropped=answers.n_dropped,
                p=p,
                p_adjusted=p_adjusted,
                n_tests=None if p is None else n_tests,
                **_share(rows)._asdict(),
            )


def _is_yes_no(criterion: Criterion, rows: pl.DataFrame) -> bool:
    """Whether judge and people gave 0 and 1 alone, on a scale that has no other limits."""
    values = {*rows["judge"].to_list(), *rows["label"].to_list()}
    return values == {0.0, 1.0} and criterion.low in (None, 0) and criterion.high in (None, 1)


def _answers(labelled: LabelledScores, labels: Labels | str | None) -> _Answers:
    """The answers with a majority of people, weighted by the draw."""
    rows = labelled.single.group_by(*RESPONSE, "group", "role", "judge", maintain_order=True).agg(
        people=pl.col("label").mean()
    )
    n = rows.height
    # Two people who disagree leave no truth to hold the judge against.
    rows = rows.filter(pl.col("people") != 0.5).with_columns(pl.col("people").round())
    rows = rows.with_columns(right=(pl.col("judge") == pl.col("people")).cast(pl.Float64), weight=pl.lit(1.0))
    if isinstance(labels, Labels) and labels.draw["probability"].null_count() == 0:
        # A label outside the draw stands for nobody.
        draw = labels.draw.select(*ITEM_KEY, weight=1 / pl.col("probability"))
        rows = rows.drop("weight").join(draw, on=list(ITEM_KEY), how="inner", maintain_order="left")
    return _Answers(rows, n - rows.height, labelled.single["person"].n_unique())


def _share(rows: pl.DataFrame) -> Estimate:
    """The share of these answers on which the judge is right, by case."""
    n = rows.height, rows["group"].n_unique()
    if n[1] < LEAST_OF_A_KIND:
        return Estimate(*n, reason=f"too few cases of the rarer kind ({n[1]})")
    right, groups, weights = (rows[name].to_numpy() for name in ("right", "group", "weight"))
    share = stats.estimate_mean(right, groups, low=0.0, high=1.0, weights=weights)
    return Estimate(*n, share.value, share.low, share.high, share.se, in_cases(share.reason))


def _tests(answers: _Answers, names: Sequence[str]) -> dict[tuple[str, str], tuple[float, float]]:
    """By candidate and figure p and Holm's p of it differing from the others."""
    tests = {(name, figure): p for figure in KINDS for name, p in _p_of(answers, figure, names).items()}
    family = {key: p for key, p in tests.items() if len(names) > 2 or key[0] == names[0]}
    adjusted = dict(zip(family, stats.holm(np.array([*family.values()])), strict=True)) if family else {}
    return {(name, f): (p, float(adjusted.get((name, f), adjusted.get((names[0], f), 1.0))))
            for (name, f), p in tests.items()}  # fmt: skip


def _p_of(answers: _Answers, figure: str, names: Sequence[str]) -> dict[str, float]:
    """By candidate that has the figure, if two have it, p of it differing from the others."""
    able = [name for name in names if _share(answers.kind(figure, name)).value is not None]
    if len(able) < 2:
        return {}
    # In one order, for permutations are drawn by place.
    rows = answers.kind(figure).filter(pl.col("candidate").is_in(able)).sort(*RESPONSE)
    right, members, groups, weights = (
        rows[name].to_numpy() for name in ("right", "candidate", "group", "weight")
    )
    return dict(
        zip(able, stats.member_permutation(right, members, groups, weights=weights).tolist(), strict=True)
    )


def yes_no_sentences(place: str, rows: Sequence[RaterRow]) -> Iterator[str]:
    """What the judge finds in words, and the candidates for whom that differs, if any is shown to."""
    figures = [r for r in rows if r.figure in KINDS]
    if figures:
        yield f"{place}: {'; '.join(_words(row) for row in figures if not row.candidate)}."
    # A candidate without the figure is in no test.
    tested = [r for r in figures if r.p_adjusted is not None]
    if tested:
        yield from (f"{place}: {sentence}." for sentence in _comparison(tested))


def _comparison(tested: Sequence[RaterRow]) -> Iterator[str]:
    """The candidates for whom a figure differs, or that nobody is shown to be one."""
    # A reader must know over how many tests a p is corrected, and by which questions.
    family = (
        f"permuted over cases, Holm over {count(tested[0].n_tests or 0, 'test')}: "
        f"{count(len({r.candidate for r in tested}), 'candidate')}, sensitivity and specificity"
    )
    named = [r for r in tested if (r.p_adjusted or 0.0) <= stats.ALPHA]
    if not named:
        yield f"no candidate is shown to have another sensitivity or specificity ({family})"
    yield from (f"{_difference(row, tested)} (p {row.p_adjusted:.2g}, {family})" for row in named)


def _difference(row: RaterRow, tested: Sequence[RaterRow]) -> str:
    """A candidate's figure, and that of the other candidates in counts."""
    peers = [r for r in tested if r.figure == row.figure and r.candidate != row.candidate]
    # Counts are of answers as they are; the shares weigh them where cases were drawn unevenly.
    right, n = sum(r.n_right or 0 for r in peers), sum(r.n_units or 0 for r in peers)
    return (
        f"{row.figure} differs for {row.candidate}: {row.n_right} of {row.n_units} ({_value(row)}), with the "
        f"other candidates {right} of {n}"
    )


def _words(row: RaterRow) -> str:
    """A figure in words: what people said, and how often the judge said so."""
    word = WORDS[KINDS[str(row.figure)]]
    if row.value is None:
        return f"{row.figure} is not known: {row.reason}"
    return (
        f"people say {word} to {count(row.n_units or 0, 'answer')}, and the judge to {row.n_right} of them "
        f"({row.figure} {_value(row)})"
    )


def _value(row: RaterRow) -> str:
    """A figure with its interval, for brackets."""
    ends = "" if row.low is None or row.high is None else f", {printed(row.low)} to {printed(row.high)}"
    return f"{printed(row.value)}{ends}"
