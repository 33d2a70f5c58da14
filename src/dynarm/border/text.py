"""Text from outside, made harmless to look at: names of robots, joints, files and columns are other people's words.

What comes in is a text already; values of other kinds become one in `border.words`.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 200  # letters of one word that a message shows
_HEAD, _TAIL = 120, 60
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_JOINERS = frozenset("\u200c\u200d")  # several scripts and emoji are spelled with them
_DRIVING = re.compile(r"[^\x20-\x7e]")


def plain(text: str) -> str:
    """The text with every character that drives a terminal, or turns what follows round, shown by its number.

    Escape sequences, controls of both blocks, line ends, bidirectional overrides and lone surrogates become the
    backslash form that Python writes; everything else stays as it is.
    """
    return _DRIVING.sub(lambda letter: _visible(letter[0]), text)


def _visible(letter: str) -> str:
    if unicodedata.category(letter) not in _HIDDEN or letter in _JOINERS:
        return letter
    return letter.encode("unicode_escape", "backslashreplace").decode("ascii")


def shortened(text: str) -> str:
    """The text with words beyond any reader's patience cut in their middle."""
    return re.sub(
        rf"\S{{{LONGEST + 1},}}", lambda word: f"{word[0][:_HEAD]}...{word[0][-_TAIL:]}", text
    )


def plain_json(text: str) -> str:
    """A JSON document that means the same, without characters that drive a terminal; its line ends stay."""
    return re.sub(r"[^\x20-\x7e\n]", lambda letter: _numbered(letter[0]), text)


def _numbered(letter: str) -> str:
    if unicodedata.category(letter) not in _HIDDEN or letter in _JOINERS:
        return letter
    units = letter.encode("utf-16-be", "surrogatepass")
    pairs = (units[k : k + 2] for k in range(0, len(units), 2))
    return "".join(f"\\u{pair.hex()}" for pair in pairs)
