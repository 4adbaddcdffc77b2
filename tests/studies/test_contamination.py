"""Contamination: a planted memoriser is flagged, an innocent one is not, and what cannot be told is not told.

What a model told is made up; the scores are those of the metrics themselves.
"""

import json
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
import pytest
from scipy.stats import t
from tests.studies.making import row

from vivavoce import stats
from vivavoce.core import registry
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding, Item, Measure, ModelCard, Reading, Response, Row
from vivavoce.metrics import ScoringContext
from vivavoce.run.score import measures_of
from vivavoce.studies.contamination.contamination import NOTHING, Contamination, ContaminationRow
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.study import columns

BY_PEOPLE: Contamination = registry.build("study", "contamination(reworded_by=people)")
GUID = "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b"
FOUND, NONE, OPEN = "consistent with memorisation", "no sign", "cannot tell"
APART = "stands out from the others"

Told = Mapping[str, Any]
Said = Mapping[str, Mapping[str, Told]]
"""By candidate and item, or 'item|variant', what was told."""


def marks(
    spec: str,
    said: Said,
    *,
    weights: Mapping[str, float] | None = None,
    benchmark: str = "exam",
    places: Mapping[str, int] | None = None,
) -> ScoreTable:
    """The scores of a metric on what was told; `places` are those of keys, else the first."""
    metric = registry.build("metric", spec)
    measures = dict(enumerate(measures_of(metric)))
    rows = []
    for candidate, by_item in said.items():
        for place, told in by_item.items():
            base, _, variant = place.partition("|")
            item = Item(
                benchmark=benchmark, item=base, variant=variant, format="mcq", question="?",
                options=tuple("abcd"), answer=("abcd"[(places or {}).get(place, 0)],),
            )  # fmt: skip
            answer = Response(benchmark=benchmark, item=base, variant=variant, candidate=candidate)
            (values,) = metric.values([Row(item, answer, Reading("ok", told))], ScoringContext())
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
    return ScoreTable(frame, measures)


def half(verbatim: int | None, bits: float = 60.0) -> Told:
    """A second half of 10 tokens and 60 bytes."""
    return {"logprob": -bits * math.log(2), "tokens": 10, "verbatim": verbatim, "bytes": 60, "truncated": 0}


def halves(shares: Iterable[int | None], *, variant: str = "", bits: float = 60.0) -> dict[str, Told]:
    end = f"|{variant}" if variant else ""
    return {f"q{n:02}{end}": half(share, bits) for n, share in enumerate(shares)}


MANY = [2, 3, 4, 1, 3, 2] * 4
"""What anybody goes on with: 24 cases, mean 0.25."""
LEARNT = [min(10, 2 * n + 3) for n in MANY]


def found(*asked: ScoreTable, study: Contamination = BY_PEOPLE, **more: Any) -> Finding:
    """The study of scores of several metrics, their measures numbered anew; people wrote the rewordings."""
    frames: list[pl.DataFrame] = []
    measures: dict[int, Measure] = {}
    for one in asked:
        shift = len(measures)
        frames.append(one.scores.with_columns(pl.col("measure_id") + shift))
        measures |= {key + shift: m for key, m in one.measures.items()}
    return study.findings(ScoreTable(pl.concat(frames), measures)._replace(**more))


# the second half


def test_a_memoriser_is_flagged_by_bits_in_other_words_and_stands_out_by_shares() -> None:
    """Shares are of tokens, and whoever goes on further loses more by other words: they say less."""
    reworded = [4, 2, 3, 2, 2, 3] * 4

    def said(shares: list[int], bits: float) -> dict[str, Told]:
        return {f"q{n:02}": half(k, bits + n % 5) for n, k in enumerate(shares)} | {
            f"q{n:02}|rewritten": half(k, 60.0 + n % 3) for n, k in enumerate(reworded)
        }

    finding = found(
        marks(
            "second_half", {"innocent": said(MANY, 58), "learnt": said(LEARNT, 20), "other": said(MANY, 59)}
        )
    )
    for criterion, verdict in (("verbatim", APART), ("bits_per_byte", FOUND)):
        wanted = {"criterion": criterion, "against": "rewritten"}
        assert verdict == row(finding, candidate="learnt", **wanted)["verdict"]
        assert NONE == row(finding, candidate="innocent", **wanted)["verdict"]
    assert "learnt, against the same in other words: +0.5" in finding.text
    assert "learnt, against the same in other words: 0.363 times as many, 0.354 to 0.372" in finding.text
    assert any("set phrases" in note for note in finding.notes)
    assert any("harder for all" in note for note in finding.notes)
    assert any("No sign is no clean bill" in note for note in finding.notes)


