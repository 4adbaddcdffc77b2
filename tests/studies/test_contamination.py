"""Contamination: a planted memoriser is flagged, an innocent one is not, and what cannot be told is not told.

What a model told is made up; the marks are those of the metrics themselves.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
import pytest
from scipy.stats import t
from tests.studies.making import row

from vivavoce import registry, stats
from vivavoce.metrics import Lab
from vivavoce.models.cards import ModelCard
from vivavoce.records import Finding, Item, Measure, Reading, Response, Row
from vivavoce.score import measures_of
from vivavoce.studies import Marks
from vivavoce.studies.contamination import COLUMNS, NOTHING, findings

GUID = "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b"
FOUND, NONE, OPEN = "consistent with memorisation", "no sign", "cannot tell"

Told = Mapping[str, Any]
Said = Mapping[str, Mapping[str, Told]]
"""By candidate and item, or 'item|variant', what was told."""


def marks(
    spec: str, said: Said, *, weights: Mapping[str, float] | None = None, benchmark: str = "exam"
) -> Marks:
    """The marks of a metric on what was told."""
    metric = registry.build("metric", spec)
    measures = dict(enumerate(measures_of(metric)))
    rows = []
    for candidate, by_item in said.items():
        for place, told in by_item.items():
            base, _, variant = place.partition("|")
            item = Item(
                benchmark=benchmark, item=base, variant=variant, format="mcq", question="?",
                options=("a", "b", "c", "d"), answer=("a",),
            )  # fmt: skip
            answer = Response(benchmark=benchmark, item=base, variant=variant, candidate=candidate)
            (values,) = metric.values([Row(item, answer, Reading("ok", told))], Lab())
            for key, measure in measures.items():
                value = values[measure.criterion.criterion]
                rows.append(
                    {
                        "measure_id": key, "benchmark": benchmark, "item": base, "variant": variant,
                        "group": base.split(".")[0], "category": None, "format": "mcq",
                        "candidate": candidate, "role": "candidate", "repeat": 1, "edit": "",
                        "pass_no": 1, "unit": "",
                        "value": value.value, "status": value.status,
                        "parts": None if value.parts is None else json.dumps(value.parts),
                        **({} if weights is None else {"weight": weights[base]}),
                    }
                )  # fmt: skip
    frame = pl.DataFrame(
        rows, schema_overrides={"value": pl.Float64, "parts": pl.String}, infer_schema_length=None
    )
    return Marks(frame, measures)


def half(verbatim: int | None, bits: float = 60.0) -> Told:
    """A second half of 10 tokens and 60 bytes."""
    return {"logprob": -bits * math.log(2), "tokens": 10, "verbatim": verbatim, "bytes": 60, "truncated": 0}


def halves(shares: Iterable[int | None], *, variant: str = "", bits: float = 60.0) -> dict[str, Told]:
    end = f"|{variant}" if variant else ""
    return {f"q{n:02}{end}": half(share, bits) for n, share in enumerate(shares)}


MANY = [2, 3, 4, 1, 3, 2] * 4
"""What anybody goes on with: 24 cases, mean 0.25."""
LEARNT = [min(10, 2 * n + 3) for n in MANY]


def found(*asked: Marks, **more: Any) -> Finding:
    """The study of marks of several metrics, their measures numbered anew."""
    frames: list[pl.DataFrame] = []
    measures: dict[int, Measure] = {}
    for one in asked:
        shift = len(measures)
        frames.append(one.scores.with_columns(pl.col("measure_id") + shift))
        measures |= {key + shift: m for key, m in one.measures.items()}
    return findings(Marks(pl.concat(frames), measures)._replace(**more))


# the second half


def test_a_memoriser_is_flagged_against_its_own_questions_in_other_words_and_an_innocent_one_is_not() -> None:
    reworded = [4, 2, 3, 2, 2, 3] * 4
    finding = found(
        marks("second_half", {
            "innocent": halves(MANY) | halves(reworded, variant="rewritten"),
            "learnt": halves(LEARNT) | halves(reworded, variant="rewritten"),
        })
    )  # fmt: skip
    wanted = {"criterion": "verbatim", "against": "rewritten"}
    assert FOUND == row(finding, candidate="learnt", **wanted)["verdict"]
    assert NONE == row(finding, candidate="innocent", **wanted)["verdict"]
    assert "learnt, against the same in other words: +0.5" in finding.text
    assert any("set phrases" in note for note in finding.notes)
    assert any("No sign is no clean bill" in note for note in finding.notes)


def test_the_difference_is_paired_by_case_in_the_metrics_units() -> None:
    """By hand: 12 differences of .4 and .2 in turn, mean .3, SE sqrt(12 * .01 / (12 * 11)) = .1 / sqrt 11."""
    finding = found(marks("second_half", {"a": halves([6, 4] * 6) | halves([2] * 12, variant="rewritten")}))
    one = row(finding, criterion="verbatim", against="rewritten")
    assert pytest.approx(0.3) == one["value"]
    ends = t.ppf(0.975, 11) * 0.1 / math.sqrt(11)
    assert pytest.approx((0.3 - ends, 0.3 + ends)) == (one["low"], one["high"])
    assert (12, 12, 12, 2) == tuple(one[k] for k in ("n_items", "n_groups", "n_different", "n_tests"))
    plain = row(finding, criterion="verbatim", against="")
    assert (pytest.approx(0.5), None) == (plain["value"], plain["verdict"])


def test_several_rewordings_of_a_question_count_by_their_mean() -> None:
    said = (
        halves([6] * 12) | halves([1] * 12, variant="rewritten:1") | halves([3] * 12, variant="rewritten:2")
    )
    one = row(found(marks("second_half", {"a": said})), criterion="verbatim", against="rewritten")
    assert (pytest.approx(0.4), 12) == (one["value"], one["n_items"])


def test_rewordings_and_other_twins_are_no_second_halves_of_the_exam() -> None:
    """The figure by itself is of the exam's framings; a rewording stands against its own question alone."""
    said = halves([6] * 12) | halves([0] * 12, variant="rewritten") | halves([8] * 12, variant="bias:recency")
    finding = found(marks("second_half", {"a": said}))
    assert pytest.approx(0.7) == row(finding, criterion="verbatim", against="")["value"]
    assert pytest.approx(0.6) == row(finding, criterion="verbatim", against="rewritten")["value"]


