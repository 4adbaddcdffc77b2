"""Conflicts of side and direction: words that have an opposite, and what they are said of."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vivavoce.contrib.conflicts.clauses import Clauses
from vivavoce.contrib.conflicts.text import Conflict, Line, stem
from vivavoce.core.text import lazy_pattern


class Turn(NamedTuple):
    """A word of an `axis` that points one way (`sign`), whether it is denied, and the words it is said of."""

    axis: str
    sign: int
    denied: bool
    words: frozenset[str]
    start: int
    end: int


_AXES = {
    "above": (
        r"superior(?:ly)?|upper",
        r"inferior(?:ly)?|lower(?= (?:limb|lobe|extremit|quadrant|respiratory|gastrointestinal|gi"
        r"|airway|pole|motor"
        r"|third|half|segment|lip|jaw|back|body|end|part|border|urinary|uterine|leg|eyelid))",
    ),
    "regulation": (r"upregulat\w*|up regulat\w*", r"downregulat\w*|down regulat\w*"),
    "pace": (r"(?:fast|rapid)(?= (?:pulse|heart))", r"slow(?= (?:pulse|heart))"),
    "level": (
        r"increas\w*|rais(?:e|es|ed|ing)|elevat\w*|ris(?:e|es|ing|en)|rose|high(?! risk)|higher|highest"
        r"|enhanc\w*"
        r"|augment\w*|grow(?:s|th)?|accelerat\w*|speeds?|faster|excess(?:ive)?|greater|larger|heighten\w*",
        r"decreas\w*|lower(?:s|ed|ing)?|low(?! risk)|lowest|reduc(?:e|es|ed|ing|tion|tions)|fall(?:s|en"
        r"|ing)?|fell|drop(?:s|ped|ping)?"
        r"|declin\w*|diminish\w*|deplet\w*|lessen\w*|slow(?:s|ed|er|ing)?|minimi[sz]\w*|smaller|attenuat\w*",
    ),
    "risk": (r"high risk", r"low risk"),
    "length": (r"prolong\w*|lengthen\w*|long(?:er)?|extend\w*", r"short(?:en\w*|er)?"),
    "action": (
        r"agonists?|activat\w*|stimulat\w*|induc\w*|promot\w*|favou?r\w*|potentiat\w*|facilitat\w*|trigger\w*",
        r"antagoni\w*|inhibit\w*|block(?:s|ed|ing|ers?|ade)?|suppress\w*|inactivat\w*|prevent\w*|impair\w*|hinder\w*",
    ),
    "order": (r"before|prior to|preced\w*", r"after|following"),
    "front": (r"anterior(?:ly)?|ventral(?:ly)?", r"posterior(?:ly)?|dorsal(?:ly)?"),
    "near": (r"proximal(?:ly)?", r"distal(?:ly)?"),
    "middle": (r"medial(?:ly)?", r"lateral(?:ly)?"),
    "way": (r"afferent|sensory|ascending", r"efferent|motor|descending"),
    "sign": (r"(?<=\w )positive(?= (?:bac|coc|rod|org|staph|strep))", r"(?<=\w )negative(?= (?:bac|coc"
        r"|rod|org|diplo))"),
    "onset": (r"acute(?:ly)?", r"chronic(?:ally)?"),
    "time": (r"early|earlier", r"late"),
    "vessel": (r"arter(?:y|ies|ial)", r"vein|veins|venous"),
    "growth": (r"benign", r"malignan\w*"),
    "beat": (r"systol\w*", r"diastol\w*"),
    "bend": (r"flex(?:ion|es|ed|or|ors)?", r"exten(?:sion|sor|sors)"),
    "apart": (r"abduct\w*", r"adduct\w*"),
    "width": (r"vasodilat\w*|dilat\w*|bronchodilat\w*|mydria\w*", r"vasoconstrict\w*|constrict\w*"
        r"|bronchoconstrict\w*|miosis|miotic"),
    "sight": (r"hyperopi\w*|farsight\w*", r"myopi\w*|nearsight\w*"),
    "acid": (r"acidosis|acidotic|acidemia|acidaemia", r"alkalosis|alkalotic|alkalemia|alkalaemia"),
    "yield": (r"sensitiv\w*|susceptib\w*", r"resistan\w*|insensitiv\w*"),
    "heir": (r"dominant", r"recessive"),
    "nerve": (r"sympathetic\w*|sympathomimetic\w*", r"parasympath\w*|sympatholytic\w*"),
    "course": (r"start(?:s|ed|ing)?|initiat\w*|commenc\w*|begin\w*", r"stop(?:s|ped|ping)?"
        r"|discontinu\w*|withdraw\w*|ceas\w*"),
    "pair": (r"homozyg\w*", r"heterozyg\w*"),
    "cell": (r"intracellular\w*", r"extracellular\w*"),
    "often": (
        r"common(?:ly)?|frequent(?:ly)?|not (?:uncommon|infrequent|rare)(?:ly)?",
        r"(?<!not )(?:rare|uncommon|infrequent)(?:ly)?",
    ),
    "than": (r"more(?= \w+(?: \w+){0,3} than)", r"less(?= \w+(?: \w+){0,3} than)"),
    "better": (r"improv\w*|better|reliev\w*|alleviat\w*|ameliorat\w*", r"worsen\w*|worse|deteriorat\w*"
        r"|exacerbat\w*|aggravat\w*"),
    "turn": (r"reversibl[ey]", r"irreversibl[ey]"),
    "gain": (r"gain(?:s|ed|ing)?", r"loss(?:es)?|los(?:e|es|t|ing)"),
    "tone": (r"contract(?:s|ed|ion|ions|ing)?", r"relax(?:es|ed|ation|ing|ant)?"),
    "gate": (r"open(?:s|ed|ing)?", r"clos(?:e|es|ed|ing|ure)"),
    "depth": (r"superficial(?:ly)?", r"deep(?:er|ly)?"),
    "inside": (r"internal(?:ly)?|inner", r"external(?:ly)?|outer"),
    "centre": (r"central(?:ly)?", r"peripheral(?:ly)?"),
    "breath": (r"inspirat\w*|inhalation", r"expirat\w*|exhalation"),
    "flow": (r"influx|inward", r"efflux|outward"),
    "up": (r"upwards?|upstream", r"downwards?|downstream"),
    "water": (r"hydrophilic", r"hydrophobic|lipophilic"),
    "build": (r"anabolic|anabolism", r"catabolic|catabolism"),
    "lying": (r"supine", r"prone(?! to)"),
    "charge": (r"cation\w*", r"anion\w*"),
    "side": (
        r"right(?: sided)?(?! (?:answer|choice|dose|diagnosis|treatment|drug|away|after|now|time))",
        r"left(?: sided)?(?! (?:untreated|alone|in place|behind|to|the|with|unattended|over))",
    ),
    "sides": (r"ipsilateral(?:ly)?|same side", r"contralateral(?:ly)?|opposite side"),
    "both": (r"bilateral(?:ly)?|both sides", r"unilateral(?:ly)?|one side(?:d)?"),
}  # fmt: skip
_PLACES = {"side", "sides", "both", "front", "near", "middle", "above"}
_KEYS = list(_AXES)
_WORD = lazy_pattern(
    "|".join(
        rf"\b(?P<{name}_{sign}>{words})(?!\w)"
        for name, pair in _AXES.items()
        for sign, words in zip("pn", pair, strict=True)
    )
)
_ROOTS = {
    "kal": "potassium", "natr": "sodium", "calc": "calcium", "glyc": "sugar", "uria": "urine",
    "uric": "uric", "tens": "pressure",
    "magn": "magnesium", "phosph": "phosphate", "thyr": "thyroid", "therm": "temperature", "vol": "volume",
    "lipid": "lipid",
    "album": "albumin", "bilirub": "bilirubin", "capn": "carbon", "ox": "oxygen", "prolact": "prolactin",
    "cardia": "heart",
    "pne": "breath", "pno": "breath", "parathyr": "parathyroid", "cholest": "cholesterol",
    "triglyc": "triglyceride", "reflex": "reflex", "ton": "tone",
}  # fmt: skip
_PREFIX = lazy_pattern(
    r"\b(?P<up>hyper|tachy|poly)(?P<a>[a-z]{3,})|\b(?P<down>hypo|brady|oligo?)(?P<b>[a-z]{3,})"
)
_COUNT = lazy_pattern(
    r"\b(?P<cell>[a-z]{4,}?)(?:cyt(?:o(?P<down>penia)|o(?P<up>sis))|(?P<d2>penia)|(?P<u2>philia))\b"
)
_DENIED = lazy_pattern(
    r"\b(?:not|no|never|without|nor|neither|cannot|(?:do|does|did|is|are|was|were)nt"
    r"|fails? to)(?: \w+){0,4} \Z"
)
_SELDOM = lazy_pattern(r"\b(?:rare|rarely|seldom|unusual)\b")
_EDGE = lazy_pattern(r" (?:,|\.|by|and|or|but|while|whereas|then|because|which|that) ")
_REACH = 60
_NEAR = 0.5


def find_turns(line: Line, clauses: Clauses) -> list[Turn]:
    """The words of a line that have an opposite, in order."""
    result = []
    for m in _WORD.finditer(line.text):
        axis, _, sign = (m.lastgroup or "").rpartition("_")
        result.append(_turn(line, clauses, axis, 1 if sign == "p" else -1, m, None))
    result += _prefixed_turns(line, clauses)
    for m in _COUNT.finditer(line.text):
        result.append(
            _turn(line, clauses, "count", 1 if m["up"] or m["u2"] else -1, m, stem(m["cell"] + "cyte"))
        )
    return sorted(result, key=lambda t: t.start)


def _prefixed_turns(line: Line, clauses: Clauses) -> Iterator[Turn]:
    """The words that a prefix turns, such as "hypertension"; in "polysensitive" the prefix turns nothing."""
    for m in _PREFIX.finditer(line.text):
        root = m["a"] or m["b"]
        of_many = root.startswith(("sensit", "troph", "plas", "opi", "thes", "chondr", "active"))
        if of_many and m["up"] == "poly":
            continue
        kind = "pace" if m[0].startswith(("tachy", "brady")) else "level"
        yield _turn(line, clauses, kind, 1 if m["up"] else -1, m, _root(root))


def _root(remainder: str) -> str:
    for root in sorted(_ROOTS, key=len, reverse=True):
        if remainder.startswith(root):
            return stem(_ROOTS[root])
    return stem(remainder)


def _turn(line: Line, clauses: Clauses, axis: str, sign: int, m: re.Match[str], target: str | None) -> Turn:
    clause = clauses.at(m.start())
    preceding = line.text[max(clause.start, m.start() - _REACH) : m.start()]
    denied = clause.rejected or _DENIED.search(preceding) is not None
    near = max(clause.start, m.start() - _REACH), min(clause.end, m.end() + _REACH)
    if axis != "often" and _SELDOM.search(line.text, *near):
        denied = True  # what is rare is neither said nor denied
    if target is not None:
        return Turn(axis, sign, denied, frozenset({target}), m.start(), m.end())
    following = line.text[m.end() : min(clause.end, m.end() + _REACH)]
    first = m.start() - len(preceding)
    if edges := list(_EDGE.finditer(preceding)):
        first += edges[-1].end()
    edge = _EDGE.search(following)
    last = m.end() + (edge.start() if edge else len(following))
    words = line.words(first, m.start())[-4:]
    if axis != "than":  # "more likely than B" is said of what stands before
        words += line.words(m.end(), last)[:4]
    return Turn(axis, sign, denied, frozenset(words), m.start(), m.end())


def direction_conflicts(
    expected: Sequence[Turn], actual: Sequence[Turn], reference: Line, answer: Line
) -> Iterator[Conflict]:
    """Each word of the reference whose opposite, and not itself, the answer says of the same thing."""
    by_axis: dict[str, list[Turn]] = {}
    for turn in actual:
        by_axis.setdefault(turn.axis, []).append(turn)
    done: set[int] = set()
    for turn in expected:
        if turn.denied:
            continue
        others = [t for t in [*by_axis.get(turn.axis, []), *_one_of_two(turn, by_axis)] if not t.denied]
        same = max((_over(turn, t) for t in others if t.sign == turn.sign), default=(-1.0, 0))
        score, best = max(
            ((_over(turn, t), t) for t in others if t.sign != turn.sign),
            key=lambda f: f[0],
            default=((0.0, 0), None),
        )
        if best is None or score[0] < _NEAR or score <= same or best.start in done:
            continue
        if any(_over(best, t) >= score for t in expected if _agree(best, t)):
            continue  # the reference says that too
        done.add(best.start)
        kind = "laterality" if turn.axis in _PLACES else "direction"
        yield Conflict(
            kind,
            answer.written(best.start, best.end),
            reference.written(turn.start, turn.end),
            best.start,
            best.end,
        )


def _agree(a: Turn, b: Turn) -> bool:
    return a.axis == b.axis and a.sign == b.sign and not b.denied


def _one_of_two(turn: Turn, by_axis: dict[str, list[Turn]]) -> list[Turn]:
    """The opposites of `turn` where one side stands against both: "left" and "bilateral"."""
    if turn.axis == "side":
        return [t._replace(sign=-turn.sign) for t in by_axis.get("both", []) if t.sign > 0]
    sides = by_axis.get("side", [])
    if turn.axis == "both" and turn.sign > 0 and len({t.sign for t in sides}) == 1:
        return [t._replace(sign=-1) for t in sides]
    return []


def _over(a: Turn, b: Turn) -> tuple[float, int]:
    """The share of the words of the smaller side that both have, then their number."""
    if not a.words or not b.words:
        return (0.4 if a.words or b.words else _NEAR), 0
    shared = len(a.words & b.words)
    return shared / min(len(a.words), len(b.words)), shared
