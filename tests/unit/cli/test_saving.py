"""What commands write: whole or not at all, with the rights that were there before, where links lead."""

from __future__ import annotations

import os
import stat
import sys

import pytest
from program import dynarm

from dynarm.cli.files import new_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes and links are POSIX's")


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("full", [False, True], ids=["empty", "full"])
def test_a_folder_keeps_its_rights(full, tmp_path):
    folder = tmp_path / "private"
    folder.mkdir()
    folder.chmod(0o700)
    if full:
        (folder / "model.toml").write_text("before")
        (folder / "model.toml").chmod(0o600)
        (folder / "mine.txt").write_text("keep")
    with new_folder(folder, force=full) as draft:
        (draft / "model.toml").write_text("after")
    assert mode(folder) == 0o700 and (folder / "model.toml").read_text() == "after"
    if full:
        assert mode(folder / "model.toml") == 0o600
        assert (folder / "mine.txt").read_text() == "keep"


def test_a_new_folder_is_as_private_as_the_person_s_other_new_folders(tmp_path):
    before = os.umask(0o027)
    try:
        with new_folder(tmp_path / "new") as draft:
            (draft / "x").write_text("x")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == 0o750


def test_a_link_to_a_folder_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with new_folder(tmp_path / "link") as draft:
        (draft / "x").write_text("x")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real" / "x").read_text() == "x"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "real"]


def test_after_an_error_everything_is_as_it_was(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("before")
    with pytest.raises(ZeroDivisionError), new_folder(tmp_path / "full", force=True) as draft:
        (draft / "x").write_text("half")
        raise ZeroDivisionError
    assert [p.name for p in tmp_path.iterdir()] == ["full"]
    assert (tmp_path / "full" / "x").read_text() == "before"


def test_every_file_is_replaced_in_one_step(tmp_path, monkeypatch):
    """Pages, logs, motions and runs appear under their names by a rename only."""
    seen = []

    def noting(move):
        def noted(source, target, **folders):  # the cache renames in folders that it has opened
            seen.append(os.path.basename(target))
            return move(source, target, **folders)

        return noted

    for name in ("replace", "rename"):  # of files, of a new folder
        monkeypatch.setattr(os, name, noting(getattr(os, name)))
    for line in (
        "excite two_link -d 5 --harmonics 3 --starts 1 --out m.csv --log l.csv --html e.html",
        "simulate two_link --time 0.1 --save r.npz --html r.html",
        "simulate two_link --time 0.1 --save r.csv",
        "simulate two_link --time 0.1 --save r.parquet",
        "info two_link --html i.html",
        "count two_link -q mass_matrix --html c.html",
        "validate two_link l.csv --html v.html",
        "mobile tanner2001 --time 0.1 --html t.html",
        "identify two_link l.csv",
        "export two_link code -q gravity",
    ):
        dynarm(*line.split(), folder=tmp_path).check()
    assert {p.name for p in tmp_path.iterdir()} <= set(seen)
