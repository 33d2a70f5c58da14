"""Changes in the bytes of an XML document: values of attributes, and new elements in the indentation of their place.

All that is not changed stays as it is: order, blanks, comments, quotes, ends of lines. The document has been parsed
(`elements.py`), so that it is known to be well-formed and where its elements stand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...errors import FormatError
from .elements import Element

_ATTRIBUTE = re.compile(rb"""\s+([^\s=/>]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_NAME = re.compile(rb"<[^\s/>]+")
_BLANK = b" \t"
_ESCAPES = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&apos;",
    "\n": "&#10;",
    "\r": "&#13;",
    "\t": "&#9;",
}


class Edits:
    """A document and what shall change in it."""

    def __init__(self, content: bytes, root: Element, source: str) -> None:
        if b"\0" in content[:4]:
            raise FormatError(
                f"{source} is UTF-16, which is not changed in place; save it as UTF-8"
            )
        self.content, self.root, self.source = content, root, source
        self.newline = b"\r\n" if b"\r\n" in content else b"\n"
        self.changes: list[tuple[int, int, bytes]] = []

    def done(self) -> bytes:
        """The changed document."""
        parts, at = [], 0
        for start, stop, text in sorted(self.changes, key=lambda change: change[:2]):
            parts += [self.content[at:start], text]
            at = stop
        return b"".join([*parts, self.content[at:]])

    def put(self, element: Element, values: dict[str, str]) -> None:
        """Give attributes of an element other values; those that it does not have come last."""
        start, behind = self._tag(element)
        spans = {m[1]: m for m in _ATTRIBUTE.finditer(self.content, start, behind)}
        last = max((m.end() for m in spans.values()), default=start)
        for key, value in values.items():
            text = escaped(value)
            match = spans.get(key.encode())
            if match is None:
                self.changes.append((last, last, f' {key}="{text}"'.encode()))
            else:
                self.changes.append((*match.span(2 if match[2] is not None else 3), text.encode()))

    def insert(self, parent: Element, lines: Sequence[str], last: bool = False) -> None:
        """New first (or last) children of an element; a tab at the beginning of a line is one step further in."""
        own = self._indent(parent.start)
        inside = self._indent(parent.children[0].start) if parent.children else None
        if own is None:  # the document does not care for lines here
            block, before, after = "".join(line.strip() for line in lines).encode(), b"", b""
        else:
            inside = own + self._step() if inside is None else inside
            before, after = self.newline + inside, self.newline + own
            block = before.join(line.encode().replace(b"\t", self._step()) for line in lines)
        _, behind = self._tag(parent)
        if self._closed(behind):
            end = behind - len(b"/>")
            while self.content[end - 1 : end].isspace():
                end -= 1
            name = b"</" + parent.tag.encode() + b">"
            self.changes.append((end, behind, b">" + before + block + after + name))
            return
        at = self._end(parent.children[-1]) if last and parent.children else behind
        bare = not parent.children and not self.content[behind : parent.stop].strip(_BLANK)
        self.changes.append((at, at, before + block + (after if bare else b"")))

    def swap(self, element: Element, key: str, new: str, value: str) -> None:
        """Put another attribute in the place of one that the element has."""
        start, behind = self._tag(element)
        for match in _ATTRIBUTE.finditer(self.content, start, behind):
            if match[1] == key.encode():
                text = f'{new}="{escaped(value)}"'.encode()
                self.changes.append((match.start(1), match.end(), text))

    def replace(self, element: Element, text: bytes) -> None:
        """Put something else in the place of an element."""
        self.changes.append((element.start, self._end(element), text))

    def inside(self, element: Element) -> bytes:
        """What stands between the tags of an element, as it was."""
        _, behind = self._tag(element)
        return b"" if self._closed(behind) else self.content[behind : element.stop]

    # ---- places

    def _tag(self, element: Element) -> tuple[int, int]:
        """Where the attributes of a start tag may begin, and the byte behind the tag."""
        head = _NAME.match(self.content, element.start)
        assert head is not None
        at = head.end()
        while match := _ATTRIBUTE.match(self.content, at):
            at = match.end()
        return head.end(), self.content.index(b">", at) + 1

    def _closed(self, behind: int) -> bool:
        return self.content[behind - 2 : behind] == b"/>"

    def _end(self, element: Element) -> int:
        _, behind = self._tag(element)
        return behind if self._closed(behind) else self.content.index(b">", element.stop) + 1

    def _indent(self, at: int) -> bytes | None:
        """The blanks before a place, if nothing else stands before it on its line."""
        line = self.content[self.content.rfind(b"\n", 0, at) + 1 : at]
        return line if not line.strip(_BLANK) and b"\n" in self.content[:at] else None

    def _step(self) -> bytes:
        """How much further in than an element its children stand, in this document."""
        root = self._indent(self.root.start) or b""
        for child in self.root.children:
            inside = self._indent(child.start)
            if inside is not None and len(inside) > len(root):
                return inside[len(root) :]
        return b"  "


def escaped(text: str) -> str:
    """The text as the value of an attribute, in any quotes; letters beyond ASCII by their numbers."""
    return "".join(_ESCAPES.get(c, c if c.isascii() else f"&#{ord(c)};") for c in text)
