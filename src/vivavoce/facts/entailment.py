"""A local entailment model as a checker: the passage is the premise, the claim the hypothesis.

The weights are a sequence classifier with the labels entailment, neutral and contradiction, such as a model
trained on MNLI (Williams, Nangia and Bowman 2018). Which number is which label stands in its config.json.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from vivavoce.core.errors import InputError, MetricError, ModelError
from vivavoce.core.evidence import Bearing
from vivavoce.core.once import Once, once_each
from vivavoce.core.specs import Spec
from vivavoce.embeddings.encoder import BUDGET
from vivavoce.facts.checker import Checker, Claim
from vivavoce.facts.fact import Answer, Fact, Verdict

NEITHER = "no passage entails or contradicts it"
Label = Literal["entailment", "neutral", "contradiction"]
_STEMS: Mapping[str, Label] = {"entail": "entailment", "neutral": "neutral", "contradict": "contradiction"}
_BEARINGS: Mapping[Label | None, Bearing] = {"entailment": "supports", "contradiction": "contradicts"}


class Entailment(NamedTuple):
    """The label of a premise and a hypothesis, and its probability; null where the model has no room."""

    label: Label | None
    probability: float = 0.0


class EntailmentModel:
    """A classifier in memory, from a folder. `passes` counts the pairs it has read."""

    def __init__(self, folder: Path, device: str | None = None, dtype: str = "auto") -> None:
        """Raises `MetricError` that says what is missing, or what is wrong with the folder."""
        self.name, self.passes = str(folder), 0
        try:
            self._torch: Any = import_module("torch")
            transformers = import_module("transformers")
            from vivavoce.models.local import foreign_text, loading

            self.settings = loading.resolve_settings(self.name, {"device": device, "dtype": dtype})
            position = loading.source(self.name, str(folder.absolute()), None)
            config = loading.configuration(self.name, position)
            self.labels = _labels(folder, getattr(config, "id2label", None))
            self._tokenizer: Any = loading.tokeniser(self.name, position, None)
            model_class = transformers.AutoModelForSequenceClassification
            self._model: Any = loading.load_model(self.name, position, self.settings, model_class)
            self.longest = loading.context_of(self.name, config, self._tokenizer, None) or 512
        except ImportError as error:
            raise MetricError(
                f"nli needs torch and transformers ({error}): pip install 'vivavoce[hf]'."
            ) from None
        except ModelError as error:
            raise MetricError(f"nli: {str(error).rstrip('.')}.") from None
        if self._tokenizer.pad_token_id is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        self._texts = foreign_text.ForeignText(self._tokenizer)

    def compare(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """The label of each premise with its hypothesis, in order; a premise that is too long loses its end.

        Two labels of one probability are neutral. Raises `MetricError` where a number is not finite.
        """
        sides = [self._ids(*pair) for pair in pairs]
        results: dict[int, Entailment] = {k: Entailment(None) for k, ids in enumerate(sides) if ids is None}
        for batch in self._batches({k: ids for k, ids in enumerate(sides) if ids is not None}):
            results |= zip(batch, self._pass([sides[k] for k in batch]), strict=True)
        return [results[k] for k in range(len(pairs))]

    def _ids(self, premise: str, hypothesis: str) -> Mapping[str, list[int]] | None:
        """What the model reads of a pair; null where the hypothesis leaves no room for a premise."""
        room = self.longest - self._tokenizer.num_special_tokens_to_add(pair=True)
        if len(self._texts.ids(hypothesis)) >= room:
            return None
        return self._texts.encoded(premise, hypothesis, truncation="only_first", max_length=self.longest)

    def _batches(self, sides: Mapping[int, Mapping[str, list[int]]]) -> Iterator[list[int]]:
        """Places from short to long, as many together as the budget holds."""
        batch: list[int] = []
        for k in sorted(sides, key=lambda k: len(sides[k]["input_ids"])):
            if batch and (len(batch) + 1) * len(sides[k]["input_ids"]) > BUDGET:
                yield batch
                batch = []
            batch.append(k)
        if batch:
            yield batch

    def _pass(self, sides: Sequence[Any]) -> list[Entailment]:
        torch = self._torch
        padded = self._tokenizer.pad(list(map(dict, sides)), return_tensors="pt").to(self.settings.device)
        with torch.inference_mode():
            shares = self._model(**padded).logits.double().softmax(-1)
        if not bool(shares.isfinite().all()):
            raise MetricError(
                f"nli: {self.name} gives probabilities that are no numbers: its weights are broken, or too "
                f"large for dtype={self.settings.dtype}; take another copy, or dtype=float32."
            )
        self.passes += len(sides)
        return [self._label(row) for row in shares.cpu().tolist()]

    def _label(self, shares: Sequence[float]) -> Entailment:
        largest = max(shares)
        if shares.count(largest) > 1:
            return Entailment("neutral", shares[self.labels.index("neutral")])
        return Entailment(self.labels[shares.index(largest)], largest)


def _labels(folder: Path, id2label: Any) -> tuple[Label, ...]:
    """The label of each number. Raises `MetricError` where the configuration does not say."""
    names = [str(id2label[k]) for k in sorted(id2label)] if isinstance(id2label, Mapping) else []
    labels = [
        label for name in names for stem, label in _STEMS.items() if name.strip().casefold().startswith(stem)
    ]
    if len(names) != 3 or len(set(labels)) != 3 or len(labels) != 3:
        raise MetricError(
            f"nli: {folder}/config.json names the labels {', '.join(names) or 'none'}, and entailment, "
            "neutral and contradiction are needed: write them into its id2label if the model has them."
        )
    return tuple(labels)


@cache
def load_entailment(folder: Path, device: str | None, dtype: str) -> EntailmentModel:
    """The classifier of a folder, once in a process. Raises `MetricError` if it cannot be loaded."""
    return EntailmentModel(folder, device, dtype)


@dataclass(frozen=True, kw_only=True)
class EntailmentChecker(Checker):
    """Verdicts by entailment, over the passages of a claim.

    `supported` where a passage entails it, `contradicted` where one contradicts it; where both happen, the
    passages disagree and it is `unverifiable`.
    """

    spec: Spec
    weights: Path
    device: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"

    packages: ClassVar[Mapping[str, str]] = {"torch": "hf", "transformers": "hf"}

    @property
    def files(self) -> tuple[Path, ...]:  # type: ignore[override]
        """The folder."""
        return (self.weights,)

    def prepare(self, *, passages: bool) -> None:
        """Load the weights. Raises `InputError` without passages, and `MetricError` for a wrong folder."""
        if not passages:
            raise InputError(
                f"{self.name} compares facts with passages, and there are none: give a folder with source=, "
                "or take a model as the checker."
            )
        load_entailment(self.weights, self.device, self.dtype)

    def verdicts(
        self, answer: Answer, facts: Sequence[Fact], claims: Sequence[Claim], once: Once = once_each
    ) -> tuple[Verdict | None, ...]:
        """The verdict on each claim; each distinct pair passes the model once."""
        model = load_entailment(self.weights, self.device, self.dtype)
        pairs = [(p.quote, claim.text) for claim in claims for p in claim.passages or ()]
        labels = once(model.compare, pairs, model.name) if pairs else {}
        return tuple(
            self.immediate_verdict(claim) or judged(claim, labels, model.longest) for claim in claims
        )

    def immediate_verdict(self, claim: Claim) -> Verdict | None:
        """A claim without passages is unverifiable."""
        return super().immediate_verdict(claim._replace(passages=claim.passages or ()))


def judged(claim: Claim, labels: Mapping[tuple[str, str], Entailment], longest: int) -> Verdict:
    """The verdict on a claim by the label of each of its passages."""
    results = [labels[passage.quote, claim.text] for passage in claim.passages or ()]
    evidence = tuple(
        passage._replace(bearing=_BEARINGS.get(result.label, "shown"))
        for passage, result in zip(claim.passages or (), results, strict=True)
    )
    distinct = {result.label for result in results}
    decided = distinct & {"entailment", "contradiction"}
    if len(decided) == 1:
        return Verdict("supported" if "entailment" in decided else "contradicted", None, evidence)
    reason = "the passages disagree: one entails it, one contradicts it" if decided else NEITHER
    if distinct == {None}:
        reason = f"it is longer than the {longest} tokens that the model reads"
    return Verdict("unverifiable", reason, evidence)
