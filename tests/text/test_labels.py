import pytest

from src.text.labels import parse_label

YES_NO = ("YES", "NO")
AUDIT = ("FACTUAL", "CONCEPTUAL", "PROCEDURAL", "NO")
GRADES = ("CORRECT", "INCORRECT", "NOT_ATTEMPTED")


@pytest.mark.parametrize(
    "reply",
    ["Yes – valid factual knowledge", "YES.", "**YES**", "yes (known result)", " \n\nYES", "`YES`", "__Yes__", "> YES",
     '"Yes".', "# YES\nbecause", "ＹＥＳ", "YES, it is knowledge", "<b>YES</b>", "(YES)", "$\\boxed{YES}$", "_yes_",
     "Yes\u00a0it is"],
)  # fmt: skip
def test_a_reply_that_starts_with_a_label(reply: str) -> None:
    assert parse_label(reply, YES_NO) == "YES"


@pytest.mark.parametrize(
    ("reply", "labels", "label"),
    [
        ("<think>If I say YES …</think>NO", YES_NO, "NO"),
        ("I weigh YES against NO.\n\n**NO**", YES_NO, "NO"),
        ("YES or NO?\nno.", YES_NO, "NO"),
        ("INCORRECT", GRADES, "INCORRECT"),
        ("NOT_ATTEMPTED", GRADES, "NOT_ATTEMPTED"),
        ("not_attempted: no answer", GRADES, "NOT_ATTEMPTED"),
        ("**Not_Attempted**", GRADES, "NOT_ATTEMPTED"),
        ("Conceptual. It relates two ideas.", AUDIT, "CONCEPTUAL"),
        ("Partially correct", ("CORRECT", "PARTIALLY CORRECT"), "PARTIALLY CORRECT"),
        ("是", ("是", "否"), "是"),
        ("是。理由如下", ("是", "否"), "是"),
        ("ДА.", ("ДА", "НЕТ"), "ДА"),
    ],
)
def test_the_label_that_is_meant(reply: str, labels: tuple[str, ...], label: str) -> None:
    assert parse_label(reply, labels) == label


@pytest.mark.parametrize(
    ("reply", "labels"),
    [
        ("I'd say YES if it were true, but NO", YES_NO),
        ("YES and NO", YES_NO),
        ("YES/NO", YES_NO),
        ("YES\nNO, on reflection", YES_NO),
        ("INCORRECT", YES_NO),
        ("NOT_ATTEMPTED", YES_NO),
        ("KNOWLEDGE", YES_NO),
        ("NOT", YES_NO),
        ("None", YES_NO),
        ("No-one knows", YES_NO),
        ("Yesterday it was known", YES_NO),
        ("INCORRECT", ("CORRECT",)),
        ("是", YES_NO),
        ("不是", ("是", "否")),
        ("", YES_NO),
        ("   \n", YES_NO),
        ("***", YES_NO),
        ("The answer is YES", YES_NO),
        ("Answer: YES", YES_NO),
        ("<think>YES", YES_NO),
        ("≠YES", YES_NO),
        ("FACTUAL or CONCEPTUAL", AUDIT),
        ("FACTUAL, no doubt", AUDIT),
    ],
)
def test_anything_else_is_unparsed(reply: str, labels: tuple[str, ...]) -> None:
    assert parse_label(reply, labels) is None
