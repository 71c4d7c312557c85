"""Vectors from hashed words and letters: offline, instant, deterministic, without any idea of meaning."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from src.embed.stored import encode, identity, unit
from src.ledger import Ledger, Payer
from src.records import STRICT, Encoded

BATCH = 256


@dataclass(frozen=True, config=STRICT)
class HashingModel:
    """An encoder for tests and dry runs: similar wording, similar vector."""

    name: Annotated[str, Field(min_length=1)] = "hashing"
    dimension: Annotated[int, Field(gt=0)] = 1024

    def encoder(self, *, ledger: Ledger, cell_key: str) -> HashingEncoder:
        """Make its encoder; it spends nothing."""
        return HashingEncoder(self, ledger=ledger, cell_key=cell_key)


class HashingEncoder:
    """Implements :class:`src.interfaces.Encoder`; a token is a word."""

    def __init__(self, model: HashingModel, *, ledger: Ledger, cell_key: str) -> None:
        self.model = model
        self._ledger = ledger
        self._space = identity(model.name, None) | {"dimension": model.dimension}
        self._payer = Payer(cell_key, "embedder", "embed", model.name, lambda usage: 0.0)

    async def encode(self, texts: Sequence[str]) -> Encoded:
        """Encode texts; see :meth:`src.interfaces.Encoder.encode`."""
        return await encode(
            texts, self._space, self._pay, ledger=self._ledger, payer=self._payer, batch=BATCH, at_once=False
        )

    async def _pay(self, texts: list[str]) -> Encoded:
        words = [re.findall(r"\w+", text.lower()) or [text] for text in texts]
        vectors = np.zeros((len(texts), self.model.dimension))
        for vector, parts in zip(vectors, words, strict=True):
            for word in parts:
                trigrams = [f" {word} "[start : start + 3] for start in range(len(word))]
                # A word weighs as much as all of its trigrams together.
                for feature, weight in [(word, len(trigrams)), *((trigram, 1) for trigram in trigrams)]:
                    code = zlib.crc32(feature.encode())
                    vector[code % len(vector)] += weight if code >> 31 else -weight
        return Encoded(unit(vectors, self.model.name), np.array([len(parts) for parts in words]))
