"""Size: steps within a family, the slope across models, medical against base; by hand and on real scores."""

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import linregress, t
from tests.studies.making import marked, row, twins

from vivavoce import stats
from vivavoce.core.records import Finding, ModelCard
from vivavoce.models.cards import card_of, cards
from vivavoce.run.run import Run
from vivavoce.run.tables.load import load_scores
from vivavoce.store.view import with_view
from vivavoce.studies.comparing.size import COLUMNS, Size
from vivavoce.studies.score_table import ScoreTable, resolve


def card(name: str, parameters: float | None = None, **fields: Any) -> ModelCard:
    return ModelCard(**{"name": name, "family": "Fam", "parameters": parameters, "medical": False} | fields)


def findings(marks: ScoreTable, known: Mapping[str, ModelCard]) -> Finding:
    return Size().findings(marks._replace(cards=known))


def marks_of(run: Run) -> ScoreTable:
    return with_view(run.file, load_scores)


def by_label(*known: ModelCard) -> dict[str, ModelCard]:
    return {one.name: one for one in known}


@pytest.fixture
def marks(tmp_path: Path) -> Callable[..., ScoreTable]:
    """`marks(answers, spec='told')`: what candidates' answers are worth, by the plugin metric."""
    return lambda answers, spec="told", **more: marks_of(marked(tmp_path, answers, spec, **more))


def slope(finding: Finding, **wanted: Any) -> dict[str, Any]:
    return row(finding, contrast="slope", **wanted)


# by hand: differences .2 of 12 questions in a row, with one reversed
SMALL = [0.5] * 12
LARGE = [0.7] * 11 + [0.3]


def test_a_step_is_larger_less_next_smaller_paired_by_case(marks: Callable[..., ScoreTable]) -> None:
    """11 differences of .2 and one of -.2: mean 1/6, SE sqrt(sum (d - mean)^2 / (12 * 11)) = 1/30."""
    found = findings(
        marks({"small": twins(SMALL), "large": twins(LARGE)}), by_label(card("small", 8), card("large", 70))
    )
    step = row(found, contrast="size")
    assert ("large", "small", 70.0, 8.0, "Fam") == tuple(
        step[k] for k in ("a", "b", "parameters_a", "parameters_b", "family")
    )
    assert pytest.approx(1 / 6) == step["difference"]
    half = t.ppf(0.975, 11) / 30
    assert pytest.approx((1 / 6 - half, 1 / 6 + half)) == (step["low"], step["high"])
    assert (12, 12, 11, 0, 1) == tuple(step[k] for k in ("n_items", "n_groups", "wins", "ties", "losses"))
    assert (1, step["p"]) == (step["n_pairs"], step["p_adjusted"])
    assert "large is better" in found.text


def test_only_neighbours_in_size_are_compared(marks: Callable[..., ScoreTable]) -> None:
    names = {"s1": 1, "s8": 8, "s70": 70}
    found = findings(
        marks({name: twins([k / 9] * 3) for k, name in enumerate(names)}),
        by_label(*(card(n, p) for n, p in names.items())),
    )
    steps = [(r["a"], r["b"]) for r in found.rows if r["contrast"] == "size"]
    assert [("s70", "s8"), ("s8", "s1")] == steps


@pytest.mark.parametrize(
    "other",
    [{"family": "Else"}, {"family": None}, {"medical": True}, {"instructed": False}, {"parameters": 70.0},
     {"parameters": None}],
)  # fmt: skip
def test_what_is_of_another_kind_is_no_step(
    marks: Callable[..., ScoreTable], other: Mapping[str, Any]
) -> None:
    small = ModelCard(**{"name": "small", "family": "Fam", "parameters": 8.0, "medical": False, **other})
    found = findings(
        marks({"small": twins(SMALL), "large": twins(LARGE)}), by_label(small, card("large", 70))
    )
    assert [] == [r for r in found.rows if r["contrast"] == "size"]


