"""Calibration: what a run's confidences claim, and from where on an answer may stand by itself."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom
from tests.studies.confident import confident_run
from tests.studies.making import row

from vivavoce import stats
from vivavoce.core.errors import SelectionError, SpecError
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.core.tables import SCORES, schema
from vivavoce.studies.reliability.calibration import NOTHING, Calibration
from vivavoce.studies.score_table import ScoreTable
from vivavoce.testing import check_study

RIGHT, SURE = (
    Measure(metric="accuracy", signature="accuracy()@1", criterion=Criterion(criterion="accuracy")),
    Measure(
        metric="confidence(of=stated)",
        signature="confidence(of=stated)@1",
        criterion=Criterion(criterion="confidence", if_unanswered="set_aside"),
    ),
)
Values = Sequence[float | str | None]
"""Scores by item; a word is a status without a value, null has no row."""


def scores(
    by_candidate: Mapping[str, tuple[Values, Values]],
    *,
    measures: Sequence[Measure] = (RIGHT, SURE),
    group: Callable[[int], str] = lambda k: f"q{k:03}",
    category: Callable[[int], str | None] = lambda k: None,
    weight: Callable[[int], float] | None = None,
    repeat: Callable[[int], int] = lambda k: 1,
    item: Callable[[int], str] = lambda k: f"q{k:03}",
) -> ScoreTable:
    """A table of the values of each measure by candidate, one per item."""
    rows: list[dict[str, Any]] = []
    for candidate, by_measure in by_candidate.items():
        for key, (measure, values) in enumerate(zip(measures, by_measure, strict=True)):
            for k, value in enumerate(values):
                if value is None:
                    continue
                status = value if isinstance(value, str) else "ok"
                rows.append(
                    {
                        **dict.fromkeys(("variant", "alias", "edit", "unit", "ballot"), ""),
                        "benchmark": "exam", "item": item(k), "group": group(k), "category": category(k),
                        "format": "mcq", "candidate": candidate, "role": "candidate", "repeat": repeat(k),
                        "metric": measure.metric, "criterion": measure.criterion.criterion,
                        "rater": measure.rater, "pass_no": 1, "measure_id": key, "status": status,
                        "value": value if status == "ok" else None,
                        **({} if weight is None else {"weight": weight(k)}),
                    }
                )  # fmt: skip
    types: dict[str, Any] = {**schema(SCORES), "measure_id": pl.Int64}
    types |= dict.fromkeys(("category", "format", "parts", "note", "group", "alias", "role"), pl.String)
    if weight is not None:
        types["weight"] = pl.Float64
    return ScoreTable(pl.DataFrame(rows, schema=types), dict(enumerate(measures)))


def boastful(n: int = 200) -> tuple[list[float], list[float]]:
    """Sure to .9 of everything, right in seven of ten."""
    return [float(k % 10 < 7) for k in range(n)], [0.9] * n


def sharp(n: int = 200) -> tuple[list[float], list[float]]:
    """Right in all of which it is sure, and in half of the others."""
    return [1.0 if k % 2 else float(k % 4 == 0) for k in range(n)], [0.95 if k % 2 else 0.5 for k in range(n)]


def figures(finding: Finding, **where: Any) -> dict[str, Mapping[str, Any]]:
    named = {"category": "", **where}
    return {r["figure"]: r for r in finding.rows if all(r[k] == v for k, v in named.items())}


def test_the_study_keeps_every_rule_of_the_door():
    check_study(Calibration())
    check_study(Calibration(risk=0.2, correct=None))


def test_an_overconfident_candidate_is_called_so_with_its_gap():
    finding = Calibration().findings(scores({"A": boastful()}))
    assert (
        "A on exam, stated: it states 90 % on average and is right in 70 %: overconfident by 0.20 "
        "(0.14 to 0.26); calibration error 0.20 (0.14 to 0.27)."
    ) == finding.text.splitlines()[0]
    assert (
        "No threshold keeps errors of A below 10 % (with 95 % confidence): at the nearest one 200 answers "
        "(200 cases) would stand, and of these 10 % or more are wrong."
    ) == finding.text.splitlines()[1]


def test_a_candidate_that_knows_when_it_knows_gets_its_threshold():
    finding = Calibration().findings(scores({"B": sharp()}))
    assert (
        "Answering only when confidence is at least 0.95 keeps errors of B below 10 % (with 95 % "
        "confidence) and answers 50 % of the questions (43 to 57 %)."
    ) == finding.text.splitlines()[1]
    assert "neither over- nor underconfidence is shown (-0.03, " in finding.text
    found = figures(finding)
    assert (0.95, 0.1, 0.95, None) == tuple(
        found["threshold"][k] for k in ("value", "risk", "level", "reason")
    )
    assert 0 == found["errors_answered"]["value"]
    assert "chosen on these answers" in found["errors_answered"]["reason"]
    assert any("The promise holds with this probability" in note for note in finding.notes)


def test_the_figures_are_those_of_the_statistics():
    right, sure = sharp()
    found = figures(Calibration().findings(scores({"B": (right, sure)})))
    reference = stats.calibration(sure, right, range(200))
    for name in ("ece", "ece_debiased", "brier", "reliability", "resolution", "uncertainty", "skill"):
        expected = getattr(reference, name)
        assert expected[:3] == pytest.approx(tuple(found[name][k] for k in ("value", "low", "high")))
    curve = stats.risk_coverage(sure, right, range(200))
    assert curve.aurc.value == pytest.approx(found["aurc"]["value"])
    assert curve.excess.value == pytest.approx(found["excess_aurc"]["value"])


def test_bins_and_curve_are_rows_for_the_charts():
    finding = Calibration().findings(scores({"B": sharp()}))
    bins = [r for r in finding.rows if r["figure"] == "bin"]
    assert [(0.5, 0.5, 100), (0.95, 1.0, 100)] == [
        (pytest.approx(r["confidence"]), r["value"], r["n"]) for r in bins
    ]
    curve = [(r["confidence"], r["coverage"], r["value"]) for r in finding.rows if r["figure"] == "curve"]
    assert [(0.95, 0.5, 0.0), (0.5, 1.0, 0.25)] == curve


def test_answers_without_a_confidence_count_as_left_to_people():
    """Half have none: the threshold answers a quarter, as does the curve; calibration rests on the others."""
    right, sure = sharp(400)
    finding = Calibration().findings(scores({"B": (right, [*sure[:200], *["unanswered"] * 200])}))
    found = figures(finding)
    assert (200, 200, 0) == tuple(found["brier"][k] for k in ("n", "n_without_confidence", "n_failed"))
    assert 0.25 == found["answered"]["value"]
    assert 0.5 == found["with_confidence"]["value"]
    assert 0.5 == max(r["coverage"] for r in finding.rows if r["figure"] == "curve")
    assert "Beside these: 200 answers without a confidence." in finding.text


def test_a_missing_row_of_confidence_is_as_none():
    right, sure = sharp(200)
    said, absent = (
        figures(Calibration().findings(scores({"B": (right, [*sure[:150], *[gap] * 50])})))
        for gap in ("unanswered", None)
    )
    assert said == absent


def test_failed_scores_are_counted_and_never_wrong():
    right, sure = sharp(200)
    by_right = Calibration().findings(scores({"B": (["failed"] * 10 + right[10:], sure)}))
    by_sure = Calibration().findings(scores({"B": (right, ["failed"] * 10 + sure[10:])}))
    without = Calibration().findings(scores({"B": ([None] * 10 + right[10:], sure)}))
    for finding in (by_right, by_sure):
        assert 10 == figures(finding)["brier"]["n_failed"]
        assert "10 answers with a score that failed" in finding.text
        for name in ("accuracy", "brier", "answered"):
            assert figures(without)[name]["value"] == figures(finding)[name]["value"]


def test_silence_is_wrong_where_the_measure_says_so_and_outside_where_it_is_set_aside():
    right, sure = boastful(100)
    silent = ["unanswered"] * 20 + right[20:]
    worst = figures(Calibration().findings(scores({"A": (silent, sure)})))
    assert (100, 56 / 100) == (worst["accuracy"]["n"], pytest.approx(worst["accuracy"]["value"]))
    aside = RIGHT.criterion.__class__(criterion="accuracy", if_unanswered="set_aside")
    kind = Measure(metric="accuracy", signature="accuracy()@1", criterion=aside)
    outside = figures(Calibration().findings(scores({"A": (silent, sure)}, measures=(kind, SURE))))
    assert (80, 56 / 80) == (outside["accuracy"]["n"], pytest.approx(outside["accuracy"]["value"]))


def test_repeats_of_a_question_count_together_as_one():
    """Ten questions more, each asked once, weigh as much as ten that were asked four times."""
    right = [1.0] * 10 + [0.0] * 40
    table = scores(
        {"A": (right, [0.5] * 50)},
        item=lambda k: f"q{k if k < 10 else 10 + (k - 10) // 4:03}",
        group=lambda k: f"q{k if k < 10 else 10 + (k - 10) // 4:03}",
        repeat=lambda k: 1 if k < 10 else 1 + (k - 10) % 4,
    )
    found = figures(Calibration().findings(table))
    assert (0.5, 50, 20, 20) == tuple(found["accuracy"][k] for k in ("value", "n", "n_items", "n_groups"))


def test_a_sample_weighs_its_questions():
    right, sure = [1.0] * 50 + [0.0] * 50, [0.8] * 100
    found = figures(
        Calibration().findings(scores({"A": (right, sure)}, weight=lambda k: 3.0 if k < 50 else 1.0))
    )
    assert 0.75 == pytest.approx(found["accuracy"]["value"])


def test_fewer_than_ten_cases_have_counts_alone():
    """Forty answers in eight cases, and sixty of which one case holds nearly all."""
    for group in (lambda k: f"case {k % 8}", lambda k: "giant" if k > 11 else f"case {k}"):
        finding = Calibration().findings(scores({"A": boastful(60)}, group=group))
        (only,) = finding.rows
        assert ("overconfidence", None, 60) == (only["figure"], only["value"], only["n"])
        assert "too few to tell" in only["reason"]
        assert "no figure" in finding.text


def test_categories_have_figures_where_cases_suffice_and_counts_otherwise():
    finding = Calibration().findings(scores({"B": sharp()}, category=lambda k: "rare" if k < 6 else "common"))
    assert "too few to tell" in row(finding, category="rare", figure="overconfidence")["reason"]
    common = figures(finding, category="common")
    assert {"accuracy", "ece_debiased", "brier", "aurc", "threshold"} <= set(common)
    assert not {"bin", "curve"} & set(common)
    assert 194 == common["brier"]["n"]


def test_the_worst_category_that_breaks_a_promise_is_named():
    """600 sure answers in ten categories; half are wrong in one, which are 5 % of all."""
    right = [0.0 if k % 10 == 3 and k % 20 == 3 else 1.0 for k in range(600)]
    finding = Calibration().findings(
        scores({"B": (right, [0.95] * 600)}, category=lambda k: f"unit {k % 10}")
    )
    assert re.search(
        r"The promise does not hold in unit 3: 50 % of the 60 answers of B that stand there are wrong "
        r"\(p = \S+, Holm over 10 categories\)\.",
        finding.text,
    )
    errors = figures(finding, category="unit 3")["errors_at_threshold"]
    assert (0.5, 0.95, 60, 0.1) == tuple(errors[k] for k in ("value", "confidence", "n", "risk"))
    assert errors["p_adjusted"] == pytest.approx(10 * binom.sf(29, 60, 0.1))


def test_a_promise_that_no_category_breaks_names_none():
    right = [0.0 if k % 40 == 3 else 1.0 for k in range(600)]
    finding = Calibration().findings(scores({"B": (right, [0.95] * 600)}, category=lambda k: f"unit {k % 4}"))
    assert "does not hold" not in finding.text
    assert 4 == sum(r["figure"] == "errors_at_threshold" for r in finding.rows)


def test_categories_of_all_candidates_are_corrected_together():
    right = [0.0 if k % 20 == 3 else 1.0 for k in range(600)]
    findings = (
        Calibration().findings(
            scores(dict.fromkeys(names, (right, [0.95] * 600)), category=lambda k: f"unit {k % 10}")
        )
        for names in ("A", "AB")
    )
    p = [min(r["p_adjusted"] for r in f.rows if r["p_adjusted"] is not None) for f in findings]
    assert p[1] == pytest.approx(2 * p[0])


def test_one_category_is_all():
    finding = Calibration().findings(scores({"B": sharp()}, category=lambda k: "all"))
    assert {""} == {r["category"] for r in finding.rows}


def test_without_confidences_there_are_no_rows_and_the_way_to_them():
    table = scores({"A": boastful()})
    finding = Calibration().findings(table._replace(measures={0: RIGHT}))
    assert ((), NOTHING) == (finding.rows, finding.text)


def test_a_candidate_without_any_confidence_says_so():
    finding = Calibration().findings(scores({"A": boastful(), "mute": (boastful()[0], ["set_aside"] * 200)}))
    assert "mute on exam, stated: no figure, no answer has a confidence." in finding.text
    assert 200 == row(finding, candidate="mute")["n_without_confidence"]


# what says that an answer is right


def measure(name: str, criterion: str, high: float = 1.0, rater: str = "") -> Measure:
    return Measure(
        metric=name,
        signature=f"{name}@1" if name.endswith(")") else f"{name}()@1",
        rater=rater,
        criterion=Criterion(criterion=criterion, high=high),
    )


EXACT, F1 = measure("exact", "exact"), measure("token_f1", "f1")
JUDGE = measure("judge(rubric=r)", "correctness", 5.0)
GRADES = [float(k % 6) for k in range(200)]


def of(*measures: Measure, values: Sequence[Values], **options: Any) -> Finding:
    study = Calibration(**options)
    return study.findings(scores({"A": (*values, boastful()[1])}, measures=(*measures, SURE)))


def test_the_only_measure_of_zeros_and_ones_is_taken():
    shares = [k % 10 / 10 for k in range(200)]
    finding = of(EXACT, F1, values=[boastful()[0], shares])
    assert {"exact"} == {r["metric"] for r in finding.rows}
    assert "Right means exact of 1." in finding.notes


def test_accuracy_goes_before_others_of_zeros_and_ones():
    finding = of(EXACT, RIGHT, values=[sharp()[0], boastful()[0]])
    assert {"accuracy"} == {r["metric"] for r in finding.rows}


def test_several_without_accuracy_are_listed_and_one_is_asked_for():
    other = measure("closeness", "closeness")
    values = [sharp()[0], boastful()[0]]
    finding = of(EXACT, other, values=values)
    assert () == finding.rows
    assert "several measures say what is right: name one" in finding.text
    assert "exact[exact], closeness[closeness]" in finding.text
    assert {"closeness"} == {r["metric"] for r in of(EXACT, other, values=values, correct="closeness").rows}


def test_nothing_of_zeros_and_ones_says_how_to_set_a_limit():
    finding = of(JUDGE, values=[GRADES])
    assert () == finding.rows
    assert "calibration(correct='judge[correctness] >= 4')" in finding.text


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("judge[correctness] >= 4", 66 / 200),
        ("judge >= 4", 66 / 200),
        ("judge(rubric=r)[correctness] < 1", 34 / 200),
    ],
)
def test_a_limit_makes_any_measure_right_or_wrong(text, share):
    finding = of(JUDGE, values=[GRADES], correct=text)
    assert share == pytest.approx(figures(finding)["accuracy"]["value"])
    assert any(note.startswith("Right means judge(rubric=r)[correctness] ") for note in finding.notes)


def test_a_measure_of_shares_needs_a_limit():
    finding = of(F1, values=[[k % 10 / 10 for k in range(200)]], correct="token_f1")
    assert () == finding.rows
    assert "token_f1[f1] has values other than 0 and 1" in finding.text
    assert "calibration(correct='token_f1[f1] >= 0.5')" in finding.text


@pytest.mark.parametrize("text", ["rouge", "accuracy[harm]", "rouge >= 1", "judge >= many"])
def test_a_correctness_that_is_not_there_is_refused(text):
    with pytest.raises((SelectionError, SpecError)):
        of(RIGHT, values=[boastful()[0]], correct=text)


def test_likelihoods_are_held_against_their_option_and_words_against_words():
    likely = Measure(
        metric="confidence(of=likelihood)", signature="confidence(of=likelihood)@1", criterion=SURE.criterion
    )
    picked = measure("options", "accuracy")
    right, sure = boastful()
    table = scores({"A": (right, sure, sharp()[0], sure)}, measures=(RIGHT, SURE, picked, likely))
    finding = Calibration().findings(table._replace(probes={2: "letters", 3: "letters"}))
    assert {("stated", "accuracy"), ("likelihood", "options")} == {
        (r["of"], r["metric"]) for r in finding.rows
    }
    assert 0.75 == figures(finding, of="likelihood")["accuracy"]["value"]
    alone = Calibration().findings(table._replace(measures={0: RIGHT, 3: likely}))
    assert "score them by options" in alone.text


def test_equal_repeats_by_construction_are_named():
    kind = Measure(
        metric="confidence(of=repeats)", signature="confidence(of=repeats)@1", criterion=SURE.criterion
    )
    table = scores({"A": (boastful()[0], [1.0] * 200)}, measures=(RIGHT, kind))
    finding = Calibration().findings(table._replace(identical=frozenset({"A"})))
    assert any("All repeats of A are the same text" in note for note in finding.notes)
    assert "it repeats its answer in 100 % of its other tries" in finding.text


@pytest.mark.parametrize("options", [{"risk": 0.0}, {"risk": 1.0}, {"level": 95.0}])
def test_a_risk_or_level_that_is_no_share_is_refused(options):
    with pytest.raises(SelectionError, match="is a share between 0 and 1"):
        Calibration(**options).findings(scores({"A": boastful()}))


def test_a_higher_risk_answers_no_less():
    rng = np.random.default_rng(8)
    sure = rng.choice([0.5, 0.7, 0.9, 0.99], 300)
    right = (rng.random(300) < sure).astype(float)
    answered = []
    for risk in (0.05, 0.1, 0.2, 0.4):
        found = figures(Calibration(risk=risk).findings(scores({"A": (right.tolist(), sure.tolist())})))
        answered.append(found["answered"]["value"] if "answered" in found else 0.0)
    assert sorted(answered) == answered
    assert answered[-1] > answered[0]


def test_percentages_are_no_probabilities():
    finding = Calibration().findings(scores({"A": (boastful()[0], [90.0] * 200)}))
    assert () == finding.rows
    assert (
        "a confidence of 90 is no probability from 0 to 1: import percentages divided by 100" in finding.text
    )


# on a run


def test_a_run_with_stated_confidences_and_repeats_has_both_kinds(tmp_path):
    """A calibrated candidate and one that says 95 % of everything, 60 questions in 30 cases, asked thrice."""
    run = confident_run(tmp_path, items=60, silent=0.1)
    finding = run.study("calibration")["calibration"]
    assert {"stated", "repeats"} == {r["of"] for r in finding.rows}
    boast = figures(finding, candidate="boastful", of="stated")
    assert boast["overconfidence"]["low"] > 0.1
    assert 180 == boast["brier"]["n"] + boast["brier"]["n_without_confidence"]
    assert 30 == boast["brier"]["n_groups"]
    calm = figures(finding, candidate="calibrated", of="stated")
    assert calm["overconfidence"]["low"] < 0 < calm["overconfidence"]["high"]
    assert "overconfident by" in finding.text
    assert {"a", "b"} == {r["category"] for r in finding.rows} - {""}


def test_an_option_in_the_spec_changes_the_promise(tmp_path):
    run = confident_run(tmp_path, items=60)
    text = "calibration(risk=0.45, correct='accuracy >= 1')"
    finding = run.study(text)[text]
    assert {0.45} == {r["risk"] for r in finding.rows if r["figure"] == "threshold"}
    assert "Right means accuracy[accuracy] >= 1." in finding.notes


def test_the_report_of_a_run_draws_it(tmp_path):
    run = confident_run(tmp_path, items=40, repeats=2)
    run.study("calibration")
    page = run.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Reliability of boastful" in page
    assert "Risk by coverage of calibrated" in page


def test_the_surest_candidate_leads_nothing(tmp_path: Path) -> None:
    """The boastful one is surer and no better: no rank and no first sentence rests on that."""
    run = confident_run(tmp_path)
    (row,) = run.compare("calibrated", "boastful", metric="confidence(of=stated)").rows
    assert ("higher", None) == (row["verdict_code"], row["favours"])
    assert "boastful is more confident" in row["verdict"]
    ranking = run.study("ranking")["ranking"]
    assert {"accuracy"} == {row["metric"] for row in ranking.rows}
    assert "being no quality of an answer: confidence(of=stated), confidence" in str(ranking)
    leads = [row for row in run.report_rows() if row["section"] == "answer"]
    assert ["accuracy"] == [row["measure"] for row in leads]


def test_of_several_candidates_one_is_overconfident_where_holm_shows_it() -> None:
    """36 of 60 right at a confidence of .74: p .03 alone, four times that beside three calibrated ones."""
    right = [1.0] * 36 + [0.0] * 24
    sure = {"bold": (right, [0.74] * 60)}
    by_itself = Calibration().findings(scores(sure))
    assert "bold on exam, stated: it states 74 % on average and is right in 60 %: overconfident by 0.14" in (
        by_itself.text
    )
    honest = {name: (right, [0.6 + end] * 60) for name, end in (("a", 0.01), ("b", -0.01), ("c", 0.02))}
    several = Calibration().findings(scores(sure | honest))
    bold = row(several, candidate="bold", figure="overconfidence", category="")
    first = row(by_itself, candidate="bold", figure="overconfidence", category="")
    assert pytest.approx(4 * first["p_adjusted"]) == bold["p_adjusted"]
    assert first["p_adjusted"] < 0.05 < bold["p_adjusted"]
    assert 0 < bold["low"]
    assert "by Holm over all candidates" in several.text
    assert "overconfident by" not in several.text
