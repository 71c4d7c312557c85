"""The logit lens: how probable each layer of a local model finds the first token of an answer, before it answers.

After nostalgebraist's "interpreting GPT: the logit lens" (2020): the model's own final norm and unembedding are applied
to what each layer hands on. Weights are a transformers folder or a GGUF file; nothing is downloaded.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field
from pydantic.dataclasses import dataclass as config_dataclass

from src.errors import ConfigError, ContextExceeded, DataMissing
from src.records import STRICT, Message
from src.weights import check_revision

Style = Literal["chat", "completion"]
NEEDED = ("accelerate", "gguf")
"""What transformers wants to read a GGUF file."""
NORMS = ("norm", "ln_f", "final_layernorm", "final_layer_norm")
"""What architectures call the norm between their last layer and the unembedding."""
OURS: Mapping[str, Any] = {"local_files_only": True, "trust_remote_code": False}
"""Nothing is downloaded, and no code that comes with weights is run."""
TOLERANCE = 1e-4
"""Of a log-probability: how far the last layer of the lens may be from the model's own output, rounding included."""


@config_dataclass(frozen=True, config=STRICT)
class Weights:
    """A model on this machine whose layers can be looked at.

    Attributes:
        path: a GGUF file, or a folder in the format of transformers.
        threads: of the model; another number may change the last digits. Two wait for one another where something
            else wants a core, and take many times as long as one.
    """

    path: Path
    threads: Annotated[int, Field(gt=0)] = 1

    def lens(self, revision: str, style: Style) -> Lens:
        """Load the model; takes seconds, for a GGUF file up to a minute.

        Args:
            revision: which weights are meant. `sha256:…` is checked, for a file; a folder is the user's word.
            style: how the model is asked: `chat`, by the chat template in its files, or `completion`, the bare text.

        Raises:
            ConfigError: the extra `layers` is not installed.
            DataMissing: the weights are not there, are others, or cannot be loaded.
        """
        if not self.path.exists():
            raise DataMissing(
                f"The weights {self.path} are not there: fetch the embedded model with `python -m src.fetch`, or set "
                "study.weights.path to a GGUF file or to a transformers folder."
            )
        place: dict[str, Any] = {"pretrained_model_name_or_path": str(self.path)}
        if self.path.is_file():
            if missing := [name for name in NEEDED if find_spec(name) is None]:
                raise ConfigError(
                    f"{self.path.name} is a GGUF file, and what reads its layers is not installed "
                    f'({", ".join(missing)}): install it with `pip install -e ".[layers]"`.'
                )
            check_revision(self.path, revision, "model.revision")
            place = {"pretrained_model_name_or_path": str(self.path.parent), "gguf_file": self.path.name}
        os.environ["HF_HUB_OFFLINE"] = "1"  # read when the libraries are first imported
        import torch
        from safetensors import SafetensorError
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging as chatter

        chatter.disable_progress_bar()  # type: ignore[no-untyped-call]
        chatter.set_verbosity_error()  # type: ignore[no-untyped-call]
        torch.set_num_threads(self.threads)
        try:
            with redirect_stderr(StringIO()):  # a bar that no switch turns off
                tokenizer = AutoTokenizer.from_pretrained(**place, **OURS)
                model = AutoModelForCausalLM.from_pretrained(**place, **OURS, dtype=torch.float32)
        except (OSError, ValueError, LookupError, struct.error, SafetensorError) as error:
            raise DataMissing(
                f"The weights {self.path} cannot be loaded ({error}): they are damaged, or of an architecture that "
                "transformers does not read."
            ) from error
        return Lens(model.eval(), tokenizer, style)  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Lens:
    """A loaded model, looked at layer by layer; float32, no gradient.

    Attributes:
        model: a causal language model of transformers.
        tokenizer: its tokenizer.
        style: how prompts become text: `chat` or `completion`.
    """

    model: Any
    tokenizer: Any
    style: Style

    def probabilities(self, prompts: Sequence[Sequence[Message]], answers: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probability of the first telling token of each answer where it would stand, after every layer.

        One prompt at a time: a number never depends on its neighbours.

        Args:
            prompts: messages of each question, as the model is asked.
            answers: gold answer of each question.

        Returns:
            shape (questions, layers), the last layer being the model's own output.

        Raises:
            ContextExceeded: a prompt is longer than the model's context window.
            ConfigError: the model has no chat template, or its output is not norm and unembedding of its last layer.
        """
        rows = [self._row(messages, answer) for messages, answer in zip(prompts, answers, strict=True)]
        return np.array(rows).reshape(len(rows), self.model.config.get_text_config().num_hidden_layers)

    def position(self, messages: Sequence[Message], answer: str) -> tuple[list[int], int]:
        """The tokens before an answer to a prompt, and the first token of the answer that has a letter or a digit.

        What stands between prompt and answer is the template's word: the answer is rendered as the assistant's
        message, and the text that follows the prompt is taken. Where that cannot be told, and in completion style, it
        is a space unless the prompt ends with white space. Tokens of white space and marks alone, such as the space
        before a number or the + of a calling code, tell nothing of the answer and go to what stands before it.
        """
        text, gap = self._text(messages, answer)
        special = {"add_special_tokens": self.style == "completion"}
        prompt = list(self.tokenizer(text, **special)["input_ids"])
        whole = list(self.tokenizer(text + gap + answer, **special)["input_ids"])
        given = whole[len(prompt) :]
        if whole[: len(prompt)] != prompt or not given:  # the two grew together at the seam
            given = list(self.tokenizer(gap + answer, add_special_tokens=False)["input_ids"])
        first = next((place for place, token in enumerate(given) if self._tells(token)), 0)
        return prompt + given[:first], int(given[first])

    def _tells(self, token: int) -> bool:
        text = self.tokenizer.decode([token])
        return any(sign.isalnum() or sign == "\ufffd" for sign in text)  # the latter is a part of a letter

    def _text(self, messages: Sequence[Message], answer: str) -> tuple[str, str]:
        """The prompt as text, and what stands between it and the answer."""
        if self.style == "completion":
            text = "\n\n".join(message.content for message in messages)
        else:
            if not self.tokenizer.chat_template:
                raise ConfigError("The weights hold no chat template, but the model was asked as a chat model.")
            said = [message._asdict() for message in messages]
            text = self.tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
            answered = [*said, {"role": "assistant", "content": answer}]
            whole = self.tokenizer.apply_chat_template(answered, tokenize=False)
            gap, found, _ = whole.removeprefix(text).partition(answer)
            if whole.startswith(text) and found and not gap.strip():
                return text, gap
        return text, "" if not text or text[-1].isspace() else " "

    def _row(self, messages: Sequence[Message], answer: str) -> list[float]:
        import torch

        prompt, token = self.position(messages, answer)
        if len(prompt) > (window := self.model.config.get_text_config().max_position_embeddings):
            raise ContextExceeded(f"A prompt of {len(prompt)} tokens does not fit the window of {window} tokens.")
        with torch.inference_mode():
            given = self.model(torch.tensor([prompt]), output_hidden_states=True, use_cache=False, logits_to_keep=1)
            # The embedding of the last token of the prompt is left out: mostly, it is that of the template's end.
            *states, last = [state[0, -1] for state in given.hidden_states[1:]]
            normed = torch.stack([*map(self._norm, states), last])  # the last one comes normed
            found = self.model.get_output_embeddings()(normed).log_softmax(-1)[:, token]
            own = given.logits[0, -1].log_softmax(-1)[token]
        if abs(float(found[-1] - own)) > TOLERANCE:
            raise ConfigError(
                f"The output of {type(self.model).__name__} is more than norm and unembedding of its last layer "
                f"(log-probability {float(own):.4f}, by the lens {float(found[-1]):.4f}): it cannot be read by layers."
            )
        return [float(value) for value in found.exp()]

    @property
    def _norm(self) -> Any:
        body = self.model.base_model
        norm = next((getattr(body, name) for name in NORMS if hasattr(body, name)), None)
        if norm is None:
            raise ConfigError(
                f"{type(self.model).__name__} has no final norm of a known name ({', '.join(NORMS)}): it cannot be "
                "read by layers."
            )
        return norm
