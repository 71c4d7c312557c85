"""`model=simulated` from the command's function to the cell: real prompts, real parser, truth beside the estimate."""

import asyncio
import io
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from conftest import Compose
from mlflow import MlflowClient
from omegaconf import DictConfig
from rich.console import Console

from src.console import show_result, silent
from src.errors import ConfigError
from src.figures.boundary_lines import tell
from src.knower.wording import read
from src.lab.config import read_cell, title
from src.lab.measure import measure
from src.ledger import Ledger
from src.records import Metrics
from src.run import run

SMALL = ("model.world.facts=200", "model.knower.points=6", "max_turns=2", "embedder=hashing")
Simulate = Callable[..., DictConfig]


@pytest.fixture
def simulated(composed: Compose) -> Simulate:
    return lambda *overrides: composed("model=simulated", "judge=oracle", *SMALL, *overrides)


def measured(cfg: DictConfig) -> Metrics:
    """The metrics of both phases, without figures and MLflow."""
    cell = read_cell(cfg)
    with Ledger(cell.operation.ledger.path, "live", cell.operation.budget) as ledger:
        return asyncio.run(measure(cell, ledger, silent, {}))[2]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()
            and path.name != "spend.json"}  # fmt: skip


def test_a_run_shows_the_truth_beside_its_estimates(simulated: Simulate, tmp_path: Path, store: str) -> None:
    outcome = run(simulated("domain=simulated_inside"))
    metrics = outcome.metrics
    assert metrics == json.loads((tmp_path / "cell" / "process" / "metrics.json").read_text())
    atoms = pl.read_parquet(tmp_path / "cell" / "extract" / "atoms.parquet")
    statements = [read(text) for text in atoms["text"]]
    assert None not in statements, "a text did not survive"
    assert metrics["truth_unique"] == len(set(statements))
    assert metrics["truth_valid"] == len({one for one in statements if one.what == "true"})
    assert metrics["truth_accuracy"] == metrics["accuracy"], "the oracle makes no errors"
    assert metrics["truth_wrong_merges"] == 0
    assert metrics["unique"] >= metrics["truth_unique"]
    assert metrics["truth_known"] == 100
    assert metrics["truth_reachable"] >= 100
    assert 0 < metrics["truth_coverage"] < 1
    assert metrics["repeats"] == 5
    said = io.StringIO()
    words = title(outcome.cell)
    show_result(words, metrics, tell(words, metrics), outcome.spend, tmp_path, console=Console(file=said, width=120))
    assert said.getvalue().splitlines()[1].startswith("Simulated: no language model was asked")
    assert "truth: coverage" in said.getvalue()
    client = MlflowClient(store)
    (found,) = client.search_runs(
        [client.get_experiment_by_name("boundary").experiment_id], "tags.domain = 'simulated_inside'"
    )
    assert found.info.run_name.startswith("simulated/")
    assert (found.data.tags["subject"], found.data.tags["judge"]) == ("simulated", "oracle")
    assert found.data.tags["mlflow.note.content"].startswith("**Simulated: no language model was asked")
    assert found.data.metrics["truth_valid"] == metrics["truth_valid"]


def test_the_same_command_gives_the_same_bytes_and_repeats_change_nothing_else(
    simulated: Simulate, tmp_path: Path
) -> None:
    once = measured(simulated())
    before = contents(tmp_path / "cell")
    measured(simulated(f"ledger.path={tmp_path / 'other.db'}"))
    assert contents(tmp_path / "cell") == before
    single = measured(simulated("repeats=1"))
    after = contents(tmp_path / "cell")
    for table in ("extract/atoms.parquet", "extract/turns.parquet", "process/atoms.parquet"):
        assert after[table] == before[table]
    assert single["truth_valid"] == once["truth_valid"]
    assert single["truth_coverage"] is None
    assert "repeats: 1" in str(single["truth_coverage_reason"])


