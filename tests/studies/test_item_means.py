"""Item means of rows that stand in order: the same to the last bit as by grouping and sorting all of them."""

import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lengths import length

from vivavoce.core.records import Criterion
from vivavoce.studies import row_parts, score_table
from vivavoce.studies.row_parts import by_benchmark, by_candidate, distinct, parts_by_item, select_rows
from vivavoce.studies.score_table import (
    FILLED,
    ITEM,
    by_repeat,
    counted_value,
    over_repeats,
    resolve,
    with_results,
)

NAMES = ("a", "A", "ä", "b\tc", "", "x\0y", "Ω" * 20, "'; DROP TABLE scores; --", "long name " * 5)
STATUSES = ("ok", "ok", "ok", "unanswered", "unreadable", "failed", "set_aside")


def by_fsum(columns: Sequence[pl.Series]) -> float | None:
    values = columns[0].drop_nulls()
    return math.fsum(values) / len(values) if len(values) else None


MEANS = [
    pl.map_groups([pl.col(name)], by_fsum, return_dtype=pl.Float64, returns_scalar=True).alias(name)
    for name in FILLED
]
KEYS = (*ITEM, "candidate", "role", "repeat")
SCHEMA = {
    **dict.fromkeys(("benchmark", "item", "variant", "group", "candidate", "role"), pl.String),
    "repeat": pl.Int64, "edit": pl.String, "pass_no": pl.Int64, "value": pl.Float64, "status": pl.String,
}  # fmt: skip


def grouped(rows: pl.DataFrame, criterion: Criterion) -> pl.DataFrame:
    """The means by repeat, every row hashed and every mean sorted; sums by `math.fsum`."""
    failed, observed = pl.col("status") == "failed", counted_value(criterion)

    def filling(limit: float | None) -> pl.Expr:
        return pl.when(failed).then(pl.lit(float("nan") if limit is None else limit)).otherwise(observed)

    values = rows.filter(pl.col("edit") == "").select(
        *KEYS, observed=observed, low=filling(criterion.low), high=filling(criterion.high)
    )
    return values.group_by(*KEYS, maintain_order=True).agg(MEANS).sort(*ITEM, "candidate", "repeat")


def regrouped(answers: pl.DataFrame) -> pl.DataFrame:
    keys = (*ITEM, "candidate", "role")
    return answers.group_by(*keys, maintain_order=True).agg(MEANS).sort(*ITEM, "candidate")


def score_rows(rng: random.Random, n_items: int, most_passes: int) -> pl.DataFrame:
    """Rows in the order in which a run is read: uneven repeats and passes, every status, some edited."""
    rows: list[tuple[Any, ...]] = []
    for benchmark in ("one", "two")[: rng.randint(1, 2)]:
        for item in rng.sample(NAMES, min(n_items, len(NAMES))):
            for candidate in rng.sample(NAMES, rng.randint(1, 4)):
                for repeat in range(1, rng.randint(1, 4) + 1):
                    for pass_no in range(1, rng.randint(1, most_passes) + 1):
                        status = rng.choice(STATUSES)
                        value = rng.choice([rng.random(), 0.1, 0.0]) if status == "ok" else None
                        edit = rng.choice(["", "", "", "edited"])
                        rows.append((benchmark, item, "", f"case {item[:1]}", candidate, "candidate", repeat,
                                     edit, pass_no, value, status))  # fmt: skip
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return frame.sort("benchmark", "item", "variant", "candidate", "repeat", "edit", "pass_no")


@pytest.fixture(autouse=True, scope="module")
def _as_if_many() -> Iterator[None]:
    """No rows are few here: small tables go the way of large ones."""
    with pytest.MonkeyPatch.context() as patch:
        let_rows_be_few(patch, False)
        yield


def let_rows_be_few(patch: pytest.MonkeyPatch, answer: bool) -> None:
    for module in (row_parts, score_table):
        patch.setattr(module, "are_few", lambda rows: answer)


CRITERIA = [
    Criterion(criterion="share"),
    Criterion(criterion="endless", low=None, high=None),
    Criterion(criterion="aside", if_unanswered="set_aside"),
]


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda criterion: criterion.criterion)
@given(seed=st.integers(0, 10**6), n_items=st.integers(1, 9), most=st.sampled_from([1, 3]))
def test_means_of_ordered_rows_are_those_of_grouped_rows(
    criterion: Criterion, seed: int, n_items: int, most: int
) -> None:
    rows = score_rows(random.Random(seed), n_items, most)
    answers = by_repeat(rows, criterion)
    assert grouped(rows, criterion).equals(answers)
    assert regrouped(answers).equals(over_repeats(answers))


def test_a_mean_over_hundreds_of_passes_keeps_its_last_digit() -> None:
    rows = score_rows(random.Random(5), 3, 700)
    answers = by_repeat(rows, CRITERIA[0])
    assert rows.height > 5_000
    assert grouped(rows, CRITERIA[0]).equals(answers)
    assert regrouped(answers).equals(over_repeats(answers))
    assert all(answers.equals(by_repeat(rows, CRITERIA[0])) for _ in range(length(20, 100)))


@given(seed=st.integers(0, 10**6))
def test_rows_in_any_order_have_the_means_of_their_groups(seed: int) -> None:
    rows = score_rows(random.Random(seed), 5, 2)
    shuffled = rows.sample(fraction=1.0, shuffle=True, seed=seed)
    assert grouped(shuffled, CRITERIA[0]).equals(by_repeat(shuffled, CRITERIA[0]))


