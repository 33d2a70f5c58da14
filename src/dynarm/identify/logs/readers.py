"""Named columns and arrays out of a log file, whatever its format. One record a format: another one is added here.

Readers are imported when a file of theirs is read, so that the command line can name the formats without NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...border.files import is_folder, named
from ...errors import DynarmError, FileError, FormatError, InputError

if TYPE_CHECKING:
    from .formats.table import Table


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of log: its name, what it is called where files are asked for, how it is told, what reads it."""

    name: str
    asked: str
    endings: tuple[str, ...]  # of file names, in small letters
    read: Callable[[Path], Table]
    folder: bool = False  # whether a folder may be one
    read_topic: Callable[[Path, str], Table] | None = None  # one of several recordings inside

    def is_of(self, path: Path, folder: bool) -> bool:
        """Whether a file or folder of this name is told to be of this format."""
        return self.folder if folder else path.suffix.lower() in self.endings


def read_table(path: Path, topic: str | None = None) -> Table:
    """Every column or array of the file by name. topic: which of a bag's."""
    folder = is_folder(path)
    kind = next((one for one in FORMATS if one.is_of(path, folder)), None)
    if kind is None:
        raise FormatError(
            f"{named(path)}: dynarm reads no '{named(path.suffix)}' logs; give {_either([f.asked for f in FORMATS])}"
        )
    if topic is not None and kind.read_topic is None:
        raise InputError(
            f"topic is '{named(topic)}'; {named(path)} is {kind.name}, only bags have topics: leave it out"
        )
    try:
        table = kind.read_topic(path, topic) if topic and kind.read_topic else kind.read(path)
    except DynarmError:
        raise
    except OSError as error:
        raise FileError(f"{named(path)}: cannot be read ({error.strerror or error})") from None
    except MemoryError:
        raise FileError(
            f"{named(path)}: takes more memory than there is; save it in parts, or as Parquet"
        ) from None
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        told = "bag folder" if folder else path.suffix.lower()
        raise FormatError(
            f"{named(path)}: damaged or not a {told} file ({named(reason)}); export the log again"
        ) from None
    if not table:
        raise FormatError(f"{named(path)}: holds no columns; export the log again")
    return table


def known_formats() -> str:
    """The names of the formats, as a sentence lists them."""
    return _either([one.name for one in FORMATS])


def _either(words: Sequence[str]) -> str:
    return " or ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


# ---- the formats


def _csv(path: Path) -> Table:
    from .formats.csv_text import read_csv

    return read_csv(path)


def _parquet(path: Path) -> Table:
    from .formats.apart import read_parquet

    return read_parquet(path)


def _npz(path: Path) -> Table:
    from .formats.npz import read_npz

    return read_npz(path)


def _mat(path: Path) -> Table:
    from .formats.mat import read_mat

    return read_mat(path)


def _bag(path: Path, topic: str | None = None) -> Table:
    """A .db3 file, alone or the only one in its folder, by a reader of our own; all else by the rosbags package."""
    from .formats.apart import read_bag
    from .formats.bag_base import read_db3

    if not is_folder(path):
        own = path.suffix.lower() == ".db3"
        return read_db3(path, topic) if own else read_bag(path, topic)
    inside = sorted(path.glob("*.db3"))
    if len(inside) == 1:
        return read_db3(inside[0], topic)
    if not inside and not (path / "metadata.yaml").is_file():
        raise FileError(
            f"{named(path)} is a folder and no ROS 2 bag (no metadata.yaml, no .db3); give a log's file"
        )
    return read_bag(path, topic)


FORMATS = [
    Format("CSV", ".csv", (".csv", ".txt", ".tsv"), _csv),
    Format("Parquet", ".parquet", (".parquet", ".pq"), _parquet),
    Format("npz", ".npz", (".npz",), _npz),
    Format("MAT", ".mat (v4 to v7)", (".mat",), _mat),
    Format(
        "a ROS 2 bag",
        "a ROS 2 bag (.db3, .mcap or its folder)",
        (".db3", ".mcap"),
        _bag,
        folder=True,
        read_topic=_bag,
    ),
]
