"""What the tests of the model layer share: a client with defaults, and prompts."""

import asyncio

from src.ledger import Ledger
from src.llm.client import ChatClient
from src.llm.config import Endpoint, Model
from src.records import Message, Prompt


def prompt(text="List 3 facts about graphs."):
    return Prompt("test", {}, (Message("user", text),))


def endpoint(server, **more):
    """Config of a scripted server; two attempts keep the waits between them short."""
    return Endpoint(**{"name": "scripted", "base_url": server.base_url, "attempts": 2, **more})


def client(served, ledger, **more):
    model = Model(**{"id": "m", "max_tokens": 100, **more.pop("model", {})})
    wanted = {"role": "subject", "seed": 0, "cell_key": "cell", **more}
    return ChatClient(model, served, ledger=ledger, **wanted)


async def inside(chat, *prompts, draws=(0,)):
    """Ask inside `async with`, all at once; exceptions are results."""
    async with chat:
        asked = [chat.complete(one, draw=draw) for one in prompts for draw in draws]
        return await asyncio.gather(*asked, return_exceptions=True)


def ask(chat, *prompts, draws=(0,)):
    """As `inside`, in an event loop of its own."""
    return asyncio.run(inside(chat, *(prompts or (prompt(),)), draws=draws))


def ask_one(chat, text="List 3 facts about graphs."):
    """One completion; an exception is raised."""
    (result,) = ask(chat, prompt(text))
    if isinstance(result, BaseException):
        raise result
    return result


def asked_again(served, path, mode="replay", **more):
    """The same question to a client that may not pay."""
    with Ledger(path, mode) as ledger:
        return ask_one(client(served, ledger, **more))
