"""The words that true/false answers are read by, in their comparable form (`tokens.Doc.forms`)."""

from functools import cache

from vivavoce.language.languages import codes, language
from vivavoce.language.tokens import Doc


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
# A word of another language judges only behind one of these, or at the head of a clause: "vera" does not in
# "polycythemia vera".
BEFORE_TRUTH = STATEMENT_NOUNS | _set(
    "is es est ist e sea soit sei sia seja ser etre sein essere era fue war fu foi sera seria cest nest not",
    "no non nao nicht pas ni nor neither weder noch ne tampoco tampouco neppure neanche nemmeno nem a an the",
    "un une una uma eine el la le il o und oder y et ou or and either muy tout totalmente completamente",
    "claramente completement totalement vollig vollkommen absolut absolutamente absolument clairement",
    "eindeutig chiaramente assolutamente definitely clearly therefore so thus also luego portanto donc",
    "quindi pues como comme als come parece semble sembra scheint teilweise parcialmente partiellement",
    "parzialmente partly respuesta reponse antwort risposta resposta opcion option word pero mais",
    "ma mas aber but sondern",
    "sino que plus piu eher fur por per pour direi diria dirais credo fait bien assez del todo entierement",
    "enteramente ganz",
)
AFTER_TRUTH = _set(
    "nor because since as in for if when only that and or but with given based due by so therefore thus",
    "though although however provided according under to from unless while whereas not statement here /",
    "& + overall rather both → (-) after on of at during is are was the this it porque pues ya parce car",
    "puisque weil da denn perche poiche pois que dass che en em dans chez in bei nei nelle nos a la il lo le",
    "die der das esta questa cette diese y e et und o ou oder pero mais ma mas sondern sino segun selon laut",
    "secondo cuando quand wenn quando solo seulement nur con avec mit com para pour fur per si es est ist ni",
    "ne noch",
)
# What leaves a verdict of another language open, in its clause: "puede ser verdadero", "se è vero".
LEFT_OPEN = _set(
    "puede podria peut pourrait kann konnte puo potrebbe pode poderia si se ob parece semble scheint sembra",
    "eher plus mas piu quizas quiza tal vez talvez vielleicht forse probablemente probablement",
    "wahrscheinlich probabilmente provavelmente",
)
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
