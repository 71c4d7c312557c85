"""From labelled pairs to an option of thresholds for one encoder, with its proof as a finding."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from src.calibration.labelled import read_pairs
from src.calibration.proof import proof
from src.calibration.thresholds import Thresholds, choose_thresholds
from src.dedup.pairs import Floats, exact_cosines, unit_rows
from src.embed import EndpointModel, HashingModel, SentenceModel
from src.errors import ConfigError
from src.figures.captions import percent, plural
from src.figures.finding import Finding
from src.lab.build import ROOT, build
from src.lab.calibration import CalibrateOptions
from src.lab.publish import publish
from src.lab.roles import check_prices, open_roles
from src.ledger import Ledger
from src.store.files import read_config
from src.store.options import option_path, write_option
from src.text.guards import difference

MARK = "# Written by `python -m src.calibrate thresholds`, which replaces it as long as this line stands."
LIKE = ROOT / "conf" / "thresholds" / "guarded.yaml"
"""The option whose other values a calibrated one takes over."""


def thresholds(options: CalibrateOptions, node: Mapping[str, Any]) -> tuple[Finding, Path, Path]:
    """Calibrate thresholds and write them as an option.

    Args:
        options: which pairs, which limits, which name.
        node: configuration of the encoder.

    Returns:
        The finding, its folder, and the file of the option.

    Raises:
        ConfigError: the pairs prove no threshold, or a value is wrong.
        FrontierError: the encoder failed.
    """
    if options.pairs is None or options.name == options.what:
        raise ConfigError("thresholds needs labelled pairs and a name of its own: give pairs=FILE name=NAME")
    path = option_path(ROOT / options.options, options.name, MARK)
    embedder: SentenceModel | HashingModel | EndpointModel = build(node, "embedder")
    check_prices(options.budget, {"embedder": embedder})
    pairs = read_pairs(Path(options.pairs))
    first, second = pairs["first"].to_list(), pairs["second"].to_list()
    pairs = pairs.with_columns(
        pl.Series("cosine", _cosines(options, embedder, first, second)),
        pl.Series("guard", [difference(*texts) for texts in zip(first, second, strict=True)], dtype=pl.String),
    )
    found = choose_thresholds(pairs, options.wrong, options.kept)
    encoder = str(node["name"])
    finding = proof(f"thresholds-{options.name}", encoder, pairs, found)
    folder = publish(finding, "calibration", ROOT / options.reports, ROOT)
    write_option(path, MARK, _about(encoder, finding, found, options.reports), _values(found))
    return finding, folder, path


def _cosines(
    options: CalibrateOptions,
    embedder: SentenceModel | HashingModel | EndpointModel,
    first: Sequence[str],
    second: Sequence[str],
) -> Floats:
    """The cosine of every pair; vectors come from the ledger or are paid for once."""
    place = options.ledger
    payer = f"thresholds-{options.name}"

    async def encoded(ledger: Ledger) -> np.ndarray:
        async with open_roles(ledger, seed=options.seed, cell_key=payer, sweep=None) as roles:
            encoder = await roles.encoder(embedder)
            return (await encoder.encode([*first, *second])).vectors

    with Ledger(ROOT / place.path, place.mode, options.budget) as ledger:
        unit = unit_rows(asyncio.run(encoded(ledger)), rows=2 * len(first))
    rows = np.arange(len(first))
    return exact_cosines(unit, rows, rows + len(first))


def _about(encoder: str, finding: Finding, found: Thresholds, reports: str) -> list[str]:
    pairs = plural(int(finding.metrics["pairs"] or 0), "labelled pair")
    return [
        f"Calibrated for {encoder} on {pairs}: at most {percent(found.wrong)} of what merges unasked is distinct, at "
        f"least {percent(found.kept)} of what is the same merges or is judged.",
        *finding.cautions,
        *finding.verdict,
        f"Another embedder needs another calibration. Proof: {reports}/calibration/{finding.name}.",
    ]


def _values(found: Thresholds) -> dict[str, Any]:
    """All values of the option, written out: dvc.yaml reads the file without defaults."""
    values = read_config(LIKE)
    if found.novelty is not None:
        values["saturation"] |= {"novelty": found.novelty}
    values["dedup"] |= {"strict": found.strict, "fuzzy": found.fuzzy}
    return values
