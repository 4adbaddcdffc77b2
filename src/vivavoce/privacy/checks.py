"""What a pattern cannot say of a suspect: check digits, calendars, words that are no names."""

import re
from itertools import pairwise
from pathlib import Path

__all__ = [
    "LOW",
    "UP",
    "has_given_name",
    "has_given_name_at_all",
    "is_date",
    "is_dni",
    "is_house",
    "is_machine",
    "is_nhs_number",
    "is_nir",
    "is_person",
    "is_private_line",
    "is_short_date_of_an_event",
    "is_unpublished_date",
    "of_a_specimen",
    "of_an_event",
]

UP = "A-ZÀ-ÖØ-ÞŁŚŠŽĆČİĞŞ"
LOW = "a-zß-öø-ÿłśšžćčığşńęąőű"


def _listed(file: str) -> frozenset[str]:
    return frozenset(Path(__file__).with_name(file).read_text(encoding="utf-8").split())


# Words that look like a name behind a title or a label and are none.
_NO_NAMES = _listed("no_names.txt")
_DRUG = re.compile(r"(?i:\w{3,}(?:mab|nib|vir|pril|sartan|olol|statin|cillin|mycin|azole|oxacin|dipine|"
          r"prazole|parin|xaban|"
                   r"gliptin|flozin|tide|lone|sone|pam|lam|ine|ide|ate|ium|cycline|ol))\Z")  # fmt: skip
_GIVEN = _listed("given_names.txt")


def _words(text: str) -> list[str]:
    return re.findall(rf"[{UP}{LOW}]+", text)


def is_person(found: re.Match[str]) -> bool:
    """The captured words could be a person's."""
    words = _words(found["is"])
    return bool(words) and not any(
        w.casefold() in _NO_NAMES or (len(w) > 6 and _DRUG.match(w)) for w in words
    )


def has_given_name(found: re.Match[str]) -> bool:
    """One of the captured words is a common given name."""
    return any(w.casefold() in _GIVEN for w in _words(found["is"])) and is_person(found)


def has_given_name_at_all(found: re.Match[str]) -> bool:
    """As `has_given_name`; a surname that ends like a drug is no matter behind a given name."""
    return any(w.casefold() in _GIVEN for w in _words(found["is"]))


_PUBLISHED = re.compile(
    r"(?i:publish|access|retriev|updat|version|approv|declar|issued|revis|cited|available|"
    r"last[ ]reviewed|guideline|licen[cs]|"
    r"effective|enacted|founded|launch|announc|authori[sz]|copyright|outbreak|pandemic|recall|database|"
    r"searched|census)"
)
_EVENT = re.compile(
    r"(?i:\b(?:admi(?:tted|ssion)|discharge|seen|clinic|visit|present(?:ed|s)\b|surg|operat|biops|scan|"
    r"mri|ct\b|x-?ray|"
    r"dated?\b|collected|reported|examined|follow[ -]?up|delivered|died|death|appointment|transfer|"
    r"underwent|record|ward|"
    r"letter|referr|aufnahme|entlass|vorgestellt|untersuch|interven|operad|befund|ingres|alta\b|"
    r"consulta|acudi|admis[e]?\b|hospitalis|"
    r"sortie|vu en|patient|diagnosed|note\b|on behalf|procedure|vaccinated|specimen|sample|last seen|"
    r"op-?datum|datum))"
)


def _around(found: re.Match[str], before: int, after: int) -> str:
    return found.string[max(0, found.start() - before) : found.end() + after]


def _calendar(text: str) -> bool:
    numbers = [int(n) for n in re.findall(r"\d+", text)]
    if len(numbers) == 3 and numbers[0] > 31:
        numbers.reverse()
    return len(numbers) != 3 or (max(numbers[:2]) <= 31 and min(numbers[:2]) <= 12 and min(numbers[:2]) > 0)


def is_date(found: re.Match[str]) -> bool:
    """Day and month exist."""
    return _calendar(found["is"])


