"""Every point of a boundary cell on one page that can be searched and sorted, with nothing to download."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from jinja2 import Environment, StrictUndefined

from src.figures.captions import Title, judge_label
from src.figures.summary import cautions
from src.records import Metrics

TEMPLATE = Path(__file__).with_name("atoms.html.j2")
COLUMNS = (
    ("#", "number of the point in the order in which it was listed"),
    ("valid", "the audit's verdict on this text"),
    ("point", "the text as listed; under it, the text it was a child of"),
    ("kind", "factual, conceptual or procedural, where the judge said so"),
    ("cluster", "points that say the same share a cluster"),
    ("merged into", "number of the point that stands for the cluster; empty for that point itself"),
    ("turn", "turn in which it was listed"),
    ("branch", "leaf or persona that listed it"),
    ("cosine", "to the nearest earlier point, at extraction; hover for its number"),
)


def atoms_page(atoms: pl.DataFrame, judged: pl.DataFrame, title: Title, metrics: Metrics) -> str:
    """A self-contained HTML page; model text is escaped.

    Args:
        atoms: the table `extract/atoms`.
        judged: the table `process/atoms`.
        title: what the cell is about.
        metrics: the metrics of the cell.
    """
    points = (
        atoms.join(judged, on="atom_id", how="left")
        .sort("atom_id")
        .with_columns(
            merged_into=pl.when(pl.col("representative") != pl.col("atom_id")).then(pl.col("representative")),
            verdict=pl.when("valid")
            .then(pl.lit("yes"))
            .when(~pl.col("valid"))
            .then(pl.lit("no"))
            .otherwise(pl.lit("unparsed")),
        )
    )
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        title=title,
        cautions=cautions(title, metrics),
        judged_by=judge_label(title.judge),
        columns=COLUMNS,
        points=points.to_dicts(),
    )
