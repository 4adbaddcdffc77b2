"""Whether an option is named in words that are known: any other text may turn down what it names.

The words of its clause decide. In a supported language (`languages`) a clause may hold words that no list
has, as long as enough others speak for the language; in every other one all words must be known.
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Literal

from vivavoce.language.languages import codes, language
from vivavoce.language.tokens import CLAUSE, COMMA, NONE, SENTENCE, Doc
from vivavoce.reading import lexicon as words
from vivavoce.reading.choice import ChoiceReader
from vivavoce.reading.claims import Choice
from vivavoce.reading.mentions import WINDOW, Verdict
from vivavoce.reading.options import HEAD, Mention, Options
from vivavoce.reading.remarks import denies_a_thing, verdict_of_phrase
from vivavoce.reading.verdicts import JudgedMention, named_together, rejected_as_well
from vivavoce.reading.word_roles import Role, is_unspaced, role, run_roles, unlikely, width

Standing = Literal["plain", "rejected", "unknown"]
# Behind an option these turn it down wherever they stand in its clause.
_DENIALS = frozenset(["nicht", "keine", "kein", "keinen", "niet", "geen", "pas", "nao", "non"])
_MAY_DENY = _DENIALS | {"no"}
_ROMANCE_ARTICLES = frozenset(["la", "el", "los", "las", "els", "les"])
_ROMANCE_VERBS = frozenset(
    ("es", "esta", "estan", "son", "sirve", "ayuda", "procede", "conviene", "funciona",
    "serveix", "ajuda", "val", "parece", "sembla")
)  # fmt: skip
_TO = frozenset({"to", "zu", "te", "att", "de", "di", "a"})
_ONLY = frozenset(
    ("solo", "solamente", "nur", "seulement", "apenas", "alleen", "soltanto", "nomes", "mas", "unicamente")
)  # fmt: skip
_ACRONYMS = frozenset({"CAP"})
"""Capitals that are a word of some language in small letters: Catalan "cap" is "no"."""
_SHARE = 0.2
"""How many of the unclear words of a clause must speak for a supported language."""
_SENTENCE_SHARE = 0.33
_OUTSIDE = 16.0
"""How many unknown words one in letters of other languages counts for, in a clause of a supported one."""


class KnownWordsReader(ChoiceReader):
    """A reader of one choice for whom an option counts only in a clause whose words are known."""

    def __init__(self, text: str, options: Options) -> None:
        super().__init__(text, options)
        self._clauses_of_text: Clauses | None = None  # made where an option is named
        self._any_words = False
        self._has_denials = not _MAY_DENY.isdisjoint(self.doc.forms)
        self._unclear_names: set[int] = set()
        self._of_phrases: dict[int, Verdict | None] = {}

    def judged(self, i: int, j: int, *, claimed: bool = False) -> list[JudgedMention]:
        """The mentions; those that a word of any language turns down, or may turn down, are rejected."""
        judged = super().judged(i, j, claimed=claimed)
        if judged and self._clauses_of_text is None:
            self._clauses_of_text = Clauses(self.doc, self.options, self.texts)
        judged = [self._in_its_clause(s, self._clauses_of_text) for s in judged if self._clauses_of_text]
        judged = rejected_as_well(self.doc, judged)
        if not self._has_denials:
            return judged
        denied = self._are_denied_behind(judged)
        return [s._replace(verdict="rejected") if no else s for s, no in zip(judged, denied, strict=True)]

    def _are_denied_behind(self, judged: Sequence[JudgedMention]) -> list[bool]:
        """Which mentions a denial behind them turns down, or behind the last of a list: "A, C y D no"."""
        ends = [*(s.mention.i for s in judged[1:]), len(self.doc)][: len(judged)]
        denied = [is_denied_behind(self.doc, s.mention, end) for s, end in zip(judged, ends, strict=True)]
        for n in range(len(judged) - 2, -1, -1):
            joined = denied[n + 1] and named_together(self.doc, judged[n].mention, judged[n + 1].mention)
            denied[n] = denied[n] or joined
        return denied

    def _in_its_clause(self, judged: JudgedMention, clauses: "Clauses") -> JudgedMention:
        k = judged.mention.i
        if k not in self._of_phrases:
            self._of_phrases[k] = verdict_of_phrase(self.doc, judged.mention)
        if (verdict := self._of_phrases[k]) is not None:
            return judged._replace(verdict=verdict)
        standing = clauses.standing(judged.mention)
        if standing == "unknown":
            self._unclear_names.update(judged.names)
        if standing == "plain" or (standing == "unknown" and self._any_words):
            return judged
        return judged._replace(verdict="rejected")

    def choice(self, refused: Callable[[], bool] = lambda: False) -> Choice:
        """The choice; what is named among unknown words is none, and still a rival of one."""
        choice = super().choice(refused)
        if not choice.names or self._unclear_names.issubset(choice.names):
            return choice
        self._any_words = True
        rival = super().choice(refused)
        self._any_words = False
        if rival.names and rival.names != choice.names:
            return Choice(reason=self.many((*choice.names, *rival.names)))
        return rival


class _Tally:
    """The words between two breaks, counted by role; `reason` if a word such as "because" leads them."""

    __slots__ = ("bare", "closes", "counts", "listed", "reason", "sentence", "splits", "support")

    def __init__(
        self, roles: Sequence[Role | None], sentence: "_Tally | None" = None, *, reason: bool = False
    ) -> None:
        self.counts = Counter(roles)
        self.sentence, self.reason = sentence, reason
        self.bare = self.counts[None] == len(roles)
        """Whether it is nothing but options."""
        self.closes = len(roles) > 1 and roles[-1] == "rejects" and None in roles[:-1]
        """Whether it ends by turning down what it names: "A is not it" in languages that say "not" last."""
        self.listed = False
        """Whether it is the A of "A, C, D are all wrong", in languages that say so behind the last."""
        self.splits = _splits(roles)
        """Whether what turns an option down stands between two, so that it may be said of either."""
        self.support = self.counts["supported"] + self.counts["short"] / 2
        """How much speaks for a supported language."""

    @property
    def rejects(self) -> bool:
        """True if a word turns down what the clause names."""
        return bool(self.counts["rejects"]) or (bool(self.counts["doubtful"]) and self.support < 1)

    @property
    def clear(self) -> bool:
        """True if no word is unknown, or none that matters."""
        unknown = self.counts["strange"] + _OUTSIDE * self.counts["outside"]
        return not unknown or self._in_supported_language(unknown, 1, _SHARE)

    def _in_supported_language(self, unknown: float, least: float, share: float) -> bool:
        return self.support >= least and self.support >= share * (self.support + unknown)

    def clear_with(self, least: float) -> bool:
        """True if the clause is clear, or its sentence is in a supported language, by `least` words."""
        if self.clear or self.sentence is None or self.counts["outside"]:
            return self.clear
        sentence = self.sentence
        return sentence._in_supported_language(sentence.counts["strange"], least, _SENTENCE_SHARE)


def _splits(roles: Sequence[Role | None]) -> bool:
    """True if a word that rejects stands between two options."""
    options = [k for k, word in enumerate(roles) if word is None]
    return bool(options) and "rejects" in roles[options[0] : options[-1]]


class _Sentence:
    """The clauses of tokens i to j-1, a sentence."""

    def __init__(self, doc: Doc, options: Options, named: set[int], i: int, j: int) -> None:
        self.clauses: list[_Tally] = []
        self.i, self._places = i, list[int]()
        roles = _roles(doc, options, named, i, j)
        turns = _turns(doc, i, j)
        _let_affirm(roles, [k - i for k in sorted(turns) if k < j])
        reasons = {
            k for k in range(i, j) if _begins_reason(doc, roles, i, k) or _begins_aside(doc, roles, i, k)
        }
        starts = sorted({i, *turns, *reasons, *(k for k in range(i, j) if _divides(doc, k))} - {j})
        sentence = _Tally(roles)
        for a, b in itertools.pairwise((*starts, j)):
            self._places += [len(self.clauses)] * (b - a)
            self.clauses.append(_Tally(roles[a - i : b - i], sentence, reason=a in reasons))
        self._find_lists()

    def _find_lists(self) -> None:
        """Say of each clause whether what closes a list turns it down."""
        for following, clause in itertools.pairwise(reversed(self.clauses)):
            clause.listed = clause.bare and (following.closes or following.listed)

    def standing(self, i: int, j: int) -> Standing:
        """How a mention of tokens i to j-1 stands."""
        first, last = self._places[i - self.i], self._places[j - 1 - self.i]
        clauses = self.clauses[first : last + 1]
        if any(clause.rejects or clause.listed for clause in clauses):
            return "rejected"
        if not all(clause.clear_with(2) for clause in clauses):
            return "unknown"
        says_so = any(clause.counts["affirms"] or clause.support >= 1 for clause in clauses)
        return "plain" if says_so or self._is_let_stand(first, last) else "unknown"

    def splits(self, i: int) -> bool:
        """True if the clause of token i turns down one of two options, and either may be meant."""
        return self.clauses[self._places[i - self.i]].splits

    def _is_let_stand(self, first: int, last: int) -> bool:
        """True if the clauses around let one stand, or the one before closes: "A değil, B"."""
        if first and self.clauses[first - 1].closes:
            return True
        return self._allows(first - 1) and self._allows(last + 1)

    def _allows(self, place: int) -> bool:
        """True if the clause beside one that is nothing but an option lets it stand."""
        if not 0 <= place < len(self.clauses):
            return True
        clause = self.clauses[place]
        return clause.reason or (not clause.rejects and clause.clear_with(1))


def _let_affirm(roles: list[Role | None], places: Iterable[int]) -> None:
    """Let a contrast affirm behind a denial: Swedish "utan" is "without", and "but" behind "not"."""
    for place in places:
        if roles[place] == "rejects" and "rejects" in roles[:place]:
            roles[place] = "affirms"


def _divides(doc: Doc, k: int) -> bool:
    """True if a clause begins at token k; the comma of a Chinese list, "A、B", begins none."""
    is_listing = doc.gap(k) == "、" and not "\u3040" <= doc.surface(k - 1, k)[-1:] < "\u30a0"
    return doc.breaks[k] >= COMMA and not is_listing


def _begins_reason(doc: Doc, roles: Sequence[Role | None], i: int, k: int) -> bool:
    """True if token k begins a reason in the sentence from token i on."""
    if roles[k - i] != "reason" or (k > i and roles[k - i - 1] == "reason"):
        return False
    # "da" is German for "since", behind a comma, and Italian for "of"
    return doc.forms[k] != "da" or k == i or doc.breaks[k] >= COMMA


def _begins_aside(doc: Doc, roles: Sequence[Role | None], i: int, k: int) -> bool:
    """True if a sign sets off from an option what denies another: "B. No tests", "B) Least likely is A"."""
    if k == i or doc.breaks[k] != CLAUSE or roles[k - 1 - i] is not None or roles[k - i] is None:
        return False  # an option may begin so itself: "No treatment"
    ranks = any(width(unlikely(), doc, n) for n in range(k, min(k + 3, len(doc))))
    return denies_a_thing(doc, k) or (ranks and None in roles[k - i : k - i + WINDOW])


def is_denied_behind(doc: Doc, mention: Mention, end: int) -> bool:
    """True for "heparin hilft nicht", "la heparina no ayuda": a denial behind an option, in its clause.

    The next mention is at token `end`: what stands in one clause with it may be said of that one.
    """
    for k in range(mention.j, min(end, mention.j + WINDOW)):
        if doc.breaks[k] > NONE:
            return False
        if doc.forms[k] in _DENIALS or (doc.forms[k] == "no" and _is_romance(doc, mention, k)):
            return not doc.glued(k + 1) and not _goes_to(doc, k, end)
    return False


def _is_romance(doc: Doc, mention: Mention, k: int) -> bool:
    """True for the "no" of Spanish and Catalan: behind an article, or before one of their verbs."""
    begins = doc.surface(mention.i, mention.j)[:2].lower() in {"l'", "l’"}
    article = mention.i > 0 and doc.forms[mention.i - 1] in _ROMANCE_ARTICLES
    return begins or article or (k + 1 < len(doc) and doc.forms[k + 1] in _ROMANCE_VERBS)


def _goes_to(doc: Doc, k: int, end: int) -> bool:
    """True if the denial at token k is another's, or only strengthens: "B und nicht A", "nicht nur"."""
    if k + 1 < len(doc) and doc.breaks[k + 1] == NONE and doc.forms[k + 1] in _ONLY:
        return True
    return end < len(doc) and all(doc.breaks[n] == NONE for n in range(k + 1, end + 1))


