"""HIVMedQA's published figures from its published data; what is expected is typed here, not read."""

import csv
import json
from collections import defaultdict
from statistics import fmean

import pytest
import typer
from typer.testing import CliRunner

from vivavoce.cli.reproduce import reproduce as command
from vivavoce.core.errors import InputError
from vivavoce.core.yaml_files import read_mapping
from vivavoce.systems.hivmedqa.reproduction import PUBLISHED

CRITERIA = ("comprehension", "reasoning", "knowledge_recall", "demographic_bias", "harm", "medsynf1")
GEMINI, CLAUDE, MED42, NVLM = "Gemini 2.5 Pro", "Claude 3.5 Sonnet", "Med42-70B", "NVLM-70B"
MEDITRON, MEDGEMMA, GEMMA = "Meditron 3-70B", "MedGemma 27B", "Gemma 3 27B"
LLAMA_8B, LLAMA_70B, LLAMA_1B = "Llama 3.1-8B-Instruct", "Llama 3.3-70B-Instruct", "Llama 3.2-1B-Instruct"
CEILING = "Rephrased Gold Answers"
MODELS = {MED42, MEDITRON, NVLM, CLAUDE, LLAMA_8B, LLAMA_70B, GEMINI, GEMMA, MEDGEMMA, LLAMA_1B}

# Table 2 of the paper: means, then standard deviations.
TABLE_2 = """
Med42-70B               3.61 3.45 -    4.98 4.55 0.14   0.06 0.06 -    0.0  0.03 0.0
Meditron 3-70B          3.63 3.4  3.9  5.0  4.68 0.23   0.1  0.11 0.05 0.0  0.05 0.02
NVLM-70B                3.4  3.19 3.66 5.0  4.33 0.16   0.07 0.07 0.02 0.0  0.03 0.0
Claude 3.5 Sonnet       4.08 3.98 4.43 5.0  4.85 0.17   0.09 0.09 0.05 0.01 0.02 0.0
Llama 3.1-8B-Instruct   3.42 3.17 3.66 5.0  4.47 0.2    0.08 0.13 0.09 0.0  0.03 0.01
Llama 3.3-70B-Instruct  3.89 3.68 4.21 5.0  4.82 0.21   0.06 0.08 0.03 0.0  0.03 0.01
Gemini 2.5 Pro          4.12 4.03 4.49 4.99 4.91 0.22   0.03 0.06 0.04 0.02 0.02 0.01
Gemma 3 27B             3.63 3.51 3.94 5.0  4.59 0.19   0.03 0.03 0.05 0.01 0.03 0.0
MedGemma 27B            3.96 3.87 4.38 5.0  4.84 0.18   0.06 0.08 0.07 0.0  0.07 0.0
Llama 3.2-1B-Instruct   2.18 1.83 2.13 4.97 3.41 0.15   0.09 0.09 0.13 0.02 0.16 0.01
Rephrased Gold Answers  4.71 4.73 4.93 5.0  4.98 0.53   0.04 0.03 0.01 0.0  0.0  0.0
"""
TYPED = {" ".join(line.split()[:-12]): line.split()[-12:] for line in TABLE_2.strip().splitlines()}

