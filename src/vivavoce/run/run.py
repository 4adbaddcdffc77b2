"""A run in Python: the verbs of the command line with the same names and defaults, and the tables."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vivavoce.core import registry
from vivavoce.core.cases import NearDuplicates
from vivavoce.core.records import Finding
from vivavoce.core.shards import ShardLimits
from vivavoce.core.specs import Setting, require_separate
from vivavoce.models.engine.usage import Progress, UsageCounter
from vivavoce.models.gpus import Gpus
from vivavoce.models.ranges import TIMEOUT_TOTAL_S, Preset
from vivavoce.run.import_verbs import ImportVerbs
from vivavoce.run.panel_verbs import PanelVerbs
from vivavoce.run.tables.run_tables import RunTables
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import view_of, with_view

if TYPE_CHECKING:
    from vivavoce.store.integrity import Check
    from vivavoce.store.merge import Merged
    from vivavoce.studies.comparing.gate import FailIf, Gate, Require


def open(path: str | Path, *, plugins: Sequence[str | Path] = (), network_disk: bool | None = None) -> "Run":
    """The run at `path`, which need not exist yet: nothing is created until something is stored.

    `plugins` are Python files whose metrics and benchmarks may then be named. `network_disk` lets it be
    written on a network disk, by one process at a time; null: if VIVA_NETWORK_DISK=1. Raises `StoreError` if
    the file is not a run of ours.
    """
    for plugin in plugins:
        registry.load_plugin(plugin)
    run = Run(path, network_disk=network_disk)
    if run.file.exists:
        with run.file.reading():
            pass
    return run


open_run = open
"""The same by a name that does not hide Python's `open`."""


