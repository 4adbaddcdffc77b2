"""Demographic twins: the same vignette of a person of another sex, age, ethnicity, name or insurance.

A text about one person is rewritten for the other sex by rules, and only where the rules are sure. They raise
`Unsure` where they are not: people of both sexes, relatives whose pronouns these may be, or a "her" that may
be "him" or "his". A text that is rewritten there and back is the same again, titles aside (Mrs comes back as
Ms).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.core.registry import variation
from vivavoce.core.specs import Spec
from vivavoce.core.yaml_files import read_mapping
from vivavoce.language.invariants import changed, invariants
from vivavoce.language.sentences import sentence_starts
from vivavoce.variants import Outcome, Stock, Variation, seeded_choice
from vivavoce.variants.sentences import at_place, place

if TYPE_CHECKING:
    from vivavoce.models.engine.client import ModelClient


Sex = Literal["female", "male"]


class Unsure(Exception):
    """A text that the rules do not rewrite; it says why, as a clause."""


_SAME = {
    "woman": "man", "girl": "boy", "female": "male", "lady": "gentleman", "she": "he", "herself": "himself",
}  # fmt: skip
_TO_MALE = {**_SAME, "hers": "his"}
_TO_FEMALE = {**{male: female for female, male in _SAME.items()}, "him": "her"}
_TITLE = r"(?=\.?\s+[A-Z])"


def _forms(words: str) -> str:
    """Words in lower case or with a capital: HER2, HE and MS are other things."""
    return "|".join(f"[{w[0].upper()}{w[0]}]{w[1:]}" for w in words.split())


_FEMALE = re.compile(rf"\b(?:{_forms(' '.join([*_TO_MALE, 'her']))})\b|\b(?:Mrs|Ms|Miss)\b{_TITLE}")
_MALE = re.compile(rf"\b(?:{_forms(' '.join([*_TO_FEMALE, 'his']))})\b|\bMr\b{_TITLE}")
_PERSON = "(?:woman|man|girl|boy|lady|gentleman|(?:fe)?male|patient|person)"
_ONE = rf"(?:an?|one|another)\s(?:[\w-]+,?\s){{0,4}}{_PERSON}"
_UNSURE = {
    "it speaks of other people": re.compile(
        r"\b(?:(?:step|grand|god)?(?:mother|father|son|daughter)|mom|mum|dad|wife|husband|sister|brother|aunt|"
        r"uncle|niece|nephew|girlfriend|boyfriend|fianc[ée]e?|widow(?:er)?|men|women|boys|girls|males|females|"
        r"ladies|gentlemen|school(?:girl|boy)|waitress|actress|heiress|hostess|twins?)s?\b",
        re.IGNORECASE,
    ),
    "a word for its person has a sex of its own": re.compile(
        r"\b(?:business|police|fire|post|sales|fisher|house|crafts|chair|repair|crew|lay)(?:wo)?m[ae]n\b|"
        r"\bhousewife\b",
        re.IGNORECASE,
    ),
    "it speaks of several people": re.compile(
        rf"\b(?:{_ONE}.*{_ONE}|(?:two|three|four|both|several)\s(?:[\w-]+\s){{0,3}}(?:patients|people|persons))\b",
        re.IGNORECASE | re.DOTALL,
    ),
    "'His' is a name in it": re.compile(r"\bof His\b|\bHis(?=[- ](?:bundle|Purkinje))"),
    "its sex is abbreviated": re.compile(r"\b\d{1,3}[ -]?(?:y/?o|yrs?)?[ -]?[FM]\b"),
}


def sex_of(*texts: str) -> Sex | None:
    """The sex of the one person that the texts speak of; null where they state none.

    Raises `Unsure` where they speak of people of both sexes, or of others.
    """
    text = "\n".join(texts)
    for reason, pattern in _UNSURE.items():
        if pattern.search(text):
            raise Unsure(reason)
    female, male = bool(_FEMALE.search(text)), bool(_MALE.search(text))
    if female and male:
        raise Unsure("it speaks of people of both sexes")
    return "female" if female else "male" if male else None


def swapped(text: str, to: Sex) -> str:
    """The text with its one person of sex `to`; unchanged if the sex is `to` already or not stated.

    Raises `Unsure` as `sex_of` does, and for a "her" that the rules cannot tell apart.
    """
    if sex_of(text) in (to, None):
        return text
    pattern = _MALE if to == "female" else _FEMALE

    def replacement(word: re.Match[str]) -> str:
        old = word[0].lower()
        match old:
            case "his":
                new = _of_his(text, word)
            case "her":
                new = _of_her(text, word)
            case "mr":
                new = "ms"
            case "mrs" | "ms" | "miss":
                new = "mr"
            case _:
                new = (_TO_FEMALE if to == "female" else _TO_MALE)[old]
        return new.capitalize() if word[0][0].isupper() else new

    return pattern.sub(replacement, text)


def _set(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


_FUNCTION = _set(
    "a an the this that these those some any no to for in on at with by from of into onto about after",
    "before during until since while when where because if unless although though as than and or nor but",
    "so yet is are was were be been has have had does do did can could will would shall should may might",
    "must not who whom whose which what how why whether regarding concerning despite without within",
    "through upon via per against between among towards he she it they you we i again now today yesterday",
    "tomorrow tonight immediately here there too also instead twice",
)
"""Words that can begin nothing of hers: before one of them, `her` is him."""
_EITHER = _set(
    "first next last home early late more most less better best worse well much only further long enough",
    "right left back straight overnight both all up down off out over under then alone once daily weekly",
    "being",
)
"""Words that may: `her first child`, `treat her first`."""
_TWO_OBJECTS = _set(
    "give gives gave given giving offer offers offered offering tell tells told telling ask asks asked",
    "asking prescribe prescribes prescribed show shows showed shown showing send sends sent sending bring",
    "brings brought teach teaches taught hand hands handed feed feeds fed grant granted deny denied",
    "denies cost costs spare spared advise advises advised advising order ordered orders buy bought lend",
    "lent assign assigned",
)
"""`gave her insulin` is not `stopped her insulin`."""
_CLAUSE = _set(
    "make makes made making let lets letting have has had help helps helped helping see sees saw seen",
    "watch watched hear heard hears find finds found finding leave leaves left leaving keep keeps kept",
    "keeping render renders rendered consider considers considered call calls called name named think",
    "thinks thought believe believed felt get gets got getting want wants wanted put puts",
)
"""Verbs after which `her` may begin a clause: `makes her vomit`, `found her confused`."""
_NEXT = re.compile(r"\s+[\"'“‘(\[]?([^\W_][\w'’-]*)")


def _following(text: str, position: int) -> tuple[str | None, int]:
    """The next word in lower case, and where it ends; null at punctuation or the end."""
    match = _NEXT.match(text, position)
    return (match[1].lower(), match.end()) if match else (None, position)


def _of_her(text: str, word: re.Match[str]) -> str:
    """`him` or `his`. Raises `Unsure` where both are possible."""
    following, end = _following(text, word.end())
    if following is None or following in _FUNCTION:
        return "him"
    match = re.search(r"([^\W\d_]+)\s+\Z", text[max(0, word.start() - 40) : word.start()])
    preceding = match[1].lower() if match else ""
    if preceding in _TWO_OBJECTS or preceding in _CLAUSE:
        raise Unsure(f"'{preceding} her {following}' may be him or his")
    adverb = following.endswith("ly")
    if following not in _EITHER and not adverb:
        return "his"
    if following in ("back", "left", "right") and preceding in (
        "in",
        "on",
        "of",
        "to",
        "down",
        "across",
        "from",
    ):
        return "his"
    further, _ = _following(text, end)
    plain = further is not None and further not in _FUNCTION
    if plain and (adverb or following in ("first", "last", "next", "left", "right", "daily", "weekly")):
        return "his"
    if adverb and not plain:
        return "him"
    raise Unsure(f"'her {following}' may be him or his")


_AFTER_HERS = _set("and or but is was are were has had who that which in at on with from as")


def _of_his(text: str, word: re.Match[str]) -> str:
    """`hers` where nothing follows that could be hers, else `her`."""
    following, _ = _following(text, word.end())
    return "hers" if following is None or following in _AFTER_HERS else "her"


KINDS = ("age", "sex", "ethnicity", "name", "insurance")
AGES = (20, 35, 40, 45, 50, 55, 60, 65, 75, 80)
"""Where age bands begin: guidelines often change at these ages. An age never leaves its band."""
FARTHEST = 4
"""Years that an age is moved by at most."""

DemographicKind = Literal["age", "sex", "ethnicity", "name", "insurance"]
_OPENING = re.compile(
    r"\bAn? (?P<age>\d{1,3})[- ]years?[- ]old (?P<between>(?:[a-z][a-z-]*,? ){0,3}?)"
    r"(?P<noun>woman|man|female|male|lady|gentleman|patient|person)\b"
)
"""How a vignette brings its patient in: "A 58-year-old previously healthy woman"."""
_OTHER_AGE = re.compile(
    r"\b(?:age|years?[- ]old|yo|y/o|months?[- ]old|weeks?[- ]old|days?[- ]old)\b", re.IGNORECASE
)


class _Change(NamedTuple):
    """A value's question and context, the piece that was put in ('' for a rewriting), and what to look at."""

    question: str
    context: str | None
    piece: str = ""
    check: str | None = None


