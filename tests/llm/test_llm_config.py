import traceback

import pytest
from pydantic import ValidationError

from src.llm.config import Endpoint, Model, Price
from src.records import Usage

SECRET = "sk-live-4f9a0c7e"


def test_a_price_is_per_million_tokens():
    price = Price(0.15, 0.60, "2026-11-30")
    assert price.cost(Usage(1_000_000, 500_000)) == pytest.approx(0.45)
    assert price.cost(Usage(None, 5)) is None
    assert price.cost(Usage(5, None)) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("api_key_env", SECRET),
        ("api_key_env", "openai_key"),
        ("api_key_env", f"KEY={SECRET}"),
        ("api_key_env", f"KEY\n{SECRET}"),
        ("base_url", f"https://user:{SECRET}@api.example.com/v1"),
        ("base_url", f"https://api.example.com/v1?key={SECRET}"),
        ("base_url", f"api.example.com/{SECRET}"),
        ("api_key", SECRET),
        ("extra_body", {"messages": SECRET}),
        ("extra_body", {"n": SECRET}),
        ("deadline_s", -7.5),
        ("requests_per_minute", -7.5),
    ],
)
def test_a_mistaken_field_is_refused_and_its_value_not_repeated(field, value):
    with pytest.raises(ValidationError) as caught:
        Endpoint(**{"name": "e", "base_url": "https://api.example.com/v1", field: value})
    assert field in str(caught.value)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert str(value) not in str(caught.value)


@pytest.mark.parametrize("change", [{"temperature": -1}, {"top_p": 0}, {"max_tokens": 0}, {"id": ""}, {"heat": 1}])
def test_a_model_out_of_range_is_refused(change):
    with pytest.raises(ValidationError):
        Model(**{"id": "m", **change})


def test_only_what_is_set_is_sent():
    assert Model("m", temperature=None).sampling(7) == {"max_tokens": 7}
    named = Model("m", temperature=0, top_p=0.9, max_tokens_as="max_completion_tokens")
    assert named.sampling(7) == {"max_completion_tokens": 7, "temperature": 0, "top_p": 0.9}


def test_an_endpoint_is_known_by_name_and_origin():
    one = Endpoint("e", "https://api.example.com/v1/", timeout_s=1, attempts=1, api_key_env="A_KEY")
    other = Endpoint("e", "https://api.example.com/v1")
    assert one.base_url == other.base_url
    assert one.identity == other.identity == {"endpoint": "e", "origin": "https://api.example.com"}
    assert Endpoint("e", "http://127.0.0.1:8000/v1").identity != Endpoint("e", "http://127.0.0.1:8001/v1").identity
