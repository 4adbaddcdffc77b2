"""The words that the reading grammar knows, in their comparable form (`tokens.Doc.forms`).

Sets are named for the part they play; a word is listed once for each part.
"""

__all__: list[str] = []


def ordered(*lines: str) -> tuple[str, ...]:
    """The words of these lines, in order."""
    return tuple(" ".join(lines).split())


def forms(*lines: str) -> frozenset[str]:
    """The words of these lines."""
    return frozenset(ordered(*lines))


# Labels.
# A letter after one of these is a name, not a label: "vitamin B", "hepatitis B", "group A", "factor B".
LETTERED_NOUNS = ordered(
    "vitamin hepatit hemophil haemophil influenza group grupp grup type tipo typ factor facteur faktor",
    "protein grade class stage stadi categor phase phenotype immunoglobulin apolipoprotein lipoprotein",
    "apo coenzyme cytochrom strain serotype serogroup subunit chain pugh interferon streptococc",
    "amphotericin blood level variant component toxin botulinum cluster lymphocyte appendix figure",
    "table plan part arm dr mr patient subtype stanford hla anti cyclosporin retinol endothelin antigen",
    "clade world schedule wave line hormone polymyxin evidence",
)
# The same words shortened, before a full stop: "Vit. C".
LETTERED_SHORT = forms(
    "vit vitam hep hepat gr grp infl typ tip st stad kat cat kl cl fig abb tab tbl app anh anl sec kap cap",
    "ch nr lact prot fact fakt coag immunoglob ig apo strep strept staph вит геп гр рис табл",
)
# The same without a blank before the letter.
LETTERED_ENDS = ordered("维生素 維生素 ビタミン 비타민 因子 クラス グレード グループ タイプ ステージ")
LABEL_NOUNS = forms(
    "option options choice choices letter letters opcion letra lettre buchstabe opcao opzione optie",
)
# A bare capital before one of these can still be a label: "B because ...".
AFTER_LABEL = forms(
    "입니다 हैं है است です で だ wahlen jest adalah это является सही",
    "secenegi secenegidir secenegini sikki sikkidir sikkini dogru dogrudur qui",
    "sont serait seraient sao seria seriam sono sarebbe sarebbero zijn lautet trifft treffen stimmt stimmen",
    "klopt kloppen passt passen convient conviennent estao estan estaria jsou entscheiden gaan wahlen kiezen",
    "scheidet scheiden fallt entfallt als men ware war sera zu esta",
    "nor es est ist sind son fits because since as and or but with for given based due by in",
    "which that considering according from is are was would must should can could may might it this he",
    "she the rather not only alone over if instead on so while whereas although though then will seems",
    "appears has y o e et ou und oder porque parce weil pues ya car omdat и или потому because however",
    "therefore who when where option without excluding except neither do does",
)
# One of these behind a capital makes one name with it: "B cells".
LETTERED_HEADS = forms(
    "cell cells lymphocyte lymphocytes",
)
# "C. difficile": how the second word of a species ends.
SPECIES_ENDS = ("i", "is", "us", "um", "a", "ae", "ans", "ens", "ile")
AFTER_I = forms(
    "am is would was have had think believe will can cannot could should must may might do did choose",
    "chose select pick go guess say and or as with in on for not the it that this",
) - forms("and or because")
# Words of other languages that are English behind the article: "A false positive".
BEHIND_ARTICLE = forms("correct incorrect false exact inexact fals valid true")
BEFORE_LABEL = forms(
    "fur voor pour por auf que dass che nur solo seulement apenas alleen",
    "between neither answer answers is choose chose select selected pick picked with say so therefore",
    "thus hence be chosen would id prefer suspect it its making leaves leaving remains to just only",
    "definitely probably likely clearly maybe perhaps either or and both not nor but than include includes",
    "including",
)
# Endings and particles that follow a letter without a blank.
AFTER_LETTER = ordered(
    "입니다 이다 예요 번 가 는 은 를 을 を に で だ が は 以 是 项 項 选 選 正 对 對 错 錯 误 誤 也 都"
)
# Characters without spaces that may stand right before or behind a label: of "选", "は", "です".
# What an option may hold that is others together, beside their labels: "Both A and B".
TOGETHER = forms("both and & + only options option answers choices are correct the y e et und 和")
BEFORE_LETTER = forms("选 選 项 項 肢 案 择 択 擇 解 答 え は が の と 是 为 為 为 即 故 第 和 与 及 、")
BEHIND_LETTER = forms(
    "に で だ が は を 以 错 錯 误 誤 也 都 是 项 項 选 選 正 对 對 、 と 和 或 及 か 与 與 番"
)
# What stands behind a Korean label without a blank, and behind a number that is one.
PARTICLES = forms("만 라고 이라고 입니다 이다 예요 이에요 번 번입니다 가 이 는 은 를 을 와 과")
COUNTERS = ("번", "番")
SETTLING = forms(
    "guess but so therefore thus hence however pero sino sondern aber mais mas ma also probably maybe",
)
VERDICT_VERBS = forms(
    "esta remains bleibt queda reste resta rimane fica blijft",
    "es est ist e is are was were isnt arent cannot cant can fits does doesnt seems appears matches",
    "would wouldnt",
)

