"""Lists that are given by their exceptions, "All of these except D", "B以外すべて", or by a range, "A to D".

English has a grammar for them, in which other words may stand. In every language a clause counts whose words
are all known: some speak of all options, some take out, and the options that it names are the exceptions.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Literal

from vivavoce.core.text import label, lazy_pattern
from vivavoce.language.languages import Language, codes, language
from vivavoce.language.tokens import CLAUSE, COMMA, SENTENCE, Doc, cached_doc, has_any, recent_doc
from vivavoce.reading import lexicon as words
from vivavoce.reading.answer_markers import cue_word
from vivavoce.reading.label_places import noun_before, without_particle
from vivavoce.reading.labels import joining_and_articles
from vivavoce.reading.list_reader import Listed, ListReader
from vivavoce.reading.mentions import only_quotes
from vivavoce.reading.options import Options
from vivavoce.reading.verdicts import JudgedMention, all_but, chain

_BEFORE_ALL = words.FILLERS - words.ALL_BUT - words.NONE_BUT - words.NOT_LEFT - {"but", "rather"}
_HEADS = words.ALL_BUT | words.NONE_BUT
_BEHIND_EXCEPTED = words.PREDICATE | words.EXPLAINS
_BEFORE_EXCEPTED = words.LABEL_NOUNS | {"for", "the", "from", "of", "than"}
_DASH = r"\s?[–—~〜～]\s?"
"""A hyphen may join two options as well: "A-E"."""
_DASHES = lazy_pattern("[–—~〜～]")
_BEFORE = 24
"""Characters before a range that may name what its letters belong to: "hepatitis A to E"."""
_CLAUSE = 100
"""Characters on each side of a range that may deny it."""
_LEAVES_OPEN = words.HEDGES | {"possibly", "maybe", "perhaps", "probably", "one", "some", "any", "between"}
_AND_BEFORE = dict.fromkeys(
    ("are", "were", "arent", "dont", "cannot", "sind", "son", "sont", "sono"), " and "
)
_NO_RANGE = words.RETRACTIONS | {"but", "compared"}


def all_except(reader: ListReader) -> Listed | None:
    """The list of the first sentence that gives it by its exceptions; None if there is no such sentence.

    Unreadable where entries before or behind that sentence say otherwise.
    """
    has_heads = has_any(reader.doc.forms, _HEADS)
    if not has_heads and _marking_words("except", "only").isdisjoint(reader.doc.forms):
        return None
    for i, j in reader.clauses():
        listed = (_all_except(reader, i, j) if has_heads else None) or _in_known_words(reader, i, j)
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
    if head == j or doc.forms[head] not in _HEADS:
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
    return _all_but_these(reader, excepted, denied=denied)


def _all_but_these(reader: ListReader, excepted: set[int], *, denied: bool) -> Listed:
    """All options but the exceptions; the exceptions alone where all others are denied."""
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
    return doc.ends(k) or doc.forms[k] in _BEHIND_EXCEPTED


def _agreed(reader: ListReader, listed: Listed, i: int, j: int) -> Listed:
    """The list of the sentence in tokens i to j-1, unless entries before or behind it say otherwise."""
    if listed.reason:
        return listed
    preceding, following = reader.stretch(0, i), reader.stretch(j, len(reader.doc))
    listings = (set(part.names) for part in (preceding, following) if part.strict and part.names)
    if any(names != set(listed.names) for names in listings):
        return Listed(reason="two final answers that disagree")
    return listed


# --- in any language

_Part = Literal["all", "except", "only", "none", "wrong", "denial", "light"]
_Named = tuple[int, int, int]
"""Where an option is named, from one token to another, and its place; -1 for what is no option."""
_OTHERS = words.OTHERS | {"other", "others"}
_ALL = frozenset({"all", "everything"})
_LONGEST = 5
"""Words of a phrase such as "con la excepción de", or characters of one without spaces."""


def _in_known_words(reader: ListReader, i: int, j: int) -> Listed | None:
    """The list of a sentence in any language with an exception in a clause whose words are all known.

    None for a sentence that excepts nothing; a reason where unknown words stand beside the exception.
    """
    doc = reader.doc
    kinds: tuple[tuple[_Part, Callable[[ListReader, int, int], Listed | None]], ...] = (
        ("except", _excepting),
        ("only", _but_only_these),
    )
    grammars = [grammar for mark, grammar in kinds if has_any(doc.forms[i:j], _marking_words(mark))]
    places = _clauses(doc, i, j) if grammars else ()
    clauses = (grammar(reader, a, b) for a, b in places for grammar in grammars)
    return next((listed for listed in clauses if listed is not None), None)


def _excepting(reader: ListReader, a: int, b: int) -> Listed | None:
    """The list of a clause that excepts options of all or none, or why it cannot be read; else null."""
    doc, named = reader.doc, _named(reader, a, b)
    kinds: set[str] = set().union(*(part or {"unknown"} for part in _parts_of(doc, a, b, named)))
    if not named or "except" not in kinds or kinds.isdisjoint({"all", "none"}):
        return None
    if "unknown" in kinds and has_any(doc.forms[a:b], words.EXCEPTS):
        return None  # English has its own grammar, in which other words may stand
    if (reason := _why_not(doc, kinds, named)) is not None:
        return Listed(reason=reason)
    excepted = {place for _, _, place in named}
    return _all_but_these(reader, excepted, denied=("wrong" in kinds) != ("none" in kinds))


def _but_only_these(reader: ListReader, a: int, b: int) -> Listed | None:
    """The list of "only D and E are wrong": all options but these; null for any other clause.

    None as well where another clause could begin within, or other words stand beside.
    """
    doc, named = reader.doc, _named(reader, a, b)
    parts = list(_parts_of(doc, a, b, named))
    denials = sum(has_any({"wrong", "denial"}, part) for part in parts)
    if not denials or not _say_only(parts) or not _are_alone(doc, named):
        return None
    listed = _all_but_these(reader, {place for _, _, place in named}, denied=denials % 2 == 0)
    earlier = reader.judged(doc.last_break(a, SENTENCE), a, claimed=True)
    if {name for s in earlier for name in s.names} in (set(), set(listed.names)):
        return listed
    return Listed(reason="two final answers that disagree")  # "A and B. Only C is wrong."


def _say_only(parts: Sequence[frozenset[_Part]]) -> bool:
    """True if known words say that nothing else is, and not "not only"."""
    kinds: set[str] = set().union(*parts)
    is_known = all(parts) and kinds.isdisjoint({"all", "none", "except"})
    not_only = any("denial" in x and "only" in y for x, y in itertools.pairwise(parts))
    return is_known and "only" in kinds and not not_only


def _are_alone(doc: Doc, named: Sequence[_Named]) -> bool:
    """True if options are named in one row, and no others: not in "A and B only, no others"."""
    if not named or _are_open(doc, named):
        return False
    gaps = (k for x, y in itertools.pairwise(named) for k in range(x[1], y[0]))
    is_row = joining_and_articles().issuperset(doc.forms[k] for k in gaps)
    return is_row and not has_any(doc.forms[named[0][0] : named[-1][1] + _LONGEST], _OTHERS)


def _why_not(doc: Doc, kinds: set[str], named: Sequence[_Named]) -> str | None:
    """Why the exceptions of a clause cannot be read; null if they can."""
    if not kinds.isdisjoint({"denial", "unknown"}):
        return "it excepts options among words that are not known"
    return "it leaves open which options are excepted" if _are_open(doc, named) else None


def _are_open(doc: Doc, named: Sequence[_Named]) -> bool:
    """True if "or" stands between two exceptions, or one is no option."""
    if any(place < 0 for _, _, place in named):
        return True
    return any(has_any(doc.forms[x[1] : y[0]], _ors()) for x, y in itertools.pairwise(named))


def _clauses(doc: Doc, i: int, j: int) -> Iterator[tuple[int, int]]:
    """The clauses of tokens i to j-1 up to a reason; brackets around an exception part none."""
    starts = [i, *(k for k in range(i + 1, j) if doc.breaks[k] >= CLAUSE and not only_quotes(doc, k))]
    for a, b in zip(starts, [*starts[1:], j], strict=True):
        yield a, next((k for k in range(a + 1, b) if doc.forms[k] in _reasons()), b)


def _named(reader: ListReader, i: int, j: int) -> list[_Named]:
    """The options named in tokens i to j-1, in order; a capital that may be a label is one."""
    judged = reader.judged(i, j, claimed=True)
    named = [(s.mention.i, s.mention.j, s.names[0] if len(s.names) == 1 else -1) for s in judged]
    covered = {k for a, b, _ in named for k in range(a, b)}
    labels = reader.options.labels
    for k in set(range(i, j)) - covered:
        text = without_particle(reader.doc.surface(k, k + 1))
        if text in labels and not text.islower() and not noun_before(reader.doc, k):
            named.append((k, k + 1, labels[text]))
    return sorted(named)


def _parts_of(doc: Doc, i: int, j: int, named: Iterable[_Named]) -> Iterator[frozenset[_Part]]:
    """What the words of tokens i to j-1 besides options do, the longest phrase first; empty if unknown."""
    ends = {a: b for a, b, _ in named}
    parts, k = _parts(), i
    while k < j:
        if k in ends:
            k = ends[k]
            continue
        widths = range(min(_LONGEST, j - k), 0, -1)
        width = next((n for n in widths if tuple(doc.forms[k : k + n]) in parts), 0)
        yield parts[tuple(doc.forms[k : k + width])] if width else frozenset()
        k += max(width, 1)


@cache
def _parts() -> Mapping[tuple[str, ...], frozenset[_Part]]:
    """What phrases do beside options in clauses that except some, by their forms."""
    listed: tuple[tuple[_Part, Callable[[Language], tuple[str, ...]]], ...] = (
        ("denial", lambda words: (*words.not_, *words.reject)),
        ("light", lambda words: (*words.light, *words.affirm, *words.articles, *words.lead_ins, *words.ands)),
        ("light", lambda words: (*words.label_nouns, *words.right, *words.cues, *words.ors)),
        ("wrong", lambda words: words.wrong),
        ("none", lambda words: words.nones),
        ("all", lambda words: words.alls),
        ("except", lambda words: words.excepts),
        ("only", lambda words: words.onlys),
    )
    english: dict[_Part, frozenset[str]] = {"all": _ALL, "except": words.EXCEPTS - {"but", "save", "bar"}}
    parts: dict[tuple[str, ...], set[_Part]] = {(word,): {"light"} for word in words.LIGHT | words.FILLERS}
    parts |= {(word,): {"denial"} for word in words.NOT_LEFT}
    for kind, words_of in listed:
        for code in codes():
            for word in words_of(language(code)):
                kinds = parts.setdefault(tuple(Doc(word).forms), set())
                kinds.discard("denial" if kind != "light" else "light")
                kinds.add(kind)
    parts |= {(word,): {kind} for kind, listed_words in english.items() for word in listed_words}
    return {forms: frozenset(kinds) for forms, kinds in parts.items()}


@cache
def _marking_words(*marks: _Part) -> frozenset[str]:
    """The longest words of the phrases that except, or say that nothing else is."""
    phrases = [forms for forms, kinds in _parts().items() if not kinds.isdisjoint(marks)]
    return frozenset(max(forms, key=len) for forms in phrases)


@cache
def _ors() -> frozenset[str]:
    """The words that leave two exceptions open, in any language."""
    ors = (form for code in codes() for word in language(code).ors for form in Doc(word).forms)
    return words.HEDGES | frozenset(ors)


@cache
def _reasons() -> frozenset[str]:
    """The words that begin a reason, in any language; of two characters or more."""
    reasons = (Doc(word).forms for code in codes() for word in language(code).reasons)
    return words.REASONS - {"as", "given", "since"} | {forms[0] for forms in reasons if len(forms) == 1}


def speaks_of_options(text: str, options: Options) -> bool:
    """True for a text that is no option and may turn options down, or speak of all or none of them.

    It holds a word of a language but English for that, or a label beside other words. A label with the text
    of another option, "B: Pruritus", is a wrong entry.
    """
    doc = cached_doc(text)
    kinds = {kind for part in _parts_of(doc, 0, len(doc), ()) for kind in part}
    if kinds & {"all", "except", "none"} and kinds.issubset({"all", "except", "none", "light"}):
        return True
    first = len(doc) > 1 and doc.gap(1).strip("*_ ")[:1] in {".", ":", "(", ")", "]"}
    places = range(1 if first else 0, len(doc))
    return len(doc) > 1 and any(_is_label(doc, options, k) for k in places)


def _is_label(doc: Doc, options: Options, k: int) -> bool:
    return doc.surface(k, k + 1) in options.labels and options.may_stand(doc, k)


# --- ranges: "A to D", "A–E", "de la A a la D" name all options from one to the other


@cache
def _ranges() -> re.Pattern[str]:
    """Two labels with a dash between them, or words of any language that lead from one to the other."""
    links = "|".join(
        [_DASH, *(rf"\s{{0,3}}(?i:{_phrase(link)})\s{{0,3}}" for link in [*_links(), *_pairs()])]
    )
    marks = r"[()\[\]*\"'“”]{0,3}"
    return re.compile(
        rf"(?<![\w–—-])(?<![–—-]\s)(?P<begin>[A-Z]){marks}(?P<link>{links}){marks}(?P<end>[A-Z])"
        r"(?:まで|까지)?(?![A-Za-z0-9_–—-]|\s?[–—-]\s?[A-Z]\b)"
    )


@cache
def _links() -> frozenset[str]:
    """What leads from one label to another by itself: "to"."""
    return frozenset(word for code in codes() for word in language(code).ranges if "…" not in word)


@cache
def _pairs() -> Mapping[str, re.Pattern[str]]:
    """What leads from one label to another behind other words, and these: "de la … a la"."""
    ways = [word.split(" … ") for code in codes() for word in language(code).ranges if "…" in word]
    heads = {link: "|".join(_phrase(head) for head, mid in ways if mid == link) for _, link in ways}
    return {link: re.compile(rf"(?<!\w)(?i:{head})\W{{0,3}}\Z") for link, head in heads.items()}


@cache
def _range_words() -> frozenset[str]:
    """A word of each link or of what must stand before it, where such a word leads to no range by itself."""
    pairs = [word.split(" … ")[0] for code in codes() for word in language(code).ranges if "…" in word]
    return frozenset(Doc(word).forms[0] for word in (*_links(), *pairs))


def _phrase(phrase: str) -> str:
    return re.escape(phrase).replace(r"\ ", r"\s")


def with_ranges_written_out(text: str, options: Options) -> str:
    """`text` with every label from the first to the last of a range; what options hold stays as it is."""
    if _range_words().isdisjoint(recent_doc(text).forms) and not _DASHES.search(text):
        return text
    parts, place = list[str](), 0
    for match in _ranges().finditer(text):
        labels = [name for name in map(label, range(len(options))) if match["begin"] <= name <= match["end"]]
        start = _start(match, place)
        if start is None or len(labels) < 2 or labels[-1] != match["end"]:
            continue
        joiner = _joiner(match, start, options)
        if joiner is None:
            continue
        parts += [text[place:start], ", ".join(labels[:-1]), joiner, labels[-1]]
        place = match.end()
    return "".join([*parts, text[place:]])


def _start(match: re.Match[str], place: int) -> int | None:
    """Where a range begins, with the words before it; null for a link that lacks those: "A a B"."""
    link = " ".join(match["link"].lower().split())
    heads = _pairs().get(link)
    head = heads.search(match.string, max(place, match.start() - _BEFORE), match.start()) if heads else None
    if head is not None:
        return head.start()
    return match.start() if heads is None or link in _links() else None


def _joiner(match: re.Match[str], start: int, options: Options) -> str | None:
    """What joins the last label of a range to the others; null for no range, "I changed it from A to C".

    A comma by itself or among known words, "or" in "any of A to C", "and" in "A to C are wrong".
    """
    if _is_of_a_name(match, options):
        return None
    place = match.end()
    lead = Doc(f"{match.string[max(0, start - _CLAUSE) : start]}A")
    tail = Doc(f"A{match.string[place : place + _CLAUSE]}")
    first, end = lead.last_break(len(lead) - 1, SENTENCE), tail.sentence_end(0)
    comma = next((k for k in range(1, end) if tail.breaks[k] >= COMMA), end)
    clause = [*lead.forms[first:-1], *tail.forms[1:comma]]
    if has_any(clause, _NO_RANGE):
        return None
    if has_any(clause, _LEAVES_OPEN) or has_any(clause, words.NOT_RIGHT - {"not"}):
        return " or " if has_any(clause, _LEAVES_OPEN) else _AND_BEFORE.get("".join(tail.forms[1:2]))
    return ", " if _is_known(lead, first, tail, comma, options) else None


def _is_known(lead: Doc, first: int, tail: Doc, comma: int, options: Options) -> bool:
    """True if the words before a range, and those behind it up to the comma, are known and deny nothing."""
    leads = list(_parts_of(lead, first, len(lead), _labels(lead, options)))
    tails = list(_parts_of(tail, 0, comma, _labels(tail, options)))
    kinds: set[str] = set().union(*leads)
    if not all(leads) or ("except" in kinds and "all" not in kinds):
        return False
    is_known = has_any(tail.forms[1:2], words.COPULA) or all(tails)
    return is_known and kinds.union(*tails).isdisjoint({"denial", "wrong", "none"})


def _labels(doc: Doc, options: Options) -> list[_Named]:
    """The tokens that are labels, or words for an answer."""
    tokens = ((k, doc.surface(k, k + 1)) for k in range(len(doc)))
    return [(k, k + 1, -1) for k, text in tokens if text in options.labels or cue_word(doc.forms[k])]


def _is_of_a_name(match: re.Match[str], options: Options) -> bool:
    """True for "hepatitis A to E", and for what an option holds."""
    preceding = re.findall(r"[^\W\d_]+", match.string[max(0, match.start() - _BEFORE) : match.start()])
    of_a_noun = bool(preceding) and preceding[-1].lower().startswith(words.LETTERED_NOUNS)
    return of_a_noun or any(match[0] in text for text in options.texts)
