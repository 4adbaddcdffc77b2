"""Columns with people's scores of answers: which rater and which criterion a name says, and what is open."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse, pairwise
from typing import Any, NamedTuple

from vivavoce.benchmarks.column_names import folded
from vivavoce.core.errors import InputError, suggest
from vivavoce.run.exchange.file_scores import is_key_name, names_scores, scale_of, score_value
from vivavoce.run.exchange.wide_tables import MODEL_FAMILIES

VALUE = "value"
"""The criterion of a column that names none."""
_RATER_WORDS = """
rater annotator reviewer assessor coder labeler labeller evaluator expert physician doctor clinician nurse
specialist human radiologist pharmacist oncologist adjudicator
gutachter gutachterin bewerter bewerterin beurteiler beurteilerin prufer pruferin arzt arztin experte expertin
kodierer kodiererin fachperson
evaluador evaluadora anotador anotadora revisor revisora experto experta medico medica
evaluateur evaluatrice annotateur annotatrice relecteur relectrice medecin
avaliador avaliadora especialista valutatore valutatrice annotatore esperto esperta
评估者 评估人 评审 评审员 标注者 标注员 评分者 评分员 专家 医生
評価者 専門家 医師 採点者 アノテーター
"""
_EITHER_WORDS = """
judge grader scorer juez juge juiz annotation アノテーション
"""
"""Words of a person or a model: what stands in such columns with numbers is asked about."""
_OPEN_WORDS = """
label rating score grade bewertung wertung calificacion puntuacion evaluation nota avaliacao
评分 标注 評価 採点
"""
"""Words of a score: what stands in such columns with numbers is a rater's where the user says so."""
_NO_SCORE_WORDS = """
id ids idx index time times seconds minutes duration latency confidence conf age years experience count n num
number order position rank timestamp date session batch group answer answers response reason comment comments
note notes rationale name email weight choice choices option chosen start end begin birth born license licence
gender sex specialty specialization degree country salary cases
zeit dauer alter konfidenz sicherheitsgrad kommentar tiempo edad confianza comentario temps confiance
antwort begrundung auswahl beginn ende geburtsjahr jahrgang respuesta eleccion reponse choix resposta risposta
"""
_COMBINED_WORDS = """
mean median average avg sum total majority consensus gold final adjudicated agreement kappa alpha std sd var
min max all any both overall mittel mittelwert durchschnitt summe gesamt mehrheit konsens media promedio
mayoria consenso moyenne majorite model system llm ai gpt auto automatic of or oder agree agrees agreed
"""
"""Words of what is made of several people's scores, or of no person."""
_CRITERION_WORDS = """
accuracy clarity safety completeness relevance relevancy helpfulness fluency coherence factuality faithfulness
factual correct correctness harm harmfulness empathy tone bias conciseness readability usefulness quality
style comprehension reasoning format exact strict lenient fuzzy partial loose semantic lexical medical
clinical syntax answer context retrieval groundedness consistency understandability overall final raw norm
normalized normalised match letter option hallucination hallucinations omission omissions warmth trust depth
toxicity severity
bleu rouge chrf meteor bert bertscore em f1 precision recall sacre cider ter wer judge auto gpt llm
klarheit sicherheit vollstandigkeit relevanz verstandlichkeit richtigkeit korrektheit nutzen qualitat
claridad seguridad exhaustividad relevancia utilidad calidad precision
clarte securite completude pertinence utilite qualite
"""
"""Words of what is scored, or by which measure: names of no rater."""
_NO_NAME_WORDS = """
pre post train test dev dense sparse hybrid first second top best worst new old base input output prompt query
user assistant question response left right pos neg positive negative before after tokens cost price latency
logprob logprobs prob probability likelihood perplexity difficulty length words chars student students patient
patients correct incorrect true false yes no diagnosis diagnose diagnostico treatment tratamiento therapy
therapie management triage history topic domain national school
"""
"""Other words that name no rater."""
_RATERS, _EITHER = frozenset(_RATER_WORDS.split()), frozenset(_EITHER_WORDS.split())
_OPEN = _EITHER | frozenset(_OPEN_WORDS.split())
_PEOPLE = _RATERS | {"dr", "dra", "prof", "herr", "frau"}
_NO_SCORE, _COMBINED = frozenset(_NO_SCORE_WORDS.split()), frozenset(_COMBINED_WORDS.split())
_CRITERIA = frozenset(_CRITERION_WORDS.split())
_NO_NAMES = _CRITERIA | _COMBINED | _NO_SCORE | _OPEN | frozenset(_NO_NAME_WORDS.split())
_TOKEN = re.compile(r"\d+|[A-ZÀ-ÖØ-Þ]+(?![a-zß-öø-ÿ])|[A-ZÀ-ÖØ-Þ]?[^\W\d_A-ZÀ-ÖØ-Þ]+")
_NUMBER = re.compile(r"\d{1,2}|[a-h]|i{1,3}|iv")
_FIRST_LETTERS = (("a", "b"), ("i", "ii"))
_MOST_VALUES, _HIGHEST = 12, 100
"""So many values at most, and so high, has a scale of people; others are measurements."""
_EMPTY = frozenset(["na", "n/a", "n.a.", "#n/a", "<na>", "-", "--", "–", "—", ".", "?", "missing", "k.a."])
"""What stands in the place of a score that a person did not give."""


