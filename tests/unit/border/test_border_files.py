"""The one door to a user's file: what is no regular file, too large or not there is refused in one line."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from dynarm.border.files import content, is_folder, named, opened, room, size_of, text
from dynarm.errors import DynarmError, FileError, FileMissing, FormatError


def test_a_regular_file_is_read_whole(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\n")
    assert content(path) == b"\xef\xbb\xbfone\n"
    assert text(path, 100) == "one\n"
    assert size_of(path) == 7
    with opened(path) as file:
        assert file.read(3) == b"\xef\xbb\xbf"


def test_a_link_is_followed(tmp_path):
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").symlink_to("a")
    assert content(tmp_path / "b") == b"x"


def pipe(path):
    os.mkfifo(path)


def device(path):
    path.symlink_to("/dev/zero")


def unix_socket(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(path))


@pytest.mark.parametrize(
    "make, word",
    [(pipe, "a pipe"), (device, "a device"), (Path.mkdir, "a folder"), (unix_socket, "a socket")],
)
@pytest.mark.parametrize("read", [content, size_of, lambda p: text(p, 10)])
def test_only_regular_files_are_opened(tmp_path, monkeypatch, make, word, read):
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    make(Path("x"))
    with pytest.raises(FileError, match=f"x is {word}; give a regular file"):
        read(Path("x"))


def test_a_pipe_that_takes_the_files_place_is_not_waited_for(tmp_path, monkeypatch):
    path = tmp_path / "x"
    os.mkfifo(path)
    regular = tmp_path / "y"
    regular.write_text("")
    state = os.stat(regular)
    monkeypatch.setattr(os, "stat", lambda *_: state)
    with pytest.raises(FileError, match="a pipe"):
        content(path)


def test_sizes_are_checked_before_reading(tmp_path):
    path = tmp_path / "x"
    with path.open("wb") as file:
        file.truncate(5 << 30)  # no blocks on the disk
    for read in (content, size_of, lambda p: text(p, 100)):
        with pytest.raises(FileError, match=f"{5 << 30} bytes; at most"):
            read(path)
    path.write_bytes(b"12345")
    assert content(path, 5) == b"12345"
    with pytest.raises(FileError, match="5 bytes; at most 4"):
        content(path, 4)


@pytest.mark.parametrize(
    "path, kind, words",
    [
        ("none", FileMissing, "none: no such file"),
        ("none/below", FileMissing, "no such file"),
        ("file/below", FileMissing, "no such file"),
        ("a" * 5000, FileError, "too long"),
        ("a/" * 5000, FileError, "too long"),
        ("a\0b", FileError, r"a\\x00b: no path of this system"),
        ("\ud800", FileError, r"\\ud800: no path of this system"),
        ("\udcff", FileMissing, r"\\udcff: no such file"),
        ("two\nlines\x1b[31m", FileMissing, r"two\\nlines\\x1b\[31m: no such file"),
    ],
)
@pytest.mark.parametrize("read", [content, size_of, is_folder])
def test_paths_that_lead_nowhere(tmp_path, monkeypatch, path, kind, words, read):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    with pytest.raises(kind, match=words) as caught:
        read(Path(path))
    assert isinstance(caught.value, DynarmError)
    assert len(str(caught.value)) < 300
    assert str(caught.value).isprintable()


def test_no_right_to_read(tmp_path):
    path = tmp_path / "x"
    path.write_text("x")
    path.chmod(0)
    if os.access(path, os.R_OK):  # the superuser may read everything
        assert content(path) == b"x"
        return
    with pytest.raises(FileError, match="permission denied"):
        content(path)


def test_text_is_utf8(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"ab\xff")
    with pytest.raises(FormatError, match="byte 3 is not UTF-8"):
        text(path, 100)


def test_long_paths_are_shown_by_their_end():
    assert named("a" * 1000 + "/run.csv").endswith("aaa/run.csv")
    assert len(named("a" * 1000)) == 200


def test_what_a_file_may_unpack_to_grows_with_it():
    assert room(900_000) < 1_900_000_000
    assert room(10) >= 100_000_000
    assert room(100 << 20) == 100 * (100 << 20)
