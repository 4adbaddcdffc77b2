"""Workers give the rows of one process: every rule metric, with parts, notes, statuses and units."""

from pathlib import Path

import pytest
from tests.run.workers.every_format import answered, stored_scores
from tests.run.workers.patient_pool import PatientPool
from tests.studies.making import made

from vivavoce.core import registry
from vivavoce.core.specs import parse
from vivavoce.run.score import response_scores, verb

RULES = (
    *("accuracy", "answer_leak", "chrf", "confidence(of=stated)", "confidence(of=repeats)"),
    *("confidence(of=likelihood)", "exact", "extract", "label_f1", "list_f1", "meteor", "planted"),
    *("rouge(n=1)", "rouge(n=L, stemmer=true)", "rouge(n='1+L')", "relation_f1(direction=false)"),
    *("step_accuracy", "token_f1", "canary(text='x 6f1c0c2e-8a1d-4f0e-9b65-2d7c3a9e5b10', decoys=3)"),
    *("options", "options(norm=byte, rotate=true)", "perplexity", "second_half"),
    *("relaxed_perplexity(n=4, stride=2)", "lexical(train=none)"),
)
"""Metrics that need no extra; with the extra `text` two more."""
WITH_TEXT = ("bleu", "medsynf1(extractor=chunk)")
APART = {
    **dict.fromkeys(("judge", "jury", "atomic_facts"), "asks a model"),
    **dict.fromkeys(
        ("bertscore", "moverscore", "similarity", "cliniqlink", "bleurt", "trained"), "an encoder"
    ),
    "radgraph": "needs annotations",
}


def test_every_metric_that_ships_is_here_or_says_why_not() -> None:
    ours = {e.name for e in registry.entries("metric") if e.origin == "vivavoce"}
    named = {registry.in_full("metric", parse(spec)).name for spec in (*RULES, *WITH_TEXT)}
    assert ours <= named | APART.keys()


def test_workers_give_the_rows_of_one_process_for_every_rule_metric(
    tmp_path: Path, pool: PatientPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_scores, "SMALLEST", 7)  # so that there are many batches
    pool.lend(verb, monkeypatch)
    specs = (*RULES, *WITH_TEXT)
    alone, shared = (answered(tmp_path / f"{name}.viva", specs) for name in ("alone", "shared"))
    by_one = alone.score(*specs)
    by_two = shared.score(*reversed(specs), workers=2)
    expected = stored_scores(alone)
    assert len(expected) > 1000
    assert expected == stored_scores(shared)
    order = str
    assert sorted(map(order, by_one.rows)) == sorted(map(order, by_two.rows))
    assert (by_one.passes, {}) == (by_two.passes, by_two.passes)
    assert set(by_one.notes) == set(by_two.notes)
    remaining = [run.score(*specs, dry_run=True).rows for run in (alone, shared)]
    assert remaining[0] == remaining[1]
    names = [row["metric"] for row in remaining[1] if row["to_score"]]  # what failed is scored anew
    shared.score(*names[:3], workers=2)
    assert expected == stored_scores(shared)


def test_turns_of_conversations_are_scored_in_workers_as_here(tmp_path: Path) -> None:
    """A later turn reaches a worker as its candidate was asked it."""
    turn = {"content": "More?", "references": ["Drink water."]}
    talks = [
        {"item": f"t{k}", "question": f"It hurts {k}.", "references": ["Rest."], "turns": [turn]}
        for k in range(4)
    ]
    answers = {"A": {f"t{k}/{n}": f"Rest and drink {k}" for k in range(4) for n in (1, 2)}}
    items = [{"format": "conversation", **talk} for talk in talks]
    runs = [made(tmp_path / str(n), answers, items=items) for n in (1, 2)]
    for run, workers in zip(runs, (1, 2), strict=True):
        run.score("rouge(n=L)", "token_f1", workers=workers)
    assert runs[0].scores.equals(runs[1].scores)
    assert 16 == runs[0].scores.height
