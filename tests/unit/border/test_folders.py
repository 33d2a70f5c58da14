"""Files of an export appear together, inside the folder that was named, and leave what is there as it was."""

from __future__ import annotations

import os
import stat

import pytest

from dynarm.border import folders
from dynarm.border.folders import check_folder, write_folder
from dynarm.errors import FileError

FILES = {"a.c": "one\n", "b.c": "two\n"}


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def test_a_new_folder_has_the_modes_that_the_user_asks_for(tmp_path):
    old = os.umask(0o027)
    try:
        write_folder(tmp_path / "x" / "c", FILES)
    finally:
        os.umask(old)
    made = tmp_path / "x" / "c"
    assert {p.name: p.read_text() for p in made.iterdir()} == FILES
    assert mode(made) == 0o750 and mode(made / "a.c") == 0o640
    assert names(tmp_path / "x") == ["c"]


def test_an_empty_folder_stays_the_one_it_is(tmp_path):
    folder = tmp_path / "c"
    folder.mkdir(mode=0o700)
    before = folder.stat().st_ino
    write_folder(check_folder(folder, False), FILES)
    assert folder.stat().st_ino == before and mode(folder) == 0o700 and names(folder) == [*FILES]


def test_replaced_files_keep_their_modes(tmp_path):
    (tmp_path / "a.c").write_text("old")
    (tmp_path / "a.c").chmod(0o604)
    (tmp_path / "mine").write_text("kept")
    write_folder(check_folder(tmp_path, True), FILES)
    assert (tmp_path / "a.c").read_text() == "one\n" and mode(tmp_path / "a.c") == 0o604
    assert names(tmp_path) == ["a.c", "b.c", "mine"]


def test_nothing_is_written_outside(tmp_path):
    outside, folder = tmp_path / "outside.c", tmp_path / "c"
    outside.write_text("precious")
    folder.mkdir()
    (folder / "b.c").symlink_to(outside)
    with pytest.raises(FileError, match=r"b\.c is a link; remove it"):
        write_folder(check_folder(folder, True), FILES)
    assert outside.read_text() == "precious" and names(folder) == ["b.c"]
    assert names(tmp_path) == ["c", "outside.c"]


def test_a_link_to_a_folder_is_that_folder(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_folder(check_folder(tmp_path / "link", False), FILES)
    assert names(tmp_path / "real") == [*FILES] and (tmp_path / "link").is_symlink()
    (tmp_path / "nowhere").symlink_to("missing")
    with pytest.raises(FileError, match="link to nothing"):
        check_folder(tmp_path / "nowhere", True)


def test_what_is_no_file_is_refused(tmp_path):
    (tmp_path / "b.c").mkdir()
    with pytest.raises(FileError, match="no ordinary file"):
        write_folder(check_folder(tmp_path, True), FILES)
    assert names(tmp_path) == ["b.c"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_error_half_way_brings_the_old_files_back(error, tmp_path, monkeypatch):
    (tmp_path / "a.c").write_text("old")
    replace, calls = os.replace, []

    def failing(source, target):
        calls.append(target)
        if len(calls) == 2:
            raise error
        replace(source, target)

    monkeypatch.setattr(folders.os, "replace", failing)
    with pytest.raises(FileError if isinstance(error, OSError) else KeyboardInterrupt):
        write_folder(tmp_path, FILES)
    assert names(tmp_path) == ["a.c"] and (tmp_path / "a.c").read_text() == "old"


def test_folders_made_on_the_way_disappear_after_an_error(tmp_path):
    with pytest.raises(FileError, match="cannot write"):
        write_folder(tmp_path / "x" / "y" / ("n" * 300), FILES)
    assert not list(tmp_path.iterdir())
