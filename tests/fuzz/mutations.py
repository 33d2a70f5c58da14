"""Sound files made unsound, by chance that a seed repeats: bytes, XML, TOML, tables of text, archives."""

from __future__ import annotations

import copy
import io
import re
import zipfile
import zlib
from random import Random
from xml.etree import ElementTree

NUMBERS = (
    "nan", "inf", "-inf", "1e400", "1e308", "-1e308", "5e-324", "1e-320", "0", "-0", "-1", "1e50", "1e100", "1e200",
    "1_000", "0x10", "1e", "--1", "+", ".", "", " ", "1.5708", "9" * 400, "1" * 5000, "0." + "0" * 400 + "1", "1,5",
    "\uff11", "\u0663", "true", "null", "1 2", "1 2 3 4", "a b c", "0 0 0", "1e308 1e308 1e308", "nan nan nan",
)  # fmt: skip
WORDS = (
    "", " ", "x", "x" * 5000, "\u202e\u200b", "\u00e9", "\U0001f916", "a\nb", "\x1b[2J", "../../../etc/passwd",
    "/etc/passwd", "file:///etc/passwd", "package://nothing/x.stl", "${1+1}", "$(find x)", "%s%n", "'; drop table x",
    "<script>", "&amp;", "base", "joint1", "fixed", "floating", "prismatic", "planar", "revolute", "continuous",
)  # fmt: skip
ENTITIES = (
    '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">]>',
    '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">]>',
    '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE r SYSTEM "http://localhost:1/x.dtd">',
    '<!DOCTYPE r [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>',
)
TAGS = (
    "link",
    "joint",
    "inertial",
    "origin",
    "mimic",
    "limit",
    "axis",
    "xacro:include",
    "include",
    "body",
    "geom",
    "",
)


def damaged_bytes(data: bytes, rng: Random) -> bytes:
    """One piece changed, cut, doubled, put in or made extreme."""
    b = bytearray(data or b"x")
    i, j = sorted(rng.randrange(len(b)) for _ in "ij")
    kind = rng.randrange(7)
    if kind == 0:
        b = b[:i]
    elif kind == 1:
        for _ in range(rng.choice([1, 2, 5, 40])):
            b[rng.randrange(len(b))] = rng.randrange(256)
    elif kind == 2:
        n = rng.choice([1, 2, 4, 8])
        b[i : i + n] = rng.choice([b"\xff" * n, b"\0" * n, b"\x7f" + b"\xff" * (n - 1)])
    elif kind == 3:
        b = b[:i] + b[j:]
    elif kind == 4:
        b = b[:j] + b[i:j] + b[j:]
    elif kind == 5:
        b[rng.randrange(min(len(b), 300))] = rng.randrange(256)
    else:
        b[i:i] = rng.randbytes(rng.choice([1, 3, 100]))
    return bytes(b)


# ---- XML


def damaged_xml(data: bytes, rng: Random) -> bytes:
    """Elements removed, doubled, renamed, moved or nested, attributes changed; now and then entities or bytes."""
    kind = rng.random()
    if kind < 0.1:
        return damaged_bytes(data, rng)
    root = copy.deepcopy(_parsed(data))
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        _change_element(root, rng)
    text = ElementTree.tostring(root, encoding="unicode")
    if kind < 0.12:
        deep = rng.choice([500, 5000, 100_000])
        text = text.replace("><", ">" + "<x>" * deep + "</x>" * deep + "<", 1)
    if 0.12 < kind < 0.15:
        text = rng.choice(ENTITIES) + text.replace("><", ">&a;<", 1)
    if kind < 0.18:
        return text.encode(rng.choice(["utf-16", "utf-8-sig", "utf-32"]), "replace")
    made = text.encode("utf-8", "replace")
    return damaged_bytes(made, rng) if kind > 0.93 else made


EXPRESSIONS = (
    "${m}", "${L}", "${k + 1}", "${1 / 0}", "${0 ** -1}", "${'a' * 10 ** 12}", "${[0] * 10 ** 12}",
    "${range(10 ** 15)}", "${().__class__}", "${open('/etc/passwd')}", "${lambda: 1}", "${[x for x in [1, 2] if x]}",
    "${{}}", "${", "$(", "$$",
    "${load_yaml('/etc/passwd')}", "${xacro.load_yaml('../../x.yaml')}", "$(find x)", "$(env HOME)", "$(optenv HOME a)",
    "$(arg prefix)", "$(arg none)", "$(eval 1 +)", "$(eval arg('n') * 2)", "$(dirname)", "$(cwd)", "${'%s' % 1}",
    "${1e400}",
    "${float('nan')}", "${int('9' * 5000)}", "${abs}", "${math}", "${python}", "${xacro}", "${not}", "${m if L else k}",
    "${'x'.join(['a', 'b'])}", "${'{0.__class__}'.format(1)}", "${name}", "${parent}", "true", "False", "2",
    "${2 ** 5000}",
    "${(" * 300, "${" + "-" * 3000 + "1}", "${{'a': 1}.a}", "${sum([1, 2])}", "${max(1, 'a')}", "${9 ** 9 ** 9}",
    "k:=1", "k:=^", "*block", "**block", "a b c *d", "k:=^|${m}", "k:='a b'", "/etc/passwd", "../*", "case.xacro",
)  # fmt: skip
MACROS = (
    "macro", "property", "if", "unless", "include", "insert_block", "limb", "row", "arg", "call", "element",
    "attribute", "none", "eval",
)  # fmt: skip
_XACRO = "{http://www.ros.org/wiki/xacro}"
ElementTree.register_namespace("xacro", "http://www.ros.org/wiki/xacro")


