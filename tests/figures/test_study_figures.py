"""What the studies of yields, losses and sensitivity draw: words, marks, and nothing that leaves the page."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from src.figures.canvas import png, svg
from src.studies.filtering import Filtering
from src.studies.pareto import Pareto
from src.studies.sensitivity import Sensitivity
from tests.synthetic_known import make_known, make_measured

STRATEGIES = {
    "sequential": (3, 1), "reflective": (4, 1), "taxonomy_l2w2": (3, 4), "taxonomy_l3w3": (3, 9),
    "taxonomy_l5w5": (3, 25), "personas_n3": (4, 3), "personas_n10": (3, 10), "personas_n20": (3, 20),
}  # fmt: skip
PARETO = Pareto("pareto", "?", None, tuple(STRATEGIES), None, "taxonomy_l2w2")
FILTERING = Filtering("filtering", "?", None, None, None)
SENSITIVITY = Sensitivity("sensitivity", "?", None, None, None, {"default": "synonyms"})


def cell(model: str, strategy: str, domain: str = "deep_learning", **changes: Any) -> Any:
    turns, leaves = STRATEGIES[strategy]
    return make_measured(model, strategy, domain, turns=turns, leaves=leaves, **{"per_leaf": 4, **changes})


ONE = [cell("smollm2_135m", "taxonomy_l2w2")]
EIGHT = [cell("llama8b", strategy, domain) for strategy in STRATEGIES for domain in ("deep_learning", "ml_systems")]


def many() -> list[Any]:
    return [
        make_measured(f"model_with_a_long_name_{i:02d}", strategy, turns=2, per_leaf=3, leaves=leaves)
        for i in range(26)
        for strategy, leaves in (("taxonomy_l2w2", 4), ("personas_n3", 3))
    ]


def drawn(cells: list[Any]) -> Iterator[Figure]:
    known = make_known(cells, [cell("smollm2_135m", "taxonomy_l2w2", prompts="synonyms")], unions=len(cells) < 20)
    for study in (PARETO, FILTERING, SENSITIVITY):
        yield from study.run(known).figures.values()


def box(text: Text) -> Any:
    """Where a text stands, without the arrow that it may have."""
    return Text.get_window_extent(text)


@pytest.mark.parametrize("cells", [ONE, EIGHT, many()], ids=["one cell", "eight strategies", "26 models"])
def test_no_word_leaves_the_page_and_rows_do_not_overlap(cells: list[Any]) -> None:
    for figure in drawn(cells):
        assert png(figure).startswith(b"\x89PNG")
        words = [*figure.texts]
        for ax in figure.axes:
            rows = [label for label in ax.get_yticklabels() if len(label.get_text()) > 6]  # names, no numbers
            words += [*ax.texts, *rows, *(ax.get_legend().get_texts() if ax.get_legend() else [])]
            boxes = sorted((box(label) for label in rows), key=lambda place: place.y0)
            assert all(below.y1 <= above.y0 + 1 for below, above in pairwise(boxes))
        for text in words:
            place = box(text)
            assert place.x0 >= -1, text.get_text()
            assert place.y0 >= -1, text.get_text()
            assert place.x1 <= figure.bbox.x1 + 1, text.get_text()
            assert place.y1 <= figure.bbox.y1 + 1, text.get_text()


def test_names_of_strategies_do_not_overlap() -> None:
    (figure,) = PARETO.run(make_known(EIGHT, unions=False)).figures.values()
    png(figure)
    (ax,) = figure.axes
    boxes = sorted((box(text) for text in ax.texts), key=lambda place: place.y0)
    assert len(boxes) == 8
    assert all(below.y1 <= above.y0 + 2 for below, above in pairwise(boxes))


def test_every_figure_says_n_and_who_judged() -> None:
    for figure in drawn(EIGHT):
        said = "\n".join(text.get_text() for text in figure.texts)
        assert "n = " in said
        assert "judged by the simulator's own truth" in said


def test_a_run_cut_short_carries_a_star() -> None:
    cells = [cell("small", "taxonomy_l2w2"), cell("small", "sequential", stop="budget")]
    (figure,) = PARETO.run(make_known(cells, unions=False)).figures.values()
    names = [text.get_text() for text in figure.axes[0].texts]
    assert [name.endswith("*") for name in sorted(names)] == [True, False]


def test_the_bars_add_up_to_all_raw_points() -> None:
    (figure,) = FILTERING.run(make_known(EIGHT, unions=False)).figures.values()
    left = figure.axes[0]
    widths = pl.Series([bar.get_width() for bars in left.containers for bar in bars]).sum()
    assert widths == pytest.approx(8.0)


def test_model_text_is_no_mathematics() -> None:
    cells = [
        make_measured("a$b_{$c", strategy, leaves=leaves) for strategy, leaves in (("taxonomy_l2w2", 4), ("x$_1$", 1))
    ]
    study = Pareto("pareto", "?", None, ("taxonomy_l2w2", "x$_1$"), None, "taxonomy_l2w2")
    for asked in (study, FILTERING, SENSITIVITY):
        for figure in asked.run(make_known(cells, unions=False)).figures.values():
            assert png(figure).startswith(b"\x89PNG")
            assert b"<svg" in svg(figure)
