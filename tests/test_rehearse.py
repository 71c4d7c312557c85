"""The rehearsal server as users start it, and each fault as a bare HTTP client sees it."""

import asyncio
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from pathlib import Path

import aiohttp
import pytest
import yaml
from conftest import CONF, Compose

from src.errors import ConfigError
from src.lab.config import read_cell
from src.llm.transport import REHEARSED
from src.prompts import PromptSet, render, render_rubric
from src.records import Rubric
from src.rehearsal import HEADER, Quota, Rates, Rehearsal, Script
from src.rehearsal.answers import THINGS, derived, embedding, fact
from src.rehearsal.kinds import GROUPS, KINDS, fault, table
from src.rehearse import DIMENSION, PORT, main
from src.text.lists import parse_names, parse_sentences
from src.text.points import read_points
from src.text.reasoning import strip_reasoning

ROOT = CONF.parent
BODY = {"model": "m", "messages": [{"role": "user", "content": "List 8 facts about jazz."}]}
PROPER = derived(BODY["messages"])
VALUES = {
    "query": "Deep learning",
    "path": ("Optimisation", "Schedules"),
    "count": 5,
    "have": ("Warm-up",),
    "points": (fact(1), fact(2)),
    "history": (f"- {fact(3)}\n- {fact(4)}",),
    "expert": "A gate engineer knows best what removes bias in image search.",
}
SETS = {path.stem: yaml.safe_load(path.read_text()) for path in sorted((CONF / "prompts").glob("*.yaml"))}
TEMPLATES = [
    (name, f"{family}.{template}")
    for name, said in SETS.items()
    for family, templates in said["families"].items()
    for template in templates
]


async def post(url, body=BODY, path="/chat/completions", headers=None):
    """Status, headers and body of a response."""
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(10)) as session,
        session.post(url + path, json=body, headers=headers) as response,
    ):
        return response.status, response.headers, await response.read()


def ask(url, body=BODY, path="/chat/completions", headers=None):
    return asyncio.run(post(url, body, path, headers))


def met(written, body=BODY, path="/chat/completions"):
    """What a client sees of a fault."""
    with Rehearsal(faults=[fault(written)[1]()]) as server:
        return ask(server.base_url, body, path)


def choice(body):
    return json.loads(body)["choices"][0]


# -- the command -------------------------------------------------------------------------------------------------------


@contextmanager
def started(*arguments, **environment):
    """The command with a free port; yields the process, its address and what it said first."""
    command = [sys.executable, "-m", "src.rehearse", "--port", "0", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, **environment}
    ) as process:
        try:
            said = [process.stdout.readline() for _ in range(3)]
            yield process, re.search(r"http://127\.0\.0\.1:\d+/v1", said[0])[0], "".join(said)
        finally:
            if process.poll() is None:
                process.terminate()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_the_command_says_where_it_is_answers_and_ends_cleanly(ending):
    # A slow answer that is under way does not keep it from ending.
    with started("--faults", "slow:60=1", "--latency", "0.01") as (process, url, said):
        assert f"endpoint=rehearsal endpoint.base_url={url}" in said
        assert "tokens are words" in said
        with socket.create_connection(("127.0.0.1", int(url.split(":")[2][:-3]))) as waiting:
            sent = json.dumps(BODY).encode()
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(sent)}\r\n\r\n"
            waiting.sendall(head.encode() + sent)
            time.sleep(0.3)
            process.send_signal(ending)
            output, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (0, "")
    assert "1 requests arrived; 1 of them met a fault." in output


