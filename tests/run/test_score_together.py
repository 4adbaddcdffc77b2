"""Metrics that score by rule go over the responses together: how often each is read, what is stored when."""

import gc
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.run.test_score import by, ones
from tests.studies.making import SILENT, UNREADABLE, made, twins

from vivavoce import formats
from vivavoce.core import cycles
from vivavoce.core.errors import MetricError
from vivavoce.core.records import Criterion, Item, Reading, Response, Row, Unit, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.run import score as scoring
from vivavoce.run.run import Run
from vivavoce.run.score import batch_scores, repeats
from vivavoce.store import pending, read

RULES = (
    "token_f1",
    "rouge(n=1)",
    "rouge(n=L)",
    "bleu",
    "chrf",
    "accuracy",
    "list_f1",
    "confidence(of=repeats)",
)


def mixed(folder: Path) -> Run:
    """Open and closed items, repeats, silences, a failure and answers nobody can read."""
    options = {"options": ["fluids", "rest", "heparin"], "question": "What helps?"}
    items = [
        *("q1", "q2"),
        {"item": "m1", "format": "mcq", "answer": ["A"], "references": [], **options},
        {"item": "l1", "format": "list", "answer": ["A", "C"], "references": [], **options},
        {"item": "o1", "format": "longform"},
    ]
    answers = {
        "A": {"q1": ["the key of q1", SILENT, None], "q2": "a key", "m1": ["A", "A", "B"], "l1": "A and C"},
        "B": {
            "q1": ["key", UNREADABLE],
            "q2": "no key",
            "m1": ["C", SILENT],
            "l1": "B",
            "o1": "the key of o1",
        },
    }
    return made(folder, answers, items=items)


def rows(run: Run) -> list[tuple[object, ...]]:
    """All that is stored of scores, in the words of the view, in one order."""
    with run.file.reading() as db:
        scores = db.execute("SELECT * FROM score_rows").fetchall()
        rest = db.execute(
            "SELECT signature, criterion, response_id, pass_no, parts, note FROM scores JOIN measures "
            "USING (measure_id)"
        ).fetchall()
    return sorted(scores, key=repr) + sorted(rest, key=repr)


def test_metrics_together_store_what_they_store_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unitwise = by(of_units, name="unitwise")
    singly = mixed(tmp_path)
    for spec in (*RULES, unitwise):
        singly.score(spec)
    for batch in (1, 3, 2_000):
        monkeypatch.setattr(scoring, "BATCH", batch)
        (tmp_path / str(batch)).mkdir()
        together = mixed(tmp_path / str(batch))
        together.score(*RULES, unitwise)
        assert rows(singly) == rows(together), batch
        assert 9 == len({m.signature for m in together.measures})
        assert singly.scores.sort(pl_columns(singly)).equals(together.scores.sort(pl_columns(together)))


def pl_columns(run: Run) -> list[str]:
    return ["item", "candidate", "repeat", "metric", "criterion", "unit"]


def of_units(rows: Sequence[Row]) -> list[Mapping[str, Mapping[Unit, Value]]]:
    """A value for each word, of which answers share some."""
    return [
        {"worth": {Unit(unit=word, text=word): Value(1.0) for word in row.reading.text.split()}}
        for row in rows
    ]


class Counted:
    """How often each text was read and each response built."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.readings: Counter[str] = Counter()
        self.responses: Counter[tuple[str, str, int]] = Counter()
        read_response = formats.read_response

        def counted_reading(item: Item, text: str) -> Reading:
            self.readings[text] += 1
            return read_response(item, text)

        def counted_response(**fields: Any) -> Response:
            self.responses[fields["item"], fields["candidate"], fields["repeat"]] += 1
            return Response(**fields)

        monkeypatch.setattr(formats, "read_response", counted_reading)
        monkeypatch.setattr(pending, "Response", counted_response)


def test_each_response_is_decoded_and_read_once_however_many_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small batches, so that nothing that is remembered from an earlier one can hide a second reading."""
    monkeypatch.setattr(scoring, "BATCH", 5)
    run = made(tmp_path, {c: twins([f"{c} says {n}" for n in range(40)]) for c in "AB"})
    counted = Counted(monkeypatch)
    run.score("token_f1", "rouge(n=1)", "rouge(n=2)", "bleu", "chrf", by(ones))
    assert 80 == len(counted.readings) == len(counted.responses)
    assert {1} == set(counted.readings.values()) == set(counted.responses.values())
    assert 8 * 80 == run.scores.height  # two of them give two criteria