def of_an_event(found: re.Match[str]) -> bool:
    """A date beside what happens to patients, and not the day a guideline was published."""
    near = _around(found, 60, 40)
    return bool(_EVENT.search(near)) and not _PUBLISHED.search(near)


def is_unpublished_date(found: re.Match[str]) -> bool:
    """A date, and not the day something was published or approved."""
    return _calendar(found["is"]) and not _PUBLISHED.search(_around(found, 60, 25))


def is_short_date_of_an_event(found: re.Match[str]) -> bool:
    """A date with a year of two digits, beside what happens to patients."""
    return _calendar(found["is"]) and of_an_event(found)


def _digits(found: re.Match[str]) -> list[int]:
    return [int(c) for c in found["is"] if c.isdecimal()]


def is_nhs_number(found: re.Match[str]) -> bool:
    """The check digit of NHS numbers: weights 10 to 2, modulo 11."""
    digits = _digits(found)
    check = 11 - sum(w * d for w, d in zip(range(10, 1, -1), digits, strict=False)) % 11
    return len(digits) == 10 and len(set(digits)) > 1 and check % 11 == digits[9] and check != 10


def is_dni(found: re.Match[str]) -> bool:
    """The letter of Spanish identity cards: the number modulo 23."""
    text = found["is"]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(text[:8]) % 23] == text[-1]


def is_nir(found: re.Match[str]) -> bool:
    """The key of French social security numbers: 97 minus the number modulo 97."""
    digits = "".join(c for c in found["is"] if c.isdecimal())
    return len(digits) == 15 and 97 - int(digits[:13]) % 97 == int(digits[13:])


_ARCHIVE = re.compile(
    r"(?i:genbank|refseq|geo\b|embl|uniprot|sequence|gene|ncbi|pdb|arrayexpress|sra\b|trial)"
)
_SEQUENCE = re.compile(r"(?:[A-Z]{1,2}_?\d{5,9}|GSE\d+|[A-Z]{2,4}\d{5,9})(?:\.\d)?\Z")


def of_a_specimen(found: re.Match[str]) -> bool:
    """Pathology and imaging number their cases; so do archives of sequences, and those are public."""
    return not _SEQUENCE.match(found["is"]) and not _ARCHIVE.search(_around(found, 40, 0))


def is_private_line(found: re.Match[str]) -> bool:
    """Enough digits for a line, and not one that anybody may call for help."""
    digits = "".join(c for c in found["is"] if c.isdecimal())
    free = re.match(r"1?8(?:00|33|44|55|66|77|88)\d{7}\Z|0?800|00800|116\d{3}\Z|\+?1?8(?:00|88)", digits)
    steps = {int(b) - int(a) for a, b in pairwise(re.findall(r"\d+", found["is"]))}
    in_steps = len(steps) == 1 and found["is"].count(" ") > 2  # 05 10 15 20 25 minutes
    return 7 <= len(digits) <= 15 and not free and not in_steps


def is_house(found: re.Match[str]) -> bool:
    """A year before a street is a date (the 1854 Broad Street outbreak), unless an address goes on."""
    number, _, street = found["is"].partition(" ")
    if re.match(r"(?:Day|Week|Month|Year|Minute|Hour|Step)\b", street):
        return False
    after = found.string[found.end() : found.end() + 1]
    return not (number.isdecimal() and 1500 <= int(number) <= 2099) or after in ("", ",", "\n")


def is_machine(found: re.Match[str]) -> bool:
    """An address of a machine: versions have four numbers too, so it must be private or said to be one."""
    before = found.string[max(0, found.start() - 24) : found.start()]
    private = re.match(r"10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.", found["is"])
    said = re.search(r"(?i:\b(?:ip|host|server|log(?:ged|in)|workstation|client)\b)", before)
    return all(int(part) < 256 for part in found["is"].split(".")) and bool(private or said)
