"""The verbs of a run that may ask models: candidates to answer, judges to mark, others to reword."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from vivavoce import catalogue, net, registry, specs
from vivavoce.errors import InputError, SelectionError, VivaError
from vivavoce.metrics import Metric, probe_of, rater
from vivavoce.metrics.jury import Jury
from vivavoce.records import Finding
from vivavoce.run.opened import Opened
from vivavoce.score import Marked, bound, measures_of, score
from vivavoce.selection import ItemKey, candidates_of, items_of
from vivavoce.store import read
from vivavoce.store.made import made_items
from vivavoce.studies.vetoes import bad_ends
from vivavoce.tables import within

if TYPE_CHECKING:
    from vivavoce.ask import Desk, Tally

__all__ = ["Asking", "Progress", "one_by_one"]

Progress = Callable[[str, int, int], None]


class Asking(Opened):
    """A run, and whoever answers, marks or rewords for it."""

    def collect(
        self,
        benchmark: str,
        *,
        models: Sequence[str],
        for_: Sequence[str] = (),
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

        What `vary` made of the questions in this run is asked with them. `for_` names metrics that mark
        probabilities, such as perplexity: these are asked for then, and no answers in words.
        Settings from `temperature` to `chat_template` are for every model whose spec does not state them;
        `preset` fills in those that the benchmark was published with. `sample` asks a share ("10%") or a
        number of questions, by category, and estimates weigh them. `dry_run` asks nobody and says what would
        be asked. `offline` reaches nothing but this machine; a credentialed benchmark goes to the hosts of
        `allow` only; items that look like patient data leave this machine only with `allow_phi`.
        """
        from vivavoce.collect import Privacy, collect, order, plan
        from vivavoce.collect.told import done, planned

        one_by_one("models", models)
        one_by_one("metrics", for_)
        wanted = order(
            benchmark, models, for_=for_, repeats=repeats, preset=preset,
            sample=None if sample is None else str(sample),
            providers=None if providers is None else Path(providers), temperature=temperature, top_p=top_p,
            max_tokens=max_tokens, seed=seed, system=system, prompt=None if prompt is None else str(prompt),
            shots=shots, chat_template=chat_template, made=partial(made_items, self.file),
        )  # fmt: skip
        if dry_run:
            return planned(wanted, plan(self.file, wanted))
        privacy = Privacy(offline, allow_phi, tuple(allow))
        found = collect(self.file, wanted, privacy=privacy, max_cost=max_cost, progress=progress)
        return done(found, str(self.file.path))

    def score(
        self, *metrics: str, items: str | None = None, passes: int = 1, worst_at: int | None = None,
        tail: float | None = None, veto: Sequence[str] = (), providers: str | Path | None = None,
        max_cost: float | None = None, offline: bool = False, allow: Sequence[str] = (),
        allow_phi: bool = False, progress: Progress | None = None,
    ) -> Finding:  # fmt: skip
        """Mark every answer not marked yet and return the estimates of these metrics.

        `items` is a benchmark's spec that restricts what is marked and estimated. Judges mark every answer in
        so many `passes`; a rule would say the same again. Of a jury every judge marks. `worst_at`, `tail` and
        `veto` are as in `estimates`, `providers` and what follows as in `collect`, for judges.
        """
        bad = bad_ends(worst_at, tail, veto)
        if passes < 1:
            raise InputError(f"--passes {passes}: every answer is marked once at least.")
        if not metrics:
            raise catalogue.unnamed(self.items["format"].unique() if self.file.exists else ())
        one_by_one("metrics", metrics)
        named = catalogue.metrics_of(metrics, self.measures)
        candidates_of(self.file)
        with net.offline(offline):  # an encoder that is not here is fetched
            named = bound(self.file, named)
        juries = [metric for metric in named if isinstance(metric, Jury)]
        made = list({registry.signature(m): m for metric in named for m in _members(metric)}.values())
        chosen = items_of(self.file, items)
        wanted = self._with_made(chosen)
        with self._desk(wanted, providers, max_cost, offline, allow, allow_phi, progress) as desk:
            marked = score(self.file, made, items=wanted, passes=passes, desk=desk, progress=progress)
        marks = self._marks([m.signature for metric in made for m in measures_of(metric)], chosen)
        for jury in juries:
            marks = marks.joined(self._by(str(jury), chosen))
        finding = self._estimates(marks, chosen, bad)
        answered = candidates_of(self.file)
        asked = (f"{m.metric} has not been asked of all: `{told}`." for m in marked for told in m.commands)
        notes = (
            *filter(None, map(_left_out, marked)), *asked, *self._cut(made), *_own_marks(made, answered),
            *finding.notes,
        )  # fmt: skip
        return replace(finding, study="score", notes=notes)

    def vary(
        self, *variations: str, items: str | None = None, check: str | None = None, mark: bool = False,
        seed: int | None = None, providers: str | Path | None = None, dry_run: bool = False,
        max_cost: float | None = None, offline: bool = False, allow: Sequence[str] = (),
        allow_phi: bool = False, progress: Progress | None = None,
    ) -> Finding:  # fmt: skip
        """Make other framings of questions and other wordings of answers, each a new row with its origin.

        `variations` are specs such as "bias(type=recency)", "demographic(kind=sex)" or "rephrase(k=5,
        model=openai/gpt-4o)". `items` is a benchmark's spec that restricts what is varied, and brings its
        items into a run that has none. `check` is a model that is asked whether the right answer is still the
        same; what fails a check is dropped or, with `mark`, kept and marked. `seed` is for variations that
        state none; `dry_run` makes nothing. The rest is as in `collect`.
        """
        from vivavoce.vary import bring, vary

        one_by_one("variations", variations)
        if items is not None and not dry_run:
            bring(self.file, items)
        make = partial(vary, self.file, variations, items=items, check=check, mark=mark, seed=seed)
        if dry_run:
            return make()
        chosen = items_of(self.file, items)
        with self._desk(chosen, providers, max_cost, offline, allow, allow_phi, progress) as desk:
            return make(desk=desk)

    def _cut(self, metrics: Sequence[Metric]) -> Iterator[str]:
        """A line for each candidate of whose questions a part was left out."""
        probes = [probe_of(metric) for metric in metrics]
        for name in dict.fromkeys(probe.name if probe else "" for probe in probes):
            for candidate, n in self._read(partial(read.truncated, probe=name)).items():
                what = "1 question" if n == 1 else f"{n:,} questions"
                yield f"{candidate}: of {what} the beginning was left out to fit the model's context."

    @contextmanager
    def _desk(
        self,
        chosen: set[ItemKey] | None,
        known: str | Path | None,
        max_cost: float | None,
        offline: bool,
        allow: Sequence[str],
        allow_phi: bool,
        progress: Progress | None,
    ) -> "Iterator[Desk]":
        """Where this verb asks models, and what they may be shown of the run."""
        from vivavoce.ask import Desk
        from vivavoce.ask.egress import Privacy, guard
        from vivavoce.models.providers import providers

        with self.file.reading() as db:
            items = [
                item
                for item in read.stock(db).values()
                if chosen is None or (item.benchmark, item.item, item.variant) in chosen
            ]
            shown = {item.benchmark for item in items}
            registered = [
                b.spec
                for b in read.benchmarks(db)
                if b.card.access == "credentialed" and b.benchmark in shown
            ]
        check = guard(
            Privacy(offline, allow_phi, tuple(allow)),
            items=items,
            texts=lambda: within(self.responses.filter(probe=""), chosen)["text"].drop_nulls().unique(),
            credentialed=registered,
        )

        def heard(tally: "Tally", total: int, purpose: str) -> None:
            if progress:
                progress(f"asking ({purpose})", tally.done, total)

        with net.offline(offline):
            desk = Desk(
                self.file,
                known=providers(None if known is None else Path(known)),
                max_cost=max_cost,
                progress=heard,
                check=check,
            )
            try:
                yield desk
            finally:
                desk.release()


