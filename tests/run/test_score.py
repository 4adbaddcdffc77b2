"""Marking: what reaches a metric, what is stored when, and what is scored again."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studies.making import SILENT, UNREADABLE, exam, made, row, score, twins

from vivavoce.core import registry
from vivavoce.core.errors import MetricError
from vivavoce.core.records import Criterion, Row, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.run import score as scoring
from vivavoce.run.run import Run
from vivavoce.store import read

Values = Callable[[Sequence[Row]], Any]


def by(values: Values, *, version: int = 1, name: str = "mine", **parts: Any) -> str:
    """A metric that scores like this, registered under a name."""

    class Mine(Metric):
        """A metric of a test."""

        criteria = parts.get("criteria", (Criterion(criterion="worth"),))
        formats = parts.get("formats", ("short",))
        needs = parts.get("needs", ())

        def values(self, rows: Sequence[Row], context: ScoringContext) -> Any:
            return values(rows)

    registry._entries.pop(("metric", name), None)
    metric(name, version=version)(Mine)
    return name


def ones(rows: Sequence[Row]) -> list[Mapping[str, Value]]:
    return [{"worth": Value(1.0)} for _ in rows]


def test_only_readable_answers_reach_a_metric(tmp_path: Path) -> None:
    seen: list[str] = []

    def values(rows: Sequence[Row]) -> list[Mapping[str, Value]]:
        seen.extend(r.reading.parsed for r in rows)
        return ones(rows)

    run = made(tmp_path, {"A": twins(["said", SILENT, UNREADABLE, None, "I cannot answer this."])})
    run.score(by(values))
    assert ["said"] == seen
    assert ["ok", "unanswered", "unreadable", "failed", "unanswered"] == run.scores["status"].to_list()
    assert 1 == run.scores["value"].is_not_null().sum()


def test_a_metric_marks_its_formats_and_says_what_it_leaves(tmp_path: Path) -> None:
    items = ["q1", {"item": "l1", "format": "longform"}, {"item": "l2", "format": "longform"}]
    run = made(tmp_path, {"A": {"q1": "x", "l1": "y", "l2": "z"}}, items=items)
    found = run.score(by(ones))
    assert ("mine does not score 2 of the items (2 longform).",) == found.notes
    assert ["q1"] == run.scores["item"].to_list()
    assert 1.0 == found.rows[0]["coverage"]


def test_a_second_call_marks_nothing_again(tmp_path: Path) -> None:
    calls: list[int] = []

    def values(rows: Sequence[Row]) -> list[Mapping[str, Value]]:
        calls.append(len(rows))
        return ones(rows)

    run = made(tmp_path, {"A": twins(["x", "y"])})
    first, second = run.score(by(values)), run.score(by(values))
    assert [2] == calls
    assert first.rows == second.rows


def test_new_answers_alone_are_marked(tmp_path: Path) -> None:
    calls: list[str] = []

    def values(rows: Sequence[Row]) -> list[Mapping[str, Value]]:
        calls.extend(r.response.candidate for r in rows)
        return ones(rows)

    run = made(tmp_path, {"A": twins(["x"])})
    run.score(by(values))
    made(tmp_path, {"A": twins(["x"]), "B": twins(["x"])}, run=run)
    run.score(by(values))
    assert ["A", "B"] == calls


def test_a_metric_that_needs_repeats_sees_every_other_answer_that_arrived(tmp_path: Path) -> None:
    """Silent and unreadable ones too, failed ones not; and of nobody else, and no other item."""
    seen: dict[tuple[str, int], list[object]] = {}

    class Beside(Metric):
        """A metric of a test."""

        criteria = (Criterion(criterion="worth"),)
        formats = ("short",)
        needs_repeats = True

        def values(self, rows: Sequence[Row], context: ScoringContext) -> Any:
            for r in rows:
                place = (r.response.candidate + r.item.item, r.response.repeat)
                seen[place] = [reading.parsed or reading.status for reading in r.other_repeats]
            return ones(rows)

    metric("beside")(Beside)
    answers = {"A": {"q1": ["x", "y", SILENT, UNREADABLE, None], "q2": "z"}, "B": {"q1": ["v", "w"]}}
    run = made(tmp_path, answers)
    run.score("beside")
    assert {
        ("Aq1", 1): ["y", "unanswered", "unreadable"],
        ("Aq1", 2): ["x", "unanswered", "unreadable"],
        ("Aq2", 1): [],
        ("Bq1", 1): ["w"],
        ("Bq1", 2): ["v"],
    } == seen
    seen.clear()
    made(tmp_path, {"B": {"q1": ["v", "w", "u"]}}, items=["q1", "q2"], run=run)
    run.score("beside")
    # A's failed repeat is tried again, and with it those beside it
    assert {("Aq1", 1), ("Aq1", 2), ("Bq1", 1), ("Bq1", 2), ("Bq1", 3)} == seen.keys()


def test_failed_marks_are_tried_again_and_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The score that failed gets its value, the bounds close, and the verdict no longer depends."""
    answers = {"A": twins([0.6, 0.7] * 6 + ["fail 0.65"] * 8), "B": twins([0.4] * 20)}
    run = made(tmp_path, answers)
    before = row(score(run), candidate="A")
    assert (8, 12) == (before["n_failed"], before["n_items"])
    assert before["set_low"] < before["estimate"] < before["set_high"]
    assert "depends" == run.compare("A", "B", metric="told").rows[0]["verdict_code"]
    monkeypatch.setenv("TOLD_MENDED", "1")
    after = row(score(run), candidate="A")
    assert (0, 20, 1.0) == (after["n_failed"], after["n_items"], after["coverage"])
    assert after["estimate"] == after["set_low"] == after["set_high"]
    assert pytest.approx(0.65) == after["estimate"]
    assert "better" == run.compare("A", "B", metric="told").rows[0]["verdict_code"]
    assert 40 == run.scores.height


