import pytest

from src.text.guards import difference


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
        ("Paris is a city", "London is a city"),
    ],
)
def test_same_facts_in_other_words_do_not_differ(a: str, b: str) -> None:
    assert difference(a, b) == difference(b, a) == ""


def test_kinds_are_named_in_a_fixed_order() -> None:
    assert difference("GPT-3 has 5 mg", "GPT-4 has not 6 g in 1990") == "number"
    assert difference("GPT-3 has 5 mg", "GPT-4 has not 5 g in 1990") == "unit"
    assert difference("GPT-3 has it", "GPT-4 has not it in 1990") == "year"
    assert difference("GPT-3 has it", "GPT-4 has not it") == "identifier"
    assert difference("it has more", "it has not less") == "negation"
