"""From answers to scores of units: who is asked what, and what becomes of each reply. Models are fakes."""

import json

import pytest
from tests.cases import each_case

from vivavoce.core.errors import SpecError
from vivavoce.core.prompts import Unreadable
from vivavoce.core.records import Item, Response, Row
from vivavoce.core.registry import build, signature
from vivavoce.formats import read_response
from vivavoce.metrics import ScoringContext
from vivavoce.models.engine.client import CallResult

ITEM = Item(benchmark="exam", item="q", format="longform", question="What does warfarin need?")
SPLITTER, CHECKER = "fake/splitter", "fake/checker"


class FakeClient:
    """Answers as told, and counts what it is asked; equal requests come once, as from the real client."""

    def __init__(self, units, verdict):
        self.units, self.verdict, self.asked = units, verdict, []

    def ask(self, model, requests, parse, *, purpose, repeat=1, again=None):
        parsers = [parse] * len(requests) if callable(parse) else parse
        return [self._result(str(model), r, p, purpose) for r, p in zip(requests, parsers, strict=True)]

    def _result(self, model, request, parse, purpose):
        text = request.messages[-1].content
        self.asked.append((purpose, request.key))
        reply = self.units(text) if model == SPLITTER else self.verdict(text)
        if reply is None:
            return CallResult(None, "no reply came")
        try:
            return CallResult(parse(reply), None)
        except Unreadable as error:
            return CallResult(None, str(error))

    def distinct(self, purpose):
        return {key for asked, key in self.asked if asked == purpose}


def facts_reply(*texts):
    return json.dumps({"facts": [{"text": text, "claim": True, "why": ""} for text in texts]})


def row(text, item=ITEM, candidate="A"):
    response = Response(benchmark="exam", item=item.item, candidate=candidate, text=text)
    return Row(item, response, read_response(item, text))


def score(client, *rows, splitter=SPLITTER, **settings):
    spec = ", ".join(f"{k}={v}" for k, v in {"splitter": splitter, "checker": CHECKER, **settings}.items())
    metric = build("metric", f"atomic_facts({spec})").bind([r.item for r in rows])
    return metric.values(rows, ScoringContext(client))


TEXT = "Warfarin needs INR monitoring. Warfarin is taken by mouth."


def test_an_answer_becomes_units_and_each_unit_a_verdict():
    client = FakeClient(
        lambda _: facts_reply("Warfarin needs INR monitoring.", "Warfarin is taken by mouth."),
        lambda text: "True" if "INR" in text else "False",
    )
    (values,) = score(client, row(TEXT))
    assert values["precision"].value == 0.5
    assert [(u.unit, v.value, v.note) for u, v in values["supported"].items()] == [
        ("1", 1.0, "true"),
        ("2", 0.0, "false"),
    ]


def test_equal_facts_of_several_candidates_are_one_request():
    client = FakeClient(lambda _: facts_reply("Warfarin needs INR monitoring."), lambda _: "true")
    score(client, *(row(TEXT, candidate=name) for name in "ABCDE"))
    assert len(client.distinct("check facts")) == 1
    assert len(client.distinct("split facts")) == 1  # the same answer to the same question, too


def test_a_request_to_check_names_neither_candidate_nor_question():
    texts = []
    client = FakeClient(lambda _: facts_reply("Warfarin needs INR monitoring."), lambda t: texts.append(t))
    score(client, row(TEXT, candidate="Secret-Model-7"))
    assert texts
    assert all("Secret-Model-7" not in text and ITEM.question not in text for text in texts)


def test_a_splitter_that_cannot_be_read_fails_the_answer_with_its_reason():
    client = FakeClient(lambda _: "I would rather not.", lambda _: "true")
    (values,) = score(client, row(TEXT))
    assert values["precision"].status == values["supported"].status == "failed"
    assert "the answer was not split" in values["precision"].note
    assert not client.distinct("check facts")


def test_no_reply_about_one_fact_fails_the_answer_and_bad_words_do_not():
    units = facts_reply("Warfarin needs INR monitoring.", "Warfarin is taken by mouth.")
    lost = FakeClient(lambda _: units, lambda text: "true" if "INR" in text else None)
    (values,) = score(lost, row(TEXT))
    assert values["precision"].status == "failed"
    assert [v.status for v in values["supported"].values()] == ["ok", "failed"]
    bad = FakeClient(lambda _: units, lambda text: "true" if "INR" in text else "Perhaps.")
    (values,) = score(bad, row(TEXT))
    assert (values["precision"].value, values["precision_low"].value) == (1.0, 0.5)
    assert [v.status for v in values["supported"].values()] == ["ok", "set_aside"]


