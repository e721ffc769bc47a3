"""What a cell of a table says: a number, with a unit or without, a date, or nothing.

    numbers     12   1.5e3   1,234.5   with a decimal comma 1.234,5   12 %   5 kg   thousands apart by spaces or '
    dates       2024-03-31   31.3.24   3/31/2024 9:30 PM   become days since 1970, times of day fractions of a day

A word after a number is a unit if it is in KNOWN and follows a space or has at least two letters (5 kg, 5kg). If every
cell of a column is a number with a word, more words are units: all of KNOWN, even a single small letter without a space
(5g) or one of CAPITALS after a space (5 V); or any word after a space that is the same in all cells (5 boxes).
Everything else, such as 3rd, 5a, 12A, or 12 A next to 12 B, is text. A column with different units, or with a unit in
only some cells, is refused: 5 kg is not 5 g, and 5 mAs (milliampere seconds) is not 5 mA.
"""

import re
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import numpy as np

EPOCH = datetime(1970, 1, 1)
MAX_MEASURE = 60  # characters of a number and its unit
_MISSING = frozenset(
    ("", "-", "--", "?", ".", "na", "n/a", "#n/a", "#nv", "nan", "null", "none", "nil", "k.a.", "missing")
)
_UNIT = re.compile(r"^(?:[€$£]|EUR|USD)\s*|\s*(?:[€$£%]|EUR|USD)$")
CAPITALS = frozenset("VAWJKCF")  # units that may also be part of a code
KNOWN = CAPITALS | frozenset(
    (
        *("kg", "g", "mg", "µg", "ng", "t", "lb", "oz", "km", "m", "cm", "mm", "µm", "nm", "in", "ft", "yd", "mi"),
        *("s", "sec", "ms", "µs", "ns", "min", "h", "hr", "l", "ml", "cl", "dl", "µl", "m2", "cm2", "mm2", "km2", "ha"),
        *("m3", "cm3", "mm3", "km/h", "m/s", "mph", "kph", "°", "°C", "°F", "deg", "rad", "Hz", "kHz", "MHz", "GHz"),
        *("mV", "kV", "mA", "µA", "mW", "kW", "MW", "Wh", "kWh", "kJ", "MJ", "cal", "kcal", "eV", "keV", "MeV", "ohm"),
        *("Pa", "hPa", "kPa", "MPa", "bar", "mbar", "mmHg", "psi", "dB", "ppm", "ppb", "bpm", "rpm", "kB", "KB", "MB"),
        *("GB", "TB", "mol", "mmol", "mg/dl", "g/dl", "g/l", "mg/l", "µg/l", "ng/ml", "µg/ml", "mmol/l", "µmol/l"),
        *("mol/l", "kg/m2", "kg/m3", "g/cm3", "mg/kg", "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "GBP", "HUF"),
        *("INR", "JPY", "NOK", "PLN", "SEK", "As", "Ah", "mAs", "mAh", "Vs", "Ws", "kWs", "mPa", "Pas", "mPas", "Nm"),
    )
)
_PLURALS = {  # a final s is not always a plural: Ws are watt seconds
    f"{unit}s": unit
    for unit in ("hr", "min", "sec", "day", "wk", "yr", "lb", "yd", "deg", "bar", "ohm", "cal", "mol", "amp")
}
_PLURAL_WORD = re.compile(r"[^\W\d_A-Z]{4,}(?<!s)s")  # of plain words, such as years: symbols of units are shorter
_MEASURE = re.compile(r"([^a-zA-Z]*[\d.,](?:[eE][-+]?\d+)?)([\s\u00a0\u202f]*)((?:[^\W\d_]|°)[\w°/·^*.-]{0,11})")
_SPELLED = str.maketrans("μ²³", "µ23")
_POINT = re.compile(
    r"[-+]?(?:[1-9]\d{0,2}(?:([ ',\u00a0\u202f’])\d{3})(?:\1\d{3})*|\d+|(?=\.\d))(?:\.\d*)?(?:[eE][-+]?\d+)?"
)
_COMMA = re.compile(
    r"[-+]?(?:[1-9]\d{0,2}(?:([ '.\u00a0\u202f’])\d{3})(?:\1\d{3})*|\d+|(?=,\d))(?:,\d*)?(?:[eE][-+]?\d+)?"
)
_DATE = re.compile(
    r"(?:(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})"
    r"|(?P<one>\d{1,2})[-/.](?P<two>\d{1,2})[-/.](?P<last>\d{4}|\d{2}))?"
    r"(?:(?:^|[T ]+)(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d(?:[.,]\d+)?))?"
    r"\s*(?P<half>[AaPp][Mm])?\s*(?P<zone>Z|[-+]\d{2}:?\d{2})?)?"
)
_APART = str.maketrans("", "", " '\u00a0\u202f’")


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value."""
    return cell.strip().lower() in _MISSING


def is_number(cell: str) -> bool:
    """Whether a cell is missing, or a number with a decimal point or comma."""
    return is_missing(cell) or not np.isnan(number(cell, False)) or not np.isnan(number(cell, True))


@lru_cache(1 << 16)
def unit(cell: str) -> str:
    """The unit in a cell, "" for none; a currency as its sign."""
    marks = "".join(_UNIT.findall(cell.strip())).strip()
    return {"EUR": "€", "USD": "$"}.get(marks, marks)


class Measure(NamedTuple):
    """A possible number with a unit ("" for none). sure: whether it is one regardless of the rest of its column."""

    values: tuple[float, float]  # with a decimal point, with a comma; NaN if it is not a number
    unit: str
    sure: bool


@lru_cache(1 << 16)
def measure(cell: str) -> Measure | None:
    """A cell as a number with a unit; None if it is not one."""
    if _any_number(values := (number(cell, False), number(cell, True))):
        return Measure(values, unit(cell), True)
    match = _MEASURE.fullmatch(cell.strip()) if len(cell) <= MAX_MEASURE else None
    if not match or unit(match[1]) or not _any_number(values := (number(match[1], False), number(match[1], True))):
        return None
    word = _one_spelling(match[3])
    if not match[2] and (word not in KNOWN or word in CAPITALS):
        return None
    sure = word in KNOWN and (len(word) > 1 or (bool(match[2]) and word not in CAPITALS))
    return Measure(values, word, sure)


def _any_number(values: tuple[float, float]) -> bool:
    """Whether a cell is a number with a decimal point or comma."""
    return values[0] == values[0] or values[1] == values[1]  # NaN is unequal to itself


def _one_spelling(word: str) -> str:
    """A unit in a normal form: singular, litres in lower case, powers as digits."""
    word = word.translate(_SPELLED).rstrip(".")
    for spelling in (word, word.replace("L", "l")):
        if spelling in KNOWN:
            return spelling
    return word[:-1] if _PLURAL_WORD.fullmatch(word) else _PLURALS.get(word, word)


def value(cell: str, comma: bool, unsure: bool) -> float:
    """The number in a cell without its unit, NaN for none. unsure: accept units that are not certain."""
    if (plain := number(cell, comma)) == plain:  # not NaN
        return plain
    quantity = measure(cell)
    return quantity.values[comma] if quantity and (quantity.sure or unsure) else np.nan


@lru_cache(1 << 16)
def number(cell: str, comma: bool) -> float:
    """The value of a cell, with a decimal comma if `comma`; NaN if it is not a number."""
    bare = _UNIT.sub("", cell.strip().replace("\u2212", "-"))
    if (_COMMA if comma else _POINT).fullmatch(bare):
        bare = bare.translate(_APART)
        return float(bare.replace(".", "").replace(",", ".") if comma else bare.replace(",", ""))
    try:
        return np.nan if comma or "_" in bare else float(bare)  # inf, and other notations of Python
    except ValueError:
        return np.nan


@lru_cache(1 << 16)
def days(cell: str, day_first: bool) -> float:
    """Days from 1970 to a date; a fraction of a day for a time; NaN for neither. day_first: 1.2.24 is in February."""
    match = _DATE.fullmatch(cell.strip())
    if not match or not match[0]:
        return np.nan
    day, month, year = match["day"], match["month"], match["year"]
    if match["last"]:
        (day, month), year = match.group("one", "two") if day_first else match.group("two", "one"), match["last"]
    try:
        if year and len(year) == 2:  # two digits: the century is that of strptime
            year = datetime.strptime(year, "%y").year
        date = datetime(int(year), int(month), int(day)) if year else EPOCH
    except ValueError:
        return np.nan
    hour, second = int(match["hour"] or 0), float((match["second"] or "0").replace(",", "."))
    if match["half"]:
        hour = hour % 12 + 12 * (match["half"].lower() == "pm")
    seconds = 3600 * hour + 60 * int(match["minute"] or 0) + second
    if match["zone"] and match["zone"] != "Z":
        sign, zone = match["zone"][0], match["zone"][1:].replace(":", "")
        seconds -= int(f"{sign}60") * (60 * int(zone[:2]) + int(zone[2:]))
    return (date - EPOCH).days + seconds / 86400