def reworded(level: float, harder: float, seed: int, *, n: int = 60) -> dict[str, Told]:
    """An innocent candidate that takes `level` bits by byte, and `harder` times as many in other words."""
    rng = random.Random(seed)
    said = {}
    for k in range(n):
        case = level * (1 + 0.1 * math.sin(k))
        for end, times in (("", 1.0), ("|rewritten", harder)):
            said[f"q{k:02}{end}"] = half(2, 60 * times * case * (1 + rng.uniform(-0.05, 0.05)))
    return said


def test_rewordings_that_are_harder_for_all_are_no_sign_of_memory() -> None:
    """A tenth more bits for three innocent candidates, of which one takes half as many as another."""
    finding = found(
        marks(
            "second_half",
            {"a": reworded(1.2, 1.1, 1), "b": reworded(0.9, 1.1, 2), "c": reworded(0.6, 1.1, 3)},
        )
    )
    wanted = {"criterion": "bits_per_byte", "against": "rewritten"}
    assert [NONE] * 3 == [row(finding, candidate=name, **wanted)["verdict"] for name in "abc"]
    assert max(abs(row(finding, candidate=name, **wanted)["value"]) for name in "abc") < 0.02


def test_a_candidate_alone_is_not_tested_against_other_words() -> None:
    """The same figures that flag it among others: who knows how hard the rewording is."""
    alone = found(marks("second_half", {"a": reworded(1.0, 1.5, 1)}))
    one = row(alone, criterion="bits_per_byte", against="rewritten")
    assert (OPEN, None, None) == (one["verdict"], one["p"], one["n_tests"])
    assert one["value"] == pytest.approx(-math.log(1.5), abs=0.02)
    assert one["low"] < one["value"] < one["high"] < 0
    assert "only other candidates with both wordings" in one["reason"]
    assert "a, against the same in other words: 0.66" in alone.text
    among = found(marks("second_half", {"a": reworded(1.0, 1.5, 1), "b": reworded(1.0, 1.0, 2)}))
    assert FOUND == row(among, candidate="a", criterion="bits_per_byte", against="rewritten")["verdict"]


def test_other_words_of_another_candidate_are_taken_off_by_hand() -> None:
    """a's gaps are .4 and .2 in turn, b's .1: .2 is left; SE sqrt(12 * .01 / (12 * 11)) = .1 / sqrt 11."""
    first = halves([6, 4] * 6) | halves([2] * 12, variant="rewritten")
    second = halves([3] * 12) | halves([2] * 12, variant="rewritten")
    one = row(
        found(marks("second_half", {"a": first, "b": second})),
        candidate="a", criterion="verbatim", against="rewritten",
    )  # fmt: skip
    assert pytest.approx(0.2) == one["value"]
    ends = t.ppf(0.975, 11) * 0.1 / math.sqrt(11)
    assert pytest.approx((0.2 - ends, 0.2 + ends)) == (one["low"], one["high"])
    assert (12, 12, 12) == tuple(one[k] for k in ("n_items", "n_groups", "n_different"))


def test_bits_in_other_words_by_hand() -> None:
    """a takes 30 bits for 60 and b 40 for 50: ln(1/2) - ln(4/5) = ln(5/8). A third has no rewordings."""
    said = {
        name: halves([3] * 12, bits=plain) | halves([3] * 12, variant="rewritten", bits=other)
        for name, plain, other in (("a", 30.0, 60.0), ("b", 40.0, 50.0))
    } | {"c": halves([3] * 12)}
    finding = found(marks("second_half", said))
    one, third = (
        row(finding, candidate=name, criterion="bits_per_byte", against="rewritten") for name in "ac"
    )
    assert (FOUND, pytest.approx(math.log(5 / 8))) == (one["verdict"], one["value"])
    assert (OPEN, "no question has a variant 'rewritten' with a score") == (third["verdict"], third["reason"])
    assert "0.625 times as many" in finding.text


