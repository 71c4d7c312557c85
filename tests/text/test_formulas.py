from itertools import product

import pytest

from src.text.formulas import STARTS, neutralised, restored

TEXTS = ["", *map("".join, (text for length in range(1, 5) for text in product("'=a-\t", repeat=length)))]


@pytest.mark.parametrize("start", sorted(STARTS))
def test_what_a_spreadsheet_would_run_is_made_harmless_and_restored(start):
    text = f"{start}HYPERLINK(1)"
    assert neutralised(text) == f"'{text}"
    assert restored(neutralised(text)) == text


def test_every_text_comes_back_as_it_was():
    assert [restored(neutralised(text)) for text in TEXTS] == TEXTS
    assert not any(neutralised(text)[:1] in STARTS for text in TEXTS)
    assert len({neutralised(text) for text in TEXTS}) == len(TEXTS)


@pytest.mark.parametrize("text", ["Dropout zeroes units.", "'tis true", "a=b", "5 - 3", "'"])
def test_other_texts_stay_as_they_are(text):
    assert neutralised(text) == restored(text) == text
