"""What a response says of the options it names: called right, only named, weighed, or turned down.

The words before and behind a mention are judged each by themselves, up to the end of the clause or the next
mention; then the two verdicts are joined.
"""

import itertools
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from vivavoce.language.tokens import CLAUSE, COMMA, NONE, Doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading.labels import (
    closing,
    joining,
    joining_and_articles,
    rejecting_heads,
    right_words,
    true_heads,
)
from vivavoce.reading.mentions import WINDOW, Verdict, mentions_in, only_quotes
from vivavoce.reading.options import Mention, Options
from vivavoce.reading.remarks import CANNOT, behind_doubt, denies_nothing, verdict_behind

_STRONGEST_FIRST: tuple[Verdict, ...] = ("rejected", "chosen", "tentative", "of the case")
_ASSERTED = frozenset({"chosen", "named"})
_LONGEST_LIST = 40
_PICKS = frozenset({"pick", "choose", "guess", "select", "answer", "decide", "say"})
"""Behind "if I had to" these choose what follows."""


class JudgedMention(NamedTuple):
    """A mention and what is said about it."""

    mention: Mention
    verdict: Verdict

    @property
    def names(self) -> tuple[int, ...]:
        """The options named; empty for a contradiction of letter and text."""
        return self.mention.names


def not_rejected(judged: Iterable[JudgedMention]) -> list[JudgedMention]:
    """The mentions that are not turned down."""
    return [mention for mention in judged if mention.verdict != "rejected"]


def judged_mentions(
    doc: Doc, options: Options, texts: Sequence[Mention], i: int, j: int, *, claimed: bool = False
) -> list[JudgedMention]:
    """The mentions in tokens i to j-1, each with its verdict. `texts` are the texts named there, in order."""
    mentions = mentions_in(doc, options, texts, i, j, claimed=claimed)
    preceding = [_before(doc, mentions, n, i, is_pair=len(options) == 2) for n in range(len(mentions))]
    following = [verdict_behind(doc, mentions, n, j) for n in range(len(mentions))]
    _carry_on(doc, mentions, preceding)
    _carry_back(doc, mentions, following, j)
    pairs = list(zip(preceding, following, strict=True))
    exception = j
    if ("rejected", "rejected") in pairs:  # looked for once, and not behind the sentence's beginning for each
        exception = next((k for k in range(i, j) if all_but(doc, k, i) is not None), j)
    judged = [
        JudgedMention(mention, _joined(pair, excepted=exception < mention.i))
        for mention, pair in zip(mentions, pairs, strict=True)
    ]
    return rejected_as_well(doc, judged)


def rejected_as_well(doc: Doc, judged: Sequence[JudgedMention]) -> list[JudgedMention]:
    """The mentions, of which one that is turned down takes the next with it: "A is excluded, B too"."""
    carried: list[JudgedMention] = []
    for s in judged:
        if carried and carried[-1].verdict == "rejected" and _as_well(doc, s.mention):
            s = s._replace(verdict="rejected")
        carried.append(s)
    return carried


def _as_well(doc: Doc, mention: Mention) -> bool:
    """True for a clause of nothing but an option and "too": "B too", "ebenso eine Perikarditis"."""
    k = mention.j
    if k < len(doc) and doc.forms[k] in words.AS_WELL and doc.ends(k + 1):
        return True
    start = doc.last_break(mention.i, COMMA)
    return doc.ends(k) and mention.i - start <= 2 and has_any(doc.forms[start : mention.i], words.AS_WELL)


def _joined(pair: tuple[Verdict, Verdict], *, excepted: bool) -> Verdict:
    """One verdict of what stands before and behind a mention: "all but B are wrong" calls B right."""
    if pair == ("rejected", "rejected") and excepted:
        return "chosen"
    return next((verdict for verdict in _STRONGEST_FIRST if verdict in pair), "named")


# --- several mentions


def named_together(doc: Doc, a: Mention, b: Mention) -> bool:
    """True if two mentions are named together: only commas and words like "and" or "or" between them."""
    for k in range(a.j, b.i + 1):
        if doc.breaks[k] > COMMA and not only_quotes(doc, k):
            return False
    words_between = doc.forms[a.j : b.i]
    if words_between == ["as"]:
        return False  # "B, as A is too slow"
    if joining().issuperset(words_between):
        return True
    return has_any(words_between, joining()) and joining_and_articles().issuperset(words_between)