def test_a_settled_mark_is_never_replaced_by_a_failed_one(tmp_path: Path) -> None:
    """Two criteria, one of which failed: the other keeps its first value when both are asked again."""
    worth = iter([0.25, 0.75])
    criteria = (Criterion(criterion="kept"), Criterion(criterion="lost"))

    def values(rows: Sequence[Row]) -> list[Mapping[str, Value]]:
        return [{"kept": Value(next(worth)), "lost": Value(None, status="failed", note="why")} for _ in rows]

    run = made(tmp_path, {"A": {"q1": "x"}})
    run.score(by(values, criteria=criteria))
    run.score(by(values, criteria=criteria))
    assert [("kept", 0.25, "ok"), ("lost", None, "failed")] == run.scores.select(
        "criterion", "value", "status"
    ).rows()


def test_what_was_stored_before_a_crash_is_not_marked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches of 2, a crash in the third: four scores are there, and the next call asks for the rest only."""
    monkeypatch.setattr(scoring, "BATCH", 2)
    asked: list[list[str]] = []
    broken = True

    def values(rows: Sequence[Row]) -> list[Mapping[str, Value]]:
        asked.append([r.item.item for r in rows])
        if broken and len(asked) == 3:
            raise RuntimeError("out of luck")
        return ones(rows)

    run = made(tmp_path, {"A": twins(["x"] * 7)})
    with pytest.raises(MetricError, match=r"mine broke while scoring q04 and 1 further answers: Runtime"):
        run.score(by(values))
    assert [["q00", "q01"], ["q02", "q03"], ["q04", "q05"]] == asked
    assert 4 == run.scores.height
    broken = False
    asked.clear()
    found = run.score(by(values))
    assert [["q04", "q05"], ["q06"]] == asked
    assert (7, 1.0) == (found.rows[0]["n_responses"], found.rows[0]["coverage"])


def test_an_interruption_keeps_what_was_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "BATCH", 1)
    calls: list[int] = []

    def values(rows: Sequence[Row]) -> list[Mapping[str, Value]]:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return ones(rows)

    run = made(tmp_path, {"A": twins(["x"] * 3)})
    with pytest.raises(KeyboardInterrupt):
        run.score(by(values))
    assert 1 == run.scores.height
    assert 3 == run.score(by(values)).rows[0]["n_responses"]
    assert 4 == len(calls)


def test_progress_counts_answers_up_to_the_total(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "BATCH", 2)
    heard: list[tuple[str, int, int]] = []
    run = made(tmp_path, {"A": twins(["x", SILENT, "y"])})
    run.score(by(ones), progress=lambda *said: heard.append(said))
    assert [("mine", 2, 3), ("mine", 3, 3)] == heard


def test_items_restrict_what_is_marked(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    (tmp_path / "part").mkdir()
    run.score(by(ones), items=exam(tmp_path / "part", ["q2"]))
    assert ["q2"] == run.scores["item"].to_list()


def test_numpy_numbers_are_numbers(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    run.score(
        by(lambda rows: [{"worth": Value(np.float32(0.5), {"n": np.int64(2)})} for _ in rows])  # type: ignore[arg-type]
    )
    assert [0.5] == run.scores["value"].to_list()


def test_a_new_version_of_a_metric_is_a_new_measure(tmp_path: Path) -> None:
    """Scores of two versions are never mixed: each has its own mean."""
    run = made(tmp_path, {"A": twins(["x", "y"])})
    old = run.score(by(ones))
    new = run.score(by(lambda rows: [{"worth": Value(0.0)} for _ in rows], version=2))
    assert (1.0, 0.0) == (old.rows[0]["estimate"], new.rows[0]["estimate"])
    assert ["mine()@1", "mine()@2"] == [m.signature for m in run.measures]


def test_candidates_marked_by_different_versions_cannot_be_compared(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twins(["x"] * 12)})
    run.score(by(ones))
    made(tmp_path, {"A": twins(["x"] * 12), "B": twins(["x"] * 12)}, run=run)
    with run.file.writing() as db:  # B alone is scored by the second version, as after an upgrade
        a = db.execute("SELECT candidate_id FROM candidates WHERE candidate = 'A'").fetchone()[0]
        kept = db.execute("SELECT * FROM responses WHERE candidate_id = ?", (a,)).fetchall()
        marks = db.execute("SELECT * FROM scores").fetchall()
        db.execute("DELETE FROM scores")
        db.execute("DELETE FROM responses WHERE candidate_id = ?", (a,))
    run.score(by(ones, version=2))
    with run.file.writing() as db:
        db.executemany(f"INSERT INTO responses VALUES ({', '.join('?' * len(kept[0]))})", kept)
        db.executemany(f"INSERT INTO scores VALUES ({', '.join('?' * len(marks[0]))})", marks)
    found = run.compare("A", "B", metric="mine").rows[0]
    assert "incomparable" == found["verdict_code"]
    assert "they were scored by different versions of mine" in found["verdict"]
    run.score(by(ones, version=2))
    assert "too_few" == run.compare("A", "B", metric="mine").rows[0]["verdict_code"]


def test_the_plugin_that_marked_goes_to_provenance(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twins([1])})
    score(run)
    with run.file.reading() as db:
        step, code = read.provenance(db)[-2:]
    assert ("score", "told", 1) == (step["verb"], step["metric"], step["rows"])
    assert ("plugin metric", 8) == (code["verb"], len(code["code"]))
    assert [8] == [len(h) for path, h in step["plugins"].items() if path.endswith("told.py")]


# What a stranger's metric can get wrong: one sentence that names the metric and the answer.


def wrong(folder: Path, values: Values, **parts: Any) -> str:
    run = made(folder, {"A": {"q1": "x"}})
    with pytest.raises(MetricError) as error:
        run.score(by(values, **parts))
    assert 0 == run.scores.height
    return str(error.value)


HERE = r"mine on q1, answer of A (repeat 1): "


@pytest.mark.parametrize("value", [1.5, -0.1, float("nan"), float("inf")])
def test_a_value_out_of_range_is_refused(tmp_path: Path, value: float) -> None:
    said = wrong(tmp_path, lambda rows: [{"worth": Value(value)}])
    assert f"{HERE}worth = {value} lies outside its declared range 0 to 1." in said


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (lambda rows: [], "mine gave 0 values for 1 answers."),
        (lambda rows: None, "mine broke while scoring q1 and 0 further answers: TypeError"),
        (lambda rows: [{"other": Value(1.0)}], f"{HERE}no value for its criterion 'worth'."),
        (lambda rows: [Value(1.0)], f"{HERE}no value for its criterion 'worth'."),
        (
            lambda rows: [{"worth": 1.0}],
            f"{HERE}a Value with a status of ok, unanswered",
        ),
        (lambda rows: [{"worth": Value(None, status="lost")}], f"{HERE}a Value with a status of"),
        (lambda rows: [{"worth": Value("much")}], f"{HERE}value and parts must be numbers, not 'much'"),
        (
            lambda rows: [{"worth": Value(1.0, {"tp": None})}],
            f"{HERE}value and parts must be numbers",
        ),
        (lambda rows: [{"worth": Value(1.0, {"tp": float("nan")})}], f"{HERE}its parts must be finite"),
        (lambda rows: [{"worth": Value(None)}], f"{HERE}a value goes with status ok and with no other"),
        (lambda rows: [{"worth": Value(1.0, status="failed")}], f"{HERE}a value goes with status ok"),
        (lambda rows: rows[7], "mine broke while scoring q1 and 0 further answers: IndexError"),
        (lambda rows: sys.exit(), "mine broke while scoring q1 and 0 further answers: SystemExit. What"),
        (lambda rows: sys.exit("a\nviva: b."), "further answers: SystemExit: a viva: b. What was scored"),
        (lambda rows: sys.exit(3), "mine broke while scoring q1 and 0 further answers: SystemExit: 3."),
    ],
)
def test_a_metric_that_gives_what_it_did_not_declare_is_named(
    tmp_path: Path, values: Values, words: str
) -> None:
    assert words in wrong(tmp_path, values)


def test_ctrl_c_while_a_metric_scores_is_no_fault_of_the_metric(tmp_path: Path) -> None:
    """SIGTERM in our commands is the same."""

    def values(rows: Sequence[Row]) -> list[Mapping[str, Value]]:
        raise KeyboardInterrupt

    run = made(tmp_path, {"A": {"q1": "x"}})
    with pytest.raises(KeyboardInterrupt):
        run.score(by(values))


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"criteria": ()}, "must declare criteria, each once, not []"),
        ({"criteria": (Criterion(criterion="x"), Criterion(criterion="x"))}, "each once, not ['x', 'x']"),
        (
            {"criteria": (Criterion(criterion="x", low=1, high=0),)},
            "must run upwards, not from 1 to 0",
        ),
        (
            {"criteria": (Criterion(criterion="x", direction="up"),)},
            "direction 'up' and if_unanswered",
        ),
        (
            {"criteria": (Criterion(criterion="x", if_unanswered="zero"),)},
            "if_unanswered 'zero' must be of",
        ),
        ({"needs": ("gold",)}, "needs 'gold', which is no field of an item"),
    ],
)
def test_a_metric_that_declares_nonsense_is_named(tmp_path: Path, parts: dict[str, Any], words: str) -> None:
    assert words in wrong(tmp_path, ones, **parts)


@pytest.mark.parametrize(
    ("criterion", "side"),
    [
        (Criterion(criterion="x", low=None, high=None), "lowest"),
        (Criterion(criterion="x", low=0, high=None, direction="lower"), "highest"),
        (Criterion(criterion="x", low=0, high=None, if_unanswered="correct"), "highest"),
    ],
)
def test_silence_that_counts_as_a_limit_that_is_not_there_is_refused(
    tmp_path: Path, criterion: Criterion, side: str
) -> None:
    """Left out without a word it would make silence pay."""

    def values(rows: Sequence[Row]) -> list[Mapping[str, Value]]:
        return [{"x": Value(1.0)} for _ in rows]

    run: Run = made(tmp_path, {"A": {"q1": "said", "q2": SILENT}})
    with pytest.raises(MetricError, match=f"but x declares no {side} value. Declare one, or if_unanswered"):
        run.score(by(values, criteria=(criterion,)))


def test_a_metric_needs_what_it_says_before_anything_is_stored(tmp_path: Path) -> None:
    items = ["q1", {"item": "q2", "references": []}]
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}}, items=items)
    with pytest.raises(MetricError, match="references, and 1 of the 2 items it would score have none: q2"):
        run.score(by(ones), by(ones, name="needy", needs=("references",)))
    assert 0 == run.scores.height
