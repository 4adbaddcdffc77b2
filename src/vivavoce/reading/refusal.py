"""Does an answer refuse, and does it do nothing else? Told by what it says, in common languages.

A refusal is said by the speaker about answering: "I cannot answer", not "the patient cannot answer" and not
"we cannot recommend steroids".
"""

# ruff: noqa: E501 - a line of a pattern is one language or one way of saying it

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from vivavoce.core.text import lazy_pattern
from vivavoce.language.characters import in_one_form
from vivavoce.language.languages import codes, language

_CANNOT = (
    r"(?:can ?not|can't|cant|could ?not|couldn't|am unable to|'m unable to|am not able to|'m not able to|unable to"
    r"|not able to|won't|will not|refuse to|must decline to|decline to|am not (?:qualified|allowed|permitted|authorized|"
    r"comfortable)(?: to)?|'m not (?:qualified|allowed|permitted|authorized|comfortable)(?: to)?|am not in a position to"
    r"|'m not in a position to|do not feel comfortable|don't feel comfortable|have to decline to|do not have enough"
    r" information to|don't have enough information to|lack the information to)"
)
_ALONE = r"(?:answer|help|assist|comply|say|tell|know|comment|respond|decide|determine|choose|engage|decline)(?:ing)?"
_WITH = (
    r"(?:answer|help|assist|comply|provide|give|offer|advise|respond|diagnos|share|discuss|fulfil|complete|make|determine"
    r"|interpret|decide|select|choose|recommend|comment|engage|say|tell|generate|continue)\w*"
)
_SPEAK = (
    r"(?:answer|help|assist|comply|respond|comment|diagnose|discuss|engage|advise|decide|say|tell|choose|continue"
    r"|determine)"
)
_THAT = r"(?:this|that|it|you|which|whether|what|between|any[ ]of)"
_THING = (
    r"(?:your|the question|(?:this|that|these|such) (?:question|request|query|topic)s?|medical advice|advice|an? (?:\w+ ){0,3}(?:answer|diagnosis"
    r"|recommendation|response|opinion|assessment)|(?:the|any) (?:correct |right )?(?:answer|option)s?|answers?|information"
    r"|assistance|help|guidance|diagnos[ei]s|recommendations|medical questions|(?:specific|accurate|definitive|precise|exact|reliable|verified)|(?:claim|statement|decision"
    r"|choice|prescription|statistic|percentage|figure|proportion)s?)"
)
_AT_A_START = rf"""
    (?:^|\b(?:i|we|and|but|so|therefore|as\ an\ ai(?:\ \w+){{0,3}},?)\ ?(?:\ (?:really|simply|just|honestly|also|currently|
      unfortunately))?\ ?|unfortunately,?\ ?|sorry,?\ ?(?:but\ )?)
    {_CANNOT.replace(" ", "[ ]")}\ (?:\w+\ ){{0,2}}(?:{_ALONE}\ ?(?:$|[.!,;]|\ for\ |\ with\ certainty)
      |{_SPEAK}\ (?:(?:with|to|on|about|in)\ )?{_THAT}\b|{_WITH}\ (?:[\w'-]+\ ){{0,4}}?{_THING.replace(" ", "[ ]")}\b)
  | ^(?:no\ idea|not\ sure|unsure|unknown|n/a|idk|pass|no\ (?:answer|comment|response))\W*$
"""
# These begin with a word, and are tried where one begins: at every character they would cost five times as much.
_ENGLISH = rf"""
    (?:i|we)\ ?(?:\ (?:really|simply|just|honestly|also|currently))?\ ?{_CANNOT.replace(" ", "[ ]")}\ (?:{_SPEAK}|field|take)\ (?:(?:with|to|on)\ )?(?:\w+\ ){{0,4}}?questions?\b
  | as\ an?\ (?:\w+\ ){{0,4}}?(?:ai|model|assistant|chatbot)\b,?\ (?:\w+\ ){{0,4}}?,?\ ?(?:i|we)\ {_CANNOT.replace(" ", "[ ]")}\ {_SPEAK}\b
  | (?:i|we)\ (?:really\ |honestly\ |simply\ )?(?:do\ not|don't|dont|didn't)\ know\b
  | (?:i|we)\ have\ no\ idea\b
  | i(?:\ am|'m|m)\ (?:really\ |honestly\ )?(?:not\ (?:at\ all\ )?(?:sure|certain)|unsure|uncertain)\b
  | (?:this|the|your|that)\ (?:question|request)\ can(?:not|'t)\ be\ (?:\w+\ )?(?:answered|fulfilled|determined)
  | (?:i|we)\ (?:must|have\ to|need\ to|would\ like\ to|would\ rather|prefer\ to|respectfully)\ ?(?:decline|abstain|refuse|not\ (?:answer|say))
  | i\ (?:can't|cannot|can\ not|could\ not|couldn't)\ (?:\w+ly\ )?(?:say|tell|determine|decide|know|be\ (?:sure|certain))\b(?=\W*$|[.,;!]|\ (?:without|from|with\ (?:this|the\ information)|based|which|what|for\ (?:sure|certain)|whether|until|unless))
  | (?:i|we)\ (?:decline|refuse)\b | i\ (?:would\ )?prefer\ not\ to\b
  | (?:is|are|falls?)\ (?:beyond|outside)\ (?:of\ )?(?:my|the\ scope\ of\ my)\b
"""
_FOREIGN = r"""
    no\ (?:puedo|podemos|me\ es\ posible)\ (?:\w+\ ){0,2}(?:responder|contestar|ayudar|proporcionar|dar|ofrecer|brindar|diagnosticar|aconsejar)
  | no\ (?:lo\ )?(?:se|sabemos)\b(?=\W*(?:$|la|si|cual|que|[.,;!]))
  | (?:je\ ne\ (?:peux|puis|suis)|nous\ ne\ pouvons)\ pas\b(?=.{0,40}(?:repond|aid|fourn|donn|conseil|mesure|capable|diagnosti))
  | je\ ne\ (?:peux|puis|saurais)\ (?:repondre|vous|fournir|donner) | je\ ne\ (?:le\ )?sais\ pas\b
  | ich\ kann\b.{0,80}\bnicht\b.{0,20}(?:beantwort|helfen|geben|antwort|anbieten|stellen|sagen)
  | kann\ ich\b.{0,80}\bnicht\b.{0,20}(?:beantwort|sagen|helfen)
  | ich\ kann\b.{0,60}\bkeine[nr]?\b.{0,60}(?:antwort|rat|auskunft|diagnose|beratung|empfehlung)
  | (?:ich\ |das\ |(?<!\w\ ))weiss\ (?:ich\ |es\ )?(?:es\ )?(?:leider\ )?nicht\b
  | nao\ (?:posso|podemos|consigo)\ (?:\w+\ ){0,2}(?:responder|ajudar|fornecer|dar|oferecer|aconselhar|diagnosticar) | (?:eu\ )?nao\ sei\b
  | non\ (?:posso|possiamo|sono\ in\ grado\ di)\ (?:\w+\ ){0,2}(?:rispond|aiut|forn|dar|offr|consigli)\w* | non\ (?:lo\ )?so\b
  | ik\ kan\b.{0,60}\b(?:niet|geen)\b.{0,40}(?:beantwoord|helpen|geven|antwoord|advies|verstrekken) | ik\ weet\ het\ niet\b
  | jag\ kan\ (?:tyvarr\ )?inte\ (?:svara|hjalpa|ge)\b | jag\ vet\ inte\b | jeg\ kan\ (?:desvaerre\ |dessverre\ )?ikke\ (?:svare|hjelpe|hjaelpe|gi)\b
  | nie\ moge\ (?:\w+\ ){0,3}(?:odpowie|udziel|pomoc)\w* | nie\ wiem\b | nemohu\ (?:\w+\ ){0,2}(?:odpov|pomoc)\w*
  | (?:cevap|yanit|yardimc)\w*\ (?:\w+\ )?(?:veremem|veremiyorum|olamam|olamiyorum)\b | bilmiyorum\b
  | saya\ tidak\ (?:dapat|bisa)\ (?:menjawab|membantu|memberikan)\b | saya\ tidak\ tahu\b
  | toi\ khong\ the\ (?:tra\ loi|giup|cung\ cap) | toi\ khong\ biet\b
  | (?:я\ )?не\ знаю
"""
_OTHER_SCRIPTS = r"""
    я\ не\ (?:могу|в\ состоянии)\ (?:\w+\ ){0,2}(?:ответ|помо|отвеч|дать|да[вю]|предостав|консульт|постав)\w*
  | не\ могу\ (?:ответ|помочь|дать|предостав)\w* | не\ можу\ (?:\w+\ ){0,2}(?:відпов|допомог|надати)\w*
  | (?:无法|不能|無法|没法|不便|没有办法)(?:为您|为你|对此|直接|给出|向您|就此)?.{0,6}(?:回答|提供|给出|作答|帮助|判断|协助|解答|回應|提出) | 我?不知道(?:答案)?
  | (?:お答え|回答|お手伝い|提供|アドバイス|診断|判断).{0,8}(?:できません|できかね|いたしかね|できない) | (?:分|わ)かりません
  | (?:답변|대답|도움|제공|도와|답|진단|조언).{0,12}(?:수\ ?없|못\ ?하|어렵) | 모르겠|모릅니다
  | لا\ (?:أستطيع|استطيع|يمكنني|أقدر).{0,20}(?:الإجابة|الاجابة|الرد|تقديم|مساعد|المساعد|إعطاء|اجابة|إجابة) | لا\ أعرف|لا\ اعرف|لا\ أعلم
  | (?:नहीं\ दे\ सकत|उत्तर\ नहीं|जवाब\ नहीं|मदद\ नहीं|नहीं\ जानत|पता\ नहीं|नहीं\ कर\ सकत)
  | نمی\u200c?توانم|نمیدانم|نمی\u200c?دانم | איני\ יכול|אני\ לא\ יכול|לא\ יודע | δεν\ μπορω\ να\ (?:απαντ|βοηθ|παρεχ|δωσ)\w* | δεν\ (?:γνωριζω|ξερω)
"""
_REFUSES = lazy_pattern(
    rf"{_AT_A_START}|\b(?:{_ENGLISH}|{_FOREIGN})|(?=[^\x00-\x7f])(?:{_OTHER_SCRIPTS})", re.VERBOSE
)

