"""Who answers a rubric's question: a language model, or rules that look at form.

A reply without a readable label is no verdict. It is asked for once more and then counted as unparsed; it never
becomes a default label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as config_dataclass

from src.errors import ConfigError, EndpointError
from src.interfaces import ChatModel
from src.prompts import render_rubric
from src.records import Completion, Rubric, Verdict
from src.text.form import form_fault, same_content
from src.text.labels import parse_label


@dataclass(frozen=True)
class LLMJudge:
    """A chat model as judge.

    Attributes:
        model: answers the rendered rubric.
        kind: `llm`, or `oracle` when the model is the simulator that knows the truth.
    """

    model: ChatModel
    kind: str = "llm"

    async def judge(self, rubric: Rubric, values: Mapping[str, str]) -> Verdict:
        """Judge; see :meth:`src.interfaces.Judge.judge`.

        A truncated, refused or empty reply is read like any other: it may still name its label.
        """
        completions: list[Completion] = []
        for draw in (0, 1):
            completion = await self.model.complete(render_rubric(rubric, values, draw=draw), draw=draw)
            if completion.state == "error":
                raise EndpointError(
                    f"the judge's answer to rubric {rubric.name} failed for good: {completion.reason}; "
                    "run again to continue"
                )
            completions.append(completion)
            label = parse_label(completion.text, rubric.labels)
            if label is not None:
                return Verdict(label, label in rubric.accept, tuple(completions))
        return Verdict(None, None, tuple(completions))


def _same(values: Mapping[str, str]) -> bool:
    return same_content(values["first"], values["second"])


def _well_formed(values: Mapping[str, str]) -> bool:
    return form_fault(values["atom"]) == ""


_RULES: dict[str, tuple[Callable[[Mapping[str, str]], bool], str]] = {
    "duplicate": (_same, "YES"),
    "audit": (_well_formed, "VALID"),
    "audit_yesno": (_well_formed, "YES"),
}
"""Per rubric the rule and the label of acceptance; the other label is NO."""


@config_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class RulesJudge:
    """Deterministic rules without a model: they check form, not truth.

    Two points are duplicates if their content words are the same. A point is valid if it is a complete proposition;
    a well-formed falsehood passes. The label VALID is none of the rubric's own, because rules cannot tell a factual
    from a conceptual point: whoever stores a kind stores null for it.
    """

    @property
    def kind(self) -> str:
        """Always `rules`: shown wherever a verdict is shown."""
        return "rules"

    async def judge(self, rubric: Rubric, values: Mapping[str, str]) -> Verdict:
        """Judge by rules, without a call.

        Raises:
            ConfigError: there is no rule for this rubric.
        """
        if rubric.name not in _RULES:
            raise ConfigError(
                f"judge=rules has no rule for rubric {rubric.name}: it knows {', '.join(_RULES)}; "
                "choose a judge that is a model, for instance judge=deepseek_v31"
            )
        rule, label = _RULES[rubric.name]
        accepted = rule(values)
        return Verdict(label if accepted else "NO", accepted)
