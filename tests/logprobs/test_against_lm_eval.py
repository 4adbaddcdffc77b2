"""Perplexity of a model's own probabilities against lm-eval 0.4.13, on models made here.

Three ways to be equal: the sums that lm-eval's `hf` backend gave of these texts (`lm_eval.json`, of random
weights as torch 2.13.0 and transformers 5.23 draw them), what it makes of sums, and, where it is installed,
itself on the same model in this very run.
`python -m tests.logprobs.test_against_lm_eval` writes the file again.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.absent import absent
from tests.models.local.families import SENTENCES, family, saved, tokeniser

from vivavoce.core import registry
from vivavoce.core.records import Item, Reading, Response, Row, Value
from vivavoce.metrics import ScoringContext
from vivavoce.models.local import connect
from vivavoce.models.requests import Message, Reply
from vivavoce.studies.pooling import POOLS, figures_of

RECORDED = Path(__file__).with_name("lm_eval.json")
FAMILIES = ("llama", "gpt2")
TEXTS = (
    *zip(SENTENCES[::2], SENTENCES[1::2], strict=True),
    ("Which unit is meant?", "µg per  kg\nand day"),
    ("Where does it hurt?", "In the chest."),
)
"""Questions and references; the tokeniser cuts none of them across the blank between the two."""
ITEMS = [
    Item(benchmark="b", item=f"q{n}", format="longform", question=question, references=(reference,))
    for n, (question, reference) in enumerate(TEXTS)
]


def asks(item: Item) -> tuple[Message, ...]:
    return (Message("user", item.question),)


def told(folder: Path, given: str) -> list[Mapping[str, Any]]:
    """What the probe of `perplexity(given=…)` keeps of the model in the folder, by item."""
    probe = registry.build("metric", f"perplexity(given={given})").logprob_requests
    requests = [probe.score(item, asks, ()) for item in ITEMS]

    async def replies() -> list[list[Reply]]:
        model = connect("hf/tiny", str(folder), {})
        try:
            asked = [[model.loglikelihood(request) for request in each] for each in requests]
            return [list(await asyncio.gather(*each)) for each in asked]
        finally:
            await model.close()

    made = asyncio.run(replies())
    return [probe.to_record(item, (), each) for item, each in zip(ITEMS, made, strict=True)]


def logprobs(found: Sequence[Mapping[str, Any]]) -> list[float]:
    return [one["references"][0]["logprob"] for one in found]


def pooled(found: Sequence[Mapping[str, Any]], given: str) -> dict[str, float]:
    """The metric's figures over all items, pooled as a run pools them."""
    metric = registry.build("metric", f"perplexity(given={given})")
    rows = [
        Row(item, Response(benchmark="b", item=item.item, candidate="c"), Reading("ok", one))
        for item, one in zip(ITEMS, found, strict=True)
    ]
    values: Sequence[Mapping[str, Value]] = metric.values(rows, ScoringContext())
    made = {}
    for c in metric.criteria:
        counts = [one[c.criterion].parts or {} for one in values]
        sums = np.array([[sum(part[name] for part in counts) for name in ("numerator", "denominator")]])
        (figure,) = figures_of(POOLS[c.pool].figure(sums).tolist(), c) or ()
        made[c.criterion] = figure
    return made


@pytest.fixture(scope="module")
def recorded() -> Any:
    return json.loads(RECORDED.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """No BOS, so that lm-eval puts none in front of a text alone."""
    at = tmp_path_factory.mktemp("models")
    return {name: saved(at, name, bos=None) for name in FAMILIES}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("given", ["question", "nothing"])
def test_the_sums_and_the_figures_are_those_recorded_of_lm_eval(
    recorded: Any, folders: dict[str, Path], name: str, given: str
) -> None:
    wanted, found = recorded[name][given], told(folders[name], given)
    assert pytest.approx(wanted["logprobs"], rel=1e-5) == logprobs(found)
    assert pytest.approx(wanted["figures"], rel=1e-5) == pooled(found, given)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("given", ["question", "nothing"])
def test_of_equal_sums_the_figures_are_equal(recorded: Any, name: str, given: str) -> None:
    """Without a model: lm-eval's own sums, its words and bytes, its three figures."""
    wanted = recorded[name][given]
    found = [
        {"references": [{"logprob": ll, "tokens": 1, "verbatim": None}], "truncated": 0}
        for ll in wanted["logprobs"]
    ]
    assert pytest.approx(wanted["figures"], rel=1e-12) == pooled(found, given)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("given", ["question", "nothing"])
def test_the_same_model_in_one_run(folders: dict[str, Path], name: str, given: str) -> None:
    wanted, found = theirs(name, given), told(folders[name], given)
    assert pytest.approx(wanted["logprobs"], rel=1e-5) == logprobs(found)
    assert pytest.approx(wanted["figures"], rel=1e-5) == pooled(found, given)


def test_where_the_tokeniser_adds_a_bos_lm_eval_scores_a_second_one(tmp_path: Path) -> None:
    """Of a text alone it scores P(BOS | BOS) too (its issues 2382 and 3333); told to add none it is ours."""
    found = logprobs(told(saved(tmp_path, "llama"), "nothing"))
    assert (
        pytest.approx(theirs("llama", "nothing", bos=True, add_bos_token=False)["logprobs"], rel=1e-5)
        == found
    )
    twice = theirs("llama", "nothing", bos=True)["logprobs"]
    assert all(abs(two - one) > 1 for one, two in zip(found, twice, strict=True))
    asked = logprobs(told(tmp_path / "llama-0", "question"))
    assert pytest.approx(theirs("llama", "question", bos=True)["logprobs"], rel=1e-5) == asked


def theirs(name: str, given: str, *, bos: bool | None = None, **settings: Any) -> dict[str, Any]:
    """The sums of lm-eval's `hf` backend on the same random model, and what it makes of them."""
    if find_spec("lm_eval") is None:
        absent("lm-eval is not installed: pip install lm_eval==0.4.13")
    from lm_eval.api.instance import Instance
    from lm_eval.api.metrics import bits_per_byte, weighted_perplexity
    from lm_eval.api.task import PerplexityTask
    from lm_eval.models.huggingface import HFLM

    lm = HFLM(pretrained=family(name), tokenizer=tokeniser(bos=bos), batch_size=2, device="cpu", **settings)
    if given == "question":
        asked = [
            Instance("loglikelihood", {}, (question, f" {reference}"), n)
            for n, (question, reference) in enumerate(TEXTS)
        ]
        sums = [ll for ll, _ in lm.loglikelihood(asked, disable_tqdm=True)]
    else:
        alone = [
            Instance("loglikelihood_rolling", {}, (reference,), n) for n, (_, reference) in enumerate(TEXTS)
        ]
        sums = lm.loglikelihood_rolling(alone, disable_tqdm=True)
    words = [(ll, PerplexityTask.count_words(text)) for ll, (_, text) in zip(sums, TEXTS, strict=True)]
    bytes_ = [(ll, PerplexityTask.count_bytes(text)) for ll, (_, text) in zip(sums, TEXTS, strict=True)]
    return {
        "logprobs": sums,
        "figures": {
            "word_perplexity": weighted_perplexity(words),
            "byte_perplexity": weighted_perplexity(bytes_),
            "bits_per_byte": bits_per_byte(bytes_),
        },
    }


if __name__ == "__main__":
    made = {name: {given: theirs(name, given) for given in ("question", "nothing")} for name in FAMILIES}
    RECORDED.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