class RaterColumn(NamedTuple):
    """A column with the scores of one rater on one criterion."""

    column: str
    rater: str
    criterion: str = VALUE


class RaterColumns(NamedTuple):
    """The columns whose names say that people scored, and those whose names leave it open."""

    sure: tuple[RaterColumn, ...] = ()
    likely: tuple[RaterColumn, ...] = ()


class _Word(NamedTuple):
    """A word of a column's name, folded, and where it stands."""

    text: str
    start: int
    end: int


def people_score(value: Any) -> float | None:
    """A person's score: a number of any scale, a truth value or a word for one; null for an empty cell.

    Raises `ValueError` for anything else.
    """
    try:
        is_empty = isinstance(value, str) and value.strip().casefold() in _EMPTY
        return None if is_empty else score_value(value)
    except ValueError:
        number = scale_of([value.replace(",", ".") if isinstance(value, str) else value])
        if number is None:
            raise
        return number[0]


def scores_in(values: Sequence[Any]) -> set[float]:
    """The different scores that these values are; none where one of them is no score."""
    try:
        return {score for score in map(people_score, values) if score is not None}
    except ValueError:
        return set()


def rater_in(column: str) -> RaterColumn | None:
    """The rater that a column's name numbers, as `physician_1_score` does; null where it numbers none."""
    return _numbered(column, _RATERS)


def numbers_rater(column: str) -> bool:
    """Whether a column's name numbers a rater, and names no time, comment or mean of theirs."""
    return rater_in(column) is not None


def rater_columns(
    columns: Iterable[str], values_of: Callable[[str], Sequence[Any]], n_options: int = 0
) -> RaterColumns:
    """Which of the columns hold people's scores: numbered raters are sure, names and judges are likely.

    Whole numbers from 1 that may be what people chose of `n_options` are likely, where the name says no more.
    """
    columns = list(columns)
    scores = {column: scores for column in columns if (scores := scores_in(values_of(column)))}
    numbered = [rater for rater in _with_siblings(columns) if _is_scale(scores.get(rater.column), rater)]
    options = {*map(float, range(1, n_options + 1))}
    chosen = [r for r in numbered if r.criterion == VALUE and {1.0} != scores[r.column] <= options]
    few = [column for column, values in scores.items() if len(values) <= _MOST_VALUES]
    sure = tuple(filterfalse(chosen.__contains__, _distinct(numbered)))
    return RaterColumns(sure, (*chosen, *_likely(list(filterfalse(numbers_rater, few)))))


def _with_siblings(columns: Iterable[str]) -> list[RaterColumn]:
    """The numbered raters but for letters that count none: `physician_f` stands beside `physician_m`."""
    names = {rater: tuple(_texts(rater.rater)) for rater in filter(None, map(rater_in, columns))}
    series = {*names.values()}
    return [
        rater
        for rater, (*words, number) in names.items()
        if number.isdigit() or any({(*words, k) for k in pair} <= series for pair in _FIRST_LETTERS)
    ]


def _distinct(raters: Iterable[RaterColumn]) -> Iterator[RaterColumn]:
    """The raters, of whom one with two columns of a criterion has the second as another criterion."""
    first: dict[tuple[str, str], RaterColumn] = {}
    for rater in raters:
        is_first = first.setdefault(rater[1:], rater) is rater
        yield rater if is_first else rater._replace(criterion=folded(rater.column))


def _is_scale(scores: set[float] | None, rater: RaterColumn) -> bool:
    """Whether different scores may be of one scale; many of them only where the criterion is a known one."""
    if not scores or max(map(abs, scores)) > _HIGHEST:
        return False
    return len(scores) <= _MOST_VALUES or all(map(_is_known, rater.criterion.split("_")))


def _is_known(word: str) -> bool:
    """Whether a word names a criterion or scores."""
    return word in (VALUE, *_CRITERIA) or _is_person(word, _OPEN) or names_scores(word) is True


def _likely(columns: Sequence[str]) -> list[RaterColumn]:
    """Columns of judges with two numbers or more, and families of names beside a word for people.

    Without such a word a column that says scores is the file's own: its other word may be what is scored.
    """
    numbered = [rater for column in columns if (rater := _numbered(column, _EITHER))]
    likely = numbered if len({rater.rater for rater in numbered}) > 1 else []
    of_people = [column for column in columns if any(_is_person(word, _PEOPLE) for word in _texts(column))]
    return [*likely, *_families(of_people)]


def named_columns(words: Sequence[str], columns: Sequence[str]) -> list[RaterColumn]:
    """The raters of columns that the user names, each `COLUMN` or `RATER=COLUMN`.

    Raises `InputError` for a column that is not there, and for two of one rater and criterion.
    """
    named = [_split(word, columns) for word in words]
    bare = [column for rater, column in named if not rater]
    families = {rater.column: rater for rater in _families(bare, certain=True)}
    raters = [_named(rater, column, families) for rater, column in named]
    first: dict[tuple[str, str], str] = {}
    for rater in raters:
        column = first.setdefault((rater.rater, rater.criterion), rater.column)
        if column != rater.column:
            raise InputError(
                f"the columns {column!r} and {rater.column!r} would both be {rater.rater}'s "
                f"{rater.criterion}: write RATER=COLUMN for each."
            )
    return raters