def chain(doc: Doc, judged: Sequence[JudgedMention], start: int) -> list[JudgedMention]:
    """The mention at `start` and those joined to it."""
    linked = [judged[start]]
    for following in judged[start + 1 :]:
        a, b = linked[-1].mention, following.mention
        if not named_together(doc, a, b) and not _bracket_or(doc, a, b):
            break
        linked.append(following)
    return linked


def _carry_on(doc: Doc, mentions: Sequence[Mention], preceding: list[Verdict]) -> None:
    """Gives a mention the verdict before the one it is joined to.

    "not A or B" turns both down, "A, B and D are wrong" all three; a bare comma carries nothing, except in
    a list behind a label, "Incorrect: A, C".
    """
    _carry_head(doc, mentions, preceding)
    for n in range(1, len(mentions)):
        if preceding[n] == "named" != preceding[n - 1] and _closes_list(doc, mentions, n):
            # "the answer is B, and A takes too long": A begins a clause of its own
            new_clause = preceding[n - 1] == "chosen" and _subject(doc, mentions, n)
            preceding[n] = "named" if new_clause else preceding[n - 1]
    for n in range(1, len(mentions)):
        weighed = preceding[n] == "tentative" and preceding[n - 1] in _ASSERTED
        if weighed and _alternative(doc, mentions, n):
            preceding[n] = preceding[n - 1]


def _carry_head(doc: Doc, mentions: Sequence[Mention], preceding: list[Verdict]) -> None:
    """Gives a list behind a label that turns down the verdict of its first mention."""
    is_headed = False
    for n, (last, mention) in enumerate(itertools.pairwise(mentions), 1):
        is_headed = (
            is_headed
            or _rejecting_head(doc, last.i - 1, 0)
            or has_any(doc.forms[last.i - 1 : last.i], words.EXCLUDES)
            or doc.forms[last.i - 2 : last.i] == ["none", "of"]
        )
        is_headed = is_headed and named_together(doc, last, mention)
        if is_headed and preceding[n] == "named":
            preceding[n] = "rejected"


def _carry_back(doc: Doc, mentions: Sequence[Mention], following: list[Verdict], j: int) -> None:
    """Gives a mention the verdict behind the next one, where that is about both."""
    carried = False
    for n in range(len(mentions) - 2, -1, -1):
        a, b = mentions[n], mentions[n + 1]
        if following[n] != "named" or following[n + 1] == "named" or not named_together(doc, a, b):
            carried = False
            continue
        carried = carried or _about_both(doc, a, b, j)
        if carried:
            following[n] = following[n + 1]


def _closes_list(doc: Doc, mentions: Sequence[Mention], n: int) -> bool:
    """True if mention n is joined to the one before by "or", "nor" or "and", at the end of commas too."""
    for k in range(n, min(len(mentions), n + _LONGEST_LIST)):
        if not named_together(doc, mentions[k - 1], mentions[k]):
            return False
        separator = doc.forms[mentions[k - 1].j : mentions[k].i]
        if separator:
            return has_any(separator, closing())
    return False


def _about_both(doc: Doc, a: Mention, b: Mention, j: int) -> bool:
    """True if what follows mention b is said of a too: a plural, a colon, or "and" between them."""
    if ":" in doc.gap(b.j):
        return True
    plural = b.j < j and doc.forms[b.j] in {"are", "were", "arent", "do", "dont", "cannot", "can"}
    return plural or has_any(doc.forms[a.j : b.i], closing())


def _subject(doc: Doc, mentions: Sequence[Mention], n: int) -> bool:
    """True if the last of the mentions joined to mention n begins a clause: "B, and A takes too long"."""
    last = mentions[n]
    for mention in mentions[n + 1 : n + _LONGEST_LIST]:
        if not named_together(doc, last, mention):
            break
        last = mention
    return last.j < len(doc) and doc.breaks[last.j] == NONE and doc.forms[last.j] in words.PREDICATE


def _bracket_or(doc: Doc, a: Mention, b: Mention) -> bool:
    """True for "B (if pregnant) or C"."""
    k = b.i - 1
    if not a.j < k <= a.j + WINDOW or doc.forms[k] not in words.HEDGES:
        return False
    return (doc.gap(a.j).strip(" *_"), doc.gap(k).strip(" *_")) == ("(", ")")


