"""What our own logs of Inspect hold beside its fields: items, responses and scores as a run held them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, get_args

from vivavoce.benchmarks.item_rows import read_item
from vivavoce.core.errors import InputError
from vivavoce.core.numbers import finite
from vivavoce.core.records import Direction, IfUnanswered, ResponseStatus, ScoreStatus, Unit
from vivavoce.core.tables import Line
from vivavoce.core.text import one_line
from vivavoce.run.exchange.logs.fields import number_or_null, part, rows_in, whole_number
from vivavoce.run.exchange.recorded_log import Mark, Sample, safe_name

OURS = "vivavoce"
Declared = Mapping[str, Mapping[str, Any]]
"""By scorer what its metadata say of our metric, its rater and its criteria."""


def declared_metrics(of_eval: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Our metrics by scorer; none in a log of Inspect's own."""
    scorers = rows_in(of_eval, "scorers")
    declared = {str(scorer.get("name")): part(scorer, "metadata", OURS) for scorer in scorers}
    return {name: block for name, block in declared.items() if isinstance(block.get("metric"), str)}


def restored(sample: Sample, ours: Mapping[str, Any]) -> Sample:
    """The sample with item and response as the run held them. Raises `InputError` for what cannot be."""
    fields, response = dict(part(ours, "item")), part(ours, "response")
    meta, weight = fields.pop("meta", {}), fields.pop("weight", 1.0)
    question = {} if fields.get("messages") else {"question": sample.item.question}
    row = {**question, "options": list(sample.item.options), **fields}
    item = read_item(Line(sample.where, row), sample.item.benchmark, arrays=False)
    worth = finite(weight)
    if worth is None or worth <= 0 or not isinstance(meta, dict):
        raise InputError(f"{sample.where}: the item's weight or meta under metadata.{OURS} is none.")
    status = _word(response, "status", ResponseStatus, sample.status, sample.where)
    return replace(
        sample,
        item=replace(item, meta=meta, weight=worth),
        status=status,
        text=(sample.text or "") if status == "ok" else None,
        finish_reason=_text(response, "finish_reason"),
        tokens=whole_number(response.get("tokens")),
        cost=number_or_null(response.get("cost")),
        error=_text(response, "error"),
        meta=part(response, "meta"),
    )


def our_marks(
    scorer: str, score: Mapping[str, Any], declared: Mapping[str, Any], where: str
) -> Iterator[Mark]:
    """The scores of one of our metrics: every pass and unit, with its status."""
    metric, rater = str(declared["metric"]), _text(declared, "rater") or ""
    by_name = metric if scorer in (metric, f"{metric} by {rater}") else safe_name(scorer)
    for row in rows_in(part(score, "metadata", OURS), "scores"):
        criterion = str(row.get("criterion", "value"))
        c = part(declared, "criteria", criterion)
        value = finite(row.get("value"))
        status = _word(row, "status", ScoreStatus, "failed" if value is None else "ok", where)
        if (status == "ok") != (value is not None):
            raise InputError(
                f"{where}, {one_line(scorer, 60)}: a score is {status} and {row.get('value')!r}."
            )
        yield Mark(
            scorer=by_name,
            criterion=criterion,
            value=value,
            status=status,
            low=finite(c.get("low")),
            high=finite(c.get("high")),
            direction=_word(c, "direction", Direction, "higher", where),
            if_unanswered=_word(c, "if_unanswered", IfUnanswered, "set_aside", where),
            note=_text(row, "note"),
            rater=rater,
            pass_no=max(whole_number(row.get("pass")) or 1, 1),
            unit=_unit(row),
            of_units=c.get("pool") == "unit",
        )


def _unit(row: Mapping[str, Any]) -> Unit | None:
    if not isinstance(row.get("unit"), str):
        return None
    return Unit(unit=row["unit"], text=_text(row, "text") or "", weight=finite(row.get("weight")))


def _text(row: Mapping[str, Any], name: str) -> str | None:
    return value if isinstance(value := row.get(name), str) else None


def _word(row: Mapping[str, Any], name: str, words: Any, default: str, place: str) -> Any:
    """A word of a list of words. Raises `InputError` for another."""
    word = row.get(name, default)
    if word not in get_args(words):
        raise InputError(
            f"{place}: {name} is one of {', '.join(get_args(words))}, not {one_line(repr(word), 40)}."
        )
    return word
