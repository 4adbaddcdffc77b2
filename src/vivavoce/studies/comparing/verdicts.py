"""What may be said of a pair: its corrected p values, its verdict, and the sentences of both.

What may be said is decided in `stats.verdict`. Where no difference is shown it is "No significant
difference", as in `headline`. Words that promise more than a benchmark can show ("as good as", "proven",
"safe") have no place here.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from vivavoce.core.numbers import printed
from vivavoce.core.records import Criterion
from vivavoce.stats import Verdict
from vivavoce.stats.verdict import Code
from vivavoce.studies.comparing.evidence import is_graded, undoes
from vivavoce.studies.comparing.outcome_words import HIGHER, comparative, is_or_are
from vivavoce.studies.comparing.paired import Compared, Correction, Incomparable
from vivavoce.studies.labels import unlabelled_words
from vivavoce.studies.pooling import is_geometric, on_log_scale
from vivavoce.studies.rater_scores import is_judge
from vivavoce.studies.scale import opening_of, phrase_of
from vivavoce.studies.score_table import BY_WORD
from vivavoce.studies.text import and_so, cases, count, factor, listed, number, ordinal, plain
from vivavoce.studies.validation_status import stamp_notes

PERMUTATIONS = {
    "sign-flip": "sign-flip permutation test",
    "swap": "permutation test by swaps of answers",
}
"""Tests without a standard error in words, by `Paired.test`."""


def permutation(test: str | None) -> str:
    """The test of a p value without an interval, in words."""
    return PERMUTATIONS.get(test or "", PERMUTATIONS["sign-flip"])


BETTER = ("better", "better_by_margin")
DIFFERENT = (*BETTER, *HIGHER)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """A pair on one benchmark and criterion; what a pair that cannot be compared lacks is null."""

    benchmark: str
    a: str
    b: str
    metric: str
    criterion: str
    rater: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    low_family: float | None = None
    high_family: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    p_flip: float | None = None
    n_items: int = 0
    n_groups: int = 0
    effective_cases: float | None = None
    n_different: int = 0
    effective_different: float | None = None
    test: str | None = None
    wins: int = 0
    ties: int = 0
    losses: int = 0
    n_only_a: int | None = None
    n_only_b: int | None = None
    mde: float | None = None
    mde_family: float | None = None
    margin: float | None = None
    margin_source: str | None = None
    loss_a: float | None = None
    loss_b: float | None = None
    unseen_loss_a: float | None = None
    unseen_loss_b: float | None = None
    n_needed: int | None = None
    set_low: float | None = None
    set_high: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None
    difference_answered: float | None = None
    low_answered: float | None = None
    high_answered: float | None = None
    n_answered: int | None = None
    population: str
    q: float | None = None
    family: int
    looks: int
    analysis: int | None = None
    analyses: int | None = None
    alpha_spent: float | None = None
    critical: float | None = None
    information: float | None = None
    scale: str | None = None
    form_of: str | None = None
    estimate_kind: str = "scores"
    judge_alone: bool = False
    stamp: str | None = None
    n_labelled: int | None = None
    n_unlabelled: int | None = None
    lambda_: float | None = None
    difference_judge: float | None = None
    difference_people: float | None = None
    verdict: str | None = None
    verdict_code: Code | None = None
    favours: Literal["a", "b"] | None = None
    basis: str | None = None
    scope: str | None = None
    reason: str | None = None
    signature: str | None = None


def basis_of(row: ComparisonRow, compared: Compared, criterion: Criterion) -> str:
    """What a verdict rests on: how many questions and cases, the two means, who was ahead how often."""
    if compared.correction:
        return _basis_on_labels(row, compared.correction, criterion)
    means = compared.means
    out_of = f" out of {plain(criterion.high)}" if criterion.high is not None and criterion.low == 0 else ""
    greater, lesser = ("higher", "lower") if criterion.direction == "higher" else ("lower (better)", "higher")
    if is_geometric(criterion):
        greater, lesser, out_of = "faster", "slower", " seconds (geometric means)"
    return (
        f"On {count(row.n_items, 'question')} ({cases(row.n_groups, row.effective_cases)}): {row.a} "
        f"{number(means[0], criterion)}, {row.b} {number(means[1], criterion)}{out_of}; "
        f"{row.a} {greater} in {row.wins}, equal in {row.ties}, {lesser} in {row.losses}."
    )


def _basis_on_labels(row: ComparisonRow, change: Correction, criterion: Criterion) -> str:
    """What a verdict on people's scale rests on: the labels, and the difference by each."""
    judge, people, n_both = (
        number(d or 0.0, criterion) for d in (row.difference_judge, row.difference_people, row.difference)
    )
    return (
        f"People scored {count(change.n_labelled, 'question')} of {row.n_items:,} "
        f"({cases(row.n_groups, row.effective_cases)}): {row.a} less {row.b} is {n_both} on their scale, "
        f"{people} by their scores alone, {judge} by the judge."
    )


