"""What was taken as exact when a robot was loaded, in sentences, and what that changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...border.arguments import numbers
from ...border.kinds import Outside
from ..frames.snap import Snapped
from ..origin import TAKEN
from .change import STATES, Described, largest_change
from .tree import Tree, listed


def exact_notes(
    tree: Tree,
    parts: Iterable[str],
    described: Callable[[Tree], Described],
    gravity: Outside,
) -> list[str]:
    """A sentence for each number that was taken as exact on these links and joints, and one for all they change."""
    here = set(parts)
    taken = [s for s in tree.snapped if s.owner in here]
    if not taken or tree.written is None:
        return []
    down = numbers("gravity", gravity, (3,))
    change, largest = largest_change(described(tree), described(tree.written), down)
    lines = [f"{TAKEN}{line}" for line in _grouped(taken)]
    lines.append(
        f"{TAKEN}torques change by at most {change:.2g} N m (or N), of {largest:.3g}, on {STATES} random states; "
        "load with snap=False to keep the numbers as written"
    )
    return lines


def _grouped(taken: Iterable[Snapped]) -> list[str]:
    """Numbers of one spelling together: 1.5708 as pi/2 in 'a', 'b'."""
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for s in taken:
        groups.setdefault((s.text, s.meant), {})[s.owner] = None
    return [
        f"{text} as {meant} in {listed(list(owners))}" for (text, meant), owners in groups.items()
    ]
