"""A panel of people who ranked answers: what they found, how far they agree, and which metrics do with them.

Ranks are averaged over raters inside a question, and questions inside a case; the case is the block. Raters
are not blocks: three people who read one question are no three questions. Unanswered stands last, unshown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding
from vivavoce.core.registry import study
from vivavoce.core.specs import signed
from vivavoce.studies.bounded import Bounded, figure_text
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.intervals import Estimate, by_coefficient, by_jackknife, by_rank_inside_items, too_few
from vivavoce.studies.panels.pairs import SENTENCES, SEPARATED, pair_rows, pair_sentences, pairs_of_panels
from vivavoce.studies.panels.rank_data import PLACE, BallotRanks, Board, ballot_ranks, boards, first_passes
from vivavoce.studies.score_matrix import ScoreMatrix, common, grids, key_of, labels
from vivavoce.studies.score_table import RESPONSE, ScoreTable, counted_value, unweighted
from vivavoce.studies.study import Study
from vivavoce.studies.text import count

TAGS = ("good", "okay", "bad", "clearly_wrong")
LEAST_CANDIDATES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelRow:
    """A figure of one panel on one benchmark."""

    benchmark: str
    panel: str
    part: str
    candidate: str | None = None
    role: str | None = None
    rater: str | None = None
    other: str | None = None
    figure: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    q: float | None = None
    n: int | None = None
    n_items: int | None = None
    n_groups: int | None = None
    n_raters: int
    n_unanswered: int | None = None
    reason: str | None = None


@study("panel")
class Panel(Study):
    """Rankings by a panel of people."""

    about = (
        "What people ranked best, blinded, including the reference answer: mean ranks with rank "
        "intervals, agreement between raters, and which metrics agree with them."
    )
    row = PanelRow
    sentences = SENTENCES
    special = True
    needs = ("ranks", "any_tokeniser")

    def findings(self, scores: ScoreTable) -> Finding:
        """Rows by `part` and `figure`, for every panel and benchmark.

        `places`, by candidate and with the reference among them: `mean_rank` (1 the best; over raters, then
        questions, with an interval by case), `place` with the rank interval of paired tests (Holm over all
        pairs), `friedman_rank` (over cases, which the critical distance is about) and `strength` (Davidson's
        model, log scale, sum 0, cases drawn again). `order`: `friedman` (Iman and Davenport's F, with p by
        permutation within cases) and `critical_distance`. `tags`: shares of answers called good, okay, bad,
        clearly wrong; silence counts as bad, and of clearly wrong it is left out. `experts`: `kendall_w` (the
        mean over questions; without any agreement 1 over the number of raters), `alpha_ordinal`, and by rater
        `with_others`, the correlation with the mean of the others inside questions. `metrics`, by another
        measure of the same answers (`other`): `tau` and `same_order` over candidates, `told_apart_alike` over
        the pairs that both tell apart, `within`, the rank correlation inside questions. `pairs`, of a panel
        that compared two at a time: by candidate `preferred`, the share of its pairs, ties half, and
        `strength`; `alpha_ordinal`.
        """
        scores = first_passes(scores)
        rows: list[PanelRow] = []
        sentences: list[str] = []
        notes: list[str] = []
        for board in boards(scores):
            metrics = _with_q(list(_metric_rows(scores, board)))
            of_board = [*_place_rows(board), *_tag_rows(scores, board), *_expert_rows(board), *metrics]
            rows += of_board
            sentences += _sentences(board, of_board)
            notes += board.notes
        for pairs in pairs_of_panels(scores):
            of_pairs = [PanelRow(**values) for values in pair_rows(pairs)]
            rows += of_pairs
            sentences += pair_sentences(of_pairs)
        text = (
            "\n".join(sentences) or "No panel has ranked answers here: `viva panel RUN make` writes packets."
        )
        weighing = unweighted(scores.scores, "the panel's figures count") if rows else ()
        return self.finding(rows, text, (*notes, *weighing))


def _row(board: Board, part: str, figure: str, **values: Any) -> PanelRow:
    return PanelRow(
        benchmark=board.benchmark,
        panel=board.panel,
        part=part,
        figure=figure,
        n_raters=len(board.raters),
        **values,
    )


def _with_q(rows: Sequence[PanelRow]) -> list[PanelRow]:
    """The rows with p adjusted by Benjamini-Hochberg."""
    p = [row.p for row in rows if row.p is not None]
    adjusted = iter(stats.benjamini_hochberg(p).tolist())
    return [row if row.p is None else replace(row, q=next(adjusted)) for row in rows]


def _place_rows(board: Board) -> Iterator[PanelRow]:
    """Where each candidate stands, and whether they differ at all."""
    counts = {"n_items": len(board.items), "n_groups": len(set(board.groups.tolist()))}
    few = None
    if not board.items or len(board.systems) < 2:
        few = "no question on which all candidates have a rank"
    else:
        few = too_few(board.groups)
    if few is None:
        yield from _tested_place_rows(board, counts)
        return
    for column, name in enumerate(board.systems):
        mean = stats.exact_mean(board.means[column]) if board.items else None
        shared = {"candidate": name, "role": board.roles[name], "n_unanswered": board.silent[name]}
        yield _row(board, "places", "mean_rank", value=mean, reason=few, **counts, **shared)


def _tested_place_rows(board: Board, counts: Mapping[str, int]) -> Iterator[PanelRow]:
    ranks, k = board.means, len(board.systems)
    # Rank 1 is best, but the tests take higher values as better.
    ranked = stats.rank_intervals(-ranks, board.groups)
    order = stats.friedman(-ranks, board.groups)
    strengths, separated = _strengths(board)
    for column, name in enumerate(board.systems):
        shared = {
            **{"candidate": name, "role": board.roles[name], "n_unanswered": board.silent[name]},
            **counts,
        }
        mean = stats.estimate_mean(ranks[column], board.groups, low=1.0, high=float(k))
        place, strength = ranked.intervals[column], strengths.systems[column]
        for figure, value, low, high in (
            ("mean_rank", mean.value, mean.low, mean.high),
            ("place", float(ranked.ranks[column]), place.best, place.worst),
            ("friedman_rank", float(order.mean_ranks[column]), None, None),
            ("strength", strength.value, strength.low, strength.high),
        ):
            reason = SEPARATED if separated and figure == "strength" else None
            yield _row(board, "places", figure, value=value, low=low, high=high, reason=reason, **shared)
    reason = "all cases are ranked alike" if order.f is None else None
    yield _row(board, "order", "friedman", value=order.f, p=order.p, reason=reason, **counts)
    distance = stats.nemenyi_distance(k, order.n_blocks)
    yield _row(board, "order", "critical_distance", value=distance, **counts)


def _strengths(board: Board) -> tuple[stats.StrengthBootstrap, bool]:
    """Davidson's strengths with their intervals, and whether somebody never lost or never won."""
    first, second = np.triu_indices(len(board.systems), 1)
    pairs, outcomes, groups = [], [], []
    for ranks in board.ranks:
        for column in np.flatnonzero(~np.isnan(ranks).any(axis=0)):
            pairs.append(np.stack([first, second], axis=1))
            outcomes.append(np.sign(ranks[second, column] - ranks[first, column]).astype(int))
            groups += [board.groups[column]] * len(first)
    compared, won = np.concatenate(pairs), np.concatenate(outcomes)
    n_systems = len(board.systems)
    # Cases are drawn again: comparisons share responses, so the model's own error is too small.
    strengths = stats.bootstrap_strengths(
        compared,
        won,
        groups=np.array(groups),
        n_systems=n_systems,
        rng=stats.seeded_rng(f"{board.panel} {board.benchmark}"),
    )
    return strengths, stats.davidson(compared, won, n_systems=n_systems).separated


