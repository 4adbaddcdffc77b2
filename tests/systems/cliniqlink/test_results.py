"""Results in and out: an answer finds its question by what it is, and whatever does not fit is named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.systems.cliniqlink.conftest import KINDS, ROWS, SOURCE, Results, dump, exam, load

from vivavoce.core.errors import InputError, SelectionError, StoreError
from vivavoce.run.run import Run, open_run
from vivavoce.systems.cliniqlink.exporter import write_blank, write_questions

Viva = Callable[..., Any]


@pytest.fixture
def spec(tmp_path: Path) -> str:
    return exam(tmp_path / "data")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return open_run(tmp_path / "r.viva")


def said(run: Run) -> dict[str, str | None]:
    return dict(run.responses.select("item", "text").iter_rows())


def taken(run: Run, folder: Path, spec: str) -> dict[str, str | None]:
    run.import_answers(folder, benchmark=spec, set={"candidate": "A"})
    return said(run)


def refused(run: Run, folder: Path, spec: str) -> str:
    """What is said of results that cannot be imported; nothing of them is stored."""
    with pytest.raises(InputError) as error:
        run.import_answers(folder, benchmark=spec, set={"candidate": "A"})
    assert not run.file.exists or not run.responses.height
    return str(error.value)


def test_the_shell_lists_the_files_of_results(
    viva: Viva, run: Run, results: Results, spec: str, tmp_path: Path
) -> None:
    taken(run, results(), spec)
    shown = viva("export", run.file.path, tmp_path / "out", "--format", "cliniqlink").stdout
    assert ["items", "answers", "file"] == shown.splitlines()[0].split()
    assert all(path.name in shown for path in (tmp_path / "out").iterdir())


# In


def test_results_of_others_are_imported(run: Run, results: Results, spec: str) -> None:
    done = run.import_answers(results(), benchmark=spec, set={"candidate": "A"}, role={"A": "floor"})
    assert (8, 1, 8, 8) == (done.responses, done.candidates, done.items, done.new)
    assert ["floor"] == run.responses["role"].unique().to_list()


def test_importing_them_again_changes_nothing(run: Run, results: Results, spec: str) -> None:
    taken(run, results(), spec)
    done = run.import_answers(results(), benchmark=spec, set={"candidate": "A"})
    assert (0, 8) == (done.new, done.unchanged)


def test_an_answer_finds_its_question_wherever_it_stands(run: Run, results: Results, spec: str) -> None:
    """Both questions are on one paragraph, by which published results are keyed."""
    rows = [row | {"source": SOURCE} for row in reversed(ROWS["TF"])]
    folder = results(TF={"inputs": rows, "responses": ["to the second", "to the first"]})
    found = taken(run, folder, spec)
    assert ("to the first", "to the second") == (found["TF-0"], found["TF-1"])


def test_an_answer_finds_its_question_by_its_id(run: Run, results: Results, tmp_path: Path) -> None:
    """Two items that ask the same with other keys cannot be told apart otherwise."""
    twice = [{"question": "Is it so?", "answer": "True"}, {"question": "Is it so?", "answer": "False"}]
    spec = exam(tmp_path / "data", TF=twice)
    write_questions(spec, tmp_path / "q")
    rows = load(tmp_path / "q" / "TF.json")
    folder = results(TF={"inputs": rows[::-1], "responses": ["second", "first"]})
    found = taken(run, folder, spec)
    assert ("first", "second") == (found["TF-0"], found["TF-1"])


def test_two_items_alike_are_told_apart_by_gold_or_paragraph_else_not(
    run: Run, results: Results, tmp_path: Path
) -> None:
    twice = [
        {"question": "Is it so?", "answer": "True", "source": {"paragraph_id": "p1"}},
        {"question": "Is it so?", "answer": "False", "source": {"paragraph_id": "p2"}},
    ]
    spec = exam(tmp_path / "data", TF=twice)
    bare = {"question": "Is it so?"}
    folder = results(TF={"inputs": [bare, bare], "responses": ["a", "b"], "prompts": ["", ""]})
    assert "inputs[0] could be TF-0 or TF-1" in refused(run, folder, spec)
    for told in ({"answer": "False"}, {"source": {"paragraph_id": "p2"}}):
        inputs = [bare | told]
        folder = results(TF={"inputs": inputs, "responses": ["a"], "prompts": [""]})
        one = open_run(tmp_path / f"{next(iter(told))}.viva")
        assert "a" == taken(one, folder, spec)["TF-1"]


def test_one_item_given_twice_in_the_data_takes_both_answers(
    run: Run, results: Results, tmp_path: Path
) -> None:
    """Which is whose does not matter: they ask the same and have one key."""
    spec = exam(tmp_path / "data", TF=[ROWS["TF"][0]] * 2)
    folder = results(TF={"inputs": [ROWS["TF"][0]] * 2, "responses": ["a", "b"]})
    found = taken(run, folder, spec)
    assert ("a", "b") == (found["TF-0"], found["TF-1"])


def test_a_part_of_the_questions_may_be_answered(run: Run, results: Results, spec: str) -> None:
    folder = results(TF={"inputs": ROWS["TF"][1:], "responses": ["True"], "prompts": ["?"]})
    assert {"TF-0"} == {f"{stem}-{k}" for stem in ROWS for k in range(len(ROWS[stem]))} - {
        *taken(run, folder, spec)
    }


def test_prompts_may_be_absent(run: Run, results: Results, spec: str) -> None:
    folder = results()
    for path in folder.iterdir():
        body = load(path)
        dump(path, {key: value for key, value in body.items() if key != "prompts"})
    assert 8 == len(taken(run, folder, spec))


def test_a_null_is_a_failed_answer_and_an_empty_text_an_empty_one(
    run: Run, results: Results, spec: str
) -> None:
    done = run.import_answers(results(TF={"responses": [None, ""]}), benchmark=spec, set={"candidate": "A"})
    assert (1, 1) == (done.failed, done.blank)
    assert {"TF-0": None, "TF-1": ""}.items() <= said(run).items()


@pytest.mark.parametrize(
    "wrapped",
    [
        {"generated_text": "True"},
        [{"generated_text": "True"}],
        [[{"generated_text": "True"}]],
        {"text": "True"},
        ["True"],
        {"generated_text": {"text": "True"}},
    ],
)
def test_what_a_pipeline_wraps_an_answer_in_is_taken_off(
    run: Run, results: Results, spec: str, wrapped: Any
) -> None:
    found = taken(run, results(TF={"responses": [wrapped, {"generated_text": None}]}), spec)
    assert {"TF-0": "True", "TF-1": None}.items() <= found.items()


@pytest.mark.parametrize("odd", [7, True, {"label": "True"}, [], ["a", "b"], {"text": 7}])
def test_an_answer_that_is_no_text_is_named(run: Run, results: Results, spec: str, odd: Any) -> None:
    text = refused(run, results(TF={"responses": ["True", odd]}), spec)
    assert "true_false.json, responses[1] is no text" in text


def test_nesting_without_end_is_no_text(run: Run, results: Results, spec: str) -> None:
    odd: Any = "True"
    for _ in range(50):
        odd = [odd]
    assert "is no text but list" in refused(run, results(TF={"responses": ["", odd]}), spec)


@pytest.mark.parametrize("stem", KINDS)
def test_a_file_that_is_absent_is_named(run: Run, results: Results, spec: str, stem: str) -> None:
    folder = results()
    (folder / f"{KINDS[stem]}.json").unlink()
    text = refused(run, folder, spec)
    assert f"lacks {KINDS[stem]}.json: " in text
    assert "For those that are there write cliniqlink(data=DIR, files=[" in text


def test_a_part_of_the_exam_needs_its_files_only(run: Run, results: Results, tmp_path: Path) -> None:
    exam(tmp_path / "data")
    folder = results()
    (folder / "short.json").unlink()
    spec = f"cliniqlink(data='{tmp_path / 'data'}', files=[TF, MC])"
    assert {"TF-0", "TF-1", "MC-0"} == set(taken(run, folder, spec))


@pytest.mark.parametrize("name", ["responses", "prompts"])
def test_lists_of_other_lengths_are_named_with_both(run: Run, results: Results, spec: str, name: str) -> None:
    text = refused(run, results(TF={name: ["True"]}), spec)
    assert f"true_false.json: 2 inputs and 1 {name}" in text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"inputs": [{"question": "Is it', "true_false.json: broken JSON"),
        ("", "true_false.json: broken JSON"),
        ("[]", "lists inputs and responses is needed"),
        ('{"inputs": []}', "lists inputs and responses is needed"),
        ('{"inputs": {}, "responses": []}', "lists inputs and responses is needed"),
        ('{"inputs": [], "responses": [], "prompts": null}', "0 inputs and no list of prompts"),
        ('{"inputs": [1], "responses": ["a"]}', "inputs[0] is no question of this format"),
        ('{"inputs": [{"text": "?"}], "responses": ["a"]}', "inputs[0] is no question of this format"),
        ('{"inputs": [], "responses": [NaN]}', "NaN is no JSON number"),
        ('{"inputs": [], "responses": ["\\ud800"]}', "broken JSON"),
    ],
)
def test_a_file_that_is_none_is_named(run: Run, results: Results, spec: str, content: str, said: str) -> None:
    folder = results()
    (folder / "true_false.json").write_text(content, encoding="utf-8")
    assert said in refused(run, folder, spec)


def test_a_question_of_another_exam_is_named(run: Run, results: Results, spec: str) -> None:
    folder = results(MC={"inputs": [ROWS["MC"][0] | {"question": "Which other?"}]})
    assert "multiple_choice.json, inputs[0]: " in refused(run, folder, spec)
    assert "does not ask 'Which other?'" in refused(run, folder, spec)


def test_other_options_are_another_question(run: Run, results: Results, spec: str) -> None:
    folder = results(MC={"inputs": [ROWS["MC"][0] | {"options": ["two", "one"]}]})
    assert "with these options or steps" in refused(run, folder, spec)


def test_one_question_twice_is_named_with_both_places(run: Run, results: Results, spec: str) -> None:
    text = refused(run, results(TF={"inputs": [ROWS["TF"][0]] * 2}), spec)
    assert "inputs[1] asks TF-0" in text
    assert "inputs[0]: one question has one answer" in text


@pytest.mark.parametrize(
    ("stem", "gold"),
    [
        ("TF", {"answer": "False"}),
        ("TF", {"answer": "Perhaps"}),
        ("MC", {"correct_answer": "one"}),
        ("list", {"answer": ["x"]}),
        ("short", {"answer": "This!"}),
        ("short_inverse", {"incorrect_explanation": "No key."}),
        ("multi_hop", {"answer": "Not so."}),
        ("multi_hop", {"reasoning": ["Step 1: One."]}),
        ("multi_hop_inverse", {"incorrect_reasoning_step": ["Step 1", "Explanation: It is three."]}),
        ("multi_hop_inverse", {"incorrect_reasoning_step": ["Step 2", "Explanation: It is four."]}),
    ],
)
def test_gold_that_is_not_the_exam_s_is_named(
    run: Run, results: Results, spec: str, stem: str, gold: dict[str, Any]
) -> None:
    inputs = [ROWS[stem][0] | gold, *ROWS[stem][1:]]
    text = refused(run, results(**{stem: {"inputs": inputs}}), spec)
    assert f"{KINDS[stem]}.json, inputs[0]: its gold (" in text
    assert next(iter(gold)) in text


def test_gold_written_otherwise_is_the_same_gold(run: Run, results: Results, spec: str) -> None:
    """A letter for an option's text, a list in another order, the step in other words."""
    step = {"incorrect_reasoning_step": "Step 2\nExplanation: It is three."}
    folder = results(
        MC={"inputs": [ROWS["MC"][0] | {"correct_answer": "two"}]},
        list={"inputs": [ROWS["list"][0] | {"answer": ["z", "x"]}]},
        multi_hop_inverse={"inputs": [ROWS["multi_hop_inverse"][0] | step]},
    )  # fmt: skip
    assert 8 == len(taken(run, folder, spec))


