"""The embedded endpoint: llama.cpp serving a GGUF file on this machine, started by the first request that needs it."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, JsonValue
from pydantic.dataclasses import dataclass

from src.errors import DataMissing
from src.llm.config import Address
from src.llm.faults import Transient
from src.llm.transport import Transport
from src.records import STRICT, Role
from src.weights import check_revision

SERVER = Path(__file__).with_name("llamacpp.py")
PROMPT = ("messages", "prompt")
"""Fields of a request of which a prompt is made."""


@dataclass(frozen=True, config=STRICT)
class Embedded:
    """A llama.cpp server of our own, OpenAI-compatible like any other endpoint.

    With one slot, prompts read as :class:`Reading` does it and a seed from the ledger key, an answer depends on its
    request alone.

    Attributes:
        model_path: the GGUF file; its name is part of every ledger key.
        revision: which file is meant; part of every ledger key through the model. `sha256:…` is checked on starting.
        name: names the endpoint in ledger keys and messages.
        n_ctx: context window in tokens, prompt and answer together, a multiple of 256 as llama.cpp makes it one; part
            of every ledger key.
        threads: of the model. Sums over another number of threads differ in their last digits, and so do answers, which
            makes it part of every ledger key.
        reading: a prompt is read once for all its draws. There is no other way; it is here because cells and answers
            that were got in another way are others.
        timeout_s: seconds for one attempt; for reading a prompt, and again for answering it.
        attempts: attempts per request.
        deadline_s: seconds for one request, from its first attempt on.
        debug: let the server's log through to stderr.
    """

    model_path: Path
    revision: Annotated[str, Field(min_length=1)]
    name: Annotated[str, Field(min_length=1)] = "embedded"
    n_ctx: Annotated[int, Field(gt=0, multiple_of=256)] = 4096
    threads: Annotated[int, Field(gt=0)] = 2
    reading: Literal["once"] = "once"
    timeout_s: Annotated[float, Field(gt=0)] = 600.0
    attempts: Annotated[int, Field(gt=0)] = 2
    deadline_s: Annotated[float, Field(gt=0)] = 1800.0
    debug: bool = False

    @property
    def api_key_env(self) -> None:
        """The server wants no key."""

    @property
    def extra_body(self) -> dict[str, JsonValue]:
        """Fields sent with every request."""
        return {"cache_prompt": True}

    @property
    def concurrency(self) -> int:
        """Its one slot serves one request after the other."""
        return 1

    @property
    def requests_per_minute(self) -> None:
        """As fast as it can."""

    @property
    def tokens_per_minute(self) -> None:
        """As fast as it can."""

    @property
    def seed(self) -> bool:
        """A sampling seed is always sent."""
        return True

    @property
    def top_k(self) -> bool:
        """It knows this limit."""
        return True

    @property
    def identity(self) -> dict[str, str | int]:
        """What a ledger key says of it."""
        return {"endpoint": self.name, "file": self.model_path.name, "n_ctx": self.n_ctx, "threads": self.threads}

    @asynccontextmanager
    async def serve(self, key: str) -> AsyncIterator[Address]:
        """Start the server and give its address; it stops on leaving, however the run ends.

        Args:
            key: what configuration calls this endpoint, for messages.

        Raises:
            DataMissing: no such file, or llama.cpp cannot load it.
        """
        if not self.model_path.is_file():
            raise DataMissing(
                f"The embedded model {self.model_path} is not there: fetch it with `python -m src.fetch`, or set "
                f"{key}.model_path to a GGUF file."
            )
        check_revision(self.model_path, self.revision, "model.revision")
        options = {
            "model": str(self.model_path),
            "n_ctx": self.n_ctx,
            "threads": self.threads,
            "verbosity": 3 if self.debug else -1,
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            str(SERVER),
            json.dumps(options),
            stdin=PIPE,
            stdout=PIPE,
            stderr=None if self.debug else DEVNULL,
            start_new_session=True,  # Ctrl-C is for the run, which then stops the server
        )
        try:
            assert process.stdout is not None
            address = (await process.stdout.readline()).decode().strip()
            if not address:
                raise DataMissing(
                    f"llama.cpp cannot load {self.model_path}: it is damaged or no GGUF model; fetch it again with "
                    f"`python -m src.fetch`, or see the server's log with {key}.debug=true."
                )
            yield Address(address + "/v1")
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


class Reading:
    """Reads a prompt apart from answering it, so that all its draws share one reading.

    Reading takes most of the time of a short answer. Left to itself, llama.cpp goes on from whatever a prompt has in
    common with the one before, and computes differently for another number of tokens at once: an answer would depend
    on what was asked before. Here a prompt that is not the one before is read whole, from nothing, and
    every answer, the first included, then goes on from all of it but the last token.

    Used by one request at a time, as the server's one slot asks for.
    """

    def __init__(self, transport: Transport) -> None:
        """Wrap an open transport to an embedded server."""
        self._transport = transport
        self._read: dict[str, object] | None = None
        self._cut_back = False  # whether this model was ever seen to go on from a part of what it had read

    @property
    def reached(self) -> bool:
        """Whether anything was ever received."""
        return self._transport.reached

    async def send(self, path: str, body: Mapping[str, object], role: Role, timeout_s: float) -> bytes:
        """Make one attempt, as `Transport.send`: read the prompt, unless it is read, and answer it.

        Args:
            path: below the address.
            body: sent as JSON.
            role: who asks, for messages.
            timeout_s: seconds for reading, and again for answering.

        Raises:
            Transient: the server went on from something else; reading anew helps.
            Declined, EndpointError: as Transport.send.
        """
        prompt = {"path": path, **{name: body[name] for name in PROMPT if name in body}}
        known, self._read = self._read, None  # whatever fails now, the next request reads anew
        if prompt != known:
            reading = {name: body[name] for name in ("model", *PROMPT) if name in body}
            await self._transport.send(path, {**reading, "n_predict": 0, "cache_prompt": False}, role, timeout_s)
        answer = await self._transport.send(path, body, role, timeout_s)
        timings = json.loads(answer)["timings"]
        self._cut_back = self._cut_back or timings["cache_n"] > 0
        if self._cut_back and timings["prompt_n"] != 1:
            raise Transient(f"llama.cpp read {timings['prompt_n']} tokens of a prompt again, not the last one alone")
        self._read = prompt
        return answer
