"""Measure a cell: `python -m src.run [probe=…] [model=…] [strategy=…] [domain=…] [thresholds=…] [name=value …]`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from src.console import progress, show_error, show_result
from src.errors import ConfigError, FrontierError
from src.lab.config import read_cell, title
from src.lab.measure import Outcome, run_cell

SECRET = re.compile(
    r"(^|[.+~@_])(api_?key|key|token|secret|password|authorization)="  # a field that would hold one
    r"|api_key_env=(?!(null|[A-Z][A-Z0-9_]*)?$)"  # one in the place of a variable's name
    r"|://[^/=@]*@"  # a user in an address
)


def run(cfg: DictConfig) -> Outcome:
    """Measure the cell of a composed configuration and show the result.

    Raises:
        FrontierError: what stopped it.
    """
    cell = read_cell(cfg)
    with progress() as report:
        outcome = run_cell(cell, report)
    show_result(title(cell), outcome.metrics, outcome.spend, cell.folder)
    return outcome


def refuse_secrets(arguments: Sequence[str]) -> None:
    """Refuse a secret on the command line, which Hydra would write into files before any of our code runs.

    Raises:
        ConfigError: an argument names a key, or holds a user name in an address; the value is not repeated.
    """
    for argument in arguments:
        if SECRET.search(argument):
            raise ConfigError(
                f"{argument.partition('=')[0]} looks like a secret on the command line, where logs and process lists "
                "keep it: put the secret into an environment variable and give its name, as endpoint.api_key_env=NAME"
            )


def main() -> int:
    """Run one cell or, with `-m`, one after the other; one that fails does not stop the rest.

    Returns:
        The exit code: 0, 1 after a failure, 130 after Ctrl-C.
    """
    codes = [0]

    @hydra.main(version_base="1.3", config_path="../conf", config_name="config")
    def job(cfg: DictConfig) -> None:
        try:
            if cfg.run_dir and HydraConfig.get().mode == RunMode.MULTIRUN:
                raise ConfigError(f"run_dir={cfg.run_dir} would be the folder of every cell of the sweep: leave it out")
            failure = run(cfg).failure
        except FrontierError as error:
            if cfg.debug:
                raise
            failure = str(error)
        if failure:
            show_error(failure)
            codes.append(1)

    try:
        refuse_secrets(sys.argv[1:])
        job()
    except ConfigError as error:
        show_error(str(error))
        return 1
    except KeyboardInterrupt:
        show_error("stopped; run the same command again to go on, no answer is paid for twice")
        return 130
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
