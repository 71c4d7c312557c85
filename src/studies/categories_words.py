"""What the study `categories` found, in sentences: who is best, what cannot be told apart, what hangs on the asking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from src.figures.captions import plural
from src.stats.intervals import LEVEL
from src.studies.wording import listed, p_words


def sentences(dataset: str, tables: Mapping[str, pl.DataFrame]) -> list[str]:
    """What was found on a data set: who is best, what cannot be told apart, what hangs on the asking."""
    cells = tables["cells"].filter(dataset=dataset).sort("accuracy", "cell", descending=[True, False], nulls_last=True)
    best = cells.row(0, named=True)
    if best["accuracy"] is None:
        return [f"On {dataset} no cell has a question with all of its answers."]
    leads = "is right most often: accuracy" if cells.height > 1 else "has accuracy"
    lines = [
        f"On {dataset}, {best['cell']} {leads} {_share(best, 'accuracy')}, category score "
        f"{best['category_score']:.2f}{_bounds(best)}, n = {plural(best['questions'], 'question')} (95 % intervals; "
        "accuracy Clopper–Pearson, score Bayesian bootstrap)"
    ]
    if cells.height > 1:
        pairs = tables["pairs"].filter(dataset=dataset)
        lines[0] += _own(cells, pairs)
        tied = cells.filter("tied_with_best")["cell"].to_list()
        rivals = [name for name in tied if name != best["cell"]]
        lines[0] += (
            f"; of {plural(cells.height - 1, 'other cell')}, {len(rivals)} cannot be told apart from it by accuracy"
            f"{f': {listed(rivals)}' if rivals else ''} (McNemar mid-p on shared questions, Holm over "
            f"{plural(pairs['p_holm'].count(), 'pair')})"
        )
        lines += _alike(dataset, pairs)
    lines[0] += "."
    return [*lines, *_steady(dataset, tables)]


def _own(cells: pl.DataFrame, pairs: pl.DataFrame) -> str:
    """That cells are ranked by different questions, where they are."""
    own, shared = (_span_of(rows["questions"].to_list()) for rows in (cells, pairs))
    alike = own == shared and cells["questions"].n_unique() == 1
    return "" if alike else f" (each cell ranked by its own questions, {own}; two cells share {shared})"


def _span_of(counts: Sequence[int]) -> str:
    return " to ".join(f"{count:,}" for count in sorted({min(counts), max(counts)}))


def _alike(dataset: str, pairs: pl.DataFrame) -> list[str]:
    """A sentence on the pairs that accuracy does not tell apart, the closest first."""
    if not pairs["p_holm"].count():
        return [f"No two cells on {dataset} share a question, so nothing tells them apart."]
    close = pairs.filter(pl.col("p_holm") >= 1 - LEVEL).sort(pl.col("difference").abs(), "cell", "other")
    if not close.height:
        return [f"Accuracy tells the cells of {plural(pairs['p_holm'].count(), 'pair')} on {dataset} apart."]
    told = [
        f"{row['cell']} less {row['other']} ({100 * row['difference']:+.1f} percentage points{_span(row)}, "
        f"{p_words(row['p_holm'], 'Holm p')}, n = {row['questions']:,})"
        for row in close.head(3).iter_rows(named=True)
    ]
    more = f"; and {close.height - len(told)} more in the table pairs" if close.height > len(told) else ""
    return [
        f"{close.height} of {plural(pairs['p_holm'].count(), 'pair')} on {dataset} cannot be told apart by accuracy: "
        f"{'; '.join(told)}{more}."
    ]


def _steady(dataset: str, tables: Mapping[str, pl.DataFrame]) -> list[str]:
    """What fewer samples, the other rule and another temperature would change, at worst."""
    lines = []
    fewest = tables["samples"].filter(pl.col("kept").is_not_null(), dataset=dataset, samples=2).sort("kept", "cell")
    if fewest.height:
        least = " (the least of all cells)" if fewest.height > 1 else ""
        row = fewest.row(0, named=True)
        lines.append(
            f"On {dataset}, {row['cell']} with 2 samples instead of all keeps the class of "
            f"{_share(row, 'kept')} of its {plural(row['questions'], 'question')}{least}"
        )
        other = tables["rules"].filter(pl.col("kept").is_not_null(), dataset=dataset).sort("kept", "cell", "rule")
        row = other.row(0, named=True)
        lines[-1] += f"; with the other rule of frequency {row['cell']} keeps {_share(row, 'kept')}{least}."
    if "temperatures" in tables:
        warm = tables["temperatures"].filter(pl.col("kept").is_not_null(), dataset=dataset)
        lines += [
            f"On {dataset}, {row['cell']}: temperature {row['temperature_other']:g} instead of "
            f"{row['temperature']:g} keeps the class of {_share(row, 'kept')} of questions and moves the category "
            f"score by {row['category_score']:+.2f}{_bounds(row, '+')}, n = {plural(row['questions'], 'question')}."
            for row in warm.sort("kept", "cell", "other").head(3).iter_rows(named=True)
        ]
    return lines


def _share(row: Mapping[str, Any], name: str) -> str:
    return f"{100 * row[name]:.1f} % [{100 * row[f'{name}_low']:.1f}, {100 * row[f'{name}_high']:.1f}]"


def _bounds(row: Mapping[str, Any], sign: str = "") -> str:
    low, high = row["category_score_low"], row["category_score_high"]
    return f" (no interval: {row['category_score_reason']})" if low is None else f" [{low:{sign}.2f}, {high:{sign}.2f}]"


def _span(row: Mapping[str, Any]) -> str:
    low, high = row["difference_low"], row["difference_high"]
    return "" if low is None else f" [{100 * low:+.1f}, {100 * high:+.1f}]"
