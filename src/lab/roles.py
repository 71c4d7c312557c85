"""The lab of a cell: subject, judge and encoder, opened once, closed with the run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import numpy as np

from src.embed import EndpointEncoder
from src.interfaces import Encoder, Judge, Lab, Report
from src.judge import LLMJudge, RulesJudge
from src.lab.config import Cell
from src.ledger import Ledger
from src.llm.client import ChatClient
from src.llm.config import Endpoint, Model
from src.llm.local import Embedded
from src.records import Role


@asynccontextmanager
async def build_lab(cell: Cell, ledger: Ledger, report: Report) -> AsyncIterator[Lab]:
    """Build the roles of a cell once; connections close and the embedded server stops on leaving."""
    parts, budget = cell.parts, cell.operation.budget

    def client(role: Role, model: Model, endpoint: Endpoint | Embedded) -> ChatClient:
        seed, cell_key = cell.operation.seed, cell.identity.cell_key
        return ChatClient(model, endpoint, ledger=ledger, budget=budget, role=role, seed=seed, cell_key=cell_key)

    async with AsyncExitStack() as stack:
        subject = await stack.enter_async_context(client("subject", parts.model, parts.endpoint))
        judge: Judge
        if isinstance(parts.judge, RulesJudge):
            judge = parts.judge
        else:
            assert parts.judge_endpoint is not None
            judge = LLMJudge(await stack.enter_async_context(client("judge", parts.judge, parts.judge_endpoint)))
        encoder: Encoder = parts.embedder.encoder(ledger=ledger, budget=budget, cell_key=cell.identity.cell_key)
        if isinstance(encoder, EndpointEncoder):
            await stack.enter_async_context(encoder)
        yield Lab(subject, judge, None, encoder, np.random.default_rng(cell.operation.seed), report)
