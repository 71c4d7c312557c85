"""Write all findings and the cells they rest on as one report: `python -m src.report [cells=…] [reports=…]`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from omegaconf import DictConfig
from pydantic import Field
from pydantic.dataclasses import dataclass as config_dataclass

from src.cells import MeasuredCell, find_every, source
from src.command import command
from src.console import show_text
from src.errors import ConfigError, DataMissing
from src.figures.captions import plural
from src.figures.categories_lines import MEANINGS as CLASSES
from src.figures.cell_lines import CellLine
from src.figures.finding import Source
from src.figures.report import Basis, Section, html, markdown
from src.lab.build import ROOT, build, resolved
from src.records import STRICT, Filled, Metrics
from src.store import StoredFinding, read_findings, read_union, union_folders, write_numbers

FACTS = ("name", "question", "reference", "verdict", "cautions", "captions", "definitions", "missing", "sources")
SETTINGS = {
    "prompts": "prompts.name",
    "seed": "seed",
    "judge model": "judge.name",
    "embedder": "embedder.name",
    "novelty": "saturation.novelty",
    "patience": "saturation.patience",
    "max turns": "max_turns",
    "strict": "dedup.strict",
    "fuzzy": "dedup.fuzzy",
    "guards": "dedup.guards",
    "linkage": "dedup.linkage",
    "candidates": "dedup.candidates",
    "temperature": "temperature",
    "samples": "samples",
    "frequency over": "confidence_over",
}
"""What else tells cells apart, with its place in the configuration."""
NUMBERS = (
    *("raw", "unique", "valid", "accuracy", "accuracy_low", "accuracy_high", "accuracy_leaf_low", "accuracy_leaf_high"),
    *("dedup_rate", "turns", "stop_reason", "calls", "tokens_nominal"),
    *("coverage", "coverage_low", "coverage_high", "chao2", "chao2_low", "chao2_high"),
)
"""Numbers of a cell in `<reports>/cells`, which `dvc metrics show` makes a table of."""
ANSWERED = (
    *("questions", "incomplete", "accuracy", "accuracy_low", "accuracy_high"),
    *("category_score", "category_score_low", "category_score_high", *(f"share_{name}" for name in CLASSES)),
    *("stop_reason", "calls"),
)
"""The same of a cell of questions."""
UNION = ("models", "clusters", "points", "largest_cluster", "smallest_cosine", "calls_judge")


@config_dataclass(frozen=True, config=STRICT)
class LedgerNamed:
    """The ledger that the cells were paid from."""

    path: Filled


@config_dataclass(frozen=True, config=STRICT)
class ReportOptions:
    """The root of `conf/report.yaml`."""

    cells: Filled
    reports: Filled
    ledger: LedgerNamed
    debug: Annotated[bool, Field(strict=True)]


def report(cfg: DictConfig) -> Path:
    """Write report.html, report.md and the numbers of the cells beside the findings; returns the path of the page.

    Raises:
        ConfigError: a value is wrong, or the folder cannot be written.
        DataMissing: there are no cells, or a finding lacks a part.
    """
    options: ReportOptions = build({"_target_": f"{__name__}.ReportOptions", **resolved(cfg)}, "")
    place, reports = ROOT / options.cells, ROOT / options.reports
    found = find_every(place, ROOT)
    cells = [_line(cell) for cell in found.cells]
    sections = [_section(finding) for finding in read_findings(reports)]
    unions = [read_union(folder) for folder in union_folders(place)]
    judged = [
        tables["calls"] for cell in found.cells for tables in (cell.extracted, cell.processed) if "calls" in tables
    ]
    answers = answer_keys([*judged, *(tables["calls"] for _, tables, _ in unions)])
    done = {section.facts["name"] for section in sections if section.kind == "studies"}
    studies = sorted(path.stem for path in (ROOT / "conf" / "study").glob("*.yaml"))
    basis = Basis(
        cells=options.cells,
        unfinished=found.unfinished,
        unions=_unions([(config, metrics) for config, _, metrics in unions], {cell.content for cell in found.cells}),
        ledger=options.ledger.path,
        answers=len(answers),
        fingerprint=sha256("\n".join(answers).encode()).hexdigest(),
        absent=[name for name in studies if name not in done],
    )
    page = reports / "report.html"
    try:
        reports.mkdir(parents=True, exist_ok=True)
        page.write_text(html(cells, sections, basis), encoding="utf-8", newline="\n")
        write_numbers(reports, {_name(cell): _numbers(cell) for cell in found.cells})
        (reports / "report.md").write_text(markdown(cells, sections, basis), encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConfigError(f"cannot write {page}: {error.strerror}; set reports to a folder you may write") from error
    show_text(f"report of {plural(len(sections), 'finding')} on {plural(len(cells), 'cell')}: {page}")
    return page


def _numbers(cell: MeasuredCell) -> Metrics:
    return {name: cell.metrics.get(name) for name in (ANSWERED if cell.title.judge == "match" else NUMBERS)}


def _name(cell: MeasuredCell) -> str:
    return f"{cell.domain}-{Path(cell.folder).name}"


def answer_keys(calls: Sequence[pl.DataFrame]) -> list[str]:
    """Ledger keys of the distinct answers in tables of calls, sorted."""
    return sorted(set().union(*(table["key"].drop_nulls() for table in calls)))


def _line(cell: MeasuredCell) -> CellLine:
    values = {name: cell.value(path) for name, path in SETTINGS.items()}
    settings = {name: str(value) for name, value in values.items() if value is not None}
    return CellLine(source(cell), cell.title.query, settings, cell.metrics)


def _section(finding: StoredFinding) -> Section:
    """A finding with its tables and figures.

    Raises:
        DataMissing: `finding.json` lacks a part.
    """
    if absent := [name for name in FACTS if name not in finding.facts]:
        raise DataMissing(
            f"{finding.folder / 'finding.json'} lacks {', '.join(absent)}: make the finding {finding.folder.name} again"
        )
    facts = {name: finding.facts[name] for name in FACTS if name != "sources"}
    return Section(
        kind=finding.kind,
        place=f"{finding.kind}/{finding.folder.name}",
        facts=facts,
        sources=[Source(**each) for each in finding.facts["sources"]],
        sheets={name: _sheet(finding.folder / f"{name}.csv") for name in finding.tables},
        pictures={name: (finding.folder / f"{name}.png").read_bytes() for name in finding.figures},
        numbers=sum(not name.endswith("_reason") for name in finding.metrics),
    )


def _sheet(path: Path) -> list[Sequence[str]]:
    """The texts of a CSV file, the heading first."""
    if not path.read_bytes().strip():
        return []
    table = pl.read_csv(path, infer_schema=False).fill_null("")
    return [table.columns, *table.rows()]


def _unions(unions: Sequence[tuple[Mapping[str, Any], Metrics]], contents: set[str]) -> list[list[str]]:
    """A row per union, the heading first."""
    rows = [["domain", "strategy", *UNION, *(f"{name}_reason" for name in UNION), "made of these cells"]]
    for config, metrics in unions:
        values = (metrics.get(name) for name in (*UNION, *(f"{name}_reason" for name in UNION)))
        current = "yes" if contents.issuperset(config["contents"].values()) else "no: run it again"
        texts = ("" if value is None else str(value) for value in values)
        rows.append([config["domain"], config["strategy"], *texts, current])
    return rows


def main() -> int:
    """Run the command; returns its exit code."""
    return command(_run, "report")


def _run(cfg: DictConfig) -> None:
    report(cfg)


if __name__ == "__main__":
    sys.exit(main())
