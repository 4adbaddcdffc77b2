"""What a stretch of an answer says about the options: named, chosen, turned down or only weighed."""

import itertools
from collections.abc import Iterable
from typing import NamedTuple

from vivavoce.formats import words
from vivavoce.formats.match import Mention, Options
from vivavoce.formats.remarks import WINDOW, Verdict, behind, only_quotes
from vivavoce.formats.tokens import CLAUSE, COMMA, NONE, SENTENCE, Doc

__all__ = ["Said", "Verdict", "chain", "joined", "said"]


class Said(NamedTuple):
    """A mention and what is said about it."""

    mention: Mention
    verdict: Verdict

    @property
    def names(self) -> tuple[int, ...]:
        """The options named; empty for a contradiction of letter and text."""
        return self.mention.names


def said(
    doc: Doc, options: Options, texts: Iterable[Mention], i: int, j: int, *, claimed: bool = False
) -> list[Said]:
    """The mentions in tokens i to j-1, each with its verdict. `texts` are the texts named there, in order."""
    mentions = _with_labels(doc, options, list(texts), i, j, claimed=claimed)
    left = [_left(doc, mentions, n, i) for n in range(len(mentions))]
    right = [behind(doc, mentions, n, j) for n in range(len(mentions))]
    # "not A or B" turns both down, "A, B and D are wrong" all three; a bare comma carries nothing
    for n in range(1, len(mentions)):
        if left[n] != "named":
            continue
        if left[n - 1] in {"rejected", "tentative"} and _listed(doc, mentions, n):
            left[n] = left[n - 1]
        elif left[n - 1] == "chosen" and _listed(doc, mentions, n) and not _subject(doc, mentions, n):
            left[n] = "chosen"
    for n in range(1, len(mentions)):
        if left[n] == "tentative" and left[n - 1] in {"chosen", "named"} and _alternative(doc, mentions, n):
            left[n] = left[n - 1]
    carried = False
    for n in range(len(mentions) - 2, -1, -1):
        a, b = mentions[n], mentions[n + 1]
        carried = (
            right[n] == "named"
            and right[n + 1] != "named"
            and ((carried and joined(doc, a, b)) or _carried(doc, mentions, n, j))
        )
        if carried:
            right[n] = right[n + 1]
    return [Said(m, _both(a, b)) for m, a, b in zip(mentions, left, right, strict=True)]


def joined(doc: Doc, a: Mention, b: Mention) -> bool:
    """True if two mentions are named together: only commas and words like "and" or "or" between them."""
    return all(doc.breaks[k] <= COMMA or only_quotes(doc, k) for k in range(a.j, b.i + 1)) and all(
        doc.forms[k] in words.JOINERS for k in range(a.j, b.i)
    )


def chain(doc: Doc, found: list[Said], start: int) -> list[Said]:
    """The mention at `start` and those joined to it."""
    linked = [found[start]]
    for after in found[start + 1 :]:
        a, b = linked[-1].mention, after.mention
        if not joined(doc, a, b) and not _bracket_or(doc, a, b):
            break
        linked.append(after)
    return linked


def _with_labels(
    doc: Doc, options: Options, texts: list[Mention], i: int, j: int, *, claimed: bool
) -> list[Mention]:
    starts = {m.i: m for m in texts}
    found: list[Mention] = []
    k = i
    while k < j:
        text = starts.get(k)
        if text is not None and text.j <= j:
            found.append(_text_then_label(doc, options, text, j))
            k = found[-1].j
            continue
        listed = bool(found) and found[-1].by == "label" and _follows(doc, found[-1].j, k)
        listed = listed or _opens(doc, options, starts, k, j)
        which = options.label_at(doc, k, claimed=claimed or listed, i=i)
        if which is not None:
            found.append(_label_then_text(doc, options, k, which, starts, j))
            k = found[-1].j
            continue
        k += 1
    return found


def _follows(doc: Doc, j: int, k: int) -> bool:
    """True if a list goes on from token j to token k: "A, B or C"."""
    return k - j <= 2 and doc.breaks[k] <= COMMA and all(w in words.JOINERS for w in doc.forms[j:k])


