"""Saving: whole or not at all, through links, with the permissions that were there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

import dynarm
from dynarm.border.written import drafted
from dynarm.errors import FileError

ARM = dynarm.load("two_link")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("given", [0o600, 0o640, 0o664])
def test_a_file_keeps_its_mode(tmp_path, given):
    path = tmp_path / "arm.toml"
    path.write_text("old")
    path.chmod(given)
    ARM.save(path)
    assert mode(path) == given and dynarm.load(path) == ARM


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_follows_the_umask(tmp_path, mask):
    before = os.umask(mask)
    try:
        ARM.save(tmp_path / "arm.toml")
    finally:
        os.umask(before)
    assert mode(tmp_path / "arm.toml") == 0o666 & ~mask


def test_nobody_else_reads_the_draft_of_a_private_file(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text("old")
    path.chmod(0o600)
    with drafted(path) as draft:
        assert mode(draft) == 0o600
        draft.write_text("new")


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "arm.toml", tmp_path / "link.toml"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    ARM.save(link)
    assert link.is_symlink() and dynarm.load(target) == ARM and mode(target) == 0o640
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["arm.toml", "link.toml", "there"]


def test_a_link_to_nothing_makes_the_file_it_names(tmp_path):
    link = tmp_path / "link.toml"
    link.symlink_to(tmp_path / "new.toml")
    ARM.save(link)
    assert link.is_symlink() and dynarm.load(tmp_path / "new.toml") == ARM


def test_what_is_no_file_is_refused(tmp_path):
    folder, pipe, loop = (tmp_path / f"{name}.toml" for name in ("folder", "pipe", "loop"))
    folder.mkdir()
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    device = tmp_path / "null.toml"
    device.symlink_to("/dev/null")
    for path, words in (
        (folder, "a folder"),
        (pipe, "a pipe"),
        (device, "a device"),
        (loop, "a link that leads nowhere"),
    ):
        with pytest.raises(FileError, match=words):
            ARM.save(path)
    assert stat.S_ISFIFO(pipe.stat().st_mode) and stat.S_ISCHR(device.stat().st_mode)
    assert len(list(tmp_path.iterdir())) == 4


def test_a_protected_file_is_left_alone(tmp_path, monkeypatch):
    path = tmp_path / "arm.toml"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # the superuser may write everywhere
    with pytest.raises(FileError, match="protected against writing"):
        ARM.save(path)
    assert path.read_text() == "old"


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), drafted(path) as draft:
        draft.write_text("half")
        _ = 1 / 0
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_names_as_long_as_names_may_be(tmp_path):
    ARM.save(tmp_path / ("a" * 250 + ".toml"))
    for name in ("a" * 300 + ".toml", "a/" * 3000 + "x.toml"):
        with pytest.raises(FileError) as caught:
            ARM.save(tmp_path / name)
        assert len(str(caught.value)) < 400


@pytest.mark.parametrize("way", ["mobile", "report", "log", "run"])
def test_every_output_is_written_by_the_one_writer(tmp_path, way):
    """A private file behind a link stays private and the link a link, whatever is written."""
    import numpy as np

    ending = {"mobile": "toml", "report": "html", "log": "csv", "run": "npz"}[way]
    target, link = tmp_path / f"x.{ending}", tmp_path / f"link.{ending}"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    if way == "mobile":
        from dynarm.mobile.files import load, save

        save(load("tanner2001"), link)
    elif way == "report":
        from dynarm.report.html import write

        write("<p>page</p>", link)
    elif way == "log":
        from dynarm.cli.files import write_log

        t = np.arange(5.0)
        write_log(dynarm.Log(t, t[:, None], t[:, None]), link)
    else:
        model = dynarm.compile(ARM)
        dynarm.simulate(model, [0.1, 0.2], [0, 0], 0.01, method="rk4", dt=0.005).save(link)
    assert link.is_symlink() and mode(target) == 0o600 and target.read_bytes()[:3] != b"old"
