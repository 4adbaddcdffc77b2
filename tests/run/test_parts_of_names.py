"""Metrics and candidates of a run go by a part of their name, where one alone fits."""

from collections.abc import Iterator

import pytest
from tests.cases import each_case
from tests.studies.making import borrowed, exam, write_lines

from vivavoce.core.errors import SelectionError
from vivavoce.run.run import Run, open_run
from vivavoce.run.tables.load import select_signatures
from vivavoce.store.candidate_names import match_candidate
from vivavoce.store.view import with_view

LABELS = (
    "Model A (made up)",
    "Model B (made up)",
    "vllm/m(seed=1)",
    "vllm/m-large",
    "vllm/m(seed=1, top_p=0.5)",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder = tmp_path_factory.mktemp("parts")
    with borrowed():
        run = open_run(folder / "run.viva")
        answers = [{"item": "q1", "candidate": name, "text": "yes"} for name in LABELS]
        run.import_answers(write_lines(folder / "a.jsonl", answers), benchmark=exam(folder, ["q1"]))
        run.score("rouge:n=1", "rougeL", "exact", "token_f1")
        yield run


def test_short_forms_and_shorthands_are_stored_under_the_canonical_name(run: Run) -> None:
    assert ["rouge(n=1)", "rouge(n=L)", "exact", "token_f1"] == list(
        dict.fromkeys(measure.metric for measure in run.measures)
    )


@pytest.mark.parametrize(
    ("words", "metric"),
    [
        ("rouge:n=1", "rouge(n=1"),
        ("rougeL", "rouge(n=L"),
        ("rouge1", "rouge(n=1"),
        ("exa", "exact"),
        ("TOKEN", "token_f1"),
        ("f1", "token_f1"),
    ],
)
def test_a_metric_goes_by_a_part_of_its_name(run: Run, words: str, metric: str) -> None:
    (signature,) = with_view(run.file, select_signatures, words) or ()
    assert signature.startswith(metric)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "rouge",
            "the metric 'rouge' matches several of what this run was scored by: rouge(n=1), rouge(n=L).",
        ),
        ("rouge2", "the metric 'rouge2' matches none"),
        ("bert", "the metric 'bert' matches none"),
    ],
)
def test_words_that_fit_no_metric_or_several_list_those_there_are(
    run: Run, words: str, sentence: str
) -> None:
    with pytest.raises(SelectionError) as error:
        with_view(run.file, select_signatures, words)
    assert sentence in str(error.value)


@each_case(
    ("words", "label"),
    [
        ("Model A (made up)", LABELS[0]),
        ("model b (MADE UP)", LABELS[1]),
        ("A", LABELS[0]),
        ("model b", LABELS[1]),
        ("vllm/m:seed=1", LABELS[2]),
        ("vllm/m:top_p=0.5,seed=1", LABELS[4]),
        ("large", LABELS[3]),
        ("top_p", LABELS[4]),
    ],
)
def test_a_candidate_goes_by_a_part_of_its_name(words: str, label: str) -> None:
    assert label == match_candidate(words, LABELS)


def test_a_name_that_is_a_part_of_another_means_itself() -> None:
    assert "old" == match_candidate("old", ["older", "old", "the old one"])


@pytest.mark.parametrize("words", ["Model", "made up", "vllm/m(", "vllm/", "e"])
def test_a_part_of_several_candidates_is_refused_with_their_names(words: str) -> None:
    with pytest.raises(SelectionError, match=r"may be any of '.*', '.*: write more of its name"):
        match_candidate(words, LABELS)


@pytest.mark.parametrize("words", ["", " ", "Model C", "A B"])
def test_what_no_candidate_has_in_its_name_is_refused(words: str) -> None:
    with pytest.raises(SelectionError, match="no candidate named"):
        match_candidate(words, LABELS)
