"""What stands in memory of a large run: no text that nothing reads, a part at a time, a constant once."""

import random
import weakref
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.studies.making import SILENT, marked
from tests.viewing import read_anew, study_table

from vivavoce.core import registry
from vivavoce.report import explorer
from vivavoce.run.compare import verb
from vivavoce.run.run import Run
from vivavoce.store import name_places, query_frames, read
from vivavoce.studies.answers import N_WORDS, TEXT_HASH, answers_in
from vivavoce.studies.comparing import status as status_module
from vivavoce.studies.comparing.pairs import pairs
from vivavoce.studies.comparing.repeated_tests import data_digests
from vivavoce.studies.comparing.status import status
from vivavoce.studies.coverage import Requests
from vivavoce.studies.row_parts import coded, parts_by, stacked

CANDIDATES = ("Ann", "Ben", "Cleo", "Dot")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Four candidates, twelve questions, two repeats; one answer is blank."""
    rng = random.Random(3)
    answers: dict[str, dict[str, Any]] = {
        name: {f"q{n:02}": [round(rng.random(), 2) for _ in range(2)] for n in range(12)}
        for name in CANDIDATES
    }
    answers["Ben"]["q03"] = [0.5, SILENT]
    return marked(tmp_path, answers)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is asked of the table of responses: the columns of each reading, and the rest."""
    calls: list[dict[str, Any]] = []
    real = read.responses

    def counting(db: Any, **options: Any) -> pl.DataFrame:
        calls.append(options)
        return real(db, **options)

    monkeypatch.setattr(read, "responses", counting)
    return calls


def test_a_study_that_reads_no_text_holds_none(run: Run, reads: list[dict[str, Any]]) -> None:
    run.study()
    assert reads
    assert all("text" not in call["columns"] for call in reads)


def test_whole_answers_are_read_once_for_all_studies_and_else_edits_alone(
    run: Run, reads: list[dict[str, Any]]
) -> None:
    """Whose repeats are one text is worked out once; controls and wordings are edits."""
    run.study()
    assert [["text_hash"]] == [list(call["derived"]) for call in reads if call["edited"] is not True]


def test_the_report_reads_the_texts_of_the_answers_on_the_page_alone(
    run: Run, reads: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explorer, "MOST_ANSWERS", 3)
    run.report()
    in_words = [call for call in reads if not call["probed"]]
    with_texts = [call for call in in_words if {"text", "final"} & {*call["columns"]}]
    assert with_texts
    assert all(call["items"].height <= 3 + 3 for call in with_texts)


