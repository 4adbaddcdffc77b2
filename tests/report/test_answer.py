"""The first screen: one sentence for who is better, three checks, and what would settle it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.cases import each_case
from tests.studies.making import SILENT, UNREADABLE, made, marked, score, twins

from vivavoce.core.records import Criterion
from vivavoce.report.sections.answer import _ticks
from vivavoce.report.sections.checks import _judge
from vivavoce.report.sections.leaderboard import Scale
from vivavoce.run.run import Run
from vivavoce.studies.comparing.compare import COLUMNS
from vivavoce.studies.comparing.headline import Unit, leader_sentences, pair_headline

SHARE = Unit(Criterion(criterion="worth"))
LIKERT = Unit(Criterion(criterion="quality", low=0, high=5))


def first(run: Run, **settings: Any) -> dict[str, Any]:
    """The answer on the primary criterion, as a row of the report."""
    return next(row for row in run.report_rows(**settings) if row["section"] == "first")


def pair(code: str, a: str = "A", b: str = "B", **more: Any) -> dict[str, Any]:
    """A stored row of a comparison with this verdict: A less B is 0.1 (0.05 to 0.15)."""
    figures = {"difference": 0.1, "low_family": 0.05, "high_family": 0.15, "estimate_kind": "scores"}
    favours = "a" if code in ("better", "better_by_margin", "not_worse") else None
    named = {"a": a, "b": b, "verdict_code": code, "favours": favours, "verdict": "", "family": 1}
    return dict.fromkeys(COLUMNS) | figures | named | more


def leader_headline(*terms: Any) -> str:
    return " ".join(leader_sentences(*terms))


def headline(code: str, unit: Unit = SHARE, **more: Any) -> str:
    return pair_headline(pair(code, **more), unit, str)


def test_better_says_by_how_many_percentage_points() -> None:
    assert "A is better than B by 10.0 percentage points (5.0 to 15.0)." == headline("better")


def test_the_better_one_stands_first_whichever_was_named_first() -> None:
    turned = {"difference": -0.1, "low_family": -0.15, "high_family": -0.05, "favours": "b"}
    assert "B is better than A by 10.0 percentage points (5.0 to 15.0)." == headline("better", **turned)


def test_other_scales_keep_their_units() -> None:
    assert "A is better than B by 0.10 on the scale 0 to 5 (0.05 to 0.15)." == headline("better", LIKERT)
    unbounded = Unit(Criterion(criterion="worth", low=None, high=None))
    assert "A is better than B by 0.1 (0.05 to 0.15)." == headline("better", unbounded)


def test_lower_is_better_gives_the_amount_without_a_minus() -> None:
    harm = Unit(Criterion(criterion="harm", direction="lower"))
    figures = {"difference": -0.1, "low_family": -0.15, "high_family": -0.05}
    words = "A is better than B by 10.0 percentage points (5.0 to 15.0, lower is better)."
    assert words == headline("better", harm, **figures)


def test_without_an_interval_stands_the_p_value() -> None:
    none = {"low_family": None, "high_family": None, "p_adjusted": 0.0117}
    assert headline("better", **none).endswith("percentage points (p = 0.012, sign-flip permutation test).")


def test_where_holm_decided_the_interval_is_the_pairs_own() -> None:
    figures = {"low_family": -0.01, "high_family": 0.2, "low": 0.01, "high": 0.18}
    assert "(1.0 to 18.0 for this pair alone)" in headline("better", **figures)


def test_a_factor_is_said_as_one() -> None:
    perplexity = Unit(
        Criterion(criterion="perplexity", low=0, high=None, direction="lower", pool="exp_ratio")
    )
    figures = {"difference": -0.2231, "low_family": -0.36, "high_family": -0.105}
    words = headline("better", perplexity, **figures)
    assert "A is better than B by a factor of 0.8 (0.698 to 0.9, lower is better)." == words


@each_case(
    ("code", "more", "words"),
    [
        ("better_by_margin", {"margin": 0.05, "margin_source": "--margin"},
         "A is better than B by 10.0 percentage points (5.0 to 15.0), and by more than the 5 percentage "
         "points you called important."),
        ("better", {"margin": 0.2, "margin_source": "--margin",
                    "verdict": "A is better. The difference is smaller than you called important."},
         "A is better than B by 10.0 percentage points (5.0 to 15.0), less than you called "
         "important."),
        ("better", {"margin": 0.1, "margin_source": "smallest_difference",
                    "verdict": "A is better. Whether it matters is open."},
         "A is better than B by 10.0 percentage points (5.0 to 15.0), and whether it matters is open."),
        ("equivalent", {"margin": 0.2},
         "A and B are equivalent within 20 percentage points: A less B is 10.0 percentage points "
         "(5.0 to 15.0)."),
        ("not_worse", {"margin": 0.2, "difference": -0.01, "low_family": None},
         "A is not worse than B by more than 20 percentage points, and was not shown to be better: A less B "
         "is −1.0 percentage points (without an interval)."),
        ("cannot_tell", {},
         "No significant difference between A and B: A less B is 10.0 percentage points (5.0 to 15.0)."),
        ("too_few", {"verdict": "Too few different cases to say."},
         "A and B: too few different cases to say."),
        ("depends", {"verdict": "It depends on the 2 answers that could not be scored."},
         "A and B: it depends on the 2 answers that could not be scored."),
        ("incomparable", {"reason": "they were scored by different versions of told"},
         "A and B cannot be compared: they were scored by different versions of told."),
    ],
)  # fmt: skip
def test_every_verdict_has_its_words(code: str, more: dict[str, Any], words: str) -> None:
    assert words == headline(code, **more)


def test_a_judge_alone_prefers_and_people_correct_it() -> None:
    assert headline("better", judge_alone=True).startswith("The judge prefers A to B by 10.0")
    on_people = headline("better", estimate_kind="prediction_powered")
    assert on_people.startswith("On people's scale, A is better than B by 10.0")
    assert "between A and B by the judge alone: A less B" in headline("cannot_tell", judge_alone=True)


def test_a_leader_is_named_with_those_it_cannot_be_told_apart_from() -> None:
    rows = [pair("cannot_tell", "A", "B"), pair("better", "A", "C"), pair("too_few", "D", "A")]
    assert (
        "A is better than C by 10.0 percentage points (5.0 to 15.0). No significant difference between it "
        "and B. Too few different cases between it and D. It was not compared with E."
    ) == leader_headline("A", rows, ["E"], SHARE, str)


def test_a_difference_without_an_interval_has_its_p() -> None:
    row = pair("cannot_tell", low_family=None, high_family=None, p_adjusted=0.25)
    text = "A less B is 10.0 percentage points (p = 0.25, sign-flip permutation test)"
    assert text in pair_headline(row, SHARE, str)
    assert text.replace("p = 0.25, sign-flip permutation test", "without an interval") in pair_headline(
        row | {"p_adjusted": None}, SHARE, str
    )


def test_a_leader_of_many_names_the_next_alone() -> None:
    rows = [pair("better", "A", name) for name in "BCDEF"]
    assert (
        "A is better than all 5 others, than the next, B by 10.0 percentage points (5.0 to 15.0)."
    ) == leader_headline("A", rows, [], SHARE, str)
    tied = [pair("cannot_tell", "A", name) for name in "BCDEF"]
    assert "No significant difference between A and B, C and 3 more." == leader_headline(
        "A", tied, [], SHARE, str
    )


def test_whom_tests_put_above_the_leader_is_said() -> None:
    rows = [pair("better", "B", "A"), pair("not_worse", "C", "A", margin=0.05)]
    assert (
        "Tests put B above A. It is not better than C by more than 5 percentage points."
    ) == leader_headline("A", rows, [], SHARE, str)


def test_the_answer_of_a_run_rests_on_its_newest_comparison(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5, 0.7] * 6), "B": twins([0.4] * 12)})
    run.compare("A", "B", metric="told", margin=0.5)
    run.compare("B", "A", metric="told", margin=0.1)
    answer = first(run)
    assert answer["words"].startswith(
        "A is better than B by 20.0 percentage points (13.4 to 26.6), and by more"
    )
    assert "By told: worth on exam (the only criterion). 12 questions, 12 cases." in answer["basis"]
    assert answer["settled"]
    assert "Yes: the verdict holds with these" == answer["enough_cases"]
    assert "No judge: a rule scored it" == answer["judge_validated"]
    assert "Nothing: all 24 answers scored" == answer["missing"]


def test_the_report_makes_the_comparison_of_all_pairs_itself_and_it_is_one_test(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5, 0.7] * 6), "B": twins([0.4] * 12), "C": twins([0.1] * 12)})
    words = first(run)["words"]
    assert words.startswith("A is better than B by 20.0 percentage points (")
    assert words == first(run)["words"]
    assert [1, 1, 1] == [row["test"] for row in run.interim().rows]
    assert [3, 3, 3] == [row["family"] for row in run.interim().rows]


def test_an_effect_without_an_interval_beside_one_with_is_explained(tmp_path: Path) -> None:
    answers = {"A": [0.9] * 14, "B": [0.5] * 14, "C": [0.1, 0.2] * 7}
    run = marked(tmp_path, {name: twins(values) for name, values in answers.items()})
    run.compare("A", "B", "C", metric="told")
    answer = first(run)
    assert answer["words"].startswith("A is better than B by 40.0 percentage points (p = 0.00012, sign-flip")
    assert answer["words"].endswith("and than C by 75.0 (71.2 to 78.8).")
    assert (
        "In brackets 95 % intervals for all 3 comparisons together; p where too few cases differ, or all "
        "alike, for an interval."
    ) in answer["basis"]


def test_few_cases_that_differ_have_the_interval_of_sign_flips(tmp_path: Path) -> None:
    answers = {"A": [0.9] * 14, "B": [0.9] * 6 + [0.2] * 8}
    run = marked(tmp_path, {name: twins(values) for name, values in answers.items()})
    run.compare("A", "B", metric="told")
    assert first(run)["words"].startswith("A is better than B by 40.0 percentage points (17.5 to 60.0)")


def test_without_a_comparison_stands_the_command_that_makes_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk that cannot be written, where no comparison can be stored."""
    run = marked(tmp_path, {"A a": twins([0.5, 0.7] * 6), "B": twins([0.4] * 12)})
    monkeypatch.setattr("vivavoce.run.report.compare_family", lambda view, items: None)
    answer = first(run)
    assert answer["words"].startswith("Not compared yet: A a has the highest mean, 60.0 % (")
    assert answer["words"].endswith("but to be in front is no verdict.")
    assert "A comparison: `viva compare run.viva 'A a' B --metric told`" == answer["settling"]
    assert not answer["settled"]


