"""Where the numbers of a built-in robot come from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib import resources

from ..border.kinds import Outside
from ..border.toml import known_keys, tables
from ..border.words import brief, shown
from ..errors import FormatError, KindError, UnknownName

MAX_BYTES = 4 * 2**20  # of a robot's TOML file
_LONGEST = 1000  # letters of a text


@dataclass(frozen=True, slots=True)
class About:
    """What a robot is and where its numbers come from; a .toml file holds it as the table [about].

    Attributes
    ----------
    title : str
        Full name of the robot.
    source : str
        The project, file and version that the numbers were taken from.
    licence : str
        Licence of that source.
    inertias : str
        Where masses and inertias come from.

    Examples
    --------
    >>> dynarm.about("ur5e").title
    'Universal Robots UR5e'
    """

    title: str  # maker and model
    source: str  # project, file and version, or paper
    licence: str  # under which the source is open; of papers: none
    inertias: str  # who determined masses, centres of mass and inertias, and how

    __repr__ = brief


def catalogue() -> tuple[str, ...]:
    """The names of the built-in robots.

    Returns
    -------
    tuple[str, ...]
        The names, in alphabetical order; each is understood by `dynarm.load`.

    Examples
    --------
    >>> "panda" in dynarm.catalogue()
    True
    """
    folder = resources.files(__package__) / "catalogue"
    return tuple(
        sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml"))
    )


def about(robot: str) -> About:
    """What a built-in robot is, and where its numbers come from: title, source, licence, inertias.

    Parameters
    ----------
    robot : str
        One of the names of `dynarm.catalogue()`.

    Returns
    -------
    About
        Title, source, licence and origin of the inertias.

    Examples
    --------
    >>> about = dynarm.about("puma560")
    >>> print(about.title, "|", about.inertias)
    Unimation PUMA 560 | measured on a disassembled arm (Armstrong et al. 1986)
    """
    if not isinstance(robot, str):
        raise KindError(f"robot is {shown(robot)}; give a name of dynarm.catalogue()")
    if robot not in catalogue():
        raise UnknownName("robot", robot, catalogue())
    text = built_in(robot)
    return about_of_table(tables(text, f"built-in robot '{robot}'", MAX_BYTES)["about"])


def built_in(robot: str) -> bytes:
    """The TOML file of a built-in robot."""
    return (resources.files(__package__) / "catalogue" / f"{robot}.toml").read_bytes()


def about_of_table(table: Outside) -> About:
    """The record that a table [about] holds; each of its texts may be missing."""
    keys = [f.name for f in fields(About)]
    given = known_keys(table, keys, "about")
    for key, text in given.items():
        if not isinstance(text, str) or len(text) > _LONGEST:
            raise FormatError(
                f"about: {key} is {shown(text)}; give a text of at most {_LONGEST} characters"
            )
    return About(**{key: given.get(key, "") for key in keys})
