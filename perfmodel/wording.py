"""What the labs and the command line write: how long a time feels ("3.3 s", "39 days"), and numbers with their units as the pages show them.

Plain functions over floats, ints and strings, for the browser to run as well: no format strings, since Python and JavaScript
round ties differently. They trust their inputs: finite numbers of at least 0. `macros.text` does the same for the pages, exactly
and for every unit; over what the labs can show, both give the same characters (verify/test_labs.py).
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
    if half_up(seconds * 1e9) < 1000:
        return three_digits(seconds * 1e9) + " ns"
    if half_up(seconds * 1e6) < 1000:
        return three_digits(seconds * 1e6) + " µs"
    if half_up(seconds * 1e3) < 1000:
        return three_digits(seconds * 1e3) + " ms"
    at = seconds * (1 + 1e-9)
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


def grouped(whole: int) -> str:
    """A whole number of at least 0 with commas from five digits up.

    >>> grouped(1500), grouped(20002), grouped(1234567)
    ('1500', '20,002', '1,234,567')
    """
    if whole < 10000:
        return str(whole)
    text = ""
    while whole >= 1000:
        part = str(whole % 1000)
        while len(part) < 3:
            part = "0" + part
        text = "," + part + text
        whole = whole // 1000
    return str(whole) + text


def fixed(value: float, places: int) -> str:
    """`value` (at least 0) with a fixed number of decimals.

    >>> fixed(2.0, 2), fixed(0.125, 2), fixed(10002.96, 1)
    ('2.00', '0.13', '10,003.0')
    """
    scale = 1
    for _ in range(places):
        scale *= 10
    scaled = half_up(value * scale)
    if places == 0:
        return grouped(scaled)
    fraction = str(scaled % scale)
    while len(fraction) < places:
        fraction = "0" + fraction
    return grouped(scaled // scale) + "." + fraction


def number(value: float) -> str:
    """`value` (at least 0) as the pages show it: all its decimals if they are at most five, else three significant digits.

    The decimals end where what is left is the noise of binary arithmetic, a relative 1e-13.

    >>> number(7.5), number(40 / 3), number(0.1 + 0.2), number(0.0), number(28.0)
    ('7.5', '13.3', '0.3', '0', '28')
    """
    scale = 1
    for places in range(6):
        scaled = value * scale
        if abs(scaled - half_up(scaled)) <= min(scaled * 1e-13, 0.01):
            return fixed(value, places)
        scale *= 10
    places = 2
    size = value
    while size >= 10:
        size = size / 10
        places -= 1
    while size < 1:
        size = size * 10
        places += 1
    return fixed(value, max(places, 0))


def in_units(value: float, sizes: list[float], names: list[str], prefer: int) -> str:
    """`value` in one of several units, from small to large: in the preferred one unless it would read badly, and else in the largest
    of which there is one.

    >>> in_units(0.00005, [1e-6, 1e-3, 1.0], ["µs", "ms", "s"], 1)
    '50\\xa0µs'
    """
    chosen = prefer
    size = value / sizes[prefer]
    if value > 0 and (size < 0.1 - 1e-13 or size >= 10000 - 1e-9):
        chosen = 0
        for i in range(len(sizes)):
            if value / sizes[i] >= 1 - 1e-13:
                chosen = i
    return counted(number(value / sizes[chosen]), names[chosen])


def counted(text: str, unit: str) -> str:
    """A number and its unit, with a space that does not break: 2 ticks, but 1 tick; a symbol stays as it is.

    >>> counted("1", "ticks"), counted("2", "ticks"), counted("1", "ms")
    ('1\xa0tick', '2\xa0ticks', '1\xa0ms')
    """
    many = ["ticks", "days", "years", "tasks", "pending tasks", "steps", "GPUs", "machines", "buckets"]
    one = ["tick", "day", "year", "task", "pending task", "step", "GPU", "machine", "bucket"]
    if text == "1":
        for i in range(len(many)):
            if unit == many[i]:
                return text + "\u00a0" + one[i]
    return text + "\u00a0" + unit


def time_text(seconds: float) -> str:
    """A time, in ms if that reads well.

    >>> time_text(0.06), time_text(5e-6), time_text(90.0)
    ('60\\xa0ms', '5\\xa0µs', '90\\xa0s')
    """
    sizes = [1e-9, 1e-6, 1e-3, 1.0, 3600.0, 86400.0, 31536000.0]
    return in_units(seconds, sizes, ["ns", "µs", "ms", "s", "h", "days", "years"], 2)


def brief_time(seconds: float) -> str:
    """A time with at most three significant digits, in the largest unit of which there is one, up to hours; 0 is 0 s.

    >>> brief_time(0.29392), brief_time(0.1), brief_time(6.22e-4), brief_time(0.9996), brief_time(0.0)
    ('294\\xa0ms', '100\\xa0ms', '622\\xa0µs', '1\\xa0s', '0\\xa0s')
    """
    if seconds == 0:
        return "0\u00a0s"
    sizes = [1e-9, 1e-6, 1e-3, 1.0, 3600.0]
    names = ["ns", "µs", "ms", "s", "h"]
    chosen = 0
    for i in range(len(sizes)):
        # What would round up to 1000 of the unit below is one of this.
        if seconds / sizes[i] >= 1 - 1e-12 or (i > 0 and i < 4 and half_up(seconds / sizes[i - 1]) >= 1000):
            chosen = i
    return three_digits(seconds / sizes[chosen]) + "\u00a0" + names[chosen]


def bytes_text(size_bytes: float) -> str:
    """A size, in MB if that reads well.

    >>> bytes_text(160e6), bytes_text(2e10)
    ('160\\xa0MB', '20\\xa0GB')
    """
    return in_units(size_bytes, [1.0, 1e3, 1e6, 1e9, 1e12], ["B", "KB", "MB", "GB", "TB"], 2)


def rate_text(bytes_per_s: float) -> str:
    """A rate, in GB/s if that reads well.

    >>> rate_text(16e9), rate_text(18.75e9)
    ('16\\xa0GB/s', '18.75\\xa0GB/s')
    """
    return in_units(bytes_per_s, [1.0, 1e3, 1e6, 1e9, 1e12], ["B/s", "KB/s", "MB/s", "GB/s", "TB/s"], 3)


def ticks_text(ticks: float) -> str:
    """A number of ticks.

    >>> ticks_text(28.0), ticks_text(1.0)
    ('28\\xa0ticks', '1\\xa0tick')
    """
    return counted(number(ticks), "ticks")


def percent(value: float) -> str:
    """A share of 1 in per cent, to a tenth; nothing but all of it is 100 %.

    >>> percent(0.5), percent(0.9966), percent(0.99999), percent(1.0)
    ('50.0\\xa0%', '99.7\\xa0%', '99.9\\xa0%', '100\\xa0%')
    """
    if value >= 1 - 1e-12:
        return "100\u00a0%"
    return fixed(min(value * 100, 99.9), 1) + "\u00a0%"