def in_words_of_a(benchmark: str = "exam") -> ScoreTable:
    """Three innocent candidates; the other words are a's own and cost it a fifth less."""
    answers = {"a": reworded(1.0, 0.8, 1), "b": reworded(1.0, 1.0, 2), "c": reworded(1.0, 1.0, 3)}
    return marks("second_half", answers, benchmark=benchmark)


def study_with(author: str | None = None, placebo: str | None = None) -> Contamination:
    """The study with these options."""
    options = {"reworded_by": author, "placebo": placebo}
    settings = ",".join(f"{name}={value}" for name, value in options.items() if value)
    study: Contamination = registry.build(
        "study", f"contamination({settings})" if settings else "contamination"
    )
    return study


FAMILIES = {
    name: ModelCard(name=name, family=family) for name, family in (("a", "Own"), ("b", "Two"), ("c", "Three"))
}
IN_PLACEBO = {"criterion": "bits_per_byte", "against": "placebo"}
IN_BITS = {"criterion": "bits_per_byte", "against": "rewritten"}


def test_without_a_word_on_who_reworded_nobody_is_tested() -> None:
    """b and c would be called readers of the exam, since a finds its own words easier."""
    table = in_words_of_a()
    assert [FOUND] * 2 == [row(found(table), candidate=name, **IN_BITS)["verdict"] for name in "bc"]
    unknown = found(table, study=study_with())
    rows = [row(unknown, candidate=name, **IN_BITS) for name in "abc"]
    assert [(OPEN, None)] * 3 == [(r["verdict"], r["p"]) for r in rows]
    assert all("reworded_by=MODEL or reworded_by=people" in r["reason"] for r in rows)
    assert all(r["low"] < r["value"] < r["high"] for r in rows)


@pytest.mark.parametrize("author", ["a", "Own", "own"])
def test_the_family_of_the_author_has_no_test_and_is_no_other(author: str) -> None:
    finding = found(in_words_of_a(), study=study_with(author), cards=FAMILIES)
    author_row, *innocent = (row(finding, candidate=name, **IN_BITS) for name in "abc")
    assert (OPEN, None) == (author_row["verdict"], author_row["p"])
    assert f"{author} wrote the other words" in author_row["reason"]
    assert [NONE] * 2 == [r["verdict"] for r in innocent]
    assert max(abs(r["value"]) for r in innocent) < 0.02


def test_a_candidate_of_unknown_family_may_be_of_the_authors() -> None:
    finding = found(in_words_of_a(), study=study_with("a"), cards={"a": FAMILIES["a"], "b": FAMILIES["b"]})
    rows = {name: row(finding, candidate=name, **IN_BITS) for name in "bc"}
    assert "its family is not known" in rows["c"]["reason"]
    assert "only other candidates" in rows["b"]["reason"]


def test_an_author_and_a_placebo_that_are_not_there_are_named() -> None:
    with pytest.raises(SelectionError, match=r"reworded_by=gtp-4: .* say people, or add its card"):
        found(in_words_of_a(), study=study_with("gtp-4"), cards=FAMILIES)
    with pytest.raises(SelectionError, match=r"placebo=later: .* name one of exam"):
        found(in_words_of_a(), study=study_with(placebo="later"))


def both_sets(first: ScoreTable, later: ScoreTable) -> ScoreTable:
    """Two benchmarks by the same measures; questions of the second are cases of their own."""
    group = pl.concat_str("group", pl.lit("_later"))
    return first._replace(scores=pl.concat([first.scores, later.scores.with_columns(group=group)]))


def test_what_other_words_do_on_a_placebo_is_taken_off_whoever_wrote_them() -> None:
    finding = found(both_sets(in_words_of_a(), in_words_of_a("later")), study=study_with(placebo="later"))
    rows = [row(finding, candidate=name, **IN_PLACEBO) for name in "abc"]
    assert [NONE] * 3 == [r["verdict"] for r in rows]
    assert max(abs(r["value"]) for r in rows) < 0.02
    assert {"exam"} == {r["benchmark"] for r in finding.rows if r["against"] in ("placebo", "rewritten")}
    assert any("the same author put both sets" in note for note in finding.notes)