def test_fewer_bits_than_in_other_words_are_what_memory_needs() -> None:
    """Bits by byte: (60 - 6 .. 30) / 60 against 1."""
    fewer = {f"q{n:02}": half(3, 12.0 + n) for n in range(12)}
    more = {f"q{n:02}": half(3, 108.0 + n) for n in range(12)}
    again = halves([3] * 12, variant="rewritten", bits=60.0)
    wanted = {"criterion": "bits_per_byte", "against": "rewritten"}
    known = row(found(marks("second_half", {"a": fewer | again})), **wanted)
    assert (FOUND, pytest.approx((12 + 5.5) / 60 - 1)) == (known["verdict"], known["value"])
    assert known["low"] <= known["value"] <= known["high"] < 0
    unknown = row(found(marks("second_half", {"a": more | again})), **wanted)
    assert (NONE, True) == (unknown["verdict"], unknown["low"] > 0)


def test_standing_out_from_the_others_is_called_no_more_than_that() -> None:
    finding = found(
        marks("second_half", {"big": halves(LEARNT), "one": halves(MANY), "two": halves(MANY[1:] + MANY[:1])})
    )
    verdicts = {r["candidate"]: r["verdict"] for r in finding.rows if r["against"] == "others"}
    assert {"big": "stands out from the others", "one": NONE, "two": NONE} == verdicts


