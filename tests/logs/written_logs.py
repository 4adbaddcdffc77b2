"""Small logs in the layouts that tools document, written for these tests: by reader its files, log first."""

import csv
import io
import json
from pathlib import Path
from typing import Any

Q1, Q2 = "Name the first drug in anaphylaxis.", "Is gentamicin safe in renal failure?"
A1, A2 = "Adrenaline IM.", "No, it accumulates."
K1, K2 = "adrenaline", "no"


def lines(*rows: Any) -> str:
    return "\n".join(json.dumps(row) for row in rows) + "\n"


def table(*rows: dict[str, Any]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def output_item(number: int, question: str, key: str, answer: str | None, score: float) -> dict[str, Any]:
    error = None if answer is not None else {"code": "rate_limit", "message": "too many requests"}
    return {
        "object": "eval.run.output_item", "id": f"outputitem_{number}", "created_at": 1743092076,
        "run_id": "evalrun_1", "eval_id": "eval_med", "status": "pass" if score else "fail",
        "datasource_item_id": number, "datasource_item": {"question": question, "ground_truth": key},
        "results": [
            {"name": "Grader-9c2b5f0a-1111-4222-8333-444455556666", "type": "score_model", "sample": None,
             "passed": bool(score), "score": score},
            {"name": "String check", "sample": None, "passed": False},
        ],
        "sample": {
            "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": question}],
            "output": [] if answer is None else [{"role": "assistant", "content": answer}],
            "finish_reason": "stop", "model": "gpt-4o-mini-2024-07-18", "error": error,
            "usage": {"total_tokens": 40, "completion_tokens": 7, "prompt_tokens": 33, "cached_tokens": 0},
        },
    }  # fmt: skip


ITEMS = [output_item(1, Q1, K1, A1, 1.0), output_item(2, Q2, K2, None, 0.0)]


def event(number: int, sample: str, kind: str, **data: Any) -> dict[str, Any]:
    return {"run_id": "r1", "event_id": number, "sample_id": sample, "type": kind, "data": data}


EVENTS = [
    {"spec": {"completion_fns": ["gpt-4o"], "eval_name": "med.dev.v0", "base_eval": "med", "run_id": "r1"}},
    event(0, "med.dev.0", "sampling", prompt=[{"role": "user", "content": Q1}], sampled=[A1]),
    event(1, "med.dev.1", "sampling", prompt=[{"role": "user", "content": Q2}], sampled=[A2]),
    event(2, "med.dev.0", "match", correct=True, expected=K1, picked=K1, sampled=A1),
    event(3, "med.dev.1", "match", correct=False, expected=K2, picked=None, sampled=A2),
    event(4, "med.dev.1", "sampling", prompt="Grade it.", sampled=["Y"]),
    event(5, "med.dev.1", "metrics", choice="Y", score=0.5),
    {"final_report": {"accuracy": 0.5}, "run_id": "r1"},
]


def old_row(number: int, question: str, **metrics: Any) -> dict[str, Any]:
    return {
        "doc_id": number, "doc": {"id": f"q{number}", "question": question, "choices": ["yes", "no"]},
        "target": 1, "arguments": [[question, " yes"], [question, " no"]],
        "resps": [[[-3.5, False]], [[-0.5, True]]], "filtered_resps": [[-3.5, False], [-0.5, True]],
        **metrics,
    }  # fmt: skip


OLD_LM_EVAL = [old_row(k, q, acc=1.0, acc_norm=0.0, f1=[1, 0]) for k, q in enumerate((Q1, Q2))]
OLD_RESULTS = {
    "results": {"med": {"acc,none": 1.0}}, "configs": {"med": {"task": "med", "num_fewshot": 0}},
    "config": {"model": "hf", "model_args": "pretrained=demo/tiny,dtype=float32"},
}  # fmt: skip


def promptfoo_row(provider: str, question: str, output: str | None, score: float) -> dict[str, Any]:
    return {
        "provider": {"id": provider}, "prompt": {"raw": f"Answer: {question}", "display": "Answer"},
        "vars": {"question": question}, "success": bool(score), "score": score, "latencyMs": 200,
        **({"error": "timeout"} if output is None else {"response": {"output": output}}),
    }  # fmt: skip


