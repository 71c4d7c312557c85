import os
import subprocess
import sys

import pytest

from src.text.lists import Item, ListAnswer, parse_list, parse_names, parse_sentences


def texts(text: str, truncated: bool = False) -> list[str]:
    return [item.text for item in parse_list(text, truncated=truncated).items]


def contexts(text: str) -> list[tuple[str, str]]:
    return [(item.text, item.context) for item in parse_list(text, truncated=False).items]


@pytest.mark.parametrize("bullet", list("*+-–—−·•▪‣◦●○■★・∙⁃－＊＋➤✓"))
def test_every_bullet_is_removed_and_nothing_else(bullet: str) -> None:
    assert texts(f"{bullet} first point\n{bullet} second. *point*.") == ["first point", "second. *point*."]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1.", "2."),
        ("1)", "2)"),
        ("(1)", "(2)"),
        ("[1]", "[2]"),
        ("1、", "2、"),
        ("（1）", "（2）"),
        ("(1）", "(2）"),
        ("１．", "２．"),
        ("１）", "２）"),
        ("【1】", "【2】"),
        ("〔1〕", "〔2〕"),
        ("①", "②"),
        ("❶", "❷"),
        ("⑴", "⑵"),
        ("⒈", "⒉"),
        ("ⓐ", "ⓑ"),
        ("1️⃣", "2️⃣"),
        ("一、", "二、"),
        ("（一）", "（二）"),
        ("第一、", "第二、"),
        ("١.", "٢."),
        ("١-", "٢-"),
        ("(١)", "(٢)"),
        ("۱)", "۲)"),
        ("१.", "२."),
        ("๑.", "๒."),
        ("a)", "b)"),
        ("(a)", "(b)"),
        ("a.", "b."),
        ("A.", "B."),
        ("а)", "б)"),
        ("А.", "Б."),
        ("α)", "β)"),
        ("أ)", "ب)"),
        ("أ.", "ب."),
        ("가.", "나."),
        ("가)", "나)"),
        ("ア.", "イ."),
        ("i.", "ii."),
        ("ii)", "iii)"),
        ("(iv)", "(v)"),
        ("IX.", "X."),
        ("1:", "2:"),
        ("1 -", "2 -"),
        ("#1", "#2"),
        ("#1:", "#2:"),
        ("1.1", "1.2"),
        ("1.1.", "1.2."),
        ("1.1.1:", "1.1.2:"),
        ("9.", "10."),
        ("**1.**", "**2.**"),
        ("**1**.", "**2**."),
        ("1\\.", "2\\."),
        ("- [ ]", "- [x]"),
    ],
)
def test_every_enumerator_is_removed(first: str, second: str) -> None:
    assert texts(f"{first} 注意力 is all, U.S.\n{second} Ноль не один") == ["注意力 is all, U.S.", "Ноль не один"]


@pytest.mark.parametrize(
    "text",
    ["- 注意力机制\n- 卷积网络", "1、注意力机制\n2、卷积网络", "（1）注意力机制\n（2）卷积网络",
     "①注意力机制\n②卷积网络", "1.注意力机制\n2.卷积网络",
     "•注意力机制\n•卷积网络", "-注意力机制\n-卷积网络", "一、注意力机制\n二、卷积网络",
     "　１．注意力机制\n　２．卷积网络", "1）注意力机制\r\n2）卷积网络\r\n", "\ufeff* 注意力机制\n\u200f* 卷积网络"],
)  # fmt: skip
def test_chinese_lines_need_no_space_after_the_marker(text: str) -> None:
    assert texts(text) == ["注意力机制", "卷积网络"]


@pytest.mark.parametrize(
    "point",
    [
        "None of the eigenvalues is negative.",
        "Sure convergence is stronger than convergence in probability.",
        "The following holds: f is convex.",
        "Batch of 32 in the U.S.",
        "Here are five points:",
        "Note that these are upper bounds.",
        "-5 degrees is cold",
        "1. e4 e5 2. Nf3 is an opening",
        "12. Dezember 1990 war ein Mittwoch",
        "3.5 million people live there",
        "**Bold** and `code` and $x_1$ and [link](http://a.b)",
        "「注意力」は重要である",
        "I. J. Good wrote it",
        "E. coli is a bacterium",
        '"quoted"',
        "foo\u2028bar\x85baz\x0bqux",
        "a  b   c",
    ],
)
@pytest.mark.parametrize("marker", ["- ", "1. ", "（1）"])
def test_the_text_of_a_point_is_kept_whole(marker: str, point: str) -> None:
    assert texts(marker + point) == [point]
    assert texts(f"Intro:\n\n{marker}{point}\n\n- Another.")[0] == point