def sentence(
    row: ComparisonRow, verdict: Verdict, criterion: Criterion, failed: int, unlabelled: int = 0
) -> str:
    """The verdict on a row, in words that hold for the whole family.

    `failed` scores and `unlabelled` cases, drawn for people and without a label, may decide it.
    """
    a, b = _sides(row, verdict)
    margin, margin_text, important = _margin_words(row, criterion)
    match verdict.code:
        case "incomparable":
            return f"These two cannot be compared: {row.reason}."
        case "depends":
            return _untimed(row, failed) if is_geometric(criterion) else _dependent(failed, unlabelled)
        case "too_few":
            return _too_few(row) + _left_open(row, criterion, failed)
        case "better_by_margin" | "higher_by_margin":
            return f"{_claim(row, a)}, and by more than the {margin} {important}."
        case "better" | "higher":
            matters = {
                "smaller": f" The difference is smaller than {_named(margin, criterion)}{important}.",
                "open": " Whether it matters is open.",
            }
            amount = _difference(row, verdict, criterion, b)
            return f"{_claim(row, a)} ({amount}).{matters.get(verdict.size or '', '')}"
        case "equivalent":
            return f"{opening_of(row.scale)}{a} and {b} are equivalent within {margin_text}."
        case "not_worse":
            claim = f"{opening_of(row.scale)}{a} {is_or_are(a)} not worse than {b}"
            return f"{claim} by more than {margin_text}. It was not shown to be better."
    return _undecided(row, criterion, margin_text) + _left_open(row, criterion, failed)


def _sides(row: ComparisonRow, verdict: Verdict) -> tuple[str, str]:
    """Both names, first that of whom the verdict favours."""
    return (row.b, row.a) if verdict.favours == "b" else (row.a, row.b)


def _too_few(row: ComparisonRow) -> str:
    return f"Too few {'labelled cases that differ' if row.n_labelled else 'different cases'} to say."


def _claim(row: ComparisonRow, a: str) -> str:
    """That a candidate is better. A judge may be kinder to one of them, so alone it shows a preference."""
    if row.judge_alone:
        return f"The judge prefers {a}"
    return f"{opening_of(row.scale)}{a} {is_or_are(a)} {comparative(row.verdict_code, row.signature)}"


def _dependent(failed: int, unlabelled: int) -> str:
    missing = [f"the {count(failed, 'answer')} that could not be scored"] if failed else []
    if unlabelled:
        missing.append(f"the {count(unlabelled, 'case')} drawn for labelling that people have not scored")
    return f"It depends on {and_so(missing)}. Score {'it' if failed + unlabelled == 1 else 'them'} first."


def _untimed(row: ComparisonRow, failed: int) -> str:
    """What is known where answers failed, whose times nothing bounds: the slow ones may be those that do."""
    difference = row.difference or 0.0
    fast, slow = (row.b, row.a) if difference > 0 else (row.a, row.b)
    claim = f"{fast} {is_or_are(fast)} faster than {slow} by a factor of {factor(abs(difference))}"
    answered = f"On the {count(row.n_items, 'question')} that both answered, {claim}."
    return f"It depends on the {count(failed, 'answer')} that failed, whose time is not known. {answered}"


