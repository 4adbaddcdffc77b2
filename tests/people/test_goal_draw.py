"""Panels that label for a goal: which cases they draw, with which chance, and how many labels it takes."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.finished_runs import finished_run
from tests.lengths import length
from tests.people.raters import examined, filled
from tests.studies.making import write_lines

from vivavoce.core.errors import InputError, SelectionError
from vivavoce.core.records import Criterion, Finding
from vivavoce.people.choosing import choose
from vivavoce.people.goal_draw import GoalDraw
from vivavoce.people.label_goal import Goal
from vivavoce.people.packets import PacketsWritten
from vivavoce.people.panels import Panel
from vivavoce.people.tasks import RateTask
from vivavoce.run.people.annotate import prepare_panel
from vivavoce.run.people.label_panel import Labelling, goal_draw
from vivavoce.run.run import Run, open_run
from vivavoce.store.label_draws import LabelDraw, read_label_draws
from vivavoce.store.view import with_view

Viva = Callable[..., Any]
JUDGE = "judge(rubric=correctness, model=m)"
GOAL = "compare Able Fair"
N = 40
DIFFERENT = {f"q{k:02}" for k in range(30, 40)}
"""The questions on which the judge sees a difference between Able and Fair."""


def judged(run: Run, questions: Mapping[str, tuple[float, float]], *, measure: str = JUDGE) -> Run:
    """The judge's scores of Able and Fair, as if they were its own."""
    rows = [
        {"item": item, "candidate": who, "criterion": "correct", "value": value}
        for item, values in questions.items()
        for who, value in zip(("Able", "Fair"), values, strict=True)
    ]
    file = write_lines(run.file.path.parent / f"{len(measure)}.jsonl", rows)
    run.import_scores(file, measure=measure, range={"*": (0, 1)})
    return run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    finished_run(tmp_path, _judge)
    return open_run(tmp_path / "run.viva")


def _judge(folder: Path) -> None:
    scores = {f"q{k:02}": (1.0, 0.0 if f"q{k:02}" in DIFFERENT else 1.0) for k in range(N)}
    judged(examined(folder, N), scores)


def made(run: Run, folder: Path, **settings: Any) -> PacketsWritten:
    raters = settings.pop("raters", ["anna"])
    result = run.make_panel(
        raters, folder, **{"task": "rate", "rubric": "correctness", "for_": GOAL} | settings
    )
    assert isinstance(result, PacketsWritten)
    return result


def annotated(run: Run, raters: Sequence[str] = ("anna",), **settings: Any) -> Panel:
    labelling = Labelling(settings.pop("for_", GOAL), settings.pop("metric", None))
    task = settings.pop("task", "rate")
    rubric = "correctness" if task == "rate" else None
    return prepare_panel(run.file, task, raters, rubric=rubric, labelling=labelling, **settings)


def planned(run: Run, **settings: Any) -> Finding:
    result = run.make_panel(
        **{"task": "rate", "rubric": "correctness", "for_": GOAL, "dry_run": True} | settings
    )
    assert isinstance(result, Finding)
    return result


def opinion(item: str, answer: str) -> dict[str, Any]:
    """Able is right; Fair is too, but where the judge sees a difference it is right in every second."""
    number = int(answer.rsplit("q", 1)[1])
    wrong = "some" in answer and (f"q{number:02}" in DIFFERENT and number % 2 == 0)
    return {"correct": 0 if wrong else 1}


def rated(run: Run, folder: Path, **settings: Any) -> PacketsWritten:
    done = made(run, folder, **settings)
    run.read_panel(filled(folder / "anna.csv", opinion))
    return done


def stored(run: Run) -> LabelDraw:
    with run.file.reading() as db:
        return read_label_draws(db)["rating(rubric=correctness)"]


def chance(draw: LabelDraw) -> dict[str, float]:
    return {item: p for (_, item, _), p in draw.probabilities.items()}


def taken(draw: LabelDraw) -> set[str]:
    return {item for _, item, _ in draw.items}