def test_the_command_serves_what_its_options_say(tmp_path):
    script = tmp_path / "bad_day.txt"
    script.write_text("503\n2 x ok\n")
    options = (
        "--models",
        "m,n",
        "--context",
        "9",
        "--key-env",
        "REHEARSED_KEY",
        "--facts",
        "8",
        "--script",
        str(script),
    )
    with started(*options, REHEARSED_KEY="sesame") as (_, url, said):
        assert "endpoint.api_key_env=REHEARSED_KEY" in said
        assert "sesame" not in said
        key = {"Authorization": "Bearer sesame"}
        assert ask(url, headers=key)[0] == 503
        assert ask(url)[0] == 401
        status, headers, body = ask(url, headers=key)
        assert (status, headers[HEADER], json.loads(body)["system_fingerprint"]) == (200, "1", "rehearsal")
        assert set(choice(body)["message"]["content"].split("\n")) == {f"- {fact(number)}" for number in range(8)}
        assert ask(url, {**BODY, "model": "o"}, headers=key)[0] == 404
        long = {"model": "m", "messages": [{"role": "user", "content": "word " * 10}]}
        assert ask(url, long, headers=key)[0] == 400
        status, _, body = ask(url, {"model": "m", "input": ["a b", "c"]}, "/embeddings", headers=key)
        assert [len(item["embedding"]) for item in json.loads(body)["data"]] == [DIMENSION, DIMENSION]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--faults", "429=2"], "add up to at most 1"),
        (["--faults", "flood=0.1"], "unknown fault 'flood'; there are 429, "),
        (["--faults", "slow"], "'slow' is no number"),
        (["--faults", "html:3=0.1"], "html takes no amount"),
        (["--script", "/nowhere"], "cannot be read"),
        (["--key-env", "NO_SUCH_KEY"], "NO_SUCH_KEY is not set"),
    ],
)
def test_a_bad_option_is_one_sentence(arguments, said, capsys):
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_a_port_that_is_taken_is_one_sentence(capsys):
    with Rehearsal() as server:
        assert main(["--port", str(server.port)]) == 1
    assert "choose another with --port" in capsys.readouterr().err


def test_the_endpoint_option_is_the_command_s_server_and_a_whole_paid_run_composes(composed: Compose):
    roles = ("endpoint=rehearsal", "endpoint@judge.endpoint=rehearsal", "endpoint@embedder.endpoint=rehearsal")
    said = ("model=llama70b", "strategy=taxonomy_l5w5", "judge=deepseek_v31", "embedder=qwen3_8b", *roles)
    cell = read_cell(composed(*said))
    served = (cell.parts.endpoint, cell.parts.judge_endpoint, cell.parts.embedder.endpoint)
    assert {(one.name, one.base_url) for one in served} == {("rehearsal", f"http://127.0.0.1:{PORT}/v1")}
    assert cell.parts.embedder.dimension == DIMENSION
    assert cell.config["model"]["name"] == "rehearsed-llama70b"
    assert HEADER == REHEARSED


# -- answers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("set_name", "template"), TEMPLATES)
def test_every_prompt_of_every_set_gets_what_it_asks_for(set_name, template):
    prompts = PromptSet(SETS[set_name]["name"], SETS[set_name]["families"])
    asked = render(prompts, template, VALUES).messages[-1].content
    answer = derived([{"role": "user", "content": asked}])
    numbered = "numbered list" in asked
    assert re.search(r"^1\. " if numbered else r"^- ", answer, re.MULTILINE)
    if template in ("taxonomy.children", "taxonomy.missing"):
        assert len(parse_names(answer, truncated=False)) == 5
        assert all(not name.endswith(".") for name in parse_names(answer, truncated=False))
    elif template in ("personas.experts", "personas.missing"):
        experts = parse_sentences(answer, truncated=False)
        assert len(experts) == 5
        assert all(" knows best " in expert for expert in experts)
    else:
        form = "critique" if template.startswith("reflective") else "list"
        assert ("\nNEW POINTS\n" in answer) == (form == "critique")
        points = read_points(answer, form, truncated=False).items
        assert len(points) == int([8, *re.findall(r"exactly (\d+)", asked)][-1])
        assert all(any(f" {thing} " in point.text for thing in THINGS) for point in points)


@pytest.mark.parametrize("rubric", sorted(path.stem for path in (CONF / "rubric").glob("*.yaml")))
@pytest.mark.parametrize("draw", [0, 1])
def test_every_rubric_gets_its_labels(rubric, draw):
    read = yaml.safe_load((CONF / "rubric" / f"{rubric}.yaml").read_text())
    read.pop("_target_")
    made = Rubric(**read)
    values = {"domain": "jazz", "atom": "", "first": "One.", "second": "Two."}
    prompts = [render_rubric(made, {**values, "atom": f"Point {n}.", "first": f"Point {n}."}, draw) for n in range(60)]
    answers = {derived([{"role": "user", "content": prompt.messages[-1].content}]) for prompt in prompts}
    assert answers == set(made.labels)


