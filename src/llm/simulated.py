"""A model simulated in this process: what it knows is planted, so that estimates have a truth to be held against."""

from __future__ import annotations

import json
from dataclasses import asdict
from hashlib import sha256
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from src.knower.answer import answer
from src.knower.knowledge import Knower
from src.knower.world import World, stream
from src.records import STRICT, Completion, Prompt, State, Usage

VERSION = 1
"""Part of every revision: raise it with a change of `src.knower` that changes answers."""
CHARACTERS = 4
"""Characters of a token: there is no tokenizer, so usage is a count of characters over this, rounded up."""


@dataclass(frozen=True, config=STRICT)
class Simulated:
    """A simulated model; :meth:`chat` gives what can be asked.

    Attributes:
        world: what there is to know.
        knower: what it makes of it.
        max_tokens: longest answer; a longer one is cut.
        parameters: size in billions, a planted number for studies over size; it changes no answer.
        revision: as configured; :attr:`fingerprint` is what counts.
    """

    world: World = Field(default_factory=World)
    knower: Knower = Field(default_factory=Knower)
    max_tokens: Annotated[int, Field(gt=0)] = 4096
    parameters: Annotated[float, Field(gt=0)] | None = None
    revision: str | None = None

    @property
    def fingerprint(self) -> str:
        """`sha256:…` of all that its answers depend on but seed and prompt."""
        facts = {"version": VERSION, "world": asdict(self.world), "knower": asdict(self.knower)}
        text = json.dumps({**facts, "max_tokens": self.max_tokens}, sort_keys=True)
        return f"sha256:{sha256(text.encode()).hexdigest()}"

    def chat(self, seed: int) -> SimulatedChat:
        """The model as it is asked in a run with this seed."""
        return SimulatedChat(self, seed)


class SimulatedChat:
    """Implements :class:`src.interfaces.ChatModel`: no network, no ledger; the same request gets the same answer."""

    def __init__(self, model: Simulated, seed: int) -> None:
        self.model = model
        self._revision, self._seed = model.fingerprint, seed

    async def complete(self, prompt: Prompt, *, draw: int = 0) -> Completion:
        """Answer; the prompt's name and values say what is asked, its messages only which answer is drawn.

        Raises:
            ConfigError: it has no answer to such a prompt.
        """
        said = tuple(map(tuple, prompt.messages))
        request: tuple[object, ...] = ("answer", self._revision, self._seed, prompt.name, said, draw)
        longest, limit = self.model.max_tokens, f"model.max_tokens={self.model.max_tokens}"
        if own := prompt.sampling:
            request = (*request, own.temperature)
            longest, limit = own.max_tokens, f"{own.max_tokens} tokens, which the probe allows"
        text = answer(self.model.world, self.model.knower, prompt.name, prompt.values, stream(*request))
        state: State = "ok"
        reason = ""
        if text is None:
            text, state, reason = "", "refused", "the simulated model refuses so many answers as knower.refuses says"
        elif _tokens(text) > longest:
            text, state, reason = text[: longest * CHARACTERS], "truncated", f"the answer is longer than {limit}"
        asked = sum(_tokens(message.content) for message in prompt.messages)
        return Completion(
            text=text,
            state=state,
            finish_reason={"truncated": "length", "refused": "content_filter"}.get(state, "stop"),
            usage=Usage(asked, _tokens(text)),
            attempts=0,
            replayed=False,
            key=sha256(repr(request).encode("utf-8", "replace")).hexdigest(),
            reason=reason,
        )


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS)
