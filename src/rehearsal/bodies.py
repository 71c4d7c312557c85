"""Request in, proper response out, in the words of the OpenAI API (pure)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from src.rehearsal.answers import derived, embedding, words
from src.rehearsal.faults import Body, Fault, status

FINGERPRINT = "rehearsal"
POSTS = ("/v1/chat/completions", "/v1/completions", "/v1/embeddings")


@dataclass(frozen=True)
class Served:
    """What a server serves.

    Attributes:
        facts: size of the world that lists are drawn from.
        models: names that it knows; None knows all.
        context: longest prompt in words; None is without end.
        key: API key that it wants; None wants none.
        dimension: of its vectors, unless a request asks for another.
        fingerprint: `system_fingerprint` of its answers; "" sends none.
        answer: makes the text of an answer from the request; None is :func:`src.rehearsal.answers.derived`.
    """

    facts: int = 400
    models: Collection[str] | None = None
    context: int | None = None
    key: str | None = None
    dimension: int = 8
    fingerprint: str = FINGERPRINT
    answer: Callable[[Body], str] | None = None


def refusal(served: Served, path: str, authorization: str | None, body: Body) -> Fault | None:
    """Why a request gets no answer; None if it gets one."""
    if served.key is not None and authorization != f"Bearer {served.key}":
        return status(401, "Incorrect API key provided.", code="invalid_api_key")
    if path not in POSTS:
        return status(404, f"Unknown path {path}")
    wanted = {POSTS[0]: ("messages", list), POSTS[1]: ("prompt", str), POSTS[2]: ("input", list | str)}
    name, kind = wanted[path]
    for field, right in (("model", str), (name, kind)):
        if not isinstance(body.get(field), right):
            return status(400, f"Missing or invalid parameter: '{field}'.", param=field, code="invalid_request")
    if not body[name] or (name == "messages" and not all(_readable(message) for message in body["messages"])):
        return status(400, f"Invalid value of '{name}'.", param=name, code="invalid_request")
    if body.get("stream"):
        return status(400, "Unsupported parameter: 'stream'.", param="stream", code="unsupported_parameter")
    if served.models is not None and body["model"] not in served.models:
        return status(404, f"The model `{body['model']}` does not exist.", code="model_not_found")
    if served.context is not None and path != POSTS[2] and _asked(body) > served.context:
        return status(400, "the request exceeds the available context size", type="exceed_context_size_error")
    return None


def proper(served: Served, path: str, body: Body) -> Body:
    """The answer to a request that is not refused."""
    if path == POSTS[2]:
        return _embeddings(served, body)
    chat = path == POSTS[0]
    messages = body["messages"] if chat else [{"role": "user", "content": body["prompt"]}]
    text = served.answer(body) if served.answer else derived(messages, served.facts)
    parts = re.findall(r"\S+\s*", text)
    limit = body.get("max_tokens", body.get("max_completion_tokens")) or len(parts)
    kept = "".join(parts[:limit])
    choice = {
        "index": 0,
        **({"message": {"role": "assistant", "content": kept}} if chat else {"text": kept}),
        "finish_reason": "length" if len(parts) > limit else "stop",
    }
    return {
        "id": "chatcmpl-rehearsal",
        "object": "chat.completion" if chat else "text_completion",
        "created": 0,
        "model": body["model"],
        **({"system_fingerprint": served.fingerprint} if served.fingerprint else {}),
        "choices": [choice],
        "usage": _usage(_asked(body), min(limit, len(parts))),
    }


def catalogue(served: Served) -> Body:
    """The list of models."""
    names = sorted(served.models) if served.models is not None else ["rehearsal"]
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 0, "owned_by": "rehearsal"} for name in names],
    }


def _embeddings(served: Served, body: Body) -> Body:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    dimension = int(body.get("dimensions") or served.dimension)
    data = [
        {"object": "embedding", "index": index, "embedding": embedding(text, dimension)}
        for index, text in enumerate(texts)
    ]
    size = sum(words(text) for text in texts)
    return {"object": "list", "model": body["model"], "data": data, "usage": _usage(size, 0)}


def _usage(tokens_in: int, tokens_out: int) -> Body:
    """Token counts; a token is a word."""
    return {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}


def _asked(body: Body) -> int:
    if "prompt" in body:
        return words(body["prompt"])
    return sum(words(message["content"]) for message in body["messages"])


def _readable(message: object) -> bool:
    return isinstance(message, dict) and isinstance(message.get("content"), str)