# What is drawn.


def test_only_the_goals_candidates_are_shown(run: Run, tmp_path: Path) -> None:
    done = made(run, tmp_path / "out", n=10)
    assert (10, 20, 10, N) == (done.n_questions, done.n_answers, done.n_cases, done.n_cases_possible)


def test_cases_on_which_the_judge_sees_a_difference_are_drawn_more_and_none_never(
    run: Run, tmp_path: Path
) -> None:
    made(run, tmp_path / "out", n=10)
    draw = stored(run)
    p = chance(draw)
    assert min(p[item] for item in DIFFERENT) > max(p[item] for item in p.keys() - DIFFERENT) > 0.1
    assert 10 == pytest.approx(sum(p.values()))
    assert 10 == len(draw.items)


def test_a_later_draw_takes_further_cases_and_states_totals(run: Run, tmp_path: Path) -> None:
    rated(run, tmp_path / "one", n=15)
    first = stored(run)
    made(run, tmp_path / "two", n=10, seed=2)
    both = stored(run)
    assert 25 == len(both.items)
    assert first.items < both.items
    p, before = chance(both), chance(first)
    assert all(p[item] > before[item] for item in p)
    now = {item: (p[item] - before[item]) / (1 - before[item]) for item in p}
    assert 10 == pytest.approx(sum(now[item] for item in p.keys() - taken(first)))


def test_labels_of_the_first_draw_shape_the_second(tmp_path: Path) -> None:
    """Where people differ from the judge on differences alone, these are drawn more than without labels."""

    def ratio(folder: Path, *, labelled: bool) -> float:
        scores = {f"q{k:02}": (1.0, 0.0 if f"q{k:02}" in DIFFERENT else 1.0) for k in range(N)}
        run = judged(examined(folder, N), scores)
        (rated if labelled else made)(run, folder / "one", n=20)
        before = chance(stored(run))
        made(run, folder / "two", n=8, seed=2)
        after = chance(stored(run))
        now = {item: (after[item] - p) / (1 - p) for item, p in before.items()}
        return float(np.mean([now[i] for i in DIFFERENT]) / np.mean([now[i] for i in now.keys() - DIFFERENT]))

    assert ratio(tmp_path / "a", labelled=True) > 1.1 * ratio(tmp_path / "b", labelled=False)


def test_the_same_seed_gives_the_same_questions_to_more_raters(run: Run, tmp_path: Path) -> None:
    one = made(run, tmp_path / "one", n=10)
    before = stored(run)
    rated(run, tmp_path / "again", n=10)
    other = made(run, tmp_path / "two", n=10, raters=["ben"])
    assert one.panel == other.panel
    assert before == stored(run)


def test_the_same_seed_with_another_number_is_refused(run: Run, tmp_path: Path) -> None:
    made(run, tmp_path / "one", n=10)
    with pytest.raises(
        InputError, match=r"--seed 1 has drawn 10 questions .* another --seed draws further ones"
    ):
        made(run, tmp_path / "two", n=12)


def test_a_uniform_draw_can_follow_and_precede(run: Run, tmp_path: Path) -> None:
    made(run, tmp_path / "one", n=10, for_=None, candidates=["Able", "Fair"])
    assert {0.25} == set(chance(stored(run)).values())
    made(run, tmp_path / "two", n=10)
    p = chance(stored(run))
    made(run, tmp_path / "three", n=10, for_=None, candidates=["Able", "Fair"], seed=3)
    after = chance(stored(run))
    np.testing.assert_allclose([1 - (1 - p[item]) * 0.75 for item in p], [after[item] for item in p])


def test_a_draw_shows_whom_earlier_draws_showed(run: Run, tmp_path: Path) -> None:
    made(run, tmp_path / "one", n=10, for_=None)
    assert 15 == made(run, tmp_path / "two", n=5).n_answers
    with pytest.raises(InputError, match="has labels drawn for Able, Fair, Poor"):
        made(run, tmp_path / "three", n=5, seed=2, candidates=["Able", "Fair"])