PROMPTFOO = [promptfoo_row("openai:gpt-4", Q1, A1, 1.0), promptfoo_row("openai:gpt-4", Q2, None, 0.0)]
PROMPTFOO_CSV = "\n".join(
    [
        '"question","[openai:gpt-4] p","Status","Score","Named Scores","Grader Reason","Comment",'
        '"[ollama:llama] p","Status","Score","Named Scores","Grader Reason","Comment"',
        f'"{Q1}","{A1}","PASS","1","","good","","{A2}","FAIL","0","{{""tone"":0.5}}","bad",""',
        f'"{Q2}","","ERROR","0","","Network timeout","","{A2}","PASS","1","","",""',
    ]
)


def turns(*texts: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[k % 2], "content": text} for k, text in enumerate(texts)]


def metric(score: float) -> dict[str, Any]:
    return {
        "name": "Relevancy",
        "threshold": 0.5,
        "success": True,
        "score": score,
        "evaluationModel": "gpt-4o",
    }


CONVERSATIONS = {
    "testFile": None,
    "testCases": [],
    "conversationalTestCases": [
        {"name": "ward", "turns": turns(Q1, A1, Q2, A2), "metricsData": [metric(0.75)], "runDuration": 1.5},
        {"name": "bed", "turns": turns(Q1, A1), "metricsData": []},
        {"name": "door", "turns": turns(Q1), "metricsData": []},
    ],
    "metricsScores": [], "hyperparameters": {"model": "chat-1"}, "identifier": "talks",
}  # fmt: skip

MLFLOW = {
    "columns": ["inputs", "ground_truth", "outputs", "token_count", "answer_similarity/v1/score",
                "answer_similarity/v1/justification"],
    "data": [[Q1, K1, A1, 4, 5, "same drug"], [Q2, K2, A2, 5, 2, "too short"]],
}  # fmt: skip
WANDB = {
    "columns": ["id", "prompt", "completion", "target", "model", "bleu", "is_right"],
    "data": [["a", Q1, A1, K1, "m1", 0.25, True], ["b", Q2, A2, K2, "m1", 0.5, False]],
    "ncols": 7, "nrows": 2,
}  # fmt: skip
BRAINTRUST = [
    {
        "id": "s1",
        "span_id": "s1",
        "root_span_id": "s1",
        "is_root": True,
        "input": {"question": Q1},
        "output": A1,
        "expected": K1,
        "scores": {"Factuality": 0.6, "Exact": None},
        "metadata": {"model": "m1"},
        "error": None,
        "metrics": {"completion_tokens": 4, "duration": 1.25},
        "origin": {"id": "row-1"},
    },
    {
        "id": "s2",
        "span_id": "s2",
        "root_span_id": "s1",
        "is_root": False,
        "input": "look it up",
        "output": "done",
        "expected": None,
        "scores": {},
        "metadata": {},
    },
    {
        "id": "s3",
        "span_id": "s3",
        "root_span_id": "s3",
        "is_root": True,
        "input": {"question": Q2},
        "output": None,
        "expected": K2,
        "scores": {},
        "metadata": {"model": "m1"},
        "error": "timeout",
        "origin": {"id": "row-2"},
    },
]
PHOENIX = [
    {
        "example_id": "e1",
        "repetition_number": 1,
        "input": {"question": Q1},
        "reference_output": {"answer": K1},
        "output": {"response": A1},
        "error": None,
        "latency_ms": 500.0,
        "completion_token_count": 4,
        "annotations": [
            {"name": "correct", "annotator_kind": "LLM", "label": "yes", "score": 1.0, "explanation": "ok"}
        ],
    },
    {
        "example_id": "e1",
        "repetition_number": 2,
        "input": {"question": Q1},
        "reference_output": {"answer": K1},
        "output": None,
        "error": "timeout",
        "latency_ms": 900.0,
        "annotations": [],
    },
]
LANGFUSE = [
    {
        "id": "t1",
        "timestamp": "2026-01-01",
        "name": "ask",
        "sessionId": None,
        "input": {"messages": turns(Q1)},
        "output": {"role": "assistant", "content": A1},
        "metadata": {"model": "m1"},
        "latency": 1.5,
        "totalCost": 0.001,
        "observations": [],
        "scores": [{"name": "helpful", "value": 0.75, "source": "ANNOTATION", "comment": "clear"}],
    },
    {
        "id": "t2",
        "timestamp": "2026-01-01",
        "name": "ask",
        "sessionId": None,
        "input": Q2,
        "output": A2,
        "metadata": {},
        "latency": 1.0,
        "totalCost": 0.001,
        "observations": [],
        "scores": [],
    },
]
LANGSMITH = [
    {
        "inputs.question": Q1,
        "outputs.answer": A1,
        "error": "",
        "reference.answer": K1,
        "feedback.correct": "1.0",
        "feedback.correct_comment": "fine",
        "execution_time": "0.5",
        "example_id": "x1",
        "id": "r1",
    },
    {
        "inputs.question": Q2,
        "outputs.answer": "",
        "error": "TimeoutError()",
        "reference.answer": K2,
        "feedback.correct": "",
        "feedback.correct_comment": "",
        "execution_time": "9.0",
        "example_id": "x2",
        "id": "r2",
    },
]
RAGAS = [
    {
        "user_input": Q1,
        "retrieved_contexts": '["a book", "a page"]',
        "response": A1,
        "reference": K1,
        "faithfulness": "0.5",
        "answer_relevancy": "0.9",
        "politeness": "1",
    },
    {
        "user_input": Q2,
        "retrieved_contexts": "[]",
        "response": A2,
        "reference": K2,
        "faithfulness": "",
        "answer_relevancy": "0.8",
        "politeness": "0",
    },
]
PREDICTIONS = {
    "0": {"origin_prompt": [{"role": "HUMAN", "prompt": Q1}], "prediction": A1, "gold": K1},
    "1": {"origin_prompt": Q2, "prediction": [A2, A1], "gold": K2},
}
DETAILS = {
    "accuracy": 50.0,
    "details": {"0": {"pred": A1, "correct": True}, "1": {"pred": A2, "correct": False}},
}
DOCCANO = [
    {"id": 1, "text": A1, "question": Q1, "model": "m1", "label": ["good"], "Comments": ["short"]},
    {"id": 2, "text": A2, "question": Q2, "model": "m1", "label": ["poor"], "Comments": []},
    {"id": 3, "text": A2, "model": "m1", "label": ["good"], "Comments": []},
]

