"""The report as a command: from folders of cells and findings to two files."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest
from conftest import CONF
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

from src.cells import find_cells
from src.errors import ConfigError, DataMissing
from src.identity import key_of
from src.report import answer_keys, report
from src.schemas import CALLS
from src.store import write_finding, write_phase, write_union
from tests.synthetic_answers import answered_cell
from tests.synthetic_cell import make_cell

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010800000000"
    "3a7e9b550000000a49444154789c63680000008200817728d36500000000"
    "49454e44ae426082"
)
EVIL = "<script>alert('x')</script> | **bold** {{ title }}"


def config(model: str, **other: object) -> dict[str, object]:
    """What a cell folder stores, as far as the report reads it."""
    return {
        "probe": "boundary",
        "model": {"_target_": "src.llm.recorded.Recorded", "name": model},
        "strategy": {"name": "recorded"},
        "domain": {"name": "deep_learning", "query": "deep learning"},
        "judge": {"kind": "rules", "name": "rules"},
        "prompts": {"name": "default"},
        "seed": 0,
        **other,
    }


def write_cell(cells: Path, model: str, keys: tuple[str, ...] = (), stop: str = "recorded", **other: object) -> str:
    """A finished cell; returns its cell_key."""
    values = config(model, **other)
    cell = make_cell(2, 4, 4, stop)
    calls = pl.DataFrame([{"key": key, "role": "subject"} for key in keys], schema=CALLS) if keys else CALLS.to_frame()
    folder = cells / "boundary" / str(values["domain"]["name"]) / f"{model}-{key_of(values)[:8]}"
    write_phase(folder, "extract", values, {**cell.extracted, "calls": calls})
    write_phase(folder, "process", values, cell.processed, cell.metrics)
    return key_of(values)


def write_study(reports: Path, name: str, keys: Mapping[str, str], kind: str = "studies", **other: object) -> None:
    """A finding that rests on cells: model → cell_key."""
    facts = {
        "name": name,
        "question": "Who knows more?",
        "reference": "arXiv 2602.00959, section 4",
        "verdict": [f"{name}: a knows more than b by .10 [.02, .18] of n = 20 clusters.", "A second sentence."],
        "cautions": ["Judge rules: form checked, not truth (2 of 2 cells)."],
        "captions": {"recall": "Bars are 95 % intervals, n = 20."},
        "definitions": {"recall_match": "share of clusters with a valid point of the model"},
        "missing": [],
        "sources": [
            {
                **{"model": model, "strategy": "recorded", "domain": "deep_learning", "judge": "rules"},
                **{"subject": "recorded", "stop_reason": "recorded", "cell_key": key, "folder": "x"},
            }
            for model, key in keys.items()
        ],
        **other,
    }
    table = pl.DataFrame({"model": ["a", "b"], "recall": [0.5, None], "recall_reason": ["", "no cluster"]})
    write_finding(
        reports / kind / name,
        facts,
        {"recall_a": 0.5, "recall_b": None, "recall_b_reason": "no cluster"},
        {"models": table},
        {"recall.png": PIXEL, "recall.svg": b"<svg/>"},
    )


@pytest.fixture
def configured(tmp_path: Path) -> Callable[..., DictConfig]:
    def make(*overrides: str) -> DictConfig:
        with initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
            places = (f"cells={tmp_path / 'cells'}", f"reports={tmp_path / 'reports'}")
            return compose("report", [*places, *overrides])

    return make


def test_everything_there_is_is_in_both_files(tmp_path: Path, configured: Callable[..., DictConfig]) -> None:
    keys = {model: write_cell(tmp_path / "cells", model) for model in ("a", "b")}
    write_study(tmp_path / "reports", "series", keys)
    write_study(tmp_path / "reports", "first", keys, "calibration")
    page = report(configured())
    text = page.read_text(), page.with_suffix(".md").read_text()
    for written in text:
        assert written.index("series: a knows more") < written.index("Bars are 95 %")
        assert written.index("form checked, not truth") < written.index("series: a knows more")
        assert "studies/series/models.csv" in written
        assert "calibration/first/metrics.json" in written
        assert "share of clusters with a valid point" in written
        assert "none¹" in written
        assert "¹ no cluster" in written
        assert all(key in written for key in keys.values())
        assert "Not calibrated" not in written
    assert "data:image/png;base64," in text[0]
    assert (page.parent / re.search(r"!\[recall\]\((.*?)\)", text[1])[1]).read_bytes() == PIXEL


def test_the_same_cells_and_findings_give_the_same_bytes(tmp_path: Path, configured: Callable[..., DictConfig]) -> None:
    written = []
    for order in (("a", "b", "c"), ("c", "a", "b")):
        shutil.rmtree(tmp_path / "cells", ignore_errors=True)
        shutil.rmtree(tmp_path / "reports", ignore_errors=True)
        keys = {model: write_cell(tmp_path / "cells", model, (f"key of {model}",)) for model in order}
        for name in reversed(order):
            write_study(tmp_path / "reports", name, dict(sorted(keys.items())))
        page = report(configured())
        written.append((page.read_bytes(), page.with_suffix(".md").read_bytes()))
    assert written[0] == written[1]


def test_the_ledger_is_named_and_its_answers_have_one_fingerprint(
    tmp_path: Path, configured: Callable[..., DictConfig]
) -> None:
    write_cell(tmp_path / "cells", "a", ("k2", "k1", "k2"))
    write_cell(tmp_path / "cells", "b", ("k1", "k3"))
    tables = [table for cell in find_cells(tmp_path / "cells", tmp_path).cells for table in (cell.extracted["calls"],)]
    assert answer_keys(tables) == ["k1", "k2", "k3"]
    page = report(configured("ledger.path=somewhere/else.db")).read_text()
    assert "somewhere/else.db" in page
    assert "3 distinct answers" in page
    assert sha256(b"k1\nk2\nk3").hexdigest() in page


def test_a_finding_made_of_other_cells_is_said_to_be(tmp_path: Path, configured: Callable[..., DictConfig]) -> None:
    key = write_cell(tmp_path / "cells", "a")
    write_study(tmp_path / "reports", "series", {"a": key, "b": "0" * 64})
    write_study(tmp_path / "reports", "scaling", {"a": key})
    page = report(configured()).read_text()
    head, verdicts = page.split("</header>")
    assert f"Made of cells that are not in {tmp_path / 'cells'}: series; run it again" in head
    assert verdicts.count('<span class="mark">1 cell not here</span>') == 2  # beside its verdict and its section
    assert "b (not among these cells)" in page
    assert f'<a href="#cell-{key[:16]}">a</a>' in page


def test_cells_of_questions_have_a_table_of_their_own_and_are_enough(
    tmp_path: Path, configured: Callable[..., DictConfig]
) -> None:
    cell = answered_cell(["HK", "HK", "CU", None])
    folder = tmp_path / "cells" / "categories" / "capitals" / "alpha"
    write_phase(folder, "extract", cell.config, cell.extracted)
    write_phase(folder, "process", cell.config, cell.processed, cell.metrics)
    write_study(tmp_path / "reports", "categories", {"alpha": cell.key})
    page = report(configured())
    for written in (page.read_text(), page.with_suffix(".md").read_text()):
        assert "asked the questions of one data set" in written
        assert "about one domain by one strategy" not in written
        assert "66.7" in written
        assert "not among these cells" not in written
    (numbers,) = (tmp_path / "reports" / "cells").glob("*.json")
    assert json.loads(numbers.read_text())["share_HK"] == pytest.approx(2 / 3)
    write_cell(tmp_path / "cells", "a")
    assert "about one domain by one strategy" in report(configured()).read_text()


def test_no_finding_is_no_failure_and_names_what_was_not_run(
    tmp_path: Path, configured: Callable[..., DictConfig]
) -> None:
    write_cell(tmp_path / "cells", "a")
    page = report(configured())
    for written in (page.read_text(), page.with_suffix(".md").read_text()):
        assert "No study was run" in written
        assert "No judge was calibrated" in written
        assert "Not calibrated" in written
    write_study(tmp_path / "reports", "not_an_option", {})
    studies = ", ".join(sorted(path.stem for path in (CONF / "study").glob("*.yaml")))
    assert f"Not run: {studies}." in report(configured()).read_text()


def test_a_finding_without_verdict_tables_or_figures_is_shown(
    tmp_path: Path, configured: Callable[..., DictConfig]
) -> None:
    write_cell(tmp_path / "cells", "a")
    write_study(tmp_path / "reports", "series", {}, verdict=[], captions={}, definitions={}, missing=["model b"])
    for path in (tmp_path / "reports/studies/series").glob("[!fm]*"):
        path.unlink()
    pl.DataFrame().write_csv(tmp_path / "reports/studies/series/nothing.csv")
    page = report(configured()).read_text()
    assert page.count("No verdict.") == 2
    assert "<li>model b</li>" in page
    assert "<img" not in page


def test_unfinished_cells_and_unions_are_listed(tmp_path: Path, configured: Callable[..., DictConfig]) -> None:
    key = write_cell(tmp_path / "cells", "a", stop="budget")
    write_phase(tmp_path / "cells/boundary/deep_learning/half", "extract", config("b"), make_cell(1).extracted)
    metrics = {"models": 1, "clusters": 12, "smallest_cosine": None, "smallest_cosine_reason": "no two texts"}
    (cell,) = find_cells(tmp_path / "cells", tmp_path).cells
    assert cell.key == key
    for strategy, held in (("recorded", cell.content), ("other", "0" * 64)):
        made = {"domain": "deep_learning", "strategy": strategy, "cells": {"a": key}, "contents": {"a": held}}
        write_union(tmp_path / "cells/union/deep_learning" / strategy, made, {"calls": CALLS.to_frame()}, metrics)
    page = report(configured()).read_text()
    head, basis = page.split("</header>")[0], page.split('id="basis"')[1]
    assert "Cut short, so their counts are lower bounds: a/recorded/deep_learning" in head
    assert "Left out: 1 folder" in head
    assert "boundary/deep_learning/half is not finished" in basis
    assert re.findall(r"<td>(yes|no: run it again)</td>", basis) == ["no: run it again", "yes"]
    assert "¹ no two texts" in basis


def test_settings_that_differ_become_columns_and_the_others_are_said_once(
    tmp_path: Path, configured: Callable[..., DictConfig]
) -> None:
    write_cell(tmp_path / "cells", "a")
    write_cell(tmp_path / "cells", "a", prompts={"name": "synonyms"})
    page = report(configured()).read_text()
    assert "In all of them: seed 0, judge model rules." in page
    assert "<th>prompts</th>" in page
    assert page.index("<td>default</td>") != page.index("<td>synonyms</td>")


def test_text_of_models_and_files_never_becomes_markup(tmp_path: Path, configured: Callable[..., DictConfig]) -> None:
    key = write_cell(tmp_path / "cells", "a", domain={"name": "odd", "query": EVIL})
    write_study(
        tmp_path / "reports",
        "series",
        {EVIL: key},
        **dict.fromkeys(("question", "reference"), EVIL),
        **{name: [EVIL] for name in ("verdict", "cautions", "missing")},
        **{name: {"recall": EVIL, EVIL: EVIL} for name in ("captions", "definitions")},
    )
    pl.DataFrame({"model": [EVIL], EVIL: ["=1+1"]}).write_csv(tmp_path / "reports/studies/series/models.csv")
    page = report(configured())
    written, notes = page.read_text(), page.with_suffix(".md").read_text()
    assert "<script" not in written + notes
    assert "{{ title }}" in written
    assert "&lt;script&gt;alert(&#39;x&#39;)" in written
    assert r"&lt;script&gt;alert('x')&lt;/script&gt; \| \*\*bold\*\*" in notes
    assert "**bold**" not in notes


def test_what_is_wrong_is_one_sentence(tmp_path: Path, configured: Callable[..., DictConfig]) -> None:
    with pytest.raises(DataMissing, match="holds no finished cell"):
        report(configured())
    write_cell(tmp_path / "cells", "a")
    with pytest.raises(ConfigError, match="cells"):
        report(configured("cells=''"))
    write_study(tmp_path / "reports", "series", {})
    path = tmp_path / "reports/studies/series/finding.json"
    path.write_text(json.dumps({key: value for key, value in json.loads(path.read_text()).items() if key != "verdict"}))
    with pytest.raises(DataMissing, match=r"finding.json lacks verdict: make the finding series again"):
        report(configured())
    shutil.rmtree(tmp_path / "reports")
    (tmp_path / "reports").write_text("a file")
    with pytest.raises(ConfigError, match="set reports to a folder you may write"):
        report(configured())


def test_the_command_says_where_the_report_is_or_why_there_is_none(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "src.report", f"reports={tmp_path}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=CONF.parent)

    failed = run(f"cells={tmp_path}")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr.startswith("error: ")
    write_cell(tmp_path / "cells", "a")
    done = run(f"cells={tmp_path / 'cells'}")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"report of 0 findings on 1 cell: {tmp_path / 'report.html'}\n"
