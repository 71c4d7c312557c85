import re
import time
from dataclasses import replace
from html.parser import HTMLParser

from src.figures.captions import percent
from src.figures.cell_lines import FEW, CellLine, cell_table
from src.figures.finding import Source
from src.figures.report import FIRST, MOST, Basis, Section, html, markdown
from tests.synthetic_cell import make_cell

BASIS = Basis("data/cells", (), (), "data/ledger/ledger.db", 0, "0" * 64, ())
METRICS = make_cell(2, 4, 4, "saturated").metrics
FACTS = {
    "name": "series",
    "question": "Is the order of the models stable?",
    "reference": "arXiv 2602.00959",
    "verdict": ["The order is kept in 3 of 3 domains."],
    "cautions": [],
    "captions": {"order": "Ranks; n = 3 domains."},
    "definitions": {"W": "Kendall's coefficient of concordance"},
    "missing": [],
}
VOID = {"meta", "img", "wbr"}


def line(model: str, domain: str = "physics", stop: str = "saturated", **other: object) -> CellLine:
    key = f"{model}-{domain}".encode().hex().ljust(64, "0")[:64]
    source = Source(model, "taxonomy_l5w5", domain, "llm", "real", stop, key, f"data/cells/{model}")
    metrics = {**METRICS, "stop_reason": stop}
    return replace(CellLine(source, f"about {domain}", {"prompts": "default", "seed": "0"}, metrics), **other)


def section(cells: list[CellLine], **other: object) -> Section:
    given = {
        **{"kind": "studies", "place": "studies/series", "facts": FACTS, "sources": [cell.source for cell in cells]},
        **{"sheets": {}, "pictures": {}, "numbers": 3},
    }
    return Section(**{**given, **other})


