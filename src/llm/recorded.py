"""What stands in a model's place when its answers were collected elsewhere."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from src.errors import ConfigError
from src.records import STRICT, Completion, Prompt


@dataclass(frozen=True, config=STRICT)
class Recorded:
    """A model that can no longer be asked. Implements :class:`src.interfaces.ChatModel` by refusing.

    Attributes:
        revision: `sha256:…` of the file that holds what it said, so that another file is another cell.
        parameters: size in billions, for studies over size; None is unknown.
    """

    revision: Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]
    parameters: Annotated[float, Field(gt=0)] | None = None

    async def complete(self, prompt: Prompt, *, draw: int = 0) -> Completion:
        """Refuse.

        Raises:
            ConfigError: always.
        """
        raise ConfigError(
            f"model=recorded cannot be asked ({prompt.name}): it goes with strategy=recorded, which asks nothing"
        )
