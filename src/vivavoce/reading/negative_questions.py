"""Questions that ask for what is wrong, or is not so: "Statement B is incorrect" then chooses B.

Words that judge, "incorrect" or "not true", are taken so. A question that asks for an exception in other
words, "which is NOT a sign", leaves open whether "B is wrong" speaks of the statement or of the option; there
the words of the question count: "B is not a sign" chooses B, and "B is a sign" does not. Where it asks for
what must be avoided, or is excluded, "B should be avoided" chooses B.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Literal, NamedTuple

from vivavoce.core.text import lazy_pattern
from vivavoce.language.languages import codes, language
from vivavoce.language.stems import stem
from vivavoce.language.tokens import COMMA, NONE, Doc
from vivavoce.reading import lexicon as words
from vivavoce.reading.choice import ChoiceReader

Judgement = Literal["wrong", "right", "not wrong", "unlikely"]
_OF_STATEMENTS = frozenset({"wrong", "not wrong"})
_TRUE = frozenset(
    ("true", "accurate", "wahr", "vrai", "vraie", "verdadera", "verdadero", "cierta", "vera", "vero", "waar")
)
"""Words that only a statement is called, and no answer."""
_LONGEST = 400
"""Characters at the end of a question that say what it asks."""
_LEFT_OUT = frozenset({"than", "over", "beyond", "aside", "besides", "rule", "rules", "hold"})
_LEADS = words.LIGHT | words.PREDICATE | words.CHOICE_NOUNS
_SUBORDINATING = words.REASONS | words.forms(
    "if who whom whose when where why that whether although unless after que dass che nobody nadie niemand"
)
_WEAKENING = words.forms("seldom rarely hardly scarcely barely only less was were nobody nadie niemand")
"""A clause with one of these does not say what is asked for."""
_JOINS = words.forms("and but whereas while however y pero und aber et mais e ma mas")
_TURNED_DOWN = words.forms("avoided contraindicated stopped discontinued withheld")
"""What a question asks for that wants what an option must not be given for: "to avoid a stroke" is none."""
_TURNS_DOWN = _TURNED_DOWN | words.forms("avoid stop discontinue withhold hold")
_DENIALS = words.DENIALS | words.forms(
    "isnt arent wasnt werent cant cannot wont wouldnt shouldnt doesnt dont didnt except excepting keinen",
    "excepto salvo sauf excepte ausser tranne eccetto exceto behalve",
)
"""What only denies, and turns nothing down by its own sense."""
_UN = ("in", "un", "im")
_EXCEPTIONS = words.forms(
    "exception odd excepcion ausnahme lexception intrus lintrus excecao eccezione uitzondering"
)
"""What an option is called that does not belong with the others."""
_SAYS_NOTHING = _LEADS | _DENIALS | _JOINS
_STEM = lazy_pattern(r"[.!?。！？؟।:：]+\s*(?=\S)")


def _last_sentence(question: str) -> list[str]:
    """The words of the sentence that asks."""
    return Doc(_STEM.split(question[-_LONGEST:].strip())[-1]).forms


class Asked(NamedTuple):
    """What a question asks for that is not so.

    `kind` is "wrong" or "unlikely" where it asks for what is called so, "turned down" for what must be
    avoided, and "exception" for what its denial says: `denied` are the stems behind it, "oral" of "which is
    NOT oral".
    """

    kind: Literal["wrong", "unlikely", "turned down", "exception"]
    denied: frozenset[str] = frozenset()

    def said_of(self, forms: Sequence[str], n_options: int) -> bool | None:
        """Whether a clause says of its options what is asked for; false for the opposite, null for neither.

        What it calls wrong or right is one option.
        """
        if self.kind == "turned down":
            return None if _TURNS_DOWN.isdisjoint(forms) else (_DENIALS | _WEAKENING).isdisjoint(forms)
        if self.kind == "exception":
            return self._excepts(forms)
        judgement = _judgement(forms)
        if self.kind == "unlikely":
            return True if judgement == "unlikely" else None
        is_said = judgement in _OF_STATEMENTS or (judgement == "right" and not _TRUE.isdisjoint(forms))
        return judgement == "wrong" if is_said and n_options == 1 else None

    def _excepts(self, forms: Sequence[str]) -> bool | None:
        if not _EXCEPTIONS.isdisjoint(forms):  # "the exception is C"
            return _DENIALS.isdisjoint(forms)
        denied = _behind_denial(forms)
        if denied == [] and _SAYS_NOTHING.issuperset(forms):  # "heparin does not"
            return True
        if self._denies_by_prefix(forms):
            return _DENIALS.isdisjoint(forms)
        if self.denied.isdisjoint(map(stem, forms)):
            return None
        if _DENIALS.isdisjoint(forms) or not _WEAKENING.isdisjoint(forms):
            return False
        return True if denied and stem(denied[0]) in self.denied else None

    def _denies_by_prefix(self, forms: Sequence[str]) -> bool:
        """True for "inappropriate" where the question denies "appropriate"."""
        return any(form.startswith(_UN) and stem(form[2:]) in self.denied for form in forms)

    def options_of(self, reader: ChoiceReader) -> tuple[set[int], set[int]]:
        """The options that clauses say to be what is asked for, and those that they say not to be."""
        exceptions, others = set[int](), set[int]()
        for forms, names in _clauses(reader):
            is_asked_for = self.said_of(forms, len(names))
            if is_asked_for is not None:
                (exceptions if is_asked_for else others).update(names)
        return exceptions, others


@lru_cache(maxsize=4096)
def asked_for(question: str) -> Asked | None:
    """What the last sentence of a question asks for that is not so; null for any other question."""
    forms = _last_sentence(question)
    judgement = _judgement(forms)
    if judgement in {"wrong", "unlikely"}:
        return Asked(judgement)
    denied = _behind_denial(forms)
    if not _TURNED_DOWN.isdisjoint(forms):
        return Asked("turned down") if denied is None and _DENIALS.isdisjoint(forms) else None
    return Asked("exception", frozenset(map(stem, denied))) if denied else None


def _behind_denial(forms: Sequence[str]) -> list[str] | None:
    """The words that say something behind the denial of a sentence; null where it has none, or two.

    Null as well where the denial may belong to another clause: "which is best if he does not tolerate it".
    """
    denials = [form for form in forms if form in _DENIALS]
    if len(denials) != 1:
        return None
    place = forms.index(denials[0])
    if not _SUBORDINATING.isdisjoint(forms[:place]):
        return None
    # "all are oral except": what it denies stands before it
    is_exception = denials[0] not in words.NOT_LEFT or denials[0] in words.EXCEPTS
    denied = forms[:place] if is_exception else forms[place + 1 :]
    return [form for form in denied if len(form) > 3 and form not in _LEADS]


def _clauses(reader: ChoiceReader) -> Iterator[tuple[list[str], set[int]]]:
    """The clauses that name options: their words, without those of an option's text, and the options.

    A sentence that asks says nothing, and is left out.
    """
    doc = reader.doc
    inside = {k for mention in reader.texts for k in range(mention.i, mention.j)}
    assertions = [(i, j) for i, j in doc.sentences() if not doc.gap_has(j, "?？")]
    for a, b in chain.from_iterable(_clauses_between(reader, i, j) for i, j in assertions):
        if names := _names(reader, a, b):
            yield [doc.forms[k] for k in range(a, b) if k not in inside], names


def _names(reader: ChoiceReader, a: int, b: int) -> set[int]:
    """The options that tokens a to b-1 name."""
    texts = {name for mention in reader.texts if a <= mention.i < b for name in mention.names}
    return texts.union(_labels(reader, a, b))


def _clauses_between(reader: ChoiceReader, i: int, j: int) -> Iterable[tuple[int, int]]:
    """The clauses of the sentence of tokens i to j-1: where each begins, and the token behind it."""
    doc = reader.doc
    firsts = {mention.i for mention in reader.texts if i <= mention.i < j} | {
        *reader.options.places(doc, i, j, ())
    }
    starts = [i, *(k for k in range(i + 1, j) if _begins(doc, k) or _joins(doc, i, k, firsts))]
    return zip(starts, [*starts[1:], j], strict=True)


def _joins(doc: Doc, i: int, k: int, firsts: Collection[int]) -> bool:
    """True for "and" or "whereas" that joins a clause, of an option of `firsts`, to that from token i on."""
    if doc.forms[k] not in _JOINS or k + 1 not in firsts:
        return False
    return all(not words.PREDICATE.isdisjoint(part) for part in (doc.forms[i:k], doc.forms[k + 2 : k + 4]))


def _begins(doc: Doc, k: int) -> bool:
    """True if a comma, a semicolon or a reason begins a clause at token k."""
    return doc.breaks[k] == COMMA or ";" in doc.gap(k) or doc.forms[k] in words.REASONS


def _labels(reader: ChoiceReader, a: int, b: int) -> Iterator[int]:
    """The options that tokens a to b-1 name by a label, also right before a word that judges."""
    doc, options = reader.doc, reader.options
    for k in options.places(doc, a, b, ()):
        option = options.label_at(doc, k, claimed=True, i=a)
        if (
            option is None
            and k + 1 < b
            and doc.breaks[k + 1] == NONE
            and (doc.forms[k + 1] in _DENIALS or _judgement(doc.forms[k + 1 : k + 4]))
        ):
            option = options.labels.get(doc.surface(k, k + 1))
        if option is not None and option >= 0:
            yield option


def _judgement(forms: Sequence[str]) -> Judgement | None:
    """What words call something; null for neither. "Not incorrect" is a denial."""
    text = f" {' '.join(forms)} "
    kinds: tuple[tuple[tuple[str, ...], Judgement, Judgement | None], ...] = (
        (_unlikely(), "unlikely", None),
        (_wrong(), "wrong", "not wrong"),
    )
    for phrases, judgement, opposite in kinds:
        spoken = [phrase for phrase in phrases if phrase in text]
        for phrase in spoken:
            text = text.replace(phrase, "  ")
        if spoken:
            return opposite if denial_words() & set(text.split()) else judgement
    return "right" if any(phrase in text for phrase in _right()) else None


@cache
def _wrong() -> tuple[str, ...]:
    return _phrases(word for code in codes() for word in language(code).wrong)


@cache
def _unlikely() -> tuple[str, ...]:
    return _phrases(word for code in codes() for word in language(code).unlikely)


@cache
def _right() -> tuple[str, ...]:
    return _phrases(word for code in codes() for word in language(code).right)


def _phrases(listed: Iterable[str]) -> tuple[str, ...]:
    """The words in their comparable form, the longest first, with a blank around each."""
    phrases = {" ".join(Doc(word).forms) for word in listed}
    return tuple(f" {phrase} " for phrase in sorted(phrases, key=lambda phrase: (-len(phrase), phrase)))


@cache
def denial_words() -> frozenset[str]:
    """The words that deny what is said of an option."""
    denials = {form for code in codes() for word in language(code).not_ for form in Doc(word).forms}
    return words.NOT_LEFT - _LEFT_OUT | denials
