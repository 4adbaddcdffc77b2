"""An overall of any benchmark: groups with their metrics and weights, one verdict, errors by case.

By hand: three yes-or-no questions of one format and four short ones; each format counts half.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy.special import stdtrit
from tests.finished_runs import finished_run
from tests.studies.making import exam, write_lines

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.run.evaluate import evaluate
from vivavoce.run.run import Run, open_run
from vivavoce.run.tables.load import load_scores
from vivavoce.run.tables.primary import choose_primary, primary_scores
from vivavoce.store.view import with_view
from vivavoce.studies.overall_design import checked_design, is_overall, parse_design

Right = Mapping[str, Mapping[str, Sequence[int | None]]]
"""Candidate, format, whether each of its questions was right; null did not arrive."""


def questions(sizes: Mapping[str, int], cases: Mapping[str, Sequence[int]] = {}) -> list[dict[str, Any]]:
    """So many questions of each format, each its own case unless its number is given."""
    fields = {"true_false": {"answer": ["True"]}, "short": {"references": ["gold"]},
              "longform": {"references": ["gold"]}}  # fmt: skip
    return [
        {"item": f"{form}{k:03}", "format": form, "question": f"{form} {k}?", "category": "ab"[k % 2],
         "group": f"c{cases[form][k]}" if form in cases else f"{form}{k:03}", **fields[form]}
        for form, n in sizes.items()
        for k in range(n)
    ]  # fmt: skip


def answered(folder: Path, right: Right, cases: Mapping[str, Sequence[int]] = {}) -> Run:
    """A run in which candidates were right where they are said to be, scored by accuracy and token_f1."""
    finished_run(folder, _answer, right, cases)
    return open_run(folder / "run.viva")


def _answer(folder: Path, right: Right, cases: Mapping[str, Sequence[int]]) -> None:
    first = next(iter(right.values()))
    items = questions({form: len(values) for form, values in first.items()}, cases)
    words = {"true_false": ("False", "True"), "short": ("no", "gold"), "longform": ("no", "gold")}
    rows = [
        {"candidate": name, "item": f"{form}{k:03}", "text": None if value is None else words[form][value]}
        for name, forms in right.items()
        for form, values in forms.items()
        for k, value in enumerate(values)
    ]
    run = open_run(folder / "run.viva")
    run.import_answers(write_lines(folder / "answers.jsonl", rows), benchmark=exam(folder, items))
    run.score("accuracy", "token_f1")


def only(finding) -> dict[str, Any]:
    (row,) = finding.rows
    return row


BY_HAND: Right = {
    "A": {"true_false": [1, 1, 0], "short": [1, 1, 1, 0]},
    "B": {"true_false": [1, 0, 0], "short": [1, 0, 0, 0]},
}


def test_by_hand(tmp_path):
    """A: (2/3 + 3/4) / 2 = 17/24; B: (1/3 + 1/4) / 2 = 7/24; of 7 questions alike: 5/7 and 2/7.

    Differences 0 1 0 and 0 1 1 0: variances (1/3) / 3 and (1/3) / 4, SE^2 = (1/9 + 1/12) / 4 = 7/144.
    """
    run = answered(tmp_path, BY_HAND)
    a, b = run.estimates("overall").rows
    assert pytest.approx((17 / 24, 7 / 24)) == (a["estimate"], b["estimate"])
    assert ("overall", "overall", "mean", 7, 7) == tuple(
        a[name] for name in ("metric", "criterion", "view", "n_items", "n_groups")
    )
    row = only(run.compare("A", "B", metric="overall"))
    assert pytest.approx(10 / 24) == row["difference"]
    differences = [0, 1, 0, 0, 1, 1, 0]
    paired = stats.paired(differences, range(7), weights=[1 / 6] * 3 + [1 / 8] * 4, cells=[0] * 3 + [1] * 4)
    assert pytest.approx((7 / 144) ** 0.5) == paired.se
    assert (paired.p, "too_few") == (row["p"], row["verdict_code"])
    micro = only(run.compare("A", "B", metric="overall(weights=micro)"))
    assert pytest.approx(3 / 7) == micro["difference"]


def many(n: int, *rights: int) -> list[int]:
    """So many answers, the given share of hundred right."""
    return [int(k * 100 / n < right) for right in rights for k in range(n)]


def test_it_ends_in_a_verdict_with_margin_and_detectable_difference(tmp_path):
    run = answered(tmp_path, {"A": {"true_false": many(30, 90), "short": many(20, 80)},
                              "B": {"true_false": many(30, 40), "short": many(20, 30)}})  # fmt: skip
    finding = run.compare("A", "B", metric="overall", margin=0.1)
    row = only(finding)
    assert ("better_by_margin", "a", 0.1) == (row["verdict_code"], row["favours"], row["margin"])
    assert row["mde"] > 0
    assert (
        "Overall on exam, each group counts the same: short 50%, by token_f1 (20 questions); true_false"
        in str(finding)
    )
    assert only(run.compare("A", "B", metric="overall"))["looks"] == 2
    gate = run.gate("B", against="A", metric="overall", require="not-worse", margin=0.1)
    assert gate.closed


def test_a_case_that_spans_groups_is_counted_once(tmp_path):
    """20 cases with a question in each format: differences of a case go together."""
    right = {"A": {"true_false": many(20, 80), "short": many(20, 80)},
             "B": {"true_false": many(20, 50), "short": many(20, 50)}}  # fmt: skip
    cases = {"true_false": range(20), "short": range(20)}
    together = only(answered(tmp_path, right, cases).compare("A", "B", metric="overall"))
    (tmp_path / "alone").mkdir()
    alone = only(answered(tmp_path / "alone", right).compare("A", "B", metric="overall"))
    assert (20, 40) == (together["n_groups"], alone["n_groups"])
    assert together["difference"] == alone["difference"]
    assert together["mde"] is None or together["mde"] > alone["mde"]


def test_a_group_that_only_one_candidate_answered_makes_no_verdict(tmp_path):
    run = answered(tmp_path, {"A": {"true_false": many(12, 80), "short": many(12, 80)},
                              "B": {"true_false": many(12, 50), "short": [None] * 12}})  # fmt: skip
    row = only(run.compare("A", "B", metric="overall"))
    assert "incomparable" == row["verdict_code"]
    assert "short: an overall takes every group" in row["reason"]
    _, b = run.estimates("overall").rows
    assert b["estimate"] is None
    assert "no scores on short: an overall takes every group" in b["reason"]
    assert (0.0, 0.5) < (b["set_low"], b["set_high"])  # what failed may have been anything


def test_failed_scores_give_bounds(tmp_path):
    short = {"A": many(40, 60), "B": [None] * 20 + many(20, 30)}
    run = answered(
        tmp_path, {c: {"true_false": many(40, 60 - 20 * (c == "B")), "short": short[c]} for c in "AB"}
    )
    row = only(run.compare("A", "B", metric="overall"))
    assert pytest.approx(20 / 40 / 2) == row["set_high"] - row["set_low"]
    # Where B's 20 are all right it has 26 of 40 against 24: (.2 - .05) / 2; all wrong, 6: (.2 + .45) / 2.
    assert pytest.approx((0.075, 0.325)) == (row["set_low"], row["set_high"])
    assert row["verdict_code"] == "cannot_tell"


def test_candidates_that_answer_alike_are_no_different(tmp_path):
    same = {"true_false": many(20, 70), "short": many(12, 70)}
    row = only(answered(tmp_path, {"A": same, "B": same}).compare("A", "B", metric="overall", margin=0.2))
    assert (0.0, 1.0) == (row["difference"], row["p"])
    assert "equivalent" == row["verdict_code"]


def test_three_questions_of_half_the_weight_decide_nothing_and_are_named(tmp_path):
    run = answered(tmp_path, {"A": {"true_false": many(200, 90), "short": many(3, 100)},
                              "B": {"true_false": many(200, 50), "short": many(3, 40)}})  # fmt: skip
    finding = run.compare("A", "B", metric="overall")
    assert ("cannot_tell", "sign-flip") == (only(finding)["verdict_code"], only(finding)["test"])
    assert "Few cases in a group (short 3)" in str(finding)
    assert "better" == only(run.compare("A", "B", metric="overall(weights=micro)"))["verdict_code"]


def test_equal_groups_make_macro_and_micro_one_number(tmp_path):
    run = answered(tmp_path, {"A": {"true_false": many(20, 70), "short": many(20, 40)},
                              "B": {"true_false": many(20, 50), "short": many(20, 50)}})  # fmt: skip
    macro, micro = (only(run.compare("A", "B", metric=f"overall(weights={w})")) for w in ("macro", "micro"))
    assert pytest.approx(macro["difference"]) == micro["difference"]


def test_weights_need_not_sum_to_1_and_what_groups_are_called_changes_nothing(tmp_path):
    run = answered(tmp_path, BY_HAND)
    groups = "groups=[{0}:true_false, {1}:short], weights=[{0}:{2}, {1}:{3}]"
    rows = [
        only(run.compare("A", "B", metric=f"overall({groups.format(*names)})"))
        for names in (("x", "y", 2, 1), ("y", "x", 200, 100), ("zz", "aa", 0.5, 0.25))
    ]
    assert len({round(row["difference"], 9) for row in rows}) == 1
    assert pytest.approx(2 / 3 * 1 / 3 + 1 / 3 * 2 / 4) == rows[0]["difference"]


def test_groups_may_be_categories(tmp_path):
    run = answered(tmp_path, BY_HAND)
    row = only(
        run.estimates("overall(by=category)").rows and run.compare("A", "B", metric="overall(by=category)")
    )
    # Category a: questions 0 and 2 of both formats, b: 1 of the one and 1 and 3 of the other.
    assert pytest.approx(((0 + 0 + 0 + 1) / 4 + (1 + 1 + 0) / 3) / 2) == row["difference"]


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("overall(by=topic)", "by: format or category, not 'topic'"),
        ("overall(wieghts=micro)", "no setting 'wieghts'. Did you mean 'weights'?"),
        ("overall(weights=equal)", "macro (each group counts the same), micro"),
        ("overall(weights=[short:0, true_false:1])", "'short' needs a number above 0"),
        ("overall(weights=[short:-1, true_false:1])", "'short' needs a number above 0"),
        ("overall(weights=[short:nan, true_false:1])", "'short' needs a number above 0"),
        ("overall(weights=[short:1e999, true_false:1])", "'short' needs a number above 0"),
        ("overall(weights=[short:1])", "the group 'true_false' has no weight"),
        ("overall(weights=[short:1, true_false:1, mcq:1])", "no question is in the group 'mcq'"),
        ("overall(weights=[short:1, short:2])", "'short' stands there twice"),
        ("overall(groups=[x:short, y:short])", "'short' is in 'x' and in 'y'"),
        ("overall(groups=[x:short, x:short])", "'short' is twice in 'x'"),
        ("overall(groups=[x:short, y:mcq])", "no question has the format 'mcq' of the group 'y'"),
        ("overall(groups=[x])", "NAME:VALUE is needed"),
        ("overall(metrics=[short:rouge])", "nothing of the format short is scored by rouge"),
        (
            "overall(metrics=[shrt:exact])",
            "no question of a group has the format 'shrt'. Did you mean 'short'?",
        ),
        ("overall(metric=exact)", "metric: exact has scored no format here"),
        ("overall(metrics=[short:judge])", "nothing of the format short is scored by judge"),
    ],
)
def test_what_cannot_be_an_overall_is_told_in_a_sentence(tmp_path, reference, sentence):
    run = answered(tmp_path, BY_HAND)
    with pytest.raises(SelectionError) as error:
        run.compare("A", "B", metric=reference)
    assert sentence in str(error.value)


def scored(run: Run, folder: Path, name: str, form: str, **declared: Any) -> None:
    """Scores of 0.5 on all questions of a format, imported."""
    rows = [
        {"candidate": r["candidate"], "item": r["item"], "value": 0.5, "criterion": "value"}
        for r in run.responses.filter(pl.col("format") == form).iter_rows(named=True)
    ]
    run.import_scores(write_lines(folder / f"{name}.jsonl", rows), measure=name, again=True, **declared)


def test_scales_must_be_from_0_to_1_and_upward(tmp_path):
    run = answered(tmp_path, BY_HAND)
    scored(run, tmp_path, "stars", "short", range={"*": (0, 5)})
    scored(run, tmp_path, "errors", "short", range={"*": (0, 1)}, direction={"*": "lower"})
    for name, words in (("stars", "runs from 0 to 5"), ("errors", "lower is better")):
        with pytest.raises(SelectionError) as error:
            run.estimates(f"overall(metrics=[short:{name}])")
        assert words in str(error.value)


def test_a_metric_of_the_users_own_scores_a_format_where_no_default_does(tmp_path):
    run = answered(tmp_path, BY_HAND)
    scored(run, tmp_path, "ours", "short", range={"*": (0, 1)})
    a, _ = run.estimates("overall(metrics=[short:ours])").rows
    assert pytest.approx((2 / 3 + 0.5) / 2) == a["estimate"]


def test_a_format_that_nothing_scored_is_named_with_the_metric_that_would(tmp_path):
    run = answered(tmp_path, BY_HAND)
    bare = open_run(tmp_path / "bare.viva")
    spec = exam(tmp_path, questions({"true_false": 3, "short": 4}))
    bare.import_answers(tmp_path / "answers.jsonl", benchmark=spec)
    with pytest.raises(SelectionError, match="nothing has been scored"):
        bare.compare("A", "B", metric="overall")
    bare.score("accuracy")
    with pytest.raises(
        SelectionError, match="no metric has scored the format short on exam: `viva score RUN token_f1`"
    ):
        bare.compare("A", "B", metric="overall")
    assert "accuracy" == only(bare.compare())["metric"]
    assert run.estimates("overall").rows


def primary_of_run(run):
    return with_view(run.file, lambda view: primary_scores(view, load_scores(view), None)).primary


def test_a_mixed_exam_is_judged_by_its_overall_and_a_plain_one_by_its_metric(tmp_path):
    run = answered(tmp_path, BY_HAND)
    primary = primary_of_run(run)
    assert ("overall", "exam", "covers all formats, each scored by its metric") == (
        primary.metric, primary.benchmark, primary.why
    )  # fmt: skip
    finding = run.compare("A", "B")
    assert "overall" == only(finding)["metric"]
    assert "compared by overall (covers all formats" in str(finding)
    (tmp_path / "plain").mkdir()
    plain = answered(tmp_path / "plain", {c: {"short": many(4, 50)} for c in "AB"})
    assert "token_f1" == primary_of_run(plain).metric


def test_what_is_named_primary_stays_with_the_run(tmp_path):
    run = answered(tmp_path, BY_HAND)
    with_view(run.file, choose_primary, "token_f1")
    with_view(run.file, choose_primary, "token_f1")
    assert "token_f1" == only(run.compare())["metric"]
    with_view(run.file, choose_primary, "overall(weights=micro)")
    row = only(run.compare())
    assert ("overall", pytest.approx(3 / 7)) == (row["metric"], row["difference"])
    with pytest.raises(SelectionError, match="fits nothing scored here"):
        with_view(run.file, choose_primary, "nonsense")


def test_the_report_shows_the_overall_and_only_pairs_of_the_same_groups(tmp_path, monkeypatch):
    from vivavoce.run import report

    seen = []
    write = report.write
    monkeypatch.setattr(
        report, "write", lambda data, *rest, **options: seen.append(data) or write(data, *rest, **options)
    )
    run = answered(tmp_path, BY_HAND)
    run.compare("A", "B", metric="overall(weights=micro)")
    page = run.report().read_text()
    assert ["overall", "overall"] == [row["metric"] for row in seen[-1].primary_rows]
    (signature,) = {row["signature"] for row in seen[-1].primary_rows}
    assert [("A", "B", signature)] == [
        (row["a"], row["b"], row["signature"]) for row in seen[-1].primary_pairs
    ]
    assert "overall" in page


def test_a_design_is_written_as_it_is_read():
    for text in (
        "overall(by=category, weights=macro)",
        "overall(by=format, groups=[x:short, x:mcq, 'y z:list'], weights=[x:2.0, 'y z:0.5'])",
        "overall(by=format, metric=cliniqlink, metrics=['short:judge(rubric=a):harm'], weights=micro)",
    ):
        assert text == str(parse_design(text))
    assert parse_design("overall") == parse_design("overall()") == checked_design()
    assert [True, True, True, False, False] == [
        is_overall(text)
        for text in ("overall", "overall(by=category)", "overall:by=category", "overalls", None)
    ]


def test_population_fixed_weighs_groups_alike(tmp_path):
    words = {"true_false": ("True", "False"), "short": ("gold", "no")}
    rows = [
        {"candidate": c, "item": f"{form}{k:03}", "repeat": r, "text": words[form][(k + r * (c == "B")) % 2]}
        for c in "AB" for form, n in (("true_false", 4), ("short", 8)) for k in range(n) for r in (1, 2)
    ]  # fmt: skip
    run = open_run(tmp_path / "run.viva")
    spec = exam(tmp_path, questions({"true_false": 4, "short": 8}))
    run.import_answers(write_lines(tmp_path / "answers.jsonl", rows), benchmark=spec)
    run.score("accuracy", "token_f1")
    row = only(run.compare("A", "B", metric="overall", population="fixed"))
    # s^2 = 1/2 for each question of B, 0 for A: SE^2 = .25 * (1/2/2) / 4 + .25 * (1/2/2) / 8, t with df 8.
    half = (row["high"] - row["low"]) / 2
    assert pytest.approx(((1 / 16) / 4 + (1 / 16) / 8) ** 0.5 * float(stdtrit(8, 0.975))) == half


def test_score_takes_an_overall_beside_metrics(tmp_path):
    run = answered(tmp_path, BY_HAND)
    finding = run.score("overall", "accuracy", tail=0.5)
    views = [(row["metric"], row["view"]) for row in finding.rows if row["candidate"] == "A"]
    assert [("overall", "mean"), ("accuracy", "mean"), ("accuracy", "tail@0.5")] == views
    assert "Bad ends are of one criterion: an overall has none." in finding.notes
    assert any(note.startswith("Overall on exam, each group counts the same") for note in finding.notes)
    assert "score" == run.score("overall(weights=micro)").study


def test_the_command_line_keeps_the_primary_criterion(viva, tmp_path):
    run = answered(tmp_path, BY_HAND)
    path = run.file.path
    assert "token_f1" in viva("compare", path, "--primary", "token_f1").output
    assert "compared by token_f1 (chosen with --primary)." in viva("compare", path).output
    viva("report", path, "--primary", "overall:weights=micro", "--to", tmp_path / "a.html")
    assert "compared by overall (chosen with --primary)." in viva("compare", path).output
    with pytest.raises(SelectionError, match="'nonsense' fits nothing scored here"):
        viva("compare", path, "--primary", "nonsense")
    assert "overall" in viva("score", path, "overall").output


def test_evaluate_keeps_what_decides_before_anything_is_scored(tmp_path):
    rows = [
        {"model": c, "id": f"q{k}", "question": f"{k}?", "references": ["gold"], "format": "short",
         "response": "gold" if c == "A" or k < 2 else "no"}
        for c in "AB" for k in range(12)
    ]  # fmt: skip
    run = evaluate(rows, ["exact", "token_f1"], primary="token_f1", to=tmp_path / "run.viva")
    assert "compared by token_f1 (stated in evaluate)." in str(run.compare())
    with pytest.raises(SelectionError, match="by: format or category"):
        evaluate(rows, ["exact"], primary="overall(by=x)", to=tmp_path / "other.viva")


def test_the_report_of_an_overall_says_nothing_untrue_of_it(tmp_path):
    """No rater gives it, and answers have scores by the metrics of its groups."""
    run = answered(tmp_path, BY_HAND)
    run.compare("A", "B")
    rows = run.report_rows()
    assert "overall" not in {row["metric"] for row in rows if row["section"] == "examiner"}
    assert not [row for row in rows if row["section"] == "methods" and "by overall" in row["text"]]
    assert [row for row in rows if row["section"] == "example"]
    page = run.file.path.with_suffix(".html").read_text(encoding="utf-8")
    assert "An overall has no figure by category" in page