@pytest.mark.parametrize(
    "line",
    ["3.5 million people live there.", "1990 was a year.", "2.5 is a number.", "-5 is negative.", "*emphasis* is text.",
     "**Bold** text is text.", "(see below) for more.", "A. Turing was a man.", "1,000 is a number.",
     "2-layer nets exist.", "1990. That was a year.", "---", "***", "* * *", "- - -", "———", "===", "-", "1.", "- ",
     "• \n• ", "1e-3 is small.", "I. J. Good wrote it.", "3:1 is a ratio.", "(s)he wrote it.", "...",
     "「注意力」は重要である。", "三、四个人来了。", "3、4个人来了。",
     "| a | b |\n|---|---|\n| 1 | 2 |", "One paragraph. It has two sentences.", "# A heading", "**Optimization:**"],
)  # fmt: skip
def test_a_line_without_a_marker_is_not_a_point(line: str) -> None:
    assert parse_list(line, truncated=False) == ListAnswer((), unlisted=True, cut=None)


@pytest.mark.parametrize("text", ["", " ", "\n\n\t\n"])
def test_a_blank_answer_is_not_called_unlisted(text: str) -> None:
    assert parse_list(text, truncated=False) == ListAnswer((), unlisted=False, cut=None)


def test_wrapped_lines_are_joined() -> None:
    assert texts("- A point that\n  is wrapped\n  twice.\n- B") == ["A point that is wrapped twice.", "B"]
    assert texts("1. A point that\nis wrapped.\n2. B") == ["A point that is wrapped.", "B"]
    assert texts("- 注意力机制是一种\n  方法。\n- B") == ["注意力机制是一种方法。", "B"]
    assert texts("- 注意力 by\n  谷歌") == ["注意力 by 谷歌"]
    assert texts("- 주의 기제는\n  방법이다") == ["주의 기제는 방법이다"]
    assert texts("1. **Title**\n\n   Its paragraph.\n\n2. B") == ["**Title** Its paragraph.", "B"]
    assert texts("1.\n   On the next line.\n2.\nDirectly below.") == ["On the next line.", "Directly below."]
    assert texts("- First sentence.\n  Second sentence.\n- B") == ["First sentence. Second sentence.", "B"]
    assert texts("1. First sentence.\nSecond sentence.\n2. B.\nMore of B.") == [
        "First sentence. Second sentence.",
        "B. More of B.",
    ]


def test_a_wrapped_line_is_kept_even_if_it_looks_like_chatter() -> None:
    assert texts("- The loss falls\nif you have any noise, and\n  let me is a verb\n- B") == [
        "The loss falls if you have any noise, and let me is a verb",
        "B",
    ]
    assert texts("- Descartes wrote:\n  I think, therefore I am.") == ["Descartes wrote: I think, therefore I am."]


def test_a_wrapped_line_that_begins_with_a_number_is_not_a_point() -> None:
    assert texts("- It was introduced in\n  2019. It is large.\n- B") == [
        "It was introduced in 2019. It is large.",
        "B",
    ]
    assert texts("- It came out on\n12. Dezember 1990.\n- B") == ["It came out on 12. Dezember 1990.", "B"]
    assert texts("- It reaches\n- 3.5 points") == ["It reaches", "3.5 points"]
    assert texts("- It reaches\n  3.5 points") == ["It reaches 3.5 points"]
    assert texts("- found in\n  E. coli and\n  B. subtilis") == ["found in E. coli and B. subtilis"]


def test_children_are_points_with_their_parent_as_context() -> None:
    assert contexts("- A parent that\n  wraps:\n  - child one\n  - child two\n    - grandchild\n- B") == [
        ("A parent that wraps:", ""),
        ("child one", "A parent that wraps:"),
        ("child two", "A parent that wraps:"),
        ("grandchild", "child two"),
        ("B", ""),
    ]
    assert contexts("1. **A**:\n- x\n- y\n2. **B**:\n- z") == [
        ("**A**:", ""),
        ("x", "**A**:"),
        ("y", "**A**:"),
        ("**B**:", ""),
        ("z", "**B**:"),
    ]
    assert contexts("1. A\n\t* x\n2. B")[1] == ("x", "A")
    assert contexts("1. A\n1.1 x\n1.2 y\n2. B") == [("A", ""), ("x", "A"), ("y", "A"), ("B", "")]
    assert contexts("1. A\n 2. B\n  3. C") == [("A", ""), ("B", ""), ("C", "")]
    assert contexts("一、甲：\n（1）乙\n二、丙：\n（1）丁")[1] == ("乙", "甲：")


def test_an_unbulleted_heading_is_context_and_not_a_point() -> None:
    assert contexts("**Optimization:**\n- SGD is stochastic.\n\n### 2. Data\n\n1. Data are cleaned.") == [
        ("SGD is stochastic.", "Optimization:"),
        ("Data are cleaned.", "2. Data"),
    ]
    assert contexts("- **Optimization:**\n  - SGD is stochastic.") == [
        ("**Optimization:**", ""),
        ("SGD is stochastic.", "**Optimization:**"),
    ]