def test_a_gap_less_that_on_the_placebo_by_hand() -> None:
    """a's gaps .6 and .4 in turn less b's .1, and .2 and .4 less .1: .4 - .2, by Welch's t of 22 df."""
    b = halves([3] * 12) | halves([2] * 12, variant="rewritten")
    exam, later = (
        marks(
            "second_half",
            {"a": halves(shares) | halves([2] * 12, variant="rewritten"), "b": b},
            benchmark=benchmark,
        )
        for benchmark, shares in (("exam", [8, 6] * 6), ("later", [4, 6] * 6))
    )
    finding = found(both_sets(exam, later), study=study_with(placebo="later"))
    figures = row(finding, candidate="a", criterion="verbatim", against="placebo")
    ends = t.ppf(0.975, 22) * math.sqrt(2 * 0.01 / 11)
    assert pytest.approx((0.2, 0.2 - ends, 0.2 + ends)) == (figures["value"], figures["low"], figures["high"])
    assert "a, against the same in other words and a set that none can have read: +0.200" in finding.text


def test_a_placebo_without_rewordings_or_with_few_cases_cannot_tell() -> None:
    plain = marks("second_half", {"a": halves([3] * 12), "b": halves([3] * 12)}, benchmark="later")
    finding = found(both_sets(in_words_of_a(), plain), study=study_with(placebo="later"))
    figures = row(finding, candidate="a", criterion="bits_per_byte", against="placebo")
    assert (OPEN, "no question has a variant 'rewritten' with a score on later") == (
        figures["verdict"],
        figures["reason"],
    )
    few = marks("second_half", {name: reworded(1.0, 1.0, 1, n=9) for name in "abc"}, benchmark="later")
    finding = found(both_sets(in_words_of_a(), few), study=study_with(placebo="later"))
    figures = row(finding, candidate="a", criterion="bits_per_byte", against="placebo")
    assert (OPEN, None) == (figures["verdict"], figures["value"])
    assert "too few cases that differ, in these questions or on later" == figures["reason"]


def test_a_second_half_that_takes_no_bit_has_no_factor() -> None:
    said = halves([3] * 12, bits=0.0) | halves([3] * 12, variant="rewritten")
    one = row(found(marks("second_half", {"a": said})), criterion="bits_per_byte", against="rewritten")
    assert (OPEN, None) == (one["verdict"], one["value"])
    assert "none of them takes a bit" in one["reason"]


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


def cheap(bits: float, n: int = 24) -> dict[str, Told]:
    return {f"q{k:02}": half(3, bits + k) for k in range(n)}


def test_standing_out_from_the_others_by_bits_is_called_no_more_than_that() -> None:
    """By hand: 20 + k bits less the mean of 60 + k and 70 + k, by 60 bytes."""
    finding = found(marks("second_half", {"big": cheap(20), "one": cheap(60), "two": cheap(70)}))
    rows = {r["candidate"]: r for r in finding.rows if r["against"] == "others"}
    assert {"big": APART, "one": NONE, "two": NONE} == {name: r["verdict"] for name, r in rows.items()}
    assert pytest.approx((20 - 65) / 60) == rows["big"]["value"]


def test_shares_of_tokens_are_held_against_no_other_candidate() -> None:
    """Tokenisers differ, and with them what a share is of."""
    finding = found(marks("second_half", {"a": halves(LEARNT), "b": halves(MANY)}))
    assert {"bits_per_byte"} == {r["criterion"] for r in finding.rows if r["against"] == "others"}
    assert any("bits per byte alone" in note for note in finding.notes)


def test_a_candidate_alone_has_nothing_to_be_held_against() -> None:
    finding = found(marks("second_half", {"a": halves(MANY)}))
    other, again = (row(finding, criterion="bits_per_byte", against=name) for name in ("others", "rewritten"))
    assert (OPEN, "no other candidate has scores", None) == (
        other["verdict"],
        other["reason"],
        other["value"],
    )
    assert (OPEN, "no question has a variant 'rewritten' with a score") == (again["verdict"], again["reason"])
    assert 0 < row(finding, criterion="verbatim", against="")["low"]


