"""Which files a dataset is: folders, patterns and names of files, and how much memory their fit may take."""

from __future__ import annotations

import glob
import os
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...border.arguments import flag, items, path_of, real, shown
from ...border.files import is_folder, named
from ...border.kinds import Kept, Outside
from ...errors import DynarmWarning, FileError, InputError, KindError
from ..logs.readers import FORMATS, known_formats

if TYPE_CHECKING:
    from ...robot.arm import Arm
    from ..logs.log import Log

WANTED = "a folder, a pattern such as 'logs/*.csv', or names of logs"
BASE = 300 << 20  # bytes that the program itself takes, with what it keeps of a dataset to look at
LEAST = BASE + (4 << 20)
_LARGE = 64 << 20  # bytes of a file that is fitted piece by piece
_TOGETHER = 256 << 20  # and of several that are
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)
_PATTERN = re.compile(r"[*?\[]")
_BAG = "metadata.yaml"
_TOLD = ("readme", "license", "licence", "notes", "changelog", "requirements")  # no logs, as .txt


def byte_count(what: str, value: Outside) -> int:
    """A number of bytes, or words such as 1GB, 500 MB or 2GiB."""
    match = _SIZE.fullmatch(str(value)) if isinstance(value, (str, int, float)) else None
    if match is None or isinstance(value, bool):
        raise InputError(f"{what} is {shown(value)}; give a size such as '1GB' or '500MB'")
    number, letter, binary = match.groups()
    step = 1024 if binary else 1000
    size = int(float(number) * step ** " kmgt".index(letter.lower() or " "))
    if size < LEAST:
        raise InputError(
            f"{what} is {shown(value)}, not enough to fit a dataset in; give at least {LEAST // 1000**2 + 1}MB"
        )
    return size


class Reading(NamedTuple):
    """How each file is read: channels and topic as for Log.read, and bytes that it may take."""

    channels: Kept
    topic: str | None
    room: int


@dataclass(frozen=True, repr=False)
class Dataset:
    """Logs in many files, or in files larger than memory, which are read piece by piece.

    Parameters
    ----------
    paths : path-like or list
        A folder, a pattern such as "logs/*.parquet", the name of a log, or a list of these.
        Files whose times go on from one to the next are one recording; those whose clocks
        start anew are recordings of their own.
    channels : path-like or dict, optional
        As for `Log.read`, for all files.
    memory : int | str, default "1GB"
        Bytes, or words such as "1GB", that a fit may take; a dataset that fits into it is
        read at once.
    skip_bad : bool, default False
        Files that cannot be read, or do not belong to the robot, are left out and named in
        a warning.
    topic : str, optional
        Of bags, as for Log.read.
    progress : callable, optional
        Called with (files read, files in all, rows so far) while all files are looked at.
    hold_out : float, default 0
        Part of each recording, its end, that is not fitted but kept back: `fit.held_`.
    apart : bool, default False
        Every file is a recording of its own, whatever its clock says: where clocks count from
        the start of a controller, times of files may overlap by chance.

    Examples
    --------
    >>> t = np.linspace(0, 5, 501)
    >>> np.savetxt("log1.csv", np.column_stack([t, np.sin(t), np.cos(t)]), delimiter=",",
    ...            header="time,q1,tau1", comments="")
    >>> data = dynarm.Dataset("*.csv", memory="400MB")
    """

    paths: Kept
    channels: Kept = None
    memory: int | str = "1GB"
    skip_bad: bool = False
    topic: str | None = None
    progress: Callable[[int, int, int], None] | None = None
    hold_out: float = 0.0
    apart: bool = False

    def __post_init__(self) -> None:
        byte_count("memory", self.memory)
        flag("skip_bad", self.skip_bad)
        flag("apart", self.apart)
        real("hold_out", self.hold_out, "a part of each recording from 0 to 0.9", _is_part)
        if self.progress is not None and not callable(self.progress):
            raise KindError(f"progress is {shown(self.progress)}; give a function, or None")

    def __repr__(self) -> str:
        """What was given, and in how much memory it is fitted."""
        return f"<dynarm.Dataset {shown(self.paths)}, memory {self.memory}>"

    @property
    def how(self) -> Reading:
        """By what each file is read."""
        return Reading(self.channels, self.topic, self.room)

    @property
    def room(self) -> int:
        """Bytes that are left for the data of a fit."""
        return byte_count("memory", self.memory) - BASE

    def files(self) -> list[Path]:
        """The logs of the dataset, by name, numbers in names in order of size.

        Returns
        -------
        list[Path]
            The paths.

        Examples
        --------
        >>> [path.name for path in data.files()]
        ['log1.csv']
        """
        given = self.paths
        several = (
            [given] if isinstance(given, (str, os.PathLike)) else items("paths", given, WANTED)
        )
        inside = [file for one in several for file in _inside(path_of("paths", one, WANTED))]
        if not inside:
            raise InputError(f"no log given; pass {WANTED}")
        return list({os.path.realpath(file): file for file in inside[::-1]}.values())[::-1]

    def excerpts(self, arm: Arm) -> list[Log]:
        """The recordings as logs, to be predicted; where these do not fit into memory, the middles of some.

        Parameters
        ----------
        arm : Arm
            The robot, in whose order joints are put.

        Returns
        -------
        list[Log]
            The logs, as `Fit.validate` and `Fit.verdict` take them.

        Examples
        --------
        >>> import dataclasses
        >>> arm = dynarm.load("two_link")
        >>> arm = dataclasses.replace(arm, joints=arm.joints[:1])
        >>> [len(log) for log in data.excerpts(arm)]
        [501]
        """
        from .holding import excerpts
        from .survey import survey

        seen = survey(self, arm)
        for message in seen.bad:
            warnings.warn(f"left out: {message}", DynarmWarning, stacklevel=2)
        return excerpts(seen)


