"""Shapes of patient data, as patterns that each have a greatest length: time grows only with the text."""

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from vivavoce.core.text import lazy_pattern

UP = "A-ZÀ-ÖØ-ÞŁŚŠŽĆČİĞŞ"
LOW = "a-zß-öø-ÿłśšžćčığşńęąőű"


def _listed(file: str) -> frozenset[str]:
    return frozenset(Path(__file__).with_name(file).read_text(encoding="utf-8").split())


# Words that look like a name behind a title or a label and are none. Both lists were written for vivavoce.
_NO_NAMES = _listed("no_names.txt")
_DRUG = lazy_pattern(r"(?i:\w{3,}(?:mab|nib|vir|pril|sartan|olol|statin|cillin|mycin|azole|oxacin|dipine|"
          r"prazole|parin|xaban|"
                   r"gliptin|flozin|tide|lone|sone|pam|lam|ine|ide|ate|ium|cycline|ol))\Z")  # fmt: skip
_GIVEN = _listed("given_names.txt")


def _words(text: str) -> list[str]:
    return re.findall(rf"[{UP}{LOW}]+", text)


def is_person(match: re.Match[str]) -> bool:
    """The captured words could be a person's."""
    words = _words(match["is"])
    return bool(words) and not any(
        w.casefold() in _NO_NAMES or (len(w) > 6 and _DRUG.match(w)) for w in words
    )


def has_given_name(match: re.Match[str]) -> bool:
    """One of the captured words is a common given name."""
    return any(w.casefold() in _GIVEN for w in _words(match["is"])) and is_person(match)


def has_given_name_at_all(match: re.Match[str]) -> bool:
    """As `has_given_name`; a surname that ends like a drug is no matter behind a given name."""
    return any(w.casefold() in _GIVEN for w in _words(match["is"]))


_PUBLISHED = lazy_pattern(
    r"(?i:publish|access|retriev|updat|version|approv|declar|issued|revis|cited|available|"
    r"last[ ]reviewed|guideline|licen[cs]|"
    r"effective|enacted|founded|launch|announc|authori[sz]|copyright|outbreak|pandemic|recall|database|"
    r"searched|census)"
)
_EVENT = lazy_pattern(
    r"(?i:\b(?:admi(?:tted|ssion)|discharge|seen|clinic|visit|present(?:ed|s)\b|surg|operat|biops|scan|"
    r"mri|ct\b|x-?ray|"
    r"dated?\b|collected|reported|examined|follow[ -]?up|delivered|died|death|appointment|transfer|"
    r"underwent|record|ward|"
    r"letter|referr|aufnahme|entlass|vorgestellt|untersuch|interven|operad|befund|ingres|alta\b|"
    r"consulta|acudi|admis[e]?\b|hospitalis|"
    r"sortie|vu en|patient|diagnosed|note\b|on behalf|procedure|vaccinated|specimen|sample|last seen|"
    r"op-?datum|datum))"
)


def _around(match: re.Match[str], before: int, after: int) -> str:
    return match.string[max(0, match.start() - before) : match.end() + after]


def _calendar(text: str) -> bool:
    numbers = [int(n) for n in re.findall(r"\d+", text)]
    if len(numbers) == 3 and numbers[0] > 31:
        numbers.reverse()
    return len(numbers) != 3 or (max(numbers[:2]) <= 31 and min(numbers[:2]) <= 12 and min(numbers[:2]) > 0)


def is_date(match: re.Match[str]) -> bool:
    """Day and month exist."""
    return _calendar(match["is"])


def of_an_event(match: re.Match[str]) -> bool:
    """A date beside what happens to patients, and not the day a guideline was published."""
    near = _around(match, 60, 40)
    return bool(_EVENT.search(near)) and not _PUBLISHED.search(near)


def is_unpublished_date(match: re.Match[str]) -> bool:
    """A date, and not the day something was published or approved."""
    return _calendar(match["is"]) and not _PUBLISHED.search(_around(match, 60, 25))


def is_short_date_of_an_event(match: re.Match[str]) -> bool:
    """A date with a year of two digits, beside what happens to patients."""
    return _calendar(match["is"]) and of_an_event(match)


