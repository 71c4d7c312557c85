import json

import pytest

from src.errors import EndpointError
from src.llm.faults import Asked, Declined, ParameterRefused, Transient, outcome, wait_asked

SENT = ("model", "messages", "max_tokens", "temperature", "top_p", "seed", "top_k")
SENT += ("reasoning_effort", "response_format", "logit_bias")


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
        (
            "max_tokens is too large: 9999. This model supports at most 4096 tokens",
            "",
            "model.max_tokens (or the answer_tokens of the probe) lower",
        ),
        (
            "Unsupported value: 'temperature' does not support 0.7 with this model.",
            "temperature",
            "model.temperature=null",
        ),
        ("temperature is not available for this model", "", "model.temperature=null"),
        ("`temperature` and `top_p` cannot both be set", "top_p", "model.top_p=null"),
        ("Unknown field seed", "", "endpoint.seed=false"),
        (
            "Unrecognized request argument supplied: top_k",
            "",
            "endpoint.top_k=false, and endpoint.extra_body without top_k",
        ),
        ("Unsupported value: 'minimal'", "reasoning_effort", "endpoint.extra_body.reasoning_effort to what it takes"),
        ("Missing required parameter", "response_format.json_schema", "endpoint.extra_body.response_format to what"),
        ("Invalid 'logit_bias[7]'", "logit_bias[7]", "endpoint.extra_body.logit_bias to what it takes"),
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


@pytest.mark.parametrize(
    ("message", "style"),
    [
        ("This is not a chat model. Did you mean to use v1/completions?", "completion"),
        ("As of transformers v4.44, default chat template is no longer allowed", "completion"),
        ("base does not support chat completions", "completion"),
        ("This is a chat model and not supported in the v1/completions endpoint.", "chat"),
    ],
)
@pytest.mark.parametrize("status", [400, 404])
def test_the_wrong_style_names_the_right_one(status, message, style):
    assert f"set model.style={style}." in str(answered(status, message))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "277000"}, 277_000),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "soon"}, 0),
        ({"retry-after": ""}, 0),
        ({"retry-after": "nan"}, 0),
        ({"retry-after": "inf"}, float("inf")),
        ({"retry-after": "Mon, 30 Nov 2026 06:00:30 GMT", "date": "Mon, 30 Nov 2026 06:00:00 GMT"}, 30),
        ({"retry-after": "Mon, 30 Nov 2026 06:00:30 -0000", "date": "Mon, 30 Nov 2026 06:00:00 GMT"}, 30),
        ({"retry-after": "Mon, 30 Nov 2026 05:00:00 GMT", "date": "Mon, 30 Nov 2026 06:00:00 GMT"}, 0),
        ({"retry-after": "Sat, 01 Jan 2000 00:00:00 GMT"}, 0),
        ({"retry-after": "Mon, 99 Nov 2026 06:00:00 GMT"}, 0),
    ],
)
def test_how_long_to_wait_is_read_in_every_form(headers, seconds):
    assert wait_asked(headers) == seconds


def test_only_too_many_requests_are_throttling():
    assert answered(429).throttled
    assert not answered(503).throttled