def test_a_capital_word_in_a_question_is_no_label():
    answer = derived([{"role": "user", "content": "List exactly 8 facts about DNA and RNA as a numbered list."}])
    assert answer.startswith("1. The ")


def test_new_facts_become_rare():
    seen, fresh = set(), []
    for turn in range(40):
        lines = set(derived([{"role": "user", "content": f"Turn {turn}"}], facts=60).split("\n"))
        fresh.append(len(lines - seen))
        seen |= lines
    assert sum(fresh[:5]) > 25
    assert sum(fresh[-10:]) < 5


def test_texts_that_share_words_lie_near_to_one_another():
    def cosine(one, other):
        a, b = embedding(one, 256), embedding(other, 256)
        return sum(x * y for x, y in zip(a, b, strict=True)) / (sum(x * x for x in a) * sum(y * y for y in b)) ** 0.5

    near = cosine(fact(0), fact(0).replace("reduces", "lowers"))
    assert near > 0.7 > 0.3 > cosine(fact(0), "Nothing is shared here at all, or is there?")
    assert any(embedding("", 1))


def test_completions_embeddings_and_models_are_served():
    with Rehearsal(models={"b", "m"}) as server:
        body = {"model": "m", "prompt": "List 8 facts about jazz.", "max_tokens": 6}
        _, _, said = ask(server.base_url, body, "/completions")
        assert choice(said) == {"index": 0, "text": " ".join(PROPER.split()[:6]) + " ", "finish_reason": "length"}
        _, _, said = ask(server.base_url, {"model": "m", "input": "a b", "dimensions": 3}, "/embeddings")
        assert json.loads(said)["usage"] == {"prompt_tokens": 2, "completion_tokens": 0, "total_tokens": 2}
        assert [len(item["embedding"]) for item in json.loads(said)["data"]] == [3]

        async def models():
            async with aiohttp.ClientSession() as session, session.get(f"{server.base_url}/models") as response:
                return response.headers[HEADER], await response.json()

        name, listed = asyncio.run(models())
        assert (name, [one["id"] for one in listed["data"]]) == ("1", ["b", "m"])


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/chat/completions", {"model": "m"}, "messages"),
        ("/chat/completions", {"model": "m", "messages": [{"role": "user"}]}, "messages"),
        ("/chat/completions", {"messages": []}, "model"),
        ("/chat/completions", {**BODY, "stream": True}, "stream"),
        ("/chat/completions", [], "JSON object"),
        ("/embeddings", {"model": "m", "input": []}, "input"),
    ],
)
def test_a_request_that_is_none_is_refused_in_the_server_s_name(path, body, said):
    with Rehearsal() as server:
        status, headers, text = ask(server.base_url, body, path)
    assert (status, headers[HEADER]) == (400, "1")
    assert said in json.loads(text)["error"]["message"]


# -- each fault --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "status", "header"),
    [
        ("429", 429, None),
        ("429:3", 429, ("Retry-After", "3")),
        ("429:-5", 429, ("Retry-After", "-5")),
        ("429:277000", 429, ("Retry-After", "277000")),
        ("429_ms", 429, ("retry-after-ms", "500")),
        ("408", 408, None),
        ("409", 409, None),
        ("500", 500, None),
        ("503", 503, None),
        ("401", 401, None),
        ("402", 402, None),
    ],
)
def test_errors(written, status, header):
    found, headers, body = met(written)
    assert (found, headers[HEADER]) == (status, "1")
    assert json.loads(body)["error"]["message"]
    if header:
        assert headers[header[0]] == header[1]
    else:
        assert "Retry-After" not in headers


def test_a_date_to_wait_for_lies_ahead():
    _, headers, _ = met("429_date:30")
    wait = (parsedate_to_datetime(headers["Retry-After"]) - parsedate_to_datetime(headers["Date"])).total_seconds()
    assert 29 <= wait <= 32


