"""A sentence-transformers model from a folder on this machine, loaded by the first text that needs it."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from src.embed.stored import encode, identity, unit
from src.errors import ConfigError, DataMissing
from src.ledger import Ledger, Payer
from src.records import STRICT, Encoded
from src.weights import check_revision

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

LOG = logging.getLogger(__name__)
WEIGHTS = "model.safetensors"
BATCH = 256
"""Texts encoded before they are stored: what a killed run loses at most."""
WORKERS = min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
"""Texts under way at once; no vector hangs on their number."""


@dataclass(frozen=True, config=STRICT)
class SentenceModel:
    """A sentence-transformers model in a folder.

    Attributes:
        name: names it in ledger keys.
        path: the folder.
        revision: which weights; part of every ledger key.
        window: tokens that it reads at once, its own marks included.
    """

    name: Annotated[str, Field(min_length=1)]
    path: Path
    revision: str
    window: Annotated[int, Field(gt=2)] = 256

    def encoder(self, *, ledger: Ledger, cell_key: str) -> SentenceEncoder:
        """Make its encoder; nothing is loaded, and it spends nothing."""
        return SentenceEncoder(self, ledger=ledger, cell_key=cell_key)


class SentenceEncoder:
    """Implements :class:`src.interfaces.Encoder`, one text at a time: a vector never depends on its neighbours.

    A text longer than the window is read in consecutive windows, whose unit vectors are averaged by length, so that
    none of it is ignored. Such texts are those with `tokens > model.window`; their number is logged.
    """

    def __init__(self, model: SentenceModel, *, ledger: Ledger, cell_key: str) -> None:
        self.model = model
        self._ledger = ledger
        self._space = identity(model.name, model.revision) | {"window": model.window}
        self._payer = Payer(cell_key, "embedder", "embed", "local", lambda usage: 0.0)
        self._busy = threading.Lock()  # a tokenizer does not serve two threads at once

    async def encode(self, texts: Sequence[str]) -> Encoded:
        """Encode texts; see :meth:`src.interfaces.Encoder.encode`.

        Raises:
            EmbeddingError: blank text, or values that are not finite.
            DataMissing: the model's folder is not there or cannot be loaded.
            ConfigError: the window is longer than the model's.
        """
        encoded = await encode(
            texts, self._space, self._pay, ledger=self._ledger, payer=self._payer, batch=BATCH, at_once=False
        )
        if long := int((encoded.tokens > self.model.window).sum()):
            LOG.warning("%d of %d texts exceed %d tokens and were read in parts", long, len(texts), self.model.window)
        return encoded

    async def _pay(self, texts: list[str]) -> Encoded:
        return await asyncio.to_thread(self._encode, texts)

    def _encode(self, texts: list[str]) -> Encoded:
        cut = {"truncation": True, "max_length": self.model.window, "return_overflowing_tokens": True}
        with self._busy:
            tokenizer = self._network.tokenizer
            windows = [tokenizer(text, **cut)["input_ids"] for text in texts]
            import torch

            # A sentence is too little work for two threads, which would mostly wait for each other: each takes one.
            with ThreadPoolExecutor(WORKERS, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                vectors = list(pool.map(self._vector, windows))
        return Encoded(np.stack(vectors), np.array([sum(map(len, each)) for each in windows]))

    def _vector(self, windows: Sequence[Sequence[int]]) -> np.ndarray:
        """The vector of a text that is read in one window or several, shape (d,)."""
        import torch

        parts = []
        with torch.inference_mode():
            for window in windows:
                ids = torch.tensor([window])
                read = self._network({"input_ids": ids, "attention_mask": torch.ones_like(ids)})
                parts.append(read["sentence_embedding"])
            units = unit(torch.cat(parts).numpy(), self.model.name).astype(np.float64)
        lengths = [len(window) for window in windows]
        vector: np.ndarray = unit(np.average(units, axis=0, weights=lengths)[None], self.model.name)[0]
        return vector

    @cached_property
    def _network(self) -> SentenceTransformer:
        path, name = self.model.path, self.model.name
        if not (path / "modules.json").is_file():
            raise DataMissing(
                f"The sentence encoder {name} is not in {path}: fetch it with `python -m src.fetch`, or set "
                "embedder.path to a sentence-transformers folder."
            )
        if (path / WEIGHTS).is_file():
            check_revision(path / WEIGHTS, self.model.revision, "embedder.revision")
        os.environ["HF_HUB_OFFLINE"] = "1"  # read when the libraries are first imported
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as chatter

        chatter.disable_progress_bar()  # type: ignore[no-untyped-call]
        chatter.set_verbosity_error()  # type: ignore[no-untyped-call]
        try:
            network = SentenceTransformer(str(path), device="cpu", local_files_only=True).eval()
        except (OSError, ValueError, KeyError, SafetensorError) as error:
            raise DataMissing(
                f"The sentence encoder in {path} cannot be loaded ({error}); fetch it again with `python -m src.fetch`."
            ) from error
        if network.max_seq_length and self.model.window > network.max_seq_length:
            raise ConfigError(
                f"embedder.window={self.model.window} is more than {name} reads at once; "
                f"set embedder.window={network.max_seq_length}."
            )
        return network