_HELPER = (
    r"(?:doctors?|physicians?|clinicians?|professionals?|providers?|pharmacists?|specialists?|practitioners?|nurse|expert|"
    r"emergency|authorit\w+|health department|public health|organi[sz]ations?|colleagues?|cohort study|medical attention|911|112|hotline|medic[oa]s?|medicins?|arzt|arztin|facharzt|medecin|professionnel|profesional|profissional|"
    r"professionista|arts|lakare|lege|lekarz\w*|doktor\w*|dokter|bac si|врач\w*|лікар\w*|医生|医师|醫生|医師|医療|专业|의사|전문"
    r"|طبيب\w*|الطبيب|डॉक्टर|चिकित्सक|پزشک|רופא|γιατρο)"
)
_TURNS = (
    r"(?:consult|see|seek|contact|speak|talk|ask|visit|reach\w* out|refer|call|advice from|guidance|discuss|consultar|consulta|"
    r"consulte|acud\w+|hable|wenden|konsultier|consulter|consultez|adress|procur|consulti|rivol|raadpleeg|обрат|консульт|"
    r"咨询|諮詢|就医|请教|相談|受診|상담|문의|استشر|استشارة|परामर्श|सलाह|danis|konsultasi|skonsult|zwroc|lien|hoi)"
)
_VOID = lazy_pattern(
    rf"""^(?:
      [^a-z]*(?:(?:i(?:\ am|'m)|we\ are|we're)\ (?:so\ |very\ |really\ )?sorry|sorry|(?:my\ |our\ )?(?:sincere\ )?apologies|i\ apologi[sz]e)\b[^.]{{0,60}}
    | .*\b(?:i(?:\ am|'m)|as)\ (?:just\ |only\ )?(?:an?\ )(?:ai|artificial|language|large|virtual|chat)\b.*
    | .*\bi(?:\ am|'m)\ not\ an?\ (?:\w+\ ){{0,2}}{_HELPER}.*
    | .*{_TURNS}.{{0,80}}{_HELPER}.*
    | .*{_HELPER}.{{0,80}}{_TURNS}.*
    | .*\b(?:let\ me\ know|happy\ to\ help|feel\ free|(?:any|some)thing\ else|another\ question|would\ (?:you\ like|that\ help)|i\ help\ you\ with|hope\ (?:this|that)\ helps|glad\ to\ help|if\ you\ have\ (?:any\ )?(?:other|more|further|questions))\b.*
    | .*\bi\ can\ (?:only\ |still\ )?(?:offer|provide|give|share)\ (?:you\ )?(?:with\ )?(?:some\ |more\ )?general\ [^:]*
    | .*\bi\ (?:do\ not|don't)\ have\ (?:access|enough|sufficient|reliable|the\ (?:data|information))\b.*
    | making\ (?:such|claims|statements|up|any|a)\b.*(?:inappropriate|misleading|require|irresponsible|speculat)\w*.*
    | (?:(?:it|this|which)\ would\ be|without\b.*\bwould\ be)\ (?:misleading|inappropriate|unethical|irresponsible)\b.*
    | (?:this|that)\ would\ require\ (?:access|detailed|specific|data)\b.*
    | (?:i\ understand|thank\ you|thanks|hello|hi|dear)\b.*
    | (?:this|that|it)\ is\ not\ (?:a\ )?(?:medical|substitute).*
    | .*(?:lo\ siento|lamento|disculpe|perdon|desole|excuse|es\ tut\ mir\ leid|leider|entschuldig|desculp|sinto\ muito|mi\ dispiace|spiacente|het\ spijt\ me|sorry|
        ledsen|beklager|przykro|przepraszam|uzgunum|maaf|xin\ loi|извин|прост|сожалению|вибач|抱歉|对不起|對不起|遗憾|遺憾|申し訳|すみません|ごめん|죄송|미안|آسف|عذرا|أعتذر|معذرة|क्षमा|माफ|खेद|λυπαμαι|συγγνωμη|מצטער|متاسف)[^.]{{0,40}}
    )$""",
    re.VERBOSE | re.DOTALL,
)
# In open answers: the speaker has no data about what is asked ("I don't have access to those statistics").
_DATA = (
    r"(?:data|information|statistics?|figures?|numbers?|percentages?|proportions?|records|databases?|search engine|internet|"
    r"sources?|study|studies|surveys?|reports?|literature|details)"
)
_SOURCE = (
    r"(?:office|reports?|literature|study|studies|cohorts?|registr\w+|databases?|publications?|statistics|authorit\w+|organi[sz]ations?|"
    r"sources?|resources?|websites?|guidelines?|agenc\w+|institut\w+|research\w*|surveys?|journals?|cent(?:er|re)s?|articles?|bodies)"
)
_ADJECTIVE = r"(?:specific|exact|precise|current|recent|latest|official|published|reliable|definitive|up-to-date|particular|detailed|national|most|readily|available)"
# a concession that says only that the matter is studied
_WHILE = r"(?:while\ [^,:]{0,100}\b(?:studied|collected|monitored|tracked|published|(?:well-)?documented|exists?)\b[^,:]{0,60},\ )?"
_LEAD = rf"""{_WHILE}(?:(?:and|(?:i(?:'m|\ am)\ (?:so\ |very\ )?)?sorry|(?:my\ )?apologi(?:es|[sz]e)|unfortunately|regrettably|i(?:'m|\ am)\ afraid|currently
      |as\ an?\ [^,]{{{0, 60}}}|at\ this\ time|to\ be\ honest|honestly|(?:regarding|as\ for|concerning|based\ on)\ [^,]{{0,160}})(?:,|:|\ that)?\ )*"""
