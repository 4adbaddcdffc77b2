"""The audit of a run's quality measures: which of them deserve belief, and which small set is enough.

Each rule, embedding and judge is held against people, or against a trusted judge, which is not people. It is
also held against the other measures, the number of words, silence, and pairs of texts that say the opposite.
"""

from collections.abc import Iterator, Mapping, Sequence

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding, Measure
from vivavoce.core.registry import study
from vivavoce.core.specs import Spec
from vivavoce.studies.audit.choice import choice
from vivavoce.studies.audit.contrasts import NOT_SCORED, alike_yes_no, polarity
from vivavoce.studies.audit.figures import (
    HELD,
    LEAST_TO_INFER,
    agreement,
    clusters,
    length,
    redundancy,
    rephrasing,
    silence,
)
from vivavoce.studies.audit.responses import Responses, Yardstick, audited, responses_of
from vivavoce.studies.audit.rows import CENTRED, ONE_CALL, PEOPLE, SYSTEM, TRUSTED, WITHIN, AuditRow
from vivavoce.studies.bounded import figure_text
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.primary import measures_named
from vivavoce.studies.rater_scores import is_people, is_rated
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import ScoreTable, unweighted
from vivavoce.studies.study import Study
from vivavoce.studies.text import and_so, count, percent

NO_YARDSTICK = (
    "Nothing to hold the measures against: --labels METRIC names people's scores of this run, and "
    '"audit:trusted=judge" a judge that you trust. Without either, no measure is chosen.'
)

TELLS = 'it tells "Yes." from "No."'


KEEP = NamingSentence(
    code="audit.keep",
    templates=(
        (
            "On {benchmark} keep {measures}, held against {standard}, inside questions and candidates; "
            "{cases} report (cut {cut})."
        ),
        "Keep {measure}: r {r}.",
        "Keep {measure}: it adds to {others}.",
    ),
    names=("metric",),
    family="measures chosen on one half of the cases, in their order on the other",
    correction="fixed sequence",
    null="measures",
)
BETWEEN = NamingSentence(
    code="audit.between",
    templates=(
        "Between {candidates} on {benchmark}, by means over disjoint halves of the cases, these go with "
        "{standard}: {measures}.",
    ),
    names=("metric",),
    family="all measures of one benchmark",
    correction="Bonferroni",
    null="candidates",
)
NOT_NEEDED = NamingSentence(
    code="audit.not_needed",
    templates=(
        "Not needed: {measure}: it adds under {bound} to {others} (partial r {r}).",
        "Not needed: {measure}: it says the same as {others}.",
    ),
    names=("metric",),
    family="measures that are not kept",
    correction="Bonferroni",
    null="additions",
)
NOT_KEPT = NamingSentence(
    code="audit.not_kept",
    templates=(
        "Not kept: {measure}: it is not shown to add to {others} (partial r {r}).",
        "Not kept: {measure}: what it adds to {others} is shown on one half alone.",
    ),
    names=("metric",),
    counts="measures that were not shown to add anything",
)
MUCH_THE_SAME = NamingSentence(
    code="audit.much_the_same",
    templates=(
        "{measure} and {others} say much the same on {benchmark}: inside questions every two of "
        "them correlate above {r}.",
    ),
    names=("metric",),
    counts="correlations of the answers of this run",
)