def test_one_candidate_is_its_estimate(tmp_path: Path) -> None:
    answer = first(marked(tmp_path, {"A": twins([0.5, 0.7] * 6)}))
    assert answer["words"].startswith("A scores 60.0 % (")
    assert "12 cases: the interval says how sure" == answer["enough_cases"]
    assert "" == answer["settling"]


def test_cannot_tell_asks_for_a_margin_and_then_for_questions(tmp_path: Path) -> None:
    a, b = twins([0.5, 0.7, 0.1] * 6), twins([0.4, 0.7, 0.3] * 6)
    run = marked(tmp_path, {"A": a, "B": b})
    run.compare("A", "B", metric="told")
    answer = first(run)
    assert answer["words"].startswith(
        "No significant difference between A and B: A less B is −3.3 percentage points ("
    )
    assert "depends on the smallest difference that matters" in answer["settling"]
    row = run.compare("A", "B", metric="told", margin=0.02).rows[0]
    answer = first(run)
    assert (
        f"To tell 2 percentage points apart takes about {row['n_needed']} questions; there are 18."
        in (answer["settling"])
    )
    assert f"No: about {row['n_needed']} questions for 2 percentage points" == answer["enough_cases"]


def test_too_few_cases_say_how_many_a_verdict_needs(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1] * 4), "B": twins([0] * 4)})
    run.compare("A", "B", metric="told")
    answer = first(run)
    assert "A and B: too few different cases to say." == answer["words"]
    assert "No: only 4 cases that differ" == answer["enough_cases"]
    assert "At least 6 cases that differ; here 4 of 4 cases differ." in answer["settling"]


