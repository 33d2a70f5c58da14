"""A number written down by somebody: digits of ASCII, a point, an exponent, and nothing else.

Python's own `float` also takes underscores, digits of every script, and the words inf and nan. In a file these are
mistakes, and what one reader accepts the next one refuses.
"""

from __future__ import annotations

import re

LONGEST = 400  # letters; float64 needs 17 digits, and the longest that is written out has 326
# for patterns that want more around it
NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER = re.compile(NUMBER)
_BLANK = " \t\r\n"


def written(text: str) -> float:
    """The number that a text holds, infinite where it is too large for float64; else a ValueError."""
    bare = text.strip(_BLANK)
    if len(bare) > LONGEST or not _NUMBER.fullmatch(bare):
        raise ValueError(f"{text[:60]!r} is no number")
    return float(bare)


def words(text: str) -> list[str]:
    """The text between blanks of ASCII."""
    return re.findall(rf"[^{_BLANK}]+", text)