@study("audit")
class Audit(Study):
    """Which measures deserve belief."""

    about = (
        "Which measures deserve belief: agreement with people or a trusted judge, redundancy, length, "
        'silence, whether "Yes." is told from "No.", and the small set that is enough.'
    )
    row = AuditRow
    sentences = (KEEP, BETWEEN, NOT_NEEDED, NOT_KEPT, MUCH_THE_SAME)
    special = True
    needs = ("contrasts",)
    labels: str | None = None
    trusted: str | Spec | None = None
    criterion: str | None = None
    redundant: float = 0.9
    alike: float = 0.5
    seed: int = 1

    def applies_to(self, scores: ScoreTable) -> bool:
        """Where it was not named, only with labels: without a yardstick it chooses nothing."""
        return bool(self.labels)

    def findings(self, scores: ScoreTable) -> Finding:
        """Rows by measure and part; see `AuditRow`.

        `scores.people` are the labels; `trusted` names a judge instead, such as `judge:harm`, and `criterion`
        which of several. `redundant` is the correlation inside items above which two measures say the same,
        and `alike` the share of an unrelated answer's loss below which a contradiction counts as called
        alike. `seed` cuts the cases in halves. Below 10 cases a figure is null with a reason. Raises
        `SelectionError` for a yardstick that is not there.
        """
        self._check()
        yardstick = self._yardstick(scores)
        measures, notes = audited(scores, yardstick)
        rows: list[AuditRow] = []
        answers: list[str] = []
        cards: list[str] = []
        paired: list[Measure] = []
        # Once: the study makes its rows for all benchmarks.
        wordings = list(rephrasing(scores, measures))
        for responses in responses_of(scores, measures, yardstick):
            figures = [row for row in wordings if row.benchmark == responses.benchmark]
            figures += self._figures(scores, responses)
            chosen = choice(responses, _caveats(responses, figures), self.redundant, self.seed)
            answers += (*chosen.sentences[:1], *_between_candidates(responses, figures))
            cards += chosen.sentences[1:]
            pairs = [row for row in figures if row.part == "redundancy"]
            cards += _cluster_lines(responses, pairs, self.redundant)
            for column, measure in responses.measures.items():
                # The contrast pairs are the same on every benchmark: they stand with the first.
                cards.append(_card(responses, column, figures, with_pairs=measure not in paired))
                paired.append(measure)
            rows += [*figures, *chosen.rows]
        if not rows:
            return self.finding(
                (), "No measure of this run says how good an answer is: nothing to audit.", notes
            )
        # The answer first: what to keep stands above what is known of each measure.
        opening = [] if yardstick else [NO_YARDSTICK]
        weighing = unweighted(scores.scores, "these figures count")
        lines = [*opening, *answers, *_alike_lines(scores.measures, rows), *cards]
        return self.finding(rows, "\n".join(lines), (*notes, *self._first_of(scores), *weighing))

    def _check(self) -> None:
        for name in ("redundant", "alike"):
            if not 0 < (value := getattr(self, name)) < 1:  # NaN is neither
                raise SelectionError(f"{name} {value:g}: between 0 and 1 it says something.")
        if self.labels and self.trusted:
            raise SelectionError(
                "labels and trusted: people's scores need no trusted judge; name one of the two."
            )

    def _yardstick(self, scores: ScoreTable) -> Yardstick | None:
        """People's scores, or the trusted judge's; null where none was named."""
        if self.trusted:
            keys = self._of_criterion(self._trusted(str(self.trusted), scores))
            measure = scores.measures[keys[0]]
            name = labels(scores.measures)[key_of(measure)]
            # One call gives all criteria of a judge: they agree because they were given together.
            return Yardstick(TRUSTED, name, keys[:1], frozenset([(measure.signature, measure.rater)]))
        people = {key: m for key, m in scores.measures.items() if key in scores.people}
        if not people:
            return None
        keys = self._of_criterion(people)
        return Yardstick(PEOPLE, f"{self.labels}: {people[keys[0]].criterion.criterion}", keys)

    def _of_criterion(self, measures: Mapping[int, Measure]) -> tuple[int, ...]:
        """The measures of the criterion asked for, or of the first one."""
        criteria = list(dict.fromkeys(m.criterion.criterion for m in measures.values()))
        criterion = self.criterion or criteria[0]
        if criterion not in criteria:
            raise SelectionError(f"criterion {criterion!r}: there are scores of {and_so(criteria)}.")
        return tuple(key for key, m in measures.items() if m.criterion.criterion == criterion)

    def _trusted(self, name: str, scores: ScoreTable) -> dict[int, Measure]:
        """The measures of the judge of this name."""
        judges = {key: m for key, m in scores.measures.items() if is_rated(m) and not is_people(m)}
        named = measures_named(name, scores.measures)
        if named.keys() <= judges.keys() and len({(m.signature, m.rater) for m in named.values()}) == 1:
            return named
        short = labels(scores.measures)
        judges_here = ", ".join(short[key_of(m)] for m in judges.values())
        raise SelectionError(
            f"trusted {name!r} {_why_not_trusted(named, judges)}. "
            + (f"Judges here: {judges_here}." if judges else "No judge has scored this run.")
        )

    def _first_of(self, scores: ScoreTable) -> tuple[str, ...]:
        """The line that one of several criteria of people was taken, where nobody said which."""
        people = [m.criterion.criterion for key, m in scores.measures.items() if key in scores.people]
        criteria = list(dict.fromkeys(people))
        if self.criterion or self.trusted or len(criteria) < 2:
            return ()
        return (
            f"People scored {and_so(criteria)}: held against {criteria[0]}, and criterion= names another.",
        )

    def _figures(self, scores: ScoreTable, responses: Responses) -> list[AuditRow]:
        """The rows of a benchmark, but for the choice."""
        keys = {key_of(m): key for key, m in scores.measures.items()}
        rows = [
            *agreement(responses, self.seed),
            *redundancy(responses, self.redundant),
            *length(responses),
            *silence(responses),
        ]
        for measure in responses.measures.values():
            scored = scores.contrasts.get(keys[key_of(measure)], NOT_SCORED)
            rows += polarity(responses.benchmark, measure, scored, self.alike)
        return rows


