"""What panels ranked, as tables: raters by candidates by questions, unanswered last.

Ranks are ranked again among those that a table holds, so a table of candidates alone has no gap where the
reference stood.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce.core.specs import signed
from vivavoce.studies.score_table import RESPONSE, ScoreTable
from vivavoce.studies.text import count

Floats = np.ndarray[Any, np.dtype[np.float64]]
PLACE = ("item", "variant", "group")


class Board(NamedTuple):
    """The ballots of one panel on one benchmark.

    `ranks` is raters x systems x questions, NaN where a rater left the question out; `rows` are the score
    rows they come from and `responses` the responses they are about. `silent` counts the questions that a
    system did not answer. `candidates` is the same without floors and ceilings, null if fewer than two are
    left. Only questions on which every system has a rank are in the table; a ceiling that stands on less
    than half of them, or a floor that lacks any, is no system.
    """

    benchmark: str
    panel: str
    raters: tuple[str, ...]
    systems: tuple[str, ...]
    roles: Mapping[str, str]
    items: tuple[tuple[str, str], ...]
    groups: np.ndarray[Any, Any]
    ranks: Floats
    silent: Mapping[str, int]
    rows: pl.DataFrame
    responses: pl.DataFrame
    notes: tuple[str, ...]
    candidates: "Board | None" = None

    @property
    def means(self) -> Floats:
        """Mean ranks over raters, systems x questions."""
        return np.asarray(np.nanmean(self.ranks, axis=0)) if self.items else self.ranks[0]


class BallotRanks(NamedTuple):
    """What raters ranked, equal answers once.

    `units` are, for each question that two raters or more ranked, ranks of answers x raters, and `groups` its
    case; `table` holds all answers x all raters with `missing`, and `table_groups` their cases.
    """

    units: list[Floats]
    groups: np.ndarray[Any, Any]
    table: Floats
    missing: np.ndarray[Any, np.dtype[np.bool_]]
    table_groups: np.ndarray[Any, Any]


def first_passes(scores: ScoreTable) -> ScoreTable:
    """The scores without ranks of a second pass: a question that was put again is no further ballot."""
    panels = [key for key, m in scores.measures.items() if signed(m.signature).spec.name == "panel"]
    again = pl.col("measure_id").is_in(panels) & (pl.col("pass_no") > 1)
    return scores._replace(scores=scores.scores.filter(~again))


def boards(scores: ScoreTable) -> Iterator[Board]:
    """A board for each panel and benchmark among score rows with ranks."""
    panels: dict[str, list[int]] = {}
    for key, m in scores.measures.items():
        if m.criterion.pool == "rank" and signed(m.signature).spec.name == "panel":
            panels.setdefault(m.metric, []).append(key)
    for panel, keys in panels.items():
        ballots = scores.scores.filter(pl.col("measure_id").is_in(keys) & (pl.col("edit") == ""))
        for (benchmark,), rows in ballots.group_by("benchmark", maintain_order=True):
            yield _board(str(benchmark), panel, rows)


class _Systems(NamedTuple):
    """Whom the ranks of a board are about; `keyless` are questions that lack a ceiling's rank."""

    names: list[str]
    keyless: set[tuple[str, str]]
    notes: list[str]


def _board(benchmark: str, panel: str, rows: pl.DataFrame) -> Board:
    counted = rows.filter(pl.col("status") != "failed").sort(*PLACE, "rater", "candidate")
    roles = dict(rows.select("candidate", "role").unique().sort("candidate").iter_rows())
    items = set(rows.select(*PLACE).unique().iter_rows())
    place = f"{panel} on {benchmark}"
    systems = _systems(counted, roles, items, place)
    notes = systems.notes
    responses = rows.select(RESPONSE).unique(maintain_order=True)
    board = _ranked(benchmark, panel, counted, systems.names, roles, responses)
    if lost := len(items) - len(systems.keyless.union(board.items)):
        notes.append(f"{place}: {count(lost, 'question')} left out of ranks: an answer did not arrive.")
    if silent := {name: n for name, n in board.silent.items() if n}:
        unanswered = ", ".join(f"{name} {n}" for name, n in silent.items())
        notes.append(f"{place}: not answered, so not shown, and last: {unanswered}.")
    alone = [name for name in systems.names if roles[name] == "candidate"]
    inner = board
    if len(alone) < len(systems.names):
        inner = _ranked(benchmark, panel, counted, alone, roles, responses)
    return board._replace(notes=tuple(notes), candidates=inner if len(alone) > 1 else None)


