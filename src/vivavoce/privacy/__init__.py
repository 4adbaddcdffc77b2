"""A screen for patient data in what would leave this machine, and texts out of logs.

The screen looks for shapes: names behind titles and field labels, dates of birth and of events, numbers of
records, insurances and phones, addresses. It is a warning before a mistake and no de-identification: what it
does not find may be there all the same. Patterns have a greatest length each, so that the time taken grows
with the length of the text, whatever the text is.
"""

import hmac
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, get_args

from vivavoce.core.records import Item
from vivavoce.privacy.patterns import CITED, RULES, Kind


class Suspect(NamedTuple):
    """A piece of text that looks like patient data: what it looks like, and where it stands."""

    kind: Kind
    start: int
    end: int


class Flagged(NamedTuple):
    """An item that looks as if it held patient data, by the name a person knows it by."""

    item: str
    kinds: tuple[Kind, ...]


def suspects(text: str) -> tuple[Suspect, ...]:
    """What looks like patient data in `text`, from left to right, without overlaps; empty if nothing does.

    Where two overlap the longer stands, of equal ones the first rule's. A name is the name without its title,
    a date without its cue. Not found: names without a title, a label or a given name beside a patient's
    words, names in other scripts than Latin, dates without a year, years, ages, places without street or post
    code, rare diseases, and anything hidden in pictures or codes.
    """
    cited = [candidates.span() for candidates in CITED.finditer(text)]
    candidates = sorted(_candidates(text, cited), key=lambda s: (s.start, -s.end))
    chosen: list[Suspect] = []
    for suspect in candidates:
        if not chosen or suspect.start >= chosen[-1].end:
            chosen.append(suspect)
        elif suspect.end - suspect.start > chosen[-1].end - chosen[-1].start:
            chosen[-1] = suspect
    return tuple(chosen)


def _candidates(text: str, cited: Sequence[tuple[int, int]]) -> Iterator[Suspect]:
    from bisect import bisect_right

    starts = [start for start, _ in cited]
    for rule in RULES:
        for match in rule.pattern.finditer(text):
            start, end = match.span("is")
            k = bisect_right(starts, start) - 1
            inside = k >= 0 and start < cited[k][1]
            if (inside and rule.kind not in ("link", "e-mail address")) or (
                rule.holds and not rule.holds(match)
            ):
                continue
            yield Suspect(rule.kind, start, end)


_SEEN = ("question", "context", "options", "answer", "references", "must", "nice", "steps", "false_answer")


def preflight(items: Iterable[Item]) -> list[Flagged]:
    """The items that look as if they held patient data, in their order, each with the kinds in theirs.

    Everything that a candidate or a judge is sent is read. The suspected text itself is in nothing that comes
    back; an item whose very name is suspect is called by its place, `no. 17`.
    """
    flagged = []
    for place, item in enumerate(items, 1):
        kinds = {s.kind for text in _texts(item) for s in suspects(text)}
        if kinds:
            name = f"no. {place}" if suspects(item.name) else item.name
            flagged.append(Flagged(name, tuple(k for k in get_args(Kind) if k in kinds)))
    return flagged


def _texts(item: Item) -> Iterator[str]:
    for field in _SEEN:
        value: Any = getattr(item, field, None) or ()
        yield from (value,) if isinstance(value, str) else value
    yield from (point.text for point in item.rubric)


_SHOWN = 5


def warning(flagged: Sequence[Flagged], total: int, place: str) -> str:
    """What to tell a user before these of `total` items go to `place`; '' if none is flagged."""
    if not flagged:
        return ""
    counts = Counter(kind for item in flagged for kind in item.kinds)
    kinds = ", ".join(f"{kind} in {counts[kind]:,}" for kind in get_args(Kind) if counts[kind])
    first = ", ".join(
        "".join(c if c.isprintable() else "\ufffd" for c in item.item[:60]) for item in flagged[:_SHOWN]
    )
    more = f" and {len(flagged) - _SHOWN:,} more" if len(flagged) > _SHOWN else ""
    is_single = len(flagged) == 1
    they, them = ("it", "it") if is_single else ("they", "them")
    return (
        f"{len(flagged):,} {'item' if is_single else 'items'} of {total:,} "
        f"{'looks' if is_single else 'look'} as if "
        f"{they} held patient data ({kinds}): {first}{more}. Nothing was sent to {place}. Look at {them}; if "
        f"{they} may leave this machine, say --allow-phi."
    )


_KEY = secrets.token_bytes(32)
_SHORT_TEXT = 16


def redacted(text: str, key: bytes = _KEY) -> str:
    """What stands in logs and exports in place of `text`: `[redacted: 123 characters, hmac 1a2b3c4d]`.

    Equal texts have equal marks under one key. A plain hash of an answer is no secret: whoever has a list of
    likely texts can hash them all; so the mark is an HMAC-SHA256 under `key`, which must stand in no log or
    export. By default it is made anew in each process and kept nowhere. A text under 16 characters ("B",
    "Yes") would be told by its length, or by how often its mark returns: it has neither, `[redacted: short]`.
    """
    if len(text) < _SHORT_TEXT:
        return "[redacted: short]"
    mark = hmac.new(key, text.encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:8]
    return f"[redacted: {len(text)} characters, hmac {mark}]"
