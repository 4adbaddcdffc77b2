"""The words that the reading grammar knows, in their comparable form (`tokens.Doc.forms`).

Sets are named for the part they play; a word is listed once for each part.
"""

__all__: list[str] = []


def _words(*lines: str) -> tuple[str, ...]:
    return tuple(" ".join(lines).split())


def _set(*lines: str) -> frozenset[str]:
    return frozenset(_words(*lines))


# Labels.
# A letter after one of these is a name, not a label: "vitamin B", "hepatitis B", "group A", "factor B".
LETTERED_NOUNS = _words(
    "vitamin hepatit hemophil haemophil influenza group grupp grup type tipo typ factor facteur faktor",
    "protein grade class stage stadi categor phase phenotype immunoglobulin apolipoprotein lipoprotein",
    "apo coenzyme cytochrom strain serotype serogroup subunit chain pugh interferon streptococc",
    "amphotericin blood level variant component toxin botulinum cluster lymphocyte appendix figure",
    "table plan part arm dr mr patient subtype stanford hla anti cyclosporin retinol endothelin antigen",
    "clade world schedule wave line hormone polymyxin evidence",
)
# The same words shortened, before a full stop: "Vit. C".
LETTERED_SHORT = _set(
    "vit vitam hep hepat gr grp infl typ tip st stad kat cat kl cl fig abb tab tbl app anh anl sec kap cap",
    "ch nr lact prot fact fakt coag immunoglob ig apo strep strept staph вит геп гр рис табл",
)
# The same without a blank before the letter.
LETTERED_ENDS = _words("维生素 維生素 ビタミン 비타민 因子 クラス グレード グループ タイプ ステージ")
LABEL_NOUNS = _set(
    "option options choice choices letter letters opcion letra lettre buchstabe opcao opzione optie",
)
# A bare capital before one of these can still be a label: "B because ...".
AFTER_LABEL = _set(
    "입니다 हैं है است です で だ wahlen jest adalah это является सही",
    "secenegi secenegidir secenegini sikki sikkidir sikkini dogru dogrudur qui",
    "nor es est ist sind son fits because since as and or but with for given based due by in",
    "which that considering according from is are was would must should can could may might it this he",
    "she the rather not only alone over if instead on so while whereas although though then will seems",
    "appears has y o e et ou und oder porque parce weil pues ya car omdat и или потому because however",
    "therefore who when where option without excluding except neither do does",
)
# One of these behind a capital makes one name with it: "B cells".
LETTERED_HEADS = _set(
    "cell cells lymphocyte lymphocytes",
)
# "C. difficile": how the second word of a species ends.
SPECIES_ENDS = ("i", "is", "us", "um", "a", "ae", "ans", "ens", "ile")
AFTER_I = _set(
    "am is would was have had think believe will can cannot could should must may might do did choose",
    "chose select pick go guess say and or as with in on for not the it that this",
) - _set("and or because")
BEFORE_LABEL = _set(
    "between neither answer answers is choose chose select selected pick picked with say so therefore",
    "thus hence be chosen would id prefer suspect it its making leaves leaving remains to just only",
    "definitely probably likely clearly maybe perhaps either or and both not nor but than include includes",
    "including",
)
# Endings and particles that follow a letter without a blank.
AFTER_LETTER = _words("입니다 이다 예요 번 가 는 은 를 을 を で だ が は 是 项 項 选 選 正 对 對")
# Characters without spaces that may stand right before or behind a label: of "选", "は", "です".
# What an option may hold that is others together, beside their labels: "Both A and B".
TOGETHER = _set("both and & + only options option answers choices are correct the y e et und 和")
BEFORE_LETTER = _set("选 選 项 項 肢 案 择 択 擇 解 答 え は が 是 为 為 为 即 故 第 、")
BEHIND_LETTER = _set("で だ が は を 是 项 項 选 選 正 对 對 、 と 和 或 及 か 与 與 番")
# What stands behind a Korean label without a blank, and behind a number that is one.
PARTICLES = _set("입니다 이다 예요 이에요 번 번입니다 가 이 는 은 를 을 와 과")
COUNTERS = ("번", "番")
SETTLING = _set(
    "guess but so therefore thus hence however pero sino sondern aber mais mas ma also probably maybe",
)
VERDICT_VERBS = _set(
    "es est ist e is are was were isnt arent cannot cant can fits does doesnt seems appears matches",
    "would wouldnt",
)

