"""What the client does about an endpoint that rejects, fails or refuses, over real HTTP."""

import asyncio
import json
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from chats import ask, ask_one, client, endpoint, inside, prompt
from endpoint import Fault, ScriptedEndpoint, slow, status

from src.errors import EndpointError
from src.ledger import Ledger
from src.llm.connection import Connection

BUSY = status(429, "slow down")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path):
    with Ledger(path) as opened:
        yield opened


def busy(code=429, **headers):
    """A rejection with headers; `_` stands for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault(code, {"error": {"message": "slow down"}}, headers=named)


def prompts(count):
    return [prompt(f"List 3 facts about {number}.") for number in range(count)]


# -- 429 ---------------------------------------------------------------------------------------------------------------


def test_rejections_are_no_attempts_and_are_counted_all_the_same(ledger):
    with ScriptedEndpoint(faults=[BUSY] * 4) as server:
        said = ask_one(client(endpoint(server, attempts=1), ledger))
        assert (said.state, said.attempts, server.count()) == ("ok", 5, 5)
    assert ledger.spend("cell")["subject"].attempts == 5


def test_rejections_without_end_are_given_up_at_the_deadline_with_a_reason(ledger):
    with ScriptedEndpoint(faults=lambda number, body: BUSY) as server:
        start = time.monotonic()
        said = ask_one(client(endpoint(server, deadline_s=1.0), ledger))
        assert 0.4 < time.monotonic() - start < 2.5
        assert said.state == "error"
        many = f"({server.count()} attempts until endpoint.deadline_s=1 had passed)"
        assert f"HTTP 429: slow down {many}" in said.reason
        assert 3 <= said.attempts == server.count() < 12
    assert ledger.spend("cell")["subject"].attempts == said.attempts


@pytest.mark.parametrize("code", [429, 503])
@pytest.mark.parametrize("headers", [{"retry_after": "0.4"}, {"retry_after_ms": "400"}], ids=["s", "ms"])
def test_a_time_to_wait_is_honoured(headers, code, ledger):
    with ScriptedEndpoint(faults=[busy(code, **headers)]) as server:
        start = time.monotonic()
        assert ask_one(client(endpoint(server), ledger)).attempts == 2
        assert 0.4 <= time.monotonic() - start < 2


@pytest.mark.parametrize("value", ["-5", "soon", "", "nan", "Mon, 01 Jan 2001 00:00:00 GMT"])
def test_a_time_that_is_none_is_no_time(value, ledger):
    with ScriptedEndpoint(faults=[busy(retry_after=value)]) as server:
        start = time.monotonic()
        assert ask_one(client(endpoint(server), ledger)).attempts == 2
        assert time.monotonic() - start < 1


@pytest.mark.parametrize(
    "headers",
    [{"retry_after": "277000"}, {"retry_after_ms": "277000000"}, {"retry_after": "inf"}, {"retry_after": "date"}],
    ids=["s", "ms", "infinite", "date"],
)
def test_nobody_sleeps_for_days(headers, ledger):
    if headers == {"retry_after": "date"}:  # from now on, not from when the tests were collected
        headers = {"retry_after": format_datetime(datetime.now(UTC) + timedelta(seconds=277_000), usegmt=True)}
    with ScriptedEndpoint(faults=lambda number, body: busy(**headers)) as server:
        start = time.monotonic()
        failures = ask(client(endpoint(server), ledger), *prompts(30))
        assert time.monotonic() - start < 2
        assert server.count() == 1
    assert all(isinstance(failure, EndpointError) for failure in failures)
    sentence = str(failures[0])
    assert "asks to wait" in sentence
    assert "s (76.9 hours)" in sentence or "inf s" in sentence
    assert "endpoint.deadline_s=900" in sentence
    assert "what is done is saved" in sentence
    assert ledger.spend("cell")["subject"].attempts == 1


def test_who_waits_is_woken_when_the_endpoint_refuses(ledger):
    faults = [None, busy(retry_after="60"), busy(503, retry_after="60"), status(401, "revoked")]
    with ScriptedEndpoint(faults=faults) as server:
        start = time.monotonic()
        results = ask(client(endpoint(server), ledger), *prompts(4))
        assert time.monotonic() - start < 3
    assert [isinstance(result, EndpointError) for result in results].count(True) == 3
    assert ledger.spend("cell")["subject"].attempts == 4


class Quota:
    """A token bucket; `retry_after` is sent with every rejection."""

    def __init__(self, per_s, burst, retry_after=None):
        self.per_s, self.burst, self.retry_after = per_s, burst, retry_after
        self.level, self.filled = float(burst), time.monotonic()
        self.lock = threading.Lock()

    def __call__(self, number, body):
        with self.lock:
            now = time.monotonic()
            self.level = min(self.level + (now - self.filled) * self.per_s, self.burst)
            self.filled = now
            if self.level >= 1:
                self.level -= 1
                return None
            return busy(retry_after=self.retry_after) if self.retry_after else BUSY


@pytest.mark.parametrize("retry_after", [None, "1"])
def test_a_quota_is_used_without_losing_a_call(retry_after, ledger):
    quota = Quota(40, 10, retry_after)
    with ScriptedEndpoint(faults=quota) as server:
        start = time.monotonic()
        results = ask(client(endpoint(server), ledger), *prompts(170))
        took = time.monotonic() - start
        rejected = server.count() - 170
    assert {said.state for said in results} == {"ok"}
    assert took < 4.0 * 1.6  # (170 - 10) / 40 s; benchmarks/bench_client.py measures longer
    assert rejected < 60


def test_a_total_outage_loses_no_call_and_is_no_hammering(ledger):
    begun = time.monotonic()

    def out(number, body):
        return BUSY if 0.5 < time.monotonic() - begun < 2.5 else slow(0.05)

    with ScriptedEndpoint(faults=out) as server:
        results = ask(client(endpoint(server, concurrency=30), ledger), *prompts(500))
        took = time.monotonic() - begun
        rejected = server.count() - 500
    assert {said.state for said in results} == {"ok"}
    assert took < 20
    assert rejected < 100


# -- faults that count -------------------------------------------------------------------------------------------------


def test_permanent_failure_takes_the_configured_attempts_per_prompt(ledger):
    with ScriptedEndpoint(faults=lambda number, body: status(500)) as server:
        results = ask(client(endpoint(server, attempts=3), ledger), *prompts(12))
        assert {said.state for said in results} == {"error"}
        assert server.count() == 36
        bodies = [json.dumps(arrived.body) for arrived in server.requests]
        assert {bodies.count(body) for body in bodies} == {3}
    assert ledger.spend("cell")["subject"].attempts == 36


def test_the_deadline_also_bounds_failures_and_slow_answers(ledger):
    for fault in (status(500), slow(5.0)):
        with ScriptedEndpoint(faults=lambda number, body, fault=fault: fault) as server:
            start = time.monotonic()
            said = ask_one(client(endpoint(server, attempts=1000, deadline_s=0.8), ledger))
            assert said.state == "error"
            assert time.monotonic() - start < 2


def test_rejections_and_failures_are_counted_apart(ledger):
    faults = [status(500), BUSY, BUSY, status(500), BUSY, status(500)]
    with ScriptedEndpoint(faults=faults) as server:
        assert ask_one(client(endpoint(server, attempts=3), ledger)).state == "error"
        assert server.count() == 6


def test_attempts_before_a_stop_reach_the_ledger(ledger):
    with ScriptedEndpoint(faults=[status(500), BUSY, status(402, "no credit")]) as server:
        with pytest.raises(EndpointError, match="credit"):
            ask_one(client(endpoint(server), ledger))
        assert server.count() == 3
    assert ledger.spend("cell")["subject"].attempts == 3


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_a_wrong_key_costs_one_request_however_many_prompts_there_are(ledger):
    with ScriptedEndpoint(faults=lambda number, body: status(401, "bad key")) as server:
        failures = ask(client(endpoint(server), ledger), *prompts(200))
        assert server.count() == 1
    assert all("api_key_env" in str(failure) for failure in failures)


@pytest.mark.parametrize("code", [401, 402])
def test_a_refusal_in_the_middle_keeps_what_is_done_and_the_next_run_goes_on(code, path):
    with ScriptedEndpoint(faults=lambda number, body: status(code, "no") if 10 <= number < 20 else None) as server:
        served = endpoint(server, concurrency=2)
        with Ledger(path) as ledger:
            first = ask(client(served, ledger), *prompts(30))
        stored = [said for said in first if not isinstance(said, BaseException)]
        assert len(stored) == 10
        assert 11 <= server.count() <= 12
        arrived = server.count()
    with ScriptedEndpoint(port=int(server.base_url.split(":")[2][:-3])) as server:
        with Ledger(path) as ledger:
            again = ask(client(served, ledger), *prompts(30))
        assert {said.state for said in again} == {"ok"}
        assert server.count() == 20
    assert [said.text for said in again if said.replayed] == [said.text for said in stored]
    assert arrived < 30


def test_a_connection_serves_two_event_loops_one_after_the_other(ledger):
    with ScriptedEndpoint() as server:
        connection = Connection(endpoint(server))
        for turn in range(2):
            chat = client(connection.endpoint, ledger, connection=connection, seed=turn)
            assert {said.state for said in ask(chat, *prompts(30))} == {"ok"}
            assert [step.why for step in connection.pace.history][:2] == ["start", "first answer"]
        assert server.count() == 60


def test_replayed_answers_never_reach_the_pace(ledger):
    with ScriptedEndpoint() as server:
        ask(client(endpoint(server), ledger), *prompts(30))
        connection = Connection(endpoint(server))
        ask(client(connection.endpoint, ledger, connection=connection), *prompts(30))
        assert [step.why for step in connection.pace.history] == ["start"]


def test_known_limits_per_minute_spread_the_requests(ledger):
    with ScriptedEndpoint() as server:
        start = time.monotonic()
        ask(client(endpoint(server, requests_per_minute=1200), ledger), *prompts(30))
        assert 0.4 < time.monotonic() - start < 3
        start = time.monotonic()
        ask(client(endpoint(server, tokens_per_minute=60_000), ledger, seed=1), *prompts(15))
        assert 0.5 < time.monotonic() - start < 4  # each counts with its 100 tokens of answer and the prompt


def test_first_alone_then_twenty(ledger):
    async def main(chat):
        return await inside(chat, *prompts(45))

    begun = []
    with ScriptedEndpoint(faults=lambda number, body: begun.append(time.monotonic()) or slow(0.3)) as server:
        asyncio.run(main(client(endpoint(server), ledger)))
        assert server.most_at_once >= 20
    assert begun[1] - begun[0] > 0.25
    assert begun[20] - begun[1] < 0.25
    assert begun[21] - begun[20] > 0.05
