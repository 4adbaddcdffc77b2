"""Good inputs of every kind, which a soak makes worse."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from vivavoce.run.run import Run, open_run

ITEMS: list[dict[str, Any]] = [
    {"id": "a", "format": "mcq", "question": "Which?", "options": ["one", "two", "2 mg"], "answer": "two",
     "category": "c", "group": "g"},
    {"id": "a", "variant": "neutral", "format": "mcq", "question": "Which one?",
     "options": ["one", "two", "2 mg"], "answer": "B", "group": "g", "planted": "one"},
    {"id": "b", "format": "true_false", "question": "Is it?", "answer": "True", "context": "A note."},
    {"id": "c", "format": "list", "question": "Which all?", "options": ["x", "y", "z"], "answer": ["x", "z"]},
    {"id": "d", "format": "short", "question": "What?", "references": ["5 mg of it", "five mg"],
     "must": ["the dose"], "nice": ["the unit"], "rubric": [{"text": "Says 5.", "weight": 2}]},
    {"id": "e", "format": "multi_hop", "question": "Why?", "steps": ["One.", "Two."], "references": ["So."]},
    {"id": "f", "format": "multi_hop_inverse", "question": "Why?", "steps": ["One.", "Two."], "step": 2,
     "false_answer": "No.", "references": ["It is three."]},
]  # fmt: skip
TEXTS = {"a": "B. two", "b": "True", "c": "x, z", "d": "5 mg", "e": "Step 1: One.\nFinal Answer: So.",
         "f": "Step: 2\nExplanation: It is three."}  # fmt: skip
ANSWERS: list[dict[str, Any]] = [
    {"item": row["id"], "variant": row.get("variant", ""), "candidate": who, "repeat": repeat,
     "text": TEXTS[row["id"]], "status": "ok", "reasoning": "So.", "finish_reason": "stop", "tokens": 3,
     "seconds": 0.5, "cost": 0.01, "confidence": 0.9}
    for row in ITEMS for who in ("Able", "Poor") for repeat in (1, 2)
]  # fmt: skip
MARKS: list[dict[str, Any]] = [
    {"item": row["item"], "variant": row["variant"], "candidate": row["candidate"], "repeat": row["repeat"],
     "criterion": "harm", "value": 3.5, "rater": "anna", "pass_no": 1, "note": "fine", "probability": 0.5}
    for row in ANSWERS
]  # fmt: skip

PROVIDERS = b"""
vllm:
  base_url: http://127.0.0.1:9/v1
  concurrency: 4
  timeout: 5
  attempts: 2
mine:
  kind: openai
  base_url: http://127.0.0.1:9/v1
  key: VIVA_TEST_KEY
  key_header: api-key
  prices: {m: [1.5, 2], "*": [1, 1]}
  accept: {m: [n, o]}
  requests_per_minute: 60
  tokens_per_minute: 1000
"""
PLAN = b"""
run: exam.viva
benchmarks: [sample]
models: [baseline/echo, baseline/random]
settings: {repeats: 2, temperature: 0.7, max_tokens: 10, seed: 1, system: Be brief., shots: 1}
max_cost: 1.5
metrics: [accuracy, "rouge(n=1)"]
compare:
  - {candidates: [baseline/echo, baseline/random], metric: accuracy, margin: 0.05}