LABEL_ROWS = [
    {
        "item": "o1",
        "question": Q1,
        "answer": A1,
        "id": 1,
        "tag": tag,
        "stars": [{"rating": stars}],
        "comment": note,
        "annotator": who,
        "annotation_id": who,
        "created_at": "",
        "updated_at": "",
        "lead_time": 4.5,
    }
    for who, tag, stars, note in ((1, "good", 5, ""), (2, "poor", 3, "too short"), (3, "good", 4, ""))
]

WRITTEN: dict[str, dict[str, str]] = {
    "openai_evals": {"items.jsonl": lines(*ITEMS)},
    "oaieval": {"230327_gpt-4o_med.jsonl": lines(*EVENTS)},
    "lm_eval": {
        "demo__tiny_med.jsonl": json.dumps(OLD_LM_EVAL, indent=2), "results.json": json.dumps(OLD_RESULTS)
    },
    "promptfoo": {"out.json": json.dumps({"results": {"version": 1, "results": PROMPTFOO, "stats": {}}})},
    "promptfoo_csv": {"out.csv": PROMPTFOO_CSV},
    "deepeval": {"test_run_1.json": json.dumps(CONVERSATIONS)},
    "mlflow": {"eval_results_table.json": json.dumps(MLFLOW)},
    "wandb": {"answers_3_ab.table.json": json.dumps(WANDB)},
    "braintrust": {"experiment.json": json.dumps(BRAINTRUST)},
    "phoenix": {"experiment.json": json.dumps(PHOENIX)},
    "langfuse": {"traces.json": json.dumps(LANGFUSE)},
    "langsmith": {"experiment.csv": table(*LANGSMITH)},
    "ragas": {"ragas.csv": table(*RAGAS)},
    "opencompass": {
        "predictions/m1/med.json": json.dumps(PREDICTIONS), "results/m1/med.json": json.dumps(DETAILS)
    },
    "doccano": {"anna.jsonl": lines(*DOCCANO)},
    "label_studio_min": {"export.json": json.dumps(LABEL_ROWS)},
}  # fmt: skip


def write_log(folder: Path, name: str) -> Path:
    """The files of a reader in a folder; the path of the log."""
    paths = [folder / file for file in WRITTEN[name]]
    for path, text in zip(paths, WRITTEN[name].values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return paths[0]
