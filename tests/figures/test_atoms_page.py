import re
from dataclasses import replace

import polars as pl

from src.figures.atoms_page import COLUMNS, atoms_page
from tests.synthetic_cell import RULES, make_cell


def body_rows(page: str) -> list[str]:
    return re.findall(r"<tr.*?</tr>", page.split("<tbody>")[1].split("</tbody>")[0], flags=re.DOTALL)


def test_every_point_is_there_with_all_columns() -> None:
    cell = make_cell()
    rows = body_rows(atoms_page(cell.atoms, cell.judged, RULES, cell.metrics))
    assert len(rows) == cell.atoms.height
    assert {row.count("<td") for row in rows} == {len(COLUMNS)}
    merged = cell.judged.filter(~pl.col("unique"))
    assert sum('class="merged"' in row for row in rows) == merged.height
    assert f">{merged['representative'][0]}</td>" in rows[merged["atom_id"][0]]


def test_model_text_is_data() -> None:
    cell = make_cell(1, 2, 1)
    evil = '</td><script>alert("x")</script>{{ title }} & "quoted"'
    atoms = cell.atoms.with_columns(text=pl.lit(evil), context=pl.lit(evil), branch=pl.lit(evil))
    page = atoms_page(atoms, cell.judged, replace(RULES, domain="<b>d</b>"), cell.metrics)
    assert page.count("<script>") == 1
    assert "alert(&#34;x&#34;)" in page
    assert "{{ title }}" in page
    assert "<b>d</b>" not in page


def test_unparsed_is_not_invalid() -> None:
    cell = make_cell(1, 3, 1)
    judged = cell.judged.with_columns(valid=pl.Series([True, False, None]))
    rows = body_rows(atoms_page(cell.atoms, judged, RULES, cell.metrics))
    verdicts = [re.search(r'<td class="(yes|no|unparsed)">(\w+)<', row).group(1, 2) for row in rows]
    assert verdicts == [("yes", "yes"), ("no", "no"), ("unparsed", "unparsed")]


def test_cautions_come_before_the_points_and_nothing_is_loaded() -> None:
    cell = make_cell(0, stop="budget")
    page = atoms_page(cell.atoms, cell.judged, replace(RULES, subject="simulated"), cell.metrics)
    head = page.split("<table>")[0]
    assert head.index("Simulated") < head.index("form checked, not truth") < head.index("Stopped early (budget)")
    assert "0 points" in head
    assert not re.search(r"(src|href)=|https?://|@import", page)
