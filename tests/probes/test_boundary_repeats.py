"""Turn 1 drawn again over real HTTP: what it brings, and that it changes nothing else."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Compose
from endpoint import Fault, ScriptedEndpoint, derived, status

from src.console import silent
from src.errors import ConfigError
from src.lab.config import Cell, read_cell
from src.lab.measure import done, measure
from src.lab.plan import compare, plan_cell
from src.ledger import Ledger
from src.records import Metrics
from src.run import run
from src.schemas import DRAWS, REPEATED_CLUSTERS, REPEATS

OWN = ("repeats", "chao2", "ice", "coverage", "reach", "calls_repeats", "tokens_repeats")
KNOWN = [
    "Adam keeps two moving averages per weight.",
    "Dropout sets random units to zero while training.",
    "Softmax turns scores into probabilities.",
    "Convolutions share their weights over places.",
    "Momentum accumulates past gradients.",
]


class Varying:
    """Lists three facts that rotate each time the same prompt is asked; names sub-fields as a real one would."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> str:
        prompt = json.dumps(body["messages"])
        with self.lock:
            turn = self.asked[prompt]
            self.asked[prompt] += 1
        if "statement" not in prompt and "NEW POINTS" not in prompt and "fact" not in prompt.lower():
            return derived(body["messages"])
        return "\n".join(f"- {KNOWN[(turn + place) % len(KNOWN)]}" for place in range(3))


@pytest.fixture
def varying() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(answer=Varying()) as server:
        yield server


def cell(composed: Compose, server: ScriptedEndpoint, *overrides: str) -> Any:
    return composed(
        *("model=openai", "model.id=m", f"endpoint.base_url={server.base_url}", "endpoint.api_key_env=null"),
        *("embedder=hashing", "strategy=sequential", "max_turns=2", *overrides),
    )


