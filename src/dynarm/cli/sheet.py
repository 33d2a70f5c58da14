"""What a robot's file holds, on one screen: joints and links, ends, what is merged, held, exact or doubtful."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..robot.origin import MERGED, TAKEN
from .console import say, show_table, width
from .wording import spoken

if TYPE_CHECKING:
    from ..robot.arm import Arm, Joint, Origin

ROWS = 16  # joints that get a row each; of robots with more, branches do
WIDE = 100  # columns
_LEAST = 16  # letters of a name in a table, however little room there is
_LINES = 3  # of a fact that names many things
_DOUBTS = 5


def ends(arm: Arm) -> list[str]:
    """The links at the ends of the branches."""
    assert arm.origin is not None
    carrying = {p for p in arm.parents if p >= 0}
    return [link for i, link in enumerate(arm.origin.links) if i not in carrying]


def merged(origin: Origin) -> dict[str, list[str]]:
    """The links that others carry rigidly, by the link that carries them."""
    pairs = (
        note.removeprefix(MERGED).split("': ", 1)
        for note in origin.notes
        if note.startswith(MERGED)
    )
    return {link.removeprefix("'"): names.split(", ") for link, names in pairs}


def table(arm: Arm) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the joints with their links; branches of many joints in one row."""
    assert arm.origin is not None
    columns = ["joint", "moves", "hangs on", "kind", "mass [kg]", "limits"]
    groups = [[i] for i in range(arm.n)] if arm.n <= ROWS else _branches(arm)
    rows = [_row(arm, group) for group in groups]
    if arm.floating:
        rows.insert(0, ["base", arm.origin.base_link, "", "free", f"{arm.floating.mass:.6g}", ""])
    keep = [0, 1, *([2] if arm.branched else []), 3, 4, *([5] if len(groups) == arm.n else [])]
    columns, rows = [columns[k] for k in keep], [[row[k] for k in keep] for row in rows]
    return columns, _fitting(columns, rows, columns.index("kind"))


def _fitting(columns: list[str], rows: list[list[str]], names: int) -> list[list[str]]:
    """The cells, names in the first columns shortened, the longest first, as far as a line of the table needs it."""
    cells = rows
    while True:
        widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
        widest = max(range(names), key=lambda k: widths[k])
        if sum(widths) + 2 * len(widths) - 2 <= WIDE or widths[widest] <= _LEAST:
            return cells
        cells = [
            [_short(x, widths[k] - 1) if k == widest else x for k, x in enumerate(row)]
            for row in cells
        ]


def _row(arm: Arm, group: Sequence[int]) -> list[str]:
    from ..robot.sheet import link_name

    assert arm.origin is not None
    first, last = arm.joints[group[0]], arm.joints[group[-1]]
    hung = link_name(arm, arm.parents[group[0]])
    mass = f"{sum(arm.joints[i].mass for i in group):.6g}"
    if len(group) == 1:
        return [str(first.name), arm.origin.links[group[0]], hung, first.kind, mass, limits(first)]
    kinds = _counted([arm.joints[i].kind for i in group])
    if first.mimic is not None:
        hung = hung if len({arm.parents[i] for i in group}) == 1 else "several"
        master = arm.joints[int(first.mimic.joint)].name
        return [f"{len(group)} that follow {master}", f"{len(group)} links", hung, kinds, mass, ""]
    moved = f"{len(group)} links to {arm.origin.links[group[-1]]}"
    return [f"{first.name} .. {last.name}", moved, hung, kinds, mass, ""]


def _branches(arm: Arm) -> list[list[int]]:
    """Joints in rows: each on the one before it and nothing else there; those that follow one joint together."""
    children = [[j for j, p in enumerate(arm.parents) if p == i] for i in range(arm.n)]
    groups: list[list[int]] = []
    followers: dict[int, list[int]] = {}
    for i, joint in enumerate(arm.joints):
        if joint.mimic is not None:
            master = int(joint.mimic.joint)
            if master not in followers:
                followers[master] = []
                groups.append(followers[master])
            followers[master].append(i)
            continue
        before = arm.parents[i]
        alone = before >= 0 and children[before] == [i] and groups and groups[-1][-1] == before
        if alone and arm.joints[before].mimic is None:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _counted(kinds: Iterable[str]) -> str:
    words = list(kinds)
    counts = {kind: words.count(kind) for kind in dict.fromkeys(words)}
    if len(counts) == 1:
        return f"{len(words)} {words[0]}"
    return ", ".join(f"{count} {kind[:4]}." for kind, count in counts.items())


