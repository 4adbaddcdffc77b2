"""The words that the reading grammar knows, in their comparable form (`tokens.Doc.forms`).

Sets are named for the part they play; a word is listed once for each part.
"""

import json
from pathlib import Path

from vivavoce.core.text import lazy_pattern

__all__: list[str] = []
LISTS = json.loads(Path(__file__).with_name("lexicon.json").read_text(encoding="utf-8"))
"""The longer lists, by name: words, or pairs with commas between them."""


def ordered(*lines: str) -> tuple[str, ...]:
    """The words of these lines, in order."""
    return tuple(" ".join(lines).split())


def forms(*lines: str) -> frozenset[str]:
    """The words of these lines."""
    return frozenset(ordered(*lines))


def pairs(*lines: str) -> frozenset[tuple[str, str]]:
    """The pairs of words of these lines."""
    listed = (pair.split() for pair in " ".join(lines).split(", "))
    return frozenset((first, second) for first, second in listed)


# Labels.
# A letter after one of these is a name, not a label: "vitamin B", "hepatitis B", "group A", "factor B".
LETTERED_NOUNS = ordered(*LISTS["lettered_nouns"])
# The same words shortened, before a full stop: "Vit. C".
LETTERED_SHORT = forms(*LISTS["lettered_short"])
# The same without a blank before the letter.
LETTERED_ENDS = ordered("维生素 維生素 ビタミン 비타민 因子 クラス グレード グループ タイプ ステージ")
LABEL_NOUNS = forms(*LISTS["label_nouns"])
# A bare capital before one of these can still be a label: "B because ...".
AFTER_LABEL = forms(*LISTS["after_label"])
# One of these behind a capital makes one name with it: "B cells".
LETTERED_HEADS = forms("cell cells lymphocyte lymphocytes")
# "C. difficile": how the second word of a species ends.
SPECIES_ENDS = ("i", "is", "us", "um", "a", "ae", "ans", "ens", "ile")
AFTER_I = forms(
    "am is would was have had think believe will can cannot could should must may might do did choose",
    "chose select pick go guess say and or as with in on for not the it that this",
) - forms("and or because")
# Words of other languages that are English behind the article: "A false positive".
BEHIND_ARTICLE = forms("correct incorrect false exact inexact fals valid true")
BEFORE_LABEL = forms(*LISTS["before_label"])
# Endings and particles that follow a letter without a blank.
AFTER_LETTER = ordered(*LISTS["after_letter"])
# Characters without spaces that may stand right before or behind a label: of "选", "は", "です".
# What an option may hold that is others together, beside their labels: "Both A and B".
TOGETHER = forms("both and & + only options option answers choices are correct the y e et und 和")
BEFORE_LETTER = forms("选 選 项 項 肢 案 择 択 擇 解 答 え は が の と 是 为 為 为 即 故 第 和 与 及 、")
BEHIND_LETTER = forms(*LISTS["behind_letter"])
# What stands behind a Korean label without a blank, and behind a number that is one.
PARTICLES = forms("만 라고 이라고 입니다 이다 예요 이에요 번 번입니다 가 이 는 은 를 을 와 과")
COUNTERS = ("번", "番")
SETTLING = forms(*LISTS["settling"])
VERDICT_VERBS = forms(*LISTS["verdict_verbs"])

# Numbers.
COMPARATORS = forms("< > <= >= ~ ± than least most over under above below exceeding")
PERS = forms("per pro por par al je")
UNITS = forms(*LISTS["units"])

