"""What a response says of the steps it names: called wrong, called right, or only named.

What is said of a step is read in its own stretch of the text, up to the next step that is named.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from vivavoce.language.tokens import CLAUSE, COMMA, NONE, SENTENCE, Doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading import step_words
from vivavoce.reading.options import Mention
from vivavoce.reading.remarks import Judging, verdict_behind, weigh_behind
from vivavoce.reading.step_mentions import StepMention

Verdict = Literal["accused", "cleared", "tentative", "named", "aside"]
REACH = 14
"""How many words before a step can say something of it."""
_JUDGES = words.FAULTS | step_words.SOUND
_WRONG = words.NOT_RIGHT | step_words.FAULT_VERBS
_FINDS_FAULT = _JUDGES | step_words.FAULT_VERBS | step_words.SOUND_IF_DENIED
_STEPS = Judging(_WRONG, step_words.SOUND, _WRONG | step_words.SOUND | {"which", "contains", "goes", "has"})
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
_ERROR_OR_ANSWER = words.FAULTS | words.ANSWER_NOUNS
_LEADS_OR_DENIES = _LEADS | _DENIES
_LOCATES_OR_LEADS = step_words.LOCATES | _LEADS
_EXCEPT = frozenset(
    {"except", "but", "besides", "save", "excepto", "salvo", "menos", "sauf", "ausser", "tranne"}
)
_ARTICLES = frozenset({"the", "for", "el", "la", "le", "il", "o", "a", "der", "den", "dem"})
_NO_LOCATION = _DENIES | _BECAUSE | step_words.HEDGED


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
    end = len(doc) if following is None else _split(doc, mention.j, following)
    return max(begin, mention.i - REACH), end


def step_verdict(doc: Doc, mentions: Sequence[StepMention], n: int) -> Verdict:
    """What is said of the step that is named at place n."""
    mention = mentions[n]
    begin, end = _stretch(doc, mentions, n)
    preceding = _words_before(doc, begin, mention.i)
    if preceding and preceding[-1] in {"than", "unlike"}:
        return "cleared"
    bare = next((word for word in reversed(preceding) if word not in _ARTICLES), "")
    if bare in _EXCEPT and has_any(preceding, step_words.NO_STEP):
        return _excepted(doc, mention)
    preceding = _last_clause(preceding)
    verdict = _ahead_of(doc, mention, preceding) or _behind(doc, mentions, n, end)
    return _DENIED.get(verdict, verdict) if _denials(preceding) % 2 else verdict


_DENIED: Mapping[Verdict, Verdict] = {"accused": "cleared", "cleared": "accused", "named": "cleared"}


def _ahead_of(doc: Doc, mention: StepMention, preceding: Sequence[str]) -> Verdict | None:
    """The verdict of the words before a step, "the wrong step is 3", denials aside; null without one."""
    if has_any(preceding, words.FAULTS):
        return "accused" if _denials(preceding) % 2 else _unless_hedged(preceding)
    if not has_any(preceding[-4:], step_words.SOUND) or _denials(preceding):
        return None
    return "cleared" if preceding[-1] in step_words.SOUND or ":" in doc.gap(mention.i) else None


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
    sound = doc.count(*sentence, step_words.SOUND) > 0 and not doc.count(*sentence, words.FAULTS)
    return "accused" if sound != denied else "cleared"


def _denials(window: Sequence[str]) -> int:
    return 0 if has_any(window, words.NO_NEGATION) else sum(word in _DENIES for word in window)


def _unless_hedged(window: Sequence[str]) -> Verdict:
    return "tentative" if has_any(window, step_words.HEDGED) else "accused"


def _behind(doc: Doc, mentions: Sequence[StepMention], n: int, end: int) -> Verdict:
    """The verdict of the words behind a step: of its own clause, else of a clause that is nothing but one."""
    mention = mentions[n]
    pair = [Mention(m.i, m.j, (), "label") for m in mentions[n : n + 2]]
    judged = verdict_behind(doc, pair, 0, doc.sentence_end(mention.j - 1), _STEPS)
    verdict = _of_step(judged, doc.forms[mention.j : min(end, mention.j + REACH)])
    if verdict == "cleared" and _is_faulted(doc, mention.j, end):
        return "accused"
    for i, j in _clauses(doc, mention.j, end):
        if verdict != "named":
            break
        if (i > mention.j or doc.breaks[i] >= CLAUSE) and _can_judge(doc.forms[i:j]):
            verdict = _of_step(weigh_behind(doc.forms[i:j], _STEPS), doc.forms[i:j])
    return verdict


def _of_step(judged: str, clause: Sequence[str]) -> Verdict:
    """What a verdict says of a step; one that only denies a thing, "5. No role", says nothing of it."""
    if judged == "rejected" and has_any(clause, _FINDS_FAULT):
        return _unless_hedged(clause)
    return _AS_STEPS.get(judged, "named")


_AS_STEPS: Mapping[str, Verdict] = {"chosen": "cleared", "not wrong": "cleared", "tentative": "tentative"}


def _is_faulted(doc: Doc, i: int, end: int) -> bool:
    """True if what goes on about a step that is called right finds fault with it all the same."""
    ahead = doc.forms[i : min(end, i + REACH)]
    turn = next((k for k, form in enumerate(ahead) if form in words.BUTS | {"however", "yet"}), len(ahead))
    return (
        ahead[turn + 1 : turn + 2] != []
        and ahead[turn + 1] in _GOES_ON
        and has_any(ahead[turn:], words.FAULTS)
    )


_GOES_ON = frozenset({"it", "its", "then", "incorrectly", "wrongly", "falsely", "makes", "draws"})
"""What goes on about the same step: "is right, but it draws the wrong conclusion"."""


def _can_judge(clause: Sequence[str]) -> bool:
    """True if a further clause can judge the step before it: "which is wrong", "this is wrong"."""
    if clause[0] in words.EXPLAINS - {"which"}:
        return False
    return clause[0] in {"which", "but", "yet", "however"} or _says_only(clause)


def _says_only(clause: Sequence[str]) -> bool:
    """True if the clause begins with a verdict: "incorrect", "this is wrong", "the step is not right"."""
    for word in clause[:6]:
        if word in _JUDGES or word in step_words.FAULT_VERBS:
            return True
        if word not in _LEADS_OR_DENIES:
            return False
    return False


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
