"""Verifying: an answer fact by fact, each against a source that the rater names.

The page proposes the facts that a metric split the answer into, else its sentences; raters split, reword or
remove them. A verdict needs a source.
The facts are events of the run, and rows of a file that `atomic_facts(checker=recorded(…))` reads (DAHL,
section 5.3).
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

from vivavoce.core.errors import InputError
from vivavoce.core.records import Criterion, Value
from vivavoce.core.text import printable
from vivavoce.facts.fact import EvidenceWord
from vivavoce.language.sentences import sentences
from vivavoce.people.case_draw import DrawnItems, few_answers
from vivavoce.people.question import Seen
from vivavoce.people.tasks.task import FilledItem, PlainTask, Row, Tally, quoted
from vivavoce.store.rater_texts import AnswerByRater, newest_facts, put_facts, split_facts
from vivavoce.store.write import ScoreRow

VERDICTS: tuple[str, ...] = get_args(EvidenceWord)
MOST_FACTS = 60
MOST_CHARACTERS = 2_000
"""The longest fact, source or quote."""
_PARTS = ("fact", "verdict", "source", "quote")
_NOTHING = "no fact could be verified"


class CheckedFact(NamedTuple):
    """A fact with its verdict, '' for none yet, the source that was consulted, and what it says."""

    fact: str
    verdict: str = ""
    source: str = ""
    quote: str = ""


class VerifyTask(PlainTask):
    """Raters judge the facts of one answer at a time."""

    name = "verify"
    schema = "viva.panel.facts/1"
    least_answers = 1
    default_n = 60
    leaves_gaps = True
    most_facts = MOST_FACTS
    verdicts = VERDICTS

    def __init__(self) -> None:
        self.criterion = "Is each fact of this answer supported by a source?"

    def nothing_to_show(self, candidates: Sequence[str]) -> str:
        """The sentence that says why nothing can be asked, without its end."""
        return f"no question here has an answer to verify (of {', '.join(candidates)})"

    def arrange(self, sample: DrawnItems, seed: int) -> DrawnItems:
        """One answer of each question."""
        return few_answers(sample, 1, seed)

    @property
    def filled(self) -> tuple[str, ...]:
        """Text, verdict, source and quote of each fact, numbered from 1."""
        return tuple(f"{part}_{k}" for k in range(1, MOST_FACTS + 1) for part in _PARTS)

    def instructions(self) -> Sequence[str]:
        """How the columns are to be filled."""
        return (
            f"fact_1, fact_2 …: one statement each. verdict_1 …: {', '.join(VERDICTS)}. source_1 …: where "
            "it stands; needed unless it is unverifiable. quote_1 …: the words of the source.",
        )

    def page_lines(self) -> Sequence[str]:
        """What the page asks for."""
        return (
            "Facts of the answer are proposed: split, reword or empty them, and add what is missing, so that "
            "each says one thing that could be true or false.",
            "Judge each fact as it is meant in the answer, and name the source that you consulted: without "
            "one nothing counts as supported or contradicted.",
        )

    def proposed(self, db: sqlite3.Connection, seen_question: Seen) -> Mapping[str, str]:
        """The facts into which `atomic_facts` split the answer; without them one for every sentence."""
        answer = verified_answer(seen_question, "")
        facts = split_facts(db, answer.place, answer.candidate, answer.repeat)
        facts = facts or tuple(sentences(seen_question.answers[0].text))
        return {f"fact_{k}": text for k, text in enumerate(facts[:MOST_FACTS], 1)}

    def read_rows(self, seen_question: Seen, rows: Sequence[Row]) -> FilledItem:
        """The facts; an answer without any verdict is open."""
        name = seen_question.question.name
        facts = _facts(rows[0].entries, name) if rows else ()
        gaps = [str(k) for k, fact in enumerate(facts, 1) if not fact.verdict]
        if len(gaps) == len(facts):
            return FilledItem(seen_question, (), "", "a verdict", True)
        lacking = f"the verdict of fact {', '.join(gaps)}" if gaps else ""
        return FilledItem(seen_question, (facts,), "", lacking, False)

    def tally(self, filled: Sequence[FilledItem]) -> Tally:
        """Facts with a verdict, and those that could not be verified."""
        words = [fact.verdict for item in filled for facts in item.ratings for fact in facts if fact.verdict]
        n_unverifiable = words.count("unverifiable")
        return Tally(labels=len(words) - n_unverifiable, cannot_tell=n_unverifiable)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The share of supported facts among those supported or contradicted."""
        return (Criterion(criterion="supported", if_unanswered="set_aside"),)

    def scores(
        self, filled: FilledItem, responses: Mapping[str, int], ballot: str
    ) -> dict[str, list[ScoreRow]]:
        """One score for every candidate who gave the answer; none while a fact has no verdict."""
        if not filled.ratings or filled.lacking:
            return {"supported": []}
        words = [fact.verdict for fact in filled.ratings[0]]
        n = words.count("supported") + words.count("contradicted")
        value = Value(words.count("supported") / n) if n else Value(None, note=_NOTHING, status="set_aside")
        (answer,) = filled.seen_question.answers
        return {"supported": [ScoreRow(responses[name], value, 1, ballot, 1) for name in answer.candidates]}

    def entries(self, answers: Sequence[Mapping[str, Value]]) -> list[dict[str, Any]]:
        """Nothing: the facts stand beside the scores."""
        return [{} for _ in answers]

    def put_words(self, db: sqlite3.Connection, filled: FilledItem, rater: str) -> bool:
        """Store the facts where they changed; none takes them back."""
        facts = [fact._asdict() for fact in filled.ratings[0]] if filled.ratings else []
        return put_facts(db, verified_answer(filled.seen_question, rater), facts)

    def stored_words(self, db: sqlite3.Connection, seen_question: Seen, rater: str) -> Mapping[str, str]:
        """The newest facts, by column."""
        facts = newest_facts(db, verified_answer(seen_question, rater))
        return {f"{part}_{k}": fact[part] for k, fact in enumerate(facts, 1) for part in _PARTS if fact[part]}


def verified_answer(seen_question: Seen, rater: str) -> AnswerByRater:
    """The one answer of a question that a rater verifies."""
    question, candidate = seen_question.question, seen_question.answers[0].candidates[0]
    return AnswerByRater(question.place, candidate, question.repeats[candidate], rater, seen_question.pass_no)


def _facts(entries: Mapping[str, Any], place: str) -> tuple[CheckedFact, ...]:
    """The facts in the fields of a form. Raises `InputError` for one that cannot be stored."""
    facts = []
    for k in range(1, MOST_FACTS + 1):
        texts = [_text(entries.get(f"{part}_{k}"), f"{place}: the {part} {k}") for part in _PARTS]
        fact = CheckedFact(*texts)
        if not any(fact):
            continue
        if not fact.fact and fact.verdict:
            raise InputError(f"{place}: fact {k} has a verdict and no text: write the fact, or take it out.")
        if fact.verdict not in (*VERDICTS, ""):
            raise InputError(f"{place}: verdict {k} is {', '.join(VERDICTS)}, not {quoted(fact.verdict)}.")
        if fact.verdict in VERDICTS[:2] and not fact.source:
            raise InputError(
                f"{place}: fact {k} is called {fact.verdict} without a source: say where it stands."
            )
        if fact.fact:
            facts.append(fact)
    return tuple(facts)


def _text(entry: Any, part: str) -> str:
    text = " ".join(printable(str(entry or "")).split())
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"{part} has {len(text):,} characters; {MOST_CHARACTERS:,} is the most.")
    return text
