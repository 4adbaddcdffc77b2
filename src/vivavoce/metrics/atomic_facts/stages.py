"""The three stages over a batch of answers: split, settle, check. Here, and only here, models are asked."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from vivavoce.core.evidence import Evidence
from vivavoce.core.records import Item
from vivavoce.facts.checker import NO_PASSAGE, CheckCall, Checker, Claim, Neighbours
from vivavoce.facts.citations import Citation, citation_texts
from vivavoce.facts.context_passages import statement_claim
from vivavoce.facts.entailment import NEITHER
from vivavoce.facts.fact import Answer, Fact, Verdict
from vivavoce.facts.fates import settle
from vivavoce.facts.splitters import ModelSplitter, RecordedSplitter, SentenceSplitter, Splitter
from vivavoce.facts.verdict_replies import UNDECIDED
from vivavoce.metrics import ScoringContext
from vivavoce.metrics.atomic_facts.checked_answer import CheckedAnswer, CheckedFact

SPLIT, CHECK = "split facts", "check facts"
"""What a model is asked for, as calls name it."""
NOT_RECORDED = "no verdict on it is recorded"
Outcome = Verdict | str
"""A verdict, or why no reply came."""


class Answered(NamedTuple):
    """What a checker says of a claim, and the sources that it cites."""

    outcome: Outcome
    citations: tuple[Citation, ...] = ()


class Units(NamedTuple):
    """The units of an answer as the splitter gave them; null with a reason where it gave none."""

    texts: tuple[str, ...] | None
    reason: str | None = None


class SplitAnswer(NamedTuple):
    """An answer with the fates of its units, and the item it answers."""

    item: Item
    answer: Answer
    facts: tuple[Fact, ...] = ()
    failure: str | None = None


def split(
    answers: Sequence[tuple[Item, Answer]],
    splitter: Splitter,
    context: ScoringContext,
    *,
    most: int,
    settles: bool,
) -> list[SplitAnswer]:
    """Every answer with its units. One of which nothing is left is not split, and nobody is asked.

    Units are split once, whatever the pass: passes tell how steady the checker is.
    """
    to_split = [answer for _, answer in answers if answer.cleaned.sentences]
    units = iter(_units(to_split, splitter, context))
    result = []
    for item, answer in answers:
        texts, reason = next(units) if answer.cleaned.sentences else Units(())
        if texts is None:
            result.append(SplitAnswer(item, answer, failure=reason))
        else:
            facts = settle(texts, answer, most=most) if settles else _unsettled(texts)
            result.append(SplitAnswer(item, answer, facts))
    return result


def _unsettled(texts: Sequence[str]) -> tuple[Fact, ...]:
    return tuple(Fact(number, str(text)) for number, text in enumerate(texts, 1))


def _units(answers: Sequence[Answer], splitter: Splitter, context: ScoringContext) -> list[Units]:
    if not isinstance(splitter, ModelSplitter):
        return [_recorded_units(splitter, answer) for answer in answers]
    results = context.client.ask(
        splitter.model,
        [splitter.request(answer) for answer in answers],
        [partial(splitter.read_reply, material=splitter.material(answer)) for answer in answers],
        purpose=SPLIT,
        again=lambda k, reply, reason: splitter.again(answers[k], reply, reason),
    )
    return [Units(result.value, f"the answer was not split: {result.reason}") for result in results]


ClaimOf = Callable[[SplitAnswer, Sequence[Fact], int], Claim]
"""Makes the claim of the fact of this number, from 0, among those of an answer."""


def neighbours(units: Sequence[str], n: int, reach: int) -> Neighbours:
    """The units before and after one of them, as far as it reaches; none where it reaches 0."""
    if not reach:
        return Neighbours()
    return Neighbours(tuple(units[max(0, n - reach) : n]), tuple(units[n + 1 : n + 1 + reach]))


def check(
    answers: Sequence[SplitAnswer],
    checker: Checker,
    context: ScoringContext,
    *,
    passages: Callable[[Item, str], tuple[Evidence, ...] | None],
    shares_calls: bool,
    with_statements: bool,
) -> list[CheckedAnswer]:
    """Every answer with the verdicts on its units, and `with_statements` on the item's must-statements.

    `passages` gives the evidence to show for a text. Calls are shared by all answers of the batch where
    `shares_calls`; else those of an answer depend on it alone, so that a rerun makes the same ones.
    """
    facts = [[fact for fact in answer.facts if fact.fate == "checked"] for answer in answers]
    statements = [_statements(answer) if with_statements else [] for answer in answers]
    outcomes = partial(_outcomes, answers, checker, context, shares_calls=shares_calls)
    on_facts = outcomes(
        facts,
        lambda answer, of_answer, n: Claim(
            of_answer[n].text,
            passages(answer.item, of_answer[n].text),
            neighbours([fact.text for fact in of_answer], n, checker.neighbours),
        ),
    )
    on_statements = outcomes(
        statements,
        lambda answer, of_answer, n: statement_claim(of_answer[n].text, answer.answer.cleaned.text),
    )
    return [
        _checked(*of_answer) for of_answer in zip(answers, on_facts, statements, on_statements, strict=True)
    ]


def _statements(answer: SplitAnswer) -> list[Fact]:
    """The item's must-statements, where there is an answer that could make them."""
    if answer.failure or not answer.answer.cleaned.sentences:
        return []
    return [Fact(number, text) for number, text in enumerate(answer.item.must, 1)]


