"""Correlation: the published coefficients at every level, and who may be compared with whom."""

import math
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import kendalltau
from tests.studies.making import Answers, made, marked, row, score, twins, write_lines

from vivavoce.core.records import Finding
from vivavoce.run.run import Run
from vivavoce.run.tables.load import load_scores
from vivavoce.store.view import with_view
from vivavoce.studies.reliability.correlation import Correlation, CorrelationRow
from vivavoce.studies.study import columns

F1 = "medsynf1(variant=gptdict_lemma)"


def study(run: Run, **settings: Any) -> Finding:
    return run.study("correlation", **settings)["correlation"]


@pytest.fixture(scope="module")
def found(recorded: Run, paper: str) -> Finding:
    return study(recorded, items=paper)


@pytest.mark.parametrize(
    ("level", "pearson", "spearman", "kendall"),
    [
        ("system", ".3671", ".3455", ".2444"),
        ("item", ".3171", ".2860", ".2018"),
        ("item_centred", ".1891", ".1858", ".1274"),
        ("double_centred", ".1171", ".1165", ".0788"),
        ("pooled", ".2270", ".2089", ".1507"),
    ],
)
def test_comprehension_and_medsynf1(
    found: Finding, level: str, pearson: str, spearman: str, kendall: str
) -> None:
    """Section 7 of docs/statistics.md: ten models on the 61 questions that all of them have."""
    for coefficient, value in (("pearson", pearson), ("spearman", spearman), ("kendall", kendall)):
        r = row(
            found, a="medgpt by gpt-4o-2024-08-06: comprehension", b=F1, level=level, coefficient=coefficient
        )
        assert value == f"{r['value']:.4f}"[1:]
        assert (10, 61, 41, False) == tuple(
            r[k] for k in ("n_candidates", "n_items", "n_groups", "by_construction")
        )


def test_pairs_of_models_in_the_same_order(found: Finding) -> None:
    r = row(
        found, a="medgpt by gpt-4o-2024-08-06: comprehension", b=F1, level="system", coefficient="kendall"
    )
    assert (28, 45) == (r["same_order"], r["n_pairs"])
    assert 0 <= r["told_apart_alike"] <= r["told_apart"] <= 24


def test_with_ten_models_r_under_632_cannot_be_told_from_zero(found: Finding) -> None:
    """Fisher's z with n = 10 models, of disjoint halves of the cases: tanh(atanh(r) -/+ 1.96 / sqrt(7))."""
    r = row(
        found, a="medgpt by gpt-4o-2024-08-06: comprehension", b=F1, level="system", coefficient="pearson"
    )
    ends = [math.tanh(math.atanh(r["value_halves"]) + s * 1.959964 / math.sqrt(7)) for s in (-1, 1)]
    assert pytest.approx(ends) == [r["low"], r["high"]]
    assert (
        f"medgpt by gpt-4o-2024-08-06: comprehension and {F1} on hivmedqa, 10 candidates, 61 questions in 41 "
        "cases: tau-b 0.24, same order in 28 of 45 pairs, r 0.37, "
        "0.36 (-0.35 to 0.81) between disjoint halves of the cases; with so few candidates |r| under 0.63 "
        "cannot be told from zero."
    ) in found.text


def test_criteria_of_one_call_are_marked_and_leave_the_family(found: Finding) -> None:
    """Section 7: .9923 for comprehension and harm, which one reply of the judge gave together."""
    r = row(
        found,
        a="medgpt by gpt-4o-2024-08-06: comprehension",
        b="medgpt by gpt-4o-2024-08-06: harm",
        level="system",
        coefficient="pearson",
    )
    assert (".9923", True) == (f"{r['value']:.4f}"[1:], r["by_construction"])
    pooled = row(
        found,
        a="medgpt by gpt-4o-2024-08-06: comprehension",
        b="medgpt by gpt-4o-2024-08-06: harm",
        level="pooled",
        coefficient="pearson",
    )
    assert ".8141" == f"{pooled['value']:.4f}"[1:]
    tested = [r for r in found.rows if r["p"] is not None]
    assert 15 == len(tested)
    assert [r["by_construction"] for r in tested] == [r["q"] is None for r in tested]
    assert 5 == sum(r["q"] is not None for r in tested)
    assert "alike by construction, being criteria of one call." in found.text


def test_q_is_benjamini_and_hochbergs_over_the_pairs_shown(found: Finding) -> None:
    ps = sorted(((r["p"], r["q"]) for r in found.rows if r["q"] is not None), reverse=True)
    least = 1.0
    for place, (p, q) in enumerate(ps):
        least = min(least, p * len(ps) / (len(ps) - place))
        assert pytest.approx(least) == q


