"""The published rule book: what the released code counts, beside what this project recommends."""

import json

import pytest

from vivavoce.core.errors import SpecError
from vivavoce.core.records import Item, Response, Row
from vivavoce.core.registry import build
from vivavoce.facts.rules import rule_book
from vivavoce.formats import read_response
from vivavoce.metrics import ScoringContext

QUESTION = "What does warfarin need?"
TEXT = f"{QUESTION} Warfarin needs INR monitoring. Warfarin needs INR monitoring. It is taken by mouth."
UNITS = (
    "Warfarin needs INR monitoring.",
    "",
    "Warfarin needs INR monitoring.",
    "Warfarin is taken by mouth.",
)


@pytest.fixture
def score(tmp_path):
    """The values of an answer whose units were recorded, with the replies of a fake one-word checker."""
    item = Item(benchmark="exam", item="q", format="longform", question=QUESTION)
    response = Response(benchmark="exam", item="q", candidate="A", text=TEXT)

    class FakeClient:
        def __init__(self, reply):
            self.reply, self.asked = reply, 0

        def ask(self, model, requests, parse, **_):
            from vivavoce.models.engine.client import CallResult

            self.asked += len(requests)
            return [
                CallResult(p(self.reply(r.messages[-1].content)), None)
                for r, p in zip(requests, parse, strict=True)
            ]

    def score(reply, rules, units=UNITS):
        file = tmp_path / "units.jsonl"
        rows = [{"item": "q", "candidate": "A", "unit": n, "text": t} for n, t in enumerate(units, 1)]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        metric = build(
            "metric", f"atomic_facts(splitter=recorded(file={file}), checker=fake/c, rules={rules})"
        )
        row = Row(item, response, read_response(item, TEXT))
        (values,) = metric.values([row], ScoringContext(FakeClient(reply)))
        return values

    return score


def test_the_published_book_has_one_figure_and_the_corrected_one_has_more(score):
    assert set(score(lambda _: "true", "published")) == {"dahl_score", "supported"}
    assert {"precision", "precision_low", "dahl_score"} <= set(score(lambda _: "true", "corrected"))


def test_published_repeated_units_count_again_and_blank_lines_are_checked(score):
    values = score(lambda text: "false" if "mouth" in text else "true", "published")
    assert values["dahl_score"].value == pytest.approx(3 / 4)
    values = score(lambda text: "false" if "mouth" in text else "true", "corrected")
    assert values["dahl_score"].value == pytest.approx(1 / 2)
    notes = [v.note.split(":")[0] for v in values["supported"].values()]
    assert notes == ["true", "empty", "repeated", "false"]


def test_untrue_is_true_by_the_published_book_and_false_by_the_corrected_one(score):
    assert score(lambda _: "Untrue.", "published")["dahl_score"].value == 1.0
    assert score(lambda _: "Untrue.", "corrected")["precision"].value == 0.0


def test_one_bad_verdict_drops_the_answer_as_published(score):
    values = score(lambda text: "perhaps" if "mouth" in text else "true", "published")
    assert values["dahl_score"].status == "set_aside"


def test_an_unknown_book_is_refused_with_those_there_are():
    assert rule_book("published").figures == ("dahl_score",)
    with pytest.raises(SpecError, match="lenient"):
        build("metric", "atomic_facts(splitter=sentences, checker=fake/c, rules=lenient)")
