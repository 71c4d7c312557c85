"""The way of every encoder through the ledger, and what a vector must be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from src.errors import EmbeddingError
from src.ledger import Ledger, Payer
from src.records import Encoded, Usage
from src.settle import settle

Pay = Callable[[list[str]], Awaitable[Encoded]]
"""Encodes texts that the ledger does not hold."""


def identity(model: str, revision: str | None) -> dict[str, object]:
    """What a vector depends on beside its text."""
    return {"model": model, "revision": revision, "dtype": "float32", "normalise": True}


async def encode(
    texts: Sequence[str],
    space: Mapping[str, object],
    pay: Pay,
    *,
    ledger: Ledger,
    payer: Payer,
    batch: int,
    at_once: bool,
    most: Callable[[Sequence[str]], Usage] = lambda texts: Usage(0, 0),
) -> Encoded:
    """Take vectors from the ledger and pay for those that it lacks.

    Args:
        texts: any number of texts, also repeated ones.
        space: what determines a vector beside its text.
        pay: encodes what is missing.
        ledger: holds the vectors.
        payer: who pays.
        batch: texts that are paid for, and stored, together.
        at_once: whether batches run at the same time.
        most: what texts can cost, for the budget; nothing on this machine.

    Raises:
        EmbeddingError: a text is blank, or `pay` gave vectors that are none.
    """
    for number, text in enumerate(texts):
        if not any(character.isprintable() and not character.isspace() for character in text):
            raise EmbeddingError(f"Text {number} of {len(texts)} is blank ({text[:20]!r}); a blank text has no vector.")
    distinct = list(dict.fromkeys(texts))
    chunks = [distinct[start : start + batch] for start in range(0, len(distinct), batch)] or [[]]
    calls = (ledger.vectors(chunk, space, replace(payer, most=most(chunk)), pay) for chunk in chunks)
    parts = await settle(calls) if at_once else [await call for call in calls]
    row = {text: number for number, text in enumerate(distinct)}
    order = np.array([row[text] for text in texts], dtype=np.int64)
    vectors = np.concatenate([encoded.vectors for encoded, _ in parts])
    tokens = np.concatenate([encoded.tokens for encoded, _ in parts])
    return Encoded(vectors[order], tokens[order])


def unit(vectors: np.ndarray, source: str) -> np.ndarray:
    """Scale rows to length 1.

    Args:
        vectors: shape (n, d).
        source: who made them, for messages.

    Returns:
        float32, shape (n, d).

    Raises:
        EmbeddingError: a row is zero or not finite.
    """
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise EmbeddingError(f"{source} gave a vector that is zero or not finite; no text is judged by it.")
    return np.asarray(wide / lengths, dtype=np.float32)