def test_clusters_have_their_support(found: Finding) -> None:
    """What joins MedSynF1 to the judge's criteria is all measures together, and no cluster."""
    support = {
        (r["a"], r["b"]): r["cluster_support"]
        for r in found.rows
        if (r["level"], r["coefficient"]) == ("system", "kendall")
    }
    assert 15 == len(support)
    assert all(s is None or 0 < s <= 1 for s in support.values())
    quality = ("comprehension", "knowledge_recall", "reasoning", "harm")
    assert all(
        support[f"medgpt by gpt-4o-2024-08-06: {a}", f"medgpt by gpt-4o-2024-08-06: {b}"]
        for a in quality
        for b in quality
        if a < b and "harm" != b
    )
    assert None is support["medgpt by gpt-4o-2024-08-06: comprehension", F1]


def test_every_row_has_its_level_and_nothing_is_nan(found: Finding) -> None:
    assert {columns(CorrelationRow)} == {tuple(r) for r in found.rows}
    assert not [v for r in found.rows for v in r.values() if isinstance(v, float) and math.isnan(v)]
    assert 15 * 5 * 3 == len(found.rows)


def test_a_run_asked_again_says_the_same(recorded: Run, paper: str, found: Finding) -> None:
    """What is drawn, is drawn from seeds of its own."""
    assert found == study(recorded, items=paper)


def spread(*levels: float, n: int = 12) -> Answers:
    """A candidate for each level, on so many cases that differ a little."""
    named = zip("ABCDEF", levels, strict=False)
    return {name: twins([round(v + 0.01 * (k % 3), 3) for k in range(n)]) for name, v in named}


def of(finding: Finding, coefficient: str = "kendall", level: str = "system", **more: Any) -> dict[str, Any]:
    return row(finding, level=level, coefficient=coefficient, **more)


def test_direction_is_turned_once_from_the_declaration(tmp_path: Path) -> None:
    """The same scores under both directions order candidates in opposite ways."""
    run = marked(tmp_path, spread(0.1, 0.2, 0.3, 0.4), "told")
    score(run, "told(direction=lower)")
    score(run, "told(least=0.1)")
    found = study(run)
    turned = of(found, a="told: worth", b="told(direction=lower): worth")
    assert (-1.0, 0, 6, "told(direction=lower): worth") == tuple(
        turned[k] for k in ("value", "same_order", "n_pairs", "turned")
    )
    alike = of(found, a="told: worth", b="told(least=0.1): worth")
    assert (1.0, 6, "") == (alike["value"], alike["same_order"], alike["turned"])
    assert "; turned, as lower is better: told(direction=lower): worth." in found.text


def test_both_turned_is_as_neither(tmp_path: Path) -> None:
    run = marked(tmp_path, spread(0.1, 0.2, 0.3, 0.4), "told(direction=lower)")
    score(run, "told(direction=lower, least=0.1)")
    found = of(study(run))
    assert (1.0, 6) == (found["value"], found["same_order"])
    assert 2 == len(found["turned"].split("; "))


def test_kendall_is_scipys_with_ties(tmp_path: Path) -> None:
    ours, theirs = (0.1, 0.2, 0.2, 0.4, 0.3), (0.3, 0.1, 0.2, 0.4, 0.4)
    run = marked(tmp_path, spread(*ours))
    lines = [
        {"item": item, "candidate": name, "value": value}
        for name, value in zip("ABCDE", theirs, strict=True)
        for item in twins([0] * 12)
    ]
    run.import_scores(write_lines(tmp_path / "m.jsonl", lines), measure="panel", range={"*": (0, 1)})
    assert pytest.approx(kendalltau(ours, theirs).statistic) == of(study(run))["value"]


def test_three_candidates_are_too_few(tmp_path: Path) -> None:
    run = marked(tmp_path, spread(0.1, 0.2, 0.3))
    score(run, "told(least=0.1)")
    found = study(run)
    assert {(None, "3 candidates: too few to correlate")} == {(r["value"], r["reason"]) for r in found.rows}
    assert "told: worth and told(least=0.1): worth on exam: 3 candidates: too few to correlate." == found.text


def test_what_many_pairs_lack_is_said_once(tmp_path: Path) -> None:
    run = marked(tmp_path, spread(0.1, 0.2, 0.3))
    score(run, "told(least=0.1)", "told(least=0.2)")
    assert "3 pairs of measures on exam: 3 candidates: too few to correlate." == study(run).text


