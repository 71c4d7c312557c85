"""The lab of a cell: subject, judge and encoder, opened once, closed with the run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import numpy as np

from src.embed import EndpointEncoder, EndpointModel, HashingModel, SentenceModel
from src.errors import ConfigError
from src.interfaces import ChatModel, Encoder, Judge, Lab, Report
from src.judge import LLMJudge
from src.lab.config import AnyJudge, Cell
from src.ledger import Budgets, Ledger
from src.llm.client import ChatClient
from src.llm.config import Endpoint, Model, Price
from src.llm.connection import Connection
from src.llm.local import Embedded
from src.llm.pace import Step
from src.llm.recorded import Recorded
from src.llm.simulated import Simulated
from src.records import Role

Paces = dict[str, list[Step]]
"""How the pace of each endpoint changed, by its name."""


@dataclass
class Roles:
    """Opens judges, subjects and encoders; roles at one endpoint share a connection. Made by :func:`open_roles`."""

    ledger: Ledger
    seed: int
    cell_key: str
    sweep: str | None
    stack: AsyncExitStack
    connections: list[Connection] = field(default_factory=list)

    async def chat(self, role: Role, model: Model, endpoint: Endpoint | Embedded) -> ChatClient:
        """A model at an endpoint, behind the ledger."""
        return await self.stack.enter_async_context(
            ChatClient(
                model,
                endpoint,
                ledger=self.ledger,
                role=role,
                seed=self.seed,
                cell_key=self.cell_key,
                sweep=self.sweep,
                connection=self._connection(endpoint),
            )
        )

    async def judge(self, judge: AnyJudge, endpoint: Endpoint | Embedded | None) -> Judge:
        """A judge; `endpoint` is that of a judge that is a model."""
        if not isinstance(judge, Model):
            return judge
        assert endpoint is not None
        return LLMJudge(await self.chat("judge", judge, endpoint))

    async def encoder(self, embedder: SentenceModel | HashingModel | EndpointModel) -> Encoder:
        """An encoder whose vectors the ledger keeps."""
        if not isinstance(embedder, EndpointModel):
            return embedder.encoder(ledger=self.ledger, cell_key=self.cell_key)
        return await self.stack.enter_async_context(
            EndpointEncoder(
                embedder,
                ledger=self.ledger,
                cell_key=self.cell_key,
                sweep=self.sweep,
                connection=self._connection(embedder.endpoint),
            )
        )

    def paces(self) -> Paces:
        """How the pace of each endpoint changed."""
        return {known.endpoint.name: list(known.pace.history) for known in self.connections if known.pace.history}

    def _connection(self, endpoint: Endpoint | Embedded) -> Connection:
        """The connection to an endpoint, one for all roles, so that its limits hold for them together."""
        for known in self.connections:
            if known.endpoint == endpoint:
                return known
        self.connections.append(Connection(endpoint))
        return self.connections[-1]


@asynccontextmanager
async def open_roles(ledger: Ledger, *, seed: int, cell_key: str, sweep: str | None) -> AsyncIterator[Roles]:
    """Open roles as they are asked for; connections close and the embedded server stops on leaving.

    Args:
        ledger: every answer and vector passes through it.
        seed: part of the key of sampled answers.
        cell_key: who pays.
        sweep: whose budget they are paid from.
    """
    async with AsyncExitStack() as stack:
        yield Roles(ledger, seed, cell_key, sweep, stack)


@asynccontextmanager
async def build_lab(cell: Cell, ledger: Ledger, report: Report, paces: Paces) -> AsyncIterator[Lab]:
    """Build the roles of a cell once.

    Args:
        cell: the cell.
        ledger: every answer and vector passes through it.
        report: shows progress.
        paces: filled on leaving.

    Raises:
        ConfigError: see :func:`check_budget`.
    """
    check_budget(cell)
    parts, operation = cell.parts, cell.operation
    async with open_roles(ledger, seed=operation.seed, cell_key=cell.identity.cell_key, sweep=operation.sweep) as roles:
        try:
            subject: ChatModel
            if isinstance(parts.model, Recorded):
                subject = parts.model
            elif isinstance(parts.model, Simulated):
                subject = parts.model.chat(operation.seed)
            else:
                assert parts.endpoint is not None
                subject = await roles.chat("subject", parts.model, parts.endpoint)
            judge = await roles.judge(parts.judge, parts.judge_endpoint)
            encoder = await roles.encoder(parts.embedder)
            yield Lab(subject, judge, None, encoder, np.random.default_rng(operation.seed), report)
        finally:
            paces.update(roles.paces())


def check_budget(cell: Cell) -> None:
    """Refuse a budget that could not be kept, before anything is opened or paid for.

    Raises:
        ConfigError: money is limited and the price of a role unknown, or a sweep is limited and there is none.
    """
    parts = cell.parts
    check_prices(cell.operation.budget, {"model": parts.model, "judge": parts.judge, "embedder": parts.embedder})
    sweep = cell.operation.budget.sweep
    if sweep.limits and cell.operation.sweep is None:
        name, limit = next(iter(sweep.limits.items()))
        raise ConfigError(
            f"budget.sweep.{name}={limit:g} limits a sweep, and this run belongs to none: run it with -m, name its "
            f"sweep (sweep=NAME), or limit the run itself (budget.{name})."
        )


def check_prices(budget: Budgets, roles: Mapping[str, object]) -> None:
    """Refuse a limit on money where somebody is paid whose price is unknown.

    Args:
        budget: the limits.
        roles: by their names in the configuration; those that are served by an endpoint cost money.

    Raises:
        ConfigError: money is limited and a price unknown.
    """
    for key, limit in (("budget.usd", budget.usd), ("budget.sweep.usd", budget.sweep.usd)):
        for role, price in _prices(roles).items():
            if limit is not None and price is None:
                raise ConfigError(
                    f"{key}={limit:g} cannot be kept because {role}.price is null: give {role}.price (USD per million "
                    f"tokens in and out, and the day), or set {key}=null and limit tokens or calls."
                )


def _prices(roles: Mapping[str, object]) -> dict[str, Price | None]:
    """What those roles cost that are served by an endpoint."""
    return {name: role.price for name, role in roles.items() if isinstance(role, Model | EndpointModel)}
