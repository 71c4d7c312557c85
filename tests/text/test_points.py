"""Points below a criticism, and nothing of the criticism; lists and single points beside it."""

import pytest

from src.text.points import after_criticism, read_points

CRITICISM = "The points leave out theory.\n- Nothing is said about priors.\n- Edge cases are missing.\n"
POINTS = ("Dropout zeroes units.", "ReLU is not smooth.")
LIST = "".join(f"- {point}\n" for point in POINTS)


def points(text: str, *, truncated: bool = False) -> tuple[str, ...]:
    return tuple(item.text for item in read_points(text, "critique", truncated=truncated).items)


@pytest.mark.parametrize(
    "line",
    [
        "NEW POINTS",
        "**NEW POINTS**",
        "**NEW POINTS:**",
        "__New points__:",
        "## NEW POINTS",
        "### New Points:",
        "  NEW POINTS  ",
        "--- NEW POINTS ---",
        "=== NEW POINTS ===",
        "`NEW POINTS`",
        '"NEW POINTS"',
        "[NEW POINTS]",
        "> NEW POINTS",
        "Step 2: NEW POINTS",
        "## Step 2 — NEW POINTS",
        "**Step 2. NEW POINTS**",
        "2. NEW POINTS",
        "- **NEW POINTS**",
        "ＮＥＷ ＰＯＩＮＴＳ：",
        "NEW POINTS\r",
    ],
)
def test_the_line_is_known_in_every_dress(line: str) -> None:
    assert points(f"{CRITICISM}\n{line}\n\n{LIST}") == POINTS


def test_the_list_may_start_on_the_line_itself() -> None:
    assert points(f"{CRITICISM}NEW POINTS: {LIST}") == POINTS
    assert points(f"{CRITICISM}**NEW POINTS:** 1. {POINTS[0]}\n2. {POINTS[1]}") == POINTS


@pytest.mark.parametrize(
    "line",
    [
        "New points should cover theory.",
        "- NEW POINTS must be deeper",
        "I will now list NEW POINTS",
        "NEW POINTS: see below",
    ],
)
def test_prose_about_new_points_is_not_the_line(line: str) -> None:
    assert points(f"{CRITICISM}{line}\n{LIST}") == ()
    assert points(f"{CRITICISM}{line}\nNEW POINTS\n{LIST}") == POINTS


def test_the_last_of_several_lines_counts() -> None:
    assert points(f"NEW POINTS\n- A remark about form.\n\nNEW POINTS\n{LIST}") == POINTS


@pytest.mark.parametrize(
    "text",
    [
        CRITICISM,
        CRITICISM + "\n" + LIST,  # which bullets are the criticism's cannot be told
        f"# Criticism\n{LIST}",
        f"{LIST}\nThe list above lacks theory:\n{LIST}",
        "Theory is missing.",
        "NEW POINTS",
        f"{CRITICISM}NEW POINTS\nThere are none.",
    ],
)
def test_without_points_below_the_line_an_answer_lists_nothing_and_is_counted(text: str) -> None:
    answer = read_points(text, "critique", truncated=False)
    assert answer.items == ()
    assert answer.unlisted


def test_a_whole_answer_that_lists_from_its_first_line_is_read_as_points() -> None:
    assert points(LIST) == POINTS
    assert points(f"1. {POINTS[0]}\n   It was made in 2012.\n\n2. {POINTS[1]}\n\nI hope this helps!") == (
        f"{POINTS[0]} It was made in 2012.",
        POINTS[1],
    )


def test_an_answer_cut_before_the_line_has_no_points() -> None:
    answer = read_points(LIST, "critique", truncated=True)
    assert (answer.items, answer.cut, answer.unlisted) == ((), None, True)


def test_an_answer_cut_in_its_list_sets_the_last_point_aside() -> None:
    answer = read_points(f"{CRITICISM}NEW POINTS\n- {POINTS[0]}\n- ReLU is n", "critique", truncated=True)
    assert [item.text for item in answer.items] == [POINTS[0]]
    assert answer.cut == "ReLU is n"
    assert not answer.unlisted


def test_reasoning_is_neither_criticism_nor_points() -> None:
    assert points(f"<think>NEW POINTS\n- a draft</think>{CRITICISM}NEW POINTS\n{LIST}") == POINTS
    assert points(f"- a draft\n</think>\n{CRITICISM}") == ()


def test_blank_answers_are_neither_listed_nor_unlisted() -> None:
    for text in ("", "\n", "<think>hm</think>"):
        assert not read_points(text, "critique", truncated=False).unlisted
    assert after_criticism("", truncated=False) == ""


def test_a_point_is_taken_as_it_is_and_a_list_as_a_list() -> None:
    (item,) = read_points(" - **Bold** <think>x\nNEW POINTS ", "point", truncated=False).items
    assert item.text == "- **Bold** <think>x\nNEW POINTS"
    listed = read_points(f"<think>- no</think>{LIST}", "list", truncated=False)
    assert tuple(item.text for item in listed.items) == POINTS
