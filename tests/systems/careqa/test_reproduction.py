"""The figures of the BSC paper from its own tables; what is expected is typed here, not read.

The expected figures of clusters and of Figure 1 are those of an earlier recomputation with SciPy 1.17.
"""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.lengths import length

from vivavoce.core.errors import InputError
from vivavoce.run.reproduce import reproduce
from vivavoce.systems.careqa.reproduction.figure1 import Rounded, extreme_r, printed_half_unit

# lowest r of perplexities; lowest and mean r of n-gram and semantic metrics; mean and largest r of the judge
CLUSTERS = """
CareQA-Open     0.986 -0.28 0.65  0.01 0.40
MedDialog Raw   0.995  0.24 0.73  0.26 0.45
MEDIQA2019      0.983  0.25 0.76  0.28 0.50
MedText         0.996  0.78 0.92 -0.01 0.14
ACI-Bench       0.985  0.81 0.92  0.33 0.45
MTS-Dialog      0.982  0.58 0.80  0.26 0.41
OLAPH           0.726  0.88 0.96  -    -
MIMIC-III       0.920  0.48 0.86 -0.01 0.11
MedDialog Qsumm 0.975  0.47 0.78  0.58 0.79
"""
# The cells of Figure 1 further than .01 from what the tables give: printed, recomputed
FAR = {
    "Med Transcriptions | Accuracy": (0.35, 0.335),
    "CareQA-Open | BLEU": (0.017, 0.086),
    "MedDialog Raw | BLEU": (-0.2, -0.120),
    "MEDIQA2019 | BLEU": (-0.26, -0.281),
    "MTS-Dialog | BLEU": (0.048, 0.100),
    "MTS-Dialog | Prometheus": (-0.44, -0.470),
    "MIMIC-III | BLEU": (-0.18, -0.197),
    "MIMIC-III | Prometheus": (-0.6, -0.580),
}
BYTES_PER_WORD = {
    "CareQA-Open": 6.814, "MedDialog Raw": 5.968, "MEDIQA2019": 6.235, "MedText": 6.826, "ACI-Bench": 6.318,
    "MTS-Dialog": 6.661, "OLAPH": 6.340, "MIMIC-III": 6.888, "MedDialog Qsumm": 5.512,
}  # fmt: skip


@pytest.fixture(scope="module")
def tables(shared: Path) -> Path:
    return shared / "data" / "tables" / "bsc_suite.json"


@pytest.fixture(scope="module")
def rows(tables: Path) -> Any:
    return reproduce("bsc", tables).rows


@pytest.fixture
def changed(tables: Path, tmp_path: Path):
    """`changed(edit)` reproduces the tables after `edit(rows)` changed them."""

    def run(edit) -> Any:
        content = json.loads(tables.read_text(encoding="utf-8"))
        edit(content["rows"])
        path = tmp_path / "tables.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return reproduce("bsc", path).rows

    return run


def test_37_of_39_cells_of_figure_1_come_out_and_the_two_others_are_named(rows):
    figure = {name: row for name, row in rows["figure1"].items() if not name.startswith("Medical MCQA")}
    compared = [row["within_rounding"] for row in figure.values() if row["within_rounding"] is not None]
    assert (41, 39, 37) == (len(figure), len(compared), sum(compared))
    missed = {row["what"] for row in rows["not_reproduced"]}
    two = {"Figure 1, MTS-Dialog | Prometheus", "Figure 1, MIMIC-III | Prometheus"}
    assert two | {"Figure 1, Prescription | Accuracy"} == missed
    assert all(row["why"] for row in rows["not_reproduced"])
    assert (
        float(np.median([abs(row["deviation"]) for row in figure.values() if row["deviation"] is not None]))
        < 0.004
    )


def test_cells_that_deviate_by_more_than_a_hundredth_are_the_known_ones(rows):
    figure = rows["figure1"]
    far = {n for n, row in figure.items() if row["deviation"] is not None and abs(row["deviation"]) > 0.01}
    assert set(FAR) == far
    for name, (published, recomputed) in FAR.items():
        row = figure[name]
        assert published == row["published"]
        assert recomputed == pytest.approx(row["recomputed"], abs=6e-4)
        assert row["deviation"] == pytest.approx(row["recomputed"] - published)