def test_an_id_that_the_exam_has_not_is_named(run: Run, results: Results, spec: str, tmp_path: Path) -> None:
    write_questions(spec, tmp_path / "q")
    rows = load(tmp_path / "q" / "TF.json")
    text = refused(run, results(TF={"inputs": [rows[0], rows[1] | {"id": "TF-7"}]}), spec)
    assert "inputs[1]: " in text
    assert "has no 'TF-7'. Did you mean 'TF-1'" in text


def test_a_question_whose_hash_is_not_the_exam_s_is_named(
    run: Run, results: Results, spec: str, tmp_path: Path
) -> None:
    write_questions(spec, tmp_path / "q")
    rows = load(tmp_path / "q" / "TF.json")
    for change in ({"question": "Is it now?"}, {"hash": "0" * 16}, {"hash": [1]}, {"id": "TF-0"}):
        text = refused(run, results(TF={"inputs": [rows[0], rows[1] | change]}), spec)
        assert "is worded otherwise in" in text


def test_a_folder_answers_cliniqlink_only(run: Run, results: Results) -> None:
    assert "not of sample: `viva challenge exam`" in refused(run, results(), "sample")


def test_without_a_name_the_candidate_is_asked_for(run: Run, results: Results, spec: str) -> None:
    with pytest.raises(InputError, match="--set candidate=NAME"):
        run.import_answers(results(), benchmark=spec)