@pytest.mark.parametrize(
    "closing",
    ["I hope this helps!", "Note that these are only examples.", "Let me know if you want more", "希望这些对你有帮助！",
     "Надеюсь, это поможет!", "These facts can be found in a book.", "| a | b |", "**More**"],
)  # fmt: skip
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_prose_around_a_list_is_dropped(closing: str, gap: str) -> None:
    text = f"Here are two points:{gap}- A is B.\n- C is D.{gap}{closing}"
    assert texts(text) == ["A is B.", "C is D."]
    assert texts(f"- A is B.\n\n{closing}\n\n- C is D.") == ["A is B.", "C is D."]


def test_prose_below_a_list_of_names_is_dropped() -> None:
    assert texts("- Adam\n- SGD\nI hope this helps!") == ["Adam", "SGD"]
    assert texts("- Adam\n- SGD\nOthers:\n- Lion") == ["Adam", "SGD", "Lion"]
    assert texts("- Adam\n- SGD\n\nThat is all") == ["Adam", "SGD"]


def test_a_doubled_marker_is_removed_only_where_it_counts() -> None:
    assert texts("1. 1. Foo\n2. 2. Bar") == ["Foo", "Bar"]
    assert texts("- 1. Foo\n- 2. Bar") == ["Foo", "Bar"]
    assert texts("- 1. e4 e5\n- Bar") == ["1. e4 e5", "Bar"]
    assert texts("1. 1. 1: Foo\n2. 2. 2: Bar") == ["Foo", "Bar"]
    assert texts("1. 1.\n2. 2.\n3. 3.") == []
    assert texts("1. A. Turing\n2. B. Russell") == ["A. Turing", "B. Russell"]
    assert texts("1. 100% of it\n2. 2 of it") == ["100% of it", "2 of it"]


def test_a_numbered_list_inside_a_line_is_read_if_it_clearly_is_one() -> None:
    assert texts("1. A is B. 2. C is D! 3. E.") == ["A is B.", "C is D!", "E."]
    assert texts("Facts: 1. A is B. 2. C is D. 3. E is F.") == ["A is B.", "C is D.", "E is F."]
    assert texts("1、甲是乙。2、丙是丁。3、戊。") == ["甲是乙。", "丙是丁。", "戊。"]
    for whole in (
        "It has two: 1. A. 2. B.",
        "see 1. Then 2. and 3. too",
    ):
        assert texts(whole) == []
        assert texts(f"- {whole}") == [whole]
    for whole in (
        "- It has three: 1. A. 2. B. 3. C.",
        "1. e4 e5 2. Nf3 Nc6 3. Bb5",
        "1. Erschienen: 2. Mai 1990.",
        "1. In 2. and 3.",
    ):
        assert len(texts(whole)) == 1


def test_emphasis_around_a_marker_stays_with_the_text_it_belongs_to() -> None:
    assert texts("**1. Title** text\n**2. Other** text") == ["**Title** text", "**Other** text"]
    assert texts("**1.** text\n***2. **Bold** text\n**3**. text") == ["text", "**Bold** text", "text"]


def test_repeats_and_order_are_kept() -> None:
    assert texts("- A\n- B\n- A\n\n1. B") == ["A", "B", "A", "B"]
    assert texts("1. A\n1. B\n1. C") == ["A", "B", "C"]
    assert texts("3. A\n5. B\n9. C") == ["A", "B", "C"]
    assert texts("7. A lone number goes on from an earlier answer.") == [
        "A lone number goes on from an earlier answer."
    ]


def test_the_last_point_of_a_truncated_answer_is_set_aside() -> None:
    fifty = "\n".join(f"{n}. Point {n}." for n in range(1, 50)) + "\n50. Point fif"
    answer = parse_list(fifty, truncated=True)
    assert (len(answer.items), answer.cut, answer.unlisted) == (49, "Point fif", False)
    assert parse_list("- A.\n- B.", truncated=True) == ListAnswer((Item("A.", ""),), unlisted=False, cut="B.")
    assert parse_list("- A.\n- B\n  goes on", truncated=True).cut == "B goes on"
    assert parse_list("- A is cut", truncated=True) == ListAnswer((), unlisted=False, cut="A is cut")


@pytest.mark.parametrize(
    "tail", ["\n", "\r\n", "\n\n", "\n- ", "\n-", "\n3", "\n3.", "\n3. ", "\n3. **", "\n\nI hope th"]
)
def test_a_point_with_something_after_it_is_complete(tail: str) -> None:
    answer = parse_list(f"1. A.\n2. B.{tail}", truncated=True)
    assert ([item.text for item in answer.items], answer.cut) == (["A.", "B."], None)


