"""The examiner's card of small panels, worked by hand."""

import json
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata, ttest_1samp
from tests.studies.judging import EXPERT, FREE, JUDGE, OTHER, card, draw, each, judged, some
from tests.studies.making import row

from vivavoce.core.numbers import printed
from vivavoce.core.records import ModelCard
from vivavoce.run.tables.load import load_scores
from vivavoce.store.integrity import rehash
from vivavoce.store.view import with_view
from vivavoce.studies.comparing.judge_biases import self_preference

# Of twelve cases five have 1 from both, four 0 from both, three 1 from the first and 0 from the second.
FIRST, SECOND = [1] * 5 + [0] * 4 + [1] * 3, [1] * 5 + [0] * 7


def test_two_judges_worked_by_hand(tmp_path: Path) -> None:
    """Of 12 answers 9 are scored alike and 3 lower by one; 8 and 5 ones among the two."""
    found = card(judged(tmp_path, {JUDGE: each(FIRST), OTHER: each(SECOND)}))
    own = {r["figure"]: r for r in some(found, part="judges", candidate="")}
    assert pytest.approx(1 - (3 / 12) / (2 * 13 * 11 / (24 * 23))) == own["alpha_nominal"]["value"]
    expected = (8 * 5 + 4 * 7) / 144
    assert pytest.approx((0.75 - expected) / (1 - expected)) == own["quadratic_kappa"]["value"]
    assert 0.75 == own["percent"]["value"]
    error = math.sqrt(12 / 11 * (3 * 0.75**2 + 9 * 0.25**2)) / 12
    shift = own["difference"]
    assert pytest.approx((-0.25, error)) == (shift["value"], shift["se"])
    assert (None, None, "no interval: too few cases differ for one at this level, at least 6 at 95 %") == (
        shift["low"], shift["high"], shift["reason"]
    )  # fmt: skip
    assert (12, 12, 3) == tuple(shift[k] for k in ("n_units", "n_groups", "n_changed"))
    assert "1 candidate: too few to order" == own["tau_b"]["reason"]
    assert "The second scores 0.25 lower." in found.text


def test_the_order_of_candidates_is_compared(tmp_path: Path) -> None:
    """Means 1, 2, 3, 4 and 1, 3, 2, 4: five of six pairs alike, tau (5 - 1) / 6; ceilings are left out."""
    marks = {
        measure: [line for name, value in zip("ABCDG", values, strict=True)
                  for line in each([value] * 10, name=name)]
        for measure, values in ((JUDGE, (1, 2, 3, 4, 5)), (OTHER, (1, 3, 2, 4, 0)))
    }  # fmt: skip
    found = card(judged(tmp_path, marks, role={"G": "ceiling"}))
    tau = row(found, part="judges", figure="tau_b")
    assert pytest.approx(4 / 6) == tau["value"]
    assert 4 == tau["n_units"]


def test_only_common_answers_are_compared(tmp_path: Path) -> None:
    found = card(judged(tmp_path, {JUDGE: each(FIRST), OTHER: each([*SECOND[:11], None])}))
    assert 11 == row(found, part="judges", candidate="", figure="percent")["n_units"]


@pytest.mark.parametrize(
    ("one", "other", "part"),
    [
        (JUDGE, OTHER, "judges"),
        (JUDGE, FREE, "reference"),
        (JUDGE, "judge(rubric=r, model=m1, reference=false)", "reference"),
        (JUDGE, "judge(rubric='own/r_free.md', model=m1)", "reference"),
        (JUDGE, "judge(rubric=s, model=m1)", None),
        (JUDGE, "judge(rubric=r_free, model=m2)", None),
    ],
)
def test_who_is_compared_with_whom(tmp_path: Path, one: str, other: str, part: str | None) -> None:
    """Another model with the same rubric, or the same rubric without its reference; nothing else."""
    found = card(judged(tmp_path, {one: each(FIRST), other: each(SECOND)}))
    made = {
        r["part"] for r in found.rows if r["figure"] == "percent" and r["part"] in ("judges", "reference")
    }
    assert ({part} if part else set()) == made


