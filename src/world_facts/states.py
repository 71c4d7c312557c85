"""Facts about the states of the US, from the table in the package `us`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from src.world_facts.facts import Fact, fact, spelled

FIRST_ADMITTED = 1791
"""Vermont; before it, states ratified the constitution, and what counts as their year is a matter of view."""


def state_facts(source: bytes) -> Iterator[Fact]:
    """Capital, abbreviation and year of each of the fifty; the table is read out of Python code that is never run."""
    for row in _table(source):
        year = row["statehood_year"]
        if not isinstance(year, int):  # a territory
            continue
        name, abbreviation = str(row["name"]), str(row["abbr"])
        capitals = spelled(str(row["capital"]))
        whose = f"the US state of {name}"
        also = [f"{capital}, {place}" for capital in capitals for place in (name, abbreviation)]
        yield fact("state_capital", f"What is the capital of {whose}?", *capitals, *also)
        yield fact("state_code", f"What is the two-letter postal abbreviation of {whose}?", abbreviation)
        if year >= FIRST_ADMITTED:
            yield fact("state_year", f"In which year did {name} become a state of the US?", str(year))


def _table(source: bytes) -> Iterator[Mapping[str, object]]:
    for node in ast.parse(source).body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func) == "State"
        ):
            fields = node.value.keywords[0].value
            if isinstance(fields, ast.Dict):
                yield {
                    str(key.value): value.value
                    for key, value in zip(fields.keys, fields.values, strict=True)
                    if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
                }
