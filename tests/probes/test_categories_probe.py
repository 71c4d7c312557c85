"""Questions asked over HTTP or of a simulated model, graded, classified, told; real ledger, real tables."""

import asyncio
import io
import json
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import Compose
from endpoint import ScriptedEndpoint, status
from rich.console import Console
from scipy.stats import chi2

from src.console import show_result, silent
from src.errors import ConfigError, FrontierError
from src.interfaces import Lab
from src.knower.knowledge import Knower
from src.knower.questions import class_chances, reply, weights, wrong_answer
from src.lab.config import read_cell, title
from src.lab.measure import measure, run_cell
from src.ledger import Ledger
from src.probes.categories.process import process
from src.records import Completion, Prompt, Usage
from src.schemas import ANSWERS, QUESTIONS
from src.stats.categories import CLASSES
from src.text.answers import normalise

# Question → gold answer, greedy answer, samples, class; the rows of probes.md, and others.
GOLDEN = {
    "Which planet is the heaviest?": ("Jupiter", "Jupiter", ["Jupiter"] * 6, "HK"),
    "Which planet has the Great Red Spot?": (
        "Jupiter", "Jupiter", ["Mars", "Saturn", "Venus", "Earth", "Uranus", "Mars"], "MK",
    ),
    "Which planet has 95 moons?": ("Jupiter", "Saturn", ["Mars", "jupiter.", "Venus", "Earth", "Uranus", "Mars"], "WK"),
    "Which planet is fifth?": ("Jupiter", "Saturn", ["Mars", "Venus", "Earth", "Uranus", "Neptune", "Mercury"], "UU"),
    "Which planet did Galileo visit?": ("Jupiter", "Saturn", ["Saturn", "Mars", "Venus", "Earth", "Pluto", "Io"], "MU"),
    "Which planet is a gas giant?": ("Jupiter", "Saturn", ["The Saturn", *["saturn"] * 5], "CU"),
    "Is Jupiter a star?": ("no", "No, it is a planet.", ["No.", "no", "No!", "No\nIt is", "NO", "no, never"], "HK"),
    "Which film won in 2008?": ("No Country for Old Men", "No.", ["no"] * 6, "CU"),
    "How much is 7 / 2?": ("3.5", "35", ["35"] * 6, "CU"),
}  # fmt: skip


def at(server: ScriptedEndpoint) -> tuple[str, ...]:
    return "model=openai", "model.id=scripted", f"endpoint.base_url={server.base_url}", "endpoint.api_key_env=null"


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    """Overrides that choose the golden questions."""
    path = tmp_path / "golden.jsonl"
    path.write_text("".join(json.dumps({"question": q, "answer": gold}) + "\n" for q, (gold, *_) in GOLDEN.items()))
    return ["probe=categories", "dataset=jsonl", f"dataset.path={path}", "questions=null"]


@pytest.fixture
def asked(composed: Compose, server: ScriptedEndpoint, data: list[str]) -> Compose:
    def make(*overrides: str):
        where = (
            "model=openai",
            "model.id=scripted",
            f"endpoint.base_url={server.base_url}",
            "endpoint.api_key_env=null",
        )
        return composed(*data, *where, *overrides)

    return make


@pytest.fixture
def golden_server() -> ScriptedEndpoint:
    samples = defaultdict(Counter)

    def answer(body):
        text = body["messages"][-1]["content"]
        (question,) = [each for each in GOLDEN if each in text]
        _, greedy, others, _ = GOLDEN[question]
        if body["temperature"] == 0:
            return greedy
        samples[question]["asked"] += 1
        return others[(samples[question]["asked"] - 1) % len(others)]

    return ScriptedEndpoint(answer=answer)


def extracted_and_processed(cfg):
    cell = read_cell(cfg)
    with Ledger(Path(cell.operation.ledger.path), "live", cell.operation.budget) as ledger:
        return asyncio.run(measure(cell, ledger, silent, {}))


