"""Words are letters with their marks; where no spaces divide them, they are characters."""

import re
import unicodedata

from tests.cases import each_case

from vivavoce.language.scripts import MARKS, WORD, main_script
from vivavoce.language.tokens import number_form
from vivavoce.language.words import clinical_tokens


def test_each_mark_that_this_python_knows_is_part_of_a_word_and_nothing_else_is():
    pattern = re.compile(f"[{MARKS}]")
    wrong = [
        f"{code:04x}"
        for code in range(0x300, 0x10000)
        if (kind := unicodedata.category(chr(code))) != "Cn"
        if (kind[0] == "M") != bool(pattern.match(chr(code)))
    ]
    assert [] == wrong


@each_case(
    ("text", "second"),
    [
        ("मुर्गी", "मिर्गी"),  # Hindi: hen, epilepsy
        ("ไข่", "ไข้"),  # Thai: egg, fever
        ("ຕາ", "ຕີ"),  # Lao: eye, hit
        ("கல்", "கால்"),  # Tamil: stone, leg
        ("মাথা", "মিথ্যা"),  # Bengali: head, lie
    ],
)
def test_words_that_differ_in_marks_alone_are_different_words(text, second):
    assert clinical_tokens(text) != clinical_tokens(second)


@each_case(
    ("text", "second"),
    [
        ("Ménière", "meniere"),
        ("الحُمَّى", "الحمى"),  # Arabic: the fever, with and without points
        ("שָׁלוֹם", "שלום"),  # Hebrew: peace, likewise
        ("é", "e\u0301"),
        ("ड़", "\u0921\u093c"),  # one Hindi letter in its two spellings
    ],
)
def test_accents_and_points_that_are_seldom_written_make_no_other_word(text, second):
    assert clinical_tokens(text) == clinical_tokens(second)


@each_case(
    ("text", "tokens"),
    [
        ("मुर्गी दौरे", "मुर्गी दौरे"),
        ("服用2mg阿司匹林", "服 用 2 mg 阿 司 匹 林"),
        ("CT检查", "ct 检 查"),
        ("アスピリン", "ア ス ピ リ ン"),
        ("ผู้ป่วย", "ผู้ ป่ ว ย"),
        ("抗-HIV", "抗 hiv"),
        ("발열이 있다", "발열이 있다"),
    ],
)
def test_a_run_without_spaces_is_its_characters_with_their_marks(text, tokens):
    assert tuple(tokens.split()) == clinical_tokens(text)


def test_pairs_of_characters_overlap_and_one_alone_stays():
    assert ("阿司", "司匹", "匹林", "2", "mg", "服") == clinical_tokens("阿司匹林 2mg 服", pairs=True)
    assert ("aspirin", "2", "mg") == clinical_tokens("aspirin 2mg", pairs=True)


def test_an_endless_word_of_marks_is_read_in_one_pass():
    text = "क" + "ि" * 200_000
    assert (text,) == clinical_tokens(text)
    assert re.fullmatch(WORD, text)


def test_the_script_of_a_text_is_that_of_most_of_its_letters():
    scripts = [
        "Latin",
        "Han",
        "Hiragana",
        "Devanagari",
        "Arabic",
        "Cyrillic",
        "Thai",
        "Hangul",
        None,
        "Latin",
    ]
    texts = ["flu", "CT检查肺部", "これは薬です", "मिर्गी", "حمى", "грипп", "ไข้", "발열", "12 %", "Ménière"]
    assert scripts == [main_script(text) for text in texts]


def test_a_number_is_in_plain_digits_and_no_text_is_none() -> None:
    plain = {"1,000.50": "1000.5", ".5": "0.5", "2,5": "2,5", "": ""}
    assert plain == {text: number_form(text) for text in plain}
