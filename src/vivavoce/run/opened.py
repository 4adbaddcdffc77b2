"""A run file opened: its tables, and what the verbs read from it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from vivavoce import registry, specs
from vivavoce.errors import SelectionError, StoreError, VivaError
from vivavoce.metrics import probe_of
from vivavoce.models.cards import ModelCard, card_of, cards
from vivavoce.records import Finding, Measure
from vivavoce.selection import ItemKey, signatures_of
from vivavoce.store import RunFile, read
from vivavoce.store.write import put_finding
from vivavoce.studies import Marks, identical_repeats
from vivavoce.studies.circles import models_named
from vivavoce.studies.juries import consensus
from vivavoce.studies.vetoes import BadEnds, red_lines
from vivavoce.tables import within

if TYPE_CHECKING:
    import sqlite3

    import polars as pl

    from vivavoce.metrics.jury import Jury

__all__ = ["Opened"]

T = TypeVar("T")
RANK = "rank"
APART = (RANK, "unit")
"""Pools of criteria that are read by themselves: means over ranks, or over points of several weights, are no
value of anything.
"""
_MARKED: dict[tuple[str, str], bool] = {}
"""Whether the metric of a signature marks an item of a hash; asked once in a process, it may take a while."""


class Opened:
    """The tables of one run file, always in the words of the records."""

    def __init__(self, path: Path) -> None:
        self.file = RunFile(path)

    def __repr__(self) -> str:
        return f"Run({str(self.file.path)!r})"

    @property
    def items(self) -> "pl.DataFrame":
        """The items, a row per item and variant, in the columns of `Item`."""
        return self._read(read.items)

    @property
    def responses(self) -> "pl.DataFrame":
        """The responses, raw, a row per item, variant, candidate, repeat and edit."""
        return self._read(read.responses)

    @property
    def scores(self) -> "pl.DataFrame":
        """Every score: one row per thing, measure, pass and ballot; `value` is null unless `status` is ok."""
        return self._read(read.scores)

    @property
    def measures(self) -> list[Measure]:
        """What has marked this run."""
        return [keyed.measure for keyed in self._read(read.measures)]

    def _read(self, what: "Callable[[sqlite3.Connection], T]") -> T:
        with self.file.reading() as db:
            return what(db)

    def _keep(self, study: str, settings: Mapping[str, Any], finding: Finding) -> Finding:
        """Store what a study found. A run that cannot be written, say on a read-only disk, can be read."""
        try:
            with self.file.writing() as db:
                put_finding(db, study, settings, finding.rows)
        except StoreError as error:
            return replace(finding, notes=(*finding.notes, f"This look could not be recorded: {error}"))
        return finding

    def _marks(
        self,
        signatures: Sequence[str] | None,
        chosen: "set[ItemKey] | None",
        candidates: Sequence[str] | None = None,
        *,
        made: bool = False,
        ranks: bool = False,
    ) -> Marks:
        """Score rows by these signatures (null: all), restricted to the chosen items.

        Ranks and the marks of single units are no values of an answer and stay out, unless `ranks` asks for
        ranks too; so do items that were made in the run, unless `made`.
        """
        apart = tuple(pool for pool in APART if not (ranks and pool == RANK))
        with self.file.reading() as db:
            measures = {
                keyed.key: keyed.measure
                for keyed in read.measures(db)
                if (signatures is None or keyed.measure.signature in signatures)
                and keyed.measure.criterion.pool not in apart
            }
            rows = read.scores(db, measures=list(measures), candidates=candidates, details=True, made=made)
        return Marks(within(rows, chosen), measures, only=self._only(measures), probes=_probes(measures))

    def _only(self, measures: Mapping[int, Measure]) -> dict[int, frozenset[ItemKey]]:
        """By measure the items it marks, for those that do not mark every item of their formats."""
        choosy: dict[str, list[int]] = {}
        for key, m in measures.items():
            mark = specs.signed(m.signature)
            if not mark.recorded and hasattr(registry.known("metric").get(mark.spec.name), "marks"):
                choosy.setdefault(m.signature, []).append(key)
        items = list(self._read(read.stock).values()) if choosy else []
        found: dict[int, frozenset[ItemKey]] = {}
        for signature, keys in choosy.items():
            try:
                metric = registry.build("metric", specs.signed(signature).spec)
                for item in items:
                    if (signature, item.hash) not in _MARKED:
                        _MARKED[signature, item.hash] = metric.marks(item)
            except VivaError:  # a file that it named is gone: what it would mark is not known any more
                continue
            own = frozenset((i.benchmark, i.item, i.variant) for i in items if _MARKED[signature, i.hash])
            found |= dict.fromkeys(keys, own)
        return found

    def _by(
        self,
        metric: str | None,
        chosen: "set[ItemKey] | None",
        candidates: Sequence[str] | None = None,
    ) -> Marks:
        """Score rows by what a user names: a metric, a signature, a jury of judges; null for all."""
        spec = _jury(metric)
        if spec is None:
            return self._newest(signatures_of(self.file, metric), chosen, candidates)
        jury: Jury = registry.build("metric", spec)
        judges = [self._voice(judge) for judge in jury.of]
        return consensus(
            self._marks(judges, chosen, candidates),
            metric=str(jury),
            judges=judges,
            rule=jury.rule,
            quorum=jury.quorum,
        )

    def _newest(
        self,
        signatures: Sequence[str] | None,
        chosen: "set[ItemKey] | None",
        candidates: Sequence[str] | None,
    ) -> Marks:
        """The marks by these; of several versions of one metric that of today, where it marked everybody."""
        every = self._marks(signatures, chosen, candidates)
        own = _today(signatures or ())
        if own is None:
            return every
        marks = self._marks([own], chosen, candidates)
        there, here = ({*one.scores["candidate"].unique()} for one in (every, marks))
        return marks if there == here else every

    def _voice(self, judge: specs.Spec) -> str:
        """The signature of a judge's marks here: by the rubric of today, or else the only ones."""
        found = signatures_of(self.file, str(judge)) or []
        here = judge.name in registry.known("metric")  # else its marks were brought in
        own = registry.signature(registry.build("metric", judge)) if here else None
        if own not in found and len(found) > 1:
            raise SelectionError(
                f"{judge} marked this run under several rubrics or versions, none of which is today's: "
                f"`viva score {self.file.path}` with it first."
            )
        return own if own is not None and own in found else found[0]

    def _exam(self, chosen: "set[ItemKey] | None") -> "tuple[pl.DataFrame, pl.DataFrame]":
        """The chosen items of the exam, without what was made of them here, and the answers in words."""
        items = self.items
        exam = within(items.filter(items["origin"].is_null()), chosen)
        key = ["benchmark", "item", "variant"]
        said = self.responses.filter(probe="")
        return exam, said.join(exam, on=key, how="semi", maintain_order="left")

    def _told(self, exam: "pl.DataFrame") -> "pl.DataFrame":
        """What probes told about these items."""
        import polars as pl

        key = ["benchmark", "item", "variant"]
        return self.responses.filter(pl.col("probe") != "").join(exam, on=key, how="semi")

    def _with_made(self, chosen: "set[ItemKey] | None") -> "set[ItemKey] | None":
        """The chosen items and what was made of them in this run."""
        if chosen is None:
            return None
        bases, items = {key[:2] for key in chosen}, self.items
        made = items.filter(items["origin"].is_not_null()).select("benchmark", "item", "variant")
        return chosen | {key for key in made.iter_rows() if key[:2] in bases}

    def _carded(self, marks: Marks, file: Path | None) -> Marks:
        """The marks with what cards tell of candidates, judges and ceilings; `file` adds to those we have."""
        known = cards(file)
        answered = marks.scores.filter(marks.scores["role"] == "candidate")["candidate"].unique().sort()
        names = [*answered, *sorted(models_named(marks))]
        found: dict[str, ModelCard] = {name: card for name in names if (card := card_of(name, known))}
        return marks._replace(cards=found)

    def _estimates(self, marks: Marks, chosen: "set[ItemKey] | None", bad: BadEnds | None = None) -> Finding:
        from vivavoce.studies.estimates import estimates

        if bad and bad.worst_at:
            marks = marks._replace(identical=identical_repeats(self._exam(chosen)[1]))
        lines = red_lines(bad, lambda metric: self._by(metric, chosen))
        return estimates(marks, self._exam(chosen)[0], bad, lines)


def _probes(measures: Mapping[int, Measure]) -> dict[int, str]:
    """By measure the probe that it marks, for those that mark probabilities."""
    found = {}
    for key, m in measures.items():
        mark = specs.signed(m.signature)
        if not mark.recorded and hasattr(registry.known("metric").get(mark.spec.name), "probe"):
            try:
                probe = probe_of(registry.build("metric", mark.spec))
            except VivaError:  # a file that it named is gone
                continue
            if probe:
                found[key] = probe.name
    return found


def _today(signatures: Sequence[str]) -> str | None:
    """Of several versions the one by which the metric would mark now; null if there is none, or no choice."""
    if len(signatures) < 2:
        return None
    try:
        own = registry.signature(registry.build("metric", specs.signed(signatures[0]).spec))
    except VivaError:
        return None
    return own if own in signatures else None


def _jury(metric: str | None) -> specs.Spec | None:
    """The spec of a jury, if that is what was named; null for any other metric, and for a signature."""
    if metric is None or not metric.lstrip().startswith("jury"):
        return None
    spec = specs.parse(metric)
    return spec if spec.name == "jury" else None
