"""What a response says of the steps it names: called wrong, called right, or only named.

What is said of a step is read in its own stretch of the text, up to the next step that is named.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Literal

from vivavoce.language.tokens import CLAUSE, COMMA, NONE, SENTENCE, Doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading import step_words
from vivavoce.reading.step_mentions import StepMention

Verdict = Literal["accused", "cleared", "tentative", "named", "aside"]
REACH = 14
"""How many words before a step can say something of it."""
_CROSSES, _TICKS = frozenset("❌✗✘✖☒"), frozenset("✅✓✔☑")
_JUDGES = step_words.FAULTS | step_words.SOUND
_BECAUSE = frozenset({"because", "since", "as", "given", "due"})
_DENIES = words.NOT_LEFT & frozenset(
    ["not", "no", "never", "neither", "nor", "isnt", "arent", "wasnt", "dont", "doesnt", "didnt", "cannot",
     "cant", "nothing", "without", "nicht", "kein", "non", "nao", "pas", "ni", "hardly"]
) | {"nothing", "free"}  # fmt: skip
_DENIES_OR_NONE = _DENIES | {"none"}
_LEADS = words.LIGHT | words.PREDICATE | step_words.STEP_NOUNS | frozenset(
    ["here", "reasoning", "inference", "statement", "claim", "completely", "clearly", "partly", "also", "an",
     "where", "statements", "assumption", "conclusion", "there", "contains", "first", "only", "main", "key",
     "logical", "primary", "critical", "overall", "el", "la", "il", "le", "der", "die", "das", "o", "a"]
)  # fmt: skip
_ERROR_OR_ANSWER = step_words.FAULTS | words.ANSWER_NOUNS
_LEADS_OR_DENIES = _LEADS | _DENIES
_LOCATES_OR_LEADS = step_words.LOCATES | _LEADS
_EXCEPT = frozenset(
    {"except", "but", "besides", "save", "excepto", "salvo", "menos", "sauf", "ausser", "tranne"}
)
_ARTICLES = frozenset({"the", "for", "el", "la", "le", "il", "o", "a", "der", "den", "dem"})
_NO_LOCATION = _DENIES | _BECAUSE | step_words.HEDGED
_BEFORE_STEP = step_words.FAULTS | frozenset({"the", "this", "that", "in", "of", "at"})


def judged_steps(doc: Doc, mentions: Sequence[StepMention]) -> list[tuple[StepMention, Verdict]]:
    """The steps with their verdicts; those behind a "because" only explain what is said before it."""
    judged: list[tuple[StepMention, Verdict]] = []
    aside_end = 0
    for n, mention in enumerate(mentions):
        same_sentence = n > 0 and doc.sentence_end(mentions[n - 1].j - 1) > mention.i
        if same_sentence and has_any(doc.forms[mentions[n - 1].j : mention.i], _BECAUSE):
            aside_end = doc.sentence_end(mention.i)
        is_question = "?" in doc.gap(doc.sentence_end(mention.i))
        aside = mention.i < aside_end or is_question
        judged.append((mention, "aside" if aside else step_verdict(doc, mentions, n)))
    return judged


def _clauses(doc: Doc, i: int, j: int) -> Iterator[tuple[int, int]]:
    start = i
    for k in range(i + 1, j + 1):
        if k == j or doc.breaks[k] >= COMMA or doc.forms[k] in words.RESET:
            if start < k:
                yield start, k
            start = k


def _split(doc: Doc, i: int, j: int) -> int:
    """Where, in tokens i to j-1, what is said of a step ends and what leads to the next begins."""
    for k in range(j - 1, max(i, j - REACH) - 1, -1):
        if doc.breaks[k] >= COMMA and k > i and doc.forms[k] not in {"which", "that", "who", "where"}:
            return k
        if doc.forms[k] in words.RESET or (doc.forms[k] in {"and", "as", "because"} and k > i):
            return k
    return j if i == 0 or doc.breaks[i] < SENTENCE else i


def _opens(doc: Doc, k: int) -> bool:
    """True if a sentence begins with token k; "No." ends one here, elsewhere it is short for "number"."""
    return doc.breaks[k] >= SENTENCE or (k > 0 and doc.forms[k - 1] == "no" and doc.breaks[k] > NONE)


def _stretch(doc: Doc, mentions: Sequence[StepMention], n: int) -> tuple[int, int]:
    """Where the words before step n that speak of it begin, and where those behind it end."""
    mention = mentions[n]
    before = mentions[n - 1].j if n else 0
    begin = max((k for k in range(before, mention.i + 1) if _opens(doc, k)), default=before)
    if n and begin == before:
        begin = _split(doc, before, mention.i)
    following = mentions[n + 1].i if n + 1 < len(mentions) else None
    end = len(doc) if following is None else _stretch_end(doc, mention.j, following)
    return max(begin, mention.i - REACH), end


def _stretch_end(doc: Doc, j: int, following: int) -> int:
    """Where the words behind a step that ends before token j end; the next step is at `following`."""
    end = _split(doc, j, following)
    if end == following:
        # "step 4 follows from the wrong step 3": what stands right before a step is said of that one
        while end > j and doc.breaks[end] == NONE and doc.forms[end - 1] in _BEFORE_STEP:
            end -= 1
    return end


def step_verdict(doc: Doc, mentions: Sequence[StepMention], n: int) -> Verdict:
    """What is said of the step that is named at place n."""
    mention = mentions[n]
    begin, end = _stretch(doc, mentions, n)
    preceding = _words_before(doc, begin, mention.i)
    last = preceding[-1] if preceding else ""
    if last in {"than", "unlike"}:
        return "cleared"
    bare = next((word for word in reversed(preceding) if word not in _ARTICLES), "")
    if bare in _EXCEPT and has_any(preceding, step_words.NO_STEP):
        return _excepted(doc, mention)
    preceding = _last_clause(preceding)
    denials = _denials(preceding)
    if has_any(preceding, step_words.FAULTS):
        return "cleared" if denials % 2 else _unless_hedged(preceding)
    praised = has_any(preceding[-4:], step_words.SOUND) and not denials
    if praised and (preceding[-1] in step_words.SOUND or ":" in doc.gap(mention.i)):
        return "cleared"
    following = _behind(doc, mention, end, denials)
    if following != "named":
        return following
    return "cleared" if denials % 2 else "named"


def _words_before(doc: Doc, i: int, j: int) -> list[str]:
    """The words from token i up to a step at token j, without the Portuguese "no", which is "in the"."""
    portuguese = doc.forms[j - 1 : j] == ["no"] and doc.forms[j] == "passo"
    return doc.forms[i : j - 1] if portuguese and j > i else doc.forms[i:j]


def _last_clause(words_before: list[str]) -> list[str]:
    for k in range(len(words_before) - 1, -1, -1):
        if words_before[k] in words.RESET or words_before[k] in words.EXPLAINS:
            return words_before[k + 1 :]
    return words_before


def _excepted(doc: Doc, mention: StepMention) -> Verdict:
    """The opposite of what is said of all other steps: "all but step 3 are correct"."""
    sentence = doc.last_break(mention.i, SENTENCE), doc.sentence_end(mention.j - 1)
    denied = doc.count(*sentence, _DENIES_OR_NONE) % 2 == 1
    sound = doc.count(*sentence, step_words.SOUND) > 0 and not doc.count(*sentence, step_words.FAULTS)
    return "accused" if sound != denied else "cleared"


def _denials(window: Sequence[str]) -> int:
    return 0 if has_any(window, words.NO_NEGATION) else sum(word in _DENIES for word in window)


def _unless_hedged(window: Sequence[str]) -> Verdict:
    return "tentative" if has_any(window, step_words.HEDGED) else "accused"


def _behind(doc: Doc, mention: StepMention, end: int, denials: int) -> Verdict:
    """The verdict of the words behind a step: of its own clause, else of a clause that is nothing but one."""
    line = range(mention.j, min(end, doc.sentence_end(mention.j - 1)) + 1)
    marks = {c for k in line for c in doc.gap(k)}
    if marks & _CROSSES:
        return "accused"
    if marks & _TICKS:
        return "cleared"
    for n, (i, j) in enumerate(_clauses(doc, mention.j, end)):
        own_clause = n == 0 and doc.breaks[i] < CLAUSE
        if not own_clause and not _can_judge(doc.forms[i:j]):
            continue
        verdict = _clause_verdict(doc, i, j, own_clause=own_clause, denials=denials)
        if verdict == "cleared" and _is_faulted(doc.forms[j : min(end, j + REACH)]):
            return "accused"
        if verdict != "named":
            return verdict
    return "named"


def _is_faulted(ahead: Sequence[str]) -> bool:
    """True if what goes on about a step that is called right finds fault with it all the same."""
    goes_on = not _GOES_ON.isdisjoint(itertools.pairwise(ahead[:4]))
    return goes_on and has_any(ahead, step_words.FAULTS)


_GOES_ON = frozenset(
    (turn, same)
    for turn in ("but", "however", "yet")
    for same in ("it", "its", "then", "incorrectly", "wrongly", "falsely", "makes", "draws")
)
"""What goes on about the same step: "is right, but it draws the wrong conclusion"."""


def _can_judge(clause: Sequence[str]) -> bool:
    """True if a further clause can judge the step before it: "which is wrong", "this is wrong"."""
    if clause[0] in words.EXPLAINS - {"which"}:
        return False
    return clause[0] in {"which", "but", "yet", "however"} or _says_only(clause)


def _says_only(clause: Sequence[str]) -> bool:
    """True if the clause begins with a verdict: "incorrect", "this is wrong", "the step is not right"."""
    for word in clause[:6]:
        if word in _JUDGES:
            return True
        if word not in _LEADS_OR_DENIES:
            return False
    return False


def _clause_verdict(doc: Doc, i: int, j: int, *, own_clause: bool, denials: int) -> Verdict:
    """The verdict of the first word in tokens i to j-1 that judges; `denials` stand before the step."""
    mild = has_any(doc.forms[i:j], words.NO_NEGATION)  # "not only wrong"
    start = i
    if doc.forms[i] == "that":  # "the claim in step 3 that A is B is wrong": the last verb judges
        start = max((k for k in range(i, j) if doc.forms[k] in {"is", "are", "was", "were"}), default=j)
    for k in range(i, j):
        form = doc.forms[k]
        if form in step_words.SAYING and not (k == i and form == "that"):
            break
        if k < start:
            continue
        denials += form in _DENIES and not mild
        if form in _JUDGES_ALONE and not _stands_alone(doc, k):
            continue
        verdict = _word_verdict(form, denied=bool(denials % 2), own_clause=own_clause)
        if verdict == "accused" and not denials % 2:
            return _unless_hedged(doc.forms[i:k])
        if verdict != "named":
            return verdict
    return "named"


def _word_verdict(form: str, *, denied: bool, own_clause: bool) -> Verdict:
    if form in step_words.FAULTS or (own_clause and not denied and form in step_words.FAULT_VERBS):
        return "cleared" if denied else "accused"
    if denied and form in step_words.SOUND_IF_DENIED:
        return "accused"
    if form in step_words.SOUND:
        return "accused" if denied else "cleared"
    return "named"


_JUDGES_ALONE = frozenset({"false", "true", "right", "good", "sound", "fine"})


def _stands_alone(doc: Doc, k: int) -> bool:
    """True if a word judges by itself: "is right." and not "the right ventricle"."""
    if doc.ends(k + 1) or doc.forms[k + 1] in words.AFTER_LABEL | {"that", "about", "here", "step", "claim"}:
        return True
    return doc.forms[k + 1] in {"statement", "assumption", "inference", "conclusion", "premise", "step"}


def locates(doc: Doc, mention: StepMention, before: int) -> bool:
    """True for "the error is in step 3", "the incorrect step is step 3", "the answer is step 3".

    `before` is where the step named before it ends.
    """
    i = max(mention.i - REACH, before)
    if i > before or not before:
        start = max((k for k in range(i, mention.i + 1) if doc.breaks[k] >= SENTENCE), default=i)
    else:  # another step in the sentence has its own clause
        start = max((k for k in range(i, mention.i + 1) if doc.breaks[k] >= CLAUSE), default=mention.i)
    return _is_location(_words_before(doc, start, mention.i))


def _is_location(words_before: Sequence[str]) -> bool:
    """True for the words before a step that give it as the place of the error: "the error is in"."""
    if has_any(words_before, _NO_LOCATION):
        return False
    position = next((p for p, word in enumerate(words_before) if word in _ERROR_OR_ANSWER), None)
    if (
        position is None
        or "that" in words_before[position:]
        or not _LOCATES_OR_LEADS.issuperset(words_before[:position])
    ):
        return False
    return has_any(words_before[position + 1 :], step_words.LOCATES - {"in", "at"})
