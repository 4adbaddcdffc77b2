"""Each way in which an endpoint may answer badly has one fate in a run; none of them invents an answer."""

from pathlib import Path

import pytest
from tests.models.fake_server import MODES, sent

import vivavoce as viva
from vivavoce.models.engine import scheduler

WHOLE = {name: mode for name, mode in MODES.items() if not mode.act}
"""Modes that send a whole reply; `fake_server.py --mode` serves the others."""


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


@pytest.mark.parametrize("name", WHOLE)
def test_a_bad_reply_has_one_fate(collected, name):
    mode = WHOLE[name]
    row, run, server = collected(mode)
    statuses = run.responses["status"].to_list() if row["answered"] + row["failed"] else []
    texts = run.responses["text"].to_list() if statuses else []
    match mode.fate:
        case "failed":
            assert (["failed"] * 2, [None] * 2, 4) == (statuses, texts, len(server.received))
        case "refused":
            assert (["failed"] * 2, [None] * 2, 2) == (statuses, texts, len(server.received))
        case "stopped":
            assert ([], 2, 1) == (statuses, row["left"], len(server.received))
        case "silent":
            assert (["ok"] * 2, [""] * 2) == (statuses, texts)
        case "withheld":
            assert (["filtered"] * 2, [None] * 2) == (statuses, texts)
        case "answered":
            assert ["ok"] * 2 == statuses
            assert all(texts)


@pytest.mark.parametrize("name", [name for name, mode in MODES.items() if mode.act])
def test_a_connection_that_is_cut_or_hangs_is_a_failure(endpoint, exam, limits, tmp_path, name):
    server, run = endpoint(mode=name, stall=30), viva.open(tmp_path / "run.viva")
    settings = limits(attempts=2, timeout=1.0, concurrency=2)
    (row,) = run.collect(exam(2), models=["vllm/m"], providers=settings).rows
    assert (0, 2, [2, 2]) == (row["answered"], row["failed"], sorted(server.seen.values()))


def test_a_failed_reply_is_in_no_estimate(collected):
    _, run, _ = collected(MODES["it ended by error"])
    (row,) = run.score("exact").rows
    assert (None, 2, 0) == (row["estimate"], row["n_failed"], row["n_unanswered"])
