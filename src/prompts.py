"""Prompts as data: sets of Jinja templates, rendered with every value they name or not at all.

A template is one string and becomes one user message. Values go in verbatim: text of a model or of a user is never
read as a template. Model text put before a judge goes through the `fenced` filter, which marks it as data.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from jinja2 import Environment, StrictUndefined, Template, TemplateError, meta
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from src.errors import PromptError
from src.records import Message, Prompt, Rubric
from src.text.fences import fenced

_ENVIRONMENT = Environment(undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True)
_ENVIRONMENT.filters["fenced"] = fenced


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class PromptSet:
    """One wording of everything that is asked.

    Attributes:
        name: name of the set.
        families: family (a strategy's, say) → template name → Jinja source.
    """

    name: str
    families: dict[str, dict[str, str]]


def render(prompts: PromptSet, name: str, values: Mapping[str, object]) -> Prompt:
    """Render the template called `family.template`; values that it does not name are ignored.

    Raises:
        PromptError: no such template, a value missing, or a template that Jinja cannot read.
    """
    family, _, template = name.partition(".")
    source = prompts.families.get(family, {}).get(template)
    if source is None:
        known = ", ".join(f"{group}.{one}" for group, ones in prompts.families.items() for one in ones) or "none"
        raise PromptError(f"Prompt set '{prompts.name}' has no template '{name}'; it has: {known}.")
    return _prompt(name, values, _filled(f"Template '{name}' of prompt set '{prompts.name}'", source, values))


def render_rubric(rubric: Rubric, values: Mapping[str, object], draw: int = 0) -> Prompt:
    """Render a rubric's question; a re-ask (`draw` > 0) ends with a line that names the labels.

    Raises:
        PromptError: a value missing, or a template that Jinja cannot read.
    """
    text = _filled(f"Rubric '{rubric.name}'", rubric.template, values)
    if draw > 0:
        text += f"\n\nWrite one of these labels and nothing else: {', '.join(rubric.labels)}"
    return _prompt(rubric.name, values, text)


def _prompt(name: str, values: Mapping[str, object], text: str) -> Prompt:
    return Prompt(name, dict(values), (Message("user", text),))


def _filled(title: str, source: str, values: Mapping[str, object]) -> str:
    try:
        template, variables = _compiled(source)
        # Checked before rendering: a value that only an untaken branch names is missing all the same.
        if missing := sorted(variables - values.keys()):
            given = ", ".join(sorted(values)) or "none"
            raise PromptError(f"{title} lacks a value for: {', '.join(missing)}; given: {given}.")
        return template.render(values)
    except TemplateError as error:
        raise PromptError(f"{title} cannot be rendered: {error}.") from error


@lru_cache(maxsize=256)  # compiling takes longer than rendering, and one rubric is rendered for thousands of atoms
def _compiled(source: str) -> tuple[Template, frozenset[str]]:
    variables = meta.find_undeclared_variables(_ENVIRONMENT.parse(source))
    return _ENVIRONMENT.from_string(source), frozenset(variables)
