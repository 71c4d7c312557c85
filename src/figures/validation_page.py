"""The page docs/validation.md, made of the finding of a validation."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from src.figures.finding import Finding
from src.figures.report import markdown_said, markdown_table
from src.figures.tabulated import Grid, grid

HEADINGS = {
    "coverage": "Coverage of nominal 95 % intervals",
    "studies": "Do studies find what is planted, and only that?",
    "patience": "What patience gives up",
    "ways_of_counts": "Two ways to one number, through text and straight from the model: counts",
    "ways_of_shares": "Two ways to one number: shares",
    "linkages": "Linkages on simulated statements",
    "settings": "The settings",
    "estimates_of_shares": "Bias, error and coverage: shares",
    "estimates_of_counts": "Bias, error and coverage: counts",
    "estimates_of_turns": "Bias, error and coverage: turns",
}
FOLDED = 40
"""Rows from which on a table is folded."""


def validation_page(finding: Finding, figure: str) -> str:
    """The page in Markdown.

    Args:
        finding: of the validation.
        figure: address of the figure, relative to the page.
    """
    environment = Environment(finalize=markdown_said, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"table": markdown_table, "link": Markup}
    text = Path(__file__).with_name("validation.md.j2").read_text(encoding="utf-8")
    tables = [
        {"name": name, "grid": _grid(finding.tables[name]), "folded": finding.tables[name].height > FOLDED}
        for name in HEADINGS
        if name in finding.tables
    ]
    page = environment.from_string(text).render(
        figure=figure,
        cautions=finding.cautions,
        verdict=finding.verdict,
        missing=finding.missing,
        caption=finding.captions["coverage"],
        definitions=finding.definitions.items(),
        headings=HEADINGS,
        tables=tables,
    )
    return f"{page.rstrip()}\n"


def _grid(table: pl.DataFrame) -> Grid:
    texts = table.with_columns(pl.all().cast(pl.String).fill_null("")).rows()
    return grid([table.columns, *texts], table.height)
