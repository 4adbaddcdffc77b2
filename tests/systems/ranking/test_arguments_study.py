"""The study of arguments: ranks that are declared, spread by level, and what the order rests on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from tests.studies.making import row, score
from tests.systems.ranking.argument_runs import SOURCES, argued, evaluated

from vivavoce.core import registry
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Criterion, Finding, Value
from vivavoce.metrics import Metric
from vivavoce.run.run import Run

Viva = Callable[..., Any]
ABLE_FIRST = {"gold": 0.8, "able": 0.9, "fair": 0.5, "poor": 0.4, "noise": 0.1}


def share(source: str, k: int, n: int = 20) -> float:
    """1 on so large a share of the items as the source is worth."""
    return float((k * 7 + len(source)) % n < ABLE_FIRST[source] * n)


def study(run: Run, spec: str = "arguments", **options: Any) -> Finding:
    (finding,) = run.study(spec, **options).values()
    return finding


def values(found: Finding, figure: str, among: str = "arguments", leaked: str = "keep") -> dict[str, Any]:
    return {
        r["candidate"]: r["value"]
        for r in found.rows
        if (r["figure"], r["among"], r["leaked"]) == (figure, among, leaked)
    }


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Finding:
    folder = tmp_path_factory.mktemp("usual")
    run = argued(folder / "run")
    return study(evaluated(run, folder, lambda s, k, m, r: share(s, k)))


def test_ranks_are_of_means_and_ceilings_are_ranked_with_candidates(usual: Finding) -> None:
    assert {"able": 1.0, "gold": 2.0, "fair": 3.0, "poor": 4.0} == values(usual, "rank_of_mean")
    assert {"able": 0.9, "gold": 0.8, "fair": 0.5, "poor": 0.4} == pytest.approx(values(usual, "mean"))
    assert "able > gold > fair > poor" == row(usual, figure="order", among="arguments")["text"]


def test_floors_stand_in_a_second_ranking_only(usual: Finding) -> None:
    assert "noise" not in values(usual, "rank_of_mean")
    assert 5.0 == values(usual, "rank_of_mean", among="all")["noise"]


def test_mixtures_are_one_family_and_their_runs_are_counted(usual: Finding) -> None:
    order = row(usual, figure="order", among="arguments")
    assert ("trained(weights=models/mixture)", 3, 9) == (order["metric"], order["n_raters"], order["n_runs"])
    assert "9 runs of 3 mixtures" in usual.text


def test_the_three_ranks_may_name_three_orders(tmp_path: Path) -> None:
    """By hand: A wins two runs narrowly and loses the third by far."""
    right = {("able", 1): 6, ("able", 2): 6, ("able", 3): 0, ("fair", 1): 5, ("fair", 2): 5, ("fair", 3): 10}
    run = argued(tmp_path / "run", 10, sources=("able", "fair"))
    evaluated(
        run, tmp_path, lambda s, k, m, r: float(k < right[s, r]), 10, mixtures=1, sources=("able", "fair")
    )
    found = study(run)
    assert {"able": 2.0, "fair": 1.0} == values(found, "rank_of_mean")
    assert {"able": 4 / 3, "fair": 5 / 3} == pytest.approx(values(found, "mean_run_rank"))
    # able is ahead on one item, the sixth (2 of 3 against 1 of 3); on items 1 to 5 fair is, 3 against 2 …
    assert {"able": 1.9, "fair": 1.1} == pytest.approx(values(found, "mean_instance_rank"))
    assert "first by mean fair; by mean rank over runs able" in found.text


def test_the_paper_s_baseline_has_gold_first_by_mean_and_openbiollm_by_run(
    tmp_path: Path, shared: Path
) -> None:
    """Footnote 6 names gold, so the figures rank means; its sds are of the population."""
    table = json.loads((shared / "data/tables/ranking_over_scoring.json").read_text(encoding="utf-8"))
    of = {"task": "mmcqa", "evaluator": "baseline", "kind": "primary"}
    runs = [r for r in table["runs"] if of.items() <= r.items()]
    n_right = {(r["source"], r["run"]): round(r["score"] * 1.19) for r in runs}
    sources = sorted({r["source"] for r in runs})
    run = argued(tmp_path / "run", 119, sources=sources, texts=lambda source, k: f"{source} on {k}")
    measure = "trained(weights='models/none')"
    evaluated(
        run, tmp_path, lambda s, k, m, r: float(k < n_right[s, r]), 119, mixtures=1, sources=sources,
        measure=measure,
    )  # fmt: skip
    found = study(run)
    by_mean, by_run = values(found, "rank_of_mean"), values(found, "mean_run_rank")
    assert ["gold", "openbiollm", "llama3", "gpt4o"] == sorted(by_mean, key=lambda s: by_mean[s])
    assert ["openbiollm", "gold", "gpt4o", "llama3"] == sorted(by_run, key=lambda s: by_run[s])
    printed = {r["source"]: r["std"] for r in table["printed_mean_std"] if of.items() <= r.items()}
    for name in sources:
        population = row(found, figure="of_all_runs", candidate=name, ddof=0)["value"]
        assert printed[name] == pytest.approx(100 * population, abs=0.011)


NESTED = {(1, 1): 6, (1, 2): 7, (1, 3): 8, (2, 1): 5, (2, 2): 5, (2, 3): 8, (3, 1): 9, (3, 2): 9, (3, 3): 9}
"""Right of ten in each run of each mixture."""


def test_runs_are_nested_in_mixtures(tmp_path: Path) -> None:
    """By hand: mixture means .7, .6, .9, so MSB = .07 and MSW = .08 / 6."""
    sources = ("able", "fair")
    run = argued(tmp_path / "run", 10, sources=sources)
    evaluated(run, tmp_path, lambda s, k, m, r: float(k < NESTED[m, r]), 10, sources=sources)
    found = study(run)
    between = row(found, figure="between_mixtures", candidate="able")
    assert (0.07 - 0.08 / 6) / 3 == pytest.approx(between["raw"])
    assert between["raw"] ** 0.5 == pytest.approx(between["value"])
    within = row(found, figure="between_runs", candidate="able")
    assert ((0.08 / 6) ** 0.5, 3) == (pytest.approx(within["value"]), within["ddof"])
    runs = [[NESTED[m, r] / 10 for r in (1, 2, 3)] for m in (1, 2, 3)]
    # SciPy's one-way analysis of variance of the same table has F = MSB / MSW.
    assert scipy.stats.f_oneway(*runs).statistic == pytest.approx(
        (3 * between["raw"] + within["value"] ** 2) / within["value"] ** 2
    )
    sds = {ddof: row(found, figure="of_all_runs", candidate="able", ddof=ddof)["value"] for ddof in (0, 1)}
    assert {ddof: np.std(runs, ddof=ddof) for ddof in (0, 1)} == pytest.approx(sds)


@pytest.mark.parametrize(
    ("mixtures", "runs", "figure", "reason"),
    [
        (1, 3, "between_mixtures", "one mixture: nothing to hold it against"),
        (3, 1, "between_mixtures", "one run of each mixture: the two cannot be told apart"),
        (3, 1, "between_runs", "one run of each mixture"),
    ],
)
def test_a_level_with_one_member_has_no_spread(
    tmp_path: Path, mixtures: int, runs: int, figure: str, reason: str
) -> None:
    run = argued(tmp_path / "run")
    evaluated(run, tmp_path, lambda s, k, m, r: share(s, k), mixtures=mixtures, runs=runs)
    found = row(study(run), figure=figure, candidate="able")
    assert (None, reason) == (found["value"], found["reason"])


def test_one_run_has_no_spread_at_all(tmp_path: Path) -> None:
    run = argued(tmp_path / "run")
    evaluated(run, tmp_path, lambda s, k, m, r: share(s, k), mixtures=1, runs=1)
    found = study(run)
    assert "one run: nothing to hold it against" == row(found, part="spread")["reason"]


def test_friedman_takes_items_for_blocks_and_not_runs(tmp_path: Path) -> None:
    values_of: dict[str, list[float]] = {name: [] for name in ("gold", *SOURCES)}
    few = study(
        evaluated(argued(tmp_path / "a"), tmp_path, lambda s, k, m, r: share(s, k), mixtures=1, runs=1)
    )
    many = study(evaluated(argued(tmp_path / "b"), tmp_path, lambda s, k, m, r: share(s, k)))
    chi2 = [row(found, figure="friedman_chi2", among="arguments")["value"] for found in (few, many)]
    for name, scores in values_of.items():
        scores += [share(name, k) for k in range(20)]
    assert scipy.stats.friedmanchisquare(*values_of.values()).statistic == pytest.approx(chi2[0])
    assert chi2[0] == chi2[1]
    distance = [row(found, figure="critical_difference", among="arguments")["value"] for found in (few, many)]
    # Demšar (2006), table 5: q is 2.569 for four systems.
    assert [2.569 * (4 * 5 / (6 * 20)) ** 0.5] * 2 == pytest.approx(distance, abs=1e-3)


def test_leaked_items_are_left_out_as_a_sensitivity(tmp_path: Path) -> None:
    def leak(k: int) -> str | None:
        return (
            "repeats a training question" if k < 3 else "begins like a training question" if k == 3 else None
        )

    run = argued(tmp_path / "run", leak=leak)
    # poor is right where it was trained, and nowhere else
    evaluated(run, tmp_path, lambda s, k, m, r: float(k < 4) if s == "poor" else float(k == 19), mixtures=1)
    found = study(run)
    assert ["keep", "drop", "drop_near"] == [
        r["leaked"] for r in found.rows if r["figure"] == "order" and r["among"] == "arguments"
    ]
    # on the 17 others each is right once
    assert [1.0, 2.5, 4.0] == [
        values(found, "rank_of_mean", leaked=leaked)["poor"] for leaked in ("keep", "drop", "drop_near")
    ]
    assert [20, 17, 16] == [
        r["n_items"] for r in found.rows if r["figure"] == "order" and r["among"] == "arguments"
    ]
    assert 4 == len([r for r in found.rows if r["part"] == "leaks"])
    assert "without the 4 questions that repeat one or begin like one, floors included: " in found.text
    assert "exam: 3 questions scored 'repeats a training question'." in found.text


def test_a_source_that_lacks_items_takes_them_from_all(tmp_path: Path) -> None:
    run = argued(tmp_path / "run")
    evaluated(run, tmp_path, lambda s, k, m, r: share(s, k), skip=[("fair", 0), ("fair", 1)])
    found = study(run)
    assert {18} == {r["n_items"] for r in found.rows if r["part"] == "ranks"}


def test_a_floor_on_few_items_takes_none(tmp_path: Path) -> None:
    run = argued(tmp_path / "run")
    lacking = [("noise", k) for k in range(11)]
    evaluated(run, tmp_path, lambda s, k, m, r: share(s, k), skip=lacking)
    found = study(run)
    assert {20} == {r["n_items"] for r in found.rows if r["part"] == "ranks"}
    assert {} == values(found, "rank_of_mean", among="all")


def test_a_failed_score_widens_the_ranks_and_is_no_zero(tmp_path: Path) -> None:
    def value(s: str, k: int, m: int, r: int) -> float | None:
        return None if s == "able" and k < 6 else share(s, k)

    run = argued(tmp_path / "run")
    evaluated(run, tmp_path, value, mixtures=1, runs=5)
    found = study(run)
    able = row(found, figure="mean", candidate="able", among="arguments")
    assert (14, 30) == (able["n_items"], able["n_failed"])
    assert sum(share("able", k) for k in range(6, 20)) / 14 == pytest.approx(able["value"])
    rank = row(found, figure="rank_of_mean", candidate="able", among="arguments")
    assert rank["depends_on_failed"]
    assert "score them again" in found.text


def test_equal_sources_share_their_rank_and_no_test_is_made_up(tmp_path: Path) -> None:
    run = argued(tmp_path / "run")
    found = study(evaluated(run, tmp_path, lambda s, k, m, r: 1.0))
    assert {2.5} == set(values(found, "rank_of_mean").values())
    assert "able = fair = gold = poor" == row(found, figure="order", among="arguments")["text"]
    friedman = row(found, figure="friedman", among="arguments")
    assert (None, "every case is one tie") == (friedman["value"], friedman["reason"])


def test_one_source_has_no_rank(tmp_path: Path) -> None:
    run = argued(tmp_path / "run", sources=("able",))
    found = study(evaluated(run, tmp_path, lambda s, k, m, r: share(s, k), sources=("able",)))
    assert {} == values(found, "rank_of_mean")
    assert 0.9 == pytest.approx(values(found, "mean")["able"])
    assert "one source has no rank" in found.text


def test_few_items_give_ranks_and_no_test(tmp_path: Path) -> None:
    run = argued(tmp_path / "run", 1)
    found = study(evaluated(run, tmp_path, lambda s, k, m, r: share(s, k), 1))
    rank = row(found, figure="rank_of_mean", candidate="able", among="arguments")
    assert (None, "1 case: too few to tell") == (rank["low"], rank["reason"])
    assert rank["value"] is not None
    assert row(found, figure="friedman", among="arguments")["value"] is None


def test_words_alone_stand_beside_the_evaluator(tmp_path: Path) -> None:
    run = argued(tmp_path / "run")
    evaluated(run, tmp_path, lambda s, k, m, r: share(s, k))
    evaluated(run, tmp_path, lambda s, k, m, r: share(s, k) / 2, criterion="lexical_right")
    found = study(run)
    tau = row(found, part="lexical", figure="tau")
    assert (1.0, 5, "trained(weights=mixture): lexical_right") == (tau["value"], tau["n"], tau["against"])
    assert "few sources (5)" == tau["reason"]
    r = row(found, part="lexical", figure="pearson")
    assert "few sources (5): |r| under 0.88 cannot be told from zero" == r["reason"]
    assert "words alone" in found.text


def test_longer_arguments_that_score_higher_are_seen(tmp_path: Path) -> None:
    length = {"gold": 3, "able": 9, "fair": 6, "poor": 1}
    run = argued(
        tmp_path / "run", texts=lambda s, k: "word " * length.get(s, 2) if (s, k) != ("poor", 0) else ""
    )
    rank = {"gold": 0.4, "able": 0.8, "fair": 0.6, "poor": 0.2, "noise": 0.0}
    found = study(evaluated(run, tmp_path, lambda s, k, m, r: rank[s], mixtures=1))
    within = row(found, part="length", figure="within")
    # a blank argument has no length: 19 of 20 arguments of poor have one
    assert (1.0, 79) == (pytest.approx(within["value"]), within["n"])
    assert 1.0 == row(found, part="length", figure="tau")["value"]
    assert 9.0 == row(found, part="length", figure="words", candidate="able")["value"]


def guessed(run: Run) -> Finding:
    """The run with scores by a metric whose parts are the two numbers of an answer: label and prediction."""

    def values(self: Any, rows: Any, context: Any) -> list[dict[str, Value]]:
        numbers = [[int(word) for word in r.reading.parsed.split()] for r in rows]
        named = [{"label": float(a), "predicted": float(b)} for a, b in numbers]
        return [{"right": Value(float(p["label"] == p["predicted"]), parts=p)} for p in named]

    body = {"formats": ("argument",), "needs": (), "values": values, "__doc__": "Guesses."}
    registry.metric("guess")(type("Guess", (Metric,), body | {"criteria": (Criterion(criterion="right"),)}))
    run.score("guess")
    return study(run)


def test_classes_that_are_taken_for_others_are_counted(tmp_path: Path) -> None:
    """By hand: of the five items whose class is aspirin, two are taken for rest."""
    texts = {k: f"{k % 4} {3 if k in (0, 4) else k % 4}" for k in range(20)}
    found = guessed(argued(tmp_path / "run", sources=("able", "fair"), texts=lambda s, k: texts[k]))
    aspirin = row(found, part="confusion", candidate="able", text="aspirin")
    assert {"aspirin": 3, "ibuprofen": 0, "paracetamol": 0, "rest": 2} == aspirin["answers"]
    assert (0.6, 5, 5) == (pytest.approx(aspirin["value"]), aspirin["n"], aspirin["n_items"])
    assert "with arguments of able, 'aspirin' is taken for 'rest' in 2 of 5 predictions." in found.text


def test_a_task_with_other_options_in_each_item_has_no_classes(tmp_path: Path) -> None:
    run = argued(
        tmp_path / "run",
        sources=("able", "fair"),
        texts=lambda s, k: "0 0",
        options=lambda k: ["aspirin", "ibuprofen", "paracetamol", "rest", f"drug {k}"],
    )
    assert not [r for r in guessed(run).rows if r["part"] == "confusion"]


def test_any_other_measure_ranks_too(tmp_path: Path) -> None:
    run = argued(tmp_path / "run")
    score(run, "rouge(n=1)")
    found = study(run)
    assert (
        1.0 == row(found, figure="rank_of_mean", candidate="gold", among="arguments", criterion="f1")["value"]
    )


def test_without_a_name_it_is_made_of_arguments_alone(tmp_path: Path) -> None:
    run = argued(tmp_path / "run")
    score(run, "rouge(n=1)")
    assert "arguments" in run.study()


def test_a_threshold_is_an_option_of_the_command(tmp_path: Path, viva: Viva) -> None:
    run = evaluated(argued(tmp_path / "run"), tmp_path, lambda s, k, m, r: share(s, k))
    assert "able" in viva("study", run.file.path, "arguments", "--threshold", "0.6").stdout
    with pytest.raises(SelectionError, match=r"--threshold 1.5: it is a value of alpha, between 0 and 1\."):
        viva("study", run.file.path, "arguments(threshold=1.5)")
    with pytest.raises(SelectionError, match=r"for the study of arguments alone\."):
        viva("study", run.file.path, "ranking", "--threshold", "0.6")


def test_with_three_trainings_no_source_is_named_as_different(tmp_path: Path) -> None:
    """However far apart they are in these trainings: others may favour others."""
    run = evaluated(argued(tmp_path / "run"), tmp_path, lambda s, k, m, r: share(s, k), mixtures=1, runs=3)
    result = study(run)
    ranks = [r for r in result.rows if r["figure"] == "rank_of_mean"]
    reason = "3 runs: ranks hold for these trainings only"
    assert {(None, None, reason)} == {(r["low"], r["high"], r["reason"]) for r in ranks}
    pairs = row(result, figure="pairs_told_apart", among="arguments")
    assert (None, reason) == (pairs["value"], pairs["reason"])
    assert ", rank " not in result.text
    assert "With 3 runs, ranks hold for these trainings only." in result.text


@pytest.mark.parametrize(
    ("mixtures", "runs", "words"),
    [
        (1, 3, " With 3 runs, ranks hold for these trainings only."),
        (1, 5, " Ranks hold for this mixture only."),
        (2, 3, " Ranks hold for these mixtures only."),
        (5, 1, ""),
    ],
)
def test_a_sentence_says_for_which_trainings_ranks_hold(
    tmp_path: Path, mixtures: int, runs: int, words: str
) -> None:
    run = evaluated(
        argued(tmp_path / "run"), tmp_path, lambda s, k, m, r: share(s, k), mixtures=mixtures, runs=runs
    )
    line = study(run).text.split("\n")[0]
    assert "Friedman's test over cases, for these trainings: " in study(run).text
    assert line.endswith(f"differ (Nemenyi).{words}") or f"differ (Nemenyi).{words}\n" in study(run).text
