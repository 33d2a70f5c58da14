"""An XML document as elements, each with the bytes that it stands on: for reading and for changing in place.

The XML parser is expat with every door shut: a DOCTYPE, and with it any entity, is refused before it is read, nothing
is fetched, no other file is opened, nesting is limited.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from ...border.kinds import Outside
from ...errors import FormatError

MAX_DEPTH = 100
MAX_ELEMENTS = 200_000


@dataclass(slots=True, eq=False)
class Element:
    """An XML element: tag, attributes and children; text between tags has no meaning in a URDF."""

    tag: str
    attributes: dict[str, str]
    line: int
    start: int = 0  # the byte of its first <
    stop: int = 0  # the byte of </, or the one behind /> of an element without content
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[Element]:
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        return next(self.all(tag), None)


class _Builder:
    """Receives expat's events and keeps the elements that somebody may read."""

    def __init__(self, source: str, skipped: frozenset[str]) -> None:
        self.source, self.skipped = source, skipped
        self.root: Element | None = None
        self.open: list[Element] = []
        self.depth = self.kept = 0
        self.macros = False  # whether elements of xacro may stand in it
        self.skipping = 0  # depth at which an element that nobody reads began, or 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler, self.parser.EndElementHandler = self.start, self.end
        self.parser.StartDoctypeDeclHandler = self.parser.EntityDeclHandler = self.refuse
        self.parser.ExternalEntityRefHandler = self.parser.UnparsedEntityDeclHandler = self.refuse
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise FormatError(
                f"{self.source}, line {line}: elements nested deeper than {MAX_DEPTH}"
            )
        if tag.startswith("xacro:") and not self.macros:
            raise FormatError(
                f"{self.source}, line {line}: <{tag}> is a xacro macro; expand the file first, or end "
                "its name in .xacro"
            )
        if self.skipping or tag in self.skipped:
            self.skipping = self.skipping or self.depth
            return
        self.kept += 1
        if self.kept > MAX_ELEMENTS:
            raise FormatError(
                f"{self.source} has more than {MAX_ELEMENTS} elements; a robot has fewer"
            )
        element = Element(tag, attributes, line, self.parser.CurrentByteIndex)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        if not self.skipping:
            self.open.pop().stop = self.parser.CurrentByteIndex
        elif self.depth == self.skipping:
            self.skipping = 0
        self.depth -= 1

    def refuse(self, *_: Outside) -> Outside:
        raise FormatError(
            f"{self.source} declares a DOCTYPE or an entity; a URDF needs none, remove it"
        )


def parse(content: bytes, source: str, skipped: frozenset[str] = frozenset()) -> Element:
    """The root element of an XML document without a DOCTYPE; elements to be skipped are not in it."""
    builder = _Builder(source, skipped)
    _read(builder, content)
    if builder.root is None:
        raise FormatError(f"{source} holds no element; give a URDF")
    return builder.root


def refuse_doctype(content: bytes, source: str) -> None:
    """Refuse a document that is not well-formed, is nested too deeply, or declares entities; of any tags."""
    builder = _Builder(source, frozenset())
    builder.macros = True
    _read(builder, content)


def _read(builder: _Builder, content: bytes) -> None:
    source = builder.source
    try:
        builder.parser.Parse(content, True)
    except FormatError:
        raise
    except expat.ExpatError as error:
        raise FormatError(f"{source} is not well-formed XML: {error}; mend that place") from None
    except (LookupError, ValueError) as error:
        raise FormatError(
            f"{source} has an encoding that cannot be read: {error}; save it as UTF-8"
        ) from None
