"""Bias in published marks: drops of ten models, every figure recomputed from the file."""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.studies.conftest import FIVE
from tests.studies.making import row, write_lines
from tests.studies.test_bias import study

from vivavoce import stats
from vivavoce.core.records import Finding
from vivavoce.run.run import Run
from vivavoce.studies.bias.rows import BiasRow
from vivavoce.studies.study import columns

CEILING = "Rephrased Gold Answers"
FOUR = ("comprehension", "reasoning", "knowledge_recall", "harm")
MODELS = {"item": "question_id", "repeat": "iteration", "candidate": "model"}


def judged(hivmedqa: Path) -> pl.DataFrame:
    """The supervised judge's scores that could be parsed."""
    table = pl.read_csv(hivmedqa / "judge_scores.csv", infer_schema_length=None)
    supervised = pl.col("supervised").cast(pl.String).str.to_lowercase() == "true"
    return table.filter(supervised, parse_status="ok")


@pytest.fixture(scope="module")
def made_of_four(
    published: Callable[..., Run], hivmedqa: Path, tmp_path_factory: pytest.TempPathFactory
) -> Run:
    """The recorded scores as two measures: the mean of four criteria, and whether comprehension reached 4."""
    run, folder = published("comprehension"), tmp_path_factory.mktemp("four")
    table = judged(hivmedqa)
    for measure, value, ends in (
        ("four", pl.mean_horizontal(FOUR), (0, 5)),
        ("success", (pl.col("comprehension") >= 4).cast(pl.Float64), (0, 1)),
    ):
        rows = table.select(*MODELS.values(), value=value).to_dicts()
        file = write_lines(folder / f"{measure}.jsonl", rows)
        run.import_scores(file, measure=measure, map=MODELS, range={"*": ends}, blank="recorded")
    return run


@pytest.fixture(scope="module")
def bias_of_four(made_of_four: Run, paper: str) -> Finding:
    return study(made_of_four, items=paper)


@pytest.fixture(scope="module")
def bias_of_five(recorded: Run, paper: str) -> Finding:
    return study(recorded, items=paper)


@pytest.mark.parametrize(
    ("candidate", "figures"),
    [
        ("MedGemma 27B", (0.2595, 0.0540, 0.4651, 0.0159, 0.1592, 0.290)),
        ("Meditron 3-70B", (0.2833, 0.0367, 0.5300, 0.0265, 0.2381, 0.348)),
        ("NVLM-70B", (0.3381, -0.1241, 0.8003, 0.1427, 0.7135, 0.653)),
        ("Gemini 2.5 Pro", (0.0071, -0.1643, 0.1786, 0.9316, 1, 0.242)),
    ],
)
def test_golden_drops_of_the_mean_of_four_criteria(
    bias_of_four: Finding, candidate: str, figures: tuple[float, ...]
) -> None:
    r = row(bias_of_four, metric="four", candidate=candidate, type="all")
    names = ("difference", "low", "high", "p", "p_adjusted", "mde")
    assert pytest.approx(figures, abs=5.1e-5 if figures[-1] == 1 else 5.1e-4) == tuple(r[k] for k in names)
    assert pytest.approx(figures[:-1], abs=5.1e-5) == tuple(r[k] for k in names[:-1])
    assert ("drop", 21, 21, 10) == (r["contrast"], r["n_pairs"], r["n_groups"], r["family"])


def test_no_drop_of_ten_models_survives_holm_and_the_words_say_what_would_have_been_found(
    bias_of_four: Finding,
) -> None:
    found = bias_of_four
    whole = [r for r in found.rows if r["metric"] == "four" and r["type"] == "all"]
    assert 10 == len(whole)
    assert not any(r["p_adjusted"] <= 0.05 for r in whole)
    assert 20 == row(found, metric="four", candidate="Med42-70B", type="all")["n_pairs"]
    r = row(found, metric="four", candidate="MedGemma 27B", type="all")
    assert (
        "0.26 worse (0.05 to 0.47, above 0 is worse); 21 pairs in 21 cases. Nothing was shown, by Holm over "
        f"10 tests; an effect of {stats.mde(0.0985, df=20, k=10):.2f} could have been detected "
        "(80% power)."
    ) == r["verdict"]
    assert f"MedGemma 27B, four, biased sentence against none: {r['verdict']}" in found.text
    assert "A drop has no neutral twin: part of it may be what any added sentence costs." in found.notes
    assert {columns(BiasRow)} == {tuple(r) for r in found.rows}


