"""The kinds of files that are read: sound files to begin with, how to damage one, and what is done with it.

Another reader is one row of KINDS.
"""

from __future__ import annotations

import functools
import gzip
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from random import Random

import numpy as np

import dynarm
from dynarm import DynarmError, Log, mobile
from dynarm.mobile.files import save as save_mobile
from dynarm.robot.formats import mjcf_child, xacro, xacro_child
from dynarm.robot.formats.mjcf_text import write_mjcf
from fuzz import logs
from fuzz.mutations import (
    damaged_bytes,
    damaged_csv,
    damaged_mat,
    damaged_toml,
    damaged_xacro,
    damaged_xml,
    damaged_zip,
)
from oracles.example_robots import example_robot
from oracles.forked import patience, readers_forked
from oracles.mjcf_cases import CASES
from oracles.mjcf_features import FEATURES, MISSING
from oracles.xacro_cases import XACROS
from strategies import random_urdf

IMPORTED = (mjcf_child, xacro_child)  # here, so that forks have what they need
Damage = Callable[[bytes, Random], bytes]
NOTHING: Mapping[str, object] = {}
LARGE = 60_000  # bytes of a seed: larger ones only take longer


@dataclass(frozen=True)
class Kind:
    """A kind of file: its ending, sound ones, how they are damaged, what reads them."""

    ending: str
    seeds: Callable[[], list[bytes]]
    damage: Damage
    use: Callable[[Path, Random], None]
    apart: bool = False  # whether another process reads it
    often: int = 200  # files in every run of the tests

    def case(self, seed: int, number: int) -> tuple[bytes, Random]:
        """The file of a number, and the chance that goes on from there."""
        rng = Random(f"{self.ending}:{seed}:{number}")
        return self.damage(rng.choice(sound(self.seeds)), rng), rng


@functools.cache
def sound(seeds: Callable[[], list[bytes]]) -> list[bytes]:
    """The sound files, made once."""
    return seeds()


class Broken(AssertionError):
    """What was read and saved is not what was read."""


# ---- robots


def read_robot(path: Path, rng: Random, more: Mapping[str, object] = NOTHING) -> None:
    """Load, look at, save in every format, load again."""
    parts: dict[str, object] = {"allow_massless": rng.random() < 0.5, "snap": rng.random() < 0.8}
    parts |= more
    if path.suffix == ".toml":
        parts = {}
    elif rng.random() < 0.2:
        parts["floating"] = True
    arm = dynarm.load(path, **parts)
    arm.check()
    str(arm)
    if not np.isfinite(arm.parameters).all():
        raise Broken("parameters are not finite")
    for ending in (".toml", ".urdf"):
        again = path.with_name(f"again{ending}")
        try:
            arm.save(again)
        except DynarmError:
            continue  # what a URDF cannot hold
        more = {"allow_massless": True, "floating": arm.floating is not None, "snap": False}
        _compared(arm, again, more if ending == ".urdf" else {})
        again.unlink()


def _compared(arm: dynarm.Arm, path: Path, parts: dict[str, object]) -> None:
    try:
        twin = dynarm.load(path, **parts)
    except DynarmError as error:
        raise Broken(f"what was saved as {path.suffix} is refused: {error}") from error
    if path.suffix == ".toml" and twin != arm:
        raise Broken("what was saved as .toml is another robot")
    if twin.joint_names != arm.joint_names:
        raise Broken(f"joints {arm.joint_names} came back as {twin.joint_names}")


def urdfs() -> list[bytes]:
    """Small files of real robots, and chance ones with branches."""
    names = (
        "panda.urdf",
        "so101.urdf",
        "xarm7.urdf",
        "double_pendulum.urdf",
        "z1.urdf",
        "solo12.urdf",
    )
    real = [example_robot(name).read_bytes() for name in (*names, "ur5_gripper.urdf")]
    rng = np.random.default_rng(1)
    made = [random_urdf(rng, n, branches=b).encode() for n in (1, 3, 5) for b in (0.0, 1.0)]
    return [text for text in real if len(text) < LARGE] + made * 2


def catalogue_files(room: str) -> list[bytes]:
    folder = resources.files("dynarm") / room / "catalogue"
    texts = [f.read_bytes() for f in folder.iterdir() if f.name.endswith("toml")]
    return [text for text in texts if len(text) < LARGE]


def our_mjcfs() -> list[bytes]:
    """What we write ourselves of arms and whole robots."""
    return [
        write_mjcf(dynarm.load(name)).encode() for name in ("two_link", "panda", "so101", "go2")
    ]


def mjcfs() -> list[bytes]:
    """These, and a model for every feature."""
    texts = [*CASES.values(), *(feature.text for feature in FEATURES.values()), *MISSING.values()]
    return [*our_mjcfs(), *(f"<mujoco>{text}</mujoco>".encode() for text in texts)]


def read_mjcf(path: Path, rng: Random) -> None:
    """Load and write back, MuJoCo in forks of this process."""
    with readers_forked():
        arm = dynarm.load(path, mimic=rng.random() < 0.8)
        arm.check()
        str(arm)
        again = path.with_name("again.xml")
        arm.update_mjcf(path, again)
        if again.read_bytes() != path.read_bytes():
            raise Broken("what did not change was written otherwise")
        again.unlink()


