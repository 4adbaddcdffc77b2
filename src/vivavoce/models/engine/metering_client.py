"""A client that keeps what each call used, whether it made the call or the run had its reply."""

from typing import Any, NamedTuple

from vivavoce.models.engine.client import Batch, ModelClient
from vivavoce.models.requests import Request
from vivavoce.store.calls import last_call


class MeasuredCall(NamedTuple):
    """What a call used. `counted` is false where a count of tokens is of characters / 4.

    `cost` is null without a price.
    """

    purpose: str
    input_tokens: int
    output_tokens: int
    cost: float | None
    counted: bool


class MeteringClient(ModelClient):
    """Asks as its base class does; `measured` keeps every call with an outcome, equal ones once."""

    def __init__(self, *settings: Any, **options: Any) -> None:
        super().__init__(*settings, **options)
        self.measured: list[MeasuredCall] = []
        self._keys: set[tuple[str, str, str, int]] = set()

    def send(self, batch: Batch, results: dict[str, Any]) -> None:
        """Ask, and then read in the run what each call used, that of an earlier command too."""
        super().send(batch, results)
        model = str(batch.candidate.spec)
        with self.run.reading() as db:
            for request, _ in batch.requests:
                key = (batch.purpose, request.key, model, batch.repeat)
                if key not in self._keys and (call := last_call(db, *key)):
                    self._keys.add(key)
                    self.measured.append(_measured(batch, request, call))


def _measured(batch: Batch, request: Request, call: tuple[Any, ...]) -> MeasuredCall:
    sent, generated, cost, length = call
    counted = sent is not None and generated is not None
    n_input = request.characters // 4 if sent is None else sent
    n_output = (length or 0) // 4 if generated is None else generated
    price = batch.candidate.price
    if cost is None and not batch.candidate.metered:
        cost = 0.0
    elif cost is None and price is not None:
        cost = (n_input * price[0] + n_output * price[1]) / 1e6
    return MeasuredCall(batch.purpose, n_input, n_output, cost, counted)
