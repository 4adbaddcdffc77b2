"""MedSynF1 (Cardenal Antolin et al. 2025, HIVMedQA): F1 of the clinical entities that answer and key share.

Entities are found in both texts, brought to base forms, widened by synonyms, and matched one to one.

The variants that HIVMedQA stored, by the names of its tables; `synonyms=` of gptdict is the dictionary that a
model wrote, of snomed a description file of the release you hold a licence for:

    standard         rules=published, synonyms=none, lemma=none
    gptdict          rules=published, synonyms=FILE.json, lemma=none
    gptdict_lemma    rules=published, synonyms=FILE.json, lemma=stanza    (called MedSynF1 in the paper)
    snomed           rules=published, synonyms=FILE.txt, lemma=none
    snomed_lemma     rules=published, synonyms=FILE.txt, lemma=stanza
    wordnet          rules=published, synonyms=wordnet, lemma=none
    wordnet_lemma    rules=published, synonyms=wordnet, lemma=stanza

all with extractor=scispacy. Published entities were matched in the order of a hash, here in the order of
their first appearance; SNOMED was searched for the best hit, here a term must be there.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.core.specs import Spec
from vivavoce.language.languages import text_language
from vivavoce.language.scripts import main_script
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.systems.hivmedqa.entities import matching, synonyms
from vivavoce.systems.hivmedqa.entities.entity_files import read_lists
from vivavoce.systems.hivmedqa.entities.extract import PACKAGES, Chunks, scispacy
from vivavoce.systems.hivmedqa.entities.lemmas import Lemma, form_of
from vivavoce.systems.hivmedqa.entities.matching import CORRECTED, PUBLISHED, PUBLISHED_EXACT, Rules, f1_of
from vivavoce.systems.hivmedqa.entities.synonyms import Names, from_file, from_wordnet, look_up

if TYPE_CHECKING:
    from vivavoce.models.engine.client import CallResult

_MATCHING = {"greedy": matching.greedy, "maximum": matching.maximum}
_Entities = tuple[str, ...]
_Name = tuple[str, str, str]
"""Benchmark, base id, variant."""


class _Key(NamedTuple):
    """An item's references as entities, and where their other names are; or why there is no score."""

    references: list[_Entities]
    names: Names
    fault: str | None = None