def damaged_xacro(data: bytes, rng: Random) -> bytes:
    """What is done to XML, or expressions and macros exchanged for others."""
    if rng.random() < 0.4:
        return damaged_xml(data, rng)
    root = copy.deepcopy(_parsed(data))
    for _ in range(rng.choice([1, 1, 2, 3])):
        here = rng.choice([e for e in root.iter() if e.attrib])
        if rng.random() < 0.75:
            here.set(rng.choice(list(here.attrib)), rng.choice(EXPRESSIONS))
        else:
            here.tag = _XACRO + rng.choice(MACROS)
    return ElementTree.tostring(root)


_TREES: dict[bytes, ElementTree.Element] = {}


def _parsed(data: bytes) -> ElementTree.Element:
    if data not in _TREES:
        _TREES[data] = ElementTree.fromstring(data)
    return _TREES[data]


def _change_element(root: ElementTree.Element, rng: Random) -> None:
    parents = [e for e in root.iter() if len(e)]
    parent = rng.choice(parents) if parents else root
    here = rng.choice(list(parent)) if len(parent) else root
    kind = rng.randrange(10)
    if kind < 5:
        _change_attribute(rng.choice([e for e in root.iter() if e.attrib] or [root]), rng)
    elif kind == 5 and here is not root:
        parent.remove(here)
    elif kind == 6:
        parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(here))
    elif kind == 7:
        here.tag = rng.choice(TAGS) or "x" * 300
    elif kind == 8 and here is not root:
        parent.remove(here)
        rng.choice([e for e in root.iter()]).append(here)
    else:
        _nest(here, rng)


def _change_attribute(element: ElementTree.Element, rng: Random) -> None:
    key = rng.choice(list(element.attrib) or ["name"])
    value = element.attrib.get(key, "")
    kind = rng.randrange(8)
    if kind == 0:
        element.attrib.pop(key, None)
    elif kind == 1:
        element.set(
            rng.choice(["name", "xyz", "rpy", "value", "type", "joint", "\u00e9"]),
            rng.choice(WORDS),
        )
    elif kind == 2:
        element.set(key, rng.choice(WORDS))
    elif kind == 3 and len(value.split()) > 1:
        parts = value.split()
        parts[rng.randrange(len(parts))] = rng.choice(NUMBERS)
        element.set(key, " ".join(parts))
    else:
        element.set(key, rng.choice(NUMBERS))


def _nest(element: ElementTree.Element, rng: Random) -> None:
    inner = element
    for _ in range(rng.choice([1, 10, 100])):
        inner = ElementTree.SubElement(inner, element.tag)
    element.text = rng.choice(WORDS)


# ---- TOML


VALUES = (
    "nan", "inf", "-inf", "1e400", "1e308", "-1e308", "5e-324", "true", "''", "'x'", "[]", "[[]]", "{}", "[1]",
    "[1,2,3,4]", "[[1,2,3],[4,5,6],[7,8,9]]", "1979-05-27", "07:32:00", "1" * 400, "1" * 5000, "-1", "0", "'pi/0'",
    "'" + "9" * 900 + " deg'", "'nan deg'", "['a']", "{a=1}", "0xffffffffffffffffffff", "'\\u0000'", "[nan,nan,nan]",
    "[1e308,1e308,1e308]", "'revolute'", "[[1e308,0,0],[0,1e308,0],[0,0,1e308]]", "'" + "a" * 300 + ".toml'",
    "[" * 2000, "[" * 200 + "]" * 200, "{a={a={a={}}}}", "'../../../etc/passwd'", "'/etc/passwd'", '"\\u202e"',
    "1e100", "1e50", "-1e-320", "[[0,0,0,0],[0,0,0,0],[0,0,0,0],[0,0,0,0]]", "[0,0,0]", "9223372036854775808",
)  # fmt: skip


def damaged_toml(data: bytes, rng: Random) -> bytes:
    """Values changed, lines removed, doubled, moved; keys renamed; now and then endless keys or bytes."""
    if rng.random() < 0.1:
        return damaged_bytes(data, rng)
    lines = data.decode("utf-8").splitlines()
    for _ in range(rng.choice([1, 1, 1, 2, 4, 10])):
        _change_line(lines, rng)
    return "\n".join(lines).encode("utf-8", "replace")


