"""What the report takes for its own: readings made here, findings that nothing has overtaken, in order "
"of time."""

from pathlib import Path

from tests.studies.making import marked, twins, write_lines

from vivavoce.run.run import Run
from vivavoce.store import read


def judged(run: Run) -> None:
    """Scores from elsewhere on every answer."""
    answers = run.responses.select("item", "variant", "candidate").iter_rows(named=True)
    rows = [{**row, "criterion": "harm", "value": 1} for row in answers]
    file = write_lines(run.file.path.parent / "marks.jsonl", rows)
    run.import_scores(file, measure="judge(model=m)", range={"*": (0, 5)})


def page(run: Run) -> str:
    return run.report().read_text(encoding="utf-8")


def test_a_ranking_is_overtaken_by_marks_that_were_imported(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5, 0.6] * 6), "B": twins([0.4, 0.1] * 6)})
    run.study("ranking")
    before = page(run)
    judged(run)
    with run.file.reading() as db:
        changes = {step["verb"]: step["changed"] for step in read.provenance(db)}
    assert {"import", "score", "import scores", "plugin metric"} == changes.keys()
    assert ["plugin metric"] == [verb for verb, changed in changes.items() if not changed]
    assert before.count("since") < page(run).count("since")


def test_marks_from_elsewhere_say_nothing_of_format_compliance(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5] * 12), "B": twins([0.4] * 12)})
    section = page(run).split('id="compliance"')[1].split("<h2")[0]
    judged(run)
    assert section == page(run).split('id="compliance"')[1].split("<h2")[0]


def test_findings_are_in_order_of_time_after_a_merge(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    older, newer = (
        marked(tmp_path / name, {"A": twins([0.5, 0.6] * 6), "B": twins([0.4, 0.1] * 6)})
        for name in ("one", "two")
    )
    older.study("ranking")
    newer.study("ranking")
    newer.merge(older.file.path)
    with newer.file.reading() as db:
        times = [finding["made_at"] for finding in read.findings(db, "ranking")]
        steps = [step["made_at"] for step in read.provenance(db)]
    assert 2 == len(times)
    assert sorted(times) == times
    assert sorted(steps) == steps
