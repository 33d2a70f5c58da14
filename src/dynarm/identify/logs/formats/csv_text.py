"""Columns of a CSV file: any separator, one header, as many cells in every row."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from ....border.files import named
from ....border.kinds import Foreign
from ....errors import FormatError
from .csv_packed import text_bytes
from .table import MOST_COLUMNS, Table, check_names

LONGEST_LINE = 4 << 20
_NUMBERS = "biuf"  # kinds of columns that pandas took for numbers
WIDE = (b"\xff\xfe", b"\xfe\xff")  # files of two bytes a letter begin so


class Before(NamedTuple):
    """What of a file stands before some of its rows, the header apart."""

    lines: int = 0
    rows: int = 0
    size: int = 0  # bytes


NOTHING = Before()


def read_csv(path: Path) -> Table:
    """The columns by the names in the first line."""
    table = parsed(path, text_bytes(path))
    if not len(next(iter(table.values()))):
        raise no_rows(path)
    return table


def no_rows(path: Path) -> FormatError:
    """The refusal of a file that holds nothing but its header."""
    return FormatError(f"{named(path)}: has a header and no rows; export the log again")


def parsed(
    path: Path, raw: bytes, before: Before = NOTHING, columns: Collection[str] | None = None
) -> Table:
    """The columns of a header and rows, all or those of these names. before: what the file holds between the two."""
    import pandas as pd

    data = _utf8(path, raw, before)
    separator, names = _check_widths(path, data, before)
    wanted = None if columns is None else [k for k, name in enumerate(names) if name in columns]
    try:
        frame = _frame(data, separator, wanted)
        if separator != "," and b"," in data:
            _mend_commas(frame, data, separator, wanted)
    except pd.errors.ParserError as error:
        reason = str(error).replace("Error tokenizing data. C error: ", "").strip()
        raise FormatError(f"{named(path)}: {named(reason)}; mend or remove that row") from None
    names = [str(c).strip() for c in frame.columns]
    check_names(path, names)
    return {name: frame.iloc[:, k].to_numpy() for k, name in enumerate(names)}


def _frame(data: bytes, separator: str, wanted: list[int] | None, decimal: str = ".") -> Foreign:
    """The table as pandas reads it."""
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.ParserWarning)
        return pd.read_csv(
            io.BytesIO(data),
            sep=separator,
            usecols=wanted,
            decimal=decimal,
            skipinitialspace=True,
            comment="#",
            index_col=False,  # never a column without a name
            low_memory=False,  # one type a column, not one a piece
        )


def _mend_commas(frame: Foreign, data: bytes, separator: str, wanted: list[int] | None) -> None:
    """Columns of texts that are numbers with decimal commas, as these."""
    texts = [k for k, kind in enumerate(frame.dtypes) if kind.kind not in _NUMBERS]
    if texts:
        commas = _frame(data, separator, wanted, ",")
        for k in texts:
            if commas.dtypes.iloc[k].kind in _NUMBERS:
                frame.isetitem(k, commas.iloc[:, k])


def _utf8(path: Path, data: bytes, before: Before) -> bytes:
    """The file as UTF-8 with plain line ends."""
    encoding = "utf-16" if data.startswith(WIDE) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise not_text(path, error.start + before.size, encoding) from None
    data = text.encode() if encoding == "utf-16" else data.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in data:
        raise FormatError(
            f"{named(path)}: holds zero bytes, so it is no text; export the log again"
        )
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def not_text(path: Path, byte: int, encoding: str) -> FormatError:
    """The refusal of a file with a byte, counted from 0, that no text has."""
    return FormatError(
        f"{named(path)}: byte {byte + 1} is not {encoding[:6].upper().rstrip('-')} text; save it as CSV in UTF-8"
    )


def _check_widths(path: Path, data: bytes, before: Before) -> tuple[str, list[str]]:
    """The separator and the header; refused where a row has more or fewer cells than that."""
    lines = lines_of(path, data)
    number, header = next(lines, (0, ""))
    if not header:
        raise FormatError(f"{named(path)}: the file is empty; export the log again")
    separator = next((c for c in (",", ";", "\t") if c in header), r"\s+")
    try:
        names = _cells(header, separator)
    except csv.Error as error:
        raise FormatError(f"{named(path)}: line {number}: {error}; mend that row") from None
    width = len(names)
    if width > MOST_COLUMNS:
        raise FormatError(
            f"{named(path)}: has {width} columns; at most {MOST_COLUMNS} are read; leave out those not needed"
        )
    check_names(path, filter(None, names))  # pandas would call the second of two q1 "q1.1"
    if b'"' in data:  # cells may hold separators and line ends
        _check_quoted(path, data, separator, width, before)
        return separator, names
    for row, (number, line) in enumerate(lines, 1):
        cells = len(line.split()) if separator == r"\s+" else line.count(separator) + 1
        if cells != width:
            raise _uneven(path, number + before.lines, row + before.rows, cells, width)
    return separator, names


def lines_of(path: Path, data: bytes) -> Iterator[tuple[int, str]]:
    """Lines that hold something, by their number in the file, without comments."""
    stream = io.BytesIO(data)
    for number, row in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), 1):
        if len(row) > LONGEST_LINE:
            raise FormatError(
                f"{named(path)}: line {number} has more than {LONGEST_LINE} letters; no row of a log has"
            )
        line = row.decode().partition("#")[0].rstrip("\n")
        if line.strip(" "):
            yield number, line


def _cells(line: str, separator: str) -> list[str]:
    if separator == r"\s+":
        return line.split()
    if '"' not in line:
        return [cell.strip() for cell in line.split(separator)]
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]


def _check_quoted(path: Path, data: bytes, separator: str, width: int, before: Before) -> None:
    delimiter = " " if separator == r"\s+" else separator
    lines = (line for _, line in lines_of(path, data))
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        for row, cells in enumerate(rows):
            if separator == r"\s+":
                cells = [cell for cell in cells if cell]
            if len(cells) != width:
                line = rows.line_num + before.lines
                raise _uneven(path, line, row + before.rows, len(cells), width)
    except csv.Error as error:
        line = rows.line_num + before.lines
        raise FormatError(f"{named(path)}: line {line}: {error}; mend that row") from None


def _uneven(path: Path, line: int, row: int, cells: int, width: int) -> FormatError:
    return FormatError(
        f"{named(path)}: line {line} (row {row}) has {cells} cells, the header has {width}; mend or remove that row, "
        "or name every column"
    )