def test_a_candidate_alone_has_nothing_to_be_held_against() -> None:
    finding = found(marks("second_half", {"a": halves(MANY)}))
    other, again = (row(finding, criterion="verbatim", against=name) for name in ("others", "rewritten"))
    assert (OPEN, "no other candidate has marks", None) == (other["verdict"], other["reason"], other["value"])
    assert (OPEN, "no question has a variant 'rewritten' with a mark") == (again["verdict"], again["reason"])
    assert 0 < row(finding, criterion="verbatim", against="")["low"]


def test_equal_shares_are_no_sign() -> None:
    """A tie: nothing differs, and no test can be had of it nor is one needed."""
    finding = found(marks("second_half", {"a": halves([0] * 12), "b": halves([0] * 12)}))
    assert {NONE} == {r["verdict"] for r in finding.rows if r["against"] == "others"}


def test_nine_cases_are_too_few() -> None:
    finding = found(marks("second_half", {"a": halves([10] * 9), "b": halves([0] * 9)}))
    one = row(finding, candidate="a", criterion="verbatim", against="others")
    assert (OPEN, "9 cases: too few to tell", None) == (one["verdict"], one["reason"], one["p"])
    plain = row(finding, candidate="a", criterion="verbatim", against="")
    assert (1.0, None) == (plain["value"], plain["low"])


def test_few_cases_that_differ_cannot_tell() -> None:
    """Four of twelve questions by heart: the exact test of four signs cannot fall below .125."""
    finding = found(
        marks("second_half", {"a": halves([10] * 4 + [2] * 8) | halves([2] * 12, variant="rewritten")})
    )
    one = row(finding, criterion="verbatim", against="rewritten")
    assert (OPEN, 4, 0.125) == (one["verdict"], one["n_different"], one["p"])
    assert "4 cases that differ" in one["reason"]


def test_questions_of_one_case_are_one() -> None:
    said = {f"case.{n}": half(10) for n in range(30)}
    other = {f"case.{n}": half(0) for n in range(30)}
    one = row(
        found(marks("second_half", {"a": said, "b": other})),
        candidate="a",
        criterion="verbatim",
        against="others",
    )
    assert (OPEN, 1) == (one["verdict"], one["n_groups"])


def test_marks_that_failed_take_no_part_and_are_counted() -> None:
    finding = found(marks("second_half", {"a": halves([None] * 12), "b": halves(MANY[:12])}))
    lost = row(finding, candidate="a", criterion="verbatim", against="")
    assert (None, 12, "every mark failed") == (lost["value"], lost["n_failed"], lost["reason"])
    assert OPEN == row(finding, candidate="a", criterion="verbatim", against="others")["verdict"]
    assert pytest.approx(1.0) == row(finding, candidate="a", criterion="bits_per_byte", against="")["value"]
    assert "12 marks failed and took no part." in finding.notes


def test_a_sample_weighs_its_questions() -> None:
    weights = {f"q{n:02}": 3.0 if n < 6 else 1.0 for n in range(12)}
    finding = found(marks("second_half", {"a": halves([8] * 6 + [0] * 6)}, weights=weights))
    assert pytest.approx(0.6) == row(finding, criterion="verbatim", against="")["value"]


# canaries


def canaries(at_least: Mapping[str, int], decoys: int = 199) -> Marks:
    said = {
        name: {"q00": {"canary": -50.0, "decoys": [-40.0] * n + [-60.0] * (decoys - n), "truncated": 0}}
        for name, n in at_least.items()
    }
    return marks(f"canary(text='canary {GUID}', decoys={decoys})", said)


def test_a_known_canary_is_flagged_and_one_in_the_middle_is_not() -> None:
    finding = found(canaries({"reader": 0, "other": 99}))
    known, unknown = (row(finding, candidate=name, probe="canary") for name in ("reader", "other"))
    assert (FOUND, 0.0, 1 / 200, 2 / 200) == tuple(known[k] for k in ("verdict", "value", "p", "p_adjusted"))
    assert (NONE, 99 / 199, 0.5) == tuple(unknown[k] for k in ("verdict", "value", "p"))
    assert (
        "reader: 0 of 199 decoys are at least as likely (p .010): consistent with memorisation"
        in finding.text
    )


