"""Distinct texts: what linkages link. Identical texts are one node, and the first of them stands for it."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Nodes:
    """Atoms in order of arrival and the distinct texts among them.

    Attributes:
        atom_ids: id of every atom.
        node_of: for every atom, the number of its node.
        first: for every node, the id of the first atom that has its text.
        texts: for every node, that text.
        hashes: for every node, the sha256 of its NFC text: an order that does not depend on arrival.
    """

    atom_ids: tuple[int, ...]
    node_of: tuple[int, ...]
    first: tuple[int, ...]
    texts: tuple[str, ...]
    hashes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def canonical(self, a: int, b: int) -> tuple[str, str]:
        """The texts of two nodes in the one order in which they are compared and judged."""
        first, second = sorted((a, b), key=lambda node: self.hashes[node])
        return self.texts[first], self.texts[second]


def distinct(atom_ids: Iterable[int], texts: Iterable[str]) -> Nodes:
    """Atoms in order of arrival (turn, branch, position) → their distinct NFC texts.

    Raises:
        ValueError: an id occurs twice, or ids and texts differ in number.
    """
    ids, all_texts = tuple(atom_ids), tuple(texts)
    if len(set(ids)) != len(ids):
        raise ValueError("an atom id occurs twice")
    numbers: dict[str, int] = {}
    node_of: list[int] = []
    first: list[int] = []
    kept: list[str] = []
    for atom_id, text in zip(ids, all_texts, strict=True):
        key = _sha256(text)
        if key not in numbers:
            numbers[key] = len(numbers)
            first.append(atom_id)
            kept.append(text)
        node_of.append(numbers[key])
    return Nodes(ids, tuple(node_of), tuple(first), tuple(kept), tuple(numbers))


def _sha256(text: str) -> str:
    return hashlib.sha256(unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")).hexdigest()
