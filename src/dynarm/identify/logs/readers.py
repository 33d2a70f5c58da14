"""Named columns and arrays out of a log file, whatever its format: CSV, Parquet, npz, MAT v4 to v7, ROS 2 bags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ...border.files import is_folder, named
from ...errors import DynarmError, FileError, FormatError
from .formats.apart import read_bag, read_parquet
from .formats.bag_base import read_db3
from .formats.csv_text import read_csv
from .formats.mat import read_mat
from .formats.npz import read_npz
from .formats.table import Table


def read_table(path: Path) -> Table:
    """Every column or array of the file by name."""
    folder = is_folder(path)
    suffix = "bag folder" if folder else path.suffix.lower()
    reader = _read_folder if folder else _READERS.get(suffix)
    if reader is None:
        raise FormatError(
            f"{named(path)}: dynarm reads no '{named(path.suffix)}' logs; give .csv, .parquet, .npz, .mat (v4 to v7) "
            "or a ROS 2 bag (.db3, .mcap or its folder)"
        )
    try:
        table = reader(path)
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
        raise FormatError(
            f"{named(path)}: damaged or not a {suffix} file ({named(reason)}); export the log again"
        ) from None
    if not table:
        raise FormatError(f"{named(path)}: holds no columns; export the log again")
    return table


def _read_folder(path: Path) -> Table:
    """A bag folder: its .db3 file if there is one, all else by the rosbags package."""
    inside = sorted(path.glob("*.db3"))
    if len(inside) == 1:
        return read_db3(inside[0])
    if not inside and not (path / "metadata.yaml").is_file():
        raise FileError(
            f"{named(path)} is a folder and no ROS 2 bag (no metadata.yaml, no .db3); give a log's file"
        )
    return read_bag(path)


_READERS: Mapping[str, Callable[[Path], Table]] = {
    ".csv": read_csv,
    ".txt": read_csv,
    ".tsv": read_csv,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".npz": read_npz,
    ".mat": read_mat,
    ".db3": read_db3,
    ".mcap": read_bag,
}