def test_a_settled_response_is_neither_decoded_nor_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two metrics one lacks A's answers and the other all: each gets what it lacks, in one pass."""
    asked: dict[str, list[str]] = {"first": [], "second": []}

    def noting(name: str) -> Callable[[Sequence[Row]], Any]:
        def values(rows: Sequence[Row]) -> Any:
            asked[name] += [row.response.candidate for row in rows]
            return ones(rows)

        return values

    first, second = by(noting("first"), name="first"), by(noting("second"), name="second")
    run = made(tmp_path, {"B": twins(["y", "z"])})
    run.score(first)
    made(tmp_path, {"B": twins(["y", "z"]), "A": twins(["v", "w"])}, run=run)
    counted = Counted(monkeypatch)
    run.score(first, second)
    assert {"first": ["B", "B", "A", "A"], "second": ["B", "A", "B", "A"]} == asked
    assert {1} == set(counted.responses.values())
    counted.responses.clear()
    run.score(first, second)
    assert not counted.responses


def test_what_is_remembered_is_bounded_by_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With four times the answers the same number of results is held, and no more than two batches need."""
    monkeypatch.setattr(scoring, "BATCH", 10)
    most: list[int] = []
    end_batch = ScoringContext.end_batch

    def noted(context: ScoringContext) -> None:
        most.append(len(context._results) + len(context._earlier))
        end_batch(context)

    monkeypatch.setattr(ScoringContext, "end_batch", noted)
    sizes = []
    for n in (40, 160):
        (tmp_path / str(n)).mkdir()
        run = made(tmp_path / str(n), {"A": twins([f"said {i} so" for i in range(n)])})
        run.score("token_f1", "rouge(n=1)", "bleu")
        assert n // 10 == len(most)
        sizes.append(max(most))
        most.clear()
    assert sizes[0] == sizes[1]
    assert (
        20 <= sizes[0] <= 2 * 10 * (1 + 3 * 3)
    )  # its reading, and of each metric answer, reference and kind


def test_a_result_that_every_batch_needs_is_computed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "BATCH", 2)
    computed: list[str] = []

    def costly(text: str) -> str:
        computed.append(text)
        return text

    class Costly(Metric):
        """A metric of a test."""

        criteria = (Criterion(criterion="worth"),)
        formats = ("short",)

        def values(self, rows: Sequence[Row], context: ScoringContext) -> Any:
            assert "" == context.once(costly, "")
            return ones(rows)

    metric("costly")(Costly)
    made(tmp_path, {"A": twins([f"x{i}" for i in range(12)])}).score("costly")
    assert [""] == computed


def test_a_metric_that_breaks_stops_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its second batch: its first is stored, and all of those beside it, before and after it."""
    monkeypatch.setattr(scoring, "BATCH", 2)
    calls: list[int] = []

    def broken(rows: Sequence[Row]) -> Any:
        calls.append(len(rows))
        return ones(rows) if len(calls) == 1 else rows[9]

    run = made(tmp_path, {"A": twins(["x"] * 7)})
    names = (by(ones, name="before"), by(broken, name="broken"), by(ones, name="after"))
    with pytest.raises(MetricError, match=r"broken broke while scoring q02 and 1 further answers: IndexErr"):
        run.score(*names)
    assert [2, 2] == calls
    assert {"before": 7, "broken": 2, "after": 7} == Counter(run.scores["metric"].to_list())


def test_a_refused_value_keeps_that_metrics_batch_out_alone(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twins(["x", "y"])})
    high = by(lambda rows: [{"worth": Value(float(n))} for n, _ in enumerate(rows, 1)], name="high")
    with pytest.raises(MetricError, match=r"high on q01.*worth = 2.0 lies outside"):
        run.score(high, by(ones))
    assert ["mine", "mine"] == run.scores["metric"].to_list()


def test_an_interruption_stores_a_batch_of_all_metrics_or_of_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "BATCH", 2)
    calls: list[int] = []

    def interrupted(rows: Sequence[Row]) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return ones(rows)

    run = made(tmp_path, {"A": twins(["x"] * 6)})
    names = (by(ones, name="one"), by(interrupted, name="two"))
    with pytest.raises(KeyboardInterrupt):
        run.score(*names)
    assert {"one": 2, "two": 2} == Counter(run.scores["metric"].to_list())
    run.score(*names)
    assert {"one": 6, "two": 6} == Counter(run.scores["metric"].to_list())
    assert 4 == len(calls)


