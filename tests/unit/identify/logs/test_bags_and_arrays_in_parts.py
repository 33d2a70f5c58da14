"""Bags and .npz files some rows at a time: the rows of the whole wherever they are cut, and what is no such file."""

import sqlite3
import struct
import zipfile
from itertools import pairwise

import numpy as np
import pytest

from dynarm import DynarmError
from dynarm.identify.logs.formats import bags, joint_states
from dynarm.identify.logs.formats.npz import NPZ, npz_parts, read_npz, weight
from dynarm.identify.logs.formats.table import edges
from dynarm.identify.logs.readers import read_table, table_parts
from oracles.bag_files import db3, joint_state, mcap, split

ROWS = 500
CUTS = [(64, 0, 0), (200, 137, 0), (100, 490, 0), (90, 5, 377), (1000, 0, 0)]


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(joint_states, "_MESSAGES", 37)
    monkeypatch.setattr(joint_states, "_MARKED", 50)
    bags._looked.cache_clear()


def messages(stamped=True, other=None):
    """(recorded [ns], bytes): joints in another order now and then; other: a row with joints of its own."""
    made = []
    for k in range(ROWS):
        names = ["b", "a"] if k % 90 == 7 else ["a", "b"]
        names = ["a", "c"] if k == other else names
        values = [[k + 0.25 * (name == "a"), 100.0 * (name == "b")][:2] for name in names]
        position, effort = ([v[0] for v in values], [v[0] * 2 + v[1] for v in values])
        stamp = 5 + k / 100 if stamped or k != ROWS - 3 else 0
        made.append(
            (7_000_000_000 + k * 10_000_000, joint_state(stamp, names, position, [], effort))
        )
    return made


def bag(kind, folder, made):
    pytest.importorskip("rosbags", reason="extra [bags] is not installed")
    if kind in ("db3", "unsorted db3"):
        made = made[::-1] if kind == "unsorted db3" else made
        return db3(folder / "a.db3", made, index=kind == "db3")
    if kind == "split db3":
        return split(folder / "bag", made, (0, 200, 350, ROWS))
    path = mcap(folder / "bag", made, zstd=kind != "plain mcap")
    return next(path.glob("*.mcap")) if kind != "mcap folder" else path


def everything(_):
    return None


