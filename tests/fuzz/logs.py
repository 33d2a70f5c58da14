"""One small sound log in every format."""

from __future__ import annotations

import io
import sqlite3
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.io

import dynarm
from dynarm import Log

N = 40
T = np.arange(N) * 0.01
Q = np.sin(np.outer(T, [3, 5]))
TAU = np.cos(np.outer(T, [2, 7]))
CHANNELS = {"time": "t", "q": "q{}", "tau": "tau{}"}


def frame() -> pd.DataFrame:
    names = ["t", "q1", "q2", "tau1", "tau2"]
    return pd.DataFrame(np.column_stack([T, Q, TAU]), columns=names)


def csv() -> bytes:
    return frame().to_csv(index=False).encode()


def npz(save: Callable[..., None]) -> bytes:
    file = io.BytesIO()
    save(file, t=T, q=Q, tau=TAU)
    return file.getvalue()


def mats() -> list[bytes]:
    made = []
    for options in ({}, {"do_compression": True}, {"format": "4"}):
        file = io.BytesIO()
        scipy.io.savemat(file, {"t": T, "q": Q, "tau": TAU}, **options)
        made.append(file.getvalue())
    return made


def parquet() -> bytes:
    file = io.BytesIO()
    frame().to_parquet(file)
    return file.getvalue()


def message(k: int) -> bytes:
    """A JointState of two joints, as CDR."""
    out = bytearray(struct.pack("<iI", k + 1, 5_000_000) + struct.pack("<I", 1) + b"\0")

    def pad(size: int) -> None:
        out.extend(b"\0" * (-len(out) % size))

    pad(4)
    out += struct.pack("<I", 2)
    for name in (b"a\0", b"b\0"):
        pad(4)
        out += struct.pack("<I", 2) + name
    for values in (Q[k], Q[k], TAU[k]):
        pad(4)
        out += struct.pack("<I", 2)
        pad(8)
        out += struct.pack("<2d", *values)
    return b"\0\1\0\0" + bytes(out)


def base() -> bytes:
    """A .db3 bag."""
    db = sqlite3.connect(":memory:")
    db.execute("create table topics(id, name, type)")
    db.execute("create table messages(id, topic_id, timestamp, data)")
    db.execute("insert into topics values (1, '/joint_states', 'sensor_msgs/msg/JointState')")
    rows = [(k, k * 10**7, message(k)) for k in range(N)]
    db.executemany("insert into messages values (?, 1, ?, ?)", rows)
    db.commit()
    return bytes(db.serialize())


def mcap() -> bytes:
    """A bag of the rosbags package."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "bag"
        with Writer(place, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            told = writer.add_connection(
                "/joint_states", "sensor_msgs/msg/JointState", typestore=store
            )
            for k in range(N):
                writer.write(told, k * 10**7, message(k))
        return next(place.glob("*.mcap")).read_bytes()


def declarations() -> list[bytes]:
    """Channels of the CSV log, plain and at length."""
    plain = 'time = "t"\nq = "q{}"\ntau = "tau{}"\n'
    long = """joint_names = ["shoulder", "elbow"]
time = "t"

[q]
columns = ["q1", "q2"]
unit = "rad"
scale = [[1.0, 0.0], [0.5, -1.0]]
offset = [0.1, 0]

[tau]
columns = "tau{}"
unit = "Nm"
file = "log.csv"
"""
    return [plain.encode(), long.encode()]


def simulated(arm: dynarm.Arm) -> Log:
    """A log of the arm on a motion that shakes it."""
    t = np.arange(400) * 0.005
    phase = np.outer(t, [5.0, 8.0])
    q, qd, qdd = np.sin(phase), np.cos(phase) * [5, 8], -np.sin(phase) * [25, 64]
    tau = dynarm.compile(arm).inverse_dynamics(q, qd, qdd)
    return Log(t=t, q=q, tau=tau, qd=qd, qdd=qdd)
