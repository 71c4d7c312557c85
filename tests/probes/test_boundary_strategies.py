"""Every strategy of the probe, two turns over real HTTP."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Compose
from endpoint import ScriptedEndpoint, derived

from src.run import run

CALLS = {
    "sequential": (1, 1),
    "reflective": (1, 1),
    "taxonomy_l2w2": (7, 4),
    "taxonomy_l3w3": (13, 9),
    "taxonomy_l5w5": (31, 25),
    "personas_n3": (4, 3),
    "personas_n10": (11, 10),
    "personas_n20": (21, 20),
}
FORCED = ("saturation.growth=0", "saturation.efficiency=0", "saturation.points=0")
"""Nothing is ever stale, so that a run takes exactly max_turns."""


@pytest.mark.parametrize("strategy", CALLS)
def test_calls_of_two_turns_are_those_of_the_paper(
    remote: Compose, server: ScriptedEndpoint, tmp_path: Path, strategy: str
) -> None:
    outcome = run(remote(f"strategy={strategy}", "max_turns=2", "phases=[extract]", *FORCED))
    turns = pl.read_parquet(tmp_path / "cell/extract/turns.parquet")
    assert turns["calls"].to_list() == list(CALLS[strategy])
    assert server.count() == sum(CALLS[strategy]) == outcome.metrics["calls"]
    assert outcome.metrics["taxonomy_shortfall"] == 0
    assert outcome.metrics["unlisted"] == 0
    calls = pl.read_parquet(tmp_path / "cell/extract/calls.parquet").filter(turn=2)
    assert calls["branch"].n_unique() == calls.height
    sent = [json.dumps(request.body, sort_keys=True) for request in server.requests]
    assert len(set(sent)) == len(sent)


def test_reflective_takes_its_first_answer_from_the_ledger_of_sequential(
    remote: Compose, server: ScriptedEndpoint
) -> None:
    run(remote("strategy=sequential", "max_turns=1", "phases=[extract]"))
    run(remote("strategy=reflective", "max_turns=2", "phases=[extract]", *FORCED))
    assert server.count() == 2


def test_points_of_the_criticism_never_become_atoms(composed: Compose, tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> str:
        listed = derived(body["messages"])
        return f"- Theory is missing.\n\n**NEW POINTS:**\n{listed}" if "NEW POINTS" in str(body["messages"]) else listed

    with ScriptedEndpoint(answer=answer) as server:
        overrides = ("model=openai", "model.id=m", f"endpoint.base_url={server.base_url}", "endpoint.api_key_env=null")
        settings = ("embedder=hashing", "strategy=reflective", "max_turns=3", "phases=[extract]", *FORCED)
        run(composed(*overrides, *settings))
    atoms = pl.read_parquet(tmp_path / "cell/extract/atoms.parquet")
    assert atoms["turn"].value_counts(sort=True).sort("turn")["count"].to_list() == [8, 8, 8]
    assert "Theory is missing." not in atoms["text"]


def test_experts_that_nobody_names_are_a_shortfall(composed: Compose, tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> str:
        return "- Theorist: proves." if "expert" in str(body["messages"]).partition("types")[0] else "- A fact holds."

    with ScriptedEndpoint(answer=answer) as server:
        overrides = ("model=openai", "model.id=m", f"endpoint.base_url={server.base_url}", "endpoint.api_key_env=null")
        settings = ("embedder=hashing", "strategy=personas_n3", "max_turns=1", "phases=[extract]")
        outcome = run(composed(*overrides, *settings))
    turns = pl.read_parquet(tmp_path / "cell/extract/turns.parquet")
    assert outcome.metrics["taxonomy_shortfall"] == turns["shortfall"].sum() > 0
    assert outcome.metrics["calls"] == 2 + 3 - turns["shortfall"].sum()
