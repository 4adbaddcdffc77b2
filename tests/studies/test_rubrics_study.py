"""Rubrics compared on labels: halves that share no case, luck that is shown, and circles that are named."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.studies.judging import EXPERT, FREE, JUDGE, OTHER, draw, each, judged, some
from tests.studies.making import made, row

from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding, ModelCard
from vivavoce.run.run import Run
from vivavoce.run.tables.load import load_scores
from vivavoce.store.integrity import rehash
from vivavoce.store.view import with_view
from vivavoce.studies.comparing.rubrics import RubricRow, Rubrics, models_named
from vivavoce.studies.study import columns

N = 60
TRUTH = draw("truth", N, 6)
SECOND = "judge(rubric=s, model=m1)"


def guess(seed: str) -> list[int]:
    return draw(seed, N, 6)


def near(seed: str, often: int = 3) -> list[int]:
    """The truth, one of `often` scores a guess."""
    return [
        g if k == 0 else t
        for t, k, g in zip(TRUTH, draw(f"{seed} off", N, often), guess(f"{seed} wild"), strict=True)
    ]


def labelled(folder: Path, rubrics: Mapping[str, Sequence[Any]], n: int = N, **settings: Any) -> Run:
    """A run with the scores of several rubrics, and Ann's and Bob's labels near the truth."""
    labels = [line for who in ("Ann", "Bob") for line in each(near(who)[:n], rater=who)]
    marks = {measure: each(own[:n]) for measure, own in rubrics.items()}
    return judged(folder, {**marks, EXPERT: labels}, **settings)


def compared(run: Run, labels: str | None = EXPERT) -> Finding:
    return run.study("rubrics", labels=labels)["rubrics"]


def test_one_rubric_is_nothing_to_compare(tmp_path: Path) -> None:
    found = compared(labelled(tmp_path, {JUDGE: TRUTH}))
    assert (0, "No judge of this run scored by two rubrics: nothing to compare.") == (
        len(found.rows), found.text
    )  # fmt: skip


def test_the_same_rubric_under_two_models_is_no_choice_of_rubrics(tmp_path: Path) -> None:
    assert () == compared(labelled(tmp_path, {JUDGE: TRUTH, OTHER: guess("x")})).rows


def test_the_rubric_that_agrees_is_chosen_and_reported_on_other_cases(tmp_path: Path) -> None:
    found = compared(labelled(tmp_path, {SECOND: guess("x"), JUDGE: near("j")}))
    assert all(tuple(r) == columns(RubricRow) for r in found.rows)
    chosen = some(found, chosen=True, figure="alpha_ordinal")
    assert ["choose", "report"] == [r["half"] for r in chosen]
    assert {"judge(model=m1, rubric=r)"} == {r["metric"] for r in chosen}
    assert (30, 30) == tuple(r["n_groups"] for r in chosen)
    before, after = chosen
    assert pytest.approx(before["value"] - after["value"]) == after["optimism"]
    assert before["optimism"] is None
    apart = row(found, figure="difference")
    assert ("s", "report", 30) == (apart["other"], apart["half"], apart["n_groups"])
    assert apart["low"] > 0
    assert "r agrees best with people on the 30 cases that choose" in found.text
    assert f"the choice made it look {printed(after['optimism'], '+.2f')} better" in found.text


def test_the_halves_share_no_case_and_are_the_same_whatever_is_compared(tmp_path: Path) -> None:
    """Two questions on each case: both fall to one half; a third rubric moves no case."""
    items = [{"item": f"q{n:02}", "group": f"case {n // 2}"} for n in range(N)]
    two = compared(labelled(tmp_path / "2", {JUDGE: TRUTH, SECOND: guess("x")}, items=items))
    three = {JUDGE: TRUTH, SECOND: guess("x"), FREE: guess("y")}
    more = compared(labelled(tmp_path / "3", three, items=items))
    for finding in (two, more):
        assert {("choose", 15), ("report", 15)} == {(r["half"], r["n_groups"]) for r in finding.rows}
        assert {30} == {r["n_units"] for r in finding.rows}
    place = {"figure": "alpha_ordinal", "metric": "judge(model=m1, rubric=s)", "half": "choose"}
    assert row(two, **place)["value"] == row(more, **place)["value"]


def test_another_benchmark_with_the_same_ids_moves_no_case_to_the_other_half(tmp_path: Path) -> None:
    run = labelled(tmp_path, {JUDGE: TRUTH, SECOND: guess("x")})
    before = compared(run).rows
    other = [{"item": f"q{n:02}", "question": f"Another {n}?"} for n in range(N)]
    made(tmp_path, {"A": {"q00": "x"}}, items=other, name="other", run=run)
    assert {"exam: q00", "other: q00"} < set(run.items["group"])
    assert before == compared(run).rows


def test_of_many_guessers_the_best_owes_its_place_to_luck(tmp_path: Path) -> None:
    """Twelve rubrics that guess: the best half-way looks better than none, and on the other half is none."""
    rubrics = {f"judge(rubric=r{k}, model=m1)": guess(f"g{k}") for k in range(12)}
    found = compared(labelled(tmp_path, rubrics))
    before, after = some(found, chosen=True, figure="alpha_ordinal")
    values = [r["value"] for r in some(found, half="choose")]
    assert max(values) == before["value"]
    assert after["optimism"] > 0
    assert after["low"] < 0


def test_of_two_that_agree_alike_the_first_is_chosen(tmp_path: Path) -> None:
    found = compared(labelled(tmp_path, {SECOND: near("j"), JUDGE: near("j")}))
    chosen = {r["metric"] for r in some(found, chosen=True)}
    assert {"judge(model=m1, rubric=s)"} == chosen
    assert 0.0 == row(found, figure="difference")["value"]


def test_nineteen_cases_cannot_choose_and_report(tmp_path: Path) -> None:
    found = compared(labelled(tmp_path, {JUDGE: TRUTH, SECOND: guess("x")}, n=19))
    why = "19 cases with labels: too few to choose on one half and report on another"
    assert {(None, why)} == {(r["value"], r["reason"]) for r in found.rows}
    assert "report its agreement on the same ones would be a circle" in found.text
    assert not some(found, chosen=True)


def test_twenty_cases_can(tmp_path: Path) -> None:
    found = compared(labelled(tmp_path, {JUDGE: TRUTH, SECOND: guess("x")}, n=20))
    assert {10} == {r["n_groups"] for r in found.rows}
    assert some(found, chosen=True)


def test_without_labels_no_rubric_is_chosen_and_the_circle_is_named(tmp_path: Path) -> None:
    marks = {m: [*each(own), *each([5] * 12, name="Gold")] for m, own in ((JUDGE, TRUTH), (FREE, guess("x")))}
    found = compared(judged(tmp_path, marks, role={"Gold": "ceiling"}), labels=None)
    assert {"ceiling_mean"} == {r["figure"] for r in found.rows}
    assert {(5.0, None)} == {(r["value"], r["chosen"]) for r in found.rows}
    assert "nothing but the judge's own scores could choose among r, r_free" in found.text
    assert "That is a circle" in found.text
    assert "No rubric is chosen." in found.text


@pytest.mark.parametrize(
    ("judge", "ceiling", "said"),
    [
        ("gpt-4o-2024-08-06", "rephrase(k=5, model=gpt-4o)", "own family (gpt-4o)"),
        ("openai/gpt-4o-2024-08-06", "Gold, reworded by gpt-4o", "own family (gpt-4o)"),
        ("llama-3.3-70b-instruct", "rephrase(model=llama-3.1-8b-instruct)", "own family"),
        ("llama-3.3-70b-instruct", "rephrase(model=gemma-2-9b-it)", None),
        ("gpt-4o-2024-08-06", "Rephrased Gold Answers", "is not known from this run"),
    ],
)
def test_a_ceiling_of_the_judges_own_words_is_named(
    tmp_path: Path, judge: str, ceiling: str, said: str | None
) -> None:
    marks = {
        f"judge(rubric={name}, model={judge})": [*each([3] * 12), *each([5] * 12, name=ceiling)]
        for name in ("r", "s")
    }
    found = compared(judged(tmp_path, marks, role={ceiling: "ceiling"}), labels=None)
    lines = [line for line in found.text.splitlines() if ceiling in line]
    assert said is None or said in lines[0]
    assert (said is not None) == bool(lines)


def test_models_are_looked_up_by_judge_and_by_whatever_words_a_ceiling(tmp_path: Path) -> None:
    ceiling = "Gold, reworded by kin-2"
    marks = {m: [*each([3] * 12), *each([5] * 12, name=ceiling)] for m in (JUDGE, SECOND)}
    own = with_view(judged(tmp_path, marks, role={ceiling: "ceiling"}).file, load_scores)
    assert {"m1", "kin-2", "Gold", ceiling} < models_named(own)
    known = {name: ModelCard(name=name, family="Kin") for name in ("m1", "kin-2")}
    assert "own family (kin-2)" in Rubrics().findings(own._replace(cards=known)).text
    other = known | {"kin-2": ModelCard(name="kin-2", family="Other")}
    assert ceiling not in Rubrics().findings(own._replace(cards=other)).text
    assert f"worded the ceiling {ceiling} is not known" in Rubrics().findings(own).text


def test_versions_of_one_rubric_go_by_their_version(tmp_path: Path) -> None:
    run = labelled(tmp_path, {JUDGE: near("j"), SECOND: guess("x")})
    with run.file.writing() as db:
        db.execute("UPDATE measures SET signature = 'judge(model=m1, rubric=r)@2#ab' "
                   "WHERE signature LIKE '%rubric=s)@%'")  # fmt: skip
        rehash(db)
    found = compared(run)
    assert "rubrics r @recorded, r @2#ab" in found.text
    assert "r @2#ab" == row(found, figure="difference")["other"]


def test_answers_that_one_rubric_failed_on_are_left_out_for_all(tmp_path: Path) -> None:
    found = compared(labelled(tmp_path, {JUDGE: TRUTH, SECOND: [None, None, *guess("x")[2:]]}))
    assert 58 == sum(r["n_units"] for r in some(found, metric="judge(model=m1, rubric=r)",
                                                figure="alpha_ordinal"))  # fmt: skip


def test_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    one = labelled(tmp_path / "1", {JUDGE: near("j"), SECOND: guess("x")})
    labels = [line for who in ("Bob", "Ann") for line in each(near(who), rater=who)]
    other = judged(tmp_path / "2", {JUDGE: each(near("j"))[::-1], SECOND: each(guess("x"))[::-1],
                                    EXPERT: labels[::-1]})  # fmt: skip
    assert json.dumps(compared(one).rows) == json.dumps(compared(other).rows)


def test_labels_that_saw_the_wording_are_warned_of(tmp_path: Path) -> None:
    found = compared(labelled(tmp_path, {JUDGE: TRUTH, SECOND: guess("x")}))
    assert (
        "If anybody worded a rubric with these labels before them, both halves have been seen" in found.text
    )


def test_no_word_grades_a_coefficient(tmp_path: Path) -> None:
    text = compared(labelled(tmp_path, {JUDGE: TRUTH, SECOND: guess("x")})).text.lower()
    assert not [w for w in ("significant", "good", "substantial", "excellent", "poor") if w in text]
