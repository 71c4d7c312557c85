"""Check a judge or an encoder on labels of people: `python -m src.calibrate export|score|thresholds [what=…] …`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from omegaconf import DictConfig

from src.command import command
from src.console import progress, show_finding, show_text
from src.figures.captions import plural
from src.lab.build import resolved
from src.lab.calibration import export, read_options, score
from src.lab.thresholds import thresholds


def run(cfg: DictConfig) -> None:
    """Export a sample, score what came back or calibrate thresholds, and show it.

    Raises:
        FrontierError: what stopped it.
    """
    options, second = read_options(cfg)
    if options.verb == "thresholds":
        finding, folder, option = thresholds(options, resolved(cfg)["embedder"])
        show_finding(finding, folder)
        show_text(f"written as an option: {option}; use it as python -m src.run thresholds={options.name}")
        return
    if options.verb == "score":
        with progress() as report:
            finding, folder, logged = score(options, second, report)
        show_finding(finding, folder)
        show_text(f"logged on {plural(logged, 'run')} of {plural(len(finding.sources), 'calibrated cell')} in MLflow")
        return
    sample, folder = export(options)
    unit, strata = sample.question.unit, sample.strata
    used = int((strata["sampled"] > 0).sum())
    show_text(
        f"{plural(sample.units.height, unit)} of {strata['population'].sum():,} that the judge {sample.judge} judged "
        f"in {plural(strata['cell_key'].n_unique(), 'cell')}, from {used} of {strata.height} strata (verdict × cell)"
    )
    if used < strata.height:
        show_text("a larger n= reaches the other strata; until then those of the same verdict stand for them")
    if sample.units.height < sample.asked:
        show_text(f"n={sample.asked} was asked for; these are all there are")
    show_text(f"for annotators, one copy each: {folder / 'sheet' / 'sheet.html'} or sheet.csv")
    show_text(f"not for annotators, needed for the score: {folder / 'key'}")
    show_text(f"when labels come back: python -m src.calibrate score name={options.name} labels=[FILE,…]")


def in_group(arguments: Sequence[str]) -> list[str]:
    """Arguments as Hydra wants them: `judge2` takes the options of the group `judge`, which it calls judge@judge2."""
    return [re.sub(r"^judge2=", "judge@judge2=", argument) for argument in arguments]


def main() -> int:
    """Run the command; returns its exit code."""
    sys.argv[1:] = in_group(sys.argv[1:])
    return command(run, "calibrate", verbs=("export", "score", "thresholds"))


if __name__ == "__main__":
    sys.exit(main())
