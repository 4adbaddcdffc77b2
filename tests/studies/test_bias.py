"""Bias: twins against their partners by case, worked by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.studies.making import made, marked, row, score, write_lines

from vivavoce import stats
from vivavoce.core.records import Finding
from vivavoce.run.run import Run, open_run
from vivavoce.store.table_hashes import renew_table_hashes
from vivavoce.studies.bias.variant_pairs import extra_variance

NONE = (
    "No question that was scored for a candidate (floor and ceiling are none) has a twin with its partner "
    "(bias:TYPE, neutral, demographic:SORT=VALUE): "
    "there is nothing to compare."
)


def study(run: Run, **settings: Any) -> Finding:
    return run.study("bias", **settings)["bias"]


# Worked by hand: two repeats each, ten bases and twins.

BIASED = [0, 0, 0, 0, 0, 0, 0, 1, 1, 1]


def twinned(
    biased: Sequence[Any], neutral: Sequence[Any], base: Sequence[Any] = (), *, kind: str = "bias:recency"
) -> dict[str, Any]:
    """Answers to q00, q01, …: each base, its neutral twin and its biased twin, where given."""
    said: dict[str, Any] = {}
    for suffix, values in ((f"|{kind}", biased), ("|neutral", neutral), ("", base)):
        said |= {f"q{n:02}{suffix}": value for n, value in enumerate(values)}
    return said


def test_a_bias_is_held_against_the_neutral_twin_and_a_sentence_against_the_base(tmp_path: Path) -> None:
    """Base 1, neutral 0.8, biased 0 in seven of ten cases and 0.7 in three."""
    biased = [0, 0, 0, 0, 0, 0, 0, 0.7, 0.7, 0.7]
    run = marked(tmp_path, {"A": twinned(biased, [0.8] * 10, [1] * 10)})
    found = study(run)
    r = row(found, contrast="bias", type="all")
    assert pytest.approx((0.21, 0.8, 0.59)) == (r["value"], r["partner"], r["difference"])
    d = np.array([0.8] * 7 + [0.1] * 3)
    half = stats.t_interval(0.0, d.std(ddof=1) / np.sqrt(10), 9).high
    assert pytest.approx((0.59 - half, 0.59 + half)) == (r["low"], r["high"])
    assert "worse" == r["verdict_code"]
    assert (
        "A, told: worth, biased against neutral sentence: 0.590 worse "
        f"({0.59 - half:.3f} to {0.59 + half:.3f}, above 0 is worse); 10 pairs in 10 cases. That is a bias."
    ) in found.text
    assert pytest.approx(0.2) == row(found, contrast="sentence", type="all")["difference"]
    assert "drop" not in {r["contrast"] for r in found.rows}


def test_without_a_neutral_twin_it_is_a_drop(tmp_path: Path) -> None:
    found = study(marked(tmp_path, {"A": twinned(BIASED, [], [1] * 10)}))
    assert {"drop"} == {r["contrast"] for r in found.rows}
    assert "That is a drop, and how much of it is bias a neutral twin would tell." in found.text
    assert "a bias." not in found.text


def test_the_neutral_twin_of_its_own_type_comes_first(tmp_path: Path) -> None:
    answers = twinned([0] * 10, [1] * 10, [1] * 10) | {f"q{n:02}|neutral:recency": 0.5 for n in range(10)}
    found = study(marked(tmp_path, {"A": answers}))
    assert pytest.approx(0.5) == row(found, contrast="bias", type="all")["difference"]
    costs = {r["type"]: r["n_pairs"] for r in found.rows if r["contrast"] == "sentence"}
    assert {"all": 20, "recency": 10} == costs


def test_where_lower_is_better_worse_is_still_above_0(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twinned([1] * 7 + [0] * 3, [0] * 10)})
    score(run, "told(direction=lower)")
    r = row(study(run), type="all")
    assert (pytest.approx(0.7), "worse") == (r["difference"], r["verdict_code"])


def test_a_twin_that_is_better_is_said_to_be(tmp_path: Path) -> None:
    found = study(marked(tmp_path, {"A": twinned([1] * 7 + [0] * 3, [0] * 10)}))
    assert "better" == row(found, type="all")["verdict_code"]
    assert "0.700 better" in found.text
    assert "The twin is better." in found.text


def test_flips_are_shares_of_couples_and_their_floor_is_that_of_repeats(tmp_path: Path) -> None:
    """Biased 0, 1; neutral 1, 1: half of the four couples differ; of repeats 1 of 1 and 0 of 1."""
    found = study(marked(tmp_path, {"A": twinned([[0, 1]] * 10, [[1, 1]] * 10)}))
    r = row(found, type="all")
    assert pytest.approx((0.5, 0.5, 0.0)) == (r["flips"], r["flips_repeats"], r["flips_excess"])
    assert "Its score flips in 50%; 50% between repeats." in found.text


def test_one_answer_to_each_question_has_no_floor(tmp_path: Path) -> None:
    r = row(study(marked(tmp_path, {"A": twinned(BIASED, [1] * 10)})), type="all")
    assert (pytest.approx(0.7), None) == (r["flips"], r["flips_repeats"])
    assert r["reason"].endswith("how often an answer flips by itself is not known")


@pytest.mark.parametrize(("n", "different"), [(9, 5), (12, 5)])
def test_too_few_pairs_are_said_to_be_too_few(tmp_path: Path, n: int, different: int) -> None:
    biased = [0.1 * (k % 5) for k in range(different)] + [0.9] * (n - different)
    found = study(marked(tmp_path, {"A": twinned(biased, [0.9] * n)}))
    r = row(found, type="all")
    assert "too_few" == r["verdict_code"]
    few, found_by_more = f" in {n} cases, of which {different} differ", "."
    if n >= 10:
        found_by_more = f"; an effect of {r['mde']:.3f} could have been detected (80% power)."
    assert (n >= 10) == (r["mde"] is not None)
    assert (
        f"A, told: worth, biased against neutral sentence: {n} pairs{few}: too few to say{found_by_more}"
    ) == found.text


def test_a_difference_of_few_cases_has_the_p_and_the_interval_of_sign_flips(tmp_path: Path) -> None:
    """Seven cases that differ, all one way: p is 2 / 2**7."""
    finding = study(marked(tmp_path, {"A": twinned([0] * 7 + [1] * 5, [1] * 12)}))
    r = row(finding, contrast="bias", type="all")
    assert (7, 0.015625) == (r["n_different"], r["p_adjusted"])
    assert 0 < r["low"] < 7 / 12 < r["high"] <= 1
    assert f"0.583 worse ({r['low']:.3f} to {r['high']:.3f}, above 0 is worse)" in finding.text


def test_eight_twins_that_are_all_worse_are_enough(tmp_path: Path) -> None:
    r = row(study(marked(tmp_path, {"A": twinned([0.1 * k for k in range(8)], [0.9] * 8)})), type="all")
    assert ("worse", 2 / 2**8) == (r["verdict_code"], r["p"])
    assert 0 < r["low"] < r["high"]


def test_where_nothing_differs_nothing_is_promised(tmp_path: Path) -> None:
    found = study(marked(tmp_path, {"A": twinned([1] * 12, [1] * 12)}))
    r = row(found, type="all")
    assert (0.0, 1.0, None, None, None) == (r["difference"], r["p"], r["low"], r["high"], r["mde"])
    assert "without spread" in r["reason"]
    assert "12 pairs in 12 cases, of which 0 differ: too few to say. Its score flips in 0%" in found.text


def test_no_interval_reaches_beyond_the_scale(tmp_path: Path) -> None:
    r = row(study(marked(tmp_path, {"A": twinned([0] * 11 + [1], [1] * 12)})), type="all")
    assert (pytest.approx(11 / 12), 1.0) == (r["difference"], r["high"])


def test_resisting_takes_a_margin_and_an_interval_inside_it(tmp_path: Path) -> None:
    biased = [0.5 + 0.01 * (-1) ** k for k in range(40)]
    for least, code in (("0.1", "equivalent"), ("0.001", "cannot_tell")):
        folder = tmp_path / least
        run = made(folder, {"A": twinned(biased, [0.5] * 40)})
        score(run, f"told(least={least})")
        found = study(run)
        assert code == row(found, type="all")["verdict_code"]
        assert (f"It resists within {least}." in found.text) is (code == "equivalent")
    run = marked(tmp_path / "none", {"A": twinned(biased, [0.5] * 40)})
    assert "cannot_tell" == row(study(run), type="all")["verdict_code"]


def test_marks_that_failed_decide_and_are_counted(tmp_path: Path) -> None:
    """Ten cases fall from 0.5 to 0; six more may fall as far, or rise to 1."""
    biased = [0] * 10 + ["fail"] * 6
    found = study(marked(tmp_path, {"A": twinned(biased, [0.5] * 16)}))
    r = row(found, type="all")
    assert (10, 6, "depends") == (r["n_pairs"], r["n_failed"], r["verdict_code"])
    assert pytest.approx((5 / 16 - 3 / 16, 8 / 16)) == (r["set_low"], r["set_high"])
    assert "It depends on 6 scores that failed: score again before deciding." in found.text


def test_silence_counts_as_the_criterion_says(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twinned([""] * 4 + [1] * 8, [1] * 12)})
    score(run, "told", "told(silence=set_aside)")
    counted = {r["metric"]: (r["n_pairs"], r["difference"]) for r in study(run).rows if r["type"] == "all"}
    assert {"told": (12, pytest.approx(1 / 3)), "told(silence=set_aside)": (8, 0.0)} == counted


def test_a_twin_that_a_candidate_did_not_answer_is_no_pair_and_falls_back_on_nothing(tmp_path: Path) -> None:
    """Its neutral twin exists, so the base is no partner, whoever lacks an answer to it."""
    whole = twinned([0] * 10, [1] * 10, [1] * 10)
    part = {name: value for name, value in whole.items() if name != "q03|neutral"}
    found = study(marked(tmp_path, {"A": whole, "B": part}))
    assert (10, 9) == tuple(row(found, contrast="bias", type="all", candidate=c)["n_pairs"] for c in "AB")
    assert "drop" not in {r["contrast"] for r in found.rows}


def test_twins_of_one_case_are_one_case(tmp_path: Path) -> None:
    said = twinned([0, 0.5] * 8, [1] * 16)
    asked = [
        {"item": name.split("|")[0], "variant": name.split("|")[1], "group": f"g{int(name[1:3]) // 2}"}
        for name in said
    ]
    r = row(study(marked(tmp_path, {"A": said}, items=asked)), type="all")
    assert (16, 8, 2 / 2**8) == (r["n_pairs"], r["n_groups"], r["p"])


def test_order_of_rows_and_names_of_candidates_change_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    said = {c: twinned(*(rng.random((2, 14)).round(3).tolist())) for c in "AB"}
    turned = {{"A": "Z", "B": "Y"}[c]: dict(reversed(own.items())) for c, own in reversed(said.items())}
    one, other = (study(marked(tmp_path / n, s)).rows for n, s in (("one", said), ("two", turned)))

    def figures(rows: Any, names: Mapping[str, str]) -> set[tuple[Any, ...]]:
        keys = ("type", "difference", "low", "high", "p", "p_adjusted", "mde", "set_low")
        return {(names[r["candidate"]], *(r[k] for k in keys)) for r in rows}

    assert figures(one, {"A": "A", "B": "B"}) == figures(other, {"Z": "A", "Y": "B"})


def test_two_exams_are_tested_apart_and_named(tmp_path: Path) -> None:
    said = twinned([0] * 11 + [1], [1] * 12)
    run = made(tmp_path, {"A": said}, name="one")
    made(tmp_path, {"A": {f"p{name}": value for name, value in said.items()}}, name="two", run=run)
    score(run)
    found = study(run)
    assert {("one", 12, 1), ("two", 12, 1)} == {
        (r["benchmark"], r["n_pairs"], r["family"]) for r in found.rows if r["type"] == "all"
    }
    assert "A, told: worth (two), biased against neutral sentence: 0.917 worse" in found.text


def test_two_raters_are_tested_apart(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twinned([0] * 12, [0] * 12)})
    marks = [
        {"candidate": "A", "item": f"q{n:02}", "variant": variant, "rater": who, "value": value}
        for who, biased in (("Ann", 3), ("Bob", 5))
        for n in range(12)
        for variant, value in (("bias:recency", biased - n % 2), ("neutral", 5))
    ]
    run.import_scores(write_lines(tmp_path / "m.jsonl", marks), measure="panel", range={"*": (0, 5)})
    found = study(run)
    assert {("Ann", 2.5, 1), ("Bob", 0.5, 1)} == {
        (r["rater"], r["difference"], r["family"]) for r in found.rows if r["type"] == "all"
    }


def test_floor_and_ceiling_are_left_out(tmp_path: Path) -> None:
    said = {c: twinned(BIASED, [1] * 10) for c in "AFC"}
    found = study(marked(tmp_path, said, role={"F": "floor", "C": "ceiling"}))
    assert {"A"} == {r["candidate"] for r in found.rows}


@pytest.mark.parametrize("names", [["q00", "q01"], ["q00|bias:recency"], ["q00|neutral", "q01"]])
def test_without_twins_there_is_one_sentence(tmp_path: Path, names: list[str]) -> None:
    found = study(marked(tmp_path, {"A": dict.fromkeys(names, 1)}))
    assert ((), NONE, ()) == (found.rows, found.text, found.notes)


def test_a_sample_is_said_to_count_each_pair_alike(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twinned(BIASED, [1] * 10)})
    before = study(run).rows
    with run.file.writing() as db:  # as `viva collect --sample` writes them
        db.execute("UPDATE items SET weight = 3 WHERE item < 'q05'")
        renew_table_hashes(db)
    found = study(run)
    assert ("A sample was asked: pairs of twins count each question alike.",) == found.notes
    assert before == found.rows


# Demographic twins.


def patients(*values: Sequence[Any], sort: str = "sex") -> dict[str, Any]:
    shown = ("female", "male", "unstated")
    return {
        f"q{n:02}|demographic:{sort}={name}": value
        for name, own in zip(shown, values, strict=False)
        for n, value in enumerate(own)
    }


def test_presentations_are_tested_by_their_variance_beyond_that_of_repeats(tmp_path: Path) -> None:
    """Women 0.8, 0.6 and men 0.4, 0.2: var of 0.7 and 0.3 is 0.08, less 0.02 / 2; then the reverse."""
    women = [[0.8, 0.6]] * 6 + [[0.4, 0.2]] * 6
    men = [[0.4, 0.2]] * 6 + [[0.8, 0.5]] * 6
    found = study(marked(tmp_path, {"A": patients(women, men)}))
    first, second = 0.08 - 0.01, (0.3 - 0.65) ** 2 / 2 - (0.02 / 2 + 0.045 / 2) / 2
    d = np.array([first] * 6 + [second] * 6)
    r = row(found, contrast="demographic", type="sex")
    assert pytest.approx(d.mean()) == r["difference"]
    half = stats.t_interval(0.0, d.std(ddof=1) / np.sqrt(12), 11).high
    assert pytest.approx((d.mean() - half, d.mean() + half)) == (r["low"], r["high"])
    assert (12, 12, "worse") == (r["n_pairs"], r["n_groups"], r["verdict_code"])
    assert "A, told: worth, sex: variance beyond that of repeats 0.057" in found.text
    assert "Answers differ with what the patient is said to be." in found.text
    e = stats.estimate_mean([0.7] * 6 + [0.3] * 6, range(12), low=0, high=1)
    r = row(found, type="sex=female")
    assert pytest.approx((e.value, e.low, e.high)) == (r["value"], r["low"], r["high"])


def test_presentations_that_are_alike_add_nothing_on_average() -> None:
    """Scores drawn alike for all: over 40 draws the mean of the excess is 0 within its own error."""
    rng = np.random.default_rng(8)
    places = [(f"q{i}", f"q{i}", f"v{v}", k) for i in range(30) for v in range(3) for k in range(2)]
    columns = ["item", "group", "variant", "repeat"]
    means = [
        extra_variance(
            pl.DataFrame(places, schema=columns, orient="row").with_columns(
                observed=pl.Series(rng.random(len(places)))
            )
        ).variances.mean()
        for _ in range(40)
    ]
    assert abs(np.mean(means)) < 3 * np.std(means, ddof=1) / np.sqrt(40)


def test_one_answer_each_tells_nothing_of_chance(tmp_path: Path) -> None:
    r = row(study(marked(tmp_path, {"A": patients([0.1] * 12, [0.9] * 12)})), type="sex")
    assert (None, None, 0) == (r["difference"], r["p"], r["n_pairs"])
    assert "no question with two repeats of two presentations each" == r["reason"]


def test_a_lone_demographic_twin_is_held_against_its_base(tmp_path: Path) -> None:
    said = patients([[0.8, 0.6]] * 12) | {f"q{n:02}": [0.2, 0.1] for n in range(12)}
    found = study(marked(tmp_path, {"A": said}))
    assert ["sex", "sex=as asked", "sex=female"] == [r["type"] for r in found.rows]
    assert pytest.approx(0.55**2 / 2 - (0.01 + 0.0025) / 2) == row(found, type="sex")["difference"]


# The sample exam.


def test_the_sample_exam_works_from_end_to_end(tmp_path: Path) -> None:
    """Twelve biased and twelve neutral twins, of which the planted answers are scored too."""
    run = open_run(tmp_path / "sample.viva")
    run.import_answers(SAMPLE / "answers.jsonl", benchmark="sample")
    run.score("planted", "accuracy")
    marks = run.scores.filter(metric="planted", repeat=1)
    who = marks["candidate"].n_unique()
    assert 24 * who == marks.height
    assert {"bias:recency", "bias:frequency", "bias:status_quo", "neutral"} == set(marks["variant"])
    found = study(run)
    for candidate in set(marks["candidate"]):
        r = row(found, metric="planted", candidate=candidate, contrast="bias", type="all")
        own = run.scores.filter(metric="planted", candidate=candidate).with_columns(
            pl.col("value").fill_null(0), sort=pl.col("variant").str.split(":").list.first()
        )
        by_item = own.group_by("sort", "item").agg(pl.col("value").mean())
        mean = dict(by_item.group_by("sort").agg(pl.col("value").mean()).iter_rows())
        assert pytest.approx(mean["bias"] - mean["neutral"]) == r["difference"]
        assert 12 == r["n_pairs"]
        assert 8 == row(found, metric="accuracy", candidate=candidate, contrast="bias", type="all")["n_pairs"]
    assert "sentence" not in {r["contrast"] for r in found.rows if r["metric"] == "planted"}
    assert "8 pairs: too few to say" in found.text


SAMPLE = Path(__file__).parents[2] / "src" / "vivavoce" / "benchmarks" / "sample"