@pytest.mark.parametrize(
    ("candidate", "twin", "repeat"),
    [("Meditron 3-70B", 0.272, 0.257), ("MedGemma 27B", 0.259, 0.210), ("Gemini 2.5 Pro", 0.105, 0.110)],
)
def test_golden_flips_beside_the_flips_between_repeats(
    bias_of_four: Finding, candidate: str, twin: float, repeat: float
) -> None:
    r = row(bias_of_four, metric="success", candidate=candidate, type="all")
    assert pytest.approx((twin, repeat), abs=5.1e-4) == (r["flips"], r["flips_repeats"])


def test_who_only_repeats_one_text_has_flips_and_no_floor(bias_of_four: Finding) -> None:
    r = row(bias_of_four, metric="success", candidate="NVLM-70B", type="all")
    assert r["flips"] is not None
    assert (None, None) == (r["flips_repeats"], r["flips_excess"])
    assert r["reason"].endswith("what differs between repeats is not known")


def test_graded_marks_have_no_flips_and_a_note_says_so(bias_of_four: Finding) -> None:
    assert {None} == {r["flips"] for r in bias_of_four.rows if r["metric"] == "four"}
    (note,) = (n for n in bias_of_four.notes if n.startswith("Flips"))
    assert "no threshold is made up: " in note
    assert "four" in note
    assert "success" not in note


def test_drops_of_every_criterion_are_those_of_a_second_computation(
    bias_of_five: Finding, hivmedqa: Path
) -> None:
    """By NumPy from the file alone, Holm over ten models and the five criteria of one call."""
    found = bias_of_five
    table = judged(hivmedqa)
    questions = pl.read_ndjson(hivmedqa / "questions.jsonl", infer_schema_length=None)
    pairs = [
        (base, twin)
        for twin, base, kept in questions.select("id", "derived_from", "paper_subset").iter_rows()
        if base and kept
    ]
    ps: dict[tuple[str, str], float] = {}
    for criterion, candidate in itertools.product(FIVE, sorted(set(table["model"]) - {CEILING})):
        own = table.filter(model=candidate)
        mean = dict(own.group_by("question_id").agg(pl.col(criterion).mean()).iter_rows())
        d = np.array([mean[a] - mean[b] for a, b in pairs if a in mean and b in mean])
        r = row(found, criterion=criterion, candidate=candidate, contrast="drop", type="all")
        se = d.std(ddof=1) / np.sqrt(len(d))
        assert pytest.approx((d.mean(), len(d), int((d.round(9) != 0).sum())), abs=1e-9) == (
            r["difference"],
            r["n_pairs"],
            r["n_different"],
        )
        if r["n_different"] < 10:
            assert stats.paired(d, range(len(d))).interval() == (
                None if r["low"] is None else pytest.approx((r["low"], r["high"]))
            )
            assert stats.sign_flips(d, rng=np.random.default_rng(0)).p == r["p"]
        else:
            half = stats.t_interval(0.0, se, len(d) - 1).high
            assert pytest.approx((d.mean() - half, d.mean() + half)) == (r["low"], r["high"])
        ps[criterion, candidate] = r["p"]
    ordered = sorted(ps, key=lambda name: ps[name])
    highest = 0.0
    for place, (criterion, candidate) in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - place) * ps[criterion, candidate]))
        r = row(found, criterion=criterion, candidate=candidate, contrast="drop", type="all")
        assert pytest.approx(highest) == r["p_adjusted"]
        assert 50 == r["family"]
    assert 10 == row(found, criterion="f1", candidate="Gemini 2.5 Pro", type="all")["family"]


def test_a_type_alone_has_no_test_and_below_six_pairs_that_differ_no_interval(bias_of_five: Finding) -> None:
    own = [r for r in bias_of_five.rows if r["criterion"] == "harm" and r["candidate"] == "Gemma 3 27B"]
    assert {"all": 21, "recency": 8, "frequency": 7, "status_quo": 6} == {
        r["type"]: r["n_pairs"] for r in own
    }
    for r in own[1:]:
        assert (None, None, None) == (r["p"], r["p_adjusted"], r["verdict"])
        assert r["mde"] is None
        if r["type"] == "recency":
            assert pytest.approx((-0.2, 0.9333), abs=5e-5) == (r["low"], r["high"])
            assert "of a type alone there is an interval and no test" == r["reason"]
        else:
            assert (None, None) == (r["low"], r["high"])
            assert r["reason"].startswith("no interval: too few cases differ for one at this level")
