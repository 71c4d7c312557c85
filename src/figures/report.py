"""All findings and the cells that they rest on, as one HTML page that needs nothing else, and as Markdown."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from src.figures.captions import CENSORED, judge_sentence, plural, stop_words, subject_sentence
from src.figures.cell_lines import MEANINGS, CellLine, cell_table
from src.figures.finding import Source, cautions
from src.figures.question_lines import MEANINGS as ASKED
from src.figures.question_lines import question_table
from src.figures.tabulated import Grid, grid, line

FIRST = 8
"""Rows of a table that are shown at once."""
MOST = 500
"""Rows of a table that the page holds; all of them are in the CSV."""
POINTS = "One row per finished cell: one model, asked about one domain by one strategy."
QUESTIONS = "One row per finished cell: one model, asked the questions of one data set."
REAL = "A language model was asked."
KINDS = {
    "studies": "Studies",
    "calibration": "Calibration",
    "validation": "Validation of the estimators, simulated",
}
CODE = re.compile(r"`[^`<>&|]+`")
"""A word of a command or a name inside a sentence, as `seed=1`."""
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


@dataclass(frozen=True)
class Section:
    """A finding as it is reported.

    Attributes:
        kind: one of KINDS.
        place: its folder, relative to the report.
        facts: name, question, reference, verdict, cautions, captions, definitions, missing, as a finding stores them.
        sources: the cells it rests on.
        sheets: name of a table → rows of texts, the heading first.
        pictures: name of a figure → PNG.
        numbers: how many metrics it has.
    """

    kind: str
    place: str
    facts: Mapping[str, Any]
    sources: Sequence[Source]
    sheets: Mapping[str, Sequence[Sequence[str]]]
    pictures: Mapping[str, bytes]
    numbers: int


@dataclass(frozen=True)
class Basis:
    """What a report rests on.

    Attributes:
        cells: the collection of cells, as configured.
        unfinished: folders in it that hold no finished cell.
        unions: a row per union, the heading first.
        ledger: path of the ledger, as configured.
        answers: distinct answers in it that the cells used.
        fingerprint: sha256 over the sorted keys of these answers.
        absent: studies that were not run.
    """

    cells: str
    unfinished: Sequence[str]
    unions: Sequence[Sequence[str]]
    ledger: str
    answers: int
    fingerprint: str
    absent: Sequence[str]


def html(cells: Sequence[CellLine], sections: Sequence[Section], basis: Basis) -> str:
    """A self-contained page without scripts; every text is escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"said": _html_said, "breakable": _breakable}
    return _render(environment, "report.html.j2", cells, sections, basis)


def markdown(cells: Sequence[CellLine], sections: Sequence[Section], basis: Basis) -> str:
    """The same in Markdown, with figures and tables as relative links; every text is escaped."""
    environment = Environment(finalize=markdown_said, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"table": markdown_table, "link": Markup}
    return _render(environment, "report.md.j2", cells, sections, basis)


def _render(
    environment: Environment, template: str, cells: Sequence[CellLine], sections: Sequence[Section], basis: Basis
) -> str:
    text = Path(__file__).with_name(template).read_text(encoding="utf-8")
    sources = [cell.source for cell in cells]
    stops = sorted({source.stop_reason for source in sources})
    judges = sorted({source.judge for source in sources})
    subjects = sorted({source.subject for source in sources})
    page = environment.from_string(text).render(
        counts=_counts(sources, sections),
        cautions=_cautions(sources, sections, basis),
        kinds=KINDS,
        sections=[_view(section, cells) for section in sections],
        tables=[
            (POINTS, cell_table([cell for cell in cells if cell.source.judge != "match"])),
            (QUESTIONS, question_table([cell for cell in cells if cell.source.judge == "match"])),
        ],
        cells=cells,
        queries=sorted({(c.source.domain, line(c.query)) for c in cells if c.query != c.source.domain}),
        meanings={
            **MEANINGS,
            **(ASKED if any(cell.source.judge == "match" for cell in cells) else {}),
            **{f"stop reason {reason}": stop_words(reason) for reason in stops},
            **{f"judge {judge}": judge_sentence(judge) for judge in judges},
            **{f"subject {subject}": subject_sentence(subject) or REAL for subject in subjects},
        },
        unions=grid(basis.unions, MOST),
        basis=basis,
        first=FIRST,
    )
    return f"{page.rstrip()}\n"


def _counts(sources: Sequence[Source], sections: Sequence[Section]) -> str:
    """`39 cells · 6 models · 8 strategies · 3 domains · 7 studies · 1 calibration`."""
    counted = (
        (len(sources), "cell", "cells"),
        (len({source.model for source in sources}), "model", "models"),
        (len({source.strategy for source in sources}), "strategy", "strategies"),
        (len({source.domain for source in sources}), "domain", "domains"),
        (sum(section.kind == "studies" for section in sections), "study", "studies"),
        (sum(section.kind == "calibration" for section in sections), "calibration", "calibrations"),
        (sum(section.kind == "validation" for section in sections), "validation", "validations"),
    )
    return " · ".join(f"{count:,} {one if count == 1 else many}" for count, one, many in counted)


