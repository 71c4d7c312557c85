"""From finished cells to a blind sample, and from what comes back to a finding on the runs that it calibrates."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from omegaconf import DictConfig
from pydantic import Field
from pydantic.dataclasses import dataclass as config_dataclass

from src.calibration.labels import read_labels
from src.calibration.questions import QUESTIONS, What
from src.calibration.sample import Sample, draw_sample
from src.calibration.second import ask_second
from src.calibration.sheet import sheet_csv, sheet_items
from src.cells import choose, find_cells
from src.errors import ConfigError
from src.figures.annotate import annotate_page
from src.figures.captions import at_rehearsal
from src.figures.finding import Finding
from src.interfaces import Report
from src.lab.build import ROOT, build, resolved
from src.lab.config import LedgerPlace, build_judge, name_of
from src.lab.publish import publish
from src.lab.roles import check_prices, open_roles
from src.ledger import Budgets, Ledger
from src.records import STRICT, Filled
from src.store.calibrations import calibration_folder, read_calibration, write_calibration
from src.studies.calibration import Second, calibrate
from src.text.formulas import STARTS
from src.tracking.calibration import track_calibration

PROBE = "boundary"


Share = Annotated[float, Field(ge=0.001, le=0.999)]


@config_dataclass(frozen=True, config=STRICT)
class CalibrateOptions:
    """The root of `conf/calibrate.yaml`, but for the second judge and the encoder."""

    verb: Literal["export", "score", "thresholds"]
    what: What
    n: Annotated[int, Field(strict=True, ge=1)]
    name: Filled
    labels: tuple[Filled, ...] | Filled | None
    pairs: Filled | None
    wrong: Share
    kept: Share
    options: Filled
    cells: Filled
    calibrations: Filled
    reports: Filled
    where: Mapping[str, Any] | None
    variant_prompts: tuple[str, ...]
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63)]
    debug: Annotated[bool, Field(strict=True)]
    ledger: LedgerPlace
    budget: Budgets


def read_options(cfg: DictConfig) -> tuple[CalibrateOptions, dict[str, Any] | None]:
    """The options of a composed configuration, and the node of the second judge.

    Raises:
        ConfigError: a value is wrong.
    """
    config = resolved(cfg)
    second = config.pop("judge2", None)
    del config["embedder"]  # of another verb, which reads it itself
    options: CalibrateOptions = build({"_target_": f"{__name__}.CalibrateOptions", **config}, "")
    return options, second


def export(options: CalibrateOptions) -> tuple[Sample, Path]:
    """Draw a sample and write its sheet and its key; the same command again leaves the same files.

    Raises:
        ConfigError: the cells do not go together, or another sample has this name.
        DataMissing: there are no cells, or nothing to check in them.
    """
    folder = calibration_folder(ROOT / options.calibrations, options.name)
    found = find_cells(ROOT / options.cells, ROOT, PROBE)
    cells, _ = choose(found.cells, options.where or {}, options.variant_prompts)
    sample = draw_sample(cells, options.what, options.n, options.seed)
    question, items = sample.question, sheet_items(sample.units, sample.seed)
    labels = [(label.name, label.meaning) for label in question.labels]
    about = {
        "what": sample.what,
        "judge": sample.judge,
        "rubric": sample.rubric,
        "seed": sample.seed,
        "asked": sample.asked,
    }
    sheet = {
        "sheet.csv": sheet_csv(items, question),
        "sheet.html": annotate_page(items, question.ask, labels, question.texts, STARTS),
    }
    write_calibration(folder, about, {"units": sample.units, "strata": sample.strata}, sheet)
    return sample, folder


def score(options: CalibrateOptions, second: Mapping[str, Any] | None, report: Report) -> tuple[Finding, Path, int]:
    """Compare the judge of a sample with the labels of people, a second judge, or both, and publish what comes of it.

    Args:
        options: which sample, whose labels.
        second: configuration of the second judge; None if there is none.
        report: shows progress of the second judge.

    Returns:
        The finding, its folder, and on how many runs its numbers were logged.

    Raises:
        ConfigError: there is nothing to compare with, or a labels file is wrong.
        DataMissing: there is no such sample or file.
        FrontierError: the second judge failed; its answers are in the ledger.
    """
    about, key = read_calibration(calibration_folder(ROOT / options.calibrations, options.name))
    sample = Sample(**about, units=key["units"], strata=key["strata"])
    items = sheet_items(sample.units, sample.seed)
    paths = [options.labels] if isinstance(options.labels, str) else options.labels or ()
    if not paths and second is None:
        raise ConfigError(
            "there is nothing to compare with: give labels=[FILE,…] of people, or a second judge, as judge2=openai"
        )
    labels = read_labels([Path(path) for path in paths], items, QUESTIONS[sample.what]) if paths else None
    answers = _second(options, second, sample, items, report) if second is not None else None
    calibrated = calibrate(options.name, sample, labels, answers)
    finding = calibrated.finding
    folder = publish(finding, "calibration", ROOT / options.reports, ROOT)
    logged = track_calibration(PROBE, options.name, calibrated.cells, finding.verdict[0], ROOT)
    return finding, folder, logged


def _second(
    options: CalibrateOptions, node: Mapping[str, Any], sample: Sample, items: pl.DataFrame, report: Report
) -> Second:
    """The answers of the second judge, each from the ledger or paid for once."""
    model, endpoint = build_judge(node, "judge2")
    check_prices(options.budget, {"judge2": model})
    rubric = build(sample.rubric, f"rubrics.{sample.question.rubric}")
    payer = f"calibration-{items['item'][0].partition('-')[0]}"

    async def work(ledger: Ledger) -> pl.DataFrame:
        async with open_roles(ledger, seed=options.seed, cell_key=payer, sweep=None) as roles:
            judge = await roles.judge(model, endpoint)
            return await ask_second(judge, rubric, items, sample.question, report)

    place = options.ledger
    with Ledger(ROOT / place.path, place.mode, options.budget) as ledger:
        answers = asyncio.run(work(ledger))
    return Second(name_of(node), "rehearsed" if at_rehearsal(node) else str(node["kind"]), answers)