# Numbers.
COMPARATORS = _set("< > <= >= ~ ± than least most over under above below exceeding")
PERS = _set("per pro por par al je")
UNITS = _set(
    "mg g kg mcg ug μg ng pg l ml dl fl cl mmol μmol umol nmol pmol mol meq iu u units unit mm cm m nm",
    "μm um mmhg cmh2o kpa hz khz bpm kcal cal kj j ms msv mgy gy percent percentage",
)

# Polarity.
# Each of these before an option, in its clause, turns it down; two of them cancel ("cannot be excluded").
NOT_LEFT = _set(
    "stop stops stopping discontinue withhold hold not no never neither nor isnt arent wasnt werent cant",
    "cannot wont wouldnt shouldnt doesnt dont didnt without except excepting excluding exclude excludes",
    "excluded unlike against eliminate eliminates eliminated eliminating reject rejects rejected",
    "rejecting dismiss dismissed ruled rule rules ruling than over versus vs wrong incorrect avoid",
    "avoids avoiding discard discarded discarding distractor distractors unlikely besides aside beyond",
    "argues contraindicated contraindicates false less doubt doubts doubtful improbable nicht kein",
    "keine keinen pas nao non niet geen",
    "weder evenmin tampoc",
    "ni nunca jamas jamais tampoco tampouco neppure neanche nemmeno nem keineswegs niemals hardly",
    "scarcely barely inte ikke nie ne не 不 非 没 ohne keiner keinem keines sin ningun ninguno ninguna sans",
    "aucun aucune senza nessun nessuno nessuna sem nenhum nenhuma zonder gegen ausencia assenza poco",
    "peu pouco",
)
# "instead of", "rather than", "opposed to": the second word decides.
NOT_LEFT_PAIRS = frozenset(
    {("instead", "of"), ("opposed", "to"), ("other", "than"), ("apart", "from"),
     ("aside", "from"), ("superior", "to"), ("preferable", "to"), ("preferred", "to"), ("but", "for"),
     ("all", "but"), ("everything", "but"), ("anything", "but"), ("away", "from"), ("far", "from"),
     ("en", "lugar"), ("lugar", "de"), ("au", "lieu"), ("lieu", "de"),
     ("em", "vez"), ("vez", "de"), ("in", "plaats"), ("plaats", "van"), ("en", "lloc"), ("lloc", "de"),
     ("al", "posto"), ("posto", "di"), ("invece", "di")}
)  # fmt: skip
# Words that strengthen "no" and do not undo it: "no es nunca", "ni A ni B", "n'est jamais".
CONCORD = _set("ni nunca jamas jamais mai tampoco tampouco neppure neanche nemmeno nem")
# "Not only A", "no doubt": the word turns nothing down, and what denies it does not either.
NO_NEGATION = _set("doubt only just question merely solely")
# Before "but": "anything but B" turns B down.
ALL_BUT = _set("anything everything all any every each")
NONE_BUT = _set("none nothing nobody")
EXCEPTS = _set("but except excepting excluding besides save bar barring")
EXCEPT_PAIRS = frozenset({("other", "than"), ("apart", "from"), ("aside", "from"), ("exception", "of")})
# What may stand between "all" and "but": "all of the above options but".
BETWEEN_ALL_BUT = _set("of the them these those above others for with other options option choices answers")
# Where a negation stops: "not heparin but alteplase".
RESET = _set(
    "but however yet while whereas so therefore thus hence because since although though sino sondern",
    "mais mas aber pero ma maar men rather instead making leaving leaves thereby 而 而是",
)
PREDICATE = _set(
    "is are was were be been can could cannot cant does doesnt do dont has have had hasnt would wouldnt",
    "should shouldnt may might seems seem appears appear isnt arent wasnt werent will wont must did",
    "ware waren seria serait sarebbe zou",
    "didnt which that fits fit fails lacks remains become becomes being causes provides takes requires",
    "passt kommt queda",
    "only also never usually es ist est sind son sont e era nao no ne ja nicht non niet esta estan estao",
    "fica resulta risulta klopt",
)
NO_PREDICATES = _set("not nor never rather no")
NOT_RIGHT = _set(
    "not no never neither nor isnt arent wasnt werent cant cannot wont wouldnt shouldnt doesnt dont",
    "didnt hasnt wrong incorrect false unlikely excluded contraindicated inappropriate ineffective",
    "inadequate insufficient unnecessary eliminated rejected discarded improbable ruled less worse",
    "inferior unsuitable irrelevant harmful distractor distractors lacks fails rarely dismissed",
    "implausible impossible unhelpful untrue out too outdated unrelated invalid incompatible",
    "inconsistent doubtful avoided unneeded omitted withheld unwarranted superfluous redundant useless",
    "poco peu pouco onjuist unwahrscheinlich onwaarschijnlijk mistake erroneous untenable",
    "nicht falsch falsche falschen unzutreffend inkorrekt unrichtig pas nao non niet ✗ ❌",
    "incorrecta incorrecto incorrecte incorrectes incorreta incorreto scorretta scorretto faux fausse",
    "falsa falso fals errada errado errata errato sbagliata sbagliato equivocada equivocado inexacte inexact",
    "erronea erroneo erronee onjuiste onwaar fout",
)
# "C is second best" turns C down.
RUNNERS_UP = frozenset(
    {("second", "best"), ("third", "best"), ("second", "choice"), ("close", "second"), ("runner", "up")}
)
CHOSEN_RIGHT = _set(
    "superior preferable correct right best answer preferred choice appropriate likely indicated",
    "recommended suitable confirmed diagnosis optimal ideal true fits matches explains cause culprit",
    "winner probable first standard next",
)
CHOSEN_LEFT = _set(
    "choose chose select selected pick picked prefer favor favour favors recommend opt answer answers",
    "best correct diagnosis diagnostic likely appropriate consistent suggests suggest indicates",
    "indicate confirm confirms right points conclude treatment cause choice next say suggestive",
    "characteristic pathognomonic therefore thus hence so remains leaves leaving diagnose diagnosed",
    "drug step agent test going go bet statement claim assertion",
)
TENTATIVE_LEFT = _set(
    "whether if looks seems appears sounds look seem appear may might could partly partially think",
    "consider considering unsure differential possible possibly initially tempting includes include",
    "including mimics mimic sometimes mostly suspected suspicion somewhat largely",
)
# What may stand between two options that are named together.
JOINERS = _set(
    "followed by and or & + (+) / either both also well as plus possibly maybe perhaps probably option",
    "options y o e et ou und oder и или the a an then nor 和 或 及 与 または と 、",
)
# "A, but it might also be B" leaves both open.
MAYS = _set("may might could can")
HEDGES = _set("or either ou oder или 或 または")

