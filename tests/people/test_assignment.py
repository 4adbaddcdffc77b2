"""Who judges what is balanced, follows from seed and ids alone, and leaves out no question."""

from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case
from tests.people.raters import drawn, examined

from vivavoce.core.errors import InputError
from vivavoce.people.assignment import Turn, assign, with_repeats
from vivavoce.people.packets import write_packets
from vivavoce.people.stored_keys import put_key, read_keys


def places(n: int, n_categories: int = 1) -> dict[tuple[str, str, str], str]:
    return {("b", f"q{k:03}", ""): f"c{k % n_categories}" for k in range(n)}


def names(n: int) -> list[str]:
    return [f"rater{k}" for k in range(n)]


@given(
    n=st.integers(0, 80),
    n_raters=st.integers(2, 8),
    double=st.floats(0, 1),
    n_categories=st.integers(1, 5),
    seed=st.integers(0, 9),
)
def test_each_question_is_judged_and_shares_and_loads_are_within_one(
    n: int, n_raters: int, double: float, n_categories: int, seed: int
) -> None:
    questions = places(n, n_categories)
    assignment = assign(questions, names(n_raters), double=double, seed=seed)
    judged = Counter(place for own in assignment.raters.values() for place in own)
    assert set(judged) == set(questions)
    assert {place for place, k in judged.items() if k == 2} == assignment.double
    assert max(judged.values(), default=1) <= 2
    assert abs(len(assignment.double) - double * n) <= 0.5
    loads = [len(own) for own in assignment.raters.values()]
    assert max(loads) - min(loads) <= 1
    for category in set(questions.values()):
        own = [place for place in questions if questions[place] == category]
        assert abs(sum(place in assignment.double for place in own) - double * len(own)) < 1 + 1e-9


@each_case("n_raters", range(2, 9))
@each_case("seed", range(5))
def test_pairs_of_raters_share_alike_many_questions(n_raters: int, seed: int) -> None:
    assignment = assign(places(300, 3), names(n_raters), double=0.45, seed=seed)
    shared = [
        len(set(assignment.raters[a]) & set(assignment.raters[b]))
        for a, b in combinations(assignment.raters, 2)
    ]
    assert max(shared) - min(shared) <= 2


def test_the_order_of_questions_and_raters_does_not_matter() -> None:
    questions = places(50, 4)
    backwards = dict(reversed(questions.items()))
    one = assign(questions, names(3), double=0.45, seed=1)
    other = assign(backwards, names(3)[::-1], double=0.45, seed=1)
    assert one == other
    assert one != assign(questions, names(3), double=0.45, seed=2)


def test_a_further_rater_leaves_the_double_questions_as_they_are() -> None:
    three, four = (assign(places(50, 4), names(k), double=0.45, seed=1) for k in (3, 4))
    assert three.double == four.double
    assert {17, 18} >= {len(own) for own in four.raters.values()}


def test_all_questions_double_between_two_raters_are_all_for_both() -> None:
    assignment = assign(places(7), ["anna", "ben"], double=1, seed=1)
    assert assignment.raters["anna"] == assignment.raters["ben"] == tuple(sorted(places(7)))


@pytest.mark.parametrize(
    ("raters", "double", "sentence"),
    [
        ([], 0.0, "one at least"),
        (["anna", "anna"], 0.0, "each rater once"),
        (["anna"], 0.45, "second rater"),
        (["anna", "ben"], 1.2, "0 to 1"),
        (["anna", "ben"], float("nan"), "0 to 1"),
    ],
)
def test_what_cannot_be_shared_out_is_refused(raters: list[str], double: float, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        assign(places(5), raters, double=double, seed=1)


@given(n=st.integers(0, 120), share=st.floats(0, 0.5), seed=st.integers(0, 9))
def test_repeats_come_once_each_far_behind_and_none_to_a_short_list(n: int, share: float, seed: int) -> None:
    order = list(places(n))
    turns = with_repeats(order, "anna", share=share, seed=seed)
    assert [turn.place for turn in turns if turn.pass_no == 1] == order
    again = [turn for turn in turns if turn.pass_no == 2]
    assert len(again) == len(set(again)) == (min(round(n * share), n // 2) if n >= 20 else 0)
    for turn in again:
        assert turns.index(turn) - turns.index(Turn(turn.place)) > n // 2


def test_a_packet_of_shared_out_questions_is_part_of_the_whole_one_and_comes_back(tmp_path: Path) -> None:
    run = drawn(examined(tmp_path, 12))
    write_packets(run.file, ["anna", "ben"], tmp_path / "out")
    with run.file.reading() as db:
        (key,) = read_keys(db).values()
    names_of = dict.fromkeys((q.place for q in key.questions), "")
    own = assign(names_of, ["anna", "ben", "carla"], double=0.5, seed=1).raters
    for rater in ("anna", "ben"):
        shared_out = key.packet(rater, own[rater])
        assert {entry.question.place for entry in shared_out} == set(own[rater])
        assert [e.seal for e in key.packet(rater) if e.question.place in own[rater]] == [
            entry.seal for entry in shared_out
        ]
    carla = key._replace(packets={"carla": key.packet("carla", own["carla"])})
    with run.file.writing() as db:
        put_key(db, carla)
        (stored,) = read_keys(db).values()
    assert stored.packets["carla"] == carla.packets["carla"]
    assert stored.packets["anna"] == key.packets["anna"]


def test_a_share_that_cannot_be_put_again_is_refused() -> None:
    with pytest.raises(InputError, match=r"0 to 0\.5"):
        with_repeats(list(places(40)), "anna", share=0.6, seed=1)