def _digits(match: re.Match[str]) -> list[int]:
    return [int(c) for c in match["is"] if c.isdecimal()]


def is_nhs_number(match: re.Match[str]) -> bool:
    """The check digit of NHS numbers: weights 10 to 2, modulo 11."""
    digits = _digits(match)
    check = 11 - sum(w * d for w, d in zip(range(10, 1, -1), digits, strict=False)) % 11
    return len(digits) == 10 and len(set(digits)) > 1 and check % 11 == digits[9] and check != 10


def is_dni(match: re.Match[str]) -> bool:
    """The letter of Spanish identity cards: the number modulo 23."""
    text = match["is"]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(text[:8]) % 23] == text[-1]


def is_nir(match: re.Match[str]) -> bool:
    """The key of French social security numbers: 97 minus the number modulo 97."""
    digits = "".join(c for c in match["is"] if c.isdecimal())
    return len(digits) == 15 and 97 - int(digits[:13]) % 97 == int(digits[13:])


_ARCHIVE = lazy_pattern(
    r"(?i:genbank|refseq|geo\b|embl|uniprot|sequence|gene|ncbi|pdb|arrayexpress|sra\b|trial)"
)
_SEQUENCE = lazy_pattern(r"(?:[A-Z]{1,2}_?\d{5,9}|GSE\d+|[A-Z]{2,4}\d{5,9})(?:\.\d)?\Z")


def of_a_specimen(match: re.Match[str]) -> bool:
    """Pathology and imaging number their cases; so do archives of sequences, and those are public."""
    return not _SEQUENCE.match(match["is"]) and not _ARCHIVE.search(_around(match, 40, 0))


def is_private_line(match: re.Match[str]) -> bool:
    """Enough digits for a line, and not one that anybody may call for help."""
    digits = "".join(c for c in match["is"] if c.isdecimal())
    free = re.match(r"1?8(?:00|33|44|55|66|77|88)\d{7}\Z|0?800|00800|116\d{3}\Z|\+?1?8(?:00|88)", digits)
    steps = {int(b) - int(a) for a, b in pairwise(re.findall(r"\d+", match["is"]))}
    in_steps = len(steps) == 1 and match["is"].count(" ") > 2  # 05 10 15 20 25 minutes
    return 7 <= len(digits) <= 15 and not free and not in_steps


def is_house(match: re.Match[str]) -> bool:
    """A year before a street is a date (the 1854 Broad Street outbreak), unless an address goes on."""
    number, _, street = match["is"].partition(" ")
    if re.match(r"(?:Day|Week|Month|Year|Minute|Hour|Step)\b", street):
        return False
    after = match.string[match.end() : match.end() + 1]
    return not (number.isdecimal() and 1500 <= int(number) <= 2099) or after in ("", ",", "\n")


def is_machine(match: re.Match[str]) -> bool:
    """An address of a machine: versions have four numbers too, so it must be private or said to be one."""
    before = match.string[max(0, match.start() - 24) : match.start()]
    private = re.match(r"10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.", match["is"])
    cue = re.search(r"(?i:\b(?:ip|host|server|log(?:ged|in)|workstation|client)\b)", before)
    return all(int(part) < 256 for part in match["is"].split(".")) and bool(private or cue)


Kind = Literal[
    "name", "date", "record number", "insurance number", "phone number", "e-mail address", "address", "link"
]

_PART = (
    rf"(?:(?:Mc|Mac|[OD]['’]|[Dd]e|[Ll]e)[{UP}]|[{UP}])"
    rf"[{LOW}]{{1,20}}(?:[-'’][{UP}][{LOW}]{{1,20}})?(?![{LOW}{UP}\d])"
)
_LINK = r"(?:(?:van|von|der|den|de|del|della|di|da|dos|do|la|le|los|las|zu|zur|bin|al|y|e)[ ]){0,3}"
_NEXT = rf"(?:[ ]{_LINK}{_PART})"
_INITIAL = rf"[{UP}]\.?[ ]?"
_FULL = rf"(?:{_PART}(?:[ ][{UP}]\.?(?=[ ]))?{_NEXT}{{1,3}}|{_PART},[ ]{_PART}|(?:{_INITIAL}){{1,2}}{_PART})"
_MIXED = rf"[{UP}]{{2,20}},[ ]{_PART}"
_CAPITALS = rf"(?:[OD]['’])?[{UP}]{{2,20}}(?:['’-][{UP}]{{2,20}})?(?:,?[ ][{UP}]{{2,20}}){{1,2}}(?![{LOW}])"
_SEP = r"[ \t]{0,3}[:#=.–-]{0,2}[ \t]{0,3}"
_COLON = r"[ \t]{0,3}:[ \t]{0,4}\n?[ \t]{0,4}"

