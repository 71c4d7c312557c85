"""Facts about large cities and their airports: in which country they lie."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from src.world_facts.countries import Country
from src.world_facts.facts import Fact, fact, folded

LARGE = 500_000
"""Inhabitants of a city that is asked about."""
PER_COUNTRY = 4
"""Cities, the largest, and as many airports, of one country."""
UNCLEAR = frozenset({"GB", "IL", "RU", "UA"})
"""Countries with cities that another one claims or holds, and one that consists of countries."""
CLOSED = frozenset({"TXL"})


def city_facts(cities: bytes, airports: bytes, countries: Mapping[str, Country]) -> Iterator[Fact]:
    """The country of a city, and of its international airport, where GeoNames and airportsdata agree on both.

    A city without an airport of its own is mostly a part of another one. One that shares its name is left out, and so
    is an airport that is not its city's only one.
    """
    of_city: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for row in csv.DictReader(io.StringIO(airports.decode("utf-8"))):
        if row["iata"]:
            of_city[row["country"], folded(row["city"])].append(row)
    rows = sorted(json.loads(cities).values(), key=lambda row: (-row["population"], row["geonameid"]))
    namesakes = Counter(folded(row["name"]) for row in rows)
    asked: Counter[tuple[str, str]] = Counter()
    for row in rows:
        code, name = row["countrycode"], folded(row["name"])
        found = of_city.get((code, name), [])
        if row["population"] < LARGE or code in UNCLEAR or code not in countries or namesakes[name] > 1 or not found:
            continue
        names = countries[code].names
        if not _tells(row, countries[code]) and asked["city", code] < PER_COUNTRY:
            asked["city", code] += 1
            yield fact("city", f"In which country is the city of {found[0]['city']}?", *names)
        iata = [each["iata"] for each in found if "International" in each["name"] and each["iata"] not in CLOSED]
        if len(iata) == 1 and asked["airport", code] < PER_COUNTRY:
            asked["airport", code] += 1
            yield fact("airport", f"In which country is the airport with the IATA code {iata[0]}?", *names)


def _tells(city: Mapping[str, Any], country: Country) -> bool:
    """Whether the city is the capital, which another kind asks for, or its name holds that of the country."""
    names = {folded(name) for name in (city["name"], *city["alternatenames"])}
    return folded(country.geonames["capital"]) in names or folded(country.names[0]) in folded(city["name"])
