"""What the tests of the models assert alike: a refusal in these very words, and equality but for the last digits."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest


def refuses(message: str) -> Any:
    """Around a call that must raise ValueError with this message, and no more."""
    return pytest.raises(ValueError, match=f"^{re.escape(message)}$")


def same(a: float, b: float) -> bool:
    """Whether two times are equal but for their last digits."""
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-15)
