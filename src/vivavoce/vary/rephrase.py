"""Rewordings by a model: of candidates' answers, or of references, as a ceiling."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from vivavoce import formats
from vivavoce.errors import InputError, suggest
from vivavoce.records import Item, Response
from vivavoce.registry import variation
from vivavoce.specs import Spec
from vivavoce.text import is_blank, spoken
from vivavoce.vary.asking import for_rephrasing, read_text
from vivavoce.vary.facts import changed
from vivavoce.vary.outcomes import Outcome, Stock, key_of

if TYPE_CHECKING:
    from vivavoce.ask.desk import Desk, Heard

__all__ = ["Rephrase"]

CLOSED = ("mcq", "list", "true_false")


class _Source(NamedTuple):
    """A text to reword, the item it belongs to, and the row that a rewording of it becomes."""

    item: Item
    text: str
    row: Response


@variation("rephrase")
class Rephrase:
    """The same in other words, `k` times, written by `model`; open formats only.

    `of=answers` rewords what candidates answered: the edits `rephrase:1` to `rephrase:k` of each answer, all
    candidates' or those of `candidate`. `of=references` rewords the first reference of each base item:
    repeats 1 to k of the candidate `label`, a ceiling that says what is right in other words.
    """

    model: str | Spec
    k: int = 1
    of: Literal["answers", "references"] = "answers"
    candidate: str | None = None
    label: str = "rephrased references"

    def __post_init__(self) -> None:
        if not 1 <= self.k <= 100:
            raise ValueError("k is a number from 1 to 100")
        if not self.label.strip():
            raise ValueError("label is a name")
        if self.of == "references" and self.candidate is not None:
            raise ValueError("candidate goes with of=answers")

    def makes(self, stock: Stock, desk: "Desk | None") -> Iterator[Outcome]:
        """An outcome for each text and rewording. Raises `InputError` where another spec made some here."""
        what = "rephrase" if self.of == "answers" else "ceiling"
        sources = self._answers(stock) if self.of == "answers" else self._references(stock)
        chosen = []
        for source in sources:
            if source.item.format in CLOSED:
                yield Outcome(what, source.item.name, reason="its format is answered with an option")
            elif is_blank(source.text):
                yield Outcome(what, source.item.name, reason="there is no text to reword")
            else:
                chosen.append(source)
        for n in range(1, self.k + 1):
            todo = []
            for source in chosen:
                if stock.holds(self._numbered(source.row, n)):
                    yield Outcome(what, source.item.name, there=True)
                else:
                    todo.append(source)
            if desk is None:
                why = "a model is asked first"
                yield from (Outcome(what, s.item.name, reason=why, requests=1) for s in todo)
                continue
            requests = [for_rephrasing(source.text) for source in todo]
            heard = desk.ask(self.model, requests, read_text("text"), purpose="vary rephrase", repeat=n)
            for source, said in zip(todo, heard, strict=True):
                yield self._outcome(what, source, said, n)

    def _numbered(self, row: Response, n: int) -> Response:
        return replace(row, edit=f"rephrase:{n}") if self.of == "answers" else replace(row, repeat=n)

    def _outcome(self, what: str, source: _Source, said: "Heard[str]", n: int) -> Outcome:
        if said.value is None:
            return Outcome(what, source.item.name, reason=f"no rewording came: {said.reason}")
        text = said.value
        if self.of == "references":  # as a candidate would say it: a chain with its steps
            text = formats.key(replace(source.item, references=(text,)))
        fault = changed(source.text, said.value)
        if said.value.split() == source.text.split():
            fault = "it is word for word the same"
        row = replace(self._numbered(source.row, n), text=text)
        return Outcome(what, source.item.name, (row,), fault)

    @property
    def _origin(self) -> str:
        """Without `k`: asked for more, the first ones stay."""
        return str(Spec("rephrase", {"model": self.model, "of": self.of}))

    def _answers(self, stock: Stock) -> Iterator[_Source]:
        if self.candidate is not None and self.candidate not in stock.roles:
            near = suggest(self.candidate, list(stock.roles))
            raise InputError(f"rephrase: no candidate {self.candidate!r} in this run.{near}")
        items = {(i.benchmark, i.item, i.variant): i for i in stock.items}
        for answer in stock.answers:
            mine = stock.roles[answer.candidate] == "candidate" if self.candidate is None else (
                answer.candidate == self.candidate)  # fmt: skip
            item = items.get((answer.benchmark, answer.item, answer.variant))
            if mine and item is not None:
                row = Response(**{name: getattr(answer, name) for name in key_of(answer)._fields},
                               text="", meta={"origin": self._origin})  # fmt: skip
                yield _Source(item, spoken(answer.text or "").text, row)

    def _references(self, stock: Stock) -> Iterator[_Source]:
        if stock.roles.get(self.label, "ceiling") != "ceiling":
            raise InputError(
                f"rephrase: {self.label!r} is a candidate of this run, and no ceiling: give another label=…"
            )
        for item in stock.bases:
            row = Response(benchmark=item.benchmark, item=item.item, candidate=self.label, text="",
                           meta={"origin": self._origin})  # fmt: skip
            yield _Source(item, item.references[0] if item.references else "", row)
