"""Study `layers`: averages by class with planted probabilities, and a whole run on a tiny model made here."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
import yaml
from conftest import CONF
from matplotlib.text import Text
from omegaconf import OmegaConf
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from src.cells import MeasuredCell
from src.errors import ConfigError
from src.figures.canvas import png, svg
from src.figures.captions import title_of
from src.figures.layers import heat
from src.lab.build import build
from src.prompts import PromptSet
from src.schemas import CLASSED_QUESTIONS, QUESTIONS
from src.stats.categories import CLASSES
from src.studies.known import Known
from src.studies.layers import Layers, find, prompt
from src.whitebox import Weights

WORDS = ["?", "Question", ":", "city", "Rome", "Oslo", "Paris", "asked", "answered"]
WORDING = yaml.safe_load((CONF / "wording" / "questions.yaml").read_text(encoding="utf-8"))
CONFIG = {
    "model": {"_target_": "src.llm.config.Model", "name": "tiny", "revision": "main"},
    "form": "chat",
    "dataset": {"name": "cities"},
    "knowledge": "internal",
    "reasoning": "direct",
    "wording": {"name": WORDING["name"], "families": WORDING["families"]},
}


def cell(categories: list[str | None], **changes: Any) -> MeasuredCell:
    """A cell whose questions have these classes, listed from the last to the first."""
    config = {**CONFIG, **changes}
    names = [f"q{place:02d}" for place in range(len(categories))]
    asked = [(name, "Which city?", ["Rome", "Oslo"], "cities", "Rome is a city.", False) for name in names[::-1]]
    classed = [
        (name, "cities", False, "complete" if each else "incomplete", each, each in ("HK", "MK"), 1, 1)
        for name, each in zip(names, categories, strict=True)
    ]
    return MeasuredCell(
        "cells/tiny", "k", "c", title_of(config), config, {"stop_reason": "finished"},
        {"questions": pl.DataFrame(asked, schema=QUESTIONS, orient="row")},
        {"questions": pl.DataFrame(classed, schema=CLASSED_QUESTIONS, orient="row")},
    )  # fmt: skip


def study(path: Path) -> Layers:
    return Layers("layers", "?", "tiny", "cities", "internal", Weights(path, torch.get_num_threads()))


def known(*cells: MeasuredCell) -> Known:
    return Known(cells, (), (), {}, 0)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a random model of three layers and a tokenizer of a few words."""
    folder = tmp_path_factory.mktemp("tiny")
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(WORDS), hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, initializer_range=0.5,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    words = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="?"))
    words.pre_tokenizer = Whitespace()  # type: ignore[assignment]
    made = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="?")
    made.chat_template = (
        "{% for m in messages %}{{ 'asked ' if m.role == 'user' else 'answered ' }}{{ m.content }} {% endfor %}"
        "{% if add_generation_prompt %}answered {% endif %}"
    )
    made.save_pretrained(folder)
    return folder


def test_a_whole_run_averages_over_the_questions_of_each_class(weights: Path) -> None:
    asked = cell(["HK", "HK", "CU", "HK", None])
    found = study(weights).run(known(asked, cell(["HK"], reasoning="cot"), cell(["CU"], knowledge="external")))
    assert found.metrics["questions"] == 4
    assert (found.metrics["incomplete"], found.metrics["layers"]) == (1, 3)
    assert found.missing == ("1 question without all answers: of no class",)
    assert "nobody checked" in found.cautions[0]
    lens = study(weights).weights.lens("main", "chat")
    own = lens.probabilities([prompt(asked, asked.extracted["questions"].row(0, named=True))], ["Rome"])[0]
    rows = found.tables["layers"]
    assert rows["category"].to_list() == ["HK"] * 3 + ["CU"] * 3
    assert np.allclose(rows["probability"], [*own, *own])
    assert rows["probability_low"].is_null().to_list() == [False] * 3 + [True] * 3
    assert f"highly known {own[-1]:.3f} [" in found.verdict[0]
    assert "confident unknown" in found.verdict[0]
    assert found.metrics["probability_MK"] is None
    assert "no question is of this class" in str(found.metrics["probability_MK_reason"])


def planted(seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Classes and probabilities, shape (120, 4): the better known, the earlier they rise."""
    rng = np.random.default_rng(seed)
    categories = [CLASSES[place] for place in rng.integers(len(CLASSES), size=120)]
    rise = np.array([1 + CLASSES.index(name) for name in categories])[:, None]
    return categories, 1 / (1 + np.exp(rise - np.arange(1, 5) + rng.normal(size=(120, 1))))


def test_means_and_bounds_are_those_of_the_class_alone(tmp_path: Path) -> None:
    categories, values = planted()
    found = find(study(tmp_path), cell(list(categories)), categories, values, 3)
    rows = found.tables["layers"]
    assert rows.height == 24
    for name in CLASSES:
        of = values[np.array(categories) == name]
        assert np.allclose(rows.filter(category=name)["probability"], of.mean(axis=0))
        assert found.metrics[f"questions_{name}"] == len(of)
    assert (rows["probability_low"] < rows["probability"]).all()
    assert (rows["probability"] < rows["probability_high"]).all()
    order = np.random.default_rng(1).permutation(120)
    turned = find(study(tmp_path), cell(list(categories)), [categories[each] for each in order], values[order], 3)
    assert turned.tables["layers"].equals(rows)
    assert png(turned.figures["layers"]) == png(found.figures["layers"])
    for figure in found.figures.values():
        page = figure.bbox
        for text in figure.findobj(Text):
            box = Text.get_window_extent(text)
            if text.get_text() and text.get_visible():
                assert page.x0 <= box.x0, text
                assert box.x1 <= page.x1, text
    assert "<b>" not in svg(heat(rows, replace(cell([]).title, model="<b>$x$"))).decode()


def test_prompts_are_those_of_the_cell() -> None:
    row = cell(["HK"]).extracted["questions"].row(0, named=True)
    plain, told, base = (
        prompt(cell(["HK"], **changes), row)[0].content
        for changes in ({}, {"knowledge": "external"}, {"form": "completion"})
    )
    assert plain.endswith("Question: Which city?")
    assert "Rome is a city." not in plain
    assert told.startswith("Rome is a city.\n\nAnswer the question")
    assert base.endswith("Question: Which city?\nAnswer:")


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([], "0 of 0 fit: run `python -m src.run probe=categories model=tiny dataset=cities"),
        ([cell(["HK"], reasoning="cot")], "0 of 1 fit"),
        ([cell(["HK"]), cell(["HK"])], r"2 of 2 fit: they differ in"),
        ([cell([None])], "no question with all of its answers"),
    ],
)
def test_a_study_without_its_cell_is_one_sentence(tmp_path: Path, cells: list[MeasuredCell], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        study(tmp_path).run(known(*cells))


def test_the_option_builds_its_study() -> None:
    built = build(OmegaConf.to_container(OmegaConf.load(CONF / "study" / "layers.yaml")), "study")
    assert (type(built), built.name, built.probe) == (Layers, "layers", "categories")
    assert built.weights.path.suffix == ".gguf"
    assert isinstance(build(WORDING, "wording"), PromptSet)
