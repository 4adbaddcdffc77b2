"""What is no checkable claim, whatever a splitter takes it for: rules for English."""

# ruff: noqa: E501 - a line of a pattern is one kind of words

import re

from vivavoce.facts.answer_words import words_of
from vivavoce.language.words import clinical_tokens
from vivavoce.reading.refusal import refuses

_GREETING = re.compile(
    r"\W*(?:hello|hi|hey|dear \w+|greetings|good (?:morning|afternoon|evening|luck|question)|great question|"
    r"thank you|thanks|you(?:'|’)?re welcome|sure|certainly|of course|absolutely|best (?:regards|wishes)|"
    r"kind regards|sincerely|take care|(?:i )?hope (?:this|that|it) helps|(?:please )?feel free to ask\b.*|"
    r"(?:please )?let me know if\b.*|if you have (?:any )?(?:\w+ ){0,2}questions\b.*|"
    r"here (?:is|are) (?:the|an?|some) (?:answer|summary|list|overview|facts|key points|explanation)\b.*|"
    r"get well soon)(?:[\s,!]+\w+){0,3}\W*",
    re.IGNORECASE | re.DOTALL,
)
_ADVICE = re.compile(
    r"\W*(?:(?:therefore|however|finally|in any case|remember|please|always|also|you|patients?|one|should|must|"
    r"need to|may want to|it is|it's|that|to|important|best|essential|advisable|crucial|recommended|necessary|be sure|"
    r"make sure|first|immediately|promptly|strongly),? ){0,8}"
    r"(?:consult(?:ing|ed)?|see|visit|contact|call|ask|(?:talk|speak) (?:to|with)|seek(?: out)?|check with|"
    r"follow the advice of|discuss (?:this|it|your \w+) with|get|obtain)(?: with)? "
    r"(?:(?:a|an|the|your|their|his|her|any|some|own|prompt|immediate|urgent|professional|qualified|licensed|"
    r"medical|health|healthcare|health-care|health care|care|primary|local|family|further|expert|or|and|doctor|"
    r"physician|nurse|pharmacist|specialist|clinician|provider|professional|practitioner|gp|advice|help|attention|"
    r"guidance|opinion)\b[ ,/]*)+"
    r"(?:(?:for|about|regarding|before|if you (?:have|are)|to (?:get|discuss|determine|obtain|receive))\b"
    r"(?: (?:a|an|any|the|your|you|more|further|new|personal\w*|individual\w*|medical|accurate|proper|appropriate|"
    r"specific|advice|guidance|information|help|diagnosis|treatment|plan|options|making|taking|starting|stopping|"
    r"changing|using|decisions?|medications?|medicines?|concerns?|questions?|doubts?|worried|unsure|in doubt|"
    r"and|or|about|health|situation|needs|best|course|of|action)\b,?)*)?"
    r"(?: ?(?:immediately|promptly|right away|as soon as possible|at once))?\W*",
    re.IGNORECASE,
)
_NARRATIVE = re.compile(
    r"\W*(?:in my (?:own )?(?:\w+ )?(?:experience|practice|opinion|case)\b|"
    r"(?:when|as|since|because) i (?:was|were|had|am)\b|as an? ai\b|"
    r"i (?:have|had|was|am|remember|recall|once|used to|saw|met|knew|know|worked|treated|learned|felt|hope|wish|"
    r"personally|also|still|myself|did|do|got|went|took|started|stopped|grew|tried)\b|i(?:'|’)(?:m|ve|d)\b|"
    r"my (?:own )?(?:mother|father|mom|mum|dad|parents?|wife|husband|son|daughter|child|children|brother|sister|"
    r"grand\w+|aunt|uncle|cousin|friends?|colleagues?|boss|teacher|doctor|patients?|experience|name|life|story|"
    r"condition|symptoms)\b)",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\s*#{1,6}\s")


def why_no_claim(text: str) -> str | None:
    """Why a unit could be neither true nor false, as a clause; null for a claim.

    A question, a greeting, a heading, a refusal, a story of the writer's own life, and advice to see a doctor
    that says nothing of when: "see a doctor if the fever lasts three days" is a claim.
    """
    plain = text.strip().replace("’", "'")
    if plain.rstrip("\"')]* ").endswith(("?", "？", "؟")):
        return "it is a question"
    if _is_heading(plain):
        return "it is a heading"
    if _GREETING.fullmatch(plain):
        return "it is a greeting or an offer"
    if _ADVICE.fullmatch(plain):
        return "it is advice to see somebody, and says nothing of when"
    if refuses(plain):
        return "it is a refusal"
    return "it is a story of the writer's own" if _NARRATIVE.match(plain) else None


def _is_heading(text: str) -> bool:
    """True for a line of headings' words alone, one that ends in a colon, and one marked as a heading."""
    bare = text.rstrip("*_ ")
    if bare.endswith((":", "：")) or (_MARKUP.match(text) and not bare.endswith(".")):
        return True
    words = clinical_tokens(text)
    return not bare.endswith((".", "!")) and len(words) <= 6 and words_of("heading").issuperset(words)
