"""A blind sheet tells nothing that its texts do not tell: proven on the bytes, whatever the key says."""

import csv
import io
import re

import polars as pl
import pytest

from src.calibration.questions import QUESTIONS
from src.calibration.sample import draw_sample
from src.calibration.sheet import LETTERS, SHOWN, sheet_csv, sheet_items
from src.figures.annotate import annotate_page
from src.text.formulas import STARTS, restored
from tests.synthetic_sample import make_checked

QUESTION = QUESTIONS["audit"]
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def sheets(units: pl.DataFrame, seed: int = 0) -> tuple[str, str]:
    items = sheet_items(units, seed)
    labels = [(label.name, label.meaning) for label in QUESTION.labels]
    return sheet_csv(items, QUESTION), annotate_page(items, QUESTION.ask, labels, QUESTION.texts, STARTS)


def test_a_sheet_is_the_same_whatever_model_verdict_strategy_and_turn_its_texts_come_from():
    """Every column of the key but the texts is shuffled; were anything of it on the sheet, a byte would differ."""
    cells = [make_checked("llama8b", 40, 40), make_checked("gpt4o", 40, 40, domain="ml_systems")]
    units = draw_sample(cells, "audit", 80, 0).units
    expected = sheets(units)
    for seed in range(5):
        shuffled = units.with_columns(
            pl.col(name).shuffle(seed=seed + place) for place, name in enumerate(units.columns) if name not in SHOWN
        )
        assert not shuffled.equals(units)
        assert sheets(shuffled) == expected, "the order, the names or the padding depend on the key"
        assert sheets(units.sample(fraction=1, shuffle=True, seed=seed)) == expected, "so does the order of the key"
        assert sheets(units.select(SHOWN)) == expected


def test_neither_order_nor_names_of_items_go_with_the_verdict():
    cells = [make_checked("m", 400, 400)]
    sample = draw_sample(cells, "audit", 800, 0)
    items = sheet_items(sample.units, 0).with_row_index()
    rated = items.join(sample.units, on=SHOWN).join(sample.strata, on="stratum")
    ranks = rated.group_by("verdict").agg(pl.col("index").mean())["index"].to_list()
    assert abs(ranks[0] - ranks[1]) < 3 * (800**2 / 12 * 2 / 400) ** 0.5
    assert items["item"].str.len_chars().n_unique() == 1
    assert [int(item[-3:]) for item in items["item"]] == list(range(1, 801))


def test_names_in_a_key_are_on_no_sheet():
    cells = [make_checked("gpt4o", 20, 20, judge="deepseek_v31", kind="llm")]
    sample = draw_sample(cells, "audit", 20, 0)
    units = sample.units.with_columns(first=pl.format("Dropout {} zeroes units.", "a"))
    for text in sheets(units):
        for word in ("gpt4o", "taxonomy", "deepseek", "llm", cells[0].key[:8], "data/cells", "saturated"):
            assert word not in text, word


def test_a_text_of_several_models_is_shown_once():
    units = pl.DataFrame({"query": ["q"] * 3, "first": ["Same.", "Other.", "Same."], "second": [""] * 3})
    assert sheet_items(units, 0)["first"].sort().to_list() == ["Other.", "Same."]


def test_another_seed_or_sheet_has_other_names():
    units = pl.DataFrame({"query": ["q"] * 9, "first": [f"Text {i}." for i in range(9)], "second": [""] * 9})
    tags = {sheet_items(units, seed)["item"][0][:5] for seed in range(20)}
    tags |= {sheet_items(units.head(count), 0)["item"][0][:5] for count in range(1, 9)}
    assert len(tags) == 28
    assert all(re.fullmatch(f"[{LETTERS}]{{5}}", tag) for tag in tags)


@pytest.mark.parametrize(
    "text", ["=1+1", "+4 dB", "-5 °C", "@home", "\tx", "\rx", "'=x", 'say "hi", twice', "a\nb", "苯"]
)
def test_a_cell_that_looks_like_a_formula_is_neutralised_and_restored(text):
    units = pl.DataFrame({"query": ["q"], "first": [text], "second": [""]})
    written = sheet_csv(sheet_items(units, 0), QUESTION)
    assert written.startswith("\ufeffitem,domain,statement,label,comment\r\n")
    (_, row) = csv.reader(io.StringIO(written, newline=""))
    assert row[2][0] not in STARTS
    assert restored(row[2]) == text


def test_script_tags_in_a_text_stay_text_on_the_page():
    units = pl.DataFrame({"query": ["q"], "first": [HOSTILE], "second": [""]})
    _, page = sheets(units)
    assert HOSTILE not in page
    assert "<img" not in page
    assert page.count("<script") == page.count("</script>") == 2
    assert "\\u003c/script\\u003e" in page


def test_the_page_reaches_no_network_and_runs_its_own_script_alone():
    _, page = sheets(pl.DataFrame({"query": ["q"], "first": ["x"], "second": [""]}))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert "default-src 'none'" in policy[1]
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}'", policy[1])
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", page)


def test_the_page_of_pairs_shows_two_texts_and_its_own_labels():
    question = QUESTIONS["pairs"]
    units = pl.DataFrame({"query": ["q"], "first": ["A."], "second": ["B."]})
    labels = [(label.name, label.meaning) for label in question.labels]
    page = annotate_page(sheet_items(units, 0), question.ask, labels, question.texts, STARTS)
    assert page.count("<blockquote") == 2
    assert all(f"</kbd>{name}</button>" in page for name in ("same", "distinct", "unsure"))
    assert (
        sheet_csv(sheet_items(units, 0), question)
        .splitlines()[0]
        .endswith("item,domain,first statement,second statement,label,comment")
    )
