"""`viva score --dry-run`: what would be scored, asked and encoded, counted without any of it."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.embeddings.tiny_bert import tiny_bert
from tests.judging.fake_judge import FakeJudge
from tests.studies.making import made

from vivavoce.core.errors import MetricError
from vivavoce.embeddings import encoder
from vivavoce.run.run import Run

CORRECTNESS = "judge(rubric=correctness, model=fake/j1)"
ProvidersFile = Callable[..., Path]
LIMITED = "judge(rubric=correctness, model=fake/j1, max_tokens=300)"
PRICES = {"prices": {"j1": [2.0, 10.0]}}


def digest(run: Run) -> list[str]:
    """The bytes of the run, its journal too."""
    files = sorted(run.file.path.parent.glob(f"{run.file.path.name}*"))
    return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.stat().st_size]


def counted(run: Run, *metrics: str, **rest: Any) -> dict[str, Any]:
    """The row of the only metric of a dry run that changes nothing."""
    before = digest(run)
    (row,) = run.score(*metrics, dry_run=True, **rest).rows
    assert before == digest(run)
    return dict(row)


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """No encoder can be loaded."""

    def refuse(*_: Any) -> None:
        raise AssertionError("an encoder is loaded")

    monkeypatch.setattr(encoder, "_loaded", refuse)


def test_rules_count_what_is_left_to_score(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": ["y", "z"]}, "B": {"q1": ""}})
    row = counted(run, "exact")
    assert (4, 0, 0.0, 0, None) == (*(row[k] for k in ("to_score", "calls", "cost", "passes", "encoder")),)
    run.score("exact")
    assert 0 == counted(run, "exact")["to_score"]
    assert "Everything is scored already." in str(run.score("exact", dry_run=True))
    assert [4, 4] == [r["to_score"] for r in run.score("token_f1", "rouge(n=1)", dry_run=True).rows]


def test_without_a_metric_those_that_fit_are_counted(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    finding = run.score(dry_run=True)
    assert {"exact", "token_f1"} == {row["metric"] for row in finding.rows}
    assert "No metric was named" in str(finding)


def test_calls_are_counted_with_their_price_and_nobody_is_asked(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "same", "q2": "own"}, "B": {"q1": ["same", "same"], "q2": ""}})
    row = counted(run, LIMITED, passes=2, providers=providers_file(**PRICES))
    assert [] == judge.sent
    assert (10, 4, 0, "fake/j1") == (*(row[k] for k in ("to_score", "calls", "stored_calls", "rater")),)
    run.score(LIMITED, passes=2, providers=providers_file(**PRICES))
    assert 4 == len(judge.sent)  # the blank answer is nobody's question, equal ones are asked once
    sent = sum(len(m["content"]) for one in judge.sent for m in one.body["messages"])
    assert sent // 4 == pytest.approx(row["input_tokens"], abs=4)
    assert 4 * 300 == row["output_tokens"]
    assert row["cost"] == pytest.approx((row["input_tokens"] * 2 + row["output_tokens"] * 10) / 1e6)
    again = counted(run, LIMITED, passes=3, providers=providers_file(**PRICES))
    assert (5, 2, 0) == (again["to_score"], again["calls"], again["stored_calls"])


def test_replies_that_are_stored_cost_nothing(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """Of an interrupted call the replies are there, and the scores are not."""
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    run.score(CORRECTNESS, providers=providers_file())
    with run.file.writing() as db:
        db.execute("DELETE FROM scores")
    row = counted(run, CORRECTNESS, providers=providers_file())
    assert (2, 0, 2, 0) == (*(row[k] for k in ("to_score", "calls", "stored_calls", "input_tokens")),)


def test_a_price_that_is_not_known_is_null(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    assert counted(run, CORRECTNESS, providers=providers_file())["cost"] is None
    assert counted(run, LIMITED, providers=providers_file())["cost"] is None
    assert counted(run, CORRECTNESS, providers=providers_file(**PRICES))["output_tokens"] is None
    said = str(run.score(CORRECTNESS, "exact", dry_run=True, providers=providers_file()))
    assert "1 call of models. The price is not known of fake/j1" in said


def test_ballots_are_counted(tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile) -> None:
    run = made(tmp_path, {name: {"q1": name, "q2": f"{name}!"} for name in "ABC"})
    spec = "judge(rubric=pairwise, model=fake/j1)"
    row = counted(run, spec, providers=providers_file(**PRICES))
    assert [] == judge.sent
    run.score(spec, providers=providers_file(**PRICES))
    assert (len(judge.sent), 12) == (row["calls"], row["to_score"])
    assert 0 == counted(run, spec, providers=providers_file(**PRICES))["to_score"]


def test_a_jury_counts_each_judge(tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    jury = f"jury(of=[{CORRECTNESS}, {CORRECTNESS.replace('j1', 'j2')}])"
    rows = run.score(jury, dry_run=True, providers=providers_file()).rows
    assert [("fake/j1", 1), ("fake/j2", 1)] == [(row["rater"], row["calls"]) for row in rows]


def encoders(tmp_path: Path) -> tuple[str, ...]:
    folder = tiny_bert(tmp_path / "bert")
    return f"similarity(encoder='{folder}')", f"bertscore(encoder='{folder}', layers=1)"


def exam(tmp_path: Path) -> Run:
    """Three questions with references, some answers twice."""
    run = Run(tmp_path / "e.viva")
    run.import_answers(
        [
            {"id": item, "model": model, "question": "Q?", "reference": f"iron {item}", "response": text}
            for model, texts in {"A": ("iron", "fever", "no"), "B": ("iron", "", "cough")}.items()
            for item, text in zip(("q1", "q2", "q3"), texts, strict=True)
        ]
    )  # fmt: skip
    return run


def test_encoder_passes_are_those_that_scoring_makes(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    run, metrics = exam(tmp_path), encoders(tmp_path)
    request.getfixturevalue("unloaded")
    before = digest(run)
    planned = run.score(*metrics, dry_run=True)
    assert before == digest(run)
    assert ([7, 7], [6, 6]) == ([r["passes"] for r in planned.rows], [r["to_score"] for r in planned.rows])
    assert {
        str(tmp_path / "bert"): 7
    } == planned.passes  # 3 references; iron, fever, no, cough: shared by both
    request.getfixturevalue("monkeypatch").undo()
    assert planned.passes == run.score(*metrics).passes
    assert {} == dict(run.score(*metrics, dry_run=True).passes)


def test_an_encoder_in_two_dtypes_reads_every_text_twice(tmp_path: Path) -> None:
    run, (similarity, bertscore) = exam(tmp_path), encoders(tmp_path)
    metrics = similarity, bertscore, similarity.replace(")", ", dtype=bfloat16)")
    planned = run.score(*metrics, dry_run=True)
    assert {str(tmp_path / "bert"): 14} == planned.passes == run.score(*metrics).passes
    assert "bert would read 14 texts." in planned.text


def test_nothing_is_loaded_where_idf_is_counted_and_the_measure_is_the_same(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    run, spec = exam(tmp_path), f"bertscore(encoder='{tiny_bert(tmp_path / 'bert')}', layers=1, idf=true)"
    run.score(spec)
    request.getfixturevalue("unloaded")
    assert (0, 0) == tuple(run.score(spec, dry_run=True).rows[0][k] for k in ("to_score", "passes"))


def test_a_checkpoint_that_is_not_there_does_not_matter(tmp_path: Path) -> None:
    run, nowhere = exam(tmp_path), tmp_path / "nowhere"
    assert (6, 4) == tuple(counted(run, f"bleurt(weights='{nowhere}')")[k] for k in ("to_score", "passes"))


def test_cliniqlinks_texts_are_those_that_it_reads(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    run, spec = exam(tmp_path), "cliniqlink"
    request.getfixturevalue("unloaded")
    row = counted(run, spec)
    published = counted(run, "cliniqlink(rules=published)")
    assert (6, None) == (published["to_score"], published["passes"])
    assert "only its encoder" in published["reason"]
    request.getfixturevalue("monkeypatch").undo()
    assert row["passes"] == sum(run.score(spec).passes.values())


def test_what_cannot_be_scored_is_refused_as_scoring_refuses_it(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    with pytest.raises(MetricError, match="takes two candidates or more"):
        run.score("judge(rubric=pairwise, model=fake/j1)", dry_run=True, providers=providers_file())


def test_an_overall_scores_nothing(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    finding = run.score("overall", dry_run=True)
    assert ((), "An overall scores nothing: it rests on other scores.") == (finding.rows, str(finding))
    assert ["exact"] == [row["metric"] for row in run.score("overall", "exact", dry_run=True).rows]


def test_the_command_line_says_the_same(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile, viva: Callable[..., Any]
) -> None:
    run, providers = made(tmp_path, {"A": {"q1": "x"}}), providers_file(**PRICES)
    words = ("score", run.file.path, CORRECTNESS, "exact", "--dry-run", "--providers", providers)
    answer = json.loads(viva(*words, "--json").stdout)
    assert ["viva.score/1", {}] == [answer["schema"], answer["passes"]]
    assert [
        dict(r) for r in run.score(CORRECTNESS, "exact", dry_run=True, providers=providers).rows
    ] == answer["rows"]
    text = viva(*words).stdout
    assert "what would be scored" in text
    assert "Nothing was asked, encoded or stored." in text
    assert "" == viva(*words, "--quiet").stdout
    assert [] == judge.sent