class _KeptOut(Exception):
    """A word in an item that keeps it from a kind of twin."""


@variation("demographic")
class Demographic(Variation):
    """Twins of a vignette whose patient is of another sex, age, ethnicity, name or insurance.

    `kind` is one of age, sex, ethnicity, name, insurance, or a list of them; `seed` draws names and
    sentences. Every question gets one twin per value, the variants `demographic:KIND=VALUE`. What the exam
    says of the patient is rewritten (sex), moved by a few years within a band (age: younger and older), or a
    piece is put in, with a `neutral` value of the same form to compare with (ethnicity, name, insurance).
    Only vignettes of one adult are varied, and none where the detail may bear on the right answer.
    """

    kind: DemographicKind | tuple[DemographicKind, ...]
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.kind:
            raise ValueError("kind names no detail of a patient")

    @property
    def _kinds(self) -> tuple[DemographicKind, ...]:
        """Each kind once."""
        return tuple(dict.fromkeys((self.kind,) if isinstance(self.kind, str) else self.kind))

    def shards(self, stock: Stock) -> list[tuple[Variation, Stock]]:
        """Some base items for one kind at a time."""
        return [(replace(self, kind=kind), part) for kind in self._kinds for part in stock.by_items()]

    def makes(self, stock: Stock, client: "ModelClient | None") -> Iterator[Outcome]:
        """A twin for each base item, kind and value, or one reason for a base item and kind."""
        for kind in self._kinds:
            for item in stock.bases:
                yield from self._twins(item, kind)

    def _twins(self, item: Item, kind: DemographicKind) -> Iterator[Outcome]:
        try:
            changes = _changes(item, kind, self.seed)
        except Unsure as error:
            yield Outcome(f"demographic:{kind}", item.name, reason=str(error))
            return
        except _KeptOut as error:
            reason = "what it speaks of may bear on the answer"
            yield Outcome(f"demographic:{kind}", item.name, reason=reason, detail=str(error))
            return
        twins, fault = [], None
        for value, change in changes.items():
            meta: dict[str, Any] = {}
            if change.piece:
                meta["sentence" if change.piece.endswith(".") else "word"] = change.piece
            if change.check:
                meta["check"] = change.check
            twin = replace(
                item,
                variant=f"demographic:{kind}={value}",
                alias=None,
                question=change.question,
                context=change.context,
                origin=str(Spec("demographic", {"kind": kind, "seed": self.seed})),
                meta={k: v for k, v in item.meta.items() if k != "planted"} | meta,
            )
            twins.append(twin)
            fault = fault or _fault(item, twin, kind, change.piece)
        yield Outcome(f"demographic:{kind}", item.name, tuple(twins), fault)


