import pytest

from src.text.answers import Match, answer_line, is_yes_no, matches, normalise


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Paris.", "paris"), ("  Paris  ", "Paris"), ("**Paris**", "Paris"),
        ("_Paris_", "Paris"), ("“Paris”!", "Paris"),
        ("The Beatles", "beatles"), ("an   apple", "Apple"), ("a Tale of the City", "tale of city"),
        ("U.S.", "US"), ("U. S. A.", "USA"),
        ("J. K. Rowling", "J.K. Rowling"), ("A. A. Milne", "A.A. Milne"),
        ("O’Brien", "O'Brien"), ("Hawai‘i", "Hawai'i"), ("Jean-Luc", "Jean Luc"),
        ("AC/DC", "AC DC"), ("St. Louis", "St Louis"),
        ("1,000", "1000"), ("1,234,567.5", "1234567.5"), ("twenty", "20"),
        ("Zero", "0"), ("Eleven players", "11 players"),
        ("−5", "-5"), ("–5", "-5"), ("-$5", "-5"), ("(-5)", "-5"),
        ("+44", "44"), ("5 %", "5%"), ("3.5.", "3.5"),
        ("$1,000", "1000"), ("1990–2000", "1990-2000"), ("Vitamin A.", "vitamin a"), ("the A", "A"),
        ("ＰＡＲＩＳ", "paris"), ("Bogota\u0301", "Bogotá"), ("BOGOTÁ", "bogotá"),
        ("H₂O", "H2O"), ("km²", "km2"), ("km^2", "km2"), ("STRASSE", "Straße"),
        ("東京。", "東京"), ("「東京」", "東京"), ("Par\u00adis\u200b", "Paris"),
        ("दिल्ली।", "दिल्ली"), ("New\u00a0York\tCity", "new york city"),
    ],
)  # fmt: skip
def test_the_same_answer(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3.5", "35"), ("-5", "5"), ("-$5", "$5"), (".5", "5"),
        ("-.5", "-5"), ("3,5", "35"), ("3*5", "35"), ("1,00", "100"),
        ("5-10", "-10"), ("3.14", "3.1.4"), ("10⁶", "106"),
        ("5'10", "510"), ("1.000", "1000"), ("twenty-one", "20"),
        ("A", "The"), ("Vitamin A", "Vitamin"), ("C++", "C"),
        ("C#", "C"), ("AB+", "AB"), ("Bogotá", "Bogota"),
        ("東京", "京都"), ("Paris...London", "Parislondon"), ("?", ""), ("None", "0"),
    ],
)  # fmt: skip
def test_not_the_same_answer(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("A", "a"), ("The The", "the"), ("The Who", "who"), ("?!", "?!"),
        ("**", "**"), ("♂", "♂"), ("", ""), (" \n", ""),
        ("-5.50 °C", "-5.50 c"), ("No Country for Old Men", "no country for old men"),
        ("दिल्ली", "दिल्ली"),
    ],
)  # fmt: skip
def test_the_normal_form(text: str, normal: str) -> None:
    assert normalise(text) == normal
    assert normalise(normal) == normal


@pytest.mark.parametrize(
    ("answer", "golds", "yes_no", "match"),
    [
        ("Paris", ["Paris"], False, Match(True, True, True)),
        (" Paris\n", ["Paris "], False, Match(True, True, True)),
        ("The city of Paris.", ["Paris"], False, Match(False, False, True)),
        ("paris", ["Lutetia", "Paris"], False, Match(True, False, True)),
        ("Parisian", ["Paris"], False, Match(False, False, False)),
        ("It is 35", ["3.5"], False, Match(False, False, False)),
        ("It is 3.5.", ["3.5"], False, Match(False, False, True)),
        ("首都是東京", ["東京"], False, Match(False, False, True)),
        ("a", ["A"], False, Match(True, False, True)),
        ("No Country for Old Men", ["no"], False, Match(False, False, True)),
        ("No, they were not", ["no"], True, Match(True, False, True)),
        ("Yes", ["no"], True, Match(False, False, False)),
        ("They were not, no", ["no"], True, Match(False, False, True)),
        ("Nobody", ["no"], True, Match(False, False, False)),
        ("No Country for Old Men", ["No Country for Old Men"], False, Match(True, True, True)),
        ("Nothing", ["No Country for Old Men"], False, Match(False, False, False)),
        ("", [""], False, Match(False, False, False)),
        ("Paris", [], False, Match(False, False, False)),
    ],
)
def test_a_match(answer: str, golds: list[str], yes_no: bool, match: Match) -> None:
    assert matches(answer, golds, yes_no) == match


@pytest.mark.parametrize(
    "gold", ["A", "The The", "no", "Yes", "?!", "-5", "C++", "M*A*S*H", "1,000", "東京", "*", "°C"]
)
def test_every_gold_answer_matches_itself(gold: str) -> None:
    assert matches(gold, [gold], is_yes_no(gold)) == Match(True, True, True)


def test_yes_and_no_are_one_answer_however_they_go_on() -> None:
    assert normalise("No, they were not", yes_no=True) == normalise("No.", yes_no=True) == "no"
    assert normalise("They were not", yes_no=True) == "they were not"
    assert [is_yes_no(gold) for gold in ("Yes", "no.", "No Country for Old Men", "")] == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "line", "last"),
    [
        ("Paris", "Paris", True),
        ("Paris\n", "Paris", False),
        ("\n \n Paris \nQuestion: more", "Paris", False),
        ("**Paris**\r\nbecause", "Paris", False),
        ("<think>\nRome?\n</think>\n\nParis", "Paris", True),
        ("<think>\nRome? Par", "", True),
        ("", "", True),
        ("\n\n", "", True),
        ("A\u2028B", "A\u2028B", True),
    ],
)
def test_the_answer_line_of_a_direct_reply(text: str, line: str, last: bool) -> None:
    assert answer_line(text, "direct") == (line, last)


@pytest.mark.parametrize(
    ("text", "line", "last"),
    [
        ("It is in France.\nAnswer: Paris", "Paris", True),
        ("Answer: Rome\nNo.\nANSWER : Paris\nDone", "Paris", False),
        ("**Answer:** Paris\n", "Paris", False),
        ("**Answer**: **Paris**", "Paris", True),
        ("**Answer: Paris**", "Paris", True),
        ("__Answer:__ Paris", "Paris", True),
        ("Final answer：巴黎", "巴黎", True),
        ("So.\nAnswer:\n\nParis\n", "Paris", False),
        ("**Answer:**\nParis", "Paris", True),
        ("Answer:", "", True),
        ("<think>Answer: Rome</think>Answer: Paris", "Paris", True),
        ("<think>Answer: Rome</think>I do not know.", "", True),
        ("Paris", "", True),
        ("The answer is Paris", "", True),
        ("Nonanswer: Paris", "", True),
    ],
)
def test_the_answer_line_after_reasoning(text: str, line: str, last: bool) -> None:
    assert answer_line(text, "cot") == (line, last)
