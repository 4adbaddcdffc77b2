"""25 layouts of result files as scripts and notebooks of people write them, with content of our own."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

QUESTIONS = (
    ("q1", "Which drug reverses opioids?", ("Heparin", "Naloxone", "Aspirin"), 1),
    ("q2", "Which drug reverses heparin?", ("Protamine", "Naloxone", "Insulin"), 0),
    ("q3", "Which vitamin prevents scurvy?", ("Thiamine", "Retinol", "Ascorbic acid"), 2),
    ("q4", "Which electrolyte is low in hypokalaemia?", ("Potassium", "Sodium", "Calcium"), 0),
)
REPLIES = {
    "gpt-4o": ("Naloxone, at once.", "Protamine sulfate.", "Ascorbic acid.", "Sodium."),
    "llama-3": ("Heparin.", "Protamine.", "Retinol, I think.", "Potassium is low."),
}
LETTERS = {"gpt-4o": "BACB", "llama-3": "AABA"}
LABELS = "ABC"


class Layout(NamedTuple):
    """The files of a layout by name, the arguments of the first command, and what is to come in.

    `first` is an answer to the first question.
    """

    files: Mapping[str, bytes]
    arguments: Sequence[str]
    answers: int
    candidates: int
    questions: int
    first: str


def write(layout: Layout, folder: Path) -> list[str]:
    """The files in a folder, and the paths of the first command."""
    for name, content in layout.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return [str(folder / name) for name in layout.arguments]


def _csv(header: Sequence[str], rows: Sequence[Sequence[Any]], delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def _json(value: Any, **options: Any) -> bytes:
    return json.dumps(value, **options).encode()


def _lines(rows: Sequence[Any]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


def _long(make: Callable[[int, str], Any]) -> list[Any]:
    return [make(k, model) for model in REPLIES for k in range(4)]


def _key(k: int) -> str:
    return QUESTIONS[k][2][QUESTIONS[k][3]]


def _single(name: str, content: bytes | str, *, models: int = 2, first: str = "Naloxone, at once.") -> Layout:
    content = content if isinstance(content, bytes) else content.encode()
    return Layout({name: content}, (name,), 4 * models, models, 4, first)


def _frame(model: str) -> dict[str, list[Any]]:
    return {
        "question": [question for _, question, _, _ in QUESTIONS],
        "reference": [_key(k) for k in range(4)],
        "model": [model] * 4,
        "response": [*REPLIES[model]],
    }


def _exam(*columns: str) -> bytes:
    rows = [
        {"id": name, "question": question, "options": json.dumps(options), "answer": LABELS[key]}
        for name, question, options, key in QUESTIONS
    ]
    return _csv(columns, [[row[column] for column in columns] for row in rows]).encode()


def layouts() -> dict[str, Layout]:
    """Every layout by its name."""
    records = {
        name: {"question": question, "gold": _key(k), "prediction": REPLIES["gpt-4o"][k]}
        for k, (name, question, _, _) in enumerate(QUESTIONS)
    }
    frame = _frame("gpt-4o")
    rows = [dict(zip(frame, row, strict=True)) for row in zip(*frame.values(), strict=True)]
    runs = {
        f"out/{model}_temp{temperature}.json": _json(
            [{"qid": QUESTIONS[k][0], "question": QUESTIONS[k][1], "gold": _key(k), "output": reply}
             for k, reply in enumerate(replies)], indent=1
        )
        for model, replies in REPLIES.items() for temperature in ("0.0", "0.7")
    }  # fmt: skip
    return {
        "a pandas dump with its index, letters and a column is_correct": _single(
            "dump.csv",
            _csv(
                ("", "question", "options", "correct_answer", "model", "response", "is_correct"),
                _long(lambda k, m: (k, QUESTIONS[k][1], [*QUESTIONS[k][2]], LABELS[QUESTIONS[k][3]], m,
                                    f"Answer: {LETTERS[m][k]}", LETTERS[m][k] == LABELS[QUESTIONS[k][3]])),
            ), first="Answer: B",
        ),
        "a folder with a file for each model": Layout(
            {f"results/results_{model}.jsonl": _lines(
                [{"id": QUESTIONS[k][0], "question": QUESTIONS[k][1], "gold": _key(k), "response": reply}
                 for k, reply in enumerate(replies)]) for model, replies in REPLIES.items()},
            ("results",), 8, 2, 4, "Naloxone, at once.",
        ),
        "records by id, of one model": _single("gpt-4o.json", _json(records, indent=2), models=1),
        "a column for each model, by its bare name": _single(
            "wide.csv",
            _csv(("id", "question", "reference", *REPLIES),
                 [(QUESTIONS[k][0], QUESTIONS[k][1], _key(k), *(r[k] for r in REPLIES.values()))
                  for k in range(4)]),
        ),
        "a column for each model, with a word for answers": _single(
            "comparison.csv",
            _csv(("question", "ground_truth", *(f"{m}_response" for m in REPLIES)),
                 [(QUESTIONS[k][1], _key(k), *(r[k] for r in REPLIES.values())) for k in range(4)]),
        ),
        "answers nested by model": _single(
            "all.json",
            _json([{"id": name, "question": question, "reference": _key(k),
                    "answers": {model: replies[k] for model, replies in REPLIES.items()}}
                   for k, (name, question, _, _) in enumerate(QUESTIONS)]),
        ),
        "a file for each model and temperature": Layout(
            runs, ("out/*.json",), 16, 4, 4, "Naloxone, at once."
        ),
        "an exam, and answers under other names": Layout(
            {"exam.csv": _exam("id", "question", "options", "answer"),
             "answers.jsonl": _lines(_long(lambda k, m: {
                 "problem_id": QUESTIONS[k][0], "model_variant": m, "preds": LETTERS[m][k]}))},
            ("exam.csv", "answers.jsonl"), 8, 2, 4, "B",
        ),
        "an exam, and answers that name questions by their words": Layout(
            {"exam.csv": _exam("id", "question", "options", "answer"),
             "answers.csv": _csv(("user_query", "model", "result"), _long(
                 lambda k, m: (f" {QUESTIONS[k][1]} ", m, LETTERS[m][k]))).encode()},
            ("exam.csv", "answers.csv"), 8, 2, 4, "B",
        ),
        "an exam, and answers in its order": Layout(
            {"exam.csv": _exam("id", "question", "options", "answer"),
             **{f"{model}.csv": _csv(("prediction",), [*letters]).encode()
                for model, letters in LETTERS.items()}},
            ("exam.csv", "gpt-4o.csv", "llama-3.csv"), 8, 2, 4, "B",
        ),
        "German headers, semicolons, Windows letters": _single(
            "Ergebnisse.csv",
            _csv(("Nr", "Frage", "Richtige Antwort", "Modell", "Antwort des Modells", "Prüfer"), _long(
                lambda k, m: (k + 1, QUESTIONS[k][1], _key(k), m, REPLIES[m][k], "Jürgen")), ";"
                 ).encode("cp1252"),
        ),
        "Spanish headers and lettered options": _single(
            "resultados.csv",
            _csv(("id", "pregunta", "opcion_a", "opcion_b", "opcion_c", "respuesta_correcta", "modelo",
                  "respuesta"), _long(lambda k, m: (*QUESTIONS[k][:2], *QUESTIONS[k][2],
                                                    LABELS[QUESTIONS[k][3]], m, LETTERS[m][k]))),
            first="B",
        ),
        "French headers": _single(
            "résultats.csv",
            _csv(("question", "réponse attendue", "modèle", "réponse"), _long(
                lambda k, m: (QUESTIONS[k][1], _key(k), m, REPLIES[m][k])), ";"),
        ),
        "Portuguese headers": _single(
            "resultados.jsonl",
            _lines(_long(lambda k, m: {"questão": QUESTIONS[k][1], "gabarito": _key(k), "modelo": m,
                                       "resposta": REPLIES[m][k]})),
        ),
        "labels of two people in columns": _single(
            "labelled.csv",
            _csv(("id", "question", "reference", "model", "response", "rater_1", "rater_2"), _long(
                lambda k, m: (*QUESTIONS[k][:2], _key(k), m, REPLIES[m][k], k % 2, int(k < 3)))),
        ),
        "to_json(orient='columns')": _single(
            "frame.json", _json({c: dict(enumerate(v)) for c, v in frame.items()}), models=1
        ),
        "to_json(orient='index')": _single("frame.json", _json(dict(enumerate(rows))), models=1),
        "to_json(orient='split')": _single(
            "frame.json",
            _json({"columns": [*frame], "index": [*range(4)],
                   "data": [[*row] for row in zip(*frame.values(), strict=True)]}), models=1,
        ),
        "options as a tuple": _single(
            "tuples.csv",
            _csv(("question", "choices", "answer", "model", "output"), _long(
                lambda k, m: (QUESTIONS[k][1], QUESTIONS[k][2], LABELS[QUESTIONS[k][3]], m, LETTERS[m][k]))),
            first="B",
        ),
        "a byte order mark and semicolons": _single(
            "export.csv",
            b"\xef\xbb\xbf" + _csv(("ID", "Question", "Gold Answer", "Model Name", "Model Answer"), _long(
                lambda k, m: (*QUESTIONS[k][:2], _key(k), m, REPLIES[m][k])), ";").encode(),
        ),
        "NaN where nothing came": _single(
            "answers.json",
            _json(_long(lambda k, m: {"question": QUESTIONS[k][1], "reference": _key(k), "model": m,
                                      "response": float("nan") if k == 3 else REPLIES[m][k]})),
        ),
        "a model and its accuracy around the rows": _single(
            "run.json",
            _json({"model": "gpt-4o", "accuracy": 0.75, "results": [
                {"question": question, "choices": dict(zip(LABELS, options, strict=True)),
                 "answer": LABELS[key], "prediction": letter, "correct": letter == LABELS[key]}
                for (_, question, options, key), letter in zip(QUESTIONS, LETTERS["gpt-4o"], strict=True)
            ]}, indent=2), models=1, first="B",
        ),
        "several responses in a list": Layout(
            {"samples.jsonl": _lines(_long(lambda k, m: {
                "id": QUESTIONS[k][0], "question": QUESTIONS[k][1], "reference": _key(k), "model": m,
                "responses": [REPLIES[m][k], "I do not know.", REPLIES[m][k]]}))},
            ("samples.jsonl",), 24, 2, 4, "Naloxone, at once.",
        ),
        "retrieved contexts, of one model": _single(
            "rag.jsonl",
            _lines([{"user_input": QUESTIONS[k][1], "retrieved_contexts": ["A passage.", "Another."],
                     "response": reply, "reference": _key(k), "faithfulness": 0.5}
                    for k, reply in enumerate(REPLIES["gpt-4o"])]), models=1,
        ),
        "repeats as rows that no column numbers": Layout(
            {"seeds.csv": _csv(
                ("encounter_id", "user_query", "expected_output", "model_variant", "outputs"),
                [(f"e{k}", QUESTIONS[k][1], _key(k), m, f"{REPLIES[m][k]}{' Surely.' * seed}")
                 for m in REPLIES for k in range(4) for seed in range(2)]).encode()},
            ("seeds.csv",), 16, 2, 4, "Naloxone, at once.",
        ),
    }  # fmt: skip


LAYOUTS = layouts()
