"""Intervals and tests when the published scores are drawn again: docs/statistics.md, bench/redrawn_scores.py.

Items are drawn with replacement, and five repeats inside each: then the true mean is known. Monte-Carlo
error of 4,000 draws .3 to .5 points, of the 600 of the gate .8 to 1.3.
"""

import csv
import json
from collections import defaultdict

import numpy as np
import pytest
from tests.lengths import length

from vivavoce.stats import cluster_mean, estimate_mean, paired, t_interval
from vivavoce.stats.worst_case import lower_tail_mean

pytestmark = pytest.mark.slow

DRAWS = length(600, 4_000)
CRITERIA = ("comprehension", "harm", "demographic_bias")


@pytest.fixture(scope="module")
def published(hivmedqa):
    """The supervised judge's scores by model and criterion, then question; and the questions."""
    marks = defaultdict(lambda: defaultdict(list))
    with (hivmedqa / "judge_scores.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["supervised"] == "True" and row["parse_status"] == "ok":
                for criterion in CRITERIA:
                    marks[row["model"], criterion][row["question_id"]].append(float(row[criterion]))
    for name, own in marks["Gemini 2.5 Pro", "harm"].items():
        marks["Gemini 2.5 Pro", "harm = 5"][name] = [float(mark == 5) for mark in own]
    with (hivmedqa / "questions.jsonl").open(encoding="utf-8") as lines:
        return marks, {q["id"]: q for q in map(json.loads, lines)}


class Exam:
    """Scores of one candidate that can be drawn again."""

    def __init__(self, items, names):
        self.counts = np.array([len(items[name]) for name in names])
        self.marks = np.zeros((len(names), self.counts.max()))
        for i, name in enumerate(names):
            self.marks[i, : self.counts[i]] = items[name]
        self.truth = float((self.marks.sum(axis=1) / self.counts).mean())

    def means(self, chosen, rng):
        """Item means of five new repeats of each item chosen."""
        at = (rng.random((*chosen.shape, 5)) * self.counts[chosen][..., None]).astype(int)
        return self.marks[chosen[..., None], at].mean(axis=-1)


def by_t(y, groups):
    """The t interval of a mean, for comparison."""
    mean = cluster_mean(y, groups)
    return t_interval(mean.value, mean.se, mean.df)


def covered(ends, truth):
    return 100 * np.mean([low - 1e-12 <= truth <= high + 1e-12 for low, high in ends])


@pytest.mark.parametrize("n", length([21, 92], [10, 21, 63, 92]))
@pytest.mark.parametrize(
    ("model", "criterion", "high"),
    [
        ("Claude 3.5 Sonnet", "comprehension", 5),
        ("Claude 3.5 Sonnet", "harm", 5),
        ("Gemini 2.5 Pro", "harm = 5", 1),
        ("Med42-70B", "demographic_bias", 5),
    ],
)
def test_wilson_with_effective_size_covers_88_to_99_percent(published, model, criterion, high, n):
    own = published[0][model, criterion]
    exam, rng = Exam(own, sorted(own)), np.random.default_rng(n)
    drawn = exam.means(rng.integers(0, len(own), (DRAWS, n)), rng)
    found = covered([estimate_mean(y, np.arange(n), low=0, high=high)[1:3] for y in drawn], exam.truth)
    assert 88 <= found <= 99


def test_t_at_a_ceiling_covers_far_too_little(published):
    """Why Wilson is the default: 80 % of 95 % for ten items near a ceiling, 11 % for a saturated score."""
    for model, criterion, most in (("Claude 3.5 Sonnet", "harm", 84), ("Med42-70B", "demographic_bias", 14)):
        own = published[0][model, criterion]
        exam, rng = Exam(own, sorted(own)), np.random.default_rng(1)
        drawn = exam.means(rng.integers(0, len(own), (DRAWS, 10)), rng)
        assert covered([by_t(y, np.arange(10)) for y in drawn], exam.truth) < most


@pytest.mark.parametrize("n", length([21], [21, 63, 92]))
def test_paired_t_covers_93_to_97_percent(published, n):
    pair = [published[0][model, "comprehension"] for model in ("Gemini 2.5 Pro", "MedGemma 27B")]
    a, b = (Exam(own, sorted(own)) for own in pair)
    rng = np.random.default_rng(n)
    chosen = rng.integers(0, len(pair[0]), (DRAWS, n))
    drawn = a.means(chosen, rng) - b.means(chosen, rng)
    ends = [paired(d, np.arange(n)).interval() for d in drawn]
    shown = [pair for pair in ends if pair]  # fewer than ten cases that differ have none
    assert len(shown) > 0.9 * DRAWS
    assert 93 <= covered(shown, a.truth - b.truth) <= 97


def paper_groups(questions):
    """The paper's questions, and the rows of each group of them."""
    names = sorted(name for name, q in questions.items() if q["paper_subset"])
    codes = np.unique([questions[name]["derived_from"] or name for name in names], return_inverse=True)[1]
    return names, [np.flatnonzero(codes == g) for g in range(codes.max() + 1)]


def drawn_groups(members, rng):
    """Rows of as many groups, drawn with replacement, and the draw that each row is from."""
    chosen = [members[g] for g in rng.integers(0, len(members), len(members))]
    return np.concatenate(chosen), np.repeat(np.arange(len(chosen)), [len(rows) for rows in chosen])


@pytest.mark.parametrize("criterion", length(["harm"], ["comprehension", "harm"]))
def test_groups_cover_where_items_do_not(published, criterion):
    """42 groups of 63 items: Wilson by group 92 to 97 %, by item too little."""
    marks, questions = published
    names, members = paper_groups(questions)
    exam, rng = Exam(marks["Gemini 2.5 Pro", criterion], names), np.random.default_rng(2)
    by_group, by_item = [], []
    for _ in range(DRAWS):
        rows, drawn = drawn_groups(members, rng)
        y = exam.means(rows, rng)
        by_group.append(estimate_mean(y, drawn, low=0, high=5)[1:3])
        by_item.append(by_t(y, np.arange(len(y))))
    assert 92 <= covered(by_group, exam.truth) <= 97
    assert covered(by_item, exam.truth) < 92


@pytest.mark.parametrize("other", length(["MedGemma 27B"], ["MedGemma 27B", "Gemma 3 27B"]))
def test_a_true_null_is_rejected_as_often_as_promised_by_group_only(published, other):
    """5 % wanted: 3.5 to 8 % by group; 7 to 14 % by item."""
    marks, questions = published
    names, members = paper_groups(questions)
    a, b = (Exam(marks[model, "comprehension"], names) for model in ("Gemini 2.5 Pro", other))
    rng, hits = np.random.default_rng(3), np.zeros(2)
    for _ in range(DRAWS):
        rows, drawn = drawn_groups(members, rng)
        d = a.means(rows, rng) - b.means(rows, rng) - (a.truth - b.truth)
        hits += [paired(d, drawn).p <= 0.05, paired(d, np.arange(len(d))).p <= 0.05]
    by_group, by_item = 100 * hits / DRAWS
    assert 3.5 <= by_group <= 8
    assert by_item > by_group + 2


@pytest.mark.parametrize(("share", "n"), length([(0.25, 63)], [(0.1, 200), (0.25, 63)]))
def test_the_interval_of_a_tail_covers_92_to_99_percent(published, share, n):
    """With at least ten cases in the tail; fewer have no interval. With 12 it was 91 %."""
    own = published[0]["Claude 3.5 Sonnet", "harm"]
    y, rng = np.array([np.mean(own[name]) for name in sorted(own)]), np.random.default_rng(4)
    truth = lower_tail_mean(y, np.arange(len(y)), share=share).value
    drawn = y[rng.integers(0, len(y), (DRAWS, n))]
    ends = [lower_tail_mean(v, np.arange(n), share=share, low=0, high=5)[1:3] for v in drawn]
    assert 92 <= covered(ends, truth) <= 99
