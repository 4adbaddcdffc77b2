"""Reviews: the ladder, agreement, gold, what is held out, and the raters themselves."""

import random

import krippendorff
import numpy as np
import pytest
from tests.studies.making import made

from vivavoce import stats
from vivavoce.people.backgrounds import Background, put_background
from vivavoce.people.panels import PanelSettings, open_panel
from vivavoce.people.storing.judgements import store_judgement
from vivavoce.people.storing.store_reviews import import_reviews, put_adjudication
from vivavoce.people.tasks import ReviewTask
from vivavoce.report.charts import review_ladder
from vivavoce.run.run import Run

RATERS = ("anna", "ben", "carla")


def reviewed(folder, said, categories=None, *, name="reviews.csv", relevance="") -> Run:
    """A run whose items were reviewed: by item the word of each rater, '' for none."""
    answers = {"A": {item: "an answer" for item in said}}
    run = made(folder, answers, items=[{"item": item} for item in said])
    lines = ["item,category,rater,correct,relevance"]
    for item, words in said.items():
        for rater, word in zip(RATERS, words, strict=False):
            if word:
                lines.append(f"{item},{(categories or {}).get(item, '')},{rater},{word},{relevance}")
    file = folder / name
    file.write_text("\n".join(lines))
    import_reviews(run.file, file)
    return run


def rows(run: Run, about: str = "all"):
    return [row for row in run.study("review")["review"].rows if row["about"] == about]


def simulated(n: int = 60, error: float = 0.2, seed: int = 5) -> dict[str, list[str]]:
    """Raters who err independently about a truth that holds for 70 % of the items."""
    dice = random.Random(seed)
    return {
        f"q{k:03}": ["yes" if (dice.random() < 0.7) ^ (dice.random() < error) else "no" for _ in RATERS]
        for k in range(n)
    }


def test_alpha_is_that_of_the_reference_implementation_and_the_ladder_is_counted(tmp_path):
    said = simulated()
    (row,) = rows(reviewed(tmp_path, said))
    table = np.array([[word == "yes" for word in words] for words in said.values()], dtype=float)
    alpha = krippendorff.alpha(reliability_data=table.T, level_of_measurement="nominal")
    assert alpha == pytest.approx(row["alpha"], abs=1e-9)
    yes = table.sum(axis=1)
    assert [np.mean(yes >= k) for k in (1, 2, 3)] == pytest.approx(
        [row["one_of_three"], row["two_of_three"], row["three_of_three"]]
    )
    assert row["all_agree"] == pytest.approx(np.mean((yes == 3) | (yes == 0)))
    assert row["low"] < row["alpha"] < row["high"]
    assert row["three_low"] < row["three_of_three"] < row["three_high"]


def test_the_published_interrater_is_three_of_three_plus_none(tmp_path):
    # Table 2 of the paper, rephrasing (96.1, 65.8, 69.7 %): of 360 items 237 by all, 14 by none, 109 by two.
    words = [["yes"] * 3] * 237 + [["no"] * 3] * 14 + [["yes", "yes", "no"]] * 109
    (row,) = rows(reviewed(tmp_path, {f"q{k:03}": said for k, said in enumerate(words)}))
    columns = ("one_of_three", "three_of_three", "all_agree")
    assert (0.961, 0.658, 0.697) == tuple(round(row[name], 3) for name in columns)
    assert row["all_agree"] == pytest.approx(row["three_of_three"] + 1 - row["one_of_three"])


