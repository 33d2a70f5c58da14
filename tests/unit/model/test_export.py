"""Exported C: it compiles without a warning, computes what the model computes, and is written all or not at all."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dynarm
from dynarm.machine.emit.c_names import identifier
from dynarm.robot.frames.generic import generic_arm

GOLDEN = Path(__file__).parents[2] / "golden" / "two_link_c"
GCC = shutil.which("gcc")
needs_gcc = pytest.mark.skipif(GCC is None, reason="gcc is not installed")
STRICT = [
    "-std=c99",
    "-O1",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Werror",
]


@pytest.fixture(scope="module")
def friction_model():
    joints = [
        replace(
            j, friction=dynarm.Friction(0.1, 0.2, 0.3, shape=s, coulomb_negative=0.4), armature=0.1
        )
        for j, s in zip(generic_arm(3, 2).joints, ("sign", "tanh", "sign"), strict=True)
    ]
    return dynarm.compile(dynarm.Arm(joints, name="three"), friction=True)


def selftest(made, folder):
    program = folder / "selftest"
    sources = [str(made.folder / f"{made.name}{end}.c") for end in ("", "_test")]
    subprocess.run(
        [GCC, *STRICT, "-Wno-float-conversion", *sources, "-o", str(program), "-lm"], check=True
    )
    return subprocess.run([str(program)], capture_output=True, text=True)


@needs_gcc
@pytest.mark.parametrize("options", [{}, {"bounded_stack": True}, {"single": True}], ids=str)
def test_selftest_passes(friction_model, tmp_path, options):
    made = dynarm.export_c(friction_model, tmp_path / "c", **options)
    done = selftest(made, tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("PASS 11 functions"), done.stdout


@needs_gcc
@pytest.mark.parametrize("options", [{}, {"reach": 0}, {"by": "terms"}], ids=str)
def test_pruned_models_compile_and_say_where_they_hold(tmp_path, options):
    """The exported program gives the pruned forces, and its header the bounds and the limit of every joint."""
    arm = generic_arm(3)
    t, k = np.linspace(0, 6, 100)[:, None], 1 + np.arange(3) / 5
    motion = (np.sin(k * t), k * np.cos(k * t), -(k**2) * np.sin(k * t))
    pruned = dynarm.prune(arm, *motion, 0.05, **options)
    made = dynarm.export_c(pruned, tmp_path / "c", name="less")
    done = selftest(made, tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("PASS 1 functions"), done.stdout
    header = (made.folder / "less.h").read_text()
    assert f"Pruned: {pruned.count.total} operations of {pruned.exact.total}" in header
    if pruned.box is None:
        assert "along one motion only" in header
    else:
        rows = [row.split()[1:] for row in header.split("|qdd|")[1].split("*/")[0].splitlines()[1:]]
        box = pruned.box
        wanted = [pruned.limit, box.low, box.high, box.speed, box.acceleration]
        told = np.array([row[1:] for row in rows if row], float)
        np.testing.assert_allclose(told, np.transpose(wanted), rtol=1e-3)


@needs_gcc
def test_selftest_sees_a_mistake(friction_model, tmp_path):
    made = dynarm.export_c(friction_model, tmp_path / "c", quantities=("gravity",))
    source = made.folder / "three.c"
    text = source.read_text()
    source.write_text(text.replace("g[1] = ", "g[1] = 1e-6 + ", 1))
    assert source.read_text() != text
    done = selftest(made, tmp_path)
    assert done.returncode == 1 and "FAIL gravity[1]" in done.stdout


@needs_gcc
def test_derivatives_and_wrench_can_be_exported(tmp_path):
    model = dynarm.compile(generic_arm(3))
    names = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives", "regressor")
    wrenches = ("inverse_dynamics:wrench", "forward_dynamics:wrench", "inverse_dynamics")
    made = dynarm.export_c(model, tmp_path / "c", quantities=(*names, *wrenches))
    assert made.functions[3] == f"{made.name}_inverse_dynamics_wrench"
    assert selftest(made, tmp_path).returncode == 0


@needs_gcc
def test_inputs_of_every_option_can_be_exported(friction_model, tmp_path):
    model = dynarm.compile(friction_model.arm, None, True, "input", "inputs")
    made = dynarm.export_c(model, tmp_path / "c", quantities=("inverse_dynamics:wrench",))
    header = (made.folder / "three.h").read_text()
    for name, size in (("wrench", 6), ("gravity", 3), ("values", model.minimal.count)):
        assert f"const double {name}[restrict {size}]" in header
    assert selftest(made, tmp_path).returncode == 0


@needs_gcc
def test_cmake_builds_and_tests(friction_model, tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    made = dynarm.export_c(friction_model, tmp_path / "c", quantities=("bias",))
    build = tmp_path / "build"
    for command in (
        ["cmake", "-S", str(made.folder), "-B", str(build)],
        ["cmake", "--build", str(build)],
        ["ctest", "--test-dir", str(build)],
    ):
        subprocess.run(command, check=True, capture_output=True)


@needs_gcc
def test_header_serves_cpp(friction_model, tmp_path):
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    made = dynarm.export_c(friction_model, tmp_path / "c", quantities=("bias",))
    user = tmp_path / "user.cpp"
    user.write_text(
        '#include "three.h"\nint main() { double q[3] = {0}; double b[3]; three_bias(q, q, b); return 0; }\n'
    )
    subprocess.run(
        [
            "g++",
            "-Wall",
            "-Werror",
            "-c",
            f"-I{made.folder}",
            str(user),
            "-o",
            str(tmp_path / "u.o"),
        ],
        check=True,
    )


def test_no_allocation_no_globals(friction_model, tmp_path):
    dynarm.export_c(friction_model, tmp_path / "c")
    text = (tmp_path / "c" / "three.c").read_text()
    assert "malloc" not in text and text.count("#include") == 3
    outside = [
        line
        for line in text.splitlines()
        if line and line[0] not in " {}#)/" and "void" not in line and "typedef" not in line
    ]
    assert outside == [], "nothing but functions at file scope"


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ('x; system("rm -rf /")', "x_system_rm_rf"),
        ("7axis", "robot_7axis"),
        ("double", "double_robot"),
        ("été ü", "ete_u"),
        ("漢字", "robot"),
        ("A" * 300, "a" * 40),
        ("a*/b\nint main", "a_b_int_main"),
    ],
)
def test_names_are_identifiers(name, safe):
    word = identifier(name)
    assert word.isidentifier() and word.isascii()
    assert word == safe


@needs_gcc
def test_hostile_names_yield_safe_code(tmp_path):
    joints = [
        dynarm.Joint(mass=1.0, com=(0.1, 0, 0), name='*/ #error "\n#include </etc/passwd> /*')
    ]
    arm = dynarm.Arm(joints, name='x"; system("true"); */ int y = 1; /*')
    made = dynarm.export_c(dynarm.compile(arm), tmp_path / "c", quantities=("gravity",))
    assert selftest(made, tmp_path).returncode == 0
    assert "passwd> /*" not in (made.folder / f"{made.name}.h").read_text()


BAD = {
    "no model": ({"model": "three"}, "dynarm.compile"),
    "no folder": ({"folder": None}, "folder is None"),
    "folder in bytes": ({"folder": b"c"}, "folder is b'c'"),
    "a zero character": ({"folder": "a\0b"}, "give a path"),
    "no quantities": ({"quantities": ()}, "give a list"),
    "one text": ({"quantities": "bias"}, "give a list"),
    "a number": ({"quantities": (3,)}, "give a list"),
    "no quantity takes it": ({"quantities": ("bias:wrench",)}, "takes no wrench"),
    "name as a number": ({"name": 3}, "name is 3"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_says_what_to_do(case, friction_model, tmp_path):
    change, words = BAD[case]
    given = {"model": friction_model, "folder": tmp_path / "c", "quantities": ("bias",), **change}
    with pytest.raises(dynarm.DynarmError, match=words):
        dynarm.export_c(**given)
    assert not list(tmp_path.iterdir())


def test_folders(friction_model, tmp_path):
    target = tmp_path / "c"
    dynarm.export_c(friction_model, target, quantities=("gravity",))
    with pytest.raises(dynarm.DynarmError, match="not empty"):
        dynarm.export_c(friction_model, target, quantities=("gravity",))
    (target / "mine.txt").write_text("kept")
    dynarm.export_c(friction_model, target, quantities=("bias",), force=True)
    assert (target / "mine.txt").read_text() == "kept" and "three_bias" in (
        target / "three.h"
    ).read_text()
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(dynarm.DynarmError, match="is a file"):
        dynarm.export_c(friction_model, file)
    with pytest.raises(dynarm.DynarmError, match="cannot write"):
        dynarm.export_c(friction_model, file / "below", quantities=("gravity",))
    with pytest.raises(dynarm.DynarmError, match="mass_matrix"):
        dynarm.export_c(friction_model, tmp_path / "new", quantities=("mass_matrx",))
    with pytest.raises(dynarm.DynarmError, match="cannot begin C names"):
        dynarm.export_c(friction_model, tmp_path / "new", name="a-b")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c", "file"], (
        "nothing half-written is left"
    )


def test_generated_code_is_the_stored_one(tmp_path):
    """Changes of the generated code must be meant: `python tests/golden/two_link_c` writes it anew."""
    made = dynarm.export_c(dynarm.compile(dynarm.load("two_link")), tmp_path / "c")
    stored = {p.name: p.read_text() for p in GOLDEN.iterdir() if p.suffix in (".c", ".h", ".txt")}
    written = {p.name: p.read_text() for p in made.folder.iterdir()}
    assert set(stored) == set(written)
    for name in stored:
        if name.endswith("_test.c"):  # stored results hold the last digits of this machine's libm
            assert len(stored[name].splitlines()) == len(written[name].splitlines())
        else:
            assert stored[name] == written[name], name


def test_unused_inputs_are_allowed(tmp_path):
    """A planar arm under gravity along its axes: the gravity function reads no joint."""
    arm = dynarm.Arm([dynarm.Joint(mass=1.0, com=(0.1, 0, 0))])
    made = dynarm.export_c(dynarm.compile(arm), tmp_path / "c", quantities=("gravity",))
    assert "(void)q;" in (made.folder / f"{made.name}.c").read_text()
    assert np.array_equal(dynarm.compile(arm).gravity(np.zeros(1)), [0.0])
