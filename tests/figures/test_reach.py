from dataclasses import replace

import polars as pl

from src.figures.boundary_lines import tell
from src.figures.canvas import png
from src.figures.reach import reach_basis, reach_curve, reach_line
from src.figures.summary import note
from src.records import Metrics
from src.schemas import REPEATED_CLUSTERS
from tests.synthetic_cell import RULES, make_cell


def said(metrics: Metrics) -> str:
    return note(RULES, metrics, tell(RULES, metrics), {})


METRICS: Metrics = {
    **{"repeats": 5, "reach_observed": 812, "reach_f1": 300, "reach_f2": 95},
    **{"coverage": 0.7412, "coverage_low": 0.7, "coverage_high": 0.78},
    **{"chao2": 1190.4, "chao2_low": 1080, "chao2_high": 1340},
    **{"ice": None, "ice_reason": "withdrawn"},
}


def test_line_says_what_was_found_how_much_of_it_there_is_and_the_least_that_can_be_reached() -> None:
    assert reach_line(METRICS) == (
        "found 812; coverage .74 [.70, .78]; at least 1,190 [1,080, 1,340] reachable by these prompts"
    )
    basis = reach_basis(METRICS)
    for words in ("5 draws", "independent", "branch × valid cluster", "300 seen in one", "95 in two", "judge accepts"):
        assert words in basis
    assert "ICE" not in basis


def test_line_says_that_there_is_no_sign_of_more_where_everything_was_seen_again_and_again() -> None:
    seen: Metrics = {**METRICS, "reach_observed": 40, "reach_f1": 0, "reach_f2": 0}
    sure: Metrics = {"coverage": 1.0, "coverage_low": 0.97, "coverage_high": 1.0}
    least: Metrics = {"chao2": 40.0, "chao2_low": 40, "chao2_high": 42}
    assert reach_line(seen | sure | least) == (
        "found 40, each in three draws or more; coverage 1.00 [.97, 1.00]; "
        "no sign of more than 40 [40, 42] reachable by these prompts"
    )
    assert "no sign" not in reach_line(seen | sure | least | {"reach_f2": 1})


def test_bounds_that_are_missing_are_named_with_their_reason() -> None:
    metrics = {**METRICS, "chao2_high": None, "chao2_high_reason": "no upper limit below 100 times what was seen"}
    assert "at least 1,190 [1,080, no upper limit] reachable" in reach_line(metrics)
    assert reach_basis(metrics).endswith("; no upper limit below 100 times what was seen")
    few = dict.fromkeys(("chao2_low", "chao2_high", "coverage_low", "coverage_high"))
    metrics = {**METRICS, **few, **{f"{name}_reason": "too few draws" for name in few}}
    assert reach_line(metrics).count("(no interval)") == 2
    assert reach_basis(metrics).count("too few draws") == 1
    assert "[.70, 1.00]" in reach_line({**METRICS, "coverage_high": 1.0})


def test_without_an_estimate_the_reason_is_given_and_nothing_is_drawn_from_it() -> None:
    metrics: Metrics = {"repeats": 1, "chao2": None, "chao2_reason": "repeats=1"}
    assert reach_line(metrics) == "unseen knowledge: not estimated: repeats=1"
    assert reach_basis(metrics) == reach_line({}) == ""


def test_note_tells_of_the_unseen_and_takes_reasons_as_data() -> None:
    metrics = make_cell().metrics
    assert "not seen" not in said(metrics)
    assert r"coverage .74 \[.70, .78\]; at least 1,190" in said({**metrics, **METRICS})
    failed = {**metrics, "repeats": None, "chao2": None, "chao2_reason": "error: <b>no</b> | [x](y)"}
    assert r"not estimated: error: \<b\>no\</b\> \| \[x\](y)" in said(failed)


def test_curve_ends_in_what_was_found_below_the_bound() -> None:
    rows = [("a", n, f"text {n}", n % 5 + 1, "1" * 5, n % 4 != 0) for n in range(40)]
    clusters = pl.DataFrame(rows, schema=REPEATED_CLUSTERS, orient="row")
    for metrics in (METRICS, {**METRICS, "chao2_high": None}):
        figure = reach_curve(clusters, replace(RULES, subject="simulated"), metrics)
        curve = figure.axes[0].lines[-1].get_ydata()
        assert curve[-1] == 30
        assert (curve[1:] > curve[:-1]).all()
        assert png(figure) == png(reach_curve(clusters, replace(RULES, subject="simulated"), metrics))
