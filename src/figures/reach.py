"""What repeated draws say about knowledge that was not seen: in a line, with what it rests on, and as a figure."""

from __future__ import annotations

from math import comb

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from src.figures.canvas import COLOURS, canvas
from src.figures.captions import Title
from src.records import Metrics


def reach_line(metrics: Metrics) -> str:
    """`found 812; coverage .74 [.70, .78]; at least 1,190 [1,080, 1,340] reachable by these prompts`.

    Where everything was seen at least thrice, that there is no sign of more. Without an estimate, why there is none; ""
    where the metrics know nothing of repeats.
    """
    if "chao2" not in metrics:
        return ""
    if metrics["chao2"] is None:
        return f"unseen knowledge: not estimated: {metrics['chao2_reason']}"
    again = metrics["reach_f1"] == metrics["reach_f2"] == 0
    return (
        f"found {_whole(metrics['reach_observed'])}{', each in three draws or more' * again}; "
        f"coverage {_with_bounds(metrics, 'coverage')}; "
        f"{'no sign of more than' if again else 'at least'} {_with_bounds(metrics, 'chao2')} reachable by these prompts"
    )


def reach_basis(metrics: Metrics) -> str:
    """Unit, sample, assumption and the counts behind :func:`reach_line`; "" where there is no estimate."""
    if metrics.get("chao2") is None:
        return ""
    reasons = dict.fromkeys(
        str(metrics[f"{name}_reason"]) for name in ("chao2_low", "chao2_high") if metrics[name] is None
    )
    draws, once, twice = (_whole(metrics[name]) for name in ("repeats", "reach_f1", "reach_f2"))
    return "; ".join(
        [
            f"{draws} draws of the prompts of turn 1, taken as independent",
            f"unit: branch × valid cluster, {once} seen in one draw, {twice} in two",
            "95 % intervals",
            "coverage: share of one more draw that is found already",
            "at least: Chao2",
            "valid: what the judge accepts; what it accepts wrongly, and paraphrases left apart, raise the bound and "
            "lower the coverage",
            *reasons,
        ]
    )


def reach_curve(clusters: pl.DataFrame, title: Title, metrics: Metrics) -> Figure:
    """How many valid clusters so many draws of turn 1 find on average, below the lower bound of what they can reach.

    Args:
        clusters: the table `process/repeats`.
        title: what the cell is about.
        metrics: of the cell, with an estimate.
    """
    draws, times = int(metrics["repeats"] or 0), clusters.filter("valid")["draws"].to_numpy()
    number = np.arange(1, draws + 1)
    missed = np.array([[comb(draws - int(seen), drawn) / comb(draws, drawn) for seen in times] for drawn in number])
    found = (1 - missed).sum(axis=1)
    figure, (ax,) = canvas(
        f"Turn 1 drawn again · {title.line}",
        f"n = {times.size:,} valid clusters (branch × cluster) in {draws} draws · {title.caveat}",
        f"{reach_line(metrics)}.\nPoints: mean over all choices of so many draws. Line: Chao2, a lower bound, with its "
        "95 % interval; draws taken as independent.",
    )
    bound, low, high = (metrics[name] for name in ("chao2", "chao2_low", "chao2_high"))
    top = max(float(bound or 0), float(found[-1]))
    if low is not None and high is not None:
        ax.axhspan(float(low), float(high), color=COLOURS.sky, alpha=0.2, zorder=0)
        top = max(top, min(float(high), 3 * top))
    ax.axhline(float(bound or 0), color=COLOURS.sky, linewidth=1.4)
    ax.plot(number, found, color=COLOURS.green, linewidth=1.6, marker="o")
    ax.set_xlabel("draws of each prompt")
    ax.set_ylabel("valid clusters found")
    ax.set_xlim(0.7, draws + 0.3)
    ax.set_ylim(0, 1.12 * max(1.0, top))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
    return figure


def _with_bounds(metrics: Metrics, name: str) -> str:
    """`.74 [.70, .78]`; `1,190 [1,080, no upper limit]`; the value alone where there is no interval."""
    write = _share if name == "coverage" else _whole
    value, low, high = (metrics[name + end] for end in ("", "_low", "_high"))
    if low is None:
        return f"{write(value)} (no interval)"
    return f"{write(value)} [{write(low)}, {'no upper limit' if high is None else write(high)}]"


def _share(value: float | int | str | None) -> str:
    return f"{float(value or 0):.2f}".removeprefix("0")


def _whole(value: float | int | str | None) -> str:
    return f"{float(value or 0):,.0f}"
