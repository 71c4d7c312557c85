"""The lab of a cell: subject, judge and encoder, built once, closed with the run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import numpy as np

from src.embed import EndpointEncoder
from src.interfaces import Encoder, Judge, Lab, Report
from src.judge import LLMJudge
from src.lab.config import Cell, build, without
from src.ledger import Ledger
from src.llm.client import ChatClient
from src.llm.limits import Budget
from src.records import Role

OURS = ("kind", "name", "file", "endpoint")
"""Fields of a role that say who it is and where it is served; the rest describes the model."""


@asynccontextmanager
async def build_lab(cell: Cell, ledger: Ledger, report: Report) -> AsyncIterator[Lab]:
    """Build the roles of a cell once; connections close and the embedded server stops on leaving."""
    config = cell.config
    budget = build({"_target_": "src.llm.limits.Budget", **config["budget"]}, "budget")
    async with AsyncExitStack() as stack:
        subject = await stack.enter_async_context(
            _client(cell, config["model"], config["endpoint"], "subject", ledger, budget)
        )
        judge: Judge
        if config["judge"]["kind"] == "llm":
            client = _client(cell, config["judge"], config["judge"]["endpoint"], "judge", ledger, budget)
            judge = LLMJudge(await stack.enter_async_context(client))
        else:
            judge = build(without(config["judge"], *OURS), "judge")
        model = build(config["embedder"], "embedder")
        encoder: Encoder = model.encoder(ledger=ledger, budget=budget, cell_key=cell.identity.cell_key)
        if isinstance(encoder, EndpointEncoder):
            await stack.enter_async_context(encoder)
        yield Lab(subject, judge, None, encoder, np.random.default_rng(config["seed"]), report)


def _client(
    cell: Cell, model: Mapping[str, Any], endpoint: Mapping[str, Any], role: Role, ledger: Ledger, budget: Budget
) -> ChatClient:
    key = "model" if role == "subject" else role
    return ChatClient(
        build(without(model, *OURS), key),
        build(endpoint, "endpoint" if role == "subject" else f"{role}.endpoint"),
        ledger=ledger,
        budget=budget,
        role=role,
        seed=cell.config["seed"],
        cell_key=cell.identity.cell_key,
    )
