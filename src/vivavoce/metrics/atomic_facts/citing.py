"""What a checker cites: whether it exists in the source, and what the cited documents say of each fact."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain

from vivavoce.core.records import Criterion
from vivavoce.facts.checker import Claim
from vivavoce.facts.citations import looked_up, support_value
from vivavoce.facts.cited_checker import CitedChecker
from vivavoce.metrics import ScoringContext
from vivavoce.metrics.atomic_facts.checked_answer import CheckedAnswer, CheckedFact
from vivavoce.metrics.atomic_facts.figures import Figure
from vivavoce.metrics.atomic_facts.stages import NOT_RECORDED, Outcome, SplitAnswer, ask
from vivavoce.retrieval.index import Source


def with_citations(
    answers: Sequence[SplitAnswer],
    checked: Sequence[CheckedAnswer],
    checker: CitedChecker,
    source: Source | None,
    context: ScoringContext,
) -> list[CheckedAnswer]:
    """The answers with the citations of each fact looked up, and what the cited documents say of it."""
    facts = [[_looked_up(fact, source) for fact in answer.facts] for answer in checked]
    outcomes = _outcomes(answers, facts, checker, context)
    return [
        CheckedAnswer(
            answer.cleaned,
            [_supported(fact, outcomes) for fact in of_answer],
            failure=answer.failure,
            statements=answer.statements,
        )
        for answer, of_answer in zip(checked, facts, strict=True)
    ]


def _looked_up(fact: CheckedFact, source: Source | None) -> CheckedFact:
    if fact.verdict is None:
        return fact
    return fact._replace(lookup=looked_up(fact.fact.text, fact.citations, source))


def _outcomes(
    answers: Sequence[SplitAnswer],
    facts: Sequence[Sequence[CheckedFact]],
    checker: CitedChecker,
    context: ScoringContext,
) -> Mapping[Claim, Outcome]:
    """The verdict of the cited documents on each claim, or why no reply came."""
    support = checker.support
    claims = [list(filter(None, map(_claim, of_answer))) for of_answer in facts]
    every = list(chain.from_iterable(claims))
    if support.model is not None:
        replies = ask(support, support.calls(every), context)
        return {c: support.immediate_verdict(c) or replies[c].outcome for c in every}
    outcomes: dict[Claim, Outcome] = {}
    for answer, of_answer in zip(answers, claims, strict=True):
        verdicts = support.verdicts(answer.answer, answer.facts, of_answer, context.once_a_call)
        outcomes |= {c: v or NOT_RECORDED for c, v in zip(of_answer, verdicts, strict=True)}
    return outcomes


def _claim(fact: CheckedFact) -> Claim | None:
    return fact.lookup.claim if fact.lookup else None


def _supported(fact: CheckedFact, outcomes: Mapping[Claim, Outcome]) -> CheckedFact:
    claim = _claim(fact)
    if claim is None:
        return fact
    outcome = outcomes[claim]
    if isinstance(outcome, str):
        return CheckedFact(fact.fact, failure=f"of what it cites: {outcome}")
    return fact._replace(support=outcome)


def _exists(answer: CheckedAnswer) -> float | str:
    """The share of the citations of an answer's facts that are in the source; or why that is not known."""
    lookups = [fact.lookup for fact in answer.facts if fact.lookup and fact.lookup.citations]
    if not lookups:
        return "no reply about a fact cites a source"
    answers = [result.exists for lookup in lookups for _, result in lookup.citations]
    if None in answers:
        return lookups[0].reason or "nobody knows whether the citations exist"
    return sum(map(bool, answers)) / len(answers)


def _supports(answer: CheckedAnswer) -> float | str:
    """The share of an answer's facts that the documents cited for them support; or why there is none."""
    verdicts = [fact.support for fact in answer.facts if fact.support]
    values = [value for verdict in verdicts if (value := support_value(verdict)) is not None]
    if values:
        return math.fsum(values) / len(values)
    if verdicts:
        return f"no verdict on what the cited documents say: {verdicts[0].reason}"
    exists = _exists(answer)
    return exists if isinstance(exists, str) else "no document that is cited is in the source"


CITED = (
    Figure(Criterion(criterion="citation_exists", if_unanswered="set_aside"), _exists),
    Figure(Criterion(criterion="citation_supports", if_unanswered="set_aside"), _supports),
)
"""Of a checker that cites: the share of its citations that exist, and of facts that they support."""
