"""What panels ranked, as tables: raters by candidates by questions, silence last.

Ranks are ranked again among those that a table holds, so a table of candidates alone has no gap where the
reference stood.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vivavoce.specs import signed
from vivavoce.studies import Marks
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Board", "Floats", "Shown", "boards", "shown_ranks"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
PLACE = ("item", "variant", "group")


class Board(NamedTuple):
    """The ballots of one panel on one benchmark.

    `ranks` is raters x systems x questions, NaN where a rater left the question out; `rows` are the score
    rows they come from and `responses` the answers they are about. `silent` counts the questions that a
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
    groups: "np.ndarray[Any, Any]"
    ranks: Floats
    silent: Mapping[str, int]
    rows: "pl.DataFrame"
    responses: "pl.DataFrame"
    notes: tuple[str, ...]
    candidates: "Board | None" = None

    @property
    def means(self) -> Floats:
        """Mean ranks over raters, systems x questions."""
        return np.asarray(np.nanmean(self.ranks, axis=0)) if self.items else self.ranks[0]


class Shown(NamedTuple):
    """What raters ranked, equal answers once.

    `units` are, for each question that two raters or more ranked, ranks of answers x raters, and `groups` its
    case; `table` holds all answers x all raters with `missing`, and `table_groups` their cases.
    """

    units: list[Floats]
    groups: "np.ndarray[Any, Any]"
    table: Floats
    missing: "np.ndarray[Any, np.dtype[np.bool_]]"
    table_groups: "np.ndarray[Any, Any]"


def boards(marks: Marks) -> Iterator[Board]:
    """A board for each panel and benchmark among score rows with ranks."""
    import polars as pl

    panels: dict[str, list[int]] = {}
    for key, m in marks.measures.items():
        if m.criterion.pool == "rank" and signed(m.signature).spec.name == "panel":
            panels.setdefault(m.metric, []).append(key)
    for panel, keys in panels.items():
        own = marks.scores.filter(pl.col("measure_id").is_in(keys) & (pl.col("edit") == ""))
        for (benchmark,), rows in own.group_by("benchmark", maintain_order=True):
            yield _board(str(benchmark), panel, rows)


def _board(benchmark: str, panel: str, rows: "pl.DataFrame") -> Board:
    import polars as pl

    counted = rows.filter(pl.col("status") != "failed").sort(*PLACE, "rater", "candidate")
    roles = dict(rows.select("candidate", "role").unique().sort("candidate").iter_rows())
    asked = set(rows.select(*PLACE).unique().iter_rows())
    n_items = len(asked)
    notes = []
    systems = []
    keyless: set[tuple[str, str]] = set()
    for name, role in roles.items():
        there = set(counted.filter(pl.col("candidate") == name).select(*PLACE).iter_rows())
        if role == "candidate" or len(there) == n_items:
            systems.append(name)
            continue
        kept = role == "ceiling" and 2 * len(there) >= n_items
        if kept:
            systems.append(name)
            keyless |= {(item, variant) for item, variant, _ in asked - there}
        notes.append(
            f"{panel} on {benchmark}: {name} stands on {len(there)} of {count(n_items, 'question')}: "
            + ("the others are left out of ranks." if kept else "it has no place here.")
        )
    responses = rows.select("benchmark", "item", "variant", "candidate", "repeat").unique(maintain_order=True)
    made = _table(benchmark, panel, counted, systems, roles, responses)
    if lost := n_items - len(keyless.union(made.items)):
        notes.append(
            f"{panel} on {benchmark}: {count(lost, 'question')} left out of ranks: an answer did not arrive."
        )
    if silent := {name: n for name, n in made.silent.items() if n}:
        told = ", ".join(f"{name} {n}" for name, n in silent.items())
        notes.append(f"{panel} on {benchmark}: not answered, so not shown, and last: {told}.")
    alone = [name for name in systems if roles[name] == "candidate"]
    inner = made if len(alone) == len(systems) else _table(benchmark, panel, counted, alone, roles, responses)
    return made._replace(notes=tuple(notes), candidates=inner if len(alone) > 1 else None)


