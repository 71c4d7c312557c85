"""An embedding model at an OpenAI-compatible endpoint, by the same connection as the chat models."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from src.embed.stored import encode, identity, unit
from src.errors import EmbeddingError
from src.ledger import Ledger, Payer, Unanswered
from src.llm.answers import read_object, read_usage
from src.llm.client import BYTES_PER_TOKEN
from src.llm.config import Endpoint, Price
from src.llm.connection import Connection
from src.llm.tries import Failed
from src.records import STRICT, Encoded, Usage


@dataclass(frozen=True, config=STRICT)
class EndpointModel:
    """An embedding model and where it is served.

    Attributes:
        id: the name that its server knows it by.
        endpoint: the server.
        revision: which weights; part of every ledger key.
        dimension: length that its vectors must have; None takes that of the first.
        batch: texts per request.
        price: None is unknown; a money budget is refused then.
    """

    id: Annotated[str, Field(min_length=1)]
    endpoint: Endpoint
    revision: str | None = None
    dimension: Annotated[int, Field(gt=0)] | None = None
    batch: Annotated[int, Field(gt=0)] = 32
    price: Price | None = None

    def encoder(self, *, ledger: Ledger, cell_key: str) -> EndpointEncoder:
        """Make its encoder, with a connection of its own; nothing is opened."""
        return EndpointEncoder(self, ledger=ledger, cell_key=cell_key)


class EndpointEncoder:
    """Implements :class:`src.interfaces.Encoder`; used inside `async with` unless every vector is in the ledger."""

    def __init__(
        self,
        model: EndpointModel,
        *,
        ledger: Ledger,
        cell_key: str,
        sweep: str | None = None,
        connection: Connection | None = None,
    ) -> None:
        """Make an encoder; nothing is opened.

        Args:
            model: the model, its endpoint included.
            ledger: every vector passes through it.
            cell_key: the cell that pays.
            sweep: the sweep it belongs to, if any.
            connection: shared with the other roles at this endpoint; None opens one of its own.
        """
        self.model = model
        self._ledger = ledger
        self._connection = connection or Connection(model.endpoint)
        fields = {"fields": model.endpoint.extra_body}
        self._space = identity(model.id, model.revision) | model.endpoint.identity | fields
        self._payer = Payer(cell_key, "embedder", "embed", model.endpoint.name, self._cost, sweep=sweep)

    async def __aenter__(self) -> Self:
        await self._connection.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._connection.__aexit__(kind, error, trace)

    async def encode(self, texts: Sequence[str]) -> Encoded:
        """Encode texts; see :meth:`src.interfaces.Encoder.encode`.

        The endpoint counts the tokens of a request, not of a text: a text is given its share by length, and the sum
        is exact.

        Raises:
            EmbeddingError: blank text; vectors missing, of another dimension, zero or not finite; attempts used up.
            EndpointError, ConfigError, BudgetReached: as :meth:`src.interfaces.ChatModel.complete`.
        """
        return await encode(
            texts,
            self._space,
            self._pay,
            ledger=self._ledger,
            payer=self._payer,
            batch=self.model.batch,
            at_once=True,
            most=_most,
        )

    async def _pay(self, texts: list[str]) -> Encoded:
        model = self.model
        body = {"model": model.id, "input": texts, **model.endpoint.extra_body}
        sizes = [len(text.encode()) for text in texts]
        try:
            received = await self._connection.post(
                "/embeddings", body, read_object, role="embedder", tokens=sum(sizes) // BYTES_PER_TOKEN
            )
        except Failed as failure:
            error = failure.stop or EmbeddingError(f"No vectors from {model.id}: {failure}; run again to continue.")
            spent = Usage(0 if failure.free else None, 0)
            raise Unanswered(error, usage=spent, attempts=failure.attempts) from failure
        total = read_usage(received.value).tokens_in
        try:
            vectors = read_vectors(received.value, len(texts), model.dimension, f"Endpoint {model.endpoint.name}")
        except EmbeddingError as error:
            raise Unanswered(error, usage=Usage(total, 0), attempts=received.attempts) from error
        if total is None:
            return Encoded(vectors, np.full(len(texts), -1), received.attempts)
        ends = [total * end // sum(sizes) for end in np.cumsum(sizes).tolist()]
        return Encoded(vectors, np.diff(np.array(ends, dtype=np.int64), prepend=0), received.attempts)

    def _cost(self, usage: Usage) -> float | None:
        return self.model.price.cost(usage) if self.model.price else None


def _most(texts: Sequence[str]) -> Usage:
    """Most tokens that texts can have: one per byte, and two around each text."""
    return Usage(sum(len(text.encode()) + 2 for text in texts), 0)


def read_vectors(data: dict[str, Any], count: int, dimension: int | None, source: str) -> np.ndarray:
    """Read the vectors of a response in the order of the texts.

    Args:
        data: the response.
        count: texts that were sent.
        dimension: length that a vector must have; None takes that of the first.
        source: who sent them, for messages.

    Returns:
        Unit vectors, float32, shape (count, dimension).

    Raises:
        EmbeddingError: vectors missing or too many, indices that are no order, another dimension, values that are no
            finite numbers, a vector of zeros.
    """
    items = data.get("data")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items) or len(items) != count:
        found = f"{len(items)} vectors" if isinstance(items, list) else "no list of vectors"
        raise EmbeddingError(f"{source} returned {found} for {count} texts; none is used.")
    places = [item.get("index", place) for place, item in enumerate(items)]
    if not all(isinstance(place, int) for place in places) or sorted(places) != list(range(count)):
        raise EmbeddingError(f"{source} returned vectors whose indices are not 0 to {count - 1}; none is used.")
    rows = [items[places.index(place)].get("embedding") for place in range(count)]
    lengths = {len(row) if isinstance(row, list) else 0 for row in rows}
    if lengths != {dimension or max(lengths)}:
        found = ", ".join(map(str, sorted(lengths)))
        raise EmbeddingError(f"{source} returned vectors of dimension {found}, not {dimension or 'one'}; none is used.")
    try:
        vectors = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise EmbeddingError(f"{source} returned vectors that hold something else than numbers.") from None
    return unit(vectors, source)