def test_by_hand(tmp_path):
    said = {
        "q1": ["yes", "yes", "yes"],
        "q2": ["yes", "no", "no"],
        "q3": ["no", "no", "no"],
        "q4": ["yes", "no", ""],
    }
    run = reviewed(tmp_path, said, {"q1": "dose", "q2": "dose", "q3": "cause", "q4": "cause"}, relevance="4")
    (row,) = rows(run)
    assert (4, 3, 4, 3) == (row["n"], row["n_three"], row["n_two"], row["n_raters"])
    assert pytest.approx((2 / 3, 1 / 3, 1 / 3, 2 / 3)) == (
        row["one_of_three"], row["two_of_three"], row["three_of_three"], row["all_agree"],
    )  # fmt: skip
    assert (1 / 3, 1, 3) == pytest.approx((row["gold"], row["n_tied"], row["n_gold"]))
    assert 4 == row["relevance"]
    assert row["alpha"] is None
    assert "too few" in row["reason"]
    dose, cause = (r for r in rows(run, "category"))
    assert ("cause", "dose") == (dose["category"], cause["category"])


def test_with_four_raters_the_ladder_is_the_chance_of_three_of_them(tmp_path):
    run = reviewed(tmp_path, {"q1": ["yes", "yes", "no"]})
    file = tmp_path / "more.csv"
    file.write_text("item,category,rater,correct,relevance\nq1,,dora,no,")
    import_reviews(run.file, file)
    (row,) = rows(run)
    assert pytest.approx((1.0, 0.5, 0.0)) == (row["one_of_three"], row["two_of_three"], row["three_of_three"])


def test_the_kindest_raters_have_no_alpha(tmp_path):
    (row,) = rows(reviewed(tmp_path, {f"q{k:02}": ["yes"] * 3 for k in range(20)}))
    assert row["alpha"] is None
    assert "all say the same" in row["reason"]
    assert (1.0, 1.0) == (row["three_of_three"], row["all_agree"])
    assert row["three_low"] < 1


def test_one_rater_has_no_agreement(tmp_path):
    (row,) = rows(reviewed(tmp_path, {f"q{k:02}": ["yes"] for k in range(12)}))
    assert (None, None, 0, 0) == (row["alpha"], row["all_agree"], row["n_two"], row["n_three"])
    assert "no item was judged by two raters" in row["reason"]
    assert 1.0 == row["gold"]


def test_without_reviews_there_is_a_sentence(tmp_path):
    run = made(tmp_path, {"A": {"q1": "yes"}})
    run.score("exact")
    assert "Nobody reviewed an item" in run.study("review")["review"].text
    assert "review" not in run.study()


def test_names_and_order_of_raters_change_nothing(tmp_path):
    said = simulated(30)
    first = rows(reviewed(tmp_path / "a", said))
    turned = rows(reviewed(tmp_path / "b", {item: words[::-1] for item, words in reversed(said.items())}))
    assert first == turned


def test_an_open_dispute_holds_an_item_out_until_it_is_settled(tmp_path):
    run = reviewed(tmp_path, {"q1": ["yes", "yes", "yes"], "q2": ["yes", "no", "no"]})
    file = tmp_path / "dispute.csv"
    file.write_text("item,category,rater,correct,relevance,dispute\nq1,,dora,no,,The dose is per day.")
    import_reviews(run.file, file)
    (row,) = rows(run)
    assert (1, 1, 0.0) == (row["held_out"], row["n_gold"], row["gold"])
    with run.file.writing() as db:
        put_adjudication(db, ("exam", "q1", ""), rater="zoe", correct=False, reason="She is right.")
    (row,) = rows(run)
    assert (0, 2, 0.0) == (row["held_out"], row["n_gold"], row["gold"])


def test_a_category_called_all_is_no_row_of_all(tmp_path):
    run = reviewed(tmp_path, {"q1": ["yes"] * 3, "q2": ["no"] * 3}, {"q1": "all"})
    assert [("", 1), ("all", 1)] == [(row["category"], row["n"]) for row in rows(run, "category")]
    assert [(None, 2)] == [(row["category"], row["n"]) for row in rows(run)]


