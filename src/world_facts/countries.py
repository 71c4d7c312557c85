"""Facts about countries: what two independent tables, GeoNames and countryinfo, agree on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from src.world_facts.facts import Fact, fact, folded, spelled

SMALLEST = 300_000
"""Inhabitants; below it lie mostly dependent territories."""
NOT_ASKED = frozenset(["AN", "CS", "EH", "GF", "GP", "HK", "MO", "MQ", "NC", "PF", "PR", "PS", "RE", "TW", "XK"])
"""Dependent, dissolved, or with a status in dispute."""
CAPITAL_UNCLEAR = frozenset(["BJ", "BO", "CI", "GQ", "ID", "IL", "KZ", "LK", "MY", "NL", "SZ", "TZ", "YE", "ZA"])
"""Several capitals, a seat of government elsewhere, one that moves or was renamed of late, or one in dispute."""
CONTINENT_UNCLEAR = frozenset(["AM", "AZ", "CY", "EG", "GE", "ID", "KZ", "RU", "TL", "TR", "YE"])
"""On two continents, or counted with either."""
CURRENCY_UNCLEAR = frozenset(["BG", "MR", "SL", "VE", "ZW"])
"""Replaced or redenominated of late: the tables are older than that, or answers may be."""
LOOKS_LIKE_NO = "NO"
"""Norway's code would make a question of yes and no."""
CONTINENTS = {
    "AF": ("Africa", "Africa"),
    "AS": ("Asia", "Asia"),
    "EU": ("Europe", "Europe"),
    "NA": ("North America", "Americas"),
    "OC": ("Oceania", "Oceania"),
    "SA": ("South America", "Americas"),
}
"""Name and region in countryinfo by GeoNames' code."""
ALSO = {
    "AE": ("UAE", "Emirates"),
    "BA": ("Bosnia",),
    "CD": ("DR Congo", "DRC", "Congo-Kinshasa"),
    "CG": ("Congo-Brazzaville",),
    "CN": ("PRC", "People's Republic of China"),
    "CV": ("Cape Verde",),
    "CZ": ("Czech Republic",),
    "GB": ("UK", "U.K.", "Britain", "Great Britain"),
    "KR": ("Korea", "Republic of Korea"),
    "MM": ("Burma",),
    "NL": ("Holland",),
    "SZ": ("Swaziland",),
    "TR": ("Türkiye", "Turkiye"),
    "US": ("USA", "US", "U.S.", "U.S.A.", "United States of America", "America"),
}
CAPITAL_ALSO = {
    "CH": ("Berne",),
    "DJ": ("Djibouti City",),
    "LU": ("Luxembourg City",),
    "MN": ("Ulan Bator",),
    "SG": ("Singapore City",),
    "UA": ("Kiev",),
}
ARTICLE = frozenset({"Bahamas", "Comoros", "Gambia", "Maldives", "Netherlands", "Philippines"})
CURRENCIES = {
    "ARS": ("peso", "Argentine peso"),
    "BAM": ("convertible mark", "mark", "marka", "Bosnia and Herzegovina convertible mark"),
    "BRL": ("real", "reais"),
    "CNY": ("yuan", "renminbi", "RMB", "yuan renminbi"),
    "CRC": ("colon", "colón"),
    "DKK": ("krone", "kroner"),
    "GBP": ("pound sterling", "pound", "sterling"),
    "ILS": ("shekel", "new shekel", "Israeli new shekel", "new Israeli shekel"),
    "ISK": ("krona", "króna", "Icelandic krona", "Icelandic króna"),
    "KGS": ("som", "Kyrgyz som", "Kyrgyzstani som"),
    "KHR": ("riel",),
    "KMF": ("franc", "Comorian franc"),
    "MNT": ("tugrik", "togrog", "tögrög"),
    "NIO": ("cordoba", "córdoba"),
    "NOK": ("krone", "kroner"),
    "PHP": ("peso", "piso", "Philippine peso"),
    "PLN": ("zloty", "złoty"),
    "PYG": ("guarani", "guaraní"),
    "QAR": ("riyal", "rial"),
    "RUB": ("ruble", "rouble"),
    "SAR": ("riyal", "rial", "Saudi riyal"),
    "SEK": ("krona", "kronor"),
    "SRD": ("dollar", "Surinamese dollar"),
    "TJS": ("somoni", "Tajik somoni", "Tajikistani somoni"),
    "USD": ("US dollar", "U.S. dollar", "dollar", "United States dollar", "American dollar"),
    "UZS": ("som", "sum", "Uzbek som"),
    "XAF": ("CFA franc", "Central African CFA franc", "franc"),
    "XOF": ("CFA franc", "West African CFA franc", "franc"),
}
"""Names of a currency, where GeoNames' one is not all that people say."""
OF_SEVERAL = frozenset({"EUR", "USD", "XAF", "XOF"})
"""Currencies that are not called after the country."""


