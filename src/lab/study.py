"""From finished cells and unions to a finding; no model is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import yaml
from omegaconf import DictConfig
from pydantic import Field
from pydantic.dataclasses import dataclass as config_dataclass

from src.cells import Found, choose, find_cells, fitting
from src.figures.finding import Finding
from src.lab.build import ROOT, build, resolved
from src.lab.publish import publish
from src.merge import find_unions
from src.records import STRICT, Filled
from src.studies.known import Known, Study


@config_dataclass(frozen=True, config=STRICT)
class StudyOptions:
    """The root of `conf/analyze.yaml`, but for the study."""

    cells: Filled
    reports: Filled
    where: Mapping[str, Any] | None
    variant_prompts: tuple[str, ...]
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63)]
    debug: Annotated[bool, Field(strict=True)]


def run_study(cfg: DictConfig) -> tuple[Finding, Path]:
    """Run the study of a composed configuration and publish what it finds; returns the finding and its folder.

    Raises:
        ConfigError: a value is wrong, the cells do not go together, or none is of use to the study.
        DataMissing: there are no cells.
    """
    config = resolved(cfg)
    others = {name: value for name, value in config.items() if name != "study"}
    options: StudyOptions = build({"_target_": f"{__name__}.StudyOptions", **others}, "")
    study: Study = build(config["study"], "study")
    place, where = ROOT / options.cells, options.where or {}
    found = find_cells(place, ROOT, study.probe)
    if study.probe == "boundary":
        known, notes = _united(found, place, options)
    else:
        known, notes = Known(fitting(found.cells, where), (), (), parameters(ROOT), options.seed), []
    finding = study.run(known)
    finding = replace(finding, missing=(*finding.missing, *notes, *found.unfinished))
    return finding, publish(finding, "studies", ROOT / options.reports, ROOT)


def _united(found: Found, place: Path, options: StudyOptions) -> tuple[Known, list[str]]:
    """Cells of the probe `boundary` with the unions of exactly these cells, and a note for every union of others."""
    cells, variants = choose(found.cells, options.where or {}, options.variant_prompts)
    contents: dict[tuple[str, str], dict[str, str]] = {}
    for cell in cells:
        contents.setdefault((cell.domain, cell.strategy), {})[cell.model] = cell.content
    unions = find_unions(place)
    current = tuple(union for union in unions if contents.get((union.domain, union.strategy)) == union.contents)
    united = {(union.domain, union.strategy) for union in current}
    stale = [union for union in unions if (union.domain, union.strategy) in contents.keys() - united]
    notes = [
        f"the union of {union.domain} by {union.strategy} was made of other cells than there are now: run "
        f"`python -m src.union domain={union.domain} strategy={union.strategy} cells={options.cells}`"
        + (f" with where={dict(options.where)}" if options.where else "")
        for union in stale
    ]
    return Known(cells, variants, current, parameters(ROOT), options.seed), notes


def parameters(root: Path) -> dict[str, float]:
    """Parameters in billions by the names of models, as far as the options of `conf/model` say."""
    known = {}
    for path in sorted((root / "conf" / "model").glob("*.yaml")):
        model = yaml.safe_load(path.read_text(encoding="utf-8")).get("model") or {}
        if model.get("parameters") is not None:
            known[str(model.get("name") or path.stem)] = float(model["parameters"])
    return known
