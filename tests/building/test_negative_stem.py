"""Negative stems: the word counts where the question asks by it, and not wherever it stands."""

import json

import pytest
from tests.cases import each_case

from vivavoce.core.errors import InputError
from vivavoce.systems.careqa import negative_stem

NEGATIVE = {
    "en": [
        ("Which of the following is NOT a cause of hyperkalaemia?", "not"),
        ("Which of the following is not a sign of meningitis?", "not"),
        ("Which of these drugs does not cross the placenta?", "not"),
        ("Which vaccine should not be given to a patient with HIV and 50 CD4 cells?", "not"),
        ("All of the following are causes of clubbing EXCEPT:", "except"),
        ("All of the following are true about gout, except", "except"),
        ("Regarding the Krebs cycle, indicate the incorrect statement:", "incorrect"),
        ("Which statement about asthma is false?", "incorrect"),
        ("Mark the FALSE answer.", "false"),
        ("Which of the following is incorrect?", "incorrect"),
        ("Which of these diagnoses is least likely?", "least"),
        ("A man of 60 has pain. Which of the following isn't a next step?", "not"),
        ("Which of the following would you not prescribe?", "not"),
        ("All but one are features of gout. Which is the exception?", "except"),
    ],
    "es": [
        ("Señale la respuesta INCORRECTA:", "incorrecta"),
        ("¿Cuál de las siguientes afirmaciones es falsa?", "incorrecta"),
        ("¿Cuál de los siguientes NO es un criterio de sepsis?", "no"),
        ("¿Cuál de los siguientes fármacos no produce hiperpotasemia?", "no"),
        ("Todas las siguientes son causas de acropaquias, EXCEPTO:", "excepto"),
        ("Respecto al asma, señale la opción incorrecta:", "incorrecta"),
        ("Todos los siguientes son signos de alarma salvo uno:", "excepto"),
        ("Indique cuál no es correcta:", "no"),
        ("¿Cuál de estos diagnósticos es el menos probable?", "menos"),
        ("¿Qué afirmación no es cierta sobre el asma?", "no"),
        ("De las siguientes, ¿cuál no debe solicitarse?", "no"),
        ("¿Cuál de los siguientes no se considera un criterio mayor de Duke?", "no"),
    ],
}
POSITIVE = {
    "en": [
        "Which vessel arises from the false lumen of the dissection?",
        "A child is not breathing. What is the first step?",
        "What is the first step in a child who is not breathing?",
        "Which drug is given to patients that do not respond to methotrexate?",
        "A false-positive test is most likely with which prevalence?",
        "He takes it every day except Sunday. Which drug is it?",
        "The patient could not walk. Which nerve is injured?",
        "Which drug is preferred because it does not cross the placenta?",
        "What is the mechanism by which beta-blockers do not cause reflex tachycardia?",
        "Which nerve supplies all the muscles of the larynx except the cricothyroid?",
        "The diagnosis was incorrect. Which test shows the right one?",
        "",
    ],
    "es": [
        "¿Qué rama nace de la luz falsa de la disección?",
        "Un niño no respira. ¿Cuál es el primer paso?",
        "¿Cuál es el primer paso en un niño que no respira?",
        "¿Cuál es la causa más frecuente de hemorragia subaracnoidea no traumática?",
        "¿Qué enzima forma el óxido nítrico (NO)?",
        "Con un falso positivo, ¿qué valor cambia?",
        "¿Cuál es el tratamiento de un paciente con cáncer de pulmón no microcítico?",
        "¿Qué hipoglucemiante elegiría si el paciente no tolera la metformina?",
        "¿Cuál de los siguientes linfomas no Hodgkin es más frecuente?",
        "El paciente no puede andar. ¿Qué nervio está lesionado?",
    ],
}


@each_case(("language", "text", "term"), [(k, *v) for k, vs in NEGATIVE.items() for v in vs])
def test_a_question_that_asks_for_what_is_wrong_is_negative(language, text, term):
    assert negative_stem(text, language)
    if term not in ("false", "incorrecta", "no", "excepto", "except", "not", "incorrect"):
        assert term == negative_stem(text, language)


@each_case(("language", "text"), [(k, v) for k, vs in POSITIVE.items() for v in vs])
def test_a_question_with_such_a_word_in_its_case_is_not(language, text):
    assert negative_stem(text, language) is None


def test_a_whole_text_in_capitals_shouts_at_nothing():
    assert negative_stem("WHAT IS THE TREATMENT OF A CHILD WHO IS NOT BREATHING?", "en") is None


def test_a_language_without_rules_is_refused():
    with pytest.raises(InputError, match="known in en and es"):
        negative_stem("Welche Aussage ist falsch?", "de")


def test_long_texts_take_time_that_grows_with_their_length_alone():
    for piece in ("which is ", "all the following ", "no que ", "except "):
        assert negative_stem(piece * 30_000 + "?", "en") is None or True
        assert negative_stem(piece * 30_000 + "?", "es") is None or True


def test_of_119_real_questions_those_that_ask_for_the_wrong_option_are_negative_and_no_other(shared):
    file = shared / "data" / "casimedicos" / "tests" / "en.test_casimedicos_No_Argument.jsonl"
    questions = [json.loads(line)["question"] for line in file.read_text(encoding="utf-8").splitlines()][::5]
    assert 119 == len(questions)
    negative = {k: term for k, text in enumerate(questions) if (term := negative_stem(text, "en"))}
    assert {8: "not", 19: "false", 73: "not", 76: "least", 93: "incorrect"} == negative  # looked at by hand
