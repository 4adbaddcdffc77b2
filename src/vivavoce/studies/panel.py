"""A panel of people who ranked answers: what they found, how far they agree, and which metrics do with them.

Ranks are averaged over raters inside a question, and questions inside a case; the case is the block. Raters
are not blocks: three people who read one question are no three questions. Silence stands last, unshown.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from vivavoce import stats
from vivavoce.records import Finding
from vivavoce.specs import signed
from vivavoce.studies import LEAST_GROUPS, Marks, settled, unweighted
from vivavoce.studies.figures import by_jackknife, ends
from vivavoce.studies.grids import Grid, common, grids, key_of, labels
from vivavoce.studies.ranked import Board, Floats, boards, shown_ranks
from vivavoce.studies.words import count

__all__ = ["COLUMNS", "findings"]

COLUMNS = (
    *("benchmark", "panel", "part", "candidate", "role", "rater", "other", "figure", "value", "low", "high"),
    *("p", "q", "n", "n_items", "n_groups", "n_raters", "n_unanswered", "reason"),
)
TAGS = ("good", "okay", "bad", "clearly_wrong")
LEAST_CANDIDATES = 4
SHOWN = ("benchmark", "item", "variant", "candidate", "repeat")

Row = dict[str, Any]


def findings(marks: Marks) -> Finding:
    """Rows by `part` and `figure`, for every panel and benchmark.

    `places`, by candidate and with the reference among them: `mean_rank` (1 the best; over raters, then
    questions, with an interval by case), `place` with the places that paired tests leave open (Holm over all
    pairs), `friedman_rank` (over cases, which the critical distance is about) and `strength` (Davidson's
    model, log scale, sum 0, cases drawn again). `order`: `friedman` (Iman and Davenport's F, with p) and
    `critical_distance`. `tags`: shares of answers called good, okay, bad, clearly wrong; silence counts as
    bad, and of clearly wrong it is left out. `experts`: `kendall_w` (the mean over questions; without any
    agreement 1 over the number of raters), `alpha_ordinal`, and by rater `with_others`, the correlation with
    the mean of the others inside questions. `metrics`, by another measure of the same answers (`other`):
    `tau` and `same_order` over candidates, `told_apart_alike` over the pairs that both tell apart, `within`,
    the rank correlation inside questions.
    """
    rows: list[Row] = []
    said: list[str] = []
    notes: list[str] = []
    for board in boards(marks):
        own = [
            {**dict.fromkeys(COLUMNS), "benchmark": board.benchmark, "panel": board.panel,
             "n_raters": len(board.raters), **row}
            for row in (*_places(board), *_tags(marks, board), *_experts(board), *_metrics(marks, board))
        ]  # fmt: skip
        tested = [r for r in own if r["p"] is not None and r["part"] == "metrics"]
        for row, q in zip(tested, stats.benjamini_hochberg([r["p"] for r in tested]).tolist(), strict=True):
            row["q"] = q
        rows += own
        said += _sentences(board, own)
        notes += board.notes
    text = "\n".join(said) or "No panel has ranked answers here: `viva panel RUN make` writes packets."
    sampled = unweighted(marks.scores, "the panel's figures count") if rows else ()
    return Finding(study="panel", rows=tuple(rows), text=text, notes=(*notes, *sampled))


def _places(board: Board) -> Iterator[Row]:
    """Where each candidate stands, and whether they differ at all."""
    ranks, k = board.means, len(board.systems)
    n = {"n_items": len(board.items), "n_groups": len(set(board.groups.tolist()))}
    few = None
    if not board.items or k < 2:
        few = "no question on which all candidates have a rank"
    elif n["n_groups"] < LEAST_GROUPS:
        few = f"{count(n['n_groups'], 'case')}: too few to tell"
    ranked = None if few else stats.rank_intervals(-ranks, board.groups)
    order = None if few else stats.friedman(-ranks, board.groups)
    strengths, separated = (None, False) if few else _strengths(board)
    for at, name in enumerate(board.systems):
        shared = {"part": "places", "candidate": name, "role": board.roles[name], **n,
                  "n_unanswered": board.silent[name], "reason": few}  # fmt: skip
        if not ranked or not order or not strengths:
            plain = float(ranks[at].mean()) if board.items else None
            yield shared | {"figure": "mean_rank", "value": plain}
            continue
        mean = stats.estimate_mean(ranks[at], board.groups, low=1.0, high=float(k))
        yield shared | {"figure": "mean_rank", "value": mean.value, "low": mean.low, "high": mean.high}
        left = ranked.intervals[at]
        yield shared | {"figure": "place", "value": float(ranked.ranks[at]), "low": left.best,
                        "high": left.worst}  # fmt: skip
        yield shared | {"figure": "friedman_rank", "value": float(order.mean_ranks[at])}
        drawn = strengths.systems[at]
        yield shared | {"figure": "strength", "value": drawn.value, "low": drawn.low, "high": drawn.high,
                        "reason": "some never lost or never won: their distance says nothing"
                        if separated else None}  # fmt: skip
    if order:
        reason = "all cases are ranked alike" if order.f is None else None
        yield {"part": "order", "figure": "friedman", "value": order.f, "p": order.p_f, **n, "reason": reason}
        distance = stats.nemenyi_distance(k, order.n_blocks)
        yield {"part": "order", "figure": "critical_distance", "value": distance, **n}


def _strengths(board: Board) -> tuple[stats.StrengthBootstrap, bool]:
    """Davidson's strengths with their intervals, and whether somebody never lost or never won."""
    first, second = np.triu_indices(len(board.systems), 1)
    pairs, outcomes, groups = [], [], []
    for ranks in board.ranks:
        there = ~np.isnan(ranks).any(axis=0)
        for column in np.flatnonzero(there):
            pairs.append(np.stack([first, second], axis=1))
            outcomes.append(np.sign(ranks[second, column] - ranks[first, column]).astype(int))
            groups += [board.groups[column]] * len(first)
    seed = hashlib.sha256(f"{board.panel} {board.benchmark}".encode()).digest()[:8]
    met, won = np.concatenate(pairs), np.concatenate(outcomes)
    drawn = stats.bootstrap_strengths(
        met,
        won,
        groups=np.array(groups),
        n_systems=len(board.systems),
        rng=np.random.default_rng(int.from_bytes(seed, "big")),
    )
    return drawn, stats.davidson(met, won, n_systems=len(board.systems)).separated


def _tags(marks: Marks, board: Board) -> Iterator[Row]:
    """The share of each candidate's answers that were tagged so, raters averaged inside a question."""
    import polars as pl

    by: dict[str, pl.DataFrame] = {}
    for key, m in marks.measures.items():
        if m.metric == board.panel and m.criterion.criterion in TAGS:
            own = marks.scores.filter(
                (pl.col("measure_id") == key) & (pl.col("benchmark") == board.benchmark)
            )
            name = m.criterion.criterion
            part = own.select(
                "item", "variant", "group", "candidate", "rater", settled(m.criterion).alias(name)
            )
            by[name] = part if name not in by else pl.concat([by[name], part])
    place = ["item", "variant", "group", "candidate"]
    for name, rows in by.items():
        by[name] = (
            rows.group_by(place).agg(pl.col(name).mean()).filter(pl.col(name).is_not_null()).sort(place)
        )
    if "good" in by and "bad" in by:
        both = by["good"].join(by["bad"], on=place, how="inner", validate="1:1").sort(place)
        by["okay"] = both.select(*place, okay=1.0 - pl.col("good") - pl.col("bad"))
    for name in TAGS:
        for who in board.systems if name in by else ():
            part = by[name].filter(pl.col("candidate") == who)
            row: Row = {"part": "tags", "candidate": who, "role": board.roles[who], "figure": name,
                        "n_items": part.height, "n_groups": part["group"].n_unique(),
                        "n_unanswered": board.silent[who]}  # fmt: skip
            if not part.height:
                yield row | {"reason": "no answer of this candidate was tagged"}
                continue
            values = part[name].clip(0.0, 1.0).to_numpy()
            found = stats.estimate_mean(values, part["group"].to_numpy(), low=0.0, high=1.0)
            if row["n_groups"] < LEAST_GROUPS:
                reason = f"{count(row['n_groups'], 'case')}: too few to tell"
                yield row | {"value": found.value, "reason": reason}
            else:
                yield row | {"value": found.value, "low": found.low, "high": found.high}


def _experts(board: Board) -> Iterator[Row]:
    """How far raters agree on what they were shown; equal answers count once."""
    n = {"part": "experts", "n_items": len(board.items)}
    shown = shown_ranks(board)
    if len(board.raters) < 2 or not shown.units:
        why = (
            "one rater: nobody to agree with" if len(board.raters) < 2 else "nothing was ranked by two raters"
        )
        yield from (n | {"figure": name, "reason": why} for name in ("kendall_w", "alpha_ordinal"))
        return
    found = [stats.kendall_w(table).value for table in shown.units]
    ranked = [at for at, value in enumerate(found) if value is not None]
    each = np.array([found[at] for at in ranked], dtype=np.float64)
    of = shown.groups[ranked]
    yield n | _only(by_jackknife(lambda at: float(each[at].mean()) if len(at) else None, of)) | {
        "figure": "kendall_w"}  # fmt: skip
    values, missing = shown.table, shown.missing
    alpha = by_jackknife(
        lambda at: stats.krippendorff_alpha(values[at], "ordinal", missing=missing[at]).value,
        shown.table_groups,
    )
    yield n | _only(alpha) | {"figure": "alpha_ordinal"}
    for at, rater in enumerate(board.raters):
        yield n | _only(_with_others(board, at)) | {"figure": "with_others", "rater": rater}


def _with_others(board: Board, at: int) -> Row:
    """The correlation of one rater with the mean of the others, inside questions."""
    others = np.delete(board.ranks, at, axis=0)
    there = ~np.isnan(board.ranks[at]).any(axis=0) & ~np.isnan(others).any(axis=1).all(axis=0)
    if not there.any():
        return {"n_groups": 0, "reason": "no question that another rater ranked too"}
    return _within(board.ranks[at][:, there], np.nanmean(others[:, :, there], axis=0), board.groups[there])


def _within(x: Floats, y: Floats, groups: Any) -> Row:
    """Spearman's correlation inside questions of two tables of candidates by questions."""
    return by_jackknife(
        lambda at: (
            stats.correlation_at(x[:, at], y[:, at], level="item_centred", coefficient="spearman").value
        ),
        groups,
        undefined="one side does not vary",
    )


def _only(found: Row) -> Row:
    """What a row of a panel has a column for."""
    return {name: value for name, value in found.items() if name in COLUMNS}


def _metrics(marks: Marks, board: Board) -> Iterator[Row]:
    """Every other measure of the answers that were shown, beside the panel's ranks of candidates alone."""
    people = board.candidates
    if people is None:
        return
    others = {k: m for k, m in marks.measures.items() if signed(m.signature).spec.name != "panel"}
    shown = marks.scores.join(board.responses, on=list(SHOWN), how="semi", maintain_order="left")
    short = labels(others)
    for grid in grids(shown, others):
        if grid.benchmark == board.benchmark:
            yield from _beside(people, grid, short[key_of(grid.measure)])


def _beside(board: Board, grid: Grid, name: str) -> Iterator[Row]:
    own = Grid(board.benchmark, grid.measure, board.systems, board.items, board.groups, board.groups,
               -board.means, np.ones(board.means.shape, dtype=np.bool_))  # fmt: skip
    if grid.measure.criterion.direction == "lower":
        grid = grid._replace(values=-grid.values)
    x, y = common(own, grid)
    kept = np.all(x.present, axis=0)
    x, y = x.on(kept), y.on(kept)
    k = len(x.candidates)
    row: Row = {"part": "metrics", "other": name, "n": k, "n_items": len(x.items),
                "n_groups": len(set(x.groups.tolist()))}  # fmt: skip
    if k < 2 or not x.items:
        yield row | {"figure": "tau", "reason": "no question on which all candidates have both marks"}
        return
    yield row | _only(_within(x.values, y.values, x.groups)) | {"figure": "within", "n": k}
    if k < LEAST_CANDIDATES:
        yield row | {"figure": "tau", "reason": f"{count(k, 'candidate')}: too few to order"}
        return
    means = x.means(), y.means()
    seed = hashlib.sha256(f"{board.panel} {name}".encode()).digest()[:8]
    rng = np.random.default_rng(int.from_bytes(seed, "big"))
    tau = stats.kendall(*means)
    permuted = stats.permute_systems(*means, coefficient="kendall", rng=rng)
    reason = "one side puts all candidates level" if tau is None else None
    yield row | {"figure": "tau", "value": tau, "p": permuted.p if permuted else None, "reason": reason}
    order = stats.order_agreement(*means)
    pairs = k * (k - 1) // 2
    yield row | {"figure": "same_order", "value": order.same / pairs, "n": pairs}
    told = stats.shown_agreement(*(stats.rank_intervals(g.values, g.groups).better for g in (x, y)))
    both = told.same + told.opposite
    none = None if both else "no pair that both tell apart"
    yield row | {"figure": "told_apart_alike", "value": told.share, "n": both, "reason": none}


def _sentences(board: Board, rows: Sequence[Row]) -> Iterator[str]:
    by = {(r["part"], r["candidate"] or r["rater"] or r["other"], r["figure"]): r for r in rows}
    here = f"{board.panel} on {board.benchmark}"
    first = by["places", board.systems[0], "mean_rank"]
    cases = f"{count(first['n_items'], 'question')} in {count(first['n_groups'], 'case')}"
    on = f"{count(len(board.raters), 'rater')}, {cases}"
    if first["value"] is None:
        yield f"{here} ({on}): {first['reason']}."
        return
    order = sorted(board.systems, key=lambda name: by["places", name, "mean_rank"]["value"])
    ranks = "; ".join(_ranked(by, name) for name in order)
    why = f" ({first['reason']})" if first["reason"] else " and the places left open"
    yield f"{here} ({on}), mean rank of {len(order)}{why}: {ranks}."
    friedman, distance = by.get(("order", None, "friedman")), by.get(("order", None, "critical_distance"))
    if friedman and distance:
        f = (
            friedman["reason"]
            if friedman["value"] is None
            else f"F {friedman['value']:.1f}, p {friedman['p']:.2g}"
        )
        yield (
            f"{here}: Friedman's test over cases: {f}; mean ranks over cases further apart than "
            f"{distance['value']:.2f} differ (Nemenyi)."
        )
    yield from (f"{here}: {line}" for line in _reference(board, by))
    shares = [
        f"{name} " + " / ".join(f"{by['tags', name, tag]['value']:.0%}" for tag in TAGS)
        for name in order
        if all((found := by.get(("tags", name, tag))) and found["value"] is not None for tag in TAGS)
    ]
    if shares:
        yield f"{here}: good / okay / bad / clearly wrong: {'; '.join(shares)}."
    w, alpha = by["experts", None, "kendall_w"], by["experts", None, "alpha_ordinal"]
    if w["value"] is None:
        yield f"{here}: agreement of raters: {w['reason']}."
    else:
        yield (
            f"{here}: raters agree with Kendall's W {w['value']:.2f}{ends(w)} (without any agreement "
            f"{1 / len(board.raters):.2f}), alpha (ordinal) "
            f"{alpha['reason'] if alpha['value'] is None else format(alpha['value'], '.2f') + ends(alpha)}."
        )
    for other in dict.fromkeys(r["other"] for r in rows if r["part"] == "metrics"):
        yield f"{here}: {other}: {_agrees(by, other)}."


def _ranked(by: Mapping[Any, Row], name: str) -> str:
    mean, place = by["places", name, "mean_rank"], by.get(("places", name, "place"))
    left = ""
    if place:
        left = f", place {place['low']}" + (f"-{place['high']}" if place["high"] > place["low"] else "")
    return f"{name} {mean['value']:.2f}{ends(mean)}{left}"


def _reference(board: Board, by: Mapping[Any, Row]) -> Iterator[str]:
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
            f"{name} (ceiling) is {place['value']:g} of {len(board.systems)} by mean rank "
            f"{mean['value']:.2f}; shown better than it: {', '.join(above) or 'nobody'}; shown worse: "
            f"{', '.join(below) or 'nobody'}."
        )


def _agrees(by: Mapping[Any, Row], other: str) -> str:
    tau, within = by["metrics", other, "tau"], by.get(("metrics", other, "within"))
    same = by.get(("metrics", other, "same_order"))
    parts = [str(tau["reason"])] if tau["value"] is None else [f"tau-b {tau['value']:.2f} with the panel"]
    if same:
        parts.append(f"same order in {round(same['value'] * same['n'])} of {count(same['n'], 'pair')}")
    if within:
        found = within["reason"] if within["value"] is None else f"{within['value']:.2f}{ends(within)}"
        parts.append(f"inside questions: {found}")
    return "; ".join(parts)