def test_the_reference_is_taken_from_what_lacks_it_in_any_order(tmp_path: Path) -> None:
    shifts = []
    for n, marks in enumerate(({JUDGE: each(FIRST), FREE: each(SECOND)},
                               {FREE: each(SECOND), JUDGE: each(FIRST)})):  # fmt: skip
        found = card(judged(tmp_path / str(n), marks))
        shifts.append(row(found, part="reference", candidate="", figure="difference")["value"])
    assert [-0.25, -0.25] == shifts


def test_below_ten_cases_there_are_reasons_and_no_figures(tmp_path: Path) -> None:
    texts = {"A": {f"q{n:02}": "x" * n + " x" for n in range(9)}}
    marks = {JUDGE: each(FIRST[:9]), FREE: each(SECOND[:9]), OTHER: each(FIRST[:9])}
    found = card(judged(tmp_path, marks, texts=texts, role={}))
    figures = [r for r in found.rows if r["n_groups"] == 9 and r["figure"] != "tau_b"]
    assert {"judges", "reference", "saturation", "length"} == {r["part"] for r in figures}
    assert {(None, None, "9 cases: too few to tell")} == {
        (r["value"], r["low"], r["reason"]) for r in figures
    }


def test_questions_on_one_case_count_as_one(tmp_path: Path) -> None:
    items = [{"item": f"q{n:02}", "group": f"case {n // 2}"} for n in range(24)]
    marks = {JUDGE: each(FIRST * 2), OTHER: each(SECOND * 2)}
    shift = row(card(judged(tmp_path, marks, items=items)), part="judges", figure="difference", candidate="")
    assert (24, 12) == (shift["n_units"], shift["n_groups"])
    sums = np.array([SECOND[n % 12] - FIRST[n % 12] for n in range(24)]).reshape(12, 2).sum(axis=1) + 0.5
    assert pytest.approx(math.sqrt(12 / 11 * (sums**2).sum()) / 24) == shift["se"]


def test_recorded_marks_of_one_text_are_a_retest_and_a_judges_here_are_not(tmp_path: Path) -> None:
    """Here a judge scores equal texts once in a pass, so that equal scores of them prove nothing."""
    marks = [("A", f"q{n:02}#{k}", n % 3) for n in range(12) for k in (1, 2)]
    run = judged(tmp_path, {JUDGE: marks})
    assert "identical text" in {r["contrast"] for r in card(run).rows}
    with run.file.writing() as db:
        db.execute("UPDATE measures SET signature = replace(signature, '@recorded', '@1')")
        rehash(db)
    own = some(card(run), part="retest")
    assert ["no second pass, and no recorded scores of a text that was answered twice"] == [
        r["reason"] for r in own
    ]


def test_passes_are_a_retest_and_only_the_first_meets_another_judge(tmp_path: Path) -> None:
    marks = [(*line, None, pass_no) for pass_no, own in ((1, FIRST), (2, SECOND)) for line in each(own)]
    found = card(judged(tmp_path, {JUDGE: marks, OTHER: each(FIRST)}))
    retest = row(found, part="retest", contrast="passes", figure="percent")
    assert (0.75, 3) == (retest["value"], retest["n_changed"])
    assert 1.0 == row(found, part="judges", candidate="", figure="percent")["value"]


def test_saturation_begins_at_95_per_cent(tmp_path: Path) -> None:
    for n, values in enumerate(([5] * 19 + [4], [5] * 18 + [4, 4])):
        r = row(card(judged(tmp_path / str(n), {JUDGE: each(values)})), figure="modal_share")
        assert (n == 0, "5") == (r["saturated"], r["contrast"])


def test_shares_are_given_for_both_ends_and_the_higher_of_equal_modes(tmp_path: Path) -> None:
    found = card(judged(tmp_path, {JUDGE: each([0, 0, 0, 3, 3, 3, 4, 4, 5, 1])}))
    told = {(r["figure"], r["contrast"]): r["value"] for r in some(found, part="saturation")}
    expected = {("modal_share", "3"): 0.3, ("share_lowest", "0"): 0.3, ("share_highest", "5"): 0.1}
    assert pytest.approx(expected) == told


