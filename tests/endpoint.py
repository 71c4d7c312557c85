"""A real OpenAI-compatible server on 127.0.0.1 for tests: `with ScriptedEndpoint() as server: ... server.base_url ...`.

It answers chat completions and embeddings over HTTP, in threads of this process.

Answers depend on the messages alone (not on draw, seed or order), so that a rerun gets the same ones:

- the last line of the last message names two or more LABELS in capitals → one of them, by hash of the messages;
- "names only" → a bulleted list of short names; otherwise a bulleted list of facts from a world of `facts` sentences;
- "exactly N", "list N" → N bullets, otherwise 8. `max_tokens` cuts an answer after as many words, with finish_reason
  "length". Tokens are words.
- `answer=function(body) -> str` replaces all that: body is the parsed request.
- Embeddings are deterministic per text: 8 numbers from its hash.

Faults: `faults=[...]` is consumed one per request in order of arrival (None = answer properly); a function
`faults=f(number, body) -> Fault | None` decides by the request's number, from 0, and its body. See :class:`Fault` and
the ones ready to use: HTML, CUT_JSON, NO_CHOICES, NULL_CHOICES, NO_USAGE, DROPPED, BROKEN_OFF, ENDLESS, `status(...)`,
`slow(...)`, `content(...)`.

`server.requests` lists what arrived (path, headers, body); `server.count()` counts, `server.count(body)` one body,
`server.most_at_once` is the highest number of requests under way together. `port=` fixes the port: the origin is part
of ledger keys, so a test that restarts the server and expects replays needs the same one. `models={"a", "b"}` makes
other model names a 404, `context=N` refuses prompts of more than N words the way llama.cpp does, `key="..."` wants
that key.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import socket
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Body = dict[str, Any]

SUBJECTS = ("The Adler", "The Bell", "The Cauchy", "The Dirac", "The Euler", "The Fisher", "The Gauss", "The Hebb")
THINGS = ("gate", "kernel", "loss", "prior", "layer", "sampler", "filter", "bound", "schedule", "estimator")
EFFECTS = ("reduces variance", "stabilises gradients", "removes bias", "speeds convergence", "limits drift")
PLACES = ("sparse regression", "speech models", "graph networks", "robot control", "image search", "protein folding")


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request.

    Attributes:
        status: HTTP status.
        body: sent as it is; a mapping as JSON; None sends the proper answer.
        headers: added to the response.
        delay_s: seconds before the response starts.
        edit: changes the proper answer.
        cut: bytes of the body that are sent before the connection breaks, content length unchanged.
        drop: close the connection without a word.
        endless: send the body again and again until the client leaves.
    """

    status: int = 200
    body: bytes | Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    edit: Callable[[Body], object] | None = None
    cut: int | None = None
    drop: bool = False
    endless: bool = False


def status(number: int, message: str = "scripted", /, **error: str) -> Fault:
    """An HTTP error with an OpenAI-like body."""
    return Fault(number, {"error": {"message": message, **error}})


def slow(seconds: float) -> Fault:
    """The proper answer, late."""
    return Fault(delay_s=seconds)


def content(text: str | None, finish: str = "stop", **message: object) -> Fault:
    """The proper answer with another text and finish reason."""
    return Fault(
        edit=lambda answer: {
            **answer,
            "choices": [{"index": 0, "message": {"content": text, **message}, "finish_reason": finish}],
        }
    )


HTML = Fault(body=b"<!doctype html><title>Gateway</title>", headers={"Content-Type": "text/html"})
CUT_JSON = Fault(body=b'{"choices": [{"message": {"content": "half a')
NO_CHOICES = Fault(edit=lambda answer: {**answer, "choices": []})
NULL_CHOICES = Fault(edit=lambda answer: {**answer, "choices": None})
NO_USAGE = Fault(edit=lambda answer: {**answer, "usage": None})
DROPPED = Fault(drop=True)
BROKEN_OFF = Fault(cut=20)
ENDLESS = Fault(body=b" " * 65536, endless=True)