# Numbers.
COMPARATORS = forms("< > <= >= ~ ± than least most over under above below exceeding")
PERS = forms("per pro por par al je")
UNITS = forms(
    "mg g kg mcg ug μg ng pg l ml dl fl cl mmol μmol umol nmol pmol mol meq iu u units unit mm cm m nm",
    "μm um mmhg cmh2o kpa hz khz bpm kcal cal kj j ms msv mgy gy percent percentage",
)

# Polarity.
# Each of these before an option, in its clause, turns it down; two of them cancel ("cannot be excluded").
DENIALS = forms("not no never nor neither nicht pas non nao niet kein keine inte не")
NOT_LEFT = forms(
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
    "statt anstatt anstelle anziche suspender suspendo suspenderia suspende suspenda retirar retiro",
    "interrumpir descontinuar discontinuar sospendere sospendo sospenderei sospendi interrompere interrompo",
    "arreter arrete arretons arreterais suspendre suspend stopper absetzen stoppen staken aturar retirem",
    "peu pouco",
)
# "instead of", "rather than", "opposed to": the second word decides.
NOT_LEFT_PAIRS = frozenset(
    {("instead", "of"), ("opposed", "to"), ("other", "than"), ("apart", "from"),
     ("aside", "from"), ("superior", "to"), ("preferable", "to"), ("preferred", "to"), ("but", "for"),
     ("all", "but"), ("everything", "but"), ("anything", "but"), ("away", "from"), ("far", "from"),
     ("en", "lugar"), ("lugar", "de"), ("au", "lieu"), ("lieu", "de"),
     ("em", "vez"), ("vez", "de"), ("in", "plaats"), ("plaats", "van"), ("en", "lloc"), ("lloc", "de"),
     ("al", "posto"), ("posto", "di"), ("invece", "di"), ("en", "vez"), ("plutot", "que"), ("ao", "inves"),
     ("en", "comptes"), ("switch", "from"), ("switching", "from"), ("switched", "from"), ("change", "from"),
     ("changing", "from"), ("changed", "from"), ("shift", "from"), ("move", "from"), ("eher", "als"),
     ("wahrscheinlicher", "als"), ("waarschijnlijker", "dan")}
)  # fmt: skip
# The same right before an article that is written with the option: "invece dell'eparina".
INSTEAD = forms("invece lieu lloc posto comptes")
# "A family history of asthma", "a patient with asthma": what is named belongs to the case, and is no answer.
OF_THE_CASE = frozenset(
    {("history", "of"), ("risk", "of"), ("patient", "with"), ("patients", "with"), ("person", "with"),
     ("people", "with"), ("child", "with"), ("children", "with"), ("man", "with"), ("woman", "with"),
     ("historia", "de"), ("paciente", "con"), ("paciente", "com"), ("pacient", "amb"), ("paziente", "con"),
     ("patient", "avec"), ("patiente", "avec"), ("patient", "mit"), ("patientin", "mit"), ("patient", "met"),
     ("storia", "di"), ("antecedentes", "de"), ("familiares", "de"), ("antecedents", "de"), ("atcd", "de"),
     ("antecedents", "d"), ("anamnesi", "di"), ("familiare", "di"), ("vorgeschichte", "mit"),
     ("voorgeschiedenis", "van"), ("historico", "de"), ("familiar", "de"), ("riesgo", "de"), ("risco", "de"),
     ("risque", "de"), ("rischio", "di")}
)  # fmt: skip
# Words that strengthen "no" and do not undo it: "no es nunca", "ni A ni B", "n'est jamais".
CONCORD = forms("ni nunca jamas jamais mai tampoco tampouco neppure neanche nemmeno nem")
# "Not only A", "no doubt": the word turns nothing down, and what denies it does not either.
NO_NEGATION = forms("doubt only just question merely solely")
# Before "but": "anything but B" turns B down.
ALL_BUT = forms("anything everything all any every each")
NONE_BUT = forms("none nothing nobody")
EXCEPTS = forms("but except excepting excluding besides save bar barring")
EXCEPT_PAIRS = frozenset({("other", "than"), ("apart", "from"), ("aside", "from"), ("exception", "of")})
# What may stand between "all" and "but": "all of the above options but".
BETWEEN_ALL_BUT = forms("of the them these those above others for with other options option choices answers")
# Where a negation stops: "not heparin but alteplase".
RESET = forms(
    "but however yet while whereas so therefore thus hence because since although though sino sondern",
    "mais mas aber pero ma maar men rather instead making leaving leaves thereby 而 而是",
)
PREDICATE = forms(
    "is are was were be been can could cannot cant does doesnt do dont has have had hasnt would wouldnt",
    "should shouldnt may might seems seem appears appear isnt arent wasnt werent will wont must did",
    "ware waren seria serait sarebbe zou fallt fallen sollte sollten muss darf debe deve doit moet",
    "didnt which that fits fit fails lacks remains become becomes being causes provides takes requires",
    "passt passen kommt queda trifft treffen stimmt stimmen gilt gelten kloppen convient conviennent aplican",
    "only also never usually es ist est sind son sont e era nao no ne ja nicht non niet esta estan estao",
    "fica resulta risulta klopt",
)
NO_PREDICATES = forms("not nor never rather no")
NOT_RIGHT = forms(
    "not no never neither nor isnt arent wasnt werent cant cannot wont wouldnt shouldnt doesnt dont",
    "didnt hasnt wrong incorrect false unlikely excluded contraindicated inappropriate ineffective",
    "inadequate insufficient unnecessary eliminated rejected discarded improbable ruled less worse",
    "inferior unsuitable irrelevant harmful distractor distractors lacks fails rarely dismissed",
    "implausible impossible unhelpful untrue out too outdated unrelated invalid incompatible",
    "inconsistent doubtful avoided unneeded omitted withheld unwarranted superfluous redundant useless",
    "exclusion failed failing overkill premature held stopped discontinued withdrawn suspended",
    "demasiado trop troppo uberflussig unnotig ungeeignet unangebracht nutzlos sinnlos superflu",
    "superflue inutile innecesario innecesaria inutil inadecuado inadecuada superfluo superflua",
    "desnecessario desnecessaria overbodig onnodig ongeschikt innecessari innecessaria incorrectas",
    "incorrectos falsas falsos erroneas fausses",
    "inexactes scorrette errate sbagliate incorretas erradas errados foutief foutieve",
    "weg abgesetzt gestoppt pausiert suspendida suspendido suspesa suspensa suspenso sospesa sospeso arretee",
    "poco peu pouco onjuist unwahrscheinlich onwaarschijnlijk mistake erroneous untenable",
    "nicht falsch falsche falschen unzutreffend inkorrekt unrichtig pas nao non niet ✗ ❌",
    "incorrecta incorrecto incorrecte incorrectes incorreta incorreto scorretta scorretto faux fausse",
    "falsa falso fals errada errado errata errato sbagliata sbagliato equivocada equivocado inexacte inexact",
    "erronea erroneo erronee onjuiste onwaar fout",
)
BUTS = forms("but pero mais aber ma mas maar doch however jedoch но ale men")
# What an option has none of where it is turned down: "no role", "no longer used", "kein Nutzen".
MERITS = forms(
    "longer good better more use role benefit effect indication evidence reason place value option need way",
    "nutzen indikation grund rolle gute guter gutes wirkung beneficio indicacion razon efecto papel opcion",
    "interet raison effet indicazione motivo effetto opzione indicacao razao efeito opcao",
    "nut reden goede optie indicatie plats utility merit advantage point purpose justification support sense",
    "stellenwert effekt evidenz sinn vorteil utilidad ventaja sentido evidencia fundamento justificacion",
    "benefice utilite avantage sens preuve place utilita vantaggio senso evidenza prova ruolo indicazioni",
    "utilidade vantagem evidencia fundamento indicacoes indicaciones rol voordeel zin bewijs nytta effekt",
    "wskazan efektu sensu korzysci uzasadnienia показании эффекта пользы смысла основании доказательств",
    "tacdung hieuqua loiich chidinh 效 益 用 作用 效果 意义 益处 帮助 证据 依据 必要 指征",
)
# "C is off the table" turns C down; "off-label" does not.
NOT_RIGHT_PAIRS = frozenset({("off", "the"), ("off", "limits")})
# "B would cause hypoxia" weighs B.
FORESEES = forms("give cause show present produce require lead typically usually")
# "A is excluded, B too."
AS_WELL = forms(
    "too also likewise ebenfalls auch ebenso genauso tambien tampoco aussi egalement anche neanche",
    "neppure tambem tampouco tambe tampoc ook evenmin ogsa ocksa rowniez тоже также",
)
# "C is second best" turns C down.
RUNNERS_UP = frozenset(
    {("second", "best"), ("third", "best"), ("second", "choice"), ("close", "second"), ("runner", "up")}
)
CHOSEN_RIGHT = forms(
    "superior preferable correct right best answer preferred choice appropriate likely indicated",
    "recommended suitable confirmed diagnosis optimal ideal true fits matches explains cause culprit",
    "winner probable first standard next",
)
CHOSEN_LEFT = forms(
    "choose chose select selected pick picked prefer favor favour favors recommend opt answer answers",
    "best correct diagnosis diagnostic likely appropriate consistent suggests suggest indicates",
    "indicate confirm confirms right points conclude treatment cause choice next say suggestive",
    "characteristic pathognomonic therefore thus hence so remains leaves leaving diagnose diagnosed",
    "drug step agent test going go bet statement claim assertion land settle settled clinches screams",
)
TENTATIVE_LEFT = forms(
    "whether if looks seems appears sounds look seem appear may might could partly partially think",
    "consider considering unsure differential possible possibly initially tempting includes include",
    "including mimics mimic sometimes mostly suspected suspicion somewhat largely torn",
    "podria parecer pareceria pourrait sembler semble konnte scheint parece potrebbe sembrare sembra poderia",
    "lijkt aunque obwohl",
)
# What may stand between two options that are named together.
JOINERS = forms(
    "sowohl als auch zowel",
    "followed by and or & + (+) / either both also well as plus possibly maybe perhaps probably option",
    "options y o e et ou und oder и или the a an then nor 和 或 及 与 または と 、",
)
# "A, but it might also be B" leaves both open.
MAYS = forms("may might could can")
PREFERS = forms("prefer prefers preferring")
HEDGES = forms("or either ou oder или 或 または")

