import hashlib
import json
import unicodedata

import pytest

from src.ledger import request_key
from src.ledger.keys import canonical, clean
from src.records import Message

REQUEST = {"model": "m", "temperature": 0.7, "messages": [{"role": "user", "content": "café"}], "draw": 0}


def test_the_key_of_a_known_request_stays_what_it_is():
    # A changed key would make every stored answer a miss: raise KEY_VERSION on purpose, never by accident.
    text = (
        '{"request":{"draw":0,"messages":[{"content":"café","role":"user"}],"model":"m","temperature":0.7},"version":1}'
    )
    assert request_key(REQUEST) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "same",
    [
        dict(reversed(REQUEST.items())),
        {**REQUEST, "draw": 0.0},
        {**REQUEST, "messages": ({"content": unicodedata.normalize("NFD", "café"), "role": "user"},)},
    ],
    ids=["order", "integral float", "NFD"],
)
def test_one_request_written_in_two_ways_has_one_key(same):
    assert request_key(same) == request_key(REQUEST)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "n"},
        {"temperature": 0.8},
        {"temperature": None},
        {"draw": 1},
        {"draw": False},
        {"draw": "0"},
        {"max_tokens": 5},
        {"messages": [{"role": "user", "content": "cafe"}]},
        {"messages": [{"role": "user", "content": "café "}]},
        {"messages": [{"role": "user", "content": "café\x00"}]},
        {"messages": [{"role": "system", "content": "café"}]},
    ],
)
def test_any_other_field_or_text_is_another_key(change):
    assert request_key({**REQUEST, **change}) != request_key(REQUEST)


def test_lone_surrogates_are_replaced_and_pairs_joined():
    assert clean("a\ud800b\udc00") == "a\ufffdb\ufffd"
    assert clean("\ud83d\ude00") == "\U0001f600"
    assert clean("\ufeffx\x00 \u0301") == "\ufeffx\x00 \u0301"
    assert request_key({"q": "\ud800"}) == request_key({"q": "\ufffd"})


def test_canonical_json_keeps_the_text_as_it_was():
    nfd = unicodedata.normalize("NFD", "é")
    text = canonical({"b": nfd, "a": [Message("user", "苯"), None, True, 1.5]})
    assert text == '{"a":[["user","苯"],null,true,1.5],"b":"' + nfd + '"}'
    assert json.loads(text)["b"] == nfd


@pytest.mark.parametrize("bad", [{"a": {1, 2}}, {"a": object()}, {1: "a"}, {"a": b"x"}])
def test_what_is_not_plain_data_is_refused(bad):
    with pytest.raises(TypeError, match="request"):
        request_key(bad)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused(bad):
    with pytest.raises(ValueError, match="JSON"):
        request_key({"temperature": bad})
