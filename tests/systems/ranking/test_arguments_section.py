"""The study of arguments on the page of the report."""

import pytest
from tests.systems.ranking.argument_runs import argued, evaluated

from vivavoce.systems.ranking.section import ArgumentsSection

WORTH = {"gold": 9, "able": 8, "fair": 5, "<script>alert(1)</script>": 3, "noise": 1}


PageAndRows = tuple[str, list[dict[str, object]]]


@pytest.fixture(scope="module")
def page_and_rows(tmp_path_factory: pytest.TempPathFactory) -> PageAndRows:
    folder, sources = tmp_path_factory.mktemp("argued"), tuple(WORTH)
    run = argued(folder, sources=sources, texts=lambda source, k: f"Words of {len(source)} on case {k}.")
    evaluated(
        run,
        folder,
        lambda source, k, mixture, number: float((k * 7 + mixture + number) % 10 < WORTH[source]),
        sources=sources,
    )
    finding = run.study("arguments")["arguments"]
    page = run.report(folder / "report.html").read_text(encoding="utf-8")
    return page, [dict(row) for row in finding.rows]


def test_both_spreads_stand_beside_a_mean_and_in_a_chart_of_their_own(page_and_rows: PageAndRows) -> None:
    page, rows = page_and_rows
    assert "<h3>Arguments ranked by what they do for the task</h3>" in page
    assert "<script>alert(1)" not in page
    section = ArgumentsSection()
    (chart,) = [str(f.svg) for f in section.charts(rows) if f.name.startswith("argument-spreads")]
    table = section.table(rows)
    able = next(row for row in table if row["source"] == "able")
    spread_text = f"± {able['sd between mixtures']:.3f}, {able['sd between runs']:.3f}"
    assert spread_text in chart
    of_able = [row for row in rows if row["part"] == "spread" and row["candidate"] == "able"]
    spread = {row["figure"]: row["value"] for row in of_able if row["figure"] != "of_all_runs"}
    assert spread == {
        "between_mixtures": able["sd between mixtures"],
        "between_runs": able["sd between runs"],
    }
    assert None not in spread.values()


def test_each_source_has_one_row_of_the_table_and_no_example_has(page_and_rows: PageAndRows) -> None:
    _, rows = page_and_rows
    table = ArgumentsSection().table(rows)
    assert sorted(WORTH) == sorted(row["source"] for row in table)


def test_arguments_that_differ_most_stand_side_by_side_with_their_edits(page_and_rows: PageAndRows) -> None:
    page, rows = page_and_rows
    groups = list(ArgumentsSection().side_by_side(rows))
    assert 3 == len(groups)
    assert all(group.edits and len(WORTH) - 1 <= len(group.quotes) for group in groups)
    section = page[page.index("<h3>Arguments ranked") :]
    quoted = section[section.index("Side by side: 3 examples") : section.index("Table:")]
    assert "Words of 4 on case" in quoted
    assert "&lt;script&gt;alert(1)" in quoted