# "B, because A is too slow": what comes behind one of these explains the choice.
REASONS = _set("because since as given due being porque weil denn car parce perche poiche pois")
# What may stand before a choice that is explained.
HEDGED_LEADS = _set(
    "probably possibly perhaps maybe guess lean leaning leans toward towards confident fairly pretty",
    "quite sure certain",
    "inclined to going honestly well bet suspect d still slightly more rather",
    "me inclino por tendiere zu eher neige penche pour plutot propendo per tendo a inclino",
)

OPTIONAL = _set("alternative optional debatable possible reserved conditional second")
OPTIONALLY = _set("alternatively optionally consider")
# "A and B; C is also a sign" adds C.
ADDS = _set("also too add adding additionally plus likewise furthermore well")
# "C may be added" leaves C open in a list.
LEFT_OPEN = _set("added considered included needed correct right appropriate required indicated used given")

# Fillers.
# What may stand around an answer without changing it.
FILLERS = _set(
    "a an the is are was be would should must will it its this that these those so therefore thus hence",
    "then my i we im id think believe say choose select pick go with option options choice choices",
    "letter letters answer answers most likely probably definitely clearly certainly surely best",
    "correct right only just simply indeed namely either both final of to in by for as on and or & all",
    "following single one clinical medical patient has have had here diagnosis treatment statement",
    "claim sentence obviously well ok okay sure yes hi hello based above below la le les el los las une",
    "un der die das den il lo o os es ist est sind son sont e ja de do da er 是 为 為 opcion",
    "opzione opcao lettre letra buchstabe alternativa sera selected selection called named also include",
    "includes including give start administer begin initiate perform order obtain use prescribe get",
    "immediate immediately urgent urgently emergent oral intravenous iv sc subcutaneous topical high",
    "low dose suspected acute probable current now first next step not no isnt but rather than nor",
    "neither → = (-) (+) +",
)
# What may stand before an answer on its own line.
LIGHT = _set(
    "just simply a an the is it its this that so therefore thus hence then i im id we think believe say",
    "choose select pick go with option options choice letter answer my final correct best would be",
    "definitely probably likely most must → ✓ ✅ ✔ maybe perhaps and conclusion in both are all",
    "following these only",
)