_MONTH = (
    r"(?i:jan(?:uary|uar|vier|eiro)?|feb(?:ruary|ruar|rero|braio)?|févr(?:ier)?|mar(?:ch|zo|s|ço)?|märz|"
    r"apr(?:il|ile)?|"
    r"avril|abril|may|mai|mayo|maggio|maio|june?|juni|juin|junio|giugno|junho|july?|juli|juillet|julio|"
    r"luglio|julho|"
    r"aug(?:ust)?|août|agosto|sept?(?:ember|embre|iembre)?|settembre|setembro|o[ck]t(?:ober|obre|ubre)?|"
    r"ottobre|"
    r"outubro|nov(?:ember|embre|iembre|embro)?|de[cz](?:ember|embre)?|déc(?:embre)?|diciembre|dicembre|"
    r"enero|janeiro|gennaio|fevereiro)"
)
_YEAR = r"(?:19|20)\d\d"
_NUMBERS = (
    rf"(?:\d{{1,2}}(?P<s>[./-])[ ]?\d{{1,2}}(?P=s)[ ]?{_YEAR}|{_YEAR}(?P<t>[-/])\d\d(?P=t)\d\d)"
    rf"(?![\d/]|[.-]\d)"
)
_NUMERIC = rf"(?<![\d./-]){_NUMBERS}"
_SPELT = (
    rf"(?<![\d.])(?:\d{{1,2}}(?:st|nd|rd|th|er|º|\.)?(?:[ -](?:of|de))?[ -]{_MONTH}\.?,?[ -](?:de[ ]|"
    rf"del[ ])?{_YEAR}|{_MONTH}\.?[ ]\d{{1,2}}(?:st|nd|rd|th)?,?[ ]{_YEAR})(?!\d)"
)
_SHORT = r"(?<![\d./-])\d{1,2}(?P<u>[./-])\d{1,2}(?P=u)\d\d(?![\d./-])"
_BIRTH = (
    r"(?<!\w)(?:(?i:D\.?O\.?B\.?|date[ ]of[ ]birth|birth[ -]?date|birthday|geburtsdatum|"
    r"geboren(?:[ ]am)?|geb\.(?:[ ]am)?|"
    r"fecha[ ]de[ ]nac(?:imiento|\.)|f\.?[ ]?nac\.?|nacid[oa](?:[ ]el)?|née?[ ]le|date[ ]de[ ]naissance|"
    r"nat[oa][ ]il|"
    r"data[ ]di[ ]nascita|data[ ]de[ ]nascimento|nascid[oa](?:[ ]em)?|geboortedatum|born(?:[ ]on)?)|D/N|"
    r"FN|\*)"
)
_DIGITS = r"(?=[A-Za-z\d./-]{0,12}(?:\d[ ./-]?){4})"
_NUMBER = rf"{_DIGITS}[A-Za-z\d]{{1,14}}(?:[./-][A-Za-z\d]{{1,12}}){{0,3}}(?![\w])"
_NO = r"(?:number|num\.?|no\.?|nr\.?|n[º°]\.?|#|id(?:entifier)?|code)"
_IS = r"(?:[ ](?:is|was))?"
_STATE = (
    r"(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|"
    r"T[NX]|UT|V[AT]|W[AIVY])"
)
_STREET = (
    r"(?:Street|Str?|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Place|Close|"
    r"Crescent|Terrace|Square|Gardens)"
)
_SPACED = r"\d[\d ()/.-]{5,18}\d(?!\d)"


class Rule(NamedTuple):
    """A pattern whose group `is` holds what is suspected, and what else must be true of a match."""

    kind: Kind
    pattern: re.Pattern[str]
    holds: Callable[[re.Match[str]], bool] | None = None