# Out


def test_what_goes_out_comes_in_as_it_was(shared: Path, tmp_path: Path, run: Run) -> None:
    """Asked on a package of the published sample, scored at home: as if it had been asked there."""
    spec = f"cliniqlink(data={shared / 'data' / 'cliniqlink'})"
    write_questions(spec, tmp_path / "q")
    inside = open_run(tmp_path / "inside.viva")
    inside.collect(f"cliniqlink_questions(data='{tmp_path / 'q'}')", models=["baseline/longest-option"])
    assert [5] * 7 == [one.answers for one in inside.export(tmp_path / "out", format="cliniqlink")]
    run.import_answers(tmp_path / "out", benchmark=spec)
    assert said(inside) == said(run)
    alone = open_run(tmp_path / "alone.viva")
    alone.collect(spec, models=["baseline/longest-option"])
    assert said(alone) == said(run)
    estimates = [row["estimate"] for row in run.score("accuracy", "list_f1").rows]
    assert estimates == [row["estimate"] for row in alone.score("accuracy", "list_f1").rows]


def test_gold_goes_out_as_the_data_have_it(shared: Path, tmp_path: Path, run: Run) -> None:
    data = shared / "data" / "cliniqlink"
    run.collect(f"cliniqlink(data={data})", models=["baseline/random"])
    run.export(tmp_path / "out", format="cliniqlink", gold=True)
    for stem, kind in KINDS.items():
        inputs = load(tmp_path / "out" / f"{kind}.json")["inputs"]
        for row, theirs in zip(inputs, load(data / f"{stem}.json"), strict=True):
            step = theirs.pop("incorrect_reasoning_step", None)
            assert theirs == {key: row[key] for key in theirs}
            assert step is None or row["incorrect_reasoning_step"][1].partition("Explanation: ")[
                2
            ] in "\n".join(step if isinstance(step, list) else [step])