def test_the_golden_rows_over_http(composed: Compose, data: list[str], golden_server: ScriptedEndpoint) -> None:
    with golden_server as server:
        where = (
            "model=openai",
            "model.id=scripted",
            f"endpoint.base_url={server.base_url}",
            "endpoint.api_key_env=null",
        )
        cfg = composed(*data, *where, "endpoint.top_k=true")
        extracted, processed, metrics = extracted_and_processed(cfg)
        sent = [request.body for request in server.requests]
        again = extracted_and_processed(cfg)
        assert server.arrived == 7 * len(GOLDEN), "the second run replays"
    assert again[1]["answers"].equals(processed["answers"])
    found = dict(
        extracted["questions"].join(processed["questions"], on="question_id").select("question", "category").rows()
    )
    assert found == {question: category for question, (*_, category) in GOLDEN.items()}
    assert Counter((body["temperature"], body.get("top_k"), body["max_tokens"]) for body in sent) == {
        (0.0, None, 32): len(GOLDEN), (0.5, 40, 32): 6 * len(GOLDEN),
    }  # fmt: skip
    assert all("seed" not in body or body["temperature"] for body in sent)
    assert (metrics["questions"], metrics["incomplete"], metrics["calls"]) == (9, 0, 63)
    assert metrics["accuracy"] == pytest.approx(3 / 9)
    assert metrics["category_score"] == pytest.approx((6 + 5 + 4 + 3 + 2 + 1 + 6 + 1 + 1) / 9)
    assert metrics["accuracy_low"] < 3 / 9 < metrics["accuracy_high"]
    assert (metrics["questions_yes_no"], metrics["accuracy_yes_no"], metrics["questions_open"]) == (1, 1.0, 8)
    assert metrics["stop_reason"] == "finished"


def test_only_a_cut_answer_line_is_truncated_and_its_question_incomplete(
    asked: Compose, server: ScriptedEndpoint
) -> None:
    class Cut:
        async def complete(self, prompt: Prompt, *, draw: int = 0) -> Completion:
            heaviest = "heaviest" in prompt.messages[0].content
            text = "Jupiter\nIt is the heav" if heaviest else "It is the planet that was"
            return Completion(text, "truncated", "length", Usage(1, 32), 1, False, "k", reason="cut")

    probe = read_cell(asked()).probe
    lab = Lab(Cut(), None, None, None, np.random.default_rng(0), silent)
    extracted = asyncio.run(probe.extract(lab))
    processed = asyncio.run(probe.process(lab, extracted))
    metrics = probe.summarise(extracted, processed)
    assert (metrics["questions"], metrics["incomplete"], metrics["share_HK"]) == (1, 8, 1.0)
    assert metrics["truncated"] == 8 * 7
    assert processed["questions"].filter(state="incomplete")["category"].null_count() == 8


def test_what_fails_is_missing_and_asked_again_by_the_next_run(composed: Compose, data: list[str]) -> None:
    broken = [True]

    def faults(number, body):
        return status(500) if broken[0] and "Is Jupiter a star?" in body["messages"][-1]["content"] else None

    with ScriptedEndpoint(faults=faults) as server:
        where = (
            "model=openai",
            "model.id=scripted",
            f"endpoint.base_url={server.base_url}",
            "endpoint.api_key_env=null",
        )
        cfg = composed(*data, *where, "endpoint.attempts=1")
        extracted, _, metrics = extracted_and_processed(cfg)
        assert (metrics["questions"], metrics["incomplete"], metrics["missing"]) == (8, 1, 7)
        stop = extracted["stop"].row(0, named=True)
        assert stop["reason"] == "error"
        assert stop["detail"].startswith("7 requests failed for good")
        broken[0] = False
        _, _, metrics = extracted_and_processed(cfg)
        assert (metrics["questions"], metrics["incomplete"], metrics["stop_reason"]) == (9, 0, "finished")
        assert server.arrived == 7 * 9 + 7


