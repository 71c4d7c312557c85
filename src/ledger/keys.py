"""What makes two requests the same: canonical JSON and its sha256."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Callable, Mapping

KEY_VERSION = 1
"""Part of every key; a change of the rules below must raise it, or old answers would stand for other requests."""


def clean(text: str) -> str:
    """Replace lone surrogates by U+FFFD, since UTF-8 cannot hold them; all else, NUL too, stays."""
    # UTF-16 joins a proper pair into its character, so only halves without a partner are lost.
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def normal(text: str) -> str:
    """Return the form in which texts are compared: clean and NFC."""
    return unicodedata.normalize("NFC", clean(text))


def canonical(value: object, write: Callable[[str], str] = clean) -> str:
    """Write plain data as JSON with sorted keys, no spaces and no escapes beyond those JSON demands.

    Args:
        value: mappings with string keys, lists, tuples, strings, finite numbers, booleans, None.
        write: applied to every string.

    Raises:
        TypeError: a value of another kind.
        ValueError: a number that is not finite.
    """
    plain = _plain(value, write)
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def request_key(fields: Mapping[str, object]) -> str:
    """Return the sha256 (64 hex digits) that identifies a request.

    Strings count in NFC and 1.0 counts as 1, so that one request written in two ways has one key.
    """
    text = canonical({"version": KEY_VERSION, "request": fields}, normal)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object, write: Callable[[str], str]) -> object:
    match value:
        case str():
            return write(value)
        case None | bool() | int():
            return value
        case float():
            return int(value) if value.is_integer() else value
        case Mapping():
            return {_name(name, write): _plain(part, write) for name, part in value.items()}
        case list() | tuple():
            return [_plain(part, write) for part in value]
    raise TypeError(f"A request holds plain data only, not {type(value).__name__}: {value!r}")


def _name(name: object, write: Callable[[str], str]) -> str:
    if not isinstance(name, str):
        raise TypeError(f"Names in a request are strings, not {type(name).__name__}: {name!r}")
    return write(name)