def _opens(doc: Doc, options: Options, starts: dict[int, Mention], k: int, j: int) -> bool:
    """True if token k is a letter that another option is joined to: "A or B", "B (if pregnant) or C"."""
    if doc.surface(k, k + 1) not in options.labels:
        return False
    at = k + 1
    if at < j and doc.gap(at).strip() == "(":
        while at < j and at - k < 8 and ")" not in doc.gap(at):
            at += 1
    first = at
    while at < j and at - first < 3 and doc.forms[at] in words.JOINERS and at not in starts:
        if doc.surface(at, at + 1) in options.labels:
            break
        at += 1
    if at >= j or not (any(w in words.HEDGES for w in doc.forms[first:at]) or doc.breaks[at] == COMMA):
        return False
    return at in starts or options.label_at(doc, at, claimed=True) is not None


def _subject(doc: Doc, mentions: list[Mention], n: int) -> bool:
    """True if the last of the mentions joined to mention n begins a clause: "B, and A takes too long"."""
    last = mentions[n]
    for m in mentions[n + 1 : n + 40]:
        if not joined(doc, last, m):
            break
        last = m
    return last.j < len(doc) and doc.breaks[last.j] == NONE and doc.forms[last.j] in words.PREDICATE


def _bracket_or(doc: Doc, a: Mention, b: Mention) -> bool:
    """True for "B (if pregnant) or C"."""
    k = b.i - 1
    return (
        a.j < k <= a.j + WINDOW
        and doc.forms[k] in words.HEDGES
        and (doc.gap(a.j).strip(" *_"), doc.gap(k).strip(" *_")) == ("(", ")")
    )


def _alternative(doc: Doc, mentions: list[Mention], n: int) -> bool:
    """True if mention n is left as open as the one before: "A, but it might also be B", "A (if ...) or B"."""
    if _bracket_or(doc, mentions[n - 1], mentions[n]):
        return True
    between = doc.forms[mentions[n - 1].j : mentions[n].i]
    may = any(w in words.MAYS for w in between)
    return may and ("also" in between or "or" in between) and len(between) <= WINDOW


def _text_then_label(doc: Doc, options: Options, text: Mention, j: int) -> Mention:
    """A text with its letter, "Heparin (B)": they must agree."""
    k = text.j
    if k >= j or doc.gap(k).strip(" *_") not in {"(", "["}:
        return text
    if doc.forms[k] in words.LABEL_NOUNS and k + 1 < j:
        k += 1
    which = options.label_at(doc, k, claimed=True) if doc.gap(k + 1)[:1] in {")", "]", "）"} else None
    if which is None:
        return text
    return Mention(text.i, k + 1, text.names if which in text.names else (), "both")


def _label_then_text(
    doc: Doc, options: Options, k: int, which: int, starts: dict[int, Mention], j: int
) -> Mention:
    """A letter with its text, "B. Heparin", "B (Heparin)", "B: Heparin": they must agree.

    A sentence about another option after the letter is no contradiction: "C. Aspirin is not enough".
    """
    names = (which,) if which >= 0 else ()
    at = k + 1
    while at < j and doc.forms[at] in {"(-)", "=", "→", "(+)"}:
        at += 1
    text = starts.get(at)
    if text is not None and text.j <= j and (doc.breaks[at] in {NONE, CLAUSE} or doc.breaks[at] == SENTENCE):
        if which in text.names:
            return Mention(k, text.j, names, "both")
        if _appositive(doc, text):
            return Mention(k, text.j, (), "both")
    elif (
        at < j
        and which >= 0
        and doc.breaks[at] in {NONE, CLAUSE}
        and _other_quantity(doc, options, at, which)
    ):
        return Mention(k, at + 1, (), "both")
    return Mention(k, k + 1, names, "label")


def _appositive(doc: Doc, text: Mention) -> bool:
    """True if the text stands by the letter as its name, not as the subject of a sentence."""
    return text.j >= len(doc) or doc.breaks[text.j] > NONE or doc.forms[text.j] not in words.PREDICATE


def _other_quantity(doc: Doc, options: Options, at: int, which: int) -> bool:
    """True for "B. 25 mg" where option B is another quantity."""
    text = options.texts[which].strip()
    return doc.tokens[at].kind == "n" and text[:1].isdigit() and (doc.ends(at + 1) or doc.ends(at + 2))