def test_a_budget_cuts_the_run_and_says_so(asked: Compose, server: ScriptedEndpoint) -> None:
    _, _, metrics = extracted_and_processed(asked("budget.calls=20"))
    assert metrics["stop_reason"] == "budget"
    assert metrics["calls"] == 20 == server.arrived
    assert metrics["questions"] + metrics["incomplete"] == 9
    assert metrics["incomplete"] >= 7


def test_cot_reads_what_follows_answer_and_a_base_model_is_shown_four_answered_questions(asked: Compose) -> None:
    probe = read_cell(asked("reasoning=cot", "form=completion")).probe
    prompt = probe.prompt(probe.chosen[0], greedy=False)
    assert prompt.messages[0].content.count("Answer:") == 4
    assert prompt.sampling.max_tokens == 256
    direct = read_cell(asked("form=completion")).probe
    shown = direct.prompt(direct.chosen[0], greedy=True).messages[0].content
    assert shown.endswith(f"Question: {direct.chosen[0].text}\nAnswer:")
    assert shown.count("Answer:") == 5


@pytest.mark.parametrize("reasoning", ["direct", "cot"])
def test_a_question_whose_answer_is_shown_before_it_is_refused(
    composed: Compose, tmp_path: Path, reasoning: str
) -> None:
    path = tmp_path / "shown.jsonl"
    data = "probe=categories", "dataset=jsonl", f"dataset.path={path}", "questions=null", f"reasoning={reasoning}"
    template = "base_cot" if reasoning == "cot" else "base_direct"

    def chosen(question: str, *more: str) -> int:
        asked = {question: "Shakespeare", "Jupiter": "a planet", "8": "a number"}
        path.write_text("".join(json.dumps({"question": q, "answer": gold}) + "\n" for q, gold in asked.items()))
        return len(read_cell(composed(*data, "model=openai", "model.id=some", *more)).probe.chosen)

    with pytest.raises(ConfigError, match=rf"shows 'who wrote  Hamlet' .* take it out .* categories\.{template} "):
        chosen("who wrote  Hamlet", "form=completion")
    assert chosen("Who wrote Hamlet, then?", "form=completion") == 3  # answers that are shown are no questions
    assert chosen("Who wrote Hamlet?", "form=chat") == 3
    alone = f"wording.families.categories.{template}='Which is the largest?\nJupiter\n\n{{{{question}}}}\n'"
    assert chosen("Which is red?", "form=completion", alone) == 3  # nothing tells its questions from its answers
    with pytest.raises(ConfigError, match=rf"categories\.{template} of the wording asks nothing"):
        chosen("Who wrote Faust?", "form=completion", f"wording.families.categories.{template}='Answer:'")