def test_stated_chances_are_those_of_the_draw(tmp_path: Path) -> None:
    """Many seeds on 12 questions: each case is drawn as often as its chance says, within four errors."""
    n_seeds = length(50, 300)
    scores = {f"q{k:02}": (1.0, 0.0 if k > 8 else 1.0) for k in range(12)}
    drawn_cases = np.zeros(12)
    source = judged(examined(tmp_path, 12), scores)
    goal = with_view(source.file, goal_draw, Labelling(GOAL), None, "rate", "correctness")
    assert goal is not None
    for seed in range(n_seeds):
        draw = draw_of(source, seed, goal)
        drawn_cases += [item in draw[0] for item in sorted(draw[1])]
    p = np.array([draw[1][item] for item in sorted(draw[1])])
    errors = np.sqrt(p * (1 - p) / n_seeds)
    assert (np.abs(drawn_cases / n_seeds - p) < 4 * errors).all()


def draw_of(run: Run, seed: int, goal: GoalDraw) -> tuple[set[str], dict[str, float]]:
    """The drawn questions and the chances of all, without writing anything."""
    choice = choose(run.file, RateTask.with_rubric("correctness"), None, ["Able", "Fair"], 4, seed, goal)
    return {q.item for q in choice.questions}, {k[1]: p for k, p in choice.sample.probabilities.items()}


def test_when_every_case_was_drawn_none_is_left(run: Run, tmp_path: Path) -> None:
    made(run, tmp_path / "one", n=N)
    assert {1.0} == set(chance(stored(run)).values())
    with pytest.raises(SelectionError, match="was drawn before: none is left"):
        made(run, tmp_path / "two", n=1, seed=2)


def test_a_case_that_the_judge_did_not_score_can_be_drawn(tmp_path: Path) -> None:
    run = judged(examined(tmp_path, 6), {f"q{k:02}": (1.0, float(k > 2)) for k in range(4)})
    made(run, tmp_path / "out", n=2)
    assert 6 == len(chance(stored(run)))


def test_a_score_is_a_goal_too(run: Run, tmp_path: Path) -> None:
    done = made(run, tmp_path / "out", n=10, for_="score Fair")
    assert (10, 10) == (done.n_questions, done.n_answers)


def test_a_jury_of_passes_that_disagree_draws_more_there(tmp_path: Path) -> None:
    run = examined(tmp_path, N)
    rows = [
        {"item": f"q{k:02}", "candidate": who, "value": float(pass_no == 2 and k > 29 and who == "Fair"),
         "criterion": "correct", "pass_no": pass_no}
        for k in range(N) for who in ("Able", "Fair") for pass_no in (1, 2)
    ]  # fmt: skip
    run.import_scores(write_lines(tmp_path / "p.jsonl", rows), measure=JUDGE, range={"*": (0, 1)})
    made(run, tmp_path / "out", n=10)
    p = chance(stored(run))
    assert min(p[i] for i in DIFFERENT) > max(p[i] for i in p.keys() - DIFFERENT)


# How many it takes.


def test_a_dry_run_writes_nothing(run: Run, tmp_path: Path) -> None:
    before = run.file.path.read_bytes()
    planned(run, margin=0.1)
    assert before == run.file.path.read_bytes()
    assert not (tmp_path / "out").exists()


def test_before_any_label_the_judges_spread_and_three_correlations_stand_in(run: Run) -> None:
    finding = planned(run, margin=0.15)
    assert [("assumed", r, N, 0) for r in (0.0, 0.5, 0.8)] == [
        (row["basis"], row["correlation"], row["n_cases"], row["n_labelled"]) for row in finding.rows
    ]
    assert "Before any label: assumes people's differences spread like the judge's" in finding.text
    needed = [row["n_width"] for row in finding.rows]
    assert needed == sorted(needed, reverse=True)
    assert all(row["n_width"] <= row["n_width_alone"] for row in finding.rows)
    assert finding.rows[0]["judge_sd"] == pytest.approx(np.sqrt(N * 0.25 * 0.75 / (N - 1)))


