"""Groups with levels: errors are by the outermost level with six cases, and what holds for fewer says so."""

import random
from typing import Any

import pytest

from vivavoce import stats
from vivavoce.core.cases import Cases, Place, cases_of, count_cases, count_items, join_cases, place_of
from vivavoce.core.group_levels import LEAST_CASES, level_text, plural, scope_text
from vivavoce.core.records import Item

NAMES = {"exam": ("sitting", "source")}


def items(n_outer: int, n_inner: int = 3, **fields: Any) -> list[Item]:
    """Two questions on each source of each sitting; sources have the same names in all sittings."""
    return [
        item(f"q{a}-{b}-{k}", outer=(f"MIR {a}",), group=f"{b}", **fields)
        for a in range(n_outer)
        for b in range(n_inner)
        for k in range(2)
    ]


def item(name: str, *, outer: tuple[str, ...] = (), group: str = "", **fields: Any) -> Item:
    defaults = {"benchmark": "exam", "format": "short", "question": f"What of {name}?"}
    return Item(item=name, group=group, outer_groups=outer, **(defaults | fields))


def joined(exam: list[Item], names: dict[str, tuple[str, ...]] = NAMES) -> Cases:
    return join_cases(map(place_of, exam), level_names=names)


def test_six_sittings_are_the_cases():
    cases = joined(items(6))
    assert {f"MIR {a}" for a in range(6)} == set(cases.labels)
    level = cases.levels["exam"]
    assert ("sitting", "", "Errors are by sitting, the outermost level of groups.") == (
        level.name, scope_text(**level.facts), level_text(**level.facts)
    )  # fmt: skip


def test_of_five_sittings_the_sources_are_the_cases_and_the_sentence_is_narrow():
    cases = joined(items(5))
    assert {f"MIR {a} / {b}" for a in range(5) for b in range(3)} == set(cases.labels)
    assert "Holds for these 5 sittings, not for other sittings." == scope_text(**cases.levels["exam"].facts)
    (counted,) = count_cases(cases)
    assert (15, "source", "sitting", 5) == (
        counted.cases, counted.group_level, counted.outer_level, counted.n_outer
    )  # fmt: skip
    assert "fewer than 6 sittings cannot show how sittings differ" in counted.text
    assert counted.text in counted.summary


def test_the_least_number_of_cases_is_that_of_the_exact_test():
    few, enough = ([1.0] * n for n in (LEAST_CASES - 1, LEAST_CASES))
    assert stats.paired(few, range(len(few))).p > stats.ALPHA >= stats.paired(enough, range(len(enough))).p


def test_an_inner_name_is_another_group_in_another_outer_one():
    assert len({"MIR 0 / 1", "MIR 1 / 1"} & set(joined(items(2)).labels)) == 2


def test_without_six_anywhere_the_innermost_level_makes_the_cases():
    cases = joined(items(2, 2))
    assert 4 == len(set(cases.labels))
    assert (1, 2) == (cases.levels["exam"].level, cases.levels["exam"].n_outer)


def test_of_three_levels_the_first_with_six_counts_and_the_next_outer_one_is_named():
    exam = [
        item(f"q{a}{b}{c}", outer=(f"land {a}", f"sitting {b}"), group=f"{c}")
        for a in range(2) for b in range(2) for c in range(3)
    ]  # fmt: skip
    cases = joined(exam, {"exam": ("country", "sitting", "source")})
    assert 12 == len(set(cases.labels))
    assert "Holds for these 4 sittings, not for other sittings." == scope_text(**cases.levels["exam"].facts)
    wide = [item(f"{a}{b}", outer=(f"{a}", f"{b}"), group=f"{b}") for a in range(2) for b in range(3)]
    cases = joined(wide, {"exam": ("country", "sitting", "source")})
    assert (1, "sitting") == (cases.levels["exam"].level, cases.levels["exam"].name)
    assert "these 2 countries, not for other countries" in scope_text(**cases.levels["exam"].facts)