def test_a_group_that_comes_again_is_one_group() -> None:
    # The role is no part of the order: three rows of one answer, of which the second has another role.
    place = ("exam", "q1", "", "case", "A")
    rows = pl.DataFrame(
        [(*place, role, 1, "", n, value, "ok") for n, (role, value) in
         enumerate([("candidate", 0.0), ("floor", 0.5), ("candidate", 1.0)], 1)],
        schema=SCHEMA, orient="row",
    )  # fmt: skip
    means = by_repeat(rows, CRITERIA[0])
    assert {("candidate", 0.5), ("floor", 0.5)} == set(means.select("role", "observed").iter_rows())


def test_no_rows_have_no_means() -> None:
    empty = pl.DataFrame(schema=SCHEMA)
    answers = by_repeat(empty, CRITERIA[0])
    assert (0, grouped(empty, CRITERIA[0]).schema) == (answers.height, answers.schema)
    assert 0 == over_repeats(answers).height


def test_rows_of_which_all_are_chosen_are_not_copied() -> None:
    rows = score_rows(random.Random(1), 3, 1).with_columns(edit=pl.lit(""), status=pl.lit("ok"))
    assert select_rows(rows, pl.col("edit") == "") is rows
    assert with_results(rows) is rows
    of_one = rows.filter(benchmark="one")
    assert [part is of_one for _, part in by_benchmark(of_one)] == [True]


def test_a_condition_that_is_null_chooses_no_row() -> None:
    rows = pl.DataFrame({"value": [1.0, None, 3.0]})
    condition = pl.col("value") > 0
    assert rows.filter(condition).equals(select_rows(rows, condition))


def test_few_rows_have_the_means_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = score_rows(random.Random(3), 9, 3)
    of_many = by_repeat(rows, CRITERIA[0])
    let_rows_be_few(monkeypatch, True)
    assert of_many.equals(by_repeat(rows, CRITERIA[0]))
    assert regrouped(of_many).equals(over_repeats(of_many))
    assert select_rows(rows, pl.col("edit") == "").equals(rows.filter(edit=""))


def test_a_candidate_of_whom_no_score_is_ok_has_no_rows() -> None:
    place = ("exam", "q1", "", "case")
    rows = pl.DataFrame(
        [
            (*place, "A", "candidate", 1, "", 1, 1.0, "ok"),
            (*place, "A", "candidate", 2, "", 1, None, "failed"),
            (*place, "B", "candidate", 1, "", 1, None, "failed"),
            (*place, "B", "candidate", 1, "x", 1, 1.0, "ok"),
        ],
        schema=SCHEMA, orient="row",
    )  # fmt: skip
    assert ["A", "A"] == with_results(rows)["candidate"].to_list()


def uneven_rows(seed: int) -> pl.DataFrame:
    """Score rows in order: repeats are missing, answers have one to three passes, some names have one row."""
    rng = random.Random(seed)
    rows = [
        ("b", item, variant, f"case {len(item)}", candidate, "candidate", repeat, "", n, rng.random(), "ok")
        for item in sorted(NAMES)
        for variant in ("", "twin")[: rng.randint(1, 2)]
        for candidate in sorted(rng.sample(NAMES, rng.randint(1, len(NAMES))))
        for repeat in sorted(rng.sample(range(1, 6), rng.randint(1, 5)))
        for n in range(1, rng.randint(1, 3) + 1)
    ]
    scored = [row if rng.random() < 0.9 else (*row[:9], None, rng.choice(STATUSES[3:])) for row in rows]
    return pl.DataFrame(scored, SCHEMA, orient="row")


@pytest.mark.parametrize("seed", range(length(4, 12)))
@pytest.mark.parametrize("shuffled", [False, True])
def test_means_of_parts_are_those_of_the_whole(
    seed: int, shuffled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts of a few rows give every mean to the last bit, whether or not the rows stand in order."""
    rows, criterion = uneven_rows(seed), Criterion(criterion="c", low=0, high=1)
    rows = rows.sample(fraction=1, shuffle=True, seed=seed) if shuffled else rows
    with monkeypatch.context() as few:
        let_rows_be_few(few, True)
        whole = resolve(rows, criterion), by_repeat(rows, criterion), distinct(rows, "item", "candidate")
    monkeypatch.setattr(row_parts, "PART", 1 + seed)
    in_parts = resolve(rows, criterion), by_repeat(rows, criterion), distinct(rows, "item", "candidate")
    for one, other in zip(whole, in_parts, strict=True):
        assert one.equals(other)
    assert whole[2].equals(rows.select("item", "candidate").unique(maintain_order=True))


def test_no_item_is_split_over_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in order are worked on in several parts; rows that are not stay one."""
    monkeypatch.setattr(row_parts, "PART", 20)
    rows = uneven_rows(1)
    parts = parts_by_item(rows)
    assert len(parts) > 3
    assert pl.concat(parts).equals(rows)
    items = [set(part.select("item", "variant").iter_rows()) for part in parts]
    assert sum(map(len, items)) == len(set.union(*items))
    assert len(parts_by_item(rows.reverse())) == 1


def test_rows_of_one_candidate_stand_in_memory_at_a_time() -> None:
    """Every row comes once, under its candidate, in the order of names."""
    rows = uneven_rows(2)
    names, parts = zip(*by_candidate(rows), strict=True)
    assert list(names) == sorted(names)
    assert sum(part.height for part in parts) == rows.height
    assert all(set(part["candidate"]) == {name} for name, part in zip(names, parts, strict=True))


def test_a_part_whose_rows_were_all_left_out_adds_nothing():
    rows = pl.DataFrame({"item": ["a", "b"], "y": [1.0, 2.0]})
    assert rows.equals(row_parts.stacked([rows.clear(), rows[:1], rows.clear(), rows[1:]]))
    assert rows.clear().equals(row_parts.stacked([rows.clear(), rows.clear()]))
