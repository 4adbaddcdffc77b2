"""The audit of a run's measures: what agrees with people, what repeats another measure, what is enough."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.studies.judging import EXPERT, JUDGE, OTHER, judged, some
from tests.studies.making import made, marked, row, score
from tests.studies.test_resilience import reworded
from tests.viewing import study_table

from vivavoce.core.errors import SelectionError
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding
from vivavoce.run.run import Run
from vivavoce.studies.audit.audit import Audit
from vivavoce.testing import check_study

CANDIDATES = ("A", "B", "C", "D", "E")


def audit(run: Run, spec: str = "audit", **settings: Any) -> Finding:
    return run.study(spec, **settings)[spec]


def scored(
    folder: Path, columns: dict[str, np.ndarray], *, texts: dict[str, dict[str, str]] | None = None
) -> Run:
    """A run with these scores by measure, candidates x items, from 0 to 5."""
    marks = {
        measure: [
            ("ABCDEFGHI"[c], f"q{i:02}", round(float(values[c, i]), 6), "ann" if measure == EXPERT else None)
            for c in range(values.shape[0])
            for i in range(values.shape[1])
            if not np.isnan(values[c, i])
        ]
        for measure, values in columns.items()
    }
    return judged(folder, marks, texts=texts)


def noisy(truth: np.ndarray, seed: int, noise: float) -> np.ndarray:
    """The truth with noise, within 0 and 5."""
    return np.clip(truth + np.random.default_rng(seed).normal(0, noise, truth.shape), 0, 5)


def people(seed: int = 1, n: int = 60, k: int = 5) -> np.ndarray:
    """What people give: a level for each question, and what tells its answers apart."""
    rng = np.random.default_rng(seed)
    return np.clip(rng.normal(2.5, 0.7, n) + rng.normal(0, 0.7, (k, n)), 0, 5)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """People, a measure that follows them, its copy, one that is constant, and three of noise."""
    truth = people()
    good = noisy(truth, 2, 0.7)
    noise = {f"noise(n={k})": noisy(np.full_like(truth, 2.5), 10 + k, 0.7) for k in range(3)}
    columns = {"good()": good, "copy()": good, "flat()": np.full_like(truth, 3.0), **noise, EXPERT: truth}
    return scored(tmp_path_factory.mktemp("audit"), columns)


@pytest.fixture(scope="module")
def found(usual: Run) -> Finding:
    return audit(usual, labels="expert")


def test_the_one_informative_measure_is_kept(found: Finding) -> None:
    kept = {r["metric"] for r in some(found, part="choice", figure="pearson", chosen=True)}
    assert kept & {"good", "copy"}
    assert 1 == len(kept)
    assert found.text.startswith(
        "On exam keep good: worth, held against people, inside questions and candidates; 30 cases chose"
    )


def test_two_identical_measures_are_one(found: Finding) -> None:
    pair = row(found, part="redundancy", metric="good", against="copy: worth")
    assert pytest.approx(1) == pair["value"]
    assert "good: worth and copy: worth say much the same" in found.text
    assert "Not needed: copy: worth: it says the same as good: worth" in found.text


def test_a_constant_measure_is_not_chosen_from_and_says_why(found: Finding) -> None:
    r = row(found, part="choice", metric="flat")
    assert (None, None, "it does not vary inside a question") == (r["value"], r["chosen"], r["reason"])
    inside = row(found, part="agreement", metric="flat", figure="pearson", contrast="delivered")
    assert (None, "inside the questions one of the two does not vary") == (inside["value"], inside["reason"])


def test_noise_is_not_kept_and_of_few_cases_not_called_needless(found: Finding) -> None:
    for k in range(3):
        alone = row(found, part="choice", metric=f"noise(n={k})", contrast="alone")
        assert alone["chosen"] is False
        assert alone["low"] < 0 < alone["high"]
    assert "Not kept: noise(n=2): worth: it is not shown to add to good: worth" in found.text


def test_of_many_cases_noise_is_not_needed(tmp_path: Path) -> None:
    truth = people(n=600, k=5)
    columns = {"good()": noisy(truth, 1, 0.3), "noise()": noisy(np.full_like(truth, 2.5), 10, 0.7)}
    finding = audit(scored(tmp_path, columns | {EXPERT: truth}), labels="expert")
    assert "Not needed: noise: worth: it adds under 0.1 to good: worth (partial r " in finding.text


def test_the_half_that_reports_has_other_cases_than_the_one_that_chose(found: Finding) -> None:
    alone = row(found, part="choice", metric="good", contrast="alone")
    whole = row(found, part="agreement", metric="good", figure="pearson", contrast="delivered")
    assert (30, 150, "report") == (alone["n_groups"], alone["n_units"], alone["half"])
    assert (60, 300) == (whole["n_groups"], whole["n_units"])
    share = row(found, part="choice", metric="good", figure="kept_share")
    assert 1.0 == share["value"]


def test_levels_are_named_and_never_mixed(found: Finding) -> None:
    levels = {(r["level"], r["figure"]) for r in some(found, part="agreement", metric="good")}
    centred = {("within item", "pearson"), ("within item and candidate", "pearson")}
    assert {*centred, ("system", "kendall"), ("system", "pearson")} == levels
    order = row(found, part="agreement", metric="good", figure="kendall")
    assert (5, 60, 10) == (order["n_candidates"], order["n_units"], order["n_pairs"])


def test_without_a_yardstick_nothing_is_chosen(usual: Run) -> None:
    finding = audit(usual)
    assert [] == some(finding, part="choice")
    assert [] == some(finding, part="agreement")
    assert finding.text.startswith("Nothing to hold the measures against: --labels METRIC")
    assert "say much the same" in finding.text


def test_where_no_study_is_named_it_is_made_only_with_labels(tmp_path: Path) -> None:
    truth = people(n=12, k=3)
    run = scored(tmp_path, {"good()": noisy(truth, 2, 0.7), EXPERT: truth})
    assert "audit" not in run.study()
    assert "audit" in run.study(labels="expert")


def test_the_seed_cuts_other_halves(usual: Run) -> None:
    one, other = (
        row(
            audit(usual, f"audit(seed={seed})", labels="expert"),
            part="choice",
            metric="good",
            contrast="alone",
        )
        for seed in (1, 2)
    )
    assert one["value"] != other["value"]
    assert pytest.approx(one["value"], abs=0.2) == other["value"]


def test_of_noise_alone_nothing_separates(tmp_path: Path) -> None:
    truth = people(3)
    columns = {f"noise(n={k})": noisy(np.full_like(truth, 2.5), 20 + k, 0.7) for k in range(5)}
    finding = audit(scored(tmp_path, {**columns, EXPERT: truth}), labels="expert")
    assert "nothing separates these measures" in finding.text
    assert [] == some(finding, part="choice", chosen=True)


def test_few_labelled_cases_make_no_choice(tmp_path: Path) -> None:
    """19 cases give halves of 10 and 9."""
    truth = people(4, n=60)
    labels = truth.copy()
    labels[:, 19:] = np.nan
    finding = audit(scored(tmp_path, {"good()": noisy(truth, 5, 0.3), EXPERT: labels}), labels="expert")
    r = row(finding, part="choice")
    assert (None, None) == (r["value"], r["chosen"])
    assert "a half has 9 cases, and each takes 10 to choose on one and report on the other" in r["reason"]
    assert 19 == row(finding, part="agreement", figure="pearson", contrast="delivered")["n_groups"]


def test_under_ten_cases_there_is_no_agreement_either(tmp_path: Path) -> None:
    truth = people(4, n=8)
    finding = audit(scored(tmp_path, {"good()": noisy(truth, 5, 0.3), EXPERT: truth}), labels="expert")
    inside = row(finding, part="agreement", figure="pearson", contrast="delivered")
    assert (None, "8 cases: too few to tell") == (inside["value"], inside["reason"])


def test_a_benchmark_without_labels_has_no_choice_and_moves_none(tmp_path: Path) -> None:
    """The cases of the labelled benchmark fall to the same halves, with another benchmark in the run."""
    truth = people()
    run = scored(tmp_path, {"good()": noisy(truth, 2, 0.7), EXPERT: truth})
    alone = row(audit(run, labels="expert"), part="choice", contrast="alone")
    made(tmp_path, {c: {f"z{i}": "x" for i in range(12)} for c in CANDIDATES}, name="other", run=run)
    rows = [{"candidate": c, "item": f"z{i}", "benchmark": "other", "criterion": "worth", "value": float(k)}
            for k, c in enumerate(CANDIDATES) for i in range(12)]  # fmt: skip
    run.import_scores(rows, measure="good()", range={"*": (0, 5)})
    finding = audit(run, labels="expert")
    assert alone["value"] == row(finding, part="choice", contrast="alone", benchmark="exam")["value"]
    assert "On other nothing is chosen: no answer has a score of people." in finding.text
    r = row(finding, part="choice", benchmark="other")
    assert (None, None, "no answer has a score of people") == (r["value"], r["chosen"], r["reason"])


def test_contrast_pairs_stand_once_however_many_benchmarks(tmp_path: Path) -> None:
    texts = {c: {f"q{i:02}": f"{c} {i}" for i in range(12)} for c in CANDIDATES}
    run = made(tmp_path, texts, name="first")
    made(tmp_path, texts, name="second", run=run)
    run.score("token_f1")
    finding = audit(run)
    first, second = (s for s in finding.text.splitlines() if s.startswith("token_f1 on "))
    assert "of 13 contradictions it tells 2" in first
    assert "contradictions" not in second
    assert 2 == len(some(finding, part="polarity", contrast="yes"))


def test_one_measure_alone_is_still_examined(tmp_path: Path) -> None:
    truth = people(6)
    finding = audit(scored(tmp_path, {"good()": noisy(truth, 7, 0.5), EXPERT: truth}), labels="expert")
    assert [] == some(finding, part="redundancy")
    assert "keep good: worth" in finding.text


def test_one_candidate_has_no_two_answers_to_tell_apart(tmp_path: Path) -> None:
    truth = people(6, k=1)
    finding = audit(scored(tmp_path, {"good()": noisy(truth, 7, 0.5), EXPERT: truth}), labels="expert")
    inside = row(finding, part="agreement", figure="pearson", contrast="delivered")
    assert "no question with two candidates' scores" in inside["reason"]
    assert "nothing is chosen" in finding.text


def test_a_kind_judge_cannot_be_the_yardstick(tmp_path: Path) -> None:
    """It gives everything 5: nothing agrees with it, and it chooses nothing."""
    truth = people(8)
    columns = {"good()": noisy(truth, 9, 0.5), JUDGE: np.full_like(truth, 5.0)}
    finding = audit(scored(tmp_path, columns), "audit(trusted=judge)")
    words = "nothing is chosen: no two answers to one question differ in the scores of the trusted judge"
    assert words in finding.text
    inside = row(finding, part="agreement", metric="good", figure="pearson", contrast="delivered")
    assert (None, "trusted judge") == (inside["value"], inside["yardstick"])


def test_a_measure_that_knows_only_who_answered_is_not_kept(tmp_path: Path) -> None:
    """Its levels fall as people's candidates do: inside questions it goes with people, and by that alone."""
    rng = np.random.default_rng(21)
    able = np.linspace(-1, 1, 5)[:, None]
    truth = np.clip(people(20) + able, 0, 5)
    level = 2.5 + able + rng.normal(0, 0.1, truth.shape)
    columns = {"good()": noisy(truth, 22, 0.5), "names()": level, "name()": np.tile(2.5 + able, 60)}
    finding = audit(scored(tmp_path, {**columns, EXPERT: truth}), labels="expert")
    assert {"good"} == {r["metric"] for r in some(finding, part="choice", chosen=True)}
    uncentred, centred = (
        row(finding, part="agreement", metric="names", figure="pearson", contrast=contrast)
        for contrast in ("delivered", "candidates held")
    )
    assert uncentred["low"] > 0.4
    assert centred["low"] < 0 < centred["high"]
    assert "it knows only who answered" == row(finding, part="choice", metric="name")["reason"]
    assert "Not chosen from: name: worth, it knows only who answered." in finding.text


