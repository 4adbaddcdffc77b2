"""A run in Python: the verbs of the command line with the same names and defaults, and the tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vivavoce import catalogue, registry, specs
from vivavoce.errors import SelectionError, StoreError, suggest
from vivavoce.interchange import Exported, Imported, ImportedScores, Layout, import_answers, import_scores
from vivavoce.interchange.exports import export
from vivavoce.records import Finding, Role
from vivavoce.run.opened import Opened
from vivavoce.score import Marked, measures_of, score
from vivavoce.selection import candidate_of, candidates_of, items_of, signatures_of, within
from vivavoce.store import RunFile, read
from vivavoce.store.merge import Merged, merge
from vivavoce.studies import STUDIES, identical_repeats
from vivavoce.studies.vetoes import bad_ends

if TYPE_CHECKING:
    from vivavoce.ask import Tally

__all__ = ["Run", "open_run"]

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


class Run(Opened):
    """One run file: answers, marks and findings. Verbs write to it, tables read from it."""

    def collect(
        self,
        benchmark: str,
        *,
        models: Sequence[str],
        repeats: int | None = None,
        temperature: float | None = None,
        top_p: float | None = None,
        max_tokens: int | None = None,
        seed: int | None = None,
        system: str | None = None,
        prompt: str | Path | None = None,
        shots: int | None = None,
        chat_template: bool | None = None,
        preset: Literal["published"] | None = None,
        sample: str | int | None = None,
        providers: str | Path | None = None,
        dry_run: bool = False,
        max_cost: float | None = None,
        offline: bool = False,
        allow: Sequence[str] = (),
        allow_phi: bool = False,
        progress: "Callable[[Tally, int], None] | None" = None,
    ) -> Finding:
        """Ask models every question, and store each answer as it comes; again, it goes on from there.

        Settings from `temperature` to `chat_template` are for every model whose spec does not state them;
        `preset` fills in those that the benchmark was published with. `sample` asks a share ("10%") or a
        number of questions, by category, and estimates weigh them. `dry_run` asks nobody and says what would
        be asked. `offline` reaches nothing but this machine; a credentialed benchmark goes to the hosts of
        `allow` only; items that look like patient data leave this machine only with `allow_phi`.
        """
        from vivavoce.collect import Privacy, collect, order, plan
        from vivavoce.collect.told import done, planned

        _one_by_one("models", models)
        wanted = order(
            benchmark, models, repeats=repeats, preset=preset, sample=None if sample is None else str(sample),
            providers=None if providers is None else Path(providers), temperature=temperature, top_p=top_p,
            max_tokens=max_tokens, seed=seed, system=system, prompt=None if prompt is None else str(prompt),
            shots=shots, chat_template=chat_template,
        )  # fmt: skip
        if dry_run:
            return planned(wanted, plan(self.file, wanted))
        privacy = Privacy(offline, allow_phi, tuple(allow))
        found = collect(self.file, wanted, privacy=privacy, max_cost=max_cost, progress=progress)
        return done(found.tally, str(self.file.path), look=found.look)

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

    def import_scores(
        self,
        file: str | Path,
        *,
        measure: str,
        map: Mapping[str, str] | None = None,
        set: Mapping[str, str] | None = None,
        criteria: Sequence[str] = (),
        where: Mapping[str, str] | None = None,
        status: str | None = None,
        blank: Literal["unanswered", "recorded"] = "unanswered",
        range: Mapping[str, tuple[float | None, float | None]] | None = None,
        direction: Mapping[str, str] | None = None,
        if_unanswered: Mapping[str, str] | None = None,
        benchmark: str | None = None,
    ) -> ImportedScores:
        """Store marks that judges or people gave elsewhere to answers of this run; all of them or none.

        `measure` is a spec kept as a label. Wide files have a column per criterion (`criteria`), long ones
        `criterion` and `value`. `where` keeps rows, `status` names the column whose word must be ok. `range`,
        `direction` and `if_unanswered` declare criteria by name, or all under '*'. `blank` says whether marks
        of blank answers count; rows on other items of `benchmark` are skipped.
        """
        declared: dict[str, dict[str, Any]] = {}
        for name, (low, high) in (range or {}).items():
            declared.setdefault(name, {}).update(low=low, high=high)
        for field, given in (("direction", direction), ("if_unanswered", if_unanswered)):
            for name, word in (given or {}).items():
                declared.setdefault(name, {})[field] = word
        chosen = [criteria] if isinstance(criteria, str) else criteria
        asked = {column: str(wanted) for column, wanted in (where or {}).items()}
        layout = Layout(map or {}, set or {}, chosen, asked, status, blank)
        return import_scores(
            self.file, Path(file), measure=measure, layout=layout, declared=declared, benchmark=benchmark
        )

    def score(
        self, *metrics: str, items: str | None = None, worst_at: int | None = None,
        tail: float | None = None, veto: Sequence[str] = (), progress: Progress | None = None,
    ) -> Finding:  # fmt: skip
        """Mark every answer not marked yet and return the estimates of these metrics.

        `items` is a benchmark's spec that restricts what is marked and estimated. `worst_at`, `tail` and
        `veto` are as in `estimates`.
        """
        bad = bad_ends(worst_at, tail, veto)
        if not metrics:
            raise catalogue.unnamed(self.items["format"].unique() if self.file.exists else ())
        _one_by_one("metrics", metrics)
        made = catalogue.metrics_of(metrics, self.measures)
        candidates_of(self.file)
        chosen = items_of(self.file, items)
        marked = score(self.file, made, items=chosen, progress=progress)
        marks = self._marks([m.signature for metric in made for m in measures_of(metric)], chosen)
        finding = self._estimates(marks, chosen, bad)
        notes = (*filter(None, map(_left_out, marked)), *finding.notes)
        return replace(finding, study="score", notes=notes)

    def estimates(
        self, metric: str | None = None, *, items: str | None = None, worst_at: int | None = None,
        tail: float | None = None, veto: Sequence[str] = (),
    ) -> Finding:  # fmt: skip
        """What each candidate scored, with intervals, bounds and coverage; of one metric or of all.

        Asked for, further rows stand beside the means, told apart by `view`: the worst of `worst_at` answers
        to a question; the mean of the worst share `tail` of the questions; and the mean with every answer
        over a red line at the worst, red lines being texts such as "judge[harm] >= 3" or "exact < 1".
        """
        bad, chosen = bad_ends(worst_at, tail, veto), items_of(self.file, items)
        return self._estimates(self._marks(signatures_of(self.file, metric), chosen), chosen, bad)

    def compare(
        self,
        *candidates: str,
        metric: str,
        margin: float | None = None,
        against: str | None = None,
        population: Literal["sample", "fixed"] = "sample",
        items: str | None = None,
    ) -> Finding:
        """Compare candidates on the items they share; every call is counted as a look at this run.

        Two or three are compared in all pairs, four or more each with the first, all with `against` if it is
        given. `margin` is the least difference that matters, in the metric's units. `population`: whether the
        items are a sample of questions like these, or the exam is fixed and only repeats vary.
        """
        from vivavoce.studies.compare import compare

        _one_by_one("candidates", candidates)
        known = candidates_of(self.file)
        reference = None if against is None else candidate_of(against, known)
        names = [candidate_of(name, known) for name in candidates]
        names += [reference] if reference and reference not in names else []
        if len(dict.fromkeys(names)) < max(2, len(names)):
            raise SelectionError(
                f"compare takes two or more different candidates. Known: {', '.join(known)}."
            )
        marks = self._marks(signatures_of(self.file, metric), items_of(self.file, items), candidates=names)
        if not marks.scores.height:
            there = "" if items is None else f" on the items of {items}"
            raise SelectionError(
                f"none of these candidates has marks by {metric}{there}: `viva score {self.file.path}` first."
            )
        looks = self._read(read.looks) + 1
        finding = compare(marks.scores, marks.measures, names, margin=margin, looks=looks,
                          against=reference, population=population)  # fmt: skip
        settings = {"candidates": names, "metric": metric, "margin": margin, "items": items,
                    "against": reference, "population": population}  # fmt: skip
        return self._keep("compare", settings, finding)

    def study(
        self, *studies: str, items: str | None = None, cards: str | Path | None = None
    ) -> dict[str, Finding]:
        """What studies find in the marks of this run, by name; without a name, all of them.

        agreement, consistency, correlation, gaps, ranking, size. Findings are kept in the run. Size needs to
        know the candidates' parameters and bases: `cards` is a YAML file that adds to the cards we have, and
        without a name it is left out where no candidate has a card.
        """
        _one_by_one("studies", studies)
        for name in studies:
            if name not in STUDIES:
                raise SelectionError(f"no study named {name!r}.{suggest(name, list(STUDIES))}")
        chosen = items_of(self.file, items)
        marks = self._marks(None, chosen)
        if not marks.scores.height:
            raise SelectionError(f"nothing has been marked in {self.file.path} yet: `viva score` does that.")
        marks = marks._replace(identical=identical_repeats(within(self.responses, chosen)))
        if cards is not None and studies and "size" not in studies:
            raise SelectionError("models' cards (--cards) are read by the study of size alone.")
        wanted = list(studies or STUDIES)
        if "size" in wanted:
            marks = self._carded(marks, None if cards is None else Path(cards))
            if not (studies or marks.cards):
                wanted.remove("size")
        found = {name: import_module(f"vivavoce.studies.{name}").findings(marks) for name in wanted}
        return {
            name: self._keep(name, {"items": items, "text": str(finding)}, finding)
            for name, finding in found.items()
        }

    def merge(self, *runs: str | Path) -> tuple[Merged, ...]:
        """Bring other runs' items, answers, marks and findings into this one, each all or nothing."""
        return tuple(merge(self.file, RunFile(Path(other))) for other in runs)

    def status(self) -> Finding:
        """What is here, told apart by `about`: marks with what is missing and why, and calls to models."""
        from vivavoce.store.calls import spent
        from vivavoce.studies.status import status

        responses = self.responses
        marks = self._marks(None, None)
        return status(responses, marks.scores, marks.measures, self._read(spent))

    def report(
        self, to: str | Path | None = None, *, items: str | None = None, plots: str | Path | None = None,
        redact: bool = False,
    ) -> Path:  # fmt: skip
        """Write the report as one HTML file, by default beside the run, and return its path.

        `plots` is a folder that gets every chart as an SVG file of its own. `redact` puts marks in place of
        the texts of questions, answers and notes.
        """
        return Path(self.report_rows(to, items=items, plots=plots, redact=redact)[0]["path"])

    def report_rows(
        self, to: str | Path | None = None, *, items: str | None = None, plots: str | Path | None = None,
        redact: bool = False,
    ) -> list[dict[str, Any]]:  # fmt: skip
        """Write the report, and return the numbers that stand in it as rows, each under its `section`.

        The first row, of the section `file`, holds the file's `path` and `bytes`.
        """
        from vivavoce.report import Contents, write

        path = Path(to) if to else self.file.path.with_suffix(".html")
        if path.exists() and self.file.exists and path.samefile(self.file.path):
            raise StoreError(f"{path} is the run itself: give the report another path with --to.")
        chosen = items_of(self.file, items)
        marks = self._marks(None, chosen)
        with self.file.reading() as db:
            contents = Contents(
                name=self.file.path.name,
                items=within(read.items(db), chosen),
                responses=within(read.responses(db), chosen),
                scores=marks.scores,
                measures=marks.measures,
                estimates=self._estimates(marks, chosen).rows,
                comparisons=tuple(read.findings(db, "compare")),
                benchmarks=tuple(read.benchmarks(db)),
                provenance=tuple(read.provenance(db)),
                selection=items,
                studies={name: tuple(read.findings(db, name)) for name in STUDIES},
                redact=redact,
            )
        return write(contents, path, plots=None if plots is None else Path(plots))

    def export(
        self,
        to: str | Path,
        *,
        format: Literal["parquet", "csv", "run"],
        items: str | None = None,
        table: Sequence[str] = (),
        redact: bool = False,
    ) -> tuple[Exported, ...]:
        """Write the run for others: its tables to a folder, or the chosen items to a run file of their own.

        `table` names some of items, responses, scores, estimates, measures, benchmarks, findings, provenance
        and calls, by default all. In csv, a text that a spreadsheet could run gets an apostrophe before it.
        `redact` puts marks in place of the texts of questions, answers and notes. An earlier export is
        replaced, and nothing else.
        """
        chosen = items_of(self.file, items)
        return export(
            *(self.file, Path(to), format),
            tables=(table,) if isinstance(table, str) else table,
            selection=(items, chosen),
            redact=redact,
            estimates=lambda: self._estimates(self._marks(None, chosen), chosen).rows,
        )

    def copy(self, to: str | Path) -> Path:
        """Write a compact copy of the run to a path where nothing lies yet."""
        self.file.copy(Path(to))
        return Path(to)


def _one_by_one(what: str, given: Sequence[object]) -> None:
    """Raise `SelectionError` for a list, or what is no text: `run.score("a", "b")` takes them singly."""
    for one in given:
        if not isinstance(one, str | specs.Spec):
            raise SelectionError(
                f"{what} are given one by one, as texts, not as {type(one).__name__}: {one!r}."
            )


def _left_out(marked: Marked) -> str:
    """The line on items that a metric does not mark."""
    n = sum(marked.not_marked.values())
    forms = ", ".join(f"{count} {form}" for form, count in sorted(marked.not_marked.items()))
    return f"{marked.metric} does not mark {n} of the items ({forms})." if n else ""
