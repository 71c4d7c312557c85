"""Every option of every config group composes, and its classes can be built; new options are found by themselves."""

import json
from pathlib import Path

import pytest
from conftest import CONF, Compose
from omegaconf import OmegaConf

from src.interfaces import Strategy
from src.lab.build import build
from src.lab.config import read_cell
from src.store import slug

GROUPS = (
    "dataset",
    "domain",
    "embedder",
    "endpoint",
    "judge",
    "model",
    "probe",
    "prompts",
    "strategy",
    "thresholds",
    "wording",
)
OPTIONS = [(group, path.stem) for group in GROUPS for path in sorted((CONF / group).glob("*.yaml"))]
RECORDED = [("model", "recorded"), ("strategy", "recorded")]
"""Options that go together only, and with a file of answers."""
ORACLE = ("judge", "oracle")
"""Judges simulated models only."""
RUBRICS = [path.stem for path in sorted((CONF / "rubric").glob("audit*.yaml"))]


def chosen(group: str, option: str, place: Path) -> list[str]:
    """What to say on the command line to get an option."""
    if group in ("dataset", "wording") or (group, option) == ("probe", "categories"):
        path = place / "questions.jsonl"
        row = {"question": "Where?", "knowledge": "It is here.", "kind": "places", "aliases": []}
        path.write_text(json.dumps(row | dict.fromkeys(("answer", "right_answer"), "here")))
        others = ["dataset=jsonl"] if group != "dataset" else []
        return ["probe=categories", f"dataset.path={path}", "questions=null", *others, f"{group}={option}"]
    if (group, option) not in RECORDED:
        return [f"{group}={option}", *(["model=simulated"] if (group, option) == ORACLE else [])]
    path = place / "gpt4o.jsonl"
    path.write_text('{"domain": "deep_learning", "atom": "Dropout zeroes units."}')
    return [*("=".join(pair) for pair in RECORDED), f"recorded.path={path}"]


@pytest.mark.parametrize(("group", "option"), OPTIONS)
def test_every_option_composes_into_a_cell(composed: Compose, tmp_path: Path, group: str, option: str) -> None:
    cell = read_cell(composed(*chosen(group, option, tmp_path)))
    if (group, option) in [*RECORDED, ORACLE] or (option.startswith("simulated") and group == "model"):
        assert cell.parts.endpoint is None
    else:
        assert cell.parts.model.id
        assert cell.parts.endpoint.name
    if cell.config.get("judge", {}).get("kind") == "llm":
        assert cell.parts.judge.temperature == 0.0
        assert cell.parts.judge_endpoint.name
    assert cell.probe.name == cell.config["probe"]["name"]


@pytest.mark.parametrize(("group", "option"), OPTIONS)
def test_an_option_is_called_like_its_file(composed: Compose, tmp_path: Path, group: str, option: str) -> None:
    if group in ("strategy", "domain", "prompts", "probe", "wording"):
        node = OmegaConf.select(composed(*chosen(group, option, tmp_path)), group)
        assert slug(node.name, group) == option


@pytest.mark.parametrize("option", [option for group, option in OPTIONS if group == "strategy"])
def test_every_strategy_fits_its_port(composed: Compose, tmp_path: Path, option: str) -> None:
    overrides = chosen("strategy", option, tmp_path)
    assert isinstance(build(read_cell(composed(*overrides)).config["strategy"], "strategy"), Strategy)


@pytest.mark.parametrize("rubric", RUBRICS)
def test_every_audit_rubric_can_be_chosen(composed: Compose, rubric: str) -> None:
    cell = read_cell(composed(f"rubric@rubrics.audit={rubric}"))
    assert cell.config["rubrics"]["audit"]["name"] == rubric


def test_the_embedded_model_sets_its_server_its_wording_and_its_turns(composed: Compose) -> None:
    chosen = composed()
    assert (chosen.endpoint.name, chosen.prompts.name, chosen.max_turns) == ("embedded", "compact", 6)
    said = composed("max_turns=2", "prompts=synonyms")
    assert (said.max_turns, said.prompts.name) == (2, "synonyms")
    assert (composed("model=llama70b").endpoint.name, composed("model=llama70b").max_turns) == ("openrouter", 15)


def test_paper_thresholds_turn_guards_off_and_nothing_else(composed: Compose) -> None:
    paper = composed("thresholds=paper")
    assert paper.saturation == composed().saturation
    assert paper.dedup == {**composed().dedup, "guards": False}


def test_no_option_holds_a_key(composed: Compose) -> None:
    for path in CONF.rglob("*.yaml"):
        for line in path.read_text().splitlines():
            assert "api_key:" not in line, path
    assert Path(CONF / "endpoint/openai.yaml").read_text().count("api_key_env: OPENAI_API_KEY") == 1
