"""Items with the same content are one case, and near misses are not."""

import random
import time
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest
from tests.cases import each_case

from vivavoce.core.cases import cases_of, count_cases, count_items, join_cases, place_of
from vivavoce.core.item_content import content_text
from vivavoce.core.records import Item


def item(name: str, question: str | None = None, **fields: Any) -> Item:
    asked = f"What of {name}?" if question is None else question
    defaults = {"benchmark": "exam", "format": "short", "question": asked}
    return Item(item=name, **(defaults | fields))


def cases(*items: Item) -> list[list[str]]:
    """The items' names by case, in their order."""
    joined = cases_of(items)
    members: dict[str, list[str]] = {}
    for one, label in zip(items, joined.labels, strict=True):
        members.setdefault(label, []).append(one.item)
    return list(members.values())


def test_items_have_a_case_each_where_their_questions_differ():
    assert [["a"], ["b"], ["c"]] == cases(item("a"), item("b"), item("c"))


@each_case(
    ("first", "second"),
    [
        ("Which dose of X is safe?", "which   DOSE of x is safe"),
        ("Which dose, if any, is safe?", "Which dose (if any) is safe?!\n"),
        ("“What’s next?”", "What's next?"),
        ("Is 5 mg safe?", "Is 5mg safe?"),
        ("Is T > 38 °C a fever?", "Is T>38°C a fever?"),
        ("Is ≤ 5 normal?", "Is <=5 normal?"),
        ("A score of −2?", "A score of -2?"),
        ("From 5–10 mg?", "From 5 - 10 mg?"),
        ("10³ cells?", "10^3 cells?"),
        ("2½ tablets?", "2 1/2 tablets?"),
        ("HIV-1 or not?", "HIV 1 or not?"),
        ("A beta-blocker?", "A Beta blocker?"),
        ("Straße", "STRASSE"),
        ("caf\u00e9", "cafe\u0301"),
        ("a\u00a0soft\u00adened **word**\u200b", "a softened word"),
        ("糖尿病？", "糖尿病"),
    ],
)
def test_case_spaces_and_punctuation_make_no_other_question(first: str, second: str):
    assert [["a", "b"]] == cases(item("a", first), item("b", second))


@each_case(
    ("first", "second"),
    [
        ("Give 5 mg?", "Give 10 mg?"),
        ("Give 0.5 mg?", "Give 05 mg?"),
        ("Give 0.5 mg?", "Give 5 mg?"),
        ("Give .5 mg?", "Give 5 mg?"),
        ("Give 2.5 mg?", "Give 25 mg?"),
        ("Give 2.5 mg?", "Give 2 5 mg?"),
        ("Give 1,5 mg?", "Give 15 mg?"),
        ("Give 5 10 mg tablets?", "Give 510 mg tablets?"),
        ("Give 5-10 mg?", "Give 510 mg?"),
        ("Adrenaline 1:1000?", "Adrenaline 1:10,000?"),
        ("Adrenaline 1:1000?", "Adrenaline 11000?"),
        ("A pressure of 120/80?", "A pressure of 12080?"),
        ("A base excess of -2?", "A base excess of 2?"),
        ("A base excess of −2?", "A base excess of 2?"),
        ("A base excess of (-2)?", "A base excess of (2)?"),
        ("A change of +2?", "A change of 2?"),
        ("Is T>38?", "Is T<38?"),
        ("Is x ≤ 5?", "Is x ≥ 5?"),
        ("Is x != 5?", "Is x = 5?"),
        ("5% glucose?", "5 glucose?"),
        ("10³ cells?", "103 cells?"),
        ("½ a tablet?", "12 a tablet?"),
        ("CD4+ cells?", "CD4- cells?"),
        ("CD4- cells?", "CD4 cells?"),
        ("K ↑?", "K ↓?"),
        ("HLA-B*57?", "HLA-B57?"),
        ("A symptomatic patient?", "Asymptomatic patient?"),
        ("A typical course?", "Atypical course?"),
    ],
)
def test_signs_that_say_something_make_another_question(first: str, second: str):
    assert [["a"], ["b"]] == cases(item("a", first), item("b", second))


def test_options_are_a_set():
    """In another order, or under other letters, they are the same question; another option makes another."""
    asked = "Which one?"
    rows = [
        item("a", asked, format="mcq", options=("Yes", "No", "0.5 mg")),
        item("b", asked, format="mcq", options=("no.", "0.5 mg", "YES")),
        item("c", asked, format="mcq", options=("Yes", "No", "5 mg")),
        item("d", asked, format="mcq", options=("Yes", "No")),
        item("e", asked),
    ]
    assert [["a", "b"], ["c"], ["d"], ["e"]] == cases(*rows)


