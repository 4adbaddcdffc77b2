"""`viva export --format lm-eval`: tasks that lm-eval loads, with our questions and keys."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.hostile import ALL
from tests.run.tool_files.exported_runs import manifold
from tests.studies.making import made

import vivavoce as viva
from vivavoce import formats
from vivavoce.core.errors import InputError, SelectionError
from vivavoce.formats.base import with_context
from vivavoce.run.run import Run
from vivavoce.store.read import items_by_id


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """The tasks in a folder as lm-eval loads them, by name."""

    def load(folder: Path) -> dict[str, Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import datasets
            from lm_eval.tasks import TaskManager

            monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
            monkeypatch.chdir(folder)
            manager = TaskManager(include_path=str(folder), include_defaults=False)
            names = [path.stem for path in folder.glob("*.yaml")]
            return dict(manager.load_task_or_group(names))

    return load


Tasks = Callable[..., dict[str, Any]]


def questions(run: Run) -> dict[str, Any]:
    with run.file.reading() as db:
        stored = items_by_id(db).values()
        return {f"{item.item} [{item.variant}]" if item.variant else item.item: item for item in stored}


def test_lm_eval_asks_our_questions_and_knows_our_keys(tasks: Tasks, tmp_path: Path) -> None:
    run = manifold(tmp_path / "run")
    run.export(tmp_path / "out", format="lm-eval")
    loaded, items = tasks(tmp_path / "out"), questions(run)
    assert {"viva_exam_mcq", "viva_exam_open"} == set(loaded)
    closed, open_ = loaded["viva_exam_mcq"], loaded["viva_exam_open"]
    assert ("multiple_choice", "generate_until") == (closed.OUTPUT_TYPE, open_.OUTPUT_TYPE)
    assert ["m1", "m1 [short]", "t1"] == [doc["id"] for doc in closed.test_docs()]
    for doc in closed.test_docs():
        options = closed.doc_to_choice(doc)
        assert items[doc["id"]].answer == (options[int(closed.doc_to_target(doc))],)
        assert f"Question: {with_context(items[doc['id']])}\nAnswer:" == closed.doc_to_text(doc)
    assert ["o1", "o2"] == [doc["id"] for doc in open_.test_docs()]
    for doc in open_.test_docs():
        assert formats.ask(items[doc["id"]]) == open_.doc_to_text(doc)
        assert formats.key(items[doc["id"]]) == open_.doc_to_target(doc)


def test_lm_eval_makes_its_requests_of_them(tasks: Tasks, tmp_path: Path) -> None:
    run = manifold(tmp_path / "run")
    run.export(tmp_path / "out", format="lm-eval")
    loaded = tasks(tmp_path / "out")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for task in loaded.values():
            task.build_all_requests(limit=None, rank=0, world_size=1)
    assert 4 + 2 + 2 == len(loaded["viva_exam_mcq"].instances)
    (first, _) = loaded["viva_exam_open"].instances
    assert 1024 == first.args[1]["max_gen_toks"]


def test_hostile_texts_are_data_and_no_templates(tasks: Tasks, tmp_path: Path) -> None:
    items = [
        {"item": f"q{k}", "format": "short", "question": f"What of {text}", "references": [f"that {text}"]}
        for k, text in enumerate([*ALL, "{{ answer }} {% raw %}", "{{question}}"])
    ]
    texts = [f"{k}: {text}" for k, text in enumerate(ALL) if text.strip()][:24]
    items.append({"item": "m", "format": "mcq", "question": "Which?", "options": texts, "answer": texts[-1:],
                  "references": []})  # fmt: skip
    run = made(tmp_path / "run", {"A": {"q0": "x"}}, items=items)
    run.export(tmp_path / "out", format="lm-eval")
    loaded, stored = tasks(tmp_path / "out"), questions(run)
    (doc,) = loaded["viva_exam_mcq"].test_docs()
    assert stored["m"].options == tuple(loaded["viva_exam_mcq"].doc_to_choice(doc))
    task = loaded["viva_exam_open"]
    for doc in task.test_docs():
        assert formats.ask(stored[doc["id"]]) == task.doc_to_text(doc)
        assert formats.key(stored[doc["id"]]) == task.doc_to_target(doc)


def test_a_question_without_a_key_is_counted(tmp_path: Path) -> None:
    items = [
        {"item": "a", "format": "longform", "question": "Why?", "references": []},
        {"item": "b", "format": "short", "question": "What?", "references": ["x"]},
    ]
    run = made(tmp_path / "run", {"A": {"a": "x"}}, items=items)
    first, _ = run.export(tmp_path / "out", format="lm-eval")
    assert {"questions: without a key": 1} == dict(first.left_out)


def test_several_benchmarks_of_like_names_are_tasks_of_their_own(tmp_path: Path) -> None:
    run = made(tmp_path / "run", {"A": {"q1": "x"}}, name="my-exam")
    made(tmp_path / "run", {"A": {"q1": "x"}}, name="my_exam", run=run)
    run.export(tmp_path / "out", format="lm-eval")
    files = sorted(path.name for path in (tmp_path / "out").glob("*.yaml"))
    assert ["viva_my_exam-2_open.yaml", "viva_my_exam_open.yaml"] == files
    for name in files:
        task = yaml.safe_load((tmp_path / "out" / name).read_text())
        assert (name[:-5], f"{name[:-5]}.jsonl") == (
            task["task"],
            task["dataset_kwargs"]["data_files"]["test"],
        )


def test_what_lm_eval_made_of_it_comes_back_to_the_same_items(shared: Path, tmp_path: Path) -> None:
    """Ids of the run stand in the documents, and `viva import` finds the items by them."""
    run = manifold(tmp_path / "run")
    run.export(tmp_path / "out", format="lm-eval")
    docs = [json.loads(line) for line in (tmp_path / "out" / "viva_exam_open.jsonl").read_text().splitlines()]
    lines = [
        {"doc_id": k, "doc": doc, "target": doc["reference"], "resps": [["an answer"]], "filter": "none",
         "arguments": {"gen_args_0": {"arg_0": doc["prompt"], "arg_1": {}}}, "metrics": ["exact_match"],
         "filtered_resps": ["an answer"], "exact_match": 0.0}
        for k, doc in enumerate(docs)
    ]  # fmt: skip
    samples = tmp_path / "samples_viva_exam_open_2026-01-01T00-00-00.000000.jsonl"
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    again = viva.open(tmp_path / "again.viva")
    exam = f"jsonl(path='{tmp_path / 'run' / 'exam.jsonl'}')"
    (log,) = again.import_logs(samples, reader="lm-eval", benchmark=exam, candidate="tiny").logs
    assert (2, 0) == (log.items, log.skipped)
    assert {"o1", "o2"} == set(again.responses["item"])


def test_texts_that_are_hidden_make_no_task(tmp_path: Path) -> None:
    run = manifold(tmp_path / "run")
    with pytest.raises(InputError, match="a task is texts"):
        run.export(tmp_path / "out", format="lm-eval", redact=True)
    run.export(tmp_path / "hidden.viva", format="run", redact=True)
    with pytest.raises(InputError, match="its texts are gone, and a task is texts"):
        viva.open(tmp_path / "hidden.viva").export(tmp_path / "out", format="lm-eval")
    bare = made(tmp_path / "bare", {"A": {"a": "x"}}, items=[
        {"item": "a", "format": "longform", "question": "Why?", "references": []}])  # fmt: skip
    with pytest.raises(SelectionError, match="no question with a key"):
        bare.export(tmp_path / "out", format="lm-eval")
    assert not (tmp_path / "out").exists()
