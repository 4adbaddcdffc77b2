"""The words that chains of reasoning are read by, in their comparable form (`tokens.Doc.forms`)."""

from vivavoce.reading.lexicon import HEDGES, forms

# Steps of a chain of reasoning.
STEP_NOUNS = forms(
    "step steps hop hops schritt schritte schritts schrittes paso pasos etape etapes letape passo passos",
    "passaggio passaggi stap steg krok шаг шага adim langkah",
)
STEP_PATTERN = (
    r"(?:step|paso|passo|passaggio|[ée]tape|etapa|schritt|fase|stap|krok|шаг|крок|adım|langkah|bước|pas|steg"
    r"|步骤|步驟|ステップ|단계|الخطوة|चरण|βήμα)"
)
"""The noun that numbers a step at the head of a line; "fase 3" elsewhere may be a phase of a trial."""
NUMBER_NOUNS = forms("number no num nr numero nummer")
# A step by another name, where a text speaks of no steps.
INFERENCES = forms("inference deduction premise link statement claim assertion etapa fase")
STEP_ADJECTIVES = forms("reasoning inference logical logic incorrect wrong faulty flawed erroneous")
COUNTING = {
    word: n
    for n, same in enumerate(
        (
            "one i 一", "two ii 二", "three iii 三", "four iv 四", "five v 五", "six vi 六",
            "seven vii 七", "eight viii 八", "nine ix 九", "ten x 十", "eleven xi", "twelve xii",
        ),
        1,
    )
    for word in same.split()
}  # fmt: skip
ORDINALS = {
    word: n
    for n, same in enumerate(
        (
            "first erste ersten erster primer primero primera premier premiere primeiro primeira primo prima",
            "second zweite zweiten zweiter segundo segunda deuxieme seconde secondo seconda",
            "third dritte dritten dritter tercer tercero tercera troisieme terceiro terceira terzo terza",
            "fourth vierte vierten vierter cuarto cuarta quatrieme quarto quarta",
            "fifth funfte funften funfter quinto quinta cinquieme",
            "sixth sechste sechsten sechster sexto sexta sixieme sesto sesta",
            "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth",
        ),
        1,
    )
    for word in same.split()
}  # fmt: skip
LAST = forms("last final letzte letzten ultimo dernier derniere")
# A step that one of these is said of is the wrong one; nouns also before it: "the error is in step 3".
FAULTS = forms(
    "wrong incorrect incorrectly wrongly false falsely flawed flaw flaws faulty fault error errors",
    "erroneous",
    "erroneously mistake mistakes mistaken mistakenly invalid inaccurate inaccurately inaccuracy unsound",
    "fallacy fallacious problem problematic issue untrue illogical culprit misstep misstatement unjustified",
    "unsupported unfounded misleading unwarranted falsch fehler fehlerhaft fehlerhafte incorrecto",
    "incorrecta",
    "incorrecte erronee equivocado equivocada falso falsa falsche faux fausse inexacte",
    "erreur lerreur erroneo erronea erronees errado errada erro errore lerrore errori errato errata errati",
    "sbagliato sbagliata scorretto scorretta incorreto incorreta incorretto incorretta inexacto inexacta",
    "inexato inexata inexact inesatto inesatta falscher falschen fehlerhafter inkorrekt fallo fautif",
    "fautive",
    "неверен неверныи ошибка ошибочныи 错误 錯誤 ❌ ✗",
)
FAULT_VERBS = forms(
    "contradicts misinterprets misstates misunderstands misrepresents misidentifies misattributes confuses",
    "conflates overgeneralizes overgeneralises oversimplifies overstates exaggerates errs fails goes astray",
    "misapplies mischaracterizes misreads misuses inverts reverses ignores overlooks contradicted",
)
SAYING = forms(
    "says states claims assumes concludes infers suggests argues asserts implies that saying stating",
    "claiming assuming concluding describes mentions",
)
SOUND = forms(
    "right correct correctly fine valid true accurate accurately sound ok okay good logical reasonable",
    "plausible proper justified acceptable richtig korrekt correcto correcta correctos correctas correto",
    "correta corretos corretas corretto corretta corretti corrette correcte corrects correctes giusto",
    "giusta",
    "valido valida верен верно ✓ ✅",
)
# "Step 3 does not follow" accuses it; "step 4 follows" says nothing of either.
SOUND_IF_DENIED = forms(
    "follow follows hold holds support supported warranted consistent true accurate justified"
)
NO_STEP = forms(
    "no none nothing neither without never all every each everything todos todas tutti tutte tous",
    "toutes alle",
    "ningun ninguno ninguna aucun aucune nessun nessuno nessuna nenhum nenhuma kein keiner",
)
LOCATES = forms(
    "is was lies lie occurs occur appears happens comes arises begins starts located found be being at in",
    "are seems remains should would must therefore thus identified es ist est esta en encuentra trouve",
    "se liegt",
    "trova nel nella a dans em na sta",
)
# What takes back a step: words of error alone do not, they are what such an answer is about.
TAKES_BACK = forms(
    "wait scratch reconsider reconsidering reconsidered revise revised revising correction oops sorry",
    "apologies hmm rethinking reevaluating nevermind perdon corrijo korrektur pardon doch",
)
TAKES_BACK_PAIRS = frozenset(
    {("second", "thought"), ("second", "thoughts"), ("on", "reflection"), ("hold", "on"), ("never", "mind"),
     ("take", "that"), ("that", "back"), ("i", "was"), ("i", "meant"), ("made", "a"), ("my", "bad"),
     ("my", "mistake")}
)  # fmt: skip
TURNS = forms("actually no rather instead")
HEDGED = forms(
    "might may could maybe perhaps possibly either probably unsure seems quiza quizas vielleicht forse",
    "talvez",
)
# What may stand between a step and the other that is left open.
OPEN_TO_ANOTHER = (
    HEDGES
    | HEDGED
    | forms(
        "though although but and it its the also be even if not is just as well alternatively / error",
        "mistake lie in el la il le der peut etre o",
    )
)