def test_equal_shares_are_no_sign() -> None:
    """A tie: nothing differs, and no test can be had of it nor is one needed."""
    finding = found(marks("second_half", {"a": halves([0] * 12), "b": halves([0] * 12)}))
    assert {NONE} == {r["verdict"] for r in finding.rows if r["against"] == "others"}


def test_nine_cases_are_too_few() -> None:
    finding = found(marks("second_half", {"a": cheap(20, 9), "b": cheap(60, 9)}))
    one = row(finding, candidate="a", criterion="bits_per_byte", against="others")
    assert (OPEN, "9 cases: too few to tell", None) == (one["verdict"], one["reason"], one["p"])
    plain = row(finding, candidate="a", criterion="bits_per_byte", against="")
    assert (pytest.approx(24 / 60), None) == (plain["value"], plain["low"])


def test_few_cases_that_differ_cannot_tell() -> None:
    """Four of twelve questions by heart: the exact test of four signs cannot fall below .125."""
    again = halves([2] * 12, variant="rewritten")
    finding = found(
        marks("second_half", {"a": halves([10] * 4 + [2] * 8) | again, "b": halves([2] * 12) | again})
    )
    one = row(finding, candidate="a", criterion="verbatim", against="rewritten")
    assert (OPEN, 4, 0.125) == (one["verdict"], one["n_different"], one["p"])
    assert "4 cases that differ" in one["reason"]


def test_questions_of_one_case_are_one() -> None:
    said = {name: {f"case.{n}": half(3, bits) for n in range(30)} for name, bits in (("a", 5.0), ("b", 60.0))}
    finding = found(marks("second_half", said))
    one = row(finding, candidate="a", criterion="bits_per_byte", against="others")
    assert (OPEN, 1) == (one["verdict"], one["n_groups"])


def test_marks_that_failed_take_no_part_and_are_counted() -> None:
    finding = found(marks("second_half", {"a": halves([None] * 12), "b": halves(MANY[:12])}))
    lost = row(finding, candidate="a", criterion="verbatim", against="")
    assert (None, 12, "every score failed") == (lost["value"], lost["n_failed"], lost["reason"])
    assert pytest.approx(1.0) == row(finding, candidate="a", criterion="bits_per_byte", against="")["value"]
    assert "12 scores failed and took no part." in finding.notes


def test_a_sample_weighs_its_questions() -> None:
    weights = {f"q{n:02}": 3.0 if n < 6 else 1.0 for n in range(12)}
    finding = found(marks("second_half", {"a": halves([8] * 6 + [0] * 6)}, weights=weights))
    assert pytest.approx(0.6) == row(finding, criterion="verbatim", against="")["value"]


# canaries


def canaries(at_least: Mapping[str, int], decoys: int = 199) -> ScoreTable:
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
    assert (OPEN, "every score failed") == (one["verdict"], one["reason"])


# the order of options


def order(right: Sequence[bool], key: int = 0) -> Told:
    """Four rotations; the key is the likeliest where it is right, else another option."""
    return {
        "orders": [
            {
                "shift": shift,
                "put": ["a", "b", "c", "d"],
                "logprob": [(-1.0 if ok else -9.0) if k == key else -2.0 - k for k in range(4)],
                "tokens": [1, 1, 1, 1],
            }
            for shift, ok in enumerate(right)
        ],
        "alone": {},
        "truncated": 0,
    }


Rights = Sequence[Sequence[bool]]
"""By question whether the key was the likeliest, in the published order and the three others."""


def rotated(said: Mapping[str, Rights], keys: Sequence[int]) -> ScoreTable:
    """Scores of questions whose keys stand at these places, the first being 0."""
    asked = {
        name: {f"q{n:03}": order(right, keys[n]) for n, right in enumerate(rights)}
        for name, rights in said.items()
    }
    return marks("options(rotate=true)", asked, places={f"q{n:03}": key for n, key in enumerate(keys)})


def picking(place: int, key: int) -> list[bool]:
    """Whether the key stands at the place in each rotation."""
    return [(key - shift) % 4 == place for shift in range(4)]


EVEN = [n % 4 for n in range(24)]
SKEWED = [0] * 24 + [1] * 15 + [2] * 12 + [3] * 9
"""Keys at A-D 40, 25, 20 and 15 %."""


