"""Try the estimators on models whose knowledge is planted, on all cores, and publish what comes of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

from omegaconf import DictConfig
from pydantic import Field
from pydantic.dataclasses import dataclass as config_dataclass

from src.errors import ConfigError
from src.figures.finding import Finding
from src.figures.validation_page import validation_page
from src.interfaces import Report
from src.lab.build import ROOT, build, resolved
from src.lab.publish import publish
from src.lab.second_way import text_way
from src.records import STRICT, Filled, Progress
from src.saturation import Saturation
from src.studies.validation import work
from src.studies.validation.finding import Tried, finding
from src.studies.validation.population import PARTS, truths
from src.studies.validation.setting import Setting
from src.studies.validation.summary import estimates_table, stops_table, studies_table
from src.studies.validation.ways import direct, ways_table
from src.studies.validation.work import Piece

Count = Annotated[int, Field(strict=True, ge=0)]
Some = Annotated[int, Field(strict=True, ge=1)]


@config_dataclass(frozen=True, config=STRICT)
class ValidateOptions:
    """The root of `conf/validate.yaml`, but for its settings and thresholds."""

    seeds: Annotated[int, Field(strict=True, ge=1, le=10**6)]
    settings: tuple[Filled, ...] | None
    studies: Filled | None
    pipeline: Count
    encoder: Filled
    universes: Annotated[int, Field(strict=True, ge=PARTS)]
    max_turns: Some
    workers: Some | None
    reports: Filled
    page: Filled | None
    debug: Annotated[bool, Field(strict=True)]


def validate(cfg: DictConfig, report: Report) -> tuple[Finding, Path]:
    """Try everything that a composed configuration asks for; returns the finding and its folder.

    Raises:
        ConfigError: a value is wrong, or a file cannot be written.
    """
    config = resolved(cfg)
    there, rule = config.pop("try"), build(config.pop("saturation"), "saturation")
    second = _setting({"second_way": config.pop("second_way")}, "second_way")
    config.pop("dedup")  # comes with the thresholds; a second way takes its own
    options: ValidateOptions = build({"_target_": f"{__name__}.ValidateOptions", **config}, "")
    settings = {name: _setting(there, name) for name in options.settings or there}
    studied = _setting(there, options.studies) if options.studies else None
    tried = _tried(options, settings, studied, second, rule, report)
    found = finding(tried)
    folder = publish(found, "validation", ROOT / options.reports, ROOT)
    if options.page:
        _write(ROOT / options.page, found, folder, options)
    return found, folder


def _tried(
    options: ValidateOptions,
    settings: Mapping[str, Setting],
    studied: Setting | None,
    second: Setting,
    rule: Saturation,
    report: Report,
) -> Tried:
    """Try everything; what can be refused comes first."""
    query, texts, linkages = text_way(second, options.pipeline, options.encoder, report)
    with _processes(options.workers or os.cpu_count() or 1) as spread:

        def all_of(pieces: Sequence[Piece], phase: str) -> list[Any]:
            return list(chain.from_iterable(_shown(spread(pieces), len(pieces), phase, report)))

        everywhere, seeded = {}, {}
        for name, setting in settings.items():
            everywhere[name] = truths(all_of(work.population(setting, options.universes), f"{name}: truth"))
            pieces = work.seeded(setting, options.seeds, everywhere[name], rule, options.max_turns)
            seeded[name] = all_of(pieces, f"{name}: trials")
        planted = all_of(work.studied(studied, options.seeds), "studies") if studied else []
    return Tried(
        settings=settings,
        universes=options.universes,
        turns=options.max_turns,
        studied=options.studies or "",
        estimates=estimates_table(
            {name: [each.trials for each in seeds] for name, seeds in seeded.items()}, everywhere
        ),
        studies=studies_table(planted),
        stops=stops_table({name: [each.stops for each in seeds] for name, seeds in seeded.items()}),
        ways=ways_table(texts, [direct(second, seed, query) for seed in range(options.pipeline)]),
        linkages=linkages,
    )


@contextmanager
def _processes(workers: int) -> Iterator[Callable[[Sequence[Piece]], Iterator[list[Any]]]]:
    """What does pieces of work and gives their results in the order of the pieces."""
    if workers == 1:
        yield lambda pieces: map(work.done, pieces)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        try:
            yield lambda pieces: pool.map(work.done, pieces)
        except BaseException:  # what nobody waits for any more is not begun
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _shown(results: Iterator[list[Any]], total: int, phase: str, report: Report) -> Iterator[list[Any]]:
    """The results as they come, each told."""
    for done, result in enumerate(results, start=1):
        report(Progress(phase, done, total))
        yield result


def _setting(there: Mapping[str, Any], name: str) -> Setting:
    """A setting by its name.

    Raises:
        ConfigError: there is none, or a value is wrong.
    """
    if name not in there:
        raise ConfigError(f"there is no setting {name}; there are {', '.join(there)}: name them as settings=[default]")
    setting: Setting = build({"_target_": "src.studies.validation.setting.Setting", **there[name]}, f"try.{name}")
    return setting


def _write(page: Path, found: Finding, folder: Path, options: ValidateOptions) -> None:
    """Write the page of a finding.

    Raises:
        ConfigError: it cannot be written.
    """
    figure = os.path.relpath(folder / "coverage.png", page.parent)
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(validation_page(found, Path(figure).as_posix()), encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConfigError(
            f"cannot write {page}: {error.strerror}; set page to a file you may write, or to null"
        ) from error