def test_of_several_partners_the_nearest_is_taken(marks: Callable[..., ScoreTable]) -> None:
    """First the same settings, then the same month."""
    labels = ("big(t=1)", "old(t=1)", "new(t=0)", "new(t=1)")
    known = {
        "big(t=1)": card("big", 70, release="2024-07"),
        "old(t=1)": card("old", 8, release="2024-04"),
        "new(t=0)": card("new", 8, release="2024-07"),
        "new(t=1)": card("new", 8, release="2024-07"),
    }
    found = findings(marks({name: twins([0.5, 0.5]) for name in labels}), known)
    assert [("big(t=1)", "new(t=1)")] == [(r["a"], r["b"]) for r in found.rows if r["contrast"] == "size"]


def test_a_medical_model_is_set_against_the_form_of_its_base_that_is_like_it(
    marks: Callable[..., ScoreTable],
) -> None:
    known = by_label(
        card("med", 8, family="Med", medical=True, instructed=True, base=("raw", "chat")),
        card("raw", 8, instructed=False),
        card("chat", 8, instructed=True),
    )
    found = findings(marks({"med": twins(LARGE), "raw": twins(SMALL), "chat": twins(SMALL)}), known)
    step = row(found, contrast="medical")
    assert ("med", "chat") == (step["a"], step["b"])
    assert "med (8 billion) against its base chat (8 billion)" in found.text


def test_holm_runs_over_all_pairs_of_the_call(marks: Callable[..., ScoreTable]) -> None:
    answers = {
        "s1": twins([0.1, 0.2, 0.3] * 5),
        "s8": twins([0.3, 0.3, 0.3] * 5),
        "s70": twins([0.6, 0.2, 0.4] * 5),
    }
    known = by_label(card("s1", 1), card("s8", 8), card("s70", 70, base=None))
    found = findings(
        marks(answers, "told(criteria_named=[worth, tone])"),
        known,
    )
    paired = [r for r in found.rows if r["contrast"] != "slope"]
    assert 4 == len(paired)
    assert {4} == {r["n_pairs"] for r in paired}
    assert pytest.approx(stats.holm([r["p"] for r in paired]).tolist()) == [r["p_adjusted"] for r in paired]
    assert all(r["low_family"] < r["low"] for r in paired)
    assert "4 comparisons made together: p by Holm, intervals in the sentences by Bonferroni." in found.notes


def test_where_lower_is_better_the_sign_stays_the_metrics_own(marks: Callable[..., ScoreTable]) -> None:
    known = by_label(card("small", 8), card("large", 70))
    found = findings(marks({"small": twins(SMALL), "large": twins(LARGE)}, "told(direction=lower)"), known)
    step = row(found, contrast="size")
    assert pytest.approx(1 / 6) == step["difference"]
    assert step["low"] < 1 / 6 < step["high"]
    assert ("b", "better", 1, 11) == (step["favours"], step["verdict_code"], step["wins"], step["losses"])
    assert "small is better" in step["verdict"]


def test_equal_marks_are_ties_and_show_nothing(marks: Callable[..., ScoreTable]) -> None:
    found = findings(
        marks({"small": twins(SMALL), "large": twins(SMALL)}), by_label(card("small", 8), card("large", 70))
    )
    step = row(found, contrast="size")
    assert (0.0, 1.0, 12, "too_few", None) == tuple(
        step[k] for k in ("difference", "p", "ties", "verdict_code", "favours")
    )


def test_failed_marks_that_decide_it_leave_it_open(marks: Callable[..., ScoreTable]) -> None:
    answers = {"small": twins(["0.5"] * 20), "large": twins(["0.6"] * 12 + ["fail"] * 8)}
    found = findings(marks(answers), by_label(card("small", 8), card("large", 70)))
    step = row(found, contrast="size")
    assert (8, "depends") == (step["n_failed"], step["verdict_code"])