def test_below_eight_candidates_nothing_is_concluded_between_them(found: Finding) -> None:
    assert (
        "On exam 5 candidates are too few (below 8) to conclude which measures go with people between "
        "candidates: nothing is kept by that." in found.text
    )
    order = row(found, part="agreement", metric="good", figure="pearson", level="system")
    assert (None, None) == (order["low"], order["high"])
    assert "5 candidates: fewer than 8, a description alone" == order["reason"]


def test_from_eight_candidates_on_what_goes_with_people_between_them_is_said_apart(tmp_path: Path) -> None:
    """Halves of the cases: the luck of an answer, which both measures share, is in one mean alone."""
    rng = np.random.default_rng(23)
    able = np.linspace(-1.2, 1.2, 9)[:, None]
    answers = people(24, k=9)
    columns = {"level()": noisy(2.5 + np.tile(able, 60), 25, 0.3), "noise()": rng.uniform(0, 5, (9, 60))}
    finding = audit(scored(tmp_path, {**columns, EXPERT: np.clip(answers + able, 0, 5)}), labels="expert")
    order = row(finding, part="agreement", metric="level", figure="pearson", level="system")
    words = "Between 9 candidates on exam, by means over disjoint halves of the cases, these go with people: "
    assert f"{words}level: worth (r {printed(order['value_halves'])})." in finding.text
    assert 0.5 < order["low"] < order["value_halves"]
    assert [] == some(finding, part="choice", chosen=True)

    shared = 2.5 + rng.normal(0, 0.7, (9, 60))  # answers differ, candidates do not
    alike = {"alike()": noisy(shared, 26, 0.1), EXPERT: shared}
    finding = audit(scored(tmp_path / "alike", alike), labels="expert")
    assert "Between 9 candidates on exam no measure is shown to go with people." in finding.text
    assert row(finding, part="agreement", figure="pearson", level="system")["value"] > 0.9


