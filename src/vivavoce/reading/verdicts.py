"""What a response says of the options it names: called right, only named, weighed, or turned down.

The words before and behind a mention are judged each by themselves, up to the end of the clause or the next
mention; then the two verdicts are joined.
"""

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from vivavoce.language.tokens import CLAUSE, COMMA, LINE, NONE, SENTENCE, Doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading.labels import closing, joining, joining_and_articles, rejecting_heads, true_heads
from vivavoce.reading.mentions import WINDOW, Verdict, mentions_in
from vivavoce.reading.options import Mention, Options
from vivavoce.reading.remarks import JUDGES, but_wrong, denials, denies_another, denies_merit, remark

_STRONGEST_FIRST: tuple[Verdict, ...] = ("rejected", "chosen", "tentative", "of the case")
_ASSERTED = frozenset({"chosen", "named"})
_LONGEST_LIST = 40
_PICKS = frozenset({"pick", "choose", "guess", "select", "answer", "decide", "say"})
"""Behind "if I had to" these choose what follows."""
_CANNOT = frozenset({"cannot", "cant"})
_DENIALS_OF_DOUBT = words.NOT_LEFT | {"little"}


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
    preceding = [_before(doc, mentions, n, i) for n in range(len(mentions))]
    following = [_behind(doc, mentions, n, j) for n in range(len(mentions))]
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


def only_quotes(doc: Doc, k: int) -> bool:
    """True if the break is made of brackets and quotes around single entries: "(A) and (B)"."""
    gap = doc.gap(k)
    return doc.breaks[k] == CLAUSE and not any(c in ";:–—|-." for c in gap)


def named_together(doc: Doc, a: Mention, b: Mention) -> bool:
    """True if two mentions are named together: only commas and words like "and" or "or" between them."""
    for k in range(a.j, b.i + 1):
        if doc.breaks[k] > COMMA and not only_quotes(doc, k):
            return False
    words_between = doc.forms[a.j : b.i]
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
        is_headed = is_headed or _rejecting_head(doc, last.i - 1, 0)
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


def _before(doc: Doc, mentions: Sequence[Mention], n: int, i: int) -> Verdict:
    """The verdict of the words before a mention, back to the clause's beginning or the mention before."""
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


def rejecting_head(head: Sequence[str]) -> bool:
    """True for the words of a label that turns down what follows: "Incorrect", "Less likely"."""
    turns_down = has_any(head, rejecting_heads()) and not has_any(head, true_heads())
    return turns_down or any(pair in words.REJECTING_PAIRS for pair in itertools.pairwise(head))


def _after_comparison(window: list[str]) -> list[str]:
    """The reversed window between two mentions without the predicate of the first."""
    ahead = window[::-1]
    if ahead[0] not in words.PREDICATE:
        return window
    if "than" in ahead or "as" in ahead[2:]:
        return [] if has_any(ahead, words.NOT_RIGHT) else window
    for k in range(len(ahead) - 1, 0, -1):
        if ahead[k] in {"and", "or", "as"}:
            return ahead[k + 1 :][::-1]
    return window


def _weigh(window: Sequence[str], *, conclusion: bool = False) -> Verdict:
    """The verdict of words that run backwards from a mention; `conclusion` if "so" or the like leads them."""
    if not window:
        return "chosen" if conclusion else "named"
    ahead = window[::-1]
    if has_any(ahead, {"whether", "if"}):
        return "chosen" if "had" in ahead and has_any(ahead, _PICKS) else "tentative"
    chosen = has_any(ahead, words.CHOSEN_LEFT)
    return (
        _turned_down(ahead)
        or _weighed(ahead, chosen=chosen)
        or ("chosen" if conclusion or chosen else "named")
    )


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
    negations = _negations(preceding)
    if negations == 2 and has_any(preceding, _CANNOT) and not has_any(preceding, words.CHOSEN_LEFT):
        return "tentative"
    if negations % 2 or preceding == ["noch"] or preceding.count("noch") > 1:  # "weder A noch B"
        return "rejected"
    return None


def _is_instead(preceding: Sequence[str]) -> bool:
    """True before an option that another takes the place of: "instead of B", "prefer A to B"."""
    return preceding[-1] in words.INSTEAD or (preceding[-1] == "to" and has_any(preceding, words.PREFERS))


def _denies_nothing(window: Sequence[str]) -> bool:
    """True if the negation in the window only strengthens: "not only", "no doubt", "without any doubt"."""
    return has_any(window, words.NO_NEGATION) and any(
        word in words.NO_NEGATION and has_any(window[max(0, k - 2) : k], _DENIALS_OF_DOUBT)
        for k, word in enumerate(window)
    )


def _negations(ahead: Sequence[str]) -> int:
    """How many of the words before a mention turn it down."""
    if _denies_nothing(ahead):
        return 0
    negations = sum(word in words.NOT_LEFT for word in ahead)
    if has_any(ahead, words.CONCORD):
        negations = 1
    elif "ne" in ahead and "pas" in ahead:
        negations -= 1  # one negation in French
    negations += any(pair in words.NOT_LEFT_PAIRS for pair in itertools.pairwise(ahead))
    # "less likely than B" praises B: both words are in the list
    return negations - 2 if "less" in ahead and "than" in ahead else negations