def xacros() -> list[bytes]:
    """Macros of every kind, with arguments, properties, loops and conditions."""
    return [text.encode() for text in XACROS]


def read_xacro(path: Path, rng: Random) -> None:
    """Expand in a fork and load, with arguments that the file may know."""
    arguments = {"prefix": rng.choice(["", "left_"]), "n": rng.choice([1, 2.5, "3"])}
    with readers_forked(), patience(xacro, 3.0):
        read_robot(path, rng, rng.choice([{}, {"xacro": arguments}]))


def read_mobile(path: Path, rng: Random) -> None:
    robot = mobile.load(path)
    again = path.with_name("again.toml")
    save_mobile(robot, again)
    try:
        mobile.load(again)
    except DynarmError as error:
        raise Broken(f"what was saved is refused: {error}") from error
    again.unlink()


# ---- logs, declarations, fits


def read_log(path: Path, rng: Random) -> None:
    log = Log.read(path, rng.choice([None, None, logs.CHANNELS]))
    finite = np.isfinite(log.q).all() and np.isfinite(log.tau).all()
    if not finite or not (np.diff(log.t) > 0).all():
        raise Broken("a log with numbers that are none, or times that go back")
    str(log)


def read_apart(path: Path, rng: Random) -> None:
    """A log whose reader is another process: a fork of this one."""
    with readers_forked():
        read_log(path, rng)


def read_channels(path: Path, rng: Random) -> None:
    """A declaration beside a sound log."""
    log = path.with_name("log.csv")
    log.write_bytes(logs.csv())
    try:
        Log.read(log, path)
    finally:
        log.unlink()


def read_fit(path: Path, rng: Random) -> None:
    fit = dynarm.load_fit(path)
    str(fit)
    again = path.with_name("again.toml")
    fit.save(again)
    again.unlink()


@functools.cache
def fits() -> list[bytes]:
    """A fit of a small robot."""
    arm = dynarm.load("two_link")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.toml"
        dynarm.Identifier(arm).fit(logs.simulated(arm)).save(path)
        return [path.read_bytes()]


def damaged_base(data: bytes, rng: Random) -> bytes:
    """Bytes of a .db3 file, or its cells by SQL."""
    if rng.random() < 0.6:
        return damaged_bytes(data, rng)
    base = sqlite3.connect(":memory:")
    base.deserialize(data)
    table = rng.choice(["topics", "messages"])
    columns = {
        "topics": ["id", "name", "type"],
        "messages": ["id", "topic_id", "timestamp", "data"],
    }
    column = rng.choice(columns[table])
    cells = [None, 0, -1, 2**62, 1.5, float("inf"), "", "x" * 3000, b"", b"\0\1\0\0", "\u202e"]
    cell = rng.choice(cells)
    if column == "data" and rng.random() < 0.7:
        rows = base.execute("select data from messages").fetchall()
        cell = damaged_bytes(rng.choice(rows)[0], rng)
    where = "" if rng.random() < 0.3 else f" where rowid = {rng.randrange(1, 30)}"
    base.execute(f"update {table} set {column} = ?{where}", (cell,))
    base.commit()
    return bytes(base.serialize())


def packed_csvs() -> list[bytes]:
    return [gzip.compress(logs.csv(), mtime=0)]


def damaged_packed_csv(data: bytes, rng: Random) -> bytes:
    """A damaged file that is packed, or a packed one that is damaged."""
    if rng.random() < 0.3:
        return damaged_bytes(data, rng)
    return gzip.compress(damaged_csv(gzip.decompress(data), rng), mtime=0)


KINDS: dict[str, Kind] = {
    "urdf": Kind(".urdf", urdfs, damaged_xml, read_robot),
    "toml": Kind(".toml", lambda: catalogue_files("robot"), damaged_toml, read_robot),
    "mjcf": Kind(".xml", mjcfs, damaged_xml, read_mjcf, apart=True),
    "mjcf_apart": Kind(".xml", our_mjcfs, damaged_xml, read_robot, apart=True, often=6),
    "xacro": Kind(".xacro", xacros, damaged_xacro, read_xacro, apart=True),
    "mobile": Kind(".toml", lambda: catalogue_files("mobile"), damaged_toml, read_mobile),
    "channels": Kind(".toml", logs.declarations, damaged_toml, read_channels),
    "fit": Kind(".toml", fits, damaged_toml, read_fit),
    "csv": Kind(".csv", lambda: [logs.csv()], damaged_csv, read_log),
    "csv_packed": Kind(".csv.gz", packed_csvs, damaged_packed_csv, read_log),
    "npz": Kind(
        ".npz", lambda: [logs.npz(np.savez), logs.npz(np.savez_compressed)], damaged_zip, read_log
    ),
    "mat": Kind(".mat", logs.mats, damaged_mat, read_log),
    "db3": Kind(".db3", lambda: [logs.base()], damaged_base, read_log),
    "parquet": Kind(".parquet", lambda: [logs.parquet()], damaged_bytes, read_apart, apart=True),
    "mcap": Kind(".mcap", lambda: [logs.mcap()], damaged_bytes, read_apart, apart=True),
}
