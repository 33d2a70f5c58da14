"""Files byte by byte: MAT elements, messages of bags, Arrow's columns in the reading process, times at their ends."""

from __future__ import annotations

import datetime
import decimal
import io
import json
import os
import struct
import sys
import zlib

import numpy as np
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse

from dynarm import DynarmError, Log
from dynarm.border.apart import relaxed
from dynarm.identify.logs.formats import apart, child
from dynarm.identify.logs.formats.csv_text import read_csv
from dynarm.identify.logs.formats.joint_states import chosen_topic, decoded, whole
from dynarm.identify.logs.formats.mat import read_mat
from dynarm.identify.logs.formats.table import check_names, check_room, listed, text_column
from dynarm.identify.logs.numbers import floats, seconds

# ---- MAT, version 5


def element(kind, data, size=None):
    return (
        struct.pack("<II", kind, len(data) if size is None else size)
        + data
        + b"\0" * (-len(data) % 8)
    )


def small(kind, data):
    return struct.pack("<HH4s", kind, len(data), data)


def variable(flags=6, shape=(2, 1), name=b"x", parts=None):
    body = element(6, struct.pack("<II", flags, 0))
    body += element(5, struct.pack(f"<{len(shape)}i", *shape)) + element(1, name)
    for part in [element(9, struct.pack("<2d", 1.5, -2.0))] if parts is None else parts:
        body += part
    return body


def mat(tmp_path, *elements, version=0x100, order=b"IM"):
    path = tmp_path / "a.mat"
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", version) + order
    path.write_bytes(head + b"".join(elements))
    return path


def test_numbers_of_every_type(tmp_path):
    kinds = {1: "b", 2: "B", 3: "h", 4: "H", 5: "i", 6: "I", 7: "f", 9: "d", 12: "q", 13: "Q"}
    for kind, letter in kinds.items():
        part = element(kind, struct.pack(f"<3{letter}", 1, 2, 100))
        table = read_mat(mat(tmp_path, element(14, variable(shape=(3, 1), parts=[part]))))
        assert table["x"].tolist() == [1, 2, 100] and table["x"].dtype == float
    for kind in (0, 8, 10, 11, 14, 16):
        part = element(kind, bytes(24))
        with pytest.raises(DynarmError, match=f"numbers of type {kind}"):
            read_mat(mat(tmp_path, element(14, variable(shape=(3, 1), parts=[part]))))


def test_small_elements(tmp_path):
    for length, kind in ((1, 2), (2, 2), (4, 2), (4, 4)):
        data = bytes(range(1, length + 1))
        rows = length if kind == 2 else 2
        body = variable(shape=(rows, 1), parts=[small(kind, data)])
        assert len(read_mat(mat(tmp_path, element(14, body)))["x"]) == rows
    five = struct.pack("<HH", 2, 5) + b"\1\2\3\4"
    with pytest.raises(DynarmError, match="small element of 5 bytes"):
        read_mat(mat(tmp_path, element(14, variable(shape=(5, 1), parts=[five]))))


def test_truth_and_complex_numbers(tmp_path):
    yes = element(2, b"\0\2")
    table = read_mat(mat(tmp_path, element(14, variable(9 | 0x200, parts=[yes]))))
    assert table["x"].tolist() == [False, True] and table["x"].dtype == bool
    real, imaginary = (element(9, struct.pack("<2d", *x)) for x in ((1, 2), (3, -4)))
    table = read_mat(mat(tmp_path, element(14, variable(6 | 0x800, parts=[real, imaginary]))))
    assert table["x"].tolist() == [1 + 3j, 2 - 4j]
    with pytest.raises(DynarmError, match="has no numbers"):
        read_mat(mat(tmp_path, element(14, variable(6 | 0x800, parts=[real]))))
    with pytest.raises(DynarmError, match="has no numbers"):
        read_mat(mat(tmp_path, element(14, variable(parts=[]))))