def test_code_is_no_list_unless_the_list_is_in_it() -> None:
    assert texts("- A\n```python\n# 1. no\n- no\n```\n- B") == ["A", "B"]
    assert texts("- A:\n  ```\n  - no\n  ```\n  goes on\n- B") == ["A: goes on", "B"]
    assert texts("```markdown\n- A\n- B\n```") == ["A", "B"]


def test_a_json_list_of_strings_is_a_list() -> None:
    assert texts('["A is \\"B\\".", "C", ""]') == ['A is "B".', "C"]
    assert texts('```json\n{"facts": [\n  "A",\n  "B"\n]}\n```') == ["A", "B"]
    cut = parse_list('["A", "B", "C is c', truncated=True)
    assert ([item.text for item in cut.items], cut.cut) == (["A", "B"], "C is c")
    assert parse_list('[{"a": 1}]', truncated=False).unlisted
    assert parse_list("[List items]", truncated=False).unlisted


def test_names_lose_markup_numbers_and_descriptions() -> None:
    text = (
        "Sure, here are five:\n1. **Convolutional Networks (CNNs)**: for images\n2. *Graph-based nets* - for graphs\n"
        "3. `LSTM` – memory.\n4. **Markov–Chain methods:** chains\n5. Convolutional networks (CNNs).\n"
        "6. 注意力：机制\n\nDone."
    )
    assert parse_names(text, truncated=False) == (
        "Convolutional Networks (CNNs)",
        "Graph-based nets",
        "LSTM",
        "Markov–Chain methods",
        "注意力",
    )


def test_names_are_the_top_of_the_list() -> None:
    assert parse_names("1. **A nets**\n   - used for B\n2. **C nets**\n   - used for D", truncated=False) == (
        "A nets",
        "C nets",
    )
    assert parse_names("- Sub-fields of A:\n  - B nets\n  - C nets", truncated=False) == ("B nets", "C nets")
    assert parse_names("1. A\n2. B\n3. C", truncated=True) == ("A", "B")


def test_names_may_stand_on_plain_lines() -> None:
    assert parse_names("Here are three:\nA nets\n**B nets**\n\nC nets: for D", truncated=False) == (
        "A nets",
        "B nets",
        "C nets",
    )
    assert parse_names("I cannot name any sub-fields because the field has none of them.", truncated=False) == ()
    assert parse_names("", truncated=False) == ()
    assert parse_names("Autoencoders", truncated=False) == ()
    assert parse_names("1. 1.1: A nets\n2. 1.2: B nets", truncated=False) == ("A nets", "B nets")
    assert parse_names("1. A nets\n2. " + "word " * 13, truncated=False) == ("A nets",)


def test_the_order_does_not_depend_on_the_hash_seed() -> None:
    script = """
from src.text.lists import parse_list, parse_names
for n in range(30):
    text = "\\n".join(f"{k}. **Name {k * n % 7}**: is {k + n}" for k in range(1, 12)) + "\\n- x\\n  - y"
    print(parse_list(text, truncated=n % 2 == 0), parse_names(text, truncated=False))
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in range(10)
    }
    assert len(outputs) == 1
    assert outputs.pop().count("ListAnswer") == 30


def test_a_list_of_mixed_markers_has_an_item_per_line() -> None:
    chinese = parse_list("- 注意力机制\n1、第二点是\n（2）第三点", truncated=False)
    assert [item.text for item in chinese.items] == ["注意力机制", "第二点是", "第三点"]
    markers = ["*", "+", "–", "—", "·", "•", "▪", "‣", "◦", "1.", "1)", "(1)", "a)"]
    mixed = parse_list("\n".join(f"{marker} point {i} here" for i, marker in enumerate(markers)), truncated=False)
    assert [item.text for item in mixed.items] == [f"point {i} here" for i in range(len(markers))]


def test_a_number_that_cannot_be_the_next_goes_on_with_the_sentence() -> None:
    listed = parse_list("- he was born on\n12. Dezember 1990 in Bonn", truncated=False)
    assert [item.text for item in listed.items] == ["he was born on 12. Dezember 1990 in Bonn"]


@pytest.mark.parametrize(
    "text",
    [
        "1. **Statistician**: designs trials.\n2. An engineer who builds robots.\n3. statistician – plans surveys.",
        "Here are two experts:\n\n- Statistician: designs trials.\n- An engineer who builds robots.\n",
        "Statistician: designs trials.\nAn engineer who builds robots.\n\nI hope this helps!",
    ],
)
def test_sentences_are_kept_whole_and_distinct_by_what_they_name(text: str) -> None:
    found = parse_sentences(text, truncated=False)
    assert found == ("Statistician: designs trials.", "An engineer who builds robots.")


def test_a_name_is_short() -> None:
    assert parse_names(f"- {'x' * 121}\n- {'y' * 120}", truncated=False) == ("y" * 120,)
