"""The judge that knows the truth about simulated statements, and errs as often as it is told to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from src.errors import ConfigError
from src.knower.wording import KINDS, Statement, read
from src.knower.world import stream
from src.records import STRICT, Rubric, Verdict

Rate = Annotated[float, Field(ge=0, le=1)]
AUDITS = ("audit", "audit_yesno")


@dataclass(frozen=True, config=STRICT)
class OracleJudge:
    """Reads what a simulated statement means; without a call. The same question always gets the same answer.

    Attributes:
        seed: another one errs about other questions.
        false_valid: share of invalid statements that it calls valid; false_invalid: of valid ones called invalid.
        false_same: share of pairs that mean different things and are called the same; false_distinct: the other way.
        unparsed: share of questions without a readable verdict.
    """

    seed: Annotated[int, Field(ge=0)] = 0
    false_valid: Rate = 0.0
    false_invalid: Rate = 0.0
    false_same: Rate = 0.0
    false_distinct: Rate = 0.0
    unparsed: Rate = 0.0

    @property
    def kind(self) -> str:
        """Always `oracle`: shown wherever a verdict is shown."""
        return "oracle"

    async def judge(self, rubric: Rubric, values: Mapping[str, str]) -> Verdict:
        """Judge by the truth; a text that is no simulated statement is invalid, and the same as itself only.

        Raises:
            ConfigError: it knows no answer to this rubric.
        """
        if rubric.name in AUDITS:
            texts = [values["atom"]]
            statement = read(values["atom"])
            truth = statement is not None and statement.what == "true"
            rates = self.false_valid, self.false_invalid
            label = _label(statement, rubric)
        elif rubric.name == "duplicate":
            texts = sorted((values["first"], values["second"]))
            truth = same(values["first"], values["second"])
            rates = self.false_same, self.false_distinct
            label = "YES"
        else:
            raise ConfigError(
                f"judge=oracle has no answer to rubric {rubric.name}: it knows {', '.join((*AUDITS, 'duplicate'))}"
            )
        lost, errs = stream("oracle", self.seed, rubric.name, texts).random(2)
        if lost < self.unparsed:
            return Verdict(None, None)
        accepted = truth != bool(errs < rates[truth])
        return Verdict(label if accepted else "NO", accepted)


def same(first: str, second: str) -> bool:
    """Whether two texts mean the same."""
    meant = read(first)
    return first == second if meant is None else meant == read(second)


def _label(statement: Statement | None, rubric: Rubric) -> str:
    """The label with which a statement is accepted: its kind, where the rubric tells kinds apart."""
    kind = KINDS[max(statement.kind, 0) if statement else 0].upper()
    return kind if kind in rubric.accept else "YES"
