"""A run in Python: the verbs of the command line with the same names and defaults, and the tables."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from vivavoce import registry, specs
from vivavoce.benchmarks import load
from vivavoce.errors import SelectionError, StoreError, suggest
from vivavoce.interchange import Imported, import_answers
from vivavoce.records import Finding, Measure, Role
from vivavoce.score import Marked, measures_of, score
from vivavoce.store import RunFile, read
from vivavoce.store.write import put_finding

if TYPE_CHECKING:
    import sqlite3

    import polars as pl

__all__ = ["Run", "open_run"]

T = TypeVar("T")
ItemKey = tuple[str, str, str]
Progress = Callable[[str, int, int], None]


def open_run(path: str | Path, *, plugins: Sequence[str | Path] = ()) -> "Run":
    """The run at `path`, which need not exist yet: nothing is created until something is stored.

    `plugins` are Python files whose metrics and benchmarks may then be named. Raises `StoreError` if the
    file is not a run of ours.
    """
    for plugin in plugins:
        registry.load_plugin(plugin)
    run = Run(Path(path))
    if run.file.exists:
        with run.file.reading():
            pass
    return run


class _Marks(NamedTuple):
    """Score rows with the measures they are values of."""

    scores: "pl.DataFrame"
    measures: dict[int, Measure]


class Run:
    """One run file: answers, marks and findings. Verbs write to it, tables read from it."""

    def __init__(self, path: Path) -> None:
        self.file = RunFile(path)

    def __repr__(self) -> str:
        return f"Run({str(self.file.path)!r})"

    # Tables

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

    # Verbs

    def import_answers(
        self,
        file: str | Path,
        *,
        benchmark: str,
        map: Mapping[str, str] | None = None,
        set: Mapping[str, str] | None = None,
        role: Mapping[str, Role] | None = None,
        new_version: bool = False,
    ) -> Imported:
        """Store the recorded answers of a jsonl, csv or parquet file; all of them or none.

        `map` gives for our names (item, variant, candidate, repeat, text …) the file's columns, `set` a
        value for every row, `role` candidates that are a floor or a ceiling. `new_version` accepts items
        that changed.
        """
        return import_answers(
            self.file,
            Path(file),
            benchmark=benchmark,
            columns=map or {},
            constants=set or {},
            roles=role or {},
            new_version=new_version,
        )

    def score(self, *metrics: str, items: str | None = None, progress: Progress | None = None) -> Finding:
        """Mark every answer not marked yet and return the estimates of these metrics.

        `items` is a benchmark's spec that restricts what is marked and estimated.
        """
        if not metrics:
            raise SelectionError("name at least one metric: `viva list metrics` shows what there is.")
        made = [registry.build("metric", spec) for spec in specs.parse_many(metrics)]
        chosen = self._chosen(items)
        marked = score(self.file, made, items=chosen, progress=progress)
        marks = self._marks([m.signature for metric in made for m in measures_of(metric)], chosen)
        finding = self._estimates(marks, chosen)
        return Finding(study="score", rows=finding.rows, notes=tuple(filter(None, map(_left_out, marked))))

    def estimates(self, metric: str | None = None, *, items: str | None = None) -> Finding:
        """What each candidate scored, with intervals, bounds and coverage; of one metric or of all."""
        chosen = self._chosen(items)
        return self._estimates(self._marks(self._selected(metric), chosen), chosen)

    def compare(
        self, *candidates: str, metric: str, margin: float | None = None, items: str | None = None
    ) -> Finding:
        """Compare candidates on the items they share; every call is counted as a look at this run.

        Two or three are compared in all pairs, four or more each with the first. `margin` is the least
        difference that matters, in the metric's units.
        """
        from vivavoce.studies.compare import compare

        known = [c.candidate for c in self._read(read.candidates)]
        names = [_candidate(name, known) for name in candidates]
        if len(dict.fromkeys(names)) < max(2, len(names)):
            raise SelectionError(
                f"compare takes two or more different candidates. Known: {', '.join(known)}."
            )
        marks = self._marks(self._selected(metric), self._chosen(items), candidates=names)
        looks = self._read(read.looks) + 1
        finding = compare(marks.scores, marks.measures, names, margin=margin, looks=looks)
        settings = {"candidates": names, "metric": metric, "margin": margin, "items": items}
        try:
            with self.file.writing() as db:
                put_finding(db, "compare", settings, finding.rows)
        except StoreError:  # a run on a read-only disk can still be looked at
            unread = "This look could not be recorded: the run is read-only."
            return Finding(
                study="compare", rows=finding.rows, text=finding.text, notes=(*finding.notes, unread)
            )
        return finding

    def status(self) -> Finding:
        """What is here: responses by candidate and measure, by status, with the causes of what is missing."""
        from vivavoce.studies.status import status

        responses = self.responses
        marks = self._marks(None, None)
        return status(responses, marks.scores, marks.measures)

    def report(self, to: str | Path | None = None, *, items: str | None = None) -> Path:
        """Write the report as one HTML file, by default beside the run, and return its path."""
        from vivavoce.report import Contents, write

        chosen = self._chosen(items)
        marks = self._marks(None, chosen)
        with self.file.reading() as db:
            contents = Contents(
                name=self.file.path.name,
                items=_within(read.items(db), chosen),
                responses=_within(read.responses(db), chosen),
                scores=marks.scores,
                measures=marks.measures,
                estimates=self._estimates(marks, chosen).rows,
                comparisons=tuple(read.findings(db, "compare")),
                benchmarks=tuple(read.benchmarks(db)),
                provenance=tuple(read.provenance(db)),
                selection=items,
            )
        path = Path(to) if to else self.file.path.with_suffix(".html")
        write(contents, path)
        return path

    def copy(self, to: str | Path) -> Path:
        """Write a compact copy of the run to a path where nothing lies yet."""
        self.file.copy(Path(to))
        return Path(to)

    # Selections

    def _chosen(self, items: str | None) -> "set[ItemKey] | None":
        """The items a benchmark's spec selects; null for all. Raises if the run has others, or other
        wordings.
        """
        if items is None:
            return None
        exam = load(items)
        with self.file.reading() as db:
            here = {(i.benchmark, i.item, i.variant): i.hash for i in read.stock(db).values()}
        keys = {(i.benchmark, i.item, i.variant): i.hash for i in exam.items}
        name = exam.items[0].benchmark
        if not here.keys() & keys.keys():
            there = ", ".join(sorted({b for b, *_ in here}))
            raise SelectionError(f"--items {items}: this run has no items of {name}; it holds {there}.")
        changed = [key[1] for key in here.keys() & keys.keys() if here[key] != keys[key]]
        if changed:
            raise SelectionError(
                f"--items {items}: {len(changed)} of these items are worded otherwise in this run: "
                f"{min(changed)} …"
            )
        return set(keys)

    def _selected(self, metric: str | None) -> list[str] | None:
        """The signatures that a metric's name, whole or in part, selects; null for all."""
        if metric is None:
            return None
        measures = self.measures
        if not measures:
            path = self.file.path
            raise SelectionError(
                f"nothing has been marked in this run yet: `viva score {path} METRIC` does that."
            )
        wholes = {m.metric: specs.parse(m.signature[: m.signature.rindex(")@") + 1]) for m in measures}
        found = specs.select(metric, list(wholes), wholes)
        if len(found) != 1:
            names = ", ".join(found or wholes)
            what = "matches several" if found else "matches none"
            raise SelectionError(f"the metric {metric!r} {what} of what this run was marked by: {names}.")
        return [m.signature for m in measures if m.metric == found[0]]

    def _marks(
        self,
        signatures: Sequence[str] | None,
        chosen: "set[ItemKey] | None",
        candidates: Sequence[str] | None = None,
    ) -> _Marks:
        """Score rows by these signatures (null: all), restricted to the chosen items."""
        with self.file.reading() as db:
            measures = {
                keyed.key: keyed.measure
                for keyed in read.measures(db)
                if signatures is None or keyed.measure.signature in signatures
            }
            rows = read.scores(db, measures=list(measures), candidates=candidates, details=True)
        return _Marks(_within(rows, chosen), measures)

    def _estimates(self, marks: _Marks, chosen: "set[ItemKey] | None") -> Finding:
        from vivavoce.studies.estimates import estimates

        return estimates(marks.scores, _within(self.items, chosen), marks.measures)


def _within(rows: "pl.DataFrame", chosen: "set[ItemKey] | None") -> "pl.DataFrame":
    """The rows about chosen items."""
    import polars as pl

    if chosen is None:
        return rows
    keys = pl.DataFrame(sorted(chosen), schema=["benchmark", "item", "variant"], orient="row")
    return rows.join(keys, on=["benchmark", "item", "variant"], how="semi", maintain_order="left")


def _candidate(name: str, known: Sequence[str]) -> str:
    """A candidate's label: as it stands, or the only one that differs in case alone."""
    if name in known:
        return name
    near = [k for k in known if k.casefold() == name.casefold()]
    if len(near) == 1:
        return near[0]
    raise SelectionError(f"no candidate named {name!r} in this run.{suggest(name, list(known))}")


def _left_out(marked: Marked) -> str:
    """The line on items that a metric does not mark."""
    n = sum(marked.not_marked.values())
    forms = ", ".join(f"{count} {form}" for form, count in sorted(marked.not_marked.items()))
    return f"{marked.metric} does not mark {n} of the items ({forms})." if n else ""
