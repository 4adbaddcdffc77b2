"""DAHL's reproduction; what is expected is typed here or comes from SciPy, not from the module."""

import csv
import json
import math
from collections import Counter
from collections.abc import Callable
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from vivavoce.core.errors import InputError
from vivavoce.core.yaml_files import read_mapping
from vivavoce.run.reproduce import Reproduction, reproduce
from vivavoce.systems.dahl.reproduction import PUBLISHED
from vivavoce.systems.dahl.reproduction.claims import pearson_p
from vivavoce.systems.dahl.reproduction.size_trend import size_trend

Edit = Callable[[list[dict[str, str]]], None]
VERDICTS = {"holds", "holds in part", "fails", "not shown", "cannot be checked"}
OF_THE_FILE = {"categories", "sample_size", "sample", "checker_calls", "filters"}
"""Keys whose figures come from the question file."""
CLAIMS_OF_THE_FILE = (
    "the data set has", "the categories are", "questions that need their paper", "a tenth of the questions",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "data" / "dahl"


@pytest.fixture(scope="module")
def reproduction(folder: Path) -> Reproduction:
    return reproduce("dahl", folder)


@pytest.fixture(scope="module")
def rows(reproduction: Reproduction) -> Any:
    return reproduction.rows


@pytest.fixture(scope="module")
def typed(folder: Path) -> Any:
    """Table 2 and the counts of the question file, typed by somebody else."""
    return json.loads((folder / "paper_numbers.json").read_text(encoding="utf-8"))


@pytest.fixture
def changed(folder: Path, tmp_path: Path) -> Callable[[Edit], Any]:
    """`changed(edit)` reproduces the file after `edit(rows)` changed it."""

    def run(edit: Edit) -> Any:
        with (folder / "questions.csv").open(encoding="utf-8", newline="") as file:
            questions = list(csv.DictReader(file))
        edit(questions)
        with (tmp_path / "questions.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ["question", "category"])
            writer.writeheader()
            writer.writerows(questions)
        return reproduce("dahl", tmp_path).rows

    return run


def claim(rows: Any, words: str) -> Any:
    (row,) = [row for row in rows["claims"] if words in row["what"]]
    return row


def test_table_2_and_the_counts_are_those_that_were_typed_twice(typed: Any) -> None:
    paper = read_mapping(PUBLISHED, "published figures", InputError)
    sizes = {None: None, **{f"{s:g}B": s for s in (0.5, 1.5, 2, 3, 7, 8, 9, 12, 70, 72)}}
    table = [[m["family"], sizes[m["size"]], m["avg_length_chars"], m["dahl_score"]] for m in typed["models"]]
    assert table == [[*row[:3], float(row[3])] for row in paper["table2"]]
    assert typed["question_file"]["categories"] == paper["categories"]
    human = typed["human_agreement"]
    assert (human["n"], human["pearson"], human["p"]) == (
        paper["human"]["n"], float(paper["human"]["r"]), float(paper["human"]["p"]),
    )  # fmt: skip


def test_the_29_categories_have_the_released_counts(rows: Any, typed: Any) -> None:
    counts = typed["question_file"]["categories"]
    assert counts == {name: row["n"] for name, row in rows["categories"].items()}
    assert counts == {name: row["published"] for name, row in rows["categories"].items()}
    assert ["statistics"] == [name for name, row in rows["categories"].items() if not row["listed"]]
    assert [969, 868, 786] == [row["n"] for row in rows["categories"].values()][:3]


def test_a_tenth_by_category_is_857_and_tells_little(rows: Any) -> None:
    assert 857 == rows["sample_size"] == rows["sample"]["n"]
    sd = math.sqrt(0.9365 * (1 - 0.9365))
    half = scipy.stats.norm.ppf(0.975) * sd / math.sqrt(857) * math.sqrt(1 - 857 / 8573)
    assert half == pytest.approx(rows["sample"]["half_width_at_most"])
    t = scipy.stats.t(2 * 857 - 2)
    detectable = (t.ppf(0.975) + t.ppf(0.8)) * sd * math.sqrt(2 / 857)
    assert detectable == pytest.approx(rows["sample"]["detectable_at_most"])
    assert (78, 22) == (rows["sample"]["pairs"], rows["sample"]["pairs_closer"])


def test_sizes_and_scores_correlate_as_scipy_says(rows: Any, typed: Any) -> None:
    sized = [m for m in typed["models"] if m["size"]]
    sizes = [float(m["size"].rstrip("B")) for m in sized]
    scores = [m["dahl_score"] for m in sized]
    trend = rows["size_trend"]
    assert scipy.stats.spearmanr(sizes, scores).statistic == pytest.approx(trend["spearman"])
    assert (12, 7) == (trend["n_systems"], trend["n_families"])
    without = [
        scipy.stats.spearmanr(
            *zip(*[(x, y) for m, x, y in zip(sized, sizes, scores, strict=True) if m["family"] != family],
                 strict=True)
        ).statistic
        for family in {m["family"] for m in sized}
    ]  # fmt: skip
    assert (min(without), max(without)) == pytest.approx((trend["low"], trend["high"]))
    # With one side fixed, Spearman's rho grows with the sum of the products of ranks.
    ranks = scipy.stats.rankdata(scores)
    exact = scipy.stats.permutation_test(
        (scipy.stats.rankdata(sizes),), lambda x, axis: np.sum(x * ranks, axis=axis),
        permutation_type="pairings", vectorized=True, n_resamples=4000, rng=np.random.default_rng(1),
    ).pvalue  # fmt: skip
    assert exact == pytest.approx(trend["p"], abs=0.02)


def test_all_8_pairs_of_a_family_go_upward_which_chance_gives_once_in_96(rows: Any) -> None:
    within = rows["size_trend"]["within"]
    assert (8, 8, 3, 96) == tuple(within[key] for key in ("pairs", "upward", "families", "orders"))
    assert 1 / (2 * 2 * 24) == within["p"]
    orders = list(product(permutations(range(2)), permutations(range(2)), permutations(range(4))))
    assert len(orders) == within["orders"]


def test_beyond_7_billion_the_gains_are_significant_if_most_answers_were_scored(rows: Any) -> None:
    pairs = {(p["family"], p["small"]): p for p in rows["size_trend"]["pairs"]}
    assert 5 == len(pairs)
    for key, low, high in ((("Qwen-2", 7), 0.8870, 0.8997), (("Llama-3.1", 8), 0.8627, 0.8733)):
        pair = pairs[key]
        variance = low * (1 - low) + high * (1 - high)
        z = (high - low - 0.0001) / math.sqrt(variance / 8080)
        assert z == pytest.approx(pair["z_at_least"])
        assert 2 * scipy.stats.norm.sf(z) == pytest.approx(pair["p_at_most"])
        for n, significant in ((pair["answers_needed"], True), (pair["answers_needed"] - 1, False)):
            p = 2 * scipy.stats.norm.sf((high - low - 0.0001) / math.sqrt(variance / n))
            assert significant is bool(p <= 0.05)
        assert math.log2(pair["large"] / pair["small"]) * pair["per_doubling"] == pytest.approx(high - low)
    assert [4609, 7983] == [pairs[key]["answers_needed"] for key in (("Qwen-2", 7), ("Llama-3.1", 8))]
    assert "fails" == claim(rows, "beyond 7 to 8 billion")["verdict"]


def test_two_systems_of_one_score_need_endless_answers() -> None:
    systems = [
        {"name": f"A {size}", "family": "A", "size": size, "length": 1, "score": score}
        for size, score in ((1, 0.8), (2, 0.8), (4, 0.9))
    ]
    same, other = size_trend(systems, 100)["pairs"]
    assert (None, 1.0, 0.0) == (same["answers_needed"], same["p_at_most"], same["difference"])
    assert other["answers_needed"] == math.ceil(scipy.stats.norm.ppf(0.975) ** 2 * 0.25 / 0.0999**2)


def test_the_8573_rows_are_worth_8080_questions(folder: Path) -> None:
    with (folder / "questions.csv").open(encoding="utf-8", newline="") as file:
        texts = ["".join(filter(str.isalnum, row["question"].casefold())) for row in csv.DictReader(file)]
    sizes = Counter(texts).values()
    assert 8504 == len(sizes)
    worth = len(texts) ** 2 / sum(m**2 for m in sizes)
    assert read_mapping(PUBLISHED, "figures", InputError)["effective_questions"] == int(worth / 10) * 10


def test_pearsons_p_and_interval_are_those_of_r_and_n(rows: Any) -> None:
    agreement = rows["human_agreement"]
    x = np.linspace(-1, 1, 99)
    y = np.random.default_rng(7).normal(size=99) + x
    expected = scipy.stats.pearsonr(x, y)
    assert expected.pvalue == pytest.approx(pearson_p(float(expected.statistic), 99), rel=1e-9)
    # atanh(.5508) = 0.619529, and half the interval is 1.959964 / sqrt(96) = 0.200038
    assert (math.tanh(0.419491), math.tanh(0.819567)) == pytest.approx(
        (agreement["low"], agreement["high"]), abs=2e-6
    )
    assert (0.3965, 0.6748) == pytest.approx((agreement["low"], agreement["high"]), abs=5e-5)
    assert agreement["p_low"] < 3.4927e-09 < agreement["p_high"]
    assert "holds" == claim(rows, "Pearson's r")["verdict"]


def test_a_paired_test_of_99_answers_misses_a_quarter_of_a_standard_deviation(rows: Any) -> None:
    least = rows["human_agreement"]["detectable_sd"]
    t = scipy.stats.t(98)
    assert (t.ppf(0.975) + t.ppf(0.8)) / math.sqrt(99) == pytest.approx(least)
    power = 1 - scipy.stats.nct(98, 0.25 * math.sqrt(99)).cdf(t.ppf(0.975))
    assert power < 0.8


def test_every_claim_has_a_verdict_and_a_reason(rows: Any) -> None:
    assert VERDICTS == {row["verdict"] for row in rows["claims"]}
    for row in rows["claims"]:
        assert {"what", "published", "recomputed", "verdict", "why", "holds"} == set(row)
        assert row["why"]
        assert {"holds": True, "fails": False}.get(row["verdict"]) is row["holds"]
    json.dumps(rows, allow_nan=False)


@pytest.mark.parametrize(
    ("words", "verdict", "why"),
    [
        ("has 8,573 questions", "holds in part", "2 rows are no question, and the others are 8,502"),
        ('28 adopted ones and "Other"', "fails", "the file has statistics"),
        ("questions that need their paper", "fails", "138 rows break"),
        ("larger models hallucinate less", "holds in part", "8 of 8 pairs"),
        ("beyond 7 to 8 billion", "fails", "no test is reported"),
        ("grows linearly", "fails", "0.0541 at the small end and 0.0002"),
        ("less pronounced", "holds", "per doubling"),
        ("gpt-4o outperforms", "holds in part", "2,321 characters"),
        ("one configuration", "fails", "9.1 characters a token"),
        ("order of Section 5.1", "holds", "so it is"),
        ("order of the caption", "fails", "Table 2 has Llama-3.1 where Llama-3 is named"),
        ("a tenth of the questions", "not shown", "857 questions"),
        ("F and t tests", "not shown", "shows no equality"),
        ("moderate to strong", "not shown", "between 0.40 and 0.67"),
        ("the splitter is reliable", "not shown", "no equivalence"),
        ("0.2 to 0.3", "cannot be checked", "not released"),
        ("released for others", "fails", "evaluate_with_pplai.py"),
    ],
)
def test_a_claim_is_judged_with_its_reason(rows: Any, words: str, verdict: str, why: str) -> None:
    row = claim(rows, words)
    assert verdict == row["verdict"]
    assert why in row["why"]


def test_what_is_not_released_is_listed_with_the_reason(rows: Any) -> None:
    listed = {row["what"]: row for row in rows["not_reproducible"]}
    assert all({"what", "published", "why"} == set(row) and row["why"] for row in listed.values())
    text = " ".join(f"{what} {row['why']}" for what, row in listed.items())
    for word in ("answer", "unit", "verdict", "category", "temperature", "people", "undefined name"):
        assert word in text
    assert 13 == len(listed["Table 2: DAHL scores and lengths"]["published"])


def test_calls_follow_from_the_papers_example(rows: Any) -> None:
    calls = rows["checker_calls"]
    assert 43 == calls["characters_per_unit"] == 258 / 6
    gpt, llama = calls["systems"]["gpt-4o"], calls["systems"]["Llama-3 8B"]
    assert (round(8573 * 2321 / 43), round(857 * 2321 / 43)) == (gpt["calls"], gpt["calls_sample"])
    assert (1115 / 43, round(8573 * 1115 / 43)) == pytest.approx((llama["units"], llama["calls"]))


def test_a_changed_question_changes_the_cells_of_the_file_and_no_others(rows: Any, changed: Any) -> None:
    def edit(questions: list[dict[str, str]]) -> None:
        questions[0]["category"] = "other"
        del questions[1:42]

    other = changed(edit)
    for key in set(rows) - OF_THE_FILE - {"claims"}:
        assert rows[key] == other[key], key
    before, after = rows["categories"], other["categories"]
    moved = {name for name in after if after[name]["n"] != before.get(name, {"n": 0})["n"]}
    assert {"pediatrics", "other"} == moved
    assert {"n": 1, "published": None, "listed": False} == after["other"]
    assert 857 - 10 + 6 + 1 == other["sample_size"]  # pediatrics falls from 105 to 63; one is "other"
    for old, new in zip(rows["claims"], other["claims"], strict=True):
        assert (old != new) <= old["what"].startswith(CLAIMS_OF_THE_FILE), old["what"]
    assert "fails" == claim(other, "has 8,573 questions")["verdict"]


def test_a_file_of_one_question_has_null_figures_and_no_error(changed: Any) -> None:
    def edit(questions: list[dict[str, str]]) -> None:
        del questions[1:]

    rows = changed(edit)
    sample = rows["sample"]
    assert (1, None, None) == (rows["sample_size"], sample["detectable_at_most"], sample["pairs_closer"])
    assert 29 == len(rows["categories"])
    assert 0 == rows["categories"]["oncology"]["n"]
    assert "needs more" in claim(rows, "a tenth of the questions")["why"]


def test_the_rules_keep_7942_of_the_rows_and_drop_138(rows: Any) -> None:
    kept = rows["filters"]
    assert (7942, 492, 138, 1) == tuple(kept[word] for word in ("keep", "review", "drop", "repair"))
    assert {"A1": 84, "A2": 139, "A3": 50, "B1": 64, "B2": 413} == {
        rule: kept["rules"][rule] for rule in ("A1", "A2", "A3", "B1", "B2")
    }
    assert [447] == [row["row"] for row in kept["repaired"]]
    dropped = {row["row"]: row["rules"] for row in kept["dropped"]}
    assert 138 == len(dropped)
    assert {524, 664} == {row for row, rules in dropped.items() if "H3" in rules}
    assert {318, 2552, 2572} <= dropped.keys()


def test_a_folder_without_the_questions_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no questions\.csv in "):
        reproduce("dahl", tmp_path)
    (tmp_path / "questions.csv").write_text("q\nWhy?\n", encoding="utf-8")
    with pytest.raises(InputError, match="no column 'question'"):
        reproduce("dahl", tmp_path)


def test_the_tables_and_notes_show_what_the_rows_say(reproduction: Reproduction) -> None:
    claims = next(table for table in reproduction.tables if table.title == "What the paper says")
    assert [row["verdict"] for row in reproduction.rows["claims"]] == [row[1] for row in claims.rows]
    assert any("857" in note for note in reproduction.notes)


def test_the_pages_show_the_figures_that_come_out(rows: Any, root: Path) -> None:
    page = (root / "docs" / "reproductions.md").read_text(encoding="utf-8")
    for pair in rows["size_trend"]["pairs"]:
        cells = (
            pair["family"], f"{pair['small']:g}B", f"{pair['large']:g}B", f"{pair['difference']:.4f}",
            f"{pair['p_at_most']:.2g}", pair["answers_needed"],
        )  # fmt: skip
        assert f"| {' | '.join(map(str, cells))} |" in page
    costs = (root / "docs" / "how-to" / "dahl.md").read_text(encoding="utf-8")
    calls = rows["checker_calls"]["systems"]
    for name, label in (
        ("Mpt 7B", "Mpt 7B, the shortest"),
        ("Llama-3 8B",) * 2,
        ("gpt-4o", "gpt-4o, the longest"),
    ):
        row = calls[name]
        cells = (
            f"{row['units'] * 43:,.0f}",
            f"{row['units']:.0f}",
            f"{row['calls']:,}",
            f"{row['calls_sample']:,}",
        )
        assert f"| {label} | {' | '.join(cells)} |" in costs
