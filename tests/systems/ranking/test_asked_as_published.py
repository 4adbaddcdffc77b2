"""`--preset published` has arguments written with one-shot prompts of ours and the paper's sampling."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.models.conftest import fake
from tests.systems.ranking import argument_files, healthfc_files, nli4ct_files

import vivavoce as viva
from vivavoce.benchmarks import load

__all__ = ["fake"]

REPLY = {
    "choices": [{"message": {"content": "It is so."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1},
}
NAMES = ("casimedicos", "healthfc", "nli4ct")


@pytest.fixture
def specs(tmp_path: Path) -> dict[str, str]:
    argument_files.written(tmp_path / "casimedicos")
    healthfc_files.write(tmp_path / "healthfc" / "Datensatz.csv", healthfc_files.many()[:20])
    nli4ct_files.written(tmp_path / "nli4ct")
    return {name: f"{name}(data='{tmp_path / name}')" for name in NAMES}


@pytest.fixture
def sent(fake: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, specs: dict[str, str], tmp_path: Path):
    """What an endpoint gets for a benchmark, and the run."""

    def collected(name: str, **options: Any) -> tuple[list[dict[str, Any]], viva.Run]:
        server = fake(REPLY)
        monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
        run = viva.open(tmp_path / "run.viva")
        run.collect(specs[name], models=["vllm/m"], preset="published", **options)
        return [body for _, _, body in server.received], run

    return collected


@pytest.mark.parametrize("name", NAMES)
def test_a_dry_run_asks_nobody(sent: Callable[..., Any], name: str) -> None:
    bodies, _ = sent(name, dry_run=True)
    assert [] == bodies


@pytest.mark.parametrize("name", NAMES)
def test_each_item_is_asked_once_behind_one_example_without_its_key(
    sent: Callable[..., Any], specs: dict[str, str], name: str
) -> None:
    bodies, run = sent(name)
    items = load(specs[name]).items
    assert [(256, 0.9, 0.85)] * len(items) == [
        (body["max_tokens"], body["temperature"], body["top_p"]) for body in bodies
    ]
    prompts = [message["content"] for body in bodies for message in body["messages"]]
    assert len(items) == len(prompts)
    for item in items:
        (prompt,) = (text for text in prompts if item.question in text)
        assert ("{{" in prompt, prompt.count("An example."), prompt.count("Now this one.")) == (False, 1, 1)
        assert prompt.endswith(("Argument:", "Copied:"))
        shown = item.context or ""  # an extract of one line stands there
        assert not any(text in prompt and text not in shown for text in item.references)
    assert {"It is so."} == set(run.responses["text"])


def test_a_case_is_asked_with_its_options_in_the_item_s_order(
    sent: Callable[..., Any], specs: dict[str, str]
) -> None:
    bodies, _ = sent("casimedicos")
    prompts = [body["messages"][-1]["content"] for body in bodies]
    for item in load(specs["casimedicos"]).items:
        options = "\n".join(f"{'ABCDE'[k]}. {text}" for k, text in enumerate(item.options))
        end = f"Case and question: {item.question}\nPossible answers:\n{options}\nArgument:"
        assert 1 == sum(prompt.endswith(end) for prompt in prompts)


def test_a_question_on_health_is_asked_without_the_verdicts(sent: Callable[..., Any]) -> None:
    bodies, _ = sent("healthfc")
    for body in bodies:
        prompt = body["messages"][-1]["content"]
        assert not any(word in prompt for word in ("supported", "refuted", "not enough information"))


def test_a_statement_is_asked_with_all_lines_of_its_section(sent: Callable[..., Any]) -> None:
    bodies, _ = sent("nli4ct")
    lines = "\n".join(nli4ct_files.TRIALS[nli4ct_files.TRIAL]["Eligibility"])
    end = f"Statement: A woman of 74 years can take part in the primary trial.\nLines:\n{lines}\nCopied:"
    assert 1 == sum(body["messages"][-1]["content"].endswith(end) for body in bodies)
    assert not any("ntailment" in body["messages"][-1]["content"] for body in bodies)