KINDS = ["db3", "unsorted db3", "split db3", "mcap", "plain mcap", "mcap folder"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stamped", [True, False])
def test_parts_of_bags_are_the_rows_of_the_whole(tmp_path, kind, stamped):
    path = bag(kind, tmp_path, messages(stamped))
    whole = read_table(path)
    assert list(whole) == ["time", "a_position", "b_position", "a_effort", "b_effort"]
    assert whole["time"][1] == pytest.approx(5.01 if stamped else 7.01, abs=1e-12)
    assert whole["a_position"].tolist() == [k + 0.25 for k in range(ROWS)]
    for rows, first, last in CUTS:
        heads = []
        tables = list(
            table_parts(path, bags.BAGS, rows, first, last, lambda head, h=heads: h.append(head))
        )
        assert heads[0]["a_position"].tolist() == [0.25, 1.25]
        sizes = [high - low for low, high in pairwise(edges((last or ROWS) - first, rows))]
        assert [len(table["time"]) for table in tables] == sizes
        for name, column in whole.items():
            parts = np.concatenate([table[name] for table in tables])
            assert (parts == column[first : last or None]).all()


def test_one_look_at_a_bag_serves_until_it_changes(tmp_path, monkeypatch):
    path = db3(tmp_path / "a.db3", messages())
    looks = []
    real = bags.look_db3
    monkeypatch.setattr(bags, "look_db3", lambda *given: looks.append(1) or real(*given))
    for _ in range(3):
        assert sum(len(t["time"]) for t in bags.bag_parts(path, 90, 0, 0, everything, None)) == ROWS
    assert len(looks) == 1
    with sqlite3.connect(path) as base:
        base.execute("delete from messages where id = 7")
    base.close()
    assert sum(len(t["time"]) for t in bags.bag_parts(path, 90, 0, 0, everything, None)) == ROWS - 1


def test_only_columns_that_are_chosen(tmp_path):
    path = db3(tmp_path / "a.db3", messages())
    tables = table_parts(path, bags.BAGS, 200, 0, 0, lambda head: {"time", "b_effort"})
    assert all(list(table) == ["time", "b_effort"] for table in tables)


def test_a_field_that_one_message_leaves_out_is_left_out(tmp_path):
    made = messages()
    made[400] = (made[400][0], joint_state(9.0, ["a", "b"], [1.0, 2.0], [], []))
    path = db3(tmp_path / "a.db3", made)
    assert list(read_table(path)) == ["time", "a_position", "b_position"]
    for table in table_parts(path, bags.BAGS, 90, 0, 0, everything):
        assert list(table) == ["time", "a_position", "b_position"]


@pytest.mark.parametrize("kind", ["db3", "mcap"])
def test_other_joints_in_the_middle_are_missing_there(tmp_path, kind):
    path = bag(kind, tmp_path, messages(other=300))
    whole = read_table(path)
    assert np.flatnonzero(np.isnan(whole["b_position"])).tolist() == [300]
    tables = list(table_parts(path, bags.BAGS, 64, 128, 0, everything))
    assert np.flatnonzero(np.isnan(np.concatenate([t["b_effort"] for t in tables]))).tolist() == [
        172
    ]


@pytest.mark.parametrize("kind", ["db3", "mcap"])
def test_a_damaged_message_is_told_by_its_number(tmp_path, kind):
    made = messages()
    made[321] = (made[321][0], made[321][1][:-3])
    path = bag(kind, tmp_path, made)
    with pytest.raises(DynarmError, match=r"\.(db3|mcap): message 322 is damaged"):
        list(table_parts(path, bags.BAGS, 64, 0, 0, everything))


@pytest.mark.parametrize("kind", ["db3", "mcap"])
def test_a_bag_that_is_cut_off_is_named(tmp_path, kind):
    path = bag(kind, tmp_path, messages())
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(DynarmError, match=rf"\.{kind}: (damaged|'topics')"):
        list(table_parts(path, bags.BAGS, 64, 0, 0, everything))


def test_more_joints_than_fit_into_a_file_of_its_size(tmp_path, monkeypatch):
    made = [(1, joint_state(1.0, [f"joint{k}" for k in range(3000)], [], [], []))]
    made += [(k, joint_state(1.0 + k, [], [], [], [])) for k in range(2, 6000)]
    path = db3(tmp_path / "a.db3", made)
    with pytest.raises(DynarmError, match="unpacks to"):
        read_table(path)


# ---- .npz


def arrays():
    rng = np.random.default_rng(0)
    return {
        "t": np.arange(ROWS) / 100,
        "q": np.asfortranarray(rng.normal(size=(ROWS, 3))),
        "tau": rng.normal(size=(ROWS, 3)).astype("f4"),
        "wrench": np.asfortranarray(rng.normal(size=(ROWS, 2, 3))),
        "gain": np.float64(3.5),
        "one": np.array([2.5]),
        "words": np.array(["what", "is", "said"] * 50, object),
    }


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize(("rows", "first", "last"), CUTS)
def test_parts_of_npz_are_the_rows_of_the_whole(tmp_path, save, rows, first, last):
    path = tmp_path / "a.npz"
    save(path, **arrays())
    whole = read_npz(path)
    tables = list(npz_parts(path, rows, first, last, everything))
    assert weight(path) >= sum(whole[k].nbytes for k in ("t", "q", "tau"))
    sizes = [high - low for low, high in pairwise(edges((last or ROWS) - first, rows))]
    assert [len(table["t"]) for table in tables] == sizes
    for name in ("t", "q", "tau", "wrench"):
        parts = np.concatenate([table[name] for table in tables])
        np.testing.assert_array_equal(parts, whole[name][first : last or None])
    assert all(table["gain"] == 3.5 and table["one"].tolist() == [2.5] for table in tables)
    assert all("not unpickled" in str(table["words"][0]) for table in tables)


def test_arrays_that_are_not_chosen_are_not_read(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    wide = np.asfortranarray(np.zeros((ROWS, 700)))
    np.savez(path, wide=wide, other=np.zeros(3 * ROWS), **arrays())
    heads = []

    def choose(head):
        heads.append(head)
        return {"t", "q"}

    tables = list(npz_parts(path, 200, 0, 0, choose))
    assert heads[0]["q"].shape == (2, 3) and heads[0]["wide"].shape == (2, 700)
    assert [list(table) for table in tables] == [["t", "q"]] * 3
    assert sum(len(table["t"]) for table in tables) == ROWS  # not of the longest array of all
    with pytest.raises(DynarmError, match=r"700 columns of 'wide'.*np\.ascontiguousarray"):
        list(npz_parts(path, 200, 0, 0, everything))


def test_a_wrong_checksum_of_a_packed_array_is_named(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(
        path, t=np.arange(ROWS) / 100, q=np.zeros((ROWS, 2)), tau=np.ones((ROWS, 2))
    )
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\1\2", data.index(b"PK\1\2") + 4) + 16  # the second one's, in the directory
    data[at : at + 4] = struct.pack("<I", 12345)
    path.write_bytes(data)
    with pytest.raises(DynarmError, match=r"a\.npz: damaged .*Bad CRC-32 for file 'q\.npy'"):
        list(table_parts(path, NPZ, 90, 0, 0, everything))


def test_an_array_that_ends_early_is_named(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, t=np.arange(ROWS) / 100)
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(DynarmError, match=r"a\.npz: damaged"):
        list(table_parts(path, NPZ, 90, 0, 0, everything))
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (400,), }".ljust(117) + b"\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.npy", b"\x93NUMPY\1\0" + struct.pack("<H", 118) + head + bytes(3000))
    with pytest.raises(DynarmError, match="'t' promises 3200 bytes and holds 3000"):
        list(table_parts(path, NPZ, 90, 0, 0, everything))


def test_rows_that_no_file_of_its_size_has(tmp_path, monkeypatch):
    monkeypatch.setattr("dynarm.identify.logs.formats.npz.room", lambda _: 1000)
    np.savez_compressed(tmp_path / "a.npz", t=np.zeros(ROWS))
    with pytest.raises(DynarmError, match="unpacks to"):
        list(npz_parts(tmp_path / "a.npz", 90, 0, 0, everything))
