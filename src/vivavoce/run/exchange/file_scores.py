"""The scores that a file gives to its own answers: which of its columns hold them, and what a row says."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from vivavoce.benchmarks.column_names import FIELDS, folded
from vivavoce.core.errors import InputError, suggest

NONE = "none"
"""`--criteria none`: no column holds scores of the answers."""

_SURE_WORDS = """
correct iscorrect correctness accuracy acc score scores em exactmatch f1 grade grades graded judge judged
judgement judgment verdict rating mark marks bleu rouge rougel bertscore meteor
korrekt richtig bewertung punkte punktzahl wertung
correcto correcta acierto puntuacion puntaje exactitud correcte exactitude
correto correta acerto acuracia pontuacao nota corretto punteggio
正确 是否正确 准确率 得分 评分 评估 判断结果 回答是否正确 正誤 正誤判定 得点 スコア 採点
"""
"""Words of a column's name that say that it holds scores of answers."""
_PERHAPS_WORDS = """
match matched matches right ok hit pass passed success successful valid result results reward eval evaluation
outcome
"""
"""Words that say so of some columns; of others they tell of a request or of a run."""
_OTHER_WORDS = """
confidence conf prob probability probabilities logprob logprobs likelihood perplexity difficulty id idx index
n num number count total sum max min threshold cutoff weight std stderr sd se var ci low high rank time
latency tokens cost prompt
reason reasoning explanation rationale comment text type key label letter option category
split seed temperature language sentiment toxicity similarity retrieval question passage context chunk
average averages avg mean median rate baseline chance national nation population class cohort p_value
durchschnitt durchschnittlich durchschnittliche mittel mittelwert mittlere quote anteil bundesweit bundesweite
nacional promedio media medio mediana tasa porcentaje taxa nazionale
nationale moyen moyenne mediane taux pourcentage
"""
"""Words of a name that say that a column holds something else than scores of answers."""
_PEOPLE_WORDS = """
human humans people person persons expert experts student students pupil pupils examinee examinees candidates
participant participants respondents physician physicians doctor doctors clinician clinicians residents
mensch menschen menschlich menschliche experte experten student studenten studierende studierenden schuler
prufling pruflinge teilnehmer arzte
humano humana humanos humanas personas gente experto experta expertos expertas estudiante estudiantes alumno
alumna alumnos alumnas aspirantes medicos especialistas estudantes umano umana studenti esperti
humain humaine humains humaines personnes etudiant etudiante etudiants etudiantes eleve eleves medecins
"""
"""Words of people: how well they answer is of the question, and how they rate is of the answer."""
_RATING_WORDS = """
rating grade grades graded judge judged judgement judgment verdict bewertung wertung
"""
_TRUE = """
true yes y t correct right pass passed ✓ ✔ 是 对 正确 正解 はい ○
ja richtig korrekt sí si correcto oui vrai correcte sim correto
"""
_FALSE = """
false no n f incorrect wrong fail failed ✗ ✘ 否 错 错误 不正确 不正解 いいえ ×
nein falsch inkorrekt incorrecto non faux incorrecte não nao
"""
_SURE, _PERHAPS, _OTHER = (frozenset(words.split()) for words in (_SURE_WORDS, _PERHAPS_WORDS, _OTHER_WORDS))
_PEOPLE, _RATING = frozenset(_PEOPLE_WORDS.split()), frozenset(_RATING_WORDS.split())
_WORDS = dict.fromkeys(_TRUE.split(), 1.0) | dict.fromkeys(_FALSE.split(), 0.0)
_SHARE = re.compile(r"\+?\d*[.,]?\d+(?:e-?\d+)?\s*%?", re.IGNORECASE)
_PARSED = re.compile(
    r"(?:(?:parsed|extracted|pred|predicted|model|chosen|selected|picked)_)?"
    r"(?:answer|letter|option|choice|label|pred|prediction|response)(?:_(?:parsed|extracted|letter))?"
    r"|pred|predicted|parsed|extracted|extraction|picked|chosen|selected|filtered_resps?|filtered_response"
)
_EMPTY = frozenset(
    (
        *("", "none", "null", "nan", "n/a", "na", "invalid", "[invalid]", "unknown", "unparsed"),
        *("unparsable", "unparseable", "parse error", "parse_error", "parsing error", "not found"),
        *("no answer", "no match", "error", "?", "-", "--", "-1", "[]", "failed"),
    )
)
"""What stands in place of an answer that was not read."""