def test_progress_and_provenance_count_each_metric_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "BATCH", 2)
    run = made(tmp_path, {"A": twins(["x"])})
    run.score(by(ones, name="old"))
    made(tmp_path, {"A": twins(["x"]), "B": twins(["y"]), "C": twins(["z"])}, run=run)
    heard: list[tuple[str, int, int]] = []
    run.score("old", by(ones, name="new"), progress=lambda *said: heard.append(said))
    assert [("old", 1, 2), ("new", 2, 3), ("old", 2, 2), ("new", 3, 3)] == heard
    with run.file.reading() as db:
        steps = [(s["metric"], s["rows"]) for s in read.provenance(db) if s["verb"] == "score"]
    assert [("old", 1), ("old", 2), ("new", 3)] == steps


def test_long_answers_make_small_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What metrics keep of an answer grows with it: a batch ends at so many characters."""
    monkeypatch.setattr(repeats, "LENGTH", 100)
    sizes: list[int] = []

    def values(rows: Sequence[Row]) -> Any:
        sizes.append(len(rows))
        return ones(rows)

    run = made(tmp_path, {"A": twins(["x" * 60] * 3 + ["y" * 300] + ["z"] * 4)})
    run.score(by(values))
    assert [2, 2, 4] == sizes


def test_more_metrics_than_a_query_takes_score_in_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made(tmp_path, {"A": twins(["x", SILENT])})
    monkeypatch.setattr(scoring, "MOST_METRICS", 2)
    found = run.score(*(by(ones, name=f"m{n}") for n in range(5)))
    assert [f"m{n}" for n in range(5)] == [r["metric"] for r in found.rows]
    assert 10 == run.scores.height


def test_a_full_query_tells_all_its_metrics_apart(tmp_path: Path) -> None:
    """As many as one query takes: the last bit is as good as the first."""
    run = made(tmp_path, {"A": twins(["x"])})
    names = [by(ones, name=f"m{n}") for n in range(pending.MOST_METRICS)]
    run.score(*names[1:-1])
    run.score(*names)
    assert pending.MOST_METRICS == run.scores.height
    with run.file.reading() as db:
        assert [("m0", 1), ("m61", 1)] == [
            (s["metric"], s["rows"]) for s in read.provenance(db) if s["verb"] == "score" and s["rows"]
        ][-2:]


def test_the_reader_of_a_batch_knows_responses_by_their_key() -> None:
    """Two candidates who say the same are two rows."""
    item = Item(benchmark="b", item="q", format="short", question="?", references=("x",))
    said = [Response(benchmark="b", item="q", candidate=c, text="x") for c in "AB"]
    reader = batch_scores._Reader(ScoringContext())
    got = [reader(pending.Pending(n, item, response)) for n, response in enumerate(said)]
    assert ["A", "B"] == [row.response.candidate for row in got if isinstance(row, Row)]


@pytest.mark.parametrize("threshold", [700, 0, 90_000])
def test_scoring_leaves_the_collection_of_cycles_as_it_was(tmp_path: Path, threshold: int) -> None:
    """Off stays off, and an error changes nothing."""
    during: list[int] = []

    def values(rows: Sequence[Row]) -> Any:
        during.append(gc.get_threshold()[0])
        raise RuntimeError

    before = gc.get_threshold()
    gc.set_threshold(threshold, 7, 8)
    try:
        with pytest.raises(MetricError):
            made(tmp_path, {"A": {"q1": "x"}}).score(by(values))
        assert (threshold, 7, 8) == gc.get_threshold()
    finally:
        gc.set_threshold(*before)
    assert [max(threshold, cycles.RARE) if threshold else 0] == during


def test_one_unit_of_many_answers_is_one_unit_of_the_run(tmp_path: Path) -> None:
    """Also where items weigh it otherwise: then the table of units has no weight."""
    weights = {"q00": 1.0, "q01": 1.0, "q02": 2.0}

    def values(rows: Sequence[Row]) -> Any:
        return [
            {
                "worth": {
                    Unit(unit="same", text="same"): Value(1.0),
                    Unit(unit="weighed", text="t", weight=weights[row.item.item]): Value(0.0),
                }
            }
            for row in rows
        ]

    run = made(tmp_path, {"A": twins(["x"] * 3)})
    run.score(by(values))
    with run.file.reading() as db:
        units = db.execute("SELECT unit, weight FROM units WHERE unit_id != 0 ORDER BY unit").fetchall()
    assert [("same", None), ("weighed", None)] == units
    assert 6 == run.scores.height


def test_a_context_without_batches_holds_two_times_the_limit_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ScoringContext, "MAX_RESULTS", 10)
    context, computed = ScoringContext(), Counter[str]()

    def noted(text: str) -> str:
        computed[text] += 1
        return text

    for n in range(100):
        assert ["often", str(n)] == [context.once(noted, "often"), context.once(noted, str(n))]
        assert len(context._results) + len(context._earlier) <= 20
    assert {1} == set(computed.values())
