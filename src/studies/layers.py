"""Study `layers`: how probable is the answer in each layer of a local model (logit lens, by class of the question)?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic.dataclasses import dataclass

from src.cells import MeasuredCell, source
from src.errors import ConfigError
from src.figures.captions import Title, plural
from src.figures.finding import Finding
from src.figures.layers import curves, heat
from src.figures.shares import short
from src.prompts import PromptSet, render
from src.records import STRICT, Filled, Message, Metrics
from src.stats.categories import BOOTSTRAP, CLASSES, UNIT, mean
from src.stats.flat import put, put_interval
from src.stats.intervals import Number
from src.studies.answered import DETAILS, distinct
from src.studies.known import Known
from src.studies.wording import listed
from src.whitebox import Weights

DEFINITIONS = {
    "probability": "that the model's final norm and unembedding, applied to what a layer hands on where the gold "
    "answer (the first one, no alias) would begin, give to its first token; at the last layer, what the model puts "
    "out; mean over the questions of a class",
    "first token": "the first one with a letter or a digit; white space and marks before it, as the + of a calling "
    "code, are given, as the chat template writes them or, where the prompt does not end with white space, after a "
    'space. An answer that begins otherwise ("The capital is …") does not count',
    "interval": f"95 %, {BOOTSTRAP}; unit: {UNIT}; each layer by itself",
    **{name: short(name) for name in CLASSES},
}
MEANS = pl.Schema(
    {
        "category": pl.String,
        **dict.fromkeys(("layer", "questions"), pl.Int64),
        **dict.fromkeys(("probability", "probability_low", "probability_high"), pl.Float64),
        "reason": pl.String,
    }
)


@dataclass(frozen=True, config=STRICT)
class Layers:
    """The layers of one model, over the questions of one of its cells.

    Attributes:
        name, question: of the study.
        model, dataset, knowledge: of the cell, which was asked for the answer alone (reasoning=direct).
        weights: of that model.
    """

    name: Filled
    question: Filled
    model: Filled
    dataset: Filled
    knowledge: Literal["internal", "external"]
    weights: Weights
    probe: ClassVar[str] = "categories"

    def run(self, known: Known) -> Finding:
        """Look at every question that has a class; the model is loaded, nothing is asked.

        Raises:
            ConfigError: no such cell, or several; what reads the weights is not installed.
            DataMissing: the weights are not there, or are not those that the cell asked.
            ContextExceeded: a prompt does not fit the context window.
        """
        cell = self._cell(known)
        asked = cell.extracted["questions"]
        classed = cell.processed["questions"].drop_nulls("category").select("question_id", "category")
        rows = asked.join(classed, on="question_id").sort("question_id")
        if rows.is_empty():
            raise ConfigError(f"cell {cell.folder} has no question with all of its answers, so there are no classes")
        lens = self.weights.lens(str(cell.value("model.revision")), cell.value("form"))
        prompts = [prompt(cell, row) for row in rows.iter_rows(named=True)]
        values = lens.probabilities(prompts, rows["golds"].list.first().to_list())
        return find(self, cell, rows["category"].to_list(), values, known.seed)

    def _cell(self, known: Known) -> MeasuredCell:
        wanted = {"dataset.name": self.dataset, "knowledge": self.knowledge, "reasoning": "direct"}
        fit = [
            cell
            for cell in distinct(known.cells)[0]
            if cell.model == self.model and all(cell.value(name) == value for name, value in wanted.items())
        ]
        if len(fit) != 1:
            asked = f"model={self.model} dataset={self.dataset} knowledge={self.knowledge} reasoning=direct"
            raise ConfigError(
                f"study {self.name} wants one cell of {asked}, and {len(fit)} of {len(known.cells)} fit: "
                + (
                    _choice(fit)
                    if fit
                    else f"run `python -m src.run probe=categories {asked}`, or set study.model, study.dataset or "
                    "study.knowledge to those of a cell that is there"
                )
            )
        return fit[0]


def _choice(cells: Sequence[MeasuredCell]) -> str:
    """What tells cells apart, and how to choose one of them."""
    apart = [name for name in ("form", *DETAILS) if len({json.dumps(cell.value(name)) for cell in cells}) > 1]
    first = f"{apart[0]}: {cells[0].value(apart[0])}" if apart else "name: value"
    return f"they differ in {listed(apart) if apart else 'other values'}; choose one of them, as where={{{first}}}"


def prompt(cell: MeasuredCell, question: Mapping[str, object]) -> tuple[Message, ...]:
    """The messages by which a cell asked a question, a row of its table `extract/questions`."""
    wording = PromptSet(str(cell.value("wording.name")), cell.value("wording.families"))
    base = "base_" if cell.value("form") == "completion" else ""
    passage = question["passage"] if cell.value("knowledge") == "external" else ""
    values = {"question": question["question"], "passage": passage}
    return render(wording, f"categories.{base}{cell.value('reasoning')}", values).messages


def find(
    study: Layers, cell: MeasuredCell, categories: list[str], values: npt.NDArray[np.float64], seed: int
) -> Finding:
    """Average by class and tell; pure.

    Args:
        study: what was asked for.
        cell: whose questions.
        categories: class of each question, shape (q,).
        values: probabilities, shape (q, layers).
        seed: of the bootstrap.
    """
    place = np.array(categories)
    found = {
        (name, layer + 1): mean(values[place == name, layer], (0, 1), seed, "no question is of this class")
        for name in CLASSES
        for layer in range(values.shape[1])
    }
    table = _table(found)
    layers, title = values.shape[1], cell.title
    incomplete = cell.processed["questions"].height - len(place)
    unchecked = () if study.weights.path.is_file() else (
        f"The weights were read from a folder, {study.weights.path.name}; whether they are those that were asked, "
        "nobody checked.",
    )  # fmt: skip
    return Finding(
        name=study.name,
        question=study.question,
        reference="logit lens (nostalgebraist 2020); classes: K-(CSA)², arXiv 2501.01332",
        verdict=(_sentence(table, layers, title),),
        metrics=_metrics(found, place, layers, incomplete),
        tables={"layers": table},
        figures={"layers": heat(table, title), "layers_intervals": curves(table, title)},
        captions={
            "layers": f"Mean probability of the first token of the gold answer by layer and class; n = "
            f"{plural(len(place), 'question')}. At the right: the last layer, with its 95 % interval.",
            "layers_intervals": "The same as lines, one panel for each class. Shaded: 95 % intervals of each layer by "
            "itself; unit: question.",
        },
        definitions=DEFINITIONS,
        missing=(f"{plural(incomplete, 'question')} without all answers: of no class",) if incomplete else (),
        sources=(source(cell),),
        said_first=unchecked,
    )


def _table(found: Mapping[tuple[str, int], Number]) -> pl.DataFrame:
    """Means of the classes that there are, by class and layer, schema MEANS."""
    rows = [
        (name, layer, bounds.n, value, bounds.low, bounds.high, bounds.reason)
        for (name, layer), (value, bounds) in found.items()
        if bounds.n
    ]
    return pl.DataFrame(rows, schema=MEANS, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))


def _sentence(table: pl.DataFrame, layers: int, title: Title) -> str:
    ends = []
    for row in table.filter(pl.col("layer") == layers).iter_rows(named=True):
        bounds = "no interval" if row["reason"] else f"{row['probability_low']:.3f} to {row['probability_high']:.3f}"
        ends.append(f"{short(row['category'])} {row['probability']:.3f} [{bounds}] (n = {row['questions']})")
    return (
        f"{title.line}: in the last of {layers} layers, which is what the model puts out, the first token of the gold "
        f"answer has the mean probability {'; '.join(ends)} (95 % intervals, {BOOTSTRAP}); layer by layer: the figure."
    )


def _metrics(
    found: Mapping[tuple[str, int], Number], place: npt.NDArray[np.str_], layers: int, incomplete: int
) -> Metrics:
    metrics: Metrics = {"questions": len(place), "incomplete": incomplete, "layers": layers}
    for name in CLASSES:
        put(metrics, f"questions_{name}", int((place == name).sum()))
        put_interval(metrics, f"probability_{name}", *found[name, layers])
    return metrics