def test_columns_stand_one_after_another(tmp_path):
    part = element(9, struct.pack("<6d", *range(6)))
    for order in ("plain", "packed"):
        body = element(14, variable(shape=(3, 2), parts=[part]))
        whole = (
            body
            if order == "plain"
            else element(15, zlib.compress(body))[: 8 + len(zlib.compress(body))]
        )
        assert read_mat(mat(tmp_path, whole))["x"].tolist() == [[0, 3], [1, 4], [2, 5]]
    one = variable(shape=(1, 1), parts=[element(9, struct.pack("<d", 7))])
    assert read_mat(mat(tmp_path, element(14, one)))["x"].tolist() == [7]


@pytest.mark.parametrize(
    "kind, words",
    [
        (1, "a cell array"),
        (2, "a struct"),
        (3, "an object"),
        (4, "text"),
        (5, "a sparse matrix"),
        (0, "unknown"),
    ],
)
def test_what_is_no_array_says_what_it_is(tmp_path, kind, words):
    assert words in str(read_mat(mat(tmp_path, element(14, variable(kind))))["x"][0])


def test_what_has_no_name_or_is_of_a_newer_kind_is_passed_over(tmp_path):
    unnamed = element(14, variable(name=b""))
    newer = element(14, variable(16))
    assert list(read_mat(mat(tmp_path, unnamed, newer, element(14, variable(15))))) == ["x"]


@pytest.mark.parametrize(
    "shape, fine",
    [
        ((2,), False),
        ((2, 1), True),
        ((2,) + (1,) * 7, True),
        ((2,) + (1,) * 8, False),
        ((-1, -2), False),
    ],
)
def test_dimensions(tmp_path, shape, fine):
    path = mat(tmp_path, element(14, variable(shape=shape)))
    if fine:
        assert read_mat(path)["x"].size == 2
    else:
        with pytest.raises(DynarmError, match="has dimensions"):
            read_mat(path)