class Balance(HTMLParser):
    """Reads a page, refusing a tag that does not close the one opened last."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        named = dict(attrs)
        self.ids += [named["id"]] if "id" in named else []
        if tag == "a" and named["href"].startswith("#"):
            self.targets.append(named["href"][1:])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def large() -> tuple[list[CellLine], list[Section]]:
    cells = [line(f"model_{i}", f"domain_{j}") for j in range(10) for i in range(50)]
    sheet = [["model", "share", "share_low", "share_high"], *([f"m{i}", ".5", ".4", ".6"] for i in range(12_250))]
    one = section(cells, sheets={"pairs": sheet, "models": sheet[:51]}, pictures={"order": bytes(200_000)})
    return cells, [replace(one, place=f"studies/s{i}", facts={**FACTS, "name": f"s{i}"}) for i in range(7)]


def test_every_link_leads_somewhere_and_every_tag_is_closed() -> None:
    cells = [line("a"), line("b", stop="budget")]
    sections = [section(cells), section(cells[:1], kind="calibration", place="calibration/series")]
    page = Balance()
    page.feed(html(cells, sections, BASIS))
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.targets) <= set(page.ids)
    assert {"verdicts", "studies-series", "calibration-series", "basis", cells[0].anchor} <= set(page.targets)


def test_a_validation_is_a_section_that_says_simulated_and_rests_on_no_cell() -> None:
    cells = [line("a")]
    facts = {**FACTS, "name": "estimators", "cautions": ["Simulated: made up."]}
    tried = section([], kind="validation", place="validation/estimators", facts=facts)
    for written in (html(cells, [tried], BASIS), markdown(cells, [tried], BASIS)):
        assert "1 validation" in written
        assert written.index("Validation of the estimators, simulated") < written.index("Simulated: made up.")
        assert "ests on simulated models alone" in written
        assert "No study was run." in written
    assert "estimators** (simulated)" in markdown(cells, [tried], BASIS)
    assert "python -m src.validate" in html(cells, [section(cells)], BASIS)


def test_nothing_is_loaded_and_nothing_runs() -> None:
    cells = [line("a")]
    page = html(cells, [section(cells, pictures={"order": b"png"})], BASIS)
    assert re.findall(r'src="(\w+:)', page) == ["data:"]
    assert not re.search(r"https?://|@import|url\(|<script|<link|\bon\w+=", page)
    assert "default-src 'none'" in page


def test_cautions_come_first_then_verdicts_then_numbers() -> None:
    cells = [line("a", stop="budget"), line("b")]
    for written in (html(cells, [section(cells)], BASIS), markdown(cells, [section(cells)], BASIS)):
        texts = ("Cut short", "Not calibrated", "3 of 3 domains", percent(METRICS["accuracy"]), "Kendall")
        places = [written.index(text) for text in texts]
        assert places == sorted(places)
        assert "1 cell cut short" in written


def test_fifty_models_in_ten_domains_stay_quick_and_small() -> None:
    cells, sections = large()
    began = time.process_time()
    page, text = html(cells, sections, BASIS), markdown(cells, sections, BASIS)
    assert time.process_time() - began < 10
    assert len(page) < 20_000_000
    assert len(text) < 1_000_000
    assert page.count("<details><summary>domain_") == 10
    assert page.count(f"<summary>first {MOST} of 12,250 rows</summary>") == 7
    assert page.count("<summary>all 50 rows</summary>") == 7
    assert text.count(f"first {FIRST} of 12,250 rows: [pairs.csv](studies/s") == 7


def test_cells_are_one_table_until_there_are_many() -> None:
    few = cell_table([line(f"m{i}") for i in range(FEW)])
    assert [len(fold.grid.rows) for fold in few.folds] == [FEW]
    assert "domain" in few.folds[0].grid.columns
    many = cell_table([line(f"m{i}", domain) for domain in ("art", "law") for i in range(FEW)])
    assert [len(fold.grid.rows) for fold in many.folds] == [FEW, FEW]
    valid = METRICS["valid"]
    assert many.folds[1].summary.startswith(f"law: 25 cells; valid {valid} to {valid}, median {valid}; accuracy ")
    assert "domain" not in many.folds[0].grid.columns


def test_a_cell_shows_its_numbers_or_why_there_are_none() -> None:
    lacking = {**METRICS, "accuracy_leaf_low": None, "accuracy_leaf_low_reason": "1 branch", "tokens_nominal": None}
    table = cell_table([line("a"), line("b", metrics=lacking), line("c", settings={"prompts": "other", "seed": "0"})])
    rows = [dict(zip(table.folds[0].grid.columns, row, strict=True)) for row in table.folds[0].grid.rows]
    assert table.common == "seed 0"
    assert [row["prompts"] for row in rows] == ["default", "default", "other"]
    assert rows[0]["raw"] == str(METRICS["raw"])
    assert rows[0]["n"] == str(METRICS["valid"] + METRICS["invalid"])
    assert rows[0]["accuracy"] == f"{100 * METRICS['accuracy']:.1f} %"
    assert rows[0]["95 % plain"] == f"{100 * METRICS['accuracy_low']:.1f}–{100 * METRICS['accuracy_high']:.1f} %"
    assert (rows[1]["95 % leaf"], rows[1]["tokens"]) == ("none¹", "none²")
    assert table.notes == ("¹ 1 branch", "² not computed")


def test_code_in_a_sentence_is_set_apart_in_both() -> None:
    facts = {**FACTS, "missing": ["b in law: run `python -m src.run domain=law`; <i> and *stars* and a lone ` tick"]}
    cells = [line("a")]
    page, text = (write(cells, [section(cells, facts=facts)], BASIS) for write in (html, markdown))
    assert "run <code>python -m src.run domain=law</code>; &lt;i&gt; and *stars* and a lone ` tick" in page
    assert r"run `python -m src.run domain=law`; &lt;i&gt; and \*stars\* and a lone \` tick" in text


def test_no_line_of_markdown_begins_what_a_text_did_not_mean() -> None:
    cells = [line("a")]
    odd = ["- not a list", "2. no item", "# no heading", "==", "a\n\n# b", "-0.5 is a number", "1.5 too"]
    text = markdown(cells, [section(cells, facts={**FACTS, "verdict": odd})], BASIS)
    for shown in (r"\- not", r"2\. no", r"\# no", r"\==", r"a \# b", "-0.5 is", "1.5 too"):
        assert f"\n- {shown}" in text