# "B, because A is too slow": what comes behind one of these explains the choice.
REASONS = forms("because since as given due being porque weil denn car parce perche poiche pois")
# What may stand before a choice that is explained.
HEDGED_LEADS = forms(
    "probably possibly perhaps maybe guess lean leaning leans toward towards confident fairly pretty",
    "quite sure certain",
    "inclined to going honestly well bet suspect d still slightly more rather",
    "me inclino por tendiere zu eher neige penche pour plutot propendo per tendo a inclino",
)

OPTIONAL = forms("alternative optional debatable possible reserved conditional second")
OPTIONALLY = forms("alternatively optionally consider")
# "A and B; C is also a sign" adds C.
ADDS = forms("also too add adding additionally plus likewise furthermore well")
# The options that a list leaves out, or an answer speaks of behind its own, in languages but English.
OTHERS = forms(
    "autres demas otras otros altri altre outras outros anderen andere restliche ubrigen altres overige",
    "ostatni остальные другие другои інші інша diger digerleri pozostale ovriga lainnya rimanenti restantes",
)
# "C may be added" leaves C open in a list.
LEFT_OPEN = forms("added considered included needed correct right appropriate required indicated used given")

# Fillers.
# What may stand around an answer without changing it.
FILLERS = forms(
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
LIGHT = forms(
    "just simply a an the is it its this that so therefore thus hence then i im id we think believe say",
    "choose select pick go with option options choice letter answer my final correct best would be",
    "definitely probably likely most must → ✓ ✅ ✔ maybe perhaps and conclusion in both are all",
    "following these only tick",
)

# Cues.
ANSWER_NOUNS = forms(
    "answer answers ans solution solutions conclusion verdict finalanswer correctanswer",
)
CHOICE_NOUNS = forms(
    "option options choice choices selection selections pick response responses alternative letter",
    "diagnosis item items",
)
CHOICE_ADJECTIVES = forms(
    "correct best right final my chosen appropriate likely proper suitable selected preferred single",
    "true applicable matching relevant",
)
FUZZY = ("answer", "answers", "solution", "conclusion")
# Heads of the word "answer" in other languages; a word that begins with one is a cue.
FOREIGN_ANSWERS = ordered(
    "respuesta reponse antwort losung resposta risposta antwoord svaret vastaus odpowied odpoved",
    "odgovor valasz raspuns cevap yanit jawaban ответ відповід отговор απαντηση תשובה התשובה إجابة",
    "الإجابة اجابة الاجابة جواب الجواب پاسخ उत्तर জবাব উত্তর 정답 답 답변 คำตอบ soluzione solucion",
    "solucao sagot jibu",
)
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
NOT_FINAL = forms(
    "initial wrong incorrect other others previous tentative possible alternative alternatives no not",
    "student students second plausible tempting distractor another any each every earlier preliminary",
    "false improbable inappropriate rejected excluded eliminated remaining unlikely some these least",
)
NOT_A_NOUN_AFTER = forms(
    "cannot cant to not unable please will dont couldnt wont could you i we",
)
COPULA = forms(
    "is are was be isnt arent es son est sont ist sind sao e ar er on jest je este adalah la это 是",
    "为 為 は が です seria sera equals remains",
)
MODAL = forms("could might may can whether if depends varies")
RETRACTIONS = forms(
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
RETRACTING = forms(
    "wait actually correction oops sorry no instead rather hmm correccion correzione correcao korrektur",
)

# Replies to a question of one's own: "Heparin? No."
YESES = forms(
    "yes correct right exactly si oui ja sim igen evet да так 是 是的 可以 对 对的 行 正确 対",
    "はい 예 네 نعم हाँ",
)
NOES = forms(
    "no wrong incorrect nope nein non nao nee nej nie nem hayir нет ні 否 不 不是 不行 不对 不可以",
    "不能 错误 错 いいえ 아니요 아니오 لا नहीं",
)

# Lists and bodies.
REJECTING_HEADS = forms(
    "incorrect wrong rejected excluded not false eliminated distractors distractor incorrectly",
    "inappropriate unlikely avoid contraindicated unselected non except",
)
REJECTING_PAIRS = frozenset(
    (degree, judgement) for degree in ("less", "least") for judgement in ("likely", "probable", "plausible")
) | frozenset({("second", "best"), ("third", "best"), ("next", "best"), ("runner", "up")})
# What stands under one of these is weighed, and no answer where another line gives one.
WEIGHING_HEADS = forms(
    "possible alternatives alternatively differential differentials consider considered runner second",
    "initial",
    "initially thought impression tempting",
)
EXPLAINING_HEADS = forms(
    "explanation explanations note notes rationale reason reasons reasoning justification because why",
    "comment comments disclaimer caveat analysis discussion background erklarung explicacion",
    "explication begrundung nota hinweis",
)
# What a sentence begins with behind a bare label: "B The patient has".
SENTENCE_OPENERS = forms(
    "the this these those there in while it its because although unlike since given based he she option",
    "la el los las le les der die das il lo gli de het",
)
EXPLAINS = forms(
    "because since due which who whose given considering as while whereas although though",
)
NO_ENTRY = forms(
    "none all yes no both true false unknown nothing everything neither any na some other others",
    "everyone",
)
PROSE = forms(
    "include includes including is are was were be been can could cannot cant does doesnt do has have",
    "had would should may might will must i we it they this that these those there he she you your",
    "please typically usually because since if then which who therefore however occurs occur causes",
    "cause caused shows show see consult",
)
DEGREES = forms(
    "partly partially mostly somewhat largely sometimes half often usually both occasionally parcialmente",
    "partiellement teilweise parzialmente parte partie teils meist meistens oft parfois manchmal",
    "generalmente generalement",
)
