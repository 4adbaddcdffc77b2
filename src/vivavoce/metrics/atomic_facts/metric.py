"""The metric: its settings, and the three stages in their order."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Literal, Self

from vivavoce.core.evidence import Evidence
from vivavoce.core.records import Criterion, Item, Row, Unit, Value
from vivavoce.core.registry import metric
from vivavoce.core.specs import Spec
from vivavoce.embeddings.encoder import load_encoder, resolve_encoder, weight_files
from vivavoce.facts.checker import Checker
from vivavoce.facts.checkers import checker_of
from vivavoce.facts.cited_checker import CitedChecker
from vivavoce.facts.context_passages import context_passages
from vivavoce.facts.fact import Answer
from vivavoce.facts.rules import Rules, rule_book
from vivavoce.facts.splitters import Splitter, splitter_of
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.metrics.atomic_facts.checked_answer import CheckedAnswer
from vivavoce.metrics.atomic_facts.citing import CITED, with_citations
from vivavoce.metrics.atomic_facts.figures import (
    MUST_RECALL,
    NO_STATEMENT,
    STATED,
    SUPPORTED,
    Figure,
    figures,
    unit_values,
    values_of,
)
from vivavoce.metrics.atomic_facts.stages import check, split
from vivavoce.retrieval.index import Source, open_source

CONTEXT = "context"


@metric("atomic_facts", version=2)
class AtomicFacts(Metric):
    """Precision of the facts that a long answer claims: split, each checked, and what is unknown is said.

    `splitter`: a model, recorded(file=F), or sentences. `checker`, the rater: a model, cited(model=M),
    recorded(file=F) or nli(weights=DIR). `source`: a folder of txt, jsonl, html and pdf files as evidence, or
    context, the item's own; without one a model says what it knows, and nothing is contradicted. So many
    `passages` are shown for a fact, ordered by the encoder `rerank`; so many facts go into one call
    (`per_call`); at most so many units of an answer (`most`) are checked.

    `k` adds recall and F1 at so many facts, `gamma` a penalty for fewer facts than that, `must` the share of
    the statements that an answer must make, by further calls. `rules=published`, of the system dahl, gives
    the score of its code.
    """

    splitter: str | Spec
    checker: str | Spec
    source: Literal["context"] | Path | None = None
    rules: str = "corrected"
    k: int | None = None
    gamma: float | None = None
    passages: int = 5
    rerank: str | None = None
    per_call: int = 1
    most: int = 200
    must: bool = False
    source_version: str = ""

    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")

    def __post_init__(self) -> None:
        for name in ("k", "passages", "per_call", "most", "gamma"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{name} takes a number above 0, not {value}")
        if self.rerank is not None:
            if not isinstance(self.source, Path):
                raise ValueError("rerank orders passages of a source: give source=DIR too")
            # Settled here, so that two machines with one signature give the same numbers.
            object.__setattr__(self, "rerank", resolve_encoder(self.rerank))
        # What cannot be used is said before anybody is asked.
        _ = self._splitter, self._checker

    @cached_property
    def _book(self) -> Rules:
        return rule_book(self.rules)

    @cached_property
    def _splitter(self) -> Splitter:
        return splitter_of(self.splitter)

    @cached_property
    def _checker(self) -> Checker:
        return checker_of(self.checker, per_call=self.per_call, reads=self._book.verdict)

    @cached_property
    def _source(self) -> Source | None:
        """The folder of evidence, indexed."""
        return open_source(self.source) if isinstance(self.source, Path) else None

    @property
    def rater(self) -> str:
        """The checker."""
        return self._checker.name

    @property
    def asks_models(self) -> bool:
        """Whether a model splits or checks."""
        return self._splitter.model is not None or self._checker.model is not None

    @property
    def extra_files(self) -> tuple[Path, ...]:
        """Prompts and recorded files, and the weights of the encoder."""
        weights = weight_files(self.rerank) if self.rerank else ()
        return (*self._splitter.files, *self._checker.files, *weights)

    @property
    def packages(self) -> Mapping[str, str]:
        """What the checker, the source and the encoder need."""
        source = {"bm25s": "sources", "lxml": "sources", "pypdf": "sources"} if self._has_folder else {}
        encoder = {"torch": "hf", "transformers": "hf"} if self.rerank else {}
        return {**self._checker.packages, **source, **encoder}

    @property
    def _has_folder(self) -> bool:
        return isinstance(self.source, Path)

    @cached_property
    def _figures(self) -> list[Figure]:
        every = figures(
            k=self.k,
            gamma=self.gamma,
            has_evidence=self._checker.takes_passages
            and (self.source is not None or self._checker.model is None),
            silence_is_zero=self._book.silence_is_zero,
        )
        every += [MUST_RECALL] if self.must else []
        every += CITED if isinstance(self._checker, CitedChecker) else ()
        only = self._book.figures
        return [figure for figure in every if not only or figure.criterion.criterion in only]

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The figures of an answer, the score of each of its units, and of each must-statement."""
        units = (SUPPORTED, STATED) if self.must else (SUPPORTED,)
        return (*(figure.criterion for figure in self._figures), *units)

    def not_applicable(self, item: Item) -> str | None:
        """That the item has no context, where its context is the evidence."""
        lacks = self.source == CONTEXT and not (item.context or "").strip()
        return "the item has no context to check against" if lacks else None

    def bind(self, items: Sequence[Item]) -> Self:
        """The metric with its evidence ready; which version of the source that is stands in its settings."""
        self._checker.prepare(passages=self.source is not None)
        ready = self.bind_settings(items)
        if self.rerank is not None and ready._source is not None:
            encoder = load_encoder(self.rerank, None, "auto")
            ready.__dict__["_source"] = ready._source.ordered_by(encoder)
        return ready

    def bind_settings(self, items: Sequence[Item]) -> Self:
        """The metric with its source open; no encoder and no checker is loaded."""
        if self._source is None or self.source_version == self._source.version:
            return self
        ready = replace(self, source_version=self._source.version)
        ready.__dict__["_source"] = self._source  # opened once
        return ready

    def values(
        self, rows: Sequence[Row], context: ScoringContext
    ) -> Sequence[Mapping[str, Value | Mapping[Unit, Value]]]:
        """The figures of each answer and the score of each unit; `Value.evidence` of a unit is what it rests
        on.
        """
        split_answers = split(
            [(row.item, self._answer(row)) for row in rows],
            self._splitter,
            context,
            most=self.most,
            settles=self._book.settles_units,
        )
        checked = check(
            split_answers,
            self._checker,
            context,
            passages=self._evidence,
            shares_calls=self.per_call == 1,
            with_statements=self.must,
        )
        if isinstance(self._checker, CitedChecker):
            checked = with_citations(split_answers, checked, self._checker, self._source, context)
        return [self._values(answer) for answer in checked]

    def _values(self, answer: CheckedAnswer) -> dict[str, Value | Mapping[Unit, Value]]:
        zero = self._book.silence_is_zero
        values: dict[str, Value | Mapping[Unit, Value]] = {
            **values_of(answer, self._figures, silence_is_zero=zero),
            SUPPORTED.criterion: unit_values(answer, answer.units, "the answer has no unit"),
        }
        if self.must:
            values[STATED.criterion] = unit_values(answer, answer.statement_units, NO_STATEMENT)
        return values

    def _answer(self, row: Row) -> Answer:
        response, question = row.response, row.item.question
        cleaned = self._book.cleaned(question, row.reading.text, response.finish_reason)
        return Answer(
            row.item.item, response.candidate, response.repeat, question, cleaned,
            row.item.variant, response.edit, row.item.benchmark, row.item.alias,
        )  # fmt: skip

    def _evidence(self, item: Item, text: str) -> tuple[Evidence, ...] | None:
        """The passages to show for a text; null where none are asked for."""
        if not self._checker.takes_passages:
            return None
        if self.source == CONTEXT:
            return context_passages(item)
        source = self._source
        if source is None:
            return None
        return tuple(
            Evidence(source.name, source.version, p.file, p.page, p.offset, p.text)
            for p in source.search(text, self.passages)
        )