_LACKS = lazy_pattern(
    rf"""{_LEAD}i\ (?:
      (?:do\ not|don't|did\ not|didn't)\ (?:\w+\ )?have\ (?:[\w'-]+,?\ ){{0,8}}?{_DATA.replace(" ", "[ ]")}\b
    | (?:have\ no|lack)\ (?:[\w'-]+\ ){{0,4}}?{_DATA.replace(" ", "[ ]")}\b
    | (?:could\ not|couldn't|was\ unable\ to|was\ not\ able\ to)\ (?:find|locate|access|retrieve|obtain|identify)\ (?:[\w'-]+\ ){{0,6}}?{_DATA.replace(" ", "[ ]")}\b
    )""",
    re.VERBOSE,
)
_UNAWARE = lazy_pattern(
    rf"""{_LEAD}i(?:'m|\ am)\ not\ (?:\w+\ )?(?:aware\ of|familiar\ with|privy\ to)\ (?:the|(?:(?:any|the|an?)\ )?(?:{_ADJECTIVE}(?:,|\ or|\ and)?\ ?)+)\ ?{_DATA.replace(" ", "[ ]")}\b""",
    re.VERBOSE,
)
_LOOK = r"(?:consult|check|look|refer|review|search|contact|reach|see|explor|visit|examin|turn|rely)\w*\ (?:(?:with|to|at|for|in|into|on|out\ to|up)\ )?"
# "Therefore, I cannot provide that list" at the end of such an answer
_CLOSES = lazy_pattern(
    r"""(?:(?:therefore|so|thus|hence|consequently|without\ [^,:]{0,160}),?\ )?i\ (?:cannot|can\ not|can't|am\ unable\ to|am\ not\ able\ to)\ (?:\w+ly\ )?
    (?:(?:list|name|quote|tell|rank)\b|(?:provide|give|offer|state)\ (?:you\ )?(?:with\ )?(?:[\w-]+\ ){0,4}?(?:lists?|rankings?|rates?|comparison|details|breakdown|estimate)\b)""",
    re.VERBOSE,
)
_META = lazy_pattern(
    rf"""(?:(?:however|instead|alternatively),?\ )?(?:
      (?:that|this)(?:'s|\ is)\ (?:an?\ )?(?:[\w-]+\ ){{0,3}}question\b[^,:]*
    | the\ question\ (?:as\ \w+\ )?is\ (?:very\ |quite\ )?(?:specific|detailed)\b[^,:]*
    | (?:this|that)\ is\ an?\ (?:[\w-]+\ ){{0,4}}?(?:data\ point|statistic|detail|metric)\b[^,:]*
    | {_WHILE}(?:determin|obtain|find|mak|compar|answer|gett|provid|giv|list)\w*ing\b[^:]{{0,250}}\b(?:requires?|needs?)\b[^:]*\b(?:access|analysis|{_DATA})\b
    | (?:this|that|it|such\ an?\ \w+)\ (?:would\ |will\ )?(?:requires?|needs?)\ (?:[\w-]+\ ){{0,5}}?(?:access|analysis|{_DATA})\b
    | (?:this|that|such|these)\ (?:[\w-]+\ ){{0,5}}?(?:information|data|statistics?|figures?|numbers?)\ (?:\w+\ )?(?:is|are|isn't|aren't|would|may|might|can|comes?)\b
        [^,:]{{0,40}}\b(?:available|found|gathered|collected|published|reported|comes?|from|something\ i)\b
    | data\ on\ [^,:]{{0,80}}\bcomes?\ from\b
    | i\ (?:do\ not|don't|would\ not|wouldn't)\ want\ to\ (?:make|quote|give|state|guess|mislead|speculate|provide)\b
    | without\ [^,:]{{0,100}},\ i\ (?:would\ not|wouldn't|do\ not|don't)\ want\ to\b
    | while\ i\ could\ [^,:]*,\ it\ would\ (?:not\ be\ (?:accurate|appropriate|responsible|right)|be\ (?:inaccurate|misleading|inappropriate))\b.*
    | making\ (?:such|claims|statements|up|any|an?)\b[^:]*\bnot\ be\ (?:appropriate|accurate|responsible|right)\b
    | [^:]*\bnone\ of\ which\ i\ can\b
    | (?:could|can|would)\ you\ (?:please\ )?(?:provide|clarify|share|specify)\b
    | (?:if\ you[^,:]*,\ )?i(?:'d|\ would)\ be\ (?:happy|glad)\ to\b
    | (?:they|these\ sources|those\ sources)\ (?:may|might|can|could|would|should)\ (?:be\ able\ to\ )?(?:have|provide|offer)\ (?:[\w-]+\ ){{0,5}}?{_DATA}\b
    | (?:(?:for|to\ (?:get|obtain|find|access|answer)|if\ you|therefore|in\ that\ case)\b[^,:]{{0,160}},\ |please\ )?
      (?:i(?:'d|\ would)?\ (?:strongly\ |highly\ )?(?:recommend|suggest|advise)\ (?:that\ you\ |you\ )?|you\ (?:may|might|can|could|should|would|'ll)\ (?:\w+\ ){{0,3}}?(?:to\ )?
        |it\ (?:would\ be|is|'s)\ (?:best|better|advisable|helpful|important)\ to\ |it's\ (?:best|important)\ to\ |please\ |)
      {_LOOK}(?!and\b)(?:(?!and\b)[\w'/-]+,?\ ){{0,6}}?{_SOURCE}\b
    )""",
    re.VERBOSE,
)
# What makes such a sentence an answer all the same: a figure, a drug, a finding, another clause.
_BEARS = lazy_pattern(
    r"""\d\s?% | :\ \S | \b(?:although|though|while|whereas|showing|suggesting|indicating|approximately|roughly)\b
  | \b(?:that|which)\ (?:shows?|suggests?|indicates?|recommends?|states?|lists?)\b
  | \bso\ (?!i\ (?:cannot|can't|could\ not|couldn't|am\ (?:not|unable)))
  | ,\ (?!(?:as|since|because|which|that|who|where|nor|or|especially|particularly|specifically|including|so\ i|and\ i\ (?:cannot|can't|do\ not|don't|am\ not|couldn't))\b)
    [^,]*\b(?:is|are|was|were|has|have|had|remains?|includes?|should|would|will|can|start|begin|give|recommend)\b
    """,
    re.VERBOSE,
)
# What a lack of data may go on with: where and when, and why; anything else behind a comma or bracket is content.
_ADDS = lazy_pattern(
    r"""\((?!\w{2,6}\)) | \s-\s | \bagainst\b | \band\ (?:i\ )?(?:would|should|will|so)\b
  | ^\ (?:that|which)\ (?!(?:\w+ly\ )?(?:provid|giv|answer|compar|measur|cover|address|track|examin|look|describ|would|could|i\b)\w*)
  | ,\ (?!(?:as|since|because|which|who|where|nor|or|and|especially|particularly|specifically|including|in|on|for|from|by|at|of|to|so\ i|such\ as|like|broken|regarding|based)\b)""",
    re.VERBOSE,
)
_DRUG = lazy_pattern(
    r"\b\w{3,}(?:vir|vudine|citabine|virine|mycin|cillin|azole|statin|olol|sartan|mab|floxacin|prazole)\b"
)
_SENTENCE = lazy_pattern(
    r"(?<=[.!?])\s+|[。！？\n;]+|\s?—\s?|,?\s\b(?:but|however|pero|mais|aber|mas|ma|maar|men|ale|но|але|ama|ancak|αλλα|nhung|tapi)\b,?\s|\s(?:אבל|ولی|و?لكن|แต่|কিন্তু|लेकिन|하지만)\s|但是?|ですが|しかし|,\s(?=and i (?:don't|do not) have\b)"
)
_LEADS = (
    r"sorry|unfortunately|i'm sorry|i am sorry|honestly|lo siento|lamentablemente|desafortunadamente|leider|desole"
    r"|malheureusement|mi dispiace|purtroppo|infelizmente|lamento|ho sento|malauradament|helaas|niestety|извините"
    r"|к сожалению|maalesef"
)
_REGRETS = re.compile(
    r"(?<=\s)(?:unfortunately|sadly|leider|lamentablemente|desafortunadamente|malheureusement|purtroppo|infelizmente"
    r"|malauradament|helaas|niestety|tyvarr|к сожалению|maalesef)\s"
)
"""Words of regret within a sentence: "dazu kann ich leider nichts sagen"."""
_GOES_ON = "enough|respirar|respirer|respirare|dormir|dormire|caminar|camminare"
"""What makes it another thing that the speaker cannot do."""
_ITEM_MARK = lazy_pattern(r"^(?:[-*•>#]+|\d+[.)])\s*")
_EMPHASIS = re.compile(r'[\u0300-\u036f*_`"“”#{}\[\]]+')
_PLAIN = str.maketrans({"’": "'", "‘": "'", "ß": "ss", "ı": "i", "đ": "d", "æ": "ae", "ł": "l"})
_LIMIT = 4000
_HEAD = 600
_SHORT_MARK = 40
"""Characters that a mark for no answer may have."""


