"""Where an arm came from: its file's links and frames, and what was made of the file, in sentences."""

from __future__ import annotations

from dataclasses import dataclass

from ..border.words import brief

# how notes about joints that were made rigid begin, and about what a model of rigid links does not hold
FROZEN, HELD, LEFT_OUT = "frozen at zero: ", "held at ", "left out: "
# what to be warned of: a name is wrong in the file
ASTRAY = (
    LEFT_OUT + "couplings to joints that the file does not have, so that these move on their own: "
)
TAKEN = "taken as exact: "  # how notes about rounded numbers begin
MERGED = "merged into link "  # how notes about links that are rigid with others begin


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an arm came from: what `save("x.urdf")` needs to write it back in the frames of its own file."""

    base_link: str
    links: tuple[str, ...]  # the moving link of each joint
    frames: tuple[tuple[float, ...], ...]  # each URDF link frame in the internal one, 16 numbers
    axes: tuple[tuple[float, float, float], ...]  # joint axes in the URDF link frames
    kinds: tuple[str, ...]  # URDF joint types: revolute, continuous, prismatic
    tip_link: str | None = None
    notes: tuple[str, ...] = ()  # what was frozen, merged or ignored on loading
    rigid: tuple[tuple[str, float], ...] = ()  # movable joints of the file that are held, and where
    snap: bool = False  # whether rounded numbers of the file were taken as exact
    # ten parameters of a fixed base link with all that is rigid on it, in its frame: what an arm on wheels brings along
    base: tuple[float, ...] | None = None

    __repr__ = brief

    @property
    def held(self) -> tuple[str, ...]:
        """The notes that say which movable joints were made rigid, and where, and what was left out."""
        return tuple(note for note in self.notes if note.startswith((FROZEN, HELD, LEFT_OUT)))

    @property
    def snapped(self) -> tuple[str, ...]:
        """The notes that say which rounded numbers were taken as exact, and what that changes."""
        return tuple(note for note in self.notes if note.startswith(TAKEN))


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The file that an arm was read from, and where its links are: what looks up their shapes later needs both."""

    places: tuple[tuple[str, int, tuple[float, ...]], ...]  # link, its joint (-1: the base), pose
    path: str = ""

    __repr__ = brief
