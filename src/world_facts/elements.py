"""Facts about the chemical elements, from the table in periodictable."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from src.world_facts.facts import Fact, fact

ALSO = {"Al": ("Aluminium", "Aluminum"), "Cs": ("Caesium", "Cesium"), "S": ("Sulfur", "Sulphur")}
LOOKS_LIKE_NO = "No"
"""Nobelium's symbol would make a question of yes and no."""


def element_facts(source: bytes) -> Iterator[Fact]:
    """Symbol, name and atomic number of each element; the table is read out of Python code that is never run."""
    for number, (name, symbol, *_) in sorted(_table(source).items()):
        if number == 0:  # the neutron
            continue
        names = dict.fromkeys((*ALSO.get(symbol, ()), name))
        asked = next(iter(names)).lower()
        if symbol != LOOKS_LIKE_NO:
            yield fact("element_symbol", f"What is the chemical symbol of {asked}?", symbol)
        yield fact(
            "element_name", f"Which chemical element has the symbol {symbol}?", *(each.lower() for each in names)
        )
        yield fact("atomic_number", f"What is the atomic number of {asked}?", str(number))


def _table(source: bytes) -> dict[int, tuple[str, ...]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "element_base" and node.value:
            table: dict[int, tuple[str, ...]] = ast.literal_eval(node.value)
            return table
    raise LookupError("the code holds no table element_base")