def _tag_rows(scores: ScoreTable, board: Board) -> Iterator[PanelRow]:
    """The share of each candidate's answers that were tagged so, raters averaged inside a question."""
    tables = _tag_tables(scores, board)
    for tag in (name for name in TAGS if name in tables):
        for candidate in board.systems:
            rows = tables[tag].filter(pl.col("candidate") == candidate)
            shared: dict[str, Any] = {
                "candidate": candidate,
                "role": board.roles[candidate],
                "n_items": rows.height,
                "n_groups": rows["group"].n_unique(),
                "n_unanswered": board.silent[candidate],
            }
            if not rows.height:
                yield _row(board, "tags", tag, reason="no answer of this candidate was tagged", **shared)
                continue
            # `okay` is 1 less two shares, and rounding or a double tick may take it below 0.
            values = rows[tag].clip(0.0, 1.0).to_numpy()
            share = stats.estimate_mean(values, rows["group"].to_numpy(), low=0.0, high=1.0)
            if reason := too_few(rows["group"].to_numpy()):
                yield _row(board, "tags", tag, value=share.value, reason=reason, **shared)
            else:
                yield _row(board, "tags", tag, value=share.value, low=share.low, high=share.high, **shared)


def _tag_tables(scores: ScoreTable, board: Board) -> dict[str, pl.DataFrame]:
    """By tag a row per answer with the share of raters who gave it; `okay` is neither good nor bad."""
    answer = [*PLACE, "candidate"]
    ballots: dict[str, list[pl.DataFrame]] = {}
    for key, m in scores.measures.items():
        tag = m.criterion.criterion
        if m.metric == board.panel and tag in TAGS:
            of_measure = (pl.col("measure_id") == key) & (pl.col("benchmark") == board.benchmark)
            rows = scores.scores.filter(of_measure).select(*answer, counted_value(m.criterion).alias(tag))
            ballots.setdefault(tag, []).append(rows)
    tables = {
        tag: pl.concat(parts)
        .group_by(answer)
        .agg(exact_mean(pl.col(tag)))
        .filter(pl.col(tag).is_not_null())
        .sort(answer)
        for tag, parts in ballots.items()
    }
    # People tick good or bad; what has neither tick is okay.
    if "good" in tables and "bad" in tables:
        joined = tables["good"].join(tables["bad"], on=answer, how="inner", validate="1:1").sort(answer)
        tables["okay"] = joined.select(*answer, okay=1.0 - pl.col("good") - pl.col("bad"))
    return tables


