"""The published harness of ClinIQLink on its raw cases: seven formats, scored as coded.

It reads the response itself without closed <think> tags, and not what our formats read of it. So it scores
what is unreadable here ("Trueish" is True), and silence as 0. Golden values: 94 cases that its code scored,
tolerance 1e-4 where vectors are compared, else 1e-9.

Its faults are kept (ClinIQLink 2025, evaluate.py). In lists, newlines, bullets and "and" do not separate
options, letters end at Z, decimal points vanish, and gold that begins with a letter and a blank loses that
letter.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.embeddings.encoder import Embedder
from vivavoce.systems.cliniqlink.semantic.layers import Side, layers, side, texts
from vivavoce.systems.cliniqlink.semantic.rules import PUBLISHED

_BLANKED = str.maketrans(dict.fromkeys("–—_/\\[](){};-", " "))
_KEPT = "%,:"


def normalise(text: str) -> str:
    """Letters, numbers, blanks and `% , :`, without case and accents; 2.5 becomes 25, < and > vanish."""
    folded = unicodedata.normalize("NFKD", text)
    folded = "".join(c for c in folded if not unicodedata.combining(c)).casefold().translate(_BLANKED)
    characters = (c for c in folded if c.isspace() or c in _KEPT or unicodedata.category(c)[0] in "LNM")
    return " ".join("".join(characters).split())


class ListScores(NamedTuple):
    """A list answer beside its key. `form`: how options were named, by text or letter; all text if right."""

    gold: tuple[str, ...]
    picked: frozenset[str]
    malformed: bool
    form: str
    precision: float
    recall: float
    f1: float
    tp: int
    fp: int
    fn: int


def score_list(options: Sequence[str], gold: Sequence[str], answer: str) -> ListScores:
    """The picks of an answer and their overlap with the gold; all 0 if an entry is no option.

    The counts `tp`, `fp` and `fn` are of what is left as picked, which in a malformed answer are the strays.
    """
    option_texts = [normalise(re.sub(r"^[A-H][.:] ", "", option)) for option in options]
    letters = {chr(65 + k): text for k, text in enumerate(option_texts)}
    keyed = tuple(_scrubbed(normalise(text), letters) for text in gold)
    entries = [_entry(piece, letters, option_texts) for piece in _pieces(answer, letters, option_texts)]
    strays = frozenset(text for text, form in entries if form == "stray")
    blank = not answer.strip()
    malformed = bool(strays) and not blank
    picked = strays if malformed else frozenset() if blank else frozenset(text for text, _ in entries)
    forms = {form for _, form in entries if form != "stray"}
    form = (
        "full"
        if picked == set(keyed)
        else "none"
        if not forms
        else forms.pop()
        if len(forms) == 1
        else "mixed"
    )
    tp = sum((Counter(picked) & Counter(keyed)).values())
    fp, fn = len(picked) - tp, len(keyed) - tp
    precision, recall = (
        (0.0, 0.0) if malformed else (tp / len(picked) if picked else 0.0, tp / len(keyed) if keyed else 0.0)
    )
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return ListScores(keyed, picked, malformed, form, precision, recall, f1, tp, fp, fn)


def _scrubbed(gold: str, letters: Mapping[str, str]) -> str:
    """The gold without a letter before it, which also makes "cells" of "B cells"."""
    return gold[2:] if re.match(r"\w \S", gold) and gold[0].upper() in letters else gold


def _pieces(answer: str, letters: Mapping[str, str], option_texts: Sequence[str]) -> list[str]:
    answer = answer.strip().split("\n\n")[0]
    pieces = [piece.strip() for piece in answer.split(",")]
    if {normalise(piece) for piece in pieces} <= set(option_texts):
        return pieces
    answer = " ".join(answer.replace("(", "").replace(")", "").split())
    named = "[" + re.escape("".join(letters)) + "]" if letters else r"(?!)"
    labelled = re.finditer(
        rf"({named})[:.]\s*(.+?)(?=(?:,?\s*{named}[:.])|$)", answer, re.IGNORECASE | re.DOTALL
    )
    stretches = [match.group(0) for match in labelled] or [answer]
    pieces = [piece.strip() for stretch in stretches for piece in stretch.split(",")]
    return _joined(pieces, option_texts)


def _joined(pieces: Sequence[str], option_texts: Sequence[str]) -> list[str]:
    """Pieces of an option that has commas itself, put together again; the longest run that is one."""
    joined, at = [], 0
    longest = max((text.count(",") + 1 for text in option_texts), default=1)
    while at < len(pieces):
        ends = range(min(len(pieces), at + longest), at + 1, -1)
        end = next((j for j in ends if normalise(", ".join(pieces[at:j])) in option_texts), at + 1)
        joined.append(", ".join(pieces[at:end]))
        at = end
    return joined


def _entry(piece: str, letters: Mapping[str, str], option_texts: Sequence[str]) -> tuple[str, str]:
    """What an entry picks, and its form; the text decides where a letter stands before it."""
    text = normalise(piece)
    if text in option_texts:
        return text, "full"
    if text.upper() in letters:
        return letters[text.upper()], "letter"
    label = re.match(r"(.)[:.]\s*(.+)", piece, re.DOTALL)
    if label and label[1].upper() in letters and (named := normalise(label[2])) in option_texts:
        return named, "mixed"
    return text, "stray"


def label_f1(answers: Iterable[ListScores]) -> float:
    """The list column of the published leaderboard: mean F1 over labels, not over questions, 0 to 1.

    A label is an option's text that any key or answer of the set names; the same text in two questions is
    one label. 0 without any.
    """
    counts: dict[str, Counter[str]] = {}
    for answer in answers:
        keyed = set(answer.gold)
        for text in keyed | answer.picked:
            outcome = "tp" if text in keyed and text in answer.picked else "fn" if text in keyed else "fp"
            counts.setdefault(text, Counter())[outcome] += 1
    f1_by_label = [2 * c["tp"] / (2 * c["tp"] + c["fp"] + c["fn"]) for c in counts.values()]
    return sum(f1_by_label) / len(f1_by_label) if f1_by_label else 0.0


HEADLINES: Mapping[str, str] = {
    "true_false": "accuracy",
    "multiple_choice": "multiple_choice_average",
    "list": "f1",
    "short": "semantic_match_score",
    "short_inverse": "semantic_match_score",
    "multi_hop": "semantic_match_score",
    "multi_hop_inverse": "semantic_match_score",
}
"""The value that a format's column of the leaderboard is the mean of, by its name in the golden cases. (The
list column is `listed.label_f1` over the whole set instead.)"""
QTYPES: Mapping[str, str] = {"mcq": "multiple_choice"}
"""The published name of a format, where it is another."""

_TAG = re.compile(r"<(/?)think>", re.IGNORECASE)
_TRUTH = re.compile(r"(true|false)", re.IGNORECASE)
_PREFIX = re.compile(r"^incorrect explanation:\s*", re.IGNORECASE)
_GOLD_LINE = re.compile(r"\bstep\b.*?(\d+)", re.IGNORECASE)
_GOLD_STEP = re.compile(r"step\s*([0-9]+)", re.IGNORECASE)
_STEP = re.compile(r"(?:incorrect reasoning step\s*[:\-]?\s*|step\s*[:\-]?\s*)(\d+)", re.IGNORECASE)
_EXPLAINED = re.compile(r"(?:incorrect reasoning explanation|explanation)\s*[:\-]?", re.IGNORECASE)


class TextPair(NamedTuple):
    """Two texts that the layers compare. `echo`: the answer is the question, which is worth 0."""

    gold: str
    response: str
    gold_step: int | None = None
    response_step: int | None = None
    echo: bool = False

    @property
    def exact(self) -> bool:
        """Whether they are equal but for case and outer blanks, which is worth 1."""
        return self.gold.strip().lower() == self.response.strip().lower()


def without_thoughts(answer: str) -> str:
    """A response without its closed thoughts; an open <think>, or a lone </think>, stays."""
    pieces, done, opened = [], 0, None
    for tag in _TAG.finditer(answer):  # not one pattern for both: that looks for an end from every beginning
        if not tag[1]:
            opened = tag.start() if opened is None else opened
        elif opened is not None:
            pieces.append(answer[done:opened])
            done, opened = tag.end(), None
    return "".join([*pieces, answer[done:]]).strip()


def score_case(
    qtype: str,
    item: Mapping[str, Any],
    answer: str,
    *,
    idf: Callable[[str], float] | Mapping[str, float],
    stop_words: Set[str] = PUBLISHED.stop_words,
    embed: Embedder,
    baseline: float = 0.3,
) -> Mapping[str, float]:
    """The scores of a raw case, the headline and its parts by their names in the golden cases.

    `idf` gives the weight of a WordPiece; of a table, one that it has not weighs 1. Steps that were not found
    are left out. Raises `InputError` for an unknown type or an item without its gold.
    """
    try:
        if qtype in ("true_false", "multiple_choice", "list"):
            return score_closed(qtype, item, answer)
        pair = read_pair(qtype, item, answer)
    except KeyError as error:
        raise InputError(f"a published case of type {qtype!r} needs the field {error}.") from None
    rules = replace(PUBLISHED, stop_words=stop_words)
    sides = (side(pair.gold, rules, embed.tokens), side(pair.response, rules, embed.tokens))
    needed = sorted(texts(*sides))
    vectors = dict(zip(needed, embed(needed), strict=True))
    weight = idf if callable(idf) else lambda term: idf.get(term, 1.0)
    return score_pair(pair, sides, vectors, weight, baseline=baseline)


def score_pair(
    pair: TextPair,
    sides: tuple[Side, Side],
    vectors: Mapping[str, Any],
    weight: Callable[[str], float],
    *,
    baseline: float,
) -> dict[str, float]:
    """The semantic score of two texts: shortcuts first, then the layers, times the penalty of the step."""
    scores = layers(*sides, vectors, weight, baseline=baseline, rules=PUBLISHED)
    unpenalised = 1.0 if pair.exact else scores.score
    penalty = step_factor(pair.gold_step, pair.response_step, missing=PUBLISHED.step_missing)
    marks = {
        "semantic_match_score": 0.0 if pair.echo else unpenalised * penalty,
        "semantic_unpenalised": unpenalised,
        "token_layer": scores.token,
        "sentence_layer": scores.sentence,
        "paragraph_layer": scores.paragraph,
        "raw": scores.raw,
        "after_offset": scores.offset,
        "snapped": float(scores.snapped),
        "exact_match": float(pair.exact),
        "question_echo": float(pair.echo),
        "penalty_factor": penalty,
        "step_correct": float(pair.gold_step == pair.response_step),
    }
    for name, step in (("expected_step", pair.gold_step), ("predicted_step", pair.response_step)):
        if step is not None:
            marks[name] = step
    if pair.gold_step is not None and pair.response_step is not None:
        marks["step_distance"] = abs(pair.gold_step - pair.response_step)
    return marks


def step_factor(gold: int | None, response: int | None, *, missing: float) -> float:
    """What a score is multiplied by for a step: 1, 0.7, 0.3 at distances 0 to 2, then halves of it."""
    if gold is None or response is None:
        return missing
    distance = abs(gold - response)
    if distance > 2:
        return 0.3 / 2.0 ** min(distance - 2, 1000)
    return (1.0, 0.7, 0.3)[distance]


def read_pair(qtype: str, item: Mapping[str, Any], answer: str) -> TextPair:
    """What of an open answer is compared with what. Raises `InputError` for a type that is none."""
    response = without_thoughts(answer)
    if qtype == "multi_hop_inverse":
        gold_step, gold = _fault(item["incorrect_reasoning_step"])
        named, explained = _STEP.search(" ".join(response.split())), _EXPLAINED.search(response)
        text = response[explained.end() :] if explained else response
        # Of a number of thousands of digits, which is no step, the first few are as far off as all.
        return TextPair(gold, text.strip(), gold_step, int(named[1][:18]) if named else None)
    if qtype not in HEADLINES or qtype in ("true_false", "multiple_choice", "list"):
        raise InputError(f"no published open format named {qtype!r}: it is one of {', '.join(HEADLINES)}.")
    gold = str(item["incorrect_explanation" if qtype == "short_inverse" else "answer"])
    text = response.lower()
    if qtype == "short_inverse":
        text = _PREFIX.sub("", text)
    # Not an inverse case of several hops: there is no step here, and none is asked for.
    return TextPair(gold, text, 0, 0, response.lower() == str(item.get("question", "")).strip().lower())


def _fault(gold: Any) -> tuple[int | None, str]:
    """The step and the explanation of a key; the first line with the word explanation is taken for it."""
    lines = [str(line) for line in (gold.splitlines() if isinstance(gold, str) else gold)]
    line = next((line for line in lines if _GOLD_LINE.search(line)), "")
    step = _GOLD_STEP.search(line)
    explanation = next((line for line in lines if "explanation" in line.lower()), "")
    text = explanation.partition(":")[2] if ":" in explanation else explanation
    return int(step[1]) if step else None, text.strip()


def score_closed(qtype: str, item: Mapping[str, Any], answer: str) -> dict[str, float]:
    """The scores of a closed case: a word, an option's full text, or options by commas."""
    response = without_thoughts(answer)
    if qtype == "true_false":
        match = _TRUTH.match(response)
        right = match is not None and match[1].lower() == str(item["answer"]).strip().lower()
        plain = response.lower() in ("true", "false")
        return {
            "accuracy": float(right),
            "invalid_count": float(match is None),
            "malformed": float(not plain),
        }
    if qtype == "multiple_choice":
        return _choice(item, response)
    scores = score_list(item["options"], item["answer"], response)
    marks = {
        name: float(getattr(scores, name))
        for name in ("f1", "precision", "recall", "tp", "fp", "fn", "malformed")
    }
    return marks | {f"list_{form}_match": float(scores.form == form) for form in ("full", "letter", "mixed")}


def _choice(item: Mapping[str, Any], response: str) -> dict[str, float]:
    """Full text alone counts; what a letter names is told beside it."""
    options = [normalise(option) for option in item["options"]]
    letters = {chr(97 + k): text for k, text in enumerate(options)}
    gold, text = normalise(item["correct_answer"]), normalise(response)
    label = re.match(r"([a-z])(?::|\b) ?(.+)", text)
    if text in options:
        form, named = "full", text
    elif text in letters:
        form, named = "letter", letters[text]
    elif label and label[1] in letters and label[2] in options:
        form, named = "mixed", label[2]
    else:
        form, named = "none", None
    right = float(text == gold)
    return {
        "multiple_choice_average": right,
        "multiple_choice_combined_match_average": float(form in ("letter", "mixed") and named == gold),
        **{f"multiple_choice_{name}_match": float(form == name) for name in ("full", "letter", "mixed")},
        "malformed": 0.0,
    }