def test_failed_scores_that_decide_are_scored_again(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.7, 0.75, 0.8] * 4 + ["fail"] * 3), "B": twins([0.5] * 15)})
    run.compare("A", "B", metric="told")
    answer = first(run)
    assert answer["words"].startswith("A and B: it depends on the 3 answers")
    assert "Score the failed answers again: `viva score run.viva`" in answer["settling"]
    assert answer["missing"].startswith("Yes: 3 answers failed")


def test_a_measure_that_failed_everywhere_has_no_leader(tmp_path: Path) -> None:
    answer = first(marked(tmp_path, {"A": twins(["fail"] * 3), "B": twins(["fail"] * 3)}))
    assert answer["words"].startswith(
        "No candidate has a result by told: worth; no answer could be scored (3 failed)"
    )
    assert "No: nothing has a score" == answer["enough_cases"]


def test_silence_is_missing_and_says_how_it_counts(tmp_path: Path) -> None:
    answer = first(marked(tmp_path, {"A": twins([1, SILENT, 0.5]), "B": twins([1, 0, 1])}))
    assert "1 answer blank or refused: counted as worst" == answer["missing"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([UNREADABLE], "1 answer unreadable"),
        ([UNREADABLE, SILENT], "2 answers blank, refused or unreadable"),
    ],
)
def test_the_badge_names_the_ways_that_occur(tmp_path: Path, answer: list[str], words: str) -> None:
    n = 3 - len(answer)
    run = marked(tmp_path, {"A": twins([*answer, *[0.5] * n]), "B": twins([1, 0, 1])})
    assert f"{words}: counted as worst" == first(run)["missing"]