def test_without_being_asked_for_gold_does_not_go_out(run: Run, spec: str, tmp_path: Path) -> None:
    run.collect(spec, models=["baseline/random"])
    run.export(tmp_path / "out", format="cliniqlink")
    inputs = [row for path in (tmp_path / "out").iterdir() for row in load(path)["inputs"]]
    assert "Key." not in json.dumps(inputs)
    assert "correct_answer" not in json.dumps(inputs)


def test_a_failed_answer_goes_out_as_null_and_a_withheld_one_as_empty(
    run: Run, results: Results, spec: str, tmp_path: Path
) -> None:
    taken(run, results(TF={"responses": [None, "True"]}), spec)
    rows = [
        {"item": f"{stem}-{k}", "candidate": "B", "text": "x"}
        for stem in ROWS
        for k in range(len(ROWS[stem]))
    ]
    rows[0] |= {"text": None, "status": "filtered"}
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, rows)))
    run.import_answers(tmp_path / "b.jsonl", benchmark=spec)
    for name, first in (("A", None), ("B", "")):
        run.export(tmp_path / name, format="cliniqlink", candidate=name)
        assert first == load(tmp_path / name / "true_false.json")["responses"][0]


def test_an_answer_that_is_lacking_is_named(run: Run, results: Results, spec: str, tmp_path: Path) -> None:
    taken(run, results(TF={"inputs": ROWS["TF"][1:], "responses": ["x"], "prompts": ["?"]}), spec)
    with pytest.raises(InputError, match=r"A has no answer to 1 of 8 questions \(TF-0\)"):
        run.export(tmp_path / "out", format="cliniqlink")
    assert not (tmp_path / "out").exists()