def test_the_context_is_content_and_the_key_the_category_and_the_format_are_not():
    rows = [
        item("a", "What now?", context="A man of 40.", references=("rest",), category="x"),
        item("b", "What now?", context="a man of 40", references=("surgery",), format="longform"),
        item("c", "What now?", context="A man of 41."),
        item("d", "What now?"),
    ]
    assert [["a", "b"], ["c"], ["d"]] == cases(*rows)


@pytest.mark.parametrize("field", ["image", "images", "image_url", "imageUrl", "attachment", "Figure 1"])
def test_images_and_attachments_are_content(field: str):
    rows = [item(n, "What is shown?", meta={field: file}) for n, file in (("a", "1"), ("b", "2"), ("c", "1"))]
    assert [["a", "c"], ["b"]] == cases(*rows)
    assert [["a", "b"]] == cases(*(item(n, "What?", meta={"page": n, "imagery": n}) for n in "ab"))


@pytest.mark.parametrize("blank", ["", "  ", "…", "____?"])
def test_items_without_text_are_not_joined_by_it(blank: str):
    rows = [
        *(item(n, blank) for n in "ab"),
        item("c", blank, format="mcq", options=("x", "y")),
        item("d", blank, format="mcq", options=("x", "y")),
        item("e", blank, context="A man of 40 coughs."),
        item("f", blank, context="A man of 40 coughs!"),
        item("g", blank, context="A man of 41 coughs."),
    ]
    assert [["a"], ["b"], ["c"], ["d"], ["e", "f"], ["g"]] == cases(*rows)


def test_a_template_joins_nothing_and_the_same_question_in_two_formats_is_one():
    """What is shown after the question tells items apart, unless the question is also asked alone."""
    wrong = {"format": "multi_hop_inverse", "question": "Which step is wrong?", "step": 1}
    templates = [item(n, **wrong, steps=(f"{n} is high.", "So stop.")) for n in "abc"]
    repeat = item("d", **wrong, steps=("A is high", "so stop"))
    assert [["a", "d"], ["b"], ["c"]] == cases(*templates, repeat)
    inverse = [item(n, "Why?", format="short_inverse", false_answer=f"It is {n}.") for n in "ab"]
    assert [["a"], ["b"]] == cases(*inverse)
    assert [["a", "b", "c"]] == cases(*inverse, item("c", "Why?"))
    # a chain without a wrong step is the key
    chains = [item(n, "Why?", format="multi_hop", steps=(f"Because of {n}.",)) for n in "ab"]
    assert [["a", "b"]] == cases(*chains)


def test_a_declared_group_joins_further_and_never_splits():
    rows = [
        item("a", "One?", group="first"),
        item("b", "One?", group="second"),
        item("c", "Two?", group="second"),
        item("d", "Two?", group="third"),
        item("e", "Three?", group="third"),
        item("f", "Four?"),
    ]
    assert [["a", "b", "c", "d", "e"], ["f"]] == cases(*rows)
    assert "first" == cases_of(rows).labels[4]


def test_the_label_and_the_cases_do_not_depend_on_the_order():
    rows = [item(f"q{n}", f"Number {n // 3}?", group=f"g{n % 7 if n < 21 else n}") for n in range(40)]
    expected = dict(zip((r.item for r in rows), cases_of(rows).labels, strict=True))
    for seed in range(5):
        shuffled = random.Random(seed).sample(rows, len(rows))
        labels = cases_of(shuffled).labels
        assert expected == dict(zip((r.item for r in shuffled), labels, strict=True))


def test_variants_stay_with_their_item_and_made_ones_say_nothing_of_their_own():
    halves = {"variant": "half", "origin": "half()"}
    rows = [
        item("a", "A man coughs. What now?"),
        item("a", "A man coughs.", **halves),
        item("b", "A man coughs. Which drug?"),
        item("b", "A man coughs.", **halves),
        item("c", "Other?", variant="neutral"),
        item("c", "Other?"),
    ]
    assert [["a", "a"], ["b", "b"], ["c", "c"]] == cases(*rows)
    assert () == cases_of(rows).repeated


def test_one_question_in_two_benchmarks_is_one_case_and_equal_ids_are_not():
    rows = [
        item("q1", "One?", benchmark="A"),
        item("q2", "Two?", benchmark="A"),
        item("q1", "Three?", benchmark="B"),
        item("q7", "two", benchmark="B"),
    ]
    joined = cases_of(rows)
    assert ("A: q1", "A: q2", "B: q1", "A: q2") == joined.labels
    assert ((1, 3),) == joined.repeated
    assert ("q1", "q2", "q2") == cases_of([rows[0], rows[1], rows[3]]).labels


def test_groups_that_a_benchmark_shares_by_declaration_are_one_case_and_no_others():
    """As CareQA and its open form: their questions are worded otherwise, and bear one id."""
    closed, opened, other = (place_of(item("u1", f"Of {b}?", benchmark=b)) for b in ("closed", "open", "x"))
    joined = join_cases([closed, opened._replace(groups_of="closed"), other])
    assert ("closed: u1", "closed: u1", "x: u1") == joined.labels
    assert 3 == len({*join_cases([closed, opened, other]).labels})
    alone = join_cases([opened._replace(groups_of="closed"), other._replace(groups_of="closed")])
    assert ("u1", "u1") == alone.labels, "the benchmark whose groups they are need not be there"


