"""Ranking over Scoring's reproduction; what is expected is typed here, comes from SciPy or from the file's
own columns of another hand (`re_mean`, `rankings`), which the module does not read."""

import json
import math
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from vivavoce.core.errors import InputError
from vivavoce.run.reproduce import reproduce
from vivavoce.systems.ranking.reproduction.mean_scores import is_share

PRIMARIES = ["gold", "gpt4o", "openbiollm", "llama3"]
SHORT = {
    "G": "gold", "4": "gpt4o", "O": "openbiollm", "L": "llama3",
    "N": "no_argument", "X": "noise", "B": "label_only", "R": "ir_passages",
}  # fmt: skip
FIGURE_3 = {
    "mmcqa": {"baseline": "GOL4", "expert": "4GLO", "llm": "4GOL"},
    "misinformation": {"baseline": "O4LG", "expert": "OL4G", "llm": "L4OG"},
    "nli": {"baseline": "LOG4", "expert": "GL4O", "llm": "L4GO"},
}
FIGURE_4 = {
    "mmcqa": {"baseline": "X NB G O LR 4", "expert": "4 G L O B R N X", "llm": "4 G O L R B N X"},
    "misinformation": {"baseline": "O 4 L G B R N X", "expert": "O L 4 R G N X B", "llm": "L 4 O R G N X B"},
    "nli": {"baseline": "B L X O G 4 N", "expert": "G N B L 4 O X", "llm": "B L 4 G X O N"},
}
FRIEDMAN = {
    "mmcqa": (0.189, 0.032, 1.2e-5), "misinformation": (0.056, 0.086, 1.0e-4), "nli": (0.801, 0.042, 0.020),
}  # fmt: skip
VERDICTS = (
    ("each printed mean", "holds"),
    ("dataset averages", "fails"),
    ("best system", "fails"),
    ("footnote 6", "holds"),
    ("without gold, the LLM-trained", "holds in part"),
    ("perfectly matches", "holds in part"),
    ("3 of 4 rankings", "holds"),
    ("the LLM-trained nearest", "not shown"),
    ("baseline's rankings do not align", "holds in part"),
    ("highest scores", "holds"),
    ("no bias to length", "not shown"),
    ("before all controls", "holds"),
    ("misled by 3 of 4 controls", "holds"),
    ("label control shows", "not shown"),
    ("five rotations", "not shown"),
    ("all evaluators rank arguments first", "fails"),
    ("on NLI all evaluators are misled", "holds"),
    ("most resilient", "holds in part"),
    ("on mmcqa the control that misleads most", "holds in part"),
    ("robust to controls", "fails"),
    ("the LLM-trained is not", "fails"),
    ("where people agree more", "not shown"),
    ("micro F-score", "fails"),
    ("people's ranks differ", "cannot be checked"),
)
Edit = Callable[[Any], None]


@pytest.fixture(scope="module")
def file(shared: Path) -> Path:
    return shared / "data" / "tables" / "ranking_over_scoring.json"


