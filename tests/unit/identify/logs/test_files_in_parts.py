"""CSV and Parquet files some rows at a time: the rows of the whole wherever it is cut, only columns that are wanted."""

import gzip
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from dynarm.errors import FormatError
from dynarm.identify.logs import readers
from dynarm.identify.logs.channels import columns_of
from dynarm.identify.logs.declaration import declared
from dynarm.identify.logs.formats import csv_parts as door
from dynarm.identify.logs.formats.apart import parquet_parts
from dynarm.identify.logs.formats.csv_parts import csv_parts
from dynarm.identify.logs.formats.csv_text import read_csv
from dynarm.identify.logs.formats.table import length

ROWS = 1000
PLAIN = "t,q1,note\n" + "".join(f"{k / 100},{k * k},{'x' * (1 + k % 7)}\n" for k in range(ROWS))
QUOTED = "# by hand\nt;q1;note\n" + "".join(
    f'{k};{k / 3};"a; ""b""\nline {k}"\n' + ('# a "remark\n\n' if k % 50 == 3 else "")
    for k in range(ROWS)
)
COMMAS = "t;q1;q2;note\n" + "".join(
    f"{k};{str(k / 8).replace('.', ',')};{k // 500 or '0,5'};a, {k}\n" for k in range(ROWS)
)


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(door, "_BLOCK", 700)


