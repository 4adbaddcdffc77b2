"""Which of a table's columns is which of our fields: by our name, by what others call it, or as mapped."""

import re
import shlex
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.benchmarks.table_options import ANSWERS, option_columns
from vivavoce.core.errors import InputError
from vivavoce.core.tables import Line, Lines


class Field(NamedTuple):
    """A field of ours: what it holds, in words for a sentence, and what others call its column."""

    meaning: str
    others: tuple[str, ...]


FIELDS: dict[str, Field] = {
    "item": Field(
        "the question's id",
        (
            *("id", "item_id", "question_id", "qid", "question_no", "prompt_id", "example_id", "sample_id"),
            *("encounter_id", "problem_id", "nr", "frage_id", "id_pregunta", "id_pergunta", "id_question"),
            *("编号", "序号", "题号", "问题编号", "题目编号", "问题id"),
            *("题目id", "番号", "問題番号", "設問番号", "問題id"),
        ),
    ),
    "question": Field(
        "the question",
        (
            *("prompt", "input", "query", "question_text", "instruction", "problem", "problem_text", "stem"),
            *("user_query", "user_input", "frage", "fragetext", "pregunta", "enunciado", "pergunta"),
            *("questao", "问题", "题目", "题干", "提问", "質問", "質問文", "問題", "問題文", "設問"),
        ),
    ),
    "messages": Field("the messages of a conversation", ("dialogue", "chat_messages")),
    "options": Field(
        "the options",
        (
            *("choices", "answer_options", "answer_choices", "possible_answers", "target_scores"),
            *("optionen", "antwortoptionen", "opciones", "alternativas", "opcoes", "choix"),
            *("选项", "選択肢"),
        ),
    ),
    "answer": Field(
        "the key",
        (
            *("key", "answer_key", "gold", "gold_answer", "correct", "correct_answer", "correct_option"),
            *("ground_truth", "target", "label", "expected", "expected_answer"),
            *("losung", "richtige_antwort", "korrekte_antwort", "antwort", "respuesta_correcta", "respuesta"),
            *("solucion", "bonne_reponse", "reponse_correcte", "reponse_attendue", "reponse"),
            *("gabarito", "resposta_correta", "resposta"),
            *("正确答案", "标准答案", "正确选项", "答案", "正解", "正答"),
        ),
    ),
    "references": Field(
        "the reference answer",
        (
            *("reference", "reference_answer", "reference_answers", "gold_answers", "ground_truths"),
            *("ideal", "ideal_answer", "expected_output", "free_form_answer"),
            *("musterantwort", "referenzantwort"),
            *("respuesta_de_referencia", "reponse_de_reference", "resposta_de_referencia"),
            *("参考答案", "模範解答", "参照回答"),
        ),
    ),
    "must": Field("what an answer must say", ("must_have",)),
    "nice": Field("what it would be good to say", ("nice_to_have",)),
    "context": Field(
        "what is shown with the question",
        ("passage", "vignette", "retrieved_contexts", "kontext", "contexto", "contexte"),
    ),
    "format": Field("the question's format", ("item_format", "question_format", "question_type")),
    "category": Field(
        "the category",
        (
            *("topic", "subject", "subject_name", "specialty", "domain", "kategorie", "fach", "thema"),
            *("categoria", "tema", "especialidad", "categorie", "specialite", "especialidade"),
        ),
    ),
    "group": Field("the case", ("case", "case_id", "patient", "patient_id", "vignette_id")),
    "candidate": Field(
        "the model",
        (
            *("model", "model_name", "model_id", "system", "llm", "engine", "model_variant"),
            *("modell", "modelo", "modele"),
            *("模型", "模型名称", "模型名", "モデル", "モデル名"),
        ),
    ),
    "text": Field(
        "what the model answered",
        (
            *("response", "output", "completion", "generation", "prediction", "model_answer"),
            *("model_response", "model_output", "response_text", "output_text", "generated_text"),
            *("responses", "outputs", "preds", "result", "model_prediction", "generated_answer"),
            *("antwort_des_modells", "modellantwort", "respuesta_del_modelo", "respuesta_modelo"),
            *("reponse_du_modele", "reponse_modele", "resposta_do_modelo", "resposta_modelo"),
            *("回答", "模型回答", "模型答案", "模型输出", "输出", "响应"),
            *("回复", "解答", "モデルの回答", "出力", "応答"),
        ),
    ),
    "repeat": Field(
        "the repeat", ("repetition", "repeat_no", "replicate", "trial", "attempt", "epoch", "run_no")
    ),
    "criterion": Field("the criterion", ("criterion_name", "dimension", "aspect", "metric")),
    "value": Field("the score", ("score", "rating", "mark", "grade")),
}
"""The fields that are found under other names too. Every other field is found under its own name alone."""

