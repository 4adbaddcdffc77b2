"""Tasks of lm-eval: the YAML and the data of an exam, so that lm-eval can ask a model.

Closed questions are `multiple_choice`, which compares log-likelihoods of the options; all others
`generate_until`, asked in our words.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce import formats
from vivavoce.core.records import Item
from vivavoce.core.registry import exporter
from vivavoce.formats.base import with_context
from vivavoce.run.exchange.tool_files.answers import Exam, ExportSource, ToolExport
from vivavoce.run.exchange.tool_files.files import ExportedFiles, json_text
from vivavoce.store.view import View

_ABOUT = """
Tasks of lm-eval, a .yaml and a .jsonl each. In this folder (the data are found from where lm-eval runs):
  lm-eval run --include_path . --tasks TASK --model … --log_samples --output_path out
  viva import RUN out --from lm-eval
Closed questions are compared by the log-likelihood of their options; the others are answered in words and
compared by exact match, which says little of a long answer: `viva score` says more.
"""


class _Form(NamedTuple):
    """How lm-eval asks one kind of question: the end of the task's name, and the settings of the task."""

    end: str
    settings: Mapping[str, Any]


_CHOICE = _Form(
    "mcq",
    {
        "output_type": "multiple_choice",
        "doc_to_text": "prompt",
        "doc_to_choice": "options",
        "doc_to_target": "answer",
        "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}],
    },
)
_OPEN = _Form(
    "open",
    {
        "output_type": "generate_until",
        "doc_to_text": "prompt",
        "doc_to_target": "reference",
        "generation_kwargs": {"until": [], "max_gen_toks": 1024, "do_sample": False},
        "metric_list": [{"metric": "exact_match", "ignore_case": True, "ignore_punctuation": True}],
    },
)


@exporter("lm_eval")
class LmEvalTasks(ToolExport):
    """Tasks of lm-eval with the questions of the run: closed ones and open ones of each benchmark."""

    name, readme, texts = "lm_eval", _ABOUT, "a task is texts"
    no_file = " holds no question with a key that a task could ask."

    def write_exams(self, view: View, source: ExportSource, files: ExportedFiles) -> None:
        """A task for each form of question."""
        for exam in source.exams():
            _write_exam(exam, files)


def _write_exam(exam: Exam, files: ExportedFiles) -> None:
    """Write the tasks of a benchmark; a question without a key is counted."""
    stem = files.unused(
        f"viva_{re.sub(r'[^a-z0-9]+', '_', exam.name.lower()).strip('_')[:60]}", "_mcq.yaml", "_open.yaml"
    )
    by_form: dict[str, list[Item]] = {_CHOICE.end: [], _OPEN.end: []}
    for item in exam.items.values():
        if not formats.key(item).strip():
            files.left_out["questions: without a key"] += 1
            continue
        by_form[(_CHOICE if _place(item) is not None else _OPEN).end].append(item)
    for form in (_CHOICE, _OPEN):
        if items := by_form[form.end]:
            _write_task(exam, f"{stem}_{form.end}", form, items, files)


def _write_task(exam: Exam, task: str, form: _Form, items: Sequence[Item], files: ExportedFiles) -> None:
    with files.text(f"{task}.jsonl") as stream:
        for item in items:
            stream.write(f"{json_text(_document(exam.id_of(item), item, form))}\n")
    settings = {
        "task": task,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": f"{task}.jsonl"}},
        "test_split": "test",
        **form.settings,
        "metadata": {"version": 1.0, "benchmark": exam.name, "licence": exam.card.licence},
    }
    import yaml

    with files.text(f"{task}.yaml") as stream:
        yaml.safe_dump(settings, stream, sort_keys=False, allow_unicode=True)
    files.add(f"{task}.yaml", 1, exam.name)
    files.add(f"{task}.jsonl", len(items), exam.name)


def _options(item: Item) -> tuple[str, ...]:
    return item.options or formats.format_of(item).fixed_options


def _place(item: Item) -> int | None:
    """The place of the key among the options, from 0; null for a question that one option does not answer."""
    several = formats.format_of(item).several_answers
    if several or len(item.answer) != 1 or item.answer[0] not in _options(item):
        return None
    return _options(item).index(item.answer[0])


def _document(identity: str, item: Item, form: _Form) -> dict[str, Any]:
    """A row of a task's data: the same fields in every row, since a table is made of them."""
    names = {
        "id": identity, "category": item.category or "", "group": item.group, "question": with_context(item)
    }  # fmt: skip
    if form is _CHOICE:
        prompt = f"Question: {with_context(item)}\nAnswer:"
        return {**names, "prompt": prompt, "options": list(_options(item)), "answer": _place(item)}
    return {
        **names, "prompt": with_context(item) if item.messages else formats.ask(item),
        "reference": formats.key(item),
        "references": list(item.references or item.answer),
    }  # fmt: skip