@pytest.mark.parametrize(
    ("strategy", "prompts", "calls"),
    [("sequential", "default", 2), ("reflective", "compact", 2), ("personas_n3", "synonyms", 7),
     ("taxonomy_l3w3", "compact", 22)],
)  # fmt: skip
def test_every_strategy_gets_statements_from_it(
    simulated: Simulate, tmp_path: Path, strategy: str, prompts: str, calls: int
) -> None:
    metrics = measured(simulated(f"strategy={strategy}", f"prompts={prompts}", "repeats=1"))
    atoms = pl.read_parquet(tmp_path / "cell" / "extract" / "atoms.parquet")
    assert atoms["turn"].unique().sort().to_list() == [1, 2]
    assert all(read(text) for text in atoms["text"])
    assert (metrics["calls"], metrics["taxonomy_shortfall"], metrics["unlisted"]) == (calls, 0, 0)
    assert metrics["truth_reachable"] >= 100


def test_rules_can_judge_it_and_errors_of_the_oracle_show(simulated: Simulate) -> None:
    assert measured(simulated("judge=rules", "repeats=1"))["truth_accuracy"] is not None
    wrong = measured(simulated("judge.false_invalid=0.5", "repeats=1"))
    assert wrong["accuracy"] < wrong["truth_accuracy"] - 0.2


def test_the_size_is_planted_and_changes_no_answer(composed: Compose) -> None:
    small, same = (read_cell(composed("model=simulated", f"model.parameters={size}")) for size in (1, 400))
    assert small.identity.cell_key == same.identity.cell_key
    other = read_cell(composed("model=simulated", "model.knower.errs=0.11"))
    assert other.config["model"]["revision"] != small.config["model"]["revision"]
    assert small.identity.process["model"]["revision"].startswith("sha256:")


def test_simulated_models_share_one_world(composed: Compose) -> None:
    cells = [
        read_cell(composed(f"model=simulated{option}")) for option in ("", "_small", "_medium", "_large", "_coder")
    ]
    assert len({repr(cell.parts.model.world) for cell in cells}) == 1
    assert len({cell.config["model"]["revision"] for cell in cells}) == len(cells)


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (["judge=oracle"], "model=smollm2_135m is not simulated: choose judge=rules"),
        (["model=simulated", "model.name=gpt"], "model.name=gpt is simulated: give it a name that begins with"),
        (["model=simulated", "model.knower.knows=1.2"], r"model\.knower\.knows=1\.2: .*less than or equal to 1"),
        (["model=simulated", "model.knower.ways=[1,1,0,0]"], "ways are chances and add up to 1"),
        (["model=simulated", "model.knower.errs_per_turn=1000"], r"model\.knower\.errs_per_turn=1000: .*or equal to 5"),
        (["model=simulated", "strategy=recorded"], "model=recorded and strategy=recorded go together only"),
        (["model=simulated", "+model.knower.tuned.simulated_inside={errs: 1}"],
         "tuned.simulated_inside is the name of a domain: give its query, .*{invented engineering: "),
        (["model=simulated", "domain.name=mine", "domain.query=my field", "+model.knower.tuned.mine={errs: 1}"],
         "tuned.mine is the name of a domain: give its query, .*{my field: "),
        (["model=simulated", "model.world.facts=20000"], r"model\.world\.facts=20000: "),
        (["model=simulated", "judge=oracle", "judge.false_same=2"], r"judge\.false_same=2"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence(composed: Compose, overrides: list[str], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence) as caught:
        read_cell(composed(*overrides))
    assert "\n" not in str(caught.value)


def test_a_model_that_knows_nothing_has_no_coverage_and_says_why(simulated: Simulate) -> None:
    nothing = ("model.world.facts=1", "model.world.topics=[1]", "model.knower.knows=0", "model.knower.misbelieves=1")
    metrics = measured(simulated(*nothing, "strategy=sequential"))
    assert (metrics["truth_coverage"], metrics["truth_reachable"]) == (None, 0)
    assert "no fact that the model knows" in str(metrics["truth_coverage_reason"])


def test_an_oracle_that_was_not_asked_yet_had_no_calls(simulated: Simulate) -> None:
    cell = read_cell(simulated("phases=[extract]", "strategy=sequential", "repeats=1"))
    with Ledger(cell.operation.ledger.path, "live", cell.operation.budget) as ledger:
        metrics = asyncio.run(measure(cell, ledger, silent, {}))[2]
    said = io.StringIO()
    show_result(title(cell), metrics, tell(title(cell), metrics), {}, Path("x"), console=Console(file=said, width=120))
    assert "to the model; 0 to the judge" in said.getvalue()