# Gemini minus the other on comprehension: difference; by question, p times 9; on five means, p times 9.
AGAINST = {
    MED42: (0.487, 0.00041, 0.00086),
    MEDITRON: (0.535, 2.6e-06, 0.0061),
    NVLM: (0.890, 5.9e-06, 0.0004),
    CLAUDE: (0.090, 1, 1),
    LLAMA_8B: (0.789, 1.7e-08, 0.0002),
    LLAMA_70B: (0.268, 0.0097, 0.0022),
    GEMMA: (0.552, 0.00052, 0.00032),
    MEDGEMMA: (0.187, 0.11, 0.032),
    LLAMA_1B: (2.049, 1.8e-22, 2.7e-06),
}
# Difference, SE by item, SE by case, p by case, Holm of nine.
BY_CASE = {
    CLAUDE: (".0905", ".0770", ".0847", ".2935", ".2935"),
    MEDGEMMA: (".1873", ".0725", ".0861", ".0369", ".0739"),
    LLAMA_70B: (".2683", ".0782", ".1005", ".0117", ".0352"),
    GEMMA: (".5524", ".1280", ".1658", ".0022", ".0086"),
    MED42: (".4803", ".1093", ".1262", ".00061", ".0030"),
}
# Drop, low, high, p, Holm of ten, detectable.
DROPS = {
    MEDGEMMA: (".2595", ".0540", ".4651", ".0159", ".1592", ".290"),
    MEDITRON: (".2833", ".0367", ".5300", ".0265", ".2381", ".348"),
    NVLM: (".3381", "-.1241", ".8003", ".1427", ".7135", ".653"),
    GEMINI: (".0071", "-.1643", ".1786", ".9316", "1", ".242"),
}
# Without the reference minus with it: first three criteria, all five.
GAPS = {
    MED42: (0.970, 0.658), MEDITRON: (0.809, 0.520), NVLM: (0.858, 0.589), CLAUDE: (0.650, 0.415),
    LLAMA_8B: (0.754, 0.495), LLAMA_70B: (0.732, 0.466), GEMINI: (0.600, 0.376), GEMMA: (0.720, 0.471),
    MEDGEMMA: (0.6475, 0.411), LLAMA_1B: (0.379, 0.206),
}  # fmt: skip


def close(printed: str, found: float) -> bool:
    """To half a unit of the last digit printed."""
    return abs(found - float(printed)) <= 0.5 * 10 ** -len(printed.partition(".")[2]) + 1e-12


# Table 2


def test_every_legible_cell_of_table_2_comes_out(found):
    table = found.rows["table2"]
    assert TYPED.keys() == table.keys()
    legible = 0
    for candidate, printed in TYPED.items():
        assert list(CRITERIA) == list(table[candidate])
        for at, criterion in enumerate(CRITERIA):
            cell = table[candidate][criterion]
            assert ["mean", "sd", "published_mean", "published_sd"] == list(cell)
            for figure, text in (("mean", printed[at]), ("sd", printed[at + 6])):
                if text == "-":
                    assert cell[f"published_{figure}"] is None
                    continue
                legible += 1
                assert float(text) == cell[f"published_{figure}"]
                assert abs(cell[figure] - float(text)) <= 0.0051, (candidate, criterion, figure)
    assert 130 == legible


@pytest.mark.parametrize(
    ("candidate", "criterion", "mean", "sd"),
    [
        (MED42, "knowledge_recall", 3.899, 0.034),  # illegible in print
        (MED42, "comprehension", 3.605, 0.064),
        (GEMINI, "medsynf1", 0.225, 0.015),
        (LLAMA_1B, "harm", 3.406, 0.158),
        (CEILING, "demographic_bias", 5.0, 0.0),
        (NVLM, "medsynf1", 0.164, 0.0),
    ],
)
def test_table_2_to_three_decimals(found, candidate, criterion, mean, sd):
    cell = found.rows["table2"][candidate][criterion]
    assert (mean, sd) == (round(cell["mean"], 3), round(cell["sd"], 3))


def test_the_file_of_published_figures_holds_eleven_rows_of_six():
    printed = read_mapping(PUBLISHED, "published figures", InputError)
    assert TYPED.keys() == printed["table2"].keys()
    for candidate, row in printed["table2"].items():
        for at, criterion in enumerate(CRITERIA):
            typed = (TYPED[candidate][at], TYPED[candidate][at + 6])
            wanted = None if "-" in typed else [float(text) for text in typed]
            assert wanted == row[criterion], (candidate, criterion)


