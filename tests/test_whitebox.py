"""The logit lens on a tiny random model, made here: its last layer is the model's own output."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from src.errors import ConfigError, ContextExceeded, DataMissing
from src.records import Message
from src.whitebox import Lens, Weights

LETTERS = " \nabcdefghijklmnopqrstuvwxyz<>|?.ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CHATML = (
    "{% for m in messages %}<{{ m.role }}>\n{{ m.content }}|\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>\n{% endif %}"
)
SPACED = "{% for m in messages %}{{ '?' + m.content + '|' if m.role == 'user' else ' ' + m.content }}{% endfor %}"
ASKED = (Message("user", "Which city is it?"),)


def tokenizer(template: str | None = CHATML) -> PreTrainedTokenizerFast:
    """One token for each letter."""
    letters = Tokenizer(WordLevel({letter: place for place, letter in enumerate(LETTERS)}, unk_token="?"))
    letters.pre_tokenizer = Split("", "isolated")  # type: ignore[assignment]
    made = PreTrainedTokenizerFast(tokenizer_object=letters, unk_token="?")
    made.chat_template = template
    return made


@pytest.fixture(scope="module")
def llama() -> Any:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(LETTERS), hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64, initializer_range=0.5,
    )  # fmt: skip
    return LlamaForCausalLM(config).eval()


def test_the_last_layer_is_what_the_model_puts_out(llama: Any) -> None:
    lens = Lens(llama, tokenizer(), "chat")
    found = lens.probabilities([ASKED, ASKED], ["Rome", "Oslo"])
    text = "<user>\nWhich city is it?|\n<assistant>\n"
    with torch.no_grad():
        own = llama(torch.tensor([[LETTERS.index(letter) for letter in text]])).logits[0, -1].softmax(-1)
    assert found.shape == (2, 2)
    assert np.allclose(found[:, -1], [own[LETTERS.index("R")], own[LETTERS.index("O")]], atol=1e-6)
    assert abs(found[0, 0] - found[0, 1]) > 1e-3, "an earlier layer says something else"


def test_an_earlier_layer_is_the_output_of_the_model_without_the_later_ones(llama: Any) -> None:
    shorter = LlamaForCausalLM(LlamaConfig.from_dict({**llama.config.to_dict(), "num_hidden_layers": 1})).eval()
    shorter.load_state_dict(llama.state_dict(), strict=False)
    whole, first = (Lens(model, tokenizer(), "chat").probabilities([ASKED], ["Rome"]) for model in (llama, shorter))
    assert np.allclose(whole[0, 0], first[0, 0], atol=1e-6)


def test_a_number_never_depends_on_its_neighbours(llama: Any) -> None:
    lens = Lens(llama, tokenizer(), "chat")
    prompts = [(Message("user", "Who" + "?" * extra),) for extra in range(8)]
    together = lens.probabilities(prompts, ["Ann"] * 8)
    alone = [lens.probabilities([each], ["Ann"])[0] for each in prompts]
    assert together.tobytes() == np.array(alone).tobytes()
    assert lens.probabilities([], []).shape == (0, 2)


@pytest.mark.parametrize(
    ("template", "style", "answer", "text", "first"),
    [
        (CHATML, "chat", "Rome", "<user>\nWhich city is it?|\n<assistant>\n", "R"),
        (SPACED, "chat", "Rome", "?Which city is it?| ", "R"),
        ("{{ messages[0].content }}>", "chat", "Rome", "Which city is it?> ", "R"),
        (None, "completion", "Rome", "Which city is it? ", "R"),
        (None, "completion", "<|Rome", "Which city is it? <|", "R"),
        (None, "completion", "<|", "Which city is it?", " "),
    ],
)
def test_what_stands_before_the_first_telling_token_is_given(
    llama: Any, template: str | None, style: Any, answer: str, text: str, first: str
) -> None:
    ids, token = Lens(llama, tokenizer(template), style).position(ASKED, answer)
    assert ("".join(LETTERS[each] for each in ids), LETTERS[token]) == (text, first)


def test_models_of_another_build_are_read_or_refused(llama: Any) -> None:
    torch.manual_seed(0)
    gpt2 = GPT2LMHeadModel(GPT2Config(vocab_size=len(LETTERS), n_embd=16, n_layer=3, n_head=2, n_positions=32)).eval()
    lens = Lens(gpt2, tokenizer(None), "completion")
    assert lens.probabilities([ASKED], ["Rome"]).shape == (1, 3)
    with pytest.raises(ContextExceeded, match="41 tokens does not fit the window of 32 tokens"):
        lens.probabilities([(Message("user", "a" * 40),)], ["b"])
    with pytest.raises(ConfigError, match="no chat template"):
        Lens(gpt2, tokenizer(None), "chat").probabilities([ASKED], ["Rome"])
    louder = gpt2.lm_head.register_forward_hook(lambda module, given, logits: logits * (2 if logits.ndim == 3 else 1))
    with pytest.raises(ConfigError, match="GPT2LMHeadModel is more than norm and unembedding"):
        lens.probabilities([ASKED], ["Rome"])
    louder.remove()


def test_a_folder_is_loaded_in_silence(llama: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    llama.save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    capfd.readouterr()
    threads = torch.get_num_threads()
    read = Weights(tmp_path, threads).lens("main", "chat").probabilities([ASKED], ["Rome"])
    assert np.array_equal(read, Lens(llama, tokenizer(), "chat").probabilities([ASKED], ["Rome"]))
    assert capfd.readouterr() == ("", "")


def test_what_cannot_be_loaded_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataMissing, match=r"none\.gguf are not there: fetch .* study\.weights\.path"):
        Weights(tmp_path / "none.gguf").lens("main", "chat")
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(DataMissing, match="cannot be loaded"):
        Weights(tmp_path, torch.get_num_threads()).lens("main", "chat")
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    monkeypatch.setattr("src.whitebox.NEEDED", ("gguf_that_nobody_installed",))
    with pytest.raises(ConfigError, match=r'\(gguf_that_nobody_installed\).*pip install -e "\.\[layers\]"'):
        Weights(file).lens("main", "chat")
    monkeypatch.setattr("src.whitebox.NEEDED", ())
    with pytest.raises(DataMissing, match=r"not the file that model\.revision names"):
        Weights(file).lens("sha256:0", "chat")