def _expert_rows(board: Board) -> Iterator[PanelRow]:
    """How far raters agree on what they were shown; equal answers count once."""
    ranks = ballot_ranks(board)
    if len(board.raters) < 2 or not ranks.units:
        is_single = len(board.raters) < 2
        reason = "one rater: nobody to agree with" if is_single else "nothing was ranked by two raters"
        for figure in ("kendall_w", "alpha_ordinal"):
            yield _row(board, "experts", figure, n_items=len(board.items), reason=reason)
        return
    yield _expert_row(board, "kendall_w", _concordance(ranks))
    alpha = by_coefficient("alpha_ordinal", ranks.table, ranks.table_groups, ranks.missing)
    yield _expert_row(board, "alpha_ordinal", alpha)
    for column, rater in enumerate(board.raters):
        yield _expert_row(board, "with_others", _with_others(board, column), rater=rater)


def _concordance(ranks: BallotRanks) -> Estimate:
    """Kendall's W, the mean over questions where it is defined."""
    concordance = [stats.kendall_w(unit).value for unit in ranks.units]
    defined = [column for column, value in enumerate(concordance) if value is not None]
    values = np.array([concordance[column] for column in defined], dtype=np.float64)
    return by_jackknife(
        lambda chosen: stats.exact_mean(values[chosen]) if len(chosen) else None, ranks.groups[defined]
    )


def _expert_row(board: Board, figure: str, estimate: Estimate, **values: Any) -> PanelRow:
    return _row(board, "experts", figure, n_items=len(board.items), **_estimate_columns(estimate), **values)


def _estimate_columns(estimate: Estimate) -> dict[str, Any]:
    """The fields of an estimate that a row of a panel has."""
    return Bounded.from_figure(estimate).columns() | {
        "n_groups": estimate.n_groups,
        "reason": estimate.reason,
    }