@pytest.fixture(scope="module")
def typed(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def rows(file: Path) -> Any:
    return reproduce("ranking", file).rows


@pytest.fixture
def changed(file: Path, tmp_path: Path) -> Callable[[Edit], Any]:
    """`changed(edit)` reproduces the file after `edit(content)` changed it."""

    def run(edit: Edit) -> Any:
        content = json.loads(file.read_text(encoding="utf-8"))
        edit(content)
        path = tmp_path / "scores.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return reproduce("ranking", path).rows

    return run


def runs_of(content: Any, task: str, evaluator: str, source: str, mixture: int | None = None) -> list[float]:
    return [
        row["score"]
        for row in content["runs"]
        if (row["task"], row["evaluator"], row["source"]) == (task, evaluator, source)
        and mixture in (None, row["mixture"])
    ]


def claim(rows: Any, words: str) -> Any:
    (row,) = [row for row in rows["claims"] if words in row["what"]]
    return row


def differences(a: Any, b: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """Addresses at which two trees differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        return {at for key in {**a, **b} for at in differences(a.get(key), b.get(key), (*path, key))}
    return set() if a == b else {path}


def test_the_138_means_and_their_deviations_are_those_of_the_runs(rows: Any, typed: Any) -> None:
    cells = 0
    for printed in typed["printed_mean_std"]:
        mixture = printed["mixture"]
        column = printed["evaluator"] if mixture in (None, "all") else f"llm/mixture{mixture}"
        cell = rows["means"][printed["task"]][column][printed["source"]]
        assert {"published", "recomputed", "sd_population", "sd_sample", "published_sd"} == set(cell)
        assert (printed["mean"], printed["std"]) == (cell["published"], cell["published_sd"])
        number = None if mixture == "all" else mixture
        scores = runs_of(typed, printed["task"], printed["evaluator"], printed["source"], number)
        assert printed["n"] == len(scores)
        assert np.mean(scores) == pytest.approx(cell["recomputed"])
        assert np.std(scores) == pytest.approx(cell["sd_population"])
        assert np.std(scores, ddof=1) == pytest.approx(cell["sd_sample"])
        assert printed["mean"] == pytest.approx(cell["recomputed"], abs=0.0101)
        cells += 1
    assert 138 == cells == sum(len(s) for c in rows["means"].values() for s in c.values())
    assert [] == rows["deviations"]["means"]


def test_three_runs_print_the_population_and_nine_the_sample_with_one_misprint(rows: Any) -> None:
    counts = rows["deviations"]["runs"]
    assert (115, 114) == (counts["3"]["cells"], counts["3"]["population"])
    assert (23, 0, 23) == tuple(counts["9"][key] for key in ("cells", "population", "sample"))
    (misprint,) = rows["deviations"]["neither"]
    assert ("misinformation", "baseline", "openbiollm", 4.9) == (
        misprint["task"], misprint["evaluator"], misprint["source"], misprint["published_sd"],
    )  # fmt: skip
    assert (4.19, 5.13) == (round(misprint["sd_population"], 2), round(misprint["sd_sample"], 2))


def test_orders_are_those_of_the_figures_with_ties_nested(rows: Any) -> None:
    def names(places: list[str]) -> list[Any]:
        return [SHORT[p] if len(p) == 1 else [SHORT[letter] for letter in p] for p in places]

    for task, of_task in FIGURE_3.items():
        for evaluator, letters in of_task.items():
            assert names(list(letters)) == rows["order_primaries"][task][evaluator]
            assert names(FIGURE_4[task][evaluator].split()) == rows["order"][task][evaluator]


def test_ranks_of_both_conventions_are_those_of_another_hand(rows: Any, typed: Any) -> None:
    for row in typed["rankings"]:
        found = rows["ranks"][row["task"]][row["evaluator"]]
        ranked = found["primaries" if row["figure"] == "fig3_primary" else "all"]
        assert row["rank_of_mean"] == {source: cell["rank_of_mean"] for source, cell in ranked.items()}
        for source, rank in row["mean_of_run_ranks"].items():
            assert rank == pytest.approx(ranked[source]["mean_run_rank"], abs=1e-4)
        assert found["mean_instance_rank"] is None
        assert "not released" in found["reason"]


def test_friedman_over_runs_is_scipys_and_the_references(rows: Any, typed: Any) -> None:
    for task, published in FRIEDMAN.items():
        for evaluator, p in zip(("baseline", "expert", "llm"), published, strict=True):
            test = rows["friedman"][task][evaluator]
            assert p == pytest.approx(test["p"], rel=0.03)
            scores = [runs_of(typed, task, evaluator, source) for source in PRIMARIES]
            assert scipy.stats.friedmanchisquare(*scores).pvalue == pytest.approx(test["p"])
            assert (9 if evaluator == "llm" else 3, 4) == (test["n_blocks"], test["n_sources"])
            assert (7 if task == "nli" else 8) == test["all"]["n_sources"]


def test_mixtures_and_runs_are_apart_by_the_formula_of_equal_sizes(rows: Any, typed: Any) -> None:
    for task, of_task in rows["mixture_spread"].items():
        for source, cell in of_task.items():
            y = np.array([runs_of(typed, task, "llm", source, mixture) for mixture in (1, 2, 3)])
            within = float(((y - y.mean(axis=1, keepdims=True)) ** 2).sum() / 6)
            between = float(3 * ((y.mean(axis=1) - y.mean()) ** 2).sum() / 2)
            raw = (between - within) / 3
            assert raw == pytest.approx(cell["raw"])
            assert math.sqrt(within) == pytest.approx(cell["sd_run"])
            assert math.sqrt(max(raw, 0)) == pytest.approx(cell["sd_mixture"])
            assert (3, 9) == (cell["n_mixtures"], cell["n_runs"])


def test_mmcqa_scores_are_119ths_and_nli_scores_are_no_229ths(rows: Any) -> None:
    grid = rows["score_grid"]
    label = grid["mmcqa"]["by_source"]["label_only"]
    assert (104, 105) == (
        grid["mmcqa"]["multiples"] - label["multiples"], grid["mmcqa"]["n"] - label["n"],
    )  # fmt: skip
    assert grid["mmcqa"]["n"] - grid["mmcqa"]["multiples"] == grid["mmcqa"]["rotations"]
    assert (120, 120) == (grid["misinformation"]["multiples"], grid["misinformation"]["n"])
    assert 93 == grid["nli"]["n"] - grid["nli"]["multiples"]
    assert 100 * 1.959964 / (2 * math.sqrt(119)) == pytest.approx(grid["mmcqa"]["half_width"])


def test_a_share_of_two_digits_is_known_from_one_that_cannot_be() -> None:
    assert is_share(33.33, 3)
    assert is_share(66.67, 3)
    assert not is_share(33.34, 3)
    assert not is_share(50.0, 3)
    assert is_share(0.0, 7)
    assert is_share(100.0, 7)


def test_five_cells_of_table_1_do_not_follow(rows: Any) -> None:
    assert 18 == len(rows["table1"])
    misses = {
        (row["evaluator"], row["task"], row["figure"]): (row["published"], round(row["recomputed"], 2))
        for row in rows["table1"]
        if not row["follows"]
    }
    assert misses == {
        ("baseline", "mmcqa", "best"): (41.18, 37.26),
        ("baseline", "nli", "average"): (61.12, 60.75),
        ("expert", "nli", "average"): (62.61, 63.48),
        ("llm", "nli", "average"): (58.02, 57.72),
        ("llm", "nli", "best"): (61.12, 60.58),
    }
    why = {(row["evaluator"], row["task"], row["figure"]): row["why"] for row in rows["table1"]}
    assert "noise, a control" in why["baseline", "mmcqa", "best"]
    assert "label_only, a control" in why["llm", "nli", "best"]
    assert "mean of gpt4o, openbiollm and label_only" in why["expert", "nli", "average"]
    assert why["expert", "mmcqa", "average"] is None


def test_no_other_set_of_sources_has_the_three_printed_averages_of_nli(rows: Any) -> None:
    means = rows["means"]["nli"]
    printed = {"baseline": 61.12, "expert": 62.61, "llm": 58.02}
    sources = list(means["llm"])
    sets = [
        chosen
        for size in range(1, len(sources) + 1)
        for chosen in combinations(sources, size)
        if all(
            abs(np.mean([means[e][s]["recomputed"] for s in chosen]) - value) <= 0.01
            for e, value in printed.items()
        )
    ]
    assert [("gpt4o", "openbiollm", "label_only")] == sets


@pytest.mark.parametrize(("words", "verdict"), VERDICTS)
def test_each_claim_has_its_verdict_and_a_reason(rows: Any, words: str, verdict: str) -> None:
    row = claim(rows, words)
    assert verdict == row["verdict"]
    assert row["why"]
    assert {"holds": True, "fails": False}.get(verdict) == row["holds"]


def test_claims_rest_on_pairs_of_a_control_and_an_argument(rows: Any) -> None:
    assert {"baseline": 20, "expert": 7, "llm": 6} == claim(rows, "the LLM-trained is not")["recomputed"]
    misinformation = claim(rows, "all evaluators rank arguments first")["recomputed"]
    assert {"baseline": [], "expert": [["ir_passages", "gold"]], "llm": [["ir_passages", "gold"]]} == (
        misinformation
    )
    assert ["no_argument", "noise", "label_only"] == (
        claim(rows, "misled by 3 of 4")["recomputed"]["above every argument"]
    )


def test_a_claim_follows_the_scores_of_the_file(changed: Any) -> None:
    def gold_first(content: Any) -> None:
        for row in content["runs"]:
            if row["task"] == "misinformation" and row["source"] == "ir_passages":
                row["score"] = 0.0

    assert claim(changed(gold_first), "all evaluators rank arguments first")["verdict"] == "holds"


def test_a_changed_run_changes_its_evaluator_on_its_task_and_nothing_else(rows: Any, changed: Any) -> None:
    def better(content: Any) -> None:
        for row in content["runs"]:
            if (row["task"], row["evaluator"], row["run"], row["source"]) == ("nli", "expert", 2, "gold"):
                row["score"] = 69.0

    found = changed(better)
    keys = ("recomputed", "sd_population", "sd_sample")
    assert differences(rows["means"], found["means"]) == {("nli", "expert", "gold", key) for key in keys}
    for key in ("order", "order_primaries", "ranks", "friedman"):
        assert {at[:2] for at in differences(rows[key], found[key])} <= {("nli", "expert")}
    assert set() == differences(rows["mixture_spread"], found["mixture_spread"])
    cells = [new for old, new in zip(rows["table1"], found["table1"], strict=True) if old != new]
    assert {("expert", "nli")} == {(cell["evaluator"], cell["task"]) for cell in cells}
    assert ("nli", "expert", "gold") == tuple(
        found["deviations"]["means"][0][key] for key in ("task", "evaluator", "source")
    )
    assert "fails" == claim(found, "each printed mean")["verdict"]


def test_a_changed_print_changes_no_recomputed_figure(rows: Any, changed: Any) -> None:
    def misprint(content: Any) -> None:
        content["printed_mean_std"][0]["mean"] += 1
        content["table1"][0]["printed_avg"] += 1

    found = changed(misprint)
    assert {("mmcqa", "baseline", "gold", "published")} == differences(rows["means"], found["means"])
    for key in ("order", "ranks", "friedman", "mixture_spread", "score_grid"):
        assert rows[key] == found[key]
    (cell,) = [new for old, new in zip(rows["table1"], found["table1"], strict=True) if old != new]
    assert (False, "nothing in the tables gives it") == (cell["follows"], cell["why"])


def test_a_mean_that_is_not_printed_is_null_and_no_miss(rows: Any, changed: Any) -> None:
    found = changed(lambda content: content["printed_mean_std"].pop(0))
    cell = found["means"]["mmcqa"]["baseline"]["gold"]
    assert (None, None) == (cell["published"], cell["published_sd"])
    assert rows["means"]["mmcqa"]["baseline"]["gold"]["recomputed"] == cell["recomputed"]
    assert 137 == claim(found, "each printed mean")["published"]
    assert [] == found["deviations"]["means"]


def test_one_run_and_one_mixture_have_no_spread(changed: Any) -> None:
    def single(content: Any) -> None:
        content["runs"] = [row for row in content["runs"] if row["run"] == 1 and row["mixture"] in (None, 1)]

    found = changed(single)
    cell = found["mixture_spread"]["nli"]["gold"]
    assert (None, None, 1) == (cell["sd_run"], cell["sd_mixture"], cell["n_runs"])
    assert found["means"]["nli"]["expert"]["gold"]["sd_sample"] is None
    assert 1 == found["friedman"]["nli"]["llm"]["n_blocks"]


def test_sources_that_are_all_alike_are_one_place(changed: Any) -> None:
    def flat(content: Any) -> None:
        for row in content["runs"]:
            row["score"] = 50.0

    found = changed(flat)
    assert [PRIMARIES] == found["order_primaries"]["nli"]["llm"]
    assert found["friedman"]["nli"]["llm"]["p"] is None
    assert {2.5} == {row["rank_of_mean"] for row in found["ranks"]["nli"]["llm"]["primaries"].values()}
    assert claim(found, "3 of 4 rankings")["verdict"] == "fails"


def _drop_first_score(content: Any) -> None:
    content["runs"] = content["runs"][1:]


def _drop_baseline(content: Any) -> None:
    content["runs"] = [row for row in content["runs"] if row["evaluator"] != "baseline"]


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda c: c.pop("runs"), "this file has no runs"),
        (lambda c: c.update(table1=[]), "this file has no table1"),
        (lambda c: c["runs"][3].pop("score"), r"runs, row 4: a row has task, evaluator"),
        (lambda c: c["runs"][3].update(score="many"), r"row 4, score: a number is needed, not 'many'"),
        (lambda c: c["runs"][3].update(score=True), "a number is needed, not 'True'"),
        (lambda c: c["runs"][3].update(score=340), "between 0 and 100 per cent; this one is 340"),
        (lambda c: c["runs"][3].update(task="bleu"), "'bleu' is none of mmcqa, misinformation, nli"),
        (lambda c: c["runs"][3].update(task=[]), r"'\[\]' is none of mmcqa"),
        (lambda c: c["runs"][3].update(source="claude"), "'claude' is none of gold, gpt4o"),
        (lambda c: c["runs"][3].update(source="gold"), "row 4: this run has a second score of gold"),
        (lambda c: c["runs"][3].update(mixture=1), "a run of llm has the number of its mixture"),
        (lambda c: c["runs"][3].update(run="one"), "run: a whole number is needed, not 'one'"),
        (_drop_first_score, "run 1 of baseline on mmcqa has no score of gold"),
        (_drop_baseline, "there is no run of baseline on mmcqa"),
        (lambda c: c["printed_mean_std"].append(c["printed_mean_std"][0]), "second mean of gold on mmcqa"),
        (lambda c: c["table1"].append(c["table1"][0]), "baseline has a second row of mmcqa"),
    ],
)
def test_a_file_that_cannot_be_used_is_answered_in_a_sentence(
    changed: Any, edit: Edit, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        changed(edit)


@pytest.mark.parametrize("text", ["[1, 2]", "{}", "null", "{", '"scores"'])
def test_a_foreign_file_is_answered_in_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "foreign.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"foreign\.json"):
        reproduce("ranking", path)


def test_a_folder_in_place_of_the_file_is_answered_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        reproduce("ranking", tmp_path)


def test_tables_and_notes_say_the_same_in_text(file: Path) -> None:
    found = reproduce("ranking", file)
    assert all(len(row) == len(table.columns) for table in found.tables for row in table.rows)
    titles = [table.title for table in found.tables]
    assert {"Mean over runs", "What the paper says", "What cannot be recomputed"} <= set(titles)
    assert "138 of 138 printed means are those of their runs, to 0.01." in found.notes
    assert any("neither: misinformation baseline openbiollm" in note for note in found.notes)
    assert "5 of 18 cells of Table 1 do not follow from Tables 2 to 4." in found.notes


def test_the_rows_are_json(rows: Any) -> None:
    assert rows == json.loads(json.dumps(rows, allow_nan=False))