def test_a_trusted_judge_is_never_called_people(tmp_path: Path) -> None:
    truth = people(8)
    columns = {"good()": noisy(truth, 9, 0.5), JUDGE: noisy(truth, 10, 0.3)}
    finding = audit(scored(tmp_path, columns), "audit(trusted=judge)")
    assert "the trusted judge (r by m1: worth), which is not people" in finding.text
    assert {"trusted judge"} == {r["yardstick"] for r in some(finding, part="choice")}
    assert "judge" not in {r["metric"].partition("(")[0] for r in finding.rows}


def test_of_two_judges_one_has_to_be_named(tmp_path: Path) -> None:
    truth = people(8)
    columns = {"good()": noisy(truth, 9, 0.5), JUDGE: noisy(truth, 10, 0.3), OTHER: noisy(truth, 11, 0.9)}
    run = scored(tmp_path, columns)
    with pytest.raises(SelectionError, match="fits several judges: name one"):
        audit(run, "audit(trusted=judge)")
    finding = audit(run, "audit(trusted=judge(model=m2))")
    assert {"judge(model=m1, rubric=r)", "good"} == {r["metric"] for r in finding.rows}


def test_criteria_of_the_trusted_judges_call_are_not_chosen_from(tmp_path: Path) -> None:
    truth = people(11)
    rows = [
        (CANDIDATES[c], f"q{i:02}", float(np.round(truth[c, i], 3)), None, criterion)
        for c in range(5) for i in range(60) for criterion in ("worth", "harm")
    ]  # fmt: skip
    rules = [
        (CANDIDATES[c], f"q{i:02}", float(noisy(truth, 12, 0.5)[c, i])) for c in range(5) for i in range(60)
    ]
    finding = audit(judged(tmp_path, {JUDGE: rows, "good()": rules}), "audit(trusted='judge:harm')")
    own = row(finding, part="choice", criterion="worth", metric="judge(model=m1, rubric=r)")
    assert (None, "criteria of one call, alike by construction") == (own["value"], own["reason"])
    assert {"r by m1: harm"} == {r["against"] for r in some(finding, part="agreement")}
    assert "keep good: worth" in finding.text