def _outcomes(
    answers: Sequence[SplitAnswer],
    checker: Checker,
    context: ScoringContext,
    facts: Sequence[Sequence[Fact]],
    claim_of: ClaimOf,
    *,
    shares_calls: bool,
) -> list[list[Answered]]:
    """What the checker says of the facts of each answer, in their order."""
    claims = [_claims(answer, of_answer, claim_of) for answer, of_answer in zip(answers, facts, strict=True)]
    if checker.model is not None:
        parts = [list(chain.from_iterable(claims))] if shares_calls else claims
        by_claim = ask(checker, list(chain.from_iterable(map(checker.calls, parts))), context)
        return [[by_claim.get(claim) or _immediate(checker, claim) for claim in of] for of in claims]
    return [
        [Answered(v or NOT_RECORDED) for v in checker.verdicts(answer.answer, *of, context.once_a_call)]
        for answer, of in zip(answers, zip(facts, claims, strict=True), strict=True)
    ]


def _claims(answer: SplitAnswer, facts: Sequence[Fact], claim_of: ClaimOf) -> list[Claim]:
    return [claim_of(answer, facts, n) for n in range(len(facts))]


def _immediate(checker: Checker, claim: Claim) -> Answered:
    verdict = checker.immediate_verdict(claim)
    assert verdict is not None
    return Answered(verdict)


def ask(checker: Checker, calls: Sequence[CheckCall], context: ScoringContext) -> Mapping[Claim, Answered]:
    """What the model says of each claim, or why no reply came."""
    assert checker.model is not None
    results = context.client.ask(
        checker.model,
        [call.request for call in calls],
        [call.reader for call in calls],
        purpose=CHECK,
        repeat=context.pass_no,
    )
    answered: dict[Claim, Answered] = {}
    for call, result in zip(calls, results, strict=True):
        outcomes: Sequence[Outcome] = result.value or [result.reason or "no reply"] * len(call.claims)
        citations = citation_texts(result.citations)
        answered |= {c: Answered(o, citations) for c, o in zip(call.claims, outcomes, strict=True)}
    return answered


def _checked(
    answer: SplitAnswer,
    on_facts: Sequence[Answered],
    statements: Sequence[Fact],
    on_statements: Sequence[Answered],
) -> CheckedAnswer:
    replies = iter(on_facts)
    facts = [
        _with_outcome(fact, *next(replies)) if fact.fate == "checked" else CheckedFact(fact)
        for fact in answer.facts
    ]
    of_statements = [
        _with_outcome(fact, outcome if isinstance(outcome, str) else _statement_verdict(outcome))
        for fact, (outcome, _) in zip(statements, on_statements, strict=True)
    ]
    return CheckedAnswer(answer.answer.cleaned, facts, failure=answer.failure, statements=of_statements)


def _with_outcome(fact: Fact, outcome: Outcome, citations: tuple[Citation, ...] = ()) -> CheckedFact:
    if isinstance(outcome, str):
        return CheckedFact(fact, failure=outcome)
    return CheckedFact(fact, outcome, citations=citations)


def _statement_verdict(verdict: Verdict) -> Verdict:
    """Whether the answer makes a statement: what no passage of it decides is an omission, and not unknown."""
    if verdict.word == "supported":
        return verdict._replace(word="true")
    if verdict.word == "contradicted":
        return verdict._replace(word="false", reason="the answer says the opposite")
    if verdict.word == "unverifiable" and verdict.reason in (UNDECIDED, NEITHER, NO_PASSAGE.reason):
        return verdict._replace(word="false", reason="the answer does not say it")
    return verdict if verdict.word in ("true", "false") else verdict._replace(word="bad")


def _recorded_units(splitter: RecordedSplitter | SentenceSplitter, answer: Answer) -> Units:
    texts = splitter.units(answer)
    if texts is None and isinstance(splitter, RecordedSplitter):
        return Units(None, splitter.why_none(answer))
    return Units(texts)
