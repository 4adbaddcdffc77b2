"""Making variants in a worker: variations are rebuilt there, each for a piece of the stock."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from vivavoce.core.errors import InputError, VivaError
from vivavoce.run.workers import rebuilding
from vivavoce.run.workers.executor import Executor, Lost, Shard
from vivavoce.variants import Outcome, Stock, Variation

Piece = tuple[Variation, Stock]


class RemoteVarying(NamedTuple):
    """What a worker varies by: what registers variations."""

    sources: rebuilding.Sources

    def open(self) -> "Callable[[tuple[rebuilding.Recipe, Stock]], list[Outcome] | rebuilding.SentError]":
        """What makes the outcomes of a piece in a worker."""
        rebuilding.load_sources(self.sources)
        return _outcomes


def _outcomes(piece: tuple[rebuilding.Recipe, Stock]) -> list[Outcome] | rebuilding.SentError:
    sent, stock = piece
    try:
        variation: Variation = rebuilding.rebuild(sent)
        return list(variation.makes(stock, None))
    except VivaError as error:
        return rebuilding.sent_error(error)


class VaryJob:
    """The outcomes of pieces of variations that ask no model."""

    def compute(self, piece: Piece) -> list[Outcome]:
        """The outcomes of a piece."""
        variation, stock = piece
        return list(variation.makes(stock, None))

    def remote(self) -> RemoteVarying:
        """The job as workers get it."""
        return RemoteVarying(rebuilding.sources())

    def pack(self, piece: Piece) -> tuple[rebuilding.Recipe, Stock]:
        """The piece as it is sent."""
        variation, stock = piece
        return rebuilding.recipe("variation", variation), stock

    def unpack(self, sent: list[Outcome] | rebuilding.SentError) -> list[Outcome]:
        """The outcomes. Raises the error that the variation raised."""
        if isinstance(sent, rebuilding.SentError):
            raise rebuilding.received_error(sent)
        return sent


def outcomes_by_workers(variation: Variation, pieces: Iterable[Piece], executor: Executor) -> list[Outcome]:
    """The outcomes of all pieces, in their order. Raises `InputError` where workers cannot make them."""
    outcomes = list[Outcome]()
    for result in executor.results((Shard(piece) for piece in pieces), VaryJob()):
        if isinstance(result, Lost):
            raise InputError(f"{variation} cannot be made by workers: {result.cause}. Nothing was made.")
        outcomes += result
    return outcomes
