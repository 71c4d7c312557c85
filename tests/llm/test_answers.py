import json

import pytest

from src.llm.answers import read_chat, read_completion
from src.llm.faults import Transient
from src.records import Usage
from src.text.reasoning import strip_reasoning


def body(content="Hello.", finish="stop", usage=None, **message):
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    return json.dumps({"choices": [choice], "usage": usage}).encode()


@pytest.mark.parametrize(
    ("content", "finish", "state"),
    [
        ("Hello.", "stop", "ok"),
        ("Hello.", None, "ok"),
        ("Hello.", "length", "truncated"),
        ("<think>Hm.</think>\nYes.", "length", "truncated"),
        ("", "stop", "empty"),
        (" \n", "length", "empty"),
        (None, "length", "empty"),
        ("<think>Hm", "length", "truncated"),
        ("<think>Hm.</think>\n", "stop", "empty"),
        ("Half", "content_filter", "refused"),
    ],
)
def test_state_follows_from_text_and_finish_reason(content, finish, state):
    said = read_chat(body(content, finish))
    assert said.state == state
    assert said.text == (content or "")
    assert bool(said.reason) == (state != "ok")


def test_a_refusal_is_no_answer():
    said = read_chat(body(None, refusal="I cannot help with that."))
    assert (said.state, said.reason) == ("refused", "I cannot help with that.")


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_beside_the_content_is_kept_before_it_as_such(name):
    cut = read_chat(body(None, "length", **{name: "Let me think"}))
    assert (cut.text, cut.state) == ("<think>Let me think", "truncated")
    only = read_chat(body("", **{name: "Let me think"}))
    assert (strip_reasoning(only.text), only.state) == ("", "empty")
    said = read_chat(body("- Yes.", **{name: "Let me think"}))
    assert (said.text, said.state) == ("<think>Let me think</think>\n- Yes.", "ok")
    assert strip_reasoning(said.text) == "- Yes."
    assert read_chat(body("Yes.", **{name: None})).text == read_chat(body("Yes.", **{name: [1]})).text == "Yes."


@pytest.mark.parametrize("end", ["</think>", "[/THINK]", "<|channel|>final<|message|>", "</Thinking >"])
def test_reasoning_beside_the_content_does_not_end_early(end):
    said = read_chat(body("- Yes.", reasoning_content=f"It may say {end}\n- No.\nand go on."))
    assert strip_reasoning(said.text) == "- Yes."


def test_a_completion_is_read_from_its_text():
    choice = {"text": " went on", "finish_reason": "length"}
    said = read_completion(json.dumps({"choices": [choice], "usage": {"prompt_tokens": 3}}).encode())
    assert (said.text, said.state, said.usage) == (" went on", "truncated", Usage(3, None))
    for odd in (None, 7, {}):
        with pytest.raises(Transient, match="holds a text"):
            read_completion(json.dumps({"choices": [{"text": odd}]}).encode())
    with pytest.raises(Transient, match="holds a text"):
        read_completion(body("chat"))


def test_content_in_parts_is_joined():
    parts = [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "A"}, {"type": "text", "text": "B"}]
    assert read_chat(body(parts)).text == "AB"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 0}, Usage(3, 0)),
        ({"prompt_tokens": 3}, Usage(3, None)),
        ({"prompt_tokens": "3", "completion_tokens": -1}, Usage(None, None)),
        (None, Usage(None, None)),
        ([], Usage(None, None)),
    ],
)
def test_tokens_that_were_not_counted_are_unknown_not_zero(usage, expected):
    assert read_chat(body(usage=usage)).usage == expected


@pytest.mark.parametrize(
    "odd",
    [
        b"",
        b"<html></html>",
        b'{"choices": [{"mess',
        b'{"choices": [{"message": {"content": "\xff\xfe"}}]}',
        b'{"choices": [{"message": {"content": "a\x00b"}}]}',
        b"[" * 100_000,
        b"data: {}\n\n",
        b"null",
        b"[]",
        b"{}",
        b'{"choices": null}',
        b'{"choices": []}',
        b'{"choices": {}}',
        b'{"choices": [null]}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": 7}}]}',
        b'{"choices": [{"message": {"content": ""}, "finish_reason": "error"}]}',
        b'{"error": {"message": "overloaded", "code": 502}}',
    ],
)
def test_a_body_without_an_answer_is_worth_another_attempt(odd):
    with pytest.raises(Transient) as caught:
        read_chat(odd)
    assert str(caught.value).startswith("HTTP 200")
    assert len(str(caught.value)) < 400


def test_escaped_nul_and_halves_of_characters_are_kept_as_they_came():
    assert read_chat(b'{"choices": [{"message": {"content": "a\\u0000\\ud800"}}]}').text == "a\x00\ud800"
