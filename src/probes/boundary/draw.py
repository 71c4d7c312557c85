"""What a boundary cell looks like: figures, the page of its atoms, the curves of its turns; pure."""

from __future__ import annotations

from src.dedup.settings import Dedup
from src.figures.atoms_page import atoms_page
from src.figures.boundary import cosines, curves, saturation, yield_curve
from src.figures.captions import Title
from src.figures.drawings import Drawings
from src.figures.reach import reach_curve
from src.records import Metrics, Tables
from src.saturation import Saturation


def draw(
    extracted: Tables, processed: Tables, metrics: Metrics, title: Title, *, limits: Saturation, dedup: Dedup
) -> Drawings:
    """Draw a cell from its tables and metrics."""
    turns, atoms, judged = extracted["turns"], extracted["atoms"], processed["atoms"]
    stop = str(metrics["stop_reason"])
    estimated = metrics.get("chao2") is not None
    return Drawings(
        figures={
            "saturation": saturation(
                turns, title, stop, growth=limits.growth, efficiency=limits.efficiency, points=limits.points
            ),
            "cosines": cosines(atoms, judged, title, strict=dedup.strict, fuzzy=dedup.fuzzy),
            "yield": yield_curve(turns, atoms, judged, title, stop),
            **({"reach": reach_curve(processed["repeats"], title, metrics)} if estimated else {}),
        },
        pages={"atoms.html": atoms_page(atoms, judged, title, metrics)},
        curves=curves(turns, atoms, judged),
    )
