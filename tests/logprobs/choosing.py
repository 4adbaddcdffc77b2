"""A fake model that tells how probable options are, and items to ask it about."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vivavoce.core.records import Item, Reading, Response, Row, Value
from vivavoce.core.registry import build
from vivavoce.logprobs.options import Choices
from vivavoce.logprobs.requests import PromptBuilder
from vivavoce.metrics import ScoringContext
from vivavoce.models.requests import Likelihood, Reply, Request
from vivavoce.run.collect.plan import RequestBuilder

DRUGS = ("Aspirin", "Heparin", "Warfarin", "Alteplase")
Tell = Callable[[str, str], float]
"""The log-probability of a text after what was said."""


def mcq(options: Sequence[str] = DRUGS, key: int = 1, name: str = "q1") -> Item:
    return Item(benchmark="b", item=name, format="mcq", question="Which drug in pregnancy?",
                options=tuple(options), answer=(options[key],))  # fmt: skip


def statement(key: str = "True") -> Item:
    return Item(benchmark="b", item="s1", format="true_false", question="Heparin is safe.", answer=(key,))


def said(**settings: Any) -> PromptBuilder:
    return lambda item: RequestBuilder([item]).messages(item, settings)


def fake(tell: Tell, tokens: Callable[[str], int] = lambda text: 1) -> Callable[[Request], Reply]:
    """A model that answers branches, one likelihood for each target."""

    def reply(request: Request) -> Reply:
        assert "loglikelihood" == request.kind
        assert request.branches is not None
        assert (0,) == request.branches.cuts
        before = "".join(m.content for m in request.messages)
        told = tuple(Likelihood(tell(before, t), tokens(t)) for t in request.branches.targets)
        return Reply(text=None, likelihoods=told, tokeniser="fake")

    return reply


def shown(before: str) -> dict[str, str]:
    """The options of a prompt by the letters they stand under."""
    lines = (line.split(". ", 1) for line in before.splitlines())
    return {line[0]: line[1] for line in lines if len(line) == 2 and len(line[0]) == 1}


def by_content(worth: Mapping[str, float]) -> Tell:
    """A model that looks at what stands under a letter."""
    return lambda before, text: worth[shown(before).get(text, text)]


def by_place(worth: Mapping[str, float]) -> Tell:
    """A model that looks at the letter alone."""
    return lambda before, text: worth[text]


def told(
    probe: Choices, item: Item, model: Callable[[Request], Reply], asked: PromptBuilder | None = None
) -> Any:
    """What is stored of the model's replies, as it comes back from the file."""
    replies = [model(request) for request in probe.score(item, asked or said(), ())]
    return json.loads(json.dumps(probe.to_record(item, (), replies), allow_nan=False))


def marked(spec: str, item: Item, kept: Mapping[str, Any]) -> Mapping[str, Value]:
    """The scores of a metric for what was told."""
    metric = build("metric", spec)
    response = Response(benchmark="b", item=item.item, candidate="c", logprobs=json.dumps(kept))
    return metric.values([Row(item, response, Reading("ok", kept))], ScoringContext())[0]  # type: ignore[no-any-return]


def examined(
    spec: str, item: Item, model: Callable[[Request], Reply], asked: PromptBuilder | None = None
) -> Any:
    """Asked and scored."""
    return marked(spec, item, told(build("metric", spec).logprob_requests, item, model, asked))