@dataclass(frozen=True)
class Country:
    """What the tables say about one country: its GeoNames row, its countryinfo row and its names, the usual first."""

    code: str
    geonames: Mapping[str, Any]
    info: Mapping[str, Any]
    names: Sequence[str]

    @property
    def asked(self) -> str:
        """Its name in a question."""
        name = self.names[0]
        the = name in ARTICLE or name.startswith(("United ", "Republic ", "Democratic "))
        the = the or name.endswith((" Republic", " Islands"))
        return f"the {name}" if the else name


def read_countries(geonames: bytes, info: Iterable[bytes]) -> dict[str, Country]:
    """The states with more than a few inhabitants, by their code; names that two of them share are left out."""
    rows = {code: row for code, row in json.loads(geonames).items() if code not in NOT_ASKED}
    infos = {row["ISO"]["alpha2"]: row for row in map(json.loads, info)}
    names = {code: _names(row, infos[code]) for code, row in rows.items() if code in infos}
    shared = Counter(name for of in names.values() for name in {folded(name) for name in of})
    return {
        code: Country(code, rows[code], infos[code], [of[0], *(name for name in of[1:] if shared[folded(name)] == 1)])
        for code, of in sorted(names.items())
        if rows[code]["population"] >= SMALLEST
    }


def _names(row: Mapping[str, Any], info: Mapping[str, Any]) -> list[str]:
    own = row["name"].removeprefix("The ")
    others = [name for name in map(str.strip, info["altSpellings"]) if " " in name]  # single words: codes, fragments
    return spelled(own, info["name"], *others, *ALSO.get(row["iso"], ()))


def country_facts(countries: Mapping[str, Country]) -> Iterator[Fact]:
    """Capital, continent, currency, code and calling code of each country, where both tables say the same."""
    phones = Counter(country.geonames["phone"] for country in countries.values())
    for code, country in countries.items():
        row, info, name = country.geonames, country.info, country.asked
        if code not in CAPITAL_UNCLEAR and folded(row["capital"]) == folded(info["capital"] or ""):
            capitals = spelled(row["capital"], info["capital"], *CAPITAL_ALSO.get(code, ()))
            placed = [f"{capital}, {country.names[0]}" for capital in capitals]
            yield fact("capital", f"What is the capital of {name}?", *capitals, *placed)
        continent, region = CONTINENTS[row["continentcode"]]
        if code not in CONTINENT_UNCLEAR and region == info["region"]:
            also = ["Australia"] if code == "AU" else []
            yield fact("continent", f"On which continent is {name}?", continent, *also)
        if code not in CURRENCY_UNCLEAR and [row["currencycode"]] == info["currencies"]:
            asked = f"What is the currency of {name}?"
            yield fact("currency", asked, *_currency(row, (info["demonym"], country.names[0])))
        if code != LOOKS_LIKE_NO:
            yield fact("country_code", f"What is the two-letter ISO country code of {name}?", code)
        phone = row["phone"]
        if [phone] == info["callingCodes"] and phones[phone] == 1:
            asked = f"What is the international telephone calling code of {name}?"
            yield fact("calling_code", asked, phone, f"+{phone}", f"00{phone}")


def _currency(row: Mapping[str, Any], whose: Iterable[str]) -> list[str]:
    code = row["currencycode"]
    names = CURRENCIES.get(code, (row["currencyname"].lower(),))
    single = [name for name in names if " " not in name]
    of_country = [] if code in OF_SEVERAL else [f"{country} {name}" for country in whose for name in single]
    return [*names, *(f"{name}s" for name in single), *of_country, code]
