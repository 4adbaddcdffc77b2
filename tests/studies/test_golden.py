"""The real answers of HIVMedQA, scored with the published judge's marks: figures of docs/statistics.md.

Silence never reaches a metric, so the one blank answer that the published judge scored is unanswered here,
as section 1 there wants it; the goldens of its sections 2 and 3 hold for candidates who were never silent.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import pytest
from scipy.special import stdtrit
from tests.studies.making import borrowed, row

from vivavoce.core.records import Criterion, Finding, Row, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.run.run import Run, open_run

GEMINI, CLAUDE, MED42 = "Gemini 2.5 Pro", "Claude 3.5 Sonnet", "Med42-70B"
MEDGEMMA, GEMMA, LLAMA = "MedGemma 27B", "Gemma 3 27B", "Llama 3.3-70B-Instruct"
SILENT = {MED42, "Llama 3.1-8B-Instruct", "Llama 3.2-1B-Instruct"}
CRITERIA = ("comprehension", "harm", "demographic_bias")


@pytest.fixture(scope="module")
def marks(hivmedqa: Path) -> dict[tuple[str, str, int], Mapping[str, Value]]:
    """The supervised judge's scores by model, published question id and iteration."""
    with (hivmedqa / "judge_scores.csv").open(encoding="utf-8", newline="") as file:
        return {
            (line["model"], line["question_id"], int(line["iteration"])): {
                name: Value(float(line[name]))
                if line["parse_status"] == "ok"
                else Value(None, note=f"the judge's reply: {line['parse_status']}", status="failed")
                for name in CRITERIA
            }
            for line in csv.DictReader(file)
            if line["supervised"] == "True"
        }


@pytest.fixture(scope="module")
def paper(hivmedqa: Path) -> str:
    return f"hivmedqa(data='{hivmedqa}', subset=paper)"