def test_a_found_difference_is_not_contradicted_by_the_smallest_detectable(tmp_path: Path) -> None:
    """A difference below what is found in 80 % of samples may be found; the sentence would deny it."""
    values = [0.25 + 0.05 * k for k in range(12)]  # the difference is 2.6 of its standard errors
    run = marked(tmp_path, {"A": twins(values), "B": twins([0.39] * 12)})
    (row,) = run.compare("A", "B", metric="told").rows
    assert 0 < row["difference"] < row["mde_family"]
    assert "better" == row["verdict_code"]
    assert "Smallest difference" not in first(run)["settling"]
    assert "The verdict stands on these questions." in first(run)["settling"]
    larger = marked(tmp_path / "larger", {"A": twins(values), "B": twins([0.1] * 12)})
    larger.compare("A", "B", metric="told")
    assert "Smallest difference this benchmark can detect: " in first(larger)["settling"]


def test_without_what_would_settle_it_there_is_no_heading(tmp_path: Path) -> None:
    alone = marked(tmp_path / "alone", {"A": twins([0.5, 0.7] * 6)})
    pair_run = marked(tmp_path / "pair", {"A": twins([0.5, 0.7] * 6), "B": twins([0.4] * 12)})
    pages = [
        run.report(run.file.path.with_suffix(".html")).read_text(encoding="utf-8")
        for run in (alone, pair_run)
    ]
    assert [False, True] == ["What would settle it" in page for page in pages]


def test_candidates_with_different_questions_say_how_few_they_share(tmp_path: Path) -> None:
    own = {"A": twins([1, 1, 0]), "B": twins([1, SILENT], name="r") | {"q01": 0.5}}
    run = marked(tmp_path, own, "told(silence=set_aside)")
    assert (
        "Yes: 4 answers never asked, 1 blank or refused, only 1 question shared by all"
        == first(run)["missing"]
    )