def test_equal_groups_of_two_own_tables_are_one_case_and_equal_ids_and_published_exams_are_not():
    """The patient P1 of two tables is one; question 1 of two tables is two, as is paper 1 of two exams."""
    rows = [
        item("q1", "One?", benchmark="A", group="P1"),
        item("q2", "Two?", benchmark="A"),
        item("z1", "Three?", benchmark="B", group="P1"),
        item("q2", "Four?", benchmark="B"),
        item("P1", "Five?", benchmark="C"),
    ]
    places = [place_of(row) for row in rows]
    tables = [place._replace(user_table=True) for place in places]
    assert [0, 1, 0, 2, 3] == numbered(join_cases(tables).labels)
    assert [0, 1, 2, 3, 4] == numbered(join_cases(places).labels)
    assert [0, 1, 2, 3, 4] == numbered(join_cases([tables[0], *places[1:]]).labels), "one table is no two"
    assert [("A", 2, 1), ("B", 2, 1), ("C", 1, 0)] == [
        (counted.benchmark, counted.cases, counted.shared) for counted in count_cases(join_cases(tables))
    ]


def numbered(labels: Sequence[str]) -> list[int]:
    """Each label as the number of labels that came first before it."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def test_a_group_that_bears_an_items_id_is_declared_where_a_second_item_has_it():
    """A question and its translation, in one table, and a question on it in another."""
    of_a = [item("q1", "One?", benchmark="A"), item("q1-es", "¿Uno?", benchmark="A", group="q1")]
    of_b = item("z", "And why?", benchmark="B", group="q1")
    joined = join_cases(place_of(row)._replace(user_table=True) for row in (*of_a, of_b))
    assert [0, 0, 0] == numbered(joined.labels)


def test_a_case_of_three_benchmarks_counts_once_in_their_sum():
    """As CareQA in English, in Spanish and open: three questions, one case."""
    names = ("open", "closed", "es")
    places = [place_of(item("u1", f"Of {name}?", benchmark=name)) for name in names]
    joined = [place._replace(groups_of="closed") for place in places]
    counted = count_cases(join_cases([*joined, place_of(item("u2", "Else?", benchmark="es"))]))
    assert [("open", 1, 1, 1), ("closed", 1, 1, 0), ("es", 2, 1, 1)] == [
        (count.benchmark, count.cases, count.shared, count.further) for count in counted
    ]


def test_repeats_are_counted_and_said():
    rows = [item(f"q{n}", f"Question {n % 12}?") for n in range(60)]
    counted = count_items(rows)
    levels = dict.fromkeys(("group_level", "outer_level", "n_outer"))
    expected = {"questions": 60, "repeated": 48, "cases": 12, "near_repeated": None, "near_joined": False}
    assert expected | levels == counted.facts
    said = "48 of 60 questions repeat another one; the same question is one case, which leaves 12 cases."
    assert said == counted.text
    twins = count_items([*rows[:2], item("x", "Question 1!")])
    assert "1 of 3 questions repeats another one; the same question is one case, which leaves 2 cases." == (
        twins.text
    )
    assert "" == count_items(rows[:12]).text


def test_no_items_have_no_cases():
    assert ((), ()) == (cases_of([]).labels, cases_of([]).repeated)


def test_hostile_text_is_read_in_linear_time():
    for hostile in ("-" * 50_000, "1-" * 25_000, " - " * 20_000, "½" * 20_000, "\u0301" * 20_000, "\udce9?"):
        begun = time.process_time()
        content_text(hostile)
        assert time.process_time() - begun < 1


def test_counting_items_gives_what_joining_all_of_them_gives():
    chance = random.Random(0)
    for _ in range(300):
        rows = [
            item(
                f"q{k // 2}", chance.choice(("", "Same?", "Same!", f"What {k}?")), variant=str(k % 2),
                group=chance.choice(("", "a", "b", f"g{k}")), format="multi_hop",
                false_answer=chance.choice((None, None, "x")), origin=chance.choice((None, "m()")),
            )
            for k in range(chance.randrange(1, 12))
        ]  # fmt: skip
        assert count_cases(cases_of(rows)) == [count_items(rows)]


def test_counting_items_holds_two_hashes_of_each():
    """Hashes of group and text, sorted; places and contents would take some 600."""
    peaks = []
    for n in (100, 2_000, 10_000):  # the first loads what is loaded at first use
        rows = [item(f"q{k}") for k in range(n)]
        tracemalloc.start()
        assert n == count_items(rows).cases
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (peaks[2] - peaks[1]) / 8_000 < 100