def _short(name: str, most: int) -> str:
    """The name without letters of its middle."""
    if len(name) <= most:
        return name
    head, dots, tail = name.partition("..")
    if not dots:
        head, tail = name[: len(name) // 2], name[len(name) // 2 :]
    spare = len(head) + len(tail) + 2 - most
    cut = (spare + 1) // 2 if len(head) >= len(tail) else spare // 2
    return f"{head[: len(head) - cut]}..{tail[spare - cut :]}"


def limits(joint: Joint) -> str:
    """The positions that a joint may have."""
    from math import degrees

    if not joint.position_limits:
        return ""
    low, high = joint.position_limits
    if joint.revolute:
        return f"{degrees(low):.4g} .. {degrees(high):.4g} deg"
    return f"{low:.4g} .. {high:.4g} m"


def facts(arm: Arm, options: dict[str, str]) -> list[str]:
    """Ends, tools, and what was made of the file: merged, held, taken as exact; a paragraph each."""
    from ..robot.sheet import rule

    origin = arm.origin
    assert origin is not None
    lines = [f"q has {arm.nq} numbers, qd and tau have {arm.nv}"]
    if arm.floating:
        lines[0] += ": of the base x y z qx qy qz qw, and its velocities in its own axes, first"
    lines.append(f"ends (links for --tip): {', '.join(ends(arm))}")
    rules = [f"{j.name} = {rule(arm, j)}" for j in arm.joints if j.mimic]
    if rules:
        lines.append(f"follow others: {', '.join(rules)}")
    tools = ", ".join(tool.name for tool in arm.all_tools)
    lines.append(f"tools: {tools or 'none; name links with --tool'}")
    groups = merged(origin)
    if groups:
        told = (f"{', '.join(names)} into {link}" for link, names in groups.items())
        lines.append(f"merged, with their inertias: {'; '.join(told)}")
    lines += origin.held
    if origin.snapped:
        *numbers, change = (note.removeprefix(TAKEN) for note in origin.snapped)
        lines.append(f"{TAKEN}{'; '.join(numbers)}")
        lines.append(f"with these numbers {change}")
    others = (*origin.held, *origin.snapped)
    lines += [note for note in origin.notes if note not in others and not note.startswith(MERGED)]
    return [spoken(line, options) for line in lines]


def show_facts(lines: Iterable[str], doubts: Sequence[str], long: bool) -> None:
    """Paragraphs folded at words; of those that name very many things the beginning, unless all is asked for."""
    for line in lines:
        _tell(line, long)
    for doubt in doubts if long else doubts[:_DOUBTS]:
        _tell(f"doubt: {doubt}", long, "yellow")
    if len(doubts) > _DOUBTS and not long:
        say(f"doubt: ... and {len(doubts) - _DOUBTS} more; --long and --json list them", "yellow")
    say()


def _tell(text: str, long: bool, style: str = "") -> None:
    lines = textwrap.wrap(text, min(WIDE, width()), subsequent_indent="  ", break_on_hyphens=False)
    if len(lines) > _LINES and not long:
        lines = lines[:_LINES]
        lines[-1] = f"{lines[-1][: min(WIDE, width()) - 24].rstrip(' ,;')} ... (--long: all)"
    for line in lines:
        say(line, style)


def show_sheet(
    arm: Arm, title: str, options: dict[str, str], doubts: Sequence[str], long: bool
) -> None:
    """The robot on one screen."""
    columns, rows = table(arm)
    show_table(title, columns, rows, right=columns.index("mass [kg]"))
    show_facts(facts(arm, options), doubts, long)
