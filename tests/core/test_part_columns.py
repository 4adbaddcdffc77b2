"""The parts of answers in a frame are those that `core.parts` makes of each."""

from itertools import product

import polars as pl

from vivavoce.core.part_columns import with_parts
from vivavoce.core.parts import final_text, made_parts
from vivavoce.core.records import Response

TEXTS = ("B", "", " ", "<think>A</think>B", "<think>A</think>", "<think>A", "[THINK]A[/THINK]B",
         "B<|im_end|>", "x < y", "analysis: B", None)  # fmt: skip
REASONS = (None, "stop", "length", "MAX_TOKENS", "SAFETY", "timeout", "no such word")
SIGNS: tuple[dict[str, object], ...] = ({}, {"reasoning": "A?"}, {"meta": {"reasoning_tokens": 7}})


def answers() -> list[Response]:
    """Every combination, as an older version stored it."""
    return [
        Response(
            benchmark="b", item="q", candidate="A", finish_reason=reason, text=text,
            status=status if text is None else "ok", **signs,  # type: ignore[arg-type]
        )
        for text, reason, signs, status in product(TEXTS, REASONS, SIGNS, ("filtered", "failed"))
    ]  # fmt: skip


def test_a_frame_parts_answers_as_each_is_parted() -> None:
    rows = answers()
    frame = pl.DataFrame({
        "status": [r.status for r in rows],
        "text": [r.text for r in rows],
        "finish_reason": [r.finish_reason for r in rows],
        "reasoning": [r.reasoning for r in rows],
        "meta": ['{"reasoning_tokens": 7}' if r.meta else "{}" for r in rows],
    })  # fmt: skip
    parted = with_parts(frame)
    expected = [
        (None if r.text is None else final_text(r.text, made_parts(r)[0]), made_parts(r)[1]) for r in rows
    ]
    in_frame = [
        (None if final is None else final_text(final, None), end)
        for final, end in parted.select("final", "ending").iter_rows()
    ]
    assert [] == [(r, a, b) for r, a, b in zip(rows, expected, in_frame, strict=True) if a != b]
