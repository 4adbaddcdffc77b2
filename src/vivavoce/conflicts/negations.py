"""Conflicts of negation: a clause that denies what the reference affirms, or affirms what it denies."""

import math
import re
from collections.abc import Iterator, Sequence

from vivavoce.conflicts.clauses import Clause
from vivavoce.conflicts.found import Conflict, alike
from vivavoce.conflicts.line import Line
from vivavoce.conflicts.words import COMMON

__all__ = ["negations"]

_CLOSE = 0.55
_FEW = 3
"""Clauses of an answer in which a single shared word is enough."""
_ASIDE = re.compile(r"(?:and )?(?:without|that|which|who)\b")
"""What a thing is without is compared as a pair of words; a relative clause has no subject of its own."""
_RELATIVE = re.compile(r"(?:and )?(?:that|which|who)\b")
_WORD = re.compile(r"(?<!\S)(?:non )?[^\W\d]{5,}(?!\S)")
_PREFIXES = ("non", "un", "in", "im", "ir", "il")
_LONG = 5
_SAME = 0.34
_WITH = re.compile(r"\b(?P<out>without|with) (?:any |a |an |the )?(?P<what>[^\W\d]\w*)")


def negations(
    wanted: Sequence[Clause], said: Sequence[Clause], reference: Line, answer: Line
) -> Iterator[Conflict]:
    """Each clause of the reference whose nearest clause in the answer has the opposite sign."""
    asserted = [c for c in said if c.sign and c.words]
    if answer.text and not asserted and len(said) == 1 and len(wanted) == 1:
        one, two = wanted[0], said[0]
        if one.sign * two.sign < 0:
            yield _conflict(two, one, answer, reference)
        return
    few = len(asserted) <= _FEW
    done: set[int] = set()
    open_ = [
        (c, after)
        for c, after in zip(said, [*said[1:], None], strict=True)
        if c.sign and c.words and not _RELATIVE.match(answer.text, c.start)
    ]
    for clause in wanted:
        if not clause.sign or not clause.words or _ASIDE.match(reference.text, clause.start):
            continue
        same = max((_close(clause, c, few) for c in asserted if c.sign == clause.sign), default=0.0)
        score, best = max(
            (
                (_close(clause, c, few), c)
                for c, after in open_
                if c.sign != clause.sign and not (after and _denied(clause, after, answer))
            ),
            key=lambda f: f[0],
            default=(0.0, None),
        )
        if best is None or score < _CLOSE or score <= same or best.start in done:
            continue
        if any(_close(c, best, few) >= score for c in wanted if c.sign == best.sign):
            continue  # the reference says that too
        done.add(best.start)
        yield _conflict(best, clause, answer, reference)
    yield from _with(reference, answer, done)
    yield from _prefixed(reference, answer)


def _denied(wanted: Clause, after: Clause, answer: Line) -> bool:
    """Whether what follows takes back the clause before: "can be managed | without antibiotics"."""
    return answer.text.startswith("without", after.start) and bool(after.words & wanted.words)


def _close(one: Clause, two: Clause, few: bool) -> float:
    """Cosine of the words of two clauses; one shared word is too few, but between short clauses."""
    shared = len(one.words & two.words)
    most = max(len(one.words), len(two.words))
    if not shared or (shared == 1 and (most > 2 or not few) and not (most == 1 and one.verb and two.verb)):
        return 0.0
    return shared / math.sqrt(len(one.words) * len(two.words))


def _with(reference: Line, answer: Line, done: set[int]) -> Iterator[Conflict]:
    """A pair such as "with food" and "without food"."""
    wanted = {(m["what"], m["out"]) for m in _WITH.finditer(reference.text)}
    said = {(m["what"], m["out"]): m for m in _WITH.finditer(answer.text)}
    known = set(reference.words(0, len(reference.text))) if wanted and said else set()
    for (what, how), m in said.items():
        other = "with" if how == "without" else "without"
        if m.start() in done or (what, other) in said or (what, how) in wanted or (what, other) not in wanted:
            continue
        near = answer.words(max(0, m.start() - 60), m.start())
        if alike(near, known) >= 0.5:
            yield Conflict(
                "negation", answer.written(m.start(), m.end()), f"{other} {what}", m.start(), m.end()
            )


def _prefixed(reference: Line, answer: Line) -> Iterator[Conflict]:
    """A pair such as "selective" and "non-selective", "stable" and "unstable"."""
    wanted, said = _words(reference), _words(answer)
    longer: dict[str, str] = {}
    for word in wanted:
        for rest in _bare(word):
            longer.setdefault(rest, word)
    for word, (start, end) in said.items():
        plain = next((rest for rest in _bare(word) if rest in wanted), "")
        full = longer.get(word, "") if not plain else ""
        other = plain or full
        if not other or other in said or word in wanted or {word, other} & COMMON:
            continue
        if answer.text.endswith("not ", 0, start) or reference.text.endswith("not ", 0, wanted[other][0]):
            continue
        if alike(_near(answer, start, end), _near(reference, *wanted[other])) >= _SAME:
            yield Conflict(
                "negation", answer.written(start, end), reference.written(*wanted[other]), start, end
            )


def _near(line: Line, start: int, end: int) -> list[str]:
    return line.words(max(0, line.text.rfind(" ", 0, max(start - 40, 0))), start) + line.words(end, end + 40)


def _words(line: Line) -> dict[str, tuple[int, int]]:
    """The words of a line with their first place, "non selective" as one."""
    return {m[0].replace(" ", ""): m.span() for m in reversed(list(_WORD.finditer(line.text)))}


def _bare(word: str) -> list[str]:
    """What is left of a word without a prefix that may deny it."""
    return [word[len(p) :] for p in _PREFIXES if word.startswith(p) and len(word) - len(p) >= _LONG]


def _conflict(said: Clause, wanted: Clause, answer: Line, reference: Line) -> Conflict:
    return Conflict(
        "negation",
        answer.written(said.start, said.end),
        reference.written(wanted.start, wanted.end),
        said.start,
        said.end,
    )
