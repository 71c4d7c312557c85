import asyncio
import json
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
from chats import ask, ask_one, client, inside, prompt

from src.errors import ContextExceeded, DataMissing
from src.ledger import Ledger
from src.llm.connection import Connection
from src.llm.faults import Declined, Transient
from src.llm.local import SERVER, Embedded, Reading
from src.llm.transport import Transport

GGUF = Path(__file__).resolve().parents[2] / "data/raw/smollm2_135m/SmolLM2-135M-Instruct.Q4_1.gguf"
SHORT = {"id": "smollm2", "max_tokens": 16}
PROMPTS = [prompt(f"List 3 facts about {topic}.") for topic in ("graphs", "Rome", "light", "jazz")]


def embedded(**more):
    # One thread: two that wait for each other crawl on a machine that does something else as well.
    return Embedded(**{"model_path": GGUF, "revision": "test", "threads": 1, "n_ctx": 512, **more})


def servers():
    return [child for child in psutil.Process().children(recursive=True) if str(SERVER) in " ".join(child.cmdline())]


def texts(tmp_path, name, prompts, *before, **more):
    """Answers of a fresh server with an empty ledger, in the order of PROMPTS; `before` is asked first."""
    with Ledger(tmp_path / name) as ledger:
        said = ask(client(embedded(**more), ledger, model=SHORT), *before, *prompts)
    answers = {one.messages: completion.text for one, completion in zip([*before, *prompts], said, strict=True)}
    return [answers[one.messages] for one in PROMPTS]


def test_an_answer_depends_on_its_request_alone_and_the_server_is_silent(tmp_path, capfd):
    first = texts(tmp_path, "first", PROMPTS)
    assert len({*first, ""}) == 5
    turned = texts(tmp_path, "turned", PROMPTS[::-1], prompt("List 3 facts about cats."))
    assert turned == first
    assert capfd.readouterr() == ("", "")
    assert servers() == []


def asked(topic, words=0, **more):
    """A request whose answer comes with the probabilities of its tokens, to the last digit."""
    text = f"Question: What is a cat?\nAnswer: An animal\n\n{'and so on, ' * words}Question: What is {topic}?\nAnswer:"
    sampled = {"temperature": 0.7, "seed": 1, "max_tokens": 4, "logprobs": 5, "cache_prompt": True}
    return {"model": "m", "prompt": text, **sampled, **more}


def chatted(topic):
    """The same as a chat, with the other name for the longest answer."""
    body = asked(topic, logprobs=True, top_logprobs=5)
    messages = [{"role": "user", "content": body.pop("prompt")}]
    return {**body, "messages": messages, "max_completion_tokens": body.pop("max_tokens")}


BODIES = [asked("a dog"), asked("light"), asked("a dog", 12), asked("light", 12), chatted("a dog"), chatted("light")]


@asynccontextmanager
async def reading():
    """A fresh server."""
    served = embedded()
    async with served.serve("endpoint") as address, Transport("embedded", None, address) as transport:
        yield Reading(transport)


async def said(server, body, timeout_s=60.0):
    path = "/chat/completions" if "messages" in body else "/completions"
    return json.loads(await server.send(path, body, "subject", timeout_s))


@pytest.fixture(scope="module")
def alone():
    """What a fresh server says to each body, to the last digit."""

    async def first(body):
        async with reading() as server:
            return await said(server, body)

    return [asyncio.run(first(body))["choices"] for body in BODIES]


def test_draws_share_one_reading_and_no_digit_hangs_on_what_was_asked_before(alone):
    order = [0, 0, 1, 0, 2, 2, 3, 4, 4, 5, 1, 0, 3, 3, 5]

    async def main():
        async with reading() as server:
            replies = [await said(server, BODIES[at]) for at in order]
            return replies, await said(server, {**BODIES[5], "seed": 2})

    replies, other = asyncio.run(main())
    assert [reply["choices"] for reply in replies] == [alone[at] for at in order]
    assert {reply["timings"]["prompt_n"] for reply in [*replies, other]} == {
        1
    }  # the last token; the rest was read before
    assert all(20 < reply["usage"]["prompt_tokens"] < 120 for reply in replies)
    assert {reply["usage"]["completion_tokens"] for reply in replies} == {4}
    assert other["choices"] != alone[5]


def test_what_was_given_up_leaves_nothing_behind(alone):
    long = {**asked("a dog", 20), "max_tokens": 400, "ignore_eos": True}
    endless = {**BODIES[0], "max_tokens": 400, "ignore_eos": True}

    async def main():
        async with reading() as server:
            replies = [await said(server, BODIES[0])]
            for body, given_up in ((endless, 0.3), (long, 0.3), (long, 0.01)):  # while answering, or reading
                with pytest.raises(Transient, match="no answer"):
                    await said(server, body, given_up)
                replies.append(await said(server, BODIES[0]))
            with pytest.raises(Declined, match="512"):
                await said(server, asked("a dog", 200))
            return [*replies, await said(server, BODIES[0])]

    replies = asyncio.run(main())
    assert [reply["choices"] for reply in replies] == 5 * [alone[0]]
    assert {reply["timings"]["prompt_n"] for reply in replies} == {1}