def _members(metric: Metric) -> tuple[Metric, ...]:
    """Those who mark: a jury's judges, else the metric itself."""
    return metric.judges if isinstance(metric, Jury) else (metric,)


def one_by_one(what: str, given: Sequence[object]) -> None:
    """Raise `SelectionError` for a list, or what is no text: `run.score("a", "b")` takes them singly."""
    if isinstance(given, str):
        raise SelectionError(f"{what} are given as a list of texts, such as [{given!r}].")
    for one in given:
        if not isinstance(one, str | specs.Spec):
            raise SelectionError(
                f"{what} are given one by one, as texts, not as {type(one).__name__}: {one!r}."
            )


def _left_out(marked: Marked) -> str:
    """The line on items that a metric does not mark."""
    n = sum(marked.not_marked.values())
    forms = ", ".join(f"{count} {form}" for form, count in sorted(marked.not_marked.items()))
    lacks = " of its formats that lack what it shows or needs" if marked.lacking else ""
    other = f", {marked.lacking}{lacks}" if 0 < marked.lacking < n else lacks
    return f"{marked.metric} does not mark {n} of the items ({forms}){other}." if n else ""


def _own_marks(metrics: Sequence[Metric], candidates: Sequence[str]) -> Iterator[str]:
    """A line for each judge that marks its own answers."""
    names = {specs.parse(c).name: c for c in candidates if "/" in c and "\n" not in c and _is_spec(c)}
    for metric in metrics:
        judge = rater(metric)
        if judge and (own := names.get(specs.parse(judge).name)):
            yield (
                f"{judge} marks its own answers, as the candidate {own}: hold its marks against another "
                "judge's, or people's."
            )


def _is_spec(text: str) -> bool:
    try:
        specs.parse(text)
    except VivaError:
        return False
    return True
