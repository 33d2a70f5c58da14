"""Files and declarations of strangers: damaged, endless, enormous. Each is read rightly or refused in one line."""

from __future__ import annotations

import io
import os
import random
import sqlite3
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io

from dynarm import DynarmError, Log
from dynarm.border.apart import end_kept
from dynarm.errors import FileError, FileMissing
from dynarm.identify.logs.formats import apart
from dynarm.identify.logs.formats.mat import read_mat
from fuzz.mutations import damaged_bytes

N = 40
T = np.arange(N) * 0.01
Q = np.sin(np.outer(T, [3, 5]))
TAU = np.cos(np.outer(T, [2, 7]))


def message(k):
    out = bytearray(struct.pack("<iI", k + 1, 5_000_000) + struct.pack("<I", 1) + b"\0")

    def pad(size):
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


def base(path, *statements, messages=0):
    with sqlite3.connect(path) as db:
        for statement in statements or (
            "create table topics(id, name, type)",
            "create table messages(id, topic_id, timestamp, data)",
            "insert into topics values (1, '/joint_states', 'sensor_msgs/msg/JointState')",
        ):
            db.execute(statement)
        rows = [(k, k * 10**7, message(k)) for k in range(messages)]
        if rows:
            db.executemany("insert into messages values (?, 1, ?, ?)", rows)
    db.close()
    return path


def mat(**options):
    file = io.BytesIO()
    scipy.io.savemat(file, {"t": T, "q": Q, "tau": TAU}, **options)
    return file.getvalue()


def npz(save=np.savez, **arrays):
    file = io.BytesIO()
    save(file, **(arrays or {"t": T, "q": Q, "tau": TAU}))
    return file.getvalue()


def frame():
    names = ["t", "q1", "q2", "tau1", "tau2"]
    return pd.DataFrame(np.column_stack([T, Q, TAU]), columns=names)


def good_files(folder):
    """A sound file of each kind that this process reads itself."""
    return {
        "a.csv": frame().to_csv(index=False).encode(),
        "a.npz": npz(),
        "b.npz": npz(np.savez_compressed),
        "a.mat": mat(),
        "b.mat": mat(do_compression=True),
        "c.mat": mat(format="4"),
        "a.db3": base(folder / "good.db3", messages=N).read_bytes(),
    }


def refused_or_read(path, channels=None):
    """True where the log was read; a refusal must be ours, of one printable line."""
    try:
        log = Log.read(path, channels)
    except DynarmError as error:
        assert len(str(error)) > 15
        assert str(error).isprintable(), str(error)
        return False
    assert np.isfinite(log.q).all() and np.isfinite(log.tau).all() and (np.diff(log.t) > 0).all()
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["a.csv", "a.npz", "b.npz", "a.mat", "b.mat", "c.mat", "a.db3"])
def test_damaged_files_are_read_or_refused(tmp_path, name):
    data = good_files(tmp_path)[name]
    (tmp_path / name).write_bytes(data)
    assert refused_or_read(tmp_path / name)
    count = int(os.environ.get("DYNARM_FUZZ", 100))
    rng = random.Random(f"{name}{count}")
    verdicts = []
    for _ in range(count):
        (tmp_path / name).write_bytes(damaged_bytes(data, rng) or b"x")
        verdicts.append(refused_or_read(tmp_path / name))
    assert not all(verdicts)


