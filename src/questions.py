"""Questions with gold answers: a JSONL file of rows whose fields a data set names, as docs/datasets.md describes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic.dataclasses import dataclass as config_dataclass

from src.errors import ConfigError, DataMissing
from src.ledger.keys import normal
from src.records import STRICT, Filled
from src.text.answers import Reasoning, answer_line, is_yes_no, matches, normalise


@config_dataclass(frozen=True, config=STRICT)
class Fields:
    """What the fields of a file are called; null: it has no such field.

    Attributes:
        question: the question.
        answer: the gold answer: a text, or a list of texts of which the first is the answer and the rest are aliases.
        aliases: a list of other accepted answers.
        passage: a text that holds the answer.
        kind: what the question is about.
        id: names the row; without it, the hash of the question does.
    """

    question: Filled = "question"
    answer: Filled = "answer"
    aliases: Filled | None = None
    passage: Filled | None = None
    kind: Filled | None = None
    id: Filled | None = None


@config_dataclass(frozen=True, config=STRICT)
class Dataset:
    """A file of questions.

    Attributes:
        name: a slug; null: the file's name without its ending.
        path: the JSONL file.
        source: what `python -m src.fetch` calls it; null for a file of the user's own.
        fields: what its fields are called.
    """

    path: Path
    name: Filled | None = None
    source: Filled | None = None
    fields: Fields = Fields()


@dataclass(frozen=True)
class Question:
    """A question and its gold answers.

    Attributes:
        id: the row's own, or the first 16 hex digits of the sha256 of the question.
        text: the question.
        golds: the answer, then its aliases, without doubles.
        kind, passage: "" without.
        yes_no: whether the answer is yes or no and nothing else.
    """

    id: str
    text: str
    golds: tuple[str, ...]
    kind: str
    passage: str
    yes_no: bool


@dataclass(frozen=True)
class Questions:
    """All questions of a file by their ids, how many rows repeated one, and the file's sha256."""

    rows: tuple[Question, ...]
    duplicates: int
    sha256: str


def read_questions(dataset: Dataset, reasoning: Reasoning) -> Questions:
    """Read every question of a file; blank lines are skipped, null counts as left out.

    A row that repeats an earlier one is dropped and counted. Each gold answer is graded against itself, as a reply in
    the way that is asked for.

    Raises:
        DataMissing: a file that can be fetched is not there.
        ConfigError: the file cannot be read or holds no question; a row, named by its line, lacks a field, has one of
            the wrong kind, the id of another row, or a gold answer that no reply could match, or asks what another row
            asks with another answer or passage.
    """
    path, names = dataset.path, dataset.fields
    content = _content(dataset)
    by_text: dict[str, Question] = {}
    lines: dict[str, int] = {}
    present: set[str] = set()
    duplicates = 0
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        row = _row(line, where)
        present |= row.keys()
        question = _question(row, names, where, reasoning)
        if twin := by_text.get(question.text):
            if (twin.golds, twin.passage) != (question.golds, question.passage):
                raise ConfigError(
                    f"{where} asks what line {lines[twin.id]} asks, with another answer or passage: keep one of them"
                )
            duplicates += 1
            continue
        if question.id in lines:
            raise ConfigError(f"{where}: the id {question.id!r} is that of line {lines[question.id]}: ids must differ")
        lines[question.id] = number
        by_text[question.text] = question
    if not by_text:
        raise ConfigError(f"dataset.path={path} holds no question: give a JSONL file with one question per line")
    for name in ("aliases", "passage", "kind"):
        field = getattr(names, name)
        if field is not None and field not in present:
            raise ConfigError(f"dataset.fields.{name}={field}: no row of {path} has it; they have {_listed(present)}")
    rows = sorted(by_text.values(), key=lambda question: question.id)
    return Questions(tuple(rows), duplicates, hashlib.sha256(content).hexdigest())