studies: [ranking]
report: {to: exam.html}
"""
PROMPT = b"Answer this.\n\n{{ question }}\n\n{{ form }}\n"

SPECS = [
    *("accuracy", "exact", "rouge(n=1)", "rouge(n=L, stem=true)", "token_f1(tokens=words)", "bleu(max_n=4)"),
    *("judge(rubric=correctness, model=vllm/m(temperature=0))", "planted", "meteor", "chrf(words=2)"),
    *("perplexity", "options", "confidence(of=stated)", "semantic", "medsynf1(rules=published)"),
    *(
        "jsonl(path='exam.jsonl')",
        "jsonl(path=x, columns=[id:qid, question:prompt])",
        "sample",
        "csv(path=x)",
    ),
    *("cliniqlink(data=DIR, files=[TF, MC])", "hivmedqa(data=DIR, subset=paper)", "calibration(bins=10)"),
    *("bias(type=recency)", "demographic(kind=sex)", "rephrase(k=5, model=openai/gpt-4o)"),
    *("examiners(margin=0.1)", "openai/gpt-4o(temperature=0.2, stop=[END])", "hf/local(path=/tmp/x)"),
    *("baseline/random(seed=3)", "http(url=u)", "replay(path=x.jsonl)"),
]
WORDS = [
    *("accuracy", "a=1", "harm=0:5", "harm=low:high", "judge[harm] >= 3", "exact < 1", "10%", "5", "0.05"),
    *("Able", "candidate", "Able=ceiling", "tokens", "*=worst", "judge", "2024-01-01"),
]
REPLIES = [
    *('{"reason": "So.", "harm": 3, "reasoning": 4}', "harm: 4\nreasoning: 3/5", "met: yes", "correct: 0.5"),
    *('```json\n{"met": true}\n```', '{"winner": "A"}', '{"ranking": [["B"], ["A", "C"]]}', "B > A = C"),
    '{"comprehension": 5, "reasoning": 4, "knowledge_recall": 3, "demographic_bias": 5, "harm": 5}',
    *('<think>so</think>{"correct": 1}', "Fine. [RESULT] 4", '{"same": true, "reason": "no change"}'),
    '{"text": "Other words."}',
]
_TOKENS = [
    {"token": "So", "logprob": -0.1, "bytes": [83, 111], "top_logprobs": []},
    {"token": ".", "logprob": -0.2, "bytes": [46], "top_logprobs": []},
]
_USAGE = {"prompt_tokens": 3, "completion_tokens": 2}
BODIES: list[dict[str, Any]] = [
    {
        "id": "1", "model": "m", "usage": _USAGE,
        "prompt_logprobs": [None, {"1": {"logprob": -1.0, "rank": 1, "decoded_token": "2+2?"}},
                            {"2": {"logprob": -0.5, "rank": 2, "decoded_token": " four"}}],
        "choices": [{"index": 0, "finish_reason": "stop", "logprobs": {"content": _TOKENS},
                     "message": {"role": "assistant", "content": "So.", "reasoning_content": "Well."}}],
    },
    {
        "model": "m", "usage": _USAGE,
        "choices": [{"text": "2+2? four", "finish_reason": "length", "logprobs": {
            "tokens": ["2+2?", " four"], "token_logprobs": [None, -0.5], "text_offset": [0, 4],
            "top_logprobs": [None, {" four": -0.5}]}}],
    },
    {
        "model": "m", "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 2},
        "content": [{"type": "thinking", "thinking": "Well."}, {"type": "text", "text": "So."}],
    },
    {"error": {"message": "slow down", "type": "rate_limit", "code": 429}},
]  # fmt: skip
"""What endpoints send: a chat, a completion, Anthropic's messages, an error."""


def rows_of(path: Path, n: int) -> list[dict[str, Any]]:
    """The first rows of a .jsonl file."""
    with path.open(encoding="utf-8") as stream:
        return [json.loads(line) for line, _ in zip(stream, range(n), strict=False)]


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def sheet(rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)))
    writer.writeheader()
    writer.writerows(
        {key: json.dumps(value) if isinstance(value, list) else value for key, value in row.items()}
        for row in rows
    )
    return text.getvalue().encode()


def parquet(rows: list[dict[str, Any]]) -> bytes:
    import polars as pl

    stream = io.BytesIO()
    pl.DataFrame(rows).write_parquet(stream)
    return stream.getvalue()


def prepared(folder: Path) -> Run:
    """A run with the items and answers above, scored by a rule."""
    folder.mkdir(exist_ok=True)
    (folder / "exam.jsonl").write_bytes(lines(ITEMS))
    (folder / "answers.jsonl").write_bytes(lines(ANSWERS))
    run = open_run(folder / "run.viva")
    run.import_answers(folder / "answers.jsonl", benchmark=f"jsonl(path='{folder / 'exam.jsonl'}')")
    run.score("accuracy")
    return run


def run_items(run: Run) -> list[Any]:
    """The items of a run as records."""
    from vivavoce.store import read

    with run.file.reading() as db:
        return list(read.items_by_id(db).values())
