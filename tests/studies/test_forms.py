"""forms: the same questions in two benchmarks, paired by case."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr
from tests.studies.making import TOLD, answer_rows, borrowed, score, write_lines

from vivavoce import stats
from vivavoce.benchmarks import Benchmark
from vivavoce.core import registry
from vivavoce.core.records import Card, Finding, Item
from vivavoce.core.registry import benchmark, load_plugin, metric
from vivavoce.run.run import Run, open_run

N = 40
Worths = Mapping[str, Sequence[float | str]]


def register(name: str, groups: Sequence[str], groups_of: str | None = None) -> None:
    """A benchmark of short questions, one for each of these cases."""

    @benchmark(name)
    class Form(Benchmark):
        """A form of an exam."""

        card = Card(
            name=name, description="d", source="s", licence="l", citation="c", revision="1", access="own",
            groups_of=groups_of,
        )  # fmt: skip

        def items(self) -> list[Item]:
            return [
                Item(
                    benchmark=name, item=f"{name}{k}", group=group, format="short",
                    question=f"{name} asks of {k}?", references=(f"the key of {k} in {name}",),
                )
                for k, group in enumerate(groups)
            ]  # fmt: skip


@pytest.fixture(autouse=True)
def _plugins() -> Any:
    with borrowed():
        load_plugin(TOLD)
        cls: Any = registry.members("metric")["told"]
        for name in ("closed", "opened"):
            of_one = type(
                "Of", (cls,), {"applies_to": _only(name), "__doc__": cls.__doc__, "__module__": __name__}
            )
            metric(f"told_{name}")(of_one)
        yield


def _only(name: str) -> Any:
    """What scores the items of one benchmark alone."""
    return lambda self, item: item.format == "short" and item.benchmark == name


def run_of(folder: Path, closed: Worths, opened: Worths, spec: str = "told", opened_spec: str = "") -> Run:
    """A run of two forms; every answer says what it is worth, question by question."""
    cases = [f"g{k}" for k in range(N)]
    register("closed", cases)
    register("opened", cases, groups_of="closed")
    folder.mkdir(exist_ok=True)
    run = open_run(folder / "run.viva")
    for name, answers in (("closed", closed), ("opened", opened)):
        rows = answer_rows({c: {f"{name}{k}": w for k, w in enumerate(ws)} for c, ws in answers.items()})
        run.import_answers(write_lines(folder / f"{name}.jsonl", rows), benchmark=name)
    score(run, spec, *([opened_spec] if opened_spec else []))
    return run


def forms(run: Run) -> tuple[Finding, dict[str, dict[str, Any]]]:
    found = run.study("forms")["forms"]
    json.dumps(found.rows, allow_nan=False)
    return found, {str(row["candidate"]): dict(row) for row in found.rows}


def drawn(seed: int, share: float, n: int = N) -> list[float]:
    draw = random.Random(seed)
    return [float(draw.random() < share) for _ in range(n)]


def test_one_criterion_is_compared_case_by_case(tmp_path: Path) -> None:
    a, b = drawn(1, 0.9), drawn(2, 0.4)
    found, rows = forms(run_of(tmp_path, {"A": a, "B": b}, {"A": b, "B": b}))
    expected = stats.paired(np.array(a) - np.array(b), np.arange(N))
    row = rows["A"]
    assert pytest.approx((np.mean(a), np.mean(b), expected.difference, expected.p)) == tuple(
        row[name] for name in ("mean", "mean_2", "difference", "p")
    )
    assert pytest.approx(expected.interval()) == (row["low"], row["high"])
    assert min(1.0, 2 * row["p"]) == pytest.approx(row["p_adjusted"])
    assert (N, N, N) == (row["n_items"], row["n_items_2"], row["n_groups"])
    assert (0.0, 1.0) == (rows["B"]["difference"], rows["B"]["p"])
    assert "which is shown" in found.text
    assert "which is not shown" in found.text


def test_the_association_is_spearmans_over_cases(tmp_path: Path) -> None:
    a = drawn(1, 0.5)
    b = [x * 0.4 + 0.3 * y for x, y in zip(a, drawn(5, 0.5), strict=True)]
    row = forms(run_of(tmp_path, {"A": a}, {"A": b}))[1]["A"]
    assert pytest.approx(spearmanr(a, b).statistic) == row["association"]
    assert row["association_low"] < row["association"] < row["association_high"]


def test_the_order_of_candidates_is_kendalls(tmp_path: Path) -> None:
    names = "ABCDE"
    closed = {name: drawn(k, 0.2 + 0.15 * k) for k, name in enumerate(names)}
    opened = {name: drawn(9 + k, 0.2 + 0.1 * (k ^ 1)) for k, name in enumerate(names)}
    row = forms(run_of(tmp_path, closed, opened))[1][""]
    means = [[np.mean(worths[name]) for name in names] for worths in (closed, opened)]
    assert pytest.approx(kendalltau(*means).statistic) == row["order_tau"]
    assert 5 == row["n_candidates"]


def test_an_order_of_two_is_none(tmp_path: Path) -> None:
    closed = {"A": drawn(1, 0.5), "B": drawn(2, 0.9)}
    row = forms(run_of(tmp_path, closed, closed))[1][""]
    assert (None, "2 candidates: too few for an order") == (row["order_tau"], row["reason"])


def test_cases_without_marks_in_both_forms_have_no_part(tmp_path: Path) -> None:
    a = drawn(1, 0.5)
    row = forms(run_of(tmp_path, {"A": a}, {"A": a[:25]}))[1]["A"]
    assert (25, 25) == (row["n_groups"], row["n_items"])
    assert pytest.approx(np.mean(a[:25])) == row["mean"] == row["mean_2"]


def test_fewer_than_ten_cases_are_too_few(tmp_path: Path) -> None:
    a = drawn(1, 0.5, 9)
    row = forms(run_of(tmp_path, {"A": a}, {"A": a}))[1]["A"]
    assert (None, None, None) == (row["difference"], row["p"], row["association"])
    assert "too few to tell" in row["reason"]


def test_what_several_candidates_lack_is_said_once(tmp_path: Path) -> None:
    a = drawn(1, 0.5, 9)
    found = forms(run_of(tmp_path, {"A": a, "B": a}, {"A": a, "B": a}))[0]
    why = "9 cases: too few to tell"
    assert f"told: worth on closed and opened: no figure of 2 candidates: {why}." == found.text
    assert [why] * 2 == [r["reason"] for r in found.rows if r["candidate"]]


def test_marks_that_failed_leave_no_test(tmp_path: Path) -> None:
    a = drawn(1, 0.5)
    row = forms(run_of(tmp_path, {"A": a}, {"A": ["fail", *a[1:]]}))[1]["A"]
    assert (1, None, None) == (row["n_failed"], row["p"], row["p_adjusted"])
    assert "failed" in row["reason"]


def test_two_criteria_have_no_difference(tmp_path: Path) -> None:
    """Both forms by measures of their own: what is scored alike would be compared with itself."""
    a = drawn(1, 0.5)
    run = run_of(tmp_path, {"A": a}, {"A": [x / 2 + 0.1 for x in a]}, "told_closed", "told_opened")
    found, rows = forms(run)
    assert [("closed", "opened")] * 2 == [(r["benchmark"], r["benchmark_2"]) for r in found.rows]
    assert (None, None) == (rows["A"]["difference"], rows["A"]["p"])
    assert rows["A"]["association"] == pytest.approx(1.0)
    assert "Spearman's rho over cases 1.00" in found.text


def test_where_lower_is_better_the_association_is_the_same(tmp_path: Path) -> None:
    a, b = drawn(1, 0.5), drawn(3, 0.5)
    higher = forms(run_of(tmp_path / "1", {"A": a}, {"A": b}))[1]["A"]
    with borrowed():
        lower = forms(run_of(tmp_path / "2", {"A": a}, {"A": b}, "told(direction=lower)"))[1]["A"]
    assert pytest.approx(higher["association"]) == lower["association"]
    assert higher["difference"] == lower["difference"]


def test_benchmarks_that_share_no_case_have_no_forms(tmp_path: Path) -> None:
    register("closed", [f"closed case {k}" for k in range(N)])
    register("opened", [f"opened case {k}" for k in range(N)])
    run = open_run(tmp_path / "run.viva")
    for name in ("closed", "opened"):
        rows = answer_rows({"A": {f"{name}{k}": 1.0 for k in range(N)}})
        run.import_answers(write_lines(tmp_path / f"{name}.jsonl", rows), benchmark=name)
    score(run, "told")
    found, rows_of = forms(run)
    assert {} == rows_of
    assert "No two benchmarks of this run share a case." == found.text