def draw(questions: Sequence[Question], count: int | None, seed: int) -> tuple[Question, ...]:
    """Some of the questions, in their order, each as likely as another; null: all.

    The same for every model, and a smaller number draws some of what a larger one draws.

    Raises:
        ConfigError: there are not as many.
    """
    if count is None:
        return tuple(questions)
    if not 1 <= count <= len(questions):
        raise ConfigError(
            f"questions={count}, but the data set has {len(questions)}: give 1 to {len(questions)}, or null for all"
        )
    chosen = np.random.default_rng(seed).permutation(len(questions))[:count]
    return tuple(questions[position] for position in sorted(chosen))


def _content(dataset: Dataset) -> bytes:
    try:
        return dataset.path.read_bytes()
    except FileNotFoundError as error:
        if dataset.source is not None:
            raise DataMissing(
                f"{dataset.path} is not there: run `python -m src.fetch {dataset.source}`, or set dataset.path"
            ) from error
        raise ConfigError(f"dataset.path={dataset.path} is not there: give the JSONL file of questions") from error
    except OSError as error:
        raise ConfigError(
            f"dataset.path={dataset.path} cannot be read ({error.strerror}): give the JSONL file of questions"
        ) from error


def _row(line: bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise ConfigError(f"{where} is not JSON in UTF-8: each line is one object, as docs/datasets.md says") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{where} is not a JSON object but {json.dumps(found)[:40]}: each line is one object")
    return {name: value for name, value in found.items() if value is not None}


def _question(row: Mapping[str, Any], names: Fields, where: str, reasoning: Reasoning) -> Question:
    text = _text(row, "question", names.question, where)
    golds = [
        *_texts(row, "answer", names.answer, where),
        *(_texts(row, "aliases", names.aliases, where) if names.aliases in row else ()),
    ]
    if not golds:
        raise ConfigError(f"{where}: {names.answer} is an empty list: give at least one answer")
    yes_no = is_yes_no(golds[0])
    for gold in golds:
        reply = f"Answer: {gold}" if reasoning == "cot" else gold
        if not matches(answer_line(reply, reasoning).text, [gold], yes_no).correct:
            raise ConfigError(
                f"{where}: the answer {_quoted(gold)} does not match itself, so no reply could be right: give it as "
                f"the one short line that a reply should be{' (without Answer:)' if reasoning == 'cot' else ''}"
            )
    first = {normalise(gold, yes_no=True): gold for gold in golds}
    if {"yes", "no"} <= first.keys() and any(map(is_yes_no, golds)):
        raise ConfigError(
            f"{where}: the answers {_quoted(first['yes'])} and {_quoted(first['no'])} contradict each other"
        )
    hashed = hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]
    return Question(
        id=_text(row, "id", names.id, where) if names.id is not None else hashed,
        text=text,
        golds=tuple(dict.fromkeys(golds)),
        kind=_text(row, "kind", names.kind, where) if names.kind in row else "",
        passage=_text(row, "passage", names.passage, where, filled=False) if names.passage in row else "",
        yes_no=yes_no,
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[:80]


def _text(row: Mapping[str, Any], name: str, field: str | None, where: str, *, filled: bool = True) -> str:
    if field is None or field not in row:
        raise ConfigError(f"{where} has no {field} (dataset.fields.{name}); it has {_listed(row)}")
    value = row[field]
    if name == "id" and isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise ConfigError(f"{where}: {field}={json.dumps(value, ensure_ascii=False)[:40]} is not a text: quote it")
    text = normal(value).strip()
    if filled and not text:
        raise ConfigError(f"{where}: {field} is blank")
    return text


def _texts(row: Mapping[str, Any], name: str, field: str | None, where: str) -> list[str]:
    value = row.get(field) if field is not None else None
    if not isinstance(value, list):
        return [_text(row, name, field, where)]
    return [_text({str(field): each}, name, field, where) for each in value]


def _listed(names: Mapping[str, Any] | set[str]) -> str:
    return ", ".join(sorted(names)[:20]) or "no field at all"