OF_ITEMS = (
    "question",
    "messages",
    "options",
    "answer",
    "references",
    "must",
    "nice",
    "context",
    "format",
    "category",
    "group",
)
"""What a table that holds the questions says of them; `item` and `variant` name them."""
OF_RESPONSES = ("item", "candidate", "text", "repeat")
OF_SCORES = ("item", "candidate", "repeat", "criterion", "value")

_RIVALS = ("text", "answer")
"""A column of our own name wins over other names; but these may be the key, the prompt or the response."""
_LAST = {
    "item": ("case_id",),
    "text": ("raw_output", "raw_response", "full_response", "full_output"),
    "answer": ("final_decision", "cop", "answer_idx", "answer_index", "richtig"),
}
"""A name that a field takes where it has no other; a field beside it has the better right to it."""


def folded(column: str) -> str:
    """The name without case, signs and accents: 'Model Answer', 'modelAnswer' and 'model-answer' are one."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column.strip().removeprefix("\ufeff"))
    if not words.isascii():
        words = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFD", words))
        words = unicodedata.normalize("NFC", words)  # signs of kana are letters' parts, no gaps of words
    return re.sub(r"[\W_]+", "_", words.casefold()).strip("_")


def match_columns(
    columns: Sequence[str],
    fields: Iterable[str],
    *,
    map: Mapping[str, str],
    set: Collection[str] = (),
    reserved: Collection[str] = (),
) -> dict[str, str]:
    """The column of each field that has one, of a table with these columns; what `map` says is part of it.

    What is `set` for all rows is not looked for, and a column that is mapped, or `reserved` for something
    else, is not found again. A column of exactly our name comes first, then one that differs in case or
    signs, then one under a name of `FIELDS`.

    Raises `InputError` where two columns may be one field, and for `text` and `answer` also where one of them
    bears our name: it may be the prompt, the key or the response.
    """
    taken = {*_used(columns, map.values()), *reserved}
    free = {column: folded(column) for column in columns if column not in taken}
    matched = dict(map)
    for field in fields:
        if field in map or field in set:
            continue
        likely = _likely(field, free)
        if len(likely) > 1:
            names = " and ".join(repr(column) for column in likely)
            raise InputError(
                f"the columns {names} may each be {FIELDS[field].meaning}: {_say(field, likely)}."
            )
        for column in likely:
            matched[field] = column
            del free[column]
    return matched


def _others(field: str) -> list[str]:
    """The other names of a field; what is said of a question may bear its name too: `question.key`."""
    others = [*FIELDS[field].others]
    if field in ("item", *OF_ITEMS):
        identity = {"item": "id", "question": "text"}.get(field, field)
        others += [f"{of}_{name}" for of in ("question", "item") for name in (identity, *others)]
    return others


def _used(columns: Collection[str], named: Iterable[str]) -> list[str]:
    """The columns that are named, and those that a dotted name leads into: `output.text` uses `output`."""
    return [name if name in columns else name.partition(".")[0] for name in named]


def _likely(field: str, free: Mapping[str, str]) -> list[str]:
    """The columns that may be the field; `free` gives the folded name of each."""

    def called(*names: str) -> list[str]:
        return [column for column, name in free.items() if name in names]

    ours, others = [field] if field in free else called(field), called(*_others(field))
    likely = [*ours, *others] if field in _RIVALS else ours or others
    return likely or called(*_LAST.get(field, ()))


def likely_columns(field: str, columns: Iterable[str]) -> list[str]:
    """The columns that may be the field, by their names."""
    return _likely(field, {column: folded(column) for column in columns})


def _say(field: str, columns: Sequence[str]) -> str:
    """How a user says which column it is."""
    option = shlex.quote(f"{field}={columns[0]}")
    word = f"columns=[{field}:{columns[0]}]"
    return f"map={{{field!r}: {columns[0]!r}}}, --map {option}, or {word} in an exam's spec, says which"


def match_answers(
    columns: Sequence[str],
    *,
    map: Mapping[str, str],
    set: Collection[str] = (),
    with_questions: bool = False,
    reserved: Collection[str] = (),
) -> dict[str, str]:
    """The columns of a table of answers; `with_questions` also those of the questions that it holds.

    A column `answer` is the key where another one holds what the model answered (`text`, `response`, …), and
    where there is no model. Else it is what the model answered, if the key is elsewhere: in a benchmark, or
    in another column. `reserved` columns are no field. Raises `InputError` where it may be either, and where
    `match_columns` does.
    """
    matched = match_columns(columns, OF_RESPONSES, map=map, set=set, reserved=reserved)
    answer = next((c for c in columns if folded(c) in ANSWERS and c not in matched.values()), None)
    present = {*matched, *set}
    if answer is not None and "candidate" in present and "text" not in present:
        if with_questions:
            taken = [answer, *matched.values(), *reserved]
            rest = match_columns(columns, OF_ITEMS, map=map, set=set, reserved=taken)
            if not {"answer", "references"} & {*rest, *set}:
                raise InputError(
                    f"the column {answer!r} may be the key or what the model answered, and no other is "
                    f"either: map={{'text': {answer!r}}} or map={{'answer': {answer!r}}} says which (--map "
                    f"text={answer} or --map answer={answer})."
                )
        map = {**map, "text": answer}
    fields = (*OF_RESPONSES, *OF_ITEMS) if with_questions else OF_RESPONSES
    return match_columns(columns, fields, map=map, set=set, reserved=reserved)


def holds_questions(columns: Sequence[str], map: Mapping[str, str]) -> bool:
    """Whether one of the columns holds questions, as far as their names or `map` tell."""
    return bool({"question", "messages"} & set(match_columns(columns, ["question", "messages"], map=map)))


def spread_options(
    lines: Iterable[Line], present: Collection[str], matched: Mapping[str, str], *, needed: Collection[str]
) -> dict[str, str]:
    """The columns that hold one option each, by their labels; none where one column holds the options.

    None either where the fields `needed` are not `present`: without models, A and B may be models. A
    column that is `matched` is no option. Columns called A, B … are options where the key or the reference of
    any row is one of their letters or texts, and columns called answer_a, answer_b … where that of every row
    is; else they are something else, such as marks or what models answered. Raises `InputError` as
    `option_columns` does.
    """
    if "options" in present or not {*needed} <= {*present}:
        return {}
    columns = columns_of(lines)
    spread = option_columns({c: folded(c) for c in columns if c not in _used(columns, matched.values())})
    return spread if _keyed(lines, matched, spread) else {}


def _keyed(lines: Iterable[Line], matched: Mapping[str, str], spread: Mapping[str, str]) -> bool:
    """Whether the keys, as far as names alone do not tell, are options of these columns."""
    names = [*map(folded, spread.values())]
    key = matched.get("answer", matched.get("references", ""))
    if any(map(_OF_ANSWERS.match, names)):
        return all(_has_key(line, key, spread) for line in lines)
    is_bare = any(len(name) == 1 for name in names)
    return not is_bare or any(_has_key(line, key, spread) for line in lines)


_OF_ANSWERS = re.compile(f"(?:{'|'.join(ANSWERS)}|risposta)_.$")


def _has_key(line: Line, column: str, options: Mapping[str, str]) -> bool:
    """Whether the row's key is the letter or the text of one of its options."""
    key = str(line.row.get(column) or "").strip()
    texts = [str(line.row.get(of) or "").strip().casefold() for of in options.values()]
    return bool(key) and (key.upper().strip("().") in options or key.casefold() in texts)