def test_a_gap_for_the_published_order_is_flagged_and_an_even_candidate_is_not() -> None:
    """24 questions: right as published and in one of three others, gap 2/3; and right or wrong in all."""
    finding = found(
        rotated(
            {
                "learnt": [[True, n % 2 == 0, n % 2 == 1, False] for n in range(24)],
                "even": [[n % 2 == 0] * 4 for n in range(24)],
            },
            EVEN,
        )
    )
    known, none = (row(finding, candidate=name, probe="option_order") for name in ("learnt", "even"))
    assert (FOUND, pytest.approx(2 / 3), 24) == (known["verdict"], known["value"], known["n_groups"])
    assert (NONE, 0.0) == (none["verdict"], none["value"])
    assert any("each counting alike" in note for note in finding.notes)


def test_a_gap_the_other_way_is_no_sign() -> None:
    against = [[False, True, n % 3 == 0, True] for n in range(24)]
    one = row(found(rotated({"a": against}, EVEN)), probe="option_order")
    assert one["p_adjusted"] < 0.001
    assert (NONE, True) == (one["verdict"], one["high"] < 0)


def test_a_preference_for_a_place_is_no_sign_where_keys_stand_there_often() -> None:
    """Always A: a gap of 1 for the 40 % of the keys that stand there, and of -1/3 for all others."""
    said = {"a": [picking(0, key) for key in SKEWED]}
    one = row(found(rotated(said, SKEWED)), probe="option_order")
    assert (NONE, 0.0, 1.0, 60) == tuple(one[k] for k in ("verdict", "value", "p", "n_items"))
    rng = random.Random(3)
    guesses = [
        [True] * 4 if rng.random() < 0.4 else picking(rng.choices(range(4), (7, 1, 1, 1))[0], key)
        for key in SKEWED
    ]
    some = row(found(rotated({"a": guesses}, SKEWED)), probe="option_order")
    assert (NONE, True) == (some["verdict"], some["p"] > 0.05)


def test_a_memoriser_is_flagged_where_keys_stand_unevenly_too() -> None:
    said = {"a": [[True, n % 3 == 0, False, n % 4 == 0] for n, _ in enumerate(SKEWED)]}
    assert FOUND == row(found(rotated(said, SKEWED)), probe="option_order")["verdict"]


def test_places_count_alike_with_the_error_of_residuals_inside_them() -> None:
    """Gaps 1 and 0 in turn at A (12 keys), 1 at B, 0 at C and D (6 each): (1/2 + 1) / 4.

    A's share of a residual of 1/2 is 1/48, 12/11 of its square for the place, 48/47 for its case's leverage.
    The other places weigh twice as much and show no spread: the error is at least that of cases which deviate
    alike, the mean square deviation times the sum of the squared shares.
    """
    keys = [0] * 12 + [1] * 6 + [2] * 6 + [3] * 6
    rights = [[n % 2 == 0, False, False, False] for n in range(12)]
    rights += [[key == 1, False, False, False] for key in keys[12:]]
    one = row(found(rotated({"a": rights}, keys)), probe="option_order")
    shown = math.sqrt(48 / 47 * 12 * 12 / 11 * (0.5 / 48) ** 2)
    alike = math.sqrt(12 / 11 * 12 / 48 * 0.5**2 * (12 / 48**2 + 18 / 24**2))
    se = max(shown, alike)
    assert pytest.approx(3 / 8) == one["value"]
    ends = t.ppf(0.975, stats.effective_groups(range(30), weights=[1 / 48] * 12 + [1 / 24] * 18) - 1) * se
    assert pytest.approx((3 / 8 - ends, 3 / 8 + ends)) == (one["low"], one["high"])
    assert (30, 12) == (one["n_items"], one["n_different"])


