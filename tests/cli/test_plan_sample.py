"""`viva plan-sample`: the numbers come from the planner, and bad ones are one sentence."""

import json

import pytest
from typer.testing import CliRunner

from vivavoce.cli import app
from vivavoce.core.errors import InputError

RUN = CliRunner()


def test_both_numbers_of_a_paper_stand_side_by_side():
    shown = RUN.invoke(app, ["plan-sample", "--margin", "0.05", "--n", "260", "--of", "5621"]).stdout
    assert "5.00 points at 95 % takes 360 items of 5,621." in shown
    assert "5.94 points at 95 % is what you get from 260 items of 5,621." in shown


def test_rows_carry_what_was_asked():
    words = ["plan-sample", "--margin", "0.05", "--of", "5621", "--deff", "1.5", "--json"]
    (row,) = json.loads(RUN.invoke(app, words).stdout)["rows"]
    numbers = {name: round(row.pop(name), 4) for name in ("low", "high", "events")}
    assert {"low": 0.45, "high": 0.55} | {"events": numbers["events"]} == numbers
    assert {
        "source": "margin",
        "margin": 0.05,
        "n": 523,
        "of": 5621,
        "deff": 1.5,
        "p": 0.5,
        "level": 0.95,
        "method": "normal",
    } == row


def test_few_events_are_planned_exactly_and_said_so():
    """The normal formula gave 189 items, whose exact interval is 2.3 points to each side."""
    text = RUN.invoke(app, ["plan-sample", "--margin", "0.02", "--p", "0.02"]).stdout
    assert "A margin of 2.00 points at 95 % takes 245 items." in text
    assert "About 4.9 events are expected: the exact interval would be 0.64 to 4.6 %." in text
    (row,) = json.loads(RUN.invoke(app, ["plan-sample", "--n", "189", "--p", "0.02", "--json"]).stdout)[
        "rows"
    ]
    assert ("exact", 0.0232) == (row["method"], round(row["margin"], 4))


def test_a_margin_of_very_many_items_is_never_shown_as_none():
    shown = RUN.invoke(app, ["plan-sample", "--n", "999999999"]).stdout
    assert "A margin of 0.0031 points" in shown
    shown = RUN.invoke(app, ["plan-sample", "--n", "8", "--of", "8"]).stdout
    assert "A margin of 0.00 points" in shown


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--margin", "0"],
        ["--margin", "1e-300"],
        ["--margin", "nan"],
        ["--n", "9", "--of", "8"],
        ["--n", "9", "--deff", "0"],
    ],
)
def test_bad_numbers_are_one_sentence(words):
    error = RUN.invoke(app, ["plan-sample", *words]).exception
    assert isinstance(error, InputError)
    assert 1 == str(error).count("\n") + 1