def table(place: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(place / "cell" / f"{name}.parquet")


def main_run(metrics: Metrics) -> Metrics:
    return {name: value for name, value in metrics.items() if not name.startswith(OWN)}


def test_raising_repeats_changes_no_byte_and_no_number_of_the_run_itself(
    remote: Compose, server: ScriptedEndpoint, tmp_path: Path
) -> None:
    same = ("extract/atoms", "extract/turns", "extract/stop", "process/atoms", "process/pairs", "process/linkage")
    once = run(remote("max_turns=2", "strategy=taxonomy_l2w2")).metrics
    before, asked = [(tmp_path / "cell" / f"{name}.parquet").read_bytes() for name in same], server.count()
    outcome = run(remote("max_turns=2", "strategy=taxonomy_l2w2", "repeats=3"))
    assert server.count() == asked + 2 * 4
    assert [(tmp_path / "cell" / f"{name}.parquet").read_bytes() for name in same] == before
    assert main_run(outcome.metrics) == main_run(once)
    calls = table(tmp_path, "extract/calls")
    assert calls.filter(pl.col("turn").is_null())["prompt"].to_list() == 8 * ["taxonomy.mine"]
    assert outcome.metrics["calls_repeats"] == 8
    assert outcome.metrics["calls"] == asked
    assert [one.within for one in outcome.facts if one.role != "judge"] == [True] * len(outcome.facts)


def test_draw_0_is_turn_1_and_every_draw_is_an_answer_of_its_own(
    composed: Compose, varying: ScriptedEndpoint, tmp_path: Path
) -> None:
    metrics = run(cell(composed, varying, "repeats=3")).metrics
    points, atoms = table(tmp_path, "extract/repeats"), table(tmp_path, "extract/atoms").filter(turn=1)
    assert points.schema == REPEATS
    assert points.filter(draw=0)["text"].to_list() == atoms["text"].to_list() == KNOWN[:3]
    assert points["atom_id"].to_list() == list(range(9))
    assert points["call_key"].n_unique() == 3
    assert table(tmp_path, "extract/draws").rows() == [(3, 3, "")]
    clusters = table(tmp_path, "process/repeats")
    assert clusters.schema == REPEATED_CLUSTERS
    # Draws 0, 1 and 2 list facts 012, 123 and 234.
    assert dict(clusters.select("text", "seen").rows()) == dict(
        zip(KNOWN, ("100", "110", "111", "011", "001"), strict=True)
    )
    assert (metrics["reach_observed"], metrics["reach_f1"], metrics["reach_f2"]) == (5, 2, 2)
    assert metrics["chao2"] == pytest.approx(5 + 2 / 3 * 4 / 4)
    assert metrics["coverage"] == pytest.approx(1 - 2 / 9 * 4 / 8)
    assert (metrics["repeats"], metrics["chao2_low"]) == (3, None)
    assert "3 draws of 1 branch say too little" in str(metrics["chao2_low_reason"])


def test_without_repeats_the_tables_are_empty_and_every_estimate_says_why(
    composed: Compose, varying: ScriptedEndpoint, tmp_path: Path
) -> None:
    metrics = run(cell(composed, varying)).metrics
    assert table(tmp_path, "extract/repeats").equals(REPEATS.to_frame())
    assert table(tmp_path, "process/repeats").equals(REPEATED_CLUSTERS.to_frame())
    assert table(tmp_path, "extract/draws").schema == table(tmp_path, "process/draws").schema == DRAWS
    assert (metrics["repeats"], metrics["calls_repeats"]) == (1, 0)
    for name in ("reach_observed", "chao2", "chao2_low", "coverage", "coverage_high"):
        assert metrics[name] is None
        assert "repeats=3 or more" in str(metrics[f"{name}_reason"])


def test_a_budget_that_ends_among_the_repeats_keeps_the_cell_and_running_again_goes_on(
    composed: Compose, varying: ScriptedEndpoint
) -> None:
    cut = run(cell(composed, varying, "repeats=4", "budget.calls=4"))
    assert (cut.metrics["stop_reason"], cut.metrics["repeats"], cut.metrics["calls_repeats"]) == ("saturated", None, 2)
    assert cut.metrics["valid"] is not None
    assert cut.metrics["chao2"] is None
    assert str(cut.metrics["chao2_reason"]).startswith("only 3 of 4 draws, then budget: ")
    assert varying.count() == 4
    whole = run(cell(composed, varying, "repeats=4", "phases=[extract]"))
    assert (varying.count(), whole.metrics["repeats"]) == (5, 4)


def test_an_endpoint_that_fails_among_the_repeats_keeps_what_was_extracted(composed: Compose, tmp_path: Path) -> None:
    def faults(number: int, body: dict[str, Any]) -> Fault | None:
        return status(401, "gone") if number >= 3 else None

    with ScriptedEndpoint(answer=Varying(), faults=faults) as server:
        outcome = run(cell(composed, server, "repeats=3", "phases=[extract]"))
    assert (outcome.metrics["stop_reason"], outcome.metrics["repeats"]) == ("saturated", None)
    assert str(outcome.metrics["repeats_reason"]).startswith("only 2 of 3 draws, then error: ")
    assert table(tmp_path, "extract/atoms").height == 6


@pytest.mark.parametrize("fault", ["budget", "endpoint", "replay"])
def test_repeats_that_cannot_be_judged_cost_no_finished_cell_and_running_again_goes_on(
    composed: Compose, varying: ScriptedEndpoint, tmp_path: Path, fault: str
) -> None:
    broken = False

    def faults(number: int, body: dict[str, Any]) -> Fault | None:
        return status(401, "gone") if broken else None

    def go(*overrides: str) -> tuple[Cell, Metrics]:
        """Measure without figures and MLflow."""
        url = f"judge.endpoint.base_url={judge.base_url}"
        llm = ("judge=openai", "judge.id=j", url, "judge.endpoint.api_key_env=null")
        known = read_cell(cell(composed, varying, *llm, *overrides))
        place = known.operation.ledger
        with Ledger(Path(place.path), place.mode, known.operation.budget) as ledger:
            return known, asyncio.run(measure(known, ledger, silent, {}))[2]

    with ScriptedEndpoint(faults=faults) as judge:
        _, once = go()
        if fault == "replay":
            go("repeats=3", "phases=[extract]")
        broken = fault == "endpoint"
        # Of the budget, two draws and one of two audits.
        cut, metrics = go("repeats=3", *{"budget": ["budget.calls=3"], "replay": ["ledger.mode=replay"]}.get(fault, []))
        assert main_run(metrics) == main_run(once)
        assert (metrics["stop_reason"], metrics["repeats"], metrics["calls_repeats"]) == ("saturated", None, 2)
        ended = "budget: " if fault == "budget" else "error: "
        assert str(metrics["chao2_reason"]).startswith(f"only the main run was judged, then {ended}")
        assert done(cut) is None
        broken, before = False, judge.count()
        whole, metrics = go("repeats=3")
        assert (metrics["repeats"], judge.count() - before) == (3, 1 if fault == "budget" else 2)
        assert done(whole) is not None
    assert table(tmp_path, "process/draws").rows() == [(3, 3, "")]


def test_a_run_that_was_cut_short_itself_is_not_drawn_again(composed: Compose, varying: ScriptedEndpoint) -> None:
    metrics = run(cell(composed, varying, "repeats=3", "budget.calls=1", "phases=[extract]")).metrics
    assert (metrics["stop_reason"], metrics["calls_repeats"], varying.count()) == ("budget", 0, 1)
    assert metrics["repeats_reason"] == "the run itself was cut short (budget)"


def test_recorded_answers_cannot_be_drawn_again(composed: Compose, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"domain": "deep_learning", "atom": KNOWN[0]}))
    overrides = ("model=recorded", "strategy=recorded", f"recorded.path={path}", "embedder=hashing")
    metrics = run(composed(*overrides, "repeats=5", "phases=[extract]")).metrics
    assert metrics["repeats_reason"] == "recorded answers cannot be drawn again"


@pytest.mark.parametrize("strategy", ["sequential", "taxonomy_l3w3", "personas_n3"])
def test_the_plan_counts_the_repeats(composed: Compose, server: ScriptedEndpoint, strategy: str) -> None:
    mined = {"sequential": 1, "taxonomy_l3w3": 9, "personas_n3": 3}[strategy]
    never = ("saturation.growth=0", "saturation.efficiency=0", "saturation.points=0")
    base = (f"strategy={strategy}", *never, "phases=[extract]")
    once, often = (
        next(row for row in plan_cell(read_cell(cell(composed, server, *base, said))) if row.role == "subject")
        for said in ("repeats=1", "repeats=5")
    )
    assert (often.asked or 0) - (once.asked or 0) == 4 * mined
    assert often.least.calls - once.least.calls == 4
    cfg = cell(composed, server, *base, "repeats=5", "model.max_tokens=4096")
    outcome = run(cfg)
    assert server.count() == often.asked
    rows = plan_cell(read_cell(cfg))
    assert [one.within for one in compare(rows, outcome.metrics, outcome.spend) if one.within is not True] == []


@pytest.mark.parametrize("wrong", ["0", "-1", "many", "1.5"])
def test_repeats_must_be_a_count(composed: Compose, wrong: str) -> None:
    with pytest.raises(ConfigError, match="repeats"):
        read_cell(composed(f"repeats={wrong}"))