def test_where_scores_have_come_since_the_comparison_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = marked(tmp_path, {"A": twins([0.5, 0.7] * 6 + ["fail 0.6"]), "B": twins([0.4] * 13)})
    run.compare("A", "B", metric="told")
    monkeypatch.setenv("TOLD_MENDED", "1")
    score(run)
    answer = first(run)
    assert answer["settled"]
    assert "have come since this comparison" not in answer["settling"]
    assert [1, 2] == [row["test"] for row in run.interim().rows]


def test_the_ceiling_leads_nothing(tmp_path: Path) -> None:
    run = marked(tmp_path, {"Best": twins([1] * 12), "A": twins([0.5] * 12)}, role={"Best": "ceiling"})
    run.compare("Best", "A", metric="told")
    assert first(run)["words"].startswith("A scores 50.0 %")
    only = marked(tmp_path / "only", {"Best": twins([1] * 12)}, role={"Best": "ceiling"})
    assert "Only a floor or a ceiling was scored: there is no candidate to judge." == first(only)["words"]


def test_each_benchmark_has_a_sentence(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twins([0.5, 0.7] * 6), "B": twins([0.4] * 12)})
    made(tmp_path, {"A": twins([0.1] * 12), "B": twins([0.8, 0.9] * 6)}, name="other", run=run)
    score(run)
    run.compare("A", "B", metric="told")
    rows = [row for row in run.report_rows() if row["section"] == "first"]
    assert {"exam", "other"} == {row["benchmark"] for row in rows}
    assert {"A", "B"} == {row["words"][0] for row in rows}
    assert all(" is better than " in row["words"] for row in rows)


def test_a_run_without_a_primary_criterion_answers_by_its_first_measure(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0.5]), "B": twins([0, 0.5])}, "told(silence=set_aside)")
    assert first(run)["words"].startswith("Not compared yet: A has the highest mean")
    assert "(the first measure of this run)" in first(run)["basis"]


def test_nothing_scored_has_no_answer(tmp_path: Path) -> None:
    assert not [r for r in made(tmp_path, {"A": twins(["x"])}).report_rows() if r["section"] == "first"]


def test_long_names_are_cut_in_their_middle_and_stay_apart(tmp_path: Path) -> None:
    one, two = f"{'a' * 290}-version-1", f"{'a' * 290}-version-2"
    run = marked(tmp_path, {one: twins([0.5, 0.7] * 6), two: twins([0.4] * 12)})
    run.compare(one, two, metric="told")
    words = first(run)["words"]
    assert len(words) < 200
    assert "aaaaaa-version-1 is better than aaa" in words
    alike = {f"{'a' * 60}{n}{'a' * 60}": twins([0.5, 0.1 * n] * 6) for n in (3, 4)}
    words = first(marked(tmp_path / "alike", alike))["words"]
    assert "aaa (1) is better than aaa" in words


def test_ticks_are_round_and_inside_the_scale() -> None:
    assert (0.2, 0.4, 0.6, 0.8, 1.0) == _ticks(Scale(0.2, 1.0))
    assert (0.0, 0.25, 0.5, 0.75, 1.0) == _ticks(Scale(0.0, 1.0))
    assert (-1.0, -0.5, 0.0, 0.5, 1.0) == _ticks(Scale(-1.0, 1.0))
    assert all(2.5 <= tick <= 3.1 for tick in _ticks(Scale(2.5, 3.1)))


@pytest.mark.parametrize(
    ("rater", "state", "words"),
    [
        ("acme/checker", "no", "No: no stamp says that acme/checker scores as people do"),
        ("recorded(file=f.jsonl)", "none", "No judge: the verdicts were recorded in a file"),
        ("", "none", "No judge: a rule scored it"),
    ],
)
def test_a_model_that_is_no_judge_is_not_taken_for_a_rule(rater: str, state: str, words: str) -> None:
    row = {"stamp": None, "signature": "atomic_facts()@1#0", "estimate_kind": "scores"}
    standing: Any = SimpleNamespace(rows=[row], primary=SimpleNamespace(rater=rater))
    assert (state, words) == _judge(standing)
