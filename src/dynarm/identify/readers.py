"""Named columns and arrays out of a log file, whatever its format: CSV, Parquet, npz, MAT v5, ROS 2 bags."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..border.words import extra
from ..errors import DynarmError, FileError, FormatError

Table = dict[str, np.ndarray]  # name -> (N,) column or (N, k) array; text columns stay as objects


def read_table(path: Path) -> Table:
    """Every column or array of the file by name."""
    if not path.exists():
        raise FileError(f"{path}: no such file")
    suffix = path.suffix.lower()
    if path.is_dir():
        suffix = ".bag folder"
    reader = _READERS.get(suffix)
    if reader is None:
        raise FormatError(
            f"{path}: dynarm reads no '{path.suffix}' logs; give .csv, .parquet, .npz, .mat (v5) or a ROS 2 bag "
            "(.db3, .mcap or its folder)"
        )
    try:
        table = reader(path)
    except DynarmError:
        raise
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from None
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise FormatError(
            f"{path}: damaged or not a {suffix} file ({reason}); export the log again"
        ) from None
    if not table:
        raise FormatError(f"{path}: holds no columns; export the log again")
    return table


def listed(table: Table) -> str:
    """The names of a table, not too many."""
    names = list(table)
    return ", ".join(names[:30]) + (f" and {len(names) - 30} more" if len(names) > 30 else "")


def _read_csv(path: Path) -> Table:
    import pandas as pd

    with path.open(encoding="utf-8", errors="replace") as file:
        header = file.readline()
    if not header.strip():
        raise FormatError(f"{path}: the file is empty; export the log again")
    separator = next((c for c in (",", ";", "\t") if c in header), r"\s+")
    try:
        frame = pd.read_csv(path, sep=separator, skipinitialspace=True, comment="#")
    except pd.errors.ParserError as error:
        reason = str(error).replace("Error tokenizing data. C error: ", "").strip()
        raise FormatError(f"{path}: {reason}; mend or remove that row") from None
    frame.columns = [str(c).strip() for c in frame.columns]
    return {name: frame[name].to_numpy() for name in frame.columns}


def _read_parquet(path: Path) -> Table:
    import pandas as pd

    frame = pd.read_parquet(path)
    table = {}
    for name in map(str, frame.columns):
        column = frame[name].to_numpy()
        if column.dtype == object and len(column) and isinstance(column[0], (list, np.ndarray)):
            column = np.stack([np.asarray(row, float) for row in column])
        table[name] = column
    return table


def _read_npz(path: Path) -> Table:
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _read_mat(path: Path) -> Table:
    import scipy.io

    try:
        content = scipy.io.loadmat(path)
    except NotImplementedError:
        raise FormatError(
            f"{path}: a MATLAB v7.3 file; save it with save(..., '-v7') and try again"
        ) from None
    return {
        name: _columns(value)
        for name, value in content.items()
        if not name.startswith("__") and isinstance(value, np.ndarray) and value.dtype.kind in "fiu"
    }


def _columns(value: np.ndarray) -> np.ndarray:
    """MATLAB's matrices as (N,) or (N, k)."""
    if value.ndim == 2 and 1 in value.shape:
        return value.ravel().astype(float)
    return value.astype(float)


# ---- ROS 2 bags: sensor_msgs/JointState in CDR


def _read_db3(path: Path) -> Table:
    import sqlite3

    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as base:
        topics = base.execute("select id, name, type from topics").fetchall()
        wanted = [(i, name) for i, name, kind in topics if kind.endswith("JointState")]
        if not wanted:
            listed = ", ".join(f"{name} ({kind})" for _, name, kind in topics)
            raise FormatError(f"{path}: no JointState topic; the bag holds {listed or 'no topic'}")
        chosen = next((w for w in wanted if w[1] == "/joint_states"), wanted[0])
        rows = base.execute(
            "select timestamp, data from messages where topic_id = ? order by timestamp, id",
            (chosen[0],),
        ).fetchall()
    return _joint_states(path, [(stamp, _joint_state(data)) for stamp, data in rows])


def _read_bag(path: Path) -> Table:
    """A bag folder or an .mcap file: the folder's .db3 files directly, all else by the rosbags package."""
    if path.is_dir():
        inside = sorted(path.glob("*.db3"))
        if len(inside) == 1:
            return _read_db3(inside[0])
    try:
        from rosbags.highlevel import AnyReader
    except ImportError:
        raise FormatError(
            f"{path}: this kind of ROS 2 bag needs the package rosbags; {extra('bags')}, or convert the bag to "
            ".db3"
        ) from None
    found = []
    with AnyReader([path]) as reader:
        wanted = [c for c in reader.connections if c.msgtype.endswith("JointState")]
        wanted = [c for c in wanted if c.topic == "/joint_states"] or wanted[:1]
        for _, stamp, data in reader.messages(wanted):
            found.append((stamp, _joint_state(bytes(data))))
    return _joint_states(path, found)


def _joint_state(data: bytes) -> tuple[float, list[str], list[np.ndarray]]:
    """Stamp [s], joint names and [position, velocity, effort] of one CDR-encoded JointState."""
    order = "<" if data[1] & 1 else ">"
    at = 4

    def number(kind: str, size: int) -> Any:
        nonlocal at
        at += -(at - 4) % size
        (value,) = struct.unpack_from(order + kind, data, at)
        at += size
        return value

    def text() -> str:
        nonlocal at
        size = number("I", 4)
        value = data[at : at + size - 1].decode()
        at += size
        return value

    def doubles() -> np.ndarray:
        nonlocal at
        size = number("I", 4)
        if size:
            at += -(at - 4) % 8
        value = np.frombuffer(data, dtype=f"{order}f8", count=size, offset=at).astype(float)
        at += 8 * size
        return value

    stamp = number("i", 4) + 1e-9 * number("I", 4)
    text()  # frame_id
    names = [text() for _ in range(number("I", 4))]
    return stamp, names, [doubles() for _ in range(3)]


def _joint_states(path: Path, messages: list[tuple[int, Any]]) -> Table:
    """Columns `<joint>_position`, `<joint>_velocity`, `<joint>_effort` and `time`; joints come in any order."""
    if not messages:
        raise FormatError(f"{path}: the joint state topic holds no messages")
    names = messages[0][1][1]
    stamped = all(message[0] > 0 for _, message in messages)
    time = np.array([message[0] if stamped else stamp * 1e-9 for stamp, message in messages])
    table: Table = {"time": time}
    for field, word in enumerate(("position", "velocity", "effort")):
        values = np.full((len(messages), len(names)), np.nan)
        for row, (_, (_, order, fields)) in enumerate(messages):
            if len(fields[field]) != len(order):
                break
            if order == names:
                values[row] = fields[field]
            else:
                found = dict(zip(order, fields[field], strict=True))
                values[row] = [found.get(name, np.nan) for name in names]
        else:
            for k, name in enumerate(names):
                table[f"{name}_{word}"] = values[:, k]
    return table


_READERS: Mapping[str, Callable[[Path], Table]] = {
    ".csv": _read_csv,
    ".txt": _read_csv,
    ".tsv": _read_csv,
    ".parquet": _read_parquet,
    ".pq": _read_parquet,
    ".npz": _read_npz,
    ".mat": _read_mat,
    ".db3": _read_db3,
    ".mcap": _read_bag,
    ".bag folder": _read_bag,
}