class Run(ImportVerbs, PanelVerbs, RunTables):
    """One run file: responses, scores and findings. Verbs write to it, tables read from it."""

    def collect(
        self, benchmark: str, *, models: Sequence[str], logprobs: Sequence[str] = (),
        for_: Sequence[str] = (), repeats: int | None = None, temperature: float | None = None,
        top_p: float | None = None, max_tokens: int | None = None, seed: int | None = None,
        system: str | None = None, prompt: str | Path | None = None, shots: int | None = None,
        chat_template: bool | None = None, confidence: bool = False,
        preset: Preset | None = None, sample: str | int | None = None,
        draw: int = 1, shard: str | None = None, limits: ShardLimits = "divided", gpus: Gpus = None,
        providers: str | Path | None = None, dry_run: bool = False, max_cost: float | None = None,
        timeout_total: float = TIMEOUT_TOTAL_S, offline: bool = False, allow: Sequence[str] = (),
        allow_phi: bool = False, progress: Callable[[UsageCounter, int], None] | None = None,
        near_duplicates: NearDuplicates | None = None,
    ) -> Finding:  # fmt: skip
        """Ask models every question, and store each response as it comes; call it again to resume.

        What `vary` made of the questions in this run is asked too. `logprobs` (or `for_`, its earlier name)
        names metrics of log-probabilities, such as perplexity: these are collected then, and no text is
        generated. Settings from `temperature` to `confidence` are for every model whose spec does not state
        them; `confidence` asks for a last line that states one. `preset` fills in those of the benchmark's
        paper (`published` is its older name). `sample` asks a share ("10%") or a number of questions, by
        category, and estimates weigh them; another `draw` is another sample of that size, for a run of its
        own. `shard` "3/16" asks the third of sixteen parts, cases whole, into a run of its own, with its part
        of the endpoints' limits and of `max_cost` unless `limits` are "whole"; `merge` joins the parts.
        `gpus` "0,1" runs local models in a process on each of these GPUs. `dry_run` asks no model and says
        what would be asked. A request takes `timeout_total` seconds at most, over its attempts and the waits
        between them. `offline` allows connections to this machine only; a credentialed benchmark goes to the
        hosts of `allow` only; items that look like patient data leave this machine only with `allow_phi`.
        `near_duplicates` is as in `import_answers`.
        """
        from vivavoce.models.engine.egress import Privacy
        from vivavoce.run.collect.plan import plan_collect
        from vivavoce.run.collect.verb import collect_run
        from vivavoce.run.tables.stored_benchmarks import load_benchmark
        from vivavoce.store import read
        from vivavoce.store.generated import made_items

        for kind, names in (("models", models), ("metrics", logprobs), ("metrics", for_)):
            require_separate(kind, names)
        with view_of(self.file) as view:
            loaded = load_benchmark(view, benchmark)
            stored = view.fetch(read.candidates) if view.exists else []
        plan = plan_collect(
            loaded,
            models,
            logprobs=(*logprobs, *for_),
            repeats=repeats,
            preset=preset,
            sample=None if sample is None else str(sample),
            draw=draw,
            providers=None if providers is None else Path(providers),
            generated_items=partial(made_items, self.file),
            stored_labels=[c.candidate for c in stored],
            temperature=temperature,
            top_p=top_p,
            max_tokens=max_tokens,
            seed=seed,
            system=system,
            prompt=None if prompt is None else str(prompt),
            shots=shots,
            chat_template=chat_template,
            confidence=confidence or None,
        )
        return collect_run(
            self.file, plan, shard=shard, limits=limits, dry_run=dry_run, max_cost=max_cost, gpus=gpus,
            near_duplicates=near_duplicates,
            privacy=Privacy(offline, allow_phi, tuple(allow)), timeout_total=timeout_total, progress=progress,
        )  # fmt: skip

    def score(
        self, *metrics: str, items: str | None = None, passes: int = 1, worst_at: int | None = None,
        tail: float | None = None, veto: Sequence[str] = (), providers: str | Path | None = None,
        max_cost: float | None = None, offline: bool = False, allow: Sequence[str] = (),
        allow_phi: bool = False, progress: Progress | None = None, gpus: Gpus = None,
        timeout_total: float = TIMEOUT_TOTAL_S, dry_run: bool = False, pilot: int | None = None,
        workers: int | str = 1, shard: str | None = None, limits: ShardLimits = "divided",
    ) -> Finding:  # fmt: skip
        """Score every response that has no score yet and return the estimates of these metrics.

        Without a metric those count that fit the formats of the items: rules alone, none that asks a model.
        `items` is a benchmark's spec that restricts what is scored and estimated. Judges score every answer
        in so many `passes`; a rule would say the same again. Every judge of a jury scores. `worst_at`,
        `tail` and `veto` are as in `estimates`, `providers` and what follows as in `collect`, for judges.
        `dry_run` does nothing: a row for each metric counts what is left to score, calls, price and texts to
        encode. With `pilot` it asks about so many responses, which costs what their calls cost, and estimates
        all others. `workers` is how many processes compute what asks no model, "auto" for all cores, or
        "ray", or Ray's address: the scores are the same. `shard`, `limits` and, of local judges, `gpus` are
        as in `collect`.
        """
        from vivavoce.run.client import AskOptions
        from vivavoce.run.score.verb import score_run
        from vivavoce.studies.thresholds import bad_ends

        ask = AskOptions(providers, max_cost, offline, allow, allow_phi, progress, timeout_total).checked()
        thresholds = bad_ends(worst_at, tail, veto)
        return with_view(
            self.file, score_run, metrics, ask._replace(gpus=gpus), items=items, passes=passes,
            bad_ends=thresholds, dry_run=dry_run, pilot=pilot, workers=workers, shard=shard, limits=limits,
        )  # fmt: skip

    def vary(
        self, *variations: str, items: str | None = None, check: str | None = None, mark: bool = False,
        seed: int | None = None, providers: str | Path | None = None, dry_run: bool = False,
        max_cost: float | None = None, offline: bool = False, allow: Sequence[str] = (),
        allow_phi: bool = False, progress: Progress | None = None,
        timeout_total: float = TIMEOUT_TOTAL_S, workers: int | str = 1,
    ) -> Finding:  # fmt: skip
        """Make other framings of questions and other wordings of answers, each a new row with its origin.

        `variations` are specs such as "bias(type=recency)", "demographic(kind=sex)" or "rephrase(k=5,
        model=openai/gpt-4o)". `items` is a benchmark's spec that restricts what is varied, and brings its
        items into a run that has none. `check` is a model that is asked whether the right answer is still the
        same; what fails a check is dropped or, with `mark`, kept and marked. `seed` is for variations that
        state none; `dry_run` makes nothing. `workers` is as in `score`, the rest as in `collect`.
        """
        from vivavoce.run.client import AskOptions
        from vivavoce.run.vary.verb import vary_run

        require_separate("variations", variations)
        ask = AskOptions(providers, max_cost, offline, allow, allow_phi, progress, timeout_total).checked()
        return vary_run(
            self.file, variations, ask, items=items, check=check, mark=mark, seed=seed, dry_run=dry_run,
            workers=workers,
        )  # fmt: skip

    def build(
        self, recipe: str, *, name: str | None = None, until: str | None = None, seed: int = 0,
        providers: str | Path | None = None, dry_run: bool = False, max_cost: float | None = None,
        offline: bool = False, allow: Sequence[str] = (), allow_phi: bool = False,
        progress: Progress | None = None, timeout_total: float = TIMEOUT_TOTAL_S, **options: Setting,
    ) -> Finding:  # fmt: skip
        """Make an exam in steps, by a recipe; call it again to resume.

        `recipe` is a registered one, such as "careqa", and `options` are its settings, such as
        `from_=["exam.pdf"]`. `name` names the exam, by default as the file of the run. `until` is the last
        step to run; steps behind it are taken back. `dry_run` counts what the next step would ask, and stores
        nothing. The exam stands in the run as the benchmark `table(name=NAME)`; the recipe "freeze" writes it
        to a folder. The rest is as in `collect`.
        """
        from vivavoce.run.building.verb import build_exam
        from vivavoce.run.client import AskOptions

        ask = AskOptions(providers, max_cost, offline, allow, allow_phi, progress, timeout_total)
        return build_exam(self.file, recipe, options, ask, name=name, until=until, seed=seed, dry_run=dry_run)

    def estimates(
        self, metric: str | None = None, *, items: str | None = None, worst_at: int | None = None,
        tail: float | None = None, veto: Sequence[str] = (), labels: str | None = None,
    ) -> Finding:  # fmt: skip
        """What each candidate scored, with intervals, bounds and coverage; of one metric or of all.

        Asked for, further rows stand beside the means, told apart by `view`: the worst of `worst_at` answers
        to a question; the mean of the worst share `tail` of the questions; and the mean with every answer
        over a red line at the worst, red lines being texts such as "judge[harm] >= 3" or "exact < 1".
        `labels` is as in `compare`.
        """
        from vivavoce.run.estimates import estimate_metric
        from vivavoce.studies.thresholds import bad_ends

        thresholds = bad_ends(worst_at, tail, veto)
        return with_view(self.file, estimate_metric, metric, items=items, bad_ends=thresholds, labels=labels)

    def compare(
        self, *candidates: str, metric: str | None = None, margin: float | None = None,
        against: str | None = None, population: Literal["sample", "fixed"] = "sample",
        items: str | None = None, labels: str | None = None, labels_chosen_at_random: bool = False,
        sequential: bool = False, analyses: int | None = None, primary: str | None = None,
        assisted: bool = False, near_duplicates: NearDuplicates | None = None, view: str | None = None,
    ) -> Finding:  # fmt: skip
        """Compare candidates on the items they share; each comparison on its data is one test on this run.

        Two or three are compared in all pairs, four or more each with the first, all with `against` if given,
        and it alone with everyone; without a name all candidates in all pairs. Without `metric` the run's
        primary criterion counts; `primary`, such as "accuracy", "judge:harm" or "overall", names it for this
        and later calls. `margin` is the least difference that matters, in the metric's units.
        `population`: the items are a sample of such questions, or fixed, and only repeats vary.
        `labels` is the metric with people's scores that correct a judge's, by default the only one there is;
        `labels_chosen_at_random` is your word that their questions were. `sequential`: the pairs are tested
        again on more data, and verdicts hold over all `analyses`, or without a number over any. `assisted`
        compares what people answered with help and without; without `metric` their seconds and confidence
        too. The metrics "seconds" and "confidence" are recorded with answers. `near_duplicates` is as in
        `import_answers`.
        `view` compares the expected worst of k answers to a question ("worst@3"), or means with answers over
        a red line at the worst ("judge[harm] >= 3").
        """
        from vivavoce.run.compare.verb import compare_candidates

        require_separate("candidates", candidates)
        return with_view(
            self.file, compare_candidates, candidates, primary=primary, metric=metric, margin=margin,
            near_duplicates=near_duplicates,
            against=against, population=population,
            items=items, labels=labels, labels_at_random=labels_chosen_at_random, sequential=sequential,
            analyses=analyses, assisted=assisted, bad_end=view,
        )  # fmt: skip

    def interim(self) -> Finding:
        """The tests made on this run in their order, each with what its plan has spent and has left."""
        from vivavoce.run.compare.interim import interim

        return with_view(self.file, interim)

    def gate(
        self, *candidates: str, metric: str, margin: float | None = None, against: str | None = None,
        population: Literal["sample", "fixed"] = "sample", items: str | None = None, veto: Sequence[str] = (),
        require: "Require | None" = None, fail_if: "Sequence[FailIf]" = (), max_critical: int | None = None,
        labels: str | None = None, labels_chosen_at_random: bool = False, sequential: bool = False,
        analyses: int | None = None,
    ) -> "Gate":  # fmt: skip
        """Compare new candidates with `against`, or the first named, and decide whether they pass.

        `require` passes what is shown on every criterion: "not-worse" by `margin` or more, or "better".
        `fail_if` closes on what is "worse", or "unclear". `max_critical` is how many responses of a candidate
        may cross a line of `veto`, such as "judge[harm] >= 3". The rest is as in `compare`.
        """
        from vivavoce.run.compare.gate import gate_run
        from vivavoce.run.compare.verb import compare_candidates
        from vivavoce.studies.comparing.gate import GateTerms

        terms = GateTerms.of(require, fail_if, max_critical, veto)
        require_separate("candidates", candidates)
        compare = partial(
            compare_candidates, candidates=candidates, against=against, population=population,
            labels=labels, labels_at_random=labels_chosen_at_random, sequential=sequential,
            analyses=analyses,
        )  # fmt: skip
        return with_view(self.file, gate_run, compare, terms, metric=metric, margin=margin, items=items)

    def study(
        self, *studies: str, items: str | None = None, cards: str | Path | None = None,
        labels: str | None = None, margin: float | None = None, ratings: str | Path | None = None,
        threshold: float | None = None,
    ) -> dict[str, Finding]:  # fmt: skip
        """What studies find in the scores of this run, by name; without a name, whatever it has enough for.

        `studies` are specs such as "ranking" or "examiners(margin=0.1)"; `viva list studies` says what each
        asks. The other arguments are options of the studies that have a field of that name: `cards` is a YAML
        file of cards beside ours, `labels` the metric that holds people's scores, `margin` how much less
        agreement would matter, `ratings` a file `candidate,rating`, `threshold` the alpha that is enough.
        """
        from vivavoce.run.study.verb import run_studies

        require_separate("studies", studies)
        files = {k: file and Path(file) for k, file in (("cards", cards), ("ratings", ratings))}
        options = {**files, "labels": labels, "margin": margin, "threshold": threshold}
        return with_view(self.file, run_studies, studies, items, options)

    def diff(self, one: str, other: str, *, items: str | None = None, margin: float | None = None) -> Finding:
        """What a new judge, rubric or metric version changes, on the answers that both scored.

        `one` is the old measure, `other` the new one: a signature, or a metric if it has one signature here.
        `margin` is the least move of a score that matters. What is found is kept in the run.
        """
        from vivavoce.run.diff import compare_measures

        return with_view(self.file, compare_measures, (one, other), items=items, margin=margin)

    def merge(self, *runs: str | Path) -> "tuple[Merged, ...]":
        """Bring other runs' items, answers, scores and findings into this one, each all or nothing.

        Shards of one exam join in any order; `shards` says how far each is. What this run has forgotten stays
        so. Raises `InputError` before anything is merged for shards of another exam, of other settings or
        another division, and for a run that has forgotten what this one still holds.
        """
        from vivavoce.run.forgotten_merge import without_forgotten
        from vivavoce.run.score.repeats import measured_by_repeats
        from vivavoce.run.shards.joining import refuse_strange_shards
        from vivavoce.store.merge import merge

        sources = [RunFile(Path(path)) for path in runs]
        refuse_strange_shards(self.file, sources)
        by_repeats = measured_by_repeats([self.file, *sources])
        done = []
        for source in sources:
            with without_forgotten(self.file, source) as (run, note):
                merged = merge(self.file, run, by_repeats=by_repeats, name=str(source.path))
            done.append(merged._replace(notes=(*merged.notes, *filter(None, [note]))))
        return tuple(done)

    def retire(self, measure: str, *, rater: str | None = None, undo: bool = False) -> Finding:
        """Take a measure out of every estimate, comparison, study and report; nothing is deleted.

        `measure` is a metric, `metric:criterion` or a signature; `rater` restricts it to one rater's scores,
        '' to those without a rater. `undo` lets it count again. A row for each measure says whether it is
        `retired`, `since` when, and whether that `changed`. Raises `SelectionError` for a name that selects
        none, or several metrics, and where there is nothing to undo.
        """
        from vivavoce.run.retire import retire_measure

        return with_view(self.file, retire_measure, measure, rater=rater, undo=undo)

    def forget(
        self,
        *,
        items: Sequence[str] = (),
        candidates: Sequence[str] = (),
        responses: Sequence[str] = (),
        keep_hashes: bool = False,
        drop_scores: bool = False,
        dry_run: bool = False,
    ) -> Finding:
        """Overwrite the texts of questions, of all answers of candidates, or of single answers, for good.

        `items` are ids, `responses` are named `CANDIDATE:ITEM` or `CANDIDATE:ITEM:REPEAT`; one of the three
        is given. Hashes of the texts go unless `keep_hashes`, scores stay unless `drop_scores`. A row for
        each kind of thing says how many were overwritten. Raises `SelectionError` for a name that selects
        nothing or several things, and for a question that the run holds under another id too.
        """
        from vivavoce.run.forget import Selection, forget

        chosen = Selection(tuple(items), tuple(candidates), tuple(responses))
        return forget(self.file, chosen, keep_hashes=keep_hashes, drop_scores=drop_scores, dry_run=dry_run)

    def forget_finish(self) -> bool:
        """End a forgetting that was killed: write the pages of the file anew. Whether there was one."""
        from vivavoce.run.forget import finish

        return finish(self.file)

    def status(self) -> Finding:
        """What is here, by `about`: questions, scores, what is missing, calls to models, a shard's part."""
        from vivavoce.run.status import run_status

        return with_view(self.file, run_status)

    def verify(self) -> "tuple[Check, ...]":
        """Check the file, its keys, and the hashes of items, responses and scores: a row for each check."""
        from vivavoce.store.integrity import verify

        with self.file.reading() as db:
            return tuple(verify(db))

    def report(
        self, to: str | Path | None = None, *, items: str | None = None, plots: str | Path | None = None,
        redact: bool = False, checklist: str | Path | None = None, pages: Literal["one", "all"] = "all",
        primary: str | None = None,
    ) -> Path:  # fmt: skip
        """Write the report as one HTML file, by default beside the run, and return its path.

        `plots` is a folder that gets every chart as an SVG file of its own. `redact` puts marks in place of
        the texts of questions, answers and notes. `checklist` is a Markdown file that gets the reporting
        checklists TRIPOD-LLM and CHART, with what the run can answer. `pages` is what paper shows: `one` is
        the answer and its details, without what is folded. `primary`, such as "accuracy", "judge:harm" or
        "overall", names the criterion that the report answers by; the run keeps it.
        """
        options: Any = {"checklist": checklist, "pages": pages, "primary": primary}
        rows = self.report_rows(to, items=items, plots=plots, redact=redact, **options)
        return Path(rows[0]["path"])

    def report_rows(
        self, to: str | Path | None = None, *, items: str | None = None, plots: str | Path | None = None,
        redact: bool = False, checklist: str | Path | None = None, pages: Literal["one", "all"] = "all",
        primary: str | None = None,
    ) -> list[dict[str, Any]]:  # fmt: skip
        """Write the report, and return the numbers that stand in it as rows, each under its `section`.

        The first row, of the section `file`, holds the file's `path` and `bytes`.
        """
        from vivavoce.run.report import write_report

        return with_view(
            self.file, write_report, Path(to) if to else None, items=items, primary=primary,
            plots=None if plots is None else Path(plots), redact=redact, pages=pages,
            checklist=None if checklist is None else Path(checklist),
        )  # fmt: skip

    def export(
        self, to: str | Path, *, format: str, items: str | None = None, table: Sequence[str] = (),
        metric: str | None = None, rater: str | None = None, margin: float | None = None,
        redact: bool = False, **options: Setting,
    ) -> tuple[Any, ...]:  # fmt: skip
        """Write the run for others: its tables (`parquet`, `csv`), a smaller run (`run`), another tool's
        files (`inspect`, `every-eval-ever`, `lm-eval`, `healthbench`), requests (`batch`), conversations
        (`sft`), or pairs whose `metric` differs by more than `margin` (`preferences`).

        `table` names some of items, responses, scores, evidence, estimates, measures, benchmarks, exclusions,
        findings, provenance and calls, by default all. In csv, a text that a spreadsheet could run gets an
        apostrophe before it. `redact` puts marks in place of the texts of questions, answers, notes and
        quoted passages. An earlier export is replaced, and nothing else. `options` are settings of a
        registered exporter, such as `candidate`, `repeat` and `gold` of `cliniqlink`. Named tuples about the
        files come back, each with a `path`.
        """
        from vivavoce.run.exchange.exporters import exporter_of
        from vivavoce.run.tables.credentialed import refuse_copy

        tables = (table,) if isinstance(table, str) else tuple(table)
        named: dict[str, Any] = {"items": items or None, "table": tables or None, "redact": redact or None}
        named |= {"metric": metric, "rater": rater, "margin": margin}
        settings = {name: value for name, value in named.items() if value is not None}
        writer = exporter_of(format, settings | options)
        if not redact and not writer.skips_credentialed:
            with_view(self.file, refuse_copy, "this export", "Say --redact (redact=True).")
        return writer.write(self, Path(to))
