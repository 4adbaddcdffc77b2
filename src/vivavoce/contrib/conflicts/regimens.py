"""Conflicts of regimen: how often a day something is done, and by which route a drug is given."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from vivavoce.contrib.conflicts.clauses import Clauses
from vivavoce.contrib.conflicts.text import Conflict, Line, most_alike
from vivavoce.core.text import lazy_pattern


class Often(NamedTuple):
    """A frequency: from `low` to `high` times a day (0: once and no more); `weak` if it may be a total."""

    low: float
    high: float
    weak: bool
    rejected: bool
    words: tuple[str, ...]
    start: int
    end: int


_N = r"\d+(?:\.\d+)?"
_DAYS = {
    "minute min": 1 / 1440, "h hr hour hourly": 1 / 24,
    "day d daily night nightly morning evening bedtime": 1.0,
    "week wk weekly": 7.0, "fortnight": 14.0, "month monthly": 30.4375, "quarter": 91.3125,
    "year yearly annually annum": 365.25,
}  # fmt: skip
_PERIOD = {name: 1 / days for names, days in _DAYS.items() for name in names.split()}
"""Times a day of what is done once in each."""
_LATIN = {
    "bid": 2,
    "bd": 2,
    "tid": 3,
    "tds": 3,
    "qid": 4,
    "qds": 4,
    "od": 1,
    "qd": 1,
    "qam": 1,
    "qpm": 1,
    "qhs": 1,
    "qod": 0.5,
}
_OFTEN = lazy_pattern(
    rf"""
    \b(?:
      (?P<latin>bid|bd|tid|tds|qid|qds|od|qd|qam|qpm|qhs|qod)
    | (?:once|(?P<twice>twice)|(?P<thrice>thrice)|(?P<times>{_N})(?:\ (?:-
        |to)\ (?P<upto>{_N}))?\ (?:times?|x|doses?))\ ?
        (?:(?:a|an|per|each|every|/|in\ (?:a|each))\ )?(?:(?P<of>{_N})\ )?
        (?P<unit>day|week|month|year|hour|night|daily|weekly|monthly|yearly|annually|nightly|morning|evening)s?
    | (?:every|each|q)\ (?P<other>other|second|alternate)\ (?P<ounit>day|week|month|year|night|morning)
    | alternate\ (?P<aunit>day|week)s | (?P<everyother>on\ alternate\ days)
    | (?:every|q)\ ?(?P<each>{_N})\ ?(?:(?:-|to)\ ?(?P<eto>{_N})\ )?(?P<eunit>min|minute|h|hr|hour|hourly
        |day|d|week|wk|month|year)s?
    | q(?P<q>\d+)(?:\ -\ (?P<qto>\d+))?\ ?(?P<qunit>h|hr|hour|hours|d|w)?
    | q(?P<qn>\d+)(?P<qnunit>h|hr|d|wk|w|min)
    | (?<!the\ )(?P<hourly>{_N})\ (?P<hunit>hourly|weekly|monthly|yearly)
    | (?P<divided>{_N})\ (?:(?:equally\ )?divided|equal|separate)\ doses
    | (?:every|each|per)\ (?P<single>day|week|month|year|hour|night|morning|evening)
    | (?P<bare>weekly|monthly|yearly|annually|nightly|hourly|fortnightly)
    | (?P<two>bi|twice)\ ?(?P<bunit>daily|weekly|monthly)
    | (?P<biweekly>biweekly)
    | (?:at|before)\ (?P<bed>bedtime)
    | (?P<once>(?:(?:as\ )?an?\ |as\ )?single\b(?=\ (?:\S+\ ){{0,4}}?dose\b)|1\ dose(?=\ of\b|\ [.,]|$)
        |1\ time\ only|once\ only|one\ off|one\ dose|a\ single\ time|stat)(?!s)
    | (?P<daily>daily)
    )(?![\w])
    """,
    re.VERBOSE,
)
_TOTAL = lazy_pattern(r"(?:per|every|each) (?:day|week|month|year|hour|night)")


def find_frequencies(line: Line, clauses: Clauses) -> list[Often]:
    """The frequencies of a line in order. "Every day" is one, "per day" behind an amount is not."""
    frequencies = []
    for m in _OFTEN.finditer(line.text):
        if m["single"] and m[0].startswith("per "):
            continue
        span = _times(m)
        if span is None:
            continue
        clause = clauses.at(m.start())
        words = tuple(line.words(max(clause.start, m.start() - 60), min(clause.end, m.end() + 60)))
        frequencies.append(
            Often(min(span), max(span), m["daily"] is not None, clause.sign < 0, words, m.start(), m.end())
        )
    return frequencies


def _times(m: re.Match[str]) -> tuple[float, float] | None:
    if m["latin"]:
        return (_LATIN[m["latin"]],) * 2
    if m["unit"]:
        times = 2.0 if m["twice"] else 3.0 if m["thrice"] else float(m["times"] or 1)
        limit = float(m["upto"] or times)
        period = _PERIOD[m["unit"]] / (float(m["of"] or 1) or 1)
        return times * period, limit * period
    if m["ounit"] or m["aunit"]:
        return (_PERIOD[m["ounit"] or m["aunit"]] / 2,) * 2
    if m["everyother"]:
        return 0.5, 0.5
    if m["each"]:
        return _every(m["each"], m["eto"], m["eunit"])
    if m["q"]:
        return _every(m["q"], m["qto"], (m["qunit"] or "h").rstrip("s").replace("w", "week"))
    if m["qn"]:
        return _every(m["qn"], None, {"w": "week"}.get(m["qnunit"], m["qnunit"]))
    if m["hourly"]:
        return _every(
            m["hourly"],
            None,
            {"hourly": "h", "weekly": "week", "monthly": "month", "yearly": "year"}[m["hunit"]],
        )
    if m["divided"]:
        return (float(m["divided"]),) * 2
    if m["single"]:
        return (_PERIOD[m["single"]],) * 2
    if m["bare"]:
        return (1 / 14 if m["bare"] == "fortnightly" else _PERIOD[m["bare"]],) * 2
    if m["bunit"]:
        return (2 * _PERIOD[m["bunit"]],) * 2
    if m["biweekly"]:
        return 1 / 14, 2 / 7  # some mean every two weeks, some twice a week
    if m["once"]:
        return 0.0, 0.0
    return 1.0, 1.0


def _every(number: str, upto: str | None, unit: str) -> tuple[float, float] | None:
    first, last = float(number), float(upto or number)
    if not first or not last:
        return None
    return _PERIOD[unit] / first, _PERIOD[unit] / last


def frequency_conflicts(
    expected: Sequence[Often], actual: Sequence[Often], reference: Line, answer: Line
) -> Iterator[Conflict]:
    """Each frequency of the reference that the answer has not, against one it has in its place."""
    meant, affirmed = _affirmed(actual), _affirmed(expected)
    free = [o for o in meant if not _occurs(o, affirmed)]
    for often_ in affirmed:
        if _occurs(often_, meant):
            continue
        fit, best = most_alike(often_.words, free)
        if best is None:
            return
        if fit < 0.34 and not (len(affirmed) == len(free) == 1 and fit > 0):
            continue
        free.remove(best)
        yield Conflict(
            "frequency",
            answer.written(best.start, best.end),
            reference.written(often_.start, often_.end),
            best.start,
            best.end,
        )


def _occurs(often: Often, frequencies: Sequence[Often]) -> bool:
    """Whether one of the frequencies equals this one."""
    return any(_equal(often, frequency) for frequency in frequencies)


def _equal(a: Often, b: Often) -> bool:
    if a.weak != b.weak and (a.low > 1 or b.low > 1):
        return False
    return a.low <= b.high * 1.05 and b.low <= a.high * 1.05


class Route(NamedTuple):
    """A route by its name, `rejected` where it is denied, with the words of its clause."""

    name: str
    rejected: bool
    words: tuple[str, ...]
    start: int
    end: int


Regimen = TypeVar("Regimen", Often, Route)


def _affirmed(regimens: Sequence[Regimen]) -> list[Regimen]:
    """Those that are not rejected."""
    return [regimen for regimen in regimens if not regimen.rejected]


_NOT_ORAL = (
    r"cavity|candid\w*|thrush|hairy|mucos\w*|cancer\w*|ulcer\w*|lesion\w*|contracepti\w*|hygiene|health|squamous|intake"
    r"|hypoglyc\w*|glucose|rehydration|anticoag\w*|manifest\w*|leukoplakia|disease|infection\w*|pain|surgery|sex|flora"
)
_NAMES = {
    "oral": rf"oral(?:ly)?(?! (?:{_NOT_ORAL})\b)|by mouth|per os|po|peroral(?:ly)?|swallow\w*|tablets?"
    rf"|capsules?",
    "intravenous": r"intravenous(?:ly)?|iv(?! (?:disease|infection|drug use))|into (?:a|the) vein"
    r"|in (?:a|the) vein|into the bloodstream",
    "intramuscular": r"intramuscular(?:ly)?|im|into (?:a|the) muscle",
    "subcutaneous": r"subcutaneous(?:ly)?(?! (?:fat|tissue|nodule|emphysema|oedema|edema))|subcut|sc|sq"
    r"|subq|under the skin|beneath the skin",
    "inhaled": r"inhal\w+|nebuli[sz]\w+|by (?:inhaler|nebulizer|nebuliser)|aerosol inhalation",
    "topical": r"topical(?:ly)?|(?:to|on|onto) the skin|cream|ointment|gel",
    "rectal": r"rectal(?:ly)?(?! (?:bleed\w*|cancer|exam\w*|pain|prolapse|mass|tone|temp\w*))"
    r"|per rectum|suppositor(?:y|ies)|enema|into the rectum",
    "intrathecal": r"intrathecal(?:ly)?",
    "sublingual": r"sublingual(?:ly)?|under the tongue|beneath the tongue",
    "buccal": r"buccal(?:ly)?(?! (?:mucosa|swab|smear))",
    "transdermal": r"transdermal(?:ly)?|(?:skin )?patch(?:es)?",
    "intranasal": r"intranasal(?:ly)?|nasal (?:spray|naloxone|midazolam|fentanyl|desmopressin"
    r"|calcitonin|ketamine)|into the (?:nose|nostrils?)|nasally",
    "intraosseous": r"intraosseous(?:ly)?|into (?:the )?bone",
    "vaginal": r"vaginally|intravaginal(?:ly)?|pessar(?:y|ies)|vaginal (?:ring|tablet|gel|cream)",
    "eye": r"eye ?drops?|ophthalmic drops|into the eyes?",
    "intravitreal": r"intravitreal(?:ly)?",
    "ear": r"ear ?drops?|otic drops|into the ears?",
    "intraperitoneal": r"intraperitoneal(?:ly)?",
    "epidural": r"epidural(?:ly)?(?! (?:haemat\w*|hemat\w*|abscess))",
    "intradermal": r"intradermal(?:ly)?|into the skin",
    "intra-articular": r"intra ?articular(?:ly)?|into (?:the|a) joint",
    "intra-arterial": r"intra ?arterial(?:ly)?|into an artery",
    "enteral": r"nasogastric(?:ally)?|(?:feeding|ng) tube|gastrostomy",
    "parenteral": r"parenteral(?:ly)?(?! nutrition)|by injection",
}
_ROUTE = lazy_pattern("|".join(rf"\b(?P<r{n}>{names})(?!\w)" for n, names in enumerate(_NAMES.values())))
_LIST = list(_NAMES)
_NUMERAL = lazy_pattern(
    r"\b(?:stage|type|class|grade|nerve|factor|phase|category|level|cn|who|lead|ph|of|clinical stage"
    r"|hla|rta|glycoprotein) \Z"
)
_WITHIN = {
    "parenteral": {
        "intravenous",
        "intramuscular",
        "subcutaneous",
        "intraosseous",
        "intradermal",
        "intrathecal",
    },
    "oral": {"enteral"},
    "topical": {"transdermal", "eye", "ear", "vaginal"},
    "sublingual": {"buccal"},
}


def find_routes(line: Line, clauses: Clauses) -> list[Route]:
    """The routes of a line in order; "stage IV" and "oral candidiasis" are none."""
    routes = []
    for m in _ROUTE.finditer(line.text):
        if m[0] in {"iv", "sc", "im"} and _NUMERAL.search(line.text[max(0, m.start() - 20) : m.start()]):
            continue
        clause = clauses.at(m.start())
        words = tuple(line.words(max(clause.start, m.start() - 70), min(clause.end, m.end() + 70)))
        name = _LIST[int((m.lastgroup or "r0")[1:])]
        routes.append(Route(name, clause.sign < 0, words, m.start(), m.end()))
    return routes


def route_conflicts(
    expected: Sequence[Route], actual: Sequence[Route], reference: Line, answer: Line
) -> Iterator[Conflict]:
    """A route that the reference has not, in the place of one that it has and the answer has not."""
    meant, affirmed = _affirmed(actual), _affirmed(expected)
    denied = {r.name for r in expected if r.rejected}
    lone = len({r.name for r in affirmed}) == len({r.name for r in meant}) == 1
    rivals = _not_among(affirmed, meant)
    for route in _not_among(meant, affirmed):
        fit, best = most_alike(route.words, rivals)
        if best is None or (fit < (0.01 if lone else 0.34) and best.name not in denied):
            continue
        yield Conflict(
            "route",
            answer.written(best.start, best.end),
            reference.written(route.start, route.end),
            best.start,
            best.end,
        )
        return


def _not_among(excluded: Sequence[Route], routes: Sequence[Route]) -> list[Route]:
    """The routes that are none of `excluded`, nor a kind of one, nor the kind that one is of."""
    return [route for route in routes if not any(_same(route.name, r.name) for r in excluded)]


def _same(a: str, b: str) -> bool:
    return a == b or b in _WITHIN.get(a, ()) or a in _WITHIN.get(b, ())