def _split(word: str, columns: Sequence[str]) -> tuple[str, str]:
    rater, _, column = ("", "", word) if word in columns else word.partition("=")
    column = column or rater
    if column not in columns:
        raise InputError(f"no column {column!r} with people's scores.{suggest(column, list(columns))}")
    return ("" if rater == column else rater.strip()), column


def _named(rater: str, column: str, families: Mapping[str, RaterColumn]) -> RaterColumn:
    """The rater and criterion of a column, of which the user says the rater or nothing."""
    numbered = rater_in(column) or _numbered(column, _OPEN) or families.get(column)
    if not rater:
        return numbered or RaterColumn(column, column)
    words, name = _texts(column), _texts(rater)
    if numbered and not {*name} & {*words}:
        return numbered._replace(rater=rater)
    return RaterColumn(column, rater, _criterion([word for word in words if word not in name]))


def _words(column: str) -> list[_Word]:
    return [_Word(folded(match[0]), match.start(), match.end()) for match in _TOKEN.finditer(column)]


def _texts(column: str) -> list[str]:
    return [word.text for word in _words(column)]


def _numbered(column: str, people: frozenset[str]) -> RaterColumn | None:
    """The rater of a column whose name holds a word of `people` with a number or a letter behind it."""
    words = _words(column)
    texts = [word.text for word in words]
    for k, (word, number) in enumerate(pairwise(words)):
        remaining = [*texts[:k], *texts[k + 2 :]]
        if word.text not in people or not _NUMBER.fullmatch(number.text):
            continue
        is_article = number.text.isalpha() and not all(map(_is_known, texts[k + 2 :]))
        if is_article or {*remaining} & (_NO_SCORE | _COMBINED):
            return None
        return RaterColumn(column, column[word.start : number.end].strip(), _criterion(remaining))
    return None


def _is_person(word: str, people: frozenset[str]) -> bool:
    return word in people or word.removesuffix("s") in people


def _criterion(words: Iterable[str]) -> str:
    """The criterion of the words that name no rater; those of people in general say nothing more."""
    return "_".join(word for word in words if not _is_person(word, _PEOPLE)) or VALUE


def _families(columns: Sequence[str], *, certain: bool = False) -> list[RaterColumn]:
    """Columns of one criterion by names, as `anna_correct` and `ben_correct`, or of several by each name.

    Words that name a criterion are no raters. Without `certain` one criterion must be a word for scores or
    for people.
    """
    pairs = {column: pair for column in columns if (pair := _pair(column))}
    for k in (0, 1):
        by_criterion: dict[str, dict[str, str]] = defaultdict(dict)
        for column, pair in pairs.items():
            by_criterion[pair[1 - k]][pair[k]] = column
        family = {name: raters for name, raters in by_criterion.items() if _are_raters(raters)}
        if columns_of_raters := _raters_of(family if certain else dict(_scored(family))):
            return columns_of_raters
    return []


def _raters_of(family: Mapping[str, Mapping[str, str]]) -> list[RaterColumn]:
    return [
        RaterColumn(column, rater, _criterion(criterion.split("_")))
        for criterion, raters in family.items()
        for rater, column in raters.items()
    ]


def _pair(column: str) -> tuple[str, str] | None:
    """The first word of a name and what follows, or all before the last one and that, where there are two."""
    texts = _texts(column)
    if len(texts) == 3:  # `score_rater_anna`, `rater_anna_score`: the word for people says nothing more
        texts = [text for text in texts if not _is_person(text, _PEOPLE)]
    return (texts[0], texts[1]) if len(texts) == 2 else None


def _are_raters(names: Iterable[str]) -> bool:
    """Whether these words may be the names of two raters or more."""
    names = {*names}
    return len(names) > 1 and all(map(_is_name, names))


def _is_name(word: str) -> bool:
    """Whether a word may be somebody's name."""
    is_other = word in _NO_NAMES or MODEL_FAMILIES.fullmatch(word) or is_key_name(word)
    return word.isalpha() and not is_other and names_scores(word) is False


def _scored(family: Mapping[str, dict[str, str]]) -> Iterator[tuple[str, dict[str, str]]]:
    """Of the criteria with their raters those that are scored, by their words or as raters share them."""
    scored = [name for name in family if _says_scores(name)]
    for name, raters in family.items():
        is_shared = any(family[shared].keys() == raters.keys() for shared in scored)
        if name not in _NO_SCORE | _COMBINED and is_shared:
            yield name, raters


def _says_scores(criterion: str) -> bool:
    """Whether a word is one for a criterion, for scores or for people."""
    is_person = _is_person(criterion, _PEOPLE) or criterion in ("label", "labels")
    return is_person or criterion in _CRITERIA or names_scores(criterion) is True
