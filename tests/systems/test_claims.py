"""Claims: a printed figure against a recomputed one."""

import pytest
from tests.cases import each_case

from vivavoce.core import registry
from vivavoce.core.errors import SelectionError
from vivavoce.run.reproduce import Claim, agrees, check_claims, reproduce


@each_case(
    ("printed", "found", "holds"),
    [
        ("4.05", 4.0549, True),
        ("4.05", 4.0552, False),
        ("4.05", 4.0449, True),  # half a unit, and a ten-thousandth for what was rounded twice
        ("4.1", 4.0952, True),
        ("4.10", 4.0949, True),
        ("4.10", 4.0948, False),
        ("9", 9, True),
        ("9", 8, False),
        ("0.38", 0.3792, True),
    ],
)
def test_a_figure_holds_to_half_a_unit_of_its_last_digit(printed, found, holds):
    assert holds is agrees(printed, found)


def test_a_claim_points_into_the_figures():
    rows = check_claims(
        [
            Claim(what="right", published="1.50", at=("mean", "a"), why="never said"),
            Claim(what="wrong", published="2.0", at=("mean", "a"), why="a reason"),
            Claim(what="illegible", published=None, at=("mean", "a"), why="illegible"),
            Claim(what="beyond", published="12", why="not in the files"),
            Claim(what="missing", published="3", at=("mean", "b")),
            Claim(what="all missing", published="3", at=("none", "b", "c")),
        ],
        {"mean": {"a": 1.5, "b": None}, "none": None},
    )
    assert [
        ("right", 1.5, 1.5, True, None),
        ("wrong", 2.0, 1.5, False, "a reason"),
        ("illegible", None, 1.5, None, "illegible"),
        ("beyond", 12.0, None, None, "not in the files"),
        ("missing", 3.0, None, None, None),
        ("all missing", 3.0, None, None, None),
    ] == [tuple(row.values()) for row in rows]


def test_a_claim_that_points_at_nothing_is_a_fault_of_ours():
    with pytest.raises(KeyError):
        check_claims([Claim(what="x", published="1", at=("mean", "typo"))], {"mean": {"a": 1}})


def test_a_name_that_is_not_known_is_answered_with_the_nearest(tmp_path):
    with pytest.raises(SelectionError, match=r"named 'hivmedq' can be reproduced\. Did you mean 'hivmedqa'"):
        reproduce("hivmedq", tmp_path)


def test_every_system_registers_a_function():
    entries = registry.entries("reproduction")
    assert {"cliniqlink", "hivmedqa"} <= {entry.name for entry in entries}
    assert all(callable(entry.cls) for entry in entries)