def _change_line(lines: list[str], rng: Random) -> None:
    if not lines:
        return
    i, kind = rng.randrange(len(lines)), rng.randrange(12)
    spots = [k for k, line in enumerate(lines) if "=" in line and not line.startswith("#")]
    if kind < 6 and spots:
        k = rng.choice(spots)
        head, _, tail = lines[k].partition("=")
        numbers = list(re.finditer(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", tail))
        if kind < 3 and numbers:
            spot = rng.choice(numbers)
            tail = tail[: spot.start()] + rng.choice(VALUES) + tail[spot.end() :]
            lines[k] = f"{head}={tail}"
        else:
            lines[k] = f"{head}= {rng.choice(VALUES)}"
    elif kind == 6:
        del lines[i]
    elif kind == 7:
        lines.insert(rng.randrange(len(lines)), lines[i])
    elif kind == 8:
        j = rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 9 and spots:
        k = rng.choice(spots)
        key = rng.choice(
            [
                "mass",
                "parent",
                "mimic",
                "tools",
                "x" * 3000,
                "a." * 3000 + "a",
                '"\u00e9"',
                "joints",
            ]
        )
        lines[k] = f"{key} ={lines[k].partition('=')[2]}"
    elif kind == 10:
        lines.insert(
            i,
            rng.choice(
                ["[[joints]]", "[origin]", "[joints]", "[a" + ".a" * 3000 + "]", "[[", "\0", "="]
            ),
        )
    else:
        del lines[i : i + rng.choice([1, 3, 20])]


# ---- tables of text


CELLS = (
    *NUMBERS,
    "1e5",
    "NaN",
    "NA",
    "-",
    '"',
    '""',
    '"a,b"',
    "a;b",
    "\t",
    "2020-01-01 00:00:00",
    "1970",
    "\0",
    "#",
)


def damaged_csv(data: bytes, rng: Random) -> bytes:
    """Cells, rows and names changed, separators exchanged, ends of lines and letters of other systems."""
    if rng.random() < 0.15:
        return damaged_bytes(data, rng)
    rows = [line.split(",") for line in data.decode().splitlines()]
    for _ in range(rng.choice([1, 1, 2, 4, 30])):
        _change_row(rows, rng)
    comma = rng.choice([","] * 6 + [";", "\t", " ", "|", ",,"])
    end = rng.choice(["\n"] * 6 + ["\r\n", "\r", "\n\n", ""])
    letters = rng.choice(["utf-8"] * 8 + ["utf-16", "utf-8-sig", "latin-1"])
    return end.join(comma.join(row) for row in rows).encode(letters, "replace")


def _change_row(rows: list[list[str]], rng: Random) -> None:
    if not rows:
        return
    i, kind = rng.choice([0, rng.randrange(len(rows))]), rng.randrange(9)
    row = rows[i]
    if kind < 4 and row:
        row[rng.randrange(len(row))] = rng.choice(CELLS if kind < 3 else WORDS)
    elif kind == 4:
        rows.insert(i, list(row))
    elif kind == 5:
        del rows[i]
    elif kind == 6:
        row.extend([rng.choice(CELLS)] * rng.choice([1, 2, 3000]))
    elif kind == 7:
        del row[: rng.choice([1, 2, 100])]
    else:
        j = rng.randrange(len(rows))
        rows[i], rows[j] = rows[j], rows[i]


# ---- archives and compressed streams: what is inside is damaged, the wrapping is sound


def damaged_zip(data: bytes, rng: Random) -> bytes:
    """A member damaged, renamed, doubled or missing, its checksum right."""
    if rng.random() < 0.3:
        return damaged_bytes(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    k = rng.randrange(len(members))
    name, inside = members[k]
    kind = rng.randrange(6)
    if kind < 3:
        # the header is Python text: its own kinds of damage
        head, _, body = inside.partition(b"\n")
        members[k] = (
            name,
            (damaged_bytes(head, rng) + b"\n" + body if kind else damaged_bytes(inside, rng)),
        )
    elif kind == 3:
        members[k] = rng.choice([*WORDS, "q1.npy", "x.npy", "../q.npy"]) or "q.npy", inside
    elif kind == 4:
        members.append((rng.choice([name, "more.npy", "\u00e9.npy"]), damaged_bytes(inside, rng)))
    else:
        del members[k]
    made = io.BytesIO()
    with zipfile.ZipFile(
        made, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    ) as archive:
        for member, content in members:
            archive.writestr(zipfile.ZipInfo(member.replace("\0", "")), content)
    return made.getvalue()


def damaged_mat(data: bytes, rng: Random) -> bytes:
    """A MAT file damaged as it is, or inside its compressed elements."""
    if rng.random() < 0.5:
        return damaged_bytes(data, rng)
    made, place = bytearray(data[:128]), 128
    while place + 8 <= len(data):
        kind, size = (int.from_bytes(data[place + k : place + k + 4], "little") for k in (0, 4))
        body = data[place + 8 : place + 8 + size]
        if kind == 15 and rng.random() < 0.6:
            body = zlib.compress(damaged_bytes(zlib.decompress(body), rng))
        made += kind.to_bytes(4, "little") + len(body).to_bytes(4, "little") + body
        place += 8 + size
    return bytes(made)