def test_questions_of_another_number_of_options_weigh_by_their_number() -> None:
    """48 of four options with a gap of 1, 24 of two with -1 at both places: 1 * 2/3 - 1 * 1/3, weights 1."""
    of_four = rotated({"a": [[True, False, False, False]] * 48}, [n % 4 for n in range(48)])
    two = rotated({"a": [[False, True, True, True]] * 24}, [n % 2 for n in range(24)])
    parts = pl.col("parts").str.replace('"options": 4.0', '"options": 2.0', literal=True)
    of_two = two.scores.with_columns(
        parts=parts, item="two." + pl.col("item"), group="two." + pl.col("group")
    )
    both = of_four._replace(scores=pl.concat([of_four.scores, of_two]))
    one = row(found(both), probe="option_order")
    assert (72, pytest.approx(1 / 3), FOUND) == (one["n_items"], one["value"], one["verdict"])
    heavy = both._replace(
        scores=both.scores.with_columns(
            weight=pl.when(pl.col("item").str.starts_with("two.")).then(6.0).otherwise(1.0)
        )
    )
    weighed = row(found(heavy), probe="option_order")
    assert pytest.approx((48 - 6 * 24) / (48 + 6 * 24)) == weighed["value"]
    few = both._replace(scores=both.scores.filter(~pl.col("item").str.contains(r"two\.q0(1|2|0[4-9])")))
    left = row(found(few), probe="option_order")
    assert (1.0, 48, FOUND) == (left["value"], left["n_items"], left["verdict"])
    assert "questions left out" in left["reason"]


def test_a_place_with_few_keys_leaves_nothing_to_tell() -> None:
    keys = [0] * 12 + [1] * 12 + [2] * 12 + [3] * 4
    one = row(found(rotated({"a": [[True, False, False, False]] * 40}, keys)), probe="option_order")
    assert (OPEN, None, None) == (one["verdict"], one["value"], one["p"])
    assert (
        "40 questions left out: not every place of so many options holds the key in 5 cases" == one["reason"]
    )


def test_few_cases_that_differ_let_no_place_be_weighed() -> None:
    rights = [[True, False, False, False]] * 9 + [[True] * 4] * 31
    one = row(found(rotated({"a": rights}, [n % 4 for n in range(40)])), probe="option_order")
    assert (OPEN, None, 40) == (one["verdict"], one["p"], one["n_items"])
    assert "9 cases that differ: too few" in one["reason"]


def test_marks_that_do_not_say_where_the_key_stood_are_scored_again() -> None:
    one = rotated({"a": [[True, False, False, False]] * 24}, EVEN)
    old = one._replace(scores=one.scores.with_columns(parts=pl.lit('{"published": 1.0, "rotated": 0.0}')))
    seen = row(found(old), probe="option_order")
    assert (OPEN, None) == (seen["verdict"], seen["value"])
    assert "score options(rotate=true) again" in seen["reason"]


def test_options_in_one_order_have_no_gap() -> None:
    assert () == found(marks("options", {"a": {"q00": order([True])}})).rows


# all together


def test_holm_runs_over_all_tests_of_the_call_and_intervals_over_as_many() -> None:
    finding = found(marks("second_half", {"a": cheap(20), "b": halves(MANY)}), canaries({"a": 0, "b": 50}))
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
    assert Contamination().findings(one) == Contamination().findings(other)


def test_floors_and_edits_are_no_candidates() -> None:
    one = marks("second_half", {"a": halves(LEARNT), "floor": halves(MANY)})
    floor = pl.when(pl.col("candidate") == "floor").then(pl.lit("floor")).otherwise(pl.col("role"))
    finding = Contamination().findings(one._replace(scores=one.scores.with_columns(role=floor)))
    assert {"a"} == {r["candidate"] for r in finding.rows}
    other = row(finding, criterion="bits_per_byte", against="others")
    assert "no other candidate has scores" == other["reason"]


def test_without_a_probe_it_says_what_would_be_one() -> None:
    plain = marks("second_half", {"a": halves(MANY)})
    renamed = {
        k: Measure(metric="told", signature="told()@1", criterion=m.criterion)
        for k, m in plain.measures.items()
    }
    assert Finding(study="contamination", rows=(), text=NOTHING) == Contamination().findings(
        plain._replace(measures=renamed)
    )
    assert "for second_half" in NOTHING


def test_every_row_has_every_column() -> None:
    finding = found(marks("second_half", {"a": halves(MANY), "b": halves(LEARNT)}), canaries({"a": 3}))
    assert {columns(ContaminationRow)} == {tuple(r) for r in finding.rows}
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
    assert [] == list(Contamination().findings(known).rows)
    one = row(Contamination().findings(known._replace(released={"exam": "2024-02"})))
    assert ("dates", "came after the cutoff") == (one["probe"], one["verdict"])
