"""The two sets of pairs: one the rules were tuned on, one that they had not seen."""

from pathlib import Path

import pytest
from tests.cases import each_case
from tests.contrib.conflicts.measured import by_kind, by_pair, pairs

from vivavoce.contrib.conflicts import KINDS


@pytest.mark.parametrize(("name", "least"), [("tuning", 400), ("blind", 200)])
def test_a_set_is_large_balanced_and_holds_every_kind(name: str, least: int) -> None:
    rows = pairs(name)
    flagged = [row for row in rows if row["conflicts"]]
    assert len(rows) >= least
    assert len({row["id"] for row in rows}) == len(rows)
    assert 0.4 < len(flagged) / len(rows) < 0.6
    assert {c["kind"] for row in flagged for c in row["conflicts"]} == set(KINDS)
    for row in flagged:
        for known in row["conflicts"]:
            assert known["span"].casefold() in row["answer"].casefold(), row["id"]


@pytest.mark.parametrize(("name", "precision", "recall"), [("tuning", 0.99, 0.99), ("blind", 0.94, 0.97)])
def test_the_screen_does_not_fall_behind_what_was_measured(
    name: str, precision: float, recall: float
) -> None:
    counts = by_pair(name)
    assert counts.precision >= precision
    assert counts.recall >= recall


def test_the_figures_of_the_card_are_those_of_the_rules_as_they_are(root: Path) -> None:
    """Those at first sight cannot be had again: the rules have seen the pairs since."""
    card = (root / "docs" / "metrics.md").read_text(encoding="utf-8").partition("## conflict")[2]
    for name, row in (
        ("tuning", "505 that the rules were tuned on"),
        ("blind", "the same 314 after mending"),
    ):
        counts = by_pair(name)
        (line,) = (line for line in card.splitlines() if line.startswith(f"| {row}"))
        assert f"{counts.found}/{counts.found + counts.false}" in line
        assert f"{counts.found}/{counts.there}" in line
        assert f" {len({p['reference'] for p in pairs(name)})} |" in line
    for kind in KINDS:
        (line,) = (line for line in card.splitlines() if line.startswith(f"| `{kind}` |") and "–" in line)
        tuned, blind = (by_kind(name)[kind] for name in ("tuning", "blind"))
        assert f"{tuned.found}/{tuned.there} | {blind.found}/{blind.there} |" in line


@each_case("kind", KINDS)
def test_no_kind_falls_behind_what_was_measured(kind: str) -> None:
    assert by_kind("tuning")[kind].recall >= 0.9
    assert by_kind("blind")[kind].recall >= 0.8