def test_pages_instead_of_answers():
    assert {met("html")[1]["Content-Type"], met("502")[1]["Content-Type"]} == {"text/html"}
    assert met("502")[0] == 502
    status, headers, body = met("html_as_json")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert body.startswith(b"<!doctype html>")


@pytest.mark.parametrize(("written", "first_s", "last_s"), [("slow:0.4", 0.4, 0.0), ("drip:0.4", 0.0, 0.3)])
def test_slow_answers_are_complete(written, first_s, last_s):
    async def timed(url):
        async with aiohttp.ClientSession() as session:
            begun = time.monotonic()
            async with session.post(url + "/chat/completions", json=BODY) as response:
                first = time.monotonic()
                body = await response.read()
                return first - begun, time.monotonic() - first, body

    with Rehearsal(faults=[fault(written)[1]()]) as server:
        first, last, body = asyncio.run(timed(server.base_url))
    assert first_s <= first < first_s + 0.3
    assert last_s <= last < last_s + 0.5
    assert choice(body)["message"]["content"] == PROPER


def test_broken_connections():
    with pytest.raises(aiohttp.ServerDisconnectedError):
        met("dropped")
    with pytest.raises(aiohttp.ClientPayloadError):
        met("half")
    status, headers, body = met("invalid_json")
    assert (status, int(headers["Content-Length"])) == (200, len(body))
    with pytest.raises(ValueError, match="Unterminated"):
        json.loads(body)


def test_fields_that_hold_nothing():
    assert json.loads(met("empty_choices")[2])["choices"] == []
    assert json.loads(met("null_choices")[2])["choices"] is None
    answer = json.loads(met("null_usage")[2])
    assert (answer["usage"], answer["choices"][0]["message"]["content"]) == (None, PROPER)


def test_reasoning():
    told = choice(met("think")[2])["message"]["content"]
    assert told.startswith("<think>\n")
    assert "\n- " in told.partition("</think>")[0]
    assert strip_reasoning(told) == PROPER
    told = choice(met("think_closed")[2])["message"]["content"]
    assert "<think>" not in told
    assert strip_reasoning(told) == PROPER
    unclosed = choice(met("think_unclosed")[2])
    assert (strip_reasoning(unclosed["message"]["content"]), unclosed["finish_reason"]) == ("", "length")
    beside = choice(met("reasoning_content")[2])["message"]
    assert (beside["content"], bool(beside["reasoning_content"])) == (PROPER, True)


def test_lists_that_are_cut_filtered_or_without_end():
    cut = choice(met("cut_list")[2])
    kept = cut["message"]["content"]
    assert cut["finish_reason"] == "length"
    assert PROPER.startswith(kept)
    assert (kept[-1] + PROPER[len(kept)]).isalnum()
    filtered = choice(met("content_filter")[2])
    assert (filtered["message"]["content"], filtered["finish_reason"]) == ("", "content_filter")
    giant = choice(met("giant:1")[2])
    assert len(giant["message"]["content"]) == len(PROPER) + 2**20
    assert (giant["message"]["content"].startswith(PROPER), giant["finish_reason"]) == (True, "length")
    body = {"model": "m", "prompt": "List 8 facts about jazz."}
    assert choice(met("content_filter", body, "/completions")[2])["text"] == ""


def test_bodies_that_are_too_large():
    assert len(met("too_large:1")[2]) == 2**20

    async def some(url):
        async with aiohttp.ClientSession() as session, session.post(url + "/chat/completions", json=BODY) as response:
            return len(await response.content.readexactly(3 * 2**20)), response.content_length

    with Rehearsal(faults=[fault("endless")[1]()]) as server:
        assert asyncio.run(some(server.base_url)) == (3 * 2**20, None)


@pytest.mark.parametrize(("written", "field"), [("400_temperature", "temperature"), ("400_max_tokens", "max_tokens")])
def test_refused_parameters(written, field):
    status, _, body = met(written)
    assert (status, json.loads(body)["error"]["param"]) == (400, field)