def _with_others(board: Board, at: int) -> Estimate:
    """The correlation of one rater with the mean of the others, inside questions."""
    # Without the rater itself: a mean that holds its own ranks agrees with it by construction.
    others = np.delete(board.ranks, at, axis=0)
    both = ~np.isnan(board.ranks[at]).any(axis=0) & ~np.isnan(others).any(axis=1).all(axis=0)
    if not both.any():
        return Estimate(0, 0, reason="no question that another rater ranked too")
    mean_of_others = np.nanmean(others[:, :, both], axis=0)
    return by_rank_inside_items(board.ranks[at][:, both], mean_of_others, board.groups[both])


def _metric_rows(scores: ScoreTable, board: Board) -> Iterator[PanelRow]:
    """Every other measure of the answers that were shown, beside the panel's ranks of candidates alone."""
    if board.candidates is None:
        return
    measures = {k: m for k, m in scores.measures.items() if signed(m.signature).spec.name != "panel"}
    on_ballots = scores.scores.join(board.responses, on=list(RESPONSE), how="semi", maintain_order="left")
    short = labels(measures)
    for matrix in grids(on_ballots, measures):
        if matrix.benchmark == board.benchmark:
            yield from _agreement_rows(board.candidates, matrix, short[key_of(matrix.measure)])


def _agreement_rows(board: Board, matrix: ScoreMatrix, name: str) -> Iterator[PanelRow]:
    """How a measure agrees with the panel, on the candidates and questions that both have."""
    present = np.ones(board.means.shape, dtype=np.bool_)
    ranks = ScoreMatrix(
        *(board.benchmark, matrix.measure, board.systems, board.items, board.groups),
        # Nothing here uses categories, but a matrix needs one for every item.
        categories=board.groups,
        values=-board.means,
        present=present,
    )
    if matrix.measure.criterion.direction == "lower":
        matrix = matrix._replace(values=-matrix.values)
    x, y = common(ranks, matrix)
    complete = np.all(x.present, axis=0)
    x, y = x.on(complete), y.on(complete)
    k = len(x.candidates)
    counts = {"other": name, "n_items": len(x.items), "n_groups": len(set(x.groups.tolist()))}
    if k < 2 or not x.items:
        reason = "no question on which all candidates have both scores"
        yield _row(board, "metrics", "tau", n=k, reason=reason, **counts)
        return
    within = by_rank_inside_items(x.values, y.values, x.groups)
    yield _row(board, "metrics", "within", n=k, **counts | _estimate_columns(within))
    if k < LEAST_CANDIDATES:
        reason = f"{count(k, 'candidate')}: too few to order"
        yield _row(board, "metrics", "tau", n=k, reason=reason, **counts)
        return
    means = x.means(), y.means()
    tau = stats.kendall(*means)
    permuted = stats.permute_systems(
        *means, coefficient="kendall", rng=stats.seeded_rng(f"{board.panel} {name}")
    )
    level = "one side puts all candidates level" if tau is None else None
    p = permuted.p if permuted else None
    yield _row(board, "metrics", "tau", value=tau, p=p, n=k, reason=level, **counts)
    order = stats.order_agreement(*means)
    pairs = k * (k - 1) // 2
    yield _row(board, "metrics", "same_order", value=order.same / pairs, n=pairs, **counts)
    tested = stats.shown_agreement(*(stats.rank_intervals(m.values, m.groups).better for m in (x, y)))
    both = tested.same + tested.opposite
    untested = None if both else "no pair that both tell apart"
    yield _row(board, "metrics", "told_apart_alike", value=tested.share, n=both, reason=untested, **counts)


FigureKey = tuple[str, str | None, str]
"""A part, what a row of it is about (a candidate, a rater or another measure), and the figure."""