def _why_not_trusted(named: Mapping[int, Measure], judges: Mapping[int, Measure]) -> str:
    """What is wrong with measures that were named as a trusted judge."""
    if not named:
        return "names no measure of this run"
    if any(map(is_people, named.values())):
        return "are people, whom --labels names"
    # A trusted rule would make a leaderboard of metrics that copy it.
    return "fits several judges: name one" if named.keys() <= judges.keys() else "is a rule, no judge"


def _alike_text(rows: Sequence[AuditRow]) -> str:
    """That a measure calls "Yes." and "No." alike; nothing where it does not."""
    row = alike_yes_no(rows)
    if row is None:
        return ""
    wrong, right = ('"No."', '"Yes."') if row.contrast == "yes" else ('"Yes."', '"No."')
    return (
        f'it calls "Yes." and "No." alike ({wrong} scores {printed(row.score_wrong)} where {right} is right '
        f"and scores {printed(row.score_reference)}, an unrelated word {printed(row.score_unrelated)})"
    )


def _caveats(responses: Responses, rows: Sequence[AuditRow]) -> dict[str, str]:
    """What a measure calls alike, by column: it matters most where the measure is about to be kept."""
    return {
        column: 'it calls "Yes." and "No." alike'
        for column, measure in responses.measures.items()
        if alike_yes_no(_of(measure, rows))
    }


def _of(measure: Measure, rows: Sequence[AuditRow]) -> list[AuditRow]:
    """The rows of a measure."""
    return [r for r in rows if (r.signature, r.criterion, r.rater) == key_of(measure)]


def _alike_lines(measures: Mapping[int, Measure], rows: Sequence[AuditRow]) -> Iterator[str]:
    """Which measures call "Yes." and "No." alike, by name; that none does where any scored the pairs."""
    short = labels(measures)
    scored = {key_of(m): _of(m, rows) for m in measures.values()}
    scored = {k: figures for k, figures in scored.items() if any(r.alike is not None for r in figures)}
    names = [short[key] for key, figures in scored.items() if alike_yes_no(figures)]
    if names:
        yield f'{and_so(names)} call{"s" if len(names) == 1 else ""} "Yes." and "No." alike.'
    elif scored:
        n = count(len(scored), "measure")
        yield f'Of {n} that scored the contrast pairs none calls "Yes." and "No." alike.'


def _between_candidates(responses: Responses, rows: Sequence[AuditRow]) -> Iterator[str]:
    """Which measures go with the yardstick between candidates; that rests on their number."""
    tested = [r for r in rows if (r.level, r.figure) == (SYSTEM, "pearson") and not _one_call(r)]
    if responses.yardstick is None or not tested:
        return
    n = max(r.n_candidates or 0 for r in tested)
    candidates, standard = count(n, "candidate"), responses.yardstick.noun
    if n < LEAST_TO_INFER:
        yield (
            f"On {responses.benchmark} {candidates} are too few (below {LEAST_TO_INFER}) to conclude which "
            f"measures go with {standard} between candidates: nothing is kept by that."
        )
    elif names := and_so(_clear_between(responses, tested)):
        slots = {"candidates": candidates, "benchmark": responses.benchmark, "standard": standard}
        yield BETWEEN.text(**slots, measures=names)
    else:
        yield f"Between {candidates} on {responses.benchmark} no measure is shown to go with {standard}."


def _one_call(row: AuditRow) -> bool:
    """Whether a figure is of criteria that one call of the trusted judge gave."""
    return ONE_CALL in (row.reason or "")


def _clear_between(responses: Responses, tested: Sequence[AuditRow]) -> Iterator[str]:
    """The measures whose r over halves lies above 0 by the interval that holds for all that are tested."""
    level = stats.bonferroni_level(0.95, len(tested))
    names = {key_of(measure): responses.names[column] for column, measure in responses.measures.items()}
    for r in tested:
        if r.value_halves is not None:
            ends = stats.fisher_interval(r.value_halves, r.n_candidates or 0, level=level)
            if ends and ends.low > 0:
                yield f"{names[r.signature, r.criterion, r.rater]} (r {printed(r.value_halves)})"


