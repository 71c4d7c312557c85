"""What the commands beside `run` share: a configuration of their own, one sentence on failure, an exit code."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import hydra
from omegaconf import DictConfig

from src.console import show_error
from src.errors import ConfigError, FrontierError
from src.host import sigterm_raises

CONF = Path(__file__).resolve().parents[1] / "conf"
SECRET = re.compile(
    r"(^|[.+~@_])(api_?key|key|token|secret|password|authorization)="  # a field that would hold one
    r"|api_key_env=(?!(null|[A-Z][A-Z0-9_]*)?$)"  # one in the place of a variable's name
    r"|://[^/@]*@"  # a user in an address
)


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


def command(job: Callable[[DictConfig], None], config: str, verbs: Sequence[str] = ()) -> int:
    """Compose `conf/<config>.yaml` with the arguments of the command line and do the job once.

    Args:
        job: gets the composed configuration; raises FrontierError for what a person can act on.
        config: name of the configuration.
        verbs: words of which the first argument must be one; it becomes the value `verb`.

    Returns:
        The exit code: 0, 1 after a failure, 130 after Ctrl-C, 143 after SIGTERM.
    """
    codes = [0]

    @hydra.main(version_base="1.3", config_path=str(CONF), config_name=config)
    def once(cfg: DictConfig) -> None:
        try:
            job(cfg)
        except FrontierError as error:
            if cfg.debug:
                raise
            show_error(str(error))
            codes.append(1)

    try:
        arguments = sys.argv[1:]
        refuse_secrets(arguments)
        if any(argument in ("-m", "--multirun") for argument in arguments):
            raise ConfigError(f"-m is for `python -m src.run`; give `python -m src.{config}` one value at a time")
        if verbs and not any(argument in ("--help", "-h", "--cfg", "-c") for argument in arguments):
            if not arguments or arguments[0] not in verbs:
                given = f", not {arguments[0]!r}" if arguments else ""
                raise ConfigError(f"`python -m src.{config}` wants {' or '.join(verbs)} as its first word{given}")
            sys.argv[1:] = [f"verb={arguments[0]}", *arguments[1:]]
        with sigterm_raises():
            once()
    except ConfigError as error:
        show_error(str(error))
        return 1
    except KeyboardInterrupt:
        show_error("stopped; run the same command again to go on, no answer is paid for twice")
        return 130
    return max(codes)
