"""Records that the audit refuses. Each is named once, with its cure; what waits for its numbers is not named as well."""

from __future__ import annotations

from macros import cpu_record, gpu_record, published
from macros.records import RecordError
from macros.scan import Fault

_FOLDER = "docs/records"


def _clocked() -> str:
    """Why the record of products on a CPU can't be used, "" when it can."""
    try:
        return "" if cpu_record.read() else f"{_FOLDER}/{cpu_record.PATH.name} is missing: {cpu_record.CURE}"
    except RecordError as error:
        return str(error)


def _measured() -> str:
    """Why the record of a GPU can't be used, "" when it can; there need be none."""
    try:
        gpu_record.read(gpu_record.PATH)
    except RecordError as error:
        return str(error)
    return ""


def check_records() -> list[Fault]:
    """A fault for each record that is refused, of those that no build can make again."""
    found = [why.partition(" ") for why in (_clocked(), _measured()) if why]
    return [Fault(path, 0, 0, why) for path, _, why in found]


def withheld(group: str) -> bool:
    """Whether the numbers of a group of the book wait for a record that is refused."""
    return bool((group == "reality" and published.changed(published.PATH)) or (group == "products" and _clocked()))