@pytest.mark.parametrize("text", [PLAIN, QUOTED, "\ufeff" + PLAIN.replace("\n", "\r\n"), COMMAS])
@pytest.mark.parametrize(
    ("rows", "first", "last"), [(64, 0, 0), (300, 137, 0), (100, 990, 0), (90, 5, 777)]
)
@pytest.mark.parametrize("packed", [False, True])
def test_parts_of_csv_are_the_rows_of_the_whole(tmp_path, text, rows, first, last, packed):
    path = tmp_path / ("log.csv.gz" if packed else "log.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    whole = read_csv(path)
    tables = list(csv_parts(path, rows, first, last))
    sizes = [len(table["t"]) for table in tables]
    assert all(size == rows for size in sizes[:-1]) and sizes[-1] < 1.5 * rows + 1
    for name, column in whole.items():
        parts = np.concatenate([table[name] for table in tables])
        assert (parts == column[first : last or None]).all()


def test_decimal_commas_are_numbers_where_cells_end_otherwise(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(COMMAS)
    table = read_csv(path)
    np.testing.assert_array_equal(table["q1"], np.arange(ROWS) / 8)
    np.testing.assert_array_equal(
        table["q2"], np.arange(ROWS) // 500 + 0.5 * (np.arange(ROWS) < 500)
    )
    assert table["note"][7] == "a, 7"
    for text in ('a,b\n"1,5",2\n', "a;b\n1.234,5;2\n", "a;b\n1,5;2\n1.5;2\n"):
        path.write_text(text)  # thousands or decimals: who knows
        assert read_csv(path)["a"].dtype.kind not in "biuf"


@pytest.mark.parametrize("large", [0, 8 << 20])
def test_packed_text_that_is_damaged_or_swells_is_refused(tmp_path, monkeypatch, large):
    monkeypatch.setattr(readers, "LARGE", large)
    path = tmp_path / "log.csv.gz"
    rows = "".join(f"{k / 100},{k % 7},{k % 5}\n" for k in range(5000))
    packed = bytearray(gzip.compress(("t,q1,tau1\n" + rows).encode()))
    middle = len(packed) // 2
    wrong = packed[:middle] + bytes([packed[middle] ^ 255]) + packed[middle + 1 :]
    for data in (packed[:-30], wrong, b"t,q1,tau1\n0,1,2\n"):
        path.write_bytes(data)
        with pytest.raises(FormatError, match=r"log\.csv\.gz: cannot be unpacked"):
            table_of(path)
    path.write_bytes(packed)
    assert table_of(path) == 5000
    monkeypatch.setattr("dynarm.border.files._ROOM", 1000)
    path.write_bytes(gzip.compress(b"t,q1,tau1\n" + b"0,1,2\n" * 200_000))
    with pytest.raises(FormatError, match=r"at most .* are read from a file of its size"):
        table_of(path)


def table_of(path) -> int:
    """The rows of a file, in parts where it is large."""
    how = readers.parted(path)
    if how is None:
        return length(readers.read_table(path))
    return sum(map(length, readers.table_parts(path, how, 700, 0, 0, lambda head: None)))


def test_only_the_columns_that_are_chosen_are_read(tmp_path):
    frame = pd.DataFrame({f"c{k}": np.arange(500) * k for k in range(40)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=90)
    for read, save in ((csv_parts, "csv"), (parquet_parts, "parquet")):
        heads = []

        def choose(head, heads=heads):
            heads.append(head)
            return {"c7", "c3"}

        tables = list(read(tmp_path / f"a.{save}", 200, 30, 0, choose))
        assert [list(head) for head in heads] == [list(frame)]
        assert heads[0]["c5"].tolist() == [0, 5]
        assert [set(table) for table in tables] == [{"c3", "c7"}] * len(tables)
        column = np.concatenate([table["c7"] for table in tables])
        np.testing.assert_array_equal(column, frame["c7"][30:])


def test_damage_deep_in_a_csv_file_is_told_by_its_line(tmp_path):
    lines = PLAIN.splitlines(keepends=True)
    path = tmp_path / "log.csv"
    path.write_text("".join([*lines[:900], "1,2\n", *lines[900:]]))
    with pytest.raises(FormatError, match=r"log\.csv: line 901 \(row 900\) has 2 cells"):
        list(csv_parts(path, 100))
    spoiled = PLAIN.encode()
    path.write_bytes(spoiled[:9000] + b"\xff" + spoiled[9000:])
    with pytest.raises(FormatError, match=r"log\.csv: byte 9001 is not UTF-8"):
        list(csv_parts(path, 100))
    path.write_text(lines[0])
    with pytest.raises(FormatError, match="a header and no rows"):
        list(csv_parts(path, 100))
    path.write_text("")
    with pytest.raises(FormatError, match="the file is empty"):
        list(csv_parts(path, 100))


@pytest.mark.parametrize("text", [PLAIN, QUOTED])
@pytest.mark.parametrize(
    ("encoding", "end"), [("utf-16", "\n"), ("utf-16-be", "\r\n"), ("utf-8", "\r")]
)
def test_text_of_other_letters_or_ends_of_lines(tmp_path, monkeypatch, text, encoding, end):
    monkeypatch.setattr(door, "_HEAD", 333)
    path = tmp_path / "log.csv"
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    path.write_bytes((mark + text).replace("\n", end).encode(encoding))
    whole = read_csv(path)
    tables = list(csv_parts(path, 64, 100, 900))
    for name, column in whole.items():
        assert (np.concatenate([table[name] for table in tables]) == column[100:900]).all()
    if encoding == "utf-16":
        path.write_bytes(path.read_bytes()[:9000] + b"\0\xd8\0\xd8" + path.read_bytes()[9000:])
        with pytest.raises(FormatError, match=r"log\.csv: byte 90\d\d is not UTF-16"):
            list(csv_parts(path, 64))


def test_the_columns_of_a_declaration():
    names = ["stamp", "p0", "p1", "tau", "gain", "other"]
    table = {name: np.zeros(2) for name in names}
    made = declared(
        {"time": "stamp", "q": {"columns": "p{}"}, "tau": {"columns": ["tau"], "scale": "gain"}},
        "x",
    )
    assert columns_of(table, made) == {"stamp", "p0", "p1", "tau", "gain"}
    del table["tau"]
    assert columns_of(table, made) is None  # all are read, so that the message lists them


def test_edges_of_parts_are_those_that_are_counted_beforehand(tmp_path, monkeypatch):
    from dynarm.identify.dataset import parts

    monkeypatch.setattr(parts, "ROWS", 90)
    path = tmp_path / "log.csv"
    for rows in (89, 90, 134, 135, 136, 300, 305, 315):
        path.write_text("".join(PLAIN.splitlines(keepends=True)[: rows + 1]))
        sizes = [len(table["t"]) for table in csv_parts(path, 90)]
        assert sizes == [high - low for low, high in pairwise(parts.edges(rows))]