def test_an_answer_that_goes_on_from_something_else_is_no_answer():
    async def main():
        async with reading() as server:
            await said(server, BODIES[0])
            await server._transport.send("/completions", BODIES[1], "subject", 60)  # behind its back
            with pytest.raises(Transient, match="of a prompt again"):
                await said(server, BODIES[0])
            return await said(server, BODIES[0])

    assert asyncio.run(main())["timings"]["prompt_n"] == 1


def test_a_connection_reads_a_prompt_once():
    async def main():
        async with Connection(embedded()) as connection:
            sent = [connection.post("/completions", BODIES[0], json.loads, role="subject", tokens=9) for _ in range(3)]
            return [received.value for received in await asyncio.gather(*sent)]

    replies = asyncio.run(main())
    assert {reply["timings"]["prompt_n"] for reply in replies} == {1}
    assert replies[0]["choices"] == replies[1]["choices"] == replies[2]["choices"]


def test_draws_and_seeds_differ_and_usage_is_counted(tmp_path):
    with Ledger(tmp_path / "ledger") as ledger:
        connection = Connection(embedded())

        async def main():
            async with connection:
                answers = []
                for seed in (0, 1):
                    chat = client(connection.endpoint, ledger, model=SHORT, seed=seed, connection=connection)
                    answers += await inside(chat, PROMPTS[0], draws=(0, 1))
                assert len(servers()) == 1
                return answers

        said = asyncio.run(main())
    assert len({one.text for one in said}) == 4
    assert {one.usage.tokens_in for one in said} == {37}
    assert all(0 < one.usage.tokens_out <= 16 for one in said)


def test_a_base_model_goes_on_from_a_text(tmp_path):
    completion = {**SHORT, "style": "completion"}
    with Ledger(tmp_path / "ledger") as ledger:
        said = ask_one(client(embedded(), ledger, model=completion), "The capital of France is")
        assert ask_one(client(embedded(), ledger, model=completion), "The capital of France is").replayed
        again = ask_one(client(embedded(), ledger, model=completion, seed=1), "The capital of France is")
    assert said.usage.tokens_in == again.usage.tokens_in < 8  # no chat template around it
    assert (said.state, said.usage.tokens_out, said.finish_reason) == ("truncated", 16, "length")
    assert said.text
    with Ledger(tmp_path / "other") as ledger:
        assert ask_one(client(embedded(), ledger, model=completion), "The capital of France is").text == said.text


def test_a_prompt_that_does_not_fit_is_refused_and_the_server_stops_with_the_run(tmp_path):
    with Ledger(tmp_path / "ledger") as ledger, pytest.raises(ContextExceeded, match="512"):
        ask_one(client(embedded(), ledger, model=SHORT), "word " * 600)
    assert servers() == []


def test_a_run_that_is_cut_short_stops_the_server(tmp_path):
    async def main(chat):
        async with chat, asyncio.TaskGroup() as group:
            group.create_task(chat.complete(prompt("List 100 facts about graphs.")))
            while not servers():
                await asyncio.sleep(0.05)
            raise KeyboardInterrupt

    with Ledger(tmp_path / "ledger") as ledger, pytest.raises(KeyboardInterrupt):
        asyncio.run(main(client(embedded(), ledger)))
    assert servers() == []


def test_the_server_ends_when_its_parent_is_gone():
    options = {"model": str(GGUF), "n_ctx": 512, "threads": 1, "verbosity": -1}
    command = [sys.executable, "-P", str(SERVER), json.dumps(options)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout.readline().startswith(b"http://127.0.0.1:")
        server.stdin.close()  # what happens to it when the parent is killed
        assert server.wait(10) == 0


def test_stored_answers_start_no_server_and_need_no_model(tmp_path):
    with Ledger(tmp_path / "ledger") as ledger:
        first = ask_one(client(embedded(), ledger, model=SHORT))
        gone = embedded(model_path=tmp_path / GGUF.name)
        assert ask_one(client(gone, ledger, model=SHORT)).text == first.text
        with pytest.raises(DataMissing, match=r"python -m src\.fetch.* endpoint\.model_path"):
            ask_one(client(gone, ledger, model=SHORT), "Something new.")


def test_a_damaged_model_is_one_sentence(tmp_path, capfd):
    damaged = tmp_path / "model.gguf"
    damaged.write_bytes(GGUF.read_bytes()[:10_000])
    with Ledger(tmp_path / "ledger") as ledger, pytest.raises(DataMissing, match=r"damaged.*python -m src\.fetch"):
        ask_one(client(embedded(model_path=damaged), ledger, model=SHORT))
    assert capfd.readouterr() == ("", "")


def test_another_file_than_the_revision_names_is_refused(tmp_path):
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF")
    served = embedded(model_path=other, revision="sha256:" + 64 * "0")
    with pytest.raises(DataMissing, match=r"is not the file that model\.revision names .* set model\.revision=sha256:"):
        asyncio.run(start(served))


async def start(served):
    async with served.serve("endpoint"):
        pass


def test_the_server_ends_when_the_run_was_killed_while_it_loaded():
    options = {"model": str(GGUF), "n_ctx": 512, "threads": 1, "verbosity": -1}
    server = subprocess.Popen(
        [sys.executable, "-P", str(SERVER), json.dumps(options)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    server.stdin.close()
    server.stdout.close()  # nobody is left to be told the address
    assert server.wait(60) == 0