@pytest.mark.parametrize("kind", ["parquet", "mcap"])
def test_damaged_files_are_read_apart(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    rng = random.Random(kind)
    if kind == "parquet":
        frame().to_parquet(path)
        assert refused_or_read(path)
        data = path.read_bytes()
    else:
        pytest.importorskip("rosbags", reason="extra [bags] is not installed")
        data = b"\x89MCAP0\r\n" + rng.randbytes(500)
    for _ in range(3):
        path.write_bytes(damaged_bytes(data, rng) or b"x")
        refused_or_read(path)


# ---- a crash stays where it happens


CHILDREN = {
    "crash": ("import os; os.kill(os.getpid(), 11)", "broke off .code -11"),
    "half a line": ("print('{\"columns\": ', end='')", "broke off"),
    "half a column": (
        """print('{"columns": [{"name": "t", "dtype": "<f8", "shape": [9]}]}'); print('x')""",
        "broke off",
    ),
    "too much": (
        """print('{"columns": [{"name": "t", "dtype": "<f8", "shape": [900000000]}]}')""",
        "unpacks to",
    ),
    "endless": ("import time; time.sleep(100)", "too long"),
}


@pytest.mark.parametrize("name", CHILDREN)
def test_what_happens_to_the_reader_does_not_happen_to_us(tmp_path, monkeypatch, name):
    program, words = CHILDREN[name]
    end_kept()
    real = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda _, **kw: real([sys.executable, "-c", program], **kw)
    )
    monkeypatch.setattr(apart, "_PATIENCE", 2.0)
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(DynarmError, match=f"a.parquet: .*{words}"):
        Log.read(path)


def test_the_reader_does_not_import_from_where_one_stands(tmp_path, monkeypatch):
    for name in ("pyarrow.py", "numpy.py", "json.py"):
        (tmp_path / name).write_text("open('touched', 'w')\nraise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    frame().to_parquet("log.parquet")
    end_kept()
    assert len(Log.read("log.parquet")) == N
    assert not Path("touched").exists()


def test_a_program_without_a_python_says_what_to_do(tmp_path, monkeypatch):
    frame().to_parquet(tmp_path / "log.parquet")
    end_kept()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(DynarmError, match=r"Log\.from_frame"):
        Log.read(tmp_path / "log.parquet")


# ---- MAT files, against SciPy's reader


VARIABLES = {
    **{kind: np.arange(12).astype(kind).reshape(6, 2) for kind in ("f8", "f4", "i1", "u2", "i8")},
    "row": np.arange(5.0)[None],
    "column": np.arange(5.0)[:, None],
    "number": np.float64(3.25),
    "three axes": np.arange(24.0).reshape(2, 3, 4),
    "small integers as doubles": np.arange(6.0).reshape(3, 2),
    "nothing": np.empty((0, 0)),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", VARIABLES)
def test_mat_variables_are_what_scipy_reads(tmp_path, name, packed):
    path = tmp_path / "a.mat"
    value = VARIABLES[name]
    scipy.io.savemat(path, {"x": value, "a_long_name": value, "s": {"k": 1}}, do_compression=packed)
    table, want = read_mat(path), scipy.io.loadmat(path)
    flat = want["x"].ndim == 2 and 1 in want["x"].shape
    for key in ("x", "a_long_name"):
        np.testing.assert_array_equal(table[key], want[key].ravel() if flat else want[key])
    assert "struct" in str(table["s"][0])


@pytest.mark.parametrize("kind", ["f8", "f4", "i4", "i2", "u1"])
def test_mat_files_of_version_4(tmp_path, kind):
    value = np.arange(12).astype(kind).reshape(6, 2)
    scipy.io.savemat(tmp_path / "a.mat", {"x": value, "z": value + 1j}, format="4")
    table = read_mat(tmp_path / "a.mat")
    np.testing.assert_array_equal(table["x"], value)
    np.testing.assert_array_equal(table["z"], value + 1j)


def test_mat_files_of_big_machines(tmp_path):
    """A file as a big-endian machine writes it, by hand."""
    tag = lambda kind, data: struct.pack(">II", kind, len(data)) + data + b"\0" * (-len(data) % 8)
    body = tag(6, struct.pack(">II", 6, 0)) + tag(5, struct.pack(">ii", 3, 1))
    body += struct.pack(">HH4s", 1, 1, b"x") + tag(9, struct.pack(">3d", 1.5, -2, 3))
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack(">H", 0x100) + b"MI"
    (tmp_path / "a.mat").write_bytes(head + tag(14, body))
    np.testing.assert_array_equal(read_mat(tmp_path / "a.mat")["x"], [1.5, -2, 3])


# ---- bombs


def packed_zeros(size, squeeze):
    """`size` zero bytes by a compressor, without ever holding them."""
    piece = bytes(1 << 20)
    return b"".join(squeeze.compress(piece) for _ in range(size >> 20)) + squeeze.flush()


def npz_bomb(path):
    header = (
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (37748736, 1), }".ljust(117) + b"\n"
    )
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("q.npy", "w") as file,
    ):
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", 118) + header)
        for _ in range(288):
            file.write(bytes(1 << 20))