@pytest.mark.parametrize("written", [kind.name for kind in KINDS if kind.group == "content"] + ["empty_choices"])
def test_vectors_are_spared_by_faults_of_choices(written):
    status, _, body = met(written, {"model": "m", "input": ["a"]}, "/embeddings")
    assert (status, json.loads(body)["data"][0]["embedding"]) == (200, embedding("a"))


def test_every_fault_is_observed_above_and_told_to_users():
    here = Path(__file__).read_text()
    assert [kind.name for kind in KINDS if f'"{kind.name}' not in here] == []
    assert {kind.group for kind in KINDS} == GROUPS.keys()
    assert table() in (ROOT / "docs" / "rehearsal.md").read_text()


# -- which request meets which fault -----------------------------------------------------------------------------------


def bodies(count):
    return [{"model": "m", "input": [str(number)]} for number in range(count)]


def drawn(written, seed, order):
    rates = Rates(written, seed)
    found = {}
    for number, body in enumerate(order):
        met = rates(number, body)
        found.setdefault(body["input"][0], []).append(met and (met.status, met.delay_s))
    return found


def test_rates_draw_the_same_faults_in_any_order_and_others_by_another_seed():
    order = bodies(300) * 3
    shuffled = random.Random(0).sample(order, len(order))
    assert drawn("503=0.1,slow:5=0.1", 1, order) == drawn("503=0.1,slow:5=0.1", 1, shuffled)
    assert drawn("503=0.1,slow:5=0.1", 1, order) != drawn("503=0.1,slow:5=0.1", 2, order)


def test_rates_are_shares_and_a_second_attempt_may_pass():
    found = drawn("503=0.2,slow:5=0.1", 3, bodies(2000) * 2)
    counts = Counter(faults[0] for faults in found.values())
    assert 340 < counts[(503, 0.0)] < 460
    assert 150 < counts[(200, 5.0)] < 250
    again = Counter(faults[1] for faults in found.values() if faults[0])
    assert 0.6 < again[None] / again.total() < 0.8


def test_the_rate_of_a_group_is_divided_among_its_faults():
    for written in ("0.5", "transport=0.5"):
        rates = Rates(written, 0)
        found = [rates(number, body) for number, body in enumerate(bodies(3000))]
        assert 1350 < sum(met is not None for met in found) < 1650
        assert {met.status for met in found if met} == {200, 408, 409, 429, 500, 502, 503}
    stopping = Rates("stop=1", 0)
    assert all(stopping(0, body) for body in bodies(50))


def test_a_script_goes_by_order_and_windows_go_by_time():
    now = [100.0]
    script = Script("503 # first\n\n2 x ok\n3x html\n\nfrom 10 for 5: 429:2\nfrom 20 for 1: ok", lambda: now[0])

    def statuses(count):
        return [met and (met.status, dict(met.headers)) for met in (script(0, {}) for _ in range(count))]

    assert statuses(3) == [(503, {}), None, None]
    now[0] = 110.0
    assert statuses(4) == [(429, {"Retry-After": "2"})] * 4
    now[0] = 115.0
    assert statuses(1) == [(200, {"Content-Type": "text/html"})]
    now[0] = 120.5
    assert statuses(1) == [None]
    now[0] = 121.0
    assert statuses(4) == [(200, {"Content-Type": "text/html"})] * 2 + [None] * 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ok\nflood", "line 2 of the script: unknown fault 'flood'"),
        ("429 503", "line 1 of the script: '429 503' is neither"),
        ("from 1 for ever: 429", "is neither"),
        ("from 1.2.3 for 2: 429", "'1.2.3' is no number"),
    ],
)
def test_a_script_that_cannot_be_read_is_refused_with_its_line(text, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        Script(text)


def test_a_quota_rejects_what_is_beyond_it():
    now = [0.0]
    quota = Quota(5, lambda: now[0])
    assert [quota(0, {}) is None for _ in range(7)] == [True] * 5 + [False] * 2
    now[0] = 0.5
    rejected = [quota(0, {}) for _ in range(4)]
    assert [met and met.status for met in rejected] == [None, None, 429, 429]
