"""One option turned down and another chosen, and options turned down, in the words of many languages."""

from tests.cases import each_case
from tests.formats.test_reading import of

OPTIONS = {
    "en": ("Asthma", "Pneumonia", "Tuberculosis", "Pulmonary embolism"),
    "es": ("Asma", "Neumonía", "Tuberculosis", "Embolia pulmonar"),
    "de": ("Asthma", "Lungenentzündung", "Tuberkulose", "Lungenembolie"),
    "fr": ("Asthme", "Pneumonie", "Tuberculose", "Embolie pulmonaire"),
    "it": ("Asma", "Polmonite", "Tubercolosi", "Embolia polmonare"),
    "pt": ("Asma", "Pneumonia", "Tuberculose", "Embolia pulmonar"),
    "ca": ("Asma", "Pneumònia", "Tuberculosi", "Embòlia pulmonar"),
    "nl": ("Astma", "Longontsteking", "Tuberculose", "Longembolie"),
    "zh": ("哮喘", "肺炎", "肺结核", "肺栓塞"),
    "ja": ("喘息", "肺炎", "肺結核", "肺塞栓症"),
    "ko": ("천식", "폐렴", "결핵", "폐색전증"),
    "ar": ("الربو", "الالتهاب الرئوي", "السل", "الانصمام الرئوي"),
    "hi": ("दमा", "निमोनिया", "तपेदिक", "फुफ्फुसीय अन्तःशल्यता"),
    "ru": ("Астма", "Пневмония", "Туберкулёз", "Тромбоэмболия лёгочной артерии"),
    "tr": ("Astım", "Zatürre", "Verem", "Akciğer embolisi"),
    "pl": ("Astma", "Zapalenie płuc", "Gruźlica", "Zatorowość płucna"),
}


def letter(language: str, text: str) -> str:
    options = OPTIONS[language]
    reading = of("mcq", text, options)
    return "ABCD"[options.index(reading.parsed)] if reading.status == "ok" else reading.status


@each_case(
    ("language", "text", "want"),
    [
        ("zh", "不是A，而是B。", "B"),
        ("zh", "A、C、D均不正确，正确的是B。", "B"),
        ("zh", "应选择选项C", "C"),
        ("zh", "患者最可能患有肺结核。", "C"),
        ("ja", "AではなくDが正解です。", "D"),
        ("ja", "選択肢Cが正しい。", "C"),
        ("ko", "A가 아니라 B입니다.", "B"),
        ("ko", "A를 선택합니다.", "A"),
        ("ko", "보기 D가 맞습니다.", "D"),
        ("ar", "ليس أ بل ب.", "B"),
        ("hi", "A नहीं, बल्कि B सही है।", "B"),
        ("ru", "Не A, а B.", "B"),
        ("tr", "A değil, B.", "B"),
        ("tr", "Doğru cevap C şıkkıdır.", "C"),
        ("tr", "C seçeneği doğrudur.", "C"),
        ("pl", "Nie A, lecz B.", "B"),
        ("pl", "Odpowiedź A jest poprawna.", "A"),
        ("es", "Yo marcaría la A.", "A"),
        ("de", "Zutreffend ist (C) Tuberkulose.", "C"),
        ("fr", "C'est la A qui convient.", "A"),
        ("de", "Tuberkulose und nicht Asthma.", "C"),
        ("fr", "La tuberculose et pas l'asthme.", "C"),
    ],
)
def test_the_option_that_is_set_against_another_is_chosen(language: str, text: str, want: str) -> None:
    assert want == letter(language, text)


@each_case(
    ("language", "text"),
    [
        ("zh", "不是A、B。"),
        ("zh", "不考虑A、B、C"),
        ("tr", "A değil, B değil."),
        ("tr", "A, B değil."),
        ("ko", "A와 B가 아닙니다."),
        ("ru", "Не A, B и не C."),
        ("pl", "Nie A, B ani C."),
        ("de", "Weder A noch B."),
        ("de", "Eine Lungenentzündung ist auszuschließen."),
        ("nl", "Noch A noch B."),
        ("fr", "B est à écarter."),
        ("it", "La B è da scartare."),
        ("pt", "A letra B está errada."),
        ("pt", "Qualquer uma menos a B."),
        ("ca", "Tampoc és la C."),
        ("es", "La B es falsa."),
        ("es", "La B está equivocada."),
        ("es", "La tuberculosis no."),
        ("de", "Tuberkulose wäre falsch."),
        ("ca", "Cal evitar la tuberculosi."),
        ("nl", "Longontsteking is gecontra-indiceerd."),
        ("es", "La tuberculosis no explica la fiebre."),
        ("es", "En lugar de tuberculosis."),
        ("ca", "La pneumònia no està descrita."),
        ("fr", "La tuberculose n'explique pas la fièvre."),
        ("fr", "Au lieu de la tuberculose."),
        ("it", "La polmonite non spiega la febbre."),
        ("pt", "Em vez de tuberculose."),
        ("de", "Tuberkulose passt hier nicht."),
        ("nl", "Tuberculose past niet."),
        ("nl", "In plaats van tuberculose."),
        ("en", "B would be a mistake."),
        ("en", "Pneumonia ས"),
        ("ru", "<b>Туберкулёз</b> ሖ"),
    ],
)
def test_an_option_that_is_only_turned_down_is_not_chosen(language: str, text: str) -> None:
    assert "unreadable" == letter(language, text)


@each_case(
    ("text", "want"),
    [
        ("The answer is A.\n\nC", "unreadable"),
        ("Answer: A\n\nA. Asthma\nB. Pneumonia\nC. Tuberculosis\nD. Pulmonary embolism", "A"),
        ("The answer is A? No.\n\nThe answer is C.", "C"),
        ("The answer is B. In a smoker the answer would be A only with wheeze.", "B"),
        ("The answer would be B if he were older. The answer is C.", "C"),
        ("The answer would be C.", "C"),
    ],
)
def test_of_announcements_the_one_without_a_condition_counts(text: str, want: str) -> None:
    assert want == letter("en", text)


@each_case(
    ("language", "text", "want"),
    [
        ("fr", "Il faut penser à l'embolie pulmonaire.", "D"),
        ("fr", "L’asthme.", "A"),
        ("it", "La diagnosi è l'asma.", "A"),
        ("it", "Si tratta dell'embolia polmonare.", "D"),
        ("ca", "Es tracta de l'asma.", "A"),
        ("ko", "가장 가능성 높은 진단은 폐렴입니다.", "B"),
        ("ko", "결핵으로 생각됩니다.", "C"),
        ("tr", "En olası tanı zatürredir.", "B"),
        ("tr", "Doğru yanıt veremdir.", "C"),
        # turned down all the same
        ("fr", "Ce n'est pas l'asthme.", "unreadable"),
        ("it", "Non è l'asma.", "unreadable"),
        ("ko", "폐렴은 아닙니다.", "unreadable"),
        ("ko", "폐렴균입니다.", "unreadable"),
        ("tr", "Zatürredir demek yanlış.", "unreadable"),
    ],
)
def test_an_option_with_an_article_or_an_ending_attached_is_named(
    language: str, text: str, want: str
) -> None:
    assert want == letter(language, text)
