"""The audit on the page: what to keep first, one row for each measure, the rest folded."""

import re
from pathlib import Path

import pytest
from tests.studies.judging import EXPERT
from tests.studies.test_audit import audit, noisy, people, scored

from vivavoce.report.section import section_of


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    truth, folder = people(n=30), tmp_path_factory.mktemp("page")
    columns = {f"rule(n={k})": noisy(truth, k, 0.5 + k) for k in range(3)}
    run = scored(folder, {**columns, EXPERT: truth})
    audit(run, labels="expert")
    run.report(folder / "page.html")
    return Path(folder / "page.html").read_text(encoding="utf-8")


def test_the_page_says_what_to_keep(page: str) -> None:
    said = page[page.index("<h3>Audit</h3>") :]
    assert "keep rule(n=0): worth" in said[: said.index("</li>")]


def test_the_table_has_one_row_for_each_measure_and_is_folded(page: str) -> None:
    table = page[page.index("Table of audit") :]
    assert 3 == table[: table.index("</table>")].count("<tr><td")
    assert re.search(r'<details class="data"><summary>Table: 3 rows', page)


def test_each_measure_names_the_one_most_like_it() -> None:
    place = {"benchmark": "b", "criterion": "f", "rater": "", "part": "redundancy", "value": 0.8}
    rows = [{**place, "metric": "a", "against": "c"}, {**place, "metric": "b", "against": "c", "value": 0.9},
            {**place, "metric": "c", "part": "silence", "against": "", "figure": "share"}]  # fmt: skip
    rows = [{"signature": f"{row['metric']}()@1", **row} for row in rows]
    table = section_of("audit").table(rows)
    assert [("a", "c", 0.8), ("b", "c", 0.9), ("c", "b", 0.9)] == [
        (r["measure"], r["most like"], r["their correlation"]) for r in table
    ]