def test_labels_take_the_place_of_assumptions(run: Run, tmp_path: Path) -> None:
    rated(run, tmp_path / "out", n=20)
    (row,) = planned(run, margin=0.1).rows
    assert ("labels", 20) == (row["basis"], row["n_labelled"])
    assert 0 < row["correlation"] < 1


def test_a_goal_out_of_reach_says_so(run: Run) -> None:
    finding = planned(run, margin=0.01)
    assert {None} == {row["n_width"] for row in finding.rows}
    assert "more cases than there are" in finding.text


def test_without_a_margin_the_width_of_the_panel_is_told(run: Run) -> None:
    finding = planned(run, n=20)
    assert {20} == {row["n"] for row in finding.rows}
    assert "20 labelled cases give an interval of ±" in finding.text


def test_a_judge_who_never_sees_a_difference_plans_without_a_spread(tmp_path: Path) -> None:
    run = judged(examined(tmp_path, 12), {f"q{k:02}": (1.0, 1.0) for k in range(12)})
    finding = planned(run, margin=0.1)
    assert {0.0} == {row["judge_sd"] for row in finding.rows}
    assert {None} == {row["n_width"] for row in finding.rows}
    assert "judge's scores do not differ between cases" in finding.text


# The command line.


def test_from_the_shell(viva: Viva, run: Run, tmp_path: Path) -> None:
    words = ("panel", run.file.path, "make", "--task", "rate", "--rubric", "correctness", "--for", GOAL)
    plan = viva(*words, "--margin", "0.1", "--dry-run").stdout
    assert "compare Able Fair by correct: " in plan
    rows = json.loads(viva(*words, "--margin", "0.1", "--dry-run", "--json").stdout)
    assert ("viva.panel/1", 3) == (rows["schema"], len(rows["rows"]))
    assert "10 questions in 10 of 40 cases" in viva(
        *words, "--raters", "anna", "--to", tmp_path / "out", "--n", 10
    ).stdout  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"task": "rank", "rubric": None}, "the task rate and a --rubric"),
        ({"for_": None, "metric": JUDGE}, "--metric goes with --for"),
        ({"for_": None, "margin": 0.1}, "--margin goes with --for"),
        ({"for_": None, "dry_run": True}, "--dry-run goes with --for"),
        ({"margin": 0.1}, "--margin goes with --dry-run"),
        ({"margin": 0.0, "dry_run": True}, "a margin is above 0"),
        ({"for_": "contrast Able Fair"}, '--for takes "compare A B" or "score A"'),
        ({"for_": "compare Able"}, '--for takes "compare A B" or "score A"'),
        ({"for_": "compare Able able"}, "compares Able with itself"),
        ({"for_": "compare Able Fare"}, "Fair"),
        ({"for_": "score Nobody"}, "Nobody"),
        ({"metric": "token_f1"}, "token_f1"),
    ],
)
def test_what_does_not_go_together_is_refused(
    run: Run, tmp_path: Path, settings: dict[str, Any], sentence: str
) -> None:
    settings = {"task": "rate", "rubric": "correctness", "for_": GOAL} | settings
    with pytest.raises((InputError, SelectionError), match=sentence):
        run.make_panel(["anna"], tmp_path / "out", **settings)
    assert not (tmp_path / "out").exists()


def test_without_a_judge_nothing_can_be_drawn_for_a_goal(tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="no judge scored this run by a criterion of the rubric correct"):
        made(examined(tmp_path, 4), tmp_path / "out")


def test_of_two_judges_one_is_named(run: Run, tmp_path: Path) -> None:
    other = "judge(rubric=correctness, model=other)"
    judged(run, {f"q{k:02}": (0.0, 1.0) for k in range(N)}, measure=other)
    with pytest.raises(SelectionError, match=r"several judges scored this run .* --metric names one of"):
        made(run, tmp_path / "out")
    assert 5 == made(run, tmp_path / "out", n=5, metric=other).n_cases


