import asyncio
import gzip
import json
import socket
import time
import traceback
import zlib

import psutil
import pytest
from chats import ask, ask_one, asked_again, client, endpoint, inside, prompt
from endpoint import (
    BROKEN_OFF,
    CUT_JSON,
    DROPPED,
    ENDLESS,
    HTML,
    NO_CHOICES,
    NO_USAGE,
    NULL_CHOICES,
    Fault,
    ScriptedEndpoint,
    content,
    slow,
    status,
)

from src.errors import ConfigError, ContextExceeded, EndpointError, LedgerMiss
from src.ledger import Ledger, Payer, Reply, request_key
from src.llm.config import Endpoint, Price
from src.llm.connection import Connection
from src.records import Message, Prompt, Usage

SECRET = "sk-live-4f9a0c7e"


def completed(text, finish="stop"):
    """The answer of a model that does not chat."""
    choice = {"index": 0, "text": text, "finish_reason": finish}
    return Fault(body={"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 9}})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path):
    with Ledger(path) as opened:
        yield opened


def test_an_answer_comes_as_it_was_sent_with_its_tokens(ledger):
    with ScriptedEndpoint() as server:
        said = ask_one(client(endpoint(server), ledger))
    assert said.text.count("\n- ") == 2
    assert (said.state, said.finish_reason, said.reason) == ("ok", "stop", "")
    assert said.usage == Usage(5, len(said.text.split()))
    assert (said.attempts, said.requests, said.replayed) == (1, 1, False)


def test_a_stored_answer_needs_no_server_no_key_and_no_context(path, monkeypatch):
    monkeypatch.setenv("SCRIPTED_KEY", SECRET)
    with ScriptedEndpoint(key=SECRET) as server:
        served = endpoint(server, api_key_env="SCRIPTED_KEY")
        with Ledger(path) as ledger:
            first = ask_one(client(served, ledger))
    monkeypatch.delenv("SCRIPTED_KEY")
    with Ledger(path, "replay") as ledger:
        again = asyncio.run(client(served, ledger).complete(prompt()))
        assert again.replayed
        assert (again.text, again.usage, again.key) == (first.text, first.usage, first.key)
        with pytest.raises(LedgerMiss):
            ask_one(client(served, ledger), "List 4 facts about graphs.")


def test_six_draws_are_six_answers_and_the_second_run_makes_no_call(ledger):
    def made(body):
        return f"Answer {time.monotonic_ns()}."

    with ScriptedEndpoint(answer=made) as server:
        chat = client(endpoint(server), ledger)
        first = ask(chat, draws=range(6))
        second = ask(chat, draws=range(6))
        assert server.count() == 6
    assert len({said.text for said in first}) == 6
    assert [said.text for said in second] == [said.text for said in first]
    assert all(said.replayed for said in second)


def test_whatever_changes_the_answer_changes_the_key(ledger):
    def any_style(number, body):
        return completed("- A.") if "prompt" in body else None

    with ScriptedEndpoint(faults=any_style) as server, ScriptedEndpoint() as elsewhere:
        variants = [
            client(endpoint(server), ledger),
            client(endpoint(server), ledger, model={"id": "m2"}),
            client(endpoint(server), ledger, model={"revision": "2"}),
            client(endpoint(server), ledger, model={"temperature": 0.8}),
            client(endpoint(server), ledger, model={"temperature": None}),
            client(endpoint(server), ledger, model={"top_p": 0.9}),
            client(endpoint(server), ledger, model={"max_tokens": 101}),
            client(endpoint(server), ledger, model={"max_tokens_as": "max_completion_tokens"}),
            client(endpoint(server), ledger, seed=1),
            client(endpoint(server, name="other"), ledger),
            client(endpoint(server, extra_body={"top_k": 40}), ledger),
            client(endpoint(server, seed=True), ledger),
            client(endpoint(elsewhere), ledger),
            client(endpoint(server), ledger, model={"style": "completion"}),
        ]
        keys = [ask_one(chat).key for chat in variants]
        keys += [said.key for said in ask(variants[0], prompt("Other."), draws=(0, 1))]
        assert len(set(keys)) == len(keys) == server.count() + elsewhere.count()


def test_the_key_of_a_known_request_stays_what_it_is(ledger):
    # Changed on purpose only: every answer that was ever paid for lies under such a key.
    said = {
        "kind": "chat",
        "endpoint": "scripted",
        "origin": "http://127.0.0.1:18077",
        "model": "m",
        "revision": None,
        "messages": [{"role": "user", "content": "List 3 facts about graphs."}],
        "fields": {"top_k": 40, "max_tokens": 100, "temperature": 0.7},
        "seeded": True,
        "draw": 0,
        "seed": 0,
    }
    served = Endpoint("scripted", "http://127.0.0.1:18077/v1", extra_body={"top_k": 40}, seed=True)
    key = request_key(said)
    assert key == "14f29fef3bcad451a3e8710ee3e36ea9ae33af46c097beed371da8101807df56"
    payer = Payer("cell", "subject", "test", "scripted", lambda usage: None)

    async def stored():
        async def pay():
            return Reply("- A.", "ok", "stop", Usage(1, 1), 1, 0.0)

        await ledger.answer(said, payer, pay)
        return await client(served, ledger).complete(prompt())

    assert asyncio.run(stored()).key == key


def test_how_an_answer_is_fetched_does_not_change_the_key(ledger, monkeypatch):
    monkeypatch.setenv("OTHER_KEY", SECRET)
    with ScriptedEndpoint() as server:
        ask_one(client(endpoint(server), ledger))
        reach = {"timeout_s": 7, "attempts": 1, "deadline_s": 7, "concurrency": 1, "api_key_env": "OTHER_KEY"}
        limits = {"requests_per_minute": 60, "tokens_per_minute": 60_000}
        for change in ({name: value} for name, value in {**reach, **limits}.items()):
            assert ask_one(client(endpoint(server, **change), ledger)).replayed, change
        assert ask_one(client(endpoint(server), ledger, role="writer", cell_key="other")).replayed
        assert server.count() == 1


@pytest.mark.parametrize(
    ("change", "shared"), [({"role": "judge"}, True), ({"model": {"temperature": 0}}, True), ({}, False)]
)
def test_the_run_seed_counts_only_where_answers_are_sampled_for_the_run(ledger, change, shared):
    with ScriptedEndpoint() as server:
        ask_one(client(endpoint(server), ledger, seed=1, **change))
        assert ask_one(client(endpoint(server), ledger, seed=2, **change)).replayed == shared


def test_the_body_holds_the_sampling_and_a_seed_from_the_key(ledger):
    with ScriptedEndpoint() as server:
        served = endpoint(server, seed=True, extra_body={"top_k": 40})
        first, second = ask(client(served, ledger, model={"top_p": 0.9}), draws=(0, 1))
        bodies = [arrived.body for arrived in server.requests]
    for body in bodies:
        seed = body.pop("seed")
        assert seed in {int(said.key[:8], 16) // 2 for said in (first, second)}
    assert bodies[0] == bodies[1]
    assert bodies[0] == {
        "model": "m",
        "messages": [{"role": "user", "content": "List 3 facts about graphs."}],
        "max_tokens": 100,
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 40,
    }


def test_a_prompt_of_any_characters_can_be_sent(ledger):
    with ScriptedEndpoint() as server:
        assert ask_one(client(endpoint(server), ledger), "苯 \x00 \ud800 \U0001f600 exactly 2 facts").state == "ok"
        assert server.requests[0].body["messages"][0]["content"] == "苯 \x00 � \U0001f600 exactly 2 facts"


BROKEN = {
    "html": HTML,
    "cut json": CUT_JSON,
    "no choices": NO_CHOICES,
    "null choices": NULL_CHOICES,
    "dropped": DROPPED,
    "broken off": BROKEN_OFF,
    "not utf-8": Fault(body=b'{"choices": [{"message": {"content": "\xff"}}]}'),
    "not http": Fault(body=b"", headers={"Content-Encoding": "gzip", "Transfer-Encoding": "nonsense"}),
    "500": status(500),
    "429": status(429, "slow down"),
    "408": status(408),
}


@pytest.mark.parametrize("fault", BROKEN.values(), ids=BROKEN)
def test_a_broken_response_is_asked_for_again(fault, ledger):
    with ScriptedEndpoint(faults=[fault]) as server:
        said = ask_one(client(endpoint(server), ledger))
        assert (said.state, said.attempts, server.count()) == ("ok", 2, 2)


@pytest.mark.parametrize("fault", [fault for fault in BROKEN.values() if fault.status != 429])
def test_attempts_used_up_are_a_state_with_a_reason_and_are_not_stored(fault, ledger):
    with ScriptedEndpoint(faults=[None, fault, fault]) as server:
        chat = client(endpoint(server), ledger)
        ask_one(chat, "Warm up.")
        said = ask_one(chat)
        assert (said.state, said.text, said.attempts, server.count()) == ("error", "", 2, 3)
        assert "endpoint scripted" in said.reason
        assert "(2 attempts)" in said.reason
        assert ask_one(chat).state == "ok"


@pytest.mark.parametrize("attempts", [1, 3])
def test_attempts_are_exactly_those_configured(attempts, ledger):
    with ScriptedEndpoint(faults=lambda number, body: status(500)) as server:
        said = ask_one(client(endpoint(server, attempts=attempts), ledger))
        assert (said.state, said.attempts, server.count()) == ("error", attempts, attempts)


def test_only_a_failure_that_surely_cost_nothing_costs_nothing(ledger):
    price = Price(1.0, 1.0, "2026-11-30")
    for number, (fault, cost) in enumerate([(status(500), 0.0), (CUT_JSON, None)]):
        with ScriptedEndpoint(faults=[fault, fault]) as server:
            ask_one(client(endpoint(server), ledger, model={"price": price}, cell_key=f"cell {number}"))
        assert ledger.spend(f"cell {number}")["subject"].cost_usd == cost


@pytest.mark.parametrize(
    ("fault", "states"),
    [
        (slow(2.0), {"error"}),
        (ENDLESS, {"error", "truncated"}),  # whichever bound comes first
        (Fault(body=b" " * (20 << 20)), {"truncated"}),
        (Fault(500, b"x" * (20 << 20)), {"error"}),
        (Fault(body=gzip.compress(b" " * (20 << 20)), headers={"Content-Encoding": "gzip"}), {"truncated"}),
        (Fault(500, zlib.compress(b" " * (64 << 20), 1), headers={"Content-Encoding": "deflate"}), {"error"}),
    ],
    ids=["late", "endless", "20 MB", "20 MB of error", "20 MB unpacked", "64 MB of error unpacked"],
)
def test_a_response_is_bounded_in_time_and_size(fault, states, ledger):
    with ScriptedEndpoint(faults=[fault]) as server:
        start = time.perf_counter()
        said = ask_one(client(endpoint(server, attempts=1, timeout_s=1.0), ledger))
        assert said.state in states
        assert "within 1 s" in said.reason or "16 MiB" in said.reason
        assert time.perf_counter() - start < 5
        assert server.count() == 1


def test_an_answer_that_is_too_large_is_final_and_not_asked_for_again(ledger):
    with ScriptedEndpoint(faults=[Fault(body=b" " * (17 << 20))]) as server:
        first, second = (ask_one(client(endpoint(server), ledger)) for _ in range(2))
        assert (first.state, first.text, first.usage.tokens_out) == ("truncated", "", None)
        assert (second.state, second.replayed, server.count()) == ("truncated", True, 1)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "identity"])
def test_no_compression_is_asked_for_and_a_usual_one_is_read(encoding, ledger):
    text = json.dumps({"choices": [{"message": {"content": "- A."}, "finish_reason": "stop"}]}).encode()
    packed = {"gzip": gzip.compress, "deflate": zlib.compress}.get(encoding, bytes)(text)
    with ScriptedEndpoint(faults=[Fault(body=packed, headers={"Content-Encoding": encoding})]) as server:
        said = ask_one(client(endpoint(server), ledger))
        assert (said.state, said.attempts) == ("ok", 2 if encoding == "br" else 1)
        assert server.requests[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("packed", [b"no gzip", gzip.compress(b"{}" * 999)[:-9]], ids=["no gzip", "cut short"])
def test_damaged_compression_is_asked_for_again(packed, ledger):
    with ScriptedEndpoint(faults=[Fault(body=packed, headers={"Content-Encoding": "gzip"})]) as server:
        assert ask_one(client(endpoint(server), ledger)).attempts == 2


@pytest.mark.parametrize("code", [401, 402, 403, 404])
def test_a_key_appears_in_no_message_traceback_or_file(code, ledger, path, monkeypatch):
    monkeypatch.setenv("SCRIPTED_KEY", SECRET)
    with ScriptedEndpoint(faults=[status(code, f"Incorrect API key: {SECRET}"), status(500, SECRET)]) as server:
        chat = client(endpoint(server, api_key_env="SCRIPTED_KEY", attempts=1), ledger)
        with pytest.raises(EndpointError, match=r"SCRIPTED_KEY|model\.id") as caught:
            ask_one(chat)
        assert f"HTTP {code}: Incorrect API key: ***" in str(caught.value)
        assert SECRET not in "".join(traceback.format_exception(caught.value))
        failed = ask_one(chat)
        assert failed.state == "error"
        assert SECRET not in repr(failed)
        assert ask_one(chat).state == "ok"
        assert {arrived.headers["authorization"] for arrived in server.requests} == {f"Bearer {SECRET}"}
    for file in path.parent.iterdir():
        assert SECRET.encode() not in file.read_bytes()


@pytest.mark.parametrize("body", [f"<p>Bearer {SECRET}</p>", json.dumps({"error": SECRET}), None])
def test_a_server_that_repeats_the_key_does_not_bring_it_in(body, ledger, monkeypatch):
    monkeypatch.setenv("SCRIPTED_KEY", SECRET)
    with ScriptedEndpoint(faults=[Fault(body=body.encode())] if body else [content(SECRET)]) as server:
        said = ask_one(client(endpoint(server, api_key_env="SCRIPTED_KEY", attempts=1), ledger))
    assert SECRET not in repr(said)
    assert "***" in said.reason + said.text


@pytest.mark.parametrize("value", ["sk\u20114f9a", "sk-4f9a\nsk-4f9b"])
def test_a_variable_that_holds_no_key_is_named_and_not_shown(value, ledger, monkeypatch):
    monkeypatch.setenv("SCRIPTED_KEY", value)
    with ScriptedEndpoint() as server, pytest.raises(ConfigError, match="SCRIPTED_KEY holds characters") as caught:
        ask_one(client(endpoint(server, api_key_env="SCRIPTED_KEY"), ledger))
    assert "4f9a" not in "".join(traceback.format_exception(caught.value))


def test_a_missing_variable_is_named_at_the_first_live_call_only(ledger, monkeypatch):
    monkeypatch.delenv("SCRIPTED_KEY", raising=False)
    with ScriptedEndpoint() as server:
        ask_one(client(endpoint(server), ledger))
        chat = client(endpoint(server, api_key_env="SCRIPTED_KEY"), ledger)
        assert ask_one(chat).replayed
        with pytest.raises(ConfigError, match=r"SCRIPTED_KEY, which is not set.* endpoint\.api_key_env=null"):
            ask_one(chat, "Something new.")
        assert server.count() == 1


def test_a_keyless_server_is_sent_no_key_of_another(ledger, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, SECRET)
    with ScriptedEndpoint() as server:
        ask_one(client(endpoint(server), ledger))
        assert SECRET not in json.dumps(server.requests[0].headers | {})
        assert "authorization" not in server.requests[0].headers


def test_a_proxy_from_the_environment_does_not_stand_before_this_machine(ledger, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with ScriptedEndpoint() as server:
        assert ask_one(client(endpoint(server), ledger)).state == "ok"


def test_an_address_where_nobody_listens_is_named(ledger):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(EndpointError, match=r"cannot be reached.*; 2 attempts.*endpoint\.base_url") as caught:
            ask_one(client(Endpoint("scripted", url, attempts=2), ledger))
    assert url in str(caught.value)


def test_a_server_that_dies_later_is_an_error_of_the_request(ledger):
    async def main(server):
        async with client(endpoint(server), ledger) as chat:
            await chat.complete(prompt("Warm up."))
            server.__exit__()
            return await chat.complete(prompt())

    server = ScriptedEndpoint().__enter__()
    said = asyncio.run(main(server))
    assert said.state == "error"
    assert ledger.spend("cell")["subject"].tokens_out is not None


def test_an_unknown_model_and_a_refused_parameter_stop_at_once(ledger):
    with ScriptedEndpoint(models={"other"}) as server:
        with pytest.raises(EndpointError, match=r"no model 'm'.*model\.id"):
            ask_one(client(endpoint(server), ledger))
        assert server.count() == 1
    refusal = status(400, "Unsupported value: 'temperature' must be 1", param="temperature")
    with ScriptedEndpoint(faults=[refusal]) as server:
        with pytest.raises(EndpointError, match=r"set judge\.temperature=null"):
            ask_one(client(endpoint(server), ledger, role="judge"))
        assert server.count() == 1


def test_a_prompt_that_does_not_fit_stops_the_replay_where_it_stopped_the_run(path):
    with ScriptedEndpoint(context=4) as server:
        served = endpoint(server)
        with Ledger(path) as ledger, pytest.raises(ContextExceeded, match=r"100 tokens.*model\.max_tokens") as live:
            ask_one(client(served, ledger))
        assert server.count() == 1
    with pytest.raises(ContextExceeded) as replayed:
        asked_again(served, path)
    assert str(replayed.value) == str(live.value)
    with Ledger(path) as ledger:
        assert ledger.spend("cell")["subject"].tokens_in == 0


STATES = {
    "truncated": content("Half a", "length"),
    "empty": content(""),
    "refused": content(None, refusal="No."),
    "refused by filter": content("Half a", "content_filter"),
    "refused with 400": status(400, "filtered", code="content_filter"),
}


@pytest.mark.parametrize(("name", "fault"), STATES.items())
def test_final_states_are_stored_with_their_reason(name, fault, path):
    with ScriptedEndpoint(faults=[fault]) as server, Ledger(path) as ledger:
        served = endpoint(server)
        said = ask_one(client(served, ledger))
        assert server.count() == 1
    assert said.state == name.split()[0]
    assert said.reason
    assert said.text == ("Half a" if said.state == "truncated" else "")
    again = asked_again(served, path)
    assert (again.state, again.text, again.reason, again.replayed) == (said.state, said.text, said.reason, True)


THINKING = [content(None, "length"), content("<think>Hm", "length"), content("", "length", reasoning_content="Hm")]


@pytest.mark.parametrize("fault", THINKING, ids=["null", "open tag", "beside"])
def test_an_answer_that_is_all_reasoning_is_asked_for_once_more_and_longer(fault, path):
    with ScriptedEndpoint(faults=[fault]) as server, Ledger(path) as ledger:
        served = endpoint(server)
        said = ask_one(client(served, ledger))
        tokens = [arrived.body["max_tokens"] for arrived in server.requests]
        counted = ledger.spend("cell")["subject"]
    assert tokens == [100, 200]
    assert (said.state, said.requests, said.attempts) == ("ok", 2, 2)
    assert said.usage == Usage(counted.tokens_in, counted.tokens_out)
    assert said.usage.tokens_in == 10
    again = asked_again(served, path)
    assert (again.text, again.usage, again.key, again.replayed) == (said.text, said.usage, said.key, True)


@pytest.mark.parametrize(("fault", "state"), [(THINKING[0], "empty"), (THINKING[1], "truncated")])
def test_twice_all_reasoning_is_no_text(fault, state, path):
    with ScriptedEndpoint(faults=[fault] * 2) as server, Ledger(path) as ledger:
        served = endpoint(server)
        said = ask_one(client(served, ledger))
        assert (said.state, said.requests, server.count()) == (state, 2, 2)
    assert asked_again(served, path).state == state


TOO_LONG = {
    "context": status(400, "maximum context length is 150 tokens", code="context_length_exceeded"),
    "limit": status(400, "max_tokens is too large: 200", param="max_tokens"),
}


@pytest.mark.parametrize("fault", TOO_LONG.values(), ids=TOO_LONG)
def test_a_longer_answer_that_is_not_to_be_had_leaves_the_first_empty(fault, path):
    with ScriptedEndpoint(faults=[THINKING[0], fault]) as server, Ledger(path) as ledger:
        served = endpoint(server)
        said = ask_one(client(served, ledger))
    assert (said.state, said.requests) == ("empty", 2)
    again = asked_again(served, path)
    assert (again.state, again.usage, again.reason) == ("empty", said.usage, said.reason)


def test_tokens_not_counted_are_unknown_and_so_is_their_cost(path):
    with ScriptedEndpoint(faults=[NO_USAGE]) as server, Ledger(path) as ledger:
        chat = client(endpoint(server), ledger, model={"price": Price(1.0, 1.0, "2026-11-30")})
        assert ask_one(chat).usage == Usage(None, None)
        assert ledger.spend("cell")["subject"].cost_usd is None


def test_one_client_serves_two_event_loops(ledger):
    with ScriptedEndpoint() as server:
        chat = client(endpoint(server, concurrency=2), ledger)
        for part in "ab":
            said = ask(chat, *[prompt(f"{part} {number}: list 2 facts") for number in range(6)])
            assert [one.state for one in said] == ["ok"] * 6
        assert server.count() == 12


def test_requests_under_way_are_bounded_over_all_roles_at_a_connection(ledger):
    async def main(server):
        shared = Connection(endpoint(server, concurrency=3))
        roles = [client(shared.endpoint, ledger, role=role, connection=shared) for role in ("subject", "writer")]
        await asyncio.gather(
            *(inside(chat, *[prompt(f"{number} {place}") for number in range(8)]) for place, chat in enumerate(roles))
        )

    with ScriptedEndpoint(faults=lambda number, body: slow(0.03)) as server:
        asyncio.run(main(server))
        assert (server.count(), server.most_at_once) == (16, 3)


def test_a_live_request_outside_its_context_is_a_mistake(ledger):
    with ScriptedEndpoint() as server, pytest.raises(RuntimeError, match="async with"):
        asyncio.run(client(endpoint(server), ledger).complete(prompt()))


def test_a_cancelled_run_leaves_nothing_open(ledger):
    async def main(chat):
        async with asyncio.timeout(0.3):
            await inside(chat, *[prompt(str(number)) for number in range(4)])

    with ScriptedEndpoint(faults=lambda number, body: slow(1.0)) as server:
        with pytest.raises(TimeoutError):
            asyncio.run(main(client(endpoint(server), ledger)))
        far = [connection.raddr.port for connection in psutil.Process().net_connections() if connection.raddr]
        assert not any(server.base_url.endswith(f":{port}/v1") for port in far)


def test_what_waits_is_not_sent_once_the_endpoint_refuses(path):
    with ScriptedEndpoint(faults=lambda number, body: status(401, "bad key")) as server, Ledger(path) as ledger:
        model = client(endpoint(server, concurrency=2), ledger)

        async def ask_many():
            async with model:
                return await asyncio.gather(
                    *(model.complete(prompt(f"question {i}")) for i in range(40)), return_exceptions=True
                )

        failures = asyncio.run(ask_many())
    assert all(isinstance(failure, EndpointError) for failure in failures)
    assert server.count() <= 2


# -- completion style --------------------------------------------------------------------------------------------------


def test_a_base_model_goes_on_from_the_text_of_the_messages(path):
    asked = Prompt("test", {}, (Message("system", "Be brief."), Message("user", "Facts:\n-")))
    with ScriptedEndpoint(faults=[completed(" A.\n- B.", "length")]) as server, Ledger(path) as ledger:
        served = endpoint(server)
        (said,) = ask(client(served, ledger, model={"style": "completion"}), asked)
        (arrived,) = server.requests
    assert arrived.path == "/v1/completions"
    assert arrived.body == {"model": "m", "prompt": "Be brief.\n\nFacts:\n-", "max_tokens": 100, "temperature": 0.7}
    assert (said.text, said.state, said.usage) == (" A.\n- B.", "truncated", Usage(7, 9))
    with Ledger(path, "replay") as ledger:
        (again,) = ask(client(served, ledger, model={"style": "completion"}), asked)
        assert again.text == said.text
        (miss,) = ask(client(served, ledger), asked)
        assert isinstance(miss, LedgerMiss)


def test_a_server_that_knows_the_other_style_only_says_so(ledger):
    refusal = status(404, "This is not a chat model and thus not supported. Did you mean to use v1/completions?")
    with ScriptedEndpoint(faults=[refusal]) as server, pytest.raises(EndpointError, match=r"model\.style=completion"):
        ask_one(client(endpoint(server), ledger))


# -- the rehearsal -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [200, 404, 429, 500])
def test_a_rehearsal_server_under_another_name_is_refused_and_nothing_stored(code, ledger):
    made_up = Fault(code, {"choices": [{"message": {"content": "- A."}}]}, headers={"x-rehearsal": "1"})
    with ScriptedEndpoint(faults=[made_up]) as server:
        chat = client(endpoint(server), ledger)
        with pytest.raises(EndpointError, match=r"is a rehearsal server.*choose endpoint=rehearsal"):
            ask_one(chat)
        assert server.count() == 1
        assert not ask_one(chat).replayed


def test_a_real_server_under_the_name_of_the_rehearsal_is_refused(ledger):
    proper = {"choices": [{"message": {"content": "- A."}}]}
    made_up = Fault(body=proper, headers={"x-rehearsal": "1"})
    with ScriptedEndpoint(faults=[status(500), made_up, Fault(body=proper)]) as server:
        chat = client(endpoint(server, name="rehearsal"), ledger)
        assert ask_one(chat).text == "- A."
        with pytest.raises(EndpointError, match=r"is a real server.*src\.rehearse"):
            ask_one(chat, "Something else.")