def test_cells_without_a_figure_are_null_and_not_left_out(rows):
    blank, lacking = (
        rows["figure1"]["MedDialog Qsumm | Word Perplexity"],
        rows["figure1"]["Prescription | Accuracy"],
    )
    assert (None, None) == (blank["published"], blank["deviation"])
    assert 0.053 == pytest.approx(blank["recomputed"], abs=5e-4)
    assert (-0.53, None, None) == tuple(lacking[key] for key in ("published", "recomputed", "deviation"))
    assert "no table" in lacking["why"]


@pytest.mark.parametrize("line", CLUSTERS.strip().splitlines(), ids=lambda line: line[:15].strip())
def test_clusters_are_those_of_the_tables(rows, line):
    *_, ppl, least, mean, judge, judge_max = line.split()
    row = rows["clusters"][line[:15].strip()]
    assert float(ppl) == pytest.approx(row["perplexity_min"], abs=6e-4)
    assert (float(least), float(mean)) == pytest.approx(
        (row["ngram_semantic_min"], row["ngram_semantic_mean"]), abs=6e-3
    )
    if judge == "-":
        assert (None, None) == (row["prometheus_mean"], row["prometheus_max"])
    else:
        assert (float(judge), float(judge_max)) == pytest.approx(
            (row["prometheus_mean"], row["prometheus_max"]), abs=6e-3
        )
    assert row["perplexity_min_spearman"] >= 0.9976  # one number three times
    assert 11 == row["n"]


def test_the_three_perplexities_are_one_number_and_multimedqa_is_a_weighted_mean(rows):
    for dataset, ratio in BYTES_PER_WORD.items():
        row = rows["identities"][dataset]
        assert ratio == pytest.approx(row["bytes_per_word"], abs=6e-3)
        assert row["bits_deviation"] <= 0.0011
        assert row["bytes_per_word_low"] <= row["bytes_per_word"] <= row["bytes_per_word_high"]
    assert rows["identities"]["multimedqa"]["deviation"] <= 0.0006


def test_half_of_med_text_classification_rests_on_a_tenth_of_the_texts(rows):
    sizes = rows["sample_sizes"]["accuracy"]["Med Text Classification"]
    whole = {name for name, size in sizes.items() if size["low"] <= 14_438 <= size["high"]}
    tenth = {name for name, size in sizes.items() if size["low"] <= 1_443 <= size["high"]}
    llama, phi = "Meta-Llama-3.1-{}-Instruct", "Phi-3-{}-4k-instruct"
    assert {llama.format("8B"), llama.format("70B"), phi.format("mini"), phi.format("medium")} == whole
    assert set(sizes) - whole == tenth
    assert 20 == rows["sample_sizes"]["judge"]["ACI-Bench"]


def test_a_margin_of_error_of_5_percent_takes_360_of_5621(rows):
    review = rows["sample_sizes"]["review"]
    assert 360 == review["translation"]["needed"]
    assert 0.05 == pytest.approx(review["translation and rephrasing"]["recomputed"], abs=5e-4)
    assert 0.0593 == pytest.approx(review["translation"]["recomputed"], abs=5e-4)


def test_claims_that_the_tables_do_not_bear_out_say_why(rows):
    claims = {row["what"]: row for row in rows["claims"]}
    assert all((row["why"] is None) == row["holds"] for row in claims.values())
    (perplexity,) = (row for what, row in claims.items() if "above 0.96" in what)
    assert (False, 0.726) == (perplexity["holds"], pytest.approx(perplexity["recomputed"], abs=1e-3))
    assert "OLAPH (0.726), MIMIC-III (0.920)" in perplexity["why"]
    (weak,) = (row for what, row in claims.items() if "very weakly" in what)
    assert "1 of 30 cells" in weak["why"]
    assert "0.67" in weak["why"]
    (relaxed,) = (row for what, row in claims.items() if what.startswith("Table 10"))
    assert [7.4, 15.6] == pytest.approx(relaxed["recomputed"], abs=0.06)
    (order,) = (row for what, row in claims.items() if "fine-tunes" in what)
    assert {
        "JSL-MedLlama-3-8B-v2.0": {"rank": 1, "rank_by_logprob": 9},
        "Llama3-Med42-8B": {"rank": 4, "rank_by_logprob": 7},
        "BioMistral-MedMNX": {"rank": 7, "rank_by_logprob": 1},
    } == order["recomputed"]
    assert "Spearman 0.36" in order["why"]
    (copy,) = (row for what, row in claims.items() if "of its own" in what)
    assert ["Llama3-Med42-8B"] == copy["recomputed"]