@pytest.fixture(scope="module")
def wordy(tmp_path_factory: pytest.TempPathFactory) -> Finding:
    """Answers that differ in length alone: one rule counts words, people see no difference but noise."""
    rng = np.random.default_rng(13)
    n = rng.integers(5, 60, (5, 60))
    texts = {c: {f"q{i:02}": "word " * int(n[k, i]) for i in range(60)} for k, c in enumerate(CANDIDATES)}
    columns = {"wordy()": n / 12.0, "blind()": rng.uniform(0, 5, n.shape), EXPERT: rng.uniform(0, 5, n.shape)}
    return audit(scored(tmp_path_factory.mktemp("wordy"), columns, texts=texts), labels="expert")


def test_a_measure_of_length_is_named_so(wordy: Finding) -> None:
    held = row(wordy, part="length", metric="wordy", contrast="words, quality held")
    assert held["low"] > 0.9
    assert "nothing separates" in wordy.text
    blind = row(wordy, part="length", metric="blind", contrast="words")
    assert blind["low"] < 0 < blind["high"]


def test_what_is_left_of_agreement_once_length_is_held(wordy: Finding) -> None:
    left = row(wordy, part="length", metric="wordy", contrast="quality, words held")
    assert left["low"] < 0 < left["high"]


def test_silence_is_part_of_a_measure_and_says_how_large(tmp_path: Path) -> None:
    """Two of five candidates are silent on every third question."""
    answers = {
        c: {f"q{i:02}": "" if k < 2 and i % 3 == 0 else str(((i * 7 + k * 3) % 10) / 10) for i in range(30)}
        for k, c in enumerate(CANDIDATES)
    }
    finding = audit(marked(tmp_path, answers))
    rows = {r["figure"]: r for r in some(finding, part="silence", metric="told")}
    assert (20, 0.0) == (rows["score_silent"]["n_units"], rows["score_silent"]["value"])
    assert pytest.approx(20 / 150) == rows["share"]["value"]
    assert 0.1 < rows["variance_share"]["value"] < 1
    assert "20 silent answers score 0.00 beside" in finding.text


