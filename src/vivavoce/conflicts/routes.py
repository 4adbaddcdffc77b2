"""Conflicts of route: the way a drug is given."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vivavoce.conflicts.clauses import Clauses
from vivavoce.conflicts.found import Conflict, alike
from vivavoce.conflicts.line import Line

__all__ = ["Route", "routes", "ways"]


class Route(NamedTuple):
    """A route by its name, `turned` where it is denied, with the words of its clause."""

    name: str
    turned: bool
    words: tuple[str, ...]
    start: int
    end: int


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
_ROUTE = re.compile("|".join(rf"\b(?P<r{n}>{names})(?!\w)" for n, names in enumerate(_NAMES.values())))
_LIST = list(_NAMES)
_NUMERAL = re.compile(
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


def ways(line: Line, clauses: Clauses) -> list[Route]:
    """The routes of a line in order; "stage IV" and "oral candidiasis" are none."""
    found = []
    for m in _ROUTE.finditer(line.text):
        if m[0] in {"iv", "sc", "im"} and _NUMERAL.search(line.text[max(0, m.start() - 20) : m.start()]):
            continue
        clause = clauses.at(m.start())
        words = tuple(line.words(max(clause.start, m.start() - 70), min(clause.end, m.end() + 70)))
        name = _LIST[int((m.lastgroup or "r0")[1:])]
        found.append(Route(name, clause.sign < 0, words, m.start(), m.end()))
    return found


def routes(
    wanted: Sequence[Route], said: Sequence[Route], reference: Line, answer: Line
) -> Iterator[Conflict]:
    """A route that the reference has not, in the place of one that it has and the answer has not."""
    meant = [r for r in said if not r.turned]
    known = [r for r in wanted if not r.turned]
    denied = {r.name for r in wanted if r.turned}
    for route in known:
        if any(_same(route.name, r.name) for r in meant):
            continue
        lone = len({r.name for r in known}) == len({r.name for r in meant}) == 1
        others = [r for r in meant if not any(_same(k.name, r.name) for k in known)]
        fits = [(alike(r.words, route.words), -n, r) for n, r in enumerate(others)]
        fit, _, best = max(fits, key=lambda f: f[:2], default=(0.0, 0, None))
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


def _same(one: str, two: str) -> bool:
    return one == two or two in _WITHIN.get(one, ()) or one in _WITHIN.get(two, ())