def test_a_kind_rater_is_named_with_an_interval(tmp_path):
    said = {f"q{k:02}": ["yes", "no" if k % 3 else "yes", "no" if k % 2 else "yes"] for k in range(40)}
    run = reviewed(tmp_path, said)
    kind = {row["rater"]: row for row in rows(run, "rater")}["anna"]
    assert 0 < kind["kinder_low"] < kind["kinder"] < kind["kinder_high"]
    assert "anna calls more items correct than the others" in run.study("review")["review"].text


def test_a_rater_is_named_by_what_holds_for_all_raters_together(tmp_path):
    """Alone the stricter and the kinder of three would be named, at .023 and .017; among three nobody is."""
    dissents = {k: ["yes", "no", "yes"] if k < 7 else ["yes", "yes", "no"] for k in range(10)}
    run = reviewed(tmp_path, {f"q{k:02}": dissents.get(k, ["yes"] * 3) for k in range(40)})
    raters = {row["rater"]: row for row in rows(run, "rater")}
    alone = stats.events_test(33, [2 / 3] * 10 + [1.0] * 30)
    assert stats.ALPHA > alone > stats.ALPHA / 3
    # Anna never dissents, and has the smaller p.
    anna = stats.events_test(40, [2 / 3] * 10 + [1.0] * 30)
    assert pytest.approx(3 * anna) == raters["anna"]["kinder_p"]
    assert raters["anna"]["kinder_p"] == raters["ben"]["kinder_p"] > 2 * alone
    assert "than the others" not in run.study("review")["review"].text


def test_planted_repeats_say_how_steady_a_rater_is_and_count_no_second_time(tmp_path):
    run = made(tmp_path, {"A": {f"q{k:02}": "an answer" for k in range(20)}})
    panel = open_panel(run.file, PanelSettings(ReviewTask(), repeats=0.5), ["anna"])
    for entry in panel.key.packets["anna"]:
        word = "yes" if entry.pass_no == 1 else "no"
        store_judgement(run.file, panel.key, "anna", entry.question.name, {"A": {"correct": word}},
                        pass_no=entry.pass_no)  # fmt: skip
    (row,) = rows(run, "rater")
    assert (20, 10, 1.0, -1.0) == (row["n"], row["n_again"], row["changed"], row["drift"])
    (total,) = rows(run)
    assert (20, 1.0) == (total["n"], total["gold"])


def test_who_the_raters_are_stands_beside_what_they_judge(tmp_path):
    run = reviewed(tmp_path, simulated(3))
    with run.file.writing() as db:
        put_background(db, "anna", Background("nurse", 12, True, False))
    columns = ("rater", "profession", "years", "paid", "author")
    found = [tuple(row[name] for name in columns) for row in rows(run, "rater")]
    assert [("anna", "nurse", 12, True, False), ("ben", None, None, None, None)] == found[:2]


def test_the_report_draws_the_ladder(tmp_path):
    said = simulated(20)
    run = reviewed(tmp_path, said, {item: "dose" if k % 2 else "cause" for k, item in enumerate(said)})
    run.study("review")
    page = run.report(plots=tmp_path / "plots").read_text(encoding="utf-8")
    assert "Items that raters call correct on exam" in page
    (row,) = rows(run)
    svg = (tmp_path / "plots" / "review-exam.svg").read_text()
    assert (
        f"all together {row['one_of_three']:.2f} / {row['two_of_three']:.2f} / {row['three_of_three']:.2f}"
        in svg
    )


def test_without_three_raters_there_is_a_sentence_and_no_ladder(tmp_path):
    run = reviewed(tmp_path, {"q1": ["yes", "no"], "q2": ["yes", "yes"]})
    assert "No item was reviewed by three raters." == review_ladder(rows(run))


def test_reviews_are_no_candidate_s_scores_in_the_report(tmp_path):
    run = reviewed(tmp_path, simulated(12))
    run.score("token_f1")
    run.study("review")
    page = run.report().read_text(encoding="utf-8")
    assert "token_f1" in page
    assert "Reviews of the items" in page
    assert not [word for word in ("correct by anna", "relevance by anna", "review · correct") if word in page]


