"""Questions that ask for the wrong option: without the options nobody can answer them.

The open form of CareQA was made of questions without terms such as "incorrect", "except", "false", "not
correct" or "NOT" (Arias-Duart and others, appendix A.2). A word alone says little: a false lumen and a child
who is not breathing are no negative questions. So the words count where the question asks by them.
"""

import re

from vivavoce.core.errors import InputError

_AUXILIARY = "is|are|was|were|be|does|do|did|can|could|should|would|will|may|might|must|has|have|had"
_CLAUSE = "(?:who|whom|whose|which|that|when|if|with|because|since|although|and|but|so)"
"""Words behind which a denial is part of the case, and not of what is asked."""
_WRONG = "incorrect|false|untrue|wrong|inaccurate|erroneous"
_ENGLISH = {
    "except": r"\ball\s+(?:of\s+)?(?:the\s+)?(?:following|these|above)\b[^.?!]{0,200}"
    r"\b(?:except|but|save|other than)\b(?!\s+also)"
    r"|\bexcept(?:\s+for)?(?:\s+(?:one|which(?:\s+one)?))?\s*[:.?…]*\s*\Z"
    r"|\bwith the exception of\s*[:.?…]*\s*\Z|\bexcept\s*:|\bis (?:the|an) exception\b",
    # An auxiliary with "not" in the clause that asks, before a word that opens another clause.
    "not": rf"(?<!\bby )(?<!\bin )(?<!\bof )\b(?:which|what)\b(?:(?!\b{_CLAUSE}\b)[^.?!:]){{0,160}}?"
    rf"\b(?:(?:{_AUXILIARY})\s+(?:you\s+|we\s+|\w+ly\s+)?not|cannot|(?:is|are|does|do|can|should|would|was)n['’]t)\b"
    r"|\b(?:not|in)\s*correct\s*[:.?…]*\s*\Z|\bthe (?:one|option|statement|answer) that (?:is|does) not\b",
    "incorrect": rf"\b(?:is|are|which|mark|select|choose|indicate|identify|point out|the|an?|following)\s+"
    rf"(?:the\s+|(?:one|option|answer|statement|following)s?\s+(?:is\s+|are\s+)?)?(?:{_WRONG})"
    r"(?=\s*(?:[:.?…]|\Z|(?:statement|option|answer|assertion|alternative|response|claim|one)s?\b"
    r"|ones?\b|about\b|regarding\b|concerning\b|with (?:respect|regard)\b|in relation\b))",
    "least": r"\bleast\s+(?:likely|probable|common|frequent|appropriate|suitable|indicated|useful)\b"
    r"|\b(?:is|are)\s+(?:\w+ly\s+)?unlikely\b",
}
_SPANISH_WRONG = r"incorrect[ao]s?|fals[ao]s?|err[óo]ne[ao]s?|inexact[ao]s?"
_SPANISH_VERBS = (
    "es|son|está|están|se|suele|suelen|puede|pueden|debe|deben|debería|deberían|ha|han|tiene|tienen|produce"
    "|producen|presenta|presentan|forma|forman|aparece|aparecen|corresponde|corresponden|constituye"
    "|constituyen|requiere|requieren|precisa|precisan|cumple|cumplen|pertenece|pertenecen|causa|causan|aumenta|aumentan"
    "|disminuye|disminuyen|actúa|actúan|existe|existen|hay|estaría|estarían|sería|serían|incluye|incluyen"
    "|contiene|contienen|afecta|afectan|haría|realizaría|indicaría|utilizaría|recomendaría|interviene|sirve"
)
_SPANISH = {
    "excepto": r"\btod[ao]s\b[^.?!]{0,200}\bsiguientes\b[^.?!]{0,200}\b(?:excepto|salvo|menos)\b"
    r"|\b(?:excepto|salvo|menos)(?:\s+un[ao])?\s*[:.?…]*\s*\Z|\ba excepción de\s*[:.?…]*\s*\Z|\bEXCEPTO\b",
    "no": rf"\b(?:cu[aá]l(?:es)?|qué)\b"
    rf"(?:(?!\b(?:que|quien|quienes|con|cuando|si|cuy[ao]s?)\b)[^.?!:]){{0,160}}?"
    rf"\bno\s+(?:le\s+|les\s+|lo\s+|la\s+)?(?:{_SPANISH_VERBS})\b"
    r"|\b(?:señale|indique|marque|elija|seleccione|identifique)\b[^.?!]{0,80}"
    r"\b(?:la|el|lo|cuál|qué)\s+(?:que\s+)?no\b"
    r"|\bno\s+(?:es\s+)?(?:correct[ao]|ciert[ao]|verdader[ao])\s*[:.?…]*\s*\Z",
    "incorrecta": r"\b(?:es|son|sea|señale|indique|marque|elija|seleccione|cuál|cual|la|lo|una?|opción"
    r"|respuesta|afirmación|alternativa|proposición|aseveración|siguientes?|afirmaciones|resulta"
    rf"|considera|considere)\s+(?:la\s+|lo\s+|(?:opción|respuesta|afirmación|alternativa)\s+)?(?:{_SPANISH_WRONG})"
    r"(?=\s*(?:[:.?…,]|\Z|respecto\b|sobre\b|en relación\b|en cuanto\b|acerca\b|con respecto\b|referente\b"
    r"|de las\b|de los\b|entre\b|si\b|en referencia\b))",
    "menos": r"\bmenos\s+(?:probable|frecuente|común|habitual|adecuad[ao]|indicad[ao]|útil|eficaz)s?\b"
    r"|\bpoco\s+probable\b",
}
_PATTERNS = {
    language: {term: re.compile(pattern, re.IGNORECASE) for term, pattern in patterns.items()}
    for language, patterns in {"en": _ENGLISH, "es": _SPANISH}.items()
}
_SHOUTED = {
    "en": re.compile(r"\b(?:NOT|EXCEPT|FALSE|INCORRECT|LEAST|UNTRUE|WRONG)\b"),
    "es": re.compile(r"(?<!\()\bNO\b(?!\))|\b(?:EXCEPTO|SALVO|FALS[AO]|INCORRECT[AO]|MENOS|ERRÓNE[AO])\b"),
}
"""Words that an exam sets in capitals because the question turns on them."""
_SENTENCE = re.compile(r"(?<=[.?!])\s+|\n+")
LANGUAGES = tuple(_PATTERNS)


def negative_stem(text: str, language: str = "en") -> str | None:
    """The word by which a question asks for what is wrong, such as "except"; null for any other question.

    Read is the sentence that asks: the last one, and any other with a question mark or a colon at its end.
    "Which is NOT a sign of …?" is negative; "the false lumen of a dissection" and "a child who is not
    breathing" are not. A word in capitals counts where the rest of the text is in small letters. `language`
    is `en` or `es`; raises `InputError` for another one. Null for a blank text.
    """
    if language not in _PATTERNS:
        raise InputError(
            f"negative stems are known in {' and '.join(LANGUAGES)}, not in {language!r}: have people look."
        )
    for sentence in _asking(text):
        shouted = _SHOUTED[language].search(sentence)
        if shouted and text.upper() != text:
            return shouted[0].casefold()
        patterns = _PATTERNS[language].items()
        if term := next((term for term, pattern in patterns if pattern.search(sentence)), None):
            return term
    return None


def _asking(text: str) -> list[str]:
    """The sentences that ask: the last one, and those that end in a question mark or a colon."""
    sentences = [part.strip() for part in _SENTENCE.split(text) if part.strip()]
    return [s for s in sentences[:-1] if s.endswith(("?", ":"))] + sentences[-1:]