def _left_open(row: ComparisonRow, criterion: Criterion, failed: int) -> str:
    """How large the difference may be where scores failed and no verdict is reached."""
    if not failed or row.set_low is None or row.set_high is None:
        return ""
    most = max(abs(row.set_low), abs(row.set_high))
    amount = f"a factor of {factor(most)}" if on_log_scale(criterion) else number(most, criterion)
    scores = "its score" if failed == 1 else "their scores"
    return f" {count(failed, 'answer')} could not be scored: with {scores} the difference could be {amount}."


def _margin_words(row: ComparisonRow, criterion: Criterion) -> tuple[str, str, str]:
    """The margin, the margin after "within", and who called it important."""
    important = "you called important" if row.margin_source == "--margin" else "the metric calls important"
    if on_log_scale(criterion):
        size = f"factor of {factor(row.margin or 0.0)}"
        return size, f"a {size}", important
    size = plain(row.margin or 0.0)
    return size, size, important


def _named(margin: str, criterion: Criterion) -> str:
    """The margin before what it is called, where it was set as a logarithm that nobody reads."""
    return f"the {margin} " if on_log_scale(criterion) else ""


def _difference(row: ComparisonRow, verdict: Verdict, criterion: Criterion, b: str) -> str:
    """The difference and its interval, as seen from the candidate that is better."""
    sign = -1 if verdict.favours == "b" else 1
    d = sign * (row.difference or 0.0)
    size = _size(d, criterion, b)
    if row.low_family is None or row.high_family is None:
        return f"{size}; p = {row.p_adjusted:.2g}, {permutation(row.test)}"
    low, high = sorted((sign * row.low_family, sign * row.high_family))
    alone = ""
    # Holm's step may decide where Bonferroni's wider interval still holds 0: then the pair's own is shown.
    if low <= 0 <= high and row.low is not None and row.high is not None:
        low, high = sorted((sign * row.low, sign * row.high))
        alone = f" for this pair alone, p {row.p_adjusted:.2g} by Holm"
    if on_log_scale(criterion):
        return f"{size}, {factor(low)} to {factor(high)}{alone}"
    return f"{size}, {number(low, criterion)} to {number(high, criterion)}{alone}"


def _size(difference: float, criterion: Criterion, b: str) -> str:
    """A difference; on the log scale how many times the other's figure it is."""
    if not on_log_scale(criterion):
        return number(difference, criterion)
    return f"{factor(difference)} times {b}'s{' seconds' if is_geometric(criterion) else ''}"


def _undecided(row: ComparisonRow, criterion: Criterion, margin_text: str) -> str:
    """The sentence of a pair that cannot be told apart: what would have been detected, what it takes."""
    able = needed = ""
    low, high = criterion.low, criterion.high
    if row.mde_family:
        log = on_log_scale(criterion)
        amount: str | None = (
            f"a factor of {factor(row.mde_family)}" if log else number(row.mde_family, criterion)
        )
        if low is not None and high is not None and row.mde_family > high - low:
            amount = None
        able = f" {detectable_sentence(amount)}"
    if row.n_needed:
        needed = f" To tell {margin_text} apart takes about {count(row.n_needed, 'question')}."
    scale = phrase_of(row.scale)
    on_scale = f" {scale}" if scale else ""
    return f"No significant difference{on_scale}.{able}{needed}"


def detectable_sentence(amount: str | None) -> str:
    """What the data could have detected; null where no difference on the scale is large enough."""
    if amount is None:
        return "The data could not have detected any difference on this scale (80% power)."
    return f"The data could have detected a true difference of {amount} or more (80% power)."


JUDGE_ALONE = (
    "A judge may be kinder to one candidate, so its scores alone say what it prefers. People's scores of "
    "questions drawn at random correct it: `viva panel RUN make --task rate` draws and writes them."
)


def notes_on_people(pairs: Sequence[Compared], rows: Iterable[ComparisonRow]) -> Iterator[str]:
    """The lines on judges: their stamps, verdicts on them alone, and labels that the user vouches for."""
    yield from stamp_notes([(row.metric, row.criterion, row.stamp) for row in rows])
    yield from _note_on_judges(
        [pair for pair in pairs if is_judge(pair.pair.measure) and not pair.correction]
    )
    yield from _notes_on_labels([pair.correction for pair in pairs if pair.correction])