DAMAGED = {
    "a tag cut off": ([b"\x0e\0\0\0\0\0\0"], "ends within a tag"),
    "more promised": ([element(14, variable(), 5000)], "5000 bytes are promised at 128"),
    "no variable": ([element(9, bytes(8))], "type 9 stands where"),
    "no flags": ([element(14, b"")], "numbers of type 0"),
    "one flag": ([element(14, element(6, bytes(4)) + bytes(8))], "without flags"),
    "too few numbers": ([element(14, variable(shape=(3, 1)))], "2 numbers for dimensions"),
    "bytes left over": (
        [element(14, variable(shape=(1, 1), parts=[element(9, bytes(9))]))],
        "9 bytes are no whole number",
    ),
    "an element too long": (
        [element(14, variable(parts=[element(9, bytes(16), 17)]))],
        "17 bytes leads out",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_elements(tmp_path, name):
    parts, words = DAMAGED[name]
    with pytest.raises(DynarmError, match=words):
        read_mat(mat(tmp_path, *parts))


def packed(data):
    return struct.pack("<II", 15, len(data)) + data


def test_packed_variables_hold_what_they_promise(tmp_path):
    whole = element(14, variable())
    assert read_mat(mat(tmp_path, packed(zlib.compress(whole))))["x"].tolist() == [1.5, -2.0]
    more = whole[:4] + struct.pack("<I", len(whole) - 8 + 1) + whole[8:]
    less = whole[:4] + struct.pack("<I", len(whole) - 8 - 1) + whole[8:]
    for content, words in (
        (zlib.compress(more), "promises 73 bytes and holds 72"),
        (zlib.compress(less), "holds more than it promises"),
        (zlib.compress(whole)[:-4], "ends early"),
        (zlib.compress(b"1234567"), "has no tag"),
    ):
        with pytest.raises(DynarmError, match=words):
            read_mat(mat(tmp_path, packed(content)))


def test_headers(tmp_path):
    assert read_mat(mat(tmp_path, element(14, variable()))).keys() == {"x"}
    for change, words in (
        ({"version": 0x200}, "v7.3"), ({"version": 0x101}, "version 0x101"), ({"order": b"II"}, "order of bytes")
    ):  # fmt: skip
        with pytest.raises(DynarmError, match=words):
            read_mat(mat(tmp_path, **change))
    path = tmp_path / "b.mat"
    for at in (0, 512):
        path.write_bytes(b"M" * at + b"\x89HDF\r\n\x1a\n" + bytes(600))
        with pytest.raises(DynarmError, match=r"v7\.3"):
            read_mat(path)
    path.write_bytes(b"M" * 127)
    with pytest.raises(DynarmError, match="within its header"):
        read_mat(path)


# ---- MAT, version 4


def matrix_4(kind, rows, width, data, name=b"x\0", imaginary=0, order="<"):
    return struct.pack(f"{order}5i", kind, rows, width, imaginary, len(name)) + name + data


@pytest.mark.parametrize(
    "kind, letter", [(0, "d"), (10, "f"), (20, "i"), (30, "h"), (40, "H"), (50, "B")]
)
@pytest.mark.parametrize("order, machine", [("<", 0), (">", 1000)])
def test_version_4_of_every_type(tmp_path, kind, letter, order, machine):
    path = tmp_path / "a.mat"
    data = struct.pack(f"{order}6{letter}", *range(1, 7))
    twice = matrix_4(machine + kind, 3, 2, data, order=order) + matrix_4(
        machine + kind, 1, 6, data, b"yy\0", order=order
    )
    path.write_bytes(twice)
    table = read_mat(path)
    assert table["x"].tolist() == [[1, 4], [2, 5], [3, 6]]
    assert table["yy"].tolist() == [1, 2, 3, 4, 5, 6]


def test_version_4_of_other_matter(tmp_path):
    path = tmp_path / "a.mat"
    two = struct.pack("<2d", 1, 2)
    path.write_bytes(
        matrix_4(1, 2, 1, two, b"text\0") + matrix_4(2, 2, 1, two, b"sparse\0")
        + matrix_4(0, 2, 1, two + two[::-1], b"z\0", imaginary=1) + matrix_4(0, 0, 0, b"", b"none\0")
    )  # fmt: skip
    table = read_mat(path)
    assert "text" in str(table["text"][0]) and "sparse" in str(table["sparse"][0])
    assert table["z"].real.tolist() == [1, 2] and table["z"].dtype == complex
    assert table["none"].size == 0
    for content, words in (
        (matrix_4(0, 2, 1, two)[:-1], "'x' is cut off"),
        (matrix_4(0, 2, 1, two) + b"\0" * 19, "ends within a header"),
        (matrix_4(60, 2, 1, two), "header at 0 that is none"),
        (matrix_4(2000, 2, 1, two), "header at 0 that is none"),
        (matrix_4(0, -1, 1, two), "header at 0 that is none"),
        (matrix_4(0, 2, 1, two) + matrix_4(0, 2, -1, two), "header at 38 that is none"),
    ):
        path.write_bytes(content)
        with pytest.raises(DynarmError, match=words):
            read_mat(path)


def test_scipy_writes_what_is_told_by_its_name(tmp_path):
    path = tmp_path / "a.mat"
    cell = np.empty(2, object)
    cell[:] = ["a", 1.0]
    scipy.io.savemat(path, {"c": cell, "t": "word", "s": scipy.sparse.eye(3).tocsc()})
    table = read_mat(path)
    assert [str(table[k][0]) for k in "cts"] == [
        "a cell array of MATLAB", "text of MATLAB", "a sparse matrix of MATLAB"
    ]  # fmt: skip


# ---- messages


def message(
    order="<", stamp=(5, 250_000_000), frame=b"odd\0", names=(b"ab\0", b"c\0"), lengths=(2, 0, 2)
):
    out = bytearray(struct.pack(f"{order}iI", *stamp))

    def number(value):
        out.extend(b"\0" * (-len(out) % 4) + struct.pack(f"{order}I", value))

    def text(word):
        number(len(word))
        out.extend(word)

    text(frame)
    number(len(names))
    for name in names:
        text(name)
    for field, length in enumerate(lengths):
        number(length)
        if length:
            out.extend(b"\0" * (-len(out) % 8))
            out.extend(struct.pack(f"{order}{length}d", *(10 * field + k for k in range(length))))
    return bytes((0, 1 if order == "<" else 0, 0, 0)) + bytes(out)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("frame", [b"", b"\0", b"a\0", b"world\0"])
@pytest.mark.parametrize("names", [(b"ab\0", b"c\0"), (b"abcd\0", b"e\0")])
def test_messages_of_either_order(order, frame, names):
    found = decoded("bag", 1, message(order, frame=frame, names=names))
    assert found.stamp == 5.25
    assert found.names == [name[:-1].decode() for name in names]
    assert [f.tolist() for f in found.fields] == [[0, 1], [], [20, 21]]


def test_damaged_messages_are_counted():
    good = message()
    for data, words in (
        (good[:-1], "message 7 is damaged"),
        (b"\1" + good[1:], "encoding 1, 1"),
        (b"\0\2" + good[2:], "encoding 0, 2"),
        (good[:16] + b"\xff", "cut off"),
        ("text", "no bytes"),
        (b"", "message 7"),
    ):
        with pytest.raises(DynarmError, match=words):
            decoded("bag", 7, data)
    text_to_the_end = struct.pack("<iI", 1, 0) + struct.pack("<I", 4) + b"abc\0"
    with pytest.raises(DynarmError) as refusal:
        decoded("bag", 7, b"\0\1\0\0" + text_to_the_end)
    assert "cut off" not in str(refusal.value)  # the frame is whole, the names are missing


def test_messages_become_columns():
    from oracles.bag_files import joint_state

    def columns(messages):
        return whole("bag", messages, 10**6)

    table = columns([
        (4_000_000_000, joint_state(1.0, ["a", "b"], [1, 2], [], [5, 6])),
        (5_000_000_000, joint_state(2.0, ["b", "a"], [4, 3], [], [8, 7])),
        (6_000_000_000, joint_state(3.0, ["b", "x"], [9, 0], [], [9, 0])),
    ])  # fmt: skip
    assert list(table) == ["time", "a_position", "b_position", "a_effort", "b_effort"]
    np.testing.assert_array_equal(table["time"], [1, 2, 3])
    np.testing.assert_array_equal(table["a_position"], [1, 3, np.nan])
    np.testing.assert_array_equal(table["b_effort"], [6, 8, 9])
    unset = columns([
        (4_000_000_000, joint_state(1.0, ["a"], [1], [], [])), (5_500_000_000, joint_state(0.0, ["a"], [1], [], []))
    ])  # fmt: skip
    np.testing.assert_allclose(unset["time"], [4, 5.5])
    with pytest.raises(DynarmError, match="no messages"):
        columns([])


def test_which_topic_is_read():
    joint = "sensor_msgs/msg/JointState"
    topics = [(3, "/other", "std_msgs/msg/String"), (5, "/arm", joint), (8, "/joint_states", joint)]
    assert chosen_topic("bag", topics) == 8
    assert chosen_topic("bag", topics[:2]) == 5
    with pytest.raises(DynarmError, match=r"holds /other \(std_msgs/msg/String\)"):
        chosen_topic("bag", topics[:1])
    with pytest.raises(DynarmError, match="holds no topic"):
        chosen_topic("bag", [])


def test_of_several_topics_one_is_chosen_by_name():
    joint = "sensor_msgs/msg/JointState"
    topics = [(3, "/other", "std_msgs/msg/String"), (5, "/right", joint), (8, "/left", joint)]
    assert chosen_topic("bag", topics, "/right") == 5
    assert chosen_topic("bag", topics, "left") == 8
    assert chosen_topic("bag", [*topics, (9, "/joint_states", joint)], "/left") == 8
    assert chosen_topic("bag", [*topics[:2], (6, "/right", joint)]) == 5  # two publishers of one
    with pytest.raises(DynarmError, match="2 topics hold joint states, /left, /right; choose one"):
        chosen_topic("bag", topics)
    for none in ("/other", "/nothing", ""):
        with pytest.raises(DynarmError, match=f"topic '{none}'; the bag holds /left, /right"):
            chosen_topic("bag", topics, none)


# ---- Arrow's columns


DAY = datetime.date(1970, 1, 3)
ARROW = {
    "dictionary": (pa.array(["1", "2", "1"]).dictionary_encode(), np.array(["1", "2", "1"])),
    "decimal": (pa.array([decimal.Decimal("1.25")]), np.array([1.25])),
    "time32": (pa.array([1500], pa.time32("ms")), np.array([1.5])),
    "time64": (pa.array([2**40], pa.time64("ns")), np.array([2**40 * 1e-9])),
    "date": (pa.array([DAY]), np.array(["1970-01-03"], "M8[ms]")),
    "missing": (pa.array([1, None, 3]), np.array([1, np.nan, 3])),
    "nothing": (pa.nulls(2), np.array([np.nan, np.nan])),
    "truth": (pa.array([True, False]), np.array([True, False])),
    "maybe": (pa.array([True, None]), text_column("True, False and nothing", 2)),
    "texts": (pa.array(["a" * 40, None]), np.array(["a" * 40, ""])),
    "long texts": (pa.array(["a" * 41, "b"]), text_column("text", 2)),
    "bytes": (pa.array([b"a", b"b"]), text_column("binary", 2)),
    "records": (pa.array([{"a" * 50: 1}]), text_column(f"struct<{'a' * 33}", 1)),
    "lists": (pa.array([[1, 2], [3, 4], [5, 6]]), np.array([[1, 2], [3, 4], [5, 6]])),
    "pairs": (
        pa.array([[1.0, 2.0], [3, 4]], pa.list_(pa.float64(), 2)),
        np.array([[1, 2], [3, 4]]),
    ),
    "large lists": (pa.array([[1], [3]], pa.large_list(pa.int8())), np.array([[1], [3]])),
    "uneven lists": (pa.array([[1, 2], [3]]), text_column("lists of different lengths", 2)),
    "a list missing": (pa.array([[1, 2], None]), text_column("lists of different lengths", 2)),
    "lists of lists": (pa.array([[[1], [2]], [[3], [4]]]), text_column("lists of lists", 2)),
    "no lists": (pa.array([], pa.list_(pa.int8())), text_column("list<", 0)),
}


@pytest.mark.parametrize("name", ARROW)
def test_columns_of_arrow(name):
    given, expected = ARROW[name]
    found = child._array(pa.chunked_array([given]))
    if name in ("time32", "time64"):
        assert found.dtype.kind == "m"
        np.testing.assert_allclose(seconds("t", found)[0], expected)
    elif expected.strides == (0,):
        assert found.shape == expected.shape and found.strides == (0,)
        assert not len(found) or str(found[0]).startswith(str(expected[0]))
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.fixture
def here(monkeypatch):
    """The reading process's functions in this process, which keeps its memory and its output."""
    limits = []
    monkeypatch.setattr(
        child, "confine", lambda _, spare, again: limits.append((spare - 2**30) // 4)
    )
    return limits


def parquet_table(path, most):
    (table,) = child._parquet(path, most)
    return table


def parquet(path, **given):
    import pyarrow.parquet as pq

    pq.write_table(pa.table(given), path)
    return path


def test_parquet_is_read_within_its_room(tmp_path, here):
    path = parquet(tmp_path / "a.parquet", t=np.arange(100.0), q=np.arange(100.0))
    table = parquet_table(path, 1_000_000)
    assert list(table) == ["t", "q"] and here == [1_000_000]
    np.testing.assert_array_equal(table["q"], np.arange(100.0))
    with pytest.raises(DynarmError, match="1600 bytes or more"):
        parquet_table(path, 1599)
    one = parquet(tmp_path / "b.parquet", t=np.zeros(10_000))  # packs well: 8 bytes a row count
    parquet_table(one, 80_000)
    with pytest.raises(DynarmError, match="unpacks to 80000"):
        parquet_table(one, 79_999)


def test_parquet_of_many_columns(tmp_path, here, monkeypatch):
    monkeypatch.setattr(child, "MOST_COLUMNS", 2)
    two = parquet(tmp_path / "a.parquet", a=[1.0], b=[1.0])
    assert len(parquet_table(two, 10**6)) == 2
    with pytest.raises(DynarmError, match="has 3 columns"):
        parquet_table(parquet(tmp_path / "b.parquet", a=[1.0], b=[1.0], c=[1.0]), 10**6)


def conversation(monkeypatch, kind, path, most):
    """What main sends, by a pipe of this process."""
    ours, theirs = os.pipe()
    monkeypatch.setattr(os, "dup", lambda _: theirs)
    monkeypatch.setattr(os, "dup2", lambda *_: None)
    line = json.dumps([kind, str(path), most]).encode() + b"\n"
    monkeypatch.setattr(child, "relaxed", lambda: 0)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n" + line)))
    child.main()
    monkeypatch.undo()
    return os.fdopen(ours, "rb")


def test_what_is_sent_is_received(tmp_path, here, monkeypatch):
    words = [f"{'long' * 11}{k}" for k in range(5)]
    path = parquet(tmp_path / "a.parquet", t=np.arange(5.0), k=np.arange(5, dtype="i2"), w=words)
    with conversation(monkeypatch, "parquet", path, 10**6) as stream:
        answer = stream.read()
    assert answer.startswith(b"\n") and answer.endswith(
        b'{"over": true}\n'
    )  # a ping, a table, the end
    data = answer[1:].removesuffix(b'{"over": true}\n')
    table = apart._received(path, io.BytesIO(data), 50)
    assert table["t"].tolist() == [0, 1, 2, 3, 4] and table["k"].tolist() == [0, 1, 2, 3, 4]
    assert table["w"].tolist() == ["text"] * 5
    with pytest.raises(DynarmError, match="unpacks to 1 bytes"):
        apart._received(path, io.BytesIO(data), 49)
    assert apart._received(path, io.BytesIO(b'{"over": true}\n'), 50) is None
    for left in (data[:-1], data[:20], b""):
        with pytest.raises(apart._BrokeOff):
            apart._received(path, io.BytesIO(left), 50)
    head = json.loads(data.splitlines()[0])["columns"]
    assert head[0] == {"name": "t", "dtype": "<f8", "shape": [5]}
    assert head[2] == {"name": "w", "says": "text", "rows": 5}


def test_refusals_are_sent_without_the_path(tmp_path, here, monkeypatch):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"nothing of the kind")
    with conversation(monkeypatch, "parquet", path, 10**6) as stream:
        told = json.loads(stream.read())["refused"]
    assert told.startswith("damaged or not a .parquet file (") and str(tmp_path) not in told


def test_what_a_refusal_says(tmp_path):
    path = tmp_path / "a.mcap"
    assert child._said(path, DynarmError(f"{path}: is no bag")) == "is no bag"
    assert child._said(path, MemoryError()).startswith("unpacks to more")
    assert "(ValueError)" in child._said(path, ValueError())
    assert "(first)" in child._said(path, ValueError("first\nsecond"))
    assert "(a.mcap is bad)" in child._said(path, ValueError(f"{path} is bad"))
    assert child._said(tmp_path / "bag", ValueError("x")).startswith("damaged or not a bag file")


def test_memory_of_the_reading_process(tmp_path, monkeypatch):
    resource = pytest.importorskip("resource", reason="limits are of POSIX")
    told = []
    monkeypatch.setattr(resource, "setrlimit", lambda *args: told.append(args))
    monkeypatch.setattr(child.Path, "read_text", lambda _: "100 20 3")
    path = parquet(tmp_path / "a.parquet", t=np.arange(5.0))
    parquet_table(path, 5000)
    limit = 100 * os.sysconf("SC_PAGE_SIZE") + 2**30 + 4 * 5000
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    assert told == [(resource.RLIMIT_AS, (limit, hard)), (resource.RLIMIT_CORE, (0, 0))]
    told.clear()
    assert relaxed() == 20 * os.sysconf("SC_PAGE_SIZE")
    assert told == [(resource.RLIMIT_AS, (hard, hard))]


# ---- bounds that every format keeps


def test_bounds_of_tables():
    check_names("a", ["x" * 300, *map(str, range(9_999))])
    for names, words in (
        (["x" * 301], "301 letters"), (map(str, range(10_001)), "10001 columns"), ("abca", "two columns")
    ):  # fmt: skip
        with pytest.raises(DynarmError, match=words):
            check_names("a", names)
    check_room("a", 10, 10)
    with pytest.raises(DynarmError, match="11 bytes or more, at most 10"):
        check_room("a", 11, 10)
    assert text_column("no").tolist() == ["no"]


def test_thirty_names_are_listed():
    assert listed("ab") == "a, b"
    assert listed(["x"] * 30) == ", ".join(["x"] * 30)
    assert listed(["x"] * 32) == ", ".join(["x"] * 30) + " and 2 more"


def test_lines_of_csv_files(tmp_path, monkeypatch):
    from dynarm.identify.logs.formats import csv_text

    path = tmp_path / "a.csv"
    path.write_text("t,q\n\n# a remark\n0,1\n1,2 # so\n")
    assert read_csv(path)["q"].tolist() == [1, 2]
    monkeypatch.setattr(csv_text, "LONGEST_LINE", 6)
    path.write_text("t,q\n0,123\n")
    assert read_csv(path)["q"].tolist() == [123]
    path.write_text("t,q\n0,1234\n")
    with pytest.raises(DynarmError, match="line 2 has more than 6"):
        read_csv(path)
    monkeypatch.undo()
    path.write_text("t,q\n0,1\n\n1,2,3\n")
    with pytest.raises(DynarmError, match=r"line 4 \(row 2\) has 3 cells, the header has 2"):
        read_csv(path)
    path.write_text('t,"q"\n0,1\n1,2,3\n')
    with pytest.raises(DynarmError, match=r"line 3 \(row 2\) has 3 cells, the header has 2"):
        read_csv(path)
    path.write_bytes(b"t,q\n0,\xff\n")
    with pytest.raises(DynarmError, match="byte 7 is not UTF-8 text"):
        read_csv(path)
    monkeypatch.setattr(csv_text, "MOST_COLUMNS", 2)
    path.write_text("t,q\n0,1\n")
    assert list(read_csv(path)) == ["t", "q"]
    path.write_text("t,q,r\n0,1,2\n")
    with pytest.raises(DynarmError, match="has 3 columns; at most 2"):
        read_csv(path)


# ---- numbers and times


def test_a_clock_counts_so_far():
    span = np.array([-2, 2**63 - 3], "i8").astype("M8[ns]")
    np.testing.assert_allclose(seconds("t", span)[0], [0, (2**63 - 1) * 1e-9])
    with pytest.raises(DynarmError, match="more than any clock"):
        seconds("t", np.array([-1, 2**63 - 1], "i8").astype("M8[ns]"))


def test_times_of_long_and_odd_units():
    for unit, each in (
        ("W", 604800),
        ("D", 86400),
        ("h", 3600),
        ("m", 60),
        ("s", 1),
        ("fs", 1e-15),
        ("as", 1e-18),
    ):
        value, dated = seconds("t", np.array([1, 3], f"m8[{unit}]"))
        np.testing.assert_allclose(value, [each, 3 * each])
        assert dated
    years = np.array(["2001", "2002"], "M8[Y]")
    assert seconds("t", years)[0].tolist() == [0, 365 * 86400]
    months = np.array(["2001-01", "NaT", "2001-03"], "M8[M]")
    np.testing.assert_array_equal(seconds("t", months)[0], [0, np.nan, 59 * 86400])
    for wrong in (np.array([1, 2], "m8[Y]"), np.array([1, 2], "m8")):
        with pytest.raises(DynarmError, match="without a unit"):
            seconds("t", wrong)
    assert np.isnan(seconds("t", np.array(["NaT"] * 2, "M8[s]"))[0]).all()


def test_cells_in_messages():
    for text, shown in (("x" * 58, "'" + "x" * 58 + "'"), ("x" * 59, "'" + "x" * 56 + "...")):
        with pytest.raises(DynarmError) as refusal:
            floats("q", np.array(["1", text]))
        assert f"row 2 holds {shown}, not" in str(refusal.value)
    assert floats("q", np.array([b" 1e3 ", b"-.5", b"", b"INF"], object)).tolist()[:2] == [
        1000,
        -0.5,
    ]
    for wrong in ("1_000", "0x10", "\u0661", "1 2"):
        with pytest.raises(DynarmError, match="not a number"):
            floats("q", np.array([wrong], object))


def test_plain_logs_have_nothing_to_note(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("t,q1,tau1\n0,1,2\n1,2,3\n")
    assert Log.read(path).notes == ()