def _table(
    benchmark: str,
    panel: str,
    rows: "pl.DataFrame",
    systems: Sequence[str],
    roles: Mapping[str, str],
    responses: "pl.DataFrame",
) -> Board:
    """The ranks of some systems; `rows` hold nothing that failed."""
    import polars as pl

    own = rows.filter(pl.col("candidate").is_in(systems))
    raters = tuple(own["rater"].unique().sort())
    items = list(own.select(*PLACE).unique().sort(*PLACE).iter_rows())
    column = {item: n for n, item in enumerate(items)}
    line = {name: n for n, name in enumerate(systems)}
    voice = {name: n for n, name in enumerate(raters)}
    values = np.full((len(raters), len(systems), len(items)), np.nan)
    for item, variant, group, rater, who, value, status in own.select(
        *PLACE, "rater", "candidate", "value", "status"
    ).iter_rows():
        at = voice[rater], line[who], column[item, variant, group]
        values[at] = value if status == "ok" else np.inf
    ranks = np.full(values.shape, np.nan)
    for r in range(len(raters)):
        for n in np.flatnonzero(~np.isnan(values[r]).any(axis=0)):
            ranks[r, :, n] = _ranks(values[r, :, n])
    whole = (~np.isnan(ranks).any(axis=1)).any(axis=0) if len(raters) else np.zeros(0, dtype=np.bool_)
    kept = [item for item, keep in zip(items, whole, strict=True) if keep]
    quiet = own.filter(pl.col("status") != "ok").group_by("candidate").agg(pl.struct(*PLACE).n_unique())
    return Board(
        benchmark=benchmark,
        panel=panel,
        raters=raters,
        systems=tuple(systems),
        roles=roles,
        items=tuple((item, variant) for item, variant, _ in kept),
        groups=np.array([group for *_, group in kept]),
        ranks=ranks[:, :, whole],
        silent={name: 0 for name in systems} | dict(quiet.iter_rows()),
        rows=own,
        responses=responses,
        notes=(),
    )


def _ranks(values: Floats) -> Floats:
    """Mid-ranks, 1 for the smallest; all that is infinite is one tie at the end."""
    less = (values[:, None] > values[None, :]).sum(axis=1)
    same = (values[:, None] == values[None, :]).sum(axis=1)
    return np.asarray(less + (same + 1) / 2, dtype=np.float64)


def shown_ranks(board: Board) -> Shown:
    """The ranks of what raters saw, by answer; candidates who gave the same answer are one."""
    import polars as pl

    ok = board.rows.filter((pl.col("status") == "ok") & pl.col("position").is_not_null())
    once = ok.sort("ballot", "position", "candidate").unique(
        ["ballot", "position"], keep="first", maintain_order=True
    )
    units, groups, tables, holes, table_groups = [], [], [], [], []
    for (_, _, group), part in once.sort(*PLACE, "candidate").group_by(*PLACE, maintain_order=True):
        wide = part.pivot(on="rater", index="candidate", values="value", aggregate_function="first")
        raters = [name for name in board.raters if name in wide.columns and not wide[name].has_nulls()]
        if len(raters) < 2:
            continue
        found = np.stack([_ranks(wide[name].to_numpy()) for name in raters], axis=1)
        units.append(found)
        groups.append(group)
        whole = np.zeros((len(found), len(board.raters)))
        missing = np.ones(whole.shape, dtype=np.bool_)
        at = [board.raters.index(name) for name in raters]
        whole[:, at], missing[:, at] = found, False
        tables.append(whole)
        holes.append(missing)
        table_groups += [group] * len(found)
    width = len(board.raters)
    return Shown(
        units,
        np.array(groups),
        np.concatenate(tables) if tables else np.zeros((0, width)),
        np.concatenate(holes) if holes else np.zeros((0, width), dtype=np.bool_),
        np.array(table_groups),
    )