def test_an_answer_that_declines_costs_no_call():
    client = FakeClient(lambda _: facts_reply(), lambda _: "true")
    (values,) = score(client, row("It cannot be answered. The question cannot be answered."))
    assert values["precision"].status == "unanswered"
    assert values["precision"].note.startswith("noncommittal")
    assert not client.asked


def test_with_the_items_context_a_fact_that_it_lacks_is_unverifiable():
    item = Item(
        benchmark="exam", item="c", format="longform", question="What was given?",
        context="The patient received warfarin. INR was measured twice.",
    )  # fmt: skip
    reply = {"verdict": "supported", "passage": 1, "quote": "INR was measured twice"}
    client = FakeClient(
        lambda _: facts_reply("INR was measured twice."),
        lambda _: json.dumps(reply),
    )
    (values,) = score(client, row("INR was measured twice.", item), source="context")
    (value,) = values["supported"].values()
    assert value.note == "supported"
    assert value.evidence[0].source == "context"
    assert {e.bearing for e in value.evidence} >= {"supports"}
    invented = json.dumps({**reply, "quote": "INR was measured nine times"})
    (values,) = score(
        FakeClient(client.units, lambda _: invented), row("INR was measured twice.", item), source="context"
    )
    assert values["supported"][next(iter(values["supported"]))].status == "set_aside"


def test_a_folder_is_evidence_with_its_place_and_its_version_in_the_signature(tmp_path):
    (tmp_path / "warfarin.txt").write_text("Warfarin needs INR monitoring, as its effect varies.")
    reply = json.dumps({"verdict": "supported", "passage": 1, "quote": "Warfarin needs INR monitoring"})
    texts = []
    client = FakeClient(
        lambda _: facts_reply("Warfarin needs INR monitoring.", "Zebras graze by night."),
        lambda text: texts.append(text) or reply,
    )
    answer = "Warfarin needs INR monitoring. Zebras graze by night."
    (values,) = score(client, row(answer), source=tmp_path)
    supported, unknown = values["supported"].values()
    assert supported.evidence[0].file == "warfarin.txt"
    assert supported.evidence[0].offset == 0
    assert unknown.note.startswith("unverifiable")
    assert len(texts) == 1  # about what no passage bears on nobody is asked
    metric = build("metric", f"atomic_facts(splitter=sentences, checker=fake/c, source={tmp_path})")
    before = signature(metric.bind_settings([ITEM]))
    (tmp_path / "warfarin.txt").write_text("Warfarin needs care.")
    assert signature(build("metric", str(metric)).bind_settings([ITEM])) != before


def test_calls_of_several_facts_depend_on_their_answer_alone():
    def several(text):
        n = text.count("<statement")
        return json.dumps({"verdicts": [{"number": k, "verdict": "true"} for k in range(1, n + 1)]})

    client = FakeClient(
        lambda text: facts_reply(*(f"Warfarin fact {name} holds." for name in ("one", "two", "three"))),
        several,
    )
    answers = "Warfarin fact one holds. Warfarin fact two holds. Warfarin fact three holds."
    first = score(client, row(answers), per_call=2)
    alone = set(client.distinct("check facts"))
    score(client, row(answers), row(answers + " Really.", candidate="B"), per_call=2)
    assert alone <= client.distinct("check facts")
    assert first[0]["precision"].value == 1.0


@each_case(
    "settings",
    [
        {"k": 0}, {"gamma": -1}, {"per_call": 0}, {"passages": 0}, {"rules": "lenient"},
        {"rerank": "package"}, {"checker": "nobody"}, {"splitter": "nobody"},
    ],
)  # fmt: skip
def test_settings_that_cannot_be_are_refused_before_anybody_is_asked(settings):
    with pytest.raises(SpecError):
        score(FakeClient(None, None), row(TEXT), **settings)


def test_must_statements_are_checked_against_the_answer():
    item = Item(
        benchmark="exam", item="m", format="longform", question="What does warfarin need?",
        must=("Warfarin needs INR monitoring.", "Warfarin is teratogenic."),
    )  # fmt: skip

    def verdict(text):
        if "teratogenic" in text:
            return json.dumps({"verdict": "unverifiable", "passage": 0, "quote": ""})
        if "<passage" in text:
            return json.dumps(
                {"verdict": "supported", "passage": 1, "quote": "Warfarin needs INR monitoring"}
            )
        return "true"

    client = FakeClient(lambda _: facts_reply("Warfarin needs INR monitoring."), verdict)
    (values,) = score(client, row(TEXT, item), must="true")
    assert values["must_recall"].value == 0.5
    assert [(u.unit, v.value) for u, v in values["stated"].items()] == [("must 1", 1.0), ("must 2", 0.0)]
