"""F1-RadGraph against the reward functions of the package, by hand, and where annotations are missing.

`radgraph.jsonl` holds 60 random pairs of annotations with what `radgraph.rewards.compute_reward` of radgraph
0.1.18 gives for them at each level.
"""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from vivavoce.core.errors import InputError, MetricError
from vivavoce.core.records import Item, Reading, Response, Row, Value
from vivavoce.core.registry import build, signature
from vivavoce.metrics import ScoringContext
from vivavoce.metrics.radgraph import _extractor, f1_of

GOLDEN = [json.loads(line) for line in (Path(__file__).parent / "radgraph.jsonl").read_text().splitlines()]
LEVELS = ("simple", "partial", "complete")


def entity(tokens: str, label: str = "Observation", *relations: tuple[str, str]) -> dict[str, Any]:
    return {
        "tokens": tokens,
        "label": label,
        "start_ix": 0,
        "end_ix": 0,
        "relations": list(map(list, relations)),
    }


REPORT = {
    "1": entity("small", "Observation", ("modify", "2")),
    "2": entity("effusion", "Observation", ("located_at", "3")),
    "3": entity("Left", "Anatomy"),
}
ANSWER = {
    "1": entity("effusion", "Observation", ("located_at", "2")),
    "2": entity("left", "Anatomy"),
}


def test_values_are_those_of_the_package_at_every_level() -> None:
    for row in GOLDEN:
        for level in LEVELS:
            assert row[level] == f1_of(row["response"], row["reference"], level).value, row
    assert all(len({row[level] for row in GOLDEN}) > 7 for level in LEVELS)
    assert any(len({row[level] for level in LEVELS}) == 3 for row in GOLDEN)


def test_the_levels_by_hand() -> None:
    """`left` is not `Left`, but where it stands in a relation."""
    assert Value(0.4, {"tp": 1, "fp": 1, "fn": 2}) == f1_of(
        ANSWER, REPORT, "simple"
    )  # effusion of 2 and of 3
    assert Value(0.4, {"tp": 1, "fp": 1, "fn": 2}) == f1_of(ANSWER, REPORT, "partial")
    assert Value(0.4, {"tp": 1, "fp": 1, "fn": 2}) == f1_of(ANSWER, REPORT, "complete")
    alone = {"1": entity("effusion"), "2": entity("left", "Anatomy")}
    assert [0.4, 0.0, 0.0] == [f1_of(alone, REPORT, level).value for level in LEVELS]


def test_a_text_without_entities_has_f1_0_and_the_same_text_1() -> None:
    for level in LEVELS:
        assert Value(1.0, {"tp": 3, "fp": 0, "fn": 0}) == f1_of(REPORT, REPORT, level)
        assert (0.0, 0.0, 0.0) == tuple(
            f1_of(*pair, level).value for pair in (({}, REPORT), (REPORT, {}), ({}, {}))
        )


def test_the_numbers_of_entities_tell_nothing() -> None:
    renamed = {
        "9": entity("Left", "Anatomy"),
        "b": entity("effusion", "Observation", ("located_at", "9")),
        "a": entity("small", "Observation", ("modify", "b")),
    }
    for level in LEVELS:
        assert f1_of(ANSWER, REPORT, level) == f1_of(ANSWER, renamed, level)


def row(item: str = "q1", candidate: str = "A", references: tuple[str, ...] = ("r",), **rest: Any) -> Row:
    it = Item(benchmark="b", item=item, format="longform", question="Findings?", references=references)
    return Row(it, Response(benchmark="b", item=item, candidate=candidate, **rest), Reading("ok", "text"))


def written(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "graphs.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def metric(path: Path, level: str = "partial") -> Any:
    return build("metric", f"radgraph(annotations='{path}', level={level})")


def test_annotations_come_from_the_file(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"item": "q1", "candidate": "A", "entities": ANSWER},
        {"item": "q1", "candidate": "A", "repeat": 2, "entities": REPORT},
        {"item": "q1", "entities": {}},
        {"item": "q1", "reference": 2, "entities": REPORT},
    )
    rows = [row(references=("r", "s")), row(references=("r", "s"), repeat=2), row()]
    values = [v["f1"].value for v in metric(path).values(rows, ScoringContext())]
    assert [0.4, 1.0, 0.0] == values  # of several references the best


def test_what_has_no_annotation_fails_and_is_never_0(tmp_path: Path) -> None:
    path = written(
        tmp_path, {"item": "q1", "entities": REPORT}, {"item": "q2", "candidate": "A", "entities": {}}
    )
    scored = metric(path)
    (lost,) = scored.values([row()], ScoringContext())
    assert Value(None, note="graphs.jsonl has no row for this answer", status="failed") == lost["f1"]
    assert scored.not_applicable(row().item) is None
    assert "graphs.jsonl has no row for a reference of the item" == scored.not_applicable(row("q2").item)
    (aside,) = scored.values([row("q2")], ScoringContext())
    assert ("set_aside", None) == (aside["f1"].status, aside["f1"].value)


