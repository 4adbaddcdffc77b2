"""The published harness of ClinIQLink on its raw cases: seven formats, marked as coded.

It reads the response itself, thoughts in closed <think> tags apart, and not what our formats make of it; so
it gives a mark to what is unreadable here ("Trueish" is True), and to silence 0. Golden values: 94 cases that
its code gave, tolerance 1e-4 where vectors are compared, else 1e-9.
"""

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from typing import Any, NamedTuple

from vivavoce.errors import InputError
from vivavoce.semantic.encoder import Embeds
from vivavoce.semantic.layers import Side, layers, side, texts
from vivavoce.semantic.listed import listed, normalise
from vivavoce.semantic.rules import PUBLISHED

__all__ = ["HEADLINES", "QTYPES", "Compared", "case", "closed", "compared", "factor", "headline", "spoken"]

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


class Compared(NamedTuple):
    """Two texts that the layers compare. `echo`: the answer is the question, which is worth 0."""

    gold: str
    said: str
    gold_step: int | None = None
    said_step: int | None = None
    echo: bool = False

    @property
    def exact(self) -> bool:
        """Whether they are equal but for case and outer blanks, which is worth 1."""
        return self.gold.strip().lower() == self.said.strip().lower()


def spoken(answer: str) -> str:
    """A response without its closed thoughts; an open <think>, or a lone </think>, stays."""
    kept, done, opened = [], 0, None
    for tag in _TAG.finditer(answer):  # not one pattern for both: that looks for an end from every beginning
        if not tag[1]:
            opened = tag.start() if opened is None else opened
        elif opened is not None:
            kept.append(answer[done:opened])
            done, opened = tag.end(), None
    return "".join([*kept, answer[done:]]).strip()


def case(
    qtype: str,
    item: Mapping[str, Any],
    answer: str,
    *,
    idf: Callable[[str], float] | Mapping[str, float],
    stop_words: Set[str] = PUBLISHED.stop_words,
    embed: Embeds,
    baseline: float = 0.3,
) -> Mapping[str, float]:
    """The marks of a raw case, the headline and its parts by their names in the golden cases.

    `idf` gives the weight of a WordPiece; of a table, one that it has not weighs 1. Steps that were not found
    are left out. Raises `InputError` for an unknown type or an item without its gold.
    """
    try:
        if qtype in ("true_false", "multiple_choice", "list"):
            return closed(qtype, item, answer)
        pair = compared(qtype, item, answer)
    except KeyError as error:
        raise InputError(f"a published case of type {qtype!r} needs the field {error}.") from None
    rules = replace(PUBLISHED, stop_words=stop_words)
    sides = (side(pair.gold, rules, embed.tokens), side(pair.said, rules, embed.tokens))
    needed = sorted(texts(*sides))
    vectors = dict(zip(needed, embed(needed), strict=True))
    weight = idf if callable(idf) else lambda term: idf.get(term, 1.0)
    return headline(pair, sides, vectors, weight, baseline=baseline)


def headline(
    pair: Compared,
    sides: tuple[Side, Side],
    vectors: Mapping[str, Any],
    weight: Callable[[str], float],
    *,
    baseline: float,
) -> dict[str, float]:
    """The semantic score of two texts: shortcuts first, then the layers, times the penalty of the step."""
    found = layers(*sides, vectors, weight, baseline=baseline, rules=PUBLISHED)
    unpenalised = 1.0 if pair.exact else found.score
    penalty = factor(pair.gold_step, pair.said_step, missing=PUBLISHED.step_missing)
    marks = {
        "semantic_match_score": 0.0 if pair.echo else unpenalised * penalty,
        "semantic_unpenalised": unpenalised,
        "token_layer": found.token,
        "sentence_layer": found.sentence,
        "paragraph_layer": found.paragraph,
        "raw": found.raw,
        "after_offset": found.offset,
        "snapped": float(found.snapped),
        "exact_match": float(pair.exact),
        "question_echo": float(pair.echo),
        "penalty_factor": penalty,
        "step_correct": float(pair.gold_step == pair.said_step),
    }
    for name, step in (("expected_step", pair.gold_step), ("predicted_step", pair.said_step)):
        if step is not None:
            marks[name] = step
    if pair.gold_step is not None and pair.said_step is not None:
        marks["step_distance"] = abs(pair.gold_step - pair.said_step)
    return marks


def factor(gold: int | None, said: int | None, *, missing: float) -> float:
    """What a score is multiplied by for a step: 1, 0.7, 0.3 at distances 0 to 2, then halves of it."""
    if gold is None or said is None:
        return missing
    distance = abs(gold - said)
    if distance > 2:
        return 0.3 / 2.0 ** min(distance - 2, 1000)
    return (1.0, 0.7, 0.3)[distance]


def compared(qtype: str, item: Mapping[str, Any], answer: str) -> Compared:
    """What of an open answer is compared with what. Raises `InputError` for a type that is none."""
    said = spoken(answer)
    if qtype == "multi_hop_inverse":
        gold_step, gold = _fault(item["incorrect_reasoning_step"])
        named, explained = _STEP.search(" ".join(said.split())), _EXPLAINED.search(said)
        text = said[explained.end() :] if explained else said
        # Of a number of thousands of digits, which is no step, the first few are as far off as all.
        return Compared(gold, text.strip(), gold_step, int(named[1][:18]) if named else None)
    if qtype not in HEADLINES or qtype in ("true_false", "multiple_choice", "list"):
        raise InputError(f"no published open format named {qtype!r}: it is one of {', '.join(HEADLINES)}.")
    gold = str(item["incorrect_explanation" if qtype == "short_inverse" else "answer"])
    text = said.lower()
    if qtype == "short_inverse":
        text = _PREFIX.sub("", text)
    # Not an inverse case of several hops: there is no step here, and none is asked for.
    return Compared(gold, text, 0, 0, said.lower() == str(item.get("question", "")).strip().lower())


def _fault(gold: Any) -> tuple[int | None, str]:
    """The step and the explanation of a key; the first line with the word explanation is taken for it."""
    lines = [str(line) for line in (gold.splitlines() if isinstance(gold, str) else gold)]
    line = next((line for line in lines if _GOLD_LINE.search(line)), "")
    step = _GOLD_STEP.search(line)
    told = next((line for line in lines if "explanation" in line.lower()), "")
    text = told.partition(":")[2] if ":" in told else told
    return int(step[1]) if step else None, text.strip()


def closed(qtype: str, item: Mapping[str, Any], answer: str) -> dict[str, float]:
    """The marks of a closed case: a word, an option's full text, or options by commas."""
    said = spoken(answer)
    if qtype == "true_false":
        found = _TRUTH.match(said)
        right = found is not None and found[1].lower() == str(item["answer"]).strip().lower()
        plain = said.lower() in ("true", "false")
        return {
            "accuracy": float(right),
            "invalid_count": float(found is None),
            "malformed": float(not plain),
        }
    if qtype == "multiple_choice":
        return _choice(item, said)
    one = listed(item["options"], item["answer"], said)
    marks = {
        name: float(getattr(one, name))
        for name in ("f1", "precision", "recall", "tp", "fp", "fn", "malformed")
    }
    return marks | {f"list_{form}_match": float(one.form == form) for form in ("full", "letter", "mixed")}


def _choice(item: Mapping[str, Any], said: str) -> dict[str, float]:
    """Full text alone counts; what a letter names is told beside it."""
    options = [normalise(option) for option in item["options"]]
    letters = {chr(97 + k): text for k, text in enumerate(options)}
    gold, text = normalise(item["correct_answer"]), normalise(said)
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
