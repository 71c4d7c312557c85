import pytest

from src.text.lists import parse_list
from src.text.reasoning import strip_reasoning


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("<think>", "</think>"),
        ("<THINK>", "</Think>"),
        ("<thinking>", "</thinking>"),
        ("<thought>", "</thought>"),
        ("<reasoning>", "</reasoning>"),
        ("<think type='long'>", "</think >"),
        ("<|begin_of_thought|>", "<|end_of_thought|>"),
        ("[THINK]", "[/THINK]"),
        ("◁think▷", "◁/think▷"),
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ],
)
def test_reasoning_is_removed(opening: str, closing: str) -> None:
    assert strip_reasoning(f"{opening}\nIf I say YES…\n- no\n{closing}\n\nNO") == "NO"
    assert strip_reasoning(f"{opening}If I say YES …{closing}NO") == "NO"
    assert strip_reasoning(f"- no\n{closing}\n- yes") == "- yes"
    assert strip_reasoning(f"{opening}\n- no\n- no") == ""
    assert strip_reasoning(f"{opening}{closing}") == ""


def test_points_before_a_lone_closing_tag_are_not_points() -> None:
    text = strip_reasoning("- a draft\n- another\n</think>\n\n- A point.")
    assert [item.text for item in parse_list(text, truncated=False).items] == ["A point."]


def test_reasoning_that_never_closes_leaves_nothing() -> None:
    answer = parse_list(strip_reasoning("<think>\n- a draft\n- ano"), truncated=True)
    assert (answer.items, answer.cut, answer.unlisted) == ((), None, False)


def test_several_and_nested_blocks() -> None:
    assert strip_reasoning("<think>a</think>- A\n<think>b</think>- B") == "- A\n- B"
    assert strip_reasoning("<think>a <think>b</think> c</think>YES") == "YES"
    assert strip_reasoning("<think>a <think> b</think>NO") == "NO"
    assert strip_reasoning("<think>a</think>- A\n<think>never closed") == "- A\n"


@pytest.mark.parametrize(
    "text",
    [
        "- A\n- B\n",
        "  - indented\n  - too",
        "",
        "- Models think <think> is a tag.",
        "- The tag `</think>` ends reasoning.",
        "a < b > c",
    ],
)
def test_other_text_is_returned_as_it_came(text: str) -> None:
    assert strip_reasoning(text) == text


def test_indentation_of_the_first_line_is_kept() -> None:
    assert strip_reasoning("<think>x</think>\n\n  - A\n  - B\n") == "  - A\n  - B\n"