# --- the words behind a mention


def _behind(doc: Doc, mentions: Sequence[Mention], n: int, j: int) -> Verdict:
    """The verdict of the words after a mention, up to the clause's end or the next mention."""
    mention = mentions[n]
    following = mentions[n + 1].i if n + 1 < len(mentions) else None
    if (verdict := _outright(doc, mention, following, j)) is not None:
        return verdict
    end = min(j, j if following is None else following, mention.j + WINDOW)
    window = _window_behind(doc, mention, following, end)
    if not window:
        return "named"
    if end == following and len(window) == end - mention.j:
        window = _first_part(window)
    return _weigh_behind(window)


def _outright(doc: Doc, mention: Mention, following: int | None, j: int) -> Verdict | None:
    """The verdict of a tick, of a remark at the end of a line, or of "but it is wrong"; null without."""
    verdict = _ticked(doc, mention)
    if verdict is None and following is None:
        verdict = remark(doc, mention, j)
    limit = j if following is None else following
    if verdict is None and (but_wrong(doc, mention, limit) or denies_merit(doc, mention, limit)):
        return "rejected"
    return verdict


def _weigh_behind(window: Sequence[str]) -> Verdict:
    """The verdict of the words behind a mention."""
    if _runner_up(window):
        return "rejected"
    negations = 0 if _denies_nothing(window) else denials(window)
    if negations % 2:
        return "rejected"
    if window[0] == "would" and has_any(window[1:3], words.FORESEES):
        return "tentative"
    return "chosen" if not negations and has_any(window, words.CHOSEN_RIGHT) else "named"


def _window_behind(doc: Doc, mention: Mention, following: int | None, end: int) -> list[str]:
    """The words of the clause that says something of a mention, up to token `end`."""
    if mention.j >= end or not _says_of(doc, mention, following):
        return []
    window = [doc.forms[mention.j]]
    for k in range(mention.j + 1, end):
        if doc.forms[k] in words.RESET or (doc.breaks[k] > NONE and not only_quotes(doc, k)):
            break
        window.append(doc.forms[k])
    return window


def _says_of(doc: Doc, mention: Mention, following: int | None) -> bool:
    """True if the word behind a mention begins what is said of it. The next mention is at `following`."""
    k = mention.j
    form, strength, gap = doc.forms[k], doc.breaks[k], doc.gap(k)
    pair = tuple(doc.forms[k : k + 2])
    judges = form in JUDGES or form in {"which", "who"} or pair in words.NOT_RIGHT_PAIRS
    heads_next = strength > NONE and ":" in doc.gap(k + 1) and doc.breaks[mention.i] < LINE
    if strength >= SENTENCE or ";" in gap or heads_next:  # "D. Wrong: A"
        return False
    if strength == NONE:
        if form in words.NO_PREDICATES or not (judges or form in words.PREDICATE):
            return form == "no" and doc.ends(k + 1)  # "la B no"
    elif not judges and (not only_quotes(doc, k) or "(" in gap or "[" in gap):
        return False
    return doc.ends(k + 1) or not _turns_to_another(doc, mention, following)


def _turns_to_another(doc: Doc, mention: Mention, following: int | None) -> bool:
    """True if a negation behind a mention is not about it: "B, not A", "E: pneumothorax, no drain"."""
    k = mention.j
    loose = doc.breaks[k] > NONE and not only_quotes(doc, k)
    if following != k and denies_another(doc, mention):
        return True
    is_near = following is not None and following <= k + 3
    if doc.forms[k] in {"less", "least"}:
        return loose and is_near  # "A, less likely B"
    # "B, not A" turns A down; "B: not associated" turns B down
    return doc.forms[k] in words.DENIALS and (doc.breaks[k] == COMMA or is_near)


def _runner_up(window: Sequence[str]) -> bool:
    """True for "second best", and for "second best option"."""
    last = window[:-1] if window[-1] in words.CHOICE_NOUNS and len(window) > 2 else window
    return tuple(last[-2:]) in words.RUNNERS_UP or tuple(window[-2:]) in words.RUNNERS_UP


def _ticked(doc: Doc, mention: Mention) -> Verdict | None:
    """The verdict of a tick or a cross: behind the mention, or before it at the head of a line."""
    marks = doc.gap(mention.j).split("\n")[0]
    if doc.breaks[mention.i] >= LINE:
        marks += doc.gap(mention.i).split("\n")[-1]
    if any(c in "❌✗✘✖☐" for c in marks):
        return "rejected"
    return "chosen" if any(c in "✅✓✔☑" for c in marks) else None


def _first_part(window: list[str]) -> list[str]:
    """The words between two mentions that belong to the first: "is wrong" of "is wrong (and B ...)"."""
    for k in range(len(window) - 1, 0, -1):
        if window[k] in {"and", "or", "nor"}:
            return window[:k]
    return window
