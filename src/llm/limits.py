"""How much a run may spend."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from src.errors import BudgetReached, ConfigError
from src.llm.config import STRICT, Price
from src.records import Usage


@dataclass(config=STRICT)
class Budget:
    """What one run may spend, shared by all its roles; replayed answers are free. None is no limit.

    Attributes:
        calls: answers asked for live; further attempts at one answer are not counted again.
        tokens: tokens in and out. The request that passes the limit is the last one.
        usd: US dollars, likewise.
    """

    calls: Annotated[int, Field(ge=0)] | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None
    usd: Annotated[float, Field(ge=0)] | None = None

    def __post_init__(self) -> None:
        self._calls = 0
        self._tokens = 0
        self._usd = 0.0

    def require(self, price: Price | None, key: str) -> None:
        """Refuse a model whose cost could not be told, before its first call.

        Args:
            price: the model's price.
            key: what configuration calls the model.

        Raises:
            ConfigError: money is limited and the price is unknown.
        """
        if self.usd is not None and price is None:
            raise ConfigError(
                f"budget.usd={self.usd:g} cannot be kept because {key}.price is null; give {key}.price (USD per "
                "million tokens in and out), or budget.usd=null and limit budget.tokens or budget.calls."
            )

    def admit(self) -> None:
        """Count a request that is about to be sent.

        Raises:
            BudgetReached: it would pass a limit.
        """
        for name, limit, spent in (
            ("calls", self.calls, self._calls),
            ("tokens", self.tokens, self._tokens),
            ("usd", self.usd, self._usd),
        ):
            if limit is not None and spent >= limit:
                raise BudgetReached(
                    f"budget.{name}={limit:g} is used up ({spent:g} spent in this run); raise budget.{name} and run "
                    "again: nothing that was paid for is asked again."
                )
        self._calls += 1

    def charge(self, usage: Usage, most: Usage, price: Price | None) -> None:
        """Charge an answer.

        Args:
            usage: tokens as the endpoint counted them.
            most: tokens it can have taken at most, charged where the endpoint did not count: unknown is not free.
            price: the model's price.
        """
        known = Usage(
            most.tokens_in if usage.tokens_in is None else usage.tokens_in,
            most.tokens_out if usage.tokens_out is None else usage.tokens_out,
        )
        self._tokens += (known.tokens_in or 0) + (known.tokens_out or 0)
        self._usd += (price.cost(known) if price else None) or 0.0