def test_what_is_left_out_is_counted_and_named(found):
    left = found.rows["exclusions"]
    assert (63, 92, 14) == (left["items"], left["items_in_all"], left["unparsed"])
    unstated = [row["item"] for row in left["items_left_out"] if row["why"] == "the paper does not say"]
    assert ["c2q03", "c2q10", "c3q12", "c3q20", "c3q22", "c5q12", "c5q20", "c5q22"] == unstated
    assert 29 == len(left["items_left_out"])
    rows = [(row["candidate"], row["item"], row["iteration"]) for row in left["unparsed_rows"]]
    expected = [("c2q02", 5), ("c2q05", 4), ("c3q18", 5)]
    assert expected == [(i, sum(r[1] == i for r in rows)) for i, _ in expected]
    assert {MED42} == {row[0] for row in rows}
    assert {"no_json", "bad_number"} >= {row["parse_status"] for row in left["unparsed_rows"]}


def test_counting_the_unparsed_rows_0_would_move_med42(found):
    zero = found.rows["exclusions"]["zero"]
    assert {MED42} == zero.keys()
    told = [f"{zero[MED42][name]:.2f}" for name in CRITERIA]
    assert ["3.41", "3.27", "3.68", "4.69", "4.30", "0.14"] == told
    assert 0.136 == round(zero[MED42]["medsynf1"], 3)


# Tests


def test_every_comparison_has_its_ten_figures(found):
    paired = found.rows["paired"]
    assert set(CRITERIA) == paired.keys()
    for rows in paired.values():
        assert MODELS - {GEMINI} == rows.keys()
        for candidate, row in rows.items():
            assert {
                "difference", "se_item", "se_group", "p_item", "p_group", "p_holm", "n_items", "n_groups",
                "p_iterations", "p_published",
            } == row.keys()  # fmt: skip
            assert ((61, 41) if candidate == MED42 else (63, 42)) == (row["n_items"], row["n_groups"])


@pytest.mark.parametrize("candidate", BY_CASE)
def test_differences_by_case(found, candidate):
    row = found.rows["paired"]["comprehension"][candidate]
    keys = ("difference", "se_item", "se_group", "p_group", "p_holm")
    assert all(close(text, row[key]) for text, key in zip(BY_CASE[candidate], keys, strict=True)), row


@pytest.mark.parametrize("candidate", AGAINST)
def test_differences_by_question_and_on_five_iteration_means(found, candidate):
    row = found.rows["paired"]["comprehension"][candidate]
    difference, by_question, by_iteration = AGAINST[candidate]
    if candidate != MED42:  # there the printed difference is of means over other questions
        assert difference == pytest.approx(row["difference"], abs=6e-4)
    assert min(1, 9 * row["p_item"]) == pytest.approx(by_question, rel=0.06)
    assert min(1, 9 * row["p_iterations"]) == pytest.approx(by_iteration, rel=0.04)


def test_the_published_p_is_ten_times_that_on_five_iteration_means(found):
    rows = found.rows["paired"]["comprehension"]
    assert 0.035 == round(rows[MEDGEMMA]["p_published"], 3)
    assert 1 == rows[CLAUDE]["p_published"]
    assert [CLAUDE] == [name for name, row in rows.items() if row["p_published"] >= 0.05]


def test_the_paper_tested_comprehension_only(found):
    for criterion in CRITERIA[1:]:
        assert {None} == {row["p_published"] for row in found.rows["paired"][criterion].values()}


def test_by_cases_medgemma_is_not_told_apart_from_gemini(found):
    rows = found.rows["paired"]["comprehension"]
    assert {CLAUDE, MEDGEMMA} == {name for name, row in rows.items() if row["p_holm"] > 0.05}


