"""How long a time feels, in words: "3.3 s", "11 min", "39 days".

Plain functions over floats, ints and strings, for the browser to run as well: no format strings, since Python and JavaScript
round ties differently. They trust their inputs: finite times of at least 0, as `perfmodel.ladder` gives them.
"""

from __future__ import annotations

import math


def half_up(value: float) -> int:
    """`value` (at least 0) to the nearest whole number, ties up.

    A value within 1e-9 below a tie is on it: 30 µs / 200 ns is 149.99999999999997 in binary, and means 2.5 min.

    >>> half_up(12.5), half_up(13.5), half_up(149.99999999999997 / 60)
    (13, 14, 3)
    """
    return math.floor(value + 0.5 + 1e-9)


def one_decimal(value: float) -> str:
    """`value` (at least 0) with one decimal.

    >>> one_decimal(3.25), one_decimal(1.0)
    ('3.3', '1.0')
    """
    tenths = half_up(value * 10)
    return str(tenths // 10) + "." + str(tenths % 10)


def three_digits(value: float) -> str:
    """`value` (above 0) with at most three significant digits, and no zeros at the end of a fraction.

    >>> three_digits(150.0), three_digits(1.25), three_digits(66.67), three_digits(0.5)
    ('150', '1.25', '66.7', '0.5')
    """
    places = 0
    scale = 1
    while value * scale < 100 and places < 15:
        places += 1
        scale *= 10
    scaled = half_up(value * scale)
    while places > 0 and scaled % 10 == 0:
        places -= 1
        scaled = scaled // 10
        scale = scale // 10
    if places == 0:
        return str(scaled)
    fraction = str(scaled % scale)
    while len(fraction) < places:
        fraction = "0" + fraction
    return str(scaled // scale) + "." + fraction


def feels_like(seconds: float, is_reference: bool) -> str:
    """A time as a reader would say it.

    Under 10 s one decimal; under 60 s whole seconds, under 60 min whole minutes, under 24 h whole hours, under 365 days whole
    days; else years of 365 days with one decimal. Below one second: ms, µs or ns with at most three significant digits. The
    time itself says which unit, not what it rounds to, so 59.5 s is "60 s"; a time within 1e-9 of a limit is on it, because
    10 µs / 1 µs is a little off 10 in binary. Below a second what rounds up to 1000 moves on to the next unit. The row that all
    others are measured by is "1 s (ref)".

    >>> feels_like(1.0, True), feels_like(10 / 3, False), feels_like(1.5e-7, False), feels_like(1e8, False)
    ('1 s (ref)', '3.3 s', '150 ns', '3.2 years')
    """
    if is_reference:
        return "1 s (ref)"
    if seconds == 0:
        return "0 s"
    at = seconds * (1 + 1e-9)
    if at < 1e-6 and half_up(seconds * 1e9) < 1000:
        return three_digits(seconds * 1e9) + " ns"
    if at < 1e-3 and half_up(seconds * 1e6) < 1000:
        return three_digits(seconds * 1e6) + " µs"
    if at < 1 and half_up(seconds * 1e3) < 1000:
        return three_digits(seconds * 1e3) + " ms"
    if at < 10:
        return one_decimal(seconds) + " s"
    if at < 60:
        return str(half_up(seconds)) + " s"
    if at < 3600:
        return str(half_up(seconds / 60)) + " min"
    if at < 86400:
        return str(half_up(seconds / 3600)) + " h"
    if at < 365 * 86400:
        days = half_up(seconds / 86400)
        return "1 day" if days == 1 else str(days) + " days"
    return one_decimal(seconds / (365 * 86400)) + " years"