def test_too_few_decoys_cannot_tell_and_how_many_could_is_said() -> None:
    """Three tests: 19 decoys give 1/20 at best, which Holm makes 3/20; 1/60 times 3 is .05."""
    finding = found(canaries({"a": 0, "b": 9, "c": 9}, decoys=19))
    one = row(finding, candidate="a", probe="canary")
    assert (OPEN, "19 decoys cannot show it among 3 tests: 59 could") == (one["verdict"], one["reason"])
    alone = row(found(canaries({"a": 0}, decoys=19)), probe="canary")
    assert (FOUND, pytest.approx(0.05)) == (alone["verdict"], alone["p_adjusted"])


def test_a_canary_that_failed_cannot_tell() -> None:
    said = {"a": {"q00": {"canary": None, "decoys": [-1.0], "truncated": 0}}}
    one = row(found(marks(f"canary(text='{GUID}', decoys=1)", said)), probe="canary")
    assert (OPEN, "every mark failed") == (one["verdict"], one["reason"])


# the order of options


def order(right: Sequence[bool]) -> Told:
    """Four rotations; the key is the first option, and the likeliest where it is right."""
    return {
        "orders": [
            {
                "shift": shift,
                "put": ["a", "b", "c", "d"],
                "logprob": [-1.0 if ok else -9.0, -2.0, -3.0, -4.0],
                "tokens": [1, 1, 1, 1],
            }
            for shift, ok in enumerate(right)
        ],
        "alone": {},
        "truncated": 0,
    }


def orders(published: Sequence[bool], others: Sequence[Sequence[bool]]) -> dict[str, Told]:
    return {
        f"q{n:02}": order([one, *rest]) for n, (one, rest) in enumerate(zip(published, others, strict=True))
    }


def test_a_gap_for_the_published_order_is_flagged_and_an_even_candidate_is_not() -> None:
    """24 questions: right as published and in one of three others, gap 2/3; and right or wrong in all."""
    learnt = orders([True] * 24, [[n % 2 == 0, n % 2 == 1, False] for n in range(24)])
    even = orders([n % 2 == 0 for n in range(24)], [[n % 2 == 0] * 3 for n in range(24)])
    finding = found(marks("options(rotate=true)", {"learnt": learnt, "even": even}))
    known, none = (row(finding, candidate=name, probe="option_order") for name in ("learnt", "even"))
    assert (FOUND, pytest.approx(2 / 3), 24) == (known["verdict"], known["value"], known["n_groups"])
    assert (NONE, 0.0) == (none["verdict"], none["value"])
    assert any("preference for places" in note for note in finding.notes)


def test_a_gap_the_other_way_is_no_sign() -> None:
    against = orders([False] * 24, [[True, n % 2 == 0, True] for n in range(24)])
    one = row(found(marks("options(rotate=true)", {"a": against})), probe="option_order")
    assert one["p_adjusted"] < 0.001
    assert (NONE, True) == (one["verdict"], one["high"] < 0)


def test_options_in_one_order_have_no_gap() -> None:
    assert () == found(marks("options", {"a": {"q00": order([True])}})).rows


# all together


def test_holm_runs_over_all_tests_of_the_call_and_intervals_over_as_many() -> None:
    finding = found(
        marks("second_half", {"a": halves(LEARNT), "b": halves(MANY)}), canaries({"a": 0, "b": 50})
    )
    tested = [r for r in finding.rows if r["p"] is not None]
    assert 4 == len(tested)
    assert {4} == {r["n_tests"] for r in tested}
    assert pytest.approx(stats.holm([r["p"] for r in tested])) == [r["p_adjusted"] for r in tested]
    one = row(finding, candidate="a", against="others")
    assert one["low_family"] < one["low"] < one["high"] < one["high_family"]
    assert "4 tests made together: p by Holm" in " ".join(finding.notes)