@dataclass(frozen=True)
class Arrived:
    """A request as it arrived; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Body


class ScriptedEndpoint:
    """See the module's docstring."""

    def __init__(
        self,
        *,
        faults: Sequence[Fault | None] | Callable[[int, Body], Fault | None] = (),
        answer: Callable[[Body], str] | None = None,
        port: int = 0,
        facts: int = 400,
        models: Collection[str] | None = None,
        context: int | None = None,
        key: str | None = None,
    ) -> None:
        self.requests: list[Arrived] = []
        self.most_at_once = 0
        self._faults = faults if callable(faults) else _in_order(faults)
        self._answer = answer or (lambda body: derived(body["messages"], facts))
        self._models = models
        self._context = context
        self._key = key
        self._under_way = 0
        self._lock = threading.Lock()
        self._port = port

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", self._port), _Handler)
        self._server.endpoint = self
        self._port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        for connection in list(self._server.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @property
    def base_url(self) -> str:
        """What a client is configured with."""
        return f"http://127.0.0.1:{self._port}/v1"

    def count(self, body: Body | None = None) -> int:
        """How many requests arrived, or how many with this body."""
        with self._lock:
            return sum(body is None or arrived.body == body for arrived in self.requests)

    def respond(self, path: str, headers: Mapping[str, str], body: Body) -> Fault:
        """Note a request; the response is a fault whose body is set, also when nothing is wrong."""
        with self._lock:
            number = len(self.requests)
            self.requests.append(Arrived(path, headers, body))
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
        fault = self._faults(number, body) or self._refusal(path, headers, body)
        if fault is None or fault.body is None:
            proper = self._embeddings(body) if path.endswith("/embeddings") else self._chat(body)
            fault = fault or Fault()
            changed = fault.edit(proper) if fault.edit else proper
            fault = Fault(**{**vars(fault), "body": json.dumps(changed).encode()})
        elif not isinstance(fault.body, bytes):
            fault = Fault(**{**vars(fault), "body": json.dumps(fault.body).encode()})
        time.sleep(fault.delay_s)
        return fault

    def responded(self) -> None:
        """Note that a request is no longer under way."""
        with self._lock:
            self._under_way -= 1

    def _refusal(self, path: str, headers: Mapping[str, str], body: Body) -> Fault | None:
        if self._key is not None and headers.get("authorization") != f"Bearer {self._key}":
            return status(401, "Incorrect API key provided.", code="invalid_api_key")
        if path not in ("/v1/chat/completions", "/v1/embeddings"):
            return status(404, f"Unknown path {path}")
        if self._models is not None and body["model"] not in self._models:
            return status(404, f"The model `{body['model']}` does not exist.", code="model_not_found")
        if self._context is not None and _words(body.get("messages", [])) > self._context:
            return status(400, "the request exceeds the available context size", type="exceed_context_size_error")
        return None

    def _chat(self, body: Body) -> Body:
        words = re.findall(r"\S+\s*", self._answer(body))
        limit = body.get("max_tokens", body.get("max_completion_tokens", len(words)))
        return {
            "object": "chat.completion",
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": "".join(words[:limit])},
                    "finish_reason": "length" if len(words) > limit else "stop",
                }
            ],
            "usage": {"prompt_tokens": _words(body["messages"]), "completion_tokens": min(limit, len(words))},
        }

    def _embeddings(self, body: Body) -> Body:
        data = [{"index": index, "embedding": embedding(text)} for index, text in enumerate(body["input"])]
        return {"data": data, "usage": {"prompt_tokens": sum(len(text.split()) for text in body["input"])}}


def derived(messages: Sequence[Mapping[str, str]], facts: int = 400) -> str:
    """The proper answer to messages."""
    chance = random.Random(hashlib.sha256(json.dumps(messages).encode()).hexdigest())
    asked = messages[-1]["content"]
    labels = re.findall(r"\b[A-Z]{2,}\b", asked.rstrip().rpartition("\n")[2])
    if len(labels) > 1:
        return chance.choice(labels)
    numbers = re.findall(r"\b(?:exactly|list) (\d+)", asked, re.IGNORECASE)
    count = int(numbers[-1]) if numbers else 8
    if "names only" in asked.lower():  # from so many that a child is hardly ever called like its parent
        lines = [name(number) for number in chance.sample(range(10**6), count)]
    else:
        lines = [fact(number) for number in chance.sample(range(max(facts, count)), count)]
    return "\n".join(f"- {line}" for line in lines)


def fact(number: int) -> str:
    """Fact `number` of the world; all differ."""
    rest, subject = divmod(number, len(SUBJECTS))
    rest, thing = divmod(rest, len(THINGS))
    rest, place = divmod(rest, len(PLACES))
    rest, effect = divmod(rest, len(EFFECTS))
    more = f" of order {rest}" if rest else ""
    return f"{SUBJECTS[subject]} {THINGS[thing]}{more} {EFFECTS[effect]} in {PLACES[place]}."


def name(number: int) -> str:
    """Name `number`; all differ."""
    rest, thing = divmod(number, len(THINGS))
    rest, place = divmod(rest, len(PLACES))
    return f"{PLACES[place].title()} {THINGS[thing].title()}s" + (f" {rest}" if rest else "")


def embedding(text: str) -> list[float]:
    """Eight numbers from a text's hash."""
    return [byte / 255 - 0.5 for byte in hashlib.sha256(text.encode()).digest()[:8]]


def _words(messages: Sequence[Mapping[str, str]]) -> int:
    return sum(len(message["content"].split()) for message in messages)


def _in_order(faults: Sequence[Fault | None]) -> Callable[[int, Body], Fault | None]:
    return lambda number, body: faults[number] if number < len(faults) else None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    endpoint: ScriptedEndpoint

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.connections: set[socket.socket] = set()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        super().process_request_thread(request, client_address)
        self.connections.discard(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that left is nothing to report."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {key.lower(): value for key, value in self.headers.items()}
        endpoint = self.server.endpoint
        try:
            response = endpoint.respond(self.path, headers, body)
            self._send(response)
        finally:
            endpoint.responded()

    def _send(self, response: Fault) -> None:
        assert isinstance(response.body, bytes)
        if response.drop:
            self.close_connection = True
            return
        self.send_response(response.status)
        for key, value in {"Content-Type": "application/json", **response.headers}.items():
            self.send_header(key, value)
        if response.endless:
            self.close_connection = True
            self.end_headers()
            while True:
                self.wfile.write(response.body)
        self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        self.wfile.write(response.body[: response.cut])
        self.close_connection = response.cut is not None

    def log_message(self, *args: object) -> None:
        """Be quiet."""
