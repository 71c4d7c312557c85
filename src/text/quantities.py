"""Numbers with their units, and names that carry numbers, as they stand in a sentence.

Digits of every script are read. Number words, unit names and scale words are English, with the common Cyrillic and
Chinese signs; after a digit, a Han character that follows directly counts as the unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from src.text.words import CJK


class Quantity(NamedTuple):
    """A number: exact value and canonical unit ("" without); `18 %` is (18, "%")."""

    value: Decimal
    unit: str

    @property
    def is_year(self) -> bool:
        """Whether it reads as a year or decade between 1500 and 2099."""
        return self.unit in ("", "s'", "年") and 1500 <= self.value < 2100 and self.value == int(self.value)


def _pairs(listed: str) -> dict[str, str]:
    return {name: value for name, _, value in (pair.partition("=") for pair in listed.split())}


def _longest_first(listed: Iterable[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(listed, key=lambda name: (-len(name), name)))


_LETTER = r"[A-Za-zÀ-ɏͰ-ϿЀ-ӿ]"
_NUMBERED = "|".join(f"(?<={kind} )" for kind in ("type", "Type", "phase", "Phase", "class", "stage", "level", "War"))
_IDENTIFIER = re.compile(
    # GPT-3.5, B12, COVID-19
    rf"(?<![\w.-])(?=[\w-]*\d){_LETTER}[{_LETTER[1:-1]}\d]*(?:-{_LETTER}+)*-?\d\w*(?:[.-]\w+)*"
    r"|(?<![\w.])\d+(?:\.\d+){2,}"  # versions: 3.1.4
    r"|(?<!\w)[A-Za-zΘΩ]\([^()]{1,20}\)"  # O(n log n), P(A|B)
    r"|(?<![\w.'])(?=[IVX]{2})X{0,3}(?:IX|IV|V?I{0,3})(?![\w'])"  # Type II
    r"|(?<![\w.'-])[A-Za-z]-(?=[A-Za-z]{2})"  # t-test
    r"|(?<![\w.'°])[B-HJ-Z](?!\w|'|-|\.\w)"  # hepatitis B
    r"|(?:(?<=[a-z,] )|(?<=\())A(?= [a-z]|[.,;:)]|\Z)"  # A and I are words as well: protein A,
    rf"|(?:{_NUMBERED})I(?!\w|')"  # type I
)

_CARDINALS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty
"""
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_TENS = "thirty forty fifty sixty seventy eighty ninety"
_WORD_VALUES = {
    **{word: value for value, word in enumerate(_CARDINALS.split())},
    **{word: value for value, word in enumerate(_ORDINALS.split(), start=1)},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), start=3)},
}
_SCALES = {
    **{"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "bn": 9, "mn": 6},
    **{"K": 3, "k": 3, "M": 6, "B": 9, "T": 12},  # attached to the digits only: 7B
    **{"тыс": 3, "млн": 6, "млрд": 9, "百": 2, "千": 3, "万": 4, "萬": 4, "亿": 8, "億": 8},
}
NUMBER_WORDS = _longest_first(_WORD_VALUES)
"""Number words up to ninety, as the inside of a regex group."""
_NUMBER = re.compile(
    r"(?=[-$€£¥.\d])(?P<sign>(?<![\w)\]%.])-)?(?:(?P<currency>[$€£¥]) ?)?"
    r"(?P<digits>\d{1,3}(?:,\d{2,3})*,\d{3}(?!\d)(?:\.\d+)?|\d{1,3}(?: \d{3})+(?!\d)|\d+(?:[.,]\d+)?|(?<!\d)\.\d+)"
    r"(?P<exponent>e[+-]?\d{1,3}(?!\w))?(?:st|nd|rd|th)?(?P<tight>(?-i:[KMBTk])(?![\w/]))?"
    r"|(?<![\w'])(?=[eonstfz])(?:"
    # "one" and "first" are pronoun and adverb as often as numbers.
    r"(?P<one>(?<!\bno )(?<!\bthe )(?<!\bany )(?<!\bthis )(?<!\bthat )one)"
    r"(?!\w| of| can| another| must| should| or)"
    rf"|(?!first \w+ed\b|one(?!-))(?P<word>{NUMBER_WORDS})(?!\w|'s)"
    r"(?:-(?P<ones>one|two|three|four|five|six|seven|eight|nine)(?!\w))?)",
    re.IGNORECASE,
)
_SCALE = re.compile(
    r"[ -]?(hundred|thousand|million|billion|trillion|bn|mn|тыс|млн|млрд)(?!\w)|([百千万萬亿億])", re.IGNORECASE
)

_PREFIXES = "= kilo=k mega=M giga=G tera=T milli=m micro=μ nano=n centi=c"
_BASES = "gram=g gramme=g meter=m metre=m second=s byte=B bit=b hertz=Hz watt=W volt=V joule=J liter=l litre=l"
_COUNTED = "minute hour day week month year decade mile degree ton tonne pound dollar euro step epoch"
_OTHER = "century=century centuries=century foot=ft feet=ft inch=inch inches=inch percent=%"
_SYMBOLS = """
    mg g kg μg ng t lb oz km m cm mm nm μm ft s ms ns μs min h hr Hz kHz MHz GHz THz B kB KB MB GB TB PB KiB MiB GiB
    b kb Kb Mb Gb °C °F K J kJ MJ W kW mW MW GW V mV kV mA mol mmol L l ml mL Pa kPa MPa bar atm eV keV MeV GeV rpm
    dB am pm AM PM a.m. p.m. BC BCE AD CE % ‰ ° fps px м км см мм нм кг г мг мкг с мс мин ч т л мл Гц кГц МГц ГГц
"""
_ALIASES = _pairs("AM=am PM=pm a.m.=am p.m.=pm BCE=BC CE=AD L=l mL=ml KB=kB h=hour hr=hour min=minute $=dollar €=euro")
_UNITS = {
    **{
        prefix + base: short + unit
        for prefix, short in _pairs(_PREFIXES).items()
        for base, unit in _pairs(_BASES).items()
    },
    **{name: name for name in _COUNTED.split()},
    **_pairs(_OTHER),
    **{"per cent": "%", "percentage point": "percentage point"},
    **{"degrees celsius": "°C", "degree celsius": "°C", "degrees fahrenheit": "°F", "degree fahrenheit": "°F"},
}
_UNIT_NAME = re.compile(rf"[ -]?({_longest_first(_UNITS)})s?(?!\w)", re.IGNORECASE)
_UNIT_SYMBOL = re.compile(rf"[ -]?((?:{_longest_first(_SYMBOLS.split())})(?:\^-?\d)?(?:/[A-Za-zμ]{{1,3}})?)(?!\w)")
_DECADE = re.compile(r"'?s(?!\w)")
_HAN_UNIT = re.compile(rf"[{CJK}]")


def identifiers(text: str) -> tuple[tuple[str, ...], str]:
    """Find names that carry numbers, in order, without case and hyphens; also the text without them."""
    names = tuple(name.replace("-", "").casefold() for name in _IDENTIFIER.findall(text))
    return names, _IDENTIFIER.sub(" ", text)


def quantities(text: str) -> tuple[tuple[Quantity, ...], str]:
    """Find the numbers of a text in order, identifiers taken out before; also the text without them and their units."""
    found: list[Quantity] = []
    rest: list[str] = []
    position = 0
    while match := _NUMBER.search(text, position):
        rest.append(text[position : match.start()])
        value, scale = _value(match)
        position = match.end()
        if scaled := _SCALE.match(text, position):
            scale += _SCALES[(scaled[1] or scaled[2]).lower()]
            position = scaled.end()
        unit, position = _unit(text, position, match["currency"])
        if match["digits"] and not scale and _DECADE.match(text, match.end()) and 1000 <= value <= 2100:
            unit = "s'"
        sign, digits, exponent = value.as_tuple()
        # Built from its digits, because arithmetic would round long numbers.
        found.append(Quantity(Decimal((sign, digits, int(exponent) + scale)), unit))
    return tuple(found), " ".join([*rest, text[position:]])


def _value(match: re.Match[str]) -> tuple[Decimal, int]:
    """The number that was matched, and the power of ten of a suffix."""
    if match["digits"] is None:
        word = (match["one"] or match["word"]).lower()
        ones = (match["ones"] or "zero").lower()
        return Decimal(_WORD_VALUES[word] + _WORD_VALUES[ones]), 0
    digits = re.sub(r",(?=(?:\d{2},)*\d{3}(?!\d))| ", "", match["digits"]).replace(",", ".")
    sign = match["sign"] or ""
    return Decimal(sign + digits + (match["exponent"] or "")), _SCALES[match["tight"]] if match["tight"] else 0


def _unit(text: str, position: int, currency: str | None) -> tuple[str, int]:
    """The canonical unit at a position, and where it ends."""
    if name := _UNIT_NAME.match(text, position):
        return _UNITS[name[1].lower()], name.end()
    if symbol := _UNIT_SYMBOL.match(text, position):
        return _ALIASES.get(symbol[1], symbol[1]), symbol.end()
    if han := _HAN_UNIT.match(text, position):
        return han[0], position
    return (_ALIASES.get(currency, currency) if currency else ""), position
