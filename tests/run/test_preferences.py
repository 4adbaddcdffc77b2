"""`viva export --format preferences`: pairs of answers, the better one first, and what is in none of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.hostile import ALL
from tests.studies.making import SILENT, TOLD, UNREADABLE, Answers, borrowed, exam, made, marked, write_lines

from vivavoce import Criterion, Item, Row, ScoringContext, Unit, Value
from vivavoce.benchmarks import Benchmark
from vivavoce.core import registry
from vivavoce.core.errors import InputError, SelectionError, StoreError, VivaError
from vivavoce.core.records import Card
from vivavoce.metrics import Metric
from vivavoce.run.exchange.preferences import PreferencesWritten
from vivavoce.run.run import Run, open_run


def pairs(run: Run, to: Path, margin: float = 0.1, **options: Any) -> list[dict[str, Any]]:
    (done,) = export(run, to, margin=margin, **options)
    rows = [json.loads(line) for line in done.path.read_text(encoding="utf-8").split("\n")[:-1]]
    assert done.rows == len(rows)
    return rows


def export(run: Run, to: Path, **options: Any) -> tuple[PreferencesWritten, ...]:
    return run.export(to, format="preferences", **{"metric": "told", **options})


def left_out(run: Run, to: Path, margin: float = 0.1, **options: Any) -> dict[str, int]:
    (done,) = export(run, to, margin=margin, **options)
    assert dict(done.left_out) == json.loads((to / "left_out.json").read_text())["left_out"]
    return dict(done.left_out)


def sides(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return [(row["chosen"], row["rejected"]) for row in rows]


def test_the_better_answer_is_chosen_and_the_row_says_by_what(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 0.9}, "B": {"q1": 0.2}})
    (row,) = pairs(run, tmp_path / "out")
    assert {
        "benchmark": "exam", "licence": "not stated", "item": "q1", "variant": "", "category": None,
        "group": "q1", "question": "What of q1?", "context": None, "options": [],
        "chosen": "0.9", "rejected": "0.2", "chosen_score": 0.9, "rejected_score": 0.2,
        "chosen_candidate": "A", "chosen_repeat": 1, "rejected_candidate": "B", "rejected_repeat": 1,
        "pair": "candidates", "chosen_units": None, "rejected_units": None, "metric": "told",
        "criterion": "worth", "rater": "", "signature": row["signature"], "direction": "higher",
        "margin": 0.1,
    } == row  # fmt: skip
    assert row["signature"].startswith("told(")


def test_where_lower_is_better_the_lower_score_is_chosen(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 0.9}, "B": {"q1": 0.2}}, "told(direction=lower)")
    assert [("0.2", "0.9")] == sides(pairs(run, tmp_path / "out"))


def test_a_tie_is_no_pair_at_any_margin(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": "0.5"}, "B": {"q1": "0.50"}})
    assert {"pairs: scores differ by no more than the margin": 1} == left_out(run, tmp_path / "out", margin=0)


@pytest.mark.parametrize(("margin", "n"), [(0.2, 0), (0.19, 1), (0.21, 0)])
def test_a_difference_of_just_the_margin_is_no_pair(tmp_path: Path, margin: float, n: int) -> None:
    """0.8 - 0.6 is more than 0.2 by its last digit only, and 0.9 - 0.7 less."""
    run = marked(tmp_path, {"A": {"q1": 0.8, "q2": 0.9}, "B": {"q1": 0.6, "q2": 0.7}})
    assert 2 * n == len(pairs(run, tmp_path / "out", margin=margin))


def test_repeats_of_one_candidate_are_pairs_and_say_so(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": [0.1, 0.9]}, "B": {"q1": 0.5}})
    rows = pairs(run, tmp_path / "out")
    assert [("0.9", "0.1", "repeats"), ("0.5", "0.1", "candidates"), ("0.9", "0.5", "candidates")] == [
        (row["chosen"], row["rejected"], row["pair"]) for row in rows
    ]
    assert (2, 1) == (rows[0]["chosen_repeat"], rows[0]["rejected_repeat"])


def test_what_has_no_score_is_in_no_pair_and_counted(tmp_path: Path) -> None:
    answers: Answers = {
        "A": {"q1": 1, "q2": SILENT, "q3": UNREADABLE, "q4": "fail"},
        "B": {"q1": 0, "q2": 1, "q3": 1, "q4": 1},
        "Best": {"q1": 1, "q2": 1, "q3": 1, "q4": 1},
    }
    run = marked(tmp_path, answers, role={"Best": "ceiling"})
    assert [("1", "0")] == sides(pairs(run, tmp_path / "out"))
    assert {
        "answers: failed": 1, "answers: of a ceiling": 4, "answers: unanswered": 1, "answers: unreadable": 1,
        "questions: fewer than two scored answers": 3,
    } == left_out(run, tmp_path / "out")  # fmt: skip


def test_an_answer_that_was_never_scored_is_in_no_pair(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 1}, "B": {"q1": 0}})
    rows = [{"candidate": "C", "item": "q1", "text": "0.5"}]
    run.import_answers(write_lines(tmp_path / "more.jsonl", rows), benchmark=exam(tmp_path, ["q1"]))
    assert {"answers: not scored": 1} == left_out(run, tmp_path / "out")


def test_equal_texts_are_no_pair_however_they_were_scored(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "same"}, "B": {"q1": "same"}})
    scores = [{"candidate": name, "item": "q1", "value": value} for name, value in (("A", 0), ("B", 1))]
    run.import_scores(write_lines(tmp_path / "s.jsonl", scores), measure="told", range={"*": (0, 1)})
    assert {"pairs: equal texts": 1} == left_out(run, tmp_path / "out")


def test_raters_are_not_mixed(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}, "B": {"q1": "y"}})
    scores = [
        {"candidate": name, "item": "q1", "rater": rater, "value": value}
        for name, rater, value in (("A", "ann", 0), ("B", "ann", 1), ("A", "ben", 1), ("B", "ben", 0))
    ]
    run.import_scores(write_lines(tmp_path / "s.jsonl", scores), measure="told", range={"*": (0, 1)})
    with pytest.raises(SelectionError, match="has several raters: --rater is one of ann, ben"):
        export(run, tmp_path / "out", margin=0.1)
    assert [("y", "x")] == sides(pairs(run, tmp_path / "out", rater="ann"))
    assert [("x", "y")] == sides(pairs(run, tmp_path / "out", rater="ben"))


def test_the_order_is_that_of_questions_and_candidates_and_never_changes(tmp_path: Path) -> None:
    answers: Answers = {"B": {"q2": 0, "q1": 1}, "A": {"q1": 0, "q2": 1}}
    run = marked(tmp_path, answers)
    assert ["q1", "q2"] == [row["item"] for row in pairs(run, tmp_path / "out")]
    first = (tmp_path / "out" / "preferences.jsonl").read_bytes()
    export(run, tmp_path / "out", margin=0.1)
    assert first == (tmp_path / "out" / "preferences.jsonl").read_bytes()


def test_chosen_questions_alone(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 1, "q2": 1}, "B": {"q1": 0, "q2": 0}})
    (tmp_path / "part").mkdir()
    rows = pairs(run, tmp_path / "out", items=exam(tmp_path / "part", ["q2"]))
    assert ["q2"] == [row["item"] for row in rows]


def test_a_hostile_answer_stays_one_value_of_one_line(tmp_path: Path) -> None:
    text = f"0.9 {ALL}\u2028\u2029\x85\x1b"
    run = made(tmp_path, {"A": {"q1": text}, "B": {"q1": "0"}})
    scores = [{"candidate": name, "item": "q1", "value": value} for name, value in (("A", 1), ("B", 0))]
    run.import_scores(write_lines(tmp_path / "s.jsonl", scores), measure="told", range={"*": (0, 1)})
    (row,) = pairs(run, tmp_path / "out")
    assert run.responses.filter(candidate="A")["text"].to_list() == [row["chosen"]]
    assert 1 == len((tmp_path / "out" / "preferences.jsonl").read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "preferences need a --margin"),
        ({"margin": -1}, "--margin is a number, 0 or more"),
        ({"margin": float("nan")}, "--margin is a number"),
        ({"margin": 0.1, "metric": None}, "name it, such as --metric"),
        ({"margin": 0.1, "redact": True}, "--redact hides them"),
        ({"margin": 0.1, "metric": "nonsense"}, "no measure of this run is 'nonsense': it has told:worth"),
        ({"margin": 0.1, "rater": "ann"}, "by the rater 'ann'"),
    ],
)
def test_what_is_lacking_is_said_and_nothing_written(
    tmp_path: Path, options: dict[str, Any], sentence: str
) -> None:
    run = marked(tmp_path, {"A": {"q1": 1}, "B": {"q1": 0}})
    with pytest.raises(VivaError, match=sentence):
        export(run, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_criterion_is_named_where_a_metric_has_several(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 1}, "B": {"q1": 0}}, "told(criteria_named=[x, y])")
    with pytest.raises(SelectionError, match=r"several measures: --metric is one of told.*:x, told.*:y"):
        export(run, tmp_path / "out", margin=0.1)
    assert ["y"] == [row["criterion"] for row in pairs(run, tmp_path / "out", metric="told:y")]


def test_a_pooled_figure_is_no_score_of_an_answer(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": "tp=1"}, "B": {"q1": "tp=0"}}, "counted")
    with pytest.raises(SelectionError, match="counted has no value for each answer"):
        export(run, tmp_path / "out", metric="counted", margin=0.1)


def test_a_run_without_a_pair_writes_an_empty_file_and_says_why(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 1}})
    assert [] == pairs(run, tmp_path / "out")
    assert {"questions: fewer than two scored answers": 1} == left_out(run, tmp_path / "out")


def test_a_redacted_run_has_no_texts_to_pair(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 1}, "B": {"q1": 0}})
    run.export(tmp_path / "redacted.viva", format="run", redact=True)
    with pytest.raises(InputError, match=r"redacted copy: its texts are gone, and a pair is two texts"):
        export(open_run(tmp_path / "redacted.viva"), tmp_path / "out", margin=0.1)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("names", [["notes.txt"], ["README.txt", "items.csv"]])
def test_only_an_earlier_export_of_pairs_gives_way(tmp_path: Path, names: list[str]) -> None:
    run = marked(tmp_path, {"A": {"q1": 1}, "B": {"q1": 0}})
    (tmp_path / "out").mkdir()
    for name in names:
        (tmp_path / "out" / name).write_text("Tables of a vivavoce run")
    with pytest.raises(StoreError, match="is there already and is no export"):
        export(run, tmp_path / "out", margin=0.1)
    assert set(names) == {path.name for path in (tmp_path / "out").iterdir()}


class _Secret(Benchmark):
    """A ward's notes, under a data use agreement."""

    card = Card(
        name="secret", description="d", source="s", revision_note="-", licence="DUA", citation="c",
        access="credentialed",
    )  # fmt: skip

    def items(self) -> Iterator[Item]:
        yield Item(benchmark="secret", item="n1", format="short", question="Zephyrine?", references=("x",))