def test_criteria_that_move_together_within_a_question(tmp_path: Path) -> None:
    """Two candidates: one criterion follows the other inside each question, and runs against it between."""
    lines = [
        (name, f"q{n:02}", value, None, criterion)
        for n in range(12)
        for name, up in (("A", 0), ("B", 1))
        for criterion, value in (("tone", n % 4 + up), ("truth", 3 - n % 4 + up))
    ]
    found = card(judged(tmp_path, {JUDGE: lines}))
    inside = row(found, part="halo", contrast="within questions", figure="pearson")
    assert pytest.approx(1) == inside["value"]
    assert (None, "leaving a case out makes it undefined or perfect: no interval") == (
        inside["low"], inside["reason"]
    )  # fmt: skip
    rows = row(found, part="halo", contrast="rows", figure="pearson")
    x = np.array([n % 4 + up for n in range(12) for up in (0, 1)])
    y = np.array([3 - n % 4 + up for n in range(12) for up in (0, 1)])
    assert pytest.approx(np.corrcoef(x, y)[0, 1]) == rows["value"]
    assert rows["value"] < 0


def test_criteria_are_named_where_they_move_together_beyond_items_and_candidates(tmp_path: Path) -> None:
    """p is of the mean product of both, each less its item's and its candidate's mean; Holm over pairs."""
    rng = np.random.default_rng(5)
    noise = rng.normal(0, 0.8, (3, 20, 3))
    noise[..., 1] = 0.6 * noise[..., 0] + 0.6 * noise[..., 1]
    able = np.array([[0.0, 0.0, 1.0], [0.5, 0.4, 0.0], [1.0, 0.8, 0.5]])
    y = np.clip(np.round(2.5 + able[:, None] + noise), 0, 5)
    criteria = ("facts", "truth", "zeal")
    lines = [
        (name, f"q{n:02}", int(y[k, n, c]), None, criterion)
        for n in range(20)
        for k, name in enumerate("ABC")
        for c, criterion in enumerate(criteria)
    ]
    finding = card(judged(tmp_path, {JUDGE: lines}))
    level = "within questions, beyond candidates' means"
    rows = {
        (r["criterion"], r["other"]): r
        for r in some(finding, part="halo", contrast=level)
        if r["figure"] == "pearson"
    }
    centred = y - y.mean(axis=0) - y.mean(axis=1, keepdims=True) + y.mean(axis=(0, 1))
    p = {}
    for (i, first), (j, second) in combinations(enumerate(criteria), 2):
        product = (centred[..., i] * centred[..., j]).sum(axis=0)
        p[first, second] = ttest_1samp(product, 0).pvalue
        r = np.corrcoef(centred[..., i].ravel(), centred[..., j].ravel())[0, 1]
        assert pytest.approx(float(r)) == rows[first, second]["value"]
    assert pytest.approx(p, rel=0.02) == {pair: r["p"] for pair, r in rows.items()}
    assert 3 * rows["facts", "truth"]["p"] == pytest.approx(rows["facts", "truth"]["p_adjusted"])
    (named,) = [line for line in finding.text.splitlines() if "move together" in line]
    assert "these criteria move together (Holm over 3 pairs): facts and truth r 0." in named
    assert "zeal" not in named


def test_the_mean_product_is_of_items_that_all_candidates_have(tmp_path: Path) -> None:
    """Where no item has both candidates there is nothing beyond their means, and no p."""
    lines = [
        ("AB"[n % 2], f"q{n:02}", 1 + (n + k) % 4, None, criterion)
        for n in range(24)
        for k, criterion in enumerate(("tone", "truth"))
    ]
    finding = card(judged(tmp_path, {JUDGE: lines}))
    level = "within questions, beyond candidates' means"
    rows = some(finding, part="halo", contrast=level)
    assert [(None, None, None)] * 2 == [(r["value"], r["p"], r["p_adjusted"]) for r in rows]
    assert "move together" not in finding.text