def _cautions(sources: Sequence[Source], sections: Sequence[Section], basis: Basis) -> list[str]:
    """What must be read before any number of the report."""
    lines = cautions(sources)
    if not any(section.kind == "calibration" for section in sections):
        lines.append("Not calibrated: no verdict of a judge was compared with those of people.")
    gone = [section.facts["name"] for section in sections if _gone(section, sources)]
    if gone:
        lines.append(
            f"Made of cells that are not in {basis.cells}: {', '.join(gone)}; run {'it' if len(gone) == 1 else 'them'} "
            "again, or report on the cells that were used."
        )
    if basis.unfinished:
        lines.append(
            f"Left out: {plural(len(basis.unfinished), 'folder')} of {basis.cells} without a finished cell, listed "
            "under Basis."
        )
    return lines


def _gone(section: Section, sources: Sequence[Source]) -> int:
    """How many of its cells are not among those of the report."""
    keys = {source.cell_key for source in sources}
    return sum(source.cell_key not in keys for source in section.sources)


def _view(section: Section, cells: Sequence[CellLine]) -> dict[str, Any]:
    """What the templates show of a finding."""
    anchors = {cell.source.cell_key: cell.anchor for cell in cells}
    order = sorted(section.sources, key=lambda source: (source.domain, source.strategy, source.model, source.cell_key))
    groups = groupby(order, key=lambda source: (source.domain, source.strategy))
    place = quote(section.place)
    return {
        **section.facts,
        "kind": section.kind,
        "id": re.sub(r"\W+", "-", section.place),
        "marks": _marks(section, [cell.source for cell in cells]),
        "definitions": section.facts["definitions"].items(),
        "pictures": [
            {
                "name": name.replace("_", " "),
                "caption": section.facts["captions"].get(name, ""),
                "data": base64.b64encode(content).decode("ascii"),
                "place": f"{place}/{quote(name)}",
            }
            for name, content in section.pictures.items()
        ],
        "tables": [
            {"name": name, "grid": grid(sheet, MOST), "place": f"{place}/{quote(name)}.csv"}
            for name, sheet in section.sheets.items()
            if sheet and sheet[0]
        ],
        "numbers": section.numbers,
        "place": place,
        "sources": [
            (domain, strategy, [(source.model, anchors.get(source.cell_key)) for source in group])
            for (domain, strategy), group in groups
        ],
        "rests_on": plural(len(order), "cell") if order or section.kind != "validation" else "simulated models alone",
    }


def _marks(section: Section, sources: Sequence[Source]) -> list[str]:
    """A few words that stand beside a verdict wherever it is shown."""
    judges = sorted({source.judge for source in section.sources} - {"llm"})
    subjects = Counter(source.subject for source in section.sources if source.subject != "real")
    every = len(section.sources)
    said = [name if n == every else f"{n} of {plural(every, 'cell')} {name}" for name, n in sorted(subjects.items())]
    cut = sum(source.stop_reason in CENSORED for source in section.sources)
    missing, gone = len(section.facts["missing"]), _gone(section, sources)
    return [
        *([f"{plural(gone, 'cell')} not here"] if gone else []),
        *(["simulated"] if section.kind == "validation" else said),
        *(f"judge {judge}" for judge in judges),
        *([f"{plural(cut, 'cell')} cut short"] if cut else []),
        *([f"{missing} missing"] if missing else []),
    ]


def _html_said(text: str) -> Markup:
    """A sentence with its `code` set apart."""
    return Markup().join(
        Markup("<code>{}</code>").format(part[1:-1]) if CODE.fullmatch(part) else escape(part) for part in _parts(text)
    )


def _breakable(name: str) -> Markup:
    """A name that may be broken after an underscore."""
    return Markup("_<wbr>").join(name.split("_"))


def markdown_said(value: object) -> str:
    """Anything that a template shows, on one line, with nothing in it that formats but `code`."""
    if isinstance(value, Markup):
        return value
    return "".join(part if CODE.fullmatch(part) else _plain(part) for part in _parts(re.sub(r"\s+", " ", str(value))))


def _parts(text: str) -> list[str]:
    """A text cut before and after its `code`."""
    return re.split(f"({CODE.pattern})", text)


def _plain(text: str) -> str:
    text = re.sub(r"[\\`*_{}\[\]#|~$]", r"\\\g<0>", text)
    text = re.sub("[&<>]", lambda found: ENTITIES[found[0]], text)
    text = re.sub(r"^( ?)([-+=])(?=[-+= ]|$)", r"\1\\\2", text)  # what would begin a list or underline a heading
    return re.sub(r"^( ?\d+)([.)])(?= |$)", r"\1\\\2", text)


def markdown_table(table: Grid, most: int | None = None) -> Markup:
    """The first rows of a table."""
    rules = ["--:" if numeric else ":--" for numeric in table.numeric]
    lines = [map(markdown_said, row) for row in (table.columns, *table.rows[:most])]
    return Markup("\n".join(f"| {' | '.join(row)} |" for row in (lines[0], rules, *lines[1:])))