def test_none_from_a_credentialed_benchmark_and_the_rest_of_the_run_is_exported(tmp_path: Path) -> None:
    with borrowed():
        registry.benchmark("secret")(_Secret)
        registry.load_plugin(TOLD)
        run = made(tmp_path, {"A": {"q1": 1}, "B": {"q1": 0}})
        rows = [{"candidate": name, "item": "n1", "text": text} for name, text in (("A", "1"), ("B", "0"))]
        run.import_answers(write_lines(tmp_path / "n.jsonl", rows), benchmark="secret")
        run.score("told")
        assert ["exam"] == [row["benchmark"] for row in pairs(run, tmp_path / "out")]
        assert 2 == left_out(run, tmp_path / "out")["answers: of a credentialed benchmark"]
        assert b"Zephyrine" not in b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())


def _units(text: str) -> dict[Unit, Value]:
    """'a true, b false': a unit for each word, with its verdict."""
    units = {}
    for n, piece in enumerate(text.split(", "), 1):
        word, verdict = piece.split()
        status = "ok" if verdict in ("true", "false") else "set_aside"
        value = float(verdict == "true") if status == "ok" else None
        units[Unit(unit=str(n), text=word, weight=2.0)] = Value(value, note=f"{verdict}: why", status=status)
    return units


class _Facts(Metric):
    """The share of true words, and each word by itself."""

    formats = ("short",)
    needs = ()
    criteria = (Criterion(criterion="precision"), Criterion(criterion="supported", pool="unit"))

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Any]]:
        found = []
        for row in rows:
            units = _units(row.reading.parsed)
            values = [unit.value for unit in units.values() if unit.value is not None]
            found.append({"precision": Value(sum(values) / len(values)), "supported": units})
        return found


def test_the_units_of_both_answers_go_along(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "ice true, fire true"}, "B": {"q1": "ice false, mud unverifiable"}})
    with borrowed():
        registry.metric("facts")(_Facts)
        run.score("facts")
    (row,) = pairs(run, tmp_path / "out", metric="facts")
    assert ["ice", "fire"] == [unit["text"] for unit in row["chosen_units"]]
    assert {
        "unit": "2", "criterion": "supported", "text": "mud", "weight": 2.0, "value": None,
        "verdict": "unverifiable", "status": "set_aside", "note": "unverifiable: why", "pass": 1,
    } == row["rejected_units"][1]  # fmt: skip
