"""Who only repeats themselves."""

import polars as pl

from vivavoce.studies.answers import TEXT_HASH, identical_repeats


def said(*texts: str | None, candidate: str = "A") -> pl.DataFrame:
    rows = [(candidate, "b", "q1", "", "", text) for text in texts]
    names = ["candidate", "benchmark", "item", "variant", "edit", "text"]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    return frame.with_columns(text_hash=TEXT_HASH)


def test_the_same_text_every_time_is_identical():
    assert {"A"} == identical_repeats(said("x", "x"))


def test_another_text_once_is_not():
    assert set() == identical_repeats(said("x", "x", "y"))


def test_one_answer_repeats_nothing():
    assert set() == identical_repeats(said("x"))


def test_failing_alike_is_not_answering_alike():
    assert set() == identical_repeats(said(None, None))
    assert {"A"} == identical_repeats(said("x", "x", None))