def test_figures_come_from_the_file_given(changed, rows):
    def double_a_cell(cells):
        (cell,) = (
            c for c in cells
            if (c["model"], c["dataset"], c["metric"]) == ("Qwen2-7B-Instruct", "MedText", "ROUGE1")
        )  # fmt: skip
        cell["value"] *= 2

    other = changed(double_a_cell)
    assert other["figure1"]["MedText | ROUGE1"] != rows["figure1"]["MedText | ROUGE1"]
    assert (
        other["clusters"]["MedText"]["ngram_semantic_min"]
        != rows["clusters"]["MedText"]["ngram_semantic_min"]
    )
    assert other["figure1"]["OLAPH | ROUGE1"] == rows["figure1"]["OLAPH | ROUGE1"]


def test_a_value_that_is_missing_takes_its_figures_away_and_no_others(changed, rows):
    missing = ("Qwen2-7B-Instruct", "OLAPH", "ROUGE1")
    other = changed(
        lambda cells: cells.remove(
            next(c for c in cells if (c["model"], c["dataset"], c["metric"]) == missing)
        )
    )
    cell = other["figure1"]["OLAPH | ROUGE1"]
    assert (None, None) == (cell["recomputed"], cell["within_rounding"])
    assert "lack a value" in cell["why"]
    assert None is other["clusters"]["OLAPH"]["ngram_semantic_mean"]
    assert rows["clusters"]["OLAPH"]["perplexity_min"] == other["clusters"]["OLAPH"]["perplexity_min"]


def test_tables_without_a_figure_and_without_an_accuracy_are_still_reproduced(changed):
    def only_perplexities(cells):
        cells[:] = [c for c in cells if c["table"] in (7, 8, 9, "Figure 1")]

    other = changed(only_perplexities)
    assert {None} == {row["recomputed"] for row in other["figure1"].values()}
    assert None is other["clusters"]["MedText"]["prometheus_mean"]
    assert None is other["identities"]["multimedqa"]["deviation"]
    assert [] == changed(lambda cells: cells.__setitem__(slice(None), cells[:3]))["not_reproduced"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[]", "an object with a list of rows"),
        ('{"rows": []}', "an object with a list of rows"),
        ('{"rows": [{"table": 7}]}', "row 1: a row has table, model"),
        (
            '{"rows": [{"table":7,"model":"m","dataset":"d","metric":"x","value":"high","stderr":null}]}',
            "row 1, value",
        ),
        (
            '{"rows": [{"table":7,"model":"m","dataset":"d","metric":"x","value":NaN,"stderr":null}]}',
            "NaN|number",
        ),
        ("{", "JSON"),
    ],
)
def test_a_file_without_such_tables_is_refused_in_a_sentence(tmp_path, content, sentence):
    path = tmp_path / "tables.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=sentence) as error:
        reproduce("bsc", path)
    assert str(path) in str(error.value)


def test_a_second_value_of_a_cell_is_refused(changed):
    with pytest.raises(InputError, match=r"row 1375: .* has a second value of "):
        changed(lambda cells: cells.append(next(c for c in cells if c["table"] == 7)))


def test_no_corner_of_the_rounding_box_gives_an_r_beyond_the_limits():
    rng = np.random.default_rng(5)
    for _ in range(length(4, 20)):
        x, parts = rng.normal(size=4).round(1), rng.normal(size=(2, 4)).round(1)
        weights = np.array([0.3, 0.7])
        low, high = (extreme_r(Rounded(x, 0.05), Rounded(parts, 0.05), weights, side) for side in (-1, 1))
        signs = 0.05 * np.array(list(product((-1, 1), repeat=12)))
        inside = [
            np.corrcoef(x + moved[:4], weights @ (parts + moved[4:].reshape(2, 4)))[0, 1] for moved in signs
        ]
        assert low == pytest.approx(min(inside), abs=0.02)
        assert high == pytest.approx(max(inside), abs=0.02)
        assert low <= np.corrcoef(x, weights @ parts)[0, 1] <= high


@pytest.mark.parametrize(
    ("value", "half"), [(0.017, 0.0005), (-0.2, 0.005), (0.35, 0.005), (1.0, 0.05), (0, 0.005)]
)
def test_the_figure_prints_two_significant_digits(value, half):
    assert half == pytest.approx(printed_half_unit(value))