def test_a_candidate_without_marks_is_a_reason(tmp_path: Path) -> None:
    run = marked(tmp_path, {"small": twins(SMALL), "large": twins(["fail"] * 12)})
    found = findings(marks_of(run), by_label(card("small", 8), card("large", 70)))
    step = row(found, contrast="size")
    assert step["difference"] is None
    assert "every score on the questions they share failed" == step["reason"]
    assert "incomparable" == step["verdict_code"]


def test_the_slope_is_that_of_least_squares_with_a_t_interval_over_models(
    marks: Callable[..., ScoreTable],
) -> None:
    """Sizes 1, 10, 100, 1000 and means .1, .3, .4, .8: slope .22, residual SS .018, SE sqrt(.009 / 5)."""
    means = {"m0": 0.1, "m1": 0.3, "m2": 0.4, "m3": 0.8}
    found = slope(
        findings(
            marks({name: twins([value] * 3) for name, value in means.items()}),
            by_label(*(card(name, 10**k, family=name) for k, name in enumerate(means))),
        )
    )
    half = t.ppf(0.975, 2) * math.sqrt(0.009 / 5)
    assert pytest.approx((0.22, 0.22 - half, 0.22 + half)) == (found["slope"], found["low"], found["high"])
    assert (4, 3, 3, None) == (found["n_models"], found["n_items"], found["n_groups"], found["p"])


def test_few_models_are_called_few(marks: Callable[..., ScoreTable]) -> None:
    def said(n: int, folder: str) -> str:
        values = [0.1, 0.3, 0.2, 0.5, 0.4][:n]
        made = marks({f"{folder}{k}": twins([v] * 3) for k, v in enumerate(values)}, name=folder)
        made = made._replace(scores=made.scores.filter(pl.col("candidate").str.starts_with(folder)))
        return findings(made, {f"{folder}{k}": card(f"{folder}{k}", 10**k) for k in range(n)}).text

    assert "So few models can show a slope that is chance." in said(4, "few")
    assert "So few models" not in said(5, "enough")


@pytest.mark.parametrize(
    ("sizes", "values", "reason"),
    [
        ((8, 70), (0.1, 0.5), "2 models of known size: two points always lie on a line"),
        ((8, None, None), (0.1, 0.5, 0.6), "1 model of known size: two points always lie on a line"),
        ((8, 8, 8), (0.1, 0.5, 0.6), "all models have the same size"),
        ((1, 10, 100), (0.1, 0.2, 0.3), "the means lie on a line: without spread no interval"),
        ((1, 10, 100), (0.5, 0.5, 0.5), "the means lie on a line: without spread no interval"),
    ],
)
def test_a_slope_that_cannot_be_told_has_a_reason(
    marks: Callable[..., ScoreTable],
    sizes: tuple[float | None, ...],
    values: tuple[float, ...],
    reason: str,
) -> None:
    names = [f"m{k}" for k in range(len(sizes))]
    made = marks({n: twins([v] * 3) for n, v in zip(names, values, strict=True)})
    found = slope(findings(made, by_label(*(card(n, s) for n, s in zip(names, sizes, strict=True)))))
    assert reason == found["reason"]
    assert (None, None) == (found["low"], found["high"])


def test_two_settings_of_one_model_are_one_point(marks: Callable[..., ScoreTable]) -> None:
    """The mean of the two stands for the model."""
    one, ten, hundred = card("m0", 1), card("m1", 10), card("m2", 100)
    made = marks({"m0(t=0)": twins([0.1, 0.1]), "m0(t=1)": twins([0.3, 0.3]), "m1": twins([0.5, 0.5]),
                  "m2": twins([0.4, 0.4])})  # fmt: skip
    found = slope(findings(made, {"m0(t=0)": one, "m0(t=1)": one, "m1": ten, "m2": hundred}))
    assert (3, pytest.approx(0.1)) == (found["n_models"], found["slope"])


