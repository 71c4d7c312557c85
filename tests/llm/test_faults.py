import json

import pytest

from src.errors import EndpointError
from src.llm.faults import Asked, Declined, ParameterRefused, Transient, outcome

SENT = ("model", "messages", "max_tokens", "temperature", "top_p", "seed", "top_k")


def answered(status, message="no", role="subject", env="OPENAI_API_KEY", **error):
    asked = Asked(role, "gpt-x", "openai", "https://api.example.com/v1", env, SENT)
    return outcome(status, json.dumps({"error": {"message": message, **error}}), asked)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 520, 529])
def test_what_may_pass_is_tried_again(status):
    fault = answered(status, "busy")
    assert isinstance(fault, Transient)
    assert str(fault) == f"HTTP {status}: busy"
    assert fault.free == (status not in (408, 504))


@pytest.mark.parametrize(
    ("status", "message", "more", "named"),
    [
        (401, "Incorrect API key", {}, ["401", "OPENAI_API_KEY", "endpoint.api_key_env"]),
        (402, "Payment required", {}, ["402", "OPENAI_API_KEY", "credit"]),
        (429, "You exceeded your current quota", {"code": "insufficient_quota"}, ["credit", "OPENAI_API_KEY"]),
        (403, "Country not supported", {}, ["403", "'gpt-x'", "model.id"]),
        (404, "Not found", {}, ["404", "'gpt-x'", "model.id", "endpoint.base_url"]),
        (400, "gpt-x is not a valid model ID", {}, ["'gpt-x'", "model.id"]),
        (400, "The model `gpt-x` does not exist", {"code": "model_not_found"}, ["'gpt-x'", "model.id"]),
    ],
)
def test_what_no_attempt_can_cure_says_what_to_do(status, message, more, named):
    fault = answered(status, message, **more)
    assert isinstance(fault, EndpointError)
    assert [word for word in [*named, "openai", "https://api.example.com/v1", message] if word not in str(fault)] == []
    assert "\n" not in str(fault)


@pytest.mark.parametrize(
    ("message", "parameter", "remedy"),
    [
        (
            "Unsupported parameter: 'max_tokens' is not supported by this model. Use 'max_completion_tokens' instead.",
            "max_tokens",
            "model.max_tokens_as=max_completion_tokens",
        ),
        ("max_tokens is too large: 9999. This model supports at most 4096 tokens", "", "model.max_tokens lower"),
        (
            "Unsupported value: 'temperature' does not support 0.7 with this model.",
            "temperature",
            "model.temperature=null",
        ),
        ("temperature is not available for this model", "", "model.temperature=null"),
        ("`temperature` and `top_p` cannot both be set", "top_p", "model.top_p=null"),
        ("Unknown field seed", "", "endpoint.seed=false"),
        ("Unrecognized request argument supplied: top_k", "", "endpoint.extra_body without top_k"),
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_a_refused_parameter_names_the_configuration_to_change(status, message, parameter, remedy):
    fault = answered(status, message, param=parameter)
    assert isinstance(fault, ParameterRefused)
    assert f"set {remedy}" in str(fault)


@pytest.mark.parametrize(("role", "key"), [("judge", "judge.temperature"), ("writer", "writer.temperature")])
def test_configuration_is_named_for_the_role_that_asked(role, key):
    assert f"set {key}=null" in str(answered(400, "temperature is unsupported", role=role))
    assert f"{role}.endpoint.api_key_env" in str(answered(401, role=role))


@pytest.mark.parametrize(
    ("message", "more"),
    [
        (
            "request (6031 tokens) exceeds the available context size (4096 tokens)",
            {"type": "exceed_context_size_error"},
        ),
        ("This model's maximum context length is 8192 tokens. However, you requested 9000", {"param": "messages"}),
        ("too long", {"code": "context_length_exceeded"}),
        ("prompt is too long: 210000 tokens > 200000 maximum", {}),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048575)", {}),
        ("Input validation error: `inputs` must have less than 4096 tokens. Given: 5000", {}),
    ],
)
def test_a_prompt_that_does_not_fit_is_recognised(message, more):
    fault = answered(400, message, **more)
    assert isinstance(fault, Declined)
    assert fault.kind == "context"


def test_a_filtered_prompt_and_a_bad_request_are_declined():
    assert answered(400, "The response was filtered", code="content_filter").kind == "content"
    assert answered(403, "requires moderation; your input was flagged").kind == "content"
    assert answered(413).kind == "context"
    assert answered(400, "Invalid value in position 7").kind == "request"


@pytest.mark.parametrize(
    "body", ["", "<html>oops</html>", "[1]", '"x"', "null", '{"detail": [{"loc": ["body"]}]}', "{"]
)
def test_any_error_body_is_read(body):
    fault = outcome(500, body, Asked("subject", "m", "e", "http://h/v1", None, SENT))
    assert isinstance(fault, Transient)


def test_a_long_error_becomes_one_bounded_line():
    fault = answered(500, "line\n" * 10_000)
    assert len(str(fault)) <= 300
    assert "\n" not in str(fault)
