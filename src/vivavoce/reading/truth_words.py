"""The words that true/false answers are read by, in their comparable form (`tokens.Doc.forms`)."""

from functools import cache

from vivavoce.language.languages import codes, language
from vivavoce.language.tokens import Doc
from vivavoce.reading.lexicon import LISTS


def _set(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


TRUE_WORDS = (
    *("verdadero", "verdadera", "vrai", "vraie", "wahr", "wahre", "richtig", "vero", "vera"),
    *("verdadeiro", "verdadeira"),
)
FALSE_WORDS = ("falso", "falsa", "faux", "fausse", "falsch", "falsche", "unwahr")
FOREIGN = frozenset(TRUE_WORDS + FALSE_WORDS)
"""Spanish, French, German, Italian and Portuguese."""
# "False positives" are a thing, whatever stands before them.
TRUTH_HEADS = _set(
    "positive positives negative negatives alarm alarms alarma alarme allarme positivo negativo positif",
    "negatif positiv negativ",
)
STATEMENT_NOUNS = _set(
    "statement claim assertion sentence proposition option answer response statements one afirmacion",
    "enunciado proposicion bewering stelling uitspraak laffermazione laffirmation lafirmacio",
    "affirmation enonce aussage behauptung affermazione afirmacao proposicao",
)
# What leads from such a noun to what it says: "the claim that", "la afirmación de que".
OF_STATEMENT = _set(
    "that about regarding concerning on of made above here as itself given in de que dass che uber sur di",
    "sobre",
)
# A word of another language judges only behind one of these, or at the head of a clause: "vera" does not in
# "polycythemia vera".
BEFORE_TRUTH = STATEMENT_NOUNS | _set(*LISTS["truth_before_truth"])
AFTER_TRUTH = _set(*LISTS["truth_after_truth"])
# What leaves a verdict of another language open, in its clause: "puede ser verdadero", "se è vero".
LEFT_OPEN = _set(*LISTS["truth_left_open"])
# "No es del todo falso" says neither.
WHOLLY = _set("todo tutto fait ganz completamente totalmente completement totalement vollig enteramente")
# "While it could be true in children, it is false": what is left open first, the clause behind settles.
CONCEDES = _set("while although though whereas even")
# "True in part" says neither, "false, in part because ..." does.
PARTS = _set("part partly partially parte partie parcialmente partiellement parzialmente teilweise teils")
BEHIND_PART = _set("because due of porque weil")
ANDS = _set("and y e et und")
ORS = _set("or o ou oder")
BUTS = _set("but pero mais ma mas aber")
BE = _set("is are be es est ist e also only")
# What may stand before "correct" where it is said of the statement: "This statement is not".
BEFORE_VERDICT = BEFORE_TRUTH | _set(
    "that this it thats its these das dies diese dieser esto eso esta esa ese cette cet ce cela ca c questo",
    "questa cio isto isso aquest aquesta aixo dat dit deze wel afirmacio bewering uitspraak stelling",
    "lenonce de het os as stimmt dass i we would say believe think answer seems absolutely die der",
)

AFTER_VERDICT = AFTER_TRUTH - _set(
    "only nur solo seulement if when cuando quand wenn quando si is was are es ist est during after on",
    "at the a",
)


@cache
def doubts() -> tuple[str, ...]:
    """What leaves a verdict open in languages whose words stand in lists alone."""
    return tuple(doubt for code in codes() for doubt in language(code).doubts)


@cache
def words_of_languages() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words for true and for false in all languages."""
    languages = list(map(language, codes()))
    true = (*TRUE_WORDS, *(word for words in languages for word in words.true))
    return true, (*FALSE_WORDS, *(word for words in languages for word in words.false))


@cache
def supported_words() -> frozenset[str]:
    """The forms of these words in the languages whose negation the grammar knows."""
    languages = [words for code in codes() if (words := language(code)).supported]
    return frozenset(
        form for words in languages for word in (*words.true, *words.false) for form in Doc(word).forms
    )
