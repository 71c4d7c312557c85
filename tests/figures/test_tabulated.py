from src.figures.tabulated import LEVEL, LONGEST, Notes, grid


def texts(*rows: str) -> list[list[str]]:
    return [row.split(",") for row in rows]


def test_bounds_stand_beside_their_value_and_reasons_below() -> None:
    shown = grid(
        texts(
            "model,recall,recall_low,recall_high,recall_reason,leaf_low,leaf_high,leaf_low_reason",
            "a,0.5,0.4004,0.61,,0.1,0.9,",
            "b,,,,no cluster,,,2 branches",
            "c,0.25,,,no cluster,,,no cluster",
        ),
        9,
    )
    assert shown.columns == ("model", f"recall {LEVEL}", f"leaf {LEVEL}")
    assert shown.numeric == (False, True, True)
    assert shown.rows == (
        ("a", "0.500 [0.400, 0.610]", "[0.100, 0.900]"),
        ("b", "none¹", "[none²]"),
        ("c", "0.250 [none¹]", "[none¹]"),
    )
    assert shown.notes == ("¹ no cluster", "² 2 branches")


def test_no_number_is_silently_none() -> None:
    shown = grid(texts("x,why,why_reason", "1,,no such model", ",said,"), 9)
    assert shown.rows == (("1", "none¹"), ("none", "said"))
    assert shown.notes == ("¹ no such model",)


def test_a_reason_that_explains_no_column_is_a_column() -> None:
    shown = grid(texts("model,stop_reason,low,high", "a,budget,1,2"), 9)
    assert shown.columns == ("model", "stop_reason", "low", "high")


def test_numbers_are_rounded_as_their_column_deserves() -> None:
    shown = grid(
        texts("count,share,tokens,slope,p,name", "12345,0.12345,1234.5,-12.345,1.2e-07,7b", "-1,1.0,0.5,NaN,0,x"), 9
    )
    assert shown.rows == (
        ("12,345", "0.123", "1,234", "-12.35", "1.2e-07", "7b"),
        ("-1", "1.000", "0", "NaN", "0.000", "x"),
    )
    assert shown.numeric == (True, True, True, True, True, False)


def test_long_tables_and_long_texts_are_cut_and_say_so() -> None:
    shown = grid([["n", "text"], *([str(i), "two  words\n" * 100] for i in range(30))], 20)
    assert (len(shown.rows), shown.total) == (20, 30)
    assert len(shown.rows[0][1]) == LONGEST
    assert shown.rows[0][1].endswith("…")
    assert shown.rows[0][1].startswith("two words two")


def test_tables_without_rows_or_columns() -> None:
    assert grid([], 9).columns == ()
    empty = grid(texts("model,recall,recall_low,recall_high"), 9)
    assert (empty.columns, empty.rows, empty.total) == (("model", f"recall {LEVEL}"), (), 0)


def test_one_reason_has_one_mark() -> None:
    notes = Notes()
    assert [notes.none(why) for why in ("a", "b", "a", "")] == ["none¹", "none²", "none¹", "none"]
    assert [notes.none(str(i)) for i in range(10)][-1] == "none¹²"