def mat_bomb(path):
    size = 288 << 20
    body = struct.pack("<IIII", 6, 8, 6, 0) + struct.pack("<IIii", 5, 8, size // 8, 1)
    body += struct.pack("<HHI", 1, 1, ord("q")) + struct.pack("<II", 9, size)
    squeeze = zlib.compressobj(1)
    data = squeeze.compress(struct.pack("<II", 14, len(body) + size) + body)
    data += packed_zeros(size, squeeze)
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x100) + b"IM"
    path.write_bytes(head + struct.pack("<II", 15, len(data)) + data)


def parquet_bomb(path):
    pd.DataFrame({"q1": np.zeros(36 << 20)}).to_parquet(path)


@pytest.mark.parametrize(
    "make, name", [(npz_bomb, "a.npz"), (mat_bomb, "a.mat"), (parquet_bomb, "a.parquet")]
)
def test_bombs_are_refused_before_they_are_unpacked(tmp_path, make, name):
    path = tmp_path / name
    make(path)
    assert path.stat().st_size < 2 << 20
    with pytest.raises(DynarmError, match=f"{name}: unpacks to"):
        Log.read(path)


def test_a_lie_about_its_size_does_not_help_a_bomb(tmp_path):
    """The tag says 100 bytes, the stream holds megabytes."""
    squeeze = zlib.compressobj()
    data = squeeze.compress(struct.pack("<II", 14, 100)) + packed_zeros(8 << 20, squeeze)
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x100) + b"IM"
    (tmp_path / "a.mat").write_bytes(head + struct.pack("<II", 15, len(data)) + data)
    with pytest.raises(DynarmError, match="more than it promises"):
        Log.read(tmp_path / "a.mat")


def test_more_columns_than_a_log_has(tmp_path):
    names = [f"c{k}" for k in range(200_000)]
    (tmp_path / "a.csv").write_text(",".join(names) + "\n" + ",".join("1" * 200_000) + "\n")
    with pytest.raises(DynarmError, match="200000 columns; at most"):
        Log.read(tmp_path / "a.csv")
    for name, words in (("q" * 10**5, "100000 letters"), ("q" * 5 * 10**6, "line 1 has more than")):
        (tmp_path / "a.csv").write_text(f"t,{name},tau1\n0,1,2\n1,2,3\n")
        with pytest.raises(DynarmError, match=words):
            Log.read(tmp_path / "a.csv")


# ---- what an SQLite file can do

