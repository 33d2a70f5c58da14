"""TOML from outside as tables: bounded before it is parsed, so that no small file takes the machine along.

The parser of the standard library keeps every beginning of a dotted key: 100,000 parts in 200 kB take all memory. No
file of ours needs more than a few.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..errors import FormatError, UnknownName
from .words import shown

if TYPE_CHECKING:
    from .kinds import Outside

MAX_PARTS = 64  # of a dotted key
_RUN = re.compile(r"""[\w.\-"' \t]+""")  # whatever a dotted key may be in; runs do not overlap
_PART = re.compile(r"[^.\s]\s*\.")


def tables(content: bytes, source: str, most: int) -> dict[str, Outside]:
    """The tables of a TOML document of at most so many bytes; source names it in messages."""
    if len(content) > most:
        raise FormatError(f"{source} has {len(content)} bytes; at most {most} are read")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{source} is not UTF-8 text (byte {error.start}); save it as UTF-8"
        ) from None
    for run in _RUN.finditer(text):
        if run[0].count(".") > MAX_PARTS and len(_PART.findall(run[0])) > MAX_PARTS:
            line = text.count("\n", 0, run.start()) + 1
            raise FormatError(
                f"{source}, line {line}: a key of more than {MAX_PARTS} parts; write tables instead"
            )
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        said = " ".join(str(error).split())[:200]
        raise FormatError(f"{source} is not a TOML file: {said}; mend that place") from None


def known_keys(table: Outside, keys: Iterable[str], where: str) -> dict[str, Outside]:
    """The table's entries, after refusing keys that dynarm does not know."""
    if not isinstance(table, Mapping):
        raise FormatError(f"{where} is {shown(table)}; give a table of keys")
    for key in table:
        if key not in keys:
            raise UnknownName(f"key in {where}", key, keys)
    return dict(table)
