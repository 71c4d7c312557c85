import csv
from pathlib import Path

import pytest

from src.text.form import same_content
from src.text.guards import LONGEST, difference, facets


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ("It has 3.5 layers", "It has 35 layers", "number"),
        ("It has 12 layers", "It has 24 layers", "number"),
        ("It has twelve layers", "It has 24 layers", "number"),
        ("It has 12 layers", "It has layers", "number"),
        ("It moves from 3 to 5", "It moves from 5 to 3", "number"),
        ("The first derivative", "The second derivative", "number"),
        ("A model of 7B parameters", "A model of 70B parameters", "number"),
        ("two million rows", "two billion rows", "number"),
        ("It is 10^6", "It is 10^7", "number"),
        ("It is 10⁶", "It is 106", "number"),
        ("x is -5", "x is 5", "number"),
        ("共有5个", "共有6个", "number"),
        ("有３万人", "有３亿人", "number"),
        ("عدد ٥", "عدد ٦", "number"),
        ("a dose of 5 mg", "a dose of 5 g", "unit"),
        ("a dose of 5mg", "a dose of 5 grams", "unit"),
        ("доза 5 мг", "доза 5 г", "unit"),
        ("剂量5毫克", "剂量5克", "unit"),
        ("takes 5 seconds", "takes 5 minutes", "unit"),
        ("rises by 5%", "rises by 5", "unit"),
        ("costs $5", "costs €5", "unit"),
        ("at 5 km/h", "at 5 km/s", "unit"),
        ("8 MB of memory", "8 Mb of memory", "unit"),
        ("It began in 1990", "It began in 1991", "year"),
        ("It began in 1990", "It began", "year"),
        ("It began in the 1990s", "It began in 1990", "year"),
        ("它始于1990年", "它始于1991年", "year"),
        ("The MW-2 code", "The MW-3 code", "identifier"),
        ("GPT-3 is large", "GPT-4 is large", "identifier"),
        ("GPT-3.5 is large", "GPT-3 is large", "identifier"),
        ("GPT-4 beats GPT-3", "GPT-3 beats GPT-4", "identifier"),
        ("ResNet-50 is deep", "ResNet-101 is deep", "identifier"),
        ("vitamin B12", "vitamin B6", "identifier"),
        ("hepatitis B", "hepatitis C", "identifier"),
        ("Type II error", "Type I error", "identifier"),
        ("ГОСТ-2 норма", "ГОСТ-3 норма", "identifier"),
        ("X causes Y", "X does not cause Y", "negation"),
        ("X can do it", "X can't do it", "negation"),
        ("X can do it", "X can’t do it", "negation"),
        ("X can do it", "X cannot do it", "negation"),
        ("It has a minimum", "It has no minimum", "negation"),
        ("It works with labels", "It works without labels", "negation"),
        ("It always ends", "It never ends", "negation"),
        ("a convex loss", "a non-convex loss", "negation"),
        ("a linear map", "a nonlinear map", "negation"),
        ("X 导致 Y", "X 不导致 Y", "negation"),
        ("X вызывает Y", "X не вызывает Y", "negation"),
        ("X verursacht Y", "X verursacht Y nicht", "negation"),
        ("It increases loss", "It decreases loss", "antonym"),
        ("increasing the rate", "reducing the rate", "antonym"),
        ("a higher rate", "a lower rate", "antonym"),
        ("the maximum value", "the minimum value", "antonym"),
        ("maximizes it", "minimises it", "antonym"),
        ("high bias and low variance", "low bias and high variance", "antonym"),
        ("an encoder block", "a decoder block", "antonym"),
        ("supervised learning", "unsupervised learning", "antonym"),
        ("a stable state", "an unstable state", "antonym"),
        ("the dependent variable", "the independent variable", "antonym"),
        ("before training", "after training", "antonym"),
        ("学习率增加", "学习率减少", "antonym"),
        ("увеличивает риск", "уменьшает риск", "antonym"),
        ("open at 3 am", "open at 3 p.m.", "unit"),
        ("at 5 °C", "at 5 degrees Fahrenheit", "unit"),
        ("Protein A inhibits B", "Protein B inhibits A", "identifier"),
        ("type I and type II errors", "type II and type I errors", "identifier"),
        ("runs in O(n)", "runs in O(log n)", "identifier"),
        ("P(A|B) is known", "P(B|A) is known", "identifier"),
        ("x > 0 holds", "x < 0 holds", "sign"),
        ("x >= 0 holds", "x > 0 holds", "sign"),
        (r"if $x \leq y$", r"if $x \geq y$", "sign"),
        ("a depth of at most 10", "a depth of at least 10", "sign"),
        ("up to 20 classes", "over 20 classes", "sign"),
        ("a depth of at most 10", "a depth of 10", "sign"),
        ("All birds fly", "Some birds fly", "scope"),
        ("All birds fly", "Almost all birds fly", "scope"),
        ("It must be scaled", "It may be scaled", "scope"),
        ("It may cause nausea", "It causes nausea", "scope"),
        ("It is always used", "It is sometimes used", "scope"),
        ("Only the last layer is trained", "The last layer is trained", "scope"),
        ("He was born in Lyon, France", "He was born in Nice, France", "name"),
        ("It was on 5 May 1821", "It was on 5 June 1821", "name"),
        ("Rome defeated Carthage", "Carthage defeated Rome", "order"),
        ("Rome defeated Carthage", "Rome was defeated by Carthage", "order"),
        ("If it rains, the game is off", "If the game is off, it rains", "order"),
        ("All squares are rectangles", "All rectangles are squares", "order"),
        ("He fled from Canada", "He fled to Canada", "order"),
        ("罗马打败迦太基", "迦太基打败罗马", "order"),
        ("Rom besiegte Karthago", "Karthago besiegte Rom", "order"),
        ("Paris is a city", "London is a city", "word"),
        ("It is the mean of squared errors", "It is the mean of absolute errors", "word"),
    ],
)
def test_differences_are_named_and_symmetric(a: str, b: str, kind: str) -> None:
    assert difference(a, b) == kind
    assert difference(b, a) == kind
    assert difference(a, a) == difference(b, b) == ""


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("", ""),
        ("It has 1,000 layers", "It has 1000 layers"),
        ("It has 2,000 layers", "It has 2000 layers"),
        ("It has 1,234,567 rows", "It has 1234567 rows"),
        ("It has 1 000 layers", "It has 1\u00a0000 layers"),
        ("It has five layers", "It has 5 layers"),
        ("It has Twenty layers", "It has 20 layers"),
        ("It has zero bias", "It has 0 bias"),
        ("twenty-one layers", "21 layers"),
        ("a two-layer net", "a 2-layer net"),
        ("the second law", "the 2nd law"),
        ("It is 3.50", "It is 3.5"),
        ("It is .5", "It is 0.5"),
        ("It is 3.", "It is 3"),
        ("有５个", "有5个"),
        ("عدد ٥", "عدد 5"),
        ("a dose of 5 mg", "a dose of 5mg"),
        ("a dose of 5 milligrams", "a dose of 5 mg"),
        ("rises by 5%", "rises by 5 percent"),
        ("rises by 5 %", "rises by ５％"),
        ("7B parameters", "7 billion parameters"),
        ("2 million rows", "2,000,000 rows"),
        ("GPT-3 is large", "GPT3 is large."),
        ("The COVID-19 pandemic", "The Covid-19 pandemic"),
        ("X does not cause Y", "X doesn't cause Y"),
        ("X cannot do it", "X can not do it"),
        ("X can't do it", "X cannot do it"),
        ("not only A but also B", "both A and B"),
        ("It increases the loss", "The loss is increased by it"),
        ("It reduces the loss", "It lowers the loss"),
        ("A larger rate", "A bigger rate"),
        ("Adam is an optimiser", "The Adam optimiser is used"),
        ("One of the methods is SGD", "A method is SGD"),
        ("注意力机制", "注意力的机制"),
        ("at most 5 layers", "no more than 5 layers"),
        ("at most 5 layers", "<= five layers"),
        ("at 5 °C", "at 5 degrees Celsius"),
        ("In 2010, he retired from football.", "He retired from football in 2010."),
        ("If the rate is high, training diverges.", "Training diverges if the rate is high."),
        ("Fleming discovered penicillin in 1928.", "Penicillin was discovered by Fleming in 1928."),
        ("Blood is pumped through the body by the heart.", "The heart pumps blood through the body."),
        ("the network's weights", "the weights of the network"),
        ("a generator and a discriminator", "a discriminator and a generator"),
        ("Weights are randomly initialised", "Weights are initialized randomly"),
        ("A form of regularisation is dropout.", "Dropout is a form of regularisation."),
        ("All weights are shared", "Every weight is shared"),
        ("It raises the risk of cancer", "It increases the risk of cancer"),
    ],
)
def test_same_facts_in_other_words_do_not_differ(a: str, b: str) -> None:
    assert difference(a, b) == difference(b, a) == ""