def test_agreement_without_silence_stands_beside_the_one_with_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(14)
    answers = {
        c: {
            f"q{i:02}": "" if (i + k) % 4 == 0 else str(round(float(rng.uniform(0.2, 1)), 3))
            for i in range(40)
        }
        for k, c in enumerate(CANDIDATES)
    }
    run = made(tmp_path, answers)
    score(run)
    values = [
        {"candidate": c, "item": i, "rater": "ann",
         "value": 0.0 if text == "" else round(float(rng.uniform(2, 5)), 3)}
        for c, own in answers.items() for i, text in own.items()
    ]  # fmt: skip
    run.import_scores(values, measure=EXPERT, range={"*": (0, 5)}, criteria=["value"], blank="recorded")
    finding = audit(run, labels="expert")
    delivered, answered = (
        row(finding, part="agreement", metric="told", figure="pearson", contrast=c)
        for c in ("delivered", "answered")
    )
    assert delivered["low"] > 0.5
    assert answered["low"] < 0 < answered["high"]
    assert "without silent answers" in finding.text


def test_wording_is_that_of_the_study_resilience(tmp_path: Path) -> None:
    rng = np.random.default_rng(15)
    answers = {c: {f"q{i:02}": tuple((rng.uniform(0, 0.5, 4) + k / 4).round(3)) for i in range(12)}
               for k, c in enumerate(CANDIDATES[:3])}  # fmt: skip
    run = reworded(tmp_path, answers)
    r = row(audit(run), part="rephrasing")
    of_all = row(run.study("resilience")["resilience"], candidate="", edit="")
    assert ("rephrase", 36) == (r["contrast"], r["n_units"])
    assert of_all["wording_share"] == r["value"]
    assert r["low"] < r["value"] < r["high"]
    assert "with rephrase, variance over wordings" in audit(run).text


