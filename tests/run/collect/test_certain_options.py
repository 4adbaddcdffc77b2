"""Options that are all certain are a fault of the server, and are asked again when it is mended."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.run.collect.likely import FakeLikely

import vivavoce as viva
from vivavoce.models.candidates import CandidateConfig
from vivavoce.models.requests import Likelihood, Reply, Request


class Zeros(FakeLikely):
    """A server that states the target's tokens alone, each as certain."""

    async def loglikelihood(self, request: Request) -> Reply:
        reply = await super().loglikelihood(request)
        return Reply(text="", likelihoods=tuple(Likelihood(0.0, 1) for _ in reply.likelihoods))


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeLikely], FakeLikely]:
    """Put a model in the place of whatever is named from then on."""

    def put(model: FakeLikely) -> FakeLikely:
        def connect(config: CandidateConfig) -> FakeLikely:
            model.name = str(config.spec)
            return model

        monkeypatch.setattr(CandidateConfig, "connect", connect)
        return model

    return put


@pytest.mark.parametrize("branching", [True, False])
def test_options_that_are_all_certain_fail_and_are_asked_again_when_the_server_is_mended(
    exam: Callable[..., str], tmp_path: Path, serve: Any, branching: bool
) -> None:
    spec = exam(3, change=lambda k: {"format": "mcq", "options": ["a", "b", "c", "d"], "answer": "a"})
    run = viva.open(tmp_path / "run.viva")
    serve(Zeros("vllm/m", branching=branching))
    done = run.collect(spec, models=["vllm/m"], for_=["options"])
    assert (0, 3) == (done.rows[0]["answered"], done.rows[0]["failed"])
    assert "gives several options the log-probability 0.0" in done.text
    assert [] == [row for row in run.score("options").rows if row.get("coverage") == 1.0]
    serve(FakeLikely("vllm/m", branching=branching))
    done = run.collect(spec, models=["vllm/m"], for_=["options"])
    assert (3, 0) == (done.rows[0]["answered"], done.rows[0]["failed"])


def test_one_certain_option_is_an_answer(exam: Callable[..., str], tmp_path: Path, serve: Any) -> None:
    class Certain(FakeLikely):
        async def loglikelihood(self, request: Request) -> Reply:
            return Reply(text="", likelihoods=tuple(Likelihood(n, 1) for n in (0.0, -20.0, -21.0, -22.0)))

    spec = exam(1, change=lambda k: {"format": "mcq", "options": ["a", "b", "c", "d"], "answer": "a"})
    serve(Certain("vllm/m"))
    done = viva.open(tmp_path / "run.viva").collect(spec, models=["vllm/m"], for_=["options"])
    assert (1, 0) == (done.rows[0]["answered"], done.rows[0]["failed"])