def _alternative(doc: Doc, mentions: Sequence[Mention], n: int) -> bool:
    """True if mention n is left as open as the one before: "A, but it might also be B", "A (if ...) or B"."""
    if _bracket_or(doc, mentions[n - 1], mentions[n]):
        return True
    separator = doc.forms[mentions[n - 1].j : mentions[n].i]
    return len(separator) <= WINDOW and has_any(separator, words.MAYS) and has_any(separator, {"also", "or"})


# --- the words before a mention


def _before(doc: Doc, mentions: Sequence[Mention], n: int, i: int, *, is_pair: bool) -> Verdict:
    """The verdict of the words before a mention, back to the clause's beginning or the mention before.

    `is_pair`: there are two options, so that what is better than one of them is the other.
    """
    mention = mentions[n]
    stop = max(i, mentions[n - 1].j if n else i, mention.i - WINDOW)
    window: list[str] = []  # runs backwards from the mention
    for k in range(mention.i - 1, stop - 1, -1):
        if doc.breaks[k + 1] > NONE and not only_quotes(doc, k + 1):
            if not window and _rejecting_head(doc, k, i):
                return "rejected"
            break
        if (head := all_but(doc, k, i)) is not None:
            return "chosen" if doc.forms[head] in words.NONE_BUT else "rejected"
        if doc.forms[k] in words.RESET and not _keeps_negation(doc, k, window):
            return _weigh(window, conclusion=doc.forms[k] in {"so", "therefore", "thus", "hence"})
        window.append(doc.forms[k])
    else:
        if n and stop == mentions[n - 1].j and window:
            verdict = _compared(doc, mentions[n - 1], window[::-1], is_pair=is_pair)
            if verdict is not None:
                return verdict
            # "B is less likely than C": what was said of B is not said of C
            window = _after_comparison(window)
    return _weigh(window)


def all_but(doc: Doc, k: int, i: int) -> int | None:
    """Where "all" or "none" stands if token k is the "but" of "all of them but", "none except"; else None."""
    pair = (doc.forms[k - 1], doc.forms[k]) if k else ("", "")
    if doc.forms[k] not in words.EXCEPTS and pair not in words.EXCEPT_PAIRS:
        return None
    p = k - 1 - (pair in words.EXCEPT_PAIRS)
    while p > i and doc.breaks[p + 1] <= COMMA and doc.forms[p] in words.BETWEEN_ALL_BUT:
        p -= 1
    return p if p >= i and doc.forms[p] in words.ALL_BUT | words.NONE_BUT else None


def _keeps_negation(doc: Doc, k: int, window: Sequence[str]) -> bool:
    """True if a word that else begins anew does not at token k: "instead of B", "rather than B"."""
    if k and (doc.forms[k - 1], doc.forms[k]) == ("nicht", "aber"):
        return True
    return bool(window) and ((doc.forms[k], window[-1]) in words.NOT_LEFT_PAIRS or window[-1] == "than")


def _rejecting_head(doc: Doc, k: int, i: int) -> bool:
    """True if token k ends a label that turns down what follows: "Incorrect: B"."""
    start = k
    while start > i and k - start < 3 and doc.breaks[start] == NONE:
        start -= 1
    if ":" not in doc.gap(k + 1) or doc.breaks[start] < CLAUSE:
        return False
    return rejecting_head(doc.forms[start : k + 1])


_NOTS = words.DENIALS | {"不", "非", "isnt", "arent", "не"}


@cache
def _judging_heads() -> frozenset[str]:
    """The words of a label that call what follows right, in any language."""
    return true_heads() | right_words() | words.CHOSEN_RIGHT | words.CHOICE_ADJECTIVES


def rejecting_head(head: Sequence[str]) -> bool:
    """True for the words of a label that turns down what follows: "Incorrect", "Less likely"."""
    if denies_nothing(head):
        return False
    turns_down = has_any(head, rejecting_heads()) and not has_any(head, true_heads())
    # "Nicht zutreffend: C", "Pas exactes : C"
    turns_down = turns_down or (has_any(head[:-1], _NOTS) and has_any(head[1:], _judging_heads()))
    return turns_down or any(pair in words.REJECTING_PAIRS for pair in itertools.pairwise(head))


