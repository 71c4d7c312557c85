import re

import polars as pl

from src.figures.canvas import png
from src.figures.categories import draw
from src.figures.questions_page import questions_page
from src.probes.categories.metrics import by_kind
from tests.synthetic_answers import answered_cell


def drawn(*classes, kinds=("city",), **metrics):
    cell = answered_cell(classes, kinds)
    by = by_kind(cell.processed["questions"])
    return draw(cell.extracted, cell.processed, by, {**cell.metrics, **metrics}, cell.title)


def words(figure):
    return [text.get_text() for ax in figure.axes for text in (*ax.texts, ax.title, ax._left_title)]


def test_a_cell_is_drawn_with_its_numbers() -> None:
    drawings = drawn("HK", "HK", "MK", "CU")
    assert drawings.figures.keys() == {"categories"}
    assert drawings.pages.keys() == {"questions.html"}
    assert drawings.curves.schema == {"turn": pl.Int64}
    said = words(drawings.figures["categories"])
    assert any(text.startswith("50.0 % [6.8, 93.2]") for text in said)
    assert any(text.startswith("accuracy 75.0 % [19.4, 99.4], category score 4.50") for text in said)


def test_kinds_have_a_figure_of_their_own_the_best_on_top() -> None:
    drawings = drawn(*["CU", "HK"] * 5, kinds=("hard", "easy"))
    (ax,) = drawings.figures["kinds"].axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["easy", "hard"]
    assert "5 of 5: 100.0 % [48, 100]" in words(drawings.figures["kinds"])


def test_what_is_true_of_a_simulated_model_is_marked() -> None:
    caption = "expected shares of this simulated model"
    plain, true = drawn("HK", "CU"), drawn("HK", "CU", truth_share_HK=0.4)
    assert not any(caption in text.get_text() for text in plain.figures["categories"].texts)
    assert any(caption in text.get_text() for text in true.figures["categories"].texts)


def test_a_cell_without_a_whole_question_is_drawn_too() -> None:
    drawings = drawn(None)
    assert words(drawings.figures["categories"]).count("none") == 6
    assert png(drawings.figures["categories"]) == png(drawn(None).figures["categories"])


def test_the_page_has_every_question_with_distinct_answers_counted_and_escaped() -> None:
    cell = answered_cell(["WK", None])
    answers = cell.processed["answers"].with_columns(pl.col("answer").replace("Rome", "<b>Rome</b>"))
    page = questions_page(cell.extracted["questions"], {**cell.processed, "answers": answers}, cell.title, cell.metrics)
    rows = re.findall(r"<tr>\n(.*?)</tr>", page, re.DOTALL)[1:]
    assert len(rows) == 2
    assert "<b>" not in page
    assert "&lt;b&gt;Rome" in rows[0]
    samples = rows[0].split("</td>")[-2]
    assert re.findall(r"[✓✗] [^<]*</span> <span class=\"times\">×&nbsp;\d", samples) == [
        '✗ &lt;b&gt;Rome&lt;/b&gt;</span> <span class="times">×&nbsp;5',
        '✓ Paris</span> <span class="times">×&nbsp;1',
    ]
    assert ">incomplete</td>" in rows[1]
    assert '<span class="none">missing</span>' in rows[1]
    assert "Paname" in rows[0]
    assert "2 questions" in page
