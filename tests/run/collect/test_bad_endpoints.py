"""Each way in which an endpoint may answer badly has one fate in a run; none of them invents an answer."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.cases import each_case
from tests.models.conftest import fakes
from tests.models.fake_server import MODES, sent
from tests.studies.making import write_lines

import vivavoce as viva
from vivavoce.models.engine import scheduler
from vivavoce.models.engine.advice import _OTHERWISE

WHOLE = {name: mode for name, mode in MODES.items() if not mode.act}
"""Modes that send a whole reply; `fake_server.py --mode` serves the others."""


class Fate(NamedTuple):
    """What came of two questions: statuses and texts, how many requests were sent, and what status says."""

    statuses: list[str]
    texts: list[str | None]
    n_requests: int
    calls: Mapping[str, Any]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(scheduler, "FIRST_WAIT", 0.0)
    monkeypatch.setattr(scheduler, "LONGEST_AFTER", 0.0)


@pytest.fixture
def collected(fake, exam, limits, monkeypatch, tmp_path: Path):
    """Collect two answers from an endpoint in a mode: the row, the responses, and the server."""

    def call(mode, n=2, **settings):
        async def answer(request):
            return sent(mode, (await request.json())["model"], "6")

        server = fake(answer)
        monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
        run = viva.open(tmp_path / "run.viva")
        providers = limits(**{"attempts": 2, "concurrency": 1, **settings})
        (row,) = run.collect(exam(n), models=["vllm/m"], providers=providers).rows
        return row, run, server

    return call


class Fates(NamedTuple):
    """What a collect of all modes comes to: its row, and the fate of each mode."""

    row: Mapping[str, Any]
    by_mode: Mapping[str, Fate]


@pytest.fixture(scope="module")
def fates(tmp_path_factory: pytest.TempPathFactory) -> Fates:
    """Each mode is a model of one endpoint, asked two questions."""
    names = dict(zip((f"m{k}" for k in range(len(WHOLE))), WHOLE, strict=True))
    n_requests = Counter[str]()

    async def answer(request):
        model = (await request.json())["model"]
        n_requests[model] += 1
        return sent(WHOLE[names[model]], model, "6")

    folder = tmp_path_factory.mktemp("fates")
    (folder / "providers.yaml").write_text("vllm: {attempts: 2, concurrency: 1}")
    exam = [{"id": f"q{k}", "question": f"Question {k}?", "format": "short", "answer": "a"} for k in range(2)]
    write_lines(folder / "exam.jsonl", exam)
    run = viva.open(folder / "run.viva")
    with pytest.MonkeyPatch.context() as patch, fakes() as start:
        patch.setattr(scheduler, "FIRST_WAIT", 0.0)
        patch.setattr(scheduler, "LONGEST_AFTER", 0.0)
        patch.setenv("VLLM_BASE_URL", start(answer).base_url)
        models = [f"vllm/{model}" for model in names]
        spec = f"jsonl(path='{folder / 'exam.jsonl'}')"
        (row,) = run.collect(spec, models=models, providers=str(folder / "providers.yaml")).rows
    rows = {model: run.responses.filter(candidate=f"vllm/{model}") for model in names}
    calls = {row["model"]: row for row in run.status().rows if row["about"] == "calls"}
    by_mode = {
        name: Fate(
            rows[model]["status"].to_list(), rows[model]["text"].to_list(), n_requests[model],
            calls[f"vllm/{model}"],
        )
        for model, name in names.items()
    }  # fmt: skip
    return Fates(row, by_mode)


@each_case("name", WHOLE)
def test_a_bad_reply_has_one_fate(fates, name):
    statuses, texts, n_requests, _ = fates.by_mode[name]
    match WHOLE[name].fate:
        case "failed":
            assert (["failed"] * 2, [None] * 2, 4) == (statuses, texts, n_requests)
        case "refused":
            assert (["failed"] * 2, [None] * 2, 2) == (statuses, texts, n_requests)
        case "stopped":
            assert ([], 1) == (statuses, n_requests)
        case "silent":
            assert (["ok"] * 2, [""] * 2) == (statuses, texts)
        case "withheld":
            assert (["filtered"] * 2, [None] * 2) == (statuses, texts)
        case "answered":
            assert ["ok"] * 2 == statuses
            assert all(texts)


def test_what_a_model_that_is_given_up_was_not_asked_is_left(fates):
    n_stopped = sum(mode.fate == "stopped" for mode in WHOLE.values())
    assert 2 * n_stopped == fates.row["left"]


@each_case("name", [name for name, mode in WHOLE.items() if mode.fate in ("failed", "refused", "stopped")])
def test_every_failure_has_advice_of_its_own(fates, name):
    calls = fates.by_mode[name].calls
    assert _OTHERWISE != calls["advice"], calls["last_cause"]


@pytest.mark.parametrize("name", [name for name, mode in MODES.items() if mode.act])
def test_a_connection_that_is_cut_or_hangs_is_a_failure(endpoint, exam, limits, tmp_path, name):
    server, run = endpoint(mode=name, stall=30), viva.open(tmp_path / "run.viva")
    settings = limits(attempts=2, timeout=0.5, concurrency=2)
    (row,) = run.collect(exam(2), models=["vllm/m"], providers=settings).rows
    assert (0, 2, [2, 2]) == (row["answered"], row["failed"], sorted(server.seen.values()))


def test_a_failed_reply_is_in_no_estimate(collected):
    _, run, _ = collected(MODES["it ended by error"])
    (row,) = run.score("exact").rows
    assert (None, 2, 0) == (row["estimate"], row["n_failed"], row["n_unanswered"])
