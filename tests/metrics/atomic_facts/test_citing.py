"""What a checker cites: whether it exists and what it says of a fact; what nobody knows is no number."""

import pytest

from vivavoce.core.records import Item, Response, Row
from vivavoce.core.registry import build
from vivavoce.formats import read_response
from vivavoce.metrics import ScoringContext
from vivavoce.models.engine.client import CallResult

ITEM = Item(benchmark="exam", item="q", format="longform", question="What does metformin do?")
TEXT = "Metformin lowers blood glucose. Metformin cures every illness."
QUOTE = "Metformin lowers blood glucose."


class FakeClient:
    """Says true of everything and cites `cited`; of passages it supports what stands there word for word."""

    def __init__(self, *cited, down=False):
        self.cited, self.down, self.prompts = cited, down, []

    def ask(self, model, requests, parse, *, purpose, repeat=1, again=None):
        return [self._result(r.messages[-1].content, p) for r, p in zip(requests, parse, strict=True)]

    def _result(self, prompt, parse):
        self.prompts.append(prompt)
        if "<passage" not in prompt:
            return CallResult(parse("True [1]"), None, self.cited)
        if self.down:
            return CallResult(None, "no reply came")
        stands = f"<statement>\n{QUOTE}" in prompt
        verdict = "supported" if stands else "unverifiable"
        return CallResult(parse(f'{{"verdict": "{verdict}", "passage": 1, "quote": "{QUOTE}"}}'), None)


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "metformin.txt").write_text(f"{QUOTE} It is no cure. Not for clinical use.", encoding="utf-8")
    return folder


def score(client, source=None):
    given = "" if source is None else f", source='{source}'"
    metric = build("metric", f"atomic_facts(splitter=sentences, checker=cited(model=fake/m){given})").bind(
        [ITEM]
    )
    response = Response(benchmark="exam", item="q", candidate="A", text=TEXT)
    (values,) = metric.values([Row(ITEM, response, read_response(ITEM, TEXT))], ScoringContext(client))
    return values


def test_citations_are_two_criteria_beside_the_verdicts(source):
    values = score(FakeClient("metformin.txt", "https://invented.example/x"), source)
    assert 1.0 == values["precision"].value
    assert 0.5 == values["citation_exists"].value
    assert 0.5 == values["citation_supports"].value
    assert "contradiction_rate" not in values


def test_the_cited_words_are_the_evidence_of_the_fact(source):
    units = score(FakeClient("metformin.txt"), source)["supported"]
    passages = [[(e.file, e.quote, e.bearing) for e in value.evidence] for value in units.values()]
    assert [("metformin.txt", QUOTE, "supports")] == passages[0]
    assert {"shown"} == {bearing for _, _, bearing in passages[1]}


def test_what_is_not_in_the_source_supports_nothing_and_is_shown_to_nobody(source):
    client = FakeClient("https://invented.example/x")
    values = score(client, source)
    assert 0.0 == values["citation_exists"].value
    assert (None, "set_aside", "no document that is cited is in the source") == (
        values["citation_supports"].value,
        values["citation_supports"].status,
        values["citation_supports"].note,
    )
    assert not any("<passage" in prompt for prompt in client.prompts)


@pytest.mark.parametrize("cited", [(), ("https://example.org/a",)])
def test_without_a_source_or_a_citation_nothing_is_known_and_nothing_is_0(cited):
    values = score(FakeClient(*cited))
    reason = "no local source to look it up in" if cited else "no reply about a fact cites a source"
    for name in ("citation_exists", "citation_supports"):
        assert (None, "set_aside", reason) == (values[name].value, values[name].status, values[name].note)
    assert 1.0 == values["precision"].value


def test_a_reply_that_does_not_come_fails_the_answer(source):
    values = score(FakeClient("metformin.txt", down=True), source)
    assert "failed" == values["citation_supports"].status
    assert "of what it cites: no reply came" in values["citation_supports"].note