# Cues.
ANSWER_NOUNS = _set(
    "answer answers ans solution solutions conclusion verdict finalanswer correctanswer",
)
CHOICE_NOUNS = _set(
    "option options choice choices selection selections pick response responses alternative letter",
    "diagnosis item items",
)
CHOICE_ADJECTIVES = _set(
    "correct best right final my chosen appropriate likely proper suitable selected preferred single",
    "true applicable matching relevant",
)
FUZZY = ("answer", "answers", "solution", "conclusion")
# Heads of the word "answer" in other languages; a word that begins with one is a cue.
FOREIGN_ANSWERS = _words(
    "respuesta reponse antwort losung resposta risposta antwoord svaret vastaus odpowied odpoved",
    "odgovor valasz raspuns cevap yanit jawaban ответ відповід отговор απαντηση תשובה התשובה إجابة",
    "الإجابة اجابة الاجابة جواب الجواب پاسخ उत्तर জবাব উত্তর 정답 답 답변 คำตอบ soluzione solucion",
    "solucao sagot jibu",
)
FOREIGN_WORDS = _set("svar vastus atbilde atsakymas 答 正解 解答 回答")
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
NOT_FINAL = _set(
    "initial wrong incorrect other others previous tentative possible alternative alternatives no not",
    "student students second plausible tempting distractor another any each every earlier preliminary",
    "false improbable inappropriate rejected excluded eliminated remaining unlikely some these least",
)
NOT_A_NOUN_AFTER = _set(
    "cannot cant to not unable please will dont couldnt wont could you i we",
)
COPULA = _set(
    "is are was be isnt arent es son est sont ist sind sao e ar er on jest je este adalah la это 是",
    "为 為 は が です seria sera equals remains",
)
MODAL = _set("could might may can whether if depends varies")
RETRACTIONS = _set(
    "wait actually correction scratch reconsider reconsidering reconsidered revise revised revising",
    "mistake mistaken mistakenly error oops sorry apologies corrected correcting updated update meant",
    "instead reevaluating reevaluate rethinking rethink retract changed change perdon corrijo moment",
    "doch korrektur korrigiere pardon erreur withdraw strike amend correccion correzione correcao",
)
RETRACTION_PAIRS = frozenset(
    {
        ("second", "thought"),
        ("second", "thoughts"),
        ("i", "was"),
        ("no", "the"),
        ("on", "reflection"),
        ("it", "should"),
        ("should", "be"),
        ("let", "me"),
        ("take", "that"),
        ("take", "it"),
        ("that", "back"),
        ("never", "mind"),
        ("hold", "on"),
        ("my", "bad"),
    }
)
RETRACTING = _set(
    "wait actually correction oops sorry no instead rather hmm correccion correzione correcao korrektur",
)