def test_names_with_blanks_are_told_apart() -> None:
    labels = ["Gemini 2.5 Pro", "2.5 Pro MedGemma", "MedGemma"]
    goal = Goal.parse("compare Gemini 2.5 Pro MedGemma", labels)
    assert {"Gemini 2.5 Pro": 1.0, "MedGemma": -1.0} == goal.signs
    assert {"Gemini 2.5 Pro": 1.0} == Goal.parse("score gemini 2.5 pro", labels).signs
    with pytest.raises(InputError, match="can be read in two ways"):
        Goal.parse("compare Gemini 2.5 Pro MedGemma", [*labels, "Gemini"])


def test_failed_and_silent_scores_are_what_compare_makes_of_them() -> None:
    """A silence counts as worst, and an item on which one candidate failed has no difference."""
    values = [("q1", "A", 1.0, "ok"), ("q1", "B", None, "unanswered")]
    values += [("q2", "A", 1.0, "ok"), ("q2", "B", None, "failed")]
    constants = {"benchmark": "exam", "variant": "", "role": "candidate", "repeat": 1, "edit": ""}
    rows = pl.DataFrame(values, schema=["item", "candidate", "value", "status"], orient="row")
    rows = rows.with_columns(pl.lit(value).alias(name) for name, value in constants.items())
    criterion = Criterion(criterion="correct", low=0, high=1)
    goal = Goal("compare A B", {"A": 1.0, "B": -1.0})
    assert {("exam", "q1", ""): 1.0} == goal.values(rows.with_columns(group="item"), criterion)


def test_the_portal_draws_what_packets_draw_with_the_same_chances(run, tmp_path):
    other = judged(
        examined(tmp_path / "other", N),
        {f"q{k:02}": (1.0, float(f"q{k:02}" not in DIFFERENT)) for k in range(N)},
    )
    made(other, tmp_path / "packets", n=12, seed=3)
    panel = annotated(run, n=12, seed=3)
    draws = []
    for each in (other, run):
        with each.file.reading() as db:
            draws += read_label_draws(db).values()
    packets, portal = draws
    assert packets == portal
    assert {question.place for question in panel.key.questions} == packets.items
    assert {"Able", "Fair"} == {who for q in panel.key.questions for a in q.answers for who in a.candidates}


def test_the_portal_opens_a_draw_again_though_the_judge_said_more(run):
    before = annotated(run, n=12)
    judged(run, {"q00": (0.0, 1.0)}, measure="judge(rubric=correctness, model=another)")
    after = annotated(run, n=12)
    assert (before.key.panel, before.key.packets) == (after.key.panel, after.key.packets)


def test_the_portal_asks_further_raters_the_questions_of_a_draw(run):
    first = annotated(run, n=12)
    both = annotated(run, ["anna", "ben"], n=12)
    assert first.key.panel == both.key.panel
    assert 1 == len(
        {frozenset(seen.question.place for seen in packet) for packet in both.key.packets.values()}
    )


def test_further_draws_of_the_portal_take_further_cases(run):
    first, second = (annotated(run, n=12, seed=seed) for seed in (1, 2))
    places = [{question.place for question in panel.key.questions} for panel in (first, second)]
    assert not places[0] & places[1]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"pilot": 5}, "--pilot does not go with --for"),
        ({"task": "rank"}, "--for is about labels"),
        ({"for_": None, "metric": "judge"}, "--metric goes with --for"),
        ({"for_": "win Able"}, "compare A B"),
    ],
)
def test_what_does_not_go_with_a_draw_of_the_portal_is_refused(run, settings, sentence):
    with pytest.raises(InputError, match=sentence):
        annotated(run, **settings)
    with run.file.reading() as db:
        assert {} == read_label_draws(db)
