"""Coverage: what candidates were asked for, and what came of it. All counts of what is missing are from here.

A response is expected of a candidate for each repeat of an item that it was asked for. It was never asked,
was lost (asked, and no response came), or is there; and by a measure it is not scored yet, or in one state.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import polars as pl

from vivavoce.core.records import ItemKey
from vivavoce.core.tables import restrict_to_items
from vivavoce.studies.row_parts import are_few, parts_by

_ITEM = ("benchmark", "item", "variant")
_WORST_FIRST = ("failed", "unreadable", "unanswered", "set_aside", "ok")
COUNTS = ("n_requested", "n_responses", "n_lost")
KEY = [*_ITEM, "format", "candidate", "role", "probe"]
"""The columns that name what was requested of whom; those of `COUNTS` say how often."""


class Coverage(NamedTuple):
    """What became of the responses that were expected of one candidate, by one measure.

    `expected` = `never_asked` + `unscored` + `ok` + `unanswered` + `unreadable` + `failed` + `set_aside`. A
    response that was scored several times, in passes, units or on ballots, is what the worst of its scores
    is: failed, unreadable, unanswered, set aside, ok. `lost` counts the expected responses that were asked
    for and failed, whatever a measure made of them. `n_covered` counts a response by the share of its scores
    that are ok, and so is no rows number where one of several passes failed.
    """

    expected: int
    never_asked: int
    lost: int
    unscored: int
    ok: int
    unanswered: int
    unreadable: int
    failed: int
    set_aside: int
    n_covered: float

    @property
    def n_scored(self) -> int:
        """The responses with a score in any state."""
        return self.ok + self.unanswered + self.unreadable + self.failed + self.set_aside

    @property
    def share(self) -> float | None:
        """The share of the expected responses that are scored ok; null where none is expected."""
        return self.n_covered / self.expected if self.expected else None


class Requests(NamedTuple):
    """What was expected of each candidate: by benchmark, probe and candidate a row per item, with `expected`.

    `of_counts` and its sisters make it.
    """

    by_candidate: Mapping[tuple[str, str, str], pl.DataFrame]
    items: pl.DataFrame

    @classmethod
    def of_counts(cls, counts: pl.DataFrame, items: pl.DataFrame) -> "Requests":
        """The requests that a run knows, or that follow from its responses, on these items.

        `counts` has the columns `KEY` and `COUNTS`. Where the run does not know what was asked for (imported
        answers, older runs), as many repeats are expected of a candidate as it has of any item of the format,
        but of no item more than any candidate in its role has: where several were all asked an item less
        often, that is the design. A single candidate is expected to answer every item. What some candidate
        was asked is expected of all.
        """
        rows = _with_all_items(counts, items)
        return cls(_by_candidate(_expected(rows)), items.select(_ITEM))

    @classmethod
    def of_rows(cls, rows: pl.DataFrame, items: pl.DataFrame) -> "Requests":
        """What follows from rows of responses or scores alone: what has a row was asked for."""
        unedited = rows.filter(pl.col("edit") == "")
        counts = (
            unedited.group_by(*_ITEM, "format", "candidate", "role", maintain_order=True)
            .agg(n_responses=pl.col("repeat").n_unique().cast(pl.Int64))
            .with_columns(probe=pl.lit(""), n_requested=pl.lit(0, pl.Int64), n_lost=pl.lit(0, pl.Int64))
        )
        return cls.of_counts(counts.select(*KEY, *COUNTS), items)

    @classmethod
    def of_responses(cls, responses: pl.DataFrame) -> "Requests":
        """Responses of which all that are there are expected, such as those to items made in the run."""
        counts = responses.group_by(KEY, maintain_order=True).agg(
            n_responses=pl.len().cast(pl.Int64),
            n_lost=(pl.col("status") == "failed").sum().cast(pl.Int64),
            n_unedited=(pl.col("edit") == "").sum().cast(pl.Int64),
        )
        expected = counts.with_columns(n_requested=pl.lit(0, pl.Int64), expected=pl.col("n_responses"))
        return cls(_by_candidate(expected), responses.select(_ITEM).unique())

    @property
    def never_asked(self) -> int:
        """How many expected responses were never asked for, of all candidates."""
        return self._gap("expected")

    @property
    def unfinished(self) -> int:
        """How many of them a collect was to ask for: whoever repeats it gets them."""
        return self._gap("n_requested")

    def _gap(self, column: str) -> int:
        gaps = (part[column] - part["n_responses"] for part in self.by_candidate.values())
        return sum(int(gap.clip(lower_bound=0).sum()) for gap in gaps)

    def without_gaps(self, items: Collection[ItemKey]) -> "Requests":
        """The same, with no more expected on these items than is there."""
        if not items:
            return self
        keys = pl.DataFrame(sorted(items), dict.fromkeys(_ITEM, pl.String), orient="row")
        keys = keys.with_columns(is_closed=True)
        present = pl.when("is_closed").then("n_responses")
        closed = [
            pl.min_horizontal(name, present.otherwise(name)).alias(name)
            for name in ("expected", "n_requested")
        ]
        parts = {
            place: part.join(keys, on=_ITEM, how="left", maintain_order="left")
            .with_columns(closed)
            .drop("is_closed")
            for place, part in self.by_candidate.items()
        }
        return self._replace(by_candidate=parts)

    def expected(
        self,
        benchmark: str,
        candidate: str,
        probe: str = "",
        *,
        formats: Collection[str] | None = None,
        chosen: Collection[ItemKey] | None = None,
        compared: bool = False,
    ) -> pl.DataFrame:
        """What was expected of a candidate on items of these formats, `chosen` some of them; null for all.

        With `compared` only responses that another candidate's can be compared with.
        """
        part = self.by_candidate.get((benchmark, probe, candidate))
        if part is None:
            return _EMPTY
        if formats is not None:
            part = part.filter(pl.col("format").is_in(list(formats)))
        part = restrict_to_items(part, chosen)
        return self._compared(part, benchmark, candidate, probe) if compared else part

    def _compared(self, part: pl.DataFrame, benchmark: str, candidate: str, probe: str) -> pl.DataFrame:
        """Of each item as many responses as it has here and of some other candidate, edited ones left out."""
        parts = [
            part_of_name.filter(pl.col("role") == "candidate").select(*_ITEM, n_comparable="n_unedited")
            for (of_benchmark, of_probe, name), part_of_name in self.by_candidate.items()
            if (of_benchmark, of_probe) == (benchmark, probe) and name != candidate
        ]
        comparable = pl.concat([*parts, _EMPTY.select(*_ITEM, n_comparable="n_unedited")])
        most = comparable.group_by(_ITEM).max()
        n_both = pl.min_horizontal("n_unedited", pl.col("n_comparable").fill_null(0))
        return part.join(most, on=list(_ITEM), how="left", maintain_order="left").with_columns(
            pl.min_horizontal(name, n_both).alias(name) for name in ("expected", "n_responses", "n_lost")
        )


_EMPTY = pl.DataFrame(
    schema={**dict.fromkeys(KEY, pl.String), **dict.fromkeys((*COUNTS, "expected", "n_unedited"), pl.Int64)}
)


def _with_all_items(counts: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """A row for every item of a benchmark and every candidate that was asked something of it."""
    candidates = counts.select("benchmark", "candidate", "role", "probe").unique(maintain_order=True)
    pairs = items.select(*_ITEM, "format").join(
        candidates, on="benchmark", how="inner", maintain_order="left_right"
    )
    rows = pairs.join(
        counts.drop("format"), on=[*_ITEM, "candidate", "role", "probe"], how="left", maintain_order="left"
    )
    return rows.select(*KEY, *(pl.col(name).fill_null(0) for name in COUNTS))


def _expected(rows: pl.DataFrame) -> pl.DataFrame:
    # By role, because a ceiling may have been made in more repeats than any candidate was asked.
    group = ("benchmark", "probe", "format", "role")
    least = pl.max_horizontal("n_requested", "n_responses")
    most = least.max().over(*group, "candidate")
    is_single = pl.col("candidate").n_unique().over("benchmark", "probe", "role") == 1
    has_requests = (pl.col("n_requested") > 0).any().over("benchmark", "probe", "candidate")
    of_any = least.max().over(*group, *_ITEM[1:])
    # Alone without a known request, a candidate owes every item: gaps could not be told from the design.
    reach = pl.when(is_single & ~has_requests).then(most).otherwise(of_any)
    return rows.with_columns(
        expected=pl.max_horizontal(least, pl.min_horizontal(reach, most)), n_unedited=pl.col("n_responses")
    )


def _by_candidate(rows: pl.DataFrame) -> dict[tuple[str, str, str], pl.DataFrame]:
    parts = parts_by(rows, "benchmark", "probe", "candidate")
    return {(str(b), str(p), str(c)): part.select(_EMPTY.columns) for (b, p, c), part in parts}


def coverage(requests: pl.DataFrame, scores: pl.DataFrame) -> Coverage:
    """What became of the expected responses: rows of `Requests.of`, and the score rows of one measure."""
    # An enum's order is that of its physical numbers: the smallest is the worst.
    worst = pl.col("status").cast(pl.Enum(_WORST_FIRST)).to_physical().min()
    ok = (pl.col("status") == "ok").mean()
    states = scores.lazy().group_by(*_ITEM, "repeat", "edit").agg(state=worst, ok=ok)
    by_response = states.collect(engine="in-memory" if are_few(scores) else "auto")
    n_of = dict(by_response["state"].value_counts().iter_rows())
    by_state = {state: int(n_of.get(place, 0)) for place, state in enumerate(_WORST_FIRST)}
    return _coverage(requests, by_state, float(by_response["ok"].sum()))


def coverage_of_responses(requests: pl.DataFrame, responses: pl.DataFrame) -> Coverage:
    """What became of the expected responses before anything was scored: `ok` ones have arrived.

    The `status` of a response is ok, unanswered (a blank text), failed, or filtered: one that the provider
    withheld is unanswered.
    """
    n_of = dict(responses.get_column("status").replace("filtered", "unanswered").value_counts().iter_rows())
    by_state = {state: int(n_of.get(state, 0)) for state in _WORST_FIRST}
    return _coverage(requests, by_state, float(by_state["ok"]))


def _coverage(requests: pl.DataFrame, by_state: Mapping[str, int], n_covered: float) -> Coverage:
    expected, n_responses, lost = (
        int(requests[name].sum()) for name in ("expected", "n_responses", "n_lost")
    )
    n_scored = sum(by_state.values())
    # Each count is at least the next: what was scored is there, and what is there was expected.
    n_there = max(n_responses, n_scored)
    return Coverage(
        expected=max(expected, n_there),
        never_asked=max(0, expected - n_there),
        lost=lost,
        unscored=n_there - n_scored,
        n_covered=n_covered,
        **by_state,
    )
