"""A finding in its folder and in MLflow."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from src.figures.canvas import png, svg
from src.figures.finding import Finding
from src.store import Kind, finding_folder, write_finding
from src.tracking import track_study


def publish(finding: Finding, kind: Kind, reports: Path, root: Path) -> Path:
    """Write a finding to `<reports>/<kind>/<name>` and show it in MLflow's experiment `studies`; returns the folder.

    Raises:
        ConfigError: the folder or the store cannot be used.
    """
    folder = finding_folder(reports, kind, finding.name)
    facts = {
        "name": finding.name,
        "question": finding.question,
        "reference": finding.reference,
        "verdict": list(finding.verdict),
        "cautions": finding.cautions,
        "captions": dict(finding.captions),
        "definitions": dict(finding.definitions),
        "missing": list(finding.missing),
        "sources": [asdict(source) for source in finding.sources],
    }
    images: dict[str, bytes] = {}
    for name, figure in finding.figures.items():
        images |= {f"{name}.png": png(figure), f"{name}.svg": svg(figure)}
    write_finding(folder, facts, finding.metrics, finding.tables, images)
    files = {f"figures/{name}": content for name, content in images.items() if name.endswith(".png")}
    files |= {f"tables/{path.name}": path.read_bytes() for path in sorted(folder.glob("*.csv"))}
    tags = {
        "kind": kind,
        "judges": _said({source.judge for source in finding.sources}),
        "subjects": "simulated" if kind == "validation" else _said({source.subject for source in finding.sources}),
        "cells": str(len(finding.sources)),
    }
    called = finding.name if kind == "studies" else f"{kind}/{finding.name}"
    track_study(called, note(finding), tags, finding.metrics, files, root)
    return folder


def note(finding: Finding) -> str:
    """The description of a study's run in Markdown, cautions first."""
    missing = "".join(f"\n- {clause}" for clause in finding.missing)
    first = " ".join(finding.cautions)
    return "\n\n".join(
        [
            *([f"**{first}**"] if first else []),
            *finding.verdict,
            f"**Asked:** {finding.question}",
            *([f"**Missing:**\n{missing}"] if missing else []),
            "\n".join(f"- **{term}**: {meaning}" for term, meaning in finding.definitions.items()),
            f"**After:** {finding.reference}. **Look at:** `figures/`, `tables/`.",
        ]
    )


def _said(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"