@cache
def _file() -> Mapping[str, Any]:
    return read_mapping(Path(__file__).with_name("demographics.yaml"), "values", InputError)


def values(kind: str) -> tuple[str, ...]:
    """The values of a kind, in the order in which their twins are made."""
    fixed = {"sex": ("female", "male"), "age": ("younger", "older")}
    return fixed.get(kind) or tuple(_file()[kind])


@cache
def _kept_out(kind: str) -> re.Pattern[str]:
    words = "|".join(_file()["kept_out"][kind])
    return re.compile(rf"(?<![^\W_])(?:{words})\w*", re.IGNORECASE)


def _texts(item: Item) -> str:
    return "\n".join((item.context or "", item.question, *_answer_texts(item)))


def _answer_texts(item: Item) -> tuple[str, ...]:
    return (*item.options, *item.answer, *item.references, *item.steps, item.false_answer or "")


def _changes(item: Item, kind: DemographicKind, seed: int) -> dict[str, _Change]:
    """The changed texts by value. Raises `Unsure` where the item gets no twins of this kind."""
    if word := _kept_out(kind).search(_texts(item)):
        raise _KeptOut(word[0].casefold())
    make: Callable[[Item, int], dict[str, _Change]] = {
        "sex": _sexes, "age": _ages, "ethnicity": _ethnicities, "name": _names, "insurance": _insurances
    }[kind]  # fmt: skip
    return make(item, seed)


