"""What every variation must keep, ours and a plugin's."""

from collections import Counter
from collections.abc import Iterable

from vivavoce.core.records import Item, Response
from vivavoce.variants import Outcome, ResponseKey, Stock, Variation, key_of


def check_variation(variation: Variation, stock: Stock) -> None:
    """Raise `AssertionError` with a sentence for the first rule that a variation breaks on a stock.

    It must make something of it without a model, the same twice, and the same whatever the order of items and
    responses; say of each outcome what it is, and why nothing was made; make no key twice; give an edit the
    key of its response, an origin and another edit's name; and make the same in shards, if it has any. For a
    variation that asks a model, this checks what it makes without one.
    """
    name = type(variation).__name__
    outcomes = list(variation.makes(stock, None))
    _must(bool(outcomes), f"{name} says nothing of {len(stock.items)} items")
    for outcome in outcomes:
        _check_outcome(name, outcome, stock)
    keys = Counter(_key(record) for outcome in outcomes for record in outcome.records)
    twice = [key for key, n in keys.items() if n > 1]
    _must(not twice, f"{name} makes {twice[:1]} twice")
    _must(_comparable(variation.makes(stock, None)) == _comparable(outcomes), f"{name} is another each time")
    backwards = stock._replace(items=stock.items[::-1], answers=stock.answers[::-1])
    same = _comparable(variation.makes(backwards, None)) == _comparable(outcomes)
    _must(same, f"{name} depends on the order of items or responses: draw by their ids")
    pieces = variation.shards(stock)
    in_shards = [outcome for part, of_part in pieces for outcome in part.makes(of_part, None)]
    _must(not pieces or in_shards == outcomes, f"{name} makes other outcomes in shards, or in another order")


def _check_outcome(name: str, outcome: Outcome, stock: Stock) -> None:
    _must(bool(outcome.what and outcome.name), f"{name} gives an outcome without a name")
    nothing = not outcome.records and not outcome.stored
    _must(bool(outcome.reason) or not nothing, f"{name} makes nothing of {outcome.name} and gives no reason")
    bases = {(item.benchmark, item.item): item for item in stock.bases}
    for record in outcome.records:
        base = bases.get((record.benchmark, record.item))
        _must(
            base is not None, f"{name} makes {outcome.what} of {record.item}, which is no item of the stock"
        )
        if isinstance(record, Item):
            _must(bool(record.variant), f"{name} makes an item of {outcome.name} without a variant's name")
        else:
            _must(bool(record.meta.get("origin")), f"{name} makes {outcome.what} without meta['origin']")
            candidate = record.candidate in stock.roles
            _must(
                bool(record.edit) or not candidate,
                f"{name} makes an answer of {record.candidate}, and no edit",
            )


def _key(record: Item | Response) -> ResponseKey | tuple[str, str, str]:
    if isinstance(record, Response):
        return key_of(record)
    return (record.benchmark, record.item, record.variant)


def _comparable(outcomes: Iterable[Outcome]) -> list[str]:
    """The outcomes as texts in one order."""
    rows = (
        (
            o.what,
            o.name,
            o.reason,
            [(_key(r), r.text if isinstance(r, Response) else r.hash) for r in o.records],
        )
        for o in outcomes
    )
    return sorted(map(repr, rows))


def _must(holds: bool, sentence: str) -> None:
    if not holds:
        raise AssertionError(f"{sentence}.")
