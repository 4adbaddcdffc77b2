"""Lists that are given by their exceptions: "All of these except D"."""

from collections.abc import Sequence

from vivavoce.language.tokens import CLAUSE, Doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading.list_reader import Listed, ListReader
from vivavoce.reading.verdicts import JudgedMention, all_but, chain, only_quotes

_BEFORE_ALL = words.FILLERS - words.ALL_BUT - words.NONE_BUT - words.NOT_LEFT - {"but", "rather"}
_BEFORE_EXCEPTED = words.LABEL_NOUNS | {"for", "the", "from", "of", "than"}
_LEAVES_OPEN = words.HEDGES | {"possibly", "maybe", "perhaps", "probably", "one", "some"}


def all_except(reader: ListReader) -> Listed | None:
    """The list of the first sentence that gives it by its exceptions; None if there is no such sentence.

    Unreadable where entries before or behind that sentence say otherwise.
    """
    for i, j in reader.clauses():
        listed = _all_except(reader, i, j)
        if listed is not None:
            return _agreed(reader, listed, i, j)
    return None


def _all_except(reader: ListReader, i: int, j: int) -> Listed | None:
    """The list of a sentence such as "All of these except D"; the exceptions where it calls all others wrong.

    None for any other sentence. It has a reason where the exceptions are left open, or are no options.
    """
    doc = reader.doc
    head, mark = _marks(reader, i, j)
    if mark == j:
        return None
    end = next((k for k in range(mark + 1, j) if doc.breaks[k] >= CLAUSE and not only_quotes(doc, k)), j)
    judged = reader.judged(mark + 1, end, claimed=True)
    if not judged:
        return None
    linked = chain(doc, judged, 0)
    reason = _unclear(doc, mark, end, linked)
    if reason:
        return Listed(reason=reason)
    return _list(reader, linked, denied=_denied(doc, head, mark, end, linked))


def _marks(reader: ListReader, i: int, j: int) -> tuple[int, int]:
    """Where "all" and "except" stand in tokens i to j-1; both are j where they do not."""
    doc = reader.doc
    head = next((k for k in range(i, j) if doc.forms[k] not in _BEFORE_ALL), j)
    if head == j or doc.forms[head] not in words.ALL_BUT | words.NONE_BUT:
        return j, j
    mark = next((k for k in range(head + 1, j) if _excepts(doc, k, i)), j)
    return (j, j) if reader.judged(head, mark, claimed=True) else (head, mark)


def _unclear(doc: Doc, mark: int, end: int, linked: Sequence[JudgedMention]) -> str | None:
    """Why the exceptions that are linked behind token `mark` cannot be read; None if they can."""
    if any(len(s.names) != 1 for s in linked) or has_any(doc.forms[mark:end], _LEAVES_OPEN):
        return "it leaves open which options are excepted"
    return None if _only_excepted(doc, mark, linked) else "it excepts what is no option"


def _denied(doc: Doc, head: int, mark: int, end: int, linked: Sequence[JudgedMention]) -> bool:
    """True if the sentence turns down all the others: "none but D", "all except D are wrong"."""
    clause = [*doc.forms[head:mark], *doc.forms[linked[-1].mention.j : end]]
    denials = sum(word in words.NOT_RIGHT for word in clause) + (doc.forms[head] in words.NONE_BUT)
    return denials % 2 == 1


def _list(reader: ListReader, linked: Sequence[JudgedMention], *, denied: bool) -> Listed:
    """All options but the exceptions; the exceptions alone where all others are denied."""
    excepted = {name for s in linked for name in s.names}
    return Listed(tuple(n for n in range(len(reader.options)) if (n in excepted) == denied), (), True)


def _excepts(doc: Doc, k: int, i: int) -> bool:
    """True if token k begins an exception: "except", "apart from", "all of them but"; not "..., but"."""
    if doc.forms[k] == "but":
        return all_but(doc, k, i) is not None
    return doc.forms[k] in words.EXCEPTS or (doc.forms[k - 1], doc.forms[k]) in words.EXCEPT_PAIRS


def _only_excepted(doc: Doc, mark: int, linked: Sequence[JudgedMention]) -> bool:
    """True if nothing but options is excepted: not "all except A and itching"."""
    if not _BEFORE_EXCEPTED.issuperset(doc.forms[mark + 1 : linked[0].mention.i]):
        return False
    k = linked[-1].mention.j
    return doc.ends(k) or doc.forms[k] in words.PREDICATE | words.EXPLAINS


def _agreed(reader: ListReader, listed: Listed, i: int, j: int) -> Listed:
    """The list of the sentence in tokens i to j-1, unless entries before or behind it say otherwise."""
    if listed.reason:
        return listed
    preceding, following = reader.stretch(0, i), reader.stretch(j, len(reader.doc))
    differs = preceding.strict and preceding.names and set(preceding.names) != set(listed.names)
    if differs or (following.strict and not set(following.names) <= set(listed.names)):
        return Listed(reason="two final answers that disagree")
    return listed