def test_who_has_no_card_or_no_parameters_is_named(marks: Callable[..., ScoreTable]) -> None:
    made = marks({name: twins([0.5, 0.6]) for name in ("stray", "closed", "med", "orphan")})
    known = by_label(
        card("closed", None, open=False),
        card("med", 7, medical=True, base=("absent",)),
        card("orphan", 7, medical=True),
    )
    assert (
        "Without a card: stray.",
        "Left out of sizes, parameters not known: closed.",
        "Medical, with no base on the card: orphan.",
        "Medical, with no base among the candidates: med.",
    ) == findings(made, known).notes


def test_without_cards_there_is_no_pair_and_a_reason_for_no_slope(marks: Callable[..., ScoreTable]) -> None:
    found = findings(marks({"a": twins([0.5]), "b": twins([0.6])}), {})
    assert ("0 models of known size: two points always lie on a line",) == tuple(
        r["reason"] for r in found.rows
    )
    assert ("Without a card: a, b.",) == found.notes


def test_without_marks_nothing_is_said(marks: Callable[..., ScoreTable]) -> None:
    made = marks({"a": twins([0.5])})
    found = findings(made._replace(scores=made.scores.clear()), {})
    assert ((), "No scores of candidates: nothing to say of size.") == (found.rows, found.text)


