"""Numbers in files have ranges: one outside is named with file, row, field and value, and not stored."""

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.studies.making import exam, write_lines

from vivavoce.benchmarks import load
from vivavoce.core.errors import InputError
from vivavoce.run.run import Run, open_run

Rows = Sequence[Mapping[str, Any]]
WHOLE = "a whole number from 1"
ANSWERS = [
    *(("repeat", value, WHOLE) for value in (-1, 1.5, 2**63, "inf", "nan", "1e999", "x")),
    *(("tokens", value, "a whole number from 0 to 1,000,000,000") for value in (-1, 0.5, 2**63)),
    *(("seconds", value, "a number from 0 to 31,622,400") for value in (-0.1, "inf", "nan", "-inf", "1e999")),
    *(("cost", value, "a number from 0 to 1,000,000,000") for value in (-1, "Infinity", "1e400")),
]
SCORES = [
    *(("repeat", value, WHOLE) for value in (0, -3)),
    *(("pass_no", value, WHOLE) for value in (0, -1, 2.5, 2**64)),
    *(("position", value, WHOLE) for value in (0, -1, "inf")),
    *(("value", value, "a number") for value in ("inf", "nan", "-1e999")),
]
PLACES = {".jsonl": "line 1", ".csv": "line 2", ".parquet": "row 1"}


def write(path: Path, rows: Rows) -> Path:
    if path.suffix == ".csv":
        with path.open("w", newline="") as stream:
            table = csv.DictWriter(stream, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    elif path.suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(path)
    else:
        write_lines(path, rows)
    return path


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return open_run(tmp_path / "exam.viva")


@pytest.fixture
def spec(tmp_path: Path) -> str:
    return exam(tmp_path, ["q1", "q2"])


def refused(take: Callable[[], object], file: Path, field: str, value: object, words: str) -> None:
    shown = "" if isinstance(value, float | int) else re.escape(str(value))
    place = f"{file}, {PLACES[file.suffix]}: {field} must be {words}, not "
    with pytest.raises(InputError, match=f"^{re.escape(place)}.*{shown}") as error:
        take()
    assert len(str(error.value)) < len(place) + 60


def fits(suffix: str, value: object) -> bool:
    """Whether the kind of file can hold the value."""
    return suffix != ".parquet" or not isinstance(value, int) or abs(value) < 2**63


@pytest.mark.parametrize("suffix", PLACES)
@pytest.mark.parametrize(("field", "value", "words"), ANSWERS)
def test_a_number_of_an_answer_outside_its_range_stores_nothing(
    run: Run, spec: str, tmp_path: Path, suffix: str, field: str, value: Any, words: str
) -> None:
    value = value if fits(suffix, value) else str(value)
    row = {"item": "q1", "candidate": "A", "text": "x", field: value}
    file = write(tmp_path / f"answers{suffix}", [row])
    refused(lambda: run.import_answers(file, benchmark=spec), file, field, value, words)
    assert not run.file.exists


@pytest.mark.parametrize("suffix", PLACES)
def test_a_repeat_0_by_itself_stores_nothing(run: Run, spec: str, tmp_path: Path, suffix: str) -> None:
    file = write(tmp_path / f"answers{suffix}", [{"item": "q1", "candidate": "A", "text": "x", "repeat": 0}])
    with pytest.raises(InputError, match=r"'repeat' holds 0, and repeats count from 1.*--set repeat=N"):
        run.import_answers(file, benchmark=spec)
    assert not run.file.exists


@pytest.mark.parametrize("suffix", PLACES)
@pytest.mark.parametrize(("field", "value", "words"), SCORES)
def test_a_number_of_a_score_outside_its_range_stores_nothing(
    run: Run, spec: str, tmp_path: Path, suffix: str, field: str, value: Any, words: str
) -> None:
    answers = write_lines(tmp_path / "a.jsonl", [{"item": "q1", "candidate": "A", "text": "x"}])
    run.import_answers(answers, benchmark=spec)
    value = value if fits(suffix, value) else str(value)
    file = write(tmp_path / f"scores{suffix}", [{"item": "q1", "candidate": "A", "value": 1, field: value}])
    refused(lambda: run.import_scores(file, measure="panel"), file, field, value, words)
    assert 0 == run.scores.height


@pytest.mark.parametrize("suffix", PLACES)
def test_numbers_at_the_ends_of_their_ranges_are_kept(
    run: Run, spec: str, tmp_path: Path, suffix: str
) -> None:
    row = {
        "item": "q1",
        "candidate": "A",
        "text": "x",
        "repeat": 2**63 - 1,
        "tokens": 0,
        "seconds": 0,
        "cost": 0,
    }
    run.import_answers(write(tmp_path / f"answers{suffix}", [row]), benchmark=spec)
    (stored,) = run.responses.to_dicts()
    assert (2**63 - 1, 0, 0.0, 0.0) == tuple(stored[n] for n in ("repeat", "tokens", "seconds", "cost"))


@pytest.mark.parametrize("probability", [0, -0.1, 1.01, "inf", "nan", "1e999", ""])
def test_a_probability_of_a_draw_lies_above_0_and_at_most_at_1(
    run: Run, spec: str, tmp_path: Path, probability: Any
) -> None:
    answers = write_lines(tmp_path / "a.jsonl", [{"item": "q1", "candidate": "A", "text": "x"}])
    run.import_answers(answers, benchmark=spec)
    row = {"item": "q1", "candidate": "A", "value": 1, "rater": "ann", "p": probability}
    file = write(tmp_path / "labels.csv", [row])
    with pytest.raises(InputError, match=r"labels\.csv, line 2"):
        run.import_scores(file, measure="panel", map={"probability": "p"})
    assert 0 == run.scores.height


CHAIN = {"format": "multi_hop_inverse", "question": "Why?", "references": ["Because."], "steps": ["a", "b"]}


@pytest.mark.parametrize("step", [0, 3, -1, 1.5, "9" * 400, 2**63])
def test_a_step_is_one_of_the_steps(tmp_path: Path, step: Any) -> None:
    file = write_lines(tmp_path / "exam.jsonl", [{"id": "q1", "step": step, **CHAIN}])
    with pytest.raises(
        InputError, match=r"exam\.jsonl, line 1, step: a whole number from 1 to 2, the number of"
    ):
        load(f"jsonl(path='{file}')")


@pytest.mark.parametrize("weight", ["1e999", "Infinity", "NaN", "9" * 400, "1000001", "-1e308", "9" * 5000])
def test_weights_of_points_are_finite_and_so_are_their_sums(tmp_path: Path, weight: str) -> None:
    file = tmp_path / "exam.jsonl"
    item = {"id": "q1", "format": "open", "question": "?", "rubric": [{"text": "t", "weight": 77}]}
    file.write_text(json.dumps(item).replace("77", weight) + "\n")
    with pytest.raises(
        InputError, match=r"exam\.jsonl, line 1(, rubric, point 1: .* of at most 1,000,000|: broken JSON)"
    ):
        load(f"jsonl(path='{file}')")