ENDLESS = "with recursive c(x) as (select 1 union all select x + 1 from c) select "
TOPICS = (
    "create table topics(id, name, type)",
    "insert into topics values (1, '/j', 'JointState')",
)
BASES = {
    "endless topics": (
        f"create view topics as {ENDLESS} x as id, '/j' as name, 'JointState' as type from c",
        "create table messages(id, topic_id, timestamp, data)",
    ),
    "endless messages": (
        *TOPICS,
        f"create view messages as {ENDLESS} x as id, 1 as topic_id, x as timestamp, x as data from c",
    ),
    "a large cell": (
        *TOPICS,
        "create table messages(id, topic_id, timestamp, data as (zeroblob(900000000)))",
        "insert into messages values (1, 1, 1)",
    ),
    "a virtual table": (
        *TOPICS,
        "create virtual table messages using fts5(id, topic_id, timestamp, data)",
    ),
    "no tables": ("create table x(a)",),
    "no types": (
        "create table topics(id, name, type)",
        "insert into topics values (1, null, null)",
        "create table messages(id, topic_id, timestamp, data)",
    ),
    **{
        f"data {cell}": (
            *TOPICS,
            "create table messages(id, topic_id, timestamp, data)",
            f"insert into messages values (1, 1, 1, {cell})",
        )
        for cell in ("'abc'", "null", "3", "x''", "x'00010000'", "x'0001000000'", "x'07000000'")
    },
    "no stamp": (
        *TOPICS,
        "create table messages(id, topic_id, timestamp, data)",
        "insert into messages values (1, 1, 'noon', x'00')",
    ),
}


@pytest.mark.parametrize("name", BASES)
def test_bases_that_are_no_bags_are_refused(tmp_path, name):
    assert not refused_or_read(base(tmp_path / "a.db3", *BASES[name]))


def test_reading_a_base_ends(tmp_path, monkeypatch):
    """The budget of steps, should a base find another way to go on for ever."""
    from dynarm.identify.logs.formats import bag_base

    path = base(tmp_path / "a.db3", messages=N)
    assert len(Log.read(path)) == N
    monkeypatch.setattr(bag_base, "_STEPS", 1)
    with pytest.raises(DynarmError, match="more steps"):
        Log.read(path)


def test_messages_in_a_journal_are_not_overlooked(tmp_path):
    path = base(tmp_path / "a.db3", messages=N)
    Path(f"{path}-wal").write_bytes(b"x" * 100)
    with pytest.raises(FileError, match="holds messages that are not in the bag yet"):
        Log.read(path)


# ---- paths


@pytest.mark.parametrize(
    "name",
    [
        "run%201.db3",
        "a?b.db3",
        "a#b.db3",
        "file:x.db3",
        "a*b[1].db3",
        "~.db3",
        "%00.db3",
        "ü '\".db3",
    ],
)
def test_a_path_names_just_its_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for other in ("run 1.db3", "x.db3"):  # what the name would mean in a URI
        base(Path(other), messages=3)
    base(Path("good"), messages=N)
    Path("good").rename(name)
    before = sorted(os.listdir())
    assert len(Log.read(name)) == N
    Path(name).unlink()
    with pytest.raises(FileMissing):
        Log.read(name)
    assert sorted(os.listdir()) == sorted(set(before) - {name})


@pytest.mark.parametrize(
    "suffix", [".csv", ".npz", ".mat", ".parquet", ".db3", ".mcap", ".pq", ".txt"]
)
def test_pipes_and_devices_are_refused(tmp_path, suffix):
    os.mkfifo(tmp_path / f"pipe{suffix}")
    (tmp_path / f"zero{suffix}").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        with pytest.raises(FileError, match=r"is a (pipe|device)"):
            Log.read(tmp_path / f"{name}{suffix}")


def test_pipes_beside_the_log_are_refused(tmp_path):
    frame().to_csv(tmp_path / "log.csv", index=False)
    os.mkfifo(tmp_path / "log.toml")
    with pytest.raises(FileError, match=r"log.toml is a pipe"):
        Log.read(tmp_path / "log.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    channels = {"time": "t", "q": "q{}", "tau": {"columns": "tau{}", "file": "pipe.csv"}}
    with pytest.raises(FileError, match=r"pipe.csv is a pipe"):
        Log.read(tmp_path / "log.csv", channels)


@pytest.mark.parametrize(
    "path", ["a" * 5000 + ".csv", "\udcff.csv", "\ud800.csv", "a\nb\x1b[2J.csv", "none.mcap"]
)
def test_paths_that_lead_nowhere(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    assert not refused_or_read(path)