@metric("medsynf1", version=2)
class MedSynF1(Metric):
    """F1 of clinical entities shared with the reference, synonyms allowed, 0 to 1.

    Values with `extractor=chunk` are not comparable with published MedSynF1: its entities are what stands
    between stop words, and terms of the dictionary. `auto` takes scispaCy's model en_core_sci_lg if it is
    installed, else chunk; the name of the measure and its signature say which.

    `entities` is a file of lists made elsewhere (layout: `entities/entity_files.py`). `synonyms`: none,
    wordnet, a file (.json: term to list of names; .txt: SNOMED CT descriptions), or `model`, which has
    `model` write a dictionary of the references' terms, ten terms a call. `rules=published` has the edge
    rules and the greedy matching of the published code.
    """

    rules: Literal["corrected", "published"] = "corrected"
    extractor: Literal["auto", "scispacy", "chunk", "file"] = "auto"
    entities: Path | None = None
    synonyms: Literal["none", "wordnet", "model"] | Path = "wordnet"
    lemma: Lemma = "simplemma"
    model: str | Spec | None = None

    criteria = (
        Criterion(criterion="f1"),
        Criterion(criterion="micro_f1", pool="micro_f1", if_unanswered="set_aside"),  # silence has no counts
    )
    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")
    needs = ("references",)

    @property
    def asks_models(self) -> bool:
        """Whether a model writes the dictionary."""
        return self.synonyms == "model"

    def __post_init__(self) -> None:
        if self.extractor == "auto":
            # Settled here, so that two machines with one signature give the same numbers.
            installed = all(map(_metadata, PACKAGES))
            extractor = "file" if self.entities else "scispacy" if installed else "chunk"
            object.__setattr__(self, "extractor", extractor)
        if (self.extractor == "file") != (self.entities is not None):
            raise ValueError(
                "extractor=file goes with entities=FILE, and no other extractor does: leave extractor out"
            )
        if (self.synonyms == "model") != (self.model is not None):
            raise ValueError(
                "synonyms=model goes with model=NAME, and no other synonyms do: give both, or neither"
            )
        for package in self._packages:
            if not _metadata(package):
                raise ValueError(f"the package {package} is not installed: {self._advice(package)}")

    def _advice(self, package: str) -> str:
        """How to go on without a package."""
        if package in self.packages:
            return f'pip install "vivavoce[{self.packages[package]}]", or take lemma=none'
        return (
            "install it, or take extractor=chunk and lemma=simplemma, which need no model but are not "
            "comparable with published MedSynF1"
        )

    @property
    def packages(self) -> Mapping[str, str]:
        """The table of base forms."""
        return {"simplemma": "text"} if self.lemma == "simplemma" else {}

    @property
    def extra_files(self) -> tuple[Path, ...]:
        """The prompt of the dictionary, and the metadata of each package in use: they name its version."""
        prompt = (synonyms.PROMPT,) if self.synonyms == "model" else ()
        return (*prompt, *filter(None, map(_metadata, self._packages)))

    @cached_property
    def _alone(self) -> ScoringContext:
        """The context of what is computed before anything is scored."""
        return ScoringContext()

    def applies_to(self, item: Item) -> bool:
        """False if no reference of the item has an entity, where the rules give such a comparison no value.

        Nothing in an answer could match then, so there is no score to fail: the item gets no row.
        """
        if not super().applies_to(item):
            return False
        if self._book.no_gold is not None:
            return True
        key = self._key(item, self._alone)
        return key.fault is not None or any(key.references)

    def not_applicable(self, item: Item) -> str | None:
        """The reason where the item is not in English, in which alone entities are found, as far as is known.

        The words between entities, base forms, synonyms and scispaCy's model are English.
        """
        scripts = set(map(main_script, item.references))
        language = _language(item.question, item.references)
        if self.extractor == "file" or (scripts & {"Latin", None} and language in (None, "English")):
            return None
        place = f"{' and '.join(sorted(map(str, scripts)))} script"
        place = (
            f"the references are in {place}" if "Latin" not in scripts else f"the question is in {language}"
        )
        return (
            f"{place}, and entities are found in English texts: take extractor=file with lists made elsewhere"
        )

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """The best F1 over the references that have an entity; `parts`: tp, fp, fn, precision, recall.

        A row fails with a note if its list, or one of its references, is not in the file, if the model that
        writes the dictionary left no list of a reference's entities, or if no reference has an entity.
        """
        keys = self._keys({_name(row.item): row.item for row in rows}, context)
        values = [self._value(row, keys[_name(row.item)], context) for row in rows]
        return [{"f1": value, "micro_f1": value} for value in values]

    @property
    def _book(self) -> Rules:
        published = PUBLISHED_EXACT if self.synonyms == "none" else PUBLISHED
        return published if self.rules == "published" else CORRECTED

    @property
    def _packages(self) -> tuple[str, ...]:
        models = PACKAGES if self.extractor == "scispacy" else ()
        return models if self.lemma == "none" else (*models, self.lemma)

    @property
    def _extract(self) -> Callable[[str], _Entities]:
        file = self.synonyms if isinstance(self.synonyms, Path) else None
        return scispacy if self.extractor == "scispacy" else Chunks(file, self.lemma)

    def _value(self, row: Row, key: _Key, context: ScoringContext) -> Value:
        answer = self._answer(row, context)
        if key.fault or answer is None:
            reason = key.fault or f"{self.entities} has no list of this answer"
            return Value(None, note=reason, status="failed")
        scores = [
            score for reference in key.references if (score := self._mark(reference, answer, key.names))
        ]
        if not scores:
            return Value(None, note="no reference has an entity, so there is no F1", status="set_aside")
        return max(scores, key=lambda score: score.value or 0.0)

    def _mark(self, reference: _Entities, response: _Entities, names: Names) -> Value | None:
        """The answer's entities against those of one reference; null if that has no value."""
        gold, predicted = ([names(entity) | {entity} for entity in side] for side in (reference, response))
        matched = _MATCHING[self._book.matching](gold, predicted)
        score = f1_of(gold=len(gold), predicted=len(predicted), matched=matched, rules=self._book)
        if score is None:
            return None
        parts = {"tp": matched, "fp": len(predicted) - matched, "fn": len(gold) - matched}
        return Value(score.f1, {**parts, "precision": score.precision, "recall": score.recall})

    def _keys(self, items: Mapping[_Name, Item], context: ScoringContext) -> dict[_Name, _Key]:
        """The key of each item. A dictionary is written for each alone, so no score hangs on other items."""
        keys = {name: self._key(item, context) for name, item in items.items()}
        if self.model is None:
            return keys
        requests = [
            (name, page)
            for name, key in keys.items()
            for page in synonyms.pages(chain.from_iterable(key.references))
        ]
        replies = _ask_synonyms(self.model, [page for _, page in requests], context)
        lists: dict[_Name, dict[str, _Entities]] = {name: {} for name in keys}
        faults = {name: key.fault for name, key in keys.items()}
        for (name, page), result in zip(requests, replies, strict=True):
            lists[name].update(result.value or {})
            if result.value is None:
                faults[name] = f"no synonyms of {', '.join(page.terms)} from {self.model}: {result.reason}"
        return {
            name: _Key(key.references, look_up(lists[name], self._form_of_synonyms), faults[name])
            for name, key in keys.items()
        }

    def _key(self, item: Item, context: ScoringContext) -> _Key:
        references = [self._reference(item, number, context) for number in range(1, len(item.references) + 1)]
        lost = [str(k) for k, entities in enumerate(references, 1) if entities is None]
        fault = f"{self.entities} has no list of reference {', '.join(lost)}" if lost else None
        return _Key([entities for entities in references if entities is not None], self._names, fault)

    @property
    def _names(self) -> Names:
        form = self._form_of_synonyms
        if isinstance(self.synonyms, Path):
            return from_file(self.synonyms, form)
        if self.synonyms == "wordnet":
            return from_wordnet(form, "_" if self._book.folded else " ")
        return _no_names

    @property
    def _form_of_synonyms(self) -> Callable[[str], str]:
        lemma = self.lemma if self._book.synonyms_lemmatised else "none"
        return form_of(lemma, folded=self._book.folded)

    def _reference(self, item: Item, number: int, context: ScoringContext) -> _Entities | None:
        if self.entities:
            return self._formed(read_lists(self.entities).reference(item, number))
        return self._formed(context.once(self._extract, item.references[number - 1]))

    def _answer(self, row: Row, context: ScoringContext) -> _Entities | None:
        if self.entities:
            return self._formed(read_lists(self.entities).answer(row.item, row.response))
        return self._formed(context.once(self._extract, row.reading.text))

    def _formed(self, entities: _Entities | None) -> _Entities | None:
        """Entities in the form in which they are looked up and compared, each once."""
        form = form_of(self.lemma, folded=self._book.folded)
        return None if entities is None else tuple(dict.fromkeys(map(form, entities)))


@lru_cache(maxsize=10_000)
def _language(question: str, references: tuple[str, ...]) -> str | None:
    """The language of a question with its references, which alone may be a name or two; null: not known."""
    words = text_language((question, *references)).language
    return words.name if words else None


def _ask_synonyms(
    model: str | Spec, pages: Sequence[synonyms.Page], context: ScoringContext
) -> "list[CallResult[synonyms.Synonyms]]":
    """The model's reply to each page of a dictionary."""
    return context.client.ask(
        model,
        [page.request for page in pages],
        [page.parse for page in pages],
        purpose="synonyms",
        again=lambda k, reply, reason: synonyms.again(pages[k].request, reply, reason),
    )


def _no_names(entity: str) -> frozenset[str]:
    return frozenset()


def _name(item: Item) -> _Name:
    return item.benchmark, item.item, item.variant


def _metadata(package: str) -> Path | None:
    """The file that names the version of an installed package; null if it is not installed."""
    try:
        files = distribution(package).files or ()
    except PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in files if file.name == "METADATA"), None)