def test_one_measure_has_none_to_correlate_with(tmp_path: Path) -> None:
    assert () == study(marked(tmp_path, spread(0.1, 0.2, 0.3, 0.4))).rows


def test_floor_and_ceiling_are_left_out(tmp_path: Path) -> None:
    run = marked(tmp_path, spread(0.0, 0.2, 0.3, 0.4, 0.5, 1.0 - 0.02), role={"A": "floor", "F": "ceiling"})
    score(run, "told(least=0.1)")
    assert {4} == {r["n_candidates"] for r in study(run).rows}


def test_a_side_that_does_not_vary_has_no_coefficient(tmp_path: Path) -> None:
    run = marked(tmp_path, spread(0.5, 0.5, 0.5, 0.5))
    score(run, "told(least=0.1)")
    found = study(run)
    r = of(found)
    assert (None, None, "one side does not vary") == (r["value"], r["p"], r["reason"])
    assert found.text.endswith("on exam: one side does not vary.")


def test_questions_that_one_lacks_are_left_out_for_all(tmp_path: Path) -> None:
    answers = spread(0.1, 0.2, 0.3, 0.4)
    answers["A"] = {k: v for k, v in answers["A"].items() if k not in ("q00", "q01")}  # type: ignore[index]
    run = marked(tmp_path, answers)
    score(run, "told(least=0.1)")
    assert {(10, 10)} == {(r["n_items"], r["n_groups"]) for r in study(run).rows}


def test_candidates_with_no_question_in_common(tmp_path: Path) -> None:
    answers = {name: twins([0.5], name=name) for name in "ABCD"}
    run = marked(tmp_path, answers)
    score(run, "told(least=0.1)")
    found = study(run)
    assert {"no question that all candidates have both scores on"} == {r["reason"] for r in found.rows}
    assert {0} == {r["n_items"] for r in found.rows}


def test_two_benchmarks_are_kept_apart(tmp_path: Path) -> None:
    run = made(tmp_path, spread(0.1, 0.2, 0.3, 0.4), name="one")
    made(tmp_path, spread(0.4, 0.1, 0.3, 0.2, n=11), name="two", run=run)
    score(run, "told", "told(direction=lower)")
    found = study(run)
    assert {("one", 12), ("two", 11)} == {(r["benchmark"], r["n_items"]) for r in found.rows}
    assert [-1.0, -1.0] == [of(found, benchmark=b)["value"] for b in ("one", "two")]


def test_two_criteria_of_a_rule_are_by_construction(tmp_path: Path) -> None:
    """As precision and F are: one call gave both."""
    found = study(marked(tmp_path, spread(0.1, 0.2, 0.3, 0.4), "told(criteria_named=[p, f])"))
    r = of(found)
    assert (True, None) == (r["by_construction"], r["q"])
    assert r["p"] is not None


def test_two_raters_are_named_and_not_by_construction(panel: Any) -> None:
    marks = [
        (c, f"q{n:02}", who, 1, (n + k) % 5)
        for who in ("Ann", "Bob")
        for k, c in enumerate("ABCD")
        for n in range(12)
    ]
    r = of(study(panel(marks)))
    assert ("panel: worth by Ann", "panel: worth by Bob", False) == (r["a"], r["b"], r["by_construction"])


def test_measures_of_the_same_probabilities_are_by_construction_and_leave_the_family(tmp_path: Path) -> None:
    """Two arithmetics of what one probe told are alike as criteria of one call are; a third is not."""
    run = marked(tmp_path, spread(0.1, 0.2, 0.3, 0.4))
    score(run, "told(least=0.1)", "told(least=0.2)")
    marks = with_view(run.file, load_scores)
    one, other, third = marks.measures
    asked = Correlation().findings(
        marks._replace(probes={one: "options(of=text)", other: "options(of=text)"})
    )
    rows = {
        (r["a"], r["b"]): r for r in asked.rows if (r["level"], r["coefficient"]) == ("system", "kendall")
    }
    assert {
        ("told: worth", "told(least=0.1): worth"): (True, None),
        ("told: worth", "told(least=0.2): worth"): (False, True),
        ("told(least=0.1): worth", "told(least=0.2): worth"): (False, True),
    } == {names: (r["by_construction"], r["q"] and r["q"] > 0) for names, r in rows.items()}
    assert 1 == asked.text.count("; alike by construction, being made of the same probabilities.")
    apart = Correlation().findings(
        marks._replace(probes={one: "options(of=text)", other: "options", third: "options(k=2)"})
    )
    assert not any(r["by_construction"] for r in apart.rows)
