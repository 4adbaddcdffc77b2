"""The study of arguments on the page of the report."""

from pathlib import Path

from tests.systems.ranking.argument_runs import argued, evaluated

from vivavoce.systems.ranking.section import ArgumentsSection

WORTH = {"gold": 9, "able": 8, "fair": 5, "<script>alert(1)</script>": 3, "noise": 1}


def page_and_rows(folder: Path) -> tuple[str, list[dict[str, object]]]:
    sources = tuple(WORTH)
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


def test_both_spreads_stand_beside_a_mean_and_in_no_chart_of_intervals(tmp_path: Path) -> None:
    page, rows = page_and_rows(tmp_path)
    assert "<h3>Arguments ranked by what they do for the task</h3>" in page
    assert "<script>alert(1)" not in page
    section = ArgumentsSection()
    assert not [figure for figure in section.charts(rows) if "pread" in figure.title]
    table = section.table(rows)
    able = next(row for row in table if row["source"] == "able" and row["among"] == "arguments")
    of_able = [row for row in rows if row["part"] == "spread" and row["candidate"] == "able"]
    spread = {row["figure"]: row["value"] for row in of_able if row["figure"] != "of_all_runs"}
    assert spread == {
        "between_mixtures": able["sd between mixtures"],
        "between_runs": able["sd between runs"],
    }
    assert None not in spread.values()


def test_examples_stand_in_the_table_after_the_sources(tmp_path: Path) -> None:
    _, rows = page_and_rows(tmp_path)
    among = [row["among"] for row in ArgumentsSection().table(rows)]
    assert "example" in among
    assert among.index("example") > max(at for at, of in enumerate(among) if of in ("arguments", "all"))