def test_a_test_that_only_the_family_weakens_is_not_flagged() -> None:
    """p = 1/50 alone, 4/50 among four: so it is not said."""
    assert FOUND == row(found(canaries({"a": 0}, decoys=49)), probe="canary")["verdict"]
    four = found(canaries({"a": 0, "b": 20, "c": 20, "d": 20}, decoys=49))
    assert OPEN == row(four, candidate="a", probe="canary")["verdict"]


def test_the_order_of_candidates_and_rows_changes_nothing() -> None:
    said = {"a": halves(LEARNT), "b": halves(MANY)}
    one = marks("second_half", said)
    other = one._replace(scores=one.scores.reverse())
    assert findings(one) == findings(other)


def test_floors_and_edits_are_no_candidates() -> None:
    one = marks("second_half", {"a": halves(LEARNT), "floor": halves(MANY)})
    floor = pl.when(pl.col("candidate") == "floor").then(pl.lit("floor")).otherwise(pl.col("role"))
    finding = findings(one._replace(scores=one.scores.with_columns(role=floor)))
    assert {"a"} == {r["candidate"] for r in finding.rows}
    assert "no other candidate has marks" == row(finding, criterion="verbatim", against="others")["reason"]


def test_without_a_probe_it_says_what_would_be_one() -> None:
    plain = marks("second_half", {"a": halves(MANY)})
    renamed = {
        k: Measure(metric="told", signature="told()@1", criterion=m.criterion)
        for k, m in plain.measures.items()
    }
    assert Finding(study="contamination", rows=(), text=NOTHING) == findings(plain._replace(measures=renamed))
    assert "for second_half" in NOTHING


def test_every_row_has_every_column() -> None:
    finding = found(marks("second_half", {"a": halves(MANY), "b": halves(LEARNT)}), canaries({"a": 3}))
    assert {COLUMNS} == {tuple(r) for r in finding.rows}
    json.dumps(finding.rows, allow_nan=False)


# dates


def dated(cutoff: str | None, released: Mapping[str, str]) -> Finding:
    cards = {"a": ModelCard(name="a", cutoff=cutoff)}
    return found(marks("second_half", {"a": halves(MANY)}), cards=cards, released=released)


@pytest.mark.parametrize(
    ("cutoff", "released", "months", "verdict"),
    [
        ("2024-03", "2023-12", 3.0, "may have been read"),
        ("2023-12", "2023-12", 0.0, "may have been read"),
        ("2023-11", "2024-01", -2.0, "came after the cutoff"),
    ],
)
def test_a_release_is_before_a_cutoff_or_after_it(
    cutoff: str, released: str, months: float, verdict: str
) -> None:
    finding = dated(cutoff, {"exam": released})
    one = row(finding, probe="dates")
    assert (months, verdict, cutoff, released) == tuple(
        one[k] for k in ("value", "verdict", "cutoff", "released")
    )
    assert f"it {verdict}" in finding.text


@pytest.mark.parametrize(
    ("cutoff", "released", "reason"),
    [
        (None, {"exam": "2024-01"}, "no cutoff is known"),
        ("2024-01", {}, "no release is known"),
        (None, {"other": "2024-01"}, "no cutoff and no release are known"),
    ],
)
def test_a_date_that_is_not_known_is_not_guessed(
    cutoff: str | None, released: Mapping[str, str], reason: str
) -> None:
    one = row(dated(cutoff, released), probe="dates")
    assert ("not known", None, reason) == tuple(one[k] for k in ("verdict", "value", "reason"))


def test_known_dates_are_told_without_any_probe() -> None:
    plain = marks("second_half", {"a": halves(MANY)})
    renamed = {
        k: Measure(metric="told", signature="told()@1", criterion=m.criterion)
        for k, m in plain.measures.items()
    }
    cards = {"a": ModelCard(name="a", cutoff="2024-01")}
    known = plain._replace(measures=renamed, cards=cards)
    assert [] == list(findings(known).rows)
    one = row(findings(known._replace(released={"exam": "2024-02"})))
    assert ("dates", "came after the cutoff") == (one["probe"], one["verdict"])