def names_scores(column: str) -> bool | None:
    """Whether the name of a column says that it holds scores of answers; null where it may.

    The last part of a dotted name counts: `metrics.exact_match`.
    """
    name = folded(column.rpartition(".")[2] or column)
    words = {*name.split("_"), name}
    if words & _OTHER or (words & _PEOPLE and not words & _RATING):
        return False
    if words & _SURE or "exact_match" in name:
        return True
    return None if words & _PERHAPS else False


def score_value(value: Any) -> float | None:
    """A score from 0 to 1: a truth value, a number, a share in percent, or a word; null for an empty cell.

    Raises `ValueError` for anything else.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return _score_word(value.strip().casefold())
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(value)
    return float(value)


def _score_word(word: str) -> float | None:
    """The score that a word or a number as text is. Raises `ValueError` for another text."""
    if word in _WORDS or word in ("", "nan", "null", "none"):
        return _WORDS.get(word)
    if not _SHARE.fullmatch(word):
        raise ValueError(word)
    number = float(word.rstrip("% ").replace(",", ".")) / (100 if word.endswith("%") else 1)
    return score_value(number)


def are_scores(values: Sequence[Any]) -> bool:
    """Whether all of these values are scores, and one of them is there."""
    try:
        scores = [*map(score_value, values)]
    except ValueError:
        return False
    return any(score is not None for score in scores)


_TRUTHS = re.compile(r"\W*(true|false|yes|no|ja|nein|wahr|falsch|vrai|faux|oui|non|s[ií]|verdadero|falso)\b")


def are_truths(values: Sequence[Any]) -> bool:
    """Whether all of these values begin with yes, no, true or false, and one is there."""
    return bool(values) and all(_TRUTHS.match(str(value).casefold()) for value in values)


def scale_of(values: Sequence[Any]) -> tuple[float, float] | None:
    """The least and the greatest of values that are all numbers; null for others."""
    numbers = [float(value) for value in values if _is_number(value)]
    return (min(numbers), max(numbers)) if numbers and len(numbers) == len(values) else None


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return bool(re.fullmatch(r"\s*[+-]?\d+(?:\.\d+)?\s*", value))
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e300 < value < 1e300


def parsed_column(columns: Sequence[str], values_of: Callable[[str], Sequence[Any]]) -> str | None:
    """Of the columns the one that holds the answer as the file read it; null for none, and for several."""
    likely = [column for column in columns if _PARSED.fullmatch(folded(column))]
    likely = [column for column in likely if any(not is_unparsed(value) for value in values_of(column))]
    return likely[0] if len(likely) == 1 else None


def is_unparsed(value: Any) -> bool:
    """Whether a cell says that the file read no answer."""
    return value in (None, []) or str(value).strip().casefold() in _EMPTY


def check_columns(named: Sequence[str], columns: Sequence[str]) -> None:
    """Raise `InputError` for a column that was named to hold scores and is not there."""
    for name in named:
        if name not in columns:
            raise InputError(
                f"no column {name!r} with the file's scores of its answers.{suggest(name, list(columns))}"
            )


def is_key_name(column: str) -> bool:
    """Whether a column of this name may hold the key, or the reference answer, of a question."""
    names = ("answer", *FIELDS["answer"].others, "references", *FIELDS["references"].others)
    return folded(column) in names