# Lists and bodies.
REJECTING_HEADS = _set(
    "incorrect wrong rejected excluded not false eliminated distractors distractor incorrectly",
    "inappropriate unlikely avoid contraindicated unselected non except",
)
REJECTING_PAIRS = frozenset(
    (degree, judgement) for degree in ("less", "least") for judgement in ("likely", "probable", "plausible")
)
# What stands under one of these is weighed, and no answer where another line gives one.
WEIGHING_HEADS = _set(
    "possible alternatives alternatively differential differentials consider considered runner second",
    "initial",
    "initially thought impression tempting",
)
EXPLAINING_HEADS = _set(
    "explanation explanations note notes rationale reason reasons reasoning justification because why",
    "comment comments disclaimer caveat analysis discussion background erklarung explicacion",
    "explication begrundung nota hinweis",
)
# What a sentence begins with behind a bare label: "B The patient has".
SENTENCE_OPENERS = _set(
    "the this these those there in while it its because although unlike since given based he she option",
    "la el los las le les der die das il lo gli de het",
)
EXPLAINS = _set(
    "because since due which who whose given considering as while whereas although though",
)
NO_ENTRY = _set(
    "none all yes no both true false unknown nothing everything neither any na some other others",
    "everyone",
)
PROSE = _set(
    "include includes including is are was were be been can could cannot cant does doesnt do has have",
    "had would should may might will must i we it they this that these those there he she you your",
    "please typically usually because since if then which who therefore however occurs occur causes",
    "cause caused shows show see consult",
)
DEGREES = _set(
    "partly partially mostly somewhat largely sometimes half often usually both occasionally parcialmente",
    "partiellement teilweise parzialmente parte partie teils meist meistens oft parfois manchmal",
    "generalmente generalement",
)
# Steps of a chain of reasoning.
STEP_NOUNS = _set(
    "step steps hop hops schritt schritte schritts schrittes paso pasos etape etapes letape passo passos",
    "passaggio passaggi stap steg krok шаг шага adim langkah",
)
STEP_PATTERN = r"(?:step|paso|passo|passaggio|[ée]tape|etapa|schritt|fase)"
"""The noun that numbers a step at the head of a line; "fase 3" elsewhere may be a phase of a trial."""
NUMBER_NOUNS = _set("number no num nr numero nummer")
# A step by another name, where a text speaks of no steps.
INFERENCES = _set("inference deduction premise link statement claim assertion etapa fase")
STEP_ADJECTIVES = _set("reasoning inference logical logic incorrect wrong faulty flawed erroneous")
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
LAST = _set("last final letzte letzten ultimo dernier derniere")
# A step that one of these is said of is the wrong one; nouns also before it: "the error is in step 3".
FAULTS = _set(
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
FAULT_VERBS = _set(
    "contradicts misinterprets misstates misunderstands misrepresents misidentifies misattributes confuses",
    "conflates overgeneralizes overgeneralises oversimplifies overstates exaggerates errs fails goes astray",
    "misapplies mischaracterizes misreads misuses inverts reverses ignores overlooks contradicted",
)
SAYING = _set(
    "says states claims assumes concludes infers suggests argues asserts implies that saying stating",
    "claiming assuming concluding describes mentions",
)
SOUND = _set(
    "right correct correctly fine valid true accurate accurately sound ok okay good logical reasonable",
    "plausible proper justified acceptable richtig korrekt correcto correcta correctos correctas correto",
    "correta corretos corretas corretto corretta corretti corrette correcte corrects correctes giusto",
    "giusta",
    "valido valida верен верно ✓ ✅",
)
# "Step 3 does not follow" accuses it; "step 4 follows" says nothing of either.
SOUND_IF_DENIED = _set(
    "follow follows hold holds support supported warranted consistent true accurate justified"
)
NO_STEP = _set(
    "no none nothing neither without never all every each everything todos todas tutti tutte tous",
    "toutes alle",
    "ningun ninguno ninguna aucun aucune nessun nessuno nessuna nenhum nenhuma kein keiner",
)
LOCATES = _set(
    "is was lies lie occurs occur appears happens comes arises begins starts located found be being at in",
    "are seems remains should would must therefore thus identified es ist est esta en encuentra trouve",
    "se liegt",
    "trova nel nella a dans em na sta",
)
# What takes back a step: words of error alone do not, they are what such an answer is about.
TAKES_BACK = _set(
    "wait scratch reconsider reconsidering reconsidered revise revised revising correction oops sorry",
    "apologies hmm rethinking reevaluating nevermind perdon corrijo korrektur pardon doch",
)
TAKES_BACK_PAIRS = frozenset(
    {("second", "thought"), ("second", "thoughts"), ("on", "reflection"), ("hold", "on"), ("never", "mind"),
     ("take", "that"), ("that", "back"), ("i", "was"), ("i", "meant"), ("made", "a"), ("my", "bad"),
     ("my", "mistake")}
)  # fmt: skip
TURNS = _set("actually no rather instead")
HEDGED = _set(
    "might may could maybe perhaps possibly either probably unsure seems quiza quizas vielleicht forse",
    "talvez",
)
# What may stand between a step and the other that is left open.
OPEN_TO_ANOTHER = (
    HEDGES
    | HEDGED
    | _set(
        "though although but and it its the also be even if not is just as well alternatively / error",
        "mistake lie in el la il le der peut etre o",
    )
)
