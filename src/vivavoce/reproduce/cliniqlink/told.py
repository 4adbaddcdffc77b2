"""The reproduction as tables and sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

from vivavoce.reproduce import Table
from vivavoce.reproduce.cliniqlink.golden import Checked

__all__ = ["by", "notes", "tables"]

OVERALL = 0.0006
"""What rounding may put between an overall and the mean of seven columns, all printed to three places."""


def by(checked: Sequence[Checked], what: str) -> dict[str, list[Checked]]:
    """The values by type or by field."""
    made: dict[str, list[Checked]] = {}
    for one in checked:
        made.setdefault(getattr(one, what), []).append(one)
    return made


def tables(
    rows: Mapping[str, Any], marked: Sequence[Checked], grams: Sequence[Checked], printed: Mapping[str, Any]
) -> tuple[Table, ...]:
    """Cases by format, n-gram scores, Table 2 and the figures of the text."""
    columns = printed["columns"][1:]
    return (
        Table(
            "Golden cases: the released harness's headline value, marked here by its own rules",
            ("format", "value", "cases", "matched", "greatest deviation", "tolerance"),
            [(name, own[0].field, *_agreeing(own)) for name, own in by(marked, "qtype").items()],
        ),
        Table(
            "n-gram scores of the same cases",
            ("score", "values", "matched", "greatest deviation", "tolerance"),
            [(name, *_agreeing(own)) for name, own in by(grams, "field").items()],
        ),
        Table(
            "Table 2: overall as the unweighted mean of the seven columns",
            ("rank", "model", *columns, "overall", "published", "deviation"),
            [
                (
                    place, name, *(f"{value:.3f}" for value in printed["table2"][name][1:]),
                    f"{row['recomputed']:.4f}", f"{row['published']:.3f}",
                    f"{row['recomputed'] - row['published']:+.5f}",
                )
                for place, (name, row) in enumerate(rows["overall"].items(), 1)
            ],
        ),
        Table(
            "Figures of the text",
            ("what", "recomputed", "published", "holds"),
            [
                (row["what"], f"{row['recomputed']:.4g}", f"{row['published']:g}",
                 "yes" if row["holds"] else "no")
                for row in rows["claims"]
            ],
        ),
    )  # fmt: skip


def _agreeing(own: Sequence[Checked]) -> tuple[int, int, str, str]:
    """How many there are and agree, how far they lie apart, and how far they may."""
    apart = [one.deviation for one in own if one.deviation is not None]
    greatest = f"{max(apart):.1e}" if apart else "-"
    return len(own), sum(one.matched for one in own), greatest, f"{own[0].tolerance:g}"


def notes(rows: Mapping[str, Any], gram_misses: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What agrees, what does not and why, what was not computed, and what is not copied."""
    golden, grams = rows["golden"], rows["ngram"]
    off = [abs(row["recomputed"] - row["published"]) for row in rows["overall"].values()]
    held = sum(one <= OVERALL for one in off)
    return (
        *(f"Not computed: {one['what']} of {len(one['cases'])} cases; {one['why']}."
          for one in rows["incomplete"]),
        f"Golden cases: {golden['matched']} of {golden['n']} headline values agree, and {grams['matched']} "
        f"of {grams['n']} n-gram scores.",
        f"Table 2: {held} of {len(off)} overalls are the mean of the seven columns, to {OVERALL}; greatest "
        f"deviation {max(off):.5f}.",
        *(_missed(one) for one in (*golden["misses"], *gram_misses)),
        *(f"Not reproduced: {row['what']} (published {row['published']:g}, recomputed "
          f"{row['recomputed']:.4g}): {row['why'] or 'no reason is known'}."
          for row in rows["claims"] if not row["holds"]),
        *(f"Not copied: {one['what']}: {one['why']}." for one in rows["not_copied"]),
    )  # fmt: skip


def _missed(one: Mapping[str, Any]) -> str:
    ours, reference = ("none" if one[k] is None else f"{one[k]:.6g}" for k in ("ours", "reference"))
    why = one["reason"] or "no reason is known"
    return f"Missed: {one['id']}, {one['field']} (here {ours}, the harness {reference}): {why}."
