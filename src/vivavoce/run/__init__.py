"""A run in Python: the verbs of the command line with the same names and defaults, and the tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vivavoce import registry
from vivavoce.errors import SelectionError, StoreError, suggest
from vivavoce.interchange import Exported, Imported, ImportedScores, Layout, import_answers, import_scores
from vivavoce.interchange.challenge import Written, write_results
from vivavoce.interchange.exports import export
from vivavoce.records import Finding, Role
from vivavoce.run.asking import Asking, one_by_one
from vivavoce.run.tokenisers import comparable
from vivavoce.selection import candidate_of, candidates_of, items_of, signatures_of
from vivavoce.specs import signed
from vivavoce.store import RunFile, read
from vivavoce.store.merge import Merged, merge
from vivavoce.studies import PARTICULAR, STUDIES, identical_repeats
from vivavoce.studies.vetoes import bad_ends

if TYPE_CHECKING:
    from vivavoce.people import Made, Taken

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


class Run(Asking):
    """One run file: answers, marks and findings. Verbs write to it, tables read from it."""

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
        """Store the recorded answers of a jsonl, csv or parquet file, or of a folder of ClinIQLink's results.

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
        return self._estimates(self._by(metric, chosen), chosen, bad)

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

        one_by_one("candidates", candidates)
        known = candidates_of(self.file)
        reference = None if against is None else candidate_of(against, known)
        names = [candidate_of(name, known) for name in candidates]
        names += [reference] if reference and reference not in names else []
        if len(dict.fromkeys(names)) < max(2, len(names)):
            raise SelectionError(
                f"compare takes two or more different candidates. Known: {', '.join(known)}."
            )
        marks = self._by(metric, items_of(self.file, items), candidates=names)
        if not marks.scores.height:
            there = "" if items is None else f" on the items of {items}"
            raise SelectionError(
                f"none of these candidates has marks by {metric}{there}: `viva score {self.file.path}` first."
            )
        looks = self._read(read.looks) + 1
        marks, left_out = comparable(self.file, marks, names)
        if not marks.scores.height:
            raise SelectionError(left_out[0])
        finding = compare(marks.scores, marks.measures, names, margin=margin, looks=looks,
                          against=reference, population=population)  # fmt: skip
        finding = replace(finding, notes=(*finding.notes, *left_out))
        settings = {"candidates": names, "metric": metric, "margin": margin, "items": items,
                    "against": reference, "population": population}  # fmt: skip
        return self._keep("compare", settings, finding)

    def study(
        self, *studies: str, items: str | None = None, cards: str | Path | None = None,
        labels: str | None = None, margin: float | None = None,
    ) -> dict[str, Finding]:  # fmt: skip
        """What studies find in the marks of this run, by name; without a name, whatever it has enough for.

        agreement, bias, consistency, contamination, correlation, examiners, gaps, overall, panel, positions,
        ranking, rubrics, size. Findings are kept in the run. Size needs to know the candidates' parameters
        and bases, contamination until when their texts reach: `cards` is a YAML file that adds to those we
        have. Examiners and rubrics are held against people: `labels` is
        the metric that holds their marks here, and a `margin` says how much less agreement than theirs would
        matter.
        """
        one_by_one("studies", studies)
        for name in studies:
            if name not in STUDIES:
                raise SelectionError(f"no study named {name!r}.{suggest(name, list(STUDIES))}")
        carded = ("size", "examiners", "contamination")
        for option, given, readers in (("models' cards (--cards)", cards, carded),
                                       ("labels (--labels)", labels, ("examiners", "rubrics")),
                                       ("a margin (--margin)", margin, ("examiners",))):  # fmt: skip
            if given is not None and studies and not {*readers} & {*studies}:
                named = " and ".join(filter(None, (", ".join(readers[:-1]), readers[-1])))
                raise SelectionError(f"{option} are for the study of {named} alone.")
        chosen = items_of(self.file, items)
        marks = self._marks(None, chosen)
        if not marks.scores.height:
            raise SelectionError(f"nothing has been marked in {self.file.path} yet: `viva score` does that.")
        _, answers = self._exam(chosen)
        people = signatures_of(self.file, labels) or ()
        for mark in map(signed, people if labels else ()):
            if not mark.recorded or mark.spec.name in ("judge", "jury"):
                raise SelectionError(
                    f"--labels {labels}: these are no marks of people. People's marks come in with `viva "
                    "import --scores --measure NAME`, under a name that is not judge."
                )
        dated = {b.benchmark: b.card.released for b in self._read(read.benchmarks) if b.card.released}
        marks = marks._replace(
            released=dated,
            identical=identical_repeats(answers),
            answers=answers,
            people=frozenset(key for key, m in marks.measures.items() if labels and m.signature in people),
        )
        wanted = list(studies or STUDIES)
        if {*carded, "rubrics"} & {*wanted}:
            marks = self._carded(marks, None if cards is None else Path(cards))
            answered = marks.scores.filter(marks.scores["role"] == "candidate")["candidate"]
            if "size" in wanted and not (studies or {*answered.unique()} & {*(marks.cards or ())}):
                wanted.remove("size")
        whole, (marks, left_out) = marks, comparable(self.file, marks)
        found = {}
        for name in wanted:
            study = import_module(f"vivavoce.studies.{name}").findings
            if name == "bias":
                twins = self._marks(None, self._with_made(chosen), made=True)
                finding = study(marks._replace(scores=twins.scores))
            elif name == "panel":
                finding = study(self._marks(None, chosen, ranks=True))
            else:
                own = whole if name == "contamination" else marks
                finding = study(own, margin) if name == "examiners" else study(own)
            if name == "ranking":
                finding = replace(finding, notes=(*finding.notes, *left_out))
            if studies or finding.rows or name not in PARTICULAR:
                settings = {"items": items, "labels": labels, "margin": margin, "text": str(finding)}
                found[name] = self._keep(name, settings, finding)
        return found

    def make_panel(
        self, raters: Sequence[str], to: str | Path, *, items: str | None = None,
        candidates: Sequence[str] = (), n: int = 30, seed: int = 1, criterion: str | None = None,
    ) -> "Made":  # fmt: skip
        """Write for each rater a blinded packet, a page and a sheet, to the folder `to`; the key stays here.

        `n` questions are drawn by `seed`, of those that `items` selects, with the answers of `candidates` (by
        default all) and the reference answer. `criterion` says by what they are to be ranked.
        """
        from vivavoce.people import make

        one_by_one("candidates", candidates)
        chosen = items_of(self.file, items)
        return make(
            *(self.file, raters, Path(to)), items=chosen, candidates=candidates, n=n, seed=seed,
            criterion=criterion,
        )  # fmt: skip

    def read_panel(
        self, *files: str | Path, partial: bool = False, replace: bool = False
    ) -> "tuple[Taken, ...]":
        """Store the ballots that raters sent back, as the measure `panel(id=…)`; all of them or none.

        `partial` leaves out questions that are not ranked, instead of refusing the file. `replace` lets a
        ballot take the place of an earlier one that said otherwise; both are noted.
        """
        from vivavoce.people import take

        return take(self.file, [Path(file) for file in files], partial=partial, replace=replace)

    def diff(self, one: str, other: str, *, items: str | None = None, margin: float | None = None) -> Finding:
        """What a new judge, rubric or metric version changes, on the answers that both marked.

        `one` is the old measure, `other` the new one: a signature, or a metric if it has one signature here.
        `margin` is the least move of a mark that matters. What is found is kept in the run.
        """
        from vivavoce.studies.diff import diff

        sides: list[str] = []
        for named in (one, other):
            found = signatures_of(self.file, named) or []
            if len(found) != 1:
                raise SelectionError(
                    f"{named} has several versions here: name one by its signature, {' or '.join(found)}."
                )
            sides += found
        finding = diff(self._marks(sides, items_of(self.file, items)), *sides, margin=margin)
        return self._keep(
            "diff", {"one": sides[0], "other": sides[1], "items": items, "margin": margin}, finding
        )

    def merge(self, *runs: str | Path) -> tuple[Merged, ...]:
        """Bring other runs' items, answers, marks and findings into this one, each all or nothing."""
        return tuple(merge(self.file, RunFile(Path(other))) for other in runs)

    def status(self) -> Finding:
        """What is here, told apart by `about`: marks with what is missing and why, and calls to models."""
        from vivavoce.store.calls import spent
        from vivavoce.studies.status import status

        responses = self.responses
        marks = self._marks(None, None, made=True)
        return status(
            *(responses, marks.scores, marks.measures, self._read(spent)),
            only=marks.only,
            probes=marks.probes,
        )

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
        exam, answers = self._exam(chosen)
        with self.file.reading() as db:
            contents = Contents(
                name=self.file.path.name,
                items=exam,
                responses=answers,
                scores=marks.scores,
                measures=marks.measures,
                only=marks.only,
                probes=marks.probes,
                told=self._told(exam),
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

    def challenge(
        self, to: str | Path, *, candidate: str | None = None, repeat: int = 1, gold: bool = False
    ) -> tuple[Written, ...]:
        """Write a candidate's answers to ClinIQLink as the result files of a submission.

        `candidate` need not be named in a run of one. `gold` puts the key into `inputs`, as the published
        evaluation needs it. Earlier results of this candidate there are replaced, and nothing else.
        """
        return write_results(self.file, Path(to), candidate=candidate, repeat=repeat, gold=gold)

    def copy(self, to: str | Path) -> Path:
        """Write a compact copy of the run to a path where nothing lies yet."""
        self.file.copy(Path(to))
        return Path(to)