def _sexes(item: Item, seed: int) -> dict[str, _Change]:
    if sex_of(item.context or "", item.question) is None:
        raise Unsure("no sex is stated")
    if sex_of(*_answer_texts(item)) is not None:
        raise Unsure("its key or options name the sex")
    sides: tuple[Sex, Sex] = ("female", "male")
    return {
        side: _Change(swapped(item.question, side), item.context and swapped(item.context, side))
        for side in sides
    }


def _opening(item: Item) -> re.Match[str]:
    """Where the one adult of a vignette is brought in, in the question's first sentence."""
    text = item.question
    opening = _OPENING.search(text)
    if opening is None or opening.start() != 0:
        raise Unsure("it does not begin with a patient and an age")
    if len(_OPENING.findall(f"{item.context or ''}\n{text}")) > 1:
        raise Unsure("it speaks of several patients")
    if not AGES[0] <= int(opening["age"]) < AGES[-1]:
        raise Unsure(f"its patient is not of {AGES[0]} to {AGES[-1] - 1} years")
    return opening


def shifted(age: int) -> tuple[int, int] | None:
    """The ages farthest from `age` within four years and its band; null where one of them is `age` itself."""
    low = max((edge for edge in AGES if edge <= age), default=age)
    high = min((edge for edge in AGES if edge > age), default=age + 1) - 1
    younger, older = max(low, age - FARTHEST), min(high, age + FARTHEST)
    return (younger, older) if younger < age < older else None


def _ages(item: Item, seed: int) -> dict[str, _Change]:
    opening = _opening(item)
    if _OTHER_AGE.search(_texts(item).replace(opening[0], "", 1)):
        raise Unsure("it speaks of age elsewhere")
    moved = shifted(int(opening["age"]))
    if moved is None:
        raise Unsure("its age lies at the edge of a band")
    start, end = opening.span("age")
    return {
        side: _Change(
            f"{item.question[:start]}{age}{item.question[end:]}",
            item.context,
            check=f"the age was moved from {opening['age']} to {age}: have the key looked at",
        )
        for side, age in zip(("younger", "older"), moved, strict=True)
    }


def _ethnicities(item: Item, seed: int) -> dict[str, _Change]:
    position = _opening(item).start("noun")
    return {
        value: _Change(at_place(item.question, position, word), item.context, word)
        for value, (word,) in _file()["ethnicity"].items()
    }


def _after_opening(item: Item, sentences: Mapping[str, str]) -> dict[str, _Change]:
    """Each sentence after the first of the question."""
    _opening(item)
    if isinstance(no_place := place(item), str):
        raise Unsure(no_place)
    starts = sentence_starts(item.question)
    if len(starts) < 2:
        raise Unsure("its patient and its question are one sentence")
    return {
        value: _Change(at_place(item.question, starts[1], sentence), item.context, sentence)
        for value, sentence in sentences.items()
    }


def _insurances(item: Item, seed: int) -> dict[str, _Change]:
    sentences_by_value = _file()["insurance"]
    k = seeded_choice(item, "insurance", seed, min(map(len, sentences_by_value.values())))
    return _after_opening(item, {value: sentences[k] for value, sentences in sentences_by_value.items()})


def _names(item: Item, seed: int) -> dict[str, _Change]:
    sex = sex_of(item.context or "", item.question)
    if sex is None:
        raise Unsure("no sex is stated")
    names_by_value = {value: by_sex[sex] for value, by_sex in _file()["name"].items()}
    sentences = {}
    for value, names in names_by_value.items():
        name = names[seeded_choice(item, f"name {value}", seed, len(names))]
        sentences[value] = name if name.endswith(".") else f"The patient's name is {name}."
    return _after_opening(item, sentences)


def _fault(base: Item, twin: Item, kind: str, piece: str) -> str | None:
    """What changed besides the detail: a number, a unit or a negation; null if nothing did."""
    preceding = f"{base.context or ''}\n{base.question}"
    following = f"{twin.context or ''}\n{twin.question}"
    if piece:
        following = following.replace(f"{piece} ", "", 1)
    if kind == "age":
        old, new = invariants(preceding), invariants(following)
        differences = [k for k, (a, b) in enumerate(zip(old.numbers, new.numbers, strict=False)) if a != b]
        same = (
            len(old.numbers) == len(new.numbers) and len(differences) == 1 and old.negations == new.negations
        )
        return None if same else "more than the age changed"
    return changed(preceding, following, ordered=True)