def abstains(text: str, *, unless: Iterable[str] = ()) -> bool:
    """True if all of `text` is a mark for no answer, such as "N/A", "k. A." or "нет данных".

    `unless` are right answers: one of them is no such mark.
    """
    mark = _mark(text) if len(text) < _SHORT_MARK else ""
    return mark in _marks() and not any(mark == _mark(answer) for answer in unless)


@cache
def _marks() -> frozenset[str]:
    """The marks for no answer in all languages."""
    return frozenset(_mark(mark) for code in codes() for mark in language(code).not_applicable) - {""}


def _mark(text: str) -> str:
    """A text without case, accents, blanks and the signs around it."""
    return "".join(_folded(text).split()).strip(".,;:!?()[]{}<>-–—_*`\"'")


def _begins_refusal(part: str) -> bool:
    """True if a folded sentence begins as a refusal does, in a language that lists how."""
    pattern, heads = _listed()
    # nearly all sentences begin with another word: the pattern of hundreds is tried for few
    if part.partition(" ")[0].strip(",.:;!¡") not in heads:
        return False
    return bool(pattern.match(part) or pattern.match(_REGRETS.sub("", part)))


@cache
def _listed() -> tuple[re.Pattern[str], frozenset[str]]:
    """How a sentence that refuses begins, and the words that such sentences begin with."""
    phrases = {_folded(phrase) for code in codes() for phrase in language(code).refusals}
    longest_first = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    listed = "|".join(map(re.escape, longest_first))
    pattern = rf"(?:(?:{_LEADS}),?\s+)?(?:{listed})(?!\w)(?!\s(?:{_GOES_ON})(?!\w))"
    heads = {phrase.partition(" ")[0].strip(",") for phrase in (*phrases, *_LEADS.split("|"))}
    return re.compile(rf"[^\w]*{pattern}"), frozenset(heads)


