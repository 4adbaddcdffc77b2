"""A dry run refuses what the command would refuse before it asks anybody, in the same sentence."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import made, write_lines

from vivavoce.core.errors import EgressError, InputError, SpecError, StoreError, VivaError
from vivavoce.run.run import Run, open_run

Verb = Callable[..., object]
JUDGE = "judge(rubric=correctness, model=near/m)"
REWORDED = "rephrase(model=near/m, of=references)"
NO_PRICE = "the price of near/m is not known"


@pytest.fixture
def providers(tmp_path: Path) -> Path:
    """A file with endpoints that have no price, and that nobody listens at, here and elsewhere."""
    file = tmp_path / "providers.yaml"
    file.write_text(
        "near:\n  base_url: http://127.0.0.1:9/v1\n  attempts: 1\n"
        "far:\n  base_url: https://far.example/v1\n  attempts: 1\n"
    )
    return file


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return made(tmp_path, {"A": {"q1": "x", "q2": "y"}, "B": {"q1": "z", "q2": "w"}})


def refused(verb: Verb, error: type[VivaError], words: str) -> None:
    """Assert that the verb is refused, and refused alike when it would ask."""
    sentences = set()
    for dry_run in (True, False):
        with pytest.raises(error, match=words) as raised:
            verb(dry_run=dry_run)
        sentences.add(str(raised.value))
    assert 1 == len(sentences)


VERBS: dict[str, Callable[[Run, Any], object]] = {
    "collect": lambda run, options: run.collect("sample", models=["baseline/echo"], **options),
    "a shard": lambda run, options: run.collect("sample", models=["baseline/echo"], shard="1/2", **options),
    "score": lambda run, options: run.score("exact", **options),
    "vary": lambda run, options: run.vary("bias(type=recency)", items="sample", **options),
    "build": lambda run, options: run.build("careqa", from_=["none.pdf"], **options),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("max_cost", value) for value in (-1.0, float("nan"), float("inf"), 1e13)),
        *(("timeout_total", value) for value in (0.0, -1.0, float("nan"), 86_401.0)),
    ],
)
def test_what_is_no_limit_is_refused(tmp_path: Path, run: Run, verb: str, option: str, value: float) -> None:
    where = open_run(tmp_path / "new.viva") if verb in ("collect", "a shard", "build") else run
    before = run.file.path.read_bytes()
    refused(
        lambda dry_run: VERBS[verb](where, {option: value, "dry_run": dry_run}),
        InputError,
        f"--{option.replace('_', '-')} .*: a number .* is needed",
    )
    assert before == run.file.path.read_bytes()
    assert not (tmp_path / "new.viva").exists()


def test_a_limit_of_nothing_is_a_limit(tmp_path: Path) -> None:
    finding = open_run(tmp_path / "r.viva").collect(
        "sample", models=["baseline/echo"], max_cost=0, dry_run=True
    )
    assert 96 == finding.rows[0]["calls"]


@pytest.mark.parametrize(
    "verb",
    [
        lambda run, options: run.collect("sample", models=["near/m"], shard="1/2", **options),
        lambda run, options: run.collect("sample", models=["baseline/echo", "near/m"], **options),
        lambda run, options: run.vary("bias(type=recency)", items="sample", check="near/m", **options),
        lambda run, options: run.vary(REWORDED, items="sample", **options),
        lambda run, options: run.vary("bias(type=recency, planted=near/m)", items="sample", **options),
    ],
)
def test_a_limit_of_cost_needs_a_price(tmp_path: Path, providers: Path, verb: Any) -> None:
    run, options = open_run(tmp_path / "new.viva"), {"providers": providers, "max_cost": 5.0}
    refused(lambda dry_run: verb(run, {**options, "dry_run": dry_run}), InputError, NO_PRICE)
    with pytest.raises(InputError, match=NO_PRICE):
        verb(open_run(tmp_path / "other.viva"), {**options, "dry_run": True})
    assert not (tmp_path / "other.viva").exists()


def test_a_limit_of_cost_needs_the_price_of_a_judge_that_is_asked(run: Run, providers: Path) -> None:
    refused(
        lambda dry_run: run.score(JUDGE, providers=providers, max_cost=5.0, dry_run=dry_run),
        InputError,
        NO_PRICE,
    )
    assert 4 == run.score(JUDGE, providers=providers, dry_run=True).rows[0]["calls"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"check": "nobody"}, "'nobody' names no model"),
        ({"check": "near/m:shots=3"}, "shots is for candidates"),
        ({"variation": "rephrase(model=nobody, of=references)"}, "'nobody' names no model"),
    ],
)
def test_a_model_that_a_variation_could_not_ask_is_refused(
    tmp_path: Path, providers: Path, options: dict[str, str], words: str
) -> None:
    rest = {"variation": "bias(type=recency)", **options}
    name, run = rest.pop("variation"), open_run(tmp_path / "r.viva")
    refused(
        lambda dry_run: run.vary(name, items="sample", providers=providers, dry_run=dry_run, **rest),
        SpecError,
        words,
    )


def test_a_model_that_nothing_needs_may_be_any(tmp_path: Path) -> None:
    lines = [{"id": "q1", "question": "A?", "options": ["x", "y"], "answer": "x", "format": "mcq"}]
    write_lines(tmp_path / "closed.jsonl", lines)
    run, spec = open_run(tmp_path / "r.viva"), f"jsonl(path={tmp_path / 'closed.jsonl'})"
    for dry_run in (True, False):
        finding = run.vary("bias(type=recency, planted=nobody)", items=spec, dry_run=dry_run)
        assert 1 == finding.rows[0]["made"]


def test_a_file_of_providers_that_is_not_there_is_refused(run: Run, tmp_path: Path) -> None:
    gone = tmp_path / "gone.yaml"
    refused(
        lambda dry_run: run.vary("bias(type=recency)", providers=gone, dry_run=dry_run),
        VivaError,
        "cannot read the providers",
    )


@pytest.mark.parametrize("verb", ["collect", "a shard", "vary"])
def test_a_run_in_no_folder_is_refused(tmp_path: Path, verb: str) -> None:
    run = open_run(tmp_path / "none" / "r.viva")
    refused(lambda dry_run: VERBS[verb](run, {"dry_run": dry_run}), StoreError, "no folder .*none to put")


def test_another_sample_than_that_of_the_run_is_refused(tmp_path: Path) -> None:
    run = open_run(tmp_path / "r.viva")
    run.collect("sample", models=["baseline/echo"], sample=20)
    refused(
        lambda dry_run: run.collect("sample", models=["baseline/echo"], sample=30, dry_run=dry_run),
        InputError,
        "holds another sample",
    )


ASKING: dict[str, Callable[[Run, str, Any], object]] = {
    "collect": lambda run, spec, options: run.collect(spec, models=["far/m"], **options),
    "a judge": lambda run, spec, options: run.score(JUDGE.replace("near", "far"), **options),
    "a rewording": lambda run, spec, options: run.vary(REWORDED.replace("near", "far"), **options),
    "a check": lambda run, spec, options: run.vary(
        "demographic(kind=sex)", "control(kind=all, seed=0)", check="far/m", **options
    ),
}


@pytest.fixture
def patient(tmp_path: Path) -> tuple[Run, str]:
    """A run about a patient who is named by a number, and the spec of its exam."""
    text = "A 58-year-old man, MRN: 12345678, phone 555-123-4567, has a fever. What is it?"
    lines = [{"id": "q1", "question": text, "references": ["a flu"], "format": "short"}]
    write_lines(tmp_path / "ward.jsonl", lines)
    run, spec = open_run(tmp_path / "r.viva"), f"jsonl(path={tmp_path / 'ward.jsonl'})"
    run.collect(spec, models=["baseline/reference"])
    return run, spec


@pytest.mark.parametrize("verb", ASKING)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"offline": True}, "offline: 'far.example' is not this machine"),
        ({}, "looks as if .*say --allow-phi"),
    ],
    ids=["offline", "patients"],
)
def test_a_host_that_must_not_see_the_items_is_refused(
    patient: tuple[Run, str], providers: Path, verb: str, options: dict[str, bool], words: str
) -> None:
    run, spec = patient
    ask = ASKING[verb]
    refused(
        lambda dry_run: ask(run, spec, {"providers": providers, "dry_run": dry_run, **options}),
        EgressError,
        words,
    )
    assert ask(run, spec, {"providers": providers, "dry_run": True, "allow_phi": True})


def test_workers_beside_gpus_are_refused(run: Run) -> None:
    refused(
        lambda dry_run: run.score(
            "judge(rubric=correctness, model=hf/m)", gpus="0", workers=2, dry_run=dry_run
        ),
        InputError,
        "--gpus 0 and --workers 2 do not go together",
    )