# Polarity.
# Each of these before an option, in its clause, turns it down; two of them cancel ("cannot be excluded").
DENIALS = forms("not no never nor neither nicht pas non nao niet kein keine inte не")
# What calls a thing wrong, whatever it is, and stands before or behind it.
FAULTS = forms(*LISTS["faults"])
NOT_LEFT = forms(*LISTS["not_left"]) | FAULTS
# The same before a list, of which it turns down each option: "excluding A, C".
EXCLUDES = forms(*LISTS["excludes"])
# "instead of", "rather than", "opposed to": the second word decides.
NOT_LEFT_PAIRS = pairs(*LISTS["not_left_pairs"])
# The same right before an article that is written with the option: "invece dell'eparina".
INSTEAD = forms("invece lieu lloc posto comptes")
# With these words it turns down what follows, and not all of its clause.
INSTEADS = INSTEAD | forms("statt anstatt anstelle lugar vez plaats")
# "A family history of asthma", "a patient with asthma": what is named belongs to the case, and is no answer.
OF_THE_CASE = pairs(*LISTS["of_the_case"])
# Words that strengthen "no" and do not undo it: "no es nunca", "ni A ni B", "n'est jamais".
CONCORD = forms("ni nunca jamas jamais mai tampoco tampouco neppure neanche nemmeno nem")
# "Not only A", "no doubt": the word turns nothing down, and what denies it does not either.
NO_NEGATION = forms(
    "doubt only just question merely solely dubbio dubbi doute doutes duda dudas duvida duvidas zweifel"
)
# Before "but": "anything but B" turns B down.
ALL_BUT = forms("anything everything all any every each")
NONE_BUT = forms("none nothing nobody")
EXCEPTS = forms("but except excepting excluding besides save bar barring")
EXCEPT_PAIRS = frozenset({("other", "than"), ("apart", "from"), ("aside", "from"), ("exception", "of")})
# What may stand between "all" and "but": "all of the above options but".
BETWEEN_ALL_BUT = forms("of the them these those above others for with other options option choices answers")
# Where a negation stops: "not heparin but alteplase".
RESET = forms(*LISTS["reset"])
PREDICATE = forms(*LISTS["predicate"])
NO_PREDICATES = forms("not nor never rather no")
NOT_RIGHT = forms(*LISTS["not_right"]) | FAULTS
BUTS = forms("but pero mais aber ma mas maar doch however jedoch но ale men")
# What an option has none of where it is turned down: "no role", "no longer used", "kein Nutzen".
MERITS = forms(*LISTS["merits"])
# "C is off the table" turns C down; "off-label" does not.
NOT_RIGHT_PAIRS = frozenset({("off", "the"), ("off", "limits"), ("scheiden", "aus"), ("scheidet", "aus")})
# "B would cause hypoxia" weighs B.
FORESEES = forms("give cause show present produce require lead typically usually")
# "A is excluded, B too."
AS_WELL = forms(*LISTS["as_well"])
# "A is worse than B" turns down A, and "A es mejor que B" turns down B.
BETTER = forms(*LISTS["better"])
WORSE = forms("worse inferior peor schlechter pire peggio peggiore pior slechter")
THAN = forms("than to que als che dan")
# "Many students pick C": what another person says is no choice of the response.
PEOPLE = forms(*LISTS["people"])
SOME = forms("some many others someone somebody nobody yesterday roommate friend intern resident book")
SAY = forms("say says said argue argues pick picks picked choose chooses chose answer answered")
SUGGEST = SAY | forms(
    "suggest suggests suggested select selects selected think thinks thought favor favored prefer asked"
)
# "I was going to say C", "it used to be C", "let me think about C".
GIVEN_UP = frozenset({("used", "to"), ("was", "going"), ("id", "thought")}) | frozenset(
    (verb, "about") for verb in ("asked", "think", "thinking", "talk", "says", "speaks", "wonder", "nothing")
)
LEFT_WITH = ("left", "with")
# "C is second best" turns C down.
RUNNERS_UP = pairs(*LISTS["runners_up"])
CHOSEN_RIGHT = forms(*LISTS["chosen_right"])
CHOSEN_LEFT = forms(*LISTS["chosen_left"])
TENTATIVE_LEFT = forms(*LISTS["tentative_left"])
# What may stand between two options that are named together.
JOINERS = forms(*LISTS["joiners"])
# "A, but it might also be B" leaves both open.
MAYS = forms("may might could can")
PREFERS = forms("prefer prefers preferring")
HEDGES = forms("or either ou oder или 或 または")

# "B, because A is too slow": what comes behind one of these explains the choice.
REASONS = forms("because since as given due being porque weil denn car parce perche poiche pois")
# What may stand before a choice that is explained.
HEDGED_LEADS = forms(*LISTS["hedged_leads"])

