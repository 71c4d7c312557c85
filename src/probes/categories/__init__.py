"""Probe `categories`: what does a model know of the answers to given questions, and how sure is it?

One greedy and several sampled answers to every question are graded against its gold answer; their agreement says how
sure the model is. Six classes of correctness × confidence (K-(CSA)², arXiv 2501.01332).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from src.costs import Limits, Planned
from src.errors import ConfigError
from src.figures.captions import Title
from src.figures.categories import draw
from src.figures.categories_lines import tell
from src.figures.drawings import Drawings
from src.figures.summary import Told
from src.interfaces import Lab
from src.llm.simulated import Simulated
from src.probes.categories.extract import Extraction
from src.probes.categories.metrics import by_kind, summarise
from src.probes.categories.plan import plan
from src.probes.categories.process import process
from src.probes.categories.truth import truth
from src.prompts import PromptSet, render
from src.questions import Dataset, Question, Questions, read_questions
from src.questions import draw as drawn
from src.records import Filled, Metrics, Prompt, Role, Sampling, Tables
from src.store import slug, slug_of
from src.text.answers import Reasoning, normalise

STOP: Mapping[Reasoning, tuple[str, ...]] = {"direct": ("\n",), "cot": ("\n\n", "\nQuestion:")}
"""Where an answer that goes on from answered questions ends: before the model asks itself the next one."""

PLACE = "\ue000"
"""A text that no wording holds: it shows where a question goes."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Categories:
    """One cell of the probe: questions, how they are asked, and how often.

    Attributes:
        name, question: of the probe.
        dataset: where the questions lie.
        wording: templates `categories.direct` and `categories.cot`, and for base models `categories.base_…`.
        questions: how many are drawn; None: all.
        knowledge: `external`: the passage that holds the answer stands before the question.
        reasoning: `cot`: reasoning first, then a line "Answer:".
        samples: answers besides the greedy one.
        temperature, top_k: of the samples.
        answer_tokens: reasoning → longest answer, in tokens.
        confidence_over: what the frequency of an answer is counted over.
        form: `chat`: an instruction; `completion`: four answered questions to go on from, as base models need it.
        seed: draws the questions.
    """

    name: Filled
    question: Filled
    dataset: Dataset
    wording: PromptSet
    questions: Annotated[int, Field(strict=True, ge=1)] | None
    knowledge: Literal["internal", "external"]
    reasoning: Reasoning
    samples: Annotated[int, Field(strict=True, ge=2, le=1_000)]
    temperature: Annotated[float, Field(gt=0, le=5)]
    top_k: Annotated[int, Field(strict=True, ge=1)] | None
    answer_tokens: Mapping[Reasoning, Annotated[int, Field(ge=1)]]
    confidence_over: Literal["all", "samples"]
    form: Literal["chat", "completion"]
    seed: Annotated[int, Field(ge=0)]
    roles: ClassVar[tuple[Role, ...]] = ()
    overrides: ClassVar[tuple[str, ...]] = ("temperature", "top_p", "max_tokens")

    def prompt(self, question: Question, *, greedy: bool) -> Prompt:
        """What is asked for an answer to a question."""
        continued = self.form == "completion"
        sampling = Sampling(
            temperature=0.0 if greedy else self.temperature,
            max_tokens=self.answer_tokens[self.reasoning],
            top_k=None if greedy else self.top_k,
            stop=STOP[self.reasoning] if continued else (),
        )
        values = {
            "question": question.text,
            "passage": question.passage if self.knowledge == "external" else "",
            "question_id": question.id,
            "golds": question.golds,
            "temperature": sampling.temperature,
        }
        rendered = render(self.wording, f"categories.{self._template}", values)
        return replace(rendered, sampling=sampling, continued=continued)

    async def extract(self, lab: Lab) -> Tables:
        """Ask every question; returns the tables questions, answers, calls and stop."""
        return await Extraction(lab, self.chosen, self.prompt, self.samples).run()

    async def process(self, lab: Lab, extracted: Tables) -> Tables:
        """Grade and classify; nothing is asked. Returns the tables answers and questions."""
        return process(extracted, self.reasoning, self.samples + 1, self.confidence_over)

    def plan(self, limits: Limits) -> tuple[Planned, ...]:
        """Bounds of what the cell takes, before anything is asked."""
        prompts = [self.prompt(question, greedy=True) for question in self.chosen] if limits.extract else []
        return plan(prompts, 1 + self.samples, self.answer_tokens[self.reasoning], limits.context)

    def summarise(self, extracted: Tables, processed: Tables | None) -> Metrics:
        """The metrics of the cell; without `processed`, those of the extraction."""
        return summarise(extracted, processed)

    def tell(self, title: Title, metrics: Metrics) -> Told:
        """A cell in lines."""
        return tell(title, metrics)

    def truth(self, model: Simulated, extracted: Tables, processed: Tables) -> Metrics:
        """What is true of a simulated model; see :func:`src.probes.categories.truth.truth`."""
        return truth(
            model.knower,
            processed["questions"],
            passage=self.knowledge == "external",
            temperature=self.temperature,
            samples=self.samples,
            greedy_counts=self.confidence_over == "all",
        )

    def draw(self, extracted: Tables, processed: Tables, metrics: Metrics, title: Title) -> Drawings:
        """Figures and pages of the cell."""
        return draw(extracted, processed, by_kind(processed["questions"]), metrics, title)

    def found(self) -> Mapping[str, Mapping[str, str]]:
        """The name of the data set, the hash of its file and how many of its rows repeat an earlier question.

        Raises:
            DataMissing, ConfigError: the file cannot be read, or the name is no slug.
        """
        name = slug(self.dataset.name or slug_of(self.dataset.path.stem), "dataset.name")
        repeated = str(self.file.duplicates)
        return {"dataset": {"name": name, "revision": f"sha256:{self.file.sha256}", "repeated": repeated}}

    @cached_property
    def file(self) -> Questions:
        """All questions of the data set.

        Raises:
            DataMissing, ConfigError: it cannot be read.
        """
        return read_questions(self.dataset, self.reasoning)

    @cached_property
    def chosen(self) -> tuple[Question, ...]:
        """The questions of the cell.

        Raises:
            DataMissing, ConfigError: the file cannot be read, holds fewer questions or no passages, or asks what the
                prompt has answered before.
        """
        chosen = drawn(self.file.rows, self.questions, self.seed)
        shown = self._shown(chosen[0])
        if answered := [question.text for question in chosen if normalise(question.text) in shown]:
            raise ConfigError(
                f"form={self.form} shows {answered[0]!r} with its answer before {self.dataset.path} asks it: take it "
                f"out of the file, or change categories.{self._template} of the wording"
            )
        if self.knowledge == "external" and (lacking := sum(not question.passage for question in chosen)):
            raise ConfigError(
                f"knowledge=external puts a passage before each question, and {lacking} of {len(chosen)} questions of "
                f"{self.dataset.path} have none: choose knowledge=internal, or a data set with passages (halueval)"
            )
        return chosen

    @property
    def _template(self) -> str:
        return f"{'base_' if self.form == 'completion' else ''}{self.reasoning}"

    def _shown(self, question: Question) -> set[str]:
        """Questions, normalised, that the prompt of a base model shows with their answers before it asks this one.

        Known by the words that stand around the question on its line; without such words, none is known.
        """
        if self.form != "completion":
            return set()
        asked = self.prompt(replace(question, text=PLACE, passage=""), greedy=True)
        lines = asked.messages[-1].content.splitlines()
        asking = next((line for line in lines if PLACE in line), None)
        if asking is None:
            raise ConfigError(f"categories.{self._template} of the wording asks nothing: it lacks {{{{ question }}}}")
        before, _, after = asking.partition(PLACE)
        framed = [line for line in lines if line.startswith(before) and line.endswith(after) and line != asking]
        return {normalise(line.removeprefix(before).removesuffix(after)) for line in framed if before or after}
