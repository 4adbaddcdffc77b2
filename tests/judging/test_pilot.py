"""`viva score --dry-run --pilot N`: a sample is asked about, and tells what all would take."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.judging.fake_judge import FakeJudge
from tests.studies.making import made
from typer.testing import CliRunner

from vivavoce import cli
from vivavoce.core.errors import InputError
from vivavoce.core.records import Criterion, Row, Unit, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.models.engine.metering_client import MeasuredCall
from vivavoce.models.requests import Message, Request, Sampling
from vivavoce.run.run import Run
from vivavoce.run.score.pilot import Unscored, _Measured, _Pilot, draw
from vivavoce.store.pending import ResponsePlace
from vivavoce.store.read import provenance

CORRECTNESS = "judge(rubric=correctness, model=fake/j1)"
ProvidersFile = Callable[..., Path]
PRICES = {"prices": {"j1": [2.0, 10.0]}}


def words() -> str:
    """A metric in two stages, like the check of facts: one call splits, one more checks each word."""

    @metric("words", version=1)
    class Words(Metric):
        """A metric of a test."""

        criteria = (
            Criterion(criterion="right", pool="unit", if_unanswered="set_aside"),
            Criterion(criterion="all"),
        )
        formats = ("short",)
        rater = "fake/j1"

        def values(self, rows: Sequence[Row], context: ScoringContext) -> list[Mapping[str, Any]]:
            def asked(texts: Sequence[str], purpose: str) -> list[Any]:
                requests = [
                    Request(messages=(Message("user", f"\n<answer>\n{t}\n</answer>\n"),), sampling=Sampling())
                    for t in texts
                ]
                return context.client.ask("fake/j1", requests, str, purpose=purpose, repeat=context.pass_no)

            values = []
            for row in rows:
                (split,) = asked([row.response.text or ""], "split")
                if split.value is None:
                    lost = Value(None, note=split.reason, status="failed")
                    values.append({"right": lost, "all": lost})
                    continue
                units = (row.response.text or "").split()
                replies = asked(units, "check")
                of_units = {
                    Unit(unit=str(k), text=text): Value(1.0)
                    if reply.reason is None
                    else Value(None, status="failed")
                    for k, (text, reply) in enumerate(zip(units, replies, strict=True), 1)
                }
                values.append({"right": of_units, "all": Value(1.0)})
            return values

    return "words"


def texts(lengths: Sequence[int], name: str = "") -> dict[str, str]:
    return {f"q{k}": " ".join(f"{name}{k}w{i}" for i in range(n)) for k, n in enumerate(lengths)}


def pilot(run: Run, name: str, size: int, **rest: Any) -> dict[str, Any]:
    (row,) = run.score(name, dry_run=True, pilot=size, **rest).rows
    return dict(row)


def test_a_pilot_of_all_says_what_scoring_takes(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": texts([2, 3, 5, 7]), "B": texts([1, 1, 4, 6], "b")})
    row = pilot(run, words(), 100, providers=providers_file(**PRICES))
    assert (8, 4, 8) == (row["to_score"], row["pilot_cases"], row["pilot_responses"])
    assert (37.0, 37.0, 37.0) == (*(row[f"expected_calls{end}"] for end in ("", "_low", "_high")),)
    assert 29 / 8 == row["units_per_answer"] == row["units_per_answer_low"]
    assert (37_000, 3_700) == (row["expected_input_tokens"], row["expected_output_tokens"])
    assert row["expected_cost"] == pytest.approx(37 * (1000 * 2 + 100 * 10) / 1e6) == row["pilot_cost"]
    assert {"split": 8, "check": 29} == {p["purpose"]: p["expected_calls"] for p in row["purposes"]}
    assert 37 == len(judge.sent) == row["pilot_calls"]
    run.score("words", providers=providers_file(**PRICES))
    assert 37 == len(judge.sent)


def test_a_pilot_stores_its_calls_and_no_score(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": texts([2, 3, 5, 7])})
    first = pilot(run, words(), 2, providers=providers_file(**PRICES))
    assert 0 == run.scores.height
    sent = len(judge.sent)
    again = pilot(run, "words", 2, providers=providers_file(**PRICES))
    assert sent == len(judge.sent)
    assert (0, 0.0) == (again["pilot_calls"], again["pilot_cost"])
    expected = [name for name in first if name.startswith(("expected_", "units_"))]
    assert [first[name] for name in expected] == [again[name] for name in expected]
    more = pilot(run, "words", 3, providers=providers_file(**PRICES))
    assert 1 == more["pilot_responses"] - first["pilot_responses"]
    with run.file.reading() as db:
        assert {"pilot"} == {step["for"] for step in provenance(db) if step["verb"] == "ask"}


def test_one_case_has_no_interval_and_says_so(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": texts([2, 3, 5])})
    row = pilot(run, words(), 1, providers=providers_file(**PRICES))
    assert row["expected_calls"] is not None
    assert row["expected_calls_low"] is None is row["units_per_answer_high"]
    assert "one case says nothing about the next" in row["expected_calls_reason"]


def test_blank_answers_and_equal_requests_cost_nothing_more(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "same words", "q2": "", "q3": "own"}, "B": {"q1": "same words"}})
    row = pilot(run, words(), 10, providers=providers_file(**PRICES))
    assert (4, 5.0) == (row["pilot_responses"], row["expected_calls"])  # 3 for the pair, 2 for `own`
    assert 5 / 4 == row["units_per_answer"]


def test_a_price_limit_holds_and_what_came_before_counts(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": texts([2] * 12)})
    providers = providers_file(concurrency=1, **PRICES)
    finding = run.score(words(), dry_run=True, pilot=12, providers=providers, max_cost=0.02)
    (row,) = finding.rows
    assert row["pilot_cost"] <= 0.03
    assert 0 < row["pilot_responses"] < 12
    assert row["pilot_stopped"]
    assert "stopped early" in str(finding)
    with pytest.raises(InputError, match="price"):
        run.score("words", dry_run=True, pilot=2, providers=providers_file(), max_cost=1.0)


def test_an_unknown_price_is_null_with_its_reason(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": texts([2, 3])})
    finding = run.score(words(), dry_run=True, pilot=2, providers=providers_file())
    (row,) = finding.rows
    assert row["expected_cost"] is None
    assert "price of a model is not known" in row["expected_cost_reason"]
    assert row["expected_calls"] == 7
    assert "price unknown (the price of a model is not known" in str(finding)


def test_failed_answers_are_counted_and_enter_no_estimate(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    judge.manners = {"bad": ("400",)}
    run = made(tmp_path, {"A": {"q1": "bad", "q2": "one two", "q3": "a b"}})
    row = pilot(run, words(), 3, providers=providers_file(**PRICES))
    assert (2, 1, 9.0) == (row["pilot_responses"], row["pilot_failed"], row["expected_calls"])


@pytest.mark.parametrize(
    ("name", "reason"),
    [("exact", "it asks no model"), ("judge(rubric=pairwise, model=fake/j1)", "side by side")],
)
def test_what_has_no_pilot_says_why_and_asks_nobody(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile, name: str, reason: str
) -> None:
    run = made(tmp_path, {n: {"q1": n, "q2": f"{n}!"} for n in "AB"})
    row = pilot(run, name, 2, providers=providers_file(**PRICES))
    assert reason in row["expected_calls_reason"]
    assert [] == judge.sent


def test_a_judge_has_a_pilot_too(tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile) -> None:
    run = made(tmp_path, {"A": texts([1] * 6)})
    row = pilot(run, CORRECTNESS, 3, passes=2, providers=providers_file(**PRICES))
    assert (12, 12.0, 12_000.0) == (row["to_score"], row["expected_calls"], row["expected_input_tokens"])
    assert row["units_per_answer"] is None
    assert "gave no units" in row["units_per_answer_reason"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"pilot": 2}, "--pilot 2 goes with --dry-run"),
        ({"pilot": 0, "dry_run": True}, "one response or more"),
    ],
)
def test_a_pilot_that_cannot_be_is_refused(
    tmp_path: Path, judge: FakeJudge, options: dict[str, Any], sentence: str
) -> None:
    run = made(tmp_path, {"A": texts([1])})
    with pytest.raises(InputError, match=sentence):
        run.score(words(), **options)
    assert [] == judge.sent


def test_the_command_line_says_that_it_spends(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": texts([1] * 6)})
    line = [
        "score",
        str(run.file.path),
        CORRECTNESS,
        "--dry-run",
        "--pilot",
        "3",
        "--providers",
        str(providers_file(**PRICES)),
    ]
    result = CliRunner().invoke(cli.app, line)
    assert "3 calls made now" in result.stdout
    assert "no score is" in result.stdout
    (row,) = json.loads(CliRunner().invoke(cli.app, [*line, "--json"]).stdout)["rows"]
    assert (3, 6.0) == (row["pilot_responses"], row["expected_calls"])


# The draw and its interval


def population(rng: Random, cases: int, candidates: int) -> list[tuple[Unscored, float]]:
    """Answers to a case are alike in length: the case gives it, the candidate adds little."""
    left = []
    for k in range(cases):
        base = rng.lognormvariate(2.0, 0.6)
        for c in range(candidates):
            place = ResponsePlace(len(left) + 1, "b", f"q{k}-{rng.random()}", "", f"C{c}", 1, "")
            left.append((Unscored(1, place), round(base * rng.lognormvariate(0.1 * c, 0.3))))
    return left


def test_every_candidate_has_its_share_and_a_larger_pilot_holds_the_smaller() -> None:
    left = [row for row, _ in population(Random(1), 60, 3)]
    left += [Unscored(1, ResponsePlace(1000 + k, "b", f"x{k}", "", "C0", 1, "")) for k in range(120)]
    by_candidate = {c: sum(r.place.candidate == c for r in draw(left, 30)) for c in ("C0", "C1", "C2")}
    assert {"C0": 18, "C1": 6, "C2": 6} == {
        c: n if abs(n - e) > 1 else e for (c, n), e in zip(by_candidate.items(), (18, 6, 6), strict=True)
    }
    assert set(draw(left, 10)) < set(draw(left, 30))
    assert draw(left, 10) == draw(left[::-1], 10)
    assert set(left) == set(draw(left, 10_000))


def test_the_interval_covers_the_total_of_clustered_answers() -> None:
    rng, hits, rounds = Random(5), 0, 400
    for _ in range(rounds):
        left = population(rng, 80, 3)
        calls = dict(left)
        sample = _Pilot(len(left))
        for row in draw([row for row, _ in left], 40):
            of_row = [MeasuredCall("check", 1, 1, 0.0, counted=True)] * int(calls[row])
            sample.measured.append(_Measured(row.place.item.partition("-")[0], of_row))
        total = sample.total(lambda response: float(len(response.calls)))
        hits += total["low"] <= sum(calls.values()) <= total["high"]
    assert abs(hits / rounds - 0.95) < 0.035 + 1.96 * math.sqrt(0.95 * 0.05 / rounds)
