"""Robots may be called anything: their files and functions get names that no compiler, library or build has taken."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import dynarm
from dynarm.machine.emit.c_files import comment
from dynarm.machine.emit.c_names import LONGEST, RESERVED, identifier

NAMES = ["test", "all", "clean", "help", "m", "math", "stdio", "features", "main", "inline", "sin"]
NAMES += ["int", "con", "123", "Ünïcödé", "漢字", "??/", "*/", "-o x", "a" * 39 + "-b", "install"]


def called(name):
    arm = dynarm.load("two_link")
    joints = [replace(joint, name=f"{name}{k}") for k, joint in enumerate(arm.joints)]
    return replace(arm, name=name, joints=tuple(joints))


@pytest.mark.parametrize("name", NAMES)
def test_names_are_free(name):
    word = identifier(name)
    assert word.isidentifier() and word.isascii() and not word.endswith("_")
    assert word not in RESERVED and len(word) <= LONGEST + len("robot_")
    assert identifier(word) == word


def test_reserved_names_are_refused_and_another_is_offered(tmp_path):
    model = dynarm.compile(dynarm.load("two_link"))
    with pytest.raises(dynarm.DynarmError, match=r"'test' cannot begin C names; try 'test_robot'"):
        dynarm.export_c(model, tmp_path / "c", name="test")


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_all_of_them_build_in_one_project(tmp_path):
    """One build of all, so that a target or a header which is taken breaks it."""
    made = [
        dynarm.export_c(dynarm.compile(called(name)), tmp_path / str(k), quantities=("gravity",))
        for k, name in enumerate(NAMES)
    ]
    words = [export.name for export in made]
    folders = [k for k, word in enumerate(words) if words.index(word) == k]
    lines = "\n".join(f"add_subdirectory({k})" for k in folders)
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.10)\nproject(names C)\nenable_testing()\n{lines}\n"
    )
    for command in (
        ["cmake", "-S", ".", "-B", "build", "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"],
        ["cmake", "--build", "build"],
        ["ctest", "--test-dir", "build", "--output-on-failure"],
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert f"100% tests passed, 0 tests failed out of {len(folders)}" in done.stdout


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_headers_of_the_library_are_known(tmp_path):
    """Any header that ours include, by its name alone, must be reserved: with -I ours would come first."""
    source = tmp_path / "x.c"
    names = ("math", "float", "stdint", "stdio", "string")
    source.write_text("".join(f"#include <{name}.h>\n" for name in names))
    text = subprocess.check_output(["gcc", "-M", str(source)], text=True)
    headers = [Path(word) for word in text.replace("\\", " ").split() if word.endswith(".h")]
    stems = {p.stem for p in headers if p.parent.name in ("include", "include-fixed")}
    assert set(names) <= stems
    assert {stem for stem in stems if identifier(stem) == stem} == set()


@pytest.mark.parametrize("text", ["*/", "/*/", "*/*/", "**//", "???/", "\n*/", "a\\", "\u202eb"])
def test_comments_stay_comments(text):
    line = comment(text)
    assert not any(mark in line for mark in ("*/", "/*", "??", "\n", "\u202e"))