def test_length_is_compared_inside_each_question_by_rank(tmp_path: Path) -> None:
    """Ranks inside the question, centred there, correlated over all; recomputed with SciPy's ranks."""
    values, words = draw("mark", 36, 5), draw("words", 36, 9)
    lines: list[tuple[Any, ...]] = []
    texts: dict[str, dict[str, str]] = {name: {} for name in "ABC"}
    for n in range(12):
        for k, name in enumerate("ABC"):
            lines.append((name, f"q{n:02}", values[3 * n + k]))
            texts[name][f"q{n:02}"] = " ".join(["word"] * (1 + words[3 * n + k]))
    found = row(card(judged(tmp_path, {JUDGE: lines}, texts=texts)), part="length")
    ranks = [rankdata(np.array(of).reshape(12, 3), axis=1) for of in (values, words)]
    x, y = ((r - r.mean(axis=1, keepdims=True)).ravel() for r in ranks)
    assert pytest.approx(float(np.corrcoef(x, y)[0, 1])) == found["value"]
    assert (36, 12) == (found["n_units"], found["n_groups"])
    assert found["low"] < found["value"] < found["high"]


def ballots(first_wins: int, of: int = 12) -> list[tuple[Any, ...]]:
    """Pairs A and B in both orders: in some whoever is shown first wins, in the others A does."""
    lines = []
    for n in range(of):
        for order in (("A", "B"), ("B", "A")):
            winner = order[0] if n < first_wins else "A"
            for position, name in enumerate(order, 1):
                ballot = f"{n} {'-'.join(order)}"
                lines.append((name, f"q{n:02}", float(name == winner), None, "won", None, ballot, position))
    return lines


@pytest.mark.parametrize(("first_wins", "share"), [(0, 0.5), (6, 0.75), (12, 1.0)])
def test_the_first_shown_wins_more_than_its_share(tmp_path: Path, first_wins: int, share: float) -> None:
    run = judged(tmp_path, {JUDGE: ballots(first_wins)}, range={"*": (0, 1)})
    found = card(run)
    first, order = (row(found, part="position", figure=f) for f in ("first_shown", "inconsistent"))
    assert pytest.approx(share) == first["value"]
    assert pytest.approx(first_wins / 12) == order["value"]
    assert (12, 12) == (first["n_units"], first["n_groups"])
    assert first["low"] < share or share == 1.0
    assert f"{printed(100 * first_wins / 12, '.0f')} % come out otherwise" in found.text


def test_ranks_of_a_ballot_count_pair_by_pair(tmp_path: Path) -> None:
    """Three answers and their reverse, ranked as shown: every pair goes to the one shown first."""
    lines = [
        (name, f"q{n:02}", float(place), None, "rank", None, f"{n} {''.join(order)}", place)
        for n in range(10)
        for order in (("A", "B", "C"), ("C", "B", "A"))
        for place, name in enumerate(order, 1)
    ]
    run = judged(tmp_path, {JUDGE: lines}, direction={"*": "lower"})
    found = card(run)
    assert 1.0 == row(found, part="position", figure="first_shown")["value"]
    assert (30, 10) == tuple(
        row(found, part="position", figure="inconsistent")[k] for k in ("n_units", "n_groups")
    )


def test_pairs_shown_in_one_order_say_nothing_of_order(tmp_path: Path) -> None:
    lines = [line for line in ballots(0) if line[6].endswith("A-B")]
    found = card(judged(tmp_path, {JUDGE: lines}, range={"*": (0, 1)}))
    assert {"no pair was shown in both orders"} == {r["reason"] for r in some(found, part="position")}


def test_marks_given_one_at_a_time_have_no_position(tmp_path: Path) -> None:
    (r,) = some(card(judged(tmp_path, {JUDGE: each(FIRST)})), part="position")
    assert (None, "no ballots: answers were scored one at a time") == (r["value"], r["reason"])


KIN, STRANGER = "llama-3.1-8b-instruct", "gemma-2-9b-it"


