"""Named columns and arrays out of a log file, whatever its format. One record a format: another one is added here.

Readers are imported when a file of theirs is read, so that the command line can name the formats without NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...border.files import is_folder, named, size_of
from ...errors import DynarmError, FileError, FormatError, InputError

if TYPE_CHECKING:
    from .formats.table import Choose, InParts, Table

LARGE = 8 << 20  # bytes of numbers, beyond which a file is read some of its rows at a time


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of log: its name, what it is called where files are asked for, how it is told, what reads it."""

    name: str
    asked: str
    endings: tuple[str, ...]  # of file names, in small letters
    read: Callable[[Path], Table]
    folder: bool = False  # whether a folder may be one
    read_topic: Callable[[Path, str], Table] | None = None  # one of several recordings inside
    in_parts: Callable[[], InParts] | None = None  # how files are read some of their rows at a time
    weight: Callable[[Path], int] = size_of  # bytes of the numbers of a file that is read whole

    def is_of(self, path: Path, folder: bool) -> bool:
        """Whether a file or folder of this name is told to be of this format."""
        if folder:
            return self.folder
        last, both = path.suffix.lower(), "".join(path.suffixes[-2:]).lower()
        return last in self.endings or both in self.endings


def read_table(path: Path, topic: str | None = None) -> Table:
    """Every column or array of the file by name. topic: which of a bag's."""
    kind = _kind(path, topic)
    with _explained(path):
        table = kind.read_topic(path, topic) if topic and kind.read_topic else kind.read(path)
    if not table:
        raise FormatError(f"{named(path)}: holds no columns; export the log again")
    return table


def parted(path: Path) -> InParts | None:
    """How a file is read some of its rows at a time; None where it is small, or of a format that is read whole."""
    kind = _kind(path)
    if kind.in_parts is None:
        return None
    how = kind.in_parts()
    with _explained(path):
        return how if how.always or how.weight(path) > LARGE else None


def weight(path: Path) -> int:
    """Bytes that the numbers of a file take at least."""
    kind = _kind(path)
    with _explained(path):
        return kind.weight(path) if kind.in_parts is None else kind.in_parts().weight(path)


def row_groups(path: Path) -> list[int]:
    """How many rows the row groups of a file have; none where it has no groups."""
    how = parted(path)
    if how is None or how.groups is None:
        return []
    with _explained(path):
        return how.groups(path)


def table_parts(
    path: Path,
    how: InParts,
    rows: int,
    first: int,
    last: int,
    choose: Choose,
    topic: str | None = None,
) -> Generator[Table, None, None]:
    """The columns of a file from row `first` to `last` (0: all), `rows` rows at a time."""
    _kind(path, topic)
    with _explained(path):
        yield from how.parts(path, rows, first, last, choose, topic)


def _kind(path: Path, topic: str | None = None) -> Format:
    """The format of a file or folder."""
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
    return kind


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """What a reader says about a file as one of our errors."""
    try:
        yield
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
        told = "bag folder" if path.is_dir() else path.suffix.lower()
        raise FormatError(
            f"{named(path)}: damaged or not a {told} file ({named(reason)}); export the log again"
        ) from None


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


def _mat_weight(path: Path) -> int:
    from .formats.mat import weight

    return weight(path)


def _bag(path: Path, topic: str | None = None) -> Table:
    from .formats.bags import read_bag

    return read_bag(path, topic)


# ---- and those that are read in parts


def _csv_parts() -> InParts:
    from .formats.csv_parts import CSV

    return CSV


def _parquet_parts() -> InParts:
    from .formats.apart import PARQUET

    return PARQUET


def _npz_parts() -> InParts:
    from .formats.npz import NPZ

    return NPZ


def _bag_parts() -> InParts:
    from .formats.bags import BAGS

    return BAGS


_CSV = (".csv", ".txt", ".tsv")
FORMATS = [
    Format("CSV", ".csv", (*_CSV, *(f"{one}.gz" for one in _CSV)), _csv, in_parts=_csv_parts),
    Format("Parquet", ".parquet", (".parquet", ".pq"), _parquet, in_parts=_parquet_parts),
    Format("npz", ".npz", (".npz",), _npz, in_parts=_npz_parts),
    Format("MAT", ".mat (v4 to v7)", (".mat",), _mat, weight=_mat_weight),
    Format(
        "a ROS 2 bag",
        "a ROS 2 bag (.db3, .mcap or its folder)",
        (".db3", ".mcap"),
        _bag,
        folder=True,
        read_topic=_bag,
        in_parts=_bag_parts,
    ),
]