def test_sittings_that_share_a_question_are_one_case_and_count_as_one():
    exam = items(6)
    exam[-1] = item("again", outer=("MIR 5",), group="2", question=exam[0].question)
    cases = joined(exam)
    level = cases.levels["exam"]
    assert "source" == level.name  # five are left
    assert 17 == len(set(cases.labels))
    assert level_text(**level.facts) == (
        "Errors are by source: 6 sittings share questions, so that they count as fewer than 6, which cannot "
        "show how sittings differ. Holds for these 6 sittings, not for other sittings."
    )


def test_items_without_a_sitting_do_not_count_as_sittings():
    exam = [*items(4), *(item(f"x{k}", outer=("",)) for k in range(5)), item("flat")]
    level = joined(exam).levels["exam"]
    assert ("source", 4) == (level.name, level.n_outer)


def test_an_item_without_an_outer_group_is_a_case_by_its_inner_one():
    exam = [*items(6), item("a", outer=("",), group="7"), item("b", outer=("",), group="7"), item("c")]
    labels = dict(zip([i.item for i in exam], joined(exam).labels, strict=True))
    assert labels["a"] == labels["b"] != labels["c"]
    assert 8 == len(set(labels.values()))
    assert labels["a"] not in {f"MIR {a}" for a in range(6)}


def test_an_item_without_an_inner_group_is_its_own():
    exam = [item(f"q{k}", outer=("A" if k % 2 else "B",)) for k in range(8)]
    assert 8 == len(set(joined(exam).labels))


def test_equal_sittings_of_two_own_tables_are_one_case_and_of_published_exams_are_not():
    def two(*, user_table: bool) -> Cases:
        return join_cases(
            Place(name, f"{name}{k}", "", "s", None, user_table=user_table, outer_groups=(f"MIR {k % 6}",))
            for name in ("one", "two")
            for k in range(12)
        )

    assert 6 == len(set(two(user_table=True).labels))
    assert 12 == len(set(two(user_table=False).labels))


def test_a_benchmark_that_has_anothers_groups_has_its_level():
    places = [
        Place(name, f"{name}{k}", "", f"{k % 3}", None, groups_of, outer_groups=(f"MIR {k % 4}",))
        for name, groups_of in (("es", None), ("en", "es"))
        for k in range(24)
    ]
    cases = join_cases(places, level_names={"es": ("sitting", "source")})
    assert cases.levels["es"] == cases.levels["en"]
    assert 12 == len(set(cases.labels))


def test_labels_tell_cases_apart_whatever_names_hold():
    exam = [item("a", outer=("x / y",), group="z"), item("b", outer=("x",), group="y / z")]
    assert 2 == len(set(joined(exam).labels))


def test_one_level_is_what_it_was():
    plain = [item("a", group="p"), item("b", group="p"), item("c")]
    cases = cases_of(plain)
    assert (("p", "p", "c"), {}) == (cases.labels, cases.levels)
    assert plain[0].hash == item("a", outer=("x",), group="p").hash


def test_levels_do_not_depend_on_the_order():
    exam = [*items(5), item("alone"), *items(4, 2, benchmark="other")]
    expected = {i.item + i.benchmark: label for i, label in zip(exam, joined(exam).labels, strict=True)}
    random.Random(0).shuffle(exam)
    assert expected == {i.item + i.benchmark: n for i, n in zip(exam, joined(exam).labels, strict=True)}


def test_counting_items_is_joining_them():
    exam = items(7, 1)
    (counted,) = count_cases(joined(exam))
    assert counted == count_items(exam, level_names=NAMES["exam"])
    assert 7 == counted.cases


@pytest.mark.parametrize(
    ("name", "several"),
    [
        ("exam", "exams"),
        ("exam_id", "exams"),
        ("country", "countries"),
        ("day", "days"),
        ("class s", "class s"),
    ],
)
def test_a_level_is_called_in_the_plural(name: str, several: str):
    assert several == plural(name)


def test_levels_without_names_are_numbered():
    level = joined(items(4), {}).levels["exam"]
    assert "level 2 of 2" == level.facts["group_level"]
    assert "Holds for these 4 outer groups, not for other outer groups." == scope_text(**level.facts)
