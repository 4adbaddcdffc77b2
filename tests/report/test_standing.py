"""What leads the page, what is missing, and who marked: rows that the page only lays out."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.finished_runs import finished_run
from tests.studies.making import SILENT, UNREADABLE, made, marked, score, twins, write_lines
from tests.viewing import read_anew

from vivavoce.core import registry
from vivavoce.core.measure_names import metric_name
from vivavoce.core.numbers import printed
from vivavoce.core.records import Criterion, Measure
from vivavoce.report.context import page_context
from vivavoce.report.data import ReportData, Roster, facts_of
from vivavoce.report.sections.findings import _table
from vivavoce.report.sections.leaderboard import scale_of
from vivavoce.run.run import Run, open_run
from vivavoce.run.tables.load import load_scores
from vivavoce.store import read
from vivavoce.store.integrity import rehash
from vivavoce.store.view import with_view
from vivavoce.store.write import put_finding
from vivavoce.studies.comparing.ranking_sentences import first_place
from vivavoce.studies.coverage import Requests
from vivavoce.studies.score_matrix import row_labels
from vivavoce.studies.validation_status import weakest_status


def of(run: Run, section: str) -> list[dict[str, Any]]:
    return [row for row in run.report_rows() if row["section"] == section]


def test_the_lead_names_who_is_in_front_and_how_sure_that_is(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5, 0.7] * 6), "B": twins([0.4] * 12)})
    best = run.estimates("told").rows[0]
    assert [
        f"A has the highest mean, {printed(best['estimate'], '.3f')} "
        f"({best['low']:.3f} to {best['high']:.3f}), of 2 candidates."
    ] == [row["words"] for row in of(run, "answer")]


def test_the_lead_adds_who_may_be_first_once_ranks_are_known(tmp_path: Path) -> None:
    able = twins([0.5, 0.7] * 6)
    run = marked(tmp_path, {"A": able, "A2": able | {"q00": 0.6}, "B": twins([0.1] * 12)})
    run.study("ranking")
    (lead,) = of(run, "answer")
    assert re.search(
        r"A2 and A are not separated from the first: a difference below 0\.\d+ would go undetected\.$",
        lead["words"],
    )


def test_a_tie_takes_a_stated_margin_that_the_tests_would_have_found() -> None:
    states = Criterion(criterion="worth", smallest_difference=0.05)
    tied = "A and B are statistically tied for first"
    assert tied == first_place("A and B", mde=0.05, criterion=states)
    for mde, criterion in ((0.06, states), (None, states), (0.001, Criterion(criterion="worth"))):
        assert "tied" not in first_place("A and B", mde=mde, criterion=criterion)
    assert "A and B are not separated from the first" == first_place("A and B", mde=None, criterion=states)


def test_one_who_alone_may_be_first_is_given_the_place(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.8, 0.9] * 6), "B": twins([0.1] * 12)})
    run.study("ranking")
    (lead,) = of(run, "answer")
    assert lead["words"].endswith("Paired tests put A alone in first place.")


@pytest.mark.parametrize("value", [0, 1])
def test_an_axis_has_two_ends_where_all_are_alike(value: float) -> None:
    ends = dict.fromkeys(("estimate", "low", "high", "bound_low", "bound_high"), float(value))
    assert (0.0, 1.0) == scale_of([ends], Criterion(criterion="worth"))
    low, high = scale_of([ends], Criterion(criterion="worth", low=None, high=None))
    assert low < value < high


def test_a_tie_in_front_is_told_as_one(tmp_path: Path) -> None:
    (lead,) = of(marked(tmp_path, {name: twins([1, 0]) for name in "AB"}), "answer")
    assert lead["words"].startswith("A and B have the highest mean, 0.500")


def test_a_crowd_in_front_is_counted(tmp_path: Path) -> None:
    (lead,) = of(marked(tmp_path, {name: twins([1, 0]) for name in "ABCDE"}), "answer")
    assert lead["words"].startswith("5 candidates have the highest mean, 0.500")


def test_the_best_is_the_lowest_where_lower_is_better(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 1]), "B": twins([0.2, 0])}, "told(direction=lower)")
    (lead,) = of(run, "answer")
    assert lead["words"].startswith("B has the lowest mean, 0.100")


def test_a_bound_of_the_exam_does_not_lead(tmp_path: Path) -> None:
    run = marked(tmp_path, {"Gold": twins([1, 1]), "A": twins([0.5, 0.5])}, role={"Gold": "ceiling"})
    (lead,) = of(run, "answer")
    assert lead["words"].startswith("A has the mean 0.500")  # alone it is not the highest of any
    assert "candidates" not in lead["words"]


def test_without_an_estimate_the_lead_is_null_with_a_reason(tmp_path: Path) -> None:
    (lead,) = of(marked(tmp_path, {"A": twins(["fail"] * 3)}), "answer")
    assert (None, "no candidate has an estimate") == (lead["words"], lead["reason"])


def test_coverage_counts_each_state_and_gives_reasons(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, SILENT, UNREADABLE, "fail"])})
    (row,) = of(run, "coverage")
    counts = tuple(row[k] for k in ("responses", "ok", "unanswered", "unreadable", "failed"))
    assert (4, 1, 1, 1, 1) == counts
    assert 3 == sum(row["causes"].values())
    assert 1 == row["causes"]["the judge said nothing"]


def test_items_that_a_measure_never_marks_are_not_missing_from_it(tmp_path: Path) -> None:
    run = marked(tmp_path, {name: twins([1] * 6) for name in "AB"})
    few = [
        {"item": f"q{n:02}", "candidate": name, "criterion": "worth", "value": n}
        for name in "AB"
        for n in range(2)
    ]
    file = write_lines(tmp_path / "marks.jsonl", few)
    run.import_scores(file, measure="judge(model=m)", range={"*": (0, 5)})
    (key,) = (k for k, m in with_view(run.file, load_scores).measures.items() if m.metric == "judge(model=m)")
    only = {key: frozenset(("exam", f"q{n:02}", "") for n in range(3))}
    for bound, expected in (({}, (6, {"not scored yet": 4})), (only, (3, {"not scored yet": 1}))):
        coverage = page_context(_contents(run, only=bound))["coverage"]
        judge = [row for row in coverage if row["measures"] == ["judge by m: worth"]]
        assert [expected] * 2 == [(row["responses"], row["causes"]) for row in judge]


def test_measures_of_the_same_coverage_share_a_row(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twins([1, 0.5]), "B": twins([1, SILENT])})
    assert [[], []] == [row["measures"] for row in of(run, "coverage")]
    score(run, "told(criteria_named=[x, y])", "rouge(n=1)")
    rows = of(run, "coverage")
    assert [["rouge(n=1)", "told: x", "told: y"]] * 2 == [row["measures"] for row in rows]


def test_examiners_say_where_marks_come_from_and_what_they_left(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, SILENT, "fail", 0])}, "told(silence=set_aside)")
    answers = [{"item": f"q{n:02}", "candidate": "A", "criterion": "harm", "value": n} for n in range(4)]
    file = tmp_path / "marks.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in answers), encoding="utf-8")
    run.import_scores(file, measure="judge(model=m)", range={"*": (0, 5)}, blank="recorded")
    told, judge = of(run, "examiner")
    assert ("computed", 4, 2, 1, 1, 0.5) == tuple(
        told[k] for k in ("origin", "n_marks", "n_ok", "n_set_aside", "n_failed", "coverage")
    )
    assert {"the judge said nothing": 1} == told["causes"]
    assert ("given elsewhere", "recorded", 4, 1.0) == tuple(
        judge[k] for k in ("origin", "version", "n_marks", "coverage")
    )
    assert ["unvalidated", "unvalidated"] == [told["stamp"], judge["stamp"]]
    page = run.report().read_text(encoding="utf-8")
    section = page.split('id="examiners"')[1].split("</section>")[0]
    assert 3 == section.count(">unvalidated<")  # in words once, and on each


def test_a_judge_that_was_asked_here_is_no_rule(tmp_path: Path) -> None:
    run = judged(tmp_path)
    assert ["computed", "given elsewhere", "given elsewhere"] == [r["origin"] for r in of(run, "examiner")]
    with run.file.writing() as db:  # as `viva score` writes them
        db.execute("UPDATE measures SET signature = replace(signature, '@recorded', '@1'), rater = 'm' "
                   "WHERE metric LIKE 'judge%'")  # fmt: skip
        rehash(db)
    assert ["computed", "asked of a model", "asked of a model"] == [r["origin"] for r in of(run, "examiner")]
    page = run.report().read_text(encoding="utf-8")
    section = page.split('id="examiners"')[1].split("</section>")[0]
    assert "<em>asked of a model</em> is a judge's and may come out otherwise" in section
    assert "asked of a model by m" in section


def judged(folder: Path) -> Run:
    """A rule's scores, and a judge's scores on one criterion that is always 5 and one that is not."""
    finished_run(folder, _judge)
    return open_run(folder / "run.viva")


def _judge(folder: Path) -> None:
    run = marked(folder, {name: twins([1] * 12) for name in "AB"})
    answers = [
        {"item": f"q{n:02}", "candidate": name, "criterion": criterion, "value": value}
        for n in range(12)
        for name in "AB"
        for criterion, value in (("harm", 5), ("worth", n % 3 + (name == "A")))
    ]
    file = folder / "marks.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in answers), encoding="utf-8")
    run.import_scores(file, measure="judge(model=m)", range={"*": (0, 5)})


def stamp(run: Run, said: str | None, **other: Any) -> dict[str, Any]:
    """A stored row of the examiner's card that stamps the judge's `worth`, but for what is other."""
    measure = next(m for m in run.measures if m.metric.startswith("judge"))
    place = {"signature": measure.signature, "rater": measure.rater, "criterion": "worth"}
    of_stamp = {"part": "stamp", "benchmark": "exam", "stamp": said, "saturated": None, "r_inside": 0.7}
    return {**of_stamp, **place, **other}


def keep(run: Run, *rows: dict[str, Any]) -> None:
    with run.file.writing() as db:
        put_finding(db, "examiners", {"items": None, "text": ""}, rows)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    """What the page of `judged` is made of, compared by both examiners; without findings on these."""
    return _contents(judged(tmp_path_factory.mktemp("compared")))


def _contents(run: Run, **more: Any) -> ReportData:
    with run.file.reading() as db:
        return ReportData(
            name="run",
            items=read.items(db),
            responses=facts_of(read_anew(run)),
            answers=read_anew(run),
            roster=Roster.of(read.scores(db, details=True)),
            requests=Requests.of_rows(read.scores(db, details=True), read.items(db)),
            scores=read.scores(db, details=True),
            measures={m.key: m.measure for m in read.measures(db)},
            estimates=[row for metric in ("judge", "told") for row in run.estimates(metric).rows],
            comparisons=[
                {"rows": run.compare("A", "B", metric=metric).rows, "settings": {}, "made_at": "2026"}
                for metric in ("judge", "told")
            ],
            benchmarks=read.benchmarks(db),
            provenance=(),
            selection=None,
            studies={"examiners": ()},
            **more,
        )


def page_of(compared: ReportData, run: Run) -> dict[str, Any]:
    """That page with the findings on examiners that a run keeps."""
    with run.file.reading() as db:
        return page_context(compared._replace(studies={"examiners": tuple(read.findings(db, "examiners"))}))


def test_a_judges_stamp_stands_wherever_its_marks_do(compared: ReportData, tmp_path: Path) -> None:
    run = judged(tmp_path)
    shown = "shown within 0.1 on 60 labels"
    keep(run, stamp(run, shown), stamp(run, "unvalidated", criterion="harm"))
    page = page_of(compared, run)
    stamps = {("told", "worth"): None, ("judge by m", "worth"): shown, ("judge by m", "harm"): "unvalidated"}
    assert stamps == {(b.metric, b.criterion): b.stamp for b in page["boards"]}
    assert stamps == {(metric_name(r["metric"]), r["criterion"]): r["stamp"] for r in page["comparisons"]}
    assert [None, shown, "unvalidated"] == sorted(
        (lead["stamp"] for lead in page["leads"]), key=lambda s: s or ""
    )
    by_rule = {("told", "worth"): "unvalidated"}  # a rule was held against nobody either
    assert stamps | by_rule == {
        (metric_name(r["metric"]), r["criterion"]): r["stamp"] for r in page["examiners"]
    }
    (measures,) = [p for p in page["methods"] if p.startswith("Answers were scored")]
    assert f"{shown}: judge by m: worth" in measures
    assert "unvalidated: judge by m: harm" in measures
    assert "told: worth" not in measures.split("Held against")[1]


def test_a_stamp_from_before_it_asked_for_differences_inside_questions_is_not_shown(
    compared: ReportData, tmp_path: Path
) -> None:
    run = judged(tmp_path)
    old = stamp(run, "shown within 0.1 on 60 labels")
    del old["r_inside"]
    keep(run, old, stamp(run, "shown within 0.1 on 60 labels", criterion="harm", r_inside=None))
    boards = page_of(compared, run)["boards"]
    assert ["checked, not shown"] * 2 == [b.stamp for b in boards if b.metric == "judge by m"]
    assert "checked, not shown" == run.compare("A", "B", metric="judge").rows[0]["stamp"]


@pytest.mark.parametrize(
    "other", [{"signature": "judge(model=m)@2"}, {"criterion": "harm"}, {"rater": "x"}, {"benchmark": "b"}]
)
def test_a_stamp_is_tied_to_signature_rater_criterion_and_benchmark(
    compared: ReportData, tmp_path: Path, other: dict[str, str]
) -> None:
    run = judged(tmp_path)
    keep(run, stamp(run, "checked, not shown", **other))
    (board,) = [
        b for b in page_of(compared, run)["boards"] if b.metric == "judge by m" and b.criterion == "worth"
    ]
    assert "unvalidated" == board.stamp


def test_the_newest_check_counts_and_a_look_without_labels_takes_nothing_away(
    compared: ReportData, tmp_path: Path
) -> None:
    run = judged(tmp_path)
    keep(run, stamp(run, "shown within 0.3 on 60 labels"))
    keep(run, stamp(run, "checked, not shown"))
    keep(run, stamp(run, "unvalidated"))
    page = page_of(compared, run)
    (board,) = [b for b in page["boards"] if b.metric == "judge by m" and b.criterion == "worth"]
    assert "checked, not shown" == board.stamp
    assert not any("No rater in this run has been checked" in line for line in page["limitations"])


def test_a_saturated_criterion_is_marked_on_its_board(compared: ReportData, tmp_path: Path) -> None:
    run = judged(tmp_path)
    keep(run, stamp(run, None, part="saturation", saturated=True, criterion="harm"),
         stamp(run, None, part="saturation", saturated=False))  # fmt: skip
    page = page_of(compared, run)
    own = {b.criterion: b.saturated for b in page["boards"] if b.metric == "judge by m"}
    assert {"harm": True, "worth": False} == own
    assert {True, False} == {r["saturated"] for r in page["examiners"]}


def test_of_two_versions_a_comparison_bears_the_weaker_stamp() -> None:
    assert "unvalidated" == weakest_status(
        ["shown within 1 on 9 labels", "unvalidated", "checked, not shown"]
    )
    assert "checked, not shown" == weakest_status(["shown within 1 on 9 labels", None, "checked, not shown"])
    assert weakest_status([None, None]) is None


@pytest.mark.parametrize(
    ("fault", "known"), [("Items leaked to the web.", True), ("Two keys are wrong.", False)]
)
def test_contamination_is_told_from_the_card_and_never_made_up(
    tmp_path: Path, fault: str, known: bool
) -> None:
    run = made(tmp_path, {"A": twins(["x"])})
    with run.file.reading() as db:
        (benchmark,) = read.benchmarks(db)
        card = type(benchmark.card)(
            **{
                k: getattr(benchmark.card, k)
                for k in ("name", "description", "source", "licence", "citation")
            },
            revision="1",
            faults=(fault,),
        )
        contents = ReportData(
            name="run",
            items=read.items(db),
            responses=facts_of(read_anew(run)),
            answers=read_anew(run),
            roster=Roster.of(read.scores(db, details=True)),
            requests=Requests.of_rows(read.scores(db, details=True), read.items(db)),
            scores=read.scores(db, details=True),
            measures={},
            estimates=(),
            comparisons=(),
            benchmarks=(benchmark._replace(card=card),),
            provenance=(),
            selection=None,
            studies={name: () for name in registry.members("study")},
        )
    (seen,) = page_context(contents)["contamination"]
    assert ([fault] if known else None) == seen["notes"]
    assert known is (seen["reason"] is None)


def test_dates_are_first_and_last_of_each_thing_done(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0.5] * 6), "B": twins([0, 0.5] * 6)})
    run.compare("A", "B", metric="told")
    run.compare("A", "B", metric="told", margin=0.1)
    done = {row["what"]: row["n"] for row in of(run, "dates")}
    assert {
        "answers came in": 1,
        "answers were scored": 1,
        "a metric of a plugin scored for the first time": 1,
        "candidates were compared": 2,
    } == done
    assert all(row["first"] <= row["last"] for row in of(run, "dates"))


def test_the_table_of_a_finding_names_a_judge_by_rubric_and_model() -> None:
    rows = [{"metric": metric, "value": 0.5} for metric in ("judge(model=m, rubric=a/r.md)", "rouge(n=1)")]
    assert ["r by m", "rouge(n=1)"] == [cells[0][0] for cells in _table(rows)["rows"]]


def test_rows_without_a_signature_are_named_after_no_version_where_there_are_several() -> None:
    told = [
        Measure(metric="told", signature=f"told()@{n}", rater="", criterion=Criterion(criterion="worth"))
        for n in (1, 2)
    ]
    assert {("told", "worth", ""): "told: worth"} == row_labels(dict(enumerate(told)))