def test_a_run_with_reviews_alone_has_a_report_of_them(tmp_path):
    run = reviewed(tmp_path, simulated(12))
    run.study("review")
    assert "Items that raters call correct on exam" in run.report().read_text(encoding="utf-8")


def test_formats_relevance_and_second_reviews_are_counted_as_in_table_1(tmp_path):
    # q1 and q2 by two raters, q3 by one; q2 is of low relevance to one of them, q3 highly relevant.
    items = [{"item": "q1"}, {"item": "q2"}, {"item": "q3", "format": "longform"}]
    run = made(tmp_path, {"A": {"q1": "x", "q2": "x", "q3": "x"}}, items=items)
    file = tmp_path / "reviews.csv"
    file.write_text(
        "item,category,rater,correct,relevance,comment,dispute\n"
        "q1,,anna,yes,5,Fine.,\nq1,,ben,yes,5,,Wrong dose.\n"
        "q2,,anna,yes,5,,\nq2,,ben,no,4,,\nq3,,anna,yes,5,,\n"
    )
    import_reviews(run.file, file)
    (row,) = rows(run)
    columns = ("n_high", "n_low", "n_high_two", "n_low_two", "n_comments", "n_disputes", "held_out")
    assert (2, 1, 1, 1, 1, 1, 1) == tuple(row[name] for name in columns)
    assert row["twice"] == pytest.approx(2 / 3)
    assert 0.5 == row["all_agree"]
    by_format = {row["format"]: (row["n_high"], row["n_low"], row["twice"]) for row in rows(run, "format")}
    assert (1, 0, 0.0) == by_format["longform"]
    assert 2 == len(by_format)
    assert "Raters wrote 1 note and 1 dispute." in run.study("review")["review"].text


def test_agreement_and_ladder_count_the_same_items(tmp_path):
    words = {"q1": ["yes"] * 3, "q2": ["no"] * 3, "q3": ["yes", "no", "no"], "q4": ["yes", "yes", ""]}
    (row,) = rows(reviewed(tmp_path, words))
    assert (3, 4) == (row["n_three"], row["n_two"])
    assert row["all_agree"] == pytest.approx(2 / 3)
    assert row["all_agree"] == pytest.approx(row["three_of_three"] + 1 - row["one_of_three"])


def test_sentences_say_on_how_many_items_they_rest_and_set_those_of_two_raters_apart(tmp_path):
    words = {f"q{k:02}": ["yes", "no", ""] for k in range(20)} | {"q20": ["yes"] * 3}
    text = reviewed(tmp_path, words).study("review")["review"].text
    assert "All of three call 100.0% of 1 item correct" in text
    assert "Three say the same of 100.0% of 1 item; 20 items of two raters not among them." in text


def test_without_three_raters_the_sentence_is_of_both(tmp_path):
    text = reviewed(tmp_path, {"q1": ["yes", "no"], "q2": ["yes", "yes"]}).study("review")["review"].text
    assert "Both raters say the same of 50.0% of 2 items." in text


def test_who_says_only_how_relevant_items_are_reviews_them_and_ties_none(tmp_path):
    run = made(tmp_path, {"A": {"q1": "x", "q2": "x"}}, items=[{"item": "q1"}, {"item": "q2"}])
    file = tmp_path / "reviews.csv"
    file.write_text(
        "item,category,rater,correct,relevance\nq1,,anna,,5\nq1,,ben,,5\nq2,,anna,yes,4\nq2,,ben,no,4\n"
    )
    import_reviews(run.file, file)
    (row,) = rows(run)
    assert (1, 1, 1, 1.0) == (row["n_tied"], row["n_high_two"], row["n_low_two"], row["twice"])
    assert (0, 1) == (row["n_three"], row["n_two"])