class Clauses:
    """The clauses of the sentences that name options, each counted once."""

    def __init__(self, doc: Doc, options: Options, texts: Sequence[Mention]) -> None:
        self._doc, self._options = doc, options
        self._named = {k for mention in texts for k in range(mention.i, mention.j)}
        self._sentences: dict[int, _Sentence] = {}

    def standing(self, mention: Mention) -> Standing:
        """How a mention stands: plainly, turned down by a word of the table, or among unknown words."""
        end = self._doc.sentence_end(mention.i)
        if mention.j <= end:
            return self._sentence(mention.i, end).standing(mention.i, mention.j)
        # "B. Heparin" over two sentences
        parts = {
            self._sentence(mention.i, end).standing(mention.i, end),
            self._sentence(end, self._doc.sentence_end(end)).standing(end, mention.j),
        }
        return next(standing for standing in ("rejected", "unknown", "plain") if standing in parts)

    def splits(self, mention: Mention) -> bool:
        """True if its clause turns down one of two options, and either may be meant."""
        return self._sentence(mention.i, self._doc.sentence_end(mention.i)).splits(mention.i)

    def _sentence(self, k: int, end: int) -> _Sentence:
        """The sentence of token k, which ends at `end`."""
        sentence = self._sentences.get(end)
        if sentence is None:
            i = self._doc.last_break(k, SENTENCE)
            sentence = self._sentences[end] = _Sentence(self._doc, self._options, self._named, i, end)
        return sentence