def labelled(label: str) -> list[tuple[str, str]]:
    with (Path(__file__).parent / "pairs.csv").open(encoding="utf-8", newline="") as file:
        return [(row["first"], row["second"]) for row in csv.DictReader(file) if row["label"] == label]


def test_no_pair_that_differs_is_merged_unasked_however_alike_its_vectors_are() -> None:
    pairs = labelled("distinct")
    assert len(pairs) > 300
    missed = [pair for pair in pairs if not difference(*pair)]
    assert missed == [("Even he understood it.", "He understood it.")], "known: nothing changed but the stress"
    assert not any(same_content(*pair) for pair in pairs), "nor do the rules call them the same"


def test_true_paraphrases_may_be_asked_about_but_not_all_of_them() -> None:
    pairs = labelled("same")
    assert sum(not difference(*pair) for pair in pairs) > len(pairs) / 2


def test_kinds_are_named_in_a_fixed_order() -> None:
    assert difference("GPT-3 has 5 mg", "GPT-4 has not 6 g in 1990") == "number"
    assert difference("GPT-3 has 5 mg", "GPT-4 has not 5 g in 1990") == "unit"
    assert difference("GPT-3 has it", "GPT-4 has not it in 1990") == "year"
    assert difference("GPT-3 has it", "GPT-4 has not it") == "identifier"
    assert difference("it has more", "it has not less") == "negation"


def test_a_text_that_grows_in_normal_form_is_taken_apart_only_as_far_as_a_statement_goes() -> None:
    grown = facets("ﷺ " * 20_000)
    assert len(grown.sequence) < LONGEST
    assert len(grown.beyond) > 300_000


def test_what_lies_beyond_is_not_merged_unasked_unless_it_is_equal() -> None:
    long = "It is so. " * (LONGEST // 10)
    assert difference(f"{long}It ends in 1990.", f"{long}It ends in 1991.") == "word"
    assert difference(f"It has 5 layers. {long}", f"It has 6 layers. {long}") == "number"
    assert difference(f"It increases it. {long}", f"It increased it. {long}") == ""
    assert difference(f"It increases. {long}", f"It increased. {long}x") == "word"