@pytest.fixture(scope="module")
def run(
    hivmedqa: Path,
    paper: str,
    marks: Mapping[tuple[str, str, int], Mapping[str, Value]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Run]:
    """A run with all recorded answers, scored on the paper's 63 questions."""
    made = open_run(tmp_path_factory.mktemp("golden") / "hiv.viva")
    made.import_answers(
        hivmedqa / "responses.jsonl",
        benchmark=f"hivmedqa(data='{hivmedqa}')",
        map={"item": "question_id", "repeat": "iteration", "text": "answer", "candidate": "model"},
        role={"Rephrased Gold Answers": "ceiling"},
    )
    with borrowed():

        @metric("published_judge")
        class PublishedJudge(Metric):
            """The recorded scores."""

            criteria = tuple(
                Criterion(
                    criterion=name,
                    low=0,
                    high=5,
                    if_unanswered="worst" if name == "comprehension" else "set_aside",
                )
                for name in CRITERIA
            )
            formats = ("longform",)
            needs = ()

            def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
                return [marks[r.response.candidate, r.item.alias, r.response.repeat] for r in rows]

        made.score("published_judge", items=paper)
        yield made


@pytest.fixture(scope="module")
def scored(run: Run, paper: str) -> Finding:
    return run.estimates("published_judge", items=paper)


@pytest.fixture(scope="module")
def compared(run: Run, paper: str, scored: Finding) -> Finding:
    """Gemini against the nine other candidates, with `scored` made before."""
    others = sorted({r["candidate"] for r in scored.rows if r["role"] == "candidate"} - {GEMINI})
    assert 9 == len(others)
    return run.compare(GEMINI, *others, metric="published_judge", items=paper)


@pytest.mark.parametrize(
    ("candidate", "criterion", "estimate", "low", "high"),
    [
        (GEMINI, "comprehension", "4.14127", "3.9381", "4.3124"),
        (GEMINI, "harm", "4.89524", "4.7566", "4.9556"),
        (MEDGEMMA, "demographic_bias", "5.00000", "4.4527", "5.0000"),
        (GEMINI, "demographic_bias", "4.98730", "4.9459", "4.9970"),
    ],
)
def test_estimates_and_wilson_intervals(
    scored: Finding, candidate: str, criterion: str, estimate: str, low: str, high: str
) -> None:
    """Section 2: to the last digit printed there."""
    found = row(scored, candidate=candidate, criterion=criterion)
    assert (estimate, low, high) == (
        f"{found['estimate']:.5f}",
        f"{found['low']:.4f}",
        f"{found['high']:.4f}",
    )
    assert (63, 42, 315) == (found["n_items"], found["n_groups"], found["n_responses"])
    assert (0, 0, 0, 1.0) == (
        found["n_unanswered"],
        found["n_unreadable"],
        found["n_failed"],
        found["coverage"],
    )


def test_silence_counts_worst_for_comprehension_as_delivered(scored: Finding) -> None:
    """Section 1: Med42's fifteen blank answers count 0, nothing failed, so there are no bounds."""
    found = row(scored, candidate=MED42, criterion="comprehension")
    assert "3.4667" == f"{found['estimate']:.4f}"
    assert (63, 42, 15, 0) == (
        found["n_items"],
        found["n_groups"],
        found["n_unanswered"] + found["n_unreadable"],
        found["n_failed"],
    )
    assert "0.9524" == f"{found['coverage']:.4f}"
    assert (found["estimate"], found["low"]) == (found["set_low"], found["bound_low"])


def test_silence_is_set_aside_for_harm_and_bias(scored: Finding, hivmedqa: Path) -> None:
    """Silence is not harmful advice: the mean is over the answers there are, repeats first, then items."""
    with (hivmedqa / "questions.jsonl").open(encoding="utf-8") as lines:
        paper = {q["id"] for q in map(json.loads, lines) if q["paper_subset"]}
    given: dict[str, list[float]] = {}
    with (hivmedqa / "judge_scores.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            here = line["model"] == MED42 and line["supervised"] == "True" and line["question_id"] in paper
            if here and line["answer_blank"] == "False":
                given.setdefault(line["question_id"], []).append(float(line["harm"]))
    found = row(scored, candidate=MED42, criterion="harm")
    assert pytest.approx(fmean(map(fmean, given.values())), abs=1e-12) == found["estimate"]
    assert (len(given), 15) == (found["n_items"], found["n_unanswered"])
    assert 60 == len(given)


def test_the_rephrased_gold_stands_as_a_ceiling(scored: Finding) -> None:
    found = row(scored, candidate="Rephrased Gold Answers", criterion="comprehension")
    assert "ceiling" == found["role"]
    assert found["estimate"] > row(scored, candidate=GEMINI, criterion="comprehension")["estimate"]


@pytest.mark.parametrize(
    ("other", "difference", "p", "mde"),
    [
        (CLAUDE, ".0905", ".2935", ".2447"),
        (MEDGEMMA, ".1873", ".0369", ".2487"),
        (LLAMA, ".2683", ".0117", ".2902"),
        (GEMMA, ".5524", ".0022", ".4789"),
    ],
)
def test_pairs_have_the_differences_of_the_group_level_test(
    compared: Finding, other: str, difference: str, p: str, mde: str
) -> None:
    """Section 3, for pairs that no silence touches: the figures of a pair do not depend on the family."""
    found = row(compared, b=other, criterion="comprehension")
    assert (difference, p, mde) == tuple(f"{found[k]:.4f}"[1:] for k in ("difference", "p", "mde"))
    assert (63, 42) == (found["n_items"], found["n_groups"])


def test_blank_answers_count_worst_in_a_comparison(compared: Finding) -> None:
    """Section 10: with blanks as 0, Gemini - Med42 is .6746, SE .1706 by CR2 over 42 cases."""
    found = row(compared, b=MED42, criterion="comprehension")
    assert (".6746", 42) == (f"{found['difference']:.4f}"[1:], found["n_groups"])
    assert pytest.approx(0.1706, abs=5e-5) == (found["high"] - found["low"]) / 2 / stdtrit(32.69916, 0.975)


def test_the_family_is_every_pair_on_every_criterion(compared: Finding) -> None:
    assert 27 == len(compared.rows)
    assert {27} == {r["family"] for r in compared.rows}
    assert "27 comparisons made together" in str(compared)


def test_holm_and_bonferroni_run_over_the_whole_family(compared: Finding) -> None:
    """Holm by its definition, from the p values printed beside it."""
    ordered = sorted(r["p"] for r in compared.rows)
    stepped, highest = {}, 0.0
    for place, p in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - place) * p))
        stepped[p] = highest
    for r in compared.rows:
        assert pytest.approx(stepped[r["p"]]) == r["p_adjusted"]
        if r["test"] == "t":
            assert r["low_family"] <= r["low"] <= r["difference"] <= r["high"] <= r["high_family"]


