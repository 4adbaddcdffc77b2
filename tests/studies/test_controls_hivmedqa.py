"""The card on control cases from end to end: recorded answers, their controls, rules, a judge, the page."""

import html
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser
from tests.judging.fake_judge import FakeJudge, Sent, serve
from tests.lengths import LONG
from tests.report import looking

from vivavoce.core.records import Finding
from vivavoce.run.run import Run, open_run

CANDIDATES = ("Claude 3.5 Sonnet", "Llama 3.2-1B-Instruct")
MAP = {"item": "question_id", "candidate": "model", "repeat": "iteration", "text": "answer"}
CASES = 14
JUDGE = "judge(model=fake/j1, rubric=medgpt)"


class Examined(NamedTuple):
    """A run with its controls, what was made, what was found, and the page."""

    run: Run
    made: Finding
    card: Finding
    page: Path


def length(sent: Sent) -> list[float]:
    """A score from 1 to 5 by nothing but length."""
    return [float(min(5, 1 + len(answer) // 400)) for answer in sent.answers]


@pytest.fixture(scope="module")
def examined(tmp_path_factory: pytest.TempPathFactory, hivmedqa: Path) -> Iterator[Examined]:
    folder = tmp_path_factory.mktemp("controls")
    judge = FakeJudge(worth=length)
    end = serve(judge)
    providers = folder / "providers.yaml"
    providers.write_text(json.dumps({"fake": {"base_url": judge.base_url, "attempts": 1}}))
    run = answered(folder, hivmedqa)
    made = run.vary("control(kind=all)")
    run.score("rouge(n=L)", "token_f1", "cliniqlink", JUDGE, providers=providers)
    (card,) = run.study("controls(margin=0.02, margins=['judge:0.5'])").values()
    yield Examined(run, made, card, run.report())
    end()


@pytest.fixture(scope="module")
def encoded(tmp_path_factory: pytest.TempPathFactory, hivmedqa: Path) -> Finding:
    """The card of an encoder, which takes long: in the gate of one candidate on few cases."""
    candidates, n = (CANDIDATES, CASES) if LONG else (CANDIDATES[1:], 10)
    run = answered(tmp_path_factory.mktemp("encoded"), hivmedqa, candidates, n)
    for kind in ("all",) if LONG else ("padded", "negated"):
        run.vary(f"control(kind={kind})")
    run.score("bertscore")
    (card,) = run.study("controls(margin=0.02)").values()
    return card


def answered(folder: Path, hivmedqa: Path, candidates: Sequence[str] = CANDIDATES, n: int = CASES) -> Run:
    """A run with the answers of these candidates to questions of so many cases."""
    run = open_run(folder / "run.viva")
    run.import_answers(
        answers(folder, hivmedqa, candidates, n),
        benchmark=f"hivmedqa(data={hivmedqa}, subset=paper)",
        map=MAP,
    )
    return run


def answers(folder: Path, hivmedqa: Path, candidates: Sequence[str], n: int) -> Path:
    """The first recorded answer of each candidate to the first question of each of so many cases."""
    cases: dict[str, str] = {}
    for line in (hivmedqa / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        if question["paper_subset"]:
            cases.setdefault(question["id"].rstrip("abcdefgh"), question["id"])
    chosen = set(list(cases.values())[:n])
    kept = []
    for line in (hivmedqa / "responses.jsonl").read_text(encoding="utf-8").splitlines():
        answer = json.loads(line)
        if answer["model"] in candidates and answer["iteration"] == 1 and answer["question_id"] in chosen:
            kept.append(line)
    path = folder / "answers.jsonl"
    path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
    return path


def verdicts(card: Finding, metric: str, criterion: str | None = None) -> dict[str, Any]:
    return {
        row["control"]: row["verdict"]
        for row in card.rows
        if row["metric"].startswith(metric) and criterion in (None, row["criterion"])
    }


def test_what_cannot_be_made_is_left_out_with_its_reason(examined: Examined) -> None:
    made = {row["what"]: row for row in examined.made.rows}
    passages = made["control:passages"]
    assert (0, 2 * CASES) == (passages["made"], passages["skipped"])
    assert {"it takes a folder of documents: give source=DIR": 2 * CASES} == passages["reasons"]
    assert (2 * CASES, 5 * 2 * CASES) == (made["control:padded"]["made"], made["control:noise"]["made"])
    # A kind without a control is on no card.
    assert {"passages", "label_text_right"}.isdisjoint(row["control"] for row in examined.card.rows)


@pytest.mark.parametrize("criterion", ["comprehension", "reasoning", "knowledge_recall", "harm"])
def test_a_judge_that_likes_length_is_fooled_by_padding(examined: Examined, criterion: str) -> None:
    by_kind = verdicts(examined.card, "judge", criterion)
    assert ("fooled", "fooled", "not_fooled") == tuple(by_kind[k] for k in ("padded", "all", "none"))
    assert {"padded", "all"} == {kind for kind, verdict in by_kind.items() if verdict == "fooled"}


@pytest.mark.parametrize("metric", ["rouge", "token_f1"])
def test_a_rule_that_padding_costs_is_not_fooled_by_it(examined: Examined, metric: str) -> None:
    by_kind = verdicts(examined.card, metric)
    # A claim turned is one word of a hundred: overlap does not see it.
    assert ("not_fooled", "fooled") == (by_kind["padded"], by_kind["negated"])


def test_an_encoder_does_not_see_a_turned_claim(encoded: Finding) -> None:
    by_kind = verdicts(encoded, "bertscore", "f1")
    assert ("fooled", "not_fooled") == (by_kind["negated"], by_kind["padded"])


def test_a_metric_of_other_formats_is_on_no_card(examined: Examined) -> None:
    assert {} == verdicts(examined.card, "cliniqlink")


def test_the_page_says_who_is_fooled_by_what(examined: Examined) -> None:
    page = html.unescape(examined.page.read_text(encoding="utf-8"))
    assert "medgpt by fake/j1: comprehension on hivmedqa is fooled by padded (control less real text " in page


@pytest.mark.parametrize("width", [1400, 390])
def test_the_page_has_no_sideways_scroll(browser: Browser, examined: Examined, width: int) -> None:
    with looking.opened(browser, examined.page, viewport={"width": width, "height": 900}) as page:
        page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
        assert width >= page.evaluate("document.documentElement.scrollWidth")
        assert page.get_by_role("heading", name="Control cases", exact=True).is_visible()
        grid = page.locator(".of-controls svg:visible")
        assert pytest.approx(float(grid.get_attribute("width") or 0), abs=2) == grid.bounding_box()["width"]