OPTIONAL = forms("alternative optional debatable possible reserved conditional second")
OPTIONALLY = forms("alternatively optionally consider")
# "A and B; C is also a sign" adds C.
ADDS = forms("also too add adding additionally plus likewise furthermore well")
# The options that a list leaves out, or an answer speaks of behind its own, in languages but English.
OTHERS = forms(*LISTS["others"])
# What parts a sentence behind a list from it: "C and D reflect function instead".
CONTRASTS = forms(
    "instead rather whereas however belong belongs but gehoren hingegen dagegen cambio corresponden relevent",
    "revanche pertencem contrario",
)
# "C may be added" leaves C open in a list.
LEFT_OPEN = forms("added considered included needed correct right appropriate required indicated used given")

# What sets an option (@) aside by its words and signs, whatever else is said: "the trap is @"; what denies
# a value of true/false, "@. It isn't", and what is said of saying so, "@ to say".
ASIDES, UNSPACED_ASIDES, AFFIRMATIONS, TRUTH_ASIDES, TRUTH_OF_SAYING = (
    lazy_pattern("|".join(LISTS[name]))
    for name in ("asides", "unspaced_asides", "affirmations", "truth_asides", "truth_of_saying")
)

# Fillers.
# What may stand around an answer without changing it.
FILLERS = forms(*LISTS["fillers"])
# What may stand before an answer on its own line.
LIGHT = forms(*LISTS["light"])

# Cues.
ANSWER_NOUNS = forms("answer answers ans solution solutions conclusion verdict finalanswer correctanswer")
CHOICE_NOUNS = forms(*LISTS["choice_nouns"])
CHOICE_ADJECTIVES = forms(*LISTS["choice_adjectives"])
FUZZY = ("answer", "answers", "solution", "conclusion")
# Heads of the word "answer" in other languages; a word that begins with one is a cue.
FOREIGN_ANSWERS = ordered(*LISTS["foreign_answers"])
FOREIGN_WORDS = forms("svar vastus atbilde atsakymas 答 正解 解答 回答")
CJK_CUES = (
    ("答", "案"),
    ("正", "解"),
    ("回", "答"),
    ("解", "答"),
    ("答", "え"),
    ("选", "择"),
    ("答", "复"),
    ("選", "択"),
)
VIET_CUES = (("dap", "an"), ("tra", "loi"))
SHORT_CUES = (("tl", "dr"),)
NOT_FINAL = forms(*LISTS["not_final"])
NOT_A_NOUN_AFTER = forms("cannot cant to not unable please will dont couldnt wont could you i we")
COPULA = forms(*LISTS["copula"])
MODAL = forms("could might may can whether if depends varies")
RETRACTIONS = forms(*LISTS["retractions"])
RETRACTION_PAIRS = pairs(*LISTS["retraction_pairs"])
RETRACTING = forms(*LISTS["retracting"])

# Replies to a question of one's own: "Heparin? No."
YESES = forms(*LISTS["yeses"])
NOES = forms(*LISTS["noes"])

# Lists and bodies.
REJECTING_HEADS = forms(*LISTS["rejecting_heads"])
REJECTING_PAIRS = frozenset(
    (degree, judgement)
    for degree in ("less", "least")
    for judgement in ("likely", "probable", "plausible", "appropriate", "suitable", "fitting")
) | frozenset({("second", "best"), ("third", "best"), ("next", "best"), ("runner", "up")})
# What stands under one of these is weighed, and no answer where another line gives one.
WEIGHING_HEADS = forms(*LISTS["weighing_heads"])
EXPLAINING_HEADS = forms(*LISTS["explaining_heads"])
# What a sentence begins with behind a bare label: "B The patient has".
SENTENCE_OPENERS = forms(*LISTS["sentence_openers"])
EXPLAINS = forms("because since due which who whose given considering as while whereas although though")
NO_ENTRY = forms(*LISTS["no_entry"])
PROSE = forms(*LISTS["prose"])
DEGREES = forms(*LISTS["degrees"])
