"""A chat model at an OpenAI-compatible endpoint, remote or embedded, behind the ledger."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from src.errors import ContextExceeded, EndpointError
from src.ledger import Ledger, Payer, Reply, request_key
from src.ledger.keys import clean
from src.llm.answers import CUT, read_chat, read_completion
from src.llm.config import Endpoint, Model
from src.llm.connection import Connection
from src.llm.faults import ParameterRefused, model_key
from src.llm.local import Embedded
from src.llm.tries import Failed
from src.records import Completion, Prompt, Role, Usage
from src.text.reasoning import strip_reasoning

TEMPLATE = 256
"""Tokens that a server's chat template and default system prompt may add to the messages."""

BYTES_PER_TOKEN = 3
"""Of text, roughly, for the limit of tokens per minute."""

CONTEXT = "context_exceeded"
"""Finish reason under which the ledger keeps that a prompt does not fit: a replay then stops where the run stopped."""


class ChatClient:
    """One role's model. Implements :class:`src.interfaces.ChatModel`.

    With every answer in the ledger it needs no key, no server and no network; otherwise it is used inside
    `async with`, and may be entered again in another event loop.
    """

    def __init__(
        self,
        model: Model,
        endpoint: Endpoint | Embedded,
        *,
        ledger: Ledger,
        role: Role,
        seed: int,
        cell_key: str,
        sweep: str | None = None,
        connection: Connection | None = None,
    ) -> None:
        """Make a client; nothing is opened.

        Args:
            model: the model and its sampling.
            endpoint: where it is served.
            ledger: every answer passes through it.
            role: subject, judge or writer.
            seed: of the run; part of the ledger key of answers that are sampled. A judge has none, so that its
                verdicts serve every run.
            cell_key: the cell that pays.
            sweep: the sweep it belongs to, if any.
            connection: shared with the other roles at this endpoint; None opens one of its own.
        """
        self._model = model
        self._endpoint = endpoint
        self._ledger = ledger
        self._role: Role = role
        self._seed = seed
        self._cell_key = cell_key
        self._sweep = sweep
        self._connection = connection or Connection(endpoint)

    async def __aenter__(self) -> Self:
        await self._connection.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._connection.__aexit__(kind, error, trace)

    async def complete(self, prompt: Prompt, *, draw: int = 0) -> Completion:
        """Answer a prompt; see :meth:`src.interfaces.ChatModel.complete`.

        An answer that was cut before any text, all of it reasoning, is asked for once more with twice the length.
        """
        longest = prompt.sampling.max_tokens if prompt.sampling else self._model.max_tokens
        first = await self._answer(prompt, draw, longest)
        answers = [first]
        if first.reply.finish_reason in CUT and not strip_reasoning(first.reply.text).strip():
            answers.append(await self._answer(prompt, draw, 2 * longest, larger=True))
        reply = answers[-1].reply
        return Completion(
            text=reply.text if reply.state in ("ok", "truncated") else "",
            state=reply.state,
            finish_reason=reply.finish_reason,
            usage=Usage(
                _total([answer.reply.usage.tokens_in for answer in answers]),
                _total([answer.reply.usage.tokens_out for answer in answers]),
            ),
            attempts=sum(answer.reply.attempts for answer in answers),
            replayed=all(answer.replayed for answer in answers),
            key=answers[-1].key,
            requests=len(answers),
            reason=reply.reason,
        )

    async def _answer(self, prompt: Prompt, draw: int, max_tokens: int, *, larger: bool = False) -> _Answer:
        model, endpoint = self._model, self._endpoint
        messages = [{"role": role, "content": clean(content)} for role, content in prompt.messages]
        said: dict[str, object] = {"messages": messages}
        style = "completion" if prompt.continued else model.style
        if style == "completion":
            said = {"prompt": "\n\n".join(message["content"] for message in messages)}
        fields = {**endpoint.extra_body, **model.sampling(max_tokens, prompt.sampling, top_k=endpoint.top_k)}
        request: dict[str, object] = {
            "kind": style,
            **endpoint.identity,
            "model": model.id,
            "revision": model.revision,
            **said,
            "fields": fields,
            "seeded": endpoint.seed,
            "draw": draw,
        }
        if fields.get("temperature") != 0 and self._role != "judge":
            request["seed"] = self._seed
        body: dict[str, object] = {"model": model.id, **said, **fields}
        if endpoint.seed:
            body["seed"] = int(request_key(request)[:8], 16) >> 1  # 31 bits: what every server takes

        size = len(json.dumps(said, ensure_ascii=False).encode())
        most = Usage(size + TEMPLATE, max_tokens)  # a token is a byte at least
        stop: EndpointError | None = None

        async def pay() -> Reply:
            nonlocal stop
            try:
                return await self._pay(body, size // BYTES_PER_TOKEN + max_tokens, larger)
            except Failed as failure:
                stop = failure.stop
                return self._failed(failure, max_tokens)

        payer = Payer(self._cell_key, self._role, prompt.name, endpoint.name, self._cost, most, self._sweep)
        key, reply, replayed = await self._ledger.answer(request, payer, pay)
        if stop:  # now that the attempts before it are written down
            raise stop
        if reply.finish_reason == CONTEXT and not larger:
            raise ContextExceeded(reply.reason)
        return _Answer(key, reply, replayed)

    async def _pay(self, body: dict[str, object], tokens: int, larger: bool) -> Reply:
        path, read = ("/chat/completions", read_chat) if "messages" in body else ("/completions", read_completion)
        try:
            received = await self._connection.post(path, body, read, role=self._role, tokens=tokens)
        except Failed as failure:
            if not larger or not isinstance(failure.stop, ParameterRefused):
                raise
            # Twice the length is our idea; a server that does not allow it has answered the first request.
            return Reply("", "empty", "length", Usage(0, 0), failure.attempts, failure.latency_s, str(failure))
        said = received.value
        return Reply(
            said.text, said.state, said.finish_reason, said.usage, received.attempts, received.latency_s, said.reason
        )

    def _failed(self, failure: Failed, max_tokens: int) -> Reply:
        unbilled = Usage(0, 0) if failure.free else Usage(None, None)
        spent = (unbilled, failure.attempts, failure.latency_s)
        if failure.kind == "context":
            reason = (
                f"The prompt and {max_tokens} tokens of answer do not fit the context window of {self._model.id} "
                f"({failure}); shorten the prompt, lower {model_key(self._role)}.max_tokens (or the answer_tokens of "
                "the probe), or serve it with a larger window."
            )
            return Reply("", "empty", CONTEXT, *spent, reason)
        if failure.kind == "content":
            return Reply("", "refused", "content_filter", *spent, str(failure))
        if failure.kind == "size":  # final: asked again it would be as long
            return Reply("", "truncated", "oversize", *spent, str(failure))
        return Reply("", "error", None, *spent, str(failure))

    def _cost(self, usage: Usage) -> float | None:
        return self._model.price.cost(usage) if self._model.price else None


@dataclass(frozen=True)
class _Answer:
    key: str
    reply: Reply
    replayed: bool


def _total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