@pytest.mark.parametrize(
    ("entities", "why"),
    [
        ([], "must be an object"),
        ({"1": {"tokens": "a", "label": "b"}}, "needs relations, a list of pairs"),
        ({"1": entity("a") | {"tokens": None}}, "needs the texts tokens and label"),
        ({"1": "a"}, "needs the texts tokens and label"),
        ({"1": entity("a") | {"relations": ["modify"]}}, "needs relations, a list of pairs"),
        ({"1": entity("a", "b", ("modify", "2"))}, "entity '1' relates to '2', which is no entity"),
    ],
)
def test_a_line_that_is_no_annotation_is_named(tmp_path: Path, entities: Any, why: str) -> None:
    path = written(tmp_path, {"item": "q1", "entities": REPORT}, {"item": "q2", "entities": entities})
    with pytest.raises(InputError, match=f"graphs.jsonl, line 2.*{why}"):
        metric(path).values([row()], ScoringContext())


def test_a_second_row_of_one_answer_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, *2 * [{"item": "q1", "candidate": "A", "entities": REPORT}])
    with pytest.raises(InputError, match="line 2: a second list of what"):
        metric(path).values([row()], ScoringContext())


def test_a_file_written_again_is_read_again_and_gives_another_signature(tmp_path: Path) -> None:
    path = written(
        tmp_path, {"item": "q1", "candidate": "A", "entities": ANSWER}, {"item": "q1", "entities": REPORT}
    )
    before = signature(metric(path)), metric(path).values([row()], ScoringContext())
    written(
        tmp_path, {"item": "q1", "candidate": "A", "entities": REPORT}, {"item": "q1", "entities": REPORT}
    )
    assert 1.0 == metric(path).values([row()], ScoringContext())[0]["f1"].value
    assert signature(metric(path)) != before[0]


class Package(ModuleType):
    """The package, as far as it is used: it prints, and calls the first word of a text an entity."""

    def __init__(self) -> None:
        super().__init__("radgraph")
        self.asked: list[list[str]] = []
        self.models: list[str] = []

    def RadGraph(self, *, model_type: str) -> Any:  # noqa: N802 - the package's name
        print("Using device: cpu")
        self.models.append(model_type)
        if model_type == "echograph":
            raise OSError("no network")

        def annotate(texts: list[str]) -> dict[str, Any]:
            self.asked.append(texts)
            return {
                str(k): {"text": text, "entities": {"1": entity(text.split()[0])}}
                for k, text in enumerate(texts)
            }

        return annotate


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Any:
    _extractor.cache_clear()
    fake = Package()
    monkeypatch.setitem(sys.modules, "radgraph", fake)
    yield fake
    _extractor.cache_clear()


def test_the_package_extracts_where_it_is_installed(package: Any, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        row(references=("text with words", "other")),
        row(candidate="B", references=("other",)),
        row(candidate="C", references=("text",)),
    ]
    values = build("metric", "radgraph").values(rows, ScoringContext())
    assert [1.0, 0.0, 1.0] == [value["f1"].value for value in values]
    assert [["text", "text with words", "other"]] == package.asked  # each text once
    assert ["radgraph-xl"] == package.models
    assert "" == capsys.readouterr().out
    assert [] == build("metric", "radgraph").values([], ScoringContext())


def test_a_package_that_cannot_load_its_model_is_one_sentence(package: Any) -> None:
    with pytest.raises(MetricError, match=r"cannot load echograph \(OSError: no network\).*annotations=FILE"):
        build("metric", "radgraph(model=echograph)").values([row()], ScoringContext())


def test_annotations_of_the_package_are_checked_too(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = SimpleNamespace(RadGraph=lambda model_type: lambda texts: {"0": {"entities": []}, "1": {}})
    monkeypatch.setitem(sys.modules, "radgraph", broken)  # type: ignore[arg-type]
    with pytest.raises(MetricError, match="gives what is no annotation: entities must be an object"):
        build("metric", "radgraph").values([row()], ScoringContext())


def test_without_file_and_package_a_sentence_says_what_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    _extractor.cache_clear()
    monkeypatch.setitem(sys.modules, "radgraph", None)
    with pytest.raises(MetricError, match=r"needs annotations=FILE.*or the package radgraph.*pip install"):
        build("metric", "radgraph").values([row()], ScoringContext())


def test_a_run_keeps_what_failed_apart_from_what_is_0(tmp_path: Path) -> None:
    from vivavoce.run.run import Run

    run = Run(tmp_path / "r.viva")
    run.import_answers(
        [
            {"id": k, "model": m, "question": "Findings?", "reference": "effusion", "response": "Effusion."}
            for k in ("1", "2") for m in ("A", "B")
        ]
    )  # fmt: skip
    path = written(
        tmp_path,
        *({"item": k, "entities": REPORT} for k in ("1", "2")),
        *({"item": k, "candidate": "A", "entities": ANSWER} for k in ("1", "2")),
        {"item": "1", "candidate": "B", "entities": {}},
    )
    found = {r["candidate"]: r for r in run.score(f"radgraph(annotations='{path}')").rows}
    assert (0.4, 0) == (pytest.approx(found["A"]["estimate"]), found["A"]["n_failed"])
    assert 1 == found["B"]["n_failed"]