def kin(
    folder: Path, *, judge: str = "llama-3.3-70b-instruct", extra: float = 1, labels: bool = False
) -> dict[str, Any]:
    """The judge's family has one more than the others by the judge, and by people as much as `extra`."""
    marks = {f"judge(rubric=r, model={judge})": [*each([3] * 12, name=KIN), *each([2] * 12, name=STRANGER)]}
    if labels:
        marks[EXPERT] = [
            *each([2 + extra] * 12, name=KIN, rater="Ann"),
            *each([2] * 12, name=STRANGER, rater="Ann"),
        ]
    run = judged(folder, marks)
    return row(card(run, labels=EXPERT if labels else None), part="family")


def test_without_people_a_gap_to_ones_own_family_has_no_known_cause(tmp_path: Path) -> None:
    found = kin(tmp_path)
    assert (1.0, "difference, cause unknown", 12) == tuple(
        found[k] for k in ("value", "contrast", "n_groups")
    )


@pytest.mark.parametrize(("extra", "left"), [(1, 0.0), (0, 1.0)])
def test_with_people_only_what_they_do_not_see_is_favour(tmp_path: Path, extra: float, left: float) -> None:
    found = kin(tmp_path, extra=extra, labels=True)
    assert (left, "against people") == (found["value"], found["contrast"])


@pytest.mark.parametrize(
    ("judge", "why"), [("nobody-7", "no model card names it"), ("qwen2-7b-instruct", "of the judge's family")]
)
def test_a_family_that_is_not_known_is_not_guessed(tmp_path: Path, judge: str, why: str) -> None:
    found = kin(tmp_path, judge=judge)
    assert found["value"] is None
    assert why in found["reason"]


def test_families_are_those_of_the_cards_that_came_with_the_marks(tmp_path: Path) -> None:
    """Names that no list of ours knows: the judge's card stands under its model's name."""
    run = judged(tmp_path, {JUDGE: [*each([3] * 12, name="kin-1"), *each([2] * 12, name="alien-1")]})
    marks = with_view(run.file, load_scores)
    known = {
        name: ModelCard(name=name, family=of)
        for name, of in (("m1", "Kin"), ("kin-1", "Kin"), ("alien-1", "Alien"))
    }
    (found,) = self_preference(marks._replace(cards=known)).rows
    assert 1.0 == found.value
    (found,) = self_preference(
        marks._replace(cards={name: known[name] for name in ("kin-1", "alien-1")})
    ).rows
    assert "the family of m1 is not known: no model card names it" == found.reason


def test_candidates_stand_between_floor_and_ceiling(tmp_path: Path) -> None:
    marks = [*each([5] * 12, name="Gold"), *each([1] * 12, name="Noise"), *each([4, 2] * 6)]
    found = card(judged(tmp_path, {JUDGE: marks}, role={"Gold": "ceiling", "Noise": "floor"}))
    share = row(found, part="bounds", figure="share_of_span")
    assert pytest.approx(0.5) == share["value"]
    assert share["low"] < 0.5 < share["high"]
    assert -2 == row(found, part="bounds", figure="from_ceiling")["value"]
    assert 2 == row(found, part="bounds", figure="from_floor")["value"]
    assert "the ceiling Gold has 5.00" in found.text


def test_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    values = {JUDGE: draw("one", 24, 5), OTHER: draw("two", 24, 5)}
    lines = {
        measure: [*each(own[:12], name="A"), *each(own[12:], name="B")] for measure, own in values.items()
    }
    one = card(judged(tmp_path / "1", lines))
    other = card(judged(tmp_path / "2", {measure: own[::-1] for measure, own in lines.items()}))
    assert json.dumps(one.rows) == json.dumps(other.rows)
    assert one.text == other.text


def test_failed_marks_enter_nothing(tmp_path: Path) -> None:
    run = judged(tmp_path, {JUDGE: [*each(FIRST), ("A", "q12", None)], OTHER: each([*SECOND, 3])})
    assert 12 == row(card(run), part="judges", candidate="", figure="percent")["n_units"]
