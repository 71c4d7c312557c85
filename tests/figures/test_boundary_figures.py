from dataclasses import replace

import polars as pl
import pytest
from matplotlib.figure import Figure

from src.figures.boundary import cosines, cumulated, saturation, yield_curve
from src.figures.canvas import png
from tests.synthetic_cell import RULES, Cell, make_cell

CELLS = {
    "usual": make_cell(),
    "one turn, two points": make_cell(1, 2, 1, "budget"),
    "no turn": make_cell(0, stop="error"),
    "no point": make_cell(2, 0, 1, "saturated"),
    "none valid": make_cell(3, valid=0.0),
}


def all_three(cell: Cell, title=RULES) -> list[Figure]:
    stop = cell.extracted["stop"]["reason"][0]
    return [
        saturation(cell.turns, title, stop, growth=0.01, efficiency=0.1, points=3),
        cosines(cell.atoms, cell.judged, title, strict=0.92, fuzzy=0.7),
        yield_curve(cell.turns, cell.atoms, cell.judged, title, stop),
    ]


def words(figure: Figure) -> str:
    texts = [*figure.texts, *(text for ax in figure.axes for text in ax.texts)]
    return "\n".join(text.get_text() for text in texts)


@pytest.mark.parametrize("name", CELLS)
def test_draws_and_says_what_it_is_about(name: str) -> None:
    cell = CELLS[name]
    for figure in all_three(cell):
        said = words(figure)
        assert RULES.line in said
        assert "n = " in said
        assert "form checked, not truth" in said
        assert "simulated" not in said
        assert png(figure).startswith(b"\x89PNG")


def test_says_simulated_first() -> None:
    title = replace(RULES, judge="oracle", subject="simulated")
    for figure in all_three(CELLS["usual"], title):
        assert "simulated · judge oracle" in words(figure)


def test_same_numbers_same_bytes() -> None:
    first, second = ([png(figure) for figure in all_three(make_cell(3))] for _ in range(2))
    assert first == second
    assert all(b"tEXt" not in data and b"Matplotlib" not in data for data in first)


def test_stop_reason_is_explained_where_it_matters() -> None:
    cell = CELLS["one turn, two points"]
    for figure in (all_three(cell)[0], all_three(cell)[2]):
        assert "limit on calls, tokens or money" in words(figure)
        assert "lower bounds" in words(figure)


def test_saturation_draws_the_thresholds_given() -> None:
    cell = CELLS["usual"]
    figure = saturation(cell.turns, RULES, "saturated", growth=0.05, efficiency=0.2, points=7)
    dashed = [[line for line in ax.get_lines() if line.get_linestyle() == "--"] for ax in figure.axes]
    levels = [list(line.get_ydata()) for (line,) in dashed]
    assert levels == [[7, 7], [0.05, 0.05], [0.2, 0.2]]
    assert "stale below 5 %" in words(figure)


def test_cosines_counts_every_point_that_had_an_earlier_one() -> None:
    cell = CELLS["usual"]
    (ax,) = cosines(cell.atoms, cell.judged, RULES, strict=0.92, fuzzy=0.7).axes
    bars = [patch for container in ax.containers for patch in container]
    assert sum(bar.get_height() for bar in bars) == cell.atoms.height - 1
    assert f"counted on its own ({cell.judged['unique'].sum() - 1:,})" in ax.get_legend().get_texts()[0].get_text()


def test_cosines_below_zero_are_drawn() -> None:
    cell = make_cell(1, 3, 1)
    atoms = cell.atoms.with_columns(nearest_cosine=pl.Series([None, -0.31, 1.0000001]))
    (ax,) = cosines(atoms, cell.judged, RULES, strict=0.92, fuzzy=0.7).axes
    assert sum(bar.get_height() for container in ax.containers for bar in container) == 2
    assert ax.get_xlim()[0] == pytest.approx(-0.4)


def test_a_name_with_dollar_signs_or_another_script_does_not_fail() -> None:
    title = replace(RULES, model="a$b_{$c", domain="苯")
    assert [png(figure)[:4] for figure in all_three(CELLS["one turn, two points"], title)] == [b"\x89PNG"] * 3


def test_cumulated_counts_clusters_by_their_earliest_member() -> None:
    cell = make_cell(2, 2, 1)
    judged = cell.judged.with_columns(
        cluster_id=pl.Series([0, 1, 0, 3]),
        representative=pl.Series([2, 1, 2, 3]),  # the centre of the first cluster arrived in turn 2
        unique=pl.Series([False, True, True, True]),
        valid=pl.Series([False, None, True, False]),
    )
    found = cumulated(cell.turns, cell.atoms, judged)
    assert found.select("turn", "raw", "unique", "valid").rows() == [(0, 0, 0, 0), (1, 2, 2, 1), (2, 4, 3, 1)]
    parts = ("tokens_generation_in", "tokens_generation_out", "tokens_embedding")
    assert found["tokens"][-1] == sum(int(cell.turns[part].sum()) for part in parts)


def test_unknown_tokens_are_not_zero() -> None:
    cell = make_cell(3)
    turns = cell.turns.with_columns(
        tokens_generation_in=pl.when(pl.col("turn") != 2).then(pl.col("tokens_generation_in"))
    )
    assert cumulated(turns, cell.atoms, cell.judged)["tokens"].is_null().to_list() == [False, False, True, True]
    (ax,) = yield_curve(turns, cell.atoms, cell.judged, RULES, "saturated").axes
    assert ax.get_xlabel().startswith("turn")


def test_cumulated_ends_at_the_metrics() -> None:
    for cell in CELLS.values():
        last = cumulated(cell.turns, cell.atoms, cell.judged).row(-1, named=True)
        assert {name: last[name] for name in ("raw", "unique", "valid")} == {
            name: cell.metrics[name] for name in ("raw", "unique", "valid")
        }