def test_without_rewordings_there_is_no_such_part(found: Finding) -> None:
    assert [] == some(found, part="rephrasing")


@pytest.mark.parametrize(
    ("spec", "settings", "words"),
    [
        ("audit(trusted=expert)", {"labels": "expert"}, "people's scores need no trusted judge"),
        ("audit(trusted=nobody)", {}, "trusted 'nobody' names no measure of this run. No judge has scored"),
        (
            "audit(trusted='good()')",
            {},
            "trusted 'good()' is a rule, no judge. No judge has scored this run.",
        ),
        ("audit(trusted=expert)", {}, "trusted 'expert' are people, whom --labels names"),
        ("audit(criterion=harm)", {"labels": "expert"}, "criterion 'harm': there are scores of worth"),
        ("audit(redundant=1.5)", {}, "redundant 1.5: between 0 and 1"),
        ("audit(alike=0)", {}, "alike 0: between 0 and 1"),
    ],
)
def test_a_yardstick_that_is_not_there_is_one_sentence(
    usual: Run, spec: str, settings: dict[str, str], words: str
) -> None:
    with pytest.raises(SelectionError) as caught:
        audit(usual, spec, **settings)
    assert words in str(caught.value)


def test_rows_do_not_depend_on_the_order_of_scores() -> None:
    check_study(Audit())


@pytest.fixture(scope="module")
def published_audit(recorded: Run, paper: str) -> Finding:
    return audit(recorded, "audit(trusted='judge:comprehension')", items=paper)


def test_hivmedqa_agrees_as_its_item_centred_golden(recorded: Run, paper: str) -> None:
    """Section 7 of docs/statistics.md: comprehension ~ MedSynF1, item-centred Pearson .1891, 61 items.

    It leaves out two questions on which one candidate lacks a score; an audit takes the others' scores.
    """
    study = Audit(trusted="judge:comprehension")
    table = study_table(recorded, study, paper)
    measured = {"metric": "medsynf1(variant=gptdict_lemma)", "figure": "pearson", "contrast": "delivered"}
    r = row(study.findings(table), part="agreement", **measured)
    assert (628, 42, "0.2114") == (r["n_units"], r["n_groups"], f"{r['value']:.4f}")
    rest = ~((pl.col("variant") == "") & pl.col("item").is_in(["c3q18", "c2q02"]))
    r = row(study.findings(table._replace(scores=table.scores.filter(rest))), part="agreement", **measured)
    assert (610, ".1891") == (r["n_units"], f"{r['value']:.4f}"[1:])


def test_hivmedqas_other_criteria_leave_the_choice(published_audit: Finding) -> None:
    construction = {
        r["criterion"]
        for r in some(published_audit, part="choice")
        if r["reason"] and "one call" in r["reason"]
    }
    assert {"reasoning", "knowledge_recall", "demographic_bias", "harm"} == construction
    system = row(published_audit, part="agreement", criterion="harm", figure="pearson", level="system")
    assert pytest.approx(0.99, abs=0.01) == system["value"]


def test_the_command_line_names_what_was_found(usual: Run, viva: Callable[..., Any]) -> None:
    assert "keep good: worth" in viva("study", usual.file.path, "audit", "--labels", "expert").output