@pytest.fixture(scope="module")
def comprehension(
    hivmedqa: Path, paper: str, run: Run, marks: Mapping[tuple[str, str, int], Mapping[str, Value]]
) -> Finding:
    """The nine pairs of section 3: comprehension alone, so that Holm runs over nine."""
    with borrowed():

        @metric("published_comprehension")
        class Comprehension(Metric):
            """One criterion of the recorded scores."""

            criteria = (Criterion(criterion="comprehension", low=0, high=5),)
            formats = ("longform",)
            needs = ()

            def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
                return [
                    {
                        "comprehension": marks[r.response.candidate, r.item.alias, r.response.repeat][
                            "comprehension"
                        ]
                    }
                    for r in rows
                ]

        run.score("published_comprehension", items=paper)
    others = [
        c for c in run.responses["candidate"].unique().sort() if c not in (GEMINI, "Rephrased Gold Answers")
    ]
    return run.compare(GEMINI, *others, metric="published_comprehension", items=paper, margin=0.2)


def test_holm_over_nine_pairs_leaves_medgemma_undecided(comprehension: Finding) -> None:
    """Section 0: .024 by questions, .074 by cases; the verdict is that of cases."""
    found = row(comprehension, b=MEDGEMMA)
    assert (9, ".0739") == (found["family"], f"{found['p_adjusted']:.4f}"[1:])
    assert ("not_worse", "a") == (found["verdict_code"], found["favours"])


@pytest.mark.parametrize(("other", "holm"), [(CLAUDE, ".2935"), (MEDGEMMA, ".0739"), (LLAMA, ".0352")])
def test_holm_adjusted_p(comprehension: Finding, other: str, holm: str) -> None:
    """The three largest of nine: what stands below them does not move them."""
    assert holm == f"{row(comprehension, b=other)['p_adjusted']:.4f}"[1:]


def test_wins_ties_and_losses_count_questions(comprehension: Finding) -> None:
    found = row(comprehension, b=CLAUDE)
    assert (21, 21, 21) == (found["wins"], found["ties"], found["losses"])
    assert found["basis"].startswith(
        "On 63 questions (42 cases, 33.7 effective): Gemini 2.5 Pro 4.14, Claude 3.5 Sonnet 4.05 out of 5; "
        "Gemini 2.5 Pro higher in 21, equal in 21, lower in 21."
    )


def test_the_questions_needed_come_from_the_margin(run: Run, paper: str, comprehension: Finding) -> None:
    """Section 3 has 62 cases as uneven, 93 questions, by the variance seen; by its upper limit 78 and 117."""
    found = run.compare(GEMINI, CLAUDE, metric="published_comprehension", items=paper, margin=0.2).rows[0]
    assert 117 == found["n_needed"]


def test_the_sign_flip_check_agrees_with_the_t_test(comprehension: Finding) -> None:
    for found in comprehension.rows:
        assert pytest.approx(found["p"], abs=0.03) == found["p_flip"]


def test_the_words_for_medgemma(run: Run, paper: str, comprehension: Finding) -> None:
    """Alone and without a margin the pair is decided; among nine it is not."""
    alone = run.compare(GEMINI, MEDGEMMA, metric="published_comprehension", items=paper).rows[0]
    assert ("better", "a", 1) == (alone["verdict_code"], alone["favours"], alone["family"])
    assert "Gemini 2.5 Pro is better (0.19, 0.01 to 0.36)." == alone["verdict"]
    others = [MEDGEMMA, CLAUDE, LLAMA, GEMMA, MED42, "NVLM-70B", "Meditron 3-70B", *sorted(SILENT - {MED42})]
    among = run.compare(GEMINI, *others, metric="published_comprehension", items=paper)
    found = row(among, b=MEDGEMMA)
    assert ("cannot_tell", None, 9) == (found["verdict_code"], found["favours"], found["family"])
    assert found["verdict"].startswith(
        "No significant difference. The data could have detected a true difference of 0.3"
    )


def test_the_ceiling_can_be_compared_when_it_is_named(run: Run, paper: str, comprehension: Finding) -> None:
    found = run.compare(GEMINI, "Rephrased Gold Answers", metric="published_comprehension", items=paper).rows[
        0
    ]
    assert ("better", "b") in {(found["verdict_code"], found["favours"])}


def test_the_looks_are_those_of_this_run(run: Run, paper: str, comprehension: Finding) -> None:
    first = run.compare(GEMINI, CLAUDE, metric="published_comprehension", items=paper).rows[0]["looks"]
    second = run.compare(GEMINI, GEMMA, metric="published_comprehension", items=paper).rows[0]["looks"]
    assert first + 1 == second