def _sentences(board: Board, rows: Sequence[PanelRow]) -> Iterator[str]:
    by_figure: dict[FigureKey, PanelRow] = {
        (r.part, r.candidate or r.rater or r.other, r.figure): r for r in rows
    }
    place = f"{board.panel} on {board.benchmark}"
    first = by_figure["places", board.systems[0], "mean_rank"]
    cases = f"{count(first.n_items or 0, 'question')} in {count(first.n_groups or 0, 'case')}"
    on = f"{count(len(board.raters), 'rater')}, {cases}"
    if first.value is None:
        yield f"{place} ({on}): {first.reason}."
        return
    order = sorted(board.systems, key=lambda name: by_figure["places", name, "mean_rank"].value or 0.0)
    ranks = "; ".join(_rank_text(by_figure, name) for name in order)
    reason = f" ({first.reason})" if first.reason else " and the places left open"
    yield f"{place} ({on}), mean rank of {len(order)}{reason}: {ranks}."
    for line in (*_order_texts(by_figure), *_ceiling_texts(board, by_figure), *_tag_texts(by_figure, order)):
        yield f"{place}: {line}"
    yield f"{place}: {_experts_text(board, by_figure)}"
    for other in dict.fromkeys(r.other for r in rows if r.part == "metrics"):
        yield f"{place}: {other}: {_metric_text(by_figure, other)}."


def _rank_text(by: Mapping[FigureKey, PanelRow], name: str) -> str:
    mean, place = by["places", name, "mean_rank"], by.get(("places", name, "place"))
    interval = ""
    if place and place.low is not None and place.high is not None:
        interval = f", place {place.low}" + (f"-{place.high}" if place.high > place.low else "")
    return f"{name} {figure_text(mean)}{interval}"


def _order_texts(by: Mapping[FigureKey, PanelRow]) -> Iterator[str]:
    friedman, distance = by.get(("order", None, "friedman")), by.get(("order", None, "critical_distance"))
    if friedman and distance:
        test = str(friedman.reason)
        if friedman.value is not None:
            test = f"F {printed(friedman.value, '.1f')}, p {friedman.p:.2g} by permutation within cases"
        yield (
            f"Friedman's test over cases: {test}; mean ranks over cases further apart than "
            f"{printed(distance.value)} differ (Nemenyi)."
        )


def _ceiling_texts(board: Board, by: Mapping[FigureKey, PanelRow]) -> Iterator[str]:
    """Where what stands for the right answer came among the candidates."""
    for name in board.systems:
        mean, place = by["places", name, "mean_rank"], by.get(("places", name, "place"))
        if board.roles[name] != "ceiling" or place is None:
            continue
        ranked = stats.rank_intervals(-board.means, board.groups)
        at = board.systems.index(name)
        above = [who for k, who in enumerate(board.systems) if ranked.better[k, at]]
        below = [who for k, who in enumerate(board.systems) if ranked.better[at, k]]
        yield (
            f"{name} (ceiling) is {place.value:g} of {len(board.systems)} by mean rank "
            f"{printed(mean.value)}; "
            f"shown better than it: {', '.join(above) or 'nobody'}; shown worse: "
            f"{', '.join(below) or 'nobody'}."
        )


def _tag_texts(by: Mapping[FigureKey, PanelRow], order: Sequence[str]) -> Iterator[str]:
    """The shares of the candidates that have all of them."""
    texts = []
    for name in order:
        rows = [by.get(("tags", name, tag)) for tag in TAGS]
        shares = [row.value for row in rows if row and row.value is not None]
        if len(shares) == len(TAGS):
            texts.append(f"{name} {' / '.join(printed(share, '.0%') for share in shares)}")
    if texts:
        yield f"good / okay / bad / clearly wrong: {'; '.join(texts)}."


def _experts_text(board: Board, by: Mapping[FigureKey, PanelRow]) -> str:
    w, alpha = by["experts", None, "kendall_w"], by["experts", None, "alpha_ordinal"]
    if w.value is None:
        return f"agreement of raters: {w.reason}."
    return (
        f"raters agree with Kendall's W {figure_text(w)} (without any agreement "
        f"{printed(1 / len(board.raters))}), alpha (ordinal) {figure_text(alpha)}."
    )


def _metric_text(by: Mapping[FigureKey, PanelRow], other: str | None) -> str:
    tau, within = by["metrics", other, "tau"], by.get(("metrics", other, "within"))
    same = by.get(("metrics", other, "same_order"))
    parts = [str(tau.reason) if tau.value is None else f"tau-b {printed(tau.value)} with the panel"]
    if same:
        n = same.n or 0
        parts.append(f"same order in {round((same.value or 0.0) * n)} of {count(n, 'pair')}")
    if within:
        parts.append(f"inside questions: {figure_text(within)}")
    return "; ".join(parts)