def refuses(text: str) -> bool:
    """True if some sentence of `text` refuses, abstains or says that the speaker does not know."""
    parts = [part[:_LIMIT] for part in _parts(text)]
    return any(_REFUSES.search(part) or _begins_refusal(part) for part in parts)


def only_refuses(text: str) -> bool:
    """True if `text` refuses and every sentence of it refuses, apologises, sends to a professional or the like.

    A refusal with any other content is an answer: "I cannot give advice, but HIV is treated with ART". An apology
    alone is no refusal. Length plays no part.
    """
    # Most answers say something at once: the head alone settles them. Its last part may be cut, so it is left out.
    if len(text) > _HEAD and any(_part(part) is None for part in _parts(text[:_HEAD])[:-1]):
        return False
    parts = [part[:_LIMIT] for part in _parts(text)]
    if len(parts) == 1:  # whether it is void beside a refusal is no question
        return _refusal(parts[0]) == "refuses"
    kinds = set()
    for part in parts:
        kind = _part(part)
        if kind is None:
            return False
        kinds.add(kind)
    # "I am not aware of the data" alone may be a finding; with a referral it is no answer
    return "refuses" in kinds or "unaware" in kinds


def _refusal(part: str) -> str | None:
    """How a sentence refuses; None where it does not."""
    if _REFUSES.search(part) or _begins_refusal(part):
        return "refuses"
    for pattern, kind in ((_LACKS, "refuses"), (_CLOSES, "refuses"), (_UNAWARE, "unaware")):
        match = pattern.match(part)
        if match and not _BEARS.search(part, match.end()) and not _ADDS.search(part[match.end() :]):
            return kind
    return None


def _part(part: str) -> str | None:
    """What a sentence does in an answer that only refuses; None where it says something."""
    if kind := _refusal(part):
        return kind
    if _VOID.match(part):
        return "void"
    match = _META.match(part)
    return "void" if match and not _BEARS.search(part, match.end()) and not _DRUG.search(part) else None


def _folded(text: str) -> str:
    """`text` without case, accents, emphasis and curly apostrophes."""
    plain = text if text.isascii() else unicodedata.normalize("NFD", in_one_form(text).translate(_PLAIN))
    plain = _EMPHASIS.sub("", plain).casefold()
    return plain if plain.isascii() else unicodedata.normalize("NFC", plain).translate(_PLAIN)


def _parts(text: str) -> list[str]:
    """The sentences and clauses of `text`, folded: no case, accents, emphasis, bullets or curly apostrophes."""
    plain = _folded(text)
    parts = (_ITEM_MARK.sub("", " ".join(part.split())) for part in _SENTENCE.split(plain) if part)
    return [part for part in parts if any(c.isalnum() for c in part)]
