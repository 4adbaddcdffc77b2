"""Tables for a paper: what stands in them, and that no name in them is run."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case
from typer.testing import CliRunner

import vivavoce as viva
from vivavoce import cli
from vivavoce.core.errors import InputError
from vivavoce.report.paper.tables import FLOW, NOT_KNOWN, Column, PaperTable, estimates_table, flow_table
from vivavoce.report.paper.writers import WRITERS, as_csv, as_latex, as_markdown
from vivavoce.run.paper_table import paper_table

HOSTILE = (
    r"\input{/etc/passwd}", "$x^2$ & 50% #1_a ~", "a|b\n\\end{tabular}", "=cmd|' /C calc'!A0", "\x1b[2Jred",
    "<script>alert(1)</script>", "[1cm] b", "*star", "模型", "&lt;b&gt;",
)  # fmt: skip


def scored(folder: Path, *candidates: str) -> viva.Run:
    """Twelve questions; the first candidate is right in ten, the others in two less; one is blank."""
    run = viva.open(folder / "run.viva")
    run.import_answers(
        [
            {"item": f"q{k}", "question": f"What is number {k}?", "references": [f"answer {k}"],
             "format": "short", "candidate": name,
             "text": "" if k == 11 else f"answer {k}" if k < 10 - 2 * place else "another"}
            for k in range(12) for place, name in enumerate(candidates)
        ],
        name="exam",
    )  # fmt: skip
    run.score("exact", "token_f1")
    return run


def cells_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_estimates_hold_each_candidate_once_with_a_column_for_each_measure(tmp_path: Path) -> None:
    run = scored(tmp_path, "A", "B")
    heads, *rows = cells_of(paper_table(run, "estimates", format="csv"))
    assert ["Model", "exact: accuracy (95 % CI)", "token_f1: f1 (95 % CI)"] == heads
    by_name = {row["candidate"]: row for row in run.estimates("exact").rows}
    # B is right in 8 of 12 and blank in one, which counts as wrong.
    assert pytest.approx(8 / 12) == by_name["B"]["estimate"]
    assert [["A", "0.833"], ["B", "0.667"]] == [[name, figure.split()[0]] for name, figure, _ in rows]


def test_many_measures_have_a_row_for_each_candidate() -> None:
    rows = [
        {"benchmark": "exam", "candidate": name, "role": "candidate", "metric": f"m{k}", "criterion": f"m{k}",
         "rater": "", "view": "mean", "estimate": 0.5, "low": 0.4, "high": 0.6, "n_items": 10, "n_groups": 8,
         "coverage": 1.0, "judge_alone": False, "scale": None}
        for k in range(5) for name in ("A", "B")
    ]  # fmt: skip
    table = estimates_table(rows)
    assert ("Measure", "Model", "Questions (cases)", "Coverage", "Mean (95 % CI)") == tuple(
        column.head for column in table.columns
    )
    assert ("m0", "A", "10 (8)", "100.0 %", "0.500 (0.400 to 0.600)") == table.rows[0]


def test_a_figure_that_is_not_known_is_a_dash_and_never_0() -> None:
    row: dict[str, Any] = {
        "benchmark": "exam", "candidate": "A", "role": "floor", "metric": "m", "criterion": "m", "rater": "",
        "view": "mean", "estimate": None, "low": None, "high": None, "n_items": 0, "n_groups": 0,
        "coverage": None, "judge_alone": True, "scale": "judge",
    }  # fmt: skip
    table = estimates_table([row])
    assert (("A (floor)", NOT_KNOWN),) == table.rows
    assert f"m: 0 questions (0 cases), coverage at least {NOT_KNOWN}." in table.notes
    assert "By a judge alone, without people's labels: m." in table.notes
    assert "On the scale of judge: m." in table.notes


def test_comparisons_state_the_family_and_whom_a_verdict_favours(tmp_path: Path) -> None:
    run = scored(tmp_path, "A", "B", "C")
    text = paper_table(run, "comparisons", format="markdown")
    assert "3 comparisons in one family: p by Holm, intervals by Bonferroni." in text
    (row,) = [r for r in run.compare().rows if (r["a"], r["b"]) == ("A", "C")]
    assert f"| A | C | {row['metric']}" in text.replace("\\", "")


def test_the_flow_of_answers_adds_up_to_what_was_expected(tmp_path: Path) -> None:
    heads, *rows = cells_of(paper_table(scored(tmp_path, "A", "B"), "flow", format="csv"))
    start = heads.index("Expected")
    assert ["Expected", *FLOW.values(), "Of these lost"] == heads[start:]
    for row in rows:
        expected, *parts, _ = map(int, row[start:])
        assert sum(parts) == expected == 12
    assert {"1"} == {row[heads.index("Unanswered")] for row in rows}


def test_what_is_not_scored_yet_is_in_the_flow(tmp_path: Path) -> None:
    run = viva.open(tmp_path / "run.viva")
    run.import_answers([{"item": "q", "question": "What?", "references": ["x"], "model": "A", "text": "x"}])
    (row,) = flow_table(run.status().rows).rows
    assert (NOT_KNOWN, "A", "1", "0", "1", "0", "0", "0", "0", "0", "0") == row


@each_case("name", HOSTILE)
def test_a_hostile_name_runs_nothing_and_breaks_no_row(name: str) -> None:
    table = PaperTable(name, (Column(name, "words"), Column("n")), ((name, "-0.5"),), (name,))
    latex = as_latex(table)
    assert not re.search(r"\\(input|write|end\{tabular\} *\n.*\\end\{tabular\})", latex)
    assert 1 == latex.count("\\end{tabular}")
    assert not re.search(r"(?<!\\)[%#](?! \\usepackage)", latex.split("\n", 1)[1])
    assert [2] == list({len(re.findall(r"(?<!\\)\|", line)) - 1 for line in as_markdown(table).splitlines()
                        if line.startswith("|")})  # fmt: skip
    assert "<script" not in as_markdown(table).replace("\\<", "")
    assert not any(cell.startswith(("=", "+", "@")) for row in cells_of(as_csv(table)) for cell in row)
    assert not re.search(r"\\\\\n[\[*]|\\item [\[*]", latex), "no argument of the end of a row"
    assert ("XeLaTeX" in latex) == (name == "模型")
    assert "&lt;" not in as_markdown(table).replace("\\&", "")
    for write in WRITERS.values():
        assert "\x1b" not in write(table)


def test_a_minus_is_a_minus_and_a_hyphen_in_a_name_stays() -> None:
    table = PaperTable(
        "T", (Column("Model", "words"), Column("A − B")), (("gpt-4o", "-0.5 (-0.7 to 0.1)"),), ()
    )
    assert r"gpt-4o & $-$0.5 ($-$0.7 to 0.1) \\" in as_latex(table)


def test_a_run_without_a_second_rater_has_no_table_of_agreement_and_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing for a table of agreement"):
        paper_table(scored(tmp_path, "A"), "agreement")


def test_a_metric_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no metric 'bleu' here: there are exact, token_f1"):
        paper_table(scored(tmp_path, "A"), "estimates", metric=["bleu"])


def test_the_command_writes_a_file_and_says_which(tmp_path: Path) -> None:
    run = scored(tmp_path, "A", "B")
    path = tmp_path / "table.tex"
    done = CliRunner().invoke(cli.app, ["table", str(run.file.path), "estimates", "--to", str(path)])
    assert (0, f"{path}\n") == (done.exit_code, done.output)
    assert r"\toprule" in path.read_text(encoding="utf-8")