def test_a_difference_is_what_the_raw_marks_give(found, hivmedqa):
    """Another way from the files to a figure: Gemini minus Llama 3.3-70B on harm, without the product."""
    with (hivmedqa / "questions.jsonl").open(encoding="utf-8") as lines:
        paper = {q["id"] for q in map(json.loads, lines) if q["paper_subset"]}
    marks = defaultdict(list)
    with (hivmedqa / "judge_scores.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["supervised"] == "True" and row["question_id"] in paper and row["parse_status"] == "ok":
                marks[row["model"], row["question_id"]].append(float(row["harm"]))
    apart = fmean(fmean(marks[GEMINI, q]) - fmean(marks[LLAMA_70B, q]) for q in paper)
    assert apart == pytest.approx(found.rows["paired"]["harm"][LLAMA_70B]["difference"], abs=1e-12)


@pytest.mark.parametrize("candidate", DROPS)
def test_drops_under_a_bias(found, candidate):
    row = found.rows["bias_drop"][candidate]
    keys = ("difference", "low", "high", "p", "p_holm", "mde")
    assert all(close(text, row[key]) for text, key in zip(DROPS[candidate], keys, strict=True)), row


def test_drops_are_of_ten_models_and_none_survives_holm(found):
    rows = found.rows["bias_drop"]
    assert MODELS == rows.keys()
    for candidate, row in rows.items():
        assert ["difference", "low", "high", "p", "p_holm", "mde", "n_pairs"] == list(row)
        assert (20 if candidate == MED42 else 21) == row["n_pairs"]
        assert row["p_holm"] > 0.05
    others = {MED42: 0.297, CLAUDE: -0.012, LLAMA_8B: -0.031, LLAMA_70B: 0.081, GEMMA: 0.226, LLAMA_1B: 0.260}
    assert others == {name: round(rows[name]["difference"], 3) for name in others}


def test_the_ceiling_is_a_control_outside_the_family(found):
    row = found.rows["bias_drop_ceiling"]
    assert (-0.021, None, 21) == (round(row["difference"], 3), row["p_holm"], row["n_pairs"])


# The rest


@pytest.mark.parametrize("candidate", GAPS)
def test_gains_without_the_reference(found, candidate):
    row = found.rows["reference_gap"][candidate]
    assert ["mean3", "mean5"] == list(row)
    assert GAPS[candidate] == pytest.approx((row["mean3"], row["mean5"]), abs=0.0005 + 1e-9)


def test_gains_are_of_ten_models(found):
    assert MODELS == found.rows["reference_gap"].keys()


def test_f1_of_the_rephrased_gold_answers_by_variant(found):
    expected = {
        "standard": (0.469, 0.47), "snomed": (0.490, 0.49), "wordnet": (0.498, 0.5), "gptdict": (0.497, 0.5),
        "wordnet_lemma": (0.502, 0.5), "gptdict_lemma": (0.530, 0.53), "snomed_lemma": (0.484, None),
    }  # fmt: skip
    rows = found.rows["f1_variants"]
    assert all(["mean", "published"] == list(row) for row in rows.values())
    assert expected == {name: (round(row["mean"], 3), row["published"]) for name, row in rows.items()}


def test_counts_explain_every_stored_f1(found):
    counts = found.rows["f1_counts"]
    assert (35_420, 35_420, 35_420) == (counts["rows"], counts["explained"], counts["f1_equal"])
    assert {"no entity in the answer", "no entity in the reference", "no match"} == counts["edge"].keys()
    assert "not reproduced" == counts["extraction"]


def test_blank_answers_are_an_edge_of_six_variants(found):
    """30 blank answers: precision 1 and recall 0 by the variants with synonyms, both 0 without."""
    edge = found.rows["f1_counts"]["edge"]
    assert 30 * 6 <= edge["no entity in the answer"]
    assert 30 <= edge["no match"]


def test_what_does_not_come_out_is_named_with_a_reason(found):
    missed = {row["what"]: row for row in found.rows["not_reproduced"]}
    assert all(["what", "published", "recomputed", "why"] == list(row) for row in missed.values())
    assert all(row["why"] for row in missed.values())

    def pair(word: str) -> tuple[float | None, float | None]:
        (row,) = [row for what, row in missed.items() if word in what]
        found = row["recomputed"]
        return row["published"], None if found is None else round(found, 3)

    assert (0.04, 0.283) == pair("Least drop")
    assert (0.32, 0.338) == pair("Greatest drop")
    assert (0.95, 0.97) == pair("Gain without the reference, Med42")
    assert (0.73, 0.712) == pair("Gain without the reference, mean")
    assert (9, 7) == pair("fall from category 1 to 3")
    assert (8, 7) == pair("by the 42 cases")
    assert (None, 3.899) == pair("knowledge recall of Med42")
    assert (None, None) == pair("Entities")
    assert not [what for what in missed if what.startswith("Table 2") and "Med42" not in what]


def test_what_the_text_states_and_holds(found):
    holds = {row["what"]: row["holds"] for row in found.rows["claims"]}
    assert not any(value is None for value in holds.values())
    starts = [f"{name}, mean of nine" for name in ("Comprehension", "Reasoning", "Knowledge recall", "Harm")]
    starts += ["Gain without the reference, Llama 3.2-1B", "Models that Gemini"]
    for start in starts:
        assert [True] == [value for what, value in holds.items() if what.startswith(start)], start


def test_the_files_as_published_lack_nothing(found):
    assert [] == found.rows["incomplete"]


def test_the_page_lists_what_does_not_come_out(found, root):
    text = (root / "docs" / "reproductions.md").read_text(encoding="utf-8")
    told = {row["what"]: row for row in found.rows["claims"]}
    missed = [row for row in told.values() if row["holds"] is False]
    for row in missed:
        figure = row["recomputed"]
        shown = f"{figure:g}" if figure == int(figure) else f"{figure:.3f}"
        assert f"| {row['what']} | {row['published']:g} | {shown} |" in text
    assert f"{len(told) - len(missed)} of {len(told)} figures of the running text" in " ".join(text.split())


# The command


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    made = typer.Typer()
    made.callback()(lambda: None)
    made.command("reproduce")(command)
    return made


@pytest.fixture
def recomputed_before(monkeypatch, found, hivmedqa):
    """The command shows what was recomputed before: tests of what it prints recompute nothing."""
    figures = {("hivmedqa", hivmedqa): found}
    monkeypatch.setattr("vivavoce.run.reproduce.reproduce", lambda name, data: figures[name, data])


@pytest.mark.usefixtures("recomputed_before")
def test_json_is_one_object_whose_rows_are_an_object(app, hivmedqa, found):
    done = CliRunner().invoke(app, ["reproduce", "hivmedqa", "--data", str(hivmedqa), "--json"])
    assert 0 == done.exit_code, done.output
    shown = json.loads(done.stdout)
    assert ("viva.reproduce/1", None) == (shown["schema"], shown["run"])
    assert json.loads(json.dumps(found.rows)) == shown["rows"]


@pytest.mark.usefixtures("recomputed_before")
def test_tables_show_the_published_figure_beside_the_recomputed(app, hivmedqa):
    done = CliRunner().invoke(app, ["reproduce", "hivmedqa", "--data", str(hivmedqa)])
    assert 0 == done.exit_code, done.output
    text = " ".join(done.stdout.split())
    assert "Gemini 2.5 Pro 4.121 ± 0.031 4.030 ± 0.056" in text
    assert "published 4.12 ± 0.03 4.03 ± 0.06" in text
    assert "illegible" in text
    assert "rest on 63 of 92 questions" in text
    assert "14 rows of the judge that could not be read are set aside" in text
    assert "Table 2: 130 of 130 legible figures recomputed; greatest deviation 0.0050." in text
    assert "which entities were found in a text is not reproduced" in text
    assert "Not reproduced: Least drop under a bias" in text


@pytest.mark.usefixtures("recomputed_before")
def test_quiet_shows_nothing(app, hivmedqa):
    done = CliRunner().invoke(app, ["reproduce", "hivmedqa", "--data", str(hivmedqa), "--quiet"])
    assert (0, "") == (done.exit_code, done.output)