def _rule(kind: Kind, *parts: str, holds: Callable[[re.Match[str]], bool] | None = None) -> Rule:
    """A rule; what is suspected is the group `is` of its pattern."""
    return Rule(kind, lazy_pattern("".join(parts)), holds)


RULES: tuple[Rule, ...] = (
    _rule("e-mail address", r"(?<![\w.+-])(?P<is>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})"),
    # names
    _rule("name", r"(?<![\w.-])(?<!Near )(?:Mr|Mrs|Ms|Miss|Mx|Messrs|Herrn?|Hr\.|Señora?|Señorita|"
          r"[Mm]onsieur|[Mm]adame|Mme|Mlle|"
          r"[Ss]ignora?|Sig\.(?:ra)?|Senhora?|Dhr\.|Mevr\.|Mevrouw|Sra?\.|Srta\.|D\.ª|Doña)"
          r"\.?[ \xa0](?:Dr\.[ ]|Prof\.[ ]){0,2}"
          rf"(?P<is>(?:{_INITIAL}){{0,2}}{_LINK}{_PART}{_NEXT}{{0,3}})", holds=is_person),
    _rule("name", rf"(?<![\w.-])(?:MRS?|MS|MISS)\.?[ ](?P<is>{_CAPITALS})", holds=has_given_name_at_all),
    _rule("name", r"(?<![\w.-])(?<!ine )(?<!ner )(?<!die )(?<!der )(?<!ser )(?<!ese )(?<!ede )(?<!ige )"
          r"(?<!gen )(?<!nge )"
          rf"Frau[ ](?:Dr\.[ ]|Prof\.[ ]){{0,2}}(?P<is>{_LINK}{_PART}{_NEXT}{{0,2}})", holds=is_person),
    _rule("name", rf"(?<![\w.-])M\.[ ](?P<is>{_LINK}{_PART}{_NEXT}{{0,2}})(?=,?[ ](?:a[ ]été|est|"
          rf"présente|se[ ]plaint|âgé|né|"
          r"consulte|\d{1,3}[ ]ans))", holds=is_person),
    _rule("name", r"(?<![\w-])(?i:patient(?:in)?(?:['’]?s)?[ ](?:full[ ])?name|"
          r"name[ ]of[ ](?:the[ ])?patient|full[ ]name|"
          r"pt[ ]name|name[ ]de[rs][ ]patient(?:in|en)|nombre(?:[ ]del[ ]paciente|[ ]y[ ]apellidos)|"
          r"nom[ ](?:du[ ]patient|"
          r"et[ ]prénom)|nome[ ]d[eo]l?[ ]paziente|nome[ ]do[ ]paciente|surname|last[ ]name|"
          r"family[ ]name|first[ ]name|"
          r"given[ ]name|forename|nachname|vorname|apellidos?|prénom|cognome|next[ ]of[ ]kin|nok|"
          r"mother['’]s[ ]name|"
          rf"father['’]s[ ]name|emergency[ ]contact)(?:{_COLON}|[ ]?[–-][ ])(?:(?:Mrs?|Ms|Dr|Frau|Herr)"
          rf"\.?[ ])?(?P<is>{_MIXED}|{_FULL}|{_CAPITALS}|{_PART})",
          holds=is_person),
    _rule("name", r"(?:(?<=\n)|(?<=\A)|(?<=[.;|*\t] )|(?<=[|*\t\[]))(?i:patient(?:in)?|pt|paciente|"
          r"paziente|name|nombre|nom|nome|"
          rf"client|résident)\*{{0,2}}{_COLON}(?:(?:Mrs?|Ms|Dr|Frau|Herr)"
          rf"\.?[ ])?(?P<is>{_MIXED}|{_FULL}|{_CAPITALS})", holds=is_person),
    _rule("name", r"(?:(?<=\n)|(?<=\A))(?i:re|betrifft|betr\.|asunto|objet|concerne|concerning)"
          rf"{_COLON}(?:(?:Mrs?|Ms|Frau|Herr)"
          rf"\.?[ ])?(?P<is>{_MIXED}|{_FULL}|{_CAPITALS})", holds=has_given_name_at_all),
    _rule("name", r"(?<!\w)(?i:(?:electronically[ ]|digitally[ ])?signed(?:[ ]by)?|signature(?:[ ]of)?|"
          r"dictated[ ]by|"
          r"transcribed[ ]by|attending(?:[ ]physician)?|referring[ ](?:physician|doctor)|consultant|gp|"
          r"unterschrift|gez\.|"
          r"firmado(?:[ ]por)?|fdo\.?|firma|signé(?:[ ]par)?|firmato(?:[ ]da)?|assinado(?:[ ]por)?|"
          r"(?:yours|kind|best)[ ](?:sincerely|faithfully|regards)|mit[ ]freundlichen[ ]grü(?:ß|ss)en|"
          r"cc)[ ]?[:,]?[ ]{0,3}\n{0,3}[ ]{0,3}"
          rf"(?P<is>(?:(?:Dr|Prof|[Mm]ed|PD|Doctora?|Dra)\.?[ ]){{0,3}}(?:{_FULL}))(?![ ]?(?:et[ ]al|"
          rf"['’]s))", holds=has_given_name_at_all),
    _rule("name", r"(?<!\w)(?i:(?:electronically[ ]|digitally[ ])?signed(?:[ ]by)?|signature|"
          r"dictated[ ]by|gez\.|fdo\.?|firmado|"
          r"firmado[ ]por|unterschrift|signé(?:[ ]par)?|referred[ ]by|gp)[ ]?:?[ ](?P<is>(?:(?:Dr|Prof|"
          r"Med|med|Dra)\.[ ]?){1,3}"
          rf"(?:{_FULL}|{_PART}))", holds=is_person),
    _rule("name", r"(?<!\w)(?i:(?:patient|man|woman|boy|girl|child|lady|gentleman|mother|father|wife|"
          r"husband|son|daughter|baby|"
          rf"infant|resident)(?:,|[ ]is|[ ]was)?[ ](?:named|called))"
          rf"[ ](?P<is>{_PART}{_NEXT}{{0,2}})", holds=is_person),
    _rule("name", r"(?<!\w)(?i:my[ ]name[ ]is|mi[ ]nombre[ ]es|me[ ]llamo|je[ ]m['’]appelle|"
          r"ich[ ]hei(?:ß|ss)e|mein[ ]name[ ]ist|"
          rf"mi[ ]chiamo)[ ](?P<is>{_PART}{_NEXT}{{0,2}})", holds=is_person),
    _rule("name", rf"(?<![\w.-])(?!(?:Mrs?|Ms|Miss|Mx|Dr|Prof|Herr|Frau|Mme|Sra?)\b)"
          rf"(?P<is>{_PART}(?:[ ][{UP}]\.)?{_NEXT}{{1,2}})(?=,?[ ](?:is[ ]an?[ ]\d|"
          rf"was[ ](?:admitted|seen|"
          r"referred|brought|discharged|reviewed|examined|transferred|operated)|attended[ ](?:clinic|"
          r"the)|presented[ ]to|"
          r"(?:an?[ ])?\d{1,3}[ -]?(?:y\b|yo\b|y/o|yrs?\b|year|Jahre|años|ans\b|anni|anos)|wurde[ ]am|"
          r"fue[ ]|a[ ]été|acudió|ingresó|\(?(?:DOB|MRN|geb\.|\*)|\(\d{1,3}[ ]?(?:y|M\b|F\b))"
          r")", holds=has_given_name),
    _rule("name", r"(?<!\w)(?:mother|father|wife|husband|son|daughter|sister|brother|partner|carer|"
          r"guardian|(?i:(?:summary|letter|"
          r"report|results?|notes?|prescription|referral|chart|records?)[ ](?:for|regarding))|I[ ]am|"
          r"I['’]m|Don|(?i:cc)[ ]?:),?[ ]"
          rf"(?P<is>{_PART}(?:[ ][{UP}]\.)?{_NEXT}{{1,2}})", holds=has_given_name),
    _rule("name", rf"(?:(?<=\n)|(?<=\A))Dr\.?[ ](?P<is>{_FULL})(?=,?[ ]?(?:MD|FRCP|MRCP|\n|\Z)"
          rf")", holds=has_given_name),
    _rule("name", rf"(?<![\w.-])(?P<is>{_PART},[ ]{_PART})(?=,[ ]\d{{1,3}}[ ]?(?:y|J\.|Jahre|años|ans\b|"
          rf"anni|anos))", holds=has_given_name),
    _rule("name", rf"(?<![\w.-])(?P<is>[{UP}]{{2,20}},[ ]{_PART}(?:[ ][{UP}]\.?)?)(?=[,;]?[ ]\(?(?:DOB|"
          rf"MRN|\d{{1,3}}[ ]?(?:y|M\b|F\b)|"
          r"geb\.|[MF]\b|\*|NHS))", holds=has_given_name),
    # dates
    _rule("date", _BIRTH, r"[ \t]{0,3}[:=-]?[ \t]{0,3}\(?", rf"(?P<is>{_NUMBERS}|{_SPELT}|"
          rf"\d{{1,2}}[ -]{_MONTH}[ -]\d\d(?!\d))",
          holds=is_date),
    _rule("date", _BIRTH, r"[ \t]{0,3}[:=]?[ \t]{0,3}\(?", rf"(?P<is>{_SHORT})", holds=is_date),
    _rule("date", rf"(?P<is>{_NUMERIC})", holds=is_unpublished_date),
    _rule("date", rf"(?P<is>{_SPELT})", holds=of_an_event),
    _rule("date", rf"(?P<is>{_SHORT})", holds=is_short_date_of_an_event),
    # phones
    _rule("phone number", r"(?<!\w)(?i:phone|tel(?:ephone|efon|éfono|éphone|efono)?|mobile|mobil|móvil|"
          r"cell(?:[ ]?phone)?|handy(?:nummer)?|telefonnummer|"
          r"portable|fax|pager|bleep|ph|contact|call|reach(?:[ ](?:him|her|them|me))?|rufnummer|"
          r"cellulare)\.?(?:[ ](?i:number|no\.?|nr\.?|at|on|her|him|me))?(?:[ ]\(?"
          rf"(?i:home|work|mobile|day|h|m|w)\)?)?{_IS}[ ]?[:#]?[ ]{{0,3}}(?P<is>(?:\+|"
          rf"\()?{_SPACED})", holds=is_private_line),
    _rule("phone number", rf"(?<![\w+.,-])(?P<is>(?:\+|00[ ][1-9]\d{{0,2}}[ ])"
          rf"[1-9]{_SPACED})", holds=is_private_line),
    _rule("phone number", r"(?<![\w.,/-])(?P<is>(?:1[ -])?(?:\(\d{3}\)[ ]?|\d{3}[-.])\d{3}[-.]\d{4})"
          r"(?![\d-]|\.\d)", holds=is_private_line),
    _rule("phone number", r"(?<![\w.,/-])(?P<is>0[1-9](?P<v>[ .-])\d\d(?:(?P=v)\d\d){3}|"
          r"0\d{2,4}[ /-]\d{3,4}[ ]\d{3,4}|07\d{3}[ ]\d{6}|"
          r"0[1-9]\d{1,3}[ ]?[/-][ ]?\d{5,8})(?![\d,]|\.\d)", holds=is_private_line),
    # numbers
    _rule("record number", r"(?<!\w)(?:(?i:m\.?r\.?n\.?|mr[ ]?#|(?:medical|hospital|patient|record|"
          r"chart|unit|encounter|account|"
          rf"admission|visit|dossier|hosp\.?|case|file|chi|episode|pat\.?)(?:[ ]record|"
          rf"[ ]file)?[ -]?{_NO})|NHC|"
          r"(?i:n[º°.]?[ ](?:de[ ])?historia(?:[ ]cl[ií]nica)?|historia[ ]cl[ií]nica|"
          r"num[eé]ro[ ]de[ ]dossier|dossier[ ]n[º°]|"
          r"fallnummer|fall-nr\.?|patientennummer|patienten-?(?:nr\.?|id)|aufnahmenummer|"
          r"cartella[ ](?:clinica[ ])?n\.?|"
          rf"prontu[aá]rio|expediente)|IPP|PID|BSN|CPF){_IS}{_SEP}(?P<is>{_NUMBER})"),
    _rule("record number", rf"(?<!\w)(?i:accession|specimen|lab(?:oratory)?|pathology|requisition|"
          rf"biopsy|befund)(?i:[ -]?{_NO})?{_IS}[ ]?[:#.][ ]?(?P<is>{_NUMBER})", holds=of_a_specimen),
    _rule("record number", rf"(?<!\w)(?i:accession|specimen)"
          rf"[ ](?i:{_NO}){_IS}[ ](?P<is>{_NUMBER})", holds=of_a_specimen),
    _rule("record number", r"(?<!\w)NHS(?:[ ](?i:number|no\.?)"
          r")?", _SEP, r"(?P<is>\d{3}[ -]?\d{3}[ -]?\d{4})(?!\d)"),
    _rule("record number", r"(?<![\d.,-])(?P<is>\d{3} \d{3} \d{4})(?![\d,]|\.\d)", holds=is_nhs_number),
    _rule("record number", r"(?<![\d-])(?P<is>(?!000|666|9\d\d)\d{3}-(?!00)\d\d-(?!0000)\d{4})(?![\d-])"),
    _rule("record number", r"(?<!\w)(?i:ssn|social[ ]security(?:[ ]number)?)"
          r"[ ]?[:#]?[ ]?(?P<is>\d{3}[ -]?\d\d[ -]?\d{4})(?!\d)"),
    _rule("record number", r"(?<![\d.])(?P<is>\d{3}\.\d{3}\.\d{3}-\d\d)(?!\d)"),
    _rule("record number", r"(?<!\w)(?P<is>\d{8}-?[A-HJ-NP-TV-Z])(?!\w)", holds=is_dni),
    _rule("record number", r"(?<!\d)(?P<is>[12][ ]?\d\d[ ]?(?:0[1-9]|1[0-2])"
          r"[ ]?\d\d[ ]?\d{3}[ ]?\d{3}[ ]?\d\d)(?!\d)", holds=is_nir),
    _rule("insurance number", r"(?<!\w)(?i:(?:ins(?:urance|\.)|policy|member(?:ship)?|subscriber|"
          r"medicare|medicaid|beneficiary|health[ ]plan|"
          rf"health[ ]card|claim)(?:[ ]policy|[ ]member|[ ]card|[ ]beneficiary)?[ ]?{_NO}|"
          rf"versicherten-?(?:nummer|nr\.?|id)|kvnr|"
          r"krankenkassen-?nr\.?|p[oó]liza(?:[ ]n[º°.])?|n[º°.][ ](?:de[ ])?(?:p[oó]liza|afiliaci[oó]n|"
          r"seguridad[ ]social)|"
          r"num[eé]ro[ ](?:de[ ]s[eé]curit[eé][ ]sociale|d['’]assur[eé])|n[º°][ ]s[eé]cu|"
          r"tessera[ ]sanitaria|hicn|ahv(?:-nr\.?)?)"
          rf"{_IS}{_SEP}(?P<is>{_NUMBER})"),
    _rule("insurance number", r"(?<!\w)"
          r"(?P<is>[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y\d]\d-[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y\d]\d-"
          r"[AC-HJKMNP-RT-Y]{2}\d\d)(?!\w)"),
    # places
    _rule("address", rf"(?<![\w.,/-])"
          rf"(?P<is>\d{{1,5}}[A-Za-z]?,?[ ](?:[NSEW]\.?[ ])?(?:[A-Z][a-z'’]{{2,20}}[ ]){{1,3}}{_STREET})"
          rf"(?![\w'’])",
          holds=is_house),
    _rule("address", rf"(?<!\w)"
          rf"(?P<is>[A-Z][a-z]{{2,20}}(?:[ ][A-Z][a-z]{{2,20}})?,[ ]{_STATE}[ ]\d{{5}}(?:-\d{{4}})?)"
          rf"(?!\d)"),
    _rule("address", r"(?<![\w-])(?P<is>[A-PR-UWYZ][A-HK-Y]?\d[A-Z\d]?[ ]\d[ABD-HJLNP-UW-Z]{2})(?![\w-])"),
    _rule("address", rf"(?<!\w)(?P<is>(?:[{UP}][{LOW}-]{{1,25}})(?:straße|strasse|str\.|allee|gasse|"
          rf"platz|weg)[ ]\d{{1,4}}[ ]?[a-h]?)"
          r"(?=[,;.\n)]|[ ](?:in|wohn)|\Z)(?!\.\d)"),
    _rule("address", r"(?<![\w.,])(?P<is>\d{1,4}(?:[ ](?:bis|ter))?,?[ ](?:rue|avenue|boulevard|allée|"
          r"chemin|impasse|quai)[ ]"
          rf"(?:de[ ]|du[ ]|des[ ]|la[ ]|d['’]|l['’]){{0,2}}[{UP}][{LOW}-]{{2,20}})"),
    _rule("address", r"(?<!\w)(?P<is>(?:Calle|C/|Avenida|Avda\.|Av\.|Plaza|Paseo|Rua|Via|Viale|Corso)"
          r"[ ](?:de[ ]|del[ ]|la[ ]|los[ ]|das?[ ]|"
          rf"dos[ ]){{0,2}}[{UP}][{LOW}]{{2,20}}(?:[ ](?:de[ ])?[{UP}][{LOW}]{{2,20}}){{0,2}}"
          rf",?[ ](?:n[.º°]{{1,2}}[ ]?)?\d{{1,4}})(?![\d%]|[ ]mg)"),
    _rule("address", r"(?<!\w)(?i:(?:home[ ]|postal[ ])?address|adresse|anschrift|wohnhaft[ ]in|"
          r"dirección|domicilio|indirizzo|endereço)[ ]?:[ ]{0,3}(?P<is>[^\n@]{0,40}\d[^\n]{0,30})"),
    # links
    _rule("link", r"(?<!\w)(?P<is>https?://[^\s<>\"]{0,200}(?i:patients?[/_=-]?(?:id)?[/_=-]?\d\d|"
          r"[?&](?:mrn|dob|name|pid|ssn)=|/mrn[/=])[^\s<>\"]{0,80})"),
    _rule("link", r"(?<![\w.])(?i:https?://)?(?i:www\.)?(?P<is>(?i:facebook|linkedin|instagram|twitter|"
          r"x)\.com/(?:in/)?[\w.-]{3,40})"),
    _rule("link", r"(?<![\w.])(?P<is>\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})(?![\w.]?\d)", holds=is_machine),
    # labels and names as notes in German and Spanish have them
    _rule("phone number", r"(?<!\w)(?i:tel[eé]fono?|telephone|phone|tel\.|m[oó]vil)(?:[ ]\w{1,12}){1,3}"
          r"[ ]?:[ ]?(?P<is>\+?\d[\d /-]{5,18}\d)"),
    _rule("name", rf"(?<!\w)(?P<is>{_PART}[ ]{_PART}),[ ](?:de[ ])?\d{{1,3}}[ ](?:Jahre|J\.|años)(?!\w)"),
    _rule("name", rf"(?<!\w)(?:Patientin|Pat\.|Don)[ ](?P<is>{_PART}[ ]{_PART})(?=,?[ ](?:\d|[{LOW}]))"),
    _rule("record number", r"(?<!\w)(?i:historia[ ]cl[ií]nica)[ ](?i:n[º°o.]{1,2}|n[uú]m(?:ero)?\.?)[ :]{0,2}"
          r"(?P<is>\d{4,12})(?!\w)"),
    _rule("insurance number", r"(?<!\w)(?i:n[uú]mero[ ]de[ ]la[ ]seguridad[ ]social)[ :]{1,2}"
          r"(?P<is>\d[\d /]{8,14}\d)(?!\w)"),
)  # fmt: skip

CITED = lazy_pattern(
    r"(?<!\w)(?:https?://[^\s<>\"]{1,300}|www\.[^\s<>\"]{1,300}|10\.\d{4,9}/[^\s<>\"]{1,120}|(?:PMID|"
    r"PMCID|ISBN(?:-1[03])?|ISSN|"
    r"NCT|ISRCTN|EudraCT|CAS|UNII|ATC|RRID)(?i:[ ]?(?:no\.?|number)?)[ ]?:?[ ]?(?:PMC)?\d[\d-]{2,20})"
)
"""Web addresses, and numbers of publications and substances: what looks like a record in them is none."""
