"""bench/rivals.py: its table, who is better, what counts as a refusal, and the text beside the stored rows.

No package need be installed: rows are made by hand, and ours is measured on a few draws.
"""

import pytest
from tests.tools.loading import bench_module


@pytest.fixture(scope="module")
def bench():
    """`bench/rivals.py`."""
    with bench_module("rivals") as module:
        yield module


def row_of(bench, package, *, hits=4, power=70, refused=0, cell="grades, 50", block="scores"):
    """A row of 100 draws."""
    return bench.Row(block, cell, package, 100, hits, power, refused)


def line_of(table, cell):
    """The entries of one data set, by package."""
    head, _, *rows = ([part.strip() for part in line.strip("|").split("|")] for line in table.split("\n"))
    (row,) = (row for row in rows if row[1] == cell)
    return {name.partition(" ")[0]: entry for name, entry in zip(head[2:], row[2:], strict=True)}


def test_the_table_has_a_row_per_measured_data_set_and_says_why_an_entry_is_absent(bench):
    rows = [
        row_of(bench, "vivavoce"),
        row_of(bench, "evalsig", hits=12, power=71),
        row_of(bench, "evalci", refused=30),
    ]
    table = bench.table(rows)
    assert 2 + 1 == len(table.split("\n"))
    assert {
        "draws": "100",
        "vivavoce": "4, 70",
        "evalstats": "not installed",
        "CJE": "no function",
        "truescore": "not installed",
        "evalsig": "**12**, 71",
        "evalci": "4, 70, refuses 15",
        "judgekeeper": "no function",
    } == line_of(table, "grades, 50")


def test_better_is_who_finds_over_ten_points_more_and_holds_its_level(bench):
    rows = [
        row_of(bench, "vivavoce"),
        row_of(bench, "evalstats", power=81),
        row_of(bench, "evalci", power=80),
        row_of(bench, "evalsig", power=99, hits=12),
    ]
    assert ["evalstats"] == [row.package for row in bench.ahead(rows)]


def test_a_refusal_is_no_claim_and_any_other_error_is_one_of_the_bench(bench):
    def way(data):
        if data < 0:
            raise ValueError("too few")
        return data

    assert [1, None, 0] == bench.claims(way, [1, -1, 0])
    with pytest.raises(TypeError):
        bench.claims(len, [1])


@pytest.mark.parametrize("block", ["scores", "labels", "stamp"])
def test_both_kinds_of_data_sets_can_be_made_and_ours_answers(bench, block):
    """An effect is planted in the direction that counts as right: the reverse is not claimed."""
    question = bench.BLOCKS[block]
    for make in question.data.values():
        (empty,), (effect,) = make(False, 1), make(True, 1)
        assert {-1, 0, 1} >= set(bench.claims(question.ways[bench.OURS], [empty, effect]))
        assert -question.right != bench.claims(question.ways[bench.OURS], [effect])[0]


def test_the_stored_rows_stand_in_the_docs_and_each_package_that_is_better_is_named_there(bench, root):
    rows = bench.stored()
    places = {(name, cell) for name, block in bench.BLOCKS.items() for cell in block.data}
    assert places == {(row.block, row.cell) for row in rows if row.package == bench.OURS}
    assert {row.package for row in rows} <= {bench.OURS, *bench.PACKAGES}
    docs = (root / "docs" / "statistics.md").read_text(encoding="utf-8")
    table, _, text = docs.partition("<!-- rivals -->\n")[2].partition("\n<!-- end of rivals -->")
    assert bench.table(rows) == table.strip()
    section = text.partition("\n## ")[0]
    assert [] == [(r.package, r.cell) for r in bench.ahead(rows) if f"{r.package}: {r.cell}" not in section]