def test_the_order_of_rows_and_cards_decides_nothing(marks: Callable[..., ScoreTable]) -> None:
    names = {"s1": 1.0, "s8": 8.0, "s70": 70.0}
    made = marks({n: twins([0.1 * k, 0.3, 0.2 * k]) for k, n in enumerate(names, 1)})
    known = by_label(*(card(n, p) for n, p in names.items()))
    shuffled = made._replace(scores=made.scores.sample(fraction=1, shuffle=True, seed=4))

    def sorted_rows(found: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        return sorted(found, key=lambda r: (r["contrast"], r["a"] or ""))

    back = findings(shuffled, dict(reversed(known.items())))
    assert sorted_rows(findings(made, known).rows) == sorted_rows(back.rows)


def test_every_row_has_every_column(marks: Callable[..., ScoreTable]) -> None:
    made = marks({"small": twins(SMALL), "large": twins(LARGE)})
    for found in findings(made, by_label(card("small", 8), card("large", 70))).rows:
        assert COLUMNS == tuple(found)


# real scores


@pytest.fixture(scope="module")
def real(recorded: Run) -> ScoreTable:
    return with_view(recorded.file, load_scores)


@pytest.fixture(scope="module")
def sizes(real: ScoreTable) -> Finding:
    known = cards()
    labels = real.scores["candidate"].unique()
    return findings(real, {label: one for label in labels if (one := card_of(label, known))})


def values(real: ScoreTable, criterion: str) -> pl.DataFrame:
    """Candidates' items on a criterion of the recorded judge."""
    ((key, measure),) = [(k, m) for k, m in real.measures.items() if m.criterion.criterion == criterion]
    return resolve(real.scores.filter(pl.col("measure_id") == key), measure.criterion)


@pytest.mark.parametrize("criterion", ["comprehension", "harm", "demographic_bias", "f1"])
@pytest.mark.parametrize(
    ("a", "b", "contrast"),
    [
        ("Llama 3.3-70B-Instruct", "Llama 3.1-8B-Instruct", "size"),
        ("Llama 3.1-8B-Instruct", "Llama 3.2-1B-Instruct", "size"),
        ("MedGemma 27B", "Gemma 3 27B", "medical"),
    ],
)
def test_on_real_marks_the_difference_is_that_of_the_paired_statistics(
    real: ScoreTable, sizes: Finding, criterion: str, a: str, b: str, contrast: str
) -> None:
    table = values(real, criterion).pivot("candidate", index=["item", "variant", "group"], values="observed")
    both = table.drop_nulls([a, b])
    wanted = stats.paired((both[a] - both[b]).to_numpy(), both["group"].to_numpy())
    found = row(sizes, a=a, b=b, criterion=criterion, contrast=contrast)
    interval = wanted.interval() or (None, None)
    assert pytest.approx((wanted.difference, *interval, wanted.p)) == tuple(
        found[k] for k in ("difference", "low", "high", "p")
    )
    assert (wanted.n_items, wanted.n_groups) == (found["n_items"], found["n_groups"])


@pytest.mark.parametrize("criterion", ["comprehension", "f1"])
def test_on_real_marks_the_slope_is_that_of_a_plain_regression(
    real: ScoreTable, sizes: Finding, criterion: str
) -> None:
    known = cards()
    table = values(real, criterion).filter(pl.col("role") == "candidate")
    wide = table.pivot("candidate", index=["item", "variant"], values="observed")
    sized = {c: p for c in wide.columns[2:] if (k := card_of(c, known)) and (p := k.parameters)}
    assert 8 == len(sized)
    means = wide.drop_nulls(list(sized)).select(*sized).mean().row(0)
    wanted = linregress(np.log10(list(sized.values())), means)
    found = slope(sizes, criterion=criterion)
    half = t.ppf(0.975, 6) * wanted.stderr
    assert pytest.approx((wanted.slope, wanted.slope - half, wanted.slope + half)) == tuple(
        found[k] for k in ("slope", "low", "high")
    )


def test_on_real_marks_the_closed_and_the_orphaned_are_named(sizes: Finding) -> None:
    assert "Left out of sizes, parameters not known: Claude 3.5 Sonnet, Gemini 2.5 Pro." in sizes.notes
    assert "Medical, with no base among the candidates: Med42-70B, Meditron 3-70B." in sizes.notes


def test_on_real_marks_the_ceiling_is_nobodys_partner(sizes: Finding) -> None:
    assert "Rephrased Gold Answers" not in str(sizes.rows)


FAMILIES = ("s1", "s10", "s100")


def three_sizes(marks: Callable[..., ScoreTable], spec: str = "told") -> dict[str, Any]:
    """Means .2, .4 and .8 on what was scored; two of the largest model's scores failed."""
    answers = {
        "s1": twins([0.1, 0.3] * 6),
        "s10": twins([0.3, 0.5] * 6),
        "s100": twins([0.7, 0.9] * 5 + ["fail", "fail"]),
    }
    known = {name: card(name, 10.0**k, family=name) for k, name in enumerate(FAMILIES)}
    return slope(findings(marks(answers, spec), known))


def test_a_slope_has_bounds_where_scores_failed(marks: Callable[..., ScoreTable]) -> None:
    """By hand: the largest has 8 / 12 or 10 / 12, and the slope is half its lead on the smallest."""
    row = three_sizes(marks)
    assert (2, pytest.approx(0.3)) == (row["n_failed"], row["slope"])
    assert pytest.approx(((8 / 12 - 0.2) / 2, (10 / 12 - 0.2) / 2)) == (row["set_low"], row["set_high"])
    assert row["bound_low"] <= row["low"] < row["high"] <= row["bound_high"]


def test_a_slope_without_a_limit_has_no_bounds(marks: Callable[..., ScoreTable]) -> None:
    row = three_sizes(marks, "told(low=null, high=null, silence=set_aside)")
    assert (None, None) == (row["set_low"], row["set_high"])
    assert "a scale without a limit has no bound" in row["reason"]


def test_a_step_has_bounds_beside_the_difference(marks: Callable[..., ScoreTable]) -> None:
    answers = {"small": twins(SMALL), "large": twins([*LARGE[:-1], "fail"])}
    found = findings(marks(answers), by_label(card("small", 8), card("large", 70)))
    (step,) = (r for r in found.rows if r["contrast"] == "size")
    assert step["bound_low"] < step["set_low"] < step["set_high"] < step["bound_high"]