@cache
def _turning() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What begins a clause, and behind what one begins, among words without a sign between them."""
    languages = [language(code) for code in codes()]
    unspaced = [part for part in languages if not part.spaces or "Hangul" in part.scripts]
    return _any_of(w for part in unspaced for w in part.contrasts), _any_of(
        w for part in languages for w in part.turns
    )


@cache
def _contrasts() -> frozenset[tuple[str, ...]]:
    """What begins the right answer behind a wrong one: words, and pairs of them, that spaces divide."""
    languages = [part for part in map(language, codes()) if part.spaces]
    return frozenset(tuple(Doc(words_of).forms) for part in languages for words_of in part.contrasts)


@cache
def _heads_of_contrasts() -> frozenset[str]:
    return frozenset(forms[0] for forms in _contrasts())


def _begins_contrast(doc: Doc, k: int) -> bool:
    """True if a word or a pair of words at token k sets the right answer against a wrong one."""
    if doc.forms[k] not in _heads_of_contrasts():
        return False
    return (doc.forms[k],) in _contrasts() or tuple(doc.forms[k : k + 2]) in _contrasts()


def _any_of(listed: Iterable[str]) -> re.Pattern[str]:
    """Any of these words, the longest first."""
    return re.compile("|".join(map(re.escape, sorted(listed, key=len, reverse=True))))


def _turns(doc: Doc, i: int, j: int) -> set[int]:
    """The tokens of i to j-1 at which a contrast begins a clause."""
    text = doc.surface(i, j)
    turns = {k for k in range(i + 1, j) if _begins_contrast(doc, k)}
    if text.isascii():
        return turns
    start = doc.tokens[i].start
    begins, ends = _turning()
    turns |= {doc.at(start + match.start()) for match in begins.finditer(text)}
    return turns | {doc.at(start + match.end()) for match in ends.finditer(text)}


def _roles(doc: Doc, options: Options, named: set[int], i: int, j: int) -> list[Role | None]:
    """The roles of tokens i to j-1; null for options, numbers, signs and what turns nothing down."""
    roles: list[Role | None] = [None] * (j - i)
    unspaced: list[int] = []
    for k in range(i, j):
        token = doc.tokens[k]
        text = doc.text[token.start : token.end]
        if k in named or token.kind != "w" or options.is_label(doc, k, text):
            continue
        if is_unspaced(text):
            unspaced.append(k)
            continue
        roles[k - i] = _role(doc, options, k, text)
    for begin, end in _runs(doc, unspaced):
        roles[begin - i : end - i] = run_roles(doc.forms[begin:end])
    _let_unlikely_reject(doc, roles, named, i)
    return roles


def _let_unlikely_reject(doc: Doc, roles: list[Role | None], named: set[int], i: int) -> None:
    """Let phrases such as "least likely" turn down; `roles` are those of the tokens from i on."""
    for k in range(i, i + len(roles)):
        phrase = width(unlikely(), doc, k) if doc.forms[k] in unlikely() and k not in named else 0
        if phrase and not _goes_on_with_verb(doc, k + phrase):
            roles[k - i : k - i + phrase] = ["rejects"] * phrase


def _goes_on_with_verb(doc: Doc, k: int) -> bool:
    """True for "least likely to cause bleeding", which praises a drug."""
    return k + 1 < len(doc) and doc.breaks[k] == NONE and doc.forms[k] in _TO and doc.forms[k + 1] != "be"


def _may_be_word(options: Options, form: str, text: str, word: Role) -> bool:
    """True for a single letter of a script that no list knows, and for a Latin one with an accent."""
    if len(text) > 1 or text in options.lower or form in options.vocabulary:
        return False
    return word == "outside" or (word == "strange" and not text.isascii())


def _role(doc: Doc, options: Options, k: int, text: str) -> Role | None:
    form = doc.forms[k]
    word = role(form, text)
    if text in _ACRONYMS:
        return "strange"
    if form in words.INSTEADS:
        return "supported"
    if _may_be_word(options, form, text, word):
        return "outside"
    if word in {"strange", "outside"} and _stands_by(doc, options, k, text):
        return None
    # the words of supported languages speak for none where the options are in other letters
    return "outside" if word == "strange" and not options.is_latin else word


def _runs(doc: Doc, places: Sequence[int]) -> list[tuple[int, int]]:
    """The tokens that follow each other without a gap."""
    runs: list[tuple[int, int]] = []
    for k in places:
        if runs and runs[-1][1] == k and not doc.gap(k):
            runs[-1] = (runs[-1][0], k + 1)
        else:
            runs.append((k, k + 1))
    return runs


def _stands_by(doc: Doc, options: Options, k: int, text: str) -> bool:
    """True for an unknown word that turns nothing down.

    It is a single letter, a word of an option, one that begins as such a word does ("warfarine"), or capitals
    alone in brackets: "Pulmonary embolism (PE)".
    """
    form, vocabulary = doc.forms[k], options.vocabulary
    if len(text) == 1 or form in vocabulary or (len(form) > HEAD and form[:HEAD] in vocabulary):
        return True
    return text.isupper() and text.isascii() and doc.gap(k)[-1:] == "(" and doc.gap(k + 1)[:1] == ")"