def _left(doc: Doc, mentions: list[Mention], n: int, i: int) -> Verdict:
    """The verdict of the words before a mention, back to the clause's beginning or the mention before."""
    m = mentions[n]
    stop = max(i, mentions[n - 1].j if n else i, m.i - WINDOW)
    window: list[str] = []
    for k in range(m.i - 1, stop - 1, -1):
        if doc.breaks[k + 1] > NONE and not only_quotes(doc, k + 1):
            if not window and _rejecting_head(doc, k, i):
                return "rejected"
            break
        if (
            doc.forms[k] in words.RESET
            and not (doc.forms[k] == "but" and doc.forms[k - 1] in words.ALL_BUT)
            and not (window and (doc.forms[k], window[-1]) in words.NOT_LEFT_PAIRS)
            and not (window and window[-1] == "than")
        ):
            return _weigh_left(window, conclusion=doc.forms[k] in {"so", "therefore", "thus", "hence"})
        window.append(doc.forms[k])
    else:
        if n and stop == mentions[n - 1].j and window:
            # "B is less likely than C": what was said of B is not said of C
            return _weigh_left(_after_comparison(window), conclusion=False)
    return _weigh_left(window, conclusion=False)


def _rejecting_head(doc: Doc, k: int, i: int) -> bool:
    """True if token k ends a label that turns down what follows: "Incorrect: B"."""
    start = k
    while start > i and k - start < 3 and doc.breaks[start] == NONE:
        start -= 1
    head = doc.forms[start : k + 1]
    return (
        ":" in doc.gap(k + 1)
        and doc.breaks[start] >= CLAUSE
        and any(w in words.REJECTING_HEADS for w in head)
        and "true" not in head
    )


def _after_comparison(window: list[str]) -> list[str]:
    """The reversed window between two mentions without the predicate of the first."""
    ahead = window[::-1]
    if ahead[0] not in words.PREDICATE:
        return window
    if "than" in ahead or "as" in ahead[2:]:
        worse = any(w in words.NOT_RIGHT for w in ahead)
        return [] if worse else window
    for k in range(len(ahead) - 1, 0, -1):
        if ahead[k] in {"and", "or", "as"}:
            return ahead[k + 1 :][::-1]
    return window


def _weigh_left(window: list[str], *, conclusion: bool) -> Verdict:
    """`window` runs backwards from the mention."""
    ahead = window[::-1]
    if "whether" in ahead or "if" in ahead:
        return "tentative"
    negations = sum(w in words.NOT_LEFT for w in ahead)
    negations += sum(pair in words.NOT_LEFT_PAIRS for pair in itertools.pairwise(ahead))
    if "less" in ahead and "than" in ahead:
        negations -= 2
    if any(w in words.NO_NEGATION for w in ahead):
        negations = 0
    if negations % 2:
        return "rejected"
    if any(w in words.TENTATIVE_LEFT for w in ahead):
        return (
            "tentative" if not any(w in {"choose", "select", "pick", "answer"} for w in ahead) else "chosen"
        )
    return "chosen" if conclusion or any(w in words.CHOSEN_LEFT for w in ahead) else "named"


def _listed(doc: Doc, mentions: list[Mention], n: int) -> bool:
    """True if mention n is joined to the one before by "or", "nor" or "and", at the end of commas too."""
    for k in range(n, min(len(mentions), n + 40)):
        if not joined(doc, mentions[k - 1], mentions[k]):
            return False
        between = doc.forms[mentions[k - 1].j : mentions[k].i]
        if between:
            return any(w in {"or", "nor", "and", "/", "&", "ni", "oder", "ou"} for w in between)
    return False


def _carried(doc: Doc, mentions: list[Mention], n: int, j: int) -> bool:
    """True if the verdict after mention n+1 is about mention n too."""
    a, b = mentions[n], mentions[n + 1]
    if not joined(doc, a, b):
        return False
    if ":" in doc.gap(b.j):
        return True
    plural = b.j < j and doc.forms[b.j] in {"are", "were", "arent", "do", "dont", "cannot", "can"}
    return plural or any(w in {"and", "or", "nor", "&", "/"} for w in doc.forms[a.j : b.i])


def _both(left: Verdict, right: Verdict) -> Verdict:
    if "rejected" in (left, right):
        return "rejected"
    if "chosen" in (left, right):
        return "chosen"
    return "tentative" if "tentative" in (left, right) else "named"