def test_what_is_counted_of_texts_is_counted_part_by_part(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """96 answers stand as Python objects ten at a time, and no part is kept with its texts."""
    monkeypatch.setattr(query_frames, "CHUNK", 10)
    parts: list[pl.DataFrame] = []
    real = name_places.ColumnParts.add

    def add(self: name_places.ColumnParts, part: pl.DataFrame) -> None:
        parts.append(part)
        real(self, part)

    monkeypatch.setattr(name_places.ColumnParts, "add", add)
    words = read_anew(run)("candidate", "item", n=N_WORDS, text_hash=TEXT_HASH)
    assert [*[10] * 9, 6] == [part.height for part in parts]
    assert not any("text" in part.columns for part in parts)
    texts = run.responses.select("candidate", "item", n=N_WORDS, text_hash=TEXT_HASH)
    assert texts.equals(words)


def test_answers_that_are_read_are_those_of_the_table(run: Run) -> None:
    """Columns, edits and items are chosen in the query as they are in a frame."""
    some = run.responses.select("benchmark", "item", "variant").unique().sort("item").head(5)
    in_run, in_rows = read_anew(run), answers_in(run.responses)
    for options in (
        {},
        {"items": some},
        {"edited": False},
        {"edited": True},
        {"edited": False, "items": some},
    ):
        for columns in ((), ("candidate", "text"), ("benchmark",), ("repeat", "item")):
            assert in_rows(*columns, **options).equals(in_run(*columns, **options)), (columns, options)  # type: ignore[arg-type]


def test_no_items_are_no_answers(run: Run) -> None:
    nothing = run.responses.select("benchmark", "item", "variant").clear()
    assert 0 == read_anew(run)("text", items=nothing).height
    assert 0 == read_anew(run, set())("text", n=N_WORDS).height


@pytest.mark.parametrize("name", list(registry.members("study")))
def test_no_study_makes_a_column_that_is_held_once_into_one_value_a_row(run: Run, name: str) -> None:
    """`scores["benchmark"]` would, for as long as the table lives: 16 bytes a row and column."""
    study = registry.build("study", name)
    table = study_table(run, study, named=False)
    before = table.scores.estimated_size()
    if study.applies_to(table):
        study.findings(table)
    assert before == table.scores.estimated_size()


def test_an_expanded_constant_would_be_noticed(run: Run) -> None:
    scores = study_table(run, registry.build("study", "ranking")).scores
    before = scores.estimated_size()
    assert {"exam"} == set(scores["benchmark"])
    assert before < scores.estimated_size()


def test_pairs_hold_numbers_for_the_names_of_items_and_what_pairs_share_once(run: Run) -> None:
    """Four candidates are six pairs. Ben's blank answer counts as the worst, so no pair has a gap."""
    table = study_table(run, registry.build("study", "ranking"))
    size, names = table.scores.estimated_size(), list(combinations(CANDIDATES, 2))
    data_digests(table.scores, table.measures, names)
    compared = list(pairs(table.scores, table.measures, names, margin=None, population="sample"))
    means = [pair.data.items for pair in compared]  # type: ignore[union-attr]
    assert size == table.scores.estimated_size()
    assert 6 == len(means)
    assert {("number", "group", "observed", "low", "high")} == {tuple(rows.columns) for rows in means}
    for name, n_arrays in (("number", 1), ("group", 1), ("observed", 6)):
        assert n_arrays == len({_address(rows[name]) for rows in means})
    assert all(_address(rows["observed"]) == _address(rows[end]) for rows in means for end in ("low", "high"))


def _address(values: pl.Series) -> int:
    return values.to_numpy(allow_copy=False).ctypes.data


def test_the_answers_of_candidates_are_read_for_a_test_of_shares_alone(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All answers of this run are whole, so no two candidates can differ in what is not."""
    reads: list[str] = []
    real = verb._answers_of

    def counting(view: Any, items: Any, benchmark: str, candidate: str) -> pl.DataFrame:
        reads.append(candidate)
        return real(view, items, benchmark, candidate)

    monkeypatch.setattr(verb, "_answers_of", counting)
    run.compare()
    assert [] == reads


def rows_of(*names: str | None) -> pl.DataFrame:
    return pl.DataFrame({"candidate": names, "n": range(len(names))})


def test_parts_come_in_the_order_of_the_rows_and_stand_one_at_a_time() -> None:
    rows = rows_of("b", "a", None, "b", "a")
    alive: list[weakref.ref[pl.DataFrame]] = []
    parts = []
    for (name,), part in parts_by(rows, "candidate"):
        alive.append(weakref.ref(part))
        parts.append((name, part["n"].to_list()))
        del part
        assert 0 == sum(ref() is not None for ref in alive[:-1])
    assert [("b", [0, 3]), ("a", [1, 4]), (None, [2])] == parts


def test_parts_that_are_not_needed_are_not_copied() -> None:
    rows = rows_of("b", "a", "b")
    assert [("a",)] == [values for values, _ in parts_by(rows, "candidate", without={("b",)})]
    ((_, whole),) = parts_by(rows_of("a", "a"), "candidate")
    assert [0, 1] == whole["n"].to_list()
    assert [] == list(parts_by(rows.clear(), "candidate"))


def test_status_holds_the_scores_of_one_candidate_at_a_time(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop's own name holds the part before until the next one is there."""
    most = 0

    def watched(rows: pl.DataFrame, *columns: str, **options: Any) -> Iterator[Any]:
        nonlocal most
        alive: list[weakref.ref[pl.DataFrame]] = []
        for values, part in parts_by(rows, *columns, **options):
            alive.append(weakref.ref(part))
            most = max(most, sum(ref() is not None for ref in alive)) if len(columns) == 3 else most
            yield values, part

    monkeypatch.setattr(status_module, "parts_by", watched)
    table = study_table(run, registry.build("study", "ranking"))
    responses = read_anew(run)(*status_module.OF_RESPONSES, blank=pl.col("text") == "")
    requests = Requests.of_rows(responses, run.items)
    counted = status(responses, table.scores, table.measures, requests)
    assert len(CANDIDATES) == len(counted.rows)
    assert 1 <= most <= 2 < len(CANDIDATES)


def test_the_first_answers_do_not_hold_the_others() -> None:
    answers = pl.DataFrame({"x": [float(n) for n in range(10_000)]})
    first = explorer._first(answers)
    assert explorer.MOST_ANSWERS == first.height
    assert list(range(3)) == first["x"].head(3).to_list()
    start, end = answers["x"].to_numpy(), first["x"].to_numpy()
    assert not start.ctypes.data <= end.ctypes.data < start.ctypes.data + start.nbytes
    assert answers.head(2).equals(explorer._first(answers.head(2)))


def test_codes_stand_in_the_order_of_names_and_take_less() -> None:
    rows = pl.DataFrame({"item": [f"a long name of question {n % 7}" for n in range(700)] + [None]})
    coded_rows = rows.cast(coded(rows, "item"))  # type: ignore[arg-type]
    assert rows["item"].sort().to_list() == coded_rows["item"].sort().to_list()
    assert coded_rows.estimated_size() * 8 < rows.estimated_size()


def test_a_constant_of_all_parts_is_held_once_and_null_is_one() -> None:
    schema = dict.fromkeys("abc", pl.String)
    part = pl.DataFrame({"a": ["constant"] * 2, "b": ["u", "v"], "c": [None, None]}, schema=schema)
    rows, every = stacked([part, part]), pl.concat([part, part])
    assert rows.estimated_size() < every.estimated_size()
    assert every.equals(rows)