def _notes_on_labels(corrections: Sequence[Correction]) -> Iterator[str]:
    """The lines on labels that the user vouches for, and on drawn cases without a label."""
    if any(change.by_word for change in corrections):
        yield BY_WORD
    if n := max((change.n_unlabelled for change in corrections), default=0):
        yield f"{unlabelled_words(n)}."


def _note_on_judges(alone: Sequence[Compared]) -> Iterator[str]:
    """The line on pairs that rest on a judge alone, with the reasons where people scored some answers."""
    if alone:
        reasons = dict.fromkeys(pair.uncorrected for pair in alone)
        yield " ".join((JUDGE_ALONE, *(f"Not corrected: {reason}." for reason in reasons if reason)))


def note_on_logs(criteria: Iterable[Criterion]) -> tuple[str, ...]:
    """The line on what is compared on the log scale, if anything is."""
    names = ", ".join(dict.fromkeys(c.criterion for c in criteria if on_log_scale(c)))
    if not names:
        return ()
    return (
        f"Compared on the log scale: {names}. A difference there, and a margin, is the natural logarithm "
        "of how many times the one figure is the other: 0.05 is 5 %.",
    )


def notes_on_forms(rows: Iterable[ComparisonRow]) -> tuple[str, ...]:
    """The lines on criteria that are one number in several forms."""
    by_lead: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.form_of:
            by_lead.setdefault(row.form_of, {})[row.criterion] = None
    return tuple(
        f"{', '.join(forms)} and {lead} are one number in several forms and count as 1 comparison; a margin "
        "is in the units of each."
        for lead, forms in by_lead.items()
    )


def footnote(family: int, looks: int, margin: float | None, *, planned: bool = False) -> str:
    """What the words were corrected for, and when the margin was set; interim analyses are `planned`."""
    corrected = (
        "p values and intervals by Bonferroni"
        if planned
        else "p by Holm, intervals in the sentences by Bonferroni"
    )
    comparisons = "1 comparison made"
    if family > 1:
        comparisons = f"{count(family, 'comparison')} made together: {corrected}"
    # A margin that was set after results were seen proves less, so the note says which it was.
    earlier = "before any comparison was seen" if looks == 1 else f"after {count(looks - 1, 'earlier test')}"
    set_when = f" The margin of {plain(margin)} was set {earlier}." if margin is not None else ""
    return f"{comparisons}. This is the {ordinal(looks)} test on this run.{set_when}"


class _Unseen(NamedTuple):
    """On how many questions no whole loss was seen, how many percent may exist, and what they would do."""

    questions: str
    percent: str
    undo: bool


def notes_on_unseen_losses(
    pairs: Sequence[Compared | Incomparable], rows: Sequence[ComparisonRow]
) -> Iterator[str]:
    """The lines on graded differences in which the better candidate lost nothing over half the scale."""
    subjects: dict[_Unseen, list[str]] = {}
    for pair, row in zip(pairs, rows, strict=True):
        if isinstance(pair, Compared) and (unseen := _unseen(pair, row)) is not None:
            better, worse = (row.b, row.a) if row.favours == "b" else (row.a, row.b)
            subjects.setdefault(unseen, []).append(f"{better} against {worse} ({row.criterion})")
    for unseen, names in subjects.items():
        undo = f"would {'' if unseen.undo else 'not '}undo"
        yield (
            f"{listed(names)}: no whole loss was seen in {unseen.questions}; up to {unseen.percent} % may "
            f"exist (95 %), which {undo} {'this difference' if len(names) == 1 else 'these differences'}."
        )


def _unseen(compared: Compared, row: ComparisonRow) -> _Unseen | None:
    """What was not seen of the better candidate; null where nobody is, or scores are yes or no."""
    share = row.unseen_loss_b if row.favours == "b" else row.unseen_loss_a
    width = compared.pair.width
    if row.verdict_code not in BETTER or share is None or width is None or not is_graded(compared, width):
        return None
    return _Unseen(
        questions=f"{count(row.n_items, 'question')} ({cases(row.n_groups, row.effective_cases)})",
        percent=printed(100 * share, ".2g"),
        undo=undoes(share, row.difference or 0.0, width),
    )