def _systems(
    counted: pl.DataFrame, roles: Mapping[str, str], items: set[tuple[str, str, str]], place: str
) -> _Systems:
    """All candidates, a floor that is on every question, and a ceiling that is on half of them or more."""
    systems = _Systems([], set(), [])
    for name, role in roles.items():
        ranked = set(counted.filter(pl.col("candidate") == name).select(*PLACE).iter_rows())
        if role == "candidate" or len(ranked) == len(items):
            systems.names.append(name)
            continue
        # A reference may be missing for some items; a floor is made for all of them.
        is_enough = role == "ceiling" and 2 * len(ranked) >= len(items)
        if is_enough:
            systems.names.append(name)
            systems.keyless.update((item, variant) for item, variant, _ in items - ranked)
        systems.notes.append(
            f"{place}: {name} stands on {len(ranked)} of {count(len(items), 'question')}: "
            + ("the others are left out of ranks." if is_enough else "it has no place here.")
        )
    return systems


def _ranked(
    benchmark: str,
    panel: str,
    rows: pl.DataFrame,
    systems: Sequence[str],
    roles: Mapping[str, str],
    responses: pl.DataFrame,
) -> Board:
    """The ranks of some systems; `rows` hold nothing that failed."""
    ballots = rows.filter(pl.col("candidate").is_in(systems))
    raters = tuple(ballots["rater"].unique().sort())
    items = list(ballots.select(*PLACE).unique().sort(*PLACE).iter_rows())
    ranks = _rank_table(ballots, raters, systems, items)
    # A question stays only if one rater at least ranked every system on it.
    complete = (~np.isnan(ranks).any(axis=1)).any(axis=0) if raters else np.zeros(0, dtype=np.bool_)
    ranked_items = [items[n] for n in np.flatnonzero(complete)]
    unanswered = ballots.filter(pl.col("status") != "ok")
    silent = unanswered.group_by("candidate").agg(pl.struct(*PLACE).n_unique())
    return Board(
        benchmark=benchmark,
        panel=panel,
        raters=raters,
        systems=tuple(systems),
        roles=roles,
        items=tuple((item, variant) for item, variant, _ in ranked_items),
        groups=np.array([group for *_, group in ranked_items]),
        ranks=ranks[:, :, complete],
        silent={name: 0 for name in systems} | dict(silent.iter_rows()),
        rows=ballots,
        responses=responses,
        notes=(),
    )


def _rank_table(
    ballots: pl.DataFrame,
    raters: Sequence[str],
    systems: Sequence[str],
    items: Sequence[tuple[str, str, str]],
) -> Floats:
    """Mid-ranks, raters x systems x questions; NaN where a rater did not rank every system of a question."""
    rater_at = {name: n for n, name in enumerate(raters)}
    system_at = {name: n for n, name in enumerate(systems)}
    item_at = {item: n for n, item in enumerate(items)}
    values = np.full((len(raters), len(systems), len(items)), np.nan)
    for item, variant, group, rater, candidate, value, status in ballots.select(
        *PLACE, "rater", "candidate", "value", "status"
    ).iter_rows():
        cell = rater_at[rater], system_at[candidate], item_at[item, variant, group]
        # Unanswered is behind every rank that anybody gave.
        values[cell] = value if status == "ok" else np.inf
    ranks = np.full(values.shape, np.nan)
    for r in range(len(raters)):
        for n in np.flatnonzero(~np.isnan(values[r]).any(axis=0)):
            ranks[r, :, n] = _mid_ranks(values[r, :, n])
    return ranks


def _mid_ranks(values: Floats) -> Floats:
    """Mid-ranks, 1 for the smallest; all that is infinite is one tie at the end."""
    less = (values[:, None] > values[None, :]).sum(axis=1)
    same = (values[:, None] == values[None, :]).sum(axis=1)
    return np.asarray(less + (same + 1) / 2, dtype=np.float64)


def ballot_ranks(board: Board) -> BallotRanks:
    """The ranks of what raters saw, by answer; candidates who gave the same answer are one."""
    ok = board.rows.filter((pl.col("status") == "ok") & pl.col("position").is_not_null())
    # Equal answers were shown once, at one position: they are one unit of agreement.
    once = ok.sort("ballot", "position", "candidate").unique(
        ["ballot", "position"], keep="first", maintain_order=True
    )
    width = len(board.raters)
    units, groups, table_groups = [], [], []
    tables, gaps = [np.zeros((0, width))], [np.zeros((0, width), dtype=np.bool_)]
    for (_, _, group), part in once.sort(*PLACE, "candidate").group_by(*PLACE, maintain_order=True):
        wide = part.pivot(on="rater", index="candidate", values="value", aggregate_function="first")
        raters = [name for name in board.raters if name in wide.columns and not wide[name].has_nulls()]
        if len(raters) < 2:
            continue
        ranks = np.stack([_mid_ranks(wide[name].to_numpy()) for name in raters], axis=1)
        units.append(ranks)
        groups.append(group)
        table = np.zeros((len(ranks), width))
        missing = np.ones(table.shape, dtype=np.bool_)
        columns = [board.raters.index(name) for name in raters]
        table[:, columns], missing[:, columns] = ranks, False
        tables.append(table)
        gaps.append(missing)
        table_groups += [group] * len(ranks)
    return BallotRanks(
        units, np.array(groups), np.concatenate(tables), np.concatenate(gaps), np.array(table_groups)
    )
