"""The words that chains of reasoning are read by, in their comparable form (`tokens.Doc.forms`)."""

from vivavoce.reading.lexicon import FAULTS, HEDGES, LISTS, RETRACTIONS, forms

# Steps of a chain of reasoning.
STEP_NOUNS = forms(
    "step steps hop hops schritt schritte schritts schrittes paso pasos etape etapes letape passo passos",
    "passaggio passaggi stap steg krok шаг шага шаге adim langkah चरण الخطوة خطوة",
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
FAULT_VERBS = forms(*LISTS["step_fault_verbs"])
SOUND = forms(*LISTS["step_sound"])
# "Step 3 does not follow" accuses it; "step 4 follows" says nothing of either.
SOUND_IF_DENIED = forms(
    "follow follows hold holds support supported warranted consistent true accurate justified"
)
NO_STEP = forms(*LISTS["step_no_step"])
LOCATES = forms(*LISTS["step_locates"])
# What takes back a step: words of error alone do not, they are what such an answer is about.
TAKES_BACK = RETRACTIONS - FAULTS
TURNS = forms("actually no rather instead")
HEDGED = forms(*LISTS["step_hedged"])
# What may stand between a step and the other that is left open.
OPEN_TO_ANOTHER = (
    HEDGES
    | HEDGED
    | forms(
        "though although but and it its the also be even if not is just as well alternatively / error",
        "mistake lie in el la il le der peut etre o",
    )
)