def _cluster_lines(responses: Responses, pairs: Sequence[AuditRow], threshold: float) -> Iterator[str]:
    """The clusters of measures that say much the same."""
    members: dict[int, list[str]] = {}
    for column, cluster in clusters(responses, pairs, threshold).items():
        members.setdefault(cluster, []).append(responses.names[column])
    for names in members.values():
        if len(names) > 1:
            yield (
                f"{and_so(names)} say much the same on {responses.benchmark}: inside questions every two of "
                f"them correlate above {threshold:g}."
            )


def _card(responses: Responses, column: str, rows: Sequence[AuditRow], *, with_pairs: bool) -> str:
    """What is known of one measure on one benchmark, on a line; with what it makes of the contrast pairs."""
    figures = _of(responses.measures[column], rows)
    texts = [
        *_agreement_texts(responses, figures), _wording_text(figures), _length_text(figures),
        _silence_text(figures), _polarity_text(figures) if with_pairs else "",
    ]  # fmt: skip
    return f"{responses.names[column]} on {responses.benchmark}: {'; '.join(filter(None, texts))}."


def _agreement_texts(responses: Responses, rows: Sequence[AuditRow]) -> Iterator[str]:
    by_figure = {(r.level, r.figure, r.contrast): r for r in rows if r.part == "agreement"}
    if responses.yardstick is None or not by_figure:
        return
    delivered, answered = by_figure[WITHIN, "pearson", "delivered"], by_figure[WITHIN, "pearson", "answered"]
    construction = " (criteria of one call)" if _one_call(delivered) else ""
    silent = delivered.value is not None and answered.n_units != delivered.n_units
    answered_text = f", without silent answers {_figure(answered)}" if silent else ""
    noun, centred = responses.yardstick.noun, by_figure[CENTRED, "pearson", HELD]
    yield f"agreement with {noun}{construction} inside questions {_figure(delivered)}{answered_text}"
    yield f"candidates held {_figure(centred)}"
    yield _order_text(by_figure[SYSTEM, "kendall", ""])


def _order_text(row: AuditRow) -> str:
    if row.value is None:
        return f"of candidates {row.reason}"
    pairs = count(row.n_pairs or 0, "pair")
    few = "" if row.reason is None else f" ({row.reason})"
    return f"of candidates tau-b {printed(row.value)}, same order in {row.same_order} of {pairs}{few}"


def _wording_text(rows: Sequence[AuditRow]) -> str:
    shares = [r for r in rows if r.part == "rephrasing"]
    return "; ".join(
        f"with {r.contrast}, {r.reason}"
        if r.value is None
        else f"with {r.contrast}, variance over wordings {figure_text(r)} times that between candidates"
        for r in shares
    )


def _length_text(rows: Sequence[AuditRow]) -> str:
    by_contrast = {r.contrast: r for r in rows if r.part == "length"}
    # Longer answers may be better ones: with a yardstick only what is paid beyond that is a bias.
    row = by_contrast.get("words, quality held")
    if row is not None and row.value is not None:
        return f"with words, quality held, {_figure(row)}"
    return f"with words {_figure(by_contrast['words'])}"


def _silence_text(rows: Sequence[AuditRow]) -> str:
    by_figure = {r.figure: r for r in rows if r.part == "silence"}
    silent, answered, share = (
        by_figure["score_silent"],
        by_figure["score_answered"],
        by_figure["variance_share"],
    )
    if silent.value is None:
        return ""
    comparison = "" if answered.value is None else f" beside {printed(answered.value)}"
    of_spread = "" if share.value is None else f", {percent(share.value)} of its spread inside questions"
    answers = count(silent.n_units or 0, "silent answer")
    return f"{answers} score {printed(silent.value)}{comparison}{of_spread}"


def _polarity_text(rows: Sequence[AuditRow]) -> str:
    of_all, *pairs = (r for r in rows if r.part == "polarity")
    if of_all.value is None:
        return f"contrast pairs: {(of_all.reason or '').rstrip('.')}"
    wrong = sum(bool(r.prefers_wrong) for r in pairs)
    separated = sum(r.alike is False for r in pairs)
    return (
        f"{_alike_text(pairs) or TELLS}; of {count(len(pairs), 'contradiction')} it tells "
        f"{separated} from the reference, and gives {wrong} as much as a right answer in other words"
    )


def _figure(row: AuditRow) -> str:
    return str(row.reason) if row.value is None else f"r {figure_text(row)}"