def test_whose_results_must_be_clear(run: Run, spec: str, tmp_path: Path) -> None:
    run.collect(spec, models=["baseline/random", "baseline/longest-option"])
    with pytest.raises(
        SelectionError, match="--candidate is one of baseline/random, baseline/longest-option"
    ):
        run.export(tmp_path / "out", format="cliniqlink")
    with pytest.raises(SelectionError, match="no candidate named 'baseline/rand' in this run"):
        run.export(tmp_path / "out", format="cliniqlink", candidate="baseline/rand")
    with pytest.raises(SelectionError, match="no answers, repeat 2"):
        run.export(tmp_path / "out", format="cliniqlink", candidate="baseline/random", repeat=2)


def test_results_of_another_candidate_are_not_replaced(run: Run, spec: str, tmp_path: Path) -> None:
    run.collect(spec, models=["baseline/random", "baseline/longest-option"])
    run.export(tmp_path / "out", format="cliniqlink", candidate="baseline/random")
    run.export(tmp_path / "out", format="cliniqlink", candidate="baseline/random")
    with pytest.raises(StoreError, match="is there already and is another"):
        run.export(tmp_path / "out", format="cliniqlink", candidate="baseline/longest-option")


def test_results_of_two_candidates_are_not_one_submission(run: Run, spec: str, tmp_path: Path) -> None:
    run.collect(spec, models=["baseline/random", "baseline/longest-option"])
    for name in ("random", "longest-option"):
        run.export(tmp_path / name, format="cliniqlink", candidate=f"baseline/{name}")
    (tmp_path / "random" / "list.json").replace(tmp_path / "longest-option" / "list.json")
    with pytest.raises(InputError, match="mixes results of baseline/longest-option and baseline/random"):
        open_run(tmp_path / "n.viva").import_answers(tmp_path / "longest-option", benchmark=spec)


def test_a_run_of_another_exam_has_no_results(run: Run, tmp_path: Path) -> None:
    run.collect("sample", models=["baseline/random"])
    with pytest.raises(SelectionError, match="holds no items of ClinIQLink"):
        run.export(tmp_path / "out", format="cliniqlink")


def test_blank_results_are_filled_in_and_imported(run: Run, spec: str, tmp_path: Path) -> None:
    write_blank(spec, tmp_path / "blank")
    body = load(tmp_path / "blank" / "short.json")
    dump(tmp_path / "blank" / "short.json", body | {"responses": ["This."]})
    done = run.import_answers(tmp_path / "blank", benchmark=spec, set={"candidate": "A"})
    assert (8, 7) == (done.responses, done.failed)


# The command line


def test_the_verb_says_what_it_wrote(viva: Viva, spec: str, tmp_path: Path) -> None:
    told = json.loads(viva("challenge", "questions", spec, "--to", tmp_path / "q", "--json").stdout)
    assert ("viva.challenge/1", None, 7) == (told["schema"], told["run"], len(told["rows"]))
    assert {"path": str(tmp_path / "q" / "TF.json"), "items": 2, "answers": None} == told["rows"][0]
    viva("challenge", "blank", spec, "--to", tmp_path / "b", "--quiet")
    viva("import", tmp_path / "r.viva", tmp_path / "b", "--benchmark", spec, "--set", "candidate=A")
    viva("challenge", "results", tmp_path / "r.viva", "--to", tmp_path / "c")
    assert [None, None] == load(tmp_path / "c" / "true_false.json")["responses"]


def test_what_goes_with_results_goes_with_nothing_else(viva: Viva, spec: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--gold goes with results, not with questions"):
        viva("challenge", "questions", spec, "--to", tmp_path / "q", "--gold")
