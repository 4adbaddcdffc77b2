"""The verdict table: a test per row and per boundary, and its mirror."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from vivavoce.stats import (
    Evidence,
    Verdict,
    common_direction,
    gate_interval,
    holm,
    margin_interval,
    paired,
    verdict,
)


def evidence(low=-0.1, high=0.3, *, p=0.2, direction=1, n_groups=42, n_different=30):
    return Evidence(
        n_groups=n_groups,
        n_different=n_different,
        direction=direction,
        p_adjusted=p,
        margin_low=low,
        margin_high=high,
    )


@each_case(
    ("given_", "margin", "expected"),
    [
        (evidence(0.3, 0.5, p=0.01), 0.2, Verdict("better_by_margin", "a")),
        (evidence(0.1, 0.5, p=0.01), 0.2, Verdict("better", "a", "open")),
        (evidence(0.05, 0.15, p=0.01), 0.2, Verdict("better", "a", "smaller")),
        (evidence(0.3, 0.5, p=0.01), None, Verdict("better", "a")),
        (evidence(-0.1, 0.1), 0.2, Verdict("equivalent")),
        (evidence(-0.1, 0.3), 0.2, Verdict("not_worse", "a")),
        (evidence(-0.3, 0.1), 0.2, Verdict("not_worse", "b")),
        (evidence(-0.3, 0.3), 0.2, Verdict("cannot_tell")),
        (evidence(-0.1, 0.1), None, Verdict("cannot_tell")),
        (evidence(-0.5, -0.3, p=0.01, direction=-1), 0.2, Verdict("better_by_margin", "b")),
        (evidence(-0.5, -0.1, p=0.01, direction=-1), 0.2, Verdict("better", "b", "open")),
        (evidence(-0.15, -0.05, p=0.01, direction=-1), 0.2, Verdict("better", "b", "smaller")),
    ],
)
def test_each_row_about_differences_and_margins(given_, margin, expected):
    assert expected == verdict(given_, margin=margin)


def test_fewer_than_two_groups_cannot_be_compared():
    for n in (0, 1):
        e = Evidence(n_groups=n, n_different=0, direction=0, p_adjusted=None)
        assert Verdict("incomparable") == verdict(e)
    assert Verdict("too_few") == verdict(evidence(n_groups=2, n_different=2))


def test_six_groups_that_differ_are_the_least():
    strong = evidence(0.3, 0.5, p=0.001, n_groups=6, n_different=6)
    assert Verdict("better", "a") == verdict(strong)
    assert Verdict("too_few") == verdict(replace(strong, n_different=5))
    assert Verdict("too_few") == verdict(replace(strong, n_groups=200, n_different=5))


def test_one_giant_case_that_is_won_decides_nothing():
    """60 questions of one case, 11 cases of one question: 2.1 effective cases, and flips give p = .57."""
    r = paired([1.0] * 60 + [1.0, -1.0] * 5 + [1.0], np.r_[np.zeros(60, int), 1:12])
    e = evidence(*r.interval(), p=r.p, n_groups=r.n_groups, n_different=r.n_different)
    assert Verdict("cannot_tell") == verdict(e)


def test_equivalence_is_not_shown_by_five_different_groups_either():
    assert Verdict("too_few") == verdict(evidence(-0.01, 0.01, p=1, n_different=0, direction=0), margin=0.2)


@pytest.mark.parametrize(("most", "margin"), [(0.2, 0.2), (0.21, 0.2), (None, 0.2), (0.1, None)])
def test_the_same_answers_are_too_few_without_a_bound_below_the_margin(most, margin):
    same = replace(evidence(-0.01, 0.01, p=1, n_different=5, direction=0), most_by_count=most)
    assert Verdict("too_few") == verdict(same, margin=margin)


def test_nearly_the_same_answers_are_equivalent_by_the_share_that_may_differ():
    """0 of 200: at most 1.8 % differ (Clopper-Pearson), as in `gate_interval`."""
    most = gate_interval([0.0] * 200, np.arange(200), span=1).high
    same = replace(evidence(0, 0, p=1, n_groups=200, n_different=0, direction=0), most_by_count=most)
    assert pytest.approx(0.0183, abs=5e-5) == most
    assert Verdict("equivalent") == verdict(same, margin=0.02)
    assert Verdict("too_few") == verdict(same, margin=0.018)
    assert Verdict("cannot_tell") == verdict(
        replace(same, n_different=6, margin_low=-1, margin_high=1), margin=0.02
    )


def test_a_p_of_five_percent_counts_and_more_does_not():
    assert Verdict("better", "a") == verdict(evidence(p=0.05))
    assert Verdict("cannot_tell") == verdict(evidence(p=0.0500001))


def test_an_interval_that_touches_the_margin_is_not_beyond_it():
    assert Verdict("better", "a", "open") == verdict(evidence(0.2, 0.5, p=0.01), margin=0.2)
    assert Verdict("better", "a", "open") == verdict(evidence(0.1, 0.2, p=0.01), margin=0.2)
    assert Verdict("better", "b", "open") == verdict(evidence(-0.5, -0.2, p=0.01, direction=-1), margin=0.2)
    assert Verdict("better", "b", "open") == verdict(evidence(-0.2, -0.1, p=0.01, direction=-1), margin=0.2)


def test_an_interval_that_touches_the_margin_is_not_inside_it():
    assert Verdict("not_worse", "a") == verdict(evidence(-0.1, 0.2), margin=0.2)
    assert Verdict("not_worse", "b") == verdict(evidence(-0.2, 0.1), margin=0.2)
    assert Verdict("cannot_tell") == verdict(evidence(-0.2, 0.2), margin=0.2)


def test_better_comes_before_equivalent():
    assert Verdict("better", "a", "smaller") == verdict(evidence(0.01, 0.1, p=0.001), margin=0.2)


def test_holm_may_show_better_where_the_wider_bonferroni_interval_reaches_zero():
    assert Verdict("better", "a", "open") == verdict(evidence(-0.01, 0.4, p=0.04), margin=0.2)


def test_an_interval_beyond_the_margin_without_a_small_p_is_only_not_worse():
    """The sign test decides p, Agresti-Min the margin: they may differ."""
    assert Verdict("not_worse", "a") == verdict(evidence(0.3, 0.5, p=0.07), margin=0.2)


def test_a_small_p_that_speaks_for_nobody_makes_nobody_better():
    assert Verdict("cannot_tell") == verdict(evidence(-0.3, 0.3, p=0.01, direction=0), margin=0.2)
    assert Verdict("equivalent") == verdict(evidence(-0.1, 0.1, p=0.01, direction=0), margin=0.2)


def test_without_an_interval_no_margin_is_judged():
    e = evidence(None, None, p=0.2)
    assert Verdict("cannot_tell") == verdict(e, margin=0.2)
    assert Verdict("better", "a") == verdict(replace(e, p_adjusted=0.01), margin=0.2)


def test_failed_marks_that_could_change_the_row_decide_nothing():
    seen = evidence(0.1, 0.5, p=0.01)
    assert Verdict("depends") == verdict(seen, evidence(-0.2, 0.7, p=0.3))
    assert Verdict("depends") == verdict(seen, evidence(-0.7, -0.1, p=0.01, direction=-1))
    assert Verdict("better", "a") == verdict(seen, evidence(0.01, 0.7, p=0.04))
    assert Verdict("depends") == verdict(evidence(-0.1, 0.1), evidence(-0.1, 0.3), margin=0.2)


def test_fillings_that_are_each_clear_but_opposite_show_nobody_better():
    assert 0 == common_direction(1, -1)
    assert (1, -1) == (common_direction(1, 1), common_direction(-1, -1))
    both = evidence(-0.7, 0.7, p=0.01, direction=common_direction(1, -1))
    assert Verdict("cannot_tell") == verdict(evidence(p=0.4), both)
    assert Verdict("depends") == verdict(evidence(p=0.01), both)


def test_too_few_is_said_before_depends():
    few = evidence(0.1, 0.5, p=0.01, n_groups=9, n_different=5)
    assert Verdict("too_few") == verdict(few, evidence(-0.2, 0.7, p=0.3))


def test_a_size_that_failed_marks_could_change_is_open():
    seen, possible = evidence(0.05, 0.15, p=0.01), evidence(0.01, 0.3, p=0.04)
    assert Verdict("better", "a", "open") == verdict(seen, possible, margin=0.2)


def test_the_same_evidence_twice_changes_nothing():
    for e in (evidence(), evidence(0.3, 0.5, p=0.01), evidence(-0.1, 0.1)):
        assert verdict(e, margin=0.2) == verdict(e, e, margin=0.2)


def mirrored(e):
    turned = (None, None) if e.margin_low is None else (-e.margin_high, -e.margin_low)
    return replace(e, direction=-e.direction, margin_low=turned[0], margin_high=turned[1])


tenths = st.integers(-6, 6).map(lambda n: n / 10)
some_evidence = st.builds(
    lambda ends, p, direction, groups, different, blank: evidence(
        *((None, None) if blank else sorted(ends)),
        p=p,
        direction=direction,
        n_groups=groups,
        n_different=min(groups, different),
    ),
    st.tuples(tenths, tenths),
    st.sampled_from([0.0, 0.01, 0.05, 0.051, 0.5, 1.0]),
    st.sampled_from([-1, 0, 1]),
    st.integers(0, 14),
    st.integers(0, 12),
    st.booleans(),
)


@given(some_evidence, st.none() | some_evidence, st.none() | st.sampled_from([0.1, 0.2, 0.3]))
def test_swapping_the_candidates_swaps_whom_the_verdict_favours(observed, bounds, margin):
    one = verdict(observed, bounds, margin=margin)
    other = verdict(mirrored(observed), bounds and mirrored(bounds), margin=margin)
    swap = {"a": "b", "b": "a", None: None}
    assert Verdict(one.code, swap[one.favours], one.size) == other


@given(some_evidence, st.none() | some_evidence, st.none() | st.sampled_from([0.1, 0.2, 0.3]))
def test_every_verdict_is_complete(observed, bounds, margin):
    v = verdict(observed, bounds, margin=margin)
    assert (v.favours is not None) == (v.code in {"better_by_margin", "better", "not_worse"})
    assert v.size is None or (v.code == "better" and margin is not None)
    assert margin is not None or v.code not in {"better_by_margin", "equivalent", "not_worse"}


def test_evidence_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="43 of 42 groups differ"):
        evidence(n_different=43)
    with pytest.raises(ValueError, match="direction must be"):
        evidence(direction=2)
    with pytest.raises(ValueError, match="p_adjusted must lie"):
        evidence(p=float("nan"))
    with pytest.raises(ValueError, match="is not at most"):
        evidence(0.3, 0.1)
    with pytest.raises(ValueError, match="both given or both None"):
        evidence(None, 0.1)
    with pytest.raises(ValueError, match="is not at most"):
        evidence(float("nan"), 0.1)
    for margin in (0, -0.2, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="margin must be"):
            verdict(evidence(), margin=margin)
    with pytest.raises(ValueError, match="p_adjusted is None"):
        verdict(evidence(p=None))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("Claude 3.5 Sonnet", Verdict("not_worse", "a")),
        ("Llama 3.3-70B-Instruct", Verdict("better", "a", "open")),
        ("Med42-70B", Verdict("better_by_margin", "a")),
    ],
)
def test_published_marks_lead_to_a_verdict(items, common, model, expected):
    """Margin .2, one pair at a time: Claude lies in -.08 to .26, Llama in .07 to .47, Med42 in .23 to .73."""
    d, g = common(items("Gemini 2.5 Pro"), items(model))
    r, ends = paired(d, g), margin_interval(d, g, span=5)
    e = Evidence(
        n_groups=r.n_groups,
        n_different=r.n_different,
        direction=r.direction,
        p_adjusted=float(np.min(holm([r.p]))),
        margin_low=ends.low,
        margin_high=ends.high,
    )
    assert expected == verdict(e, margin=0.2)