def test_what_a_passage_asks_is_not_shown_by_the_prompt(composed: Compose, tmp_path: Path) -> None:
    path = tmp_path / "faq.jsonl"
    rows = [
        {"question": "What is Y?", "answer": "y", "text": "FAQ\nQuestion: What is X?\nAnswer: x"},
        {"question": "What is X?", "answer": "x", "text": "FAQ\nQuestion: What is Y?\nAnswer: y"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = "probe=categories", "dataset=jsonl", f"dataset.path={path}", "dataset.fields.passage=text"
    given = composed(*data, "questions=null", "model=simulated", "knowledge=external", "form=completion")
    assert len(read_cell(given).probe.chosen) == 2


def test_external_needs_a_passage_and_puts_it_before_the_question(composed: Compose, tmp_path: Path) -> None:
    path = tmp_path / "passages.jsonl"
    rows = [{"question": "Where?", "answer": "here", "text": "It is here."}, {"question": "When?", "answer": "now"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    chosen = (
        "probe=categories",
        "dataset=jsonl",
        f"dataset.path={path}",
        "dataset.fields.passage=text",
        "questions=null",
    )
    probe = read_cell(composed(*chosen, "model=simulated", "knowledge=external")).probe
    with pytest.raises(ConfigError, match="1 of 2 questions"):
        asyncio.run(probe.extract(None))
    path.write_text(json.dumps(rows[0]))
    probe = read_cell(composed(*chosen, "model=simulated", "knowledge=external")).probe
    said = probe.prompt(probe.chosen[0], greedy=True).messages[0].content
    assert said.startswith("It is here.\n\nAnswer the question")


def test_options_that_the_probe_does_not_read_leave_the_cell_as_it_is(asked: Compose, data: list[str]) -> None:
    one, other = read_cell(asked()), read_cell(asked("strategy=sequential", "judge.name=other", "embedder=hashing"))
    assert one.identity.cell_key == other.identity.cell_key
    assert not {"strategy", "domain", "judge", "embedder", "saturation", "prompts"} & one.identity.process.keys()
    assert one.folder == other.folder
    words = title(one)
    assert (words.judge, words.domain, words.strategy) == ("match", "golden", "internal_direct")
    assert one.identity.cell_key != read_cell(asked("temperature=0.7")).identity.cell_key


def test_what_the_probe_sets_itself_is_no_part_of_the_model(composed: Compose, data: list[str]) -> None:
    where = "model=openai", "model.id=some"
    one, other = (read_cell(composed(*data, *where, f"model.max_tokens={longest}")) for longest in (64, 128))
    assert one.identity.cell_key == other.identity.cell_key
    assert not {"temperature", "top_p", "max_tokens"} & one.config["model"].keys()
    with pytest.raises(ConfigError, match="takes no temperature, but probe=categories compares a greedy answer"):
        read_cell(composed(*data, *where, "model.temperature=null"))


def test_a_file_with_other_questions_is_another_cell(asked: Compose, data: list[str], tmp_path: Path) -> None:
    before = read_cell(asked()).identity.cell_key
    path = tmp_path / "golden.jsonl"
    path.write_text(path.read_text() + json.dumps({"question": "Why?", "answer": "because"}))
    assert read_cell(asked()).identity.cell_key != before


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["model=recorded", "strategy=recorded", "recorded.path=x.jsonl"], "needs a model to ask"),
        (["questions=10"], "questions=10, but the data set has 9"),
        (["samples=1"], "samples=1"),
        (["temperature=0"], "temperature=0"),
    ],
)
def test_what_cannot_be_is_one_sentence(composed: Compose, data: list[str], overrides: list[str], said: str) -> None:
    with pytest.raises(FrontierError) as caught:
        asyncio.run(read_cell(composed(*data, "model=simulated", *overrides)).probe.extract(None))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_simulated_model_stands_beside_its_truth(composed: Compose, data: list[str], tmp_path: Path) -> None:
    outcome = run_cell(read_cell(composed(*data, "model=simulated")), silent)
    metrics = outcome.metrics
    assert metrics["accuracy"] == pytest.approx(metrics["truth_accuracy"]), "a greedy answer is always the same"
    assert sum(metrics[f"truth_share_{name}"] for name in CLASSES) == pytest.approx(1)
    words, said = title(outcome.cell), io.StringIO()
    told = outcome.cell.probe.tell(words, metrics)
    show_result(words, metrics, told, outcome.spend, tmp_path, console=Console(file=said, width=120))
    assert said.getvalue().splitlines()[1].startswith("Simulated: no language model was asked")
    assert "truth:" in said.getvalue()
    assert words.line == "simulated · golden · internal_direct"


@pytest.mark.parametrize(("temperature", "over"), [(0.5, "all"), (1.0, "all"), (1.0, "samples")])
def test_simulated_models_are_classified_as_the_exact_multinomial_predicts(temperature: float, over: str) -> None:
    ids = [f"q{place}" for place in range(60)]
    expected, observed = np.zeros(6), np.zeros(6)
    for seed in range(40):
        knower = Knower(seed=seed, knows=0.4)
        rng = np.random.default_rng(seed)
        values = {"golds": ("the gold answer",), "passage": ""}
        rows = []
        for each in ids:
            expected += class_chances(weights(knower, each, passage=False), temperature, 6, greedy_counts=over == "all")
            for draw in range(7):
                value = {**values, "question_id": each, "temperature": temperature if draw else 0.0}
                rows.append((each, draw, reply(knower, "categories.direct", value, rng), "ok", ""))
        questions = [(each, each, ["the gold answer"], "", "", False) for each in ids]
        tables = {
            "questions": pl.DataFrame(questions, schema=QUESTIONS, orient="row"),
            "answers": pl.DataFrame(rows, schema=ANSWERS, orient="row"),
        }
        found = Counter(process(tables, "direct", 7, over)["questions"]["category"])
        observed += [found[name] for name in CLASSES]
    assert observed.sum() == pytest.approx(expected.sum()) == 2400
    assert (expected > 20).all(), "every class is put to the test"
    statistic = float(((observed - expected) ** 2 / expected).sum())
    assert statistic < chi2.ppf(0.999, 5)


def test_class_chances_are_those_of_all_outcomes() -> None:
    log_weights = np.array([-1.0, 0.0, -0.4, -1.1, -2.0])
    chances = np.exp(log_weights * 2) / np.exp(log_weights * 2).sum()
    for counts, first in ((True, [1]), (False, [])):
        totals = Counter()
        for drawn in product(range(5), repeat=3):
            frequent = max(Counter([*first, *drawn]).values())
            whole = 3 + len(first)
            name = "WK" if 0 in drawn else "UU" if frequent == 1 else "CU" if frequent == whole else "MU"
            totals[name] += np.prod(chances[list(drawn)])
        found = class_chances(log_weights, 0.5, 3, greedy_counts=counts)
        assert found.tolist() == pytest.approx([totals[name] for name in CLASSES])


def test_wrong_answers_are_many_names_and_a_passage_helps() -> None:
    names = {normalise(wrong_answer("q", place)) for place in range(1, 41)}
    assert len(names) == 40
    alone, given = (weights(Knower(), "q", passage=passage) for passage in (False, True))
    assert given[0] > alone[0]
    assert given[1:].tolist() == alone[1:].tolist()


def test_a_refused_parameter_is_one_sentence(composed: Compose, data: list[str]) -> None:
    with ScriptedEndpoint(faults=lambda number, body: status(400, "max_tokens must be at least 64")) as server:
        cell = read_cell(composed(*data, *at(server)))
        with Ledger(Path(cell.operation.ledger.path)) as ledger, pytest.raises(FrontierError) as caught:
            asyncio.run(measure(cell, ledger, silent, {}))
    assert "at least 64" in str(caught.value)


def test_questions_that_always_fail_do_not_stop_the_others(composed: Compose, tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text("".join(json.dumps({"question": f"Q{i}?", "answer": "x"}) + "\n" for i in range(80)))
    bad = [f"Q{i}?" for i in range(6)]

    def faults(number, body):
        return status(500) if any(f" {each}" in body["messages"][-1]["content"] for each in bad) else None

    with ScriptedEndpoint(faults=faults) as server:
        chosen = ("probe=categories", "dataset=jsonl", f"dataset.path={path}", "questions=null", "samples=2")
        _, _, metrics = extracted_and_processed(composed(*chosen, *at(server), "endpoint.attempts=1"))
    assert (metrics["questions"], metrics["incomplete"], metrics["stop_reason"]) == (74, 6, "error")


def test_the_other_rule_of_confidence_asks_nothing_again(composed: Compose, data: list[str]) -> None:
    usual = extracted_and_processed(composed(*data, "model=simulated", "model.knower.knows=0"))
    other = extracted_and_processed(
        composed(*data, "model=simulated", "model.knower.knows=0", "phases=[process]", "confidence_over=samples")
    )
    assert other[0]["answers"].equals(usual[0]["answers"])
    assert (other[1]["questions"]["frequency"] <= usual[1]["questions"]["frequency"]).all()


def test_more_samples_than_wrong_answers_cannot_all_differ() -> None:
    chances = class_chances(np.zeros(41), 1.0, 200, greedy_counts=True)
    assert chances.sum() == pytest.approx(1)
    assert chances[3] == 0
