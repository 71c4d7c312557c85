"""The lab of a cell: subject, judge and encoder, opened once, closed with the run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import numpy as np

from src.embed import EndpointEncoder, EndpointModel
from src.errors import ConfigError
from src.interfaces import ChatModel, Encoder, Judge, Lab, Report
from src.judge import LLMJudge, RulesJudge
from src.lab.config import Cell, Parts
from src.ledger import Ledger
from src.llm.client import ChatClient
from src.llm.config import Endpoint, Model, Price
from src.llm.connection import Connection
from src.llm.local import Embedded
from src.llm.pace import Step
from src.llm.recorded import Recorded
from src.records import Role

Paces = dict[str, list[Step]]
"""How the pace of each endpoint changed, by its name."""


@asynccontextmanager
async def build_lab(cell: Cell, ledger: Ledger, report: Report, paces: Paces) -> AsyncIterator[Lab]:
    """Build the roles of a cell once; connections close and the embedded server stops on leaving.

    Args:
        cell: the cell.
        ledger: every answer and vector passes through it.
        report: shows progress.
        paces: filled on leaving.

    Raises:
        ConfigError: see :func:`check_budget`.
    """
    check_budget(cell)
    parts, seed = cell.parts, cell.operation.seed
    connections: list[Connection] = []

    def connection(endpoint: Endpoint | Embedded) -> Connection:
        """The connection to an endpoint, one for all roles, so that its limits hold for them together."""
        for known in connections:
            if known.endpoint == endpoint:
                return known
        connections.append(Connection(endpoint))
        return connections[-1]

    def client(role: Role, model: Model, endpoint: Endpoint | Embedded) -> ChatClient:
        return ChatClient(
            model,
            endpoint,
            ledger=ledger,
            role=role,
            seed=seed,
            cell_key=cell.identity.cell_key,
            sweep=cell.operation.sweep,
            connection=connection(endpoint),
        )

    def note_paces() -> None:
        paces.update({known.endpoint.name: list(known.pace.history) for known in connections if known.pace.history})

    async with AsyncExitStack() as stack:
        stack.callback(note_paces)
        subject: ChatModel
        if isinstance(parts.model, Recorded):
            subject = parts.model
        else:
            assert parts.endpoint is not None
            subject = await stack.enter_async_context(client("subject", parts.model, parts.endpoint))
        judge: Judge
        if isinstance(parts.judge, RulesJudge):
            judge = parts.judge
        else:
            assert parts.judge_endpoint is not None
            judge = LLMJudge(await stack.enter_async_context(client("judge", parts.judge, parts.judge_endpoint)))
        encoder: Encoder
        if isinstance(parts.embedder, EndpointModel):
            encoder = await stack.enter_async_context(
                EndpointEncoder(
                    parts.embedder,
                    ledger=ledger,
                    cell_key=cell.identity.cell_key,
                    sweep=cell.operation.sweep,
                    connection=connection(parts.embedder.endpoint),
                )
            )
        else:
            encoder = parts.embedder.encoder(ledger=ledger, cell_key=cell.identity.cell_key)
        yield Lab(subject, judge, None, encoder, np.random.default_rng(seed), report)


def check_budget(cell: Cell) -> None:
    """Refuse a budget that could not be kept, before anything is opened or paid for.

    Raises:
        ConfigError: money is limited and the price of a role unknown, or a sweep is limited and there is none.
    """
    budget, sweep = cell.operation.budget, cell.operation.budget.sweep
    for key, limit in (("budget.usd", budget.usd), ("budget.sweep.usd", sweep.usd)):
        for role, price in _prices(cell.parts).items():
            if limit is not None and price is None:
                raise ConfigError(
                    f"{key}={limit:g} cannot be kept because {role}.price is null: give {role}.price (USD per million "
                    f"tokens in and out, and the day), or set {key}=null and limit tokens or calls."
                )
    if sweep.limits and cell.operation.sweep is None:
        name, limit = next(iter(sweep.limits.items()))
        raise ConfigError(
            f"budget.sweep.{name}={limit:g} limits a sweep, and this run belongs to none: run it with -m, name its "
            f"sweep (sweep=NAME), or limit the run itself (budget.{name})."
        )


def _prices(parts: Parts) -> dict[str, Price | None]:
    """What those roles cost that are served by an endpoint, by their names in the configuration."""
    prices: dict[str, Price | None] = {}
    if isinstance(parts.model, Model):
        prices["model"] = parts.model.price
    if isinstance(parts.judge, Model):
        prices["judge"] = parts.judge.price
    if isinstance(parts.embedder, EndpointModel):
        prices["embedder"] = parts.embedder.price
    return prices
