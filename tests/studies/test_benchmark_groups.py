"""A group of benchmarks as one figure: each weighs by its size, and errors are by case across them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.finished_runs import finished_run
from tests.studies.making import exam, row, write_lines

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding
from vivavoce.run.run import Run, open_run
from vivavoce.studies.comparing.benchmark_groups import chosen_groups

Rights = Mapping[str, Mapping[str, Sequence[int | None]]]
"""Candidate, benchmark, 1 for each question answered right; null was never asked."""


def examined(folder: Path, rights: Rights, cases: Mapping[str, Sequence[str]] = {}) -> Run:
    """The candidates answered multiple choice on several benchmarks, whose ids repeat each other."""
    finished_run(folder, _examine, rights, cases)
    return open_run(folder / "run.viva")


def _examine(folder: Path, rights: Rights, cases: Mapping[str, Sequence[str]]) -> None:
    folder.mkdir(exist_ok=True)
    run = open_run(folder / "run.viva")
    for name in dict.fromkeys(b for by_benchmark in rights.values() for b in by_benchmark):
        n = max(len(by_benchmark.get(name, ())) for by_benchmark in rights.values())
        items = [
            {"item": f"q{k}", "question": f"{name} {k}?", "format": "mcq", "options": ["alpha", "beta"],
             "answer": ["alpha"], "group": cases[name][k] if name in cases else f"q{k}"}
            for k in range(n)
        ]  # fmt: skip
        answers = [
            {"candidate": candidate, "item": f"q{k}", "text": "alpha" if right else "beta"}
            for candidate, by_benchmark in rights.items()
            for k, right in enumerate(by_benchmark.get(name, ()))
            if right is not None
        ]
        spec = exam(folder, items, name=name)
        run.import_answers(write_lines(folder / f"{name}.jsonl.answers.jsonl", answers), benchmark=spec)
    run.score("accuracy")


def exam_spec(folder: Path, name: str) -> str:
    return f"jsonl(path='{folder / name}.jsonl')"


def overall(run: Run, of: str = "[small, large]", **settings: Any) -> Finding:
    (finding,) = run.study(f"overall(of={of})", **settings).values()
    return finding


def bits(n: int, right: int) -> list[int]:
    """So many questions, the first of them right."""
    return [int(k < right) for k in range(n)]


def test_each_benchmark_weighs_by_its_size(tmp_path):
    """3 of 4 and 12 of 24 right: 15 of 28, and not the mean of .75 and .5."""
    run = examined(tmp_path, {"A": {"small": bits(4, 3), "large": bits(24, 12)}})
    finding = overall(run)
    assert not any("by text or letter" in note for note in finding.notes)
    whole = row(finding, candidate="A", format="overall")
    assert 15 / 28 == pytest.approx(whole["estimate"])
    assert ("small + large", 28, 28) == (whole["benchmark"], whole["n_items"], whole["n_groups"])
    parts = {r["format"]: r["estimate"] for r in finding.rows if r["format"] != "overall"}
    assert {"small": 0.75, "large": 0.5} == parts
    estimate = stats.estimate_mean(
        np.array([*bits(4, 3), *bits(24, 12)], float), np.arange(28), low=0, high=1
    )
    assert (estimate.low, estimate.high) == pytest.approx((whole["low"], whole["high"]))


def test_a_case_with_questions_on_both_benchmarks_is_one_case(tmp_path):
    """Questions of one content are one case wherever they stand; equal ids and group names are not."""
    run = examined(tmp_path, {"A": {"small": bits(12, 6), "large": bits(12, 6)}})
    assert 24 == row(overall(run), candidate="A", format="overall")["n_groups"]
    paired = [f"c{k // 2}" for k in range(12)]
    run = examined(tmp_path / "cases", {"A": {"small": bits(12, 6), "large": bits(12, 6)}}, {"small": paired})
    assert 18 == row(overall(run), candidate="A", format="overall")["n_groups"]


def test_ranks_are_by_the_mean_over_common_questions(tmp_path):
    rights = {
        "A": {"small": bits(20, 18), "large": bits(60, 55)},
        "B": {"small": bits(20, 4), "large": bits(60, 10)},
        "C": {"small": bits(20, 18), "large": bits(60, 55)},
    }
    finding = overall(examined(tmp_path, rights))
    overalls = [r for r in finding.rows if r["format"] == "overall"]
    assert ["A", "C", "B"] == [r["candidate"] for r in overalls]
    assert [(1, 2), (1, 2), (3, 3)] == [(r["rank_low"], r["rank_high"]) for r in overalls]
    assert {80} == {r["n_common"] for r in overalls}
    assert "each question counting the same (small 20, large 60)" in finding.text


def test_who_lacks_a_benchmark_has_no_figure_and_costs_the_others_nothing(tmp_path):
    rights = {
        "A": {"small": bits(12, 9), "large": bits(24, 12)},
        "B": {"small": bits(12, 3), "large": bits(24, 12)},
        "C": {"small": bits(12, 3)},
        "D": {"small": bits(12, 3), "large": [*bits(10, 5), *([None] * 14)]},
    }
    finding = overall(examined(tmp_path, rights))
    c, d = (row(finding, candidate=name, format="overall") for name in "CD")
    assert (None, None) == (c["estimate"], c["rank"])
    assert c["reason"].startswith("no result on large")
    assert "scores on 22 of 36 questions" in d["reason"]
    assert d["rank"] is None
    assert {36} == {
        r["n_common"] for r in finding.rows if r["candidate"] in "AB" and r["format"] == "overall"
    }


def test_means_over_different_questions_are_compared_on_those_that_all_share(tmp_path):
    """B lacks the two last of 24 questions, which A has wrong: 21 of 34 on the others, 21 of 36 on all."""
    rights = {
        "A": {"small": bits(12, 9), "large": bits(24, 12)},
        "B": {"small": bits(12, 9), "large": [*bits(22, 12), None, None]},
    }
    finding = overall(examined(tmp_path, rights))
    assert {34} == {row(finding, candidate=name, format="overall")["n_common"] for name in "AB"}
    assert (
        "each question counting the same: Candidates have scores on different questions, so they are ranked "
        "by their means on the 34 questions that all share. Means over their own questions: A 0.583 on 36, B "
        "0.618 on 34. On these: A 1-2: 0.618; B 1-2: 0.618."
    ) in finding.text


def test_sizes_are_those_of_each_candidate(tmp_path):
    rights = {
        "A": {"small": bits(12, 9), "large": bits(24, 12)},
        "B": {"small": bits(12, 3), "large": bits(24, 12)},
        "D": {"small": bits(12, 3), "large": [*bits(10, 5), *([None] * 14)]},
    }
    text = overall(examined(tmp_path, rights)).text
    assert "each question counting the same (small 12, large 24): A 1: 0.583 (0.417 to 0.733); B 2: " in text
    assert "D: 0.364 (0.190 to 0.582) on its own questions (small 12, large 10), scores on 22 of 36" in text


def test_a_benchmark_answered_by_silence_alone_is_no_result_and_not_a_zero(tmp_path):
    run = examined(tmp_path, {"A": {"small": bits(12, 9), "large": bits(24, 12)}})
    silent = [{"candidate": "B", "item": f"q{k}", "text": "alpha"} for k in range(12)]
    run.import_answers(silent, benchmark=exam_spec(tmp_path, "small"))
    blank = [{"candidate": "B", "item": f"q{k}", "text": ""} for k in range(24)]
    run.import_answers(blank, benchmark=exam_spec(tmp_path, "large"))
    run.score("accuracy")
    finding = overall(run)
    part, whole = (row(finding, candidate="B", format=name) for name in ("large", "overall"))
    assert (None, None) == (part["estimate"], whole["estimate"])
    assert "no answer could be scored" in part["reason"]
    assert whole["reason"].startswith("no result on large")
    assert row(finding, candidate="A", format="overall")["estimate"] == pytest.approx(21 / 36)


def test_open_answers_invent_no_options(tmp_path):
    run = open_run(tmp_path / "run.viva")
    for name in ("small", "large"):
        spec = exam(tmp_path, [f"{name}{k}" for k in range(3)], name=name)
        answers = [{"candidate": "A", "item": f"{name}{k}", "text": "the key"} for k in range(3)]
        run.import_answers(answers, benchmark=spec)
    run.score("token_f1")
    (finding,) = run.study("overall(of=[small, large], metric=token_f1)").values()
    assert {None} == {r["invented"] for r in finding.rows}
    closed = overall(examined(tmp_path / "closed", {"A": {"small": bits(4, 3), "large": bits(4, 3)}}))
    assert {0} == {r["invented"] for r in closed.rows}


def test_few_cases_are_not_ranked(tmp_path):
    finding = overall(examined(tmp_path, {n: {"small": bits(2, 1), "large": bits(3, 2)} for n in "AB"}))
    assert all(r["rank"] is None for r in finding.rows)
    assert "too few to rank" in finding.text


def test_a_declared_group_is_shown_where_all_its_benchmarks_are_there(tmp_path):
    parts = ("medmcqa", "medqa", "pubmedqa", "mmlu")
    run = examined(tmp_path, {"A": {name: bits(5, k) for k, name in enumerate(parts)}})
    assert (
        6 / 20 == row(run.study("overall")["overall"], format="overall", benchmark="multimedqa")["estimate"]
    )
    assert 6 / 20 == row(overall(run, "multimedqa"), format="overall")["estimate"]
    without = examined(tmp_path / "three", {"A": {name: bits(5, 2) for name in parts[:3]}})
    assert "multimedqa" not in str(without.study("overall"))


@pytest.mark.parametrize(
    ("of", "sentence"),
    [
        ("multimedqb", "no group of that name; there is multimedqa.* Did you mean 'multimedqa'"),
        ("multimedqa", "no scores on medmcqa, medqa, pubmedqa, mmlu; it has some on small"),
        ("[small, nowhere]", "no scores on nowhere"),
        ("[small], metric=bleu", "no metric bleu has scores on all of small"),
    ],
)
def test_what_is_no_group_is_told_in_a_sentence(tmp_path, of, sentence):
    run = examined(tmp_path, {"A": {"small": bits(4, 3)}})
    with pytest.raises(SelectionError, match=sentence):
        overall(run, of)


def test_a_run_of_baselines_alone_has_no_benchmark_to_name(tmp_path):
    with pytest.raises(SelectionError, match=r"it has some on no benchmark, baselines apart\.$"):
        chosen_groups("multimedqa", [])


def test_the_report_shows_a_group_with_a_column_for_each_benchmark(tmp_path):
    rights = {n: {"small": bits(12, k), "large": bits(24, 2 * k)} for n, k in (("A", 9), ("B", 3))}
    run = examined(tmp_path, rights)
    overall(run)
    page = run.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "small + large" in page