def _is_part(x: float) -> bool:
    return 0 <= x <= 0.9


def _inside(path: Path) -> list[Path]:
    """The logs that one name stands for."""
    if _PATTERN.search(str(path)) and not os.path.lexists(path):
        matches = [Path(name) for name in glob.glob(str(path), recursive=True)]
        logs = [log for match in matches for log in (_inside(match) if _opens(match) else ())]
        if not logs:
            raise FileError(f"{named(path)} matches no log; dynarm reads {known_formats()}")
        return sorted(logs, key=_in_order)
    if not is_folder(path) or is_bag(path):
        return [path]
    logs = _walked(path)
    if not logs:
        raise FileError(f"{named(path)}: the folder holds no log; dynarm reads {known_formats()}")
    return sorted(logs, key=_in_order)


def _opens(path: Path) -> bool:
    return path.is_dir() or _is_log(path)


def _is_log(path: Path) -> bool:
    told = path.suffix.lower() == ".txt" and path.stem.lower() in _TOLD
    return any(one.is_of(path, False) for one in FORMATS) and path.name[0] not in "._" and not told


def _walked(folder: Path) -> list[Path]:
    """Logs in a folder and below; a bag's folder is one log."""
    logs: list[Path] = []
    seen: set[str] = set()  # links may lead round in a circle
    for top, folders, names in os.walk(folder, followlinks=True):
        here, real = Path(top), os.path.realpath(top)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        if here != folder and is_bag(here):
            logs.append(here)
            folders.clear()
            continue
        folders[:] = [name for name in folders if name[0] not in "._"]
        logs += [here / name for name in names if _is_log(here / name)]
    return logs


def _in_order(path: Path) -> list[tuple[int, int, str]]:
    """What sorts log2 before log10."""
    parts = re.split(r"(\d+)", str(path))
    return [(1, int(p), "") if p.isdigit() and p.isascii() else (0, 0, p) for p in parts]


def is_bag(folder: Path) -> bool:
    """Whether a folder is a ROS 2 bag, one log."""
    if (folder / _BAG).is_file():
        return True
    inside = os.listdir(folder)
    return len(inside) == 1 and inside[0].endswith(".db3")


def dataset_of(value: Outside) -> Dataset | None:
    """The dataset that a fit was given; None where it was given a log or several."""
    if isinstance(value, Dataset):
        return value
    if not isinstance(value, (str, os.PathLike)) or not str(value).strip() or "\0" in str(value):
        return None
    return Dataset(value) if is_dataset(Path(value)) else None


def is_dataset(path: Path) -> bool:
    """Whether a name stands for several logs, or for one that is read piece by piece."""
    try:
        folder = path.is_dir()
        if folder and not is_bag(path):
            return True
        if folder or path.is_file():
            kind = next((one for one in FORMATS if one.is_of(path, folder)), None)
            return kind is not None and kind.in_parts is not None and _bytes(path) > _LARGE
    except (OSError, ValueError):
        return False
    return bool(_PATTERN.search(str(path)))


def are_dataset(paths: Sequence[Path]) -> bool:
    """Whether names of logs stand for more than is read at once: one of them does, or all together do."""
    if any(map(is_dataset, paths)):
        return True
    try:
        return len(paths) > 1 and sum(map(_bytes, paths)) > _TOGETHER
    except (OSError, ValueError):
        return False  # told when they are read


def _bytes(path: Path) -> int:
    """Of a file, or of those in a folder."""
    return sum(one.stat().st_size for one in (path.iterdir() if path.is_dir() else [path]))