def by_field(columns: Mapping[str, str]) -> dict[str, str]:
    """A user's columns by our names; `id` is another word for `item`."""
    return {"item" if field == "id" else field: column for field, column in columns.items()}


def group_levels(
    columns: Collection[str], map: Mapping[str, str]
) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """The columns that `map` names for the levels of `group`, outermost first; and the map.

    Names stand between commas, as `exam,source` or `[exam, source]`.
    In the map `group` is the column that `in_levels` makes of them. No levels where it names one column,
    whose own name may hold a comma.
    """
    named = map.get("group", "")
    is_list = named.startswith("[") and named.endswith("]")
    levels = tuple(name.strip() for name in (named[1:-1] if is_list else named).split(","))
    if len(levels) == 1 or not all(levels) or named in columns:
        return (), map
    if len(set(levels)) < len(levels):
        raise InputError(f"group={named}: name each level of groups once, the outermost first.")
    return levels, {**map, "group": ",".join(levels)}


def columns_of(lines: Iterable[Line]) -> list[str]:
    """Every column of the rows, in the order they first appear: rows need not be even.

    In the place of a column with fields stand these, under dotted names; options may have letters for names.
    `Lines` are read once, however often they are asked for.
    """
    if not isinstance(lines, Lines):
        return _columns_in(lines)
    if lines.columns is None:
        lines.columns = tuple(_columns_in(lines))
    return list(lines.columns)


def _columns_in(lines: Iterable[Line]) -> list[str]:
    names: dict[str, None] = {}
    for line in lines:
        plain = _PLAIN.issuperset(map(type, line.row.values()))
        if not (plain and line.row.keys() <= names.keys()):
            names.update(dict.fromkeys(_names(line.row)))
    return list(names)


def _names(row: Mapping[str, Any]) -> Iterator[str]:
    for column, value in row.items():
        if isinstance(value, dict) and value and folded(column) not in _WHOLE:
            yield from (name for name in _names({f"{column}.{key}": field for key, field in value.items()}))
        else:
            yield column


_PLAIN = frozenset((str, int, float, bool, type(None)))
"""Types of cells that have no fields."""
_WHOLE = ("options", *FIELDS["options"].others, "rubric", "messages", "meta")
"""Columns whose fields are no columns."""


def matched_words(matched: Mapping[str, str]) -> str:
    """What was matched under another name, in words: 'candidate is model, text is output'."""
    return ", ".join(f"{ours} is {theirs!r}" for ours, theirs in matched.items() if ours != theirs)