def _compared(doc: Doc, last: Mention, forms: Sequence[str], *, is_pair: bool) -> Verdict | None:
    """The verdict on what the words behind mention `last` compare it with; null where they do not.

    "C is worse than B" says that B is bad too.
    """
    if not has_any(forms[-2:], words.THAN):
        return None
    if has_any([*forms, *doc.forms[max(0, last.i - 1) : last.i]], words.BETTER):
        return "rejected"  # "la A es mejor que la B", "plutôt A que B"
    if is_pair or not has_any(forms, words.WORSE):
        return None
    return "of the case"


def _after_comparison(window: list[str]) -> list[str]:
    """The reversed window between two mentions without the predicate of the first."""
    forms = window[::-1]
    if forms[0] not in words.PREDICATE:
        return window
    if "than" in forms or "as" in forms[2:]:
        return [] if has_any(forms, words.NOT_RIGHT) else window
    for k in range(len(forms) - 1, 0, -1):
        if forms[k] in {"and", "or", "as"}:
            return forms[k + 1 :][::-1]
    return window


def _weigh(window: Sequence[str], *, conclusion: bool = False) -> Verdict:
    """The verdict of words that run backwards from a mention; `conclusion` if "so" or the like leads them."""
    if not window:
        return "chosen" if conclusion else "named"
    words_before = window[::-1]
    chosen = has_any(words_before, words.CHOSEN_LEFT) or words.LEFT_WITH in itertools.pairwise(words_before)
    weighed = _conditional(words_before) or _turned_down(words_before) or _spoken_of(words_before)
    weighed = weighed or _weighed(words_before, chosen=chosen)
    return weighed or ("chosen" if conclusion or chosen else "named")


def _conditional(preceding: Sequence[str]) -> Verdict | None:
    """The verdict behind "whether" and "if", "if I had to pick"; null without these."""
    if not has_any(preceding, {"whether", "if"}):
        return None
    return "chosen" if "had" in preceding and has_any(preceding, _PICKS) else "tentative"


def _spoken_of(preceding: Sequence[str]) -> Verdict | None:
    """The verdict on what is only spoken of, "many students pick B", "it used to be B"; else null."""
    given_up = any(pair in words.GIVEN_UP for pair in itertools.pairwise(preceding))
    if (
        given_up
        or preceding[-1] == "others"
        or has_any(preceding, {"tempted", "check", "recheck", "compare"})
    ):
        return "of the case"
    some_say = has_any(preceding, words.SOME) and has_any(preceding, words.SAY)
    others_say = some_say or (has_any(preceding, words.PEOPLE) and has_any(preceding, words.SUGGEST))
    return "of the case" if others_say and not has_any(preceding, {"i", "we"}) else None


def _weighed(preceding: Sequence[str], *, chosen: bool) -> Verdict | None:
    """The verdict of words before a mention that leave it open; null where they do not."""
    if not chosen and any(pair in words.OF_THE_CASE for pair in itertools.pairwise(preceding)):
        return "of the case"
    if not has_any(preceding, words.TENTATIVE_LEFT):
        return None
    return "chosen" if has_any(preceding, {"choose", "select", "pick", "answer"}) else "tentative"


def _turned_down(preceding: Sequence[str]) -> Verdict | None:
    """The verdict of words before a mention that deny; null where they do not."""
    if preceding and _is_instead(preceding):
        return "rejected"
    # two negations cancel: "cannot be excluded"
    negations = _negations(behind_doubt(preceding))
    if negations == 2 and has_any(preceding, CANNOT) and not has_any(preceding, words.CHOSEN_LEFT):
        return "tentative"
    if negations % 2 or preceding == ["noch"] or preceding.count("noch") > 1:  # "weder A noch B"
        return "rejected"
    return None


def _is_instead(preceding: Sequence[str]) -> bool:
    """True before an option that another takes the place of: "instead of B", "prefer A to B"."""
    if preceding[-1] in words.THAN and has_any(preceding, words.BETTER):
        return True  # "plutôt A que B"
    return preceding[-1] in words.INSTEAD or (preceding[-1] == "to" and has_any(preceding, words.PREFERS))


def _negations(ahead: Sequence[str]) -> int:
    """How many of the words before a mention turn it down."""
    negations = sum(word in words.NOT_LEFT for word in ahead)
    if has_any(ahead, words.CONCORD):
        negations = 1
    elif "ne" in ahead and "pas" in ahead:
        negations -= 1  # one negation in French
    negations += any(pair in words.NOT_LEFT_PAIRS for pair in itertools.pairwise(ahead))
    # "less likely than B" praises B: both words are in the list
    return negations - 2 if "less" in ahead and "than" in ahead else negations
