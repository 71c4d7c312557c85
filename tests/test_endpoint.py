import json
import urllib.request

import pytest
from endpoint import ScriptedEndpoint, derived, fact, name


def asked(text, **options):
    return derived([{"role": "user", "content": text}], **options)


@pytest.mark.parametrize(("text", "count"), [("Give exactly 5 points.", 5), ("List 3 facts.", 3), ("Everything!", 8)])
def test_as_many_bullets_as_were_asked_for(text, count):
    lines = asked(text).split("\n")
    assert len(set(lines)) == count
    assert all(line.startswith("- The ") and line.endswith(".") for line in lines)


def test_names_where_only_names_are_asked_for():
    lines = asked("Write exactly 9 of them, names only.").split("\n")
    assert len(set(lines)) == 9
    assert not any(line.endswith(".") or len(line.split()) > 6 for line in lines)


def test_a_label_where_labels_are_asked_for():
    answers = {asked(f"Statement {number}.\nReply with one label only: YES or NO.") for number in range(30)}
    assert answers == {"YES", "NO"}


def test_answers_depend_on_the_messages_alone():
    assert asked("List 3 facts about jazz.") == asked("List 3 facts about jazz.") != asked("List 3 facts about tea.")


def test_the_world_is_finite_and_its_facts_and_names_differ():
    assert len({fact(number) for number in range(5000)}) == len({name(number) for number in range(5000)}) == 5000
    assert set(asked("List 7 facts.", facts=7).split("\n")) == {f"- {fact(number)}" for number in range(7)}


def test_requests_are_written_down_and_faults_come_in_order():
    body = {"model": "m", "messages": [{"role": "user", "content": "List 2 facts."}], "max_tokens": 3}
    with ScriptedEndpoint(faults=[None]) as server:
        request = urllib.request.Request(f"{server.base_url}/chat/completions", json.dumps(body).encode())
        request.add_header("Connection", "close")
        with urllib.request.urlopen(request) as response:
            answer = json.load(response)
        assert (server.count(), server.count(body), server.count({})) == (1, 1, 0)
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"] == {"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6}
