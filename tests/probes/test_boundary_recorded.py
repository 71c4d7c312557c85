"""A cell whose answers were collected elsewhere, from its file to its metrics."""

import asyncio
import json
from pathlib import Path

import polars as pl
import pytest
from conftest import Compose

from src.errors import ConfigError
from src.interfaces import ChatModel
from src.lab.config import read_cell
from src.lab.measure import Outcome
from src.llm.recorded import Recorded
from src.records import Prompt
from src.run import run

ROWS = [
    {"domain": "deep_learning", "turn": 3, "atom": "- **ReLU** is not smooth."},
    {
        "domain": "deep_learning",
        "text": "<think>- no</think>1. Dropout zeroes units.\n2. Adam adapts steps.",
        "branch": "b",
    },
    {"domain": "deep_learning", "atom": "Dropout zeroes units.", "extra": 1},
    {"domain": "deep_learning", "turn": 2, "text": "I cannot say more."},
    {"domain": "history", "atom": "Rome was not built in a day."},
]


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "GPT 4o (June).jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    return path


def recorded(composed: Compose, path: Path, *overrides: str) -> Outcome:
    return run(
        composed("model=recorded", "strategy=recorded", f"recorded.path='{path}'", "embedder=hashing", *overrides)
    )


def test_all_turns_are_taken_and_nothing_is_asked(composed: Compose, answers: Path, tmp_path: Path) -> None:
    outcome = recorded(composed, answers, "max_turns=1", "budget.calls=0", "budget.usd=0", "budget.tokens=0")
    metrics = outcome.metrics
    assert (metrics["stop_reason"], metrics["turns"], metrics["calls"], outcome.failure) == ("recorded", 3, 0, "")
    assert (metrics["raw"], metrics["unique"], metrics["unlisted"]) == (4, 3, 1)
    for name in ("tokens_generation_in", "tokens_generation_out", "tokens_nominal"):
        assert metrics[name] is None
        assert metrics[f"{name}_reason"] == "recorded answers carry no token counts"
    atoms = pl.read_parquet(tmp_path / "cell/extract/atoms.parquet")
    assert atoms.select("text", "turn", "branch", "position", "call_key", "novel").rows() == [
        ("Dropout zeroes units.", 1, "b", 0, "line:2", True),
        ("Adam adapts steps.", 1, "b", 1, "line:2", True),
        ("Dropout zeroes units.", 1, "", 0, "line:3", False),
        ("- **ReLU** is not smooth.", 3, "", 0, "line:1", True),
    ]


def test_the_model_is_named_after_its_file_and_its_hash_makes_the_cell(
    composed: Compose, answers: Path, tmp_path: Path
) -> None:
    def cell(path: Path, *overrides: str) -> tuple[str, str]:
        read = read_cell(composed("model=recorded", "strategy=recorded", f"recorded.path='{path}'", *overrides))
        assert str(tmp_path) not in json.dumps(read.identity.process)
        return read.config["model"]["name"], read.identity.cell_key

    name, key = cell(answers)
    assert name == "gpt-4o-june"
    moved = tmp_path / "moved.jsonl"
    moved.write_bytes(answers.read_bytes())
    assert cell(moved, "model.name=gpt-4o-june") == (name, key)
    moved.write_bytes(answers.read_bytes() + b"\n")
    assert cell(moved, "model.name=gpt-4o-june")[1] != key


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["model=recorded", "strategy=recorded"], r"^recorded\.path is not set: give it, as recorded\.path=…$"),
        (["model=recorded"], r"^recorded\.path is not set"),
        (["model=recorded", "recorded.path=FILE"], "strategy=taxonomy_l2w2 with model=recorded: .* go together only"),
        (["strategy=recorded"], "strategy=recorded with a model that can be asked: .* go together only"),
        (["model=recorded", "strategy=recorded", "recorded.path=none.jsonl"], r"recorded\.path=none\.jsonl cannot be"),
        (
            ["model=recorded", "strategy=recorded", "recorded.path=FILE", "domain=ml_systems"],
            "holds no row of domain=ml_systems; it has 'deep_learning', 'history'",
        ),
    ],
)
def test_what_does_not_go_together_is_one_sentence(
    composed: Compose, answers: Path, overrides: list[str], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        read_cell(composed(*(override.replace("FILE", f"'{answers}'") for override in overrides)))


def test_a_recorded_model_refuses_to_answer() -> None:
    model: ChatModel = Recorded("sha256:" + "0" * 64)
    with pytest.raises(ConfigError, match=r"cannot be asked \(sequential\.first\)"):
        asyncio.run(model.complete(Prompt("sequential.first", {}, ())))
