"""Rewordings by a model: of candidates' answers, or of references, as a ceiling."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from vivavoce import formats
from vivavoce.core.errors import InputError, suggest
from vivavoce.core.file_hashes import file_hash
from vivavoce.core.prompts import file_of, load
from vivavoce.core.records import Item, Response
from vivavoce.core.registry import variation
from vivavoce.core.specs import Setting, Spec
from vivavoce.core.text import is_blank
from vivavoce.language.invariants import changed
from vivavoce.variants import Outcome, Stock, Variation, key_of
from vivavoce.variants.llm import for_rephrasing, text_reader

if TYPE_CHECKING:
    from vivavoce.models.engine.client import CallResult, ModelClient


class _Source(NamedTuple):
    """A text to reword, the item it belongs to, and the row that a rewording of it becomes."""

    item: Item
    text: str
    row: Response


@variation("rephrase")
class Rephrase(Variation):
    """The same in other words, `k` times, written by `model`; open formats only.

    `of=answers` rewords what candidates answered: the edits `rephrase:1` to `rephrase:k` of each answer, all
    candidates' or those of `candidate`. With a `label` they are `rephrase@LABEL:1` to `rephrase@LABEL:k`, so
    that a second model's rewordings live in the same run. `prompt` is a .md file whose words are the system
    message in place of our instruction. `of=references` rewords the first reference of each
    base item: repeats 1 to k of the candidate `label`, by default "rephrased references", a ceiling that says
    what is right in other words.
    """

    model: str | Spec
    k: int = 1
    of: Literal["answers", "references"] = "answers"
    candidate: str | None = None
    label: str | None = None
    prompt: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.k <= 100:
            raise ValueError("k is a number from 1 to 100")
        if self.label is not None and not self.label.strip():
            raise ValueError("label is a name")
        if self.of == "references" and self.candidate is not None:
            raise ValueError("candidate goes with of=answers")
        if self.prompt is not None and load(self.prompt).variables:
            raise ValueError("prompt is an instruction without variables: the text follows it")

    @property
    def models_to_ask(self) -> tuple[str | Spec, ...]:
        """The model that rewords."""
        return (self.model,)

    def makes(self, stock: Stock, client: "ModelClient | None") -> Iterator[Outcome]:
        """An outcome for each text and rewording. Raises `InputError` where another spec made some here."""
        subject = "rephrase" if self.of == "answers" else "ceiling"
        chosen = []
        for source in self._answers(stock) if self.of == "answers" else self._references(stock):
            if reason := _unfit(source):
                yield Outcome(subject, source.item.name, reason=reason)
            else:
                chosen.append(source)
        for n in range(1, self.k + 1):
            new = []
            for source in chosen:
                if stock.holds(self._numbered(source.row, n)):
                    yield Outcome(subject, source.item.name, stored=True)
                else:
                    new.append(source)
            if client is None:
                reason = "a model is asked first"
                yield from (Outcome(subject, source.item.name, reason=reason, requests=1) for source in new)
                continue
            requests = [for_rephrasing(source.text, self._instruction) for source in new]
            readers = [text_reader(request, "text") for request in requests]
            results = client.ask(self.model, requests, readers, purpose="vary rephrase", repeat=n)
            for source, result in zip(new, results, strict=True):
                yield self._outcome(subject, source, result, n)

    def _numbered(self, row: Response, n: int) -> Response:
        if self.of == "references":
            return replace(row, repeat=n)
        return replace(row, edit=f"rephrase@{self.label}:{n}" if self.label else f"rephrase:{n}")

    def _outcome(self, subject: str, source: _Source, result: "CallResult[str]", n: int) -> Outcome:
        if result.value is None:
            return Outcome(subject, source.item.name, reason=f"no rewording came: {result.reason}")
        text = result.value
        if self.of == "references":  # as a candidate would say it: a chain with its steps
            text = formats.key(replace(source.item, references=(text,)))
        fault = changed(source.text, result.value)
        if result.value.split() == source.text.split():
            fault = "it is word for word the same"
        row = replace(self._numbered(source.row, n), text=text)
        return Outcome(subject, source.item.name, (row,), fault)

    @cached_property
    def _instruction(self) -> str | None:
        """The words of the user's prompt."""
        return None if self.prompt is None else load(self.prompt).text

    @cached_property
    def _origin(self) -> str:
        """Without `k`: asked for more, the first ones stay. A prompt has the hash of its file beside it."""
        settings: dict[str, Setting] = {"model": self.model, "of": self.of}
        if self.prompt is not None:
            settings |= {"prompt": self.prompt, "prompt_hash": file_hash(file_of(self.prompt))}
        return str(Spec("rephrase", settings))

    def _answers(self, stock: Stock) -> Iterator[_Source]:
        if self.candidate is not None and self.candidate not in stock.roles:
            hint = suggest(self.candidate, list(stock.roles))
            raise InputError(f"rephrase: no candidate {self.candidate!r} in this run.{hint}")
        items = {(i.benchmark, i.item, i.variant): i for i in stock.items}
        candidates = {candidate for candidate, role in stock.roles.items() if role == "candidate"}
        if self.candidate is not None:
            candidates = {self.candidate}
        for answer in stock.answers:
            item = items.get((answer.benchmark, answer.item, answer.variant))
            if answer.candidate in candidates and item is not None:
                row = Response(**key_of(answer)._asdict(), text="", meta={"origin": self._origin})
                yield _Source(item, answer.final_text, row)

    def _references(self, stock: Stock) -> Iterator[_Source]:
        label = self.label or "rephrased references"
        if stock.roles.get(label, "ceiling") != "ceiling":
            raise InputError(
                f"rephrase: {label!r} is a candidate of this run, and no ceiling: give another label=…"
            )
        for item in stock.bases:
            meta = {"origin": self._origin}
            row = Response(benchmark=item.benchmark, item=item.item, candidate=label, text="", meta=meta)
            yield _Source(item, item.references[0] if item.references else "", row)


def _unfit(source: _Source) -> str | None:
    """Why a text cannot be reworded; null if it can."""
    if not formats.format_of(source.item).open_text:
        return "its format is answered with an option"
    return "there is no text to reword" if is_blank(source.text) else None
